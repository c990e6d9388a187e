//! Small private files that are written in one step: keys, the configuration, numbers of homes.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::Context;

/// Writes a file that only its owner can read, whole or not at all.
///
/// # Errors
/// If the file cannot be written. An earlier one stays as it was then.
pub fn write_private(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let mut part = path.as_os_str().to_owned();
    part.push(format!(".{:08x}", rand::random::<u32>()));
    let part = PathBuf::from(part);
    let written = File::options()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&part)
        .and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()))
        .and_then(|()| fs::rename(&part, path));
    if written.is_err() {
        let _ = fs::remove_file(&part);
    }
    written.with_context(|| format!("Cannot write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_private_file_is_replaced_whole_and_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let (key, taken) = (folder.path().join("model.key"), folder.path().join("taken"));
        fs::write(&key, "old and longer").unwrap();
        fs::set_permissions(&key, fs::Permissions::from_mode(0o644)).unwrap();
        write_private(&key, b"new").unwrap();
        assert_eq!(fs::read_to_string(&key).unwrap(), "new");
        assert_eq!(key.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        fs::create_dir_all(taken.join("inside")).unwrap();
        assert!(write_private(&taken, b"new").is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }
}
