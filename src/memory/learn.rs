//! Learnings from failed tool calls and from corrections by a person.
//!
//! Each is one line with a counter, so fifty equal failures are one line. The line of a failure
//! contains the tool, our own word for the failure, the count and the last day; never text from
//! outside, so the line is the program's own even if the turn had read untrusted text. Corrections
//! are extracted from what a person typed. Conversations begin with the corrections as plain rules,
//! and with the tools that failed several times. Each kind has a limit of its own: even many
//! failures do not crowd out corrections.

use super::memory_md::{self, Fact};
use super::workspace::{Notes, WriteError, unless_refused_logged};
use super::write::{Author, ChangeOrigin, NewContent, PersonShare};
use crate::people::Party;
use crate::store::{Correction, KnownCorrection, Node};
use crate::time::Timestamp;
use crate::trust::{Label, Labelled};
use crate::wording::{self, agent_memory as says};

const ERRORS: &str = "learnings/errors.md";
pub(super) const CORRECTIONS: &str = "learnings/corrections.md";
/// Headings of the lines.
const FAILED: &str = "Errors";
pub(super) const CORRECTED: &str = "Corrections";
/// Size limit of each file's lines, in bytes; the oldest are dropped.
const MAX_BYTES: usize = 32 * 1024;
/// Number of corrections that fit into an empty note at any length.
const BATCH: usize = 12;
/// Limits in a prompt: lines of each kind, characters of a line, and characters of each kind.
const LINES: usize = 20;
const LINE: usize = 300;
const MOST_OF_RULES: usize = 1_500;
const MOST_OF_CORRECTIONS: usize = 2_000;
const MOST_OF_ERRORS: usize = 1_000;
/// Number of failures from which a tool is named in a prompt.
const REPEATED: u64 = 3;
/// Failures by a tool itself, in words that follow its name.
pub const FAILED_CALL: &str = "failed";
/// The other side of a tool could not be reached.
pub const UNREACHABLE: &str = "could not be reached";
/// The other side of a tool took too long.
pub const TIMED_OUT: &str = "timed out";
const BY_TOOL: [&str; 3] = [FAILED_CALL, UNREACHABLE, TIMED_OUT];

/// Learnings for a prompt, each part with its heading; blank if there are none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Learnings {
    /// Corrections made more than once.
    pub rules: String,
    /// Corrections made once, and tools that failed repeatedly.
    pub lessons: String,
}

