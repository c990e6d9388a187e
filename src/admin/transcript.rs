//! The transcript of a conversation: for a program, and as Markdown that can stand alone.
//!
//! Every line of an untrusted text is quoted, so it cannot pass for a line of the transcript.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::answer::{ShownLabel, join, plain, sources, sources_in_words};
use super::conversations::{ConversationItem, describe};
use super::status::ConversationEnds;
use crate::engine::history::speaker;
use crate::id::{ConversationId, MessageId, PersonId};
use crate::store::{Attachment, Db, StoredMessage, StoredText, SummaryContent, TextKind, TurnRow};
use crate::text::shorten;
use crate::time::Zone;
use crate::trust::Label;
use crate::wording::{command as says, prompt, upkeep};

/// Maximum number of characters shown of a file's text.
const FILE: usize = 2_000;

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
