//! Erasure of a person: what is deleted and what stays.

mod random_homes;

use std::fs;

use super::*;
use crate::people::{Person, Role};
use crate::store::{BoundaryReason, ConversationKind, MessageKind, NewConversation, NewMessage, TextKind};
use crate::text::erasure_query::ErasureQuery;
use crate::time::Zone;
use crate::trust::Text;

const NOW: Timestamp = Timestamp(1_795_284_000_000); // 2026-11-21T18:00:00Z

struct Home {
    folder: tempfile::TempDir,
    journal: Journal,
    workspace: Workspace,
    ben: Person,
}

async fn home() -> Home {
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::open_or_copy(&folder.path().join("journal.db"), None).unwrap();
    let people = journal.write("people", |tx| {
        tx.people().allow("Ada", Role::Owner, "config", NOW)?;
        tx.people().allow("Ben", Role::Member, "config", NOW)
    });
    let ben = people.await.unwrap();
    let workspace =
        Workspace::new(folder.path().join("workspace"), folder.path().join("experience"), journal.clone(), Zone::UTC);
    Home { folder, journal, workspace, ben }
}

impl Home {
    fn path(&self, inside: &str) -> std::path::PathBuf {
        self.folder.path().join("workspace").join(inside)
    }

    fn write(&self, inside: &str, words: &str) {
        fs::create_dir_all(self.path(inside).parent().unwrap()).unwrap();
        fs::write(self.path(inside), words).unwrap();
    }

    fn stands(&self, inside: &str) -> bool {
        self.path(inside).exists()
    }

    fn erasure(&self) -> Erasure<'_> {
        Erasure::new(&self.journal, &self.workspace)
    }

    /// Requests the erasure of Ben, with his folder.
    async fn wants_ben_forgotten(&self) -> ErasureId {
        let (ben, plan) = (self.ben.id, self.erasure().plan_of_person(self.ben.id, "Ben").await.unwrap());
        let plan = ErasurePlan { target: "people/2-ben".to_owned(), label: Label::trusted(), ..plan };
        let plans = vec![(plan, true, ErasureChoice::default())];
        self.erasure().begin(plans, ben, Scope::Person(ben), NOW).await.unwrap()[0]
    }
}

/// Proves: forgetting/groups
#[tokio::test]
async fn finishing_the_erasure_of_a_person_spares_their_namesake() {
    let home = home().await;
    home.write("people/2-ben/memory/tea.md", "Green.\n");
    let first = home.wants_ben_forgotten().await;
    home.erasure().execute_person(first, NOW).await.unwrap();
    assert!(!home.stands("people/2-ben/memory/tea.md"));
    let second = home.wants_ben_forgotten().await;
    let another = move |tx: Tx<'_>| {
        tx.erasure().end(second, true, NOW)?;
        tx.people().allow("Ben", Role::Member, "pairing", NOW)
    };
    let ben = home.journal.write("another Ben", another).await.unwrap();
    assert_ne!(ben.id, home.ben.id);
    home.write("people/3-ben/memory/tea.md", "Black.\n");
    home.erasure().execute_person(second, NOW).await.unwrap();
    assert_eq!(fs::read_to_string(home.path("people/3-ben/memory/tea.md")).unwrap(), "Black.\n");
}

/// Proves: forgetting/groups
#[tokio::test]
async fn a_forgetting_that_is_over_takes_nothing_of_the_first_owner() {
    let home = home().await;
    home.write("memory/tea.md", "Green.\n");
    home.write("people/2-ben/memory/tea.md", "Black.\n");
    let job = home.wants_ben_forgotten().await;
    for _ in 0..2 {
        home.erasure().execute_person(job, NOW).await.unwrap();
        assert!(home.stands("memory/tea.md") && !home.stands("people/2-ben/memory/tea.md"));
    }
}

