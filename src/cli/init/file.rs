//! Files that only their owner may read, written atomically.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use secrecy::{ExposeSecret, SecretString};

/// Writes the configuration. Returns the path of the previous one, which is kept next to it.
pub(super) fn replace(path: &Path, text: &str) -> anyhow::Result<Option<PathBuf>> {
    let kept = sibling(path, ".bak");
    let was_there = path.exists();
    if was_there {
        std::fs::copy(path, &kept)
            .with_context(|| format!("Cannot keep the old configuration as {}", kept.display()))?;
    }
    write(path, text)?;
    Ok(was_there.then_some(kept))
}

/// Contents of a directory before anything was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ExistingFile {
    /// Empty or missing.
    Nothing,
    /// Not empty.
    Something,
}

/// Checks if a directory contains anything.
pub(super) fn inspect(folder: &Path) -> ExistingFile {
    match std::fs::read_dir(folder).map(|mut entries| entries.next().is_none()) {
        Ok(true) => ExistingFile::Nothing,
        Ok(false) => ExistingFile::Something,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => ExistingFile::Nothing,
        Err(_) => ExistingFile::Something,
    }
}

/// Closes a directory that was empty to other users. Returns its mode if they can still open it.
pub(super) fn close(folder: &Path, found: ExistingFile) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt;
    let mode = std::fs::metadata(folder).ok()?.permissions().mode() & 0o7777;
    let is_closed = || std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o700)).is_ok();
    (mode & 0o077 != 0 && !(found == ExistingFile::Nothing && is_closed())).then_some(mode)
}

pub(super) fn write_secret(path: &Path, secret: &SecretString) -> anyhow::Result<()> {
    write(path, &format!("{}\n", secret.expose_secret()))
}

fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
    let cannot = || format!("Cannot write {}", path.display());
    if let Some(folder) = path.parent() {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).with_context(cannot)?;
    }
    let unfinished = sibling(path, ".new");
    // Remains of an interrupted run, perhaps with other permissions.
    let _ = std::fs::remove_file(&unfinished);
    let mut file: File =
        File::options().write(true).create_new(true).mode(0o600).open(&unfinished).with_context(cannot)?;
    file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).with_context(cannot)?;
    std::fs::rename(&unfinished, path).with_context(cannot)
}

fn sibling(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn private_whole_and_the_old_one_kept() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("new/compline.toml");
        assert_eq!(replace(&path, "one").unwrap(), None);
        std::fs::write(sibling(&path, ".new"), "half").unwrap();
        let kept = replace(&path, "two").unwrap().unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "two");
        assert_eq!(std::fs::read_to_string(kept).unwrap(), "one");
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(!sibling(&path, ".new").exists());
    }
}
