//! The exchange of the old state for the new one, which can be broken off anywhere and is finished
//! later.
//!
//! The plan is a list of moves, each from the staging folder to its place with a place aside for
//! what stands there. A move looks at what is there before each of its two renames: what stands in
//! staging has not been moved, and what stands in its place then is the old one. So a plan may be
//! carried out any number of times.

use std::fs::{self, DirBuilder, File};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::{Deserialize, Serialize};

use super::Seam;
use crate::config::Home;
use crate::time::Timestamp;

/// The name of the plan in the staging folder.
const PLAN: &str = "plan.json";

/// What was found of a restore that had been cut off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settled {
    /// Nothing.
    Nothing,
    /// It had been decided, and is finished now.
    Finished,
    /// It had not been decided, and is dropped.
    Dropped,
}

/// Everything that is moved.
#[derive(Debug, Serialize, Deserialize)]
struct SwapPlan {
    moves: Vec<Move>,
}

/// One thing.
#[derive(Debug, Serialize, Deserialize)]
struct Move {
    /// In the staging folder; nothing if nothing comes in the place.
    staged: Option<PathBuf>,
    /// Its place.
    place: PathBuf,
    /// Where what stands in the place goes.
    aside: PathBuf,
}

/// Where a backup is unpacked.
pub(super) fn staging(home: &Home) -> PathBuf {
    home.path().join(".restoring")
}

/// Whether anything of a restore is left.
pub fn is_left(home: &Home) -> bool {
    staging(home).symlink_metadata().is_ok()
}

/// Whether a restore was decided and is not finished.
pub fn is_unfinished(home: &Home) -> bool {
    staging(home).join(PLAN).exists()
}

/// Finishes or drops a restore that was cut off. Only the holder of the home's lock may call this.
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

/// Exchanges the state. From the moment at which the plan is on the disk this is going to be
/// finished, whatever happens. Returns where the old state lies, if there was any.
pub(super) fn swap(
    home: &Home,
    places: Vec<(&'static str, PathBuf)>,
    now: Timestamp,
    seam: Seam<'_>,
) -> anyhow::Result<Option<PathBuf>> {
    let (staged, aside) = (staging(home), make_aside(home, now)?);
    // The log of the old journal must never meet the new one: it goes first.
    let journal = home.journal();
    let log = |suffix: &str| {
        let mut name = journal.as_os_str().to_owned();
        name.push(suffix);
        let name = PathBuf::from(name);
        let aside = aside.join(name.file_name().unwrap_or_default());
        Move { staged: None, place: name, aside }
    };
    let mut moves = vec![log("-wal"), log("-shm")];
    moves.extend(places.into_iter().map(|(name, place)| Move {
        staged: Some(staged.join(name)),
        place,
        aside: aside.join(name),
    }));
    let plan = SwapPlan { moves };
    write_plan(&staged, &plan)?;
    seam("planned")?;
    carry_out(home, &plan, seam).or_else(|error| undo_if_stuck(home, &plan, error))?;
    // A home that held nothing leaves nothing.
    Ok(fs::remove_dir(&aside).is_err().then_some(aside))
}

/// Whether something can be moved from the home to that place at once.
pub(super) fn is_on_the_disk_of(home: &Home, place: &Path) -> bool {
    let disk = |path: &Path| path.ancestors().find_map(|above| above.metadata().ok()).map(|found| found.dev());
    let parent = place.parent().unwrap_or(place);
    disk(parent).is_some() && disk(parent) == disk(home.path())
}

fn carry_out(home: &Home, plan: &SwapPlan, seam: Seam<'_>) -> anyhow::Result<()> {
    for one in &plan.moves {
        carry(one, seam).with_context(|| format!("Cannot exchange {}", one.place.display()))?;
    }
    let staged = staging(home);
    // The plan goes first: a staging folder without one is only dropped.
    fs::remove_file(staged.join(PLAN))?;
    sync(&staged)?;
    seam("exchanged")?;
    fs::remove_dir_all(&staged)?;
    sync(home.path())
}

/// What the system refuses to move now it would refuse at every start: the old state is put back,
/// so that the home can be opened.
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

fn carry(one: &Move, seam: Seam<'_>) -> anyhow::Result<()> {
    let stands = |path: &Path| path.symlink_metadata().is_ok();
    let due = one.staged.as_deref().is_none_or(stands);
    if due && stands(&one.place) && !stands(&one.aside) {
        rename(&one.place, &one.aside)?;
        seam("moved aside")?;
    }
    if let Some(staged) = one.staged.as_deref().filter(|staged| stands(staged)) {
        if let Some(parent) = one.place.parent() {
            fs::create_dir_all(parent)?;
        }
        rename(staged, &one.place)?;
        seam("moved in")?;
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

fn make_aside(home: &Home, now: Timestamp) -> anyhow::Result<PathBuf> {
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
