//! Leftovers of deleted knowledge: sent archives, vectors and usage counts of deleted entries, and
//! search words of deletion requests.

use crate::schedule::Upkeep;
use std::time::Duration;

use crate::time::Timestamp;

use super::steps::{Done, MaintenanceStep};

/// Maximum number of rows changed per transaction.
const ROWS: u32 = 200;
const DAY: Duration = Duration::from_secs(24 * 3600);
/// Retention time of a sent archive in its person's folder.
const KEEP_EXPORTS: Duration = Duration::from_secs(7 * 24 * 3600);

impl Upkeep<'_> {
    pub(super) async fn sweep_knowledge(&self, now: Timestamp) -> anyhow::Result<Done> {
        self.drop_exports(now.minus(KEEP_EXPORTS)).await?;
        let before = now.minus(DAY * 90);
        let swept = self.journal.write("sweep knowledge", move |tx| tx.erasure().sweep_knowledge(before, ROWS)).await?;
        if swept == 0 {
            self.resume_erasures().await?;
            self.end_verified_erasures(now).await?;
        }
        Ok(MaintenanceStep::Knowledge.while_some(swept))
    }

    /// Deletes the file before its row.
    async fn drop_exports(&self, before: Timestamp) -> anyhow::Result<()> {
        for (path, digest) in self.journal.read(move |db| db.erasure().exports_before(before)).await? {
            self.tree.files().drop_export(&path, &digest).await?;
            self.journal.write("drop an archive", move |tx| tx.erasure().forget_export(&path, &digest)).await?;
        }
        Ok(())
    }
}
