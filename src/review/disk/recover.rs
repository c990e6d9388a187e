//! What is left in the staging folder of changes that nobody will go on with: after a restored
//! backup, or a change that was given up.
//!
//! Everything that no open change needs goes away, but never the only copy of a text that may be a
//! person's: an old content goes back to its place if nothing lies there, and is otherwise set
//! aside unless the same lies there. A new content never goes to its place, since what is no longer
//! intended was perhaps never approved. Names that are not ours are left alone.

use super::dir_handles::{Ground, Lies, SkillDir, Spot};
use super::{StagedKind, SwapError};

/// One entry of the staging folder: of which change, what, and of which skill.
struct Leftover<'a> {
    id: i64,
    kind: StagedKind,
    skill: &'a str,
    spot: Spot,
}

/// Clears the staging folder of all but the open changes.
pub(super) fn recover(ground: &Ground<'_>, open: &[i64]) -> Result<(), SwapError> {
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
        Some(Self { id, kind, skill, spot: Spot { room: SkillDir::Staging, name: name.to_owned() } })
    }

    fn clear(&self, ground: &Ground<'_>) -> Result<(), SwapError> {
        if matches!(self.kind, StagedKind::Part | StagedKind::Gone) {
            super::tidy(ground, self.id, &self.spot.name);
            return Ok(());
        }
        let target = Spot { room: SkillDir::Skills, name: self.skill.to_owned() };
        match (ground.look(&target)?, ground.look(&self.spot)?) {
            (Lies::Nothing, _) if self.kind == StagedKind::Old => ground.rename("put back", &self.spot, &target)?,
            (Lies::Folder(there), Lies::Folder(here)) if there == here => {
                super::discard(ground, self.id, self.skill, &self.spot)?;
            }
            _ => super::set_aside(ground, self.id, self.skill, &self.spot)?,
        }
        Ok(())
    }
}
