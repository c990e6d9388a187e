//! Permissions of files that hold a secret.

use std::fmt;
use std::path::{Path, PathBuf};

/// A file that other users can read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exposed {
    /// Path of the file.
    pub path: PathBuf,
    /// Permissions, as `0o644`.
    pub mode: u32,
}

impl fmt::Display for Exposed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        write!(f, "{path} holds a secret and others can read it (mode {:04o}); run: chmod 600 '{path}'", self.mode)
    }
}

/// Returns a finding if the group or others can open the file. A missing file has none.
#[cfg(unix)]
pub fn mode_finding(path: &Path) -> Option<Exposed> {
    use std::os::unix::fs::MetadataExt;
    let mode = std::fs::metadata(path).ok()?.mode() & 0o7777;
    (mode & 0o077 != 0).then(|| Exposed { path: path.to_owned(), mode })
}

/// Returns `None`: only Unix has permission modes.
#[cfg(not(unix))]
pub fn mode_finding(_path: &Path) -> Option<Exposed> {
    None
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn only_the_owner_may_read() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("compline.toml");
        std::fs::write(&file, "").unwrap();
        for (mode, is_found) in [(0o600, false), (0o400, false), (0o640, true), (0o644, true)] {
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(mode_finding(&file).map(|finding| finding.mode), is_found.then_some(mode));
        }
        assert_eq!(mode_finding(&dir.path().join("none")), None);
    }
}