impl Notes<'_> {
    /// Records a failed call of that tool; `how` is our own word for the failure.
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
        let origin = ChangeOrigin {
            who: who.clone(),
            label: Label::neutral(),
            author: Author::Program,
            cause: "learned",
            from: Vec::new(),
            person: PersonShare::default(),
            now,
        };
        let (key, day) = (format!("{tool}: {how}"), self.0.zone.day(now));
        let make = move |text: Option<&str>| {
            let text = text.unwrap_or(says::ERRORS_FILE);
            Ok(NewContent::Text(with_count(text, FAILED, &key, "", &day)))
        };
        let changed = self.versions().change(&origin, ERRORS, make).await;
        unless_refused_logged(changed, "A failure of a tool is not written down").map(drop)
    }

    /// Records corrections. Repeating it for the same answer of the extractor changes nothing. If
    /// the file cannot be changed, they go to the note of the month, so nothing is lost and nothing
    /// waits.
    pub async fn store_corrections(&self, origin: &ChangeOrigin, corrections: &[Correction]) -> Result<(), WriteError> {
        if corrections.is_empty() || self.are_stored(origin).await? {
            return Ok(());
        }
        let days = self.days_said(origin, corrections.iter().map(|correction| &*correction.sources)).await?;
        let fact = |(correction, day): (&Correction, String)| Fact {
            key: correction.was.clone(),
            value: correction.now.clone(),
            day,
        };
        let facts: Vec<Fact> = corrections.iter().zip(days).map(fact).collect();
        let counted = facts.clone();
        let make = move |text: Option<&str>| {
            let text = text.unwrap_or(says::CORRECTIONS_FILE).to_owned();
            let add = |text: String, fact: &Fact| with_count(&text, CORRECTED, &fact.key, &fact.value, &fact.day);
            Ok(NewContent::Text(counted.iter().fold(text, add)))
        };
        let changed = self.versions().change(origin, CORRECTIONS, make).await;
        if unless_refused_logged(changed, "What was put right goes to the note of the month")?.is_some() {
            return Ok(());
        }
        for batch in facts.chunks(BATCH) {
            self.write_to_month(origin, batch).await?;
        }
        Ok(())
    }

    /// Returns corrections and repeated failures for the start of a person's conversations, except
    /// corrections made once of which `is_known` says that the prompt states them anyway. Limited
    /// in size.
    pub async fn learnings(
        &self,
        who: &Party,
        is_known: impl Fn(&str) -> bool + Send + Sync,
    ) -> anyhow::Result<Labelled<Learnings>> {
        let mut label = Label::neutral();
        let (mut rules, mut parts) = (String::new(), Vec::new());
        for (path, section) in [(CORRECTIONS, CORRECTED), (ERRORS, FAILED)] {
            // An unreadable file must not prevent an answer.
            let file = self.files().readable(who, path).await.ok().flatten();
            let Some(file) = file.filter(|file| self.1.memory.enabled && file.label.is_trusted()) else { continue };
            let facts = memory_md::facts_in(&file.text, section);
            let block = match path {
                CORRECTIONS => {
                    let (standing, once) = corrections(&facts, &is_known);
                    rules = newest(standing, says::STANDING_RULES, MOST_OF_RULES, path).unwrap_or_default();
                    newest(once, says::CORRECTED, MOST_OF_CORRECTIONS, path)
                }
                _ => newest(repeated_failures(facts), says::FAILED, MOST_OF_ERRORS, path),
            };
            if block.is_some() || (path == CORRECTIONS && !rules.is_empty()) {
                label.absorb(&file.label);
            }
            parts.extend(block);
        }
        Ok(Labelled::new(Learnings { rules, lessons: parts.join("\n\n") }, label, who.scope()))
    }

    /// Returns the file versions behind [`Notes::learnings`], as far as the program wrote them.
    pub async fn learned_from(&self, who: &Party) -> anyhow::Result<Vec<Node>> {
        let mut nodes = Vec::new();
        for path in [CORRECTIONS, ERRORS] {
            let file = self.files().readable(who, path).await?.filter(|file| file.label.is_trusted());
            nodes.extend(file.and_then(|file| file.row).map(Node::File));
        }
        Ok(nodes)
    }

    /// Returns true if this answer of the extractor is already in the file of corrections. The row
    /// of a version precedes its file, so only both together prove it.
    async fn are_stored(&self, origin: &ChangeOrigin) -> anyhow::Result<bool> {
        let Some(file) = self.files().readable(&origin.who, CORRECTIONS).await? else { return Ok(false) };
        let (row, from) = (file.row, origin.from.clone());
        let query = move |db: crate::store::Db<'_>| {
            let parents = row.map_or_else(|| Ok(Vec::new()), |row| db.derivations().parents(Node::File(row)))?;
            Ok(!from.is_empty() && from.iter().all(|node| parents.contains(node)))
        };
        self.0.journal.read(query).await
    }
}

/// Counts that line up and moves it to the end. Another correction of the same mistake restarts the
/// count.
fn with_count(text: &str, section: &str, key: &str, correction: &str, day: &str) -> String {
    // The stored key may lack some characters, such as asterisks.
    let known = memory_md::facts_in(text, section).into_iter().find(|known| memory_md::is_same_key(&known.key, key));
    let before = known.and_then(|known| count(&known.value, correction)).unwrap_or(0);
    let times = wording::agent_memory::times(before + 1);
    let value = if correction.is_empty() { times } else { format!("{correction} [{times}]") };
    let fact = Fact { key: key.to_owned(), value, day: day.to_owned() };
    let text = memory_md::add_fact(&memory_md::remove_fact(text, section, key), section, &fact, MAX_BYTES).text;
    // Otherwise blank lines left by removed lines would pile up.
    format!("{}\n", text.trim_end())
}

