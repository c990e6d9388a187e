//! Summary of a finished conversation: title, topics, decisions, preferences, pending.
//!
//! The summary is made from the *whole* conversation, in pieces that are joined when it is long,
//! because the latest decisions matter most. The trusted view reads only the trusted projection:
//! the messages that people typed, and the assistant's replies before their turn had read anything
//! untrusted. The model answers in JSON; an answer that cannot be parsed is a failure, never a
//! summary.
//!
//! **Open items** are one list, kept by the program (`store::open_items`). A summary is given what
//! was open before, by number, and says which of it is closed and what is new; what it does not name
//! stays open. A stand-in closes none. A summary that comes so late that the next one was made
//! without it has the next one made again (`store::summaries`).

use std::collections::BTreeSet;
use std::sync::Arc;

use super::transcript::{self, LineKind, LineNumbers, TranscriptLine};
use crate::id::{OpenItemId, SummaryId};
use crate::model::json_answer::{self, AnswerProblem};
use crate::model::offline::extract::{self, LineSpeaker, SpokenLine};
use crate::model::{AnswerFormat, ModelError, Purpose, Reply};
use crate::spend::{ModelPool, Question};
use crate::store::{Conversation, Db, OpenItemChanges, SummaryContent};
use crate::text::{estimate_tokens, without_stop};
use crate::time::Zone;
use crate::trust::{Label, Labelled, Scope, Text};
use crate::wording::prompt;

/// Maximum number of tokens in an answer, and of estimated tokens that one call reads.
pub(super) const MAX_ANSWER: u64 = 2_000;
pub(super) const MOST_READ: u64 = 6_000;
/// Maximum number of entries in each list, and of characters in each entry.
const ENTRIES: usize = 12;
const TITLE: usize = 80;
const ENTRY: usize = 300;
/// Material of a summary.
#[derive(Debug)]
pub struct SummaryMaterial {
    /// Lines of the conversation.
    pub lines: Vec<TranscriptLine>,
    /// Items that were open before it.
    pub open: Labelled<OpenList>,
    /// Owning scope.
    pub scope: Scope,
    /// Time zone of the lines.
    pub zone: Zone,
}

/// The open items while a summary is made: those from before, and those found since.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OpenList {
    before: Vec<KnownItem>,
    changes: OpenItemChanges,
}

/// An item from before.
#[derive(Debug, Clone, PartialEq, Eq)]
struct KnownItem {
    id: OpenItemId,
    words: String,
    day: String,
}

/// A summary, and what it says about the open items.
#[derive(Debug)]
pub struct MadeSummary {
    /// Content, with the words of all items that are open after it.
    pub content: Labelled<SummaryContent>,
    /// Items that it closes and opens.
    pub open: OpenItemChanges,
}

impl OpenList {
    /// Returns a list without items.
    pub fn empty(scope: Scope) -> Labelled<Self> {
        Labelled::new(Self::default(), Label::neutral(), scope)
    }

    /// Returns what was open before a conversation, and the summaries that say so.
    pub fn before(db: Db<'_>, current: &Conversation, zone: Zone) -> anyhow::Result<(Vec<SummaryId>, Labelled<Self>)> {
        let (mut label, mut before, mut said_by) = (Label::neutral(), Vec::new(), BTreeSet::new());
        for item in db.open_items().open_before(current.scope, current.id)? {
            let (words, of, _) = item.text.open();
            label.absorb(of);
            before.push(KnownItem { id: item.id, words: words.to_string(), day: zone.day(item.opened_at) });
            said_by.extend(item.summary);
        }
        let list = Self { before, changes: OpenItemChanges::default() };
        Ok((said_by.into_iter().collect(), Labelled::new(list, label, current.scope)))
    }

    /// Takes over an answer: the numbers of closed items, and the words of new ones.
    fn apply(&mut self, closed: &[i64], new: Vec<String>) {
        let found = self.numbers_of_new().zip(self.changes.new.clone());
        let dropped: Vec<String> =
            found.filter(|(number, _)| closed.contains(number)).map(|(_, words)| words).collect();
        self.changes.new.retain(|words| !dropped.contains(words));
        let known = self.before.iter().map(|item| item.id).filter(|id| closed.contains(&id.0));
        self.changes.closed.extend(known);
        for words in new {
            if !self.words().contains(&words) {
                self.changes.new.push(words);
            }
        }
    }

    /// Returns the words of all that is open.
    fn words(&self) -> Vec<String> {
        self.known().map(|item| item.words.clone()).chain(self.changes.new.iter().cloned()).collect()
    }

