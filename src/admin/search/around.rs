//! The present position of a hit in its file, and the lines around it.

use crate::admin::SearchAdmin;
use std::sync::Arc;

use serde_json::{Value, json};

use super::super::answer::ShownLabel;
use super::super::snippet::{FoldedWords, Snippet};
use super::{HitSource, SearchRow};
use crate::people::{Party, Person};
use crate::trust::Text;

/// A file, and the position of a hit in it.
pub(super) struct FileExcerpt {
    text: Text,
    /// Line number, from 1.
    line: usize,
    /// Number of lines in the hit.
    length: usize,
}

pub(super) struct FileLine {
    number: usize,
    words: Snippet,
    is_hit: bool,
}

impl SearchAdmin<'_> {
    /// Reads the file of a hit; `None` if the hit is in no file, or the file no longer exists.
    pub(super) async fn around(&self, person: &Person, row: &SearchRow) -> anyhow::Result<Option<FileExcerpt>> {
        let HitSource::File { path, line } = &row.by else { return Ok(None) };
        let read = self.tree.files().read_text(&Party::One(person.clone()), path).await?;
        let length = ShownLabel::nothing().words::<Arc<str>>(&row.text).lines().count();
        Ok(read.ok().map(|(text, ..)| FileExcerpt { text, line: *line, length }))
    }
}

impl FileExcerpt {
    /// The first line of the hit that contains a search word, from 1; the hit's first line if none
    /// does.
    pub(super) fn line(&self, shown: &mut ShownLabel, wanted: &FoldedWords) -> usize {
        let all = shown.words::<Arc<str>>(&self.text).lines();
        let mut own = (1..).zip(all).skip(self.line.saturating_sub(1)).take(self.length.max(1) + 1);
        own.find(|(_, line)| wanted.share_in(line) > 0.0).map_or(self.line, |(number, _)| number)
    }

    /// The line of the hit, with `context` lines above and below.
    pub(super) fn lines(&self, shown: &mut ShownLabel, wanted: &FoldedWords, context: usize) -> Vec<FileLine> {
        let hit = self.line(shown, wanted);
        let (first, last) = (hit.saturating_sub(context), hit.saturating_add(context));
        let all = (1..).zip(shown.words::<Arc<str>>(&self.text).lines());
        let kept = all.skip_while(|(number, _)| *number < first).take_while(|(number, _)| *number <= last);
        kept.map(|(number, line)| FileLine { number, words: Snippet::new(line, wanted), is_hit: number == hit })
            .collect()
    }

    /// Numbered lines for a person.
    pub(super) fn markdown(lines: &[FileLine]) -> String {
        let one = |line: &FileLine| {
            format!("{}{} {}", line.number, if line.is_hit { ":" } else { "-" }, line.words.markdown())
        };
        lines.iter().map(one).collect::<Vec<_>>().join("\n")
    }
}

impl FileLine {
    pub(super) fn json(&self) -> Value {
        json!({ "line": self.number, "text": self.words.text(), "hit": self.is_hit })
    }
}
