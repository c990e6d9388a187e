//! The name of a thing as its folder spells it.
//!
//! On some disks one file answers to many names: capitals count for nothing, an accent may stand in
//! its letter or behind it, a character that leaves no mark is passed over, a long name has a short
//! one. The journal knows a file by one name, and the label of its words hangs on that; so whatever
//! name it was asked for by, the name that counts is the one that the folder itself tells. Looking
//! that up means reading the folder, and almost every disk spares it: where the same name in other
//! letters leads to nothing, or to something else, the name that was asked for is the only one.

use std::io;
use std::os::fd::OwnedFd;

use anyhow::Context;
use rustix::fs::{AtFlags, Dir, Stat};
use rustix::io::Errno;
use unicode_normalization::UnicodeNormalization;

/// How a name is looked up in a folder. Tests put a disk in this place that is less exact.
pub(super) type Lookup = fn(&OwnedFd, &str) -> rustix::io::Result<Stat>;

/// The way of the system. A link is not followed.
pub(super) fn lookup(folder: &OwnedFd, name: &str) -> rustix::io::Result<Stat> {
    rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)
}

/// How the folder spells the name of what was `found` in it by that name.
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

/// Whether a part of a path is written in one of the two usual ways: accents within their letters,
/// or all of them behind. A sign that only looks like a letter and counts as one (the unit kelvin,
/// say) is neither.
pub(super) fn is_usual(part: &str) -> bool {
    part.is_ascii() || part.nfc().eq(part.chars()) || part.nfd().eq(part.chars())
}

/// Whether it is sure that no other spelling of the name leads to the same thing.
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

/// The name with its accents in the other place, if that makes a difference.
fn in_other_form(name: &str) -> Option<String> {
    [name.nfc().collect(), name.nfd().collect()].into_iter().find(|other: &String| other != name)
}

fn is_same(one: &Stat, other: &Stat) -> bool {
    (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino)
}

/// All names in a folder that are text.
fn names_in(folder: &OwnedFd) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(folder)? {
        names.extend(entry?.file_name().to_str().ok().map(str::to_owned));
    }
    Ok(names)
}

/// As on a disk that knows no capitals, no places of accents, and no characters that leave no mark.
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

/// As on a disk that knows capitals, and no places of accents.
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
