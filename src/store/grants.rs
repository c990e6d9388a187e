//! Permissions of a person for one conversation: a source that they sent themselves and vouch for,
//! a tool of another program that is used without a question, or a host or recipient that no loaded
//! skill names.
//!
//! A grant holds until it is taken back, used up, or its conversation ends; that of a tool also
//! ends when anything else from outside comes in. Each use is told when its turn ends.

use std::collections::BTreeSet;
use std::sync::Arc;

use rusqlite::params;
use strum::{EnumString, IntoStaticStr};

use crate::id::{ConversationId, GrantId, PersonId, StepId, TurnId};
use crate::store::handles::{Grants, GrantsMut};
use crate::store::rows::{from_row, insert, stored_word};
use crate::store::{CauseKind, NewOutbox};
use crate::time::Timestamp;
use crate::trust::{Label, Labelled, Scope, Source};
use crate::wording::Language;
use crate::wording::tool as says;

/// Kind of a grant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum GrantKind {
    /// A source that counts as the person's own.
    Source,
    /// A tool that is used without a question.
    Tool,
    /// A host or recipient that no loaded skill names.
    Destination,
}

stored_word!(GrantKind);

/// A grant to store.
#[derive(Debug, Clone)]
pub struct NewGrant<'a> {
    /// Conversation in which it holds.
    pub conversation: ConversationId,
    /// Person who gives it.
    pub person: PersonId,
    /// Kind.
    pub kind: GrantKind,
    /// Source, name of the tool, or destination.
    pub subject: &'a str,
    /// Digest of what the tool may be called with; blank for others.
    pub covers: &'a str,
    /// Label of the conversation.
    pub sources: &'a Label,
    /// Number of uses; unlimited if `None`.
    pub uses: Option<u32>,
    /// Scope.
    pub scope: Scope,
    /// Current time.
    pub at: Timestamp,
}

/// A stored grant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrantRow {
    /// Row id.
    pub id: GrantId,
    /// Kind.
    pub kind: GrantKind,
    /// Source, name of the tool, or destination.
    pub subject: String,
    /// Digest of what the tool may be called with; blank for others.
    pub covers: String,
    /// Label of the conversation when it was given.
    pub sources: Label,
    /// Number of uses left; unlimited if `None`.
    pub uses_left: Option<u32>,
}

from_row! {
    GrantRow from "grants", "kind, subject, covers, sources, uses_left" { id, kind, subject, covers, sources, uses_left }
}

/// Returns the sources that count as the person's own under these grants.
pub fn vouched(grants: &[GrantRow]) -> BTreeSet<Source> {
    let subjects = grants.iter().filter(|grant| grant.kind == GrantKind::Source).map(|grant| grant.subject.as_str());
    subjects.map(|subject| Source::new(subject, "")).filter(Source::can_be_vouched_for).collect()
}

/// Use of a tool under a grant in one turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrantUse {
    /// Name of the tool.
    pub tool: String,
    /// Number of calls.
    pub calls: u32,
    /// Number of uses left; unlimited if `None`.
    pub uses_left: Option<u32>,
}

from_row! {
    GrantUse { tool: "subject", calls, uses_left }
}

/// Returns a sentence for each tool that was used without a question.
fn told(language: Language, uses: &[GrantUse]) -> Vec<String> {
    uses.iter().map(|used| says::used_under_yes(language, &used.tool, used.calls, used.uses_left)).collect()
}

