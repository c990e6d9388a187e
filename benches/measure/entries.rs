//! Cost of a search in the memory: a hundred thousand entries of one person, then with as many of
//! two other people.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use compline::memory::{Index, Workspace};
use compline::people::{Party, Role};
use compline::search::EntryQuery;
use compline::store::{EntryKind, Journal};
use compline::time::{Clock, SystemClock, Zone};
use compline::trust::{Label, Labelled, Scope};

use crate::library::{sentence, word};
use crate::{cpu, figure, line};

/// Daily notes of each person, and points in each of them.
const DAYS: u64 = 1_000;
const POINTS: u64 = 100;

pub async fn measure() {
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::open(&folder.path().join("journal.db"), None).unwrap();
    let clock = Arc::new(SystemClock::default());
    let now = clock.now();
    let people = journal.write("people", move |tx| {
        let ada = tx.people().allow("Ada", Role::Owner, "config", now)?;
        Ok([
            ada,
            tx.people().allow("Ben", Role::Member, "config", now)?,
            tx.people().allow("Cy", Role::Member, "config", now)?,
        ])
    });
    let [ada, ben, cy] = people.await.unwrap().map(Party::One);
    let workspace = folder.path().join("workspace");
    write(&workspace, 0);
    let files = Workspace::new(workspace.clone(), folder.path().join("experience"), journal.clone(), Zone::UTC);
    let index = Index::new(files, journal.clone(), clock);
    let began = Instant::now();
    index.refresh(&ada).await.unwrap();
    figure(&format!("  reading {} points of daily notes took", DAYS * POINTS), format!("{:.0?}", began.elapsed()));
    search(&index, &ada, "alone").await;
    write(&workspace.join("people/ben"), 1);
    write(&workspace.join("people/cy"), 2);
    index.refresh(&ben).await.unwrap();
    index.refresh(&cy).await.unwrap();
    search(&index, &ada, "beside 200,000 of others").await;
    journal.close().await;
}

/// Questions of rare words, of common ones, and of both; then the recall at the start of a
/// conversation.
async fn search(index: &Index, ada: &Party, beside: &str) {
    for (what, ranks) in [
        ("rare words", [3_000_u64, 5_000, 7_000]),
        ("a common word among them", [40, 3_000, 7_000]),
        ("common words only", [5, 10, 20]),
    ] {
        for (limits, kinds) in [("", vec![]), (", by kind", vec![EntryKind::Fact, EntryKind::Note, EntryKind::Day])] {
            let (mut times, before) = (Vec::new(), cpu());
            for n in 0..100 {
                let words = ranks.map(|rank| word(rank + n)).join(" ");
                let words = Labelled::new(Arc::from(words), Label::trusted(), ada.scope());
                let question = EntryQuery { kinds: kinds.clone(), limit: 10, ..EntryQuery::of(ada, words) };
                let began = Instant::now();
                index.search(&question).await.unwrap();
                times.push(began.elapsed());
            }
            let each = (cpu() - before) / 100;
            line(&format!("search in {} entries {beside}: {what}{limits}", DAYS * POINTS), times, Some(each));
        }
    }
    let (mut times, before) = (Vec::new(), cpu());
    for _ in 0..100 {
        let began = Instant::now();
        index.salient(ada, 30).await.unwrap();
        times.push(began.elapsed());
    }
    line(&format!("what mattered most among them, {beside}"), times, Some((cpu() - before) / 100));
}

fn write(folder: &Path, whose: u64) {
    let memory = folder.join("memory");
    std::fs::create_dir_all(&memory).unwrap();
    for day in 0..DAYS {
        let first = (whose * DAYS + day) * POINTS;
        let points: String =
            (first..first + POINTS).map(|n| format!("- {}\n", sentence(n, Scope::Shared).open().0)).collect();
        let (year, month, day) = (2000 + day / 336, 1 + day % 336 / 28, 1 + day % 28);
        std::fs::write(memory.join(format!("{year}-{month:02}-{day:02}.md")), format!("# A day\n\n{points}")).unwrap();
    }
}
