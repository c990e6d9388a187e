//! Takes over from another machine, from a replica of its home.
//!
//! Litestream streams the journal to `journal/` in a folder, and any program that copies files puts
//! `workspace/`, `skills/` and `experience/` next to it. [`prepare`] rebuilds the journal next to
//! the home's files, in `.restoring/`, checks and migrates it, and does with it what a restore does
//! with a backup, but for one thing: messages and deliveries in progress go on, marked as possibly
//! repeated (`AfterRestoreMut::mark_pending`). [`finish`] exchanges the state by the plan of a
//! restore ([`super::restore`]), so a power cut leaves the old state or the new one.
//!
//! The journal and the copied files are of slightly different moments. A file that the journal does
//! not know is untrusted, as after a restore. Nothing authenticates a replica: a program that can
//! write to its folder can write what this machine will believe. Tables and triggers that are not
//! ours are refused, and the people who would have access are shown before anything changes.
//!
//! That only one machine serves is the subject of [`claim`].

pub mod claim;

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, File};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};

use super::backup::manifest::{BackupEntry, BackupEntryKind, stays_inside};
use super::backup::read::digest_of;
use super::backup::{FOLDERS, JOURNAL, known_as};
use super::restore::{CloseInput, ConfigChange, Difference, StagedOrigin, close_staged, difference, present, swap};
use crate::config::Config;
use crate::store::{self, ClosedWork};
use crate::time::Timestamp;
use crate::wording::standby as says;
use claim::Claim;

/// Folder of Litestream's replica in the folder of the replica.
const STREAM: &str = "journal";
/// Maximum folder depth.
const MAX_DEPTH: usize = 64;

/// Returns the folder of the journal in that of a replica.
pub fn stream(folder: &Path) -> PathBuf {
    folder.join(STREAM)
}

/// Reason to prepare a takeover.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// To tell whether it would succeed; the folders stay where they are.
    Check,
    /// To carry it out.
    Activate,
}

/// State of a replica.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplicaReport {
    /// Last moment that its journal knows of.
    pub up_to: Option<Timestamp>,
    /// Version of its journal.
    pub version: u32,
    /// False if a version before the first release wrote its journal last.
    pub is_of_release: bool,
    /// Number of files that are as the journal says.
    pub matching: usize,
    /// Number of files that the journal does not know; they would not be trusted.
    pub unknown: usize,
    /// Number of files of the journal that are missing, or of an earlier version.
    pub behind: usize,
    /// Gateway that says it serves.
    pub claim: Option<Claim>,
    /// True if other accounts of the computer can read the replica.
    pub is_exposed: bool,
}

/// A takeover that awaits confirmation. Nothing has changed.
#[derive(Debug)]
pub struct PreparedTakeover {
    /// State of the replica.
    pub report: ReplicaReport,
    /// People and tools that would act.
    pub difference: Difference,
    /// Work that is closed or marked.
    pub parked: ClosedWork,
    places: Vec<(String, PathBuf)>,
}

