//! Questions to a person before a tainted turn sends something out, and their outcomes.
//!
//! `open` → `yes`, `refused` or `expired`, once. An open question past its expiry counts as expired
//! even before that is stored. The time runs from delivery, or from giving up on it: a question
//! that was not shown does not expire. One question is about the calls of a reply that need a yes,
//! and those that wait with them; its outcome becomes their result. The row names the turn that the
//! answer began, and the permission of a yes is read from it, so it survives a crash and covers no
//! other turn. [`PATIENCE`] of silence begins one, too; a question that waits longer stays open.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use url::form_urlencoded::{self, byte_serialize};

use crate::store::handles::{Questions, QuestionsMut};
use crate::store::rows::{from_row, insert, stored_word, text};
use crate::store::{StepKind, StepRow};

use rusqlite::params;
use strum::{EnumString, IntoStaticStr};

use crate::id::{AddressId, ConversationId, MessageId, OutboxId, PersonId, QuestionId, StepId, StreamId, TurnId};
use crate::time::Timestamp;
use crate::trust::{Labelled, Text};
use crate::wording::gateway;
use crate::wording::tool as says;

/// Time of silence after which a turn goes on without an answer, counted from delivery.
pub const PATIENCE: Duration = Duration::from_secs(10 * 60);

/// Permission that a yes grants to one call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Covers {
    /// The address with that digest, for one turn.
    Address(String),
    /// The call that was shown, once.
    Call,
    /// The same, of a call that only its person notices.
    OwnCall,
    /// The same, of a call that changes a file whose content has that digest.
    Change(String),
    /// A call of a tool of another program: the shown one once or, under a grant, each that one of
    /// these patterns covers.
    Tool {
        /// The same call.
        same: CallPattern,
        /// Calls with other content too; `None` if nothing in the call may differ.
        wider: Option<CallPattern>,
    },
    /// These hosts, recipients and other values, although no loaded skill names them, until the
    /// conversation ends.
    Destinations(BTreeSet<String>),
    /// None: the person was not shown the call.
    Nothing,
}

/// Calls that a yes to one of them covers (`tool::permit`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallPattern {
    /// Digest of server, tool, and all that stays the same.
    pub digest: String,
    /// Places of the arguments that may differ.
    pub varying: Vec<String>,
}

impl CallPattern {
    /// Returns the stored form: the digest, and after a colon the places that may differ.
    pub fn encode(&self) -> String {
        if self.varying.is_empty() { self.digest.clone() } else { format!("{}:{}", self.digest, listed(&self.varying)) }
    }

    /// Parses the stored form.
    pub fn decode(stored: &str) -> Self {
        let (digest, varying) = stored.split_once(':').unwrap_or((stored, ""));
        let varying = if varying.is_empty() { Vec::new() } else { names_in(varying).collect() };
        Self { digest: digest.to_owned(), varying }
    }
}

fn listed<'a>(names: impl IntoIterator<Item = &'a String>) -> String {
    names.into_iter().map(|name| byte_serialize(name.as_bytes()).collect()).collect::<Vec<String>>().join(",")
}

fn names_in(list: &str) -> impl Iterator<Item = String> {
    list.split(',').map(|name| form_urlencoded::parse(name.as_bytes()).map(|(name, _)| name).collect())
}

impl Covers {
    /// Returns the stored form: `address:` with a digest, `tool:` with one pattern or two,
    /// `destinations:` with a list, `change:` with a digest, `call`, `own-call` or `nothing`.
    pub fn encode(&self) -> String {
        match self {
            Self::Address(digest) => format!("address:{digest}"),
            Self::Call => "call".to_owned(),
            Self::Tool { same, wider } => {
                let wider = wider.as_ref().map(|wider| format!(";{}", wider.encode())).unwrap_or_default();
                format!("tool:{}{wider}", same.encode())
            }
            Self::Destinations(names) => format!("destinations:{}", listed(names)),
            Self::OwnCall => "own-call".to_owned(),
            Self::Change(digest) => format!("change:{digest}"),
            Self::Nothing => "nothing".to_owned(),
        }
    }

    /// Parses the stored form. An unknown form allows nothing.
    pub fn decode(stored: &str) -> Self {
        match stored.split_once(':') {
            Some(("address", digest)) => Self::Address(digest.to_owned()),
            Some(("tool", patterns)) => {
                let mut patterns = patterns.split(';').map(CallPattern::decode);
                patterns.next().map_or(Self::Nothing, |same| Self::Tool { same, wider: patterns.next() })
            }
            Some(("destinations", names)) => Self::Destinations(names_in(names).collect()),
            Some(("change", digest)) => Self::Change(digest.to_owned()),
            None if stored == "call" => Self::Call,
            None if stored == "own-call" => Self::OwnCall,
            _ => Self::Nothing,
        }
    }
}

