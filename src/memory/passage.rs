//! Lines of the note of the day, and sections of files.
//!
//! The same line is not added twice, and another value of the same key takes the place of the old
//! one, also of one that is known as a fact (`supersede`). What would reach out of its section is
//! refused. Words of a tainted turn that were meant for a file that is loaded by itself wait in
//! `memory/untrusted/`, in a file of their own.

use super::default_files::DefaultFile as First;
use super::remember::Kept;
use super::write::{ChangeOrigin, New, NotWritten};
use super::{layout, memory_md, section};
use crate::memory::workspace::WorkspaceFiles;
use crate::text::{one_line, shorten};
use crate::wording::knowledge as says;

/// The most characters of one line.
const LINE: usize = 2_000;
/// Characters of the title of words that were set aside.
const TITLE: usize = 60;

/// What is done to a section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Section {
    /// This is added at its end.
    Append(String),
    /// This stands in it instead.
    Replace(String),
}

impl WorkspaceFiles<'_> {
    /// Adds a line to the note of the day.
    ///
    /// # Errors
    /// If the journal or the disk cannot be used; inside, why nothing was kept.
    pub async fn save_today(&self, origin: &ChangeOrigin, text: &str) -> anyhow::Result<Result<Kept, NotWritten>> {
        let words = shorten(&one_line(text), LINE);
        if words.is_empty() {
            return Ok(Err(NotWritten::Impossible(says::NO_CONTENT.to_owned())));
        }
        if !origin.label.is_trusted() {
            return self.notes().set_words_aside(origin, &shorten(&words, TITLE), &words).await;
        }
        if let Some(kept) = self.notes().put_right(origin, &words).await? {
            return Ok(kept);
        }
        let zone = self.0.zone;
        let path = First::Today.name(&zone.day(origin.now));
        let first = First::Today.first_contents(&zone.show_day(origin.now));
        let time = zone.time_of_day(origin.now);
        let make = move |text: Option<&str>| Ok(with_line(text.unwrap_or(&first), &time, &words));
        let written = self.versions().change(origin, &path, make).await?;
        Ok(written.map(|written| Kept { written, path, redirected: false }))
    }

    /// Changes one section of a file; all other bytes of it stay.
    ///
    /// # Errors
    /// If the journal or the disk cannot be used; inside, why nothing was kept.
    pub async fn section(
        &self,
        origin: &ChangeOrigin,
        path: &str,
        section: &str,
        change: Section,
    ) -> anyhow::Result<Result<Kept, NotWritten>> {
        if one_line(section.trim().trim_start_matches('#')).is_empty() {
            return Ok(Err(NotWritten::Impossible(says::NO_SECTION.to_owned())));
        }
        let path = layout::normal(path).unwrap_or_else(|| path.to_owned());
        let (name, first, wanted) = (section.to_owned(), self.first_text(&path, origin), change.clone());
        let make = move |text: Option<&str>| changed(text.unwrap_or(&first), &name, &wanted);
        match self.versions().change(origin, &path, make).await? {
            Err(NotWritten::Untrusted) => {
                let (Section::Append(words) | Section::Replace(words)) = &change;
                self.notes()
                    .set_words_aside(origin, &shorten(&format!("{}, {path}", one_line(section)), TITLE), words)
                    .await
            }
            written => Ok(written.map(|written| Kept { written, path, redirected: false })),
        }
    }

    /// What a file is where there is none.
    fn first_text(&self, path: &str, origin: &ChangeOrigin) -> String {
        let day = self.0.zone.day(origin.now);
        let date = self.0.zone.show_day(origin.now);
        let first = [First::Memory, First::Today].into_iter().find(|first| first.name(&day) == path);
        first.map(|first| first.first_contents(&date)).unwrap_or_default()
    }
}

/// The note with that line, in the place of one that says the same or is about the same.
fn with_line(text: &str, time: &str, words: &str) -> New {
    if text.lines().filter_map(said).any(|said| said == *words) {
        return New::Same;
    }
    let mut kept = memory_md::key_of(words).map_or_else(|| text.to_owned(), |(key, _)| without_key(text, key));
    if !kept.is_empty() && !kept.ends_with('\n') {
        kept.push('\n');
    }
    New::Text(format!("{kept}- [{time}] {words}\n"))
}

/// The note of a day without its lines about that key.
pub(super) fn without_key(text: &str, key: &str) -> String {
    let is_about = |line: &str| {
        said(line).is_some_and(|said| memory_md::key_of(&said).is_some_and(|(old, _)| memory_md::is_same_key(key, old)))
    };
    text.split_inclusive('\n').filter(|line| !is_about(line.trim_end())).collect()
}

/// What a line of the note of a day says, without its time.
fn said(line: &str) -> Option<String> {
    line.strip_prefix("- [").and_then(|line| line.split_once("] ")).map(|(_, said)| one_line(said))
}

fn changed(text: &str, name: &str, change: &Section) -> Result<New, NotWritten> {
    let new = match change {
        Section::Append(words) if stands(text, name, words) => return Ok(New::Same),
        Section::Append(words) => section::append(text, name, words),
        Section::Replace(words) => section::replace(text, name, words),
    };
    let kept = section::keeps_others(text, &new, name);
    if kept { Ok(New::Text(new)) } else { Err(NotWritten::Impossible(says::REACHES_OUT.to_owned())) }
}

/// Whether the words stand in that section already, line for line.
fn stands(text: &str, name: &str, words: &str) -> bool {
    let trimmed = |text: &str| text.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>();
    let (own, words) =
        (trimmed(section::read(text, name).unwrap_or_default()), trimmed(words.trim_matches(['\n', '\r'])));
    words.iter().any(|line| !line.is_empty()) && own.windows(words.len().max(1)).any(|lines| lines == words)
}