    /// Returns the numbered lines that a model is shown.
    fn lines(&self) -> Vec<String> {
        let known = self.known().map(|item| prompt::open_item(item.id.0, &item.words, &item.day));
        let new = self.numbers_of_new().zip(&self.changes.new);
        known.chain(new.map(|(number, words)| prompt::open_item(number, words, ""))).collect()
    }

    fn known(&self) -> impl Iterator<Item = &KnownItem> {
        self.before.iter().filter(|item| !self.changes.closed.contains(&item.id))
    }

    /// Numbers of the items found in earlier pieces, until the journal gives them theirs.
    fn numbers_of_new(&self) -> std::ops::RangeFrom<i64> {
        self.before.iter().map(|item| item.id.0).max().unwrap_or_default() + 1..
    }
}

/// Builds the extractive stand-in without a model: sentences of the person with their dates. What
/// was open before stays open.
pub fn extractive(material: &SummaryMaterial) -> MadeSummary {
    let SummaryMaterial { lines, open, scope, zone } = material;
    let days: Vec<String> = lines.iter().map(|line| zone.day(line.at)).collect();
    let spoken = lines.iter().zip(&days).map(|(line, day)| SpokenLine {
        speaker: if line.by_person && line.kind != LineKind::Quote {
            LineSpeaker::Person
        } else {
            LineSpeaker::Assistant
        },
        day,
        words: line.text.open().0,
    });
    let found = extract::summarise(&spoken.collect::<Vec<_>>());
    let answer = tidy(SummaryAnswer {
        content: SummaryContent {
            title: found.title,
            topics: found.topics,
            decisions: found.decisions,
            preferences: found.preferences,
            pending: Vec::new(),
        },
        closed: Vec::new(),
        new: found.pending,
    });
    let mut list = open.open().0.clone();
    list.apply(&[], answer.new);
    let content = SummaryContent { pending: list.words(), ..answer.content };
    let labels = lines.iter().map(|line| line.text.label());
    let label = Label::join_of(labels.chain([open.label()]));
    MadeSummary { content: Labelled::new(content, label, *scope), open: list.changes }
}

/// Asks a model for the summary, in pieces of about that many estimated tokens if the conversation
/// is long. Each piece is given what is open after the one before. Returns the summary with the
/// model's name.
pub async fn ask(pool: &ModelPool, material: &SummaryMaterial, most: u64) -> Result<(MadeSummary, String), ModelError> {
    let SummaryMaterial { lines, scope, zone, .. } = material;
    let problem = |reply: &Reply| parse(reply.text().open().0).err();
    let (period, mut model) = (transcript::period(lines, *zone), String::new());
    let (mut list, mut label) = (material.open.open().0.clone(), material.open.label().clone());
    let mut parts: Vec<Labelled<SummaryContent>> = Vec::new();
    for piece in transcript::texts(lines, *zone, most, LineNumbers::Absent, *scope) {
        let words = prompt::summary_input(&period, &list.lines(), piece.open().0);
        let input = Labelled::new(Arc::from(words), label.join_with(piece.label()), *scope);
        let (answer, by) = pool.ask_with_correction(question(prompt::SUMMARISE), input, &problem).await?;
        let part = answer_of(&answer)?;
        label.absorb(answer.label());
        list.apply(&part.closed, part.new);
        parts.push(Labelled::new(part.content, answer.label().clone(), *scope));
        model = by;
    }
    while parts.len() > 1 {
        let mut joined = Vec::new();
        for group in groups(&parts, most) {
            let (answer, _) =
                pool.ask_with_correction(question(prompt::JOIN_SUMMARIES), join(group, *scope), &problem).await?;
            joined.push(Labelled::new(answer_of(&answer)?.content, answer.label().clone(), *scope));
        }
        parts = joined;
    }
    let Some(whole) = parts.pop() else { return Err(ModelError::Rejected("nothing was said".to_owned())) };
    let content = SummaryContent { pending: list.words(), ..whole.open().0.clone() };
    // The last input held what is open, with its label.
    let made = MadeSummary { content: Labelled::new(content, whole.label().clone(), *scope), open: list.changes };
    Ok((made, model))
}

/// JSON Schema of a summary.
const SCHEMA: &str = r#"{"type": "object", "properties": {
  "title": {"type": "string"}, "topics": {"type": "array", "items": {"type": "string"}},
  "decisions": {"type": "array", "items": {"type": "string"}},
  "preferences": {"type": "array", "items": {"type": "string"}},
  "closed": {"type": "array", "items": {"type": "integer"}},
  "new": {"type": "array", "items": {"type": "string"}}},
  "required": ["title", "topics", "decisions", "preferences", "closed", "new"], "additionalProperties": false}"#;

