//! A conversation in the `conversations.json` of ChatGPT or of Claude.
//!
//! Neither form is documented by its maker, and no real export was at hand. The fields are those
//! that published readers of such exports agree on. ChatGPT, as in `mitkury/chatgpt-export-parser`,
//! `docs/chatgpt-data-export-format.md`: `mapping` holds the nodes of a tree by their id, each with
//! `parent` and `message` (`id`, `author.role`, `create_time` in seconds, `content.parts`), and
//! `current_node` names the newest. Claude: `uuid`, `name` and `chat_messages`, each with `uuid`,
//! `sender` (`human` or `assistant`), `created_at`, and `text` or a list `content` with blocks of
//! `type` `text`.

use std::collections::HashMap;
use std::ops::ControlFlow;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::{ArchiveItem, Chat, Each, SkipReason, from_seconds, title};
use crate::store::ArchiveKind;
use crate::time::Timestamp;
use crate::wording::import as says;

/// Tells the two forms apart.
#[derive(Deserialize)]
struct Form {
    mapping: Option<IgnoredAny>,
    chat_messages: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct Gpt {
    id: Option<String>,
    conversation_id: Option<String>,
    title: Option<String>,
    create_time: Option<f64>,
    current_node: Option<String>,
    mapping: HashMap<String, GptNode>,
}

#[derive(Deserialize)]
struct GptNode {
    parent: Option<String>,
    message: Option<GptMessage>,
}

#[derive(Deserialize)]
struct GptMessage {
    id: Option<String>,
    author: Option<GptAuthor>,
    create_time: Option<f64>,
    content: Option<GptContent>,
    metadata: Option<GptMetadata>,
}

#[derive(Deserialize)]
struct GptAuthor {
    role: Option<String>,
}

#[derive(Deserialize)]
struct GptContent {
    parts: Option<Vec<Value>>,
    text: Option<String>,
}

#[derive(Deserialize)]
struct GptMetadata {
    is_visually_hidden_from_conversation: Option<bool>,
}

#[derive(Deserialize)]
struct Claude {
    uuid: Option<String>,
    name: Option<String>,
    created_at: Option<String>,
    chat_messages: Vec<ClaudeMessage>,
}

#[derive(Deserialize)]
struct ClaudeMessage {
    uuid: Option<String>,
    sender: Option<String>,
    created_at: Option<String>,
    text: Option<String>,
    content: Option<Vec<ClaudeBlock>>,
    attachments: Option<Vec<IgnoredAny>>,
    files: Option<Vec<IgnoredAny>>,
}

#[derive(Deserialize)]
struct ClaudeBlock {
    r#type: Option<String>,
    text: Option<String>,
}

/// Passes on the conversation in a JSON text. Returns the program that it comes from; none if its
/// form is unknown.
pub(super) fn read(json: &str, each: Each<'_>) -> (Option<ArchiveKind>, ControlFlow<()>) {
    let unknown = |each: Each<'_>| each(ArchiveItem::Skipped(SkipReason::Unknown));
    match serde_json::from_str::<Form>(json) {
        Ok(Form { mapping: Some(_), .. }) => match serde_json::from_str::<Gpt>(json) {
            Ok(conversation) => (Some(ArchiveKind::ChatGpt), gpt(&conversation, each)),
            Err(_) => (Some(ArchiveKind::ChatGpt), unknown(each)),
        },
        Ok(Form { chat_messages: Some(_), .. }) => match serde_json::from_str::<Claude>(json) {
            Ok(conversation) => (Some(ArchiveKind::Claude), claude(&conversation, each)),
            Err(_) => (Some(ArchiveKind::Claude), unknown(each)),
        },
        _ => (None, unknown(each)),
    }
}

fn gpt(conversation: &Gpt, each: Each<'_>) -> ControlFlow<()> {
    let of = conversation.conversation_id.as_deref().or(conversation.id.as_deref()).unwrap_or_default();
    let began = conversation.create_time.and_then(from_seconds);
    let mut chat = Chat { title: title(conversation.title.as_deref()), ..Chat::default() };
    let path = current_path(conversation);
    let others = conversation.mapping.values().filter(|node| node.message.as_ref().is_some_and(is_said)).count();
    let mut said = 0;
    for message in path {
        if !is_said(message) {
            let is_empty = gpt_words(message).0.trim().is_empty();
            if !is_empty {
                each(ArchiveItem::Skipped(SkipReason::NotSaid))?;
            }
            continue;
        }
        said += 1;
        let (words, files) = gpt_words(message);
        for _ in 0..files {
            each(ArchiveItem::Skipped(SkipReason::File))?;
        }
        let speaker = if role(message) == "user" { says::USER } else { says::CHATGPT };
        let at = message.create_time.and_then(from_seconds).or(began);
        chat.add(["chatgpt", of, message.id.as_deref().unwrap_or_default()], speaker, at, &words, each)?;
    }
    for _ in said..others {
        each(ArchiveItem::Skipped(SkipReason::OtherVersion))?;
    }
    chat.end(each)
}

/// Messages from the beginning to the current one; all in order of time if none is current.
fn current_path(conversation: &Gpt) -> Vec<&GptMessage> {
    let (mut path, mut next) = (Vec::new(), conversation.current_node.as_deref());
    // A node that is its own ancestor would never end.
    for _ in 0..conversation.mapping.len() {
        let Some(node) = next.and_then(|id| conversation.mapping.get(id)) else { break };
        path.extend(node.message.as_ref());
        next = node.parent.as_deref();
    }
    path.reverse();
    if path.is_empty() {
        path = conversation.mapping.values().filter_map(|node| node.message.as_ref()).collect();
        path.sort_by(|one, other| {
            let at = |message: &GptMessage| message.create_time.unwrap_or_default();
            at(one).total_cmp(&at(other)).then_with(|| one.id.cmp(&other.id))
        });
    }
    path
}

fn role(message: &GptMessage) -> &str {
    message.author.as_ref().and_then(|author| author.role.as_deref()).unwrap_or_default()
}

/// Returns true for what a person or the assistant said, as its window showed it.
fn is_said(message: &GptMessage) -> bool {
    let is_hidden = message.metadata.as_ref().and_then(|data| data.is_visually_hidden_from_conversation);
    matches!(role(message), "user" | "assistant") && is_hidden != Some(true)
}

/// Words of a message, and the number of its files.
fn gpt_words(message: &GptMessage) -> (String, usize) {
    let Some(content) = &message.content else { return (String::new(), 0) };
    let (mut words, mut files) = (Vec::new(), 0);
    for part in content.parts.iter().flatten() {
        match part {
            Value::String(part) => words.push(part.as_str()),
            Value::Object(part) => match part.get("text").and_then(Value::as_str) {
                Some(text) => words.push(text),
                None => files += 1,
            },
            _ => {}
        }
    }
    words.extend(content.text.as_deref());
    (words.join("\n"), files)
}

fn claude(conversation: &Claude, each: Each<'_>) -> ControlFlow<()> {
    let of = conversation.uuid.as_deref().unwrap_or_default();
    let time = |at: &Option<String>| at.as_deref().and_then(Timestamp::of_rfc3339);
    let began = time(&conversation.created_at);
    let mut chat = Chat { title: title(conversation.name.as_deref()), ..Chat::default() };
    for message in &conversation.chat_messages {
        let files = [&message.attachments, &message.files].into_iter().flatten().map(Vec::len).sum();
        for _ in 0..files {
            each(ArchiveItem::Skipped(SkipReason::File))?;
        }
        let speaker = if message.sender.as_deref() == Some("human") { says::USER } else { says::CLAUDE };
        let id = ["claude", of, message.uuid.as_deref().unwrap_or_default()];
        chat.add(id, speaker, time(&message.created_at).or(began), &claude_words(message), each)?;
    }
    chat.end(each)
}

fn claude_words(message: &ClaudeMessage) -> String {
    let blocks = message.content.iter().flatten().filter(|block| block.r#type.as_deref() == Some("text"));
    let words: Vec<&str> = blocks.filter_map(|block| block.text.as_deref()).collect();
    let words = words.join("\n");
    if words.trim().is_empty() { message.text.clone().unwrap_or_default() } else { words }
}
