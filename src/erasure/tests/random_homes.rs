//! Random homes from which a random thing is forgotten: a fact, a line, a note, or words.

use std::sync::Arc;

use proptest::prelude::{Just, Strategy, prop_oneof};

use super::*;
use crate::memory::Index;
use crate::time::SimulatedClock;

/// Subjects and the words by which each is known.
const SUBJECTS: [(&str, &str); 4] =
    [("gate", "Quittenbaum"), ("bicycle", "Xylander"), ("piano", "Vogelsang"), ("boiler", "Zwetschge")];
const SENTENCES: usize = 6;
const TITLE: &str = "Inventory of things";
const NOTE: &str = "memory/inventory.md";
const FILES: [&str; 4] = ["memory/MEMORY.md", NOTE, "memory/2026-11-20.md", "learnings/errors.md"];

/// Sentences about a subject: a fact, a sentence, two long ones that say the same among many other
/// things, and two that say something else of it.
fn sentence(pick: usize) -> String {
    let ((key, name), kind) = (SUBJECTS[pick / SENTENCES], pick % SENTENCES);
    let other = |word: &str| (0..20).map(|at| format!("{word}{key}{at}")).collect::<Vec<_>>().join(" ");
    match kind {
        0 => format!("- **{key}**: {name} Street"),
        1 => line(key, name),
        2 => format!("{} {} {}", other("one"), line(key, name), other("two")),
        3 => format!("{} at {name} Street and {}", other("three"), other("four")),
        4 => format!("The {key} was brought by a neighbour."),
        _ => format!("- **color of the {key}**: green and white"),
    }
}

fn line(key: &str, name: &str) -> String {
    format!("The {key} was brought by {name} last summer.")
}

/// Subject of the deletion.
#[derive(Debug, Clone, Copy)]
enum Forgotten {
    Fact(usize),
    Line(usize),
    Note,
    Words(usize),
}

impl Forgotten {
    fn name(self) -> String {
        match self {
            Self::Fact(of) => SUBJECTS[of].0.to_owned(),
            Self::Line(of) => line(SUBJECTS[of].0, SUBJECTS[of].1),
            Self::Note => "inventory".to_owned(),
            Self::Words(of) => SUBJECTS[of].1.to_owned(),
        }
    }

    /// Sentence that must be known, so that it can be named.
    fn known(self) -> usize {
        match self {
            Self::Fact(of) => of * SENTENCES,
            Self::Line(of) | Self::Words(of) => of * SENTENCES + 1,
            Self::Note => 4,
        }
    }

    /// Words, one of which stands in each sentence that says it.
    fn terms(self, home: &RandomHome) -> Vec<String> {
        let words = |text: &str| ErasureQuery::words_of(text);
        match self {
            Self::Fact(of) => vec![words(&format!("{} Street", SUBJECTS[of].1))],
            Self::Line(_) | Self::Words(_) => vec![words(&self.name())],
            Self::Note => home.files[1].last().unwrap().iter().map(|pick| words(&sentence(*pick))).collect(),
        }
    }
}

/// The sentences of a home.
#[derive(Debug, Clone)]
struct RandomHome {
    /// For each of [`FILES`] its versions.
    files: Vec<Vec<Vec<usize>>>,
    messages: Vec<Vec<usize>>,
    /// Decisions of a summary, context of a turn, and result of a search.
    journal: [Vec<usize>; 3],
    forgotten: Forgotten,
}

fn picks(least: usize) -> impl Strategy<Value = Vec<usize>> {
    proptest::collection::vec(0..SUBJECTS.len() * SENTENCES, least..6)
}

fn random_home() -> impl Strategy<Value = RandomHome> {
    let subject = || 0..SUBJECTS.len();
    let forgotten = prop_oneof![
        subject().prop_map(Forgotten::Fact),
        subject().prop_map(Forgotten::Line),
        Just(Forgotten::Note),
        subject().prop_map(Forgotten::Words),
    ];
    let versions = proptest::collection::vec(proptest::collection::vec(picks(1), 1..4), FILES.len());
    let messages = proptest::collection::vec(picks(1), 1..5);
    (versions, messages, [picks(0), picks(0), picks(0)], forgotten, 0..3_usize).prop_map(
        |(mut files, messages, journal, forgotten, at)| {
            let file = if matches!(forgotten, Forgotten::Note) { 1 } else { 0 };
            let version = at % files[file].len();
            files[file][version].push(forgotten.known());
            RandomHome { files, messages, journal, forgotten }
        },
    )
}

