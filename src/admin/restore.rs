//! Restores a backup in place of the present state of a home.
//!
//! Only the holder of the home's lock may do this. All preparation takes place next to the home's
//! files, in `.restoring/`. The backup is read in full, compared with its manifest and unpacked.
//! Its journal is checked and migrated, and one transaction closes everything that was in progress
//! in it (`AfterRestoreMut::close_pending`). Then a plan of renames is written. That write is
//! the commit point: before it the home is unchanged, and the unpacked files are discarded at the
//! next start; after it the plan is carried out, by this process or the next one that takes the
//! lock ([`settle`]). A home with a plan in it is never opened.
//!
//! **The authenticity of an archive decides which parts of it take effect.** An archive is
//! authentic under the key of the home, or under that of a recovery code, which a home without a
//! key then keeps. Even so, an old archive grants access to no one: only people whom the present
//! home knows keep access, with their present standing, and MCP tools have to be accepted again. An
//! archive without authentication is restored so that nothing in it acts. Between [`prepare`] and
//! [`finish`] the changes are shown ([`Difference`]), and the person is asked.
//!
//! The former state is moved to `backups/replaced-…/` and never deleted. A file of the restored
//! workspace that matches no row of the restored journal is untrusted, and a skill that was not
//! accepted in that form is held.

pub(super) mod difference;
pub(super) mod swap;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};

use super::backup::key::{BackupKey, KEY_FILE};
use super::backup::manifest::{BackupEntry, BackupEntryKind, FORM, Manifest};
use super::backup::read::{self, Archive};
use super::backup::{CONFIG, FOLDERS, JOURNAL, Progress, SECRETS, known_as, secret_path};
use crate::config::{self, Config, Home, NamedSecret};
use crate::memory;
use crate::review;
use crate::store::{self, ClosedWork, Journal, RestoredPerson, Tx};
use crate::time::Timestamp;
use crate::wording::restore as of_restore;
use crate::wording::upkeep as says;
use difference::PresentHome;

pub use difference::{ActingPerson, ConfigChange, Difference};
pub use swap::{Settled, SwapFailpoint, is_left, is_unfinished, settle};

/// The destination of a restore.
#[derive(Debug, Clone)]
pub struct RestoreTarget {
    /// The home.
    pub home: Home,
    /// The configuration file.
    pub config: PathBuf,
    /// The configuration to use afterwards.
    pub configuration: Configuration,
    /// Environment variables, which override the configuration.
    pub environment: BTreeMap<String, String>,
}

/// The configuration to use after a restore. That of an unauthenticated archive is never used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Configuration {
    /// The present one, or the archive's if there is none.
    #[default]
    PresentFirst,
    /// The archive's.
    Archive,
    /// The present one, or none.
    Present,
}

/// The evidence for an archive's authenticity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArchiveProof {
    /// The key with which it was made.
    Key(BackupKey),
    /// None: nothing in the archive acts.
    Nothing,
}

impl ArchiveProof {
    /// Returns whether the evidence applies to that archive.
    fn applies_to(&self, archive: &Archive) -> anyhow::Result<bool> {
        match self {
            Self::Key(key) => archive.is_authentic(key),
            Self::Nothing => Ok(true),
        }
    }
}

/// The result of checking an archive against the key of a home.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Authenticity {
    /// Made with that key, and unchanged since.
    Authentic(BackupKey),
    /// Made with another key, whose recovery code is needed.
    OtherKey,
    /// Changed after it was made.
    Changed,
    /// Without authentication.
    Unsigned,
}

/// The result of a restore.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    /// Creation time of the backup.
    pub made_at: Timestamp,
    /// Work that was closed, and data that is not trusted.
    pub parked: ClosedWork,
    /// Path of the former state, if there was any.
    pub aside: Option<PathBuf>,
    /// True if everything is as backed up, including the configuration.
    pub is_exact: bool,
    /// True if the archive is authentic; otherwise nothing in it acts.
    pub is_authentic: bool,
    /// True if the configuration differs from the archive's.
    pub is_configured_otherwise: bool,
    /// True if the home received the archive's key.
    pub keeps_key: bool,
    /// The owners, each with their addresses.
    pub owners: Vec<String>,
    /// Secrets that the archive's configuration names and that are not on this computer.
    pub missing_secrets: Vec<NamedSecret>,
}