fn question(instruction: &'static str) -> Question {
    Question { purpose: Purpose::Summary, format: AnswerFormat::Json(SCHEMA), max_output: MAX_ANSWER, instruction }
}

fn answer_of(answer: &Text) -> Result<SummaryAnswer, ModelError> {
    parse(answer.open().0).map_err(ModelError::Unusable)
}

/// Groups of consecutive summaries, at least two in each but the last, that are joined in one call.
fn groups(parts: &[Labelled<SummaryContent>], most: u64) -> Vec<&[Labelled<SummaryContent>]> {
    let (mut groups, mut rest) = (Vec::new(), parts);
    while !rest.is_empty() {
        let (mut count, mut tokens) = (0, 0);
        for part in rest {
            tokens += estimate_tokens(&as_json(part));
            if count >= 2 && tokens > most {
                break;
            }
            count += 1;
        }
        let (group, others) = rest.split_at(count);
        groups.push(group);
        rest = others;
    }
    groups
}

fn join(parts: &[Labelled<SummaryContent>], scope: Scope) -> Text {
    let words: Vec<String> = parts.iter().map(as_json).collect();
    let label = Label::join_of(parts.iter().map(|part| part.label()));
    Labelled::new(Arc::from(prompt::transcript(&words.join("\n\n"))), label, scope)
}

fn as_json(part: &Labelled<SummaryContent>) -> String {
    serde_json::to_string(part.open().0).unwrap_or_default()
}

/// Keys of a summary. `pending` is another word for what is new.
const KEYS: &[&str] = &["title", "topics", "decisions", "preferences", "closed", "new", "pending"];

/// A model's summary.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SummaryAnswer {
    /// Content, without open items.
    pub content: SummaryContent,
    /// Numbers of closed items.
    pub closed: Vec<i64>,
    /// Words of new items.
    pub new: Vec<String>,
}

/// Reads the summary in a model's answer. One without a title is called by its first entry.
///
/// # Errors
/// If the answer holds no summary.
pub fn parse(answer: &str) -> Result<SummaryAnswer, AnswerProblem> {
    let fields = json_answer::object(answer, KEYS)?;
    let list = |key| json_answer::strings(&fields, key);
    let number = |item: serde_json::Value| item.as_i64().or_else(|| item.as_str()?.trim().parse().ok());
    let mut answer = tidy(SummaryAnswer {
        content: SummaryContent {
            title: json_answer::string(&fields, "title"),
            topics: list("topics"),
            decisions: list("decisions"),
            preferences: list("preferences"),
            pending: Vec::new(),
        },
        closed: json_answer::items(&fields, "closed").into_iter().filter_map(number).collect(),
        new: list("new").into_iter().chain(list("pending")).collect(),
    });
    let content = &mut answer.content;
    if content.title.is_empty() {
        let lists = [&content.topics, &content.decisions, &answer.new, &content.preferences];
        let first = lists.into_iter().flatten().next().ok_or(AnswerProblem::OtherKeys)?;
        content.title = crate::text::shorten(first, TITLE);
    }
    Ok(answer)
}

/// Bounds the model's output: one line per entry, a bounded number of entries.
fn tidy(answer: SummaryAnswer) -> SummaryAnswer {
    let entries = |all: Vec<String>| -> Vec<String> {
        let entries = all.into_iter().map(|entry| crate::text::shorten(&crate::text::one_line(&entry), ENTRY));
        let mut seen = BTreeSet::new();
        entries.filter(|entry| !entry.is_empty() && seen.insert(entry.clone())).take(ENTRIES).collect()
    };
    let content = answer.content;
    SummaryAnswer {
        content: SummaryContent {
            title: crate::text::shorten(&crate::text::one_line(&content.title), TITLE),
            topics: entries(content.topics),
            decisions: entries(content.decisions),
            preferences: entries(content.preferences),
            pending: Vec::new(),
        },
        closed: answer.closed,
        new: entries(answer.new),
    }
}

/// Renders a summary as text for prompts.
pub fn written(summary: &SummaryContent) -> String {
    let mut words = format!("{}\n{}", summary.title, lists(summary));
    if !summary.pending.is_empty() {
        words.push_str(&format!("\n{}:\n- {}", prompt::PENDING, summary.pending.join("\n- ")));
    }
    words.trim().to_owned()
}