/// Returns the count in a line; `None` if it holds another correction.
fn count(value: &str, correction: &str) -> Option<u64> {
    let rest = value.strip_prefix(correction)?.trim();
    parse_times(if correction.is_empty() { rest } else { rest.strip_prefix('[')?.strip_suffix(']')? })
}

/// Returns the corrections in lines of the file, newest first.
pub(super) fn corrections_in(facts: &[Fact]) -> Vec<KnownCorrection> {
    let mut newest: Vec<&Fact> = facts.iter().rev().collect();
    newest.sort_by(|one, other| other.day.cmp(&one.day));
    let correction = |fact: &Fact| {
        let (now, count) = split_count(&fact.value);
        KnownCorrection { was: fact.key.clone(), now: now.to_owned(), count, day: fact.day.clone() }
    };
    newest.into_iter().map(correction).collect()
}

/// Renders corrections for a prompt, newest first: those that were made repeatedly, and those made
/// once that are not known anyway.
fn corrections(facts: &[Fact], is_known: impl Fn(&str) -> bool) -> (Vec<String>, Vec<String>) {
    let known = corrections_in(facts).into_iter().filter(|known| known.count > 1 || !is_known(&known.now));
    let (standing, once): (Vec<_>, Vec<_>) = known.partition(|known| known.count > 1);
    let shown = |known: &KnownCorrection| says::put_right(&known.was, &known.now, known.count, &known.day);
    (standing.iter().map(shown).collect(), once.iter().map(shown).collect())
}

/// Splits the count off the value of a correction; a line without one was made once.
fn split_count(value: &str) -> (&str, u64) {
    let split = value.strip_suffix(']').and_then(|value| value.rsplit_once('['));
    let counted = split.and_then(|(now, times)| Some((now.trim_end(), parse_times(times)?)));
    counted.unwrap_or((value, 1))
}

fn parse_times(times: &str) -> Option<u64> {
    if times == says::times(1) { Some(1) } else { times.strip_suffix(" times")?.parse().ok() }
}

/// Renders the failures that say something about a tool: those by the tool itself, several times. A
/// wrong argument or a refusal is explained in its result.
fn repeated_failures(facts: Vec<Fact>) -> Vec<String> {
    let mut failures: Vec<(String, String, u64, String)> = facts
        .into_iter()
        .rev()
        .filter_map(|fact| {
            let (tool, how) = fact.key.split_once(": ")?;
            let count = parse_times(&fact.value).filter(|count| *count >= REPEATED)?;
            BY_TOOL.contains(&how).then(|| (tool.to_owned(), how.to_owned(), count, fact.day))
        })
        .collect();
    failures.sort_by(|(.., one), (.., other)| other.cmp(one));
    failures.iter().map(|(tool, how, count, day)| says::often_failed(tool, how, *count, day)).collect()
}

