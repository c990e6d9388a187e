//! Files that editors, systems and sync programs leave beside the files that a person writes.
//!
//! Such files are part of no folder of memory and of no skill: no reader lists or opens them, so
//! they change no digest, label or message. The names are those that the programs document:
//!
//! - Vim: `:help swap-file` (`.x.swp`), `:help 'backupext'` (`x~`), and the probe `4913` of its
//!   `bufwrite.c`;
//! - Emacs manual, "Auto Save Files" (`#x#`), "Backup Names" (`x~`, `x.~1~`), "Interlocking" (`.#x`);
//! - nano manual, emergency files (`x.save`, `x.save.1`) and lock files (`.x.swp`);
//! - GLib, `g_file_replace` (`.goutputstream-XXXXXX`); Kate (`.x.kate-swp`); IntelliJ, "safe write"
//!   (`x___jb_tmp___`, `x___jb_old___`); LibreOffice (`.~lock.x#`), Microsoft Office (`~$x`);
//! - macOS (`.DS_Store`, AppleDouble `._x`, `.localized`), Windows (`Thumbs.db`, `ehthumbs.db`,
//!   `desktop.ini`), KDE (`.directory`), NFS and FUSE (`.nfs…`, `.fuse_hidden…`);
//! - conflict copies of Syncthing (`x.sync-conflict-DAY-TIME-DEVICE.md`), Dropbox and Nextcloud
//!   (`x (… conflicted copy DAY).md`), ownCloud (`x_conflict-DAY.md`), Seafile (`x (SFConflict …).md`);
//!   their temporary files (`.syncthing.x.tmp`, `~syncthing~x.tmp`, `.x.~1a2b`).
//!
//! A name such as `x.md.bak` or `x.md.tmp` counts only with the ending of the file in front of it,
//! because people also give files such an ending.

/// Whole names, in lower case.
const NAMES: [&str; 8] =
    ["4913", ".ds_store", ".localized", ".directory", "thumbs.db", "ehthumbs.db", "desktop.ini", ".apdisk"];
/// Beginnings.
const BEGINNINGS: [&str; 9] =
    ["._", ".#", ".~lock.", "~$", ".goutputstream-", ".nfs", ".fuse_hidden", ".syncthing.", "~syncthing~"];
/// Endings.
const ENDINGS: [&str; 4] = ["~", ".kate-swp", "___jb_tmp___", "___jb_old___"];
/// Parts of the name of a conflict copy, in lower case.
const CONFLICTS: [&str; 4] = [".sync-conflict-", "conflicted copy", "_conflict-20", "(sfconflict "];
/// Endings that count after another ending.
const SECOND_ENDINGS: [&str; 9] = ["bak", "tmp", "orig", "rej", "save", "swp", "swo", "swn", "swx"];

/// Returns whether a file of that name, without its folders, is one that an editor, a system or a
/// sync program left.
pub fn is_side_file(name: &str) -> bool {
    let name = name.to_lowercase();
    let is_auto_save = name.len() > 2 && name.starts_with('#') && name.ends_with('#');
    is_auto_save
        || NAMES.contains(&name.as_str())
        || BEGINNINGS.iter().any(|start| name.len() > start.len() && name.starts_with(start))
        || ENDINGS.iter().any(|end| name.len() > end.len() && name.ends_with(end))
        || CONFLICTS.iter().any(|part| name.contains(part))
        || has_second_ending(&name)
}

/// `x.md.bak`, `.x.swp`, `x.save.1`, `.x.~1a2b`.
fn has_second_ending(name: &str) -> bool {
    let Some((stem, ending)) = name.rsplit_once('.') else { return false };
    let is_number = !ending.is_empty() && ending.bytes().all(|byte| byte.is_ascii_digit());
    if is_number && let Some((before, "save")) = stem.rsplit_once('.') {
        return before.contains('.');
    }
    let is_temporary_of_sync = stem.starts_with('.') && ending.len() > 1 && ending.starts_with('~');
    is_temporary_of_sync || stem.contains('.') && SECOND_ENDINGS.contains(&ending)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Names of such files.
    pub(crate) const LEFT: [&str; 30] = [
        ".SKILL.md.swp",
        ".SKILL.md.swo",
        "SKILL.md~",
        "SKILL.md.~1~",
        "4913",
        "#SKILL.md#",
        ".#SKILL.md",
        "SKILL.md.save",
        "SKILL.md.save.1",
        ".goutputstream-X1Y2Z3",
        ".SKILL.md.kate-swp",
        "SKILL.md___jb_tmp___",
        "SKILL.md___jb_old___",
        ".~lock.SKILL.md#",
        "~$SKILL.md",
        ".DS_Store",
        "._SKILL.md",
        "Thumbs.db",
        "desktop.ini",
        ".directory",
        ".nfs000000000001",
        ".fuse_hidden0001",
        "SKILL.sync-conflict-20261124.md",
        "SKILL.sync-conflict-20261124-101010-ABCDEFG.md",
        "SKILL (Ada's conflicted copy 2026-11-24).md",
        "SKILL (conflicted copy 2026-11-24 101010).md",
        "SKILL_conflict-20261124-101010.md",
        ".syncthing.SKILL.md.tmp",
        "SKILL.md.bak",
        "SKILL.md.tmp",
    ];

    /// Proves: memory/side-files
    #[test]
    fn files_of_editors_are_told_from_files_of_people() {
        for name in LEFT {
            assert!(is_side_file(name), "{name}");
        }
        for name in [
            "SKILL.md",
            "MEMORY.md",
            "2026-11-24.md",
            "49130",
            "4913.md",
            "5-notes.tmp",
            "notes.bak",
            "a.save",
            "1.1",
            "~",
            "#",
            "##",
            "#1.md",
            "swap.md",
            "conflict.md",
            "copy of x.md",
            "desktop.md",
            ".env",
            ".gitignore",
            "v1.2",
            "x.tar.gz",
            "MEMORY.md.unreadable",
            "file_conflict-resolution.md",
        ] {
            assert!(!is_side_file(name), "{name}");
        }
    }
}
