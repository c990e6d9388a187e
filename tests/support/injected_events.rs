//! Admits events that no everyday channel brings, as an adapter would have parsed them, and wakes
//! the same workers. Replies go out over the fake Bot API.

use std::sync::Arc;
use std::time::Duration;

use compline::gateway::admission::{Admission, AfterCommit, ParsedItem};
use compline::message::{ChatKind, Event, Inbound, MessageContent};
use compline::time::{Clock, Zone};

use super::channel::Channel;
use super::story::{Story, StoryOver};

/// Admits an event in a person's direct chat while other work may be running. `name` is the
/// external id of the item.
pub async fn comes_meanwhile(story: &Story, person: i64, name: &str, event: Event) {
    let inbound = Inbound {
        external_id: name.to_owned(),
        peer: person.to_string(),
        sender: person.to_string(),
        alias: None,
        language: String::new(),
        chat_kind: ChatKind::Direct,
        server_at: None,
        event,
    };
    let door = Admission {
        now: story.clock.now(),
        zone: Zone::UTC,
        gap: Duration::from_secs(6 * 3600),
        trust_own_photos: false,
        agent: "Compline".to_owned(),
        adapter: "telegram",
        account: story.fake.bot_id().to_string(),
        groups: Arc::default(),
    };
    let raw = format!("{:?}", inbound.event);
    let item = ParsedItem { raw, inbound: Some(inbound), sender_name: String::new() };
    let admit = move |tx: compline::store::Tx<'_>| {
        let mut wake = AfterCommit::default();
        door.admit(tx, &item, &mut wake)?;
        Ok(wake)
    };
    let wake = story.app().journal.write("accept messages", admit).await.unwrap();
    let engine = &story.app().engine;
    for stream in wake.cancelled {
        engine.cut(stream).await.unwrap();
    }
    if wake.deletions_pending {
        engine.wake_schedule();
    }
    for stream in wake.streams {
        engine.wake_stream(stream);
    }
}

/// Admits an event and waits until everything is idle.
pub async fn comes(story: &Story, person: i64, name: &str, event: Event) {
    comes_meanwhile(story, person, name, event).await;
    story.settle().await;
}

/// A plain message.
pub fn message_event(text: &str) -> Event {
    Event::Message(MessageContent { text: text.to_owned(), ..MessageContent::default() })
}

/// A message that expires this long after its answer.
pub fn expiring_message(text: &str, after: Duration) -> Event {
    Event::Message(MessageContent { text: text.to_owned(), expires_after: Some(after), ..MessageContent::default() })
}

/// The deletion of the message with this external id.
pub fn deleted(of: &str) -> Event {
    Event::Deleted { message: of.to_owned() }
}

/// Checks whether a word is in any file of the journal, as written or as the search indexes keep
/// it. The gateway must have stopped, or its log must be cut.
pub fn journal_contains(story: &StoryOver<impl Channel>, word: &str) -> bool {
    journal_contains_text(story, word) || bytes_stand_in_the_journal(story, stem_of(word).as_bytes())
}

/// The same check without the indexes, which drop messages deleted by their sender in the nightly
/// upkeep.
pub fn journal_contains_text(story: &StoryOver<impl Channel>, word: &str) -> bool {
    bytes_stand_in_the_journal(story, word.as_bytes())
}

/// Part of a word that every index contains: an index folds case and diacritics, may cut off an
/// ending, and omits the prefix that a word shares with its predecessor. A short word is used
/// whole, because its rest would match too much.
fn stem_of(word: &str) -> String {
    let folded = compline::text::fold::fold(word).to_lowercase();
    let one_word = folded.chars().all(char::is_alphanumeric);
    match folded.len() {
        10.. if one_word => folded.chars().skip(3).take(folded.chars().count() - 5).collect(),
        _ => word.to_owned(),
    }
}

fn bytes_stand_in_the_journal(story: &StoryOver<impl Channel>, sought: &[u8]) -> bool {
    ["compline.db", "compline.db-wal"].iter().any(|name| {
        let bytes = std::fs::read(story.home.join(name)).unwrap_or_default();
        bytes.windows(sought.len()).any(|window| window == sought)
    })
}