/// Lines about the cat, and others that share words with them.
const ABOUT_CAT: [&str; 3] = ["- **cat**: Tom", "- **Cat**: Mimi (2026-11-20)", "Cat: Tom"];
const OTHERS: [&str; 6] = [
    "- **dog**: Tom",
    "- **tea**: green, with Mimi (2026-11-20)",
    "Tom Sawyer is a book about a boy and a river.",
    "The cat flap in the door has to be painted before the winter comes, and Tom brings the paint.",
    "- [Garden](garden.md): the gate",
    "- **catalogue**: on the shelf",
];

/// Files with their versions, and messages, each by its lines.
struct Said {
    files: Vec<(&'static str, Vec<Vec<&'static str>>)>,
    messages: Vec<Vec<&'static str>>,
}

/// Remaining contents, and those chosen for deletion.
struct Left {
    /// Path and text of every version and of the files on the disk.
    contents: Vec<(String, String)>,
    messages: Vec<String>,
    chosen_lines: Vec<(String, String)>,
    /// Positions of the messages that were chosen.
    chosen_messages: Vec<usize>,
}

async fn says(home: &Home, ada: PersonId, words: String) -> MessageId {
    let add = move |tx: Tx<'_>| {
        let (stream, scope) = (tx.conversations().stream_for(ada)?, Scope::Person(ada));
        let conversation = match tx.conversations().newest_conversation(stream)? {
            Some(current) => current.id,
            None => tx.conversations().open_conversation(&NewConversation {
                stream,
                kind: ConversationKind::Chat,
                scope,
                because: BoundaryReason::First,
                at: NOW,
            })?,
        };
        let id = tx.messages().add_message(&NewMessage {
            stream,
            conversation: Some(conversation),
            inbox: None,
            address: None,
            person: Some(ada),
            guest: None,
            kind: MessageKind::Said,
            scope,
            external_id: "",
            album: "",
            received_at: NOW,
            server_at: None,
            effective_at: NOW,
            turn: None,
        })?;
        tx.messages().add_text(id, TextKind::Said, &Text::new(words.into(), Label::trusted(), scope))?;
        Ok(id)
    };
    home.journal.write("say something", add).await.unwrap()
}

/// Forgets the cat: all of it with its messages, or the items whose turn in the mask is true.
async fn forget_the_cat(said: &Said, mask: Option<Vec<bool>>) -> Left {
    let home = home().await;
    let ada = home.journal.read(|db| db.people().person(PersonId(1))).await.unwrap().unwrap();
    let origin = ChangeOrigin {
        who: Party::One(ada.clone()),
        label: Label::trusted(),
        author: Author::Person,
        cause: "test",
        from: Vec::new(),
        person: PersonShare::default(),
        now: NOW,
    };
    for (path, versions) in &said.files {
        for lines in versions {
            let text = format!("# Memory\n\n## Recent facts\n\n{}\n", lines.join("\n"));
            let make = move |_: Option<&str>| Ok(NewContent::Text(text.clone()));
            home.workspace.versions().change(&origin, path, make).await.unwrap();
        }
    }
    let mut ids = Vec::new();
    for lines in &said.messages {
        ids.push(says(&home, ada.id, lines.join("\n")).await);
    }
    let plan = home.erasure().plan_of_name(&origin.who, "cat").await.unwrap().unwrap();
    let preview = home.erasure().preview(&origin.who, plan).await.unwrap();
    let is_chosen = |at: usize| mask.as_ref().is_none_or(|mask| mask[at % mask.len()]);
    let numbers: Vec<usize> = (1..=preview.items.len()).filter(|number| is_chosen(*number)).collect();
    let choice = match &mask {
        None => Some((ErasureChoice::default(), true)),
        Some(_) => preview.choice_of(&numbers),
    };
    let (mut chosen_lines, mut chosen_messages) = (Vec::new(), Vec::new());
    for number in &numbers {
        match &preview.items[number - 1].item {
            ErasureItem::Line { path, line } => chosen_lines.push((path.clone(), ErasureQuery::words_of(line))),
            ErasureItem::Message(id) => chosen_messages.push(*id),
            other => panic!("{other:?}"),
        }
    }
    if let Some((choice, messages)) = choice {
        let scope = Scope::Person(ada.id);
        let id = home.erasure().begin(vec![(preview.plan, messages, choice)], ada.id, scope, NOW).await.unwrap()[0];
        let outcome = home.erasure().execute(id, NOW).await.unwrap().unwrap();
        assert!(outcome.remaining.is_empty(), "{:?}", outcome.remaining);
    }
    let versions = home.journal.read(|db| db.erasure().old_contents(Scope::Person(PersonId(1)))).await.unwrap();
    let mut contents: Vec<(String, String)> = versions.into_iter().map(|old| (old.path, old.text)).collect();
    for (path, _) in &said.files {
        contents.push(((*path).to_owned(), fs::read_to_string(home.path(path)).unwrap()));
    }
    let mut messages = Vec::new();
    for id in &ids {
        let id = *id;
        let texts = home.journal.read(move |db| db.messages().texts_of(id)).await.unwrap();
        messages.push(texts.iter().map(|text| text.text.open().0.to_string()).collect());
    }
    let gone = ids.iter().enumerate().filter(|(_, id)| chosen_messages.contains(id));
    let chosen_messages = gone.map(|(at, _)| at).collect();
    Left { contents, messages, chosen_lines, chosen_messages }
}

