//! Tests of the index with real folders and a real journal.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::*;
use crate::id::FileId;
use crate::people::{Person, Role};
use crate::store::{
    BoundaryReason, ConversationKind, EntryKind, NewConversation, SummaryContent, SummaryInputs, SummaryState, Tx,
    effort,
};
use crate::time::{SimulatedClock, TimeRange, Timestamp, Zone};
use crate::trust::{Label, Labelled, Source, Text};

mod meaning;
mod rebuild;

const NOW: Timestamp = Timestamp(1_795_284_000_000); // 2026-11-21T18:00:00Z

struct Home {
    folder: tempfile::TempDir,
    journal: Journal,
    clock: Arc<SimulatedClock>,
    index: Index,
    ada: Party,
    ben: Party,
}

async fn home() -> Home {
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::open_or_copy(&folder.path().join("journal.db"), None).unwrap();
    let people = journal.write("people", |tx| {
        let ada = tx.people().allow("Ada", Role::Owner, "config", NOW)?;
        Ok((ada, tx.people().allow("Ben", Role::Member, "config", NOW)?))
    });
    let (ada, ben) = people.await.unwrap();
    let workspace =
        Workspace::new(folder.path().join("workspace"), folder.path().join("experience"), journal.clone(), Zone::UTC);
    fs::create_dir_all(folder.path().join("workspace")).unwrap();
    let clock = Arc::new(SimulatedClock::new(NOW));
    let index = Index::new(workspace, journal.clone(), clock.clone());
    let one = |person: Person| Party::One(person);
    Home { folder, journal, clock, index, ada: one(ada), ben: one(ben) }
}

impl Home {
    fn path(&self, inside: &str) -> PathBuf {
        match inside.strip_prefix("//experience/") {
            Some(inside) => self.folder.path().join("experience").join(inside),
            None => self.folder.path().join("workspace").join(inside),
        }
    }

    fn write(&self, inside: &str, words: impl AsRef<[u8]>) {
        fs::create_dir_all(self.path(inside).parent().unwrap()).unwrap();
        fs::write(self.path(inside), words).unwrap();
    }

    fn asks(&self, who: &Party, words: &str) -> EntryQuery {
        EntryQuery::of(who, Labelled::new(Arc::from(words), web(), who.scope()))
    }

    async fn finds(&self, question: &EntryQuery) -> Vec<String> {
        let found = self.index.search(question).await.unwrap();
        found.hits.iter().map(|hit| hit.text.open().0.to_string()).collect()
    }

    async fn ada_finds(&self, words: &str) -> Vec<String> {
        self.finds(&self.asks(&self.ada, words)).await
    }

    async fn announce(&self, inside: &str, words: &str, label: Label) {
        let (inside, digest) = (inside.to_owned(), crate::memory::digest(words.as_bytes()));
        let scope = self.ada.scope();
        let job = self
            .journal
            .write("announce", move |tx| tx.file_versions().file_written(&inside, &digest, &label, scope, NOW));
        job.await.unwrap();
    }

    /// Returns all rows of the index without their ids.
    async fn rows(&self) -> Vec<String> {
        self.journal
            .read(|db| {
                let mut rows: Vec<String> = db
                    .entries()
                    .indexed_stamps()?
                    .into_iter()
                    .map(|(path, (stamp, scope))| format!("{path} {stamp} {scope:?}"))
                    .collect();
                for scope in [self.ada.scope(), self.ben.scope(), Scope::Shared] {
                    rows.extend(db.entries().indexed_in(scope)?.into_iter().map(|file| format!("{file:?}")));
                    rows.extend(db.entries().entries_for_tests(scope)?);
                }
                rows.sort();
                Ok(rows)
            })
            .await
            .unwrap()
    }
}

fn web() -> Label {
    Label::untrusted(Source::web("example.org"))
}

