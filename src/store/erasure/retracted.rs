//! Deletes message text when its sender deletes it, its timer expires or `/forget` covers it.
//!
//! The row and position of the message stay, so that an exchange keeps its order and derived rows
//! their origin. Its texts are blanked, along with every copy: the search index and the
//! fingerprints, the original, the names of its files, the calls and results of a turn all of whose
//! messages are deleted, the results by which other turns read it (by their derivation edges), and
//! the text shown to the assistant about reactions to it. Text *derived*
//! from them before (summaries, reflections, notes, reminders) stays. A stand-in summary is only
//! provisional: it is deleted and made again from the remaining text.
//!
//! Files are outside the journal: a file's row says `gone` at once, until the file is deleted from
//! disk and reported as such.
//!
//! Message timers are set by senders: text is deleted a given time after its answer. A timer runs
//! from the end of the turn that answered the message, or from its closing. A reply gets the
//! shortest timer of the messages it answers, running from its delivery or failure. Until then no
//! expiry exists, so text is never deleted before it was used.

use std::time::Duration;

use rusqlite::params;

use crate::id::{AddressId, AttachmentId, ConversationId, InboxId, MessageId, OutboxId, StreamId, TurnId};
use crate::store::handles::{Redaction, RedactionMut, Timers, TimersMut};
use crate::store::{MessageKind, MessageState, Node, OldFile, StoredMessage, TurnState, UnansweredReason};
use crate::text::erasure_query::ErasureQuery;
use crate::time::Timestamp;

/// Key set while deleted text must still be removed from the search index.
pub const FORGOT: &str = "forgot";
/// Key of the last deletion whose text is still in the log.
pub const UNCUT: &str = "uncut";
/// Reason stored when a message was closed because its sender deleted it.
pub const DELETED: UnansweredReason = UnansweredReason::Deleted;
/// Deletions remembered per address for messages that have not arrived.
const MAX_AHEAD: i64 = 100;

/// Follow-up outside the journal after text was deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AfterRedaction {
    /// Stream of the message.
    pub stream: StreamId,
    /// True if its turn ended because nothing is left to answer.
    pub turn_ended: bool,
}

impl StoredMessage {
    /// Returns true if its text was deleted because a person wanted it forgotten.
    pub fn is_forgotten(&self) -> bool {
        self.gone && self.reason == UnansweredReason::Forgotten.as_str()
    }
}

impl Redaction<'_> {
    /// Returns files of deleted messages that are still in the workspace; only rows after `after`.
    pub fn redacted_files(&self, after: i64, limit: u32) -> anyhow::Result<Vec<OldFile>> {
        self.db.rows("WHERE state = 'gone' AND path <> '' AND id > ?1 ORDER BY id LIMIT ?2", params![after, limit])
    }

    /// Returns the number of deletions in a conversation, which outdate anything read before.
    pub fn revision_of(&self, conversation: ConversationId) -> anyhow::Result<i64> {
        let revision = self.db.first("SELECT revision FROM conversations WHERE id = ?1", [conversation])?;
        Ok(revision.unwrap_or_default())
    }

    /// Returns the message from that address that an item became part of: as a later album picture
    /// or an edit.
    pub fn by_part(&self, address: AddressId, external_id: &str) -> anyhow::Result<Option<StoredMessage>> {
        let of = self.db.first(
            "SELECT m.id FROM addresses a JOIN inbox i ON i.adapter = a.adapter AND i.account = a.account AND i.external_id = ?2
             JOIN messages m ON m.id = i.message_id WHERE a.id = ?1 AND m.address_id = a.id",
            params![address, external_id],
        )?;
        of.map_or(Ok(None), |id| self.db.messages().message(id))
    }

    /// Returns true if all messages that a turn answers are deleted.
    pub(in crate::store) fn is_without_words(&self, turn: TurnId) -> anyhow::Result<bool> {
        self.db.exists(
            "SELECT 1 FROM turns u WHERE u.id = ?1 AND (u.reason = 'deleted' OR (
                 EXISTS (SELECT 1 FROM messages m WHERE m.turn_id = u.id AND m.kind IN ('said', 'task'))
                 AND NOT EXISTS (SELECT 1 FROM messages m WHERE m.turn_id = u.id AND m.kind IN ('said', 'task') AND m.gone_at IS NULL)))",
            [turn],
        )
    }

    /// Returns true if the text of that message is deleted.
    pub(in crate::store) fn is_redacted(&self, id: MessageId) -> anyhow::Result<bool> {
        self.db.exists("SELECT 1 FROM messages WHERE id = ?1 AND gone_at IS NOT NULL", [id])
    }
}