/// State of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum QuestionState {
    /// Unanswered.
    Open,
    /// The person wrote on without an answer; a late one still counts.
    Passed,
    /// Answered with yes.
    Yes,
    /// Answered with no or another message.
    Refused,
    /// Not answered in time.
    Expired,
}

stored_word!(QuestionState);

/// A question to store.
#[derive(Debug, Clone)]
pub struct NewQuestion<'a> {
    /// Stream.
    pub stream: StreamId,
    /// Conversation.
    pub conversation: ConversationId,
    /// Turn that ends with it.
    pub turn: TurnId,
    /// First call that is withheld; all later ones of the turn are withheld with it.
    pub step: StepId,
    /// Person who may answer.
    pub person: PersonId,
    /// Address to which it is sent.
    pub address: AddressId,
    /// Withheld calls as JSON, with the label of their text.
    pub calls: &'a Text,
    /// Permission that a yes grants to each of them.
    pub covers: &'a [Covers],
    /// Digest of all of them.
    pub digest: &'a str,
    /// Current time.
    pub at: Timestamp,
    /// Time from delivery to expiry.
    pub waits: Duration,
}

/// A stored question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuestionRow {
    /// Row id.
    pub id: QuestionId,
    /// Stream.
    pub stream: StreamId,
    /// Conversation.
    pub conversation: ConversationId,
    /// Turn that ended with it.
    pub turn: TurnId,
    /// Person who may answer.
    pub person: PersonId,
    /// Address to which it was sent.
    pub address: AddressId,
    /// Withheld calls as JSON: a list, or a single one.
    pub calls: Text,
    /// Permission that a yes grants to each of them.
    pub covers: Vec<Covers>,
    /// Digest of all of them.
    pub digest: String,
    /// State.
    pub state: QuestionState,
    /// Expiry time; `None` before delivery.
    pub expires_at: Option<Timestamp>,
    /// Turn that went on without an answer.
    pub resumed_by: Option<TurnId>,
}

impl QuestionRow {
    /// Returns true if a yes still counts.
    pub fn is_open(&self, now: Timestamp) -> bool {
        let is_undecided = matches!(self.state, QuestionState::Open | QuestionState::Passed);
        is_undecided && self.expires_at.is_none_or(|end| now < end)
    }

    /// Returns true if the conversation went on without an answer.
    pub fn is_behind(&self) -> bool {
        self.resumed_by.is_some() || self.state == QuestionState::Passed
    }

    /// Returns true if all that a yes permits touches its person alone.
    pub fn is_own(&self) -> bool {
        self.covers.iter().all(|covers| matches!(covers, Covers::OwnCall | Covers::Change(_) | Covers::Nothing))
    }
}

/// Each question with the delivery of its text, which is the reply of the turn it ended.
const ASKED: &str = "questions q LEFT JOIN messages m ON m.turn_id = q.turn_id AND m.kind = 'reply'
     LEFT JOIN outbox o ON o.message_id = m.id";
/// Expiry time of a question. The stored time assumes immediate delivery.
const EXPIRES: &str = "CASE WHEN o.id IS NULL THEN q.expires_at ELSE q.expires_at - q.asked_at + o.ended_at END";

/// Questions that an answer still decides.
const UNDECIDED: &str = "q.state IN ('open', 'passed')";

/// Time at which something has to happen to an open question: the turn goes on, or it expires.
fn due() -> String {
    let patience = PATIENCE.as_millis();
    format!(
        "{EXPIRES} - iif(q.resumed_by IS NULL AND q.state = 'open', max(q.expires_at - q.asked_at - {patience}, 0), 0)"
    )
}

from_row! {
    QuestionRow {
        id, stream: "stream_id", conversation: "conversation_id", turn: "turn_id", person: "person_id",
        address: "address_id", digest, state, expires_at: "expiry", resumed_by,
    }
    with |row| {
        calls: text(row, "call")?,
        covers: row.get::<_, String>("covers")?.split(' ').map(Covers::decode).collect(),
    }
}

