//! Skills from a backup: only content that the journal of the same backup knows as accepted is
//! used.
//!
//! In a running home a change in place of an accepted skill is live unless the scan finds
//! something, and with `[skills] by_hand = "live"` so is a new folder. In a backup such content may
//! come from anyone. So, before the home is opened, all content that the journal does not know is
//! recorded as a version that is not accepted; the next look then holds it, and the owner is asked
//! as for any other held folder. In an unauthenticated archive even the accepted versions are not
//! trusted (`AfterRestoreMut::distrust_all`); then only content identical to what ships with this
//! program is used.

use std::path::Path;

use super::{label, proposal};
use crate::skill::{SkillCache, builtin};
use crate::store::{NewVersion, Tx};
use crate::time::Timestamp;

/// Records unknown content in `dir` as not accepted. Returns the number of such skills.
pub fn distrust_unknown(tx: Tx<'_>, dir: &Path, now: Timestamp) -> anyhow::Result<usize> {
    let mut unknown = 0;
    for (name, skill) in &SkillCache::new(dir.to_owned()).look().skills {
        if tx.skills().version_with(name, skill.digest.as_str())?.is_some() {
            continue;
        }
        unknown += 1;
        tx.skills().add_version(&NewVersion {
            skill: name,
            digest: skill.digest.as_str(),
            origin: "person",
            proposal: None,
            accepted: false,
            label: &label::of_a_held_folder(),
            files: &proposal::rows(&skill.content),
            at: now,
        })?;
    }
    Ok(unknown)
}

/// Accepts the content in `dir` that ships with this program, after all versions lost their
/// acceptance. Returns the number of held skills.
pub fn accept_shipped_only(tx: Tx<'_>, dir: &Path, now: Timestamp) -> anyhow::Result<usize> {
    let mut held = 0;
    for (name, skill) in &SkillCache::new(dir.to_owned()).look().skills {
        let shipped = builtin::all().iter().any(|one| one.name == name && one.folder().digest() == skill.digest);
        held += usize::from(!shipped);
        let (origin, label) =
            if shipped { ("shipped", label::of_the_program()) } else { ("person", label::of_a_held_folder()) };
        tx.skills().add_version(&NewVersion {
            skill: name,
            digest: skill.digest.as_str(),
            origin,
            proposal: None,
            accepted: shipped,
            label: &label,
            files: &proposal::rows(&skill.content),
            at: now,
        })?;
    }
    Ok(held)
}