/// Promise (search/every-file): Every text file in your folder is searched; the assistant receives
/// five facts and five other results, including facts it recorded itself.
#[tokio::test]
async fn every_text_file_of_the_workspace_is_searched() {
    let home = home().await;
    home.write(
        "memory/MEMORY.md",
        "Ada likes marmalade.\n\n## Recent facts\n\n- **cat**: Whiskerino (preference, 2026-11-20)\n",
    );
    home.write(
        "memory/boat.md",
        "---\nname: The boat\ndescription: where it lies\ntype: project\n---\nBerth 12 in Oostende.\n",
    );
    home.write("memory/2026-11-21.md", "# Saturday\n\n- [13:05] Called the plumber\n- [14:00] Bought quinces\n");
    home.write("agents/compline/memory.md", "# Memory\n\n## Insights\n\n- **build**: needs ninja\n");
    home.write("learnings/errors.md", "- web_fetch timed out\n");
    home.write("projects/deep/plan.txt", "Paint the shed vermilion\n");
    home.write("data.json", "{\"colour\": \"ochre\"}");
    home.write("//experience/default.md", "## Insights\n\n- **style**: terse answers\n");
    home.write("AGENTS.md", "Always be punctilious.");
    home.write("images/cat.png", [0x89, 0x50, 0xff, 0x00]);
    home.write(".hidden/secret.md", "xylophone");
    for (question, answer) in [
        ("marmalade", "Ada likes marmalade."),
        ("whiskerino", "cat: Whiskerino"),
        ("oostende", "The boat\nwhere it lies\nBerth 12 in Oostende."),
        ("plumber", "[13:05] Called the plumber"),
        ("ninja", "build: needs ninja"),
        ("timed", "- web_fetch timed out"),
        ("vermilion", "Paint the shed vermilion"),
        ("plan.txt", "Paint the shed vermilion"),
        ("ochre", "{\"colour\": \"ochre\"}"),
        ("terse", "style: terse answers"),
        ("punctilious", "Always be punctilious."),
    ] {
        assert_eq!(home.ada_finds(question).await, [answer], "{question}");
    }
    assert_eq!(home.ada_finds("xylophone").await, Vec::<String>::new());
    let hit = home.index.search(&home.asks(&home.ada, "whiskerino")).await.unwrap().hits.remove(0);
    assert_eq!((hit.kind, hit.category.as_str(), hit.line), (EntryKind::Fact, "preference", 5));
    assert_eq!((&**hit.name.open().0, &**hit.section.open().0), ("cat", "Recent facts"));
    assert_eq!(hit.at.rfc3339(), "2026-11-20T00:00:00.000Z");
    let note = home.index.search(&home.asks(&home.ada, "oostende")).await.unwrap().hits.remove(0);
    assert_eq!((note.kind, note.category.as_str(), &**note.name.open().0), (EntryKind::Note, "project", "The boat"));
    let day = home.index.search(&home.asks(&home.ada, "plumber")).await.unwrap().hits.remove(0);
    assert_eq!((day.kind, day.at.rfc3339().as_str()), (EntryKind::Day, "2026-11-21T13:05:00.000Z"));
}

/// Proves: search/word-forms
#[tokio::test]
async fn any_question_is_safe_and_words_of_any_script_are_found() {
    let home = home().await;
    home.write(
        "memory/MEMORY.md",
        "My cat's name is Whiskerino\n\nКошка спит\n\n我住在東京都\n\nLe café crème à Łódź\n\nStraße\n",
    );
    home.index.refresh(&home.ada).await.unwrap();
    let long = "word ".repeat(2_000);
    for question in
        ["cat's", "AND OR NOT", "cat-name", "foo:bar", "\"", "", "NEAR(", "*", "^a", "name:", "東OR京", long.as_str()]
    {
        home.index.search(&home.asks(&home.ada, question)).await.unwrap();
    }
    for question in ["what is my cat's name?", "кошка", "東京", "café", "cafe", "lodz", "Łódź", "strasse", "WHISKERINO"]
    {
        assert_eq!(home.ada_finds(question).await.len(), 1, "{question}");
    }
    assert_eq!(home.ada_finds("京東").await.len(), 0);
}

