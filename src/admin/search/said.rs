//! Messages, and conversations by their best message.

use crate::admin::SearchAdmin;
use std::collections::HashSet;
use std::sync::Arc;

use super::super::answer::ShownLabel;
use super::super::transcript::title_of;
use super::{HitSource, MOST, SearchKind, SearchQuery, SearchRow};
use crate::id::ConversationId;
use crate::people::Person;
use crate::store::{Db, Hit, MessageQuery};
use crate::time::Zone;
use crate::trust::Scope;

impl SearchAdmin<'_> {
    pub(super) async fn search_messages(
        &self,
        person: &Person,
        sought: &SearchQuery,
    ) -> anyhow::Result<Vec<SearchRow>> {
        if sought.agent.is_some()
            || sought.section.is_some()
            || !(sought.wants(SearchKind::Message) || sought.wants(SearchKind::Conversation))
        {
            return Ok(Vec::new());
        }
        let (scope, sought, zone) = (Scope::Person(person.id), sought.clone(), self.zone);
        self.journal.read_much(move |db| find(db, scope, &sought, zone)).await
    }
}

fn find(db: Db<'_>, scope: Scope, sought: &SearchQuery, zone: Zone) -> anyhow::Result<Vec<SearchRow>> {
    // A conversation is found by its messages, so the same number of conversations takes more
    // messages.
    let more = sought.case || sought.wants(SearchKind::Conversation);
    let limit = if more { MOST } else { sought.limit };
    let looked = MessageQuery { words: &sought.query, untrusted_too: true, limit, zone, ..MessageQuery::of(scope) };
    let mut hits = db.message_search().recall_by(&looked)?.hits;
    hits.retain(|hit| sought.fits(ShownLabel::nothing().words::<Arc<str>>(&hit.text)));
    let mut rows = Vec::new();
    let mut known: HashSet<ConversationId> = HashSet::new();
    for hit in hits {
        if let Some(conversation) =
            hit.conversation.filter(|id| sought.wants(SearchKind::Conversation) && known.insert(*id))
        {
            rows.push(row(db, SearchKind::Conversation, conversation.0, hit.clone())?);
        }
        if sought.wants(SearchKind::Message) {
            rows.push(row(db, SearchKind::Message, hit.message.0, hit)?);
        }
    }
    Ok(rows)
}

fn row(db: Db<'_>, kind: SearchKind, id: i64, hit: Hit) -> anyhow::Result<SearchRow> {
    let title = hit.conversation.map(|id| title_of(db, id)).transpose()?.flatten();
    let by =
        if hit.person.is_some() { HitSource::Person(hit.conversation) } else { HitSource::Assistant(hit.conversation) };
    Ok(SearchRow { kind, id, at: hit.at, by, title, text: hit.text, score: hit.score })
}
