//! The skills that may be used now, and the only way to look at them.
//!
//! A look compares the folder with the journal. A content that was accepted before is live. One that nobody wrote through us is a person's
//! work: it becomes a version of theirs and is live at once, unless the scan finds something in it; then it is held, and waits for the owner like a proposal.
//! A folder that is not there any more is remembered as gone. While nothing changes on the disk a look costs a walk over the metadata and nothing else.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::proposal::{self, Draft, Origin};
use super::{Change, Review, label, scan};
use crate::id::VersionId;
use crate::skill::{self, Available, Broken, Catalogue, Digest, Folder, Skill};
use crate::store::{NewVersion, Node, SeenSkill, SkillRow, Tx};
use crate::time::Moment;
use crate::trust::{Label, Labelled, Scope, Text};

/// A skill that may be used.
#[derive(Debug, Clone)]
pub struct LiveSkill {
    /// Its format, its files.
    pub skill: Arc<Skill>,
    /// Which version it is.
    pub version: VersionId,
    /// Who wrote it: `shipped`, `person`, `proposal`, `rollback`.
    pub origin: String,
    /// Where its words came from.
    pub label: Label,
}

/// What a look saw.
#[derive(Debug, Clone, Default)]
pub struct Live {
    /// What may be used, by folder.
    pub skills: BTreeMap<String, LiveSkill>,
    /// Folders that wait for the owner, because of a finding.
    pub held: Vec<String>,
    /// Folders that cannot be read as skills.
    pub broken: Vec<Broken>,
}

impl Live {
    /// The skill of that name: of its folder, or else of its front matter.
    pub fn find(&self, name: &str) -> Option<&LiveSkill> {
        self.skills.get(name).or_else(|| self.skills.values().find(|live| live.skill.manifest.name == name))
    }

    /// Stage one: every skill that can be used with these tools, in a line each. Blank if there is none.
    pub fn listing(&self, tools: &[String], budget: u64) -> Text {
        let available = Available { tools, platform: std::env::consts::OS };
        let usable = || self.skills.values().filter(|live| skill::applies(&live.skill.manifest, &available));
        let words = skill::listing(usable().map(|live| (live.skill.folder.as_str(), &live.skill.manifest)), budget);
        let label = Label::join_of(usable().map(|live| &live.label));
        Labelled::new(Arc::from(words), label, Scope::Shared)
    }

    /// What a prompt with the listing grew from, besides what ships with the program and what a person wrote by hand.
    pub fn nodes(&self) -> Vec<Node> {
        let grown = self.skills.values().filter(|live| live.origin == "proposal" || live.origin == "rollback");
        grown.map(|live| Node::Version(live.version)).collect()
    }
}

/// The last look.
#[derive(Debug, Default)]
pub(super) struct Seen {
    catalogue: Option<Arc<Catalogue>>,
    live: Arc<Live>,
}

impl Review {
    /// Looks at the skills.
    ///
    /// # Errors
    /// If the journal cannot be read or written.
    pub async fn live(&self) -> anyhow::Result<Arc<Live>> {
        let _alone = Arc::clone(&self.0.writing).lock_owned().await;
        if self.0.untold.swap(false, Ordering::Relaxed) {
            // Somebody talks: there may be a place now to tell the owner.
            self.ring();
        }
        self.look().await
    }

    /// The same for who holds the lock already.
    pub(super) async fn look(&self) -> anyhow::Result<Arc<Live>> {
        if self.0.unfinished.load(Ordering::Relaxed)
            && let Err(error) = self.carry_out().await
        {
            tracing::error!("A change of a skill cannot be made yet: {error:#}");
        }
        let inner = Arc::clone(&self.0);
        let catalogue = tokio::task::spawn_blocking(move || inner.shelf.look()).await?;
        {
            let seen = self.seen();
            if seen.catalogue.as_ref().is_some_and(|known| Arc::ptr_eq(known, &catalogue)) {
                return Ok(Arc::clone(&seen.live));
            }
        }
        let (live, held) = self.compare(&catalogue).await?;
        let held = held.into_iter().filter_map(|name| catalogue.skills.get(&name).map(|skill| (name, skill)));
        for (name, skill) in held {
            self.hold(&name, &skill.content).await?;
        }
        let live = Arc::new(live);
        *self.seen() = Seen { catalogue: Some(catalogue), live: Arc::clone(&live) };
        Ok(live)
    }

    /// The next look compares anew: something was decided.
    pub(super) fn forget_look(&self) {
        self.seen().catalogue = None;
    }

    /// What lies in the folder of that skill; `None` if nothing does.
    pub(super) async fn lying(&self, name: &str) -> anyhow::Result<Option<Folder>> {
        let (inner, name) = (Arc::clone(&self.0), name.to_owned());
        tokio::task::spawn_blocking(move || inner.disk.lying(&name)).await?
    }

    /// What lies in the folder of that skill and is about to be replaced, kept as a version first. A look keeps only what can be read as a skill, and a
    /// person may have left one half written.
    pub(super) async fn kept(&self, name: &str) -> anyhow::Result<Option<Folder>> {
        let Some(content) = self.lying(name).await? else { return Ok(None) };
        let (skill, digest, now) = (name.to_owned(), content.digest(), self.0.clock.now());
        let (known, looked_for) = (digest.clone(), skill.clone());
        let is_known = move |db: crate::store::Db<'_>| Ok(db.version_with(&looked_for, known.as_str())?.is_some());
        if !self.0.journal.read(is_known).await? {
            let folder = content.clone();
            let keep = move |tx: Tx<'_>| version_of(tx, &skill, &folder, &digest, now).map(drop);
            self.0.journal.write("keep what lies there", keep).await?;
        }
        Ok(Some(content))
    }

