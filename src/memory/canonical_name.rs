//! Canonical names of files, as their folder spells them.
//!
//! On some filesystems one file answers to many names: case is ignored, an accent may be composed
//! or decomposed, invisible characters are skipped, a long name has a short form. The journal knows
//! a file by one name, and the label of its content depends on that; so for any requested name the
//! name in the folder listing counts. That means reading the folder, which is unnecessary on almost
//! every filesystem: if variants of the name lead to nothing, or to something else, the requested
//! name is the only one.

use std::io;
use std::os::fd::OwnedFd;

use anyhow::Context;
use rustix::fs::{AtFlags, Dir, Stat};
use rustix::io::Errno;
use unicode_normalization::UnicodeNormalization;

/// Name lookup in a folder. Tests substitute a less exact filesystem.
pub(super) type Lookup = fn(&OwnedFd, &str) -> rustix::io::Result<Stat>;

/// Looks a name up with the system call. Does not follow links.
pub(super) fn lookup(folder: &OwnedFd, name: &str) -> rustix::io::Result<Stat> {
    rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)
}

/// Returns the name that the folder lists for what was `found` under `name`.
pub(super) fn own_name(folder: &OwnedFd, name: &str, found: &Stat, lookup: Lookup) -> anyhow::Result<String> {
    if tells_apart(folder, name, found, lookup) {
        return Ok(name.to_owned());
    }
    let names = names_in(folder)?;
    if names.iter().any(|entry| entry == name) {
        return Ok(name.to_owned());
    }
    let is_it = |entry: &String| lookup(folder, entry).is_ok_and(|entry| is_same(&entry, found));
    names.into_iter().find(is_it).context("A name is spelt otherwise in its folder")
}

/// Returns true if a part of a path is in normal form, either composed (NFC) or decomposed (NFD). A
/// compatibility character that merely counts as a letter (the kelvin sign, say) is neither.
pub(super) fn is_usual(part: &str) -> bool {
    part.is_ascii() || part.nfc().eq(part.chars()) || part.nfd().eq(part.chars())
}

/// Returns true if certainly no other spelling of the name leads to the same file.
fn tells_apart(folder: &OwnedFd, name: &str, found: &Stat, lookup: Lookup) -> bool {
    let case = in_other_case(name);
    let form = in_other_form(name);
    let leads_elsewhere = |other: &String| match lookup(folder, other) {
        Ok(other) => !is_same(&other, found),
        Err(error) => error == Errno::NOENT,
    };
    is_usual(name) && case != name && leads_elsewhere(&case) && form.iter().all(leads_elsewhere)
}

fn in_other_case(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_lowercase() { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() }).collect()
}

/// Returns the name in the other normal form, if that differs.
fn in_other_form(name: &str) -> Option<String> {
    [name.nfc().collect(), name.nfd().collect()].into_iter().find(|other: &String| other != name)
}

fn is_same(one: &Stat, other: &Stat) -> bool {
    (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino)
}

/// Returns all names in a folder that are UTF-8.
fn names_in(folder: &OwnedFd) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(folder)? {
        names.extend(entry?.file_name().to_str().ok().map(str::to_owned));
    }
    Ok(names)
}

/// Simulates a filesystem that ignores case, normal forms and invisible characters.
#[cfg(test)]
pub(super) fn lenient_lookup(folder: &OwnedFd, name: &str) -> rustix::io::Result<Stat> {
    let plain = |name: &str| -> String {
        let seen: String = name.nfd().filter(|c| !crate::skill::name::is_hidden(*c)).collect();
        seen.to_uppercase().to_lowercase()
    };
    let names = names_in(folder).unwrap();
    let entry = names.iter().find(|entry| plain(entry) == plain(name)).ok_or(Errno::NOENT)?;
    lookup(folder, entry)
}

/// Simulates a filesystem that respects case but ignores normal forms.
#[cfg(test)]
pub(super) fn formless_lookup(folder: &OwnedFd, name: &str) -> rustix::io::Result<Stat> {
    let names = names_in(folder).unwrap();
    lookup(folder, names.iter().find(|entry| entry.nfd().eq(name.nfd())).ok_or(Errno::NOENT)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{CWD, Mode, OFlags};

    fn folder(names: &[&str]) -> (tempfile::TempDir, OwnedFd) {
        let dir = tempfile::tempdir().unwrap();
        names.iter().for_each(|name| std::fs::write(dir.path().join(name), name).unwrap());
        let fd = rustix::fs::openat(CWD, dir.path(), OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty()).unwrap();
        (dir, fd)
    }

    fn spelt(fd: &OwnedFd, name: &str, lookup: Lookup) -> Option<String> {
        let found = lookup(fd, name).ok()?;
        Some(own_name(fd, name, &found, lookup).unwrap())
    }

    /// Proves: trust/file-origin
    #[test]
    fn whatever_a_disk_answers_to_the_name_is_that_of_the_folder() {
        let names = ["tea.md", "Caf\u{e9}.md", "2026", "\u{6771}\u{4eac}", "sho\u{ad}rt.md"];
        let (_dir, fd) = folder(&names);
        for lookup in [lookup as Lookup, lenient_lookup, formless_lookup] {
            for name in names {
                assert_eq!(spelt(&fd, name, lookup).as_deref(), Some(name));
            }
            assert_eq!(spelt(&fd, "coffee.md", lookup), None);
        }
        for (asked, name) in [
            ("TEA.md", "tea.md"),
            ("te\u{200b}a.md", "tea.md"),
            ("caf\u{e9}.MD", "Caf\u{e9}.md"),
            ("Cafe\u{301}.md", "Caf\u{e9}.md"),
            ("short.md", "sho\u{ad}rt.md"),
            ("20\u{ad}26", "2026"),
        ] {
            assert_eq!(spelt(&fd, asked, lenient_lookup).as_deref(), Some(name), "{asked}");
            assert_eq!(spelt(&fd, asked, lookup), None, "{asked}");
        }
        assert_eq!(spelt(&fd, "Cafe\u{301}.md", formless_lookup).as_deref(), Some("Caf\u{e9}.md"));
    }

    #[test]
    fn two_names_that_a_person_gave_one_file_stay_two() {
        let (dir, fd) = folder(&["tea.md"]);
        std::fs::hard_link(dir.path().join("tea.md"), dir.path().join("TEA.MD")).unwrap();
        for name in ["tea.md", "TEA.MD"] {
            assert_eq!(spelt(&fd, name, lookup).as_deref(), Some(name));
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
}
