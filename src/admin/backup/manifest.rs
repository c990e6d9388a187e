//! What is in a backup, word for word and byte for byte.

use serde::{Deserialize, Serialize};

use crate::time::Timestamp;
use crate::wording::upkeep::LeftOut;

/// The name of the manifest in the backup, where it follows everything that it lists.
pub const NAME: &str = "manifest.json";
/// The name of the manifest's authentication in the backup, where it is the last.
pub const SEAL: &str = "manifest.mac";
/// The form of a backup. Another number is another form.
pub const FORM: u32 = 2;
/// The form before there was a key: nothing authenticates it.
pub const UNSIGNED_FORM: u32 = 1;

/// What is in a backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// The form of the backup.
    pub form: u32,
    /// The program that made it.
    pub version: String,
    /// The version of the journal in it.
    pub journal: u32,
    /// When it was made.
    pub made_at: Timestamp,
    /// Everything that is in it, but the manifest itself.
    pub entries: Vec<BackupEntry>,
    /// What is not in it, and why.
    pub left_out: Vec<(String, LeftOut)>,
}

/// Something in a backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackupEntry {
    /// Its name in the backup.
    pub path: String,
    /// What it is.
    pub kind: BackupEntryKind,
    /// In bytes; of a file only.
    pub size: u64,
    /// SHA-256 of a file's bytes; where a link leads.
    pub digest: String,
    /// Whether a file may be run.
    #[serde(default)]
    pub executable: bool,
}

/// The authentication of a manifest, as an archive carries it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seal {
    /// Which key it was made with.
    pub key: String,
    /// HMAC-SHA256 over the bytes of the manifest, as hexadecimal digits.
    pub hmac_sha256: String,
}

/// What something in a backup is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BackupEntryKind {
    /// A file.
    File,
    /// A folder.
    Folder,
    /// A link that leads to something within the same folder of the backup.
    Link,
}

/// Whether a name of a backup can only lead to one of its places.
pub fn is_plain(path: &str) -> bool {
    let plain = path.split('/').all(|part| !matches!(part, "" | "." | "..")) && !path.contains('\0');
    let first = path.split('/').next().unwrap_or_default();
    let place = super::FOLDERS.contains(&first) || path == super::JOURNAL || path == super::CONFIG;
    let place = place || path == NAME || path == SEAL;
    plain && place && path.len() <= 4096
}

/// Whether a link at `path` leads to something within the same folder of the backup, whatever other
/// links lead through.
///
/// Steps upwards may stand at the beginning only: there they start from a real folder. After the
/// name of another link one would go up from wherever that link leads.
pub fn stays_inside(path: &str, target: &str) -> bool {
    if target.is_empty() || target.starts_with('/') || target.contains('\0') || target.len() > 4096 {
        return false;
    }
    let parts: Vec<&str> = target.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    let up = parts.iter().take_while(|part| **part == "..").count();
    // The link's own name is not a folder, and the first name is that of the place.
    let folders = path.split('/').count().saturating_sub(2);
    up <= folders && parts.iter().skip(up).all(|part| *part != "..")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_to_their_places_only() {
        for path in ["compline.db", "compline.toml", "manifest.json", "manifest.mac", "workspace/a b.md", "experience"]
        {
            assert!(is_plain(path), "{path}");
        }
        for path in [
            "",
            "/workspace/a",
            "workspace/../lock",
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
