//! Erasure of a person: what is deleted and what stays.

use std::fs;

use super::*;
use crate::people::{Person, Role};
use crate::time::Zone;

const NOW: Timestamp = Timestamp(1_795_284_000_000); // 2026-11-21T18:00:00Z

struct Home {
    folder: tempfile::TempDir,
    journal: Journal,
    workspace: Workspace,
    ben: Person,
}

async fn home() -> Home {
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::open(&folder.path().join("journal.db"), None).unwrap();
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
        self.erasure().begin(plan, ben, Scope::Person(ben), true, NOW).await.unwrap()
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

async fn forget_the_cat(versions: &[Vec<&'static str>]) -> (Vec<String>, ErasureCounts) {
    let home = home().await;
    let ada = home.journal.read(|db| db.people().person(PersonId(1))).await.unwrap().unwrap();
    let origin = ChangeOrigin {
        who: Party::One(ada.clone()),
        label: Label::trusted(),
        author: Author::Person,
        cause: "test",
        from: Vec::new(),
        now: NOW,
    };
    for lines in versions {
        let text = format!("# Memory\n\n## Recent facts\n\n{}\n", lines.join("\n"));
        let make = move |_: Option<&str>| Ok(NewContent::Text(text.clone()));
        home.workspace.versions().change(&origin, "memory/MEMORY.md", make).await.unwrap();
    }
    let plan = home.erasure().plan_of_name(&origin.who, "cat").await.unwrap();
    let mut counts = ErasureCounts::default();
    if let Some(plan) = plan {
        let id = home.erasure().begin(plan, ada.id, Scope::Person(ada.id), false, NOW).await.unwrap();
        counts = home.erasure().execute(id, NOW).await.unwrap().unwrap().counts;
    }
    let kept = home.journal.read(|db| db.erasure().old_contents(Scope::Person(PersonId(1)))).await.unwrap();
    (kept.into_iter().map(|old| old.text).collect(), counts)
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(24))]

    /// Promise (forgetting/nothing-else): Whatever you have forgotten, every line that does not say
    /// it is still there, in every earlier version of every file.
    #[test]
    fn every_other_line_stays_in_every_version(
        picks in proptest::collection::vec(proptest::collection::vec((0..ABOUT_CAT.len() + OTHERS.len(), proptest::prelude::any::<bool>()), 1..6), 1..5),
    ) {
        let all: Vec<&str> = ABOUT_CAT.iter().chain(&OTHERS).copied().collect();
        let mut versions: Vec<Vec<&'static str>> =
            picks.iter().map(|lines| lines.iter().map(|(line, _)| all[*line]).collect()).collect();
        // The first version states the fact as a fact, so that it can be named.
        versions[0].push(ABOUT_CAT[0]);
        // A change of one line at least makes each a version of its own.
        versions.iter_mut().enumerate().for_each(|(at, lines)| lines.insert(0, OTHERS[at % 3]));
        versions.dedup();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (kept, _) = runtime.block_on(forget_the_cat(&versions));
        for lines in &versions {
            let others: Vec<&str> = lines.iter().filter(|line| !ABOUT_CAT.contains(line)).copied().collect();
            let is_kept = |text: &String| {
                let own: Vec<&str> = text.lines().filter(|line| all.contains(line)).collect();
                own == others
            };
            proptest::prop_assert!(kept.iter().any(is_kept), "{others:?} is missing in {kept:?}");
        }
        for text in &kept {
            proptest::prop_assert!(!text.lines().any(|line| ABOUT_CAT.contains(&line)), "{text}");
        }
    }
}
