//! An edit of a note in a form that was made from one version of it.
//!
//! It counts as the person's own hand, as an edit with an editor does: the file keeps its label,
//! and the other places of a changed value follow. Nothing that came into the file meanwhile is
//! ever overwritten: the digest that the form carries is compared with the file under the lock of
//! the writer, which also makes the change survive a power cut.
//!
//! A browser sends every end of a line as CR LF. Lines that were not touched keep their own end.

use std::sync::Arc;

use similar::{ChangeTag, TextDiff};

use super::{MemoryFile, promote};
use crate::admin::MemoryAdmin;
use crate::admin::answer::{Answer, CommandError, ShownLabel};
use crate::memory::{Author, ChangeOrigin, NewContent, digest, section, unless_refused};
use crate::people::Person;
use crate::trust::{Labelled, Text};
use crate::wording::Language;

/// A section of a note, from its heading to the next.
#[derive(Debug, Clone)]
pub struct NoteSection {
    /// Number of the section in its note, from 0.
    pub number: usize,
    /// Text of the section.
    pub text: Text,
    /// SHA-256 of the bytes.
    pub digest: String,
}

impl MemoryFile {
    /// Returns the section of that number.
    pub fn section(&self, number: usize) -> Option<NoteSection> {
        let words = self.words(&mut ShownLabel::nothing());
        let section = *section::whole(words).get(number)?;
        let (label, scope) = (self.text.label().clone(), self.text.scope());
        let text = Labelled::new(Arc::from(section), label, scope);
        Some(NoteSection { number, text, digest: digest(section.as_bytes()) })
    }

    /// Returns the only section that begins with the same line as a typed one.
    pub fn section_like(&self, typed: &str) -> Option<NoteSection> {
        let first_line = |text: &str| text.lines().next().unwrap_or_default().trim_end().to_owned();
        let (words, wanted) = (self.words(&mut ShownLabel::nothing()), first_line(typed));
        let mut like = section::whole(words).into_iter().enumerate().filter(|(_, text)| first_line(text) == wanted);
        let only = like.next().filter(|_| like.next().is_none());
        only.and_then(|(number, _)| self.section(number))
    }
}

/// Result of an edit.
#[derive(Debug)]
pub enum NoteEdit {
    /// The text is in the file.
    Saved(MemoryFile),
    /// The file holds another text than the form was made from; `None` if it is gone.
    Conflict(Option<MemoryFile>),
    /// Nothing was written, for the reason that it gives.
    Refused(Answer),
}

impl MemoryAdmin<'_> {
    /// Replaces the text of a note, or of one of its sections, if it still has that digest; a blank
    /// one means that there is no file yet. Sections are counted from 0, as [`section::whole`]
    /// does.
    pub async fn save_note(
        &self,
        person: &Person,
        note: &str,
        part: Option<usize>,
        shown: &str,
        typed: &str,
    ) -> Result<NoteEdit, CommandError> {
        let origin = ChangeOrigin { author: Author::Hand, ..self.change_by(person, "page") };
        let (path, _) = self.existing_or_new(&origin.who, note).await?;
        let (base, text) = (shown.to_owned(), typed.to_owned());
        let make = move |old: Option<&str>| {
            let whole = old.unwrap_or_default();
            let Some(part) = part else {
                let present = old.map(|old| digest(old.as_bytes())).unwrap_or_default();
                let new = || NewContent::Text(with_line_ends(whole, &text));
                return Ok(if present == base { new() } else { NewContent::Unchanged });
            };
            Ok(with_section(whole, part, &base, &text).map_or(NewContent::Unchanged, NewContent::Text))
        };
        let written = match self.workspace.versions().change(&origin, &path, make).await {
            Ok(written) => written,
            Err(error) => {
                let refusal = promote::refused(&path, error.refusal()?, Language::ENGLISH);
                return Ok(NoteEdit::Refused(refusal));
            }
        };
        let present = unless_refused(self.page(&origin.who, &[path]).await)?;
        Ok(match present {
            Some(file) if written.version.is_some() || is_as_typed(&file, part, typed) => NoteEdit::Saved(file),
            present => NoteEdit::Conflict(present),
        })
    }
}

/// Returns true if a file that was not written holds what was typed, as after the same form was
/// sent twice.
fn is_as_typed(file: &MemoryFile, part: Option<usize>, typed: &str) -> bool {
    let words = file.words(&mut ShownLabel::nothing());
    let Some(part) = part else { return with_line_ends(words, typed) == *words };
    let sections = section::whole(words);
    // What was typed into a section may hold several.
    let end = part.saturating_add(section::whole(typed).len().max(1));
    let present = sections.get(part..end).unwrap_or_default().concat();
    with_end(&present, typed, end < sections.len()) == present
}

/// Replaces the section with that digest: the one of that number, or else the only one. `None` if
/// there is none.
fn with_section(text: &str, part: usize, shown: &str, typed: &str) -> Option<String> {
    let sections = section::whole(text);
    let is_it = |at: &usize| sections.get(*at).is_some_and(|section| digest(section.as_bytes()) == shown);
    let mut others = (0..sections.len()).filter(is_it);
    let at = match (is_it(&part), others.next(), others.next()) {
        (true, ..) => part,
        (false, Some(only), None) => only,
        _ => return None,
    };
    let is_last = at + 1 == sections.len();
    let new = |(number, section): (usize, &&str)| match number == at {
        true => with_end(section, typed, !is_last),
        false => (*section).to_owned(),
    };
    Some(sections.iter().enumerate().map(new).collect())
}

