//! Erasure of a person: what is deleted and what stays.

use super::*;
use crate::id::ForgettingId;
use crate::store::{Forgotten, NewForgetting, Tx};
use crate::text::needle::ErasureQuery;

impl Home {
    /// Requests the erasure of Ben, with his folder.
    async fn wants_ben_forgotten(&self) -> ForgettingId {
        let ben = self.ben.id;
        let want = move |tx: Tx<'_>| {
            tx.erasure().begin_erasure(&NewForgetting {
                person: Some(ben),
                what: Forgotten::Person,
                target: "people/2-ben",
                needles: &ErasureQuery::default(),
                messages: true,
                label: &Label::trusted(),
                scope: Scope::Person(ben),
                at: NOW,
            })
        };
        self.journal.write("want a person forgotten", want).await.unwrap()
    }

    fn stands(&self, inside: &str) -> bool {
        self.path(inside).exists()
    }
}

/// Proves: forgetting/groups
#[tokio::test]
async fn what_is_left_of_somebody_takes_nothing_of_whoever_has_their_name_now() {
    let home = home().await;
    home.write("people/2-ben/memory/tea.md", "Green.\n");
    let first = home.wants_ben_forgotten().await;
    home.tree.erasure().forget_person(first, NOW).await.unwrap();
    assert!(!home.stands("people/2-ben/memory/tea.md"));
    let second = home.wants_ben_forgotten().await;
    let another = move |tx: Tx<'_>| {
        tx.erasure().end_forgetting(second, true, NOW)?;
        tx.people().allow("Ben", Role::Member, "pairing", NOW)
    };
    let ben = home.journal.write("another Ben", another).await.unwrap();
    assert_ne!(ben.id, home.ben.id);
    home.write("people/3-ben/memory/tea.md", "Black.\n");
    home.tree.erasure().forget_person(second, NOW).await.unwrap();
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
        home.tree.erasure().forget_person(job, NOW).await.unwrap();
        assert!(home.stands("memory/tea.md") && !home.stands("people/2-ben/memory/tea.md"));
    }
}
