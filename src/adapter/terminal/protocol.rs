//! The stable local protocol: what a client of the gateway's socket and the gateway say to each other.
//!
//! One JSON object per line, UTF-8, in both directions; `type` says which. A connection begins with `hello`
//! (to talk) or `run` (one command of the command line). After `hello` the gateway answers `welcome` or
//! `refused`, and from then on each `say` that is in the journal is confirmed by `stored`. A message may be
//! said again under its id; it counts once. A line that is refused changes nothing, and the next one is read
//! as if it had not been there. Fields and types are only added: a reader passes over what it does not know.
//! Nothing is cleaned in `grow`, because a sequence may be cut anywhere: whoever shows it takes control
//! characters out of whole lines; `message` is clean.

use serde::{Deserialize, Serialize};

/// From a client to the gateway.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum FromClient {
    /// Somebody wants to talk.
    Hello {
        /// As whom; the owner if nobody is named.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        person: Option<String>,
    },
    /// Says something.
    Say {
        /// Unique among all messages ever said here: 1 to 128 visible ASCII characters.
        id: String,
        /// What is said.
        text: String,
        /// Whether it came through a pipe, and nobody typed it.
        #[serde(default)]
        piped: bool,
    },
    /// Runs a command of the command line within the gateway.
    Run {
        /// The command and its arguments, without the program's name.
        args: Vec<String>,
        /// Whether to answer as JSON.
        #[serde(default)]
        json: bool,
    },
}

/// From the gateway to a client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum FromGateway {
    /// The greeting was accepted.
    Welcome {
        /// The name of the person who speaks.
        person: String,
        /// The name of the assistant.
        assistant: String,
        /// How the journal names this place.
        peer: String,
    },
    /// Something was not taken.
    Refused {
        /// A sentence for a person.
        why: String,
    },
    /// A message is in the journal.
    Stored {
        /// Its id.
        id: String,
    },
    /// An answer grows.
    Grow {
        /// What comes next, as Markdown.
        delta: String,
        /// The ids of what it answers; missing if the gateway is too old to say.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        answers: Option<Vec<String>>,
    },
    /// What was shown by `grow` is void: the answer begins again.
    Restart,
    /// A whole message, also if it was shown by `grow` before.
    Message {
        /// Unique among all messages that went out.
        id: String,
        /// Its text.
        markdown: String,
        /// Whether neither untrusted text nor a skill of somebody else had a part in it; if not, addresses are not to be hidden behind words.
        trusted: bool,
        /// The ids of what it answers, none if nobody asked for it; missing if the gateway is too old to say.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        answers: Option<Vec<String>>,
        /// Whether a client that is here now said one of those.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        awaited: bool,
    },
    /// An answer is on its way; renewed every few seconds.
    Typing,
    /// What a command printed.
    Answer {
        /// For standard output, or for standard error if the command failed.
        text: String,
        /// The exit code.
        code: u8,
    },
    /// The gateway ends the connection.
    Bye {
        /// A sentence for a person.
        why: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wire_form_is_a_promise() {
        let lines = [
            (r#"{"type":"hello"}"#, FromClient::Hello { person: None }),
            (r#"{"type":"hello","person":"ada"}"#, FromClient::Hello { person: Some("ada".into()) }),
            (
                r#"{"type":"say","id":"1","text":"hi","piped":false}"#,
                FromClient::Say { id: "1".into(), text: "hi".into(), piped: false },
            ),
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
            FromGateway::Message { id: "1".into(), markdown: "*hi*".into(), trusted: true, answers, awaited }
        };
        let grow = |answers| FromGateway::Grow { delta: "hi".into(), answers };
        let lines = [
            // What gateways said before they told what they answer.
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
        let meant = FromClient::Say { id: "1".into(), text: "hi".into(), piped: false };
        assert_eq!(serde_json::from_str::<FromClient>(line).unwrap(), meant);
    }
}
