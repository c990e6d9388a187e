//! The manifest of a backup: an exact list of its contents.

use serde::{Deserialize, Serialize};

use crate::time::Timestamp;
use crate::wording::upkeep::LeftOut;

/// Name of the manifest in the backup, where it follows everything that it lists.
pub const NAME: &str = "manifest.json";
/// Name of the manifest's authentication, the last file in the backup.
pub const SEAL: &str = "manifest.mac";
/// The format version of a backup. A different number means a different format.
pub const FORM: u32 = 2;
/// The format before keys existed: such a backup has no authentication.
pub const UNSIGNED_FORM: u32 = 1;

/// The contents of a backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Format version.
    pub form: u32,
    /// Version of the program that made the backup.
    pub version: String,
    /// Schema version of the journal in the backup.
    pub journal: u32,
    /// Creation time.
    pub made_at: Timestamp,
    /// Everything in the backup except the manifest and its authentication.
    pub entries: Vec<BackupEntry>,
    /// Excluded paths, each with the reason.
    pub left_out: Vec<(String, LeftOut)>,
}

/// One item in a backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackupEntry {
    /// Path in the backup.
    pub path: String,
    /// Kind of item.
    pub kind: BackupEntryKind,
    /// Size in bytes; files only.
    pub size: u64,
    /// SHA-256 of a file's bytes, or the target of a link.
    pub digest: String,
    /// True for an executable file.
    #[serde(default)]
    pub executable: bool,
}

/// The authentication of a manifest, as stored in an archive.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seal {
    /// Identifier of the key.
    pub key: String,
    /// HMAC-SHA256 over the bytes of the manifest, as hexadecimal digits.
    pub hmac_sha256: String,
}

/// Kind of an item in a backup.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BackupEntryKind {
    /// A file.
    File,
    /// A folder.
    Folder,
    /// A link to something within the same folder of the backup.
    Link,
}

/// Returns whether a path can lead only to one of the known places of a backup.
pub fn is_plain(path: &str) -> bool {
    let plain = path.split('/').all(|part| !matches!(part, "" | "." | "..")) && !path.contains('\0');
    let first = path.split('/').next().unwrap_or_default();
    let place = super::FOLDERS.contains(&first) || path == super::JOURNAL || path == super::CONFIG;
    let place = place || first == super::SECRETS || path == NAME || path == SEAL;
    plain && place && path.len() <= 4096
}

/// Returns whether a link at `path` leads to something within the same folder of the backup, even
/// through other links.
///
/// Upward steps are allowed only at the beginning, where they start from a real folder. After the
/// name of another link, one would go up from that link's target.
pub fn stays_inside(path: &str, target: &str) -> bool {
    if target.is_empty() || target.starts_with('/') || target.contains('\0') || target.len() > 4096 {
        return false;
    }
    let parts: Vec<&str> = target.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    let up = parts.iter().take_while(|part| **part == "..").count();
    // The link's own name is not a folder, and the first name is the top folder.
    let folders = path.split('/').count().saturating_sub(2);
    up <= folders && parts.iter().skip(up).all(|part| *part != "..")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_to_their_places_only() {
        for path in [
            "compline.db",
            "compline.toml",
            "manifest.json",
            "manifest.mac",
            "workspace/a b.md",
            "experience",
            "secrets/model.key",
        ] {
            assert!(is_plain(path), "{path}");
        }
        for path in [
            "",
            "/workspace/a",
            "workspace/../lock",
            "secrets/../lock",
            "workspace//a",
            "workspace/./a",
            "../a",
            "logs/a",
            "lock",
            "compline.db/a",
            "workspace/a\0",
            "compline.db-wal",
            "backup.key",
            "workspace/",
        ] {
            assert!(!is_plain(path), "{path}");
        }
    }

    #[test]
    fn links_stay_in_their_folder() {
        for (path, target) in
            [("workspace/a", "b"), ("workspace/a/b", "../c"), ("skills/a/b/c", "../../d/./e"), ("workspace/a/b", "..")]
        {
            assert!(stays_inside(path, target), "{path} -> {target}");
        }
        for (path, target) in [
            ("workspace/a", "/etc/passwd"),
            ("workspace/a", ".."),
            ("workspace/a", "../compline.db"),
            ("workspace/a/b", "../../lock"),
            ("workspace/a", "b/../../lock"),
            ("workspace/a", "b/.."),
            ("workspace/a", ""),
            ("workspace", "x"),
        ] {
            assert!(!stays_inside(path, target) || path == "workspace", "{path} -> {target}");
        }
    }
}
