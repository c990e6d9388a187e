//! An edit of a note in a form that was made from one version of it.
//!
//! It counts as the person's own hand, as an edit with an editor does: the file keeps its label,
//! and the other places of a changed value follow. Nothing that came into the file meanwhile is
//! ever overwritten: the digest that the form carries is compared with the file under the lock of
//! the writer, which also makes the change survive a power cut.
//!
//! A browser sends every end of a line as CR LF. Lines that were not touched keep their own end.

use similar::{ChangeTag, TextDiff};

use super::{MemoryFile, promote};
use crate::admin::MemoryAdmin;
use crate::admin::answer::{Answer, CommandError};
use crate::memory::{Author, ChangeOrigin, NewContent, digest, unless_refused};
use crate::people::Person;
use crate::wording::Language;

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
    /// Replaces the text of a note, if it still has that digest; a blank one means that there is no
    /// file yet.
    pub async fn save_note(
        &self,
        person: &Person,
        note: &str,
        shown: &str,
        typed: &str,
    ) -> Result<NoteEdit, CommandError> {
        let origin = ChangeOrigin { author: Author::Hand, ..self.change_by(person, "page") };
        let (path, _) = self.path_and_digest(&origin.who, note).await?;
        let (base, text) = (shown.to_owned(), typed.to_owned());
        let make = move |old: Option<&str>| {
            let present = old.map(|old| digest(old.as_bytes())).unwrap_or_default();
            let new = || NewContent::Text(with_line_ends(old.unwrap_or_default(), &text));
            Ok(if present == base { new() } else { NewContent::Unchanged })
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
            Some(file) if written.version.is_some() || written.digest == shown => NoteEdit::Saved(file),
            present => NoteEdit::Conflict(present),
        })
    }
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

    proptest! {
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