    async fn compare(&self, catalogue: &Arc<Catalogue>) -> anyhow::Result<(Live, Vec<String>)> {
        let (now, seen) = (self.0.clock.now(), Arc::clone(catalogue));
        let news = self.0.journal.read(|db| is_news(db, &seen)).await?;
        let look = move |tx: Tx<'_>| compare(tx, &seen, now);
        if news {
            return self.0.journal.write("look at the skills", look).await;
        }
        let seen = Arc::clone(catalogue);
        self.0.journal.read(|db| known(db, &seen)).await
    }

    /// A folder with a finding waits for the owner, with everything that a proposal has.
    async fn hold(&self, name: &str, content: &Folder) -> anyhow::Result<()> {
        let draft = Draft {
            skill: name.to_owned(),
            change: Change::Edit,
            files: proposal::rows(content).into_iter().map(|(path, bytes)| (path, Some(bytes))).collect(),
            rationale: String::new(),
            origin: Origin::Folder,
        };
        match self.stage(draft).await? {
            Ok(_) => self.ring(),
            // Refused before: it stays held, and nobody is asked again.
            Err(refused) => tracing::debug!("A held skill is not proposed again: {refused}"),
        }
        Ok(())
    }
}

/// Whether the journal has to learn anything from a look.
fn is_news(db: crate::store::Db<'_>, seen: &Catalogue) -> anyhow::Result<bool> {
    let rows = db.skills()?;
    let gone = rows.iter().any(|row| row.state != "gone" && !seen.skills.contains_key(&row.name));
    Ok(gone || seen.skills.values().any(|skill| !rows.iter().any(|row| is_known(row, skill))))
}

fn is_known(row: &SkillRow, skill: &Skill) -> bool {
    row.name == skill.folder && row.digest == skill.digest.as_str() && row.state != "gone"
}

fn compare(tx: Tx<'_>, seen: &Catalogue, now: Moment) -> anyhow::Result<(Live, Vec<String>)> {
    let rows = tx.skills()?;
    for row in rows.iter().filter(|row| row.state != "gone" && !seen.skills.contains_key(&row.name)) {
        tx.saw_skill(&SeenSkill {
            name: &row.name,
            state: "gone",
            digest: "",
            title: "",
            description: "",
            origin: &row.origin,
            label: &label::of_a_person(),
            at: now,
        })?;
    }
    for skill in seen.skills.values().filter(|skill| !rows.iter().any(|row| is_known(row, skill))) {
        learn(tx, skill, now)?;
    }
    // A hold is about a content that lies there; it is over when another one does.
    for row in tx.pending_proposals()?.into_iter().filter(|row| row.origin == "folder") {
        let lies = seen.skills.get(&row.skill).is_some_and(|skill| skill.digest.as_str() == row.content);
        if !lies {
            tx.settle_proposal(row.id, "expired", "", now)?;
        }
    }
    known(*tx, seen)
}

/// A content is seen for the first time, or again.
fn learn(tx: Tx<'_>, skill: &Skill, now: Moment) -> anyhow::Result<()> {
    let digest = skill.digest.as_str();
    let version = version_of(tx, &skill.folder, &skill.content, &skill.digest, now)?;
    tx.saw_skill(&SeenSkill {
        name: &skill.folder,
        state: if version.accepted { "live" } else { "held" },
        digest,
        title: &skill.manifest.name,
        description: &skill.manifest.description,
        origin: &version.origin,
        label: &version.label,
        at: now,
    })
}

/// The version with that content; one of a person if the journal does not know it yet.
fn version_of(
    tx: Tx<'_>,
    skill: &str,
    content: &Folder,
    digest: &Digest,
    now: Moment,
) -> anyhow::Result<crate::store::VersionRow> {
    if let Some(known) = tx.version_with(skill, digest.as_str())? {
        return Ok(known);
    }
    let accepted = scan::scan_skill(skill, content).is_empty();
    let label = if accepted { label::of_a_person() } else { label::of_a_held_folder() };
    let id = tx.add_version(&NewVersion {
        skill,
        digest: digest.as_str(),
        origin: "person",
        proposal: None,
        accepted,
        label: &label,
        files: &proposal::rows(content),
        at: now,
    })?;
    tx.version_row(id)?.ok_or_else(|| anyhow::anyhow!("A version vanished"))
}

/// What the journal says of what is seen. Whatever it does not know to be accepted is held.
fn known(db: crate::store::Db<'_>, seen: &Catalogue) -> anyhow::Result<(Live, Vec<String>)> {
    let mut live = Live { broken: seen.broken.clone(), ..Live::default() };
    for (name, skill) in &seen.skills {
        match db.version_with(name, skill.digest.as_str())?.filter(|version| version.accepted) {
            Some(version) => {
                let skill = Arc::clone(skill);
                let one = LiveSkill { skill, version: version.id, origin: version.origin, label: version.label };
                live.skills.insert(name.clone(), one);
            }
            None => live.held.push(name.clone()),
        }
    }
    let held = live.held.clone();
    Ok((live, held))
}
