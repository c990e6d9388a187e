//! Requests of tainted turns to keep text, and the person's decisions.
//!
//! `new` → `open` (asked) → `yes` → `kept`, or `no`, `expired`, `changed` (the file no longer has
//! the content that was shown). A yes is stored before it is carried out, and rows in `yes` are
//! read back from the journal, so a crash neither loses nor repeats one. The numbers come from the
//! same counter as those of other questions, so `/yes 7` is unambiguous. The time limit starts when
//! the question is delivered or given up.

use crate::store::Cause;
use crate::store::handles::{KeepRequests, KeepRequestsMut};
use crate::store::rows::{from_row, stored_word, text};
use std::time::Duration;

use rusqlite::params;
use strum::{EnumString, IntoStaticStr};

use crate::id::{AddressId, ConversationId, KeepId, PersonId, QuestionId, TurnId};
use crate::time::Timestamp;
use crate::trust::{Scope, Text};
use crate::wording::gateway;

/// Time limit for an answer. Other messages do not end it.
pub const KEEP_WAITS: Duration = Duration::from_secs(24 * 3600);

/// State.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum KeepState {
    /// Not yet asked.
    New,
    /// Asked, not answered.
    Open,
    /// Accepted, not yet carried out.
    Yes,
    /// Kept.
    Kept,
    /// Refused.
    No,
    /// Not answered in time.
    Expired,
    /// The file has changed or is gone.
    Changed,
}

stored_word!(KeepState);

/// A text that may be kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeepRow {
    /// Row id.
    pub id: KeepId,
    /// Number shown with the question.
    pub number: Option<QuestionId>,
    /// Turn that wanted it.
    pub turn: TurnId,
    /// Person who is asked.
    pub person: PersonId,
    /// Address to which the question was sent.
    pub address: Option<AddressId>,
    /// Path, as its owner sees it.
    pub path: String,
    /// SHA-256 of the file; a yes covers only that content.
    pub digest: String,
    /// Exact text shown.
    pub shown: Text,
    /// The text that a yes replaces, or its name; blank if none.
    pub instead_of: String,
    /// SHA-256 of that text; blank if none.
    pub replaces: String,
    /// State.
    pub state: KeepState,
    /// Expiry time; `None` before delivery.
    pub expires_at: Option<Timestamp>,
    /// Time of the decision or the end.
    pub decided_at: Option<Timestamp>,
}

impl KeepRow {
    /// Returns true if an answer still counts.
    pub fn is_open(&self, now: Timestamp) -> bool {
        self.state == KeepState::Open && self.expires_at.is_none_or(|end| now < end)
    }
}

/// A text that may be kept, to be stored.
#[derive(Debug, Clone)]
pub struct NewKeep<'a> {
    /// Path, as its owner sees it.
    pub path: &'a str,
    /// SHA-256 of the file.
    pub digest: &'a str,
    /// Exact text.
    pub shown: &'a Text,
    /// The text that it replaces, or its name; blank if none.
    pub instead_of: &'a str,
    /// SHA-256 of that text; blank if none.
    pub replaces: &'a str,
}

from_row! {
    KeepRow from "keeps", "shown, label, scope" {
        id, number, turn: "turn_id", person: "person_id", address: "address_id", path, digest, instead_of, replaces, state,
        expires_at, decided_at,
    }
    with |row| { shown: text(row, "shown")? }
}

/// Commands belong to no conversation and are found by their time.
pub(super) const YES_TO: &str = "SELECT m.external_id FROM messages m JOIN texts t ON t.message_id = m.id
    WHERE m.conversation_id IS NULL AND m.kind = 'command' AND m.person_id = ?1 AND m.address_id = ?2 AND m.received_at = ?3
        AND replace(lower(t.text), ' ', '') = '/yes' || ?4 ORDER BY m.id LIMIT 1";

