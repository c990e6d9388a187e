//! `--ephemeral-memory`: the same configuration, adapters and people, with a memory that is thrown
//! away.
//!
//! The simplest meaning is an exact one: the home is a temporary folder that nobody else can enter.
//! Journal, workspace, experience, log and socket lie there; the skills are copied into it. Of the
//! real home only the configuration and the secrets that it names are read, and nothing there is
//! written. People who were paired stand in the real journal, so they are strangers here. The
//! folder goes when the command ends, also by ctrl-c; nothing helps against a process that is
//! killed, which is why its name says what it is.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use tokio::signal::unix::{SignalKind, signal};

use super::failure::CliError;
use super::print::aside;
use crate::config::{Config, Home};
use crate::wording::cli as says;

/// Something may still be writing while the program ends, for an instant.
const TRIES: u32 = 20;

/// A folder that is deleted with all that is in it.
pub struct TempFolder(PathBuf);

impl TempFolder {
    /// A new one that nobody else can enter.
    pub fn new(what: &str) -> anyhow::Result<Self> {
        use std::os::unix::fs::DirBuilderExt;
        let path = std::env::temp_dir().join(format!("compline-{what}-{:016x}", rand::random::<u64>()));
        let made = std::fs::DirBuilder::new().mode(0o700).create(&path);
        made.with_context(|| format!("Cannot make the folder {}", path.display()))?;
        Ok(Self(path))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for TempFolder {
    fn drop(&mut self) {
        for _ in 0..TRIES {
            let _ = std::fs::remove_dir_all(&self.0);
            if !self.0.exists() {
                return;
            }
            std::thread::park_timeout(Duration::from_millis(20));
        }
    }
}

/// Puts a temporary home in the place of the real one, and says so.
pub fn begin(config: &mut Config) -> Result<TempFolder, CliError> {
    let folder = TempFolder::new("ephemeral")?;
    let home = Home::at(folder.path());
    let skills = folder.path().join("skills");
    copy(&config.skills.dir, &skills, 0).with_context(|| format!("Cannot copy {}", config.skills.dir.display()))?;
    config.workspace = folder.path().join("workspace");
    config.skills.dir = skills;
    config.home = home;
    aside(says::EPHEMERAL);
    Ok(folder)
}

/// Does that until it is over or somebody ends the program. So whoever called gets to throw the
/// folder away.
pub async fn until_ended<T>(work: impl Future<Output = Result<T, CliError>>) -> Result<T, CliError> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hangup = signal(SignalKind::hangup())?;
    tokio::select! {
        done = work => done,
        _ = interrupt.recv() => Err(CliError::Failed(says::ENDED.to_owned())),
        _ = terminate.recv() => Err(CliError::Failed(says::ENDED.to_owned())),
        _ = hangup.recv() => Err(CliError::Failed(says::ENDED.to_owned())),
    }
}

/// Copies a folder of skills. One that is not there is no trouble; links are left out, because they
/// lead elsewhere.
fn copy(from: &Path, to: &Path, depth: u32) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    std::fs::DirBuilder::new().mode(0o700).create(to)?;
    if depth > 16 || !from.is_dir() {
        return Ok(());
    }
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let (kind, target) = (entry.file_type()?, to.join(entry.file_name()));
        if kind.is_dir() {
            copy(&entry.path(), &target, depth + 1)?;
        } else if kind.is_file() {
            std::fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skills_come_along_and_links_do_not() {
        let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::fs::create_dir_all(from.path().join("tea/resources")).unwrap();
        std::fs::write(from.path().join("tea/resources/a"), "x").unwrap();
        std::os::unix::fs::symlink("/etc", from.path().join("etc")).unwrap();
        let copied = to.path().join("skills");
        copy(from.path(), &copied, 0).unwrap();
        assert!(copied.join("tea/resources/a").is_file() && !copied.join("etc").exists());
        copy(&from.path().join("none"), &to.path().join("none"), 0).unwrap();
    }

    #[test]
    fn the_folder_is_private_and_goes() {
        use std::os::unix::fs::PermissionsExt;
        let folder = TempFolder::new("test").unwrap();
        let path = folder.path().to_owned();
        std::fs::write(path.join("a"), "x").unwrap();
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o700);
        drop(folder);
        assert!(!path.exists());
    }
}
