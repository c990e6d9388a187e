//! (to be written)

use crate::time::Moment;

use super::Schedule;

impl Schedule {
    /// Does what is due, and says when to look again.
    pub(super) async fn reminders(&self) -> anyhow::Result<Option<Moment>> {
        Ok(None)
    }
}
