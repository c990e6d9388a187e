//! Turns a note into a `SKILL.md`: its text, under a name and a description derived from it.

use super::{manifest, name as names};
use crate::text::{one_line, shorten};

/// The maximum number of characters of a description derived from a note.
const DESCRIPTION: usize = 300;

/// Returns a skill name derived from a note's name; blank if nothing of it is usable.
pub fn name_for(note: &str) -> String {
    let file = note.rsplit('/').next().unwrap_or_default();
    let stem = file.strip_suffix(".md").unwrap_or(file).to_lowercase();
    let dashed: String = stem.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let joined = dashed.split('-').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-");
    crate::text::cut_bytes(&joined, names::LONGEST).trim_end_matches('-').to_owned()
}

/// Returns a `SKILL.md` with the note's text; `None` if there are no words for a description.
pub fn skill_of(name: &str, note: &str) -> Option<String> {
    let (said, body) = manifest::read(note, name).ok()?;
    // Some programs treat three dashes anywhere as the end of the front matter.
    let description = one_line(&said.description).replace("---", "\u{2014}");
    let description = match said.form {
        manifest::ManifestFormat::FrontMatter => description,
        manifest::ManifestFormat::Legacy => first_sentence(&description).to_owned(),
    };
    // Any JSON string is valid YAML.
    let quoted = serde_json::to_string(&shorten(&description, DESCRIPTION)).ok()?;
    Some(format!("---\nname: {name}\ndescription: {quoted}\n---\n\n{}\n", body.trim()))
}

/// Returns the text up to and including the first end of a sentence.
pub fn first_sentence(text: &str) -> &str {
    let ends = text.match_indices(['.', '!', '?', '。']).map(|(at, end)| at + end.len());
    let end =
        ends.into_iter().find(|end| text.get(*end..).is_some_and(|rest| rest.is_empty() || rest.starts_with(' ')));
    end.and_then(|end| text.get(..end)).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_becomes_a_skill_of_its_own_words() {
        assert_eq!(name_for("memory/Tea & Milk.md"), "tea-milk");
        let made = skill_of("tea", "# Tea\n\nWarm the pot. Then wait.\n").unwrap();
        assert!(made.starts_with("---\nname: tea\ndescription: \"Warm the pot.\"\n---\n\n"), "{made}");
        assert_eq!(skill_of("tea", ""), None);
    }
}
