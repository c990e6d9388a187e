//! A backup takes the place of what a home holds.
//!
//! Only the holder of the home's lock may do this. Everything happens beside the home's files
//! first, in `.restoring/`: the backup is read from end to end and compared with its manifest,
//! unpacked, its journal checked and brought up to date, and in one transaction everything that was
//! under way in it is closed ([`Tx::park`](crate::store::Tx::park)). Then a plan of renames is
//! written down. That is the one moment that decides: before it the home is as it was, and what was
//! unpacked is thrown away at the next start; from then on the plan is carried out, by this program
//! or the next that takes the lock ([`settle`]). Nobody opens a home with a plan in it.
//!
//! **Who wrote the archive decides what of it counts.** An archive is authentic under the key of
//! the home, or under that of a recovery code, which a home without a key then keeps. Even so an
//! old archive readmits nobody: only people whom the present home knows are let in, as they are
//! here, and outside tools have to be accepted again. An archive that nothing authenticates is
//! restored so that nothing in it acts. What changes is shown between [`prepare`] and [`finish`]
//! ([`Difference`]), and the person is asked.
//!
//! What was there before is moved to `backups/replaced-…/` and never deleted. A file of the
//! restored workspace that matches no row of the restored journal is not trusted, and a skill that
//! nobody accepted in that form is held.

mod difference;
mod swap;
mod unpack;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};

use super::backup::key::{BackupKey, KEY_FILE};
use super::backup::manifest::{BackupEntry, BackupEntryKind, FORM, Manifest};
use super::backup::read::{self, Archive};
use super::backup::{CONFIG, FOLDERS, JOURNAL, Progress, known_as, room};
use crate::config::{self, Config, Home};
use crate::memory;
use crate::review;
use crate::store::{self, Journal, Parked, RestoredPerson, Tx};
use crate::time::Timestamp;
use crate::wording::restore as says_of_restore;
use crate::wording::upkeep as says;
use difference::Present;

pub use difference::{Acting, ConfigChange, Difference};
pub use swap::{Settled, is_left, is_unfinished, settle};

/// Where a backup is restored to.
#[derive(Debug, Clone)]
pub struct RestoreTarget {
    /// The home.
    pub home: Home,
    /// The configuration file.
    pub config: PathBuf,
    /// Which configuration holds afterwards.
    pub configuration: Configuration,
    /// The environment, which is laid over the configuration.
    pub environment: BTreeMap<String, String>,
}

/// Which configuration holds after a restore. That of an archive that nothing authenticates never
/// does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Configuration {
    /// The present one, or that of the archive if there is none.
    #[default]
    PresentFirst,
    /// That of the archive.
    Archive,
    /// The present one, or none.
    Present,
}

/// What speaks for an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Warrant {
    /// The key with which it was made.
    Key(BackupKey),
    /// Nothing: nothing in it acts.
    Nothing,
}

impl Warrant {
    /// Whether it speaks for that archive.
    fn holds_for(&self, archive: &Archive) -> anyhow::Result<bool> {
        match self {
            Self::Key(key) => archive.is_authentic(key),
            Self::Nothing => Ok(true),
        }
    }
}

/// What the key of a home says of an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Authenticity {
    /// It was made with that key, and not changed since.
    Authentic(BackupKey),
    /// It was made with another key: its recovery code is needed.
    OtherKey,
    /// It was changed.
    Changed,
    /// It carries no authentication.
    Unsigned,
}

/// What came of a restore.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    /// When the backup was made.
    pub made_at: Timestamp,
    /// What was closed, and what is not trusted.
    pub parked: Parked,
    /// Where the state from before lies now, if there was any.
    pub aside: Option<PathBuf>,
    /// Whether everything is as it was, the configuration included.
    pub is_exact: bool,
    /// Whether the archive is authentic; else nothing in it acts.
    pub is_authentic: bool,
    /// Whether the configuration is another than that of the archive.
    pub is_configured_otherwise: bool,
    /// Whether the home was given the key of the archive.
    pub keeps_key: bool,
    /// The owners, each with where they are reached.
    pub owners: Vec<String>,
}

