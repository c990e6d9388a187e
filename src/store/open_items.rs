//! Open items: what is left to do or to decide, one row each, until somebody settles or drops it.
//!
//! A summary says which items are closed and which are new; what it does not name stays. It may be
//! made again, so its earlier word is taken back before its new one counts. What a person closes
//! stays closed. Closed items can be opened again for [`KEPT`].

use std::collections::BTreeSet;
use std::time::Duration;

use rusqlite::params;
use strum::{EnumString, IntoStaticStr};

use crate::id::{ConversationId, OpenItemId, SummaryId};
use crate::store::handles::{OpenItems, OpenItemsMut};
use crate::store::rows::{from_row, stored_word, text};
use crate::text::one_line;
use crate::time::Timestamp;
use crate::trust::{Scope, Text};

/// Time for which a closed item can be opened again.
pub const KEPT: Duration = Duration::from_secs(30 * 24 * 3600);

/// State of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum OpenItemState {
    /// Left to do or to decide.
    Open,
    /// Settled.
    Done,
    /// No longer wanted.
    Dropped,
}

stored_word!(OpenItemState);

/// An item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenItem {
    /// Its number.
    pub id: OpenItemId,
    /// Its words.
    pub text: Text,
    /// Time of opening.
    pub opened_at: Timestamp,
    /// Summary that opened it; `None` for the person.
    pub summary: Option<SummaryId>,
    /// State.
    pub state: OpenItemState,
    /// Time of closing.
    pub closed_at: Option<Timestamp>,
    /// Time until which it is put off.
    pub not_before: Option<Timestamp>,
}

from_row! {
    OpenItem from "open_items", "text, label, scope" { id, opened_at, summary: "summary_id", state, closed_at, not_before }
    with |row| { text: text(row, "text")? }
}

/// What a summary says about the open items.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OpenItemChanges {
    /// Items that were settled or dropped.
    pub closed: BTreeSet<OpenItemId>,
    /// Words of new items.
    pub new: Vec<String>,
}

impl OpenItem {
    /// Returns true if it is put off beyond that time.
    pub fn is_put_off(&self, now: Timestamp) -> bool {
        self.not_before.is_some_and(|from| from > now)
    }
}

impl OpenItems<'_> {
    /// Returns the open items of a scope, oldest first, with those that are put off.
    pub fn open_items(&self, scope: Scope) -> anyhow::Result<Vec<OpenItem>> {
        self.db.rows("WHERE scope = ?1 AND state = 'open' ORDER BY id", [scope])
    }

    /// Returns the items of a scope that were closed since, newest first.
    pub fn closed_items(&self, scope: Scope, since: Timestamp, most: u32) -> anyhow::Result<Vec<OpenItem>> {
        self.db.rows(
            "WHERE scope = ?1 AND state <> 'open' AND closed_at >= ?2 ORDER BY closed_at DESC, id DESC LIMIT ?3",
            params![scope, since, most],
        )
    }

    /// Returns an item of that scope.
    pub fn open_item(&self, scope: Scope, id: OpenItemId) -> anyhow::Result<Option<OpenItem>> {
        self.db.row("WHERE id = ?2 AND scope = ?1", params![scope, id])
    }

    /// Returns what was open before a conversation: without what it or a later one opened, and with
    /// what it or a later one closed.
    pub fn open_before(&self, scope: Scope, conversation: ConversationId) -> anyhow::Result<Vec<OpenItem>> {
        self.db.rows(
            "WHERE scope = ?1
             AND coalesce((SELECT s.conversation_id FROM summaries s WHERE s.id = summary_id), 0) < ?2
             AND (state = 'open' OR (SELECT s.conversation_id FROM summaries s WHERE s.id = closed_by) >= ?2)
             ORDER BY id",
            params![scope, conversation],
        )
    }
}

