//! Paths in the workspace, relative to its root with `/` as separator.
//!
//! Names from outside (a person's name, a sender's file name) never become part of a path before
//! they are cleaned here. The *meaning* of a path is decided on the form in which the least exact
//! filesystem reads it (`folded`): a file that does not exist yet has no spelling of its own, and a
//! file created under a variant spelling of `HEARTBEAT.md` would be found as the original.

use std::fmt::Display;

use unicode_normalization::UnicodeNormalization;

use crate::id::PersonId;
use crate::skill::name;
use crate::text::cut_bytes;
use crate::text::side_files::is_side_file;

/// Length limit of a cleaned name of a person or file, in bytes.
const MAX_NAME: usize = 60;

/// Returns the folder of a person: `people/ID-name`. The id alone is unique; the name helps people
/// who look at the disk, and stays when the person is renamed.
pub(super) fn folder_name(id: PersonId, name: &str) -> String {
    match dashed(&name.to_ascii_lowercase(), MAX_NAME, |c| c.is_ascii_alphanumeric()).as_str() {
        "" => format!("people/{id}-person"),
        clean => format!("people/{id}-{clean}"),
    }
}

/// Files of the root that all people share.
pub(super) const SHARED: [&str; 2] = ["AGENTS.md", "SOUL.md"];

/// Returns true for the files of the root that all people share.
pub(super) fn is_shared(path: &str) -> bool {
    SHARED.contains(&path)
}

/// Returns the path moved from one folder to the other; `None` if it lies outside `from`. Either
/// folder may be the root, of which only the owner's own files count.
pub(super) fn moved(path: &str, from: &str, to: &str) -> Option<String> {
    let (base, inner) = split_base(path);
    if inner == from && !from.is_empty() {
        return Some(format!("{base}{to}"));
    }
    let own = if from.is_empty() { inner } else { inner.strip_prefix(from)?.strip_prefix('/')? };
    let stays = from.is_empty() && (is_of_others(own) || base.is_empty() && is_no_path_of_root(own));
    (!own.is_empty() && !stays).then(|| format!("{base}{}", within(to, own)))
}

/// Returns true for shared files, and for journal entries among the root's paths that are not
/// paths.
fn is_no_path_of_root(own: &str) -> bool {
    let numbered = |folder: &str| own.strip_prefix(folder).is_some_and(|number| number.parse::<i64>().is_ok());
    is_shared(own) || ["conversations/", "reflections/", "forgotten/"].into_iter().any(numbered)
}

/// Returns the name under which a received file is stored.
pub(super) fn file_name(prefix: impl Display, hint: &str) -> String {
    let (stem, extension) = hint.rsplit_once('.').unwrap_or((hint, ""));
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let (stem, extension) = (dashed(stem, MAX_NAME, plain), dashed(cut_bytes(extension, 10), MAX_NAME, plain));
    let stem = if stem.is_empty() { "file".to_owned() } else { stem };
    if extension.is_empty() { format!("{prefix}-{stem}") } else { format!("{prefix}-{stem}.{extension}") }
}

