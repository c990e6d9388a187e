//! The transcript of a conversation: for a program, and as Markdown that can stand alone.
//!
//! Every line of an untrusted text is quoted, so it cannot pass for a line of the transcript.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::answer::{ShownLabel, join, plain, sources, sources_in_words};
use super::status::ConversationEnds;
use crate::engine::record::speaker;
use crate::id::{ConversationId, MessageId, PersonId};
use crate::store::{
    Attachment, Conversation, Db, MessageKind, StoredMessage, StoredText, SummaryContent, SummaryInputs, TextKind,
    TurnRow,
};
use crate::text::{one_line, shorten};
use crate::time::{Timestamp, Zone};
use crate::trust::{Label, Labelled};
use crate::wording::{command as says, prompt, upkeep};

/// Maximum number of characters shown of a file's text.
const FILE: usize = 2_000;

/// Maximum number of characters of a first message that serves as a title.
const TITLE: usize = 60;

/// A conversation, as listed.
pub(super) struct ConversationItem {
    pub(super) conversation: Conversation,
    pub(super) person: String,
    pub(super) ended_at: Option<Timestamp>,
    pub(super) title: Option<Labelled<String>>,
    pub(super) summary: Option<Labelled<SummaryContent>>,
    /// The join of the labels of everything that contributed.
    pub(super) label: Label,
}

/// A conversation with its messages and turns.
pub(super) struct FullConversation {
    pub(super) told: ConversationItem,
    entries: Vec<TranscriptEntry>,
    turns: Vec<TurnRow>,
}

/// A message with its parts.
struct TranscriptEntry {
    message: StoredMessage,
    /// The author, unless it is the assistant.
    speaker: Option<String>,
    texts: Vec<StoredText>,
    files: Vec<Attachment>,
    label: Label,
}

pub(super) fn describe(
    db: Db<'_>,
    conversation: Conversation,
    ends: ConversationEnds,
) -> anyhow::Result<ConversationItem> {
    let id = conversation.id;
    Ok(ConversationItem {
        person: person_of(db, &conversation)?,
        ended_at: ends.of(&conversation),
        title: title_of(db, id)?,
        summary: summary_of(db, id)?,
        label: label_of(db, id)?,
        conversation,
    })
}

/// The name of the conversation's person or group.
fn person_of(db: Db<'_>, conversation: &Conversation) -> anyhow::Result<String> {
    if let Some((_, group)) = db.groups().group_of(conversation.stream)? {
        return Ok(says::group(&group));
    }
    let streams = db.conversations().streams()?;
    let person =
        streams.into_iter().find(|(stream, ..)| *stream == conversation.stream).and_then(|(_, person, _)| person);
    let person = person.map_or_else(|| db.conversations().works_for(conversation.stream), |person| Ok(Some(person)))?;
    let person = person.map_or(Ok(None), |person| db.people().person(person))?;
    Ok(person.map_or_else(|| says::REMOVED_PERSON.to_owned(), |person| person.name))
}

/// The summary: the trusted view unless it is missing, else the full one.
fn summary_of(db: Db<'_>, id: ConversationId) -> anyhow::Result<Option<Labelled<SummaryContent>>> {
    for view in [SummaryInputs::Trusted, SummaryInputs::Full] {
        if let Some(summary) = db.summaries().summary_of(id, view)? {
            return Ok(Some(summary.content));
        }
    }
    Ok(None)
}

/// The title of the summary, or else the person's first message.
pub(super) fn title_of(db: Db<'_>, id: ConversationId) -> anyhow::Result<Option<Labelled<String>>> {
    if let Some(summary) = summary_of(db, id)? {
        return Ok(Some(with(&summary, |content| content.title.clone())));
    }
    let asks = |kind| matches!(kind, MessageKind::Said | MessageKind::Task);
    let Some(first) = db.messages().messages_of(id)?.into_iter().find(|message| asks(message.kind)) else {
        return Ok(None);
    };
    let texts = db.messages().texts_of(first.id)?;
    let text = texts.iter().find(|text| text.kind == TextKind::Said);
    Ok(text.map(|text| with(&text.text, |words| shorten(&one_line(words), TITLE))))
}

/// Derives a value from a labelled one, under the same label and scope.
fn with<T, U>(from: &Labelled<T>, make: impl FnOnce(&T) -> U) -> Labelled<U> {
    let made = make(ShownLabel::nothing().words(from));
    Labelled::new(made, from.label().clone(), from.scope())
}

fn label_of(db: Db<'_>, id: ConversationId) -> anyhow::Result<Label> {
    let (texts, turns) = (db.messages().texts_of_conversation(id)?, db.turns().past_turns(id)?);
    let labels = texts.iter().map(|text| text.text.label()).chain(turns.iter().map(|turn| &turn.label));
    Ok(super::answer::join(labels))
}