/// Rebuilds the journal of the replica next to the home, or copies that of the home itself if no
/// replica is configured. The holder of the home's lock calls this; without [`finish`] the next one
/// removes all of it.
///
/// # Errors
/// If the replica is missing, damaged, newer than this program or older than the home.
pub async fn prepare(config: &Config, purpose: Purpose, now: Timestamp) -> anyhow::Result<PreparedTakeover> {
    let (home, staged) = (&config.home, swap::staging(&config.home));
    DirBuilder::new().recursive(true).mode(0o700).create(&staged)?;
    stage_journal(config, &staged.join(JOURNAL))?;
    let targets = [config.workspace.clone(), config.skills.dir.clone(), home.experience()];
    let sources = match &config.replica {
        None => targets.clone(),
        Some(folder) => {
            ensure!(folder.join(FOLDERS[0]).is_dir(), says::no_workspace(&folder.join(FOLDERS[0])));
            let sources = FOLDERS.map(|name| folder.join(name));
            match purpose {
                Purpose::Check => sources,
                Purpose::Activate => stage_folders(&sources, &staged)?,
            }
        }
    };
    let mut entries = Vec::new();
    for (name, source) in FOLDERS.into_iter().zip(&sources) {
        list_files(name, source, &mut entries)?;
    }
    let report = examine(config, &staged.join(JOURNAL), &entries)?;
    let present = present(home);
    let closing = CloseInput {
        entries,
        skills: sources[1].clone(),
        origin: StagedOrigin::Replica,
        admitted: present.admitted_people(true),
    };
    let closed = close_staged(&staged, closing, now).await;
    let (parked, people, tools) = closed.map_err(|error| anyhow::anyhow!(says::not_usable(&format!("{error:#}"))))?;
    let acting = difference::acting(&people, Some(config));
    let difference = Difference {
        made_at: report.up_to.unwrap_or(now),
        days: 0,
        is_authentic: true,
        is_readable: true,
        lost: difference::lost(&present, &people, &acting),
        people,
        acting,
        tools,
        config: ConfigChange::Kept(0),
    };
    let mut places = vec![(JOURNAL.to_owned(), home.journal())];
    if config.replica.is_some() {
        places.extend(FOLDERS.into_iter().map(str::to_owned).zip(targets));
    }
    for (_, place) in &places {
        ensure!(swap::is_on_the_disk_of(home, place), crate::wording::upkeep::other_disk(place));
    }
    Ok(PreparedTakeover { report, difference, parked, places })
}

/// Replaces the state of the home, and claims the replica. Returns the path of the old state, if
/// there was any.
///
/// # Errors
/// If something cannot be moved. The claim is repeated by the gateway.
pub fn finish(prepared: PreparedTakeover, config: &Config, now: Timestamp) -> anyhow::Result<Option<PathBuf>> {
    let aside = swap::swap(&config.home, prepared.places, now, &mut |_| Ok(()))?;
    if let Some(folder) = &config.replica {
        claim::hold(folder, &Claim::of(&config.home, now)?);
    }
    Ok(aside)
}

fn stage_journal(config: &Config, to: &Path) -> anyhow::Result<()> {
    let Some(folder) = &config.replica else {
        ensure!(config.home.journal().is_file(), says::NOTHING_TO_ACTIVATE);
        return store::copy_journal(&config.home.journal(), to, &mut |_, _| {});
    };
    let stream = folder.join(STREAM);
    ensure!(stream.is_dir(), says::no_replica(&stream));
    let url = url::Url::from_directory_path(&stream).map_err(|()| anyhow::anyhow!(says::no_replica(&stream)))?;
    let restored = Command::new("litestream").arg("restore").arg("-o").arg(to).arg(url.as_str()).output();
    let restored = match restored {
        Err(error) if error.kind() == ErrorKind::NotFound => anyhow::bail!(says::NO_LITESTREAM),
        restored => restored.context("Litestream cannot be started")?,
    };
    let told = String::from_utf8_lossy(&restored.stderr);
    let last = told.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
    ensure!(restored.status.success() && to.is_file(), says::not_usable(last));
    fs::set_permissions(to, fs::Permissions::from_mode(0o600))?;
    // One file, as `close_staged` leaves it.
    Ok(File::open(to)?.sync_all()?)
}

/// Copies the folders, so that what is judged is what is used.
fn stage_folders(sources: &[PathBuf; 3], staged: &Path) -> anyhow::Result<[PathBuf; 3]> {
    let copies = FOLDERS.map(|name| staged.join(name));
    for ((name, from), to) in FOLDERS.into_iter().zip(sources).zip(&copies) {
        DirBuilder::new().mode(0o700).create(to)?;
        each_item(name, from, 0, &mut |path, found| {
            let target = staged.join(path);
            match found {
                Item::Folder => Ok(DirBuilder::new().mode(0o700).create(target)?),
                Item::File(file) => {
                    fs::copy(file, &target).with_context(|| format!("Cannot copy {}", file.display()))?;
                    Ok(File::open(&target)?.sync_all()?)
                }
                Item::Link(to) => Ok(std::os::unix::fs::symlink(to, target)?),
            }
        })?;
    }
    Ok(copies)
}