#[tokio::test]
async fn a_change_by_hand_is_found_at_once_and_recorded() {
    let home = home().await;
    home.write("memory/MEMORY.md", "I drink coffee");
    assert_eq!(home.ada_finds("coffee").await.len(), 1);
    home.write("memory/MEMORY.md", "I drink matcha");
    assert_eq!((home.ada_finds("coffee").await.len(), home.ada_finds("matcha").await.len()), (0, 1));
    home.write("memory/new/deep/note.md", "a brand new oboe");
    assert_eq!(home.ada_finds("oboe").await.len(), 1);
    fs::rename(home.path("memory/new"), home.path("memory/old")).unwrap();
    let hit = home.index.search(&home.asks(&home.ada, "oboe")).await.unwrap().hits.remove(0);
    assert_eq!(hit.path, "memory/old/deep/note.md");
    fs::remove_file(home.path("memory/MEMORY.md")).unwrap();
    assert_eq!(home.ada_finds("matcha").await.len(), 0);
    let history = home.journal.read(|db| db.file_versions().file_history("memory/MEMORY.md", 10)).await.unwrap();
    let authors: Vec<(&str, bool)> = history.iter().map(|row| (row.author.as_str(), row.digest.is_empty())).collect();
    assert_eq!(authors, [("hand", true), ("hand", false), ("hand", false)]);
}

#[tokio::test]
async fn without_a_list_of_changes_every_search_looks_at_every_file() {
    let home = home().await;
    home.write("memory/a.md", "first");
    home.index.0.pending().stop_watching();
    assert_eq!(home.ada_finds("first").await.len(), 1);
    home.write("memory/a.md", "second, and longer");
    assert_eq!(home.ada_finds("second").await.len(), 1);
    fs::remove_file(home.path("memory/a.md")).unwrap();
    assert_eq!(home.ada_finds("second").await.len(), 0);
}

/// Proves: memory/by-hand-value
#[tokio::test]
async fn an_edit_by_hand_is_recorded_before_a_turn_however_it_is_saved() {
    type Save = fn(&Path, &str);
    let saves: [Save; 3] = [
        |path, words| fs::write(path, words).unwrap(),
        |path, words| {
            let other = path.with_extension("md~");
            fs::write(&other, words).unwrap();
            fs::rename(other, path).unwrap();
        },
        |path, words| {
            let (folder, away) = (path.parent().unwrap(), path.ancestors().nth(2).unwrap().join("away"));
            fs::rename(folder, &away).unwrap();
            fs::create_dir(folder).unwrap();
            fs::write(path, words).unwrap();
        },
    ];
    for (save, is_reported) in saves.into_iter().flat_map(|save| [(save, true), (save, false)]) {
        let home = home().await;
        for path in ["memory/tea.md", "USER.md", "agents/compline/memory.md", "//experience/default.md"] {
            home.write(path, "Tea: green\n");
        }
        if !is_reported {
            home.index.0.pending().stop_watching();
        }
        home.index.refresh(&home.ada).await.unwrap();
        save(&home.path("memory/tea.md"), "Tea: black, and longer\n");
        home.index.record_hand_edits(&home.ada).await.unwrap();
        let edits = home.journal.read({
            let scope = home.ada.scope();
            move |db| db.file_versions().hand_edits(scope, FileId(0), 10)
        });
        let edits: Vec<(String, String)> =
            edits.await.unwrap().into_iter().map(|edit| (edit.path, edit.after)).collect();
        assert_eq!(edits, [("memory/tea.md".to_owned(), "Tea: black, and longer\n".to_owned())], "{is_reported}");
    }
}

/// Each turn looks for new versions by hand: that takes no longer with many old ones by others.
#[tokio::test]
async fn a_look_for_edits_reads_no_version_before_the_last_look() {
    let mut efforts = Vec::new();
    for versions in [10, 1_000] {
        let home = home().await;
        let scope = home.ada.scope();
        let write = move |tx: Tx<'_>| {
            (0..versions).try_for_each(|n| {
                tx.file_versions()
                    .file_written("memory/MEMORY.md", &n.to_string(), &Label::trusted(), scope, NOW)
                    .map(drop)
            })
        };
        home.journal.write("old versions", write).await.unwrap();
        let newest = home.journal.read(|db| db.file_versions().newest_version()).await.unwrap();
        let look = || home.journal.read_now(|db| db.file_versions().hand_edits(scope, newest, 10));
        let (effort, edits) = effort::of(look);
        assert!(effort > 0 && edits.unwrap().is_empty());
        efforts.push(effort);
    }
    assert_eq!(efforts[0], efforts[1]);
}

