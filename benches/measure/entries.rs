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
use crate::{Scale, cpu, figure, line};

/// Points in each daily note.
const POINTS: u64 = 100;

pub async fn measure(scale: Scale) {
    let (days, questions) = (scale.of(1_000, 10), scale.of(100, 2));
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
    write(&workspace, 0, days);
    let files = Workspace::new(workspace.clone(), folder.path().join("experience"), journal.clone(), Zone::UTC);
    let index = Index::new(files, journal.clone(), clock);
    let began = Instant::now();
    index.refresh(&ada).await.unwrap();
    figure(&format!("  reading {} points of daily notes took", days * POINTS), format!("{:.0?}", began.elapsed()));
    search(&index, &ada, &format!("{} entries alone", days * POINTS), questions).await;
    write(&workspace.join("people/ben"), 1, days);
    write(&workspace.join("people/cy"), 2, days);
    index.refresh(&ben).await.unwrap();
    index.refresh(&cy).await.unwrap();
    let beside = format!("{} entries beside {} of others", days * POINTS, 2 * days * POINTS);
    search(&index, &ada, &beside, questions).await;
    journal.close().await;
}

/// Questions of rare words, of common ones, and of both; then the recall at the start of a
/// conversation.
async fn search(index: &Index, ada: &Party, among: &str, questions: u32) {
    for (what, ranks) in [
        ("rare words", [3_000_u64, 5_000, 7_000]),
        ("a common word among them", [40, 3_000, 7_000]),
        ("common words only", [5, 10, 20]),
    ] {
        for (limits, kinds) in [("", vec![]), (", by kind", vec![EntryKind::Fact, EntryKind::Note, EntryKind::Day])] {
            let (mut times, before) = (Vec::new(), cpu());
            for n in 0..u64::from(questions) {
                let words = ranks.map(|rank| word(rank + n)).join(" ");
                let words = Labelled::new(Arc::from(words), Label::trusted(), ada.scope());
                let question = EntryQuery { kinds: kinds.clone(), limit: 10, ..EntryQuery::of(ada, words) };
                let began = Instant::now();
                index.search(&question).await.unwrap();
                times.push(began.elapsed());
            }
            let each = (cpu() - before) / questions;
            line(&format!("search in {among}: {what}{limits}"), times, Some(each));
        }
    }
    let (mut times, before) = (Vec::new(), cpu());
    for _ in 0..questions {
        let began = Instant::now();
        index.salient(ada, 30).await.unwrap();
        times.push(began.elapsed());
    }
    line(&format!("what mattered most in {among}"), times, Some((cpu() - before) / questions));
}

fn write(folder: &Path, whose: u64, days: u64) {
    let memory = folder.join("memory");
    std::fs::create_dir_all(&memory).unwrap();
    for day in 0..days {
        let first = (whose * days + day) * POINTS;
        let points: String =
            (first..first + POINTS).map(|n| format!("- {}\n", sentence(n, Scope::Shared).open().0)).collect();
        let (year, month, day) = (2000 + day / 336, 1 + day % 336 / 28, 1 + day % 28);
        std::fs::write(memory.join(format!("{year}-{month:02}-{day:02}.md")), format!("# A day\n\n{points}")).unwrap();
    }
}
