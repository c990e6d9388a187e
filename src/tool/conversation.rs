//! `read_conversation` reads a past conversation of the own person or group: its summary and its
//! messages in order, or the messages around one that a search found. It is how a hit is read on.
//! `read_reflection` returns the assistant's reflection on a day, a week or a month.
//!
//! A conversation is read page by page, and a long message in pieces. The result carries the join
//! of the labels of all that it shows, so opening a conversation that read something from outside
//! marks the turn. So does a reflection with a part from outside, which is never given to a model
//! automatically. A message of several lines is indented, so that its text cannot pass for another
//! message. `read_file` reads the same addresses.

use async_trait::async_trait;
use serde_json::json;

use super::{AuthorizableCall, Effects, Egress, Output, Tool, ToolDeclaration, ToolError, argument};
use crate::id::{ConversationId, MessageId, ReflectionId};
use crate::store::{
    Conversation, Db, Journal, MessageKind, Node, ReflectionRow, StoredMessage, StoredText, SummaryContent,
    SummaryInputs, TextKind,
};
use crate::text::{one_line, one_sentence, shorten};
use crate::time::Zone;
use crate::trust::{Label, Scope};
use crate::wording::{self, prompt, search as says, tool};

/// Maximum number of characters of a page.
const PAGE: usize = 10_000;
/// Maximum number of characters of it before the message that was asked for.
const BEFORE: usize = 2_000;
/// Maximum number of characters of one message on a page.
const PIECE: usize = 7_000;
/// Maximum number of characters of a summary.
const SUMMARY: usize = 4_000;
/// Number of reflections named where there is none.
const NEWEST: u32 = 3;

const CONVERSATIONS: &str = "conversations/";
const REFLECTIONS: &str = "reflections/";

/// Address of a text in the journal, as search results name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JournalAddress {
    /// `conversations/12`, `conversations/12:345`.
    Conversation(ConversationId, Option<MessagePlace>),
    /// `reflections/3`, with or without a line.
    Reflection(ReflectionId),
}

/// A message, and the number of its characters to skip: `345`, `345+7000`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MessagePlace {
    message: MessageId,
    skip: usize,
}

impl JournalAddress {
    /// Parses an address; `None` if it is that of a file.
    pub(super) fn parse(path: &str) -> Option<Self> {
        if let Some(number) = path.strip_prefix(REFLECTIONS) {
            let number = number.split_once(':').map_or(number, |(number, _)| number);
            return number.parse().ok().map(|id| Self::Reflection(ReflectionId(id)));
        }
        Self::in_conversation(path.strip_prefix(CONVERSATIONS)?)
    }

    /// Parses `12` or `12:345`.
    fn in_conversation(numbers: &str) -> Option<Self> {
        let (id, place) = numbers.split_once(':').map_or((numbers, None), |(id, place)| (id, Some(place)));
        let place = place.map(MessagePlace::parse);
        if place == Some(None) {
            return None;
        }
        Some(Self::Conversation(ConversationId(id.trim().parse().ok()?), place.flatten()))
    }

    /// Reads the text at the address, within the scope of the call.
    pub(super) async fn read(
        self,
        journal: &Journal,
        home: Zone,
        call: &AuthorizableCall<'_>,
    ) -> Result<Output, ToolError> {
        let (scope, zone) = (call.scope, call.zone(journal, home).await?);
        let read = journal.read_much(move |db| match self {
            Self::Conversation(id, place) => conversation(db, scope, id, place, zone),
            Self::Reflection(id) => reflection(db, scope, id),
        });
        read.await.unwrap_or_else(|error| {
            tracing::warn!("A conversation cannot be read: {error:#}");
            Err(ToolError::Failed(says::CONVERSATION_UNREADABLE.to_owned()))
        })
    }
}

impl MessagePlace {
    fn parse(text: &str) -> Option<Self> {
        let text = text.rsplit_once(':').map_or(text, |(_, message)| message).trim().trim_start_matches('#');
        let (message, skip) = text.split_once('+').unwrap_or((text, "0"));
        Some(Self { message: MessageId(message.parse().ok()?), skip: skip.parse().ok()? })
    }
}

/// The `read_conversation` tool.
#[derive(Debug)]
pub struct ReadConversation {
    journal: Journal,
    zone: Zone,
}

impl ReadConversation {
    /// Creates the tool over this journal; times are displayed in `zone`.
    pub fn new(journal: Journal, zone: Zone) -> Self {
        Self { journal, zone }
    }
}

