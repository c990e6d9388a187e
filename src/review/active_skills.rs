//! The skills that may be used now. All other modules read skills through this one.
//!
//! A look compares the folder with the journal. Content that was accepted before is live. A folder
//! that the gate did not write and that was never accepted is held and waits for the owner like a
//! proposal. With `[skills] by_hand = "live"` it counts as a person's work and is live at once,
//! unless the scan finds something or it works against its person. A change in place of an accepted
//! skill is also live at once, and the owners are told, unless the scan finds something or it newly
//! does what waits under every policy: then the change is held, and the last accepted version stays
//! in use, served from the journal. With `by_hand = "hold-all"` that holds for every change that
//! the gate did not make. The same version stays in use while its folder cannot be read, and the
//! owners are told the reason. A folder that has disappeared is recorded as gone. While nothing changes
//! on disk, a look only walks the metadata.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::effects::Effects;
use super::proposal::{self, ProposalDraft, ProposalOrigin};
use super::reveal::reveal;
use super::{ProposalChange, Refused, Review, Staged, label, scan};
use crate::config::ByHand;
use crate::id::{AddressId, ProposalId, VersionId};
use crate::skill::builtin::Builtin;
use crate::skill::manifest::Manifest;
use crate::skill::{self, Available, Catalogue, Digest, Skill, SkillFolder, UnloadableSkill};
use crate::store::{
    NewOutbox, NewVersion, Node, OriginKind, ProposalState, SeenSkill, SkillRow, SkillState, Tx, VersionRow,
};
use crate::text::one_line;
use crate::time::Timestamp;
use crate::trust::{Label, Labelled, Scope, Text};
use crate::wording::review as says;

/// A skill that may be used.
#[derive(Debug, Clone)]
pub struct LiveSkill {
    /// The parsed skill and its files.
    pub skill: Arc<Skill>,
    /// The version in use.
    pub version: VersionId,
    /// The author: `shipped`, `person`, `proposal`, `rollback`.
    pub origin: String,
    /// The origins of its text.
    pub label: Label,
}

impl LiveSkill {
    /// Returns the label of its line in the index, which holds only the name and the description.
    pub fn index_label(&self) -> Label {
        label::of_index_line(&self.label)
    }
}

/// The result of a look at the skills folder.
#[derive(Debug, Clone, Default)]
pub struct ActiveSkills {
    /// Usable skills by folder.
    pub skills: BTreeMap<String, LiveSkill>,
    /// Folders that wait for the owner. If an earlier version was accepted, that version is among
    /// `skills`.
    pub held: Vec<String>,
    /// Folders that cannot be read as skills. If an earlier version was accepted, that version is
    /// among `skills`.
    pub broken: Vec<UnloadableSkill>,
}

impl ActiveSkills {
    /// Finds a skill by its folder name, or else by the name in its front matter.
    pub fn find(&self, name: &str) -> Option<&LiveSkill> {
        self.skills.get(name).or_else(|| self.skills.values().find(|live| live.skill.manifest.name == name))
    }

    /// Lists the skills that can be used with these tools, one line each. Blank if there are none.
    pub fn listing(&self, tools: &[String], budget: u64) -> Text {
        let available = Available { tools, platform: std::env::consts::OS };
        let usable = || self.skills.values().filter(|live| skill::applies(&live.skill.manifest, &available));
        let words = skill::listing(usable().map(|live| (live.skill.folder.as_str(), &live.skill.manifest)), budget);
        let labels: Vec<Label> = usable().map(LiveSkill::index_label).collect();
        let label = Label::join_of(&labels);
        Labelled::new(Arc::from(words), label, Scope::Shared)
    }

    /// Returns the origins of a prompt with the listing, except shipped skills and skills that a
    /// person wrote by hand.
    pub fn nodes(&self) -> Vec<Node> {
        let is_generated = |live: &&LiveSkill| {
            matches!(live.origin.as_str(), "proposal" | "rollback") || live.label.asks_before_leaving()
        };
        let generated = self.skills.values().filter(is_generated);
        generated.map(|live| Node::Version(live.version)).collect()
    }
}