impl OpenItemsMut<'_> {
    /// Opens an item. Returns `None` if one with these words is open, or was closed by the person after
    /// the same summary had opened it.
    pub fn add_open_item(
        &self,
        words: &Text,
        summary: Option<SummaryId>,
        at: Timestamp,
    ) -> anyhow::Result<Option<OpenItemId>> {
        let (text, label, scope) = words.open();
        let is_same = |item: &OpenItem| folded(item.text.open().0) == folded(text);
        let closed: Vec<OpenItem> =
            self.db.rows("WHERE summary_id = ?1 AND state <> 'open' AND closed_by IS NULL", [summary])?;
        if self.open_items(scope)?.iter().chain(&closed).any(is_same) {
            return Ok(None);
        }
        self.db.first(
            "INSERT INTO open_items (text, label, scope, opened_at, summary_id, state)
             VALUES (?1, ?2, ?3, ?4, ?5, 'open') RETURNING id",
            params![&**text, label, scope, at, summary],
        )
    }

    /// Closes an item for its person. Returns false if it was closed.
    pub fn close_open_item(&self, id: OpenItemId, state: OpenItemState, now: Timestamp) -> anyhow::Result<bool> {
        self.db.changed(
            "UPDATE open_items SET state = ?2, closed_at = ?3, closed_by = NULL WHERE id = ?1 AND state = 'open'",
            params![id, state, now],
        )
    }

    /// Opens a closed item again. The summary that closed it does not do so once more. Returns false if
    /// it was open.
    pub fn reopen_item(&self, id: OpenItemId) -> anyhow::Result<bool> {
        self.db.changed(
            "UPDATE open_items SET state = 'open', closed_at = NULL, not_before = NULL
             WHERE id = ?1 AND state <> 'open'",
            [id],
        )
    }

    /// Puts an open item off.
    pub fn put_off_item(&self, id: OpenItemId, until: Timestamp) -> anyhow::Result<bool> {
        self.db.changed("UPDATE open_items SET not_before = ?2 WHERE id = ?1 AND state = 'open'", params![id, until])
    }

    /// Takes over what a summary says, in place of what it said before. `words` makes a text of the
    /// summary's own label from new words, which were said by `said_at`.
    pub fn apply_summary(
        &self,
        summary: SummaryId,
        changes: &OpenItemChanges,
        words: impl Fn(&str) -> Text,
        said_at: Timestamp,
        now: Timestamp,
    ) -> anyhow::Result<()> {
        let kept: BTreeSet<String> = changes.new.iter().map(|new| folded(new)).collect();
        self.withdraw(summary, |item| !kept.contains(&folded(item.text.open().0)))?;
        self.db.run("DELETE FROM open_items WHERE state <> 'open' AND closed_at < ?1", [now.minus(KEPT)])?;
        let scope = words("").scope();
        for id in &changes.closed {
            self.db.run(
                "UPDATE open_items SET state = 'done', closed_at = ?2, closed_by = ?3
                 WHERE id = ?1 AND scope = ?4
                 AND (state = 'open' AND closed_by IS NOT ?3 OR state <> 'open' AND closed_by IS NOT NULL)",
                params![id, now, summary, scope],
            )?;
        }
        for new in &changes.new {
            self.add_open_item(&words(new), Some(summary), said_at)?;
        }
        Ok(())
    }

    /// Takes back what a summary said: what it closed is open, and its items that are still open go.
    fn withdraw(&self, summary: SummaryId, goes: impl Fn(&OpenItem) -> bool) -> anyhow::Result<()> {
        self.db.run(
            "UPDATE open_items SET state = 'open', closed_at = NULL, closed_by = NULL WHERE closed_by = ?1 AND state <> 'open'",
            [summary],
        )?;
        let opened: Vec<OpenItem> = self.db.rows("WHERE summary_id = ?1 AND state = 'open'", [summary])?;
        for item in opened.iter().filter(|item| goes(item)) {
            self.db.run("DELETE FROM open_items WHERE id = ?1", [item.id])?;
        }
        Ok(())
    }
}

fn folded(words: &str) -> String {
    one_line(words).to_lowercase().trim_end_matches(['.', ' ']).to_owned()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::id::{MessageId, PersonId};
    use crate::people::Role;
    use crate::store::{BoundaryReason, ConversationKind, Journal, NewConversation, SummaryInputs, Tx};
    use crate::trust::{Label, Labelled};

    const NOW: Timestamp = Timestamp(1_000);
    const ADA: Scope = Scope::Person(PersonId(1));

    fn words(text: &str) -> Text {
        Labelled::new(Arc::from(text), Label::trusted(), ADA)
    }

    /// Opens a journal with Ada, a conversation of hers and its summary.
    async fn journal(folder: &std::path::Path) -> Journal {
        let journal = Journal::open_or_copy(&folder.join("j.db"), None).unwrap();
        let begin = |tx: Tx<'_>| {
            let ada = tx.people().allow("Ada", Role::Owner, "config", NOW)?;
            let stream = tx.conversations().stream_for(ada.id)?;
            let kind = ConversationKind::Chat;
            let begun = NewConversation { stream, kind, scope: ADA, because: BoundaryReason::First, at: NOW };
            let conversation = tx.conversations().open_conversation(&begun)?;
            let label = Label::trusted();
            tx.summaries().request_summary(conversation, MessageId(1), SummaryInputs::Trusted, &label, ADA, NOW)
        };
        journal.write("begin", begin).await.unwrap();
        journal
    }

    /// Promise (memory/open-stays-closed): A summary that is made again neither opens what you closed nor
    /// closes what you opened again.
    #[tokio::test]
    async fn a_summary_that_is_made_again_respects_what_the_person_did() {
        let folder = tempfile::tempdir().unwrap();
        let journal = journal(folder.path()).await;
        let open = move |tx: Tx<'_>| {
            let rent = tx.open_items().add_open_item(&words("pay the rent"), None, NOW)?.unwrap();
            let changes = OpenItemChanges { closed: [rent].into(), new: vec!["order boxes".to_owned()] };
            let summary = SummaryId(1);
            tx.open_items().apply_summary(summary, &changes, words, NOW, NOW)?;
            let boxes = tx.open_items().open_items(ADA)?.pop().unwrap();
            assert!(tx.open_items().close_open_item(boxes.id, OpenItemState::Done, NOW)?);
            assert!(tx.open_items().reopen_item(rent)?);
            tx.open_items().apply_summary(summary, &changes, words, NOW, NOW)?;
            let open = tx.open_items().open_items(ADA)?;
            Ok(open.iter().map(|item| item.text.open().0.to_string()).collect::<Vec<_>>())
        };
        assert_eq!(journal.write("try", open).await.unwrap(), ["pay the rent"]);
    }
}
