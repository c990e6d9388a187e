//! `--ephemeral-memory`: the same configuration, adapters and people, with temporary memory.
//!
//! The home is a temporary folder that other users cannot enter. Journal, workspace, experience,
//! log and socket are there; the skills are copied into it. Only the configuration of the real home
//! and the secrets that it names are read, and nothing there is written. Paired people exist in the
//! real journal only, so they are unknown here. The folder is deleted when the command ends, also
//! by ctrl-c, but not if the process is killed; its name therefore states its purpose.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use tokio::signal::unix::{SignalKind, signal};

use super::print::{CliError, print_remark};
use crate::config::{Config, Home};
use crate::wording::cli as says;

/// Number of attempts to delete, because a task may still write for a moment at the end.
const DELETE_ATTEMPTS: u32 = 20;

/// A folder that is deleted with its contents.
pub struct TempFolder(PathBuf);

impl TempFolder {
    /// Creates a folder that other users cannot enter.
    pub fn new(what: &str) -> anyhow::Result<Self> {
        use std::os::unix::fs::DirBuilderExt;
        let path = std::env::temp_dir().join(format!("compline-{what}-{:016x}", rand::random::<u64>()));
        let made = std::fs::DirBuilder::new().mode(0o700).create(&path);
        made.with_context(|| format!("Cannot make the folder {}", path.display()))?;
        Ok(Self(path))
    }

    /// Returns the path.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for TempFolder {
    fn drop(&mut self) {
        for _ in 0..DELETE_ATTEMPTS {
            let _ = std::fs::remove_dir_all(&self.0);
            if !self.0.exists() {
                return;
            }
            std::thread::park_timeout(Duration::from_millis(20));
        }
    }
}

/// Replaces the home with a temporary one and announces it.
pub fn begin(config: &mut Config) -> Result<TempFolder, CliError> {
    let folder = TempFolder::new("ephemeral")?;
    let home = Home::at(folder.path());
    let skills = folder.path().join("skills");
    copy(&config.skills.dir, &skills, 0).with_context(|| format!("Cannot copy {}", config.skills.dir.display()))?;
    config.workspace = folder.path().join("workspace");
    config.skills.dir = skills;
    config.home = home;
    print_remark(says::EPHEMERAL);
    Ok(folder)
}

/// Runs `work` until it ends or a signal arrives, so that the caller can delete the folder.
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

/// Copies a folder of skills. A missing folder is no error; links are skipped, because they lead
/// elsewhere.
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