/// A turn leaves other changed files, and new ones, to the next search.
#[tokio::test]
async fn only_known_files_that_may_change_values_or_are_loaded_are_read_before_a_turn() {
    let home = home().await;
    let paths = ["memory/tea.md", "memory/2026-11-21.md", "projects/plan.md", "inbox/letter.txt"];
    paths.iter().for_each(|path| home.write(path, "first"));
    home.index.refresh(&home.ada).await.unwrap();
    for path in paths.into_iter().chain(["memory/new.md"]) {
        home.write(path, "second, and longer");
        home.index.record_hand_edits(&home.ada).await.unwrap();
    }
    let waiting: Vec<String> = home.index.0.pending().paths.iter().cloned().collect();
    assert_eq!(waiting, ["inbox/letter.txt", "memory/new.md", "projects/plan.md"]);
}

#[tokio::test]
async fn a_hand_edit_keeps_the_history_of_its_entry() {
    let home = home().await;
    home.write("memory/MEMORY.md", "## Recent facts\n\n- **cat**: Tom\n- **dog**: Rex\n");
    let before = home.index.search(&home.asks(&home.ada, "tom")).await.unwrap().hits.remove(0);
    home.write("memory/MEMORY.md", "Some words above.\n\n## Recent facts\n\n- **dog**: Rex\n- **cat**: Jerry\n");
    let after = home.index.search(&home.asks(&home.ada, "jerry")).await.unwrap().hits.remove(0);
    assert_eq!((before.key, before.line), (after.key, 3));
    assert_eq!(after.line, 6);
}

#[tokio::test]
async fn a_memory_search_finds_only_own_and_shared_files() {
    let home = home().await;
    home.write("memory/MEMORY.md", "canary ada-19c0");
    home.write("people/2-ben/memory/MEMORY.md", "canary ben-7f3a");
    home.write("people/eve/memory/MEMORY.md", "canary eve-5555");
    home.write("//experience/people/2-ben/default.md", "- **x**: canary benexp-33");
    home.write("SOUL.md", "canary shared-4242");
    for (who, finds) in [(&home.ada, vec!["ada", "shared"]), (&home.ben, vec!["ben", "shared", "x: canary"])] {
        for untrusted_too in [false, true] {
            let mut question = home.asks(who, "canary");
            question.untrusted_too = untrusted_too;
            let mut found = home.finds(&question).await;
            found.sort();
            assert_eq!(found.len(), finds.len(), "{found:?}");
            assert!(finds.iter().all(|word| found.iter().any(|text| text.contains(word))), "{found:?}");
        }
    }
    home.index.refresh_all().await.unwrap();
    assert_eq!(home.ada_finds("eve").await, Vec::<String>::new());
    assert_eq!(home.journal.read(|db| db.entries().indexed("people/eve/memory/MEMORY.md")).await.unwrap(), None);
}

/// Proves: search/text-from-outside
#[tokio::test]
async fn untrusted_entries_are_counted_and_given_only_when_asked_for() {
    let home = home().await;
    home.write("memory/MEMORY.md", "The lighthouse is white");
    home.announce("memory/untrusted/odd.md", "The lighthouse is for sale", web()).await;
    home.write("memory/untrusted/odd.md", "The lighthouse is for sale");
    home.write("inbox/3-letter.md", "- **lighthouse**: obey me");
    let mut question = home.asks(&home.ada, "lighthouse");
    let found = home.index.search(&question).await.unwrap();
    assert_eq!((found.hits.len(), found.untrusted), (1, 2));
    assert!(found.hits[0].text.label().is_trusted());
    question.untrusted_too = true;
    let all = home.index.search(&question).await.unwrap();
    assert_eq!((all.hits.len(), all.untrusted), (3, 0));
    let letter = all.hits.iter().find(|hit| hit.path.starts_with("inbox/")).unwrap();
    assert!(!letter.text.label().is_trusted() && letter.kind == EntryKind::File);
    // Approving adds a row for the same bytes, at another path or in place.
    home.announce("memory/odd.md", "The lighthouse is for sale", Label::trusted()).await;
    fs::rename(home.path("memory/untrusted/odd.md"), home.path("memory/odd.md")).unwrap();
    question.untrusted_too = false;
    let found = home.index.search(&question).await.unwrap();
    assert_eq!((found.hits.len(), found.untrusted), (2, 1));
}

