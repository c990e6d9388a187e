//! After years of messages and notes, a turn opens only what changed and sends as much as before.

use std::path::{Path, PathBuf};

use compline::id::PersonId;
use compline::memory::Index;
use compline::model::Purpose;
use compline::people::{Address, Party, Person, Role};
use compline::search::EntryQuery;
use compline::store::{
    BoundaryReason, ConversationKind, MessageKind, MessageState, NewConversation, NewMessage, TextKind, Tx,
};
use compline::time::Timestamp;
use compline::trust::{Label, Labelled, Scope};
use serde_json::json;

use crate::support::model::{Say, usual};
use crate::support::story::{ADA, NOON, Story};

const ADAS: Scope = Scope::Person(PersonId(1));
/// Upper limit of the size of `MEMORY.md`.
const MOST_OF_MEMORY: usize = 64_000;

fn ada() -> Party {
    Party::One(Person { id: PersonId(1), name: "Ada".to_owned(), role: Role::Owner })
}

fn memory(story: &Story) -> PathBuf {
    let folder = story.home.join("workspace/memory");
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn keeps_notes(folder: &Path, notes: usize) {
    for note in 0..notes {
        let words = format!(
            "---\nname: Note {note}\ndescription: thing {note}\ntype: project\n---\n\nThing {note} lies in drawer {note}.\n"
        );
        std::fs::write(folder.join(format!("note-{note}.md")), words).unwrap();
    }
}

/// Stores old messages of Ada, a hundred per conversation.
async fn talked(story: &Story, messages: usize) {
    let talk = move |tx: Tx<'_>| {
        let stream = tx.conversations().stream_for(PersonId(1))?;
        let address =
            tx.addresses().link(&Address::new("terminal", "local", "person-1"), Some(PersonId(1)), Timestamp(0))?;
        for block in 0..messages / 100 {
            let at = Timestamp(1_600_000_000_000 + i64::try_from(block).unwrap() * 86_400_000);
            let new = NewConversation {
                stream,
                kind: ConversationKind::Chat,
                scope: ADAS,
                because: BoundaryReason::Silence,
                at,
            };
            let conversation = tx.conversations().open_conversation(&new)?;
            for number in block * 100..(block + 1) * 100 {
                let message = tx.messages().add_message(&NewMessage {
                    stream,
                    conversation: Some(conversation),
                    inbox: None,
                    address: Some(address),
                    person: Some(PersonId(1)),
                    guest: None,
                    kind: MessageKind::Said,
                    scope: ADAS,
                    external_id: "",
                    album: "",
                    received_at: at,
                    server_at: None,
                    effective_at: at,
                    turn: None,
                })?;
                let words = format!("We spoke of matter{number}, and of the weather, and of what to eat.");
                tx.messages().add_text(
                    message,
                    TextKind::Said,
                    &Labelled::new(words.into(), Label::trusted(), ADAS),
                )?;
                tx.messages().settle_message(message, MessageState::Answered, "")?;
                tx.conversations().count_message(conversation, message, at)?;
            }
            tx.conversations().close_conversation(conversation, at)?;
        }
        Ok(())
    };
    story.app().journal.write("talk of long ago", talk).await.unwrap();
}

async fn knows(index: &Index, words: &str) -> Vec<String> {
    let words = crate::support::story::typed(words, ADAS);
    let found = index.search(&EntryQuery { limit: 5, ..EntryQuery::of(&ada(), words) }).await.unwrap();
    found.hits.iter().map(|hit| hit.text.open().0.to_string()).collect()
}

/// Opened files of a folder, and whether it was listed, as reported by the kernel.
#[cfg(target_os = "linux")]
mod opened {
    use std::mem::MaybeUninit;
    use std::os::fd::OwnedFd;
    use std::path::Path;

    use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};

    pub struct Opened(OwnedFd);

    impl Opened {
        pub fn in_folder(folder: &Path) -> Self {
            let list = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).unwrap();
            inotify::add_watch(&list, folder, WatchFlags::OPEN.union(WatchFlags::ACCESS)).unwrap();
            Self(list)
        }

        /// Files opened since the last call, and `.` for each reading of the list of names.
        pub fn since(&self) -> Vec<String> {
            let (mut room, mut opened) = ([MaybeUninit::uninit(); 4_096], Vec::new());
            let mut reader = Reader::new(&self.0, &mut room);
            while let Ok(event) = reader.next() {
                match (event.file_name(), event.events().contains(ReadFlags::OPEN)) {
                    (Some(name), true) => opened.push(name.to_string_lossy().into_owned()),
                    (None, false) => opened.push(".".to_owned()),
                    _ => {}
                }
            }
            opened
        }
    }
}

