//! Hits from the index of entries: notes and facts, files, reflections, and summaries of
//! conversations.

use crate::admin::SearchAdmin;
use std::sync::Arc;

use super::super::answer::ShownLabel;
use super::{HitSource, SearchKind, SearchQuery, SearchRow};
use crate::memory::{EntryHit, IndexQuery};
use crate::people::{Party, Person};
use crate::store::{EntryKind, Node};
use crate::trust::{Label, Labelled, Text};

/// The entry kinds that count as notes or files.
const NOTES: [EntryKind; 4] = [EntryKind::Fact, EntryKind::Note, EntryKind::Day, EntryKind::Text];

impl SearchAdmin<'_> {
    pub(super) async fn search_files(&self, person: &Person, sought: &SearchQuery) -> anyhow::Result<Vec<SearchRow>> {
        let kinds: Vec<EntryKind> = EntryKind::ALL.into_iter().filter(|kind| sought.wants(as_shown(*kind))).collect();
        if kinds.is_empty() {
            return Ok(Vec::new());
        }
        let party = Party::One(person.clone());
        let question = IndexQuery {
            kinds,
            agent: sought.agent.clone(),
            section: sought.section.clone(),
            case: sought.case,
            untrusted_too: true,
            limit: sought.limit,
            ..IndexQuery::of(&party, Labelled::new(Arc::from(&*sought.query), Label::neutral(), party.scope()))
        };
        let found = self.index.search(&question).await?;
        let mut rows = Vec::new();
        for hit in found.hits {
            let origin = self.index.origins(std::slice::from_ref(&hit)).await?;
            rows.push(row(hit, &origin));
        }
        Ok(rows)
    }
}

fn as_shown(kind: EntryKind) -> SearchKind {
    match kind {
        EntryKind::Conversation => SearchKind::Conversation,
        EntryKind::Reflection => SearchKind::Reflection,
        kind if NOTES.contains(&kind) => SearchKind::Note,
        _ => SearchKind::File,
    }
}

/// Builds a hit. The path of a conversation's or reflection's entry contains its number; a file is
/// identified by its known version.
fn row(hit: EntryHit, origin: &[Node]) -> SearchRow {
    let kind = as_shown(hit.kind);
    let number = hit.path.rsplit_once('/').and_then(|(_, number)| number.parse().ok());
    let version = origin.iter().find_map(|node| if let Node::File(id) = node { Some(*id) } else { None });
    let is_file = matches!(kind, SearchKind::Note | SearchKind::File);
    SearchRow {
        kind,
        id: if is_file { version.unwrap_or(0) } else { number.unwrap_or(0) },
        at: hit.at,
        by: if is_file {
            HitSource::File { path: hit.path, line: usize::try_from(hit.line).unwrap_or(1) }
        } else {
            HitSource::Nobody
        },
        title: Some(title(&hit.name)),
        text: hit.text,
        score: hit.score,
    }
}

fn title(name: &Text) -> Labelled<String> {
    let words: &Arc<str> = ShownLabel::nothing().words(name);
    Labelled::new(words.to_string(), name.label().clone(), name.scope())
}
