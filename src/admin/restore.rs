//! A backup takes the place of what a home holds.
//!
//! Only the holder of the home's lock may do this. Everything happens beside the home's files first, in `.restoring/`: the backup is read from end to end and
//! compared with its manifest, unpacked, its journal checked and brought up to date, and in one transaction everything that was under way in it is closed
//! ([`Tx::park`](crate::store::Tx::park)). Then a plan of renames is written down. That is the one moment that decides: before it the home is as it was,
//! and what was unpacked is thrown away at the next start; from then on the plan is carried out, by this program or the next that takes the lock
//! ([`settle`]). Nobody opens a home with a plan in it.
//!
//! What was there before is moved to `backups/replaced-…/` and never deleted. A file of the restored workspace that matches no row of the restored
//! journal is not trusted, and a skill that nobody accepted in that form is held.

mod swap;
mod unpack;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};

use super::backup::manifest::{Entry, Kind, Manifest};
use super::backup::{CONFIG, FOLDERS, JOURNAL, Progress, known_as, read, room};
use crate::config::{self, Home};
use crate::memory;
use crate::review;
use crate::store::{self, Journal, Parked, Tx};
use crate::time::Moment;
use crate::wording::upkeep as says;

pub use swap::{Settled, is_left, is_unfinished, settle};

/// Where a backup is restored to.
#[derive(Debug, Clone)]
pub struct Target {
    /// The home.
    pub home: Home,
    /// The configuration file.
    pub config: PathBuf,
    /// Whether the configuration of the backup is left in it, and the present one stays.
    pub without_config: bool,
    /// The environment, which is laid over the configuration.
    pub environment: BTreeMap<String, String>,
}

/// What came of a restore.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    /// When the backup was made.
    pub made_at: Moment,
    /// What was closed, and what is not trusted.
    pub parked: Parked,
    /// Where the state from before lies now, if there was any.
    pub aside: Option<PathBuf>,
}

/// Called between two renames; an error stops there, as a power cut does.
pub type Seam<'a> = &'a mut dyn FnMut(&str) -> anyhow::Result<()>;

/// Restores the backup in `file`. On an error before the plan nothing has changed, and [`settle`] removes what was unpacked.
///
/// # Errors
/// If the backup is not whole, not safe or too new, or something cannot be written.
pub async fn restore(
    file: &Path,
    target: &Target,
    now: Moment,
    progress: Progress<'_>,
    seam: Seam<'_>,
) -> anyhow::Result<Restored> {
    settle(&target.home)?;
    let room = room(target.home.path()).unwrap_or(u64::MAX);
    let manifest = read::verify(file, room, progress)
        .map_err(|error| anyhow::anyhow!(says::not_whole(file, &format!("{error:#}"))))?;
    let known = store::newest_version();
    ensure!(manifest.journal <= known, says::newer(file, manifest.journal, known));
    let staged = swap::staging(&target.home);
    unpack::unpack(file, &staged, progress)?;
    seam("unpacked")?;
    let places = places(target, &staged)?;
    let parked = bring_up(&staged, &manifest, now)
        .await
        .map_err(|error| anyhow::anyhow!(says::not_whole(file, &format!("{error:#}"))))?;
    seam("parked")?;
    let aside = swap::swap(&target.home, places, now, seam)?;
    Ok(Restored { made_at: manifest.made_at, parked, aside })
}

/// What comes where: the name in the backup, and the place.
fn places(target: &Target, staged: &Path) -> anyhow::Result<Vec<(&'static str, PathBuf)>> {
    let new_config = staged.join(CONFIG);
    let takes_config = new_config.is_file() && !target.without_config;
    let config = if takes_config { &new_config } else { &target.config };
    let (workspace, skills) = match config.is_file() {
        true => {
            let loaded = config::load(target.home.clone(), config, &target.environment);
            let config = loaded.map_err(|error| anyhow::anyhow!(says::config_unusable(&error.to_string())))?.config;
            (config.workspace, config.skills.dir)
        }
        false => (target.home.path().join("workspace"), target.home.path().join("skills")),
    };
    let folders = FOLDERS.into_iter().zip([workspace, skills, target.home.path().join("experience")]);
    let mut places: Vec<(&'static str, PathBuf)> = folders.collect();
    for (_, folder) in &places {
        ensure!(swap::is_on_the_disk_of(&target.home, folder), says::other_disk(folder));
    }
    places.push((JOURNAL, target.home.journal()));
    if takes_config {
        places.push((CONFIG, target.config.clone()));
    }
    Ok(places)
}

/// Checks the unpacked journal, brings it up to date and closes what was under way.
async fn bring_up(staged: &Path, manifest: &Manifest, now: Moment) -> anyhow::Result<Parked> {
    let path = staged.join(JOURNAL);
    let (damage, version) = store::examine_still(&path, |db| Ok((db.quick_check()?, db.version()?)))?;
    ensure!(damage.is_empty(), "its journal is damaged: {}", damage.join("; "));
    ensure!(version == manifest.journal, "its journal is of another version than its manifest says");
    let journal = Journal::open_restored(&path)?;
    let (entries, skills) = (manifest.entries.clone(), staged.join("skills"));
    let parked = journal.write("park what was under way", move |tx| close(tx, &entries, &skills, now)).await?;
    journal.close().await;
    // The log was merged, and its files would be moved nowhere. If it was not, what was parked stands only there.
    let log = staged.join(format!("{JOURNAL}-wal"));
    let left = log.metadata().map_or(0, |found| found.len());
    ensure!(left == 0, "its log cannot be merged; is the disk full?");
    for suffix in ["-wal", "-shm"] {
        let _ = std::fs::remove_file(staged.join(format!("{JOURNAL}{suffix}")));
    }
    std::fs::File::open(&path)?.sync_all()?;
    Ok(parked)
}

fn close(tx: Tx<'_>, entries: &[Entry], skills: &Path, now: Moment) -> anyhow::Result<Parked> {
    let mut parked = tx.park(now)?;
    for entry in entries.iter().filter(|entry| entry.kind == Kind::File) {
        let Some(inside) = known_as(&entry.path) else { continue };
        if tx.file_version(&inside, &entry.digest)?.is_none() {
            tx.file_found(&inside, &entry.digest, &memory::of_found_file(), now)?;
            parked.files = parked.files.saturating_add(1);
        }
    }
    let lies = |path: &str| entries.iter().any(|entry| entry.path.strip_prefix("workspace/") == Some(path));
    for path in tx.received_files()?.into_iter().filter(|path| !lies(path)) {
        tx.received_file_missing(&path)?;
    }
    // What was derived is made anew of what lies there now.
    tx.drop_all_entries()?;
    parked.skills = review::distrust_unknown(tx, skills, now).context("The skills cannot be compared")?;
    tx.note_parked(&parked)?;
    Ok(parked)
}
