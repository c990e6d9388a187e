//! Updates the built-in skills at start-up without ever removing a person's work;
//! [`super::builtin_sync`] decides.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::apply;
use super::builtin_sync::{self, SyncAction};
use super::proposal::{self, ProposalDraft, ProposalOrigin};
use super::{ProposalChange, Review, Staged, label};
use crate::skill::builtin::Builtin;
use crate::skill::{Digest, SkillFolder};
use crate::store::SkillRow;

impl Review {
    /// Completes changes that a power cut interrupted, and updates the built-in skills.
    ///
    /// # Errors
    /// If the journal or the skills folder cannot be used.
    pub async fn start(&self) -> anyhow::Result<()> {
        let _alone = Arc::clone(&self.0.writing).lock_owned().await;
        self.0.unfinished.store(true, Ordering::Relaxed);
        self.carry_over().await?;
        self.scan_locked().await?;
        let rows = self.0.journal.read(|db| db.skills().skills()).await?;
        let mut begun = Vec::new();
        for builtin in self.0.builtins {
            let row = rows.iter().find(|row| row.name == builtin.name);
            if let Some(put) = self.bring_up_to_date(builtin, row).await? {
                begun.push(put);
            }
        }
        if !begun.is_empty() {
            self.carry_out().await?;
        }
        self.scan_locked().await?;
        self.remember(begun).await
    }

    /// Returns the digest of the change that was begun.
    async fn bring_up_to_date(
        &self,
        builtin: &'static Builtin,
        row: Option<&SkillRow>,
    ) -> anyhow::Result<Option<(&'static str, Digest, bool)>> {
        let folder = builtin.folder();
        let shipped = folder.digest();
        let lying = match self.present_content(builtin.name).await {
            Ok(lying) => lying.as_ref().map(SkillFolder::digest),
            // Unreadable content belongs to a person and stays.
            Err(_) => return Ok(None),
        };
        let before = builtin_sync::Before {
            offered: row.and_then(|row| Digest::parse(&row.shipped)),
            installed: row.and_then(|row| Digest::parse(&row.installed)),
        };
        match builtin_sync::decide(&shipped, &before, lying.as_ref()) {
            SyncAction::Nothing => Ok(None),
            SyncAction::Remember => Ok(Some((builtin.name, shipped, true))),
            SyncAction::Put => {
                let base = lying.as_ref().map_or("", Digest::as_str).to_owned();
                let (name, files, now) = (builtin.name, proposal::rows(&folder), self.0.clock.now());
                self.0
                    .journal
                    .write("ship a skill", move |tx| {
                        let label = label::of_the_program();
                        apply::begin_accepted(tx, name, &base, "shipped", &files, &label, now).map(drop)
                    })
                    .await?;
                Ok(Some((name, shipped, true)))
            }
            SyncAction::Offer => {
                self.offer(builtin.name, &folder).await?;
                Ok(Some((builtin.name, shipped, false)))
            }
        }
    }

    async fn offer(&self, name: &str, folder: &SkillFolder) -> anyhow::Result<()> {
        // Files that the person removed stay removed unless the newer version has them.
        let present = self.present_content(name).await?.unwrap_or_default();
        let gone = present.files().map(|(path, _)| path).filter(|path| folder.get(path).is_none());
        let mut files: Vec<_> = gone.map(|path| (path.to_owned(), None)).collect();
        files.extend(proposal::rows(folder).into_iter().map(|(path, bytes)| (path, Some(bytes))));
        let draft = ProposalDraft {
            skill: name.to_owned(),
            change: ProposalChange::Edit,
            files,
            rationale: crate::wording::proposal::NEWER_BUILTIN.to_owned(),
            origin: ProposalOrigin::Shipped,
        };
        if let Ok(Staged::New(..)) = self.stage(draft).await? {
            self.wake_worker();
        }
        Ok(())
    }

    /// Records the offered contents, and the installed ones if they are in place: a person may have
    /// prevented the change.
    async fn remember(&self, begun: Vec<(&'static str, Digest, bool)>) -> anyhow::Result<()> {
        let mut known = Vec::new();
        for (name, digest, put) in begun {
            let lies = self.present_content(name).await.ok().flatten().is_some_and(|folder| folder.digest() == digest);
            if lies || !put {
                known.push((name, digest, put));
            }
        }
        if known.is_empty() {
            return Ok(());
        }
        self.0
            .journal
            .write("remember what was shipped", move |tx| {
                known.iter().try_for_each(|(name, digest, put)| {
                    tx.skills().shipped_skill(name, digest.as_str(), put.then_some(digest.as_str()))
                })
            })
            .await
    }
}

#[cfg(test)]
mod tests {
    use super::super::scan::scan;
    use crate::skill::builtin;

    #[test]
    fn nothing_that_ships_has_a_finding() {
        for builtin in builtin::all() {
            assert_eq!(scan(&builtin.folder()), [], "{}", builtin.name);
        }
    }
}