fn text(picks: &[usize]) -> String {
    picks.iter().map(|pick| sentence(*pick)).collect::<Vec<_>>().join("\n")
}

fn file_text(path: &str, picks: &[usize]) -> String {
    let head =
        if path == NOTE { format!("---\nname: {TITLE}\ntype: reference\n---\n") } else { "# Known\n".to_owned() };
    format!("{head}\n{}\n", text(picks))
}

/// A journal as the program that runs does not see it.
fn rows(home: &Home) -> rusqlite::Connection {
    let connection = rusqlite::Connection::open(home.folder.path().join("journal.db")).unwrap();
    connection.execute_batch("PRAGMA foreign_keys = OFF").unwrap();
    connection
}

fn stored(home: &Home, sql: &str) -> Vec<String> {
    let connection = rows(home);
    let mut query = connection.prepare(sql).unwrap();
    query.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
}

/// Writes the files, version by version, and fills the journal and the index.
async fn settle(random: &RandomHome) -> (Home, Party, Index, Vec<MessageId>) {
    let home = home().await;
    let ada = home.journal.read(|db| db.people().person(PersonId(1))).await.unwrap().unwrap();
    let (who, scope) = (Party::One(ada.clone()), Scope::Person(ada.id).encode());
    let origin = ChangeOrigin {
        who: who.clone(),
        label: Label::trusted(),
        author: Author::Person,
        cause: "test",
        from: Vec::new(),
        person: PersonShare::default(),
        now: NOW,
    };
    for (path, versions) in FILES.iter().zip(&random.files) {
        for picks in versions {
            let text = file_text(path, picks);
            let make = move |_: Option<&str>| Ok(NewContent::Text(text.clone()));
            home.workspace.versions().change(&origin, path, make).await.unwrap();
        }
    }
    let mut messages = Vec::new();
    for picks in &random.messages {
        messages.push(says(&home, ada.id, text(picks)).await);
    }
    let ([decisions, context, result], label) = (&random.journal, Label::trusted().encode());
    let decisions: Vec<String> = decisions.iter().map(|pick| sentence(*pick)).collect();
    let rows = rows(&home);
    let summary = "INSERT INTO summaries (conversation_id, last_message_id, view, state, retry_at, decisions, label, scope, wanted_at, made_at)
         VALUES (1, 1, 'full', 'made', 0, ?1, ?2, ?3, 0, 0)";
    rows.execute(summary, [&serde_json::to_string(&decisions).unwrap(), &label, &scope]).unwrap();
    let turn = "INSERT INTO turns (stream_id, conversation_id, address_id, scope, state, claimed_at, context, context_label, label)
         VALUES (1, 1, 1, ?3, 'done', 0, ?1, ?2, ?2)";
    rows.execute(turn, [&text(context), &label, &scope]).unwrap();
    let step = "INSERT INTO steps (turn_id, seq, kind, state, tool, text, label, scope, started_at)
         VALUES (1, 1, 'tool', 'done', 'memory_search', ?1, ?2, ?3, 0)";
    rows.execute(step, [&text(result), &label, &scope]).unwrap();
    let index = Index::new(home.workspace.clone(), home.journal.clone(), Arc::new(SimulatedClock::new(NOW)));
    index.refresh(&who).await.unwrap();
    (home, who, index, messages)
}

