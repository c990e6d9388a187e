//! Quiet hours: what was not asked for is sent without a sound or kept until their end, by its
//! [`Urgency`], which `store::sent` derives from its cause; the rest of the queue goes on. A
//! terminal makes no sound.

use super::Delivery;
use crate::adapter::Sound;
use crate::store::{Db, Urgency};
use crate::time::Timestamp;

impl Delivery {
    /// Returns the highest urgency that is held back now, as every lower one is, and the time until
    /// then; `None` outside of quiet hours.
    pub(super) async fn quiet_hours(&self, now: Timestamp) -> anyhow::Result<Option<(Urgency, Timestamp)>> {
        let held = match self.queue.adapter.sound() {
            Sound::Never => return Ok(None),
            Sound::Optional => Urgency::Kept,
            Sound::Always => Urgency::Silent,
        };
        let (id, home) = (self.queue.id, self.dispatcher.workspace.zone());
        let until = move |db: Db<'_>| match db.outbox().has_unasked(id)? {
            true => db.people().quiet_until(id, now, home),
            false => Ok(None),
        };
        Ok(self.dispatcher.journal.read(until).await?.map(|until| (held, until)))
    }
}