impl KeepRequests<'_> {
    /// Returns the requests of that turn that are not yet asked.
    pub fn unasked_keep_requests(&self, turn: TurnId) -> anyhow::Result<Vec<KeepRow>> {
        self.db.rows("WHERE turn_id = ?1 AND state = 'new' ORDER BY id", [turn])
    }

    /// Returns the request with that question number, if it is one.
    pub fn keep_request_by_number(&self, number: QuestionId) -> anyhow::Result<Option<KeepRow>> {
        self.db.row("WHERE number = ?1", [number])
    }

    /// Returns the open requests to a person, oldest first; some may have expired.
    pub fn open_keeps(&self, person: PersonId) -> anyhow::Result<Vec<KeepRow>> {
        self.db.rows("WHERE person_id = ?1 AND state = 'open' ORDER BY id", [person])
    }

    /// Returns the first accepted request after that one that is not yet carried out.
    pub fn next_accepted_keep(&self, after: KeepId) -> anyhow::Result<Option<KeepRow>> {
        self.db.row("WHERE state = 'yes' AND id > ?1 ORDER BY id LIMIT 1", [after])
    }

    /// Returns whether a turn of that conversation requested to keep that file.
    pub fn is_asked_about(&self, conversation: ConversationId, path: &str) -> anyhow::Result<bool> {
        self.db.exists(
            "SELECT 1 FROM keeps k JOIN turns t ON t.id = k.turn_id WHERE t.conversation_id = ?1 AND k.path = ?2",
            params![conversation, path],
        )
    }

    /// Returns the first file written because of a person's yes at that time.
    pub fn promoted_at(&self, scope: Scope, at: Timestamp) -> anyhow::Result<Option<String>> {
        self.db.first(
            "SELECT path FROM files WHERE written_at = ?2 AND scope = ?1 AND cause = 'promote' AND digest <> ''
             ORDER BY id LIMIT 1",
            params![scope, at],
        )
    }
}

