//! (to be written)

use crate::time::Moment;

use super::Schedule;

impl Schedule {
    /// Claims what is due, takes up what is open, and says when to look again.
    pub(super) async fn slots(&self) -> anyhow::Result<Option<Moment>> {
        Ok(None)
    }
}