/// Gives a typed section the ends of lines of the old one. What `is_followed` begins on a line of
/// its own.
fn with_end(old: &str, typed: &str, is_followed: bool) -> String {
    let new = with_line_ends(old, typed);
    let is_open = is_followed && !new.is_empty() && !new.ends_with(['\n', '\r']);
    if is_open { new + if old.contains("\r\n") { "\r\n" } else { "\n" } } else { new }
}

/// Gives each line of a typed text the end that it has in the old one; a new line gets the end that
/// most lines have.
fn with_line_ends(old: &str, typed: &str) -> String {
    let (old, typed) = (lines(old), lines(typed));
    let windows = old.iter().filter(|(_, end)| *end == "\r\n").count();
    let usual = if windows * 2 > old.len() { "\r\n" } else { "\n" };
    let [before, after] = [&old, &typed].map(|lines| lines.iter().map(|(line, _)| *line).collect::<Vec<_>>());
    let diff = TextDiff::from_slices(&before, &after);
    let mut text = String::new();
    for change in diff.iter_all_changes().filter(|change| change.tag() != ChangeTag::Delete) {
        let end_in = |lines: &[(&str, &'static str)], at: Option<usize>| {
            at.and_then(|at| lines.get(at)).map_or("", |line| line.1)
        };
        // A last line without an end stays without, and any other has one.
        let end = match (end_in(&typed, change.new_index()), end_in(&old, change.old_index())) {
            ("", _) => "",
            (_, "") => usual,
            (_, own) => own,
        };
        // A carriage return and a line feed together would be the end of one line.
        let is_one = end == "\n" && change.value().is_empty() && text.ends_with('\r');
        text.push_str(change.value());
        text.push_str(if is_one { "\r\n" } else { end });
    }
    text
}

/// The lines of a text, each with its end.
fn lines(text: &str) -> Vec<(&str, &'static str)> {
    let mut lines = Vec::new();
    let mut rest = text;
    while let Some((line, from)) = rest.find(['\r', '\n']).and_then(|at| rest.split_at_checked(at)) {
        let end = ["\r\n", "\r", "\n"].into_iter().find(|end| from.starts_with(end)).unwrap_or("");
        lines.push((line, end));
        rest = from.strip_prefix(end).unwrap_or_default();
    }
    if !rest.is_empty() {
        lines.push((rest, ""));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn untouched_lines_keep_their_ends() {
        for (old, typed, new) in [
            ("a\nb\n", "a\r\nb\r\nc\r\n", "a\nb\nc\n"),
            ("a\r\nb\r\n", "a\r\nx\r\nb\r\n", "a\r\nx\r\nb\r\n"),
            ("a\r\nb\nc\r\n", "a\r\nb\r\nc\r\nd", "a\r\nb\nc\r\nd"),
            ("a\rb\n", "a\r\nb\r\n", "a\rb\n"),
            ("a\rb\n\n", "a\r\n\r\n", "a\r\r\n"),
            ("a\nb", "a\r\nb\r\n", "a\nb\n"),
            ("a\nb\n", "a\r\nb", "a\nb"),
            ("", "a\r\n\r\nb", "a\n\nb"),
            ("\r", "\r\n\r\n", "\r\r\n"),
            ("a\n", "", ""),
        ] {
            assert_eq!(with_line_ends(old, typed), new, "{old:?} {typed:?}");
        }
    }

    #[test]
    fn only_that_section_changes() {
        let text = "Above\n# A\r\none\r\n\r\n## B\ntwo\n# A\r\none\r\n\r\n";
        let sections = section::whole(text);
        assert_eq!(sections, ["Above\n", "# A\r\none\r\n\r\n", "## B\ntwo\n", "# A\r\none\r\n\r\n"]);
        let of = |at: usize| digest(sections[at].as_bytes());
        for (part, shown, typed, new) in [
            (2, of(2), "## B\r\n2\r\n", Some("Above\n# A\r\none\r\n\r\n## B\n2\n# A\r\none\r\n\r\n")),
            (2, of(2), "## B\r\n2", Some("Above\n# A\r\none\r\n\r\n## B\n2\n# A\r\none\r\n\r\n")),
            (3, of(3), "# A\r\n1", Some("Above\n# A\r\none\r\n\r\n## B\ntwo\n# A\r\n1")),
            // It stands elsewhere by now.
            (0, of(2), "", Some("Above\n# A\r\none\r\n\r\n# A\r\none\r\n\r\n")),
            // It may be either of two, or is gone.
            (2, of(3), "x", None),
            (2, digest(b"## B\n"), "x", None),
            (9, of(9 % 3), "Below", Some("Below\n# A\r\none\r\n\r\n## B\ntwo\n# A\r\none\r\n\r\n")),
        ] {
            assert_eq!(with_section(text, part, &shown, typed).as_deref(), new, "{part} {typed:?}");
        }
    }

    proptest! {
        #[test]
        fn sections_are_the_whole_text(text in "(# [a-z]|[a-z ]|\r\n|\n|```|<!--|-->|- ){0,24}") {
            prop_assert_eq!(section::whole(&text).concat(), text);
        }

        #[test]
        fn a_form_that_was_not_touched_changes_nothing(old in "[ab\r\n]{0,24}") {
            // As a browser sends it.
            let sent = old.replace("\r\n", "\n").replace('\r', "\n").replace('\n', "\r\n");
            prop_assert_eq!(with_line_ends(&old, &sent), old);
        }

        #[test]
        fn the_words_are_those_that_were_typed(old in "[ab\r\n]{0,24}", typed in "[ab\n]{0,24}") {
            let sent = typed.replace('\n', "\r\n");
            let new = with_line_ends(&old, &sent);
            prop_assert_eq!(new.replace("\r\n", "\n").replace('\r', "\n"), typed);
        }
    }
}
