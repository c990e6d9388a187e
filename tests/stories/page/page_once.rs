//! Any course of events between a message of the page and the journal: it is stored once.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use proptest::prelude::*;
use tokio::runtime::Builder;

use crate::support::browser::{Browser, SERVED};
use crate::support::story::StoryOver;
use crate::support::telegram::FakeTelegram;

type Story = StoryOver<FakeTelegram>;

/// What happens to one of two messages, or to the gateway.
#[derive(Debug, Clone, Copy)]
enum Act {
    /// It is sent, with or without a file, and the answer is heard.
    Send(usize, bool),
    /// It is sent from two tabs at once.
    Twice(usize),
    /// It is sent, and the page is loaded anew before the answer.
    Reload(usize),
    /// The gateway is started anew.
    Restart,
    /// Time for an answer.
    Answer,
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let act = prop_oneof![
        3 => (0..2usize, any::<bool>()).prop_map(|(message, has_file)| Act::Send(message, has_file)),
        2 => (0..2usize).prop_map(Act::Twice),
        2 => (0..2usize).prop_map(Act::Reload),
        1 => Just(Act::Restart),
        1 => Just(Act::Answer),
    ];
    proptest::collection::vec(act, 2..9)
}

async fn send(browser: &Browser, message: usize, has_file: bool) {
    let (id, text) = (format!("message-{message}"), format!("Word {message}"));
    let files: &[(&str, &[u8])] = if has_file { &[("a.txt", b"Apples")] } else { &[] };
    let page = browser.send("/chat", &[("id", &id), ("text", &text)], files).await;
    assert_eq!(page.leads_to(), "/chat", "{}", page.text);
}

async fn story_of(acts: &[Act]) {
    let mut story = Story::with(SERVED).await;
    let mut ada = Browser::of(story.app(), "Ada").await;
    // Each message, and whether the first one that was stored had a file.
    let mut sent: BTreeMap<usize, bool> = BTreeMap::new();
    // Those to which a file was added later, which makes another message of it.
    let mut added = BTreeSet::new();
    for act in acts {
        match *act {
            Act::Send(message, has_file) => {
                send(&ada, message, has_file).await;
                let had_file = *sent.entry(message).or_insert(has_file);
                if has_file && !had_file {
                    added.insert(message);
                }
            }
            Act::Twice(message) => {
                tokio::join!(send(&ada, message, false), send(&ada, message, false));
                sent.entry(message).or_insert(false);
            }
            Act::Reload(message) => {
                let (gone, other) = (ada.clone(), ada.clone());
                let first = tokio::spawn(async move { send(&gone, message, false).await });
                let received = format!("SELECT count(*) FROM inbox WHERE external_id LIKE '%:message-{message}'");
                let arrival = async {
                    while !first.is_finished() && story.count(&received) == 0 {
                        tokio::task::yield_now().await;
                    }
                };
                tokio::time::timeout(Duration::from_secs(30), arrival).await.expect("it never arrived");
                first.abort();
                send(&other, message, false).await;
                sent.entry(message).or_insert(false);
            }
            Act::Restart => {
                story.restart().await;
                ada = ada.at(story.app());
            }
            Act::Answer => story.answered().await,
        }
    }
    story.answered().await;
    for (message, had_file) in &sent {
        let stored = format!("FROM messages WHERE external_id LIKE '%:message-{message}'");
        assert_eq!(story.count(&format!("SELECT count(*) {stored}")), 1, "{acts:?}");
        let files = format!("SELECT count(*) FROM attachments WHERE message_id = (SELECT id {stored})");
        assert_eq!(story.count(&files), i64::from(*had_file), "{acts:?}");
    }
    let messages = story.count("SELECT count(*) FROM messages WHERE kind = 'said'");
    assert_eq!(messages, i64::try_from(sent.len() + added.len()).unwrap(), "{acts:?}");
    assert_eq!(story.count("SELECT count(*) FROM messages WHERE kind = 'said' AND state <> 'answered'"), 0);
    story.end().await;
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// Proves: page/once
    #[test]
    fn a_message_of_the_page_is_stored_once_whatever_happens(acts in acts()) {
        Builder::new_current_thread().enable_all().build().unwrap().block_on(story_of(&acts));
    }
}
