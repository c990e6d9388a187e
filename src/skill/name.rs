//! Names of skills and paths within them, judged without access to the disk.
//!
//! Three levels: names that the published format allows ([`is_valid`]), names that can at least be
//! displayed and told apart ([`is_plain`]), and permitted file paths within a skill
//! ([`path_problem`]). All examine text alone, so that they can be applied before anything is
//! written.

use crate::text::side_files::is_side_file;

/// The maximum number of characters of a name.
pub const LONGEST: usize = 64;

/// The maximum number of bytes of a path within a skill.
const LONGEST_PATH: usize = 200;

/// The maximum number of parts of a path within a skill.
const DEEPEST: usize = 6;

/// Returns whether the format allows this name: 1 to 64 lower-case ASCII letters, digits and single
/// hyphens between them.
pub fn is_valid(name: &str) -> bool {
    let word = |part: &str| !part.is_empty() && part.bytes().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
    name.len() <= LONGEST && name.split('-').all(word)
}

/// Returns whether a name can be displayed on one line and typed again: 1 to 64 characters, none of
/// them hidden.
pub fn is_plain(name: &str) -> bool {
    !name.trim().is_empty() && name.chars().count() <= LONGEST && !name.chars().any(is_hidden)
}

/// Returns the problem with a file path within a skill, as the end of a sentence; `None` if it may
/// be written.
pub fn path_problem(path: &str) -> Option<&'static str> {
    if path.is_empty() {
        return Some("is empty");
    }
    if path.len() > LONGEST_PATH {
        return Some("is longer than 200 bytes");
    }
    if path.chars().any(is_hidden) {
        return Some("has a control character or one that cannot be seen");
    }
    if path.contains('\\') {
        return Some("has a backslash; write / between folders");
    }
    if path.starts_with('/') || path.chars().nth(1) == Some(':') {
        return Some("does not begin in the folder of the skill");
    }
    if path.split('/').count() > DEEPEST {
        return Some("is more than six levels deep");
    }
    path.split('/').find_map(part_problem).or_else(|| is_second_main(path).then_some("pretends to be the main file"))
}

/// Returns whether this is a control character, changes the text direction, or leaves no mark on a
/// screen.
pub fn is_hidden(c: char) -> bool {
    let invisible = matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffc}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}');
    invisible || c.is_control()
}

fn part_problem(part: &str) -> Option<&'static str> {
    if part.trim().is_empty() {
        return Some("has an empty part");
    }
    if part.starts_with('.') {
        return Some("has a part that begins with a dot");
    }
    if is_side_file(part) {
        return Some("is a file that an editor or a system leaves, and no part of a skill");
    }
    None
}

/// Some file systems ignore case, so a second spelling could replace the first.
fn is_second_main(path: &str) -> bool {
    path != super::folder::MAIN && path.split('/').any(|part| part.eq_ignore_ascii_case(super::folder::MAIN))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::path::{Component, Path};

    #[test]
    fn valid_names() {
        let longest = "a".repeat(64);
        for name in ["a", "7", "pdf-processing", "a-1-b", longest.as_str()] {
            assert!(is_valid(name), "{name}");
        }
        let too_long = "a".repeat(65);
        for name in ["", "-", "-a", "a-", "a--b", "A", "a_b", "a b", "a/b", "a.b", "é", "а", too_long.as_str()] {
            assert!(!is_valid(name), "{name}");
        }
    }

    #[test]
    fn plain_names_may_be_anything_that_can_be_seen() {
        for name in ["My Skill", "über_alles", "日本"] {
            assert!(is_plain(name), "{name}");
        }
        for name in ["", " ", "a\nb", "a\u{202e}b", "a\u{200b}", &"a".repeat(65)] {
            assert!(!is_plain(name), "{name:?}");
        }
    }

    #[test]
    fn paths() {
        for path in ["SKILL.md", "resources/a.md", "a/b/c/d/e/f.txt", "Größe.md", "a b.md"] {
            assert_eq!(path_problem(path), None, "{path}");
        }
        for path in [
            "",
            "/a",
            "a/",
            "a//b",
            "./a",
            "a/./b",
            "../a",
            "a/../b",
            "..",
            "a\\b",
            "C:/a",
            "c:a",
            "a\0b",
            "a\nb",
            "a\u{202e}b",
            "a\u{200b}b",
            ".git/config",
            "SKILL.md~",
            "a/SKILL.sync-conflict-20261124.md",
            "Thumbs.db",
            "a/.env",
            "a/b/c/d/e/f/g",
            "skill.md",
            "Skill.MD",
            "a/SKILL.md",
            "SKILL.md/a",
            "a/ /b",
            &"a".repeat(201),
        ] {
            assert!(path_problem(path).is_some(), "{path:?}");
        }
    }

    proptest! {
        #[test]
        fn a_path_without_problem_stays_inside(path in r"[a.:/\\ \x00\u{202e}S]{0,12}") {
            if path_problem(&path).is_none() {
                prop_assert!(Path::new(&path).components().all(|part| matches!(part, Component::Normal(_))));
                prop_assert_eq!(Path::new(&path).components().count(), path.split('/').count());
            }
        }

        #[test]
        fn a_valid_name_is_plain_and_a_path(name in "[a-z0-9-]{0,70}") {
            if is_valid(&name) {
                prop_assert!(is_plain(&name) && path_problem(&name).is_none());
            }
        }

        #[test]
        fn no_text_is_too_odd_to_be_judged(text in any::<String>()) {
            let _ = (is_valid(&text), is_plain(&text), path_problem(&text));
        }
    }
}