/// The lock state of a skill folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FolderLock {
    /// Not held, or no such folder.
    No,
    /// Waits for the owner as this proposal.
    Waits(ProposalId),
    /// Cannot be proposed, most likely because the owner rejected it.
    Refused(Refused),
}

/// The result of the last look.
#[derive(Debug, Default)]
pub(super) struct FolderSnapshot {
    pub(super) catalogue: Option<Arc<Catalogue>>,
    live: Arc<ActiveSkills>,
}

impl Review {
    /// Returns the current skills.
    pub async fn live(&self) -> anyhow::Result<Arc<ActiveSkills>> {
        let _guard = Arc::clone(&self.0.write_lock).lock_owned().await;
        self.retry_notices();
        self.scan_locked().await
    }

    /// Returns the skills folder as it is: every skill, and the folders that do not load.
    pub async fn catalogue(&self) -> anyhow::Result<Arc<Catalogue>> {
        self.live().await?;
        Ok(self.snapshot().catalogue.clone().unwrap_or_default())
    }

    /// Like [`Review::live`], for callers that already hold the lock.
    pub(super) async fn scan_locked(&self) -> anyhow::Result<Arc<ActiveSkills>> {
        if self.0.unfinished.load(Ordering::Relaxed)
            && let Err(error) = self.carry_out().await
        {
            tracing::error!("A change of a skill cannot be made yet: {error:#}");
        }
        let inner = Arc::clone(&self.0);
        let catalogue = tokio::task::spawn_blocking(move || inner.cache.look()).await?;
        {
            let seen = self.snapshot();
            if seen.catalogue.as_ref().is_some_and(|known| Arc::ptr_eq(known, &catalogue)) {
                return Ok(Arc::clone(&seen.live));
            }
        }
        let (now, seen) = (self.0.clock.now(), Arc::clone(&catalogue));
        let has_changes = self.0.journal.read(|db| has_changes(db, &seen)).await?;
        let (live, held) = if has_changes {
            let rules = self.0.rules;
            let job = move |tx: Tx<'_>| compare(tx, rules, &seen, now);
            let (live, held, told) = self.0.journal.write("look at the skills", job).await?;
            told.into_iter().for_each(|address| self.0.notifier.posted(address));
            // Perhaps an edit is to be told.
            self.wake_worker();
            (live, held)
        } else {
            let rules = self.0.rules;
            self.0.journal.read(move |db| known(db, rules, &seen)).await?
        };
        let held = held.into_iter().filter_map(|name| catalogue.skills.get(&name).map(|skill| (name, skill)));
        for (name, skill) in held {
            // Rejected before: stays held, and the owner is not asked again.
            if let Staged::Refused(refused) = self.hold(&name, &skill.content).await? {
                tracing::debug!("A held skill is not proposed again: {refused}");
            }
        }
        let live = Arc::new(live);
        *self.snapshot() = FolderSnapshot { catalogue: Some(catalogue), live: Arc::clone(&live) };
        Ok(live)
    }

    /// Returns the present content of the skill's folder; `None` if there is no folder.
    pub(super) async fn present_content(&self, name: &str) -> anyhow::Result<Option<SkillFolder>> {
        let (inner, name) = (Arc::clone(&self.0), name.to_owned());
        tokio::task::spawn_blocking(move || inner.disk.present_content(&name)).await?
    }

    /// Returns the present content of a folder that is about to be replaced, after storing it as a
    /// version. A look only stores readable skills, and a person may have left an incomplete one.
    pub(super) async fn stored_content(&self, name: &str) -> anyhow::Result<Option<SkillFolder>> {
        let Some(content) = self.present_content(name).await? else { return Ok(None) };
        let (skill, digest, now) = (name.to_owned(), content.digest(), self.0.clock.now());
        let (known, looked_for) = (digest.clone(), skill.clone());
        let is_known =
            move |db: crate::store::Db<'_>| Ok(db.skills().version_with(&looked_for, known.as_str())?.is_some());
        if !self.0.journal.read(is_known).await? {
            let (folder, rules) = (content.clone(), self.0.rules);
            let keep = move |tx: Tx<'_>| version_of(tx, rules, &skill, &folder, &digest, now).map(drop);
            self.0.journal.write("keep what lies there", keep).await?;
        }
        Ok(Some(content))
    }