/// A restore that awaits confirmation. Nothing has changed; without [`finish`], [`settle`] removes
/// the unpacked files.
#[derive(Debug)]
pub struct PreparedRestore {
    /// Changes to the people and tools that may act.
    pub difference: Difference,
    places: Places,
    parked: ClosedWork,
    keeps_key: bool,
    secrets: Vec<NamedSecret>,
}

/// The destinations: name in the backup, and path.
type Places = Vec<(String, PathBuf)>;

/// Reads the whole archive in `file`.
///
/// # Errors
/// If the archive is incomplete, unsafe, too old or too new.
pub fn read(file: &Path, home: &Home, progress: Progress<'_>) -> anyhow::Result<Archive> {
    settle(home)?;
    let room = memory::free_space::free_space(home.path()).unwrap_or(u64::MAX);
    let archive = read::verify(file, room, progress).map_err(|error| {
        let kind = error.downcast_ref::<std::io::Error>().map(std::io::Error::kind);
        match kind == Some(std::io::ErrorKind::PermissionDenied) {
            true => anyhow::anyhow!(says::not_readable(file)),
            false => anyhow::anyhow!(says::not_whole(file, &format!("{error:#}"))),
        }
    })?;
    let known = store::newest_version();
    ensure!(archive.manifest.journal >= store::BASELINE, says::too_old(file, archive.manifest.journal));
    ensure!(
        archive.manifest.journal <= known,
        says::newer(file, &archive.manifest.version, archive.manifest.journal, known)
    );
    Ok(archive)
}

/// Checks an archive against a key.
///
/// # Errors
/// Never, in practice.
pub fn check_authenticity(archive: &Archive, key: Option<&BackupKey>) -> anyhow::Result<Authenticity> {
    let Some(seal) = archive.seal.as_ref().filter(|_| archive.manifest.form == FORM) else {
        return Ok(Authenticity::Unsigned);
    };
    let Some(key) = key else { return Ok(Authenticity::OtherKey) };
    if archive.is_authentic(key)? {
        return Ok(Authenticity::Authentic(key.clone()));
    }
    Ok(if seal.key == key.id()? { Authenticity::Changed } else { Authenticity::OtherKey })
}

/// Unpacks an archive next to the home, and closes everything that was in progress in it. On an
/// error nothing has changed, and [`settle`] removes the unpacked files.
///
/// # Errors
/// If `proof` does not apply to the archive, the archive has changed since it was read, or
/// something cannot be written.
pub async fn prepare(
    file: &Path,
    archive: &Archive,
    (target, proof): (&RestoreTarget, &ArchiveProof),
    now: Timestamp,
    progress: Progress<'_>,
    failpoint: SwapFailpoint<'_>,
) -> anyhow::Result<PreparedRestore> {
    let is_authentic = *proof != ArchiveProof::Nothing;
    ensure!(proof.applies_to(archive)?, of_restore::changed(file));
    let not_whole = |error: anyhow::Error| anyhow::anyhow!(says::not_whole(file, &format!("{error:#}")));
    let (staged, manifest) = (swap::staging(&target.home), &archive.manifest);
    read::unpack(file, manifest, &staged, progress).map_err(not_whole)?;
    failpoint("unpacked")?;
    let chosen = choose_config(target, &staged, is_authentic)?;
    let mut places = places(target, &chosen, manifest)?;
    let present = present(&target.home);
    let closing = CloseInput {
        entries: manifest.entries.clone(),
        skills: staged.join("skills"),
        origin: StagedOrigin::Archive { version: manifest.journal, is_authentic },
        admitted: present.admitted_people(is_authentic),
    };
    let (parked, people, tools) = close_staged(&staged, closing, now).await.map_err(not_whole)?;
    failpoint("parked")?;
    let keeps_key = store_key(target, proof, &staged, &mut places)?;
    let acting = difference::acting(&people, chosen.config.as_ref());
    let difference = Difference {
        made_at: manifest.made_at,
        days: now.since(manifest.made_at).as_secs() / 86_400,
        is_authentic,
        is_readable: present != PresentHome::Unreadable,
        lost: difference::lost(&present, &people, &acting),
        people,
        acting,
        tools,
        config: chosen.change,
    };
    Ok(PreparedRestore { difference, places, parked, keeps_key, secrets: chosen.secrets })
}

