//! The emoji reaction that goes out with an answer: a separate delivery after the reply, so that a
//! channel's failure to deliver it does not affect the reply.

use std::sync::Arc;

use crate::store::{NewOutbox, OutboxKind, TurnRow, Tx};
use crate::time::Timestamp;
use crate::trust::Labelled;

/// Posts the reaction to the last message that the turn answers and that came from the address that
/// the answer goes to.
pub(super) fn post_reaction(tx: Tx<'_>, row: &TurnRow, now: Timestamp) -> anyhow::Result<()> {
    let Some(emoji) = tx.outgoing_files().enclosed_reaction(row.id)? else { return Ok(()) };
    let messages = tx.messages().messages_of_turn(row.id)?;
    let from_there = |message: &&crate::store::StoredMessage| message.address == Some(row.address) && !message.gone;
    let Some(message) = messages.iter().rev().filter(from_there).find(|message| !message.external_id.is_empty()) else {
        return Ok(());
    };
    let text = Labelled::new(Arc::from(emoji), row.label.clone(), row.scope);
    let (kind, quotes) = (OutboxKind::Reaction, message.external_id.as_str());
    tx.outbox().post(&NewOutbox { kind, quotes, ..NewOutbox::notice(row.address, &text, now) }).map(drop)
}
