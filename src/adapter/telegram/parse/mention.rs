//! Detection of messages addressed to us, and removal of our name from their text.
//!
//! Telegram marks parts of a text by entities, whose offsets count UTF-16 units. An entity counts
//! only if the text at its offset matches it, so a wrong offset removes nothing. In groups our name
//! is removed, since it only served to address us; in a direct chat it is an ordinary word. In
//! commands it is always removed.

use std::ops::Range;

use serde_json::Value;

use super::{BotIdentity, number, replies_to_us, text, visible_text};
use crate::adapter::request::{field, list};
use crate::text::one_line;

/// A message as addressed to us.
pub(super) struct AddressedText {
    /// The text without our name.
    pub(super) text: String,
    /// True if it mentions or answers us.
    pub(super) is_addressed: bool,
    /// True if it begins with a command for another bot.
    pub(super) is_for_another: bool,
}

impl AddressedText {
    /// Reads a message.
    pub(super) fn of(message: &Value, us: &BotIdentity, is_direct: bool) -> Self {
        let words = Utf16Text::of(message);
        let found: Vec<FoundMention> =
            words.entities.iter().filter_map(|entity| words.match_entity(entity, us)).collect();
        let is_named = found.iter().any(|one| matches!(one.kind, MentionKind::Mention | MentionKind::OurCommand));
        Self {
            text: words.without_name(&found, is_direct),
            is_addressed: is_named || replies_to_us(message, us),
            is_for_another: !is_direct
                && found.iter().any(|one| one.kind == MentionKind::TheirCommand && one.at.start == 0),
        }
    }
}

/// Returns the words of a message that have an address behind them, with that address, unless they
/// say it themselves.
pub(super) fn links(message: &Value) -> Vec<(String, String)> {
    let words = Utf16Text::of(message);
    let link = |entity: &Value| {
        let address = text(entity, "url").filter(|_| text(entity, "type") == Some("text_link"))?;
        let shown = words.shown(words.range(entity)?)?;
        let is_said = shown.trim().trim_end_matches('/') == address.trim_end_matches('/');
        (!is_said).then(|| (one_line(&shown), one_line(address)))
    };
    words.entities.iter().filter_map(link).collect()
}

/// An entity that concerns us, and the range of the name in it.
struct FoundMention {
    kind: MentionKind,
    at: Range<usize>,
    name: Range<usize>,
}

#[derive(PartialEq)]
enum MentionKind {
    Mention,
    OurCommand,
    TheirCommand,
}

/// Text of a message in UTF-16 units, as Telegram counts.
struct Utf16Text<'a> {
    units: Vec<u16>,
    entities: &'a [Value],
}

impl<'a> Utf16Text<'a> {
    fn of(message: &'a Value) -> Self {
        let key = if text(message, "text").is_some() { "entities" } else { "caption_entities" };
        Self { units: visible_text(message).encode_utf16().collect(), entities: list(message, key) }
    }

    fn range(&self, entity: &Value) -> Option<Range<usize>> {
        let start = usize::try_from(number(entity, "offset")?).ok()?;
        let end = start.checked_add(usize::try_from(number(entity, "length")?).ok()?)?;
        Some(start..end)
    }

    fn shown(&self, range: Range<usize>) -> Option<String> {
        String::from_utf16(self.units.get(range)?).ok()
    }

    /// Returns the entity if it concerns us.
    fn match_entity(&self, entity: &Value, us: &BotIdentity) -> Option<FoundMention> {
        let Range { start, end } = self.range(entity)?;
        let shown = self.shown(start..end)?;
        let ours = |name: &str| !us.username.is_empty() && name.eq_ignore_ascii_case(&us.username);
        match text(entity, "type")? {
            "mention" if ours(shown.strip_prefix('@')?) => {
                Some(FoundMention { kind: MentionKind::Mention, at: start..end, name: start..end })
            }
            "text_mention" if number(field(entity, "user")?, "id") == Some(us.id) => {
                Some(FoundMention { kind: MentionKind::Mention, at: start..end, name: start..end })
            }
            "bot_command" => {
                let (command, name) = shown.strip_prefix('/')?.split_once('@')?;
                let name_at = start + 1 + command.encode_utf16().count();
                let what = if ours(name) { MentionKind::OurCommand } else { MentionKind::TheirCommand };
                Some(FoundMention { kind: what, at: start..end, name: name_at..end })
            }
            _ => None,
        }
    }