impl RedactionMut<'_> {
    /// Deletes the text of a message, and closes it if it is queued. `None` if it was deleted
    /// before.
    pub fn redact_message(&self, id: MessageId, now: Timestamp) -> anyhow::Result<Option<AfterRedaction>> {
        let marked = self.db.execute(
            "UPDATE messages SET gone_at = ?2, reason = CASE state WHEN 'queued' THEN ?3 ELSE reason END,
                     state = CASE state WHEN 'queued' THEN 'closed' ELSE state END WHERE id = ?1 AND gone_at IS NULL",
            params![id, now, DELETED],
        )?;
        if marked == 0 {
            return Ok(None);
        }
        let stream = self.db.one("SELECT stream_id FROM messages WHERE id = ?1", [id])?;
        let Some(message) = self.db.messages().message(id)? else { return Ok(None) };
        self.tx().reactions().unquote(id)?;
        self.tx().messages().outdate_edits(id)?;
        self.redact_results(id)?;
        self.tx().maintenance().blank_texts("SELECT id, text FROM texts WHERE message_id = ?1 AND text <> ''", [id])?;
        self.blank_attached(id)?;
        let turn_ended = match message.turn {
            // The last step of a turn repeats its reply.
            Some(turn) if message.kind == MessageKind::Reply => {
                let last =
                    "SELECT id, text FROM steps WHERE turn_id = ?1 AND kind = 'model' AND call = '[]' AND text <> ''";
                self.tx().maintenance().blank_steps(last, [turn])?;
                false
            }
            Some(turn) if self.is_without_words(turn)? => self.redact_turn(turn, now)?,
            _ => false,
        };
        if let Some(conversation) = message.conversation {
            self.invalidate_derived(conversation)?;
        }
        self.tx().settings().set_fact(FORGOT, "1")?;
        self.tx().settings().set_fact(UNCUT, &id.to_string())?;
        Ok(Some(AfterRedaction { stream, turn_ended }))
    }

    /// Like [`Self::redact_message`], at the request of a person, which the message tells from then
    /// on ([`StoredMessage::is_forgotten`]).
    pub fn forget_message(&self, id: MessageId, now: Timestamp) -> anyhow::Result<Option<AfterRedaction>> {
        let redacted = self.redact_message(id, now)?;
        if redacted.is_some() {
            let sql = "UPDATE messages SET reason = ?2 WHERE id = ?1";
            self.db.run(sql, params![id, UnansweredReason::Forgotten])?;
        }
        Ok(redacted)
    }

    /// Blanks the results by which turns read the message, as searches return it.
    pub(in crate::store) fn redact_results(&self, id: MessageId) -> anyhow::Result<()> {
        let texts: Vec<String> = self.db.all("SELECT text FROM texts WHERE message_id = ?1", [id])?;
        self.redact_results_of(self.db.derivations().node_of(id)?, &texts)
    }

    /// Blanks the results by which turns read what says those texts.
    pub(in crate::store) fn redact_results_of(&self, node: Node, texts: &[String]) -> anyhow::Result<()> {
        let readers = self.db.derivations().children(node)?;
        if readers.is_empty() {
            return Ok(());
        }
        let mut query = ErasureQuery::default();
        for text in texts {
            query.join(ErasureQuery::of_text(text));
        }
        let parts = query.parts();
        for reader in readers {
            let Node::Turn(turn) = reader else { continue };
            let results = "SELECT id, text FROM steps WHERE turn_id = ?1 AND kind = 'tool' AND text <> ''";
            let results: Vec<(i64, String)> = self.db.all(results, [turn])?;
            let is_quoted = |text: &str| query.matches(text) || parts.matches(text);
            for (step, _) in results.iter().filter(|(_, text)| is_quoted(text)) {
                self.tx().maintenance().blank_steps("SELECT id, text FROM steps WHERE id = ?1", [step])?;
                let outdated = "UPDATE conversations SET revision = revision + 1
                     WHERE id = (SELECT conversation_id FROM turns WHERE id = ?1)";
                self.db.run(outdated, [turn])?;
            }
        }
        Ok(())
    }

    /// Blanks everything that came with the message besides its texts.
    fn blank_attached(&self, id: MessageId) -> anyhow::Result<()> {
        for sql in [
            "UPDATE attachments SET state = 'gone', reference = '', mime = '', name = '', trouble = '' WHERE message_id = ?1",
            "UPDATE inbox SET raw = '' WHERE raw <> '' AND (message_id = ?1 OR id = (SELECT inbox_id FROM messages WHERE id = ?1))",
            "DELETE FROM reactions WHERE message_id = ?1",
            // A reply that was set aside still has its unsent text.
            "UPDATE parts SET rich = '', plain = '', buttons = '[]' WHERE outbox_id IN (SELECT id FROM outbox WHERE message_id = ?1)",
        ] {
            self.db.run(sql, [id])?;
        }
        Ok(())
    }

    /// Blanks copies of the text in a turn with nothing left to answer, and in turns begun by a yes
    /// to it. Returns true if one of them was open.
    fn redact_turn(&self, turn: TurnId, now: Timestamp) -> anyhow::Result<bool> {
        let (mut turns, mut is_ended) = (vec![turn], false);
        while let Some(turn) = turns.pop() {
            if self.db.turns().turn(turn)?.is_some_and(|row| row.is_open()) {
                self.tx().outbox().drop_preview(turn)?;
                self.tx().messages().settle_turn(turn, MessageState::Closed, DELETED.as_str())?;
                self.tx().turns().end_turn(turn, TurnState::Stopped, DELETED.as_str(), now)?;
                is_ended = true;
            }
            self.tx().maintenance().blank_steps(
                "SELECT s.id, s.text FROM steps s WHERE s.turn_id = ?1 AND (s.text <> '' OR s.call NOT IN ('', '[]'))
                 AND NOT (s.kind = 'model' AND s.call = '[]' AND EXISTS (
                     SELECT 1 FROM messages m WHERE m.turn_id = ?1 AND m.kind = 'reply' AND m.gone_at IS NULL))",
                [turn],
            )?;
            let next = "SELECT continued_by FROM questions WHERE turn_id = ?1 AND continued_by IS NOT NULL
                 UNION SELECT resumed_by FROM questions WHERE turn_id = ?1 AND resumed_by IS NOT NULL";
            turns.extend(self.db.all::<_, TurnId>(next, [turn])?);
            for sql in [
                "UPDATE questions SET call = '{}', covers = 'nothing', decided_at = coalesce(decided_at, ?2),
                     state = CASE state WHEN 'open' THEN 'refused' ELSE state END WHERE turn_id = ?1",
                "UPDATE keeps SET shown = '', instead_of = '', decided_at = coalesce(decided_at, ?2),
                     state = CASE state WHEN 'new' THEN 'no' WHEN 'open' THEN 'no' ELSE state END WHERE turn_id = ?1",
            ] {
                self.db.run(sql, params![turn, now])?;
            }
        }
        Ok(is_ended)
    }

    /// Invalidates everything not yet derived from a conversation; it will be derived from the
    /// remaining text.
    fn invalidate_derived(&self, id: ConversationId) -> anyhow::Result<()> {
        self.db.run("UPDATE conversations SET revision = revision + 1 WHERE id = ?1", [id])?;
        self.tx().extractions().answers_void(id)?;
        self.tx().compactions().void_compactions(id)?;
        // Later stand-ins repeat the open items of earlier ones.
        let provisional: Vec<ConversationId> = self.db.all(
            "SELECT DISTINCT s.conversation_id FROM summaries s JOIN conversations l ON l.id = s.conversation_id
             JOIN conversations c ON c.id = ?1 WHERE l.stream_id = c.stream_id AND l.id >= c.id
             AND s.state IN ('wanted', 'standin', 'void')",
            [id],
        )?;
        for later in &provisional {
            for sql in [
                "DELETE FROM open_items WHERE summary_id IN (SELECT id FROM summaries
                 WHERE conversation_id = ?1 AND state IN ('wanted', 'standin', 'void'))",
                "UPDATE open_items SET state = 'open', closed_at = NULL, closed_by = NULL WHERE closed_by IN (
                 SELECT id FROM summaries WHERE conversation_id = ?1 AND state IN ('wanted', 'standin', 'void'))",
                "DELETE FROM summaries WHERE conversation_id = ?1 AND state IN ('wanted', 'standin', 'void')",
                "UPDATE conversations SET written_down = 0 WHERE id = ?1",
            ] {
                self.db.run(sql, [later])?;
            }
        }
        if !provisional.is_empty() {
            let opening = "UPDATE conversations SET opening = '', opening_state = 'none' WHERE opening_state = 'standin' AND id > ?1
                 AND stream_id = (SELECT stream_id FROM conversations WHERE id = ?1)";
            self.db.run(opening, [id])?;
        }
        Ok(())
    }

    /// Records that an item became part of a message, or edited it. If the message is deleted,
    /// blanks the item.
    pub fn is_part_of(&self, item: InboxId, message: MessageId) -> anyhow::Result<()> {
        let sql = "UPDATE inbox SET message_id = ?2,
                 raw = CASE WHEN EXISTS (SELECT 1 FROM messages WHERE id = ?2 AND gone_at IS NOT NULL) THEN '' ELSE raw END
             WHERE id = ?1";
        self.db.run(sql, params![item, message])
    }

    /// Remembers the deletion of a message that has not arrived. Only the newest of these are kept.
    pub fn deleted_ahead(&self, address: AddressId, sender: &str, of: &str, now: Timestamp) -> anyhow::Result<()> {
        self.db.run(
            "INSERT INTO deleted_ahead (address_id, sender, external_id, at) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT (address_id, sender, external_id) DO NOTHING",
            params![address, sender, of, now],
        )?;
        self.db.run(
            "DELETE FROM deleted_ahead WHERE address_id = ?1 AND id NOT IN
                     (SELECT id FROM deleted_ahead WHERE address_id = ?1 ORDER BY id DESC LIMIT ?2)",
            params![address, MAX_AHEAD],
        )
    }

    /// Returns true if that message was deleted before it arrived, and blanks its item.
    pub fn was_deleted_before(
        &self,
        item: InboxId,
        address: AddressId,
        sender: &str,
        of: &str,
    ) -> anyhow::Result<bool> {
        let sql = "SELECT 1 FROM deleted_ahead WHERE address_id = ?1 AND sender = ?2 AND external_id = ?3";
        let late = self.db.exists(sql, params![address, sender, of])?;
        if late {
            self.db.run("UPDATE inbox SET raw = '', fate = 'nothing' WHERE id = ?1", [item])?;
        }
        Ok(late)
    }

    /// Records that the file of a deleted message, and its extracted text, are deleted from the
    /// workspace. Removes their paths, which contain the name.
    pub fn mark_file_deleted(&self, id: AttachmentId) -> anyhow::Result<()> {
        let paths: Option<(String, String)> =
            self.db.first("SELECT path, text_path FROM attachments WHERE id = ?1", [id])?;
        let paths = paths.into_iter().flat_map(|(path, text_path)| [path, text_path]);
        paths.filter(|path| !path.is_empty()).try_for_each(|path| self.tx().entries().drop_indexed(&path))?;
        for sql in [
            "DELETE FROM file_contents WHERE file_id IN (SELECT f.id FROM files f JOIN attachments a ON f.path IN (a.path, a.text_path)
             WHERE a.id = ?1 AND f.path <> '')",
            "DELETE FROM files WHERE path <> '' AND path IN (
                 SELECT path FROM attachments WHERE id = ?1 UNION SELECT text_path FROM attachments WHERE id = ?1)",
            "UPDATE parts SET file = 'gone' WHERE file <> '' AND file IN (SELECT path FROM attachments WHERE id = ?1 AND path <> ''
                 UNION SELECT text_path FROM attachments WHERE id = ?1 AND text_path <> '')",
            "DELETE FROM enclosures WHERE what IN (SELECT path FROM attachments WHERE id = ?1 AND path <> ''
                 UNION SELECT text_path FROM attachments WHERE id = ?1 AND text_path <> '')",
            "UPDATE attachments SET path = '', text_path = '', digest = '', size = NULL WHERE id = ?1",
        ] {
            self.db.run(sql, [id])?;
        }
        Ok(())
    }
}

