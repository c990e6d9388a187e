//! Lines of daily notes, and sections of files.
//!
//! An equal line is not added twice, and a new value of a known key replaces the old one, also if
//! the key is known as a fact (`supersede`). Text that would break out of its section is refused.
//! Text of a tainted turn meant for an automatically loaded file waits in a separate file in
//! `memory/untrusted/`.

use super::default_files::DefaultFile as First;
use super::remember::StoredNote;
use super::workspace::WriteRefusal;
use super::write::{ChangeOrigin, New};
use super::{layout, memory_md, section};
use crate::memory::workspace::WorkspaceFiles;
use crate::text::{one_line, shorten};
use crate::wording::knowledge as says;

/// Length limit of a line, in characters.
const LINE: usize = 2_000;
/// Length limit of the title of a waiting text, in characters.
const TITLE: usize = 60;

/// Change of a section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Section {
    /// Adds text at its end.
    Append(String),
    /// Replaces its content.
    Replace(String),
}

impl WorkspaceFiles<'_> {
    /// Adds a line to the note of the day.
    ///
    /// # Errors
    /// The inner error is the reason for a refusal.
    pub async fn save_today(
        &self,
        origin: &ChangeOrigin,
        text: &str,
    ) -> anyhow::Result<Result<StoredNote, WriteRefusal>> {
        let words = shorten(&one_line(text), LINE);
        if words.is_empty() {
            return Ok(Err(WriteRefusal::Impossible(says::NO_CONTENT.to_owned())));
        }
        if !origin.label.is_trusted() {
            return self.notes().store_pending_text(origin, &shorten(&words, TITLE), &words).await;
        }
        if let Some(kept) = self.notes().store_correction(origin, &words).await? {
            return Ok(kept);
        }
        let zone = self.0.zone;
        let path = First::Today.name(&zone.day(origin.now));
        let first = First::Today.first_contents(&zone.show_day(origin.now));
        let time = zone.time_of_day(origin.now);
        let make = move |text: Option<&str>| Ok(with_line(text.unwrap_or(&first), &time, &words));
        let written = self.versions().change(origin, &path, make).await?;
        Ok(written.map(|written| StoredNote { written, path, redirected: false }))
    }

    /// Changes one section of a file; all other bytes stay.
    ///
    /// # Errors
    /// The inner error is the reason for a refusal.
    pub async fn section(
        &self,
        origin: &ChangeOrigin,
        path: &str,
        section: &str,
        change: Section,
    ) -> anyhow::Result<Result<StoredNote, WriteRefusal>> {
        if one_line(section.trim().trim_start_matches('#')).is_empty() {
            return Ok(Err(WriteRefusal::Impossible(says::NO_SECTION.to_owned())));
        }
        let path = layout::normal(path).unwrap_or_else(|| path.to_owned());
        let (name, first, wanted) = (section.to_owned(), self.first_text(&path, origin), change.clone());
        let make = move |text: Option<&str>| changed(text.unwrap_or(&first), &name, &wanted);
        match self.versions().change(origin, &path, make).await? {
            Err(WriteRefusal::Untrusted) => {
                let (Section::Append(words) | Section::Replace(words)) = &change;
                self.notes()
                    .store_pending_text(origin, &shorten(&format!("{}, {path}", one_line(section)), TITLE), words)
                    .await
            }
            written => Ok(written.map(|written| StoredNote { written, path, redirected: false })),
        }
    }

    /// Returns the initial text of a file that does not exist.
    fn first_text(&self, path: &str, origin: &ChangeOrigin) -> String {
        let day = self.0.zone.day(origin.now);
        let date = self.0.zone.show_day(origin.now);
        let first = [First::Memory, First::Today].into_iter().find(|first| first.name(&day) == path);
        first.map(|first| first.first_contents(&date)).unwrap_or_default()
    }
}

/// Adds a line to the note, and removes lines about the same key; an equal line is not added twice.
fn with_line(text: &str, time: &str, words: &str) -> New {
    if text.lines().filter_map(line_text).any(|said| said == *words) {
        return New::Same;
    }
    let mut kept = memory_md::key_of(words).map_or_else(|| text.to_owned(), |(key, _)| without_key(text, key));
    if !kept.is_empty() && !kept.ends_with('\n') {
        kept.push('\n');
    }
    New::Text(format!("{kept}- [{time}] {words}\n"))
}

/// Removes the lines about that key from a daily note.
pub(super) fn without_key(text: &str, key: &str) -> String {
    let is_about = |line: &str| {
        line_text(line)
            .is_some_and(|said| memory_md::key_of(&said).is_some_and(|(old, _)| memory_md::is_same_key(key, old)))
    };
    text.split_inclusive('\n').filter(|line| !is_about(line.trim_end())).collect()
}

/// Returns the text of a line in a daily note, without its time.
fn line_text(line: &str) -> Option<String> {
    line.strip_prefix("- [").and_then(|line| line.split_once("] ")).map(|(_, said)| one_line(said))
}

fn changed(text: &str, name: &str, change: &Section) -> Result<New, WriteRefusal> {
    let new = match change {
        Section::Append(words) if contains(text, name, words) => return Ok(New::Same),
        Section::Append(words) => section::append(text, name, words),
        Section::Replace(words) => section::replace(text, name, words),
    };
    let kept = section::changes_only(text, &new, name);
    if kept { Ok(New::Text(new)) } else { Err(WriteRefusal::Impossible(says::REACHES_OUT.to_owned())) }
}

/// Returns true if the section already contains the text, line for line.
fn contains(text: &str, name: &str, words: &str) -> bool {
    let trimmed = |text: &str| text.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>();
    let (own, words) =
        (trimmed(section::read(text, name).unwrap_or_default()), trimmed(words.trim_matches(['\n', '\r'])));
    words.iter().any(|line| !line.is_empty()) && own.windows(words.len().max(1)).any(|lines| lines == words)
}
