//! Skills of a restored backup that the gate has not accepted.
//!
//! In a backup, content that the journal does not know may come from anyone. So, before a restored
//! home is opened, all such content is recorded as a version that is not accepted; the next look
//! then holds it, and the owner is asked as for any other held folder. In an unauthenticated
//! archive even the accepted versions are not trusted (`AfterRestoreMut::distrust_all`); then only
//! content identical to what ships with this program is used.

use std::path::Path;

use super::{label, proposal};
use crate::skill::{Skill, SkillCache, builtin};
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
        add_version(tx, name, skill, false, now)?;
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
        add_version(tx, name, skill, shipped, now)?;
    }
    Ok(held)
}

fn add_version(tx: Tx<'_>, name: &str, skill: &Skill, shipped: bool, now: Timestamp) -> anyhow::Result<()> {
    let (origin, label) =
        if shipped { ("shipped", label::of_the_program()) } else { ("person", label::of_a_held_folder()) };
    let version = NewVersion {
        skill: name,
        digest: skill.digest.as_str(),
        origin,
        proposal: None,
        accepted: shipped,
        label: &label,
        files: &proposal::rows(&skill.content),
        at: now,
    };
    tx.skills().add_version(&version).map(drop)
}
