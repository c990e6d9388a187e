//! Builds prompts block by block, so that consecutive requests share everything up to the newest
//! exchange:
//!
//! 1. the assistant's identity and the rules: a function of the files that they are made from;
//! 2. the opening of the conversation: the last summary and the titles before it;
//! 3. the exchanges so far, append-only;
//! 4. date, memory and today's note, right before the newest message, and only if they changed
//!    since the last copy;
//! 5. the newest message with its time.

use std::sync::Arc;

use crate::config::Placement;
use crate::id::MessageId;
use crate::memory::TurnFiles;
use crate::memory::received_path;
use crate::message::FileKind;
use crate::model::{Message, RequestPart, Role};
use crate::people::Party;
use crate::store::{Attachment, Conversation, Node, StoredMessage, StoredText, TextKind};
use crate::time::{Timestamp, Zone};
use crate::trust::{Label, Labelled, Scope, Text};
use crate::wording::attachments::{self, ReceivedFile};
use crate::wording::{self, prompt};

use super::context_budget::{Block, ContextBudget, truncate_end, truncate_memory, truncate_start};
use super::record::TurnRecord;

/// Usage of MEMORY.md, in per cent, from which the model is told how full the file is.
const NEARLY_FULL: usize = 80;

/// Inputs of a turn, read once at its start: the automatically loaded files and the usable skills.
#[derive(Debug, Clone)]
pub struct TurnContext {
    /// Party of the stream.
    pub party: Party,
    /// Conversation, with its opening.
    pub conversation: Conversation,
    /// Loaded files.
    pub loaded: TurnFiles,
    /// List of skills, one line each.
    pub skills: Text,
    /// Sources of that list.
    pub nodes: Vec<Node>,
}

/// Builds block 1.
pub fn identity(inputs: &TurnContext, agent: &str, budget: &ContextBudget) -> Text {
    let TurnContext { party, loaded, skills, .. } = inputs;
    let mut words = match party {
        Party::One(person) => prompt::rules(agent, &person.name),
        Party::Group(_) => prompt::group_rules(agent),
    };
    let mut label = Label::neutral();
    for (heading, file, block, name) in [
        (prompt::SOUL, &loaded.soul, Block::Soul, "SOUL.md"),
        (prompt::AGENTS, &loaded.agents, Block::Agents, "AGENTS.md"),
        (prompt::USER, &loaded.user, Block::User, "USER.md"),
    ] {
        let (text, of, _) = file.open();
        if !text.trim().is_empty() {
            words.push_str(&format!("\n\n## {heading}\n\n{}", truncate_end(text.trim(), budget.block(block), name)));
            label.absorb(of);
        }
    }
    let (skills, of, _) = skills.open();
    if !skills.is_empty() {
        words.push_str("\n\n");
        words.push_str(skills.trim());
        label.absorb(of);
    }
    Labelled::new(Arc::from(words), label, party.scope())
}

/// Builds block 4.
pub fn dynamic(loaded: &TurnFiles, zone: Zone, now: Timestamp, scope: Scope, budget: &ContextBudget) -> Text {
    let mut words = String::from("<context>\n");
    let mut label = Label::neutral();
    words.push_str(&prompt::today(&zone.show_day(now), zone.name()));
    for (heading, file, block) in
        [(prompt::MEMORY, &loaded.memory, Block::Memory), (prompt::TODAY, &loaded.today, Block::Today)]
    {
        let (text, of, _) = file.open();
        if !text.trim().is_empty() {
            let fitted = match block {
                Block::Memory => truncate_memory(text.trim(), budget.block(block)),
                _ => truncate_start(text.trim(), budget.block(block), prompt::TODAYS_FILE),
            };
            words.push_str(&format!("\n\n## {heading}\n\n{}", defused(&fitted)));
            label.absorb(of);
            if block == Block::Memory && loaded.memory_percent >= NEARLY_FULL {
                words.push_str(&format!("\n\n{}", prompt::nearly_full(loaded.memory_percent)));
            }
        }
    }
    for (heading, block) in [
        (wording::agent_memory::AGENT_MEMORY, &loaded.agent),
        (wording::agent_memory::SUPPLEMENTARY, &loaded.experience),
    ] {
        let (text, of, _) = block.open();
        if !text.is_empty() {
            words.push_str(&format!("\n\n## {heading}\n\n{}", defused(text)));
            label.absorb(of);
        }
    }
    words.push_str("\n</context>");
    Labelled::new(Arc::from(words), label, scope)
}

/// Escapes text so that it cannot close the frame around the context: facts come from a model, and
/// notes from any source.
fn defused(words: &str) -> String {
    crate::text::defuse(words, "context")
}

/// Estimated tokens of these texts together.
pub fn guess(texts: &[&Text]) -> u64 {
    texts.iter().map(|text| crate::text::estimate_tokens(text.open().0)).sum()
}