fn list_files(name: &str, folder: &Path, into: &mut Vec<BackupEntry>) -> anyhow::Result<()> {
    each_item(name, folder, 0, &mut |path, found| {
        if let Item::File(file) = found {
            let digest = digest_of(&mut File::open(file)?)?;
            let (path, kind) = (path.to_owned(), BackupEntryKind::File);
            into.push(BackupEntry { path, kind, size: 0, digest, executable: false });
        }
        Ok(())
    })
}

enum Item<'a> {
    Folder,
    File(&'a Path),
    /// A link to something within the same folder, with its target.
    Link(&'a str),
}

/// Passes each item of a folder to `take`, parents first. A missing folder has none; what a backup
/// would leave out is skipped.
fn each_item(
    name: &str,
    folder: &Path,
    depth: usize,
    take: &mut dyn FnMut(&str, Item<'_>) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    ensure!(depth < MAX_DEPTH, "{name} lies in more than {MAX_DEPTH} folders");
    let listed = match fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        listed => listed.with_context(|| format!("Cannot read {}", folder.display()))?,
    };
    for entry in listed {
        let entry = entry?;
        let Ok(file_name) = entry.file_name().into_string() else { continue };
        let (path, place, kind) = (format!("{name}/{file_name}"), entry.path(), entry.file_type()?);
        if kind.is_dir() {
            take(&path, Item::Folder)?;
            each_item(&path, &place, depth + 1, take)?;
        } else if kind.is_file() {
            take(&path, Item::File(&place))?;
        } else if kind.is_symlink() {
            let target = fs::read_link(&place)?;
            if let Some(target) = target.to_str().filter(|target| stays_inside(&path, target)) {
                take(&path, Item::Link(target))?;
            }
        }
    }
    Ok(())
}

fn examine(config: &Config, journal: &Path, entries: &[BackupEntry]) -> anyhow::Result<ReplicaReport> {
    let known = store::newest_version();
    let lies: BTreeMap<String, &str> =
        entries.iter().filter_map(|entry| Some((known_as(&entry.path)?, &*entry.digest))).collect();
    let read = |db: store::Db<'_>| {
        let version = db.settings().version()?;
        ensure!(version >= store::BASELINE && !db.settings().is_too_old()?, says::too_old(version));
        ensure!(version <= known, says::newer(version, known));
        let newest: BTreeMap<String, String> = db.after_restore().newest_files()?.into_iter().collect();
        let is_current = |path: &String, digest: &str| newest.get(path).is_some_and(|newest| *newest == digest);
        let mut unknown = 0_usize;
        for (path, digest) in lies.iter().filter(|(path, digest)| !is_current(path, digest)) {
            unknown = unknown.saturating_add(usize::from(db.file_versions().file_version(path, digest)?.is_none()));
        }
        Ok(ReplicaReport {
            up_to: db.after_restore().newest()?,
            version,
            is_of_release: db.settings().is_of_release()?,
            matching: lies.iter().filter(|(path, digest)| is_current(path, digest)).count(),
            unknown,
            behind: newest.iter().filter(|(path, digest)| lies.get(*path).is_none_or(|lies| lies != digest)).count(),
            claim: config.replica.as_deref().and_then(claim::read),
            is_exposed: config.replica.as_deref().is_some_and(is_exposed),
        })
    };
    let report = store::examine(journal, read)?;
    let here = config.home.journal();
    let newest_here = store::examine(&here, |db| db.after_restore().newest()).ok().flatten();
    ensure!(config.replica.is_none() || newest_here <= report.up_to, says::home_is_newer(&here));
    Ok(report)
}

fn is_exposed(folder: &Path) -> bool {
    fs::metadata(folder).is_ok_and(|found| found.permissions().mode() & 0o077 != 0)
}