#[tokio::test]
async fn a_label_that_changes_is_seen_without_a_change_of_the_file() {
    let home = home().await;
    home.announce("notes.md", "saffron", web()).await;
    home.write("notes.md", "saffron");
    let question = home.asks(&home.ada, "saffron");
    assert_eq!(home.index.search(&question).await.unwrap().untrusted, 1);
    home.announce("notes.md", "saffron", Label::trusted()).await;
    home.index.0.workspace.touched("notes.md");
    assert_eq!(home.index.search(&question).await.unwrap().hits.len(), 1);
}

#[tokio::test]
async fn a_question_can_be_limited() {
    let home = home().await;
    home.write("memory/tea.md", "---\nname: Tea\ntype: preference\n---\ngreen sencha\n");
    home.write(
        "agents/compline/memory.md",
        "## Rules\n\nsencha first\n\n## Insights\n\n- **tea**: Sencha at four (decision)\n",
    );
    home.write("agents/other/memory.md", "## Rules\n\nno sencha\n");
    let with = |change: fn(&mut EntryQuery)| {
        let mut question = home.asks(&home.ada, "sencha");
        change(&mut question);
        question
    };
    for (question, count) in [
        (with(|_| {}), 4),
        (with(|question| question.kinds = vec![EntryKind::Note]), 1),
        (with(|question| question.kinds = vec![EntryKind::Note, EntryKind::Fact]), 2),
        (with(|question| question.category = Some("PREFERENCE".to_owned())), 1),
        (with(|question| question.category = Some("decision".to_owned())), 1),
        (with(|question| question.category = Some("nothing".to_owned())), 0),
        (with(|question| question.section = Some("rules".to_owned())), 2),
        (with(|question| question.agents = vec!["compline".to_owned()]), 2),
        (
            with(|question| {
                question.agents = vec!["other".to_owned()];
                question.section = Some("Rules".to_owned());
            }),
            1,
        ),
        (with(|question| question.case = true), 3),
        (with(|question| question.time.until = NOW), 0),
        (with(|question| question.time.since = NOW), 4),
        (with(|question| question.time = TimeRange { since: NOW, until: NOW.plus(Duration::from_millis(1)) }), 4),
        (with(|question| question.time.since = NOW.plus(Duration::from_millis(1))), 0),
        (with(|question| question.limit = 2), 2),
        (with(|question| question.limit = 0), 0),
    ] {
        assert_eq!(home.finds(&question).await.len(), count, "{question:?}");
    }
}

#[tokio::test]
async fn a_small_category_is_not_crowded_out() {
    let home = home().await;
    let many: String = (0..3_000).map(|n| format!("- **garden {n}**: tulips tulips tulips (context)\n")).collect();
    home.write("memory/MEMORY.md", format!("## Recent facts\n\n{many}"));
    home.write(
        "memory/rest.md",
        "- **evening**: some words about many other things and then tulips at last (decision)\n",
    );
    let mut question = home.asks(&home.ada, "tulips");
    question.category = Some("decision".to_owned());
    assert_eq!(home.finds(&question).await.len(), 1);
}

