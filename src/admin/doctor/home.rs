//! The home with its disk, and the skills folder with the proposals that wait for the owner.

use std::path::{Path, PathBuf};

use super::Finding;
use crate::config::{ConfigSource, Home, mode_finding};
use crate::skill::Catalogue;
use crate::store::{Db, SkillState};
use crate::time::Timestamp;
use crate::wording::doctor as says;

/// Minimum free space: the journal needs space for its log before it can write anything.
const MIN_FREE: u64 = 100 << 20;

/// A path that other users can read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenPath {
    /// The check that finds it.
    pub check: &'static str,
    /// The path.
    pub path: PathBuf,
    /// Present permissions.
    pub mode: u32,
    /// The permissions that it should have.
    pub wanted: u32,
}

impl OpenPath {
    /// Returns a file that others can read and should not.
    pub fn of_file(file: &Path, check: &'static str) -> Option<Self> {
        let exposed = mode_finding(file)?;
        Some(Self { check, path: exposed.path, mode: exposed.mode, wanted: 0o600 })
    }

    /// Returns the finding.
    pub fn finding(&self) -> Finding {
        let shown = self.path.display().to_string();
        Finding::wrong(self.check, &says::readable(&shown, self.mode), &says::fix_mode(&shown, self.wanted))
    }
}

/// Returns the paths of a home that others can read: the home itself, its lock and its key.
pub fn open_paths(home: &Home) -> Vec<OpenPath> {
    let folder = mode_finding(home.path());
    let folder =
        folder.map(|exposed| OpenPath { check: says::HOME, path: exposed.path, mode: exposed.mode, wanted: 0o700 });
    let files = [(home.lock(), says::HOME), (home.backup_key(), says::SECRETS)];
    let files = files.into_iter().filter_map(|(file, check)| OpenPath::of_file(&file, check));
    folder.into_iter().chain(files).collect()
}

/// Returns the files with secrets of the configuration that others can read.
pub fn open_secrets(source: &ConfigSource) -> Vec<OpenPath> {
    source.secret_files.iter().filter_map(|file| OpenPath::of_file(file, says::SECRETS)).collect()
}

/// Adds the remarks on the configuration to the findings about its files.
pub fn configuration(source: &ConfigSource, mut findings: Vec<Finding>) -> Vec<Finding> {
    let is_of_mode =
        |warning: &&String| source.secret_files.iter().any(|file| warning.starts_with(&*file.to_string_lossy()));
    let others = source.warnings.iter().filter(|warning| !is_of_mode(warning));
    findings.extend(others.map(|warning| Finding::note(says::CONFIGURATION, warning, "")));
    if findings.is_empty() {
        findings.push(Finding::ok(says::CONFIGURATION, &source.file.display().to_string()));
    }
    findings
}

/// Checks the free space.
pub fn free_space(home: &Home) -> Finding {
    let Some(free) = crate::memory::free_space::free_space(home.path()) else {
        return Finding::note(says::DISK, says::NO_SPACE_KNOWN, "");
    };
    let text = says::free(free >> 20);
    if free < MIN_FREE { Finding::wrong(says::DISK, &text, says::FIX_DISK) } else { Finding::ok(says::DISK, &text) }
}

/// Checks every inactive folder of skills, and the proposals that wait. `unwritable` tells why no
/// skill could be created.
pub fn skills(
    catalogue: &Catalogue,
    unwritable: Option<Finding>,
    (held, waiting): (&[String], usize),
    dir: &Path,
) -> Vec<Finding> {
    let mut findings: Vec<Finding> = catalogue
        .broken
        .iter()
        .map(|broken| Finding::wrong(says::SKILLS, &says::broken_skill(&broken.folder, &broken.why), says::FIX_SKILL))
        .collect();
    findings.extend(unwritable);
    findings.extend(
        held.iter()
            .filter(|name| catalogue.skills.contains_key(*name))
            .map(|name| Finding::wrong(says::SKILLS, &says::held_skill(name), says::FIX_HELD_SKILL)),
    );
    if findings.is_empty() {
        findings.push(Finding::ok(says::SKILLS, &says::skills(catalogue.skills.len(), &dir.display().to_string())));
    }
    if waiting > 0 {
        findings.push(Finding::note(says::PROPOSALS, &says::proposals_wait(waiting), says::FIX_PROPOSALS));
    }
    findings
}

/// Returns the names of held skills and the number of pending proposals.
pub fn read_skills(db: Db<'_>, now: Timestamp) -> anyhow::Result<(Vec<String>, usize)> {
    let held =
        db.skills().skills()?.into_iter().filter(|row| row.state == SkillState::Held).map(|row| row.name).collect();
    let waiting = db.proposals().pending_proposals()?.iter().filter(|row| !row.is_late(now)).count();
    Ok((held, waiting))
}
