//! Unrequested deliveries, and those whose occasion has passed.
//!
//! A terminal is an address for them only while a client is attached. What waits there otherwise
//! moves to the person's next channel, in one transaction that also forgets how it was rendered; a
//! part whose outcome is unknown makes the first part there a possible repeat. It moves when a
//! client leaves, when its person writes elsewhere, and at the start.
//!
//! A question or proposal that was decided or has expired before its message could be delivered is
//! dropped. If the question is the reply of a turn, the reply is delivered without its buttons and
//! says so.

use super::{Delivery, close_row, fail_parts};
use crate::id::{ProposalId, QuestionId};
use crate::store::{Db, KeepState, OutboxKind, OutboxRow, PartState, ProposalState, Tx};
use crate::time::Timestamp;

/// Reason stored in the journal.
const OVER: &str = "over before it could be delivered";

/// Standing of the decision that a message asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Decision {
    /// None is asked for, or it still can be made.
    Open,
    /// The message must not be delivered.
    Dropped,
    /// The message is delivered, and says that nothing is to be decided any more.
    Closed,
}

impl Delivery {
    /// Moves unrequested messages to the person's next channel, unless a client is attached here.
    pub(super) async fn move_unasked(&self) -> anyhow::Result<()> {
        let (dispatcher, id) = (&self.dispatcher, self.queue.id);
        if self.queue.adapter.is_attended(&self.queue.address.peer) {
            return Ok(());
        }
        let channels = move |db: Db<'_>| match db.outbox().has_unasked(id)? {
            true => db.addresses().next_channels(id),
            false => Ok(Vec::new()),
        };
        let channels = dispatcher.journal.read(channels).await?;
        let is_open = |adapter: &str, account: &str| {
            dispatcher.adapter(adapter).is_some_and(|adapter| adapter.account() == account)
        };
        let next = channels.into_iter().find(|known| is_open(&known.address.adapter, &known.address.account));
        let Some(to) = next.map(|known| known.id) else { return Ok(()) };
        let move_rows = move |tx: Tx<'_>| tx.outbox().move_unasked(id, to);
        dispatcher.journal.write("move to another channel", move_rows).await?;
        tracing::info!(address.id = %id, "What was not asked for goes to address {to}, because nobody is attached to address {id}");
        dispatcher.wake(to);
        Ok(())
    }

    /// Drops a message whose decision was made or is no longer possible. Returns its standing.
    pub(super) async fn drop_if_over(&self, row: &OutboxRow) -> anyhow::Result<Decision> {
        let (asking, now) = (row.clone(), self.dispatcher.clock.now());
        let decision = self.dispatcher.journal.read(move |db| decision_of(db, &asking, now)).await?;
        if decision == Decision::Dropped {
            tracing::info!(outbox.id = %row.id, "Delivery {} is dropped: what it asks was decided or has expired", row.id);
            let row = row.clone();
            let drop_row = move |tx: Tx<'_>| {
                fail_parts(tx, &row)?;
                close_row(tx, &row, PartState::Failed, OVER, now)
            };
            self.dispatcher.journal.write("drop a delivery", drop_row).await?.wake(&self.dispatcher);
        }
        Ok(decision)
    }
}

fn decision_of(db: Db<'_>, row: &OutboxRow, now: Timestamp) -> anyhow::Result<Decision> {
    let is_open = match (proposal_of(row), question_of(row)) {
        (Some(id), _) => {
            let proposal = db.proposals().proposal(id)?;
            proposal.is_some_and(|row| row.state == ProposalState::Pending && !row.is_late(now))
        }
        (None, Some(number)) => match db.keep_requests().keep_request_by_number(number)? {
            Some(keep) => keep.state == KeepState::Open && keep.is_open(now),
            None => db.questions().question(number)?.is_some_and(|question| question.is_open(now)),
        },
        (None, None) => true,
    };
    Ok(match (is_open, row.kind) {
        (true, _) | (_, OutboxKind::Answer | OutboxKind::Refusal) => Decision::Open,
        (false, OutboxKind::Reply) => Decision::Closed,
        (false, _) => Decision::Dropped,
    })
}

/// Proposal that a message asks to decide, recognised by its buttons.
pub(super) fn proposal_of(row: &OutboxRow) -> Option<ProposalId> {
    number_in(row, "/approve ").map(ProposalId)
}

/// Question that a message asks, recognised by its buttons.
pub(super) fn question_of(row: &OutboxRow) -> Option<QuestionId> {
    number_in(row, "/yes ").map(QuestionId)
}

fn number_in(row: &OutboxRow, command: &str) -> Option<i64> {
    let rest = row.buttons.iter().find_map(|(_, data)| data.strip_prefix(command))?;
    rest.split(' ').next()?.parse().ok()
}