#[async_trait]
impl Tool for ReadConversation {
    fn declaration(&self) -> ToolDeclaration {
        let properties = json!({ "id": { "type": "string" }, "around": { "type": "string" } });
        ToolDeclaration::reading(argument::spec("read_conversation", says::READ_CONVERSATION, properties, &["id"]))
    }

    async fn run(&self, call: &AuthorizableCall<'_>) -> Result<Output, ToolError> {
        let (id, around) = (call.text("id").trim().trim_start_matches('#'), call.text("around").trim());
        let invalid = |text: &str| ToolError::Arguments(says::bad_address(text));
        let address = JournalAddress::parse(id).or_else(|| JournalAddress::in_conversation(id));
        let address = match address.ok_or_else(|| invalid(id))? {
            JournalAddress::Conversation(id, _) if !around.is_empty() => {
                let place = MessagePlace::parse(around.trim_start_matches(CONVERSATIONS));
                JournalAddress::Conversation(id, Some(place.ok_or_else(|| invalid(around))?))
            }
            address => address,
        };
        address.read(&self.journal, self.zone, call).await
    }
}

/// The `read_reflection` tool.
#[derive(Debug)]
pub struct ReadReflection(Journal);

impl ReadReflection {
    /// Creates the tool over this journal.
    pub fn new(journal: Journal) -> Self {
        Self(journal)
    }
}

#[async_trait]
impl Tool for ReadReflection {
    fn declaration(&self) -> ToolDeclaration {
        let properties = json!({ "period": { "type": "string" } });
        ToolDeclaration {
            spec: argument::spec("read_reflection", tool::READ_REFLECTION, properties, &["period"]),
            effects: Effects::READS_PERSONAL,
            egress: Egress::Inside,
            repeatable: true,
            replaces: false,
        }
    }

    async fn run(&self, call: &AuthorizableCall<'_>) -> Result<Output, ToolError> {
        let (period, scope) = (call.text("period").trim().to_owned(), call.scope);
        let found = self.0.read(move |db| reflection_on(db, scope, &period)).await;
        found.unwrap_or_else(|error| {
            tracing::warn!("A reflection cannot be read: {error:#}");
            Err(ToolError::Failed(tool::REFLECTIONS_UNREADABLE.to_owned()))
        })
    }
}

fn reflection_on(db: Db<'_>, scope: Scope, period: &str) -> anyhow::Result<Result<Output, ToolError>> {
    if let Some(found) = db.reflections().reflection_on(scope, &period.to_uppercase())? {
        return Ok(Ok(reflection_text(db, found)?));
    }
    let newest = db.reflections().reflections(Some(scope), i64::MAX, NEWEST)?;
    let newest: Vec<String> = newest.into_iter().map(|row| row.period).collect();
    Ok(Err(ToolError::Failed(tool::no_reflection(period, &newest))))
}

fn reflection_text(db: Db<'_>, reflection: ReflectionRow) -> anyhow::Result<Output> {
    let mut label = reflection.label;
    let mut words = String::new();
    for text in db.messages().texts_of(reflection.message)? {
        let (part, of, _) = text.text.open();
        label.absorb(of);
        words.push_str(part);
    }
    Ok(Output { text: words, label, from: vec![Node::Message(reflection.message)] })
}

/// Speaker of a message, in a word.
pub(super) fn speaker(db: Db<'_>, message: &StoredMessage) -> anyhow::Result<String> {
    Ok(match (message.kind, message.guest, message.person) {
        (MessageKind::Sent, ..) => match db.sent().sent(message.id)? {
            Some(sent) => says::sent_unasked(&sent.cause.to_string()),
            None => says::THE_ASSISTANT.to_owned(),
        },
        (MessageKind::Reflection, ..) => says::A_REFLECTION.to_owned(),
        (MessageKind::Task, ..) => says::THE_PROGRAM.to_owned(),
        (MessageKind::Imported, ..) => match db.imports().archive_of(message.id)? {
            Some(kind) => wording::import::imported_from(wording::Language::ENGLISH, kind.as_str()),
            None => says::THE_PROGRAM.to_owned(),
        },
        (_, Some(number), _) => prompt::guest(number),
        (_, None, Some(_)) => says::THE_PERSON.to_owned(),
        (_, None, None) => says::THE_ASSISTANT.to_owned(),
    })
}

/// Address of a message, by which it can be read.
pub(super) fn address_of(db: Db<'_>, message: &StoredMessage) -> anyhow::Result<Option<String>> {
    if message.kind == MessageKind::Reflection {
        return Ok(db.reflections().reflection_in(message.id)?.map(|row| format!("{REFLECTIONS}{}", row.id)));
    }
    Ok(message.conversation.map(|id| format!("{CONVERSATIONS}{id}:{}", message.id)))
}

