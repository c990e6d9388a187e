//! How what is known is, for `compline doctor`: the files, the folders they lie in, the index over
//! them.
//!
//! Whoever holds the home looks, and nobody else: the doctor by itself, or, while a gateway runs,
//! that gateway when the doctor asks it. Both end here, so both tell the same. Only counts are
//! told, never a name or a word.

use crate::admin::MemoryAdmin;
use serde::{Deserialize, Serialize};

use super::answer::Answer;
use crate::memory::{Index, IndexTotals, TreeHealth, TreeMended, Workspace};
use crate::time::Timestamp;
use crate::wording::cli::doctor as says;

/// What came of looking.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Knowledge {
    /// The files and folders, as they are now.
    pub files: TreeHealth,
    /// The index.
    pub index: IndexTotals,
    /// What was mended before that.
    pub mended: TreeMended,
}

/// Whether things stay as they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Touch {
    /// They do.
    Look,
    /// What decides nothing is mended.
    Mend,
}

impl Knowledge {
    /// Mends if it is to, then looks.
    ///
    /// # Errors
    /// If the journal or the disk cannot be used.
    pub async fn of(tree: &Workspace, index: &Index, touch: Touch, now: Timestamp) -> anyhow::Result<Self> {
        let mended = match touch {
            Touch::Look => TreeMended::default(),
            Touch::Mend => tree.checks().mend(now).await?,
        };
        Ok(Self { files: tree.checks().health().await?, index: index.totals().await?, mended })
    }
}

impl MemoryAdmin<'_> {
    /// How what is known is.
    pub(super) async fn knowledge(&self, touch: Touch) -> anyhow::Result<Answer> {
        let known = Knowledge::of(&self.tree, &self.index, touch, self.clock.now()).await?;
        let TreeHealth { files, bytes, fullest, .. } = known.files;
        Ok(Answer::ours(says::knowledge(files, bytes, fullest), serde_json::to_value(&known)?))
    }
}
