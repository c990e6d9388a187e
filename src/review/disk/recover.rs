//! Cleans the staging folder of remains of changes that will not be continued, after a restored
//! backup or an abandoned change.
//!
//! Everything that no open change needs is removed, except the only copy of a text that may be a
//! person's: old content goes back to its place if that is free, and is otherwise set aside unless
//! the same content is there. New content is never put in place, since an intention that no longer
//! exists was perhaps never approved. Entries with unknown names are left alone.

use super::dir_handles::{DirEntry, PathContent, SkillDir, SkillDirs};
use super::{StagedKind, SwapError};

/// One parsed entry of the staging folder.
struct Leftover<'a> {
    id: i64,
    kind: StagedKind,
    skill: &'a str,
    spot: DirEntry,
}

/// Clears the staging folder except for open changes.
pub(super) fn recover(ground: &SkillDirs<'_>, open: &[i64]) -> Result<(), SwapError> {
    for name in ground.staged()? {
        match Leftover::parse(&name) {
            Some(leftover) if !open.contains(&leftover.id) => leftover.clear(ground)?,
            _ => {}
        }
    }
    Ok(())
}

impl<'a> Leftover<'a> {
    fn parse(name: &'a str) -> Option<Self> {
        let mut parts = name.splitn(3, '-');
        let id = parts.next()?.parse().ok()?;
        let kind = StagedKind::parse(parts.next()?)?;
        let skill = parts.next().filter(|skill| super::is_name(skill))?;
        Some(Self { id, kind, skill, spot: DirEntry { handle: SkillDir::Staging, name: name.to_owned() } })
    }

    fn clear(&self, ground: &SkillDirs<'_>) -> Result<(), SwapError> {
        if matches!(self.kind, StagedKind::Part | StagedKind::Gone) {
            super::tidy(ground, self.id, &self.spot.name);
            return Ok(());
        }
        let target = DirEntry { handle: SkillDir::Skills, name: self.skill.to_owned() };
        match (ground.content(&target)?, ground.content(&self.spot)?) {
            (PathContent::Nothing, _) if self.kind == StagedKind::Old => {
                ground.rename("put back", &self.spot, &target)?
            }
            (PathContent::Folder(there), PathContent::Folder(here)) if there == here => {
                super::discard(ground, self.id, self.skill, &self.spot)?;
            }
            _ => super::preserve(ground, self.id, self.skill, &self.spot)?,
        }
        Ok(())
    }
}
