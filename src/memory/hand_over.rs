//! Hand-over of the root. Locations are swapped, never contents: the files of the previous owner
//! move to a folder of their own, those of the heir to the root, and every version keeps the scope
//! it was written for.

use crate::memory::workspace::WorkspaceFolders;
use std::sync::Arc;

use super::folder_moves::MoveHook;
use super::layout;
use super::workspace::blocking;
use crate::id::PersonId;
use crate::people::Party;
use crate::store::{FolderState, MoveRefusal, Tx};
use crate::trust::Scope;

/// Plan or result of a hand-over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandOverResult {
    /// Previous owner of the root.
    pub from: PersonId,
    /// New folder of the previous owner.
    pub from_folder: String,
    /// Previous folder of the heir.
    pub heir_folder: String,
}

/// Reason for a refused hand-over, by what can be done about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HandOverRefusal {
    /// The root has no owner yet.
    NoOwner,
    /// The root already belongs to the heir.
    Same,
    /// The heir is not an owner.
    NotAnOwner,
    /// A write, an answer or an erasure is in progress.
    Busy,
    /// A top-level entry of one of the folders is neither file nor folder; holds its path.
    Unmovable(String),
}

impl From<MoveRefusal> for HandOverRefusal {
    fn from(why: MoveRefusal) -> Self {
        match why {
            MoveRefusal::NoOwner => Self::NoOwner,
            MoveRefusal::Same => Self::Same,
            MoveRefusal::NotAnOwner => Self::NotAnOwner,
            MoveRefusal::Busy => Self::Busy,
        }
    }
}

impl WorkspaceFolders<'_> {
    /// Plans a hand-over to that person without changing anything.
    ///
    /// # Errors
    /// The inner error is the reason for a refusal.
    pub async fn plan_hand_over(&self, heir: &Party) -> anyhow::Result<Result<HandOverResult, HandOverRefusal>> {
        let heir_folder = self.folder_of(heir).await?;
        let Some(from) = self.0.journal.read(|db| db.folders().workspace_owner()).await? else {
            return Ok(Err(HandOverRefusal::NoOwner));
        };
        if heir_folder.is_empty() {
            return Ok(Err(HandOverRefusal::Same));
        }
        let (stored, name) = self.stored_folder(from).await?;
        let tree = self.tree.clone();
        blocking(move || {
            for folder in ["", &heir_folder] {
                if let Some(path) = tree.folders().unmovable_in(folder)? {
                    return Ok(Err(HandOverRefusal::Unmovable(path)));
                }
            }
            // A folder that exists was not in use, and stays separate.
            let is_free = !stored.is_empty() && !tree.folders().is_there(&stored);
            let from_folder = if is_free { stored } else { tree.folders().free_folder(&name)? };
            Ok(Ok(HandOverResult { from, from_folder, heir_folder }))
        })
        .await
    }

    /// Gives the root to that person.
    ///
    /// # Errors
    /// If the journal or the disk cannot be used, and then the next start resumes the hand-over;
    /// the inner error is the reason for a refusal.
    pub async fn hand_over(&self, heir: &Party) -> anyhow::Result<Result<HandOverResult, HandOverRefusal>> {
        self.hand_over_in_steps(heir, &|| Ok(())).await
    }

    pub(super) async fn hand_over_in_steps(
        &self,
        heir: &Party,
        step: MoveHook<'_>,
    ) -> anyhow::Result<Result<HandOverResult, HandOverRefusal>> {
        let plan = match self.plan_hand_over(heir).await? {
            Ok(plan) => plan,
            Err(why) => return Ok(Err(why)),
        };
        // An erasure takes long, so it is not waited for; a single file change is.
        let Ok(_erasure) = Arc::clone(&self.0.erasure).try_lock_owned() else {
            return Ok(Err(HandOverRefusal::Busy));
        };
        let _alone = self.0.writing.lock().await;
        let _moving = self.0.moving.write().await;
        if self.versions().finish_open().await? > 0 {
            return Ok(Err(HandOverRefusal::Busy));
        }
        let Scope::Person(id) = heir.scope() else { return Ok(Err(HandOverRefusal::NotAnOwner)) };
        let (target, source) = (plan.from_folder.clone(), plan.heir_folder.clone());
        let begin = move |tx: Tx<'_>| {
            let is_as_seen = tx.folders().folder_of(Scope::Person(id))? == FolderState::At(source);
            if is_as_seen { tx.folders().begin_hand_over(id, &target) } else { Ok(Err(MoveRefusal::Busy)) }
        };
        let begun = match self.0.journal.write("begin to hand the root over", begin).await? {
            Ok(begun) => begun,
            Err(why) => return Ok(Err(why.into())),
        };
        step()?;
        self.carry_out(begun, step).await?;
        Ok(Ok(plan))
    }

    /// Returns the folder stored for a person (empty if none), and the folder they would get.
    async fn stored_folder(&self, id: PersonId) -> anyhow::Result<(String, String)> {
        let look = self.0.journal.read(move |db| Ok((db.folders().stored_folder(id)?, db.folders().name_once_of(id)?)));
        let (stored, name) = look.await?;
        Ok((stored, layout::folder_name(id, &name.unwrap_or_default())))
    }
}