/// Replaces the present state with a prepared archive.
///
/// # Errors
/// If something cannot be moved.
pub fn finish(
    prepared: PreparedRestore,
    target: &RestoreTarget,
    now: Timestamp,
    failpoint: SwapFailpoint<'_>,
) -> anyhow::Result<Restored> {
    let PreparedRestore { difference, places, parked, keeps_key, secrets } = prepared;
    let aside = swap::swap(&target.home, places, now, failpoint)?;
    let missing_secrets: Vec<_> = secrets.into_iter().filter(|secret| !secret.is_there(&target.environment)).collect();
    let is_same_config = matches!(&difference.config, ConfigChange::Kept(0) | ConfigChange::Taken(_));
    Ok(Restored {
        made_at: difference.made_at,
        parked,
        aside,
        is_exact: difference.is_authentic
            && is_same_config
            && parked == ClosedWork::default()
            && missing_secrets.is_empty(),
        is_authentic: difference.is_authentic,
        is_configured_otherwise: !is_same_config,
        keeps_key,
        owners: difference.owners(),
        missing_secrets,
    })
}

/// The configuration to use afterwards.
struct ChosenConfig {
    change: ConfigChange,
    takes: bool,
    config: Option<Config>,
    /// Secrets that the archive's configuration names, if it is used.
    secrets: Vec<NamedSecret>,
}

fn choose_config(target: &RestoreTarget, staged: &Path, is_authentic: bool) -> anyhow::Result<ChosenConfig> {
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
            let load = if takes { config::load_with_missing_secrets } else { config::load };
            let loaded = load(target.home.clone(), holds, &target.environment);
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
    let secrets = if takes { config::named_secrets(&text(&new), &target.home) } else { Vec::new() };
    Ok(ChosenConfig { change, takes, config, secrets })
}

/// The secret files of the archive are used only if its configuration names them.
fn places(target: &RestoreTarget, chosen: &ChosenConfig, manifest: &Manifest) -> anyhow::Result<Places> {
    let (workspace, skills) = match &chosen.config {
        Some(config) => (config.workspace.clone(), config.skills.dir.clone()),
        None => (target.home.path().join("workspace"), target.home.path().join("skills")),
    };
    let folders = FOLDERS.into_iter().zip([workspace, skills, target.home.path().join("experience")]);
    let mut places: Places = folders.map(|(name, folder)| (name.to_owned(), folder)).collect();
    let files = manifest.entries.iter().filter(|entry| entry.kind == BackupEntryKind::File);
    let is_named =
        |inside: &&str| chosen.secrets.iter().filter_map(NamedSecret::file).any(|path| path.ends_with(inside));
    let secrets = files.filter_map(|entry| secret_path(&entry.path)).filter(is_named);
    places.extend(secrets.map(|inside| (format!("{SECRETS}/{inside}"), target.home.path().join(inside))));
    for (_, folder) in &places {
        ensure!(swap::is_on_the_disk_of(&target.home, folder), says::other_disk(folder));
    }
    places.push((JOURNAL.to_owned(), target.home.journal()));
    if chosen.takes {
        places.push((CONFIG.to_owned(), target.config.clone()));
    }
    Ok(places)
}

/// Keeps the archive's key in a home that has none. A home with a key retains it, so the recovery
/// code that its owner wrote down stays valid.
fn store_key(target: &RestoreTarget, proof: &ArchiveProof, staged: &Path, places: &mut Places) -> anyhow::Result<bool> {
    match proof {
        ArchiveProof::Key(key) if BackupKey::load(&target.home)?.is_none() => {
            key.write(&staged.join(KEY_FILE))?;
            places.push((KEY_FILE.to_owned(), target.home.backup_key()));
            Ok(true)
        }
        _ => Ok(false),
    }
}

pub(super) fn present(home: &Home) -> PresentHome {
    let path = home.journal();
    if std::fs::metadata(&path).map_or(true, |found| found.len() == 0) {
        return PresentHome::Unused;
    }
    match store::examine(&path, |db| Ok((db.after_restore().is_unused()?, db.after_restore().members()?))) {
        Ok((true, _)) => PresentHome::Unused,
        Ok((false, members)) => PresentHome::Known(members),
        Err(_) => PresentHome::Unreadable,
    }
}