    /// Returns the text without our name.
    fn without_name(&self, found: &[FoundMention], is_direct: bool) -> String {
        let is_taken = |one: &&FoundMention| match one.kind {
            MentionKind::OurCommand => true,
            MentionKind::Mention => !is_direct,
            MentionKind::TheirCommand => false,
        };
        let mut taken: Vec<&FoundMention> = found.iter().filter(is_taken).collect();
        taken.sort_by_key(|one| one.name.start);
        let (mut remaining, mut from) = (String::new(), 0);
        for one in taken.into_iter() {
            if one.name.start < from {
                continue;
            }
            remaining.push_str(&self.piece(from..one.name.start));
            from = one.name.end;
            if one.kind == MentionKind::Mention {
                from = self.close_gap(&mut remaining, from);
            }
        }
        remaining.push_str(&self.piece(from..self.units.len()));
        remaining
    }

    fn piece(&self, range: Range<usize>) -> String {
        String::from_utf16_lossy(self.units.get(range).unwrap_or_default())
    }

    /// Leaves one space where a name stood between two, and none at an end. Returns the offset to
    /// continue from.
    fn close_gap(&self, remaining: &mut String, from: usize) -> usize {
        let next = |at: usize| self.units.get(at).and_then(|unit| char::from_u32(u32::from(*unit)));
        if !remaining.trim().is_empty() {
            if next(from).is_none_or(|c| c == ' ' || ",.!?;:".contains(c)) {
                remaining.truncate(remaining.trim_end_matches(' ').len());
            }
            return from;
        }
        remaining.clear();
        let comma = usize::from(next(from).is_some_and(|c| c == ',' || c == ':'));
        let blank = (from + comma..).take_while(|at| next(*at).is_some_and(char::is_whitespace)).count();
        from + comma + blank
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn us() -> BotIdentity {
        BotIdentity { id: 42, username: "our_bot".to_owned() }
    }

    /// Parses a text in which `[…]` marks an entity of that kind, as sent in a group.
    fn meant(kind: &str, marked: &str) -> (String, bool, bool) {
        let (mut text, mut entities, mut start) = (String::new(), Vec::new(), 0);
        for c in marked.chars() {
            let at = text.encode_utf16().count();
            match c {
                '[' => start = at,
                ']' => entities.push(json!({"type": kind, "offset": start, "length": at - start, "user": {"id": 42}})),
                _ => text.push(c),
            }
        }
        let meant = AddressedText::of(&json!({"text": text, "entities": entities}), &us(), false);
        (meant.text, meant.is_addressed, meant.is_for_another)
    }

    #[test]
    fn our_name_is_heard_and_taken_out() {
        for (marked, left) in [
            ("[@our_bot] what now?", "what now?"),
            ("[@Our_BOT], what now?", "what now?"),
            ("[@our_bot]:\nwhat now?", "what now?"),
            ("what [@our_bot] now?", "what now?"),
            ("what now [@our_bot]?", "what now?"),
            ("what now [@our_bot]", "what now"),
            ("what\n[@our_bot]\nnow?", "what\n\nnow?"),
            ("\u{1f600}\u{1f600} [@our_bot] \u{1f600}", "\u{1f600}\u{1f600} \u{1f600}"),
            ("[@our_bot] and [@our_bot] again", "and again"),
            ("[@our_bot]", ""),
        ] {
            assert_eq!(meant("mention", marked), (left.to_owned(), true, false), "{marked}");
        }
        assert_eq!(meant("text_mention", "Well, [Compline] dear"), ("Well, dear".to_owned(), true, false));
    }

    #[test]
    fn other_names_are_left_alone() {
        for marked in ["[@our_bot_too] hi", "[@ada] hi", "hi [our_bot]", "[@] hi"] {
            let text = marked.replace(['[', ']'], "");
            assert_eq!(meant("mention", marked), (text, false, false), "{marked}");
        }
        assert!(!AddressedText::of(&json!({"text": "@our_bot hi"}), &us(), false).is_addressed, "nobody marked it");
        let nameless = BotIdentity { id: 42, username: String::new() };
        let blank = json!({"text": "@ hi", "entities": [{"type": "mention", "offset": 0, "length": 1}]});
        assert!(!AddressedText::of(&blank, &nameless, false).is_addressed, "we do not know our name yet");
    }

    #[test]
    fn a_command_is_ours_by_name() {
        assert_eq!(meant("bot_command", "[/help@our_bot] now"), ("/help now".to_owned(), true, false));
        assert_eq!(meant("bot_command", "[/help@OUR_BOT]"), ("/help".to_owned(), true, false));
        assert_eq!(meant("bot_command", "[/help]"), ("/help".to_owned(), false, false));
        assert_eq!(meant("bot_command", "[/help@their_bot] x"), ("/help@their_bot x".to_owned(), false, true));
        assert_eq!(meant("bot_command", "try [/help@their_bot]"), ("try /help@their_bot".to_owned(), false, false));
    }

    #[test]
    fn in_a_direct_chat_only_commands_lose_our_name() {
        let entities =
            json!([{"type": "mention", "offset": 0, "length": 8}, {"type": "bot_command", "offset": 9, "length": 13}]);
        let meant = AddressedText::of(&json!({"text": "@our_bot /help@our_bot", "entities": entities}), &us(), true);
        assert_eq!(meant.text, "@our_bot /help");
    }

    #[test]
    fn an_answer_to_us_is_meant_for_us_unless_it_only_stands_in_a_topic() {
        let of = |fields: Value| AddressedText::of(&fields, &us(), false).is_addressed;
        let ours = json!({"message_id": 5, "from": {"id": 42}});
        assert!(of(json!({"text": "why?", "reply_to_message": ours})));
        assert!(of(json!({"text": "/help", "reply_to_message": ours})));
        assert!(!of(json!({"text": "why?", "reply_to_message": {"message_id": 5, "from": {"id": 7}}})));
        let in_topic = |topic| json!({"text": "why?", "reply_to_message": ours, "is_topic_message": true, "message_thread_id": topic});
        assert!(!of(in_topic(5)));
        assert!(of(in_topic(4)));
        assert!(
            of(json!({"text": "why?", "reply_to_message": ours, "message_thread_id": 5})),
            "no forum: a thread of replies"
        );
    }

    #[test]
    fn a_caption_has_entities_of_its_own() {
        let message = json!({
            "caption": "@our_bot look", "caption_entities": [{"type": "mention", "offset": 0, "length": 8}], "photo": [],
        });
        let meant = AddressedText::of(&message, &us(), false);
        assert_eq!((meant.text.as_str(), meant.is_addressed), ("look", true));
    }

    proptest! {
        /// Wrong offsets remove nothing from a text.
        #[test]
        fn wrong_entities_change_nothing(
            text in "(@our_bot|\u{1f600}|/help@our_bot|a| ){0,6}",
            places in prop::collection::vec(prop_oneof![(any::<i64>(), any::<i64>()), (0_i64..30, 0_i64..30)], 0..4),
        ) {
            let entity = |(offset, length): &(i64, i64)| json!({"type": "mention", "offset": offset, "length": length});
            let entities: Vec<Value> = places.iter().map(entity).collect();
            let meant = AddressedText::of(&json!({"text": text, "entities": entities}), &us(), false);
            prop_assert!(meant.is_addressed || meant.text == text);
            let bare = |text: &str| text.replace("@our_bot", "").replace(' ', "");
            prop_assert_eq!(bare(&meant.text), bare(&text));
        }
    }
}
