//! Stable local protocol between the gateway's socket and its clients.
//!
//! One JSON object per line, UTF-8, in both directions; `type` is the kind. A connection begins
//! with `hello` (to chat) or `run` (one command). After `hello` the gateway answers `welcome` or
//! `refused`, and from then on each `say` is confirmed by `stored` once it is in the journal. A
//! message may be repeated under its id; it counts once. A rejected line has no effect, and the
//! next one is read as usual. Fields and types are only added: a reader ignores unknown ones. A
//! `grow` is not cleaned, because a sequence may be cut anywhere: clients remove control characters
//! from whole lines; `message` is clean.

use serde::{Deserialize, Serialize};

/// Messages from a client to the gateway.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum FromClient {
    /// Request to chat.
    Hello {
        /// Name of the person; the owner if there is none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        person: Option<String>,
        /// True for one question, after whose answer the client leaves: messages that were not
        /// asked for are not meant for it.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        once: bool,
    },
    /// A chat message.
    Say {
        /// Unique among all messages ever sent here: 1 to 128 visible ASCII characters.
        id: String,
        /// The text.
        text: String,
        /// True if it came through a pipe and was not typed.
        #[serde(default)]
        piped: bool,
        /// Id of the first message of a conversation of its own to which this one belongs, and
        /// which ends with the answer. Without it, the message joins the ongoing conversation.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        thread: Option<String>,
    },
    /// Request to run a command within the gateway.
    Run {
        /// The command and its arguments, without the program's name.
        args: Vec<String>,
        /// True to answer as JSON.
        #[serde(default)]
        json: bool,
    },
}

/// Messages from the gateway to a client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum FromGateway {
    /// The greeting was accepted.
    Welcome {
        /// Name of the person.
        person: String,
        /// Name of the assistant.
        assistant: String,
        /// Address of this client in the journal.
        peer: String,
        /// Model that answers first; missing if the gateway is too old.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
    },
    /// A request or message was rejected.
    Refused {
        /// Sentence for people.
        why: String,
    },
    /// A message is in the journal.
    Stored {
        /// Id of the message.
        id: String,
    },
    /// Next text of a streamed reply.
    Grow {
        /// The new text, as Markdown.
        delta: String,
        /// Ids of the messages it answers; missing if the gateway is too old.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        answers: Option<Vec<String>>,
    },
    /// The text streamed by `grow` is void: the reply begins again.
    Restart,
    /// A complete message, even if `grow` has streamed it.
    Message {
        /// Unique among all outgoing messages.
        id: String,
        /// The text.
        markdown: String,
        /// False if untrusted text or a third party's skill contributed to it; addresses must then
        /// not be hidden behind text.
        trusted: bool,
        /// Ids of the messages it answers, empty if none was asked; missing if the gateway is too
        /// old.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        answers: Option<Vec<String>>,
        /// True if an attached client sent one of those.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        awaited: bool,
        /// True if it says why there is no answer, or why a command was not done.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        unanswered: bool,
    },
    /// A reply is being written; renewed every few seconds.
    Typing,
    /// Output of a command.
    Answer {
        /// Text for standard output, or for standard error if the command failed.
        text: String,
        /// Exit code.
        code: u8,
    },
    /// The gateway closes the connection.
    Bye {
        /// Sentence for people.
        why: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    fn say(id: &str, piped: bool, thread: Option<&str>) -> FromClient {
        FromClient::Say { id: id.into(), text: "hi".into(), piped, thread: thread.map(Into::into) }
    }

    #[test]
    fn the_wire_form_is_a_promise() {
        let lines = [
            (r#"{"type":"hello"}"#, FromClient::Hello { person: None, once: false }),
            (r#"{"type":"hello","person":"ada"}"#, FromClient::Hello { person: Some("ada".into()), once: false }),
            (r#"{"type":"say","id":"1","text":"hi","piped":false}"#, say("1", false, None)),
            (r#"{"type":"say","id":"2","text":"hi","piped":true,"thread":"1"}"#, say("2", true, Some("1"))),
            (
                r#"{"type":"run","args":["status"],"json":true}"#,
                FromClient::Run { args: vec!["status".into()], json: true },
            ),
        ];
        for (line, meant) in lines {
            assert_eq!(serde_json::to_string(&meant).unwrap(), line);
            assert_eq!(serde_json::from_str::<FromClient>(line).unwrap(), meant);
        }
        let message = |answers: Option<Vec<String>>| {
            let awaited = answers.as_ref().is_some_and(|answers| !answers.is_empty());
            FromGateway::Message {
                id: "1".into(),
                markdown: "*hi*".into(),
                trusted: true,
                answers,
                awaited,
                unanswered: false,
            }
        };
        let grow = |answers| FromGateway::Grow { delta: "hi".into(), answers };
        let lines = [
            // Format of gateways older than the `answers` field.
            (r#"{"type":"message","id":"1","markdown":"*hi*","trusted":true}"#, message(None)),
            (r#"{"type":"message","id":"1","markdown":"*hi*","trusted":true,"answers":[]}"#, message(Some(Vec::new()))),
            (
                r#"{"type":"message","id":"1","markdown":"*hi*","trusted":true,"answers":["q"],"awaited":true}"#,
                message(Some(vec!["q".into()])),
            ),
            (r#"{"type":"grow","delta":"hi"}"#, grow(None)),
            (r#"{"type":"grow","delta":"hi","answers":["q"]}"#, grow(Some(vec!["q".into()]))),
        ];
        for (line, meant) in lines {
            assert_eq!(serde_json::to_string(&meant).unwrap(), line);
            assert_eq!(serde_json::from_str::<FromGateway>(line).unwrap(), meant);
        }
        assert_eq!(serde_json::to_string(&FromGateway::Restart).unwrap(), r#"{"type":"restart"}"#);
    }

    #[test]
    fn unknown_fields_are_passed_over() {
        let line = r#"{"type":"say","id":"1","text":"hi","mood":"good"}"#;
        assert_eq!(serde_json::from_str::<FromClient>(line).unwrap(), say("1", false, None));
    }
}
