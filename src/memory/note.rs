//! Notes: Markdown files about one subject each, with front matter.

use super::{layout, memory_md, page};
use crate::skill::manifest;
use crate::text::{cut_bytes, one_line, shorten};

/// Kinds of notes.
pub const KINDS: [&str; 4] = ["person", "project", PREFERENCE, "reference"];
/// Kind of a rule of the person, which prompts show whole.
pub const PREFERENCE: &str = "preference";
/// Former word for `person`.
const FORMER_PERSON: &str = "user";

/// Length limit of a note's file name without `.md`, in bytes.
const SLUG: usize = 48;
/// Length limits of a title and of a hook, in characters.
const TITLE: usize = 120;
const HOOK: usize = 100;

/// A note as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// Title; empty if not stated.
    pub name: String,
    /// Summary in one line; empty if not stated.
    pub description: String,
    /// `person`, `project`, `preference`, `reference`, …; empty if not stated.
    pub kind: String,
    /// Text of the note.
    pub body: String,
}

impl Note {
    /// Creates a note. An unknown kind becomes `project`.
    pub fn new(title: &str, content: &str, kind: &str) -> Self {
        let kind = present_kind(kind.trim().to_lowercase());
        let kind = if KINDS.contains(&kind.as_str()) { kind } else { "project".to_owned() };
        let body = content.trim().to_owned();
        Self { name: shorten(&one_line(title), TITLE), description: hook(title, &body), kind, body }
    }

    /// Returns whether its line in the index shows all that it says.
    pub(super) fn is_shown_whole(&self) -> bool {
        hook(&self.name, &self.body) == one_line(&self.body)
    }

    /// Returns the title and the summary; those that the note does not state come from its file
    /// name without `.md` and from its body.
    pub(super) fn title_and_hook(&self, stem: &str) -> (String, String) {
        let or = |stated: &str, other: String| if stated.is_empty() { other } else { stated.to_owned() };
        let title = or(&self.name, stem.to_owned());
        let hook = or(&self.description, hook(&title, &self.body));
        (title, hook)
    }
}

/// Returns the file name for a note with that title, without `.md`. A digest is added if the title
/// has no usable letters, or if the name would mean something else: a day, `memory`, `untrusted`,
/// or a file that holds lines moved out of `MEMORY.md`.
pub fn slug(title: &str) -> String {
    let lower = one_line(title).to_lowercase();
    let slug = layout::dashed(&lower, SLUG, |c| c.is_ascii_alphanumeric());
    // Two titles may differ only in letters that were dropped.
    let lost = lower.chars().any(|c| c.is_alphanumeric() && !c.is_ascii());
    if !lost && !slug.is_empty() && !is_reserved(&slug) {
        return slug;
    }
    with_digest(if slug.is_empty() { "note" } else { &slug }, &lower)
}

/// Returns true if two titles name the same note.
pub fn is_same_title(one: &str, other: &str) -> bool {
    let lower = |title: &str| one_line(title).to_lowercase();
    lower(one) == lower(other)
}

/// Returns an alternative name for a title whose first name belongs to another note.
pub fn other_slug(title: &str) -> String {
    with_digest(&slug(title), &one_line(title))
}

/// Parses a note. Without front matter the whole text is the body.
pub fn read(text: &str) -> Note {
    let (pairs, body) = manifest::plain(text);
    let of =
        |key: &str| pairs.iter().find(|(name, _)| name == key).map(|(_, value)| one_line(value)).unwrap_or_default();
    Note { name: of("name"), description: of("description"), kind: present_kind(of("type")), body: body.to_owned() }
}

fn present_kind(kind: String) -> String {
    if kind == FORMER_PERSON { "person".to_owned() } else { kind }
}

/// Formats a note.
pub fn write(note: &Note) -> String {
    let quoted = |words: &str| serde_json::Value::from(one_line(words)).to_string();
    let (name, description, kind) = (quoted(&note.name), quoted(&note.description), quoted(&note.kind));
    // A JSON string is also valid YAML, regardless of its content.
    format!("---\nname: {name}\ndescription: {description}\ntype: {kind}\n---\n\n{}\n", note.body.trim())
}

/// Returns what a body says first, in at most 100 characters: its first line that does not only
/// repeat the title, with the sentence after a heading, or the line after a colon.
pub fn hook(title: &str, body: &str) -> String {
    let words = |line: &str| one_line(line.trim_start_matches(['#', '>', ' ']));
    let says_more = |line: &&str| !words(line).is_empty() && !is_same_title(&words(line), title);
    let mut lines = body.lines().map(str::trim).filter(says_more);
    let Some(first) = lines.next() else { return shorten(&one_line(title), HOOK) };
    let (is_heading, begin) = (first.starts_with('#'), words(first));
    let next = lines.next().filter(|next| !next.starts_with('#'));
    let next = next.filter(|next| if is_heading { !next.starts_with(['-', '*', '+']) } else { begin.ends_with(':') });
    match next {
        Some(next) => shorten(&format!("{}: {}", begin.trim_end_matches([':', '.']), words(next)), HOOK),
        None => shorten(&begin, HOOK),
    }
}

/// Returns a rule as it is shown: one list item for each line of the note that has words, without
/// its headings.
pub(super) fn rule(text: &str) -> String {
    let note = read(text);
    let lines = note.body.lines().map(str::trim).filter(|line| !line.starts_with('#'));
    let words =
        lines.map(|line| one_line(line.trim_start_matches(['-', '*', '+', '>', ' ']))).filter(|line| !line.is_empty());
    words.map(|line| format!("- {line}")).collect::<Vec<_>>().join("\n")
}

