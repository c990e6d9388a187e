//! Translates a request into the library's types: a pure function.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use genai::chat::{
    Binary, CacheControl, ChatMessage, ChatRequest, ChatRole, ContentPart, MessageContent, Tool, ToolCall, ToolResponse,
};

use crate::model::request::{Request, RequestPart, Role, ToolSpec};
use crate::model::turns::{self, Turn};

/// Builds the library's request for one call.
pub(super) fn of(request: &Request) -> ChatRequest {
    let messages: Vec<ChatMessage> = turns::of(request).iter().flat_map(messages).collect();
    let asked = ChatRequest::from_messages(messages);
    if request.tools().is_empty() { asked } else { asked.with_tools(request.tools().iter().map(tool)) }
}

/// Converts a turn into one message, or into several if it contains cache marks, because a mark
/// counts at the end of a message.
fn messages(turn: &Turn<'_>) -> Vec<ChatMessage> {
    let mut messages = Vec::new();
    for stretch in turn.parts.split_inclusive(|placed| placed.marked) {
        let content: Vec<ContentPart> = stretch.iter().map(|placed| part(placed.part)).collect();
        let message = ChatMessage::new(role(turn.role), MessageContent::from_parts(content));
        let marked = stretch.last().is_some_and(|placed| placed.marked);
        messages.push(if marked { message.with_options(CacheControl::Ephemeral) } else { message });
    }
    messages
}

fn role(role: Role) -> ChatRole {
    match role {
        Role::System => ChatRole::System,
        Role::User => ChatRole::User,
        Role::Assistant => ChatRole::Assistant,
        Role::Tool => ChatRole::Tool,
    }
}

fn part(part: &RequestPart) -> ContentPart {
    match part {
        RequestPart::Text(text) => ContentPart::Text(text.to_string()),
        RequestPart::Image { mime, bytes } => {
            ContentPart::Binary(Binary::from_base64(mime.to_string(), STANDARD.encode(bytes), None))
        }
        RequestPart::Call { id, name, arguments, extra } => ContentPart::ToolCall(ToolCall {
            call_id: id.to_string(),
            fn_name: name.to_string(),
            fn_arguments: turns::arguments(arguments).into(),
            // Extra data of another wire is not a list of signatures and is dropped.
            thought_signatures: serde_json::from_str(extra).ok(),
        }),
        RequestPart::Result { id, name, text } => ContentPart::ToolResponse(
            ToolResponse::new(id.to_string(), text.to_string()).with_fn_name(name.to_string()),
        ),
    }
}

fn tool(spec: &ToolSpec) -> Tool {
    Tool::new(spec.name.as_str()).with_description(spec.description.as_str()).with_schema(spec.schema.clone())
}