impl Questions<'_> {
    /// Returns a question by id.
    pub fn question(&self, id: QuestionId) -> anyhow::Result<Option<QuestionRow>> {
        self.question_where("q.id = ?1", id)
    }

    /// Returns the open questions of a stream, oldest first; some may have expired.
    pub fn open_questions(&self, stream: StreamId) -> anyhow::Result<Vec<QuestionRow>> {
        self.db.all(&selection(&format!("q.stream_id = ?1 AND {UNDECIDED} ORDER BY q.id")), [stream])
    }

    /// Returns the open questions of a stream that something has to happen to, oldest first.
    pub fn due_questions(&self, stream: StreamId, now: Timestamp) -> anyhow::Result<Vec<QuestionRow>> {
        let which = format!("q.stream_id = ?1 AND {UNDECIDED} AND {} <= ?2 ORDER BY q.id", due());
        self.db.all(&selection(&which), params![stream, now])
    }

    /// Returns the question whose answer, or silence, began this turn.
    pub fn question_before(&self, turn: TurnId) -> anyhow::Result<Option<QuestionRow>> {
        self.question_where("q.continued_by = ?1 OR q.resumed_by = ?1", turn)
    }

    /// Returns how often the questions of a conversation changed what became of their calls.
    pub fn decided_in(&self, conversation: ConversationId) -> anyhow::Result<i64> {
        let sql =
            "SELECT coalesce(sum((state <> 'open') + (state NOT IN ('open', 'passed')) + (resumed_by IS NOT NULL)), 0)
             FROM questions WHERE conversation_id = ?1";
        self.db.one(sql, [conversation])
    }

    /// Returns the first time at which something has to happen to an open question of a stream that
    /// was delivered.
    pub fn next_due(&self, stream: StreamId) -> anyhow::Result<Option<Timestamp>> {
        let sql = format!("SELECT min({}) FROM {ASKED} WHERE q.stream_id = ?1 AND {UNDECIDED}", due());
        self.db.one(&sql, [stream])
    }

    /// Returns true if a question is the last that was delivered to an address, whole, by that time.
    pub fn was_shown_last(&self, id: QuestionId, address: AddressId, by: Timestamp) -> anyhow::Result<bool> {
        let sql = format!(
            "SELECT EXISTS (SELECT 1 FROM {ASKED} WHERE q.id = ?1 AND o.state = 'sent' AND o.ended_at <= ?3
                 AND NOT EXISTS (SELECT 1 FROM parts p WHERE p.outbox_id = o.id AND p.state <> 'sent')
                 AND o.id = (SELECT max(id) FROM outbox WHERE address_id = ?2))"
        );
        self.db.one(&sql, params![id, address, by])
    }

    /// Returns the stream of the open question sent with that delivery.
    pub fn asked_with(&self, delivery: OutboxId) -> anyhow::Result<Option<StreamId>> {
        self.db.first(
            "SELECT q.stream_id FROM outbox o JOIN messages m ON m.id = o.message_id
             JOIN questions q ON q.stream_id = m.stream_id AND q.turn_id = m.turn_id AND q.state = 'open'
             WHERE o.id = ?1",
            [delivery],
        )
    }

    /// Returns the first message of a turn: one that it answers, or its own.
    pub fn first_message_of(&self, turn: TurnId) -> anyhow::Result<Option<MessageId>> {
        self.db.one("SELECT min(id) FROM messages WHERE turn_id = ?1", [turn])
    }

    fn question_where(&self, which: &str, id: impl rusqlite::ToSql) -> anyhow::Result<Option<QuestionRow>> {
        self.db.first(&selection(which), [id])
    }
}

fn selection(which: &str) -> String {
    format!(
        "SELECT q.id, q.stream_id, q.conversation_id, q.turn_id, q.person_id, q.address_id, q.call, q.label, q.scope, q.covers, q.digest, q.state,
             q.resumed_by, {EXPIRES} AS expiry FROM {ASKED} WHERE {which}"
    )
}