/// Returns true if a file of that name is something other than an ordinary note.
pub(super) fn is_reserved(slug: &str) -> bool {
    let managed = ["index-", "facts-"].iter().any(|start| slug.starts_with(start));
    memory_md::is_day(slug) || managed || matches!(slug, "memory" | "untrusted")
}

/// Appends the beginning of the digest of a text to a slug.
pub(super) fn with_digest(slug: &str, words: &str) -> String {
    let digest = page::digest(words.as_bytes());
    let digest = cut_bytes(&digest, 8);
    format!("{}-{digest}", cut_bytes(slug, SLUG - 9).trim_end_matches('-'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Proves: memory/notes
    #[test]
    fn slugs_are_plain_and_never_mean_something_else() {
        for (title, name) in [
            ("Deploy key", "deploy-key"),
            ("  Wi-Fi: at *home* ", "wi-fi-at-home"),
            ("../../etc/passwd", "etc-passwd"),
            ("index of books", "index-of-books-"),
            ("2026-11-21", "2026-11-21-"),
            ("2026 11 21", "2026-11-21-"),
            ("Memory", "memory-"),
            ("MEMORY", "memory-"),
            ("Untrusted", "untrusted-"),
            ("秘密", "note-"),
            ("Café", "caf-"),
            ("", "note-"),
            ("!", "note-"),
        ] {
            let slug = slug(title);
            let rest = slug.strip_prefix(name).unwrap_or_else(|| panic!("{title}: {slug}"));
            assert!(rest.len() == if name.ends_with('-') { 8 } else { 0 }, "{title}: {slug}");
        }
        assert_ne!(slug("秘密"), slug("公開"));
        assert_ne!(slug("Café"), slug("Cafë"));
        assert_eq!(slug(&"long words ".repeat(9)).len(), 48);
        assert_ne!(other_slug("Deploy key!"), slug("Deploy key!"));
    }

    #[test]
    fn a_note_says_what_it_is() {
        let note = Note::new(" Deploy\nkey ", "# Where\n\nIn the safe: \"left\" drawer.\n", "Preference");
        let text = write(&note);
        let front = "---\nname: \"Deploy key\"\ndescription: \"Where: In the safe: \\\"left\\\" drawer.\"\ntype: \"preference\"\n---\n\n# Where\n";
        assert!(text.starts_with(front), "{text}");
        assert_eq!(Note { body: note.body.clone(), ..read(&text) }, note);
        assert_eq!(read(&text).body.trim(), note.body);
        assert_eq!(Note::new("a", "b", "poem").kind, "project");
        assert_eq!(Note::new("a", "b", "User").kind, "person");
    }

    #[test]
    fn notes_that_others_wrote_are_read_too() {
        let read = read("---\nname: Tea\ntype: preference\ndescription: >\n  green,\n  hot\n---\nbody\n");
        assert_eq!(
            (read.name.as_str(), read.description.as_str(), read.body.as_str()),
            ("Tea", "green, hot", "body\n")
        );
        assert_eq!(super::read("---\ntype: user\n---\nb").kind, "person", "the former word");
        assert_eq!(super::read("Just words.\n").body, "Just words.\n");
        assert_eq!(super::read("---\nname: : [\n---\nx").body, "x");
        assert_eq!(super::read("---\nnever closed").body, "---\nnever closed");
    }

    #[test]
    fn a_hook_says_more_than_the_title() {
        for (title, body, expected) in [
            ("Hut", "# Hut\n\nThe hut is in the woods.", "The hut is in the woods."),
            ("Hut", "hut\n\nIn the   woods.\nBy the lake.", "In the woods."),
            ("boat", "# The boat\n\nLies in the harbour.", "The boat: Lies in the harbour."),
            ("Brother", "# Brother", "Brother"),
            ("facts-2026-01", "## Facts\n\n- **boat**: in Oostende", "Facts"),
            ("Robin", "- Call them Robin", "- Call them Robin"),
            ("Rates", "Net:\n\n- Lindner 1.80\n\nMore.", "Net: - Lindner 1.80"),
            ("x", " \n#\n", "x"),
        ] {
            assert_eq!(hook(title, body), expected, "{body}");
        }
        assert_eq!(hook("", &"x".repeat(200)).chars().count(), 100);
    }

    #[test]
    fn a_rule_is_shown_whole() {
        let text = write(&Note::new("Style", "# Style\n\n- British spelling\n- no lists", PREFERENCE));
        assert_eq!(rule(&text), "- British spelling\n- no lists");
        assert_eq!(rule("---\ntype: preference\n---\n\n# Only a heading\n"), "");
    }

    proptest! {
        #[test]
        fn slugs_are_one_plain_part(title in "(?s).{0,80}") {
            for slug in [slug(&title), other_slug(&title)] {
                prop_assert!(!slug.is_empty() && slug.len() <= 48, "{}", slug);
                prop_assert!(slug.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-'), "{}", slug);
                prop_assert!(!slug.starts_with('-') && !slug.ends_with('-') && !is_reserved(&slug), "{}", slug);
            }
        }

        #[test]
        fn different_titles_of_letters_that_cannot_stand_in_a_name_differ(one in "\\p{Han}{1,6}", other in "\\p{Han}{1,6}") {
            prop_assert_eq!(slug(&one) == slug(&other), one == other);
        }

        #[test]
        fn a_note_reads_back_as_written(title in "\\PC{0,60}", body in "\\PC{0,80}(\n\\PC{0,40})?") {
            let note = Note::new(&title, &body, "user");
            let again = read(&write(&note));
            prop_assert_eq!((again.name, again.description, again.kind), (note.name, note.description, note.kind));
            prop_assert_eq!(again.body.trim(), note.body);
        }
    }
}
