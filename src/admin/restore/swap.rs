//! Replaces the old state with the new one. The exchange can be interrupted at any point and is
//! finished later.
//!
//! The plan is a list of moves, each from the staging folder to a target, with a destination for
//! the item already there. Before each of its two renames, a move checks the present state: an item
//! still in staging has not been moved, and then the item at the target is the old one. A plan can
//! therefore be carried out any number of times.

use std::fs::{self, DirBuilder, File};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::{Deserialize, Serialize};

use crate::config::Home;
use crate::time::Timestamp;

/// A callback between two renames. An error stops there, like a power cut.
pub type SwapFailpoint<'a> = &'a mut dyn FnMut(&str) -> anyhow::Result<()>;

/// Name of the plan in the staging folder.
const PLAN: &str = "plan.json";

/// Folder in which Litestream keeps its state about the journal.
const LITESTREAM: &str = ".compline.db-litestream";

/// The fate of an interrupted restore.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settled {
    /// No interrupted restore.
    Nothing,
    /// A restore past the commit point, which is now finished.
    Finished,
    /// A restore before the commit point, which was discarded.
    Dropped,
}

/// All moves of an exchange.
#[derive(Debug, Serialize, Deserialize)]
struct SwapPlan {
    moves: Vec<Move>,
}

/// One move.
#[derive(Debug, Serialize, Deserialize)]
struct Move {
    /// Path in the staging folder; `None` if nothing replaces the old item.
    staged: Option<PathBuf>,
    /// Target path.
    place: PathBuf,
    /// Destination of the old item.
    aside: PathBuf,
}

/// The folder in which a backup is unpacked.
pub(in crate::admin) fn staging(home: &Home) -> PathBuf {
    home.path().join(".restoring")
}

/// Returns whether anything is left of a restore.
pub fn is_left(home: &Home) -> bool {
    staging(home).symlink_metadata().is_ok()
}

/// Returns whether a restore is past the commit point but not finished.
pub fn is_unfinished(home: &Home) -> bool {
    staging(home).join(PLAN).exists()
}

/// Finishes or discards an interrupted restore. Only the holder of the home's lock may call this.
///
/// # Errors
/// If something cannot be moved.
pub fn settle(home: &Home) -> anyhow::Result<Settled> {
    let staged = staging(home);
    if !is_left(home) {
        return Ok(Settled::Nothing);
    }
    if !is_unfinished(home) {
        fs::remove_dir_all(&staged).with_context(|| format!("Cannot remove {}", staged.display()))?;
        return Ok(Settled::Dropped);
    }
    let plan: SwapPlan =
        serde_json::from_slice(&fs::read(staged.join(PLAN))?).context("The plan of a restore is damaged")?;
    carry_out(home, &plan, &mut |_| Ok(()))
        .or_else(|error| undo_if_stuck(home, &plan, error))
        .context("Cannot finish a restore")?;
    Ok(Settled::Finished)
}

/// Exchanges the state. Once the plan is on the disk, the exchange will be finished at the latest
/// by the next start. Returns the path of the old state, if there was any.
pub(in crate::admin) fn swap(
    home: &Home,
    places: Vec<(String, PathBuf)>,
    now: Timestamp,
    failpoint: SwapFailpoint<'_>,
) -> anyhow::Result<Option<PathBuf>> {
    let (staged, aside) = (staging(home), create_old_home_folder(home, now)?);
    for (name, _) in places.iter().filter(|(_, place)| place.symlink_metadata().is_ok()) {
        aside.join(name).parent().map_or(Ok(()), fs::create_dir_all)?;
    }
    // The old journal's log must never meet the new journal, so it is moved first.
    let journal = home.journal();
    let log = |suffix: &str| {
        let mut name = journal.as_os_str().to_owned();
        name.push(suffix);
        let name = PathBuf::from(name);
        let aside = aside.join(name.file_name().unwrap_or_default());
        Move { staged: None, place: name, aside }
    };
    let mut moves = vec![log("-wal"), log("-shm")];
    // Litestream remembers the old journal there, and would go on from it.
    let streamed = home.path().join(LITESTREAM);
    moves.push(Move { staged: None, place: streamed, aside: aside.join(LITESTREAM) });
    moves.extend(places.into_iter().map(|(name, place)| Move {
        staged: Some(staged.join(&name)),
        place,
        aside: aside.join(&name),
    }));
    let plan = SwapPlan { moves };
    write_plan(&staged, &plan)?;
    failpoint("planned")?;
    carry_out(home, &plan, failpoint).or_else(|error| undo_if_stuck(home, &plan, error))?;
    // A home without any state leaves no folder.
    Ok(fs::remove_dir(&aside).is_err().then_some(aside))
}