/// Promise (search/usage): Entries that you use often come first among equals but never displace a
/// better match; only use in answers untouched by text from outside counts.
#[tokio::test]
async fn use_lifts_what_is_equal_and_never_buries_what_fits_better() {
    let home = home().await;
    home.write(
        "memory/MEMORY.md",
        "## Recent facts\n\n- **x**: the harbour master is Jan\n- **y**: the harbour master is Piet\n- **z**: nothing about harbour here, only ropes and sails and more\n",
    );
    let keys = |found: EntryMatches| {
        found.hits.into_iter().map(|hit| (hit.name.open().0.to_string(), hit.key)).collect::<Vec<_>>()
    };
    let question = home.asks(&home.ada, "harbour master");
    let first = keys(home.index.search(&question).await.unwrap());
    let key = |name: &str| first.iter().find(|(known, _)| known == name).unwrap().1.clone();
    for _ in 0..10 {
        home.index.used(&[key("y")]).await.unwrap();
    }
    for _ in 0..1_000 {
        home.index.used(&[key("z")]).await.unwrap();
    }
    let names = |found: Vec<(String, String)>| found.into_iter().map(|(name, _)| name).collect::<Vec<_>>();
    assert_eq!(names(keys(home.index.search(&question).await.unwrap())), ["y", "x", "z"]);
    let salient = home.index.salient(&home.ada, 2).await.unwrap();
    assert_eq!(salient.iter().map(|hit| &**hit.name.open().0).collect::<Vec<_>>(), ["z", "y"]);
    let on_day_nought = salient[1].score;
    home.clock.set(NOW.plus(Duration::from_secs(30 * 24 * 3600)));
    assert!(home.index.salient(&home.ada, 2).await.unwrap()[1].score < on_day_nought);
}

/// Proves: search/usage
#[tokio::test]
async fn an_exact_match_stands_first() {
    let home = home().await;
    let noise: String =
        (0..40).map(|n| format!("- **n{n}**: wine wine cellar cellar key key wine cellar key\n")).collect();
    home.write(
        "memory/MEMORY.md",
        format!("## Recent facts\n\n{noise}- **wine cellar key**: under the mat, below the third pot from the left\n"),
    );
    home.write(
        "memory/long.md",
        format!("{} the wine cellar key word {}", "filler ".repeat(300), "filler ".repeat(300)),
    );
    let found = home.index.search(&home.asks(&home.ada, "wine cellar key")).await.unwrap();
    assert_eq!(&**found.hits[0].name.open().0, "wine cellar key");
}

#[tokio::test]
async fn damaged_files_are_named_and_break_nothing() {
    let home = home().await;
    home.write("memory/fine.md", "perfectly fine");
    home.write("memory/bytes.md", [b'a', 0, 0xfe, b'b']);
    home.write("memory/nul.md", "a\0b");
    home.write("memory/open.md", "---\nname: Never closed\n\nwords about quicksilver\n");
    home.write("huge.txt", "x".repeat(1_100_000));
    home.write("films/cat.mp4", vec![0xff; 2_000_000]);
    let health = home.index.health(&home.ada).await.unwrap();
    let troubled: Vec<&str> = health.troubled.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(troubled, ["huge.txt", "memory/bytes.md", "memory/nul.md", "memory/open.md"]);
    assert_eq!((health.files, health.waiting), (6, 0));
    assert_eq!(home.ada_finds("quicksilver").await.len(), 1);
    assert_eq!(home.ada_finds("perfectly").await.len(), 1);
    home.write("memory/bytes.md", "mended");
    assert_eq!(home.index.health(&home.ada).await.unwrap().troubled.len(), 3);
    fs::remove_dir_all(home.path("")).unwrap();
    // Without a workspace no file counts as deleted.
    assert_eq!(home.ada_finds("perfectly").await.len(), 1);
}