/// Origin of a staged journal.
#[derive(Debug, Clone, Copy)]
pub(super) enum StagedOrigin {
    /// An archive, with the version that its manifest says.
    Archive { version: u32, is_authentic: bool },
    /// A replica, which nothing authenticates but the folder that holds it.
    Replica,
}

/// Input for closing work in progress.
pub(super) struct CloseInput {
    /// Items of the folders.
    pub(super) entries: Vec<BackupEntry>,
    /// Folder of the skills.
    pub(super) skills: PathBuf,
    /// Origin of the journal.
    pub(super) origin: StagedOrigin,
    /// People of the present home, if only they may be admitted.
    pub(super) admitted: Option<store::PresentPeople>,
}

impl CloseInput {
    fn keeps_labels(&self) -> bool {
        !matches!(self.origin, StagedOrigin::Archive { is_authentic: false, .. })
    }
}

pub(super) type Closing = (ClosedWork, Vec<RestoredPerson>, Vec<String>);

/// Checks the staged journal, migrates it and closes or marks the work in progress.
pub(super) async fn close_staged(staged: &Path, closing: CloseInput, now: Timestamp) -> anyhow::Result<Closing> {
    let path = staged.join(JOURNAL);
    let (damage, found) = store::examine(&path, |db| Ok((db.settings().quick_check()?, db.settings().version()?)))?;
    ensure!(damage.is_empty(), "its journal is damaged: {}", damage.join("; "));
    if let StagedOrigin::Archive { version, .. } = closing.origin {
        ensure!(found == version, "its journal is of another version than its manifest says");
    }
    let journal = Journal::open_restored(&path)?;
    let closed = journal.write("park what was under way", move |tx| close(tx, &closing, now)).await;
    journal.close().await;
    let closed = closed?;
    // The log was merged; its files would not be moved along. If it was not merged, it alone holds
    // the changes of this transaction.
    let log = staged.join(format!("{JOURNAL}-wal"));
    let left = log.metadata().map_or(0, |found| found.len());
    ensure!(left == 0, "its log cannot be merged; is the disk full?");
    for suffix in ["-wal", "-shm"] {
        let _ = std::fs::remove_file(staged.join(format!("{JOURNAL}{suffix}")));
    }
    std::fs::File::open(&path)?.sync_all()?;
    Ok(closed)
}

fn close(tx: Tx<'_>, closing: &CloseInput, now: Timestamp) -> anyhow::Result<Closing> {
    if !matches!(closing.origin, StagedOrigin::Archive { is_authentic: true, .. }) {
        tx.after_restore().has_our_schema()?;
    }
    let mut parked = match closing.origin {
        StagedOrigin::Archive { .. } => tx.after_restore().close_pending(now)?,
        StagedOrigin::Replica => tx.after_restore().mark_pending(now)?,
    };
    if !closing.keeps_labels() {
        tx.after_restore().distrust_all(&memory::of_found_file(), &mut parked, now)?;
    }
    parked.files = close_files(tx, closing, now)?;
    // Derived data is rebuilt from the restored files.
    tx.erasure().drop_all_entries()?;
    let judge = if closing.keeps_labels() { review::distrust_unknown } else { review::accept_shipped_only };
    parked.skills = judge(tx, &closing.skills, now).context("The skills cannot be compared")?;
    let people = tx.after_restore().admit_only(closing.admitted.as_ref(), now)?;
    parked.people = people.iter().filter(|standing| standing.is_changed()).count();
    let tools = tx.after_restore().void_outside_tools()?;
    parked.tools = tools.len();
    tx.after_restore().note_parked(&parked)?;
    Ok((parked, people, tools))
}

/// Records files without a known origin as untrusted, and returns their number.
fn close_files(tx: Tx<'_>, closing: &CloseInput, now: Timestamp) -> anyhow::Result<usize> {
    let mut found = 0_usize;
    for entry in closing.entries.iter().filter(|entry| entry.kind == BackupEntryKind::File) {
        let Some(inside) = known_as(&entry.path) else { continue };
        let label = match closing.keeps_labels() {
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