/// Promise (memory/size): With thousands of notes and years of conversations, an answer reads only
/// changed files, and `MEMORY.md` and prompts stay within their limits. The rest is found by
/// search, and token estimates are accurate within a known bound.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_turn_opens_only_what_changed_however_much_is_known() {
    let mut seen = Vec::new();
    // `COMPLINE_NOTES=4000` keeps more of them.
    let many = std::env::var("COMPLINE_NOTES").map_or(2_000, |notes| notes.parse().unwrap());
    // Both hold more notes without a line than are listed at once.
    for (notes, messages) in [(60, 400), (many, 10 * many)] {
        let mut story = Story::prepared("[budget]\ndaily_tokens = 1000000000").await;
        keeps_notes(&memory(&story), notes);
        story.start().await;
        talked(&story, messages).await;
        story.app().index.refresh(&ada()).await.unwrap();
        story.say(ADA, "Hello").await;
        // The first turn changed the folder, so the second looks at the index.
        story.say(ADA, "Are you there?").await;
        let opened = opened::Opened::in_folder(&memory(&story));
        story.say(ADA, "And once more").await;
        let read = opened.since();
        assert!(read.is_empty(), "a turn lists no folder, and opens no file that did not change: {read:?}");
        let bytes = story.model.last_prompt().len();
        assert_eq!(knows(&story.app().index, "note drawer 2").await[0].lines().next(), Some("Note 2"));
        assert!(opened.since().is_empty(), "and neither does a search");
        std::fs::write(memory(&story).join("note-1.md"), "It lies in the attic.").unwrap();
        opened.since();
        story.say(ADA, "Now?").await;
        assert_eq!(knows(&story.app().index, "attic").await.len(), 1);
        let read = opened.since();
        assert!(!read.is_empty() && read.iter().all(|name| name == "note-1.md"), "{read:?}");
        seen.push((bytes, read.len()));
        story.end().await;
    }
    assert_eq!(seen[0], seen[1], "as many bytes for the model, and as many opens for what changed");
    println!("{many} notes and {} messages: a turn sends and opens no more than with few", 10 * many);
}

/// Proves: memory/size
#[tokio::test]
async fn facts_that_no_longer_fit_are_found_and_the_size_limits_hold() {
    let mut story = Story::prepared("[memory]\nextract_every = 1").await;
    let facts: String = (1..=900).map(|n| format!("- **Thing {n}**: lies in drawer {n} (2025-01-01)\n")).collect();
    std::fs::write(memory(&story).join("MEMORY.md"), format!("## Recent facts\n\n{facts}\n## Index\n")).unwrap();
    keeps_notes(&memory(&story), 100);
    story.background.otherwise(|request| match request.purpose() {
        Purpose::Extraction => Say::Text(
            json!([{ "key": "Thing 900", "value": "lies in the shed", "category": "fact", "layer": "A", "sources": [1] }])
                .to_string(),
        ),
        _ => usual(request),
    });
    story.start().await;
    talked(&story, 1_000).await;
    let talk = "Today we went for a long walk along the river, and found that the last thing lies in the shed now.";
    story.say(ADA, talk).await;
    story.say(ADA, "Go on").await;
    let kept = std::fs::read_to_string(memory(&story).join("MEMORY.md")).unwrap();
    assert!(kept.len() <= MOST_OF_MEMORY, "{} bytes", kept.len());
    let prompt = story.model.last_prompt();
    assert!(!prompt.contains("drawer 450 "), "not all of it has room in a prompt");
    let room = compline::text::estimate_tokens(&prompt);
    assert!(room < 32_000, "{room} tokens");
    for number in [1, 450, 899] {
        let found = knows(&story.app().index, &format!("thing {number} drawer")).await;
        assert!(found.iter().any(|fact| fact.starts_with(&format!("Thing {number}: lies in drawer"))), "{found:?}");
    }
    let moved = knows(&story.app().index, "thing 900 shed").await;
    assert!(moved[0].contains("shed") && !moved.iter().any(|fact| fact.contains("drawer 900 ")), "{moved:?}");
    let said = story
        .app()
        .journal
        .read(|db| crate::support::search::find(db, ADAS, "matter777", false, 5))
        .await
        .unwrap()
        .hits;
    assert_eq!(said.len(), 1);
    assert!(said[0].at < NOON && said[0].text.open().0.contains("matter777"));
    story.end().await;
}