fn reflection(db: Db<'_>, scope: Scope, id: ReflectionId) -> anyhow::Result<Result<Output, ToolError>> {
    let row = db.reflections().reflections(Some(scope), i64::MAX, u32::MAX)?.into_iter().find(|row| row.id == id);
    Ok(match row {
        Some(row) => Ok(reflection_text(db, row)?),
        None => Err(ToolError::Arguments(says::no_such_reflection(id))),
    })
}

/// Text under construction, with the labels and origins of what it shows.
#[derive(Default)]
struct ConversationPage {
    lines: Vec<String>,
    length: usize,
    labels: Vec<Label>,
    from: Vec<Node>,
}

impl ConversationPage {
    fn add(&mut self, line: PageLine) {
        self.length += line.text.chars().count() + 1;
        self.lines.push(line.text);
        self.labels.extend(line.labels);
        self.from.extend(line.from);
    }
}

/// A line of a page.
#[derive(Default)]
struct PageLine {
    text: String,
    labels: Vec<Label>,
    from: Vec<Node>,
}

fn conversation(
    db: Db<'_>,
    scope: Scope,
    id: ConversationId,
    place: Option<MessagePlace>,
    zone: Zone,
) -> anyhow::Result<Result<Output, ToolError>> {
    let found = db.conversations().conversation(id)?.filter(|found| found.scope.equals(scope));
    let messages = db.messages().messages_of(id)?;
    let messages: Vec<StoredMessage> = messages.into_iter().filter(|one| one.kind != MessageKind::Command).collect();
    let (Some(found), Some(first), Some(last)) = (found, messages.first(), messages.last()) else {
        return Ok(Err(ToolError::Arguments(says::no_such_conversation(id))));
    };
    let at = match place {
        None => 0,
        Some(place) => match messages.iter().position(|one| one.id == place.message) {
            Some(at) => at,
            None => return Ok(Err(ToolError::Arguments(says::no_such_message(id, first.id.0, last.id.0)))),
        },
    };
    let mut page = ConversationPage::default();
    page.add(head(db, &found, zone)?);
    if place.is_none()
        && let Some(line) = summary(db, id)?
    {
        page.add(line);
    }
    let skip = place.map_or(0, |place| place.skip);
    let before = if skip > 0 { Vec::new() } else { lines_before(db, &messages, at, zone)? };
    let start = at - before.len();
    before.into_iter().for_each(|line| page.add(line));
    let mut end = at;
    for message in messages.iter().skip(at) {
        let line = message_line(db, message, if end == at { skip } else { 0 }, zone)?;
        if end > at && page.length + line.text.chars().count() > PAGE {
            break;
        }
        page.add(line);
        end += 1;
    }
    let earlier = messages.get(..start).and_then(|before| Some((before.len(), before.last()?.id.0)));
    let later = messages.get(end..).and_then(|after| Some((after.len(), after.first()?.id.0)));
    if earlier.is_some() || later.is_some() {
        page.lines.push(says::more_messages(earlier, later));
    }
    let ConversationPage { lines, labels, from, .. } = page;
    Ok(Ok(Output { text: lines.join("\n"), label: Label::join_of(&labels), from }))
}

/// Returns the messages right before the one at `at` that fit before it.
fn lines_before(db: Db<'_>, messages: &[StoredMessage], at: usize, zone: Zone) -> anyhow::Result<Vec<PageLine>> {
    let (mut lines, mut length) = (Vec::new(), 0);
    for message in messages.iter().take(at).rev() {
        let line = message_line(db, message, 0, zone)?;
        length += line.text.chars().count();
        if length > BEFORE {
            break;
        }
        lines.insert(0, line);
    }
    Ok(lines)
}

fn head(db: Db<'_>, conversation: &Conversation, zone: Zone) -> anyhow::Result<PageLine> {
    let summary = db.summaries().summary_of(conversation.id, SummaryInputs::Trusted)?;
    let (from, to) = (zone.show_short(conversation.opened_at), zone.show_short(conversation.last_at));
    let mut line = PageLine::default();
    let title = summary.map(|summary| {
        let (content, label, _) = summary.content.open();
        line.labels.push(label.clone());
        line.from.push(Node::Summary(summary.id));
        one_line(&content.title)
    });
    line.text = says::conversation(conversation.id, &from, &to, &title.unwrap_or_default());
    Ok(line)
}