fn lines() -> impl proptest::strategy::Strategy<Value = Vec<usize>> {
    proptest::collection::vec(0..ABOUT_CAT.len() + OTHERS.len(), 1..6)
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(24))]

    /// Promise (forgetting/nothing-else): Whatever you have forgotten, wholly or in part, every
    /// line that does not say it is still there, in every earlier version of every file and in
    /// every message; and what you chose is nowhere any more.
    #[test]
    fn every_other_line_stays_in_every_version_and_message(
        memory in proptest::collection::vec(lines(), 1..5),
        note in proptest::collection::vec(lines(), 1..4),
        messages in proptest::collection::vec(lines(), 0..5),
        mask in proptest::option::of(proptest::collection::vec(proptest::prelude::any::<bool>(), 7)),
    ) {
        let all: Vec<&'static str> = ABOUT_CAT.iter().chain(&OTHERS).copied().collect();
        let named = |picks: &[Vec<usize>]| -> Vec<Vec<&'static str>> {
            let mut versions: Vec<Vec<_>> = picks.iter().map(|lines| lines.iter().map(|at| all[*at]).collect()).collect();
            // A change of one line at least makes each a version of its own.
            versions.iter_mut().enumerate().for_each(|(at, lines)| lines.insert(0, OTHERS[at % 3]));
            versions.dedup();
            versions
        };
        let mut memory = named(&memory);
        // The last version states the fact as a fact, so that it can be named.
        memory.last_mut().unwrap().push(ABOUT_CAT[0]);
        let said = Said {
            files: vec![("memory/MEMORY.md", memory), ("memory/pets.md", named(&note))],
            messages: messages.iter().map(|lines| lines.iter().map(|at| all[*at]).collect()).collect(),
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let left = runtime.block_on(forget_the_cat(&said, mask));
        let is_chosen = |path: &str, line: &str| {
            left.chosen_lines.iter().any(|(of, words)| of == path && *words == ErasureQuery::words_of(line))
        };
        for (path, versions) in &said.files {
            for lines in versions {
                let others: Vec<&str> = lines.iter().filter(|line| !is_chosen(path, line)).copied().collect();
                let is_kept = |(of, text): &(String, String)| {
                    let own: Vec<&str> = text.lines().filter(|line| all.contains(line)).collect();
                    of == path && own == others
                };
                proptest::prop_assert!(left.contents.iter().any(is_kept), "{others:?} is missing in {:?}", left.contents);
            }
        }
        for (path, text) in &left.contents {
            proptest::prop_assert!(!text.lines().any(|line| is_chosen(path, line)), "{path}: {text}");
        }
        for (at, lines) in said.messages.iter().enumerate() {
            let expected = if left.chosen_messages.contains(&at) { String::new() } else { lines.join("\n") };
            proptest::prop_assert_eq!(&left.messages[at], &expected);
        }
    }
}
