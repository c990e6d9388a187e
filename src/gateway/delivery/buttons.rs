//! Buttons under delivered messages: once the decision was made, one that does nothing shows it in
//! their place, with its time. They are found by the address whose messages have them, whichever
//! address the decision came from. A failure is retried a few times and holds nothing back.

use std::sync::atomic::Ordering;

use super::{Delivery, RETRY};
use crate::adapter::SendError;
use crate::store::{Db, Tx};
use crate::time::Timestamp;
use crate::wording::gateway as says;

impl Delivery {
    /// Replaces the buttons of this address whose decision was made, and wakes the other addresses
    /// that have such. Returns the time of the next attempt.
    pub(super) async fn replace_buttons(&self) -> anyhow::Result<Option<Timestamp>> {
        let (dispatcher, id) = (&self.dispatcher, self.queue.id);
        let (home, now) = (dispatcher.workspace.zone(), dispatcher.clock.now());
        let not_before = Timestamp(self.edits_at.load(Ordering::Relaxed));
        if now < not_before {
            return Ok(Some(not_before));
        }
        let read = move |db: Db<'_>| {
            let decided = db.outbox().decided_buttons(id)?;
            Ok((
                decided,
                db.outbox().addresses_with_decided_buttons()?,
                db.people().zone_at(id, home)?,
                db.people().language_at(id)?,
            ))
        };
        let (decided, addresses, zone, language) = dispatcher.journal.read(read).await?;
        addresses.into_iter().filter(|other| *other != id).for_each(|other| dispatcher.wake(other));
        for row in decided {
            let peer = dispatcher.current_peer(&self.queue).await?;
            let title = says::decided(language, &row.decision, &language.near(zone, row.decided_at, now));
            let _sending = self.queue.sending.lock().await;
            let (left, retry) = match self.queue.adapter.replace_buttons(&peer, &row.external_id, &title).await {
                Err(SendError::Wait(pause)) => (row.left, Some(now.plus(pause))),
                Err(SendError::Later(_) | SendError::OutcomeUnknown(_)) if row.left > 1 => {
                    let left = row.left.saturating_sub(1);
                    (left, Some(now.plus(RETRY.longest)))
                }
                Err(error) => {
                    tracing::info!(outbox.id = %row.id, "The buttons of delivery {} stay: {error}", row.id);
                    (0, None)
                }
                Ok(()) => (0, None),
            };
            let keep = move |tx: Tx<'_>| tx.outbox().set_replacements_left(row.id, left);
            dispatcher.journal.write("replace buttons", keep).await?;
            if let Some(at) = retry {
                self.edits_at.store(at.0, Ordering::Relaxed);
                return Ok(retry);
            }
        }
        Ok(None)
    }
}
