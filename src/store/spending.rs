//! Costs of model calls. A call is reserved at its worst case before it is made, and corrected
//! afterwards; an interrupted one stays at its worst case.

use crate::store::handles::{Spending, SpendingMut};
use crate::store::rows::{from_row, insert};
use rusqlite::params;

use crate::id::{ConversationId, PersonId, SpendId, TurnId};
use crate::time::Timestamp;
use crate::trust::Scope;

/// A call about to be made.
#[derive(Debug, Clone)]
pub struct Reservation<'a> {
    /// Turn.
    pub turn: Option<TurnId>,
    /// Person.
    pub person: Option<PersonId>,
    /// Scope whose budget is charged.
    pub scope: Scope,
    /// Purpose.
    pub purpose: &'a str,
    /// `provider/name`.
    pub model: &'a str,
    /// Local day.
    pub day: &'a str,
    /// Current time.
    pub at: Timestamp,
    /// True if the money counts; false if the tokens do.
    pub priced: bool,
    /// Estimated input tokens, calibrated by earlier counts.
    pub input: u64,
    /// Uncalibrated estimate.
    pub guessed: u64,
    /// Maximum output tokens.
    pub output: u64,
    /// Maximum cost, in micro-units.
    pub micros: u64,
}

/// Sum over calls: money for priced ones, tokens for the others.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spent {
    /// Cost in micro-units.
    pub micros: u64,
    /// Tokens of calls without a known price.
    pub tokens: u64,
}

/// One line of `usage`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpendLine {
    /// Local day.
    pub day: String,
    /// Person; blank for none.
    pub person: String,
    /// Purpose.
    pub purpose: String,
    /// `provider/name`.
    pub model: String,
    /// Number of calls.
    pub calls: u64,
    /// All input tokens.
    pub input: u64,
    /// Input tokens from the provider's cache.
    pub cached: u64,
    /// Output tokens.
    pub output: u64,
    /// Cost in micro-units; zero if the price is unknown.
    pub micros: u64,
    /// True if the price is known.
    pub priced: bool,
}

from_row! {
    SpendLine { day, person, purpose, model, priced }
    with |row| {
        calls: unsigned(row.get("calls")?),
        input: unsigned(row.get("input")?),
        cached: unsigned(row.get("cached")?),
        output: unsigned(row.get("output")?),
        micros: unsigned(row.get("micros")?),
    }
}

/// Cost of a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConversationCost {
    /// Conversation.
    pub conversation: ConversationId,
    /// Number of calls.
    pub calls: u64,
    /// Money in micro-units, for calls with a known price.
    pub micros: u64,
    /// Tokens of calls without one.
    pub tokens: u64,
}

from_row! {
    ConversationCost { conversation: "conversation_id" }
    with |row| {
        calls: unsigned(row.get("calls")?),
        micros: unsigned(row.get("money")?),
        tokens: unsigned(row.get("tokens")?),
    }
}

fn unsigned(value: i64) -> u64 {
    u64::try_from(value).unwrap_or(0)
}

fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