    /// Returns the proposal for the skill's folder, if the folder is held. An expired proposal is
    /// created again.
    pub async fn held(&self, name: &str) -> anyhow::Result<FolderLock> {
        let _guard = Arc::clone(&self.0.write_lock).lock_owned().await;
        let live = self.scan_locked().await?;
        let present = self.snapshot().catalogue.as_ref().and_then(|seen| seen.skills.get(name).cloned());
        let Some(present) = present.filter(|_| live.held.iter().any(|held| held == name)) else {
            return Ok(FolderLock::No);
        };
        Ok(match self.hold(name, &present.content).await? {
            Staged::New(id, _) | Staged::Known(id) => FolderLock::Waits(id),
            Staged::Refused(refused) => FolderLock::Refused(refused),
        })
    }

    /// Stages a held folder as a full proposal to the owner.
    async fn hold(&self, name: &str, content: &SkillFolder) -> anyhow::Result<Staged> {
        let draft = ProposalDraft {
            skill: name.to_owned(),
            change: ProposalChange::Edit,
            files: proposal::replacing(&SkillFolder::default(), content),
            rationale: String::new(),
            origin: ProposalOrigin::Folder,
        };
        let staged = self.stage(draft).await?;
        if !matches!(staged, Staged::Refused(_)) {
            self.wake_worker();
        }
        Ok(staged)
    }
}

/// Settings that apply to content that is not in the journal yet.
#[derive(Clone, Copy)]
pub(super) struct Rules {
    pub(super) by_hand: ByHand,
    pub(super) builtins: &'static [Builtin],
}

impl Rules {
    /// Returns whether the skill is used in this version if its folder has that content.
    fn is_live(self, row: Option<&SkillRow>, version: &VersionRow) -> bool {
        let of_the_gate = || {
            row.is_none_or(|row| row.known.is_none_or(|known| known == version.id) || row.version == Some(version.id))
        };
        version.accepted && (self.by_hand != ByHand::HoldAll || of_the_gate())
    }
}

/// Returns whether the look differs from the journal.
fn has_changes(db: crate::store::Db<'_>, catalogue: &Catalogue) -> anyhow::Result<bool> {
    let rows = db.skills().skills()?;
    let missing = rows
        .iter()
        .any(|row| !catalogue.skills.contains_key(&row.name) && row.state != without_a_skill(catalogue, row));
    Ok(missing || catalogue.skills.values().any(|skill| !rows.iter().any(|row| is_known(row, skill))))
}

fn is_known(row: &SkillRow, skill: &Skill) -> bool {
    row.name == skill.folder
        && row.digest == skill.digest.as_str()
        && matches!(row.state, SkillState::Live | SkillState::Held)
}

/// Returns the state of a skill that has no readable content. A half-written skill does not count
/// as gone: once readable, it is treated as a change in place.
fn without_a_skill(catalogue: &Catalogue, row: &SkillRow) -> SkillState {
    if catalogue.broken.iter().any(|broken| broken.folder == row.name) { SkillState::Broken } else { SkillState::Gone }
}