/// Expiry of each running timer: after the answering turn, after closing, or after delivery.
const RUNNING: &str = "SELECT m.id AS id, m.expires_after + CASE
         WHEN m.kind = 'reply' THEN (SELECT o.ended_at FROM outbox o WHERE o.message_id = m.id)
         WHEN m.turn_id IS NOT NULL THEN (SELECT u.ended_at FROM turns u WHERE u.id = m.turn_id)
         WHEN m.state IN ('answered', 'closed') THEN m.received_at END AS due
     FROM messages m WHERE m.expires_after IS NOT NULL AND m.gone_at IS NULL";

impl Timers<'_> {
    /// Returns the messages whose timer has expired.
    pub fn run_out(&self, now: Timestamp, limit: u32) -> anyhow::Result<Vec<MessageId>> {
        self.db
            .all(&format!("SELECT id FROM ({RUNNING}) WHERE due <= ?1 ORDER BY due, id LIMIT ?2"), params![now, limit])
    }

    /// Returns when the next running timer expires.
    pub fn runs_out_next(&self) -> anyhow::Result<Option<Timestamp>> {
        self.db.one(&format!("SELECT min(due) FROM ({RUNNING})"), [])
    }

    /// Returns true if a delivery is a reply with a timer.
    pub fn has_timer(&self, delivery: OutboxId) -> anyhow::Result<bool> {
        self.db.exists(
            "SELECT 1 FROM outbox o JOIN messages m ON m.id = o.message_id WHERE o.id = ?1
             AND m.expires_after IS NOT NULL",
            [delivery],
        )
    }
}

impl TimersMut<'_> {
    /// Sets a timer that deletes a message's text after it was answered, or after delivery if it is
    /// ours.
    pub fn set_timer(&self, id: MessageId, after: Duration) -> anyhow::Result<()> {
        let millis = i64::try_from(after.as_millis()).unwrap_or(i64::MAX >> 1);
        self.db.run(
            "UPDATE messages SET expires_after = min(?2, coalesce(expires_after, ?2)) WHERE id = ?1",
            params![id, millis],
        )
    }

    /// Gives a reply the shortest timer of the messages it answers, including those before a
    /// confirmed question.
    pub fn inherit_timer(&self, reply: MessageId, turn: TurnId) -> anyhow::Result<()> {
        self.db.run(
            "WITH RECURSIVE answered (turn) AS (
             SELECT ?2 UNION SELECT q.turn_id FROM questions q JOIN answered a ON a.turn IN (q.continued_by, q.resumed_by))
             UPDATE messages SET expires_after = (
             SELECT min(m.expires_after) FROM messages m JOIN answered a ON m.turn_id = a.turn WHERE m.id <> ?1)
             WHERE id = ?1",
            params![reply, turn],
        )
    }
}