impl Spending<'_> {
    /// Returns our estimates and the provider's counts for the newest calls of a model, as
    /// (guessed, counted) input tokens, oldest first.
    pub fn counts_of(&self, model: &str, limit: u32) -> anyhow::Result<Vec<(u64, u64)>> {
        let rows: Vec<(i64, i64)> = self.db.all(
            "SELECT guessed_tokens, input_tokens FROM (
             SELECT id, guessed_tokens, input_tokens FROM spending
             WHERE model = ?1 AND state = 'spent' AND guessed_tokens > 0 AND input_tokens > 0
             ORDER BY id DESC LIMIT ?2)
             ORDER BY id",
            params![model, limit],
        )?;
        Ok(rows.into_iter().map(|(guessed, counted)| (unsigned(guessed), unsigned(counted))).collect())
    }

    /// Returns the spending on that local day, in one scope or in all; optionally only background
    /// work.
    pub fn spent(&self, day: &str, scope: Option<Scope>, background_only: bool) -> anyhow::Result<Spent> {
        let (micros, tokens) = self.db.one(
            "SELECT coalesce(sum(CASE WHEN priced THEN micros ELSE 0 END), 0),
             coalesce(sum(CASE WHEN priced THEN 0 ELSE input_tokens + output_tokens END), 0)
             FROM spending WHERE day = ?1 AND (?2 IS NULL OR scope = ?2) AND (NOT ?3
             OR purpose NOT IN ('chat', 'transcription'))",
            params![day, scope, background_only],
        )?;
        Ok(Spent { micros: unsigned(micros), tokens: unsigned(tokens) })
    }

    /// Returns the spending on a turn.
    pub fn spent_on(&self, turn: TurnId) -> anyhow::Result<Spent> {
        let (micros, tokens) = self.db.one(
            "SELECT coalesce(sum(CASE WHEN priced THEN micros ELSE 0 END), 0),
             coalesce(sum(CASE WHEN priced THEN 0 ELSE input_tokens + output_tokens END), 0)
             FROM spending WHERE turn_id = ?1",
            [turn],
        )?;
        Ok(Spent { micros: unsigned(micros), tokens: unsigned(tokens) })
    }

    /// Returns spending by day, person, purpose, model and whether the price is known, newest day
    /// first; of one person, or of all. Both days are included. The name of a removed person ends
    /// in their number, because another may have it by now.
    pub fn spend_lines(&self, person: Option<PersonId>, first: &str, last: &str) -> anyhow::Result<Vec<SpendLine>> {
        self.db.all(
            "SELECT s.day, coalesce(p.name || iif(p.removed_at IS NULL OR p.ended <> '', '', ' #' || p.id), '') AS person,
             s.purpose, s.model, count(*) AS calls, sum(s.input_tokens) AS input, sum(s.cached_tokens) AS cached,
             sum(s.output_tokens) AS output, sum(s.micros) AS micros, s.priced
             FROM spending s LEFT JOIN people p ON p.id = s.person_id
             WHERE (?1 IS NULL OR s.person_id = ?1) AND s.day BETWEEN ?2 AND ?3
             GROUP BY s.day, p.id, s.purpose, s.model, s.priced
             ORDER BY s.day DESC, person, s.purpose, s.model, s.priced",
            params![person, first, last],
        )
    }

    /// Returns the spending of a turn by model.
    pub fn spent_in_turn(&self, turn: TurnId) -> anyhow::Result<Vec<SpendLine>> {
        self.db.all(
            "SELECT max(day) AS day, '' AS person, purpose, model, count(*) AS calls, sum(input_tokens) AS input,
             sum(cached_tokens) AS cached, sum(output_tokens) AS output, sum(micros) AS micros, priced
             FROM spending WHERE turn_id = ?1 GROUP BY purpose, model, priced ORDER BY min(id)",
            [turn],
        )
    }

    /// Returns the conversations whose turns cost most in that time, by money and then by tokens.
    /// Both days are included.
    pub fn dearest_conversations(
        &self,
        person: Option<PersonId>,
        first: &str,
        last: &str,
        limit: u32,
    ) -> anyhow::Result<Vec<ConversationCost>> {
        self.db.all(
            "SELECT t.conversation_id, count(*) AS calls, sum(CASE WHEN s.priced THEN s.micros ELSE 0 END) AS money,
             sum(CASE WHEN s.priced THEN 0 ELSE s.input_tokens + s.output_tokens END) AS tokens
             FROM spending s JOIN turns t ON t.id = s.turn_id
             WHERE (?1 IS NULL OR s.person_id = ?1) AND s.day BETWEEN ?2 AND ?3
             GROUP BY t.conversation_id HAVING money > 0 OR tokens > 0
             ORDER BY money DESC, tokens DESC, t.conversation_id DESC LIMIT ?4",
            params![person, first, last, limit],
        )
    }

    /// Returns true if anything was spent before that day, by one person or by anyone.
    pub fn is_spent_before(&self, person: Option<PersonId>, day: &str) -> anyhow::Result<bool> {
        self.db.exists("SELECT 1 FROM spending WHERE (?1 IS NULL OR person_id = ?1) AND day < ?2", params![person, day])
    }
}

impl SpendingMut<'_> {
    /// Reserves the worst case of a call.
    pub fn reserve(&self, call: &Reservation<'_>) -> anyhow::Result<SpendId> {
        insert!(self.db, "spending" {
            turn_id: call.turn, person_id: call.person, scope: call.scope, purpose: call.purpose, model: call.model,
            day: call.day, at: call.at, state: "reserved", priced: call.priced, input_tokens: signed(call.input),
            output_tokens: signed(call.output), micros: signed(call.micros), guessed_tokens: signed(call.guessed),
        })
    }

    /// Records the actual cost of a call.
    pub fn settle(&self, id: SpendId, input: u64, cached: u64, output: u64, micros: u64) -> anyhow::Result<()> {
        self.db.run(
            "UPDATE spending SET state = 'spent', input_tokens = ?2, cached_tokens = ?3, output_tokens = ?4, micros
             = ?5
             WHERE id = ?1",
            params![id, signed(input), signed(cached), signed(output), signed(micros)],
        )
    }
}