/// Returns the first lines that fit; `None` if there are none.
fn newest(lines: Vec<String>, title: &str, most: usize, path: &str) -> Option<String> {
    let mut shown = title.to_owned();
    let mut count_shown = 0;
    // Reserves space for the remark about further lines.
    let most = most.saturating_sub(says::older(lines.len(), path).chars().count() + 1);
    for line in lines.iter().take(LINES) {
        let line = crate::text::shorten(line, LINE);
        if shown.chars().count() + line.chars().count() + 1 > most {
            break;
        }
        shown.push('\n');
        shown.push_str(&line);
        count_shown += 1;
    }
    if count_shown < lines.len() {
        shown.push('\n');
        shown.push_str(&says::older(lines.len() - count_shown, path));
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
            text = with_count(&text, FAILED, "web_fetch: failed", "", "2026-11-20");
        }
        assert_eq!(text, format!("{}\n- **web_fetch: failed**: 50 times (2026-11-20)\n", says::ERRORS_FILE));
        let mut text = says::CORRECTIONS_FILE.to_owned();
        for (now, shown) in [("lists", "lists [once]"), ("lists", "lists [2 times]"), ("prose", "prose [once]")] {
            text = with_count(&text, CORRECTED, "wrote too much", now, "2026-11-20");
            assert!(text.ends_with(&format!("\n\n- **wrote too much**: {shown} (2026-11-20)\n")), "{text}");
        }
    }

    /// Proves: memory/mistakes
    #[test]
    fn a_correction_of_any_length_or_punctuation_is_counted() {
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
                text = with_count(&text, CORRECTED, was, long.trim(), "2026-11-20");
            }
            let lines: Vec<&str> = text.lines().filter(|line| line.starts_with("- ")).collect();
            assert!(matches!(lines[..], [line] if line.ends_with("[3 times] (2026-11-20)")), "{was}: {text}");
        }
        let (one, other) = (format!("{}left", "same ".repeat(40)), format!("{}right", "same ".repeat(40)));
        let text = with_count(says::CORRECTIONS_FILE, CORRECTED, &one, "no", "2026-11-20");
        let text = with_count(&text, CORRECTED, &other, "no", "2026-11-20");
        assert_eq!(text.matches("[once]").count(), 2, "Two that begin alike are two: {text}");
    }

    #[test]
    fn omitted_lines_are_mentioned() {
        let shown = newest((0..100).map(|n| format!("- line {n}")).collect(), "Title", MOST_OF_ERRORS, ERRORS).unwrap();
        assert!(shown.starts_with("Title\n- line 0\n") && shown.chars().count() <= MOST_OF_ERRORS, "{shown}");
        assert!(shown.ends_with("(80 older ones are in learnings/errors.md)"), "{shown}");
        assert_eq!(newest(Vec::new(), "Title", MOST_OF_ERRORS, ERRORS), None);
    }

    /// Promise (memory/plain-rules): What you put right comes back to the assistant as plain rules,
    /// what you said repeatedly first; a tool's failures only if it failed several times.
    #[test]
    fn corrections_are_plain_rules_and_failures_are_named_if_they_repeat() {
        let text = "## Corrections\n\n- **net prices.**: Always give prices with VAT. [once] (2026-11-24)\n\
            - **wrote long**: write short [3 times] (2026-11-20)\n- **said you**: say thou\n\
            - **used miles**: use kilometres [once] (2026-11-25)\n";
        let (standing, once) =
            corrections(&memory_md::facts_in(text, CORRECTED), |now| ["use kilometres", "write short"].contains(&now));
        assert_eq!(standing, ["- write short (before: wrote long; said 3 times, last on 2026-11-20)"]);
        assert_eq!(
            once,
            ["- Always give prices with VAT (before: net prices; said on 2026-11-24)", "- say thou (before: said you)",]
        );
        let text = "## Errors\n\n- **read_file: bad arguments**: 30 times (2026-11-26)\n- **write_file: refused**: 5 times\n\
            - **web_fetch: failed**: 2 times\n- **weather__now: failed**: 4 times (2026-11-26)\n\
            - **web_fetch: timed out**: 3 times (2026-11-25)\n";
        let shown = repeated_failures(memory_md::facts_in(text, FAILED));
        assert_eq!(
            shown,
            [
                "- `weather__now` failed 4 times, last on 2026-11-26",
                "- `web_fetch` timed out 3 times, last on 2026-11-25"
            ]
        );
    }

    proptest! {
        #[test]
        fn however_much_there_is_each_kind_keeps_to_its_room(lengths in prop::collection::vec(0_usize..400, 1..60)) {
            let lines = lengths.iter().map(|n| "é".repeat(*n));
            let shown = newest(lines.collect(), says::CORRECTED, MOST_OF_CORRECTIONS, CORRECTIONS).unwrap();
            prop_assert!(shown.chars().count() <= MOST_OF_CORRECTIONS && shown.lines().count() <= LINES + 4);
        }
    }
}
