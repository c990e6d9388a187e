//! Skills that the gate has not accepted: those of a home from before hand-made folders were held,
//! and those of a restored backup.
//!
//! Skills that were in use before hand-made folders were held stay in use, and the owner is
//! notified once of those that were added by hand.
//!
//! The migration leaves a fact in the journal of a home that had skills. The first start after it
//! records the names and gives third parties' skills their origin. The worker notifies the owner
//! and drops the fact in the same transaction.
//!
//! In a backup, content that the journal does not know may come from anyone. So, before a restored
//! home is opened, all such content is recorded as a version that is not accepted; the next look
//! then holds it, and the owner is asked as for any other held folder. In an unauthenticated
//! archive even the accepted versions are not trusted (`AfterRestoreMut::distrust_all`); then only
//! content identical to what ships with this program is used.

use std::path::Path;

use anyhow::Context;

use super::{Review, label, proposal, show};
use crate::skill::{Skill, SkillCache, SkillFolder, builtin};
use crate::store::{NewVersion, OriginKind, SkillRow, SkillState, Tx, VersionRow};
use crate::time::Timestamp;
use crate::trust::Label;

/// The fact's key. Its value is blank after the migration, then the names for the owner's notice,
/// as JSON.
const FACT: &str = "skills_carried_over";

impl Review {
    /// Examines once the versions that the journal had accepted before the upgrade. The caller
    /// holds the lock.
    pub(super) async fn carry_over(&self) -> anyhow::Result<()> {
        if self.0.journal.read(|db| db.settings().fact(FACT)).await?.is_none_or(|value| !value.is_empty()) {
            return Ok(());
        }
        self.0.journal.write("carry skills over", carry_over).await
    }

    /// Returns the names for the owner's notice; `None` if there are none.
    pub(super) async fn carried_over(&self) -> anyhow::Result<Option<Vec<String>>> {
        let fact = self.0.journal.read(|db| db.settings().fact(FACT)).await?.filter(|value| !value.is_empty());
        fact.map(|names| serde_json::from_str(&names).context("The list of skills cannot be read")).transpose()
    }
}

/// Records that the owner was notified.
pub(super) fn record_notified(tx: Tx<'_>) -> anyhow::Result<()> {
    tx.settings().drop_fact(FACT)
}

fn carry_over(tx: Tx<'_>) -> anyhow::Result<()> {
    let mut by_hand = Vec::new();
    for row in tx.skills().skills()? {
        let Some(version) = used(tx, &row)? else { continue };
        if version.origin == "person" {
            by_hand.push(row.name);
        } else if is_third_party(tx, &version)? {
            let folder = SkillFolder::new(tx.skills().files_of_version(version.id)?);
            tx.skills().accept_version(version.id, &label::of_accepted_before(version.id), &show::hosts(&folder).0)?;
        }
    }
    if by_hand.is_empty() {
        tx.settings().drop_fact(FACT)
    } else {
        tx.settings().set_fact(FACT, &serde_json::to_string(&by_hand)?)
    }
}

fn used(tx: Tx<'_>, row: &SkillRow) -> anyhow::Result<Option<VersionRow>> {
    let version = row.version.filter(|_| row.state == SkillState::Live);
    Ok(version.map(|id| tx.skills().version_row(id)).transpose()?.flatten())
}

/// Returns whether the version is a proposal from outside. All of it was displayed before it was
/// accepted.
fn is_third_party(tx: Tx<'_>, version: &VersionRow) -> anyhow::Result<bool> {
    let proposal = version.proposal.map(|id| tx.proposals().proposal(id)).transpose()?.flatten();
    Ok(proposal.is_some_and(|row| row.origin != OriginKind::Shipped && !Label::is_trusted(&row.label)))
}

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