/// A picture of the newest message, for a model with vision.
#[derive(Debug, Clone)]
pub struct Picture {
    /// MIME type.
    pub mime: Arc<str>,
    /// Image data.
    pub bytes: Arc<[u8]>,
    /// Label of the file.
    pub label: Label,
    /// Message that it came with.
    pub of: MessageId,
}

/// Builds blocks 4 and 5 of a turn as one user message.
pub fn question(record: &TurnRecord, zone: Zone, pictures: &[Picture], placement: Placement) -> Message {
    let scope = record.turn.scope;
    let mut question = Message::new(Role::User);
    for block in [&record.turn.context, &record.turn.recalled] {
        if placement == Placement::Tail && !block.open().0.is_empty() {
            question.push_text(block.clone());
        }
    }
    if !record.reacted.is_empty() {
        // The text quotes the beginnings of messages, so it takes the label of everything that its
        // turn has read.
        let reacted = Arc::from(record.reacted.as_str());
        question.push_text(Labelled::new(reacted, record.turn.label.clone(), scope));
    }
    for message in &record.messages {
        let texts = record.texts.iter().filter(|text| text.message == message.id && text.kind != TextKind::Edit);
        let files = record.attachments.iter().filter(|file| file.message == message.id);
        let speaker = record.speakers.get(&message.id).map(String::as_str);
        for part in message_parts(message, speaker, texts, files, zone, scope) {
            question.push_text(part);
        }
    }
    if record.yes_to.is_some() {
        question.push_text(wording::own(prompt::they_agreed(&zone.show_short(record.turn.claimed_at)), scope));
    }
    let is_gone = |of| record.messages.iter().any(|message| message.id == of && message.gone);
    for picture in pictures.iter().filter(|picture| !is_gone(picture.of)) {
        let part = RequestPart::Image { mime: Arc::clone(&picture.mime), bytes: Arc::clone(&picture.bytes) };
        question.push(Labelled::new(part, picture.label.clone(), scope));
    }
    question
}

fn message_parts<'a>(
    message: &StoredMessage,
    speaker: Option<&str>,
    texts: impl Iterator<Item = &'a StoredText>,
    files: impl Iterator<Item = &'a Attachment>,
    zone: Zone,
    scope: Scope,
) -> Vec<Text> {
    let time = match speaker {
        Some(speaker) => format!("[{}] {speaker}:", zone.show_short(message.effective_at)),
        None => format!("[{}]", zone.show_short(message.effective_at)),
    };
    if message.gone {
        return vec![wording::own(prompt::gone(&time), scope)];
    }
    let mut parts: Vec<Text> = texts.map(|text| framed(text, message, &time)).collect();
    for file in files {
        // The name is the sender's: it travels as labelled text, never as the program's own.
        let words = attachments::received(&ReceivedFile {
            kind: file.remote.kind,
            name: &file.remote.name,
            mime: &file.remote.mime,
            trouble: &file.trouble,
            path: received_path(&file.path),
            text: received_path(&file.text_path),
            is_part: file.is_part,
        });
        parts.push(Labelled::new(Arc::from(format!("{time}\n{words}")), file.label.clone(), scope));
    }
    if parts.is_empty() {
        parts.push(wording::own(prompt::nothing_said(&time), scope));
    }
    parts
}

/// Returns a text with its time and, if a person did not type it, in a frame that says so.
fn framed(text: &StoredText, message: &StoredMessage, time: &str) -> Text {
    let (words, label, scope) = text.text.open();
    let framed = match text.kind {
        TextKind::Said if label.is_trusted() => format!("{time}\n{words}"),
        TextKind::Transcript => format!("{time}\n{}\n{words}", prompt::SPOKEN),
        TextKind::Quote => format!("{time}\n{}", prompt::framed(prompt::QUOTED, label, words)),
        TextKind::File => format!("{time}\n{}", prompt::framed(prompt::FILE, label, words)),
        TextKind::Carried => format!("{time}\n{}", prompt::framed(prompt::CARRIED, label, words)),
        TextKind::Said if message.guest.is_some() => {
            format!("{time}\n{}", prompt::framed(prompt::GUEST_WRITES, label, words))
        }
        TextKind::Said | TextKind::Edit => format!("{time}\n{}", prompt::framed(prompt::PASSED_ON, label, words)),
    };
    Labelled::new(Arc::from(framed), label.clone(), scope)
}

/// Builds the message with the summary of a conversation's older part, framed as reference and not
/// as a request.
pub fn summarised(summary: &Text) -> Message {
    let (words, label, scope) = summary.open();
    let framed = prompt::framed(prompt::OLDER_PART, label, words);
    Message::of(Role::User, Labelled::new(Arc::from(framed), label.clone(), scope))
}

/// Returns true if a file is a picture that a model may see.
pub fn is_picture(file: &Attachment) -> bool {
    file.remote.kind == FileKind::Photo || file.remote.mime.starts_with("image/")
}
