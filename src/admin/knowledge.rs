//! State of the knowledge for `compline doctor`: the files, their folders, and the index.
//!
//! Only the process that holds the home checks: the doctor itself or, while a gateway runs, that
//! gateway at the doctor's request. Both use this code, so their reports agree. Reports contain
//! only counts, never a name or any text.

use crate::admin::MemoryAdmin;
use serde::{Deserialize, Serialize};

use super::answer::Answer;
use crate::memory::{Index, IndexTotals, Workspace, WorkspaceFixes, WorkspaceHealth};
use crate::time::Timestamp;
use crate::wording::cli::doctor as says;

/// The result of a check.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Knowledge {
    /// Present state of the files and folders.
    pub files: WorkspaceHealth,
    /// Present state of the index.
    pub index: IndexTotals,
    /// Repairs made before the check.
    pub mended: WorkspaceFixes,
}

/// Repair mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RepairMode {
    /// Check only.
    Look,
    /// Also make repairs that need no decision.
    Mend,
}

impl Knowledge {
    /// Makes repairs if requested, then checks.
    pub async fn of(tree: &Workspace, index: &Index, touch: RepairMode, now: Timestamp) -> anyhow::Result<Self> {
        let mended = match touch {
            RepairMode::Look => WorkspaceFixes::default(),
            RepairMode::Mend => tree.checks().fix(now).await?,
        };
        Ok(Self { files: tree.checks().health().await?, index: index.totals().await?, mended })
    }
}

impl MemoryAdmin<'_> {
    /// Reports the state of the knowledge.
    pub(super) async fn knowledge(&self, touch: RepairMode) -> anyhow::Result<Answer> {
        let known = Knowledge::of(&self.tree, &self.index, touch, self.clock.now()).await?;
        let WorkspaceHealth { files, bytes, fullest, .. } = known.files;
        Ok(Answer::ours(says::knowledge(files, bytes, fullest), serde_json::to_value(&known)?))
    }
}