/// Returns the fullest summary of a conversation, if it has one.
fn summary(db: Db<'_>, id: ConversationId) -> anyhow::Result<Option<PageLine>> {
    let full = db.summaries().summary_of(id, SummaryInputs::Full)?;
    let summary = match full {
        Some(full) => Some(full),
        None => db.summaries().summary_of(id, SummaryInputs::Trusted)?,
    };
    Ok(summary.map(|summary| {
        let (content, label, _) = summary.content.open();
        let sources = if label.is_trusted() { String::new() } else { label.encode() };
        let text = says::summary(&sources, &shorten(&points(content), SUMMARY));
        PageLine { text, labels: vec![label.clone()], from: vec![Node::Summary(summary.id)] }
    }))
}

/// Points of a summary in one line, by their headings.
pub(super) fn points(content: &SummaryContent) -> String {
    let lists = [
        (prompt::TOPICS, &content.topics),
        (prompt::DECISIONS, &content.decisions),
        (prompt::PREFERENCES, &content.preferences),
        (prompt::PENDING, &content.pending),
    ];
    let filled = lists.into_iter().filter(|(_, points)| !points.is_empty());
    let sentences = filled.map(|(heading, points)| format!("{heading}: {}", one_sentence(points)));
    one_line(&sentences.collect::<Vec<_>>().join(" "))
}

/// Returns the line of a message, from that character on.
fn message_line(db: Db<'_>, message: &StoredMessage, skip: usize, zone: Zone) -> anyhow::Result<PageLine> {
    let (mut words, mut labels) = (Vec::new(), Vec::new());
    for part in db.messages().texts_of(message.id)? {
        labels.push(part.text.label().clone());
        words.extend(part_words(&part));
    }
    let words = if words.is_empty() { says::DELETED.to_owned() } else { words.join("\n") };
    let piece: String = words.chars().skip(skip).take(PIECE).collect();
    let mut text = format!(
        "[{}] {} {}: {}",
        zone.show_short(message.effective_at),
        message.id,
        speaker(db, message)?,
        piece.replace('\n', "\n  ")
    );
    if words.chars().count() > skip.saturating_add(PIECE) {
        text.push_str(&says::more_of_message(&format!("{}+{}", message.id, skip + PIECE)));
    }
    Ok(PageLine { text, labels, from: vec![db.derivations().node_of(message.id)?] })
}

/// Returns a part of a message under its sources; `None` if it is blank.
fn part_words(part: &StoredText) -> Option<String> {
    let (words, label, _) = part.text.open();
    let kind = match part.kind {
        TextKind::Said | TextKind::Agreed => "",
        TextKind::Quote => says::QUOTED,
        TextKind::Transcript => says::SPOKEN,
        TextKind::File => says::FILE,
        TextKind::Edit => says::EDITED,
        TextKind::Carried => says::CARRIED,
        TextKind::ForwardedFrom => says::FORWARDED_FROM,
    };
    let kind = if label.is_trusted() { kind.to_owned() } else { tool::from_outside(kind, &label.encode()) };
    let kind = if kind.is_empty() { kind } else { format!("{} ", kind.trim_start_matches(", ")) };
    (!words.trim().is_empty()).then(|| format!("{kind}{words}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_that_are_sentences_are_joined_with_one_stop() {
        let entries = |all: &[&str]| all.iter().map(|entry| (*entry).to_owned()).collect();
        let content = SummaryContent {
            topics: entries(&["The move.", "An offer"]),
            pending: entries(&["Call the movers."]),
            ..SummaryContent::default()
        };
        assert_eq!(points(&content), "Topics: The move; An offer. Pending: Call the movers.");
    }

    #[test]
    fn addresses_are_those_that_a_search_names() {
        let place = |message, skip| Some(MessagePlace { message: MessageId(message), skip });
        let conversation = |id, place| Some(JournalAddress::Conversation(ConversationId(id), place));
        for (text, address) in [
            ("conversations/12", conversation(12, None)),
            ("conversations/12:345", conversation(12, place(345, 0))),
            ("conversations/12:345+7000", conversation(12, place(345, 7000))),
            ("reflections/3", Some(JournalAddress::Reflection(ReflectionId(3)))),
            ("reflections/3:1", Some(JournalAddress::Reflection(ReflectionId(3)))),
            ("conversations/12:x", None),
            ("conversations/000002.md", None),
            ("reflections/notes.md", None),
            ("memory/nora.md:12", None),
        ] {
            assert_eq!(JournalAddress::parse(text), address, "{text}");
        }
        assert_eq!(JournalAddress::in_conversation("12:345"), conversation(12, place(345, 0)));
        assert_eq!(MessagePlace::parse("12:345+1"), place(345, 1));
        assert_eq!(MessagePlace::parse("#345"), place(345, 0));
        assert_eq!(MessagePlace::parse("the last one"), None);
    }
}
