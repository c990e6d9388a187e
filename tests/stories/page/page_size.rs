//! Size of the pages of a home with years behind it.

use std::sync::Arc;

use compline::id::PersonId;
use compline::people::Address;
use compline::store::{BoundaryReason, ConversationKind, MessageKind, NewConversation, NewMessage, TextKind, Tx};
use compline::time::{Clock, Timestamp};
use compline::trust::{Label, Labelled, Scope};
use compline::web::Access;
use flate2::read::GzDecoder;

use crate::support::browser::{Browser, SERVED};
use crate::support::lived_in::{self, Story};
use crate::support::page_list::pages;

/// Maximum size of a page as it goes over the wire, compressed.
const MAX_PAGE: usize = 50 << 10;
const CONVERSATIONS: u64 = 60;
const MESSAGES: u64 = 50;
const NOTES: u64 = 500;
const FILES: u64 = 300;

/// Some words that hardly repeat, as those of a person do not.
fn words(seed: u64, count: u64) -> String {
    let word = |at: u64| {
        let mut state = (seed * 977 + at + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let length = 3 + state % 7;
        let letters = (0..length).map(|_| {
            state = state.rotate_left(13).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            char::from(b'a' + u8::try_from(state % 26).unwrap())
        });
        letters.collect::<String>()
    };
    (0..count).map(word).collect::<Vec<_>>().join(" ")
}

fn talk(tx: Tx<'_>, now: Timestamp) -> anyhow::Result<()> {
    let (robin, scope) = (PersonId(1), Scope::Person(PersonId(1)));
    let stream = tx.conversations().stream_for(robin)?;
    let address = tx.addresses().link(&Address::new("terminal", "local", "person-1"), Some(robin), now)?;
    for talked in 0..CONVERSATIONS {
        let conversation = tx.conversations().open_conversation(&NewConversation {
            stream,
            kind: ConversationKind::Chat,
            scope,
            because: BoundaryReason::First,
            at: now,
        })?;
        for said in 0..MESSAGES {
            let is_own = said % 2 == 0;
            let message = tx.messages().add_message(&NewMessage {
                stream,
                conversation: Some(conversation),
                inbox: None,
                address: Some(address),
                person: is_own.then_some(robin),
                guest: None,
                kind: if is_own { MessageKind::Said } else { MessageKind::Reply },
                scope,
                external_id: "",
                album: "",
                received_at: now,
                server_at: None,
                effective_at: now,
                turn: None,
            })?;
            let text = words(talked * MESSAGES + said, if is_own { 20 } else { 120 });
            tx.messages().add_text(
                message,
                TextKind::Said,
                &Labelled::new(Arc::from(text), Label::trusted(), scope),
            )?;
            tx.messages().settle_message(message, compline::store::MessageState::Answered, "")?;
        }
        tx.conversations().close_conversation(conversation, now)?;
    }
    Ok(())
}

/// Fills a home as in years.
async fn fill(story: &Story) {
    let now = story.clock.now();
    story.app().journal.write("prepare", move |tx| talk(tx, now)).await.unwrap();
    for at in 0..NOTES {
        story.writes(
            &format!("memory/{}.md", words(at, 3).replace(' ', "-")),
            &format!("# {}\n\n{}\n", words(at, 4), words(at, 200)),
        );
    }
    for at in 0..FILES {
        story.writes(&format!("plans/{}.md", words(at, 4).replace(' ', "-")), &words(at, 300));
    }
    story.say(crate::support::story::ADA, "Hello").await;
    story.pass(std::time::Duration::from_secs(3600)).await;
}

/// Promise (page/size): However much there is, a page of it is at most 50 KB on its way to you,
/// unless a single text in it is longer.
#[tokio::test]
async fn no_page_is_large_however_much_there_is() {
    let mut story = lived_in::lived_in().await;
    story.settings(&format!("{SERVED}public_url = \"https://home.example\"\n"));
    story.restart().await;
    lived_in::operate(&story).await;
    let robin = Browser::of(story.app(), "Robin").await;
    let mut paths = pages(&robin, Access::Owner).await;
    fill(&story).await;
    paths.extend(["/files/plans", "/memory", "/search?q=hello", "/conversations/20"].map(str::to_owned));
    let (mut large, mut compressed_here) = (Vec::new(), 0);
    for (path, name) in paths.iter().flat_map(|path| [(path, Some("home.example")), (path, None)]) {
        let (headers, sent) = robin.sent(path, name).await;
        if headers.get("content-type").is_some_and(|kind| kind == "text/html; charset=utf-8") {
            let is_compressed = headers.get("content-encoding").is_some_and(|encoding| encoding == "gzip");
            assert!(is_compressed || name.is_none(), "{path}");
            let whole = if is_compressed {
                std::io::read_to_string(GzDecoder::new(&*sent)).unwrap()
            } else {
                String::from_utf8(sent.clone()).unwrap()
            };
            assert!(whole.ends_with("</html>"), "{path}");
            compressed_here += usize::from(is_compressed && name.is_none());
        }
        if sent.len() > MAX_PAGE {
            large.push(format!("{path}: {} bytes", sent.len()));
        }
    }
    assert!(large.is_empty(), "{}", large.join("\n"));
    assert!((1..paths.len() / 2).contains(&compressed_here), "only large pages: {compressed_here}");
    story.stop_here().await;
}
