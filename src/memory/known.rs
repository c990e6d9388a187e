//! Memory shown to the extractor, so that it takes nothing down twice: facts, notes, the note of
//! the day, and corrections by number. Only trusted files; one that is unreadable counts as empty.

use super::learn::{self, CORRECTED, CORRECTIONS};
use super::memory_md;
use super::page::DefaultFile;
use super::workspace::Notes;
use crate::people::Party;
use crate::store::KnownCorrection;
use crate::time::Timestamp;
use crate::trust::{Label, Labelled};
use crate::wording::agent_memory as says;

/// Size limit of each part, in bytes: the newest come first, or are all that is left.
const MOST_OF_FACTS: usize = 8 * 1024;
const MOST_OF_NOTES: usize = 3 * 1024;
const MOST_OF_TODAY: usize = 3 * 1024;
const MOST_OF_CORRECTIONS: usize = 3 * 1024;

/// Part of the memory of a party, one item per line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KnownItems {
    /// Facts, newest first.
    pub facts: String,
    /// Titles and summaries of notes, newest first.
    pub notes: String,
    /// The end of today's note.
    pub today: String,
    /// Corrections, newest first.
    pub corrections: Vec<KnownCorrection>,
}

impl Notes<'_> {
    /// Returns what need not be extracted again.
    pub async fn known_items(&self, who: &Party, now: Timestamp) -> anyhow::Result<Labelled<KnownItems>> {
        let mut label = Label::neutral();
        let mut facts = Vec::new();
        for (_, read) in self.read_lists(who).await? {
            if read.label.is_trusted() {
                label.absorb(&read.label);
                facts.extend(read.facts);
            }
        }
        facts.sort_by(|one, other| other.day.cmp(&one.day));
        let mut trusted = async |path: &str| -> anyhow::Result<String> {
            let file = self.files().readable(who, path).await?.filter(|file| file.label.is_trusted());
            Ok(file.map_or_else(String::new, |file| {
                label.absorb(&file.label);
                file.text
            }))
        };
        let memory = trusted(&DefaultFile::Memory.name("")).await?;
        let today = trusted(&DefaultFile::Today.name(&self.0.zone.day(now))).await?;
        let corrected = trusted(CORRECTIONS).await?;
        let facts = facts.into_iter().map(|fact| format!("- {}: {}", fact.key, fact.value));
        let mut lines: Vec<&str> = today.lines().rev().filter(|line| line.starts_with("- ")).collect();
        lines.truncate(first_that_fit(lines.iter().copied(), MOST_OF_TODAY).count());
        lines.reverse();
        let corrections = learn::corrections_in(&memory_md::facts_in(&corrected, CORRECTED));
        let shown = numbered(&corrections);
        let count = first_that_fit(shown.lines(), MOST_OF_CORRECTIONS).count();
        let items = KnownItems {
            facts: joined(facts, MOST_OF_FACTS),
            notes: shown_notes(&memory),
            today: lines.join("\n"),
            corrections: corrections.into_iter().take(count).collect(),
        };
        Ok(Labelled::new(items, label, who.scope()))
    }
}

/// Returns the lines that show the notes of an index, newest first.
pub(super) fn shown_notes(memory: &str) -> String {
    let notes: Vec<&str> = memory_md::index_lines(memory).collect();
    let notes = notes.into_iter().rev().filter_map(memory_md::parse_index_line);
    joined(notes.map(|(title, _, hook)| note_line(title, hook)), MOST_OF_NOTES)
}

/// Returns the line that shows a note.
pub(super) fn note_line(title: &str, hook: &str) -> String {
    format!("- {title}: {hook}")
}

impl KnownItems {
    /// Returns the corrections with their numbers, one per line.
    pub fn numbered_corrections(&self) -> String {
        numbered(&self.corrections)
    }
}

fn numbered(corrections: &[KnownCorrection]) -> String {
    let line =
        |(number, known): (usize, &KnownCorrection)| says::corrected(number, &known.was, &known.now, known.count);
    (1..).zip(corrections).map(line).collect::<Vec<_>>().join("\n")
}

fn joined(lines: impl Iterator<Item = String>, most: usize) -> String {
    let lines: Vec<String> = lines.collect();
    let fitting: Vec<&str> = first_that_fit(lines.iter().map(String::as_str), most).collect();
    fitting.join("\n")
}

/// Returns the first lines that fit into that many bytes.
fn first_that_fit<'l>(lines: impl Iterator<Item = &'l str>, most: usize) -> impl Iterator<Item = &'l str> {
    let mut room = most;
    lines.take_while(move |line| {
        let fits = line.len() < room;
        room = room.saturating_sub(line.len() + 1);
        fits
    })
}