/// Joins a folder, which may be the root (empty), and a file name.
pub(super) fn within(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

/// Prefix of paths that lie not in the workspace but next to it, with the experience of profiles.
/// No path of the workspace begins like this.
pub const EXPERIENCE: &str = "//experience/";

/// Maximum size of a text file that is read for a change, in bytes.
pub(super) const MAX_TEXT_FILE: u64 = 1024 * 1024;

/// Splits off the prefix of a path that lies next to the workspace.
fn split_base(path: &str) -> (&str, &str) {
    path.strip_prefix(EXPERIENCE).map_or(("", path), |inner| (EXPERIENCE, inner))
}

/// Returns the location of a folder's path relative to the workspace; `None` if it could lead
/// anywhere else. `a/../b` is `b`.
pub(super) fn locate(folder: &str, path: &str) -> Option<String> {
    let (base, path) = split_base(path);
    let path = normal(path)?;
    let of_others = folder.is_empty() && is_of_others(&path);
    let is_clear = is_plain(&path) && !is_hidden(&path) && path.split('/').all(is_usual);
    (is_clear && !of_others).then(|| format!("{base}{}", within(folder, &path)))
}

/// Returns true if a part of a path is in normal form, either composed (NFC) or decomposed (NFD). A
/// compatibility character that merely counts as a letter (the kelvin sign, say) is neither.
pub(super) fn is_usual(part: &str) -> bool {
    part.is_ascii() || part.nfc().eq(part.chars()) || part.nfd().eq(part.chars())
}

/// Resolves `.` and `..` in the path; `None` if it is absolute or leads above its beginning.
pub fn normal(path: &str) -> Option<String> {
    let mut parts = Vec::new();
    for part in path.split('/') {
        match part {
            "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    (!path.starts_with('/')).then(|| parts.join("/"))
}

/// Gives a real path the same prefix as the path that was asked for.
pub(super) fn with_base_of(location: &str, real_path: &str) -> String {
    if location.starts_with(EXPERIENCE) { format!("{EXPERIENCE}{real_path}") } else { real_path.to_owned() }
}

/// Returns the path as its owner sees it; `None` if it lies outside the owner's places.
pub fn own(folder: &str, location: &str) -> Option<String> {
    let (base, inner) = split_base(location);
    let own = if folder.is_empty() { inner } else { inner.strip_prefix(folder)?.strip_prefix('/')? };
    let of_others = folder.is_empty() && is_of_others(own);
    (!of_others && !is_hidden(own)).then(|| format!("{base}{own}"))
}

/// Returns true if a part of the path begins with a dot, or if the file is one that an editor or a
/// system left. Such files are part of no folder.
pub(super) fn is_hidden(path: &str) -> bool {
    let file = path.rsplit('/').next().unwrap_or(path);
    path.split('/').any(|part| part.trim_start_matches(name::is_hidden).starts_with('.')) || is_side_file(file)
}

/// Returns true if only the owner may edit the file, by hand. The path is as its owner sees it.
pub fn is_owner_only(path: &str) -> bool {
    ["agents.md", "soul.md", "heartbeat.md"].contains(&folded(path).as_str())
}

/// Returns true for the files about conduct that every prompt of their owner holds anyway:
/// identity, rules, the checklist and learnings.
pub fn is_instruction(path: &str) -> bool {
    let own = within_folder(path);
    is_owner_only(own) || folded(own).starts_with("learnings/")
}

/// Returns true if the file is ever loaded automatically. The path is as its owner sees it.
pub(super) fn is_loaded(path: &str) -> bool {
    let path = folded(path);
    let memory = path.strip_prefix("memory/").is_some_and(|name| !name.contains('/'));
    let agents = path.starts_with("agents/") || path.starts_with("learnings/") || path.starts_with(EXPERIENCE);
    memory || agents || is_owner_only(&path) || path == "user.md"
}

/// Returns true if the file at that location is loaded automatically for its owner.
pub(super) fn is_loaded_at(location: &str) -> bool {
    is_loaded(within_folder(location))
}

/// Returns the size limit for our changes to a file, in bytes. A file that is loaded automatically
/// may not exceed what is loaded of it.
pub(super) fn most_bytes(location: &str) -> usize {
    let own = folded(within_folder(location));
    match own.strip_prefix("memory/") {
        Some(name) if name.starts_with("index-") => 1024 * 1024,
        _ if own.starts_with("learnings/") => 48 * 1024,
        _ if is_loaded(&own) => 64 * 1024,
        _ => 256 * 1024,
    }
}

/// Returns true if no content at that place is trusted, regardless of its author.
pub(super) fn is_untrusted(path: &str) -> bool {
    let own = folded(within_folder(path));
    is_inbox(path) || own == "memory/untrusted" || own.starts_with("memory/untrusted/")
}

/// Returns true if the path, as its owner sees it, is one where what is written counts as from
/// outside.
pub fn is_pending_note(path: &str) -> bool {
    is_untrusted(path)
}

/// Returns true if the path is a note of the root's owner.
pub(super) fn is_note(path: &str) -> bool {
    let file = path.strip_prefix("memory/").filter(|file| !file.contains('/'));
    file.and_then(|file| file.strip_suffix(".md")).is_some_and(|stem| !stem.is_empty() && !stem.starts_with('.'))
}

/// Returns true for folders that the program creates, whose name no one else chose.
pub(super) fn is_ours(location: &str) -> bool {
    let ours = ["agents", "exports", "images", "inbox", "learnings", "memory", "memory/untrusted"];
    ours.contains(&within_folder(location))
}

/// Returns true if received files are stored at that place.
pub(super) fn is_inbox(path: &str) -> bool {
    let own = folded(within_folder(path));
    own == "inbox" || own.starts_with("inbox/")
}

/// Returns true if that path of the root lies in another party's folder.
pub(super) fn is_of_others(path: &str) -> bool {
    path.split('/').next().is_some_and(is_for_others)
}

/// Returns the path as its owner sees it, without the folder of the person or group.
fn within_folder(path: &str) -> &str {
    match path.split_once('/') {
        Some((first, rest)) if is_for_others(first) => rest.split_once('/').map_or("", |(_, own)| own),
        _ => path,
    }
}

/// Returns true if that folder holds the folders of other parties.
fn is_for_others(name: &str) -> bool {
    ["people", "groups"].contains(&folded(name).as_str())
}

/// Folds the path like the least exact filesystem: ignores case, invisible characters, and dots or
/// spaces at the end of a name.
fn folded(path: &str) -> String {
    let mut plain: String = path.chars().filter(|c| !name::is_hidden(*c)).collect();
    if plain.is_ascii() {
        plain.make_ascii_lowercase();
    } else {
        plain = plain.chars().flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect();
    }
    plain.split('/').map(|part| part.trim_end_matches(['.', ' '])).collect::<Vec<_>>().join("/")
}

/// Returns true if the path can only lead downwards.
pub(super) fn is_plain(path: &str) -> bool {
    !path.contains('\0') && path.split('/').all(|part| !matches!(part, "" | "." | ".."))
}

/// Replaces every run of disallowed characters by one dash, with none at either end, and cuts the
/// name to `most` bytes.
pub(super) fn dashed(name: &str, most: usize, allowed: impl Fn(char) -> bool) -> String {
    let runs: Vec<&str> = name.split(|c| !allowed(c)).filter(|run| !run.is_empty()).collect();
    cut_bytes(&runs.join("-"), most).trim_end_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::AttachmentId;
    use proptest::prelude::*;

    #[test]
    fn person_folders_are_distinguished_by_id() {
        for (name, folder) in [
            ("Ben", "people/7-ben"),
            ("Ada Lovelace", "people/7-ada-lovelace"),
            ("../../etc", "people/7-etc"),
            ("ben-3", "people/7-ben-3"),
            ("Анна", "people/7-person"),
            ("", "people/7-person"),
        ] {
            assert_eq!(folder_name(PersonId(7), name), folder, "{name}");
        }
    }

    #[test]
    fn paths_follow_their_folder() {
        for (path, from, to, expected) in [
            ("people/ben/memory/tea.md", "people/ben", "people/2-ben", Some("people/2-ben/memory/tea.md")),
            ("//experience/people/ben/a.md", "people/ben", "people/2-ben", Some("//experience/people/2-ben/a.md")),
            ("people/ben", "people/ben", "people/2-ben", Some("people/2-ben")),
            ("people/benno/a.md", "people/ben", "people/2-ben", None),
            ("memory/tea.md", "people/ben", "people/2-ben", None),
            ("memory/tea.md", "", "people/1-ada", Some("people/1-ada/memory/tea.md")),
            ("//experience/default.md", "", "people/1-ada", Some("//experience/people/1-ada/default.md")),
            ("//experience/people/ben/default.md", "", "people/1-ada", None),
            ("AGENTS.md", "", "people/1-ada", None),
            ("SOUL.md", "", "people/1-ada", None),
            ("HEARTBEAT.md", "", "people/1-ada", Some("people/1-ada/HEARTBEAT.md")),
            ("groups/4/USER.md", "", "people/1-ada", None),
            ("conversations/12", "", "people/1-ada", None),
            ("forgotten/3", "", "people/1-ada", None),
            ("people/3-carl/USER.md", "people/3-carl", "", Some("USER.md")),
        ] {
            assert_eq!(moved(path, from, to).as_deref(), expected, "{path} from {from}");
        }
    }

    #[test]
    fn files_keep_their_kind_and_nothing_else_of_their_path() {
        let id = AttachmentId(5);
        for (hint, name) in [
            ("Holiday photo (1).JPG", "5-Holiday-photo-1.JPG"),
            ("../../.ssh/authorized_keys", "5-file.ssh-author"),
            ("/etc/passwd", "5-etc-passwd"),
            (".bashrc", "5-file.bashrc"),
            ("", "5-file"),
            ("..", "5-file"),
            ("a\u{202e}gpj.exe", "5-a-gpj.exe"),
        ] {
            assert_eq!(file_name(id, hint), name, "{hint}");
        }
    }

    #[test]
    fn untrusted_places() {
        for inside in ["inbox/1-a.txt", "memory/untrusted/x.md", "people/ben/inbox/a", "groups/4/memory/untrusted/a"] {
            assert!(is_untrusted(inside), "{inside}");
        }
        for inside in ["USER.md", "memory/MEMORY.md", "people/ben/USER.md", "memory/inbox.md", "people/inbox/USER.md"] {
            assert!(!is_untrusted(inside), "{inside}");
        }
    }

    #[test]
    fn a_second_spelling_of_a_place_means_the_same_place() {
        for path in ["heartbeat.MD", "HEART\u{ad}BEAT.md", "HEARTBEAT.md. ", "AGENT\u{17f}.md", "\u{feff}SOUL.md"] {
            assert!(is_owner_only(path) && is_loaded(path), "{path:?}");
        }
        for path in ["Memory/x.md", "memory\u{200b}/x.md", "memory./x.md", "u\u{17f}er.md", "LEARNINGS/errors.md"] {
            assert!(is_loaded(path), "{path:?}");
        }
        for path in ["Inbox/a", "inbox /a", "memory/un\u{2060}trusted/a.md", "groups/4/memory/UNTRUSTED/a"] {
            assert!(is_untrusted(path), "{path:?}");
        }
        assert!(is_of_others("Peo\u{ad}ple/ben/USER.md") && is_hidden("a/\u{200b}.git"));
        assert_eq!((locate("", "\u{212a}ey.md"), locate("", "caf\u{e9}.md")), (None, Some("caf\u{e9}.md".to_owned())));
    }

    #[test]
    fn notes_are_plain_files_of_the_memory() {
        for inside in ["memory/tea.md", "memory/2026-11-21.md", "memory/MEMORY.md", "memory/a b.md", "memory/a..md"] {
            assert!(is_note(inside) && is_plain(inside), "{inside}");
        }
        for inside in [
            "USER.md",
            "memory/tea.txt",
            "memory/.md",
            "memory/.hidden.md",
            "memory/../USER.md",
            "memory/untrusted/a.md",
            "people/ben/memory/tea.md",
            "/memory/tea.md",
            "memory/",
        ] {
            assert!(!is_note(inside), "{inside}");
        }
    }

    #[test]
    fn signs_that_count_as_letters_are_not_usual() {
        for (part, usual) in [
            ("tea.md", true),
            ("caf\u{e9}", true),
            ("cafe\u{301}", true),
            ("Stra\u{df}e \u{6771}", true),
            ("\u{212a}ey.md", false),
            ("\u{212b}", false),
            ("caf\u{e9} e\u{301}", false),
        ] {
            assert_eq!(is_usual(part), usual, "{part}");
        }
    }

    proptest! {
        #[test]
        fn cleaned_names_are_one_plain_part(name in ".{0,120}", id in 1_i64..100) {
            let folder = folder_name(PersonId(id), &name);
            prop_assert!(is_plain(&folder) && folder.split('/').count() == 2, "{}", folder);
            let file = file_name(AttachmentId(id), &name);
            prop_assert!(is_plain(&file) && !file.contains('/') && file.len() < 100, "{}", file);
        }

        #[test]
        fn two_people_never_share_a_folder(
            one in "[abAB1 -]{0,6}", other in "[abAB1 -]{0,6}", first in 1_i64..20, second in 20_i64..40,
        ) {
            prop_assert_ne!(folder_name(PersonId(first), &one), folder_name(PersonId(second), &other));
        }
    }
}
