//! Removal of an import with all that it brought, in batches that a crash may interrupt.

use super::{Erasure, MESSAGES};
use crate::id::ImportId;
use crate::store::Tx;
use crate::time::Timestamp;

impl Erasure<'_> {
    /// Removes all that an import brought, or resumes a removal that was cut off. Returns the
    /// number of messages. Its row says that it is being removed from before the first call on.
    ///
    /// # Errors
    /// If the journal cannot be used; then the removal is resumed later.
    pub async fn remove_import(&self, id: ImportId, now: Timestamp) -> anyhow::Result<usize> {
        let _alone = self.workspace.erasure_lock().await;
        let (limit, mut removed) = (u32::try_from(MESSAGES)?, 0);
        loop {
            let remove = move |tx: Tx<'_>| tx.imports().remove_some(id, limit);
            let some = self.journal.write("remove an import", remove).await?;
            removed += some;
            if some == 0 {
                break;
            }
        }
        self.journal.write("end the removal of an import", move |tx| tx.imports().end_removal(id, now)).await?;
        Ok(removed)
    }
}
