//! After any edits to the workspace, the incrementally updated index equals a rebuilt one.

use std::fs;
use std::time::Duration;

use proptest::prelude::*;

use super::{Home, home, web};
use crate::time::Clock;
use crate::trust::Label;

/// An edit or event in the workspace.
#[derive(Debug, Clone)]
enum Edit {
    Write(usize, usize),
    Delete(usize),
    Rename(usize, usize),
    Promote(usize),
    Taint(usize, usize),
    Search(usize),
    Minutes(u64),
}

const PATHS: [&str; 8] = [
    "memory/MEMORY.md",
    "memory/tea.md",
    "memory/2026-11-21.md",
    "memory/untrusted/odd.md",
    "inbox/1-a.txt",
    "people/2-ben/memory/MEMORY.md",
    "AGENTS.md",
    "agents/compline/memory.md",
];
const TEXTS: [&str; 8] = [
    "## Recent facts\n\n- **cat**: Tom\n- **cat**: Tom again\n",
    "- **dog**: Rex (fact, 2026-01-02)\n\nrunning words\n\n# A heading\n\nmore tea\n",
    "---\nname: Tea\ntype: preference\n---\ngreen tea\n",
    "",
    "- [10:00] drank tea\n- [11:00] fed the cat\n",
    "---\nbroken front tea",
    "東京 tea café\n\n<!-- hidden\ncat -->\n",
    "a\0binary cat",
];

fn edit() -> impl Strategy<Value = Edit> {
    let (path, text) = (0..PATHS.len(), 0..TEXTS.len());
    prop_oneof![
        4 => (path.clone(), text.clone()).prop_map(|(path, text)| Edit::Write(path, text)),
        2 => path.clone().prop_map(Edit::Delete),
        1 => (path.clone(), path.clone()).prop_map(|(from, to)| Edit::Rename(from, to)),
        1 => path.clone().prop_map(Edit::Promote),
        1 => (path.clone(), text).prop_map(|(path, text)| Edit::Taint(path, text)),
        2 => (0..4_usize).prop_map(Edit::Search),
        1 => (0..3_u64).prop_map(Edit::Minutes),
    ]
}

impl Home {
    async fn happens(&self, edit: &Edit) {
        match edit {
            Edit::Write(path, text) => self.write(PATHS[*path], TEXTS[*text]),
            Edit::Delete(path) => drop(fs::remove_file(self.path(PATHS[*path]))),
            Edit::Rename(from, to) => {
                fs::create_dir_all(self.path(PATHS[*to]).parent().unwrap()).unwrap();
                drop(fs::rename(self.path(PATHS[*from]), self.path(PATHS[*to])));
            }
            Edit::Promote(path) => {
                if let Ok(words) = fs::read_to_string(self.path(PATHS[*path])) {
                    self.announce(PATHS[*path], &words, Label::trusted()).await;
                    self.index.0.workspace.touched(PATHS[*path]);
                }
            }
            Edit::Taint(path, text) => {
                self.announce(PATHS[*path], TEXTS[*text], web()).await;
                self.write(PATHS[*path], TEXTS[*text]);
            }
            Edit::Search(which) => drop(self.answers(*which).await),
            Edit::Minutes(minutes) => self.clock.set(self.clock.now().plus(Duration::from_secs(60 * minutes))),
        }
    }

    async fn answers(&self, which: usize) -> Vec<String> {
        let mut all = Vec::new();
        for who in [&self.ada, &self.ben] {
            for untrusted_too in [false, true] {
                let mut question = self.asks(who, ["tea", "cat", "東京", "green tea name"][which]);
                (question.untrusted_too, question.limit) = (untrusted_too, 50);
                let found = self.index.search(&question).await.unwrap();
                all.push(format!("{} untrusted", found.untrusted));
                all.extend(found.hits.iter().map(|hit| format!("{hit:?}")));
            }
        }
        all
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, max_shrink_iters: 60, ..ProptestConfig::default() })]

    /// Proves: search/rebuild
    #[test]
    fn a_rebuilt_index_equals_one_updated_step_by_step(edits in prop::collection::vec(edit(), 1..25)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let home = home().await;
            for edit in &edits {
                home.happens(edit).await;
            }
            let answers = async || {
                let mut all = Vec::new();
                for which in 0..4 {
                    all.extend(home.answers(which).await);
                }
                all
            };
            // Word rarity is counted over the entries of all parties.
            home.index.refresh_all().await.unwrap();
            let (before, rows) = (answers().await, home.rows().await);
            home.index.clear().await.unwrap();
            assert!(home.rows().await.is_empty());
            home.index.refresh_all().await.unwrap();
            assert!(answers().await == before, "other answers after {edits:?}");
            assert_eq!(home.rows().await, rows);
        });
    }
}