impl KeepRequestsMut<'_> {
    /// Stores a request by a turn of that person to keep a file under `memory/untrusted/`. Earlier
    /// requests of the same turn for that path are dropped.
    pub fn add_keep_request(
        &self,
        turn: TurnId,
        person: PersonId,
        NewKeep { path, digest, shown, instead_of, replaces }: &NewKeep<'_>,
        now: Timestamp,
    ) -> anyhow::Result<()> {
        self.db.run(
            "UPDATE keeps SET state = 'changed', decided_at = ?4
             WHERE turn_id = ?1 AND path = ?2 AND digest <> ?3 AND state = 'new'",
            params![turn, path, digest, now],
        )?;
        let (words, label, scope) = shown.open();
        self.db.run(
            "INSERT INTO keeps (turn_id, person_id, path, digest, shown, label, scope, state, wanted_at, instead_of, replaces)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 'new', ?8, ?9, ?10)
             ON CONFLICT (turn_id, path, digest) DO UPDATE SET state = 'new', decided_at = NULL, instead_of = ?9,
             replaces = ?10 WHERE state = 'changed'",
            params![turn, person, path, digest, &**words, label, scope, now, instead_of, replaces],
        )
    }

    /// Marks a request as asked at that address, and returns its new question number.
    ///
    /// # Errors
    /// If it was asked before.
    pub fn mark_keep_asked(&self, id: KeepId, address: AddressId) -> anyhow::Result<QuestionId> {
        let number = self.next_question_number()?;
        let asked = self.db.execute(
            "UPDATE keeps SET state = 'open', number = ?2, address_id = ?3 WHERE id = ?1 AND state = 'new'",
            params![id, number, address],
        )?;
        anyhow::ensure!(asked == 1, "A person was asked twice about text {id}");
        Ok(number)
    }

    /// Starts the time limit of the request with that number, if it is one, after delivery or
    /// giving up.
    pub fn start_keep_limit(&self, number: QuestionId, now: Timestamp) -> anyhow::Result<()> {
        self.db.run(
            "UPDATE keeps SET expires_at = ?2 WHERE number = ?1 AND state = 'open'",
            params![number, now.plus(KEEP_WAITS)],
        )
    }

    /// Changes the state of a request, and stores for its person that it is decided. Returns `false` and changes nothing unless its state is
    /// `before`.
    pub fn set_keep_state(
        &self,
        id: KeepId,
        before: KeepState,
        state: KeepState,
        address: Option<AddressId>,
        now: Timestamp,
    ) -> anyhow::Result<bool> {
        let changed = self.db.changed(
            "UPDATE keeps SET state = ?3, decided_at = ?5, address_id = coalesce(?4, address_id)
             WHERE id = ?1 AND state = ?2",
            params![id, before, state, address, now],
        )?;
        let shown = match state {
            KeepState::New | KeepState::Open | KeepState::Yes => None,
            KeepState::Kept => Some(gateway::KEPT),
            KeepState::No | KeepState::Changed => Some(gateway::NOT_KEPT),
            KeepState::Expired => Some(gateway::EXPIRED),
        };
        let Some(row) = self.db.row("WHERE id = ?1", [id])? else { return Ok(changed) };
        let KeepRow { number, address, shown: text, .. } = row;
        if let (true, Some(shown), Some(number)) = (changed, shown, number) {
            self.tx().outbox().decide_buttons(&format!("/yes {number}"), shown, now)?;
            if let Some(address) = address {
                self.tx().sent().record_decision(address, Cause::question(number), text.scope(), now)?;
            }
        }
        Ok(changed)
    }

    /// Returns the external id of the command that said yes, which the result answers; blank if
    /// unknown.
    pub fn yes_to(&self, keep: &KeepRow) -> anyhow::Result<String> {
        let found = self.db.first(YES_TO, params![keep.person, keep.address, keep.decided_at, keep.number])?;
        Ok(found.unwrap_or_default())
    }

    /// Takes the next number of the question counter, so that no question gets it.
    fn next_question_number(&self) -> anyhow::Result<QuestionId> {
        self.db.run(
            "INSERT INTO sqlite_sequence (name, seq) SELECT 'questions', 0
             WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'questions')",
            [],
        )?;
        self.db.one("UPDATE sqlite_sequence SET seq = seq + 1 WHERE name = 'questions' RETURNING seq", [])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::people::{Address, Role};
    use crate::store::Tx;
    use crate::store::{BoundaryReason, ConversationKind, Journal, NewConversation, NewTurn};
    use crate::trust::{Label, Labelled, Source};
    use std::sync::Arc;

    const NOW: Timestamp = Timestamp(1_000);

    fn text(words: &str) -> Text {
        Labelled::new(Arc::from(words), Label::untrusted(Source::forward()), Scope::Person(PersonId(1)))
    }

    fn new<'a>(path: &'a str, digest: &'a str, shown: &'a Text) -> NewKeep<'a> {
        NewKeep { path, digest, shown, instead_of: "", replaces: "" }
    }

    /// Opens a journal with Ada, one address of hers and a turn.
    async fn journal(folder: &std::path::Path) -> Journal {
        let journal = Journal::open_or_copy(&folder.join("j.db"), None).unwrap();
        let begin = |tx: Tx<'_>| {
            let ada = tx.people().allow("Ada", Role::Owner, "config", NOW)?;
            tx.addresses().link(&Address::new("telegram", "1", "2"), Some(ada.id), NOW)?;
            let (stream, scope) = (tx.conversations().stream_for(ada.id)?, Scope::Person(ada.id));
            let begun = NewConversation {
                stream,
                kind: ConversationKind::Chat,
                scope,
                because: BoundaryReason::First,
                at: NOW,
            };
            tx.conversations().open_conversation(&begun)?;
            tx.turns().begin_turn(&NewTurn {
                stream,
                conversation: ConversationId(1),
                person: Some(ada.id),
                address: AddressId(1),
                scope,
                at: NOW,
                context: &text(""),
                label: text("").label(),
                recalled: &text(""),
            })
        };
        journal.write("begin", begin).await.unwrap();
        journal
    }

    #[tokio::test]
    async fn numbers_are_those_of_the_questions_and_each_is_given_once() {
        let folder = tempfile::tempdir().unwrap();
        let job = |tx: Tx<'_>| {
            let mut numbers = Vec::new();
            for path in ["a", "b"] {
                tx.keep_requests().add_keep_request(TurnId(1), PersonId(1), &new(path, "d", &text("words")), NOW)?;
                let wanted = tx.keep_requests().unasked_keep_requests(TurnId(1))?;
                numbers.push(tx.keep_requests().mark_keep_asked(wanted[0].id, AddressId(1))?);
            }
            assert_eq!(tx.keep_requests().keep_request_by_number(QuestionId(2))?.unwrap().path, "b");
            assert_eq!(tx.keep_requests().keep_request_by_number(QuestionId(3))?, None);
            // The previous number was the last of both kinds.
            numbers.push(tx.keep_requests().next_question_number()?);
            assert!(tx.keep_requests().mark_keep_asked(KeepId(1), AddressId(1)).is_err(), "it was asked about");
            Ok(numbers)
        };
        let numbers = journal(folder.path()).await.write("ask", job).await.unwrap();
        assert_eq!(numbers, [1, 2, 3].map(QuestionId));
    }

    #[tokio::test]
    async fn a_note_overwritten_in_the_same_turn_is_not_asked_about() {
        let folder = tempfile::tempdir().unwrap();
        let job = |tx: Tx<'_>| {
            for (digest, words) in [("1", "first"), ("2", "second"), ("2", "second"), ("1", "first")] {
                tx.keep_requests().add_keep_request(TurnId(1), PersonId(1), &new("a", digest, &text(words)), NOW)?;
            }
            Ok(tx
                .keep_requests()
                .unasked_keep_requests(TurnId(1))?
                .into_iter()
                .map(|keep| keep.digest)
                .collect::<Vec<_>>())
        };
        assert_eq!(journal(folder.path()).await.write("want", job).await.unwrap(), ["1"]);
    }

    #[tokio::test]
    async fn an_answer_counts_once_and_in_time() {
        let folder = tempfile::tempdir().unwrap();
        let job = |tx: Tx<'_>| {
            tx.keep_requests().add_keep_request(TurnId(1), PersonId(1), &new("a", "d", &text("words")), NOW)?;
            let id = tx.keep_requests().unasked_keep_requests(TurnId(1))?[0].id;
            let number = tx.keep_requests().mark_keep_asked(id, AddressId(1))?;
            let open = tx.keep_requests().keep_request_by_number(number)?.expect("it was asked");
            assert!(open.is_open(NOW.plus(KEEP_WAITS * 9)), "nobody was shown it yet");
            tx.keep_requests().start_keep_limit(number, Timestamp(2_000))?;
            let put = tx.keep_requests().keep_request_by_number(number)?.unwrap();
            assert!(put.is_open(Timestamp(1_999).plus(KEEP_WAITS)) && !put.is_open(Timestamp(2_000).plus(KEEP_WAITS)));
            assert!(tx.keep_requests().set_keep_state(id, KeepState::Open, KeepState::Yes, None, NOW)?);
            assert!(
                !tx.keep_requests().set_keep_state(id, KeepState::Open, KeepState::No, None, NOW)?,
                "it was answered"
            );
            assert_eq!(
                tx.keep_requests().next_accepted_keep(KeepId(0))?.map(|keep| (keep.id, keep.address)),
                Some((id, Some(AddressId(1))))
            );
            assert!(tx.keep_requests().set_keep_state(id, KeepState::Yes, KeepState::Kept, None, NOW)?);
            tx.keep_requests().next_accepted_keep(KeepId(0))
        };
        assert_eq!(journal(folder.path()).await.write("answer", job).await.unwrap(), None);
    }
}