impl Grants<'_> {
    /// Returns the grants that hold in a conversation.
    pub fn grants_in(&self, conversation: ConversationId) -> anyhow::Result<Vec<GrantRow>> {
        self.db.rows("WHERE conversation_id = ?1 AND ended_at IS NULL ORDER BY id", [conversation])
    }

    /// Returns whether a grant still holds.
    pub fn holds(&self, id: GrantId) -> anyhow::Result<bool> {
        self.db.exists("SELECT 1 FROM grants WHERE id = ?1 AND ended_at IS NULL", [id])
    }

    /// Returns the sources that count as the person's own in a conversation.
    pub fn vouched_in(&self, conversation: ConversationId) -> anyhow::Result<BTreeSet<Source>> {
        Ok(vouched(&self.grants_in(conversation)?))
    }

    /// Returns the uses of grants in a turn.
    pub fn uses_in(&self, turn: TurnId) -> anyhow::Result<Vec<GrantUse>> {
        self.db.all(
            "SELECT g.subject, count(*) AS calls, g.uses_left FROM steps s JOIN grants g ON g.id = s.grant_id
             WHERE s.turn_id = ?1 GROUP BY g.id ORDER BY g.id",
            [turn],
        )
    }

    /// Returns a sentence for each tool that a turn used without a question.
    pub fn uses_told(&self, turn: TurnId, language: Language) -> anyhow::Result<Vec<String>> {
        Ok(told(language, &self.uses_in(turn)?))
    }

    /// Returns the labels of everything that a conversation has read.
    pub fn labels_in(&self, conversation: ConversationId) -> anyhow::Result<Vec<Label>> {
        self.db.all("SELECT DISTINCT label FROM turns WHERE conversation_id = ?1", [conversation])
    }
}

impl GrantsMut<'_> {
    /// Stores a grant.
    pub fn give(&self, new: &NewGrant<'_>) -> anyhow::Result<GrantId> {
        insert!(self.db, "grants" {
            conversation_id: new.conversation, person_id: new.person, kind: new.kind, subject: new.subject,
            covers: new.covers, sources: new.sources, uses_left: new.uses, given_at: new.at, scope: new.scope,
        })
    }

    /// Counts a step as one use of a grant.
    pub fn use_grant(&self, id: GrantId, step: StepId, now: Timestamp) -> anyhow::Result<()> {
        self.db.run("UPDATE steps SET grant_id = ?1 WHERE id = ?2", params![id, step])?;
        self.db.run(
            "UPDATE grants SET uses_left = uses_left - 1, ended_at = CASE WHEN uses_left = 1 THEN ?2 END
             WHERE id = ?1 AND ended_at IS NULL",
            params![id, now],
        )
    }

    /// Ends the grants of tools in a conversation, except of that one, because something else from
    /// outside came in.
    pub fn end_tools(&self, conversation: ConversationId, except: &str, now: Timestamp) -> anyhow::Result<()> {
        let sql = "UPDATE grants SET ended_at = ?3
             WHERE conversation_id = ?1 AND kind = 'tool' AND subject <> ?2 AND ended_at IS NULL";
        self.db.run(sql, params![conversation, except, now])
    }

    /// Tells the person of an ending turn which tools it used without a question, unless its answer
    /// does.
    pub(super) fn tell_of_uses(&self, turn: TurnId, now: Timestamp) -> anyhow::Result<()> {
        let uses = self.db.grants().uses_in(turn)?;
        let Some(row) = self.db.turns().turn(turn)?.filter(|_| !uses.is_empty()) else { return Ok(()) };
        let lines = told(self.db.people().language_in(row.scope)?, &uses);
        let reply = self.db.activity().reply_of(turn)?;
        let said = reply.map(|reply| self.db.messages().texts_of(reply)).transpose()?.unwrap_or_default();
        let is_told = |line: &String| said.iter().any(|text| text.text.open().0.contains(line.as_str()));
        if lines.iter().all(is_told) {
            return Ok(());
        }
        // The name of a tool comes from its server.
        let text = Labelled::new(Arc::from(lines.join("\n")), row.label, row.scope);
        let urgency = CauseKind::Heartbeat.urgency();
        self.tx().outbox().post(&NewOutbox { urgency, ..NewOutbox::notice(row.address, &text, now) }).map(drop)
    }

    /// Takes back all grants of a conversation. Returns their number.
    pub fn take_back(&self, conversation: ConversationId, now: Timestamp) -> anyhow::Result<usize> {
        let sql = "UPDATE grants SET ended_at = ?2 WHERE conversation_id = ?1 AND ended_at IS NULL";
        self.db.execute(sql, params![conversation, now])
    }
}
