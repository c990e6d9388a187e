//! Removal of an import with all that it brought, in steps that a crash may interrupt.

use super::{Erasure, MESSAGES};
use crate::id::ImportId;
use crate::store::Tx;
use crate::time::Timestamp;

/// Counts of what a removal deleted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RemovedImport {
    /// Messages.
    pub messages: usize,
    /// Notes whose files were there.
    pub notes: usize,
}

impl Erasure<'_> {
    /// Removes all that an import brought, or resumes a removal that was cut off. Its row says that
    /// it is being removed from before the first call on. A note is deleted in any
    /// state but promoted, in which it is its person's own elsewhere.
    ///
    /// # Errors
    /// If the journal or the disk cannot be used; then the removal is resumed later.
    pub async fn remove_import(&self, id: ImportId, now: Timestamp) -> anyhow::Result<RemovedImport> {
        let _alone = self.workspace.erasure_lock().await;
        let (limit, mut removed) = (u32::try_from(MESSAGES)?, RemovedImport::default());
        loop {
            let remove = move |tx: Tx<'_>| tx.imports().remove_some(id, limit);
            let some = self.journal.write("remove an import", remove).await?;
            removed.messages += some;
            if some == 0 {
                break;
            }
        }
        for path in self.journal.read(move |db| db.imports().notes_of(id)).await? {
            let of = path.clone();
            if self.journal.read(move |db| db.imports().holds_note(id, &of)).await? {
                removed.notes += usize::from(self.workspace.folders().drop_one(&path).await?);
            }
            self.journal.write("remove an imported note", move |tx| tx.imports().forget_note(id, &path)).await?;
        }
        let end = move |tx: Tx<'_>| {
            tx.imports().withdraw_skills(id, now)?;
            tx.imports().end_removal(id, now)
        };
        self.journal.write("end the removal of an import", end).await?;
        Ok(removed)
    }
}
