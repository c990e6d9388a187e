//! The model of the demonstration: the offline model, with scripted replies where a language model
//! would be needed.
//!
//! The replies are in `wording::cli::demo`, word for word. To the rest of the app it is an ordinary
//! model: it sees labelled requests, and its output is handled like that of any other model. It has
//! no other access.

use async_trait::async_trait;
use serde_json::json;

use crate::model::offline::Offline;
use crate::model::{
    Message, Model, ModelError, ModelInfo, Purpose, Reply, Request, RequestPart as Piece, Role, Stop, StreamSink,
    ToolCall, Usage,
};
use crate::wording::cli::demo::{DemoReply, GRAZ_AGAIN, PUT_FORWARD, Proposes, REPLIES, THOUGHTS};

/// The offline model with a script.
pub struct DemoModel(Offline);

impl DemoModel {
    /// Creates the demo model.
    pub fn new() -> Self {
        Self(Offline::new(ModelInfo {
            provider: "offline".to_owned(),
            name: "offline".to_owned(),
            context_window: 16_384,
            max_output: 2_048,
            images: false,
            price: None,
        }))
    }
}

#[async_trait]
impl Model for DemoModel {
    fn info(&self) -> &ModelInfo {
        self.0.info()
    }

    async fn call(&self, request: &Request, live: &dyn StreamSink) -> Result<Reply, ModelError> {
        let scripted = match request.purpose() {
            Purpose::Chat => chat(request),
            Purpose::Reflection => reflection(request).map(|text| (text, None)),
            _ => None,
        };
        let Some((text, call)) = scripted else { return self.0.call(request, live).await };
        live.append(&text);
        let stop = if call.is_none() { Stop::End } else { Stop::Tools };
        let usage = Usage { input: request.estimate_tokens(), cached: 0, output: crate::text::estimate_tokens(&text) };
        Ok(Reply::to(request, &text, call.into_iter().collect(), stop, usage, "offline/script".to_owned()))
    }
}

fn chat(request: &Request) -> Option<(String, Option<ToolCall>)> {
    let asked = newest_text(request, Role::User)?;
    // What the program sent by itself is not what the person says.
    let asked = asked.rsplit("</sent>").next()?;
    let (_, mut part) = *REPLIES.iter().find(|(cue, _)| asked.contains(cue))?;
    // Two scenes make the same request; by the second one a skill exists.
    if asked.contains("Graz") && skills(request).contains("packing") {
        part = GRAZ_AGAIN;
    }
    let answered = request.messages().last().filter(|message| message.role() == Role::Tool);
    let call = |name: &str, arguments: serde_json::Value| ToolCall {
        id: "part".to_owned(),
        name: name.to_owned(),
        arguments: arguments.to_string(),
        extra: String::new(),
    };
    Some(match (part, answered.is_some()) {
        (DemoReply::Says(text) | DemoReply::Loads(text), true) | (DemoReply::Says(text), false) => {
            (text.to_owned(), None)
        }
        (DemoReply::Loads(_), false) => (String::new(), Some(call("load_skill", json!({ "name": "packing" })))),
        (DemoReply::Proposes(content), false) => {
            let files = json!([{ "path": "SKILL.md", "content": content }]);
            let proposal =
                json!({ "name": "packing", "change": "edit", "files": files, "rationale": "You asked for it." });
            (String::new(), Some(call("submit_skill", proposal)))
        }
        (DemoReply::Proposes(_), true) => (PUT_FORWARD.to_owned(), None),
        (DemoReply::Remembers { title, content, .. }, false) => {
            let note = json!({ "title": title, "content": content, "kind": "reference" });
            (String::new(), Some(call("remember", note)))
        }
        (DemoReply::Remembers { says, .. }, true) => (says.to_owned(), None),
    })
}

fn reflection(request: &Request) -> Option<String> {
    let asked = newest_text(request, Role::User)?;
    let thought = THOUGHTS.iter().find(|thought| asked.contains(thought.of))?;
    let action = |proposal: &Proposes| {
        let files = json!([{ "path": "SKILL.md", "content": proposal.content }]);
        json!({ "kind": proposal.kind, "title": proposal.title, "why": thought.pattern, "skill": "packing", "files": files })
    };
    let actions: Vec<_> = thought.proposes.iter().map(action).collect();
    let (title, observation, pattern) = (thought.title, thought.observation, thought.pattern);
    let answer =
        json!({ "title": title, "observations": [observation], "patterns": [pattern], "proposed_actions": actions });
    Some(answer.to_string())
}

/// Returns the text of the newest message with this role.
fn newest_text(request: &Request, role: Role) -> Option<String> {
    request.messages().iter().rev().find(|message| message.role() == role).map(|message| text(message))
}

/// Returns the text before the conversation.
fn skills(request: &Request) -> String {
    let system = request.messages().iter().find(|message| message.role() == Role::System);
    system.map(|message| text(message)).unwrap_or_default()
}

fn text(message: &Message) -> String {
    let texts = message.parts().iter().filter_map(|part| match part.open().0 {
        Piece::Text(text) | Piece::Result { text, .. } => Some(text.to_string()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}
