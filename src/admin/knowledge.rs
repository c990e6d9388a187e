//! State of the knowledge for `compline doctor`: the files, their folders, and the index.
//!
//! Only the process that holds the home checks: the doctor itself or, while a gateway runs, that
//! gateway at the doctor's request. Both use this code, so their reports agree. Reports contain
//! only counts, never a name or any text.

use crate::admin::MemoryAdmin;
use serde::{Deserialize, Serialize};

use super::answer::Answer;
use crate::memory::{Index, IndexTotals, TreeHealth, TreeMended, Workspace};
use crate::time::Timestamp;
use crate::wording::cli::doctor as says;

/// The result of a check.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Knowledge {
    /// Present state of the files and folders.
    pub files: TreeHealth,
    /// Present state of the index.
    pub index: IndexTotals,
    /// Repairs made before the check.
    pub mended: TreeMended,
}

/// Repair mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Touch {
    /// Check only.
    Look,
    /// Also make repairs that need no decision.
    Mend,
}

impl Knowledge {
    /// Makes repairs if requested, then checks.
    pub async fn of(tree: &Workspace, index: &Index, touch: Touch, now: Timestamp) -> anyhow::Result<Self> {
        let mended = match touch {
            Touch::Look => TreeMended::default(),
            Touch::Mend => tree.checks().mend(now).await?,
        };
        Ok(Self { files: tree.checks().health().await?, index: index.totals().await?, mended })
    }
}

impl MemoryAdmin<'_> {
    /// Reports the state of the knowledge.
    pub(super) async fn knowledge(&self, touch: Touch) -> anyhow::Result<Answer> {
        let known = Knowledge::of(&self.tree, &self.index, touch, self.clock.now()).await?;
        let TreeHealth { files, bytes, fullest, .. } = known.files;
        Ok(Answer::ours(says::knowledge(files, bytes, fullest), serde_json::to_value(&known)?))
    }
}
