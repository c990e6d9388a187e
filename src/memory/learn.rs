//! What was learned from what went wrong: tools that failed, and what a person put right.
//!
//! Each is one line with a counter, so the same trouble fifty times is one line. Of a failure there
//! stands the tool, our own word for what happened, how often and when last; never a word from
//! outside, so such a line is the program's own whatever the turn had read. What was put right is
//! taken down by the extractor from what a person typed. Conversations begin with the newest of
//! both. Each kind has its own room: however much fails, what a person put right is read.

use crate::memory::workspace::Notes;
use std::sync::Arc;

use super::memory_md::{self, Fact};
use super::write::{Author, ChangeOrigin, New, NotWritten};
use crate::people::Party;
use crate::store::{Correction, Node};
use crate::time::Timestamp;
use crate::trust::{Label, Labelled, Text};
use crate::wording::{self, agent as says};

const ERRORS: &str = "learnings/errors.md";
const CORRECTIONS: &str = "learnings/corrections.md";
/// The headings under which the lines stand.
const FAILED: &str = "Errors";
const RIGHTED: &str = "Corrections";
/// The most that each file's lines take, in bytes; the oldest go.
const MOST: usize = 32 * 1024;
/// So many have room in an empty note, however long they are.
const AT_ONCE: usize = 12;
/// The most lines of each kind in a prompt, the most characters of one, and of each kind together.
const LINES: usize = 20;
const LINE: usize = 300;
const ROOM_CORRECTIONS: usize = 2_000;
const ROOM_ERRORS: usize = 1_000;

impl Notes<'_> {
    /// A call of that tool failed; `how` is our own word for it.
    ///
    /// # Errors
    /// If the journal or the disk cannot be used.
    pub async fn learn_failure(
        &self,
        who: &Party,
        tool: &str,
        how: &'static str,
        now: Timestamp,
    ) -> anyhow::Result<()> {
        if !self.1.memory.enabled {
            return Ok(());
        }
        let label = Label::neutral();
        let (who, author) = (who.clone(), Author::Program);
        let origin = ChangeOrigin { who, label, author, cause: "learned", from: Vec::new(), now };
        let (key, day) = (format!("{tool}: {how}"), self.0.zone.day(now));
        let make = move |text: Option<&str>| {
            let text = text.unwrap_or(says::ERRORS_FILE);
            Ok(New::Text(counted(text, FAILED, &key, "", &day)))
        };
        if let Err(why) = self.versions().change(&origin, ERRORS, make).await? {
            tracing::warn!("A failure of a tool is not written down: {why}");
        }
        Ok(())
    }

    /// Keeps what a person put right. Keeping the same answer of the extractor again changes
    /// nothing. Where the file cannot be changed it stands in the note of the month, so that
    /// nothing is lost and nobody waits.
    ///
    /// # Errors
    /// If the journal or the disk cannot be used; inside, why it is not kept.
    pub async fn keep_corrections(
        &self,
        origin: &ChangeOrigin,
        corrections: &[Correction],
    ) -> anyhow::Result<Result<(), NotWritten>> {
        if corrections.is_empty() || self.holds(origin).await? {
            return Ok(Ok(()));
        }
        let (day, corrections) = (self.0.zone.day(origin.now), corrections.to_vec());
        let fact = |put: &Correction| Fact { key: put.was.clone(), value: put.now.clone(), day: day.clone() };
        let facts: Vec<Fact> = corrections.iter().map(fact).collect();
        let make = move |text: Option<&str>| {
            let text = text.unwrap_or(says::CORRECTIONS_FILE).to_owned();
            let add = |text: String, put: &Correction| counted(&text, RIGHTED, &put.was, &put.now, &day);
            Ok(New::Text(corrections.iter().fold(text, add)))
        };
        let Err(why) = self.versions().change(origin, CORRECTIONS, make).await? else { return Ok(Ok(())) };
        tracing::warn!("What was put right goes to the note of the month: {why}");
        for some in facts.chunks(AT_ONCE) {
            if let Err(why) = self.put_aside(origin, some).await? {
                return Ok(Err(why));
            }
        }
        Ok(Ok(()))
    }

    /// What that person's conversations begin with: what they put right and what failed. Trusted,
    /// and bounded.
    pub async fn learnings(&self, who: &Party) -> anyhow::Result<Text> {
        let mut label = Label::neutral();
        let mut parts = Vec::new();
        let kinds =
            [(CORRECTIONS, RIGHTED, says::CORRECTED, ROOM_CORRECTIONS), (ERRORS, FAILED, says::FAILED, ROOM_ERRORS)];
        for (path, section, title, room) in kinds {
            // A file that cannot be read keeps nobody from being answered.
            let found = self.standing(who, path).await.ok().flatten();
            let Some(found) = found.filter(|found| self.1.memory.enabled && found.label.is_trusted()) else { continue };
            label.absorb(&found.label);
            parts.extend(newest(memory_md::facts_in(&found.text, section), title, room, path));
        }
        Ok(Labelled::new(Arc::from(parts.join("\n\n")), label, who.scope()))
    }

    /// The versions of the files from which [`Tree::learnings`] tells, as far as we wrote them.
    pub async fn learned_from(&self, who: &Party) -> anyhow::Result<Vec<Node>> {
        let mut nodes = Vec::new();
        for path in [CORRECTIONS, ERRORS] {
            let found = self.standing(who, path).await?.filter(|found| found.label.is_trusted());
            nodes.extend(found.and_then(|found| found.row).map(Node::File));
        }
        Ok(nodes)
    }

    /// Whether the file of corrections stands as this answer of the extractor left it: the row of
    /// the version comes before its file, so only both together say that it does.
    async fn holds(&self, origin: &ChangeOrigin) -> anyhow::Result<bool> {
        let Some(found) = self.standing(&origin.who, CORRECTIONS).await? else { return Ok(false) };
        let (row, from) = (found.row, origin.from.clone());
        let grew = move |db: crate::store::Db<'_>| {
            let parents = row.map_or_else(|| Ok(Vec::new()), |row| db.derivations().parents(Node::File(row)))?;
            Ok(!from.is_empty() && from.iter().all(|node| parents.contains(node)))
        };
        self.0.journal.read(grew).await
    }
}

