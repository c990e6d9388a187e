//! Stored forms of the terminal: the raw item of a message, and the rich form of a part.
//!
//! Both are JSON of our own, because both may outlive the process that wrote them. `parse` is pure
//! and total.

use serde::{Deserialize, Serialize};

use crate::adapter::{OutgoingPart, PartFormat, Unreadable, with_commands};
use crate::markdown;
use crate::message::{ChatKind, Event, Inbound, MessageContent, Outbound, TextOrigin};

/// A message in the inbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct TerminalItem {
    /// The client's message id.
    pub id: String,
    /// The sender, and the address of the answer.
    pub peer: String,
    /// True if it came through a pipe. If unknown, it did.
    #[serde(default = "unknown_is_piped")]
    pub piped: bool,
    /// First message of the conversation of its own to which it belongs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
    /// The text.
    pub text: String,
}

fn unknown_is_piped() -> bool {
    true
}

/// Parses one raw item.
pub(super) fn parse(raw: &str) -> Result<Inbound, Unreadable> {
    let item: TerminalItem = serde_json::from_str(raw).map_err(|_| Unreadable { adapter: super::NAME })?;
    let origin = if item.piped { TextOrigin::Piped } else { TextOrigin::Typed };
    Ok(Inbound {
        external_id: item.id,
        sender: item.peer.clone(),
        alias: None,
        language: String::new(),
        peer: item.peer,
        chat_kind: ChatKind::Direct,
        server_at: None,
        event: Event::Message(MessageContent {
            text: item.text,
            origin,
            thread: item.thread,
            ..MessageContent::default()
        }),
    })
}

/// Rich form of a part: Markdown, and the flag that its links may be hidden behind text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RichPart {
    /// Markdown without control characters.
    pub markdown: String,
    /// False if untrusted text or a third party's skill contributed to it.
    pub trusted: bool,
    /// True if it says why there is no answer, or why a command was not done.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unanswered: bool,
}

impl RichPart {
    /// Decodes the requested form of a part. An unreadable rich form becomes plain and untrusted.
    pub fn of(piece: &OutgoingPart, form: PartFormat) -> Self {
        piece.decode(form).unwrap_or_else(|| Self { markdown: piece.plain.clone(), trusted: false, unanswered: false })
    }
}

/// Renders a message as one part; none if nothing is visible. There are no buttons: the text names
/// the commands ([`with_commands`]).
pub(super) fn render(outbound: &Outbound) -> Vec<OutgoingPart> {
    let label = outbound.text.label();
    let markdown = markdown::strip_control(&with_commands(outbound, 0));
    if markdown::is_blank(&markdown) {
        return Vec::new();
    }
    let trusted = !label.asks_before_leaving();
    let shown = RichPart { markdown: markdown.clone(), trusted, unanswered: outbound.unanswered };
    let rich = serde_json::to_string(&shown).unwrap_or_default();
    vec![OutgoingPart { rich, plain: markdown, buttons: outbound.buttons.clone(), ..OutgoingPart::default() }]
}

/// Prefixes a part with a short notice.
pub(super) fn with_prefix(piece: &OutgoingPart, words: &str) -> OutgoingPart {
    let shown = RichPart::of(piece, PartFormat::Rich);
    let shown = RichPart { markdown: format!("{words} {}", shown.markdown), ..shown };
    let rich = serde_json::to_string(&shown).unwrap_or_default();
    OutgoingPart { rich, plain: format!("{words} {}", piece.plain), ..piece.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trust::{Label, Scope, Source, Text};
    use proptest::prelude::*;

    fn outbound(text: &str, label: Label) -> Outbound {
        Outbound { text: Text::new(text.into(), label, Scope::Shared), buttons: Vec::new(), unanswered: false }
    }

    proptest! {
        #[test]
        fn any_bytes_are_understood_or_unreadable(raw in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = parse(&String::from_utf8_lossy(&raw));
        }

        #[test]
        fn a_stored_terminal_item_parses_back_to_the_message(
            id in "[!-~]{1,20}", peer in ".{0,20}", text in ".*", piped in any::<bool>(),
            thread in prop::option::of("[!-~]{1,20}"),
        ) {
            let item = TerminalItem { id: id.clone(), peer: peer.clone(), piped, thread: thread.clone(), text: text.clone() };
            let inbound = parse(&serde_json::to_string(&item).unwrap()).unwrap();
            let origin = if piped { TextOrigin::Piped } else { TextOrigin::Typed };
            prop_assert_eq!(inbound, Inbound {
                external_id: id,
                sender: peer.clone(),
                peer,
                alias: None,
                language: String::new(),
                chat_kind: ChatKind::Direct,
                server_at: None,
                event: Event::Message(MessageContent { text, origin, thread, ..MessageContent::default() }),
            });
        }

        #[test]
        fn a_piece_is_clean_and_keeps_its_trust(text in ".*", trusted in any::<bool>()) {
            let label = if trusted { Label::decode("trusted") } else { Label::untrusted(Source::stdin("in1")) };
            for piece in render(&outbound(&text, label)) {
                let shown = RichPart::of(&piece, PartFormat::Rich);
                prop_assert_eq!(shown.trusted, trusted);
                prop_assert_eq!(&shown.markdown, &markdown::strip_control(&text));
                prop_assert_eq!(RichPart::of(&piece, PartFormat::Plain).markdown, shown.markdown);
            }
        }
    }

    #[test]
    fn an_item_that_does_not_say_how_it_came_was_piped() {
        let inbound = parse(r#"{"id":"1","peer":"ada","text":"/approve 1 abc"}"#).unwrap();
        assert!(matches!(inbound.event, Event::Message(MessageContent { origin: TextOrigin::Piped, .. })));
    }

    #[test]
    fn an_empty_text_has_no_piece() {
        assert!(render(&outbound(" \n", Label::decode("trusted"))).is_empty());
        assert_eq!(render(&outbound("hi", Label::decode("trusted"))).len(), 1);
    }
}