fn compare(
    tx: Tx<'_>,
    rules: Rules,
    catalogue: &Catalogue,
    now: Timestamp,
) -> anyhow::Result<(ActiveSkills, Vec<String>, Vec<AddressId>)> {
    let rows = tx.skills().skills()?;
    let mut told = Vec::new();
    for row in rows.iter().filter(|row| !catalogue.skills.contains_key(&row.name)) {
        let state = without_a_skill(catalogue, row);
        if row.state == state {
            continue;
        }
        tx.skills().saw_skill(&SeenSkill {
            name: &row.name,
            state,
            digest: "",
            version: row.version.filter(|_| state == SkillState::Broken),
            title: "",
            description: "",
            origin: &row.origin,
            label: &label::of_a_person(),
            at: now,
        })?;
        let broken = catalogue.broken.iter().find(|broken| broken.folder == row.name && row.version.is_some());
        told.extend(broken.map(|broken| tell_of_unreadable_edit(tx, broken, now)).transpose()?.into_iter().flatten());
    }
    for skill in catalogue.skills.values().filter(|skill| !rows.iter().any(|row| is_known(row, skill))) {
        record_content(tx, rules, skill, now)?;
    }
    // A hold applies to one content and ends when the content changes.
    for row in tx.proposals().pending_proposals()?.into_iter().filter(|row| row.origin == OriginKind::Folder) {
        let is_unchanged = catalogue.skills.get(&row.skill).is_some_and(|skill| skill.digest.as_str() == row.content);
        if !is_unchanged {
            tx.proposals().settle_proposal(row.id, ProposalState::Expired, "", now)?;
        }
    }
    let (live, held) = known(*tx, rules, catalogue)?;
    Ok((live, held, told))
}

/// Tells the owners why a folder cannot be read; returns their addresses. The reason may name files
/// of the folder, which was never accepted like this.
fn tell_of_unreadable_edit(tx: Tx<'_>, broken: &UnloadableSkill, now: Timestamp) -> anyhow::Result<Vec<AddressId>> {
    let shown = |text: &str| one_line(&reveal(text));
    let words = says::unreadable_edit(&shown(&broken.folder).replace('`', "'"), &shown(&broken.why));
    let owners = tx.people().reachable_owners()?;
    for (owner, address) in &owners {
        let text: Text = Labelled::new(Arc::from(&*words), label::of_a_held_folder(), Scope::Person(*owner));
        tx.outbox().post(&NewOutbox::notice(*address, &text, now))?;
    }
    Ok(owners.into_iter().map(|(_, address)| address).collect())
}

/// Records content that is new, or that has come back.
fn record_content(tx: Tx<'_>, rules: Rules, skill: &Skill, now: Timestamp) -> anyhow::Result<()> {
    let digest = skill.digest.as_str();
    let version = version_of(tx, rules, &skill.folder, &skill.content, &skill.digest, now)?;
    let row = tx.skills().skill(&skill.folder)?;
    let is_live = rules.is_live(row.as_ref(), &version);
    let used = if is_live { Some(version.id) } else { row.and_then(|row| row.version) };
    tx.skills().saw_skill(&SeenSkill {
        name: &skill.folder,
        state: if is_live { SkillState::Live } else { SkillState::Held },
        digest,
        version: used,
        title: &skill.manifest.name,
        description: &skill.manifest.description,
        origin: &version.origin,
        label: &version.label,
        at: now,
    })
}

/// Returns the version with this content; creates one, written by a person, if the journal has
/// none.
fn version_of(
    tx: Tx<'_>,
    rules: Rules,
    skill: &str,
    content: &SkillFolder,
    digest: &Digest,
    now: Timestamp,
) -> anyhow::Result<VersionRow> {
    if let Some(known) = tx.skills().version_with(skill, digest.as_str())? {
        return Ok(known);
    }
    let is_builtin = rules.builtins.iter().any(|builtin| builtin.name == skill && builtin.folder().digest() == *digest);
    let label =
        if is_builtin { Some(label::of_the_program()) } else { label_without_review(tx, rules, skill, content)? };
    let id = tx.skills().add_version(&NewVersion {
        skill,
        digest: digest.as_str(),
        origin: if is_builtin { "shipped" } else { "person" },
        proposal: None,
        accepted: label.is_some(),
        label: &label.unwrap_or_else(label::of_a_held_folder),
        files: &proposal::rows(content),
        at: now,
    })?;
    tx.skills().version_row(id)?.ok_or_else(|| anyhow::anyhow!("A version vanished"))
}

