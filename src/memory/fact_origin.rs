//! The origin of a fact: the day on which it was said, and the version of its list that first had
//! its present value.

use super::agent::FactList;
use super::facts::ListedFacts;
use super::memory_md::is_same_fact;
use super::memory_md::{self, Fact};
use super::workspace::{Notes, unless_refused};
use super::write::ChangeOrigin;
use crate::people::Party;
use crate::store::{Db, FileRow, Node};
use crate::time::Timestamp;
use crate::trust::Label;

/// A fact with the version that brought its value.
#[derive(Debug, Clone)]
pub struct FactOrigin {
    /// Path of the list as its owner sees it.
    pub path: String,
    /// The fact as it stands there.
    pub fact: Fact,
    /// Label of the list.
    pub label: Label,
    /// Oldest version of the list that has had this value ever since; `None` if no content is kept.
    pub since: Option<FileRow>,
}

impl Notes<'_> {
    /// Returns the origin of each fact with that key. Changes by hand are recorded first.
    pub async fn origins_of_fact(&self, origin: &ChangeOrigin, key: &str) -> anyhow::Result<Vec<FactOrigin>> {
        let mut origins = Vec::new();
        for ListedFacts { list, facts, label } in self.holders(&origin.who, key).await? {
            unless_refused(self.versions().take_note_of(origin, &list.path).await)?;
            let versions = self.versions().history(&origin.who, &list.path).await?;
            for fact in facts.into_iter().filter(|fact| is_same_fact(&fact.key, key)) {
                let since = self.first_version(&origin.who, &list, &fact, &versions).await?;
                let (path, label) = (list.path.trim_start_matches('/').to_owned(), label.clone());
                origins.push(FactOrigin { path, fact, label, since });
            }
        }
        Ok(origins)
    }

    /// Returns the days on which these were said, each given by its sources: an extraction may run a
    /// day later. Without a source it is the day of the change.
    pub(super) async fn days_said<'n>(
        &self,
        origin: &ChangeOrigin,
        sources: impl Iterator<Item = &'n [Node]>,
    ) -> anyhow::Result<Vec<String>> {
        let sources: Vec<Vec<Node>> = sources.map(<[Node]>::to_vec).collect();
        let read = move |db: Db<'_>| sources.iter().map(|nodes| said_at(db, nodes)).collect::<anyhow::Result<Vec<_>>>();
        let times = self.0.journal.read(read).await?;
        Ok(times.into_iter().map(|at| self.0.zone.day(at.unwrap_or(origin.now))).collect())
    }

    /// Returns the oldest version that has had the fact ever since.
    async fn first_version(
        &self,
        who: &Party,
        list: &FactList,
        fact: &Fact,
        versions: &[FileRow],
    ) -> anyhow::Result<Option<FileRow>> {
        let mut since = None;
        for version in versions {
            let stored = self.versions().content(who, &list.path, version.id).await?;
            let Some(text) = stored.and_then(|(text, _)| text) else { break };
            let is_it = |known: &Fact| is_same_fact(&known.key, &fact.key) && known.value == fact.value;
            if !memory_md::facts_in(&text, list.section).iter().any(is_it) {
                break;
            }
            since = Some(version.clone());
        }
        Ok(since)
    }
}

/// Returns the time of the newest of these sources.
fn said_at(db: Db<'_>, sources: &[Node]) -> anyhow::Result<Option<Timestamp>> {
    let mut newest = None;
    for source in sources {
        let at = match source {
            Node::Message(id) => db.messages().message(*id)?.map(|message| message.effective_at),
            other => db.derivations().birth(*other)?.map(|(at, _)| at),
        };
        newest = newest.max(at);
    }
    Ok(newest)
}