impl QuestionsMut<'_> {
    /// Stores a question.
    pub fn ask(&self, new: &NewQuestion<'_>) -> anyhow::Result<QuestionId> {
        let (calls, label, scope) = new.calls.open();
        let covers: Vec<String> = new.covers.iter().map(Covers::encode).collect();
        insert!(self.db, "questions" {
            stream_id: new.stream, conversation_id: new.conversation, turn_id: new.turn, step_id: new.step,
            person_id: new.person, address_id: new.address, call: &**calls, covers: covers.join(" "),
            digest: new.digest, state: "open", asked_at: new.at, expires_at: new.at.plus(new.waits), label, scope,
        })
    }

    /// Closes an open question; `by` is the turn that its answer began.
    ///
    /// # Errors
    /// If it was already closed.
    pub fn decide(
        &self,
        id: QuestionId,
        state: QuestionState,
        by: Option<TurnId>,
        now: Timestamp,
    ) -> anyhow::Result<()> {
        let decided = self.close("q.id = ?1", params![id], state, by, now)?;
        anyhow::ensure!(decided == 1, "Question {id} was decided twice");
        Ok(())
    }

    /// Refuses the open questions of a stream, and expires those past their expiry.
    pub fn refuse_questions(&self, stream: StreamId, now: Timestamp) -> anyhow::Result<()> {
        self.expire_questions(stream, now)?;
        self.close("q.stream_id = ?1", params![stream], QuestionState::Refused, None, now).map(drop)
    }

    /// Notes that a person wrote on without an answer: a question about what touches them alone may
    /// still be answered, any other is refused. One that a turn went on from stays as it is.
    pub fn pass_questions(&self, stream: StreamId, now: Timestamp) -> anyhow::Result<()> {
        self.expire_questions(stream, now)?;
        for question in self.tx().questions().open_questions(stream)? {
            if question.is_behind() {
                continue;
            }
            if !question.is_own() {
                self.decide(question.id, QuestionState::Refused, None, now)?;
                continue;
            }
            let step: StepId = self.db.one("SELECT step_id FROM questions WHERE id = ?1", [question.id])?;
            let passed = params![question.id, QuestionState::Passed];
            self.db.run("UPDATE questions SET state = ?2 WHERE id = ?1", passed)?;
            self.outcome(&question, step, &says::still_open(question.id), now)?;
        }
        Ok(())
    }

    fn expire_questions(&self, stream: StreamId, now: Timestamp) -> anyhow::Result<()> {
        let over = format!("q.stream_id = ?1 AND {EXPIRES} <= ?2");
        self.close(&over, params![stream, now], QuestionState::Expired, None, now).map(drop)
    }

    /// Notes that this turn goes on without an answer to an open question, which may still come.
    pub fn resume(&self, id: QuestionId, by: TurnId, now: Timestamp) -> anyhow::Result<()> {
        let step: Option<StepId> =
            self.db.first("SELECT step_id FROM questions WHERE id = ?1 AND state = 'open'", [id])?;
        let question = self.tx().questions().question(id)?;
        let (step, question) = step.zip(question).with_context(|| format!("Question {id} is not open"))?;
        self.db.run("UPDATE questions SET resumed_by = ?2 WHERE id = ?1", params![id, by])?;
        self.outcome(&question, step, &says::still_open(id), now)
    }

    /// Closes these open questions and stores the outcome as the result of their calls. Returns
    /// their number.
    fn close(
        &self,
        which: &str,
        of: impl rusqlite::Params,
        state: QuestionState,
        by: Option<TurnId>,
        now: Timestamp,
    ) -> anyhow::Result<usize> {
        let sql = format!("SELECT DISTINCT q.id, q.step_id FROM {ASKED} WHERE {UNDECIDED} AND {which}");
        let open: Vec<(QuestionId, StepId)> = self.db.all(&sql, of)?;
        let (outcome, shown) = match state {
            QuestionState::Yes => (says::SAID_YES, gateway::ALLOWED),
            QuestionState::Open | QuestionState::Passed | QuestionState::Refused => {
                (says::SAID_NO, gateway::NOT_ALLOWED)
            }
            QuestionState::Expired => (says::SAID_NOTHING, gateway::EXPIRED),
        };
        for (id, first) in &open {
            let question = self.tx().questions().question(*id)?.context("A question is there while it is decided")?;
            self.tx().outbox().decide_buttons(&format!("/yes {id}"), shown, now)?;
            self.db.run(
                "UPDATE questions SET state = ?2, continued_by = ?3, decided_at = ?4 WHERE id = ?1",
                params![id, state, by, now],
            )?;
            self.outcome(&question, *first, outcome, now)?;
        }
        Ok(open.len())
    }

    /// Stores what became of the calls of a question, whose steps were the last that its turn began.
    /// One that only waited with it was not asked about.
    fn outcome(&self, question: &QuestionRow, first: StepId, outcome: &str, now: Timestamp) -> anyhow::Result<()> {
        let turns = self.tx().turns();
        let is_of_it = |step: &StepRow| step.kind == StepKind::Tool && step.id >= first;
        let calls = turns.steps(question.turn)?.into_iter().filter(is_of_it);
        for (call, covers) in calls.zip(&question.covers) {
            let outcome = if *covers == Covers::Nothing && outcome != says::SAID_YES { says::WAITED } else { outcome };
            let (_, label, scope) = call.text.open();
            turns.finish_step(call.id, &Labelled::new(Arc::from(outcome), label.clone(), scope), None, "", now)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_approval_scope_allows_the_least() {
        let pattern = |varying: &[&str]| CallPattern {
            digest: "0f3a".to_owned(),
            varying: varying.iter().map(|place| (*place).to_owned()).collect(),
        };
        for covers in [
            Covers::Address("0f3a".to_owned()),
            Covers::Tool { same: pattern(&[]), wider: None },
            Covers::Tool { same: pattern(&[]), wider: Some(pattern(&["text", "a b/*;:,&=+%/\u{e9}"])) },
            Covers::Destinations(["evil.example", "Eve Mallory, & co; a=b"].map(str::to_owned).into()),
            Covers::Call,
            Covers::Nothing,
        ] {
            assert!(!covers.encode().contains(' '), "{covers:?}");
            assert_eq!(Covers::decode(&covers.encode()), covers);
        }
        for stored in ["", "everything", "host:example.org"] {
            assert_eq!(Covers::decode(stored), Covers::Nothing);
        }
    }
}
