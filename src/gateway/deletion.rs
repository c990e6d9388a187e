//! What becomes of a message afterwards, at the door: its sender deletes it, or somebody puts an emoji under it.
//!
//! Only who said a message can take it back; of whatever else they name nothing is done. A deletion that comes before its message is remembered, so
//! that the message is not let in afterwards. A reaction is kept for the next turn: it opens no conversation and asks no model.

use super::admission::{Admission, AfterCommit, Sender};
use crate::id::MessageId;
use crate::message::Said;
use crate::store::{MessageKind, Tx};
use crate::text::is_emoji;

impl Admission {
    /// The sender deletes a message, or a part of one: then all of it goes.
    pub(super) fn deleted(
        &self,
        tx: Tx<'_>,
        guest: &Sender<'_>,
        of: &str,
        wake: &mut AfterCommit,
    ) -> anyhow::Result<()> {
        let named = match tx.messages().by_external_id(guest.address, of)? {
            None => tx.redaction().by_part(guest.address, of)?,
            found => found,
        };
        match named {
            None => tx.redaction().deleted_ahead(guest.address, &guest.inbound.sender, of, self.now),
            Some(message) if guest.said(&message) => self.let_go(tx, message.id, wake),
            Some(_) => Ok(()),
        }
    }

    fn let_go(&self, tx: Tx<'_>, id: MessageId, wake: &mut AfterCommit) -> anyhow::Result<()> {
        let Some(parting) = tx.redaction().words_gone(id, self.now)? else { return Ok(()) };
        if parting.cut {
            wake.cut.push(parting.stream);
        }
        wake.streams.push(parting.stream);
        wake.schedule = true;
        Ok(())
    }

    /// Whether the sender deleted what comes now before it came.
    pub(super) fn is_taken_back(&self, tx: Tx<'_>, guest: &Sender<'_>) -> anyhow::Result<bool> {
        let inbound = guest.inbound;
        tx.redaction().came_too_late(guest.inbox, guest.address, &inbound.sender, &inbound.external_id)
    }

    /// Sets the timer that came with a message.
    pub(super) fn timed(&self, tx: Tx<'_>, id: MessageId, said: &Said, wake: &mut AfterCommit) -> anyhow::Result<()> {
        let Some(after) = said.expires_after else { return Ok(()) };
        wake.schedule = true;
        tx.timers().set_timer(id, after)
    }

    /// A person puts an emoji under one of our messages or one of their own.
    pub(super) fn reacted(&self, tx: Tx<'_>, guest: &Sender<'_>, to: &str, emoji: &str) -> anyhow::Result<()> {
        let Some(person) = guest.speaker.person().filter(|_| is_emoji(emoji)) else { return Ok(()) };
        let Some(message) = tx.messages().by_external_id(guest.address, to)? else { return Ok(()) };
        let theirs = message.kind == MessageKind::Reply || guest.said(&message);
        if theirs && !message.gone && message.conversation.is_some() {
            tx.reactions().react(message.id, person, emoji, self.now)?;
        }
        Ok(())
    }
}
