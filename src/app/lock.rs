//! The lock of a home, which makes its holder the only writer, and the permissions that keep other
//! users out.
//!
//! Another account that can open the lock can also hold it, and then nothing starts here. So the
//! file and the home are closed to other users.

use std::fs::{File, Metadata, Permissions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};

use anyhow::Context;

use super::BuildError;
use crate::admin::restore::{Settled, settle};
use crate::config::Home;
use crate::time::{Clock, SystemClock};
use crate::wording::{cli, upkeep as says};

/// Takes the lock of a home. Creates the lock if it does not exist, and closes it to other users.
///
/// # Errors
///
/// If another process holds the lock, it cannot be created, or other users can open it and that
/// cannot be changed.
pub fn take_lock(home: &Home) -> Result<File, BuildError> {
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(home.path())
        .with_context(|| format!("Cannot make the home {}", home.path().display()))?;
    close_home(home)?;
    let lock = take_lock_as_it_is(home)?;
    let found = lock.metadata().map_err(anyhow::Error::from)?;
    if is_open(&found) && is_ours(&found) {
        // Other users cannot reach the lock in a closed home, so a file system without permissions
        // does not prevent the start.
        let _ = lock.set_permissions(Permissions::from_mode(0o600));
    }
    Ok(lock)
}

/// Takes the lock of an existing home without changing permissions.
///
/// # Errors
///
/// If another process holds the lock, or it cannot be created.
pub fn take_lock_as_it_is(home: &Home) -> Result<File, BuildError> {
    let file = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .mode(0o600)
        .open(home.lock())
        .with_context(|| format!("Cannot write in the home {}", home.path().display()))?;
    match file.try_lock() {
        Ok(()) => {
            // The holder of the lock must find the home in a consistent state.
            match settle(home)? {
                Settled::Nothing => {}
                Settled::Finished => tracing::warn!("{}", says::FINISHED),
                Settled::Dropped => tracing::warn!("{}", says::DROPPED),
            }
            name_holder(&file);
            Ok(file)
        }
        Err(std::fs::TryLockError::WouldBlock) => Err(BuildError::Held(home.path().to_owned())),
        Err(std::fs::TryLockError::Error(error)) => Err(BuildError::Other(error.into())),
    }
}

/// The process that holds the lock, as it named itself, and when it took the lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LockHolder {
    /// Process id.
    pub process: i32,
    /// Time of taking the lock, in milliseconds since the epoch.
    pub since: i64,
}

/// Returns the holder of a home's lock; `None` if it was never held.
pub fn lock_holder(home: &Home) -> Option<LockHolder> {
    let text = std::fs::read_to_string(home.lock()).ok()?;
    let (process, since) = text.trim().split_once(' ')?;
    Some(LockHolder { process: process.parse().ok()?, since: since.parse().ok()? })
}

/// Writes our name into the lock. It only helps people, so a full disk does not prevent the start.
fn name_holder(mut lock: &File) {
    let name = format!("{} {}\n", std::process::id(), SystemClock::default().now().0);
    let _ = lock.set_len(0).and_then(|()| lock.write_all(name.as_bytes()));
}

fn close_home(home: &Home) -> anyhow::Result<()> {
    let found = std::fs::metadata(home.path())?;
    if !is_open(&found) {
        return Ok(());
    }
    let is_closed = is_ours(&found)
        && std::fs::set_permissions(home.path(), Permissions::from_mode(0o700)).is_ok()
        && !is_open(&std::fs::metadata(home.path())?);
    anyhow::ensure!(is_closed, cli::open_home(home.path(), found.mode() & 0o7777));
    tracing::warn!("Others could look into the home; it is closed to them now");
    Ok(())
}

fn is_open(found: &Metadata) -> bool {
    found.mode() & 0o077 != 0
}

fn is_ours(found: &Metadata) -> bool {
    found.uid() == rustix::process::geteuid().as_raw()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_home_and_its_lock_are_closed_to_others() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path());
        let open = |path: &std::path::Path, mode| std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
        let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().mode() & 0o777;
        open(home.path(), 0o755);
        drop(take_lock(&home).unwrap());
        assert_eq!((mode(home.path()), mode(&home.lock())), (0o700, 0o600));
        open(home.path(), 0o755);
        open(&home.lock(), 0o666);
        drop(take_lock_as_it_is(&home).unwrap());
        assert_eq!((mode(home.path()), mode(&home.lock())), (0o755, 0o666));
        let held = take_lock(&home).unwrap();
        assert_eq!((mode(home.path()), mode(&home.lock())), (0o700, 0o600));
        assert!(matches!(take_lock(&home), Err(BuildError::Held(_))));
        assert_eq!(lock_holder(&home).map(|holder| holder.process), i32::try_from(std::process::id()).ok());
        drop(held);
    }
}