/// Returns whether a rename from the home to that path is possible, because both are on one disk.
pub(in crate::admin) fn is_on_the_disk_of(home: &Home, place: &Path) -> bool {
    let disk = |path: &Path| path.ancestors().find_map(|above| above.metadata().ok()).map(|found| found.dev());
    let parent = place.parent().unwrap_or(place);
    disk(parent).is_some() && disk(parent) == disk(home.path())
}

fn carry_out(home: &Home, plan: &SwapPlan, failpoint: SwapFailpoint<'_>) -> anyhow::Result<()> {
    for one in &plan.moves {
        carry(one, failpoint).with_context(|| format!("Cannot exchange {}", one.place.display()))?;
    }
    let staged = staging(home);
    // The plan is removed first: a staging folder without one is simply discarded.
    fs::remove_file(staged.join(PLAN))?;
    sync(&staged)?;
    failpoint("exchanged")?;
    fs::remove_dir_all(&staged)?;
    sync(home.path())
}

/// Puts the old state back after an I/O error: a move that fails now would fail at every start, and
/// the home could not be opened.
fn undo_if_stuck(home: &Home, plan: &SwapPlan, error: anyhow::Error) -> anyhow::Result<()> {
    if error.root_cause().is::<std::io::Error>() {
        undo(home, plan).context("The old state cannot be put back either")?;
        return Err(error.context("The restore was undone"));
    }
    Err(error)
}

fn undo(home: &Home, plan: &SwapPlan) -> anyhow::Result<()> {
    let stands = |path: &Path| path.symlink_metadata().is_ok();
    for one in plan.moves.iter().rev() {
        if let Some(staged) = one.staged.as_deref().filter(|staged| !stands(staged) && stands(&one.place)) {
            rename(&one.place, staged)?;
        }
        if stands(&one.aside) && !stands(&one.place) {
            rename(&one.aside, &one.place)?;
        }
    }
    let staged = staging(home);
    fs::remove_file(staged.join(PLAN))?;
    sync(&staged)
}

fn carry(one: &Move, failpoint: SwapFailpoint<'_>) -> anyhow::Result<()> {
    let stands = |path: &Path| path.symlink_metadata().is_ok();
    let due = one.staged.as_deref().is_none_or(stands);
    if due && stands(&one.place) && !stands(&one.aside) {
        rename(&one.place, &one.aside)?;
        failpoint("moved aside")?;
    }
    if let Some(staged) = one.staged.as_deref().filter(|staged| stands(staged)) {
        if let Some(parent) = one.place.parent() {
            fs::create_dir_all(parent)?;
        }
        rename(staged, &one.place)?;
        failpoint("moved in")?;
    }
    Ok(())
}

fn rename(from: &Path, to: &Path) -> anyhow::Result<()> {
    fs::rename(from, to)?;
    for path in [from, to] {
        path.parent().map(sync).transpose()?;
    }
    Ok(())
}

fn write_plan(staged: &Path, plan: &SwapPlan) -> anyhow::Result<()> {
    let part = staged.join("plan.part");
    let mut file = File::options().write(true).create_new(true).mode(0o600).open(&part)?;
    file.write_all(&serde_json::to_vec(plan)?)?;
    file.sync_all()?;
    fs::rename(&part, staged.join(PLAN))?;
    sync(staged)?;
    staged.parent().map(sync).transpose().map(drop)
}

fn create_old_home_folder(home: &Home, now: Timestamp) -> anyhow::Result<PathBuf> {
    let backups = home.path().join("backups");
    DirBuilder::new().recursive(true).mode(0o700).create(&backups)?;
    let time: String = now.rfc3339().chars().filter(|c| !matches!(c, '-' | ':')).take(15).collect();
    for count in 1..1000_u32 {
        let name = if count == 1 { format!("replaced-{time}") } else { format!("replaced-{time}-{count}") };
        match DirBuilder::new().mode(0o700).create(backups.join(&name)) {
            Ok(()) => {
                sync(&backups)?;
                return Ok(backups.join(name));
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error.into()),
        }
    }
    anyhow::bail!("Cannot make a folder in {}", backups.display())
}

fn sync(folder: &Path) -> anyhow::Result<()> {
    Ok(File::open(folder)?.sync_all()?)
}
