//! The lines around a hit, as they stand in its file now.

use std::sync::Arc;

use serde_json::{Value, json};

use super::super::Admin;
use super::super::answer::Shown;
use super::super::snippet::{Snippet, Wanted};
use super::{By, Row, Sought};
use crate::people::{Party, Person};
use crate::trust::Text;

/// A file, and the line in it that was found.
pub(super) struct Around {
    text: Text,
    /// From 1.
    line: usize,
    /// How many lines the hit has.
    length: usize,
}

/// One line of a file.
pub(super) struct Line {
    number: usize,
    words: Snippet,
    is_hit: bool,
}

impl Admin {
    /// Nothing, if no lines are asked for, the hit stands in no file, or the file is not there any more.
    pub(super) async fn around(&self, person: &Person, sought: &Sought, row: &Row) -> anyhow::Result<Option<Around>> {
        let By::File { path, line } = &row.by else { return Ok(None) };
        if sought.context == 0 {
            return Ok(None);
        }
        let read = self.parts.tree.read_text(&Party::One(person.clone()), path).await?;
        let length = Shown::nothing().words::<Arc<str>>(&row.text).lines().count();
        Ok(read.ok().map(|(text, ..)| Around { text, line: usize::try_from(*line).unwrap_or(1), length }))
    }
}

impl Around {
    /// The first line of the hit that holds a word that was looked for, with `context` lines above and below.
    pub(super) fn lines(&self, shown: &mut Shown, wanted: &Wanted, context: usize) -> Vec<Line> {
        let all: Vec<&str> = shown.words::<Arc<str>>(&self.text).lines().collect();
        let from = self.line.saturating_sub(1);
        let own = all.iter().enumerate().skip(from).take(self.length.max(1) + 1);
        let hit = own.clone().find(|(_, line)| wanted.share_in(line) > 0.0).map_or(from, |(at, _)| at);
        let (first, last) = (hit.saturating_sub(context), hit.saturating_add(context));
        let kept = all.iter().enumerate().take(last.saturating_add(1)).skip(first);
        kept.map(|(at, line)| Line { number: at + 1, words: Snippet::new(line, wanted), is_hit: at == hit }).collect()
    }

    /// For a person: each line with its number.
    pub(super) fn markdown(lines: &[Line]) -> String {
        let one =
            |line: &Line| format!("{}{} {}", line.number, if line.is_hit { ":" } else { "-" }, line.words.markdown());
        lines.iter().map(one).collect::<Vec<_>>().join("\n")
    }
}

impl Line {
    pub(super) fn json(&self) -> Value {
        json!({ "line": self.number, "text": self.words.text(), "hit": self.is_hit })
    }
}