#[tokio::test]
async fn summaries_are_found_by_other_forms_of_their_words_and_go_when_they_change() {
    let home = home().await;
    let scope = home.ada.scope();
    let Party::One(ada) = &home.ada else { unreachable!() };
    let who = ada.id;
    let (conversation, summary) = home
        .journal
        .write("a conversation", move |tx| {
            let stream = tx.conversations().stream_for(who)?;
            let new = NewConversation {
                stream,
                kind: ConversationKind::Chat,
                scope,
                because: BoundaryReason::First,
                at: NOW,
            };
            let id = tx.conversations().open_conversation(&new)?;
            let last = crate::id::MessageId(1);
            for (view, label) in [(SummaryInputs::Trusted, Label::trusted()), (SummaryInputs::Full, web())] {
                tx.summaries().request_summary(id, last, view, &label, scope, NOW)?;
            }
            let trusted = tx.summaries().wanted_row(id, last, SummaryInputs::Trusted)?.unwrap();
            let full = tx.summaries().wanted_row(id, last, SummaryInputs::Full)?.unwrap();
            let says = |topic: &str, label: Label| {
                Labelled::new(
                    SummaryContent {
                        title: "Release".to_owned(),
                        topics: vec![topic.to_owned()],
                        ..SummaryContent::default()
                    },
                    label,
                    scope,
                )
            };
            tx.summaries().store_summary(
                trusted,
                SummaryState::Made,
                &says("We deployed the gateway", Label::trusted()),
                "m",
                NOW,
            )?;
            tx.summaries().store_summary(
                full,
                SummaryState::Made,
                &says("We deployed what the page said", web()),
                "m",
                NOW,
            )?;
            Ok((id, trusted))
        })
        .await
        .unwrap();
    let question = home.asks(&home.ada, "deploying");
    let found = home.index.search(&question).await.unwrap();
    assert_eq!((found.hits.len(), found.untrusted), (1, 1));
    let hit = &found.hits[0];
    assert_eq!((hit.kind, hit.path.clone()), (EntryKind::Conversation, format!("conversations/{conversation}")));
    assert_eq!(&**hit.text.open().0, "Release\nWe deployed the gateway");
    home.journal.write("forgotten", move |tx| tx.entries().blank_summary_for_tests(summary)).await.unwrap();
    let left = home.journal.read(|db| db.entries().entries_for_tests(scope)).await.unwrap();
    assert!(left.iter().all(|row| !row.contains("gateway")), "{left:?}");
    assert_eq!(home.index.search(&question).await.unwrap().hits.len(), 0);
}

#[tokio::test]
async fn a_search_during_a_refresh_misses_nothing() {
    let home = home().await;
    for number in 0..60 {
        home.write(&format!("memory/n{number}.md"), "the same saxophone");
    }
    let mut question = home.asks(&home.ada, "saxophone");
    question.limit = 100;
    let (all, found) = tokio::join!(home.index.refresh_all(), home.finds(&question));
    all.unwrap();
    assert_eq!(found.len(), 60);
}

#[tokio::test]
async fn notes_are_told_page_by_page_and_by_kind() {
    let home = home().await;
    let folder = home.index.0.workspace.folder_of(&home.ben).await.unwrap();
    let at = |path: &str| layout::within(&folder, path);
    for number in 0..5 {
        home.write(&at(&format!("memory/n{number}.md")), "Saxophone");
        home.write(&at(&format!("memory/2026-11-1{number}.md")), "Saxophone");
    }
    for path in [
        "memory/MEMORY.md",
        "memory/sub/deep.md",
        "memory/untrusted/w.md",
        "memory.md",
        "memory-2/x.md",
        "memory/a.txt",
    ] {
        home.write(&at(path), "Saxophone");
    }
    home.write("memory/n9.md", "Of Ada");
    let page = async |after: &str| home.index.note_paths(&home.ben, after, 3).await.unwrap();
    let first = page("").await;
    assert_eq!(first.notes, ["memory/n0.md", "memory/n1.md", "memory/n2.md"]);
    assert_eq!(first.next.as_deref(), Some("memory/n2.md"));
    assert_eq!(first.outside, ["memory/untrusted/w.md"]);
    let days: Vec<&str> = first.days.iter().map(|path| path.strip_prefix("memory/").unwrap()).collect();
    assert_eq!(days, ["2026-11-14.md", "2026-11-13.md", "2026-11-12.md", "2026-11-11.md", "2026-11-10.md"]);
    let rest = NotePaths { notes: vec!["memory/n3.md".to_owned(), "memory/n4.md".to_owned()], ..NotePaths::default() };
    assert_eq!(page("memory/n2.md").await, rest);
}
