//! Compaction trigger: checks after each turn how full the window is, and requests work without
//! doing it.
//!
//! The fill level is the provider's count of the turn's last call. From the first threshold on,
//! facts are extracted once; from the second on, the older part is to be compacted into its
//! summary. Both are rows: the work is done in the background ([`super::summarizer`]), and until it
//! is done the conversation continues unchanged.

use std::sync::Arc;

use super::compact::{self, CompactionEnd};
use super::context_budget::may_outgrow;
use super::{Engine, extractor};
use crate::id::TurnId;
use crate::store::{ExtractionCause, Tx};

/// Checks how full the window was in that turn, and requests due work.
pub async fn after(engine: &Arc<Engine>, turn: TurnId) -> anyhow::Result<()> {
    let room = engine.context_budget(&engine.chat);
    let (takes_down, now) = (engine.memory.enabled, engine.clock.now());
    let read = move |db: crate::store::Db<'_>| {
        let Some(turn) = db.turns().turn(turn)? else { return Ok(None) };
        let Some(conversation) = db.conversations().conversation(turn.conversation)? else { return Ok(None) };
        if turn.counted < room.extract_at() || !may_outgrow(&conversation) {
            return Ok(None);
        }
        let due =
            (turn.counted >= room.compact_at() && !db.compactions().is_being_compacted(conversation.id)?).then_some(());
        let told = due.map_or(Ok(None), |()| compact::older_part(db, &conversation, &room))?;
        Ok(Some((conversation, told)))
    };
    let Some((conversation, told)) = engine.journal.read_much(read).await? else { return Ok(()) };
    let job = move |tx: Tx<'_>| {
        if let Some(CompactionEnd { turn, message }) = told {
            tx.compactions().request_compaction(conversation.id, turn, message, conversation.scope, now)?;
        } else if takes_down
            && !tx.compactions().has_pressed(conversation.id)?
            && let Some(upto) = tx.extractions().newest_message(conversation.id)?
        {
            extractor::request(tx, conversation.id, upto, ExtractionCause::Pressure, now)?;
        }
        Ok(())
    };
    engine.journal.write("look how full the window is", job).await?;
    Ok(())
}
