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