/// Renders the lists of a summary but for the open items, which have a place of their own.
pub fn lists(summary: &SummaryContent) -> String {
    let mut words = String::new();
    for (heading, entries) in [
        (prompt::TOPICS, &summary.topics),
        (prompt::DECISIONS, &summary.decisions),
        (prompt::PREFERENCES, &summary.preferences),
    ] {
        if !entries.is_empty() {
            words.push_str(&format!("\n{heading}:\n- {}", entries.join("\n- ")));
        }
    }
    words
}

/// Renders what mattered most in one line of whole entries, decisions before preferences before
/// topics; `None` if there is nothing.
pub fn in_one_line(summary: &SummaryContent, most: usize) -> Option<String> {
    let mut line = String::new();
    for entry in [&summary.decisions, &summary.preferences, &summary.topics].into_iter().flatten() {
        if line.is_empty() {
            line = crate::text::shorten(entry, most);
        } else if line.chars().count() + entry.chars().count() < most {
            line = format!("{}; {}", without_stop(&line), without_stop(entry));
        }
    }
    (!line.is_empty()).then_some(line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::json_answer::grammar;
    use proptest::prelude::*;

    #[test]
    fn a_summary_is_read_whatever_stands_around_it() {
        let fenced =
            "```json\n{\"title\": \"Oslo trip\", \"topics\": [\"flights\"], \"pending\": [\"book\\n it\"]}\n```";
        let summary = parse(fenced).unwrap();
        assert_eq!(
            (summary.content.title.as_str(), summary.new.as_slice()),
            ("Oslo trip", ["book it".to_owned()].as_slice())
        );
        let named = parse("{\"topics\": \"tea\", \"new\": null}").unwrap();
        assert_eq!(named.content.title, "tea", "the first entry names it");
        let closed = parse("{\"title\": \"x\", \"closed\": [3, \" 4 \", \"all\", null, 5.5]}").unwrap();
        assert_eq!(closed.closed, [3, 4]);
        for broken in ["", "Sure!", "{}", "{\"title\": \"x\"", "}{", "{\"title\": \" \", \"topics\": [{}]}"] {
            assert!(parse(broken).is_err(), "{broken}");
        }
    }

    /// Promise (memory/open-items-stay): What a summary does not say about an open item leaves it open.
    #[test]
    fn an_item_closes_only_by_its_number() {
        let item =
            |id: i64, words: &str| KnownItem { id: OpenItemId(id), words: words.to_owned(), day: "d".to_owned() };
        let mut list = OpenList { before: vec![item(3, "buy paint"), item(7, "call Ben")], ..OpenList::default() };
        list.apply(&[], vec!["order boxes".to_owned(), "buy paint".to_owned()]);
        assert_eq!(list.words(), ["buy paint", "call Ben", "order boxes"], "known words are no new item");
        assert_eq!(list.lines(), ["3. buy paint (since d)", "7. call Ben (since d)", "8. order boxes"]);
        list.apply(&[7, 8, 99], vec!["send the form".to_owned()]);
        assert_eq!(list.words(), ["buy paint", "send the form"], "also one of an earlier piece");
        assert_eq!(list.changes.closed, [OpenItemId(7)].into());
    }

    #[test]
    fn what_mattered_most_is_one_line_without_double_stops() {
        let decisions = ["Movers come at 07:30.", "The flat is ours."].map(str::to_owned).to_vec();
        let content = SummaryContent { decisions, ..SummaryContent::default() };
        assert_eq!(in_one_line(&content, 200).as_deref(), Some("Movers come at 07:30; The flat is ours"));
    }

    proptest! {
        #[test]
        fn every_summary_is_in_one_group(lengths in prop::collection::vec(0_usize..2_000, 2..20), most in 100_u64..3_000) {
            let part = |n: &usize| {
                let content = SummaryContent { title: "word ".repeat(*n), ..SummaryContent::default() };
                Labelled::new(content, Label::trusted(), Scope::Shared)
            };
            let parts: Vec<_> = lengths.iter().map(part).collect();
            let groups = groups(&parts, most);
            prop_assert_eq!(groups.concat().len(), parts.len());
            prop_assert!(groups.len() < parts.len());
        }

        #[test]
        fn a_complete_summary_is_always_understood((before, after) in grammar::around(), bad in "(null|\\{\\}|\\[\\])") {
            let answer = format!("{before}{{\"title\": \"Oslo\", \"topics\": [{bad}, \"flights\"], \"pending\": {bad}}}{after}");
            let summary = parse(&answer).unwrap().content;
            prop_assert_eq!((summary.title.as_str(), summary.topics), ("Oslo", vec!["flights".to_owned()]), "{}", answer);
        }

        #[test]
        fn no_answer_of_a_model_breaks_the_reader(answer in "(?s).{0,200}") {
            let _ = parse(&answer);
        }
    }
}
