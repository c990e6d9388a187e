//! Skills that came out of a backup: only what the journal of the same backup knows to be accepted is used.
//!
//! In a running home a folder that nobody wrote through us is a person's work, and live unless the scan finds something in it. In a backup it may be
//! anybody's. So every content that the journal does not know is entered as a version that is not accepted, before the home is opened: then the next
//! look holds it, and the owner is asked as about any other held folder.

use std::path::Path;

use super::{label, proposal};
use crate::skill::Shelf;
use crate::store::{NewVersion, Tx};
use crate::time::Moment;

/// Enters what lies in `dir` and is not known. How many skills that were.
///
/// # Errors
/// If the journal cannot be written.
pub fn distrust_unknown(tx: Tx<'_>, dir: &Path, now: Moment) -> anyhow::Result<usize> {
    let mut unknown = 0;
    for (name, skill) in &Shelf::new(dir.to_owned()).look().skills {
        if tx.version_with(name, skill.digest.as_str())?.is_some() {
            continue;
        }
        unknown += 1;
        tx.add_version(&NewVersion {
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
