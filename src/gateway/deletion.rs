//! Later events about a message: deletion by its sender, and emoji reactions.
//!
//! Only its sender can delete a message. A deletion that arrives before its message is stored, so
//! that the message is not admitted afterwards. A reaction is kept for the next turn: it neither
//! opens a conversation nor calls a model.

use super::admission::{Admission, AfterCommit};
use super::sender::Sender;
use crate::id::MessageId;
use crate::message::MessageContent;
use crate::store::{MessageKind, Tx};
use crate::text::is_emoji;

impl Admission {
    /// Deletes a message by the id of the message or of any part of it.
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
            Some(message) if guest.is_author_of(&message) => self.redact_message(tx, message.id, wake),
            Some(_) => Ok(()),
        }
    }

    fn redact_message(&self, tx: Tx<'_>, id: MessageId, wake: &mut AfterCommit) -> anyhow::Result<()> {
        let Some(parting) = tx.redaction().redact_message(id, self.now)? else { return Ok(()) };
        if parting.turn_ended {
            wake.cancelled.push(parting.stream);
        }
        wake.streams.push(parting.stream);
        wake.deletions_pending = true;
        Ok(())
    }

    /// Returns true if the message was deleted before it arrived.
    pub(super) fn was_deleted_before(&self, tx: Tx<'_>, guest: &Sender<'_>) -> anyhow::Result<bool> {
        let inbound = guest.inbound;
        tx.redaction().was_deleted_before(guest.inbox, guest.address, &inbound.sender, &inbound.external_id)
    }

    /// Sets the deletion timer that came with a message.
    pub(super) fn timed(
        &self,
        tx: Tx<'_>,
        id: MessageId,
        said: &MessageContent,
        wake: &mut AfterCommit,
    ) -> anyhow::Result<()> {
        let Some(after) = said.expires_after else { return Ok(()) };
        wake.deletions_pending = true;
        tx.timers().set_timer(id, after)
    }

    /// Stores a person's reaction to one of our messages or one of their own.
    pub(super) fn reacted(&self, tx: Tx<'_>, guest: &Sender<'_>, to: &str, emoji: &str) -> anyhow::Result<()> {
        let Some(person) = guest.speaker.person().filter(|_| is_emoji(emoji)) else { return Ok(()) };
        let Some(message) = tx.messages().by_external_id(guest.address, to)? else { return Ok(()) };
        let theirs = message.kind == MessageKind::Reply || guest.is_author_of(&message);
        if theirs && !message.gone && message.conversation.is_some() {
            tx.reactions().react(message.id, person, emoji, self.now)?;
        }
        Ok(())
    }
}
