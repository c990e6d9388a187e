//! What no channel of the everyday stories brings: something goes through the door by hand, as an
//! adapter would have parsed it, and whoever has to be woken is woken. Replies go out over the fake
//! Bot API as always.

use std::sync::Arc;
use std::time::Duration;

use compline::gateway::admission::{Admission, AfterCommit, ParsedItem};
use compline::message::{ChatKind, Event, Inbound, MessageContent};
use compline::time::{Clock, Zone};

use super::story::Story;

/// What that person does, in their direct chat, while others may be at work. The name is the item's
/// own.
pub async fn comes_meanwhile(story: &Story, person: i64, name: &str, event: Event) {
    let inbound = Inbound {
        external_id: name.to_owned(),
        peer: person.to_string(),
        sender: person.to_string(),
        alias: None,
        chat_kind: ChatKind::Direct,
        server_at: None,
        event,
    };
    let door = Admission {
        now: story.clock.now(),
        zone: Zone::UTC,
        gap: Duration::from_secs(6 * 3600),
        agent: "Compline".to_owned(),
        adapter: "telegram",
        account: story.fake.bot_id().to_string(),
        groups: Arc::default(),
    };
    let raw = format!("{:?}", inbound.event);
    let item = ParsedItem { raw, inbound: Some(inbound) };
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
        engine.wake_worker();
    }
    for stream in wake.streams {
        engine.wake_stream(stream);
    }
}

/// The same, and everybody rests again.
pub async fn comes(story: &Story, person: i64, name: &str, event: Event) {
    comes_meanwhile(story, person, name, event).await;
    story.settle().await;
}

/// Somebody says that.
pub fn message_event(text: &str) -> Event {
    Event::Message(MessageContent { text: text.to_owned(), ..MessageContent::default() })
}

/// Somebody says that, and wants it gone so long after it was answered.
pub fn expiring_message(text: &str, after: Duration) -> Event {
    Event::Message(MessageContent { text: text.to_owned(), expires_after: Some(after), ..MessageContent::default() })
}

/// Somebody deletes what came under that name.
pub fn deleted(of: &str) -> Event {
    Event::Deleted { message: of.to_owned() }
}

/// Whether that word stands in any file of the home's journal, as it was written or as the search
/// indexes keep it. The gateway has stopped, or its log was cut.
pub fn journal_contains(story: &Story, word: &str) -> bool {
    journal_contains_text(story, word) || bytes_stand_in_the_journal(story, stem_of(word).as_bytes())
}

/// The same without the indexes, which let go of a message that its sender deleted in the night.
pub fn journal_contains_text(story: &Story, word: &str) -> bool {
    bytes_stand_in_the_journal(story, word.as_bytes())
}

/// What an index has of a word in any case: it folds case and diacritics, may cut an ending off,
/// and leaves out the beginning that a word shares with the one before it. Of a short word that
/// would be too little to know it by: then it is the word.
fn stem_of(word: &str) -> String {
    let folded = compline::text::fold::fold(word).to_lowercase();
    let one_word = folded.chars().all(char::is_alphanumeric);
    match folded.len() {
        10.. if one_word => folded.chars().skip(3).take(folded.chars().count() - 5).collect(),
        _ => word.to_owned(),
    }
}

fn bytes_stand_in_the_journal(story: &Story, sought: &[u8]) -> bool {
    ["compline.db", "compline.db-wal"].iter().any(|name| {
        let bytes = std::fs::read(story.home.join(name)).unwrap_or_default();
        bytes.windows(sought.len()).any(|window| window == sought)
    })
}