/// Reads a conversation; `None` if it does not exist, or is not that person's.
pub(super) fn read(
    db: Db<'_>,
    id: ConversationId,
    only: Option<PersonId>,
    ends: ConversationEnds,
) -> anyhow::Result<Option<FullConversation>> {
    let Some(conversation) = db.conversations().conversation(id)? else { return Ok(None) };
    if let Some(person) = only
        && db.conversations().stream_of(person)? != Some(conversation.stream)
    {
        return Ok(None);
    }
    let mut texts: HashMap<MessageId, Vec<StoredText>> = HashMap::new();
    for text in db.messages().texts_of_conversation(id)? {
        texts.entry(text.message).or_default().push(text);
    }
    let mut entries = Vec::new();
    for message in db.messages().messages_of(id)? {
        let (texts, files) =
            (texts.remove(&message.id).unwrap_or_default(), db.attachments().attachments_of(message.id)?);
        let label = join(texts.iter().map(|text| text.text.label()).chain(files.iter().map(|file| &file.label)));
        let speaker = speaker(db, &message)?;
        entries.push(TranscriptEntry { message, speaker, texts, files, label });
    }
    let turns = db.turns().past_turns(id)?;
    Ok(Some(FullConversation { told: describe(db, conversation, ends)?, entries, turns }))
}

/// The messages, with the fields that `conversations show` promises.
pub(super) fn messages_json(whole: &FullConversation, agent: &str, shown: &mut ShownLabel) -> Value {
    let one = |entry: &TranscriptEntry| {
        json!({
            "id": entry.message.id,
            "at": entry.message.effective_at.rfc3339(),
            "from": entry.from(whole, agent),
            "text": entry.words(shown),
            "tainted": !entry.label.is_trusted(),
            "sources": sources(&entry.label),
        })
    };
    whole.entries.iter().map(one).collect()
}

/// The finished turns.
pub(super) fn turns_json(whole: &FullConversation) -> Value {
    let one = |turn: &TurnRow| {
        json!({
            "id": turn.id,
            "state": turn.state.as_str(),
            "began_at": turn.claimed_at.rfc3339(),
            "tainted": !turn.label.is_trusted(),
            "sources": sources(&turn.label),
        })
    };
    whole.turns.iter().map(one).collect()
}

/// The whole conversation for a person.
pub(super) fn markdown(whole: &FullConversation, agent: &str, zone: Zone, shown: &mut ShownLabel) -> String {
    let told = &whole.told;
    let title = plain(told.title.as_ref().map(|title| shown.words(title).as_str()).unwrap_or_default());
    let opened = zone.show(told.conversation.opened_at);
    let ended = told.ended_at.map(|at| zone.show_short(at));
    let facts = says::conversation_facts(
        &told.person,
        told.conversation.messages,
        ended.as_deref(),
        &sources_in_words(&told.label),
    );
    let mut blocks = vec![says::transcript_head(told.conversation.id, &title, &opened, &facts)];
    blocks.extend(told.summary.as_ref().map(|summary| summary_markdown(shown.words(summary))));
    for entry in &whole.entries {
        let at = zone.show_short(entry.message.effective_at);
        let head = says::hit(&at, entry.from(whole, agent), &sources_in_words(&entry.label));
        let words = entry.words(shown);
        let words = if entry.label.is_trusted() { words } else { quoted(&words) };
        blocks.push(format!("{head}\n\n{words}"));
    }
    blocks.join("\n\n")
}

impl TranscriptEntry {
    fn from<'a>(&'a self, whole: &'a FullConversation, agent: &'a str) -> &'a str {
        match &self.speaker {
            Some(speaker) => speaker,
            None if self.message.person.is_some() => &whole.told.person,
            None => agent,
        }
    }

    /// All text of the message, in order.
    fn words(&self, shown: &mut ShownLabel) -> String {
        if self.message.gone {
            return upkeep::GONE.to_owned();
        }
        let texts = self.texts.iter().map(|text| {
            let words = shown.words(&text.text);
            match text.kind {
                _ if words.is_empty() => upkeep::FORGOTTEN.to_owned(),
                TextKind::Said | TextKind::Transcript => words.to_string(),
                TextKind::Quote | TextKind::Carried => quoted(words),
                TextKind::File => quoted(&shorten(words, FILE)),
                TextKind::Edit => says::edited(words),
            }
        });
        let mut words: Vec<String> = texts.collect();
        for file in &self.files {
            shown.also(&file.label);
            words.push(says::attached(file.remote.kind, &plain(&file.remote.name)));
        }
        words.join("\n\n")
    }
}

fn summary_markdown(summary: &SummaryContent) -> String {
    let lists = [
        (prompt::TOPICS, &summary.topics),
        (prompt::DECISIONS, &summary.decisions),
        (prompt::PREFERENCES, &summary.preferences),
        (prompt::PENDING, &summary.pending),
    ];
    let one = |(heading, entries): (&str, &Vec<String>)| {
        let lines: Vec<String> = entries.iter().map(|entry| format!("- {}", plain(entry))).collect();
        format!("**{heading}**\n{}", lines.join("\n"))
    };
    lists.into_iter().filter(|(_, entries)| !entries.is_empty()).map(one).collect::<Vec<_>>().join("\n\n")
}

fn quoted(words: &str) -> String {
    words.lines().map(|line| format!("> {line}")).collect::<Vec<_>>().join("\n")
}