/// Returns the label of a person's content that is live without a question; `None` if it is held.
fn label_without_review(tx: Tx<'_>, rules: Rules, skill: &str, content: &SkillFolder) -> anyhow::Result<Option<Label>> {
    if rules.by_hand == ByHand::HoldAll || !scan::scan_skill(skill, content).is_empty() {
        return Ok(None);
    }
    let used = tx.skills().skill(skill)?.and_then(|row| row.version);
    let used =
        used.map(|version| tx.skills().version_row(version)).transpose()?.flatten().filter(|version| version.accepted);
    let base =
        used.as_ref().map(|version| tx.skills().files_of_version(version.id).map(SkillFolder::new)).transpose()?;
    let name = if base.is_none() { skill } else { "" };
    let effects = Effects::of_change(base.as_ref(), Some(content)).with_name(name);
    let counts_as_own = rules.by_hand == ByHand::Live;
    let is_held = if counts_as_own { effects.is_suspicious() } else { effects.waits() };
    let label = used.map(|version| label::of_an_edit(&version.label));
    let label = label.or_else(|| counts_as_own.then(label::of_a_person));
    Ok(label.filter(|_| !is_held))
}

/// Returns the state of the catalogue's skills according to the journal. Content not known to be
/// accepted is held.
fn known(db: crate::store::Db<'_>, rules: Rules, catalogue: &Catalogue) -> anyhow::Result<(ActiveSkills, Vec<String>)> {
    let mut live = ActiveSkills { broken: catalogue.broken.clone(), ..ActiveSkills::default() };
    let rows = db.skills().skills()?;
    for (name, skill) in &catalogue.skills {
        let row = rows.iter().find(|row| row.name == *name);
        let present = db.skills().version_with(name, skill.digest.as_str())?;
        let one = match present.filter(|version| rules.is_live(row, version)) {
            Some(version) => Some(used(Arc::clone(skill), version)),
            None => {
                live.held.push(name.clone());
                let accepted = row.and_then(|row| row.version);
                accepted.map(|version| last_accepted(db, catalogue, version)).transpose()?.flatten()
            }
        };
        live.skills.extend(one.map(|one| (name.clone(), one)));
    }
    for broken in &catalogue.broken {
        let accepted = rows.iter().find(|row| row.name == broken.folder).and_then(|row| row.version);
        let one = accepted.map(|version| last_accepted(db, catalogue, version)).transpose()?.flatten();
        live.skills.extend(one.map(|one| (broken.folder.clone(), one)));
    }
    let held = live.held.clone();
    Ok((live, held))
}

fn used(skill: Arc<Skill>, version: VersionRow) -> LiveSkill {
    LiveSkill { skill, version: version.id, origin: version.origin, label: version.label }
}

/// Returns the version from the journal that stays in use while a change of its folder is held or
/// cannot be read.
fn last_accepted(db: crate::store::Db<'_>, catalogue: &Catalogue, id: VersionId) -> anyhow::Result<Option<LiveSkill>> {
    let Some(version) = db.skills().version_row(id)?.filter(|version| version.accepted) else { return Ok(None) };
    let content = SkillFolder::new(db.skills().files_of_version(id)?);
    let digest = content.digest();
    let Ok(mut manifest) = Manifest::of(&version.skill, &content) else { return Ok(None) };
    if digest.as_str() != version.digest {
        return Ok(None);
    }
    let has_same_name = |other: &&Arc<Skill>| other.folder != version.skill && other.manifest.name == manifest.name;
    let is_taken = catalogue.skills.values().any(|other| has_same_name(&other));
    let declared_name = is_taken.then(|| std::mem::replace(&mut manifest.name, version.skill.clone()));
    let skill = Skill { folder: version.skill.clone(), manifest, declared_name, content: Arc::new(content), digest };
    Ok(Some(used(Arc::new(skill), version)))
}
