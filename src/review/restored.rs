//! Skills that came out of a backup: only what the journal of the same backup knows to be accepted
//! is used.
//!
//! In a running home a change in place of an accepted skill is live unless the scan finds something
//! in it, and with `[skills] by_hand = "live"` so is a new folder. In a backup it may be anybody's.
//! So every content that the journal does not know is entered as a version that is not accepted,
//! before the home is opened: then the next look holds it, and the owner is asked as about any
//! other held folder. Of an archive that nothing authenticates even the accepted versions are not
//! believed ([`Tx::distrust_all`]); there only what ships with this program, word for word, is
//! used.

use std::path::Path;

use super::{label, proposal};
use crate::skill::{SkillCache, builtin};
use crate::store::{NewVersion, Tx};
use crate::time::Timestamp;

/// Enters what lies in `dir` and is not known. How many skills that were.
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

/// Accepts what lies in `dir` and ships with this program, after no version is accepted any more.
/// How many skills are held.
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