/// The text with that line once more: counted, and the newest. Another answer to the same trouble
/// begins to count anew.
fn counted(text: &str, section: &str, key: &str, says: &str, day: &str) -> String {
    // The line does not hold every sign of it: a star is none there.
    let known = memory_md::facts_in(text, section).into_iter().find(|known| memory_md::is_same_key(&known.key, key));
    let before = known.and_then(|known| count(&known.value, says)).unwrap_or(0);
    let times = wording::agent::times(before + 1);
    let value = if says.is_empty() { times } else { format!("{says} [{times}]") };
    let fact = Fact { key: key.to_owned(), value, day: day.to_owned() };
    let text = memory_md::add_fact(&memory_md::remove_fact(text, section, key), section, &fact, MOST).text;
    // The empty lines that a line leaves behind would pile up.
    format!("{}\n", text.trim_end())
}

/// How often a line says that it happened; `None` if it says something else.
fn count(value: &str, says: &str) -> Option<u64> {
    let rest = value.strip_prefix(says)?.trim();
    let times = if says.is_empty() { rest } else { rest.strip_prefix('[')?.strip_suffix(']')? };
    if times == wording::agent::times(1) { Some(1) } else { times.split(' ').next()?.parse().ok() }
}

/// The newest lines that have room, the newest first; `None` if there are none.
fn newest(mut lines: Vec<Fact>, title: &str, room: usize, path: &str) -> Option<String> {
    lines.reverse();
    lines.sort_by(|one, other| other.day.cmp(&one.day));
    let mut shown = title.to_owned();
    let mut kept = 0;
    // What is said of the rest has its room too.
    let room = room.saturating_sub(says::older(lines.len(), path).chars().count() + 1);
    for line in lines.iter().take(LINES) {
        let line = crate::text::shorten(&format!("- {}: {}, {}", line.key, line.value, line.day), LINE);
        if shown.chars().count() + line.chars().count() + 1 > room {
            break;
        }
        shown.push('\n');
        shown.push_str(&line);
        kept += 1;
    }
    if kept < lines.len() {
        shown.push('\n');
        shown.push_str(&says::older(lines.len() - kept, path));
    }
    (!lines.is_empty()).then_some(shown)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_same_trouble_is_one_line_that_counts() {
        let mut text = says::ERRORS_FILE.to_owned();
        for _ in 0..50 {
            text = counted(&text, FAILED, "web_fetch: failed", "", "2026-11-20");
        }
        assert_eq!(text, format!("{}\n- **web_fetch: failed**: 50 times (2026-11-20)\n", says::ERRORS_FILE));
        let mut text = says::CORRECTIONS_FILE.to_owned();
        for (now, shown) in [("lists", "lists [once]"), ("lists", "lists [2 times]"), ("prose", "prose [once]")] {
            text = counted(&text, RIGHTED, "wrote too much", now, "2026-11-20");
            assert!(text.ends_with(&format!("\n\n- **wrote too much**: {shown} (2026-11-20)\n")), "{text}");
        }
    }

    #[test]
    fn a_correction_is_counted_whatever_signs_it_holds_and_however_long_it_is() {
        let long = "wrong ".repeat(83);
        for was in [
            "* wrong",
            "**bold** words",
            "wrong:",
            " * a * b:: ",
            "Wrong (2026-11-20)",
            long.trim(),
            "ends with a * star *",
        ] {
            let mut text = says::CORRECTIONS_FILE.to_owned();
            for _ in 0..3 {
                text = counted(&text, RIGHTED, was, long.trim(), "2026-11-20");
            }
            let lines: Vec<&str> = text.lines().filter(|line| line.starts_with("- ")).collect();
            assert!(matches!(lines[..], [line] if line.ends_with("[3 times] (2026-11-20)")), "{was}: {text}");
        }
        let (one, other) = (format!("{}left", "same ".repeat(40)), format!("{}right", "same ".repeat(40)));
        let text = counted(says::CORRECTIONS_FILE, RIGHTED, &one, "no", "2026-11-20");
        let text = counted(&text, RIGHTED, &other, "no", "2026-11-20");
        assert_eq!(text.matches("[once]").count(), 2, "Two that begin alike are two: {text}");
    }

    #[test]
    fn what_has_no_room_is_said_and_the_newest_is_shown() {
        let line = |n: usize| Fact {
            key: format!("tool {n}"),
            value: "x".repeat(n % 90),
            day: format!("2026-11-{:02}", n % 28 + 1),
        };
        let shown = newest((0..100).map(line).collect(), "Title", ROOM_ERRORS, ERRORS).unwrap();
        assert!(shown.starts_with("Title\n- tool 83: ") && shown.chars().count() <= ROOM_ERRORS, "{shown}");
        assert!(shown.ends_with("older ones are in learnings/errors.md)"), "{shown}");
        assert_eq!(newest(Vec::new(), "Title", ROOM_ERRORS, ERRORS), None);
    }

    proptest! {
        #[test]
        fn however_much_there_is_each_kind_keeps_to_its_room(lengths in prop::collection::vec(0_usize..400, 1..60)) {
            let lines = lengths.iter().map(|n| Fact { key: "k".repeat(n / 4), value: "é".repeat(*n), day: String::new() });
            let shown = newest(lines.collect(), says::CORRECTED, ROOM_CORRECTIONS, CORRECTIONS).unwrap();
            prop_assert!(shown.chars().count() <= ROOM_CORRECTIONS && shown.lines().count() <= LINES + 2);
        }
    }
}