/// Forgets it with its messages, and checks everything.
async fn forget(random: &RandomHome) {
    let (home, who, index, messages) = settle(random).await;
    let forgotten = random.forgotten;
    let plan = match forgotten {
        Forgotten::Words(_) => Erasure::plan_of_words(&forgotten.name()),
        _ => home.erasure().plan_of_name(&who, &forgotten.name()).await.unwrap(),
    };
    let plans = vec![(plan.unwrap(), true, ErasureChoice::default())];
    let id = home.erasure().begin(plans, PersonId(1), who.scope(), NOW).await.unwrap()[0];
    let outcome = home.erasure().execute(id, NOW).await.unwrap().unwrap();
    assert!(outcome.remaining.is_empty(), "{:?}", outcome.remaining);
    index.refresh(&who).await.unwrap();

    let terms = forgotten.terms(random);
    let says = |pick: &usize, most: usize| {
        let words = format!(" {} ", ErasureQuery::words_of(&sentence(*pick)));
        terms.iter().any(|term| words.contains(&format!(" {term} ")) && words.len() - term.len() <= most)
    };
    let is_in = |pick: &usize| says(pick, usize::MAX);
    // A line of a file goes only if it says little else, or if its words were named.
    let most = if matches!(forgotten, Forgotten::Words(_)) { usize::MAX } else { 40 };
    let goes_from_file = |pick: &usize| says(pick, most);
    files_are_right(&home, random, &goes_from_file).await;
    for (id, picks) in messages.into_iter().zip(&random.messages) {
        let texts = home.journal.read(move |db| db.messages().texts_of(id)).await.unwrap();
        let left: String = texts.iter().map(|text| text.text.open().0.to_string()).collect();
        assert_eq!(left, if picks.iter().any(is_in) { String::new() } else { text(picks) });
    }
    let [decisions, context, result] = &random.journal;
    let others = |picks: &[usize]| -> Vec<String> {
        picks.iter().filter(|pick| !is_in(pick)).map(|pick| sentence(*pick)).collect()
    };
    let summary = serde_json::to_string(&others(decisions)).unwrap();
    assert_eq!(stored(&home, "SELECT decisions FROM summaries"), [summary]);
    let left = stored(&home, "SELECT context FROM turns").concat();
    assert_eq!(left.lines().collect::<Vec<_>>(), others(context));
    let result = if result.iter().any(is_in) { String::new() } else { text(result) };
    assert_eq!(stored(&home, "SELECT text FROM steps"), [result]);
    if let Forgotten::Words(of) = forgotten {
        nothing_holds(&home, SUBJECTS[of].1).await;
    }
}

async fn files_are_right(home: &Home, random: &RandomHome, goes: &impl Fn(&usize) -> bool) {
    let mut contents: Vec<(String, String)> = Vec::new();
    let versions = home.journal.read(|db| db.erasure().old_contents(Scope::Person(PersonId(1)))).await.unwrap();
    contents.extend(versions.into_iter().map(|old| (old.path, old.text)));
    contents
        .extend(FILES.iter().filter_map(|path| Some(((*path).to_owned(), fs::read_to_string(home.path(path)).ok()?))));
    for (path, versions) in FILES.iter().zip(&random.files) {
        if matches!(random.forgotten, Forgotten::Note) && *path == NOTE {
            assert!(!contents.iter().any(|(of, _)| of == path) && !home.stands(path));
            continue;
        }
        for picks in versions {
            let others: Vec<usize> = picks.iter().filter(|pick| !goes(pick)).copied().collect();
            let is_kept = |(of, kept): &(String, String)| {
                let known = |line: &&str| (0..SUBJECTS.len() * SENTENCES).any(|pick| sentence(pick) == **line);
                of == path
                    && kept.lines().filter(known).collect::<Vec<_>>() == text(&others).lines().collect::<Vec<_>>()
            };
            assert!(contents.iter().any(is_kept), "{path} without {others:?}: {contents:?}");
        }
    }
    let gone: Vec<String> = (0..SUBJECTS.len() * SENTENCES).filter(goes).map(sentence).collect();
    for (path, kept) in &contents {
        assert!(!kept.lines().any(|line| gone.iter().any(|gone| gone == line)), "{path}: {kept}");
    }
    let indexed = stored(home, "SELECT name || ' ' || text FROM entries");
    let is_indexed = |words: &String| {
        let is_it = |entry: &String| ErasureQuery::words_of(entry) == ErasureQuery::words_of(words);
        indexed.iter().any(is_it)
    };
    assert!(!gone.iter().any(is_indexed), "{indexed:?}");
}

/// Asserts that no byte of the journal and no file says that word.
async fn nothing_holds(home: &Home, word: &str) {
    home.journal.truncate_log().await.unwrap();
    let folded = word.to_lowercase();
    for name in ["journal.db", "journal.db-wal"] {
        let bytes = fs::read(home.folder.path().join(name)).unwrap_or_default().to_ascii_lowercase();
        assert!(!bytes.windows(folded.len()).any(|window| window == folded.as_bytes()), "{word} is in {name}");
    }
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(24))]

    /// Proves: forgetting/nothing-else
    #[test]
    fn whatever_is_forgotten_every_other_sentence_stays_everywhere(random in random_home()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(forget(&random));
    }
}