/// A restore that waits for a yes. Nothing has changed; without [`finish`], [`settle`] removes what
/// was unpacked.
#[derive(Debug)]
pub struct Prepared {
    /// What it changes in who and what may act.
    pub difference: Difference,
    places: Vec<(&'static str, PathBuf)>,
    parked: Parked,
    keeps_key: bool,
}

/// Called between two renames; an error stops there, as a power cut does.
pub type Seam<'a> = &'a mut dyn FnMut(&str) -> anyhow::Result<()>;

/// Reads the archive in `file` from end to end.
///
/// # Errors
/// If it is not whole, not safe or too new.
pub fn read(file: &Path, home: &Home, progress: Progress<'_>) -> anyhow::Result<Archive> {
    settle(home)?;
    let room = room(home.path()).unwrap_or(u64::MAX);
    let archive = read::verify(file, room, progress)
        .map_err(|error| anyhow::anyhow!(says::not_whole(file, &format!("{error:#}"))))?;
    let known = store::newest_version();
    ensure!(archive.manifest.journal <= known, says::newer(file, archive.manifest.journal, known));
    Ok(archive)
}

/// Judges an archive by a key.
///
/// # Errors
/// Never, in practice.
pub fn judge(archive: &Archive, key: Option<&BackupKey>) -> anyhow::Result<Authenticity> {
    let Some(seal) = archive.seal.as_ref().filter(|_| archive.manifest.form == FORM) else {
        return Ok(Authenticity::Unsigned);
    };
    let Some(key) = key else { return Ok(Authenticity::OtherKey) };
    if archive.is_authentic(key)? {
        return Ok(Authenticity::Authentic(key.clone()));
    }
    Ok(if seal.key == key.id()? { Authenticity::Changed } else { Authenticity::OtherKey })
}

/// Unpacks an archive beside the home and closes what was under way in it. On an error nothing has
/// changed, and [`settle`] removes what was unpacked.
///
/// # Errors
/// If the archive is not what `warrant` says, changed since it was read, or something cannot be
/// written.
pub async fn prepare(
    file: &Path,
    archive: &Archive,
    (target, warrant): (&RestoreTarget, &Warrant),
    now: Timestamp,
    progress: Progress<'_>,
    seam: Seam<'_>,
) -> anyhow::Result<Prepared> {
    let is_authentic = *warrant != Warrant::Nothing;
    ensure!(warrant.holds_for(archive)?, says_of_restore::changed(file));
    let not_whole = |error: anyhow::Error| anyhow::anyhow!(says::not_whole(file, &format!("{error:#}")));
    let (staged, manifest) = (swap::staging(&target.home), &archive.manifest);
    unpack::unpack(file, manifest, &staged, progress).map_err(not_whole)?;
    seam("unpacked")?;
    let chosen = choose_config(target, &staged, is_authentic)?;
    let mut places = places(target, &chosen)?;
    let present = present(&target.home);
    let closing = Closing {
        entries: manifest.entries.clone(),
        skills: staged.join("skills"),
        is_authentic,
        let_in: present.let_in(is_authentic),
    };
    let (parked, people, tools) = bring_up(&staged, manifest, closing, now).await.map_err(not_whole)?;
    seam("parked")?;
    let keeps_key = keep_key(target, warrant, &staged, &mut places)?;
    let acting = difference::acting(&people, chosen.config.as_ref());
    let difference = Difference {
        made_at: manifest.made_at,
        days: now.since(manifest.made_at).as_secs() / 86_400,
        is_authentic,
        is_readable: present != Present::Unreadable,
        lost: difference::lost(&present, &people, &acting),
        people,
        acting,
        tools,
        config: chosen.change,
    };
    Ok(Prepared { difference, places, parked, keeps_key })
}

/// Puts a prepared archive in the place of the present state.
///
/// # Errors
/// If something cannot be moved.
pub fn finish(prepared: Prepared, target: &RestoreTarget, now: Timestamp, seam: Seam<'_>) -> anyhow::Result<Restored> {
    let Prepared { difference, places, parked, keeps_key } = prepared;
    let aside = swap::swap(&target.home, places, now, seam)?;
    let is_same_config = matches!(&difference.config, ConfigChange::Kept(0) | ConfigChange::Taken(_));
    Ok(Restored {
        made_at: difference.made_at,
        parked,
        aside,
        is_exact: difference.is_authentic && is_same_config && parked == Parked::default(),
        is_authentic: difference.is_authentic,
        is_configured_otherwise: !is_same_config,
        keeps_key,
        owners: difference.owners(),
    })
}

/// The configuration that holds afterwards.
struct Chosen {
    change: ConfigChange,
    takes: bool,
    config: Option<Config>,
}

fn choose_config(target: &RestoreTarget, staged: &Path, is_authentic: bool) -> anyhow::Result<Chosen> {
    let (new, present) = (staged.join(CONFIG), &target.config);
    let takes = new.is_file()
        && is_authentic
        && match target.configuration {
            Configuration::PresentFirst => !present.exists(),
            Configuration::Archive => true,
            Configuration::Present => false,
        };
    let holds = if takes { &new } else { present };
    let config = match holds.is_file() {
        true => {
            let loaded = config::load(target.home.clone(), holds, &target.environment);
            let unusable = if takes { says::config_unusable } else { says::present_config_unusable };
            Some(loaded.map_err(|error| anyhow::anyhow!(unusable(&error.to_string())))?.config)
        }
        false => None,
    };
    let text = |path: &Path| std::fs::read_to_string(path).unwrap_or_default();
    let change = match (new.is_file(), takes, present.is_file()) {
        (_, true, _) => ConfigChange::Taken(config::difference(&text(present), &text(&new))),
        (_, false, false) => ConfigChange::None,
        (false, false, true) => ConfigChange::Absent,
        (true, false, true) => ConfigChange::Kept(config::difference(&text(present), &text(&new)).len()),
    };
    Ok(Chosen { change, takes, config })
}

/// What comes where: the name in the backup, and the place.
fn places(target: &RestoreTarget, chosen: &Chosen) -> anyhow::Result<Vec<(&'static str, PathBuf)>> {
    let (workspace, skills) = match &chosen.config {
        Some(config) => (config.workspace.clone(), config.skills.dir.clone()),
        None => (target.home.path().join("workspace"), target.home.path().join("skills")),
    };
    let folders = FOLDERS.into_iter().zip([workspace, skills, target.home.path().join("experience")]);
    let mut places: Vec<(&'static str, PathBuf)> = folders.collect();
    for (_, folder) in &places {
        ensure!(swap::is_on_the_disk_of(&target.home, folder), says::other_disk(folder));
    }
    places.push((JOURNAL, target.home.journal()));
    if chosen.takes {
        places.push((CONFIG, target.config.clone()));
    }
    Ok(places)
}

/// A home without a key keeps that of the archive. One that has a key stays with it: the code that
/// its owner wrote down goes on being right.
fn keep_key(
    target: &RestoreTarget,
    warrant: &Warrant,
    staged: &Path,
    places: &mut Vec<(&'static str, PathBuf)>,
) -> anyhow::Result<bool> {
    match warrant {
        Warrant::Key(key) if BackupKey::load(&target.home)?.is_none() => {
            key.write(&staged.join(KEY_FILE))?;
            places.push((KEY_FILE, target.home.backup_key()));
            Ok(true)
        }
        _ => Ok(false),
    }
}

fn present(home: &Home) -> Present {
    let path = home.journal();
    if std::fs::metadata(&path).map_or(true, |found| found.len() == 0) {
        return Present::Unused;
    }
    match store::examine(&path, |db| Ok((db.after_restore().is_unused()?, db.after_restore().members()?))) {
        Ok((true, _)) => Present::Unused,
        Ok((false, members)) => Present::Known(members),
        Err(_) => Present::Unreadable,
    }
}

/// What has to be known to close what was under way.
struct Closing {
    entries: Vec<BackupEntry>,
    skills: PathBuf,
    is_authentic: bool,
    let_in: Option<store::PresentPeople>,
}

type Closed = (Parked, Vec<RestoredPerson>, Vec<String>);

/// Checks the unpacked journal, brings it up to date and closes what was under way.
async fn bring_up(staged: &Path, manifest: &Manifest, closing: Closing, now: Timestamp) -> anyhow::Result<Closed> {
    let path = staged.join(JOURNAL);
    let (damage, version) =
        store::examine_still(&path, |db| Ok((db.settings().quick_check()?, db.settings().version()?)))?;
    ensure!(damage.is_empty(), "its journal is damaged: {}", damage.join("; "));
    ensure!(version == manifest.journal, "its journal is of another version than its manifest says");
    let journal = Journal::open_restored(&path)?;
    let closed = journal.write("park what was under way", move |tx| close(tx, &closing, now)).await;
    journal.close().await;
    let closed = closed?;
    // The log was merged, and its files would be moved nowhere. If it was not, what was parked
    // stands only there.
    let log = staged.join(format!("{JOURNAL}-wal"));
    let left = log.metadata().map_or(0, |found| found.len());
    ensure!(left == 0, "its log cannot be merged; is the disk full?");
    for suffix in ["-wal", "-shm"] {
        let _ = std::fs::remove_file(staged.join(format!("{JOURNAL}{suffix}")));
    }
    std::fs::File::open(&path)?.sync_all()?;
    Ok(closed)
}

fn close(tx: Tx<'_>, closing: &Closing, now: Timestamp) -> anyhow::Result<Closed> {
    if !closing.is_authentic {
        tx.after_restore().has_our_schema()?;
    }
    let mut parked = tx.after_restore().park(now)?;
    if !closing.is_authentic {
        tx.after_restore().distrust_all(&memory::of_found_file(), &mut parked, now)?;
    }
    parked.files = close_files(tx, closing, now)?;
    // What was derived is made anew of what lies there now.
    tx.erasure().drop_all_entries()?;
    let judge = if closing.is_authentic { review::distrust_unknown } else { review::accept_shipped_only };
    parked.skills = judge(tx, &closing.skills, now).context("The skills cannot be compared")?;
    let people = tx.after_restore().let_in_only(closing.let_in.as_ref(), now)?;
    parked.people = people.iter().filter(|standing| standing.is_changed()).count();
    let tools = tx.after_restore().void_outside_tools()?;
    parked.tools = tools.len();
    tx.after_restore().note_parked(&parked)?;
    Ok((parked, people, tools))
}

/// Files that nobody vouches for are not trusted. How many they are.
fn close_files(tx: Tx<'_>, closing: &Closing, now: Timestamp) -> anyhow::Result<usize> {
    let mut found = 0_usize;
    for entry in closing.entries.iter().filter(|entry| entry.kind == BackupEntryKind::File) {
        let Some(inside) = known_as(&entry.path) else { continue };
        let label = match closing.is_authentic {
            true if tx.file_versions().file_version(&inside, &entry.digest)?.is_some() => continue,
            true => memory::of_found_file(),
            false => memory::of_file_from_anywhere(&inside, &entry.digest),
        };
        tx.after_restore().file_found(&inside, &entry.digest, &label, now)?;
        found = found.saturating_add(usize::from(!label.is_trusted()));
    }
    let lies = |path: &str| closing.entries.iter().any(|entry| entry.path.strip_prefix("workspace/") == Some(path));
    for path in tx.after_restore().received_files()?.into_iter().filter(|path| !lies(path)) {
        tx.after_restore().received_file_missing(&path)?;
    }
    Ok(found)
}
