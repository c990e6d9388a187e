//! The update rule for built-in skills: a decision based on three digests, without access to disk
//! or journal.
//!
//! The program ships one content, the journal remembers the contents that the program installed or
//! offered, and the folder holds some content or none. Folder content that is not byte for byte one
//! of ours belongs to a person: it stays, and the changes of a newer version are offered once,
//! merged into it ([`merge`]). Content that was there and is gone was removed by a person and stays
//! removed in all later versions. So a person's work is never replaced without their approval, and
//! untouched built-in skills are always the newest.
//!
//! A folder that a person restores to exactly our content counts as untouched again. Skills that
//! are no longer shipped are left as they are.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::merge::{self, MergedFolder};
use super::proposal::{self, ProposalDraft, ProposalOrigin};
use super::{ProposalChange, Review, Staged, apply, label};
use crate::skill::builtin::Builtin;
use crate::skill::{Digest, SkillFolder};
use crate::store::{Db, NewVersion, SkillRow, Tx};
use crate::wording::skill as says;

/// The journal's record of one built-in skill.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct SyncRecord {
    /// The newest content that was installed or offered.
    pub offered: Option<Digest>,
    /// The content that we last installed, or found in place when it was the shipped one.
    pub installed: Option<Digest>,
}

/// The action to take for a built-in skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SyncAction {
    /// No action needed.
    Nothing,
    /// The shipped content is in place but not in the journal: record it as installed.
    Record,
    /// Install the shipped content, replacing exactly the present content, and record it as
    /// installed.
    Install,
    /// Propose the shipped content to the owner, and record it as offered.
    Propose,
}

/// Content that was installed or offered and has to be recorded.
struct SyncedSkill {
    name: &'static str,
    shipped: Digest,
    /// False if it was only offered.
    is_installed: bool,
}

/// Decides about the `shipped` content, given the present content `present`.
pub(super) fn decide(shipped: &Digest, record: &SyncRecord, present: Option<&Digest>) -> SyncAction {
    let is_ours = |digest: &Digest| [&record.offered, &record.installed].into_iter().flatten().any(|one| one == digest);
    let is_new = record.offered.is_none() && record.installed.is_none();
    match present {
        None if is_new => SyncAction::Install,
        // Removed by a person.
        None => SyncAction::Nothing,
        Some(digest) if digest == shipped => match &record.installed {
            Some(installed) if installed == shipped => SyncAction::Nothing,
            _ => SyncAction::Record,
        },
        Some(digest) if is_ours(digest) => SyncAction::Install,
        Some(_) if record.offered.as_ref() == Some(shipped) => SyncAction::Nothing,
        Some(_) => SyncAction::Propose,
    }
}

impl Review {
    /// Completes changes that a power cut interrupted, and updates the built-in skills.
    ///
    /// # Errors
    /// If the journal or the skills folder cannot be used.
    pub async fn start(&self) -> anyhow::Result<()> {
        let _guard = Arc::clone(&self.0.write_lock).lock_owned().await;
        self.0.unfinished.store(true, Ordering::Relaxed);
        self.scan_locked().await?;
        let rows = self.0.journal.read(|db| db.skills().skills()).await?;
        let mut synced = Vec::new();
        for builtin in self.0.rules.builtins {
            let row = rows.iter().find(|row| row.name == builtin.name);
            synced.extend(self.sync_builtin(builtin, row).await?);
        }
        if !synced.is_empty() {
            self.carry_out().await?;
        }
        self.scan_locked().await?;
        self.record_synced(synced).await
    }

    /// Installs or proposes the shipped content, if necessary. Returns what is to be recorded.
    async fn sync_builtin(
        &self,
        builtin: &'static Builtin,
        row: Option<&SkillRow>,
    ) -> anyhow::Result<Option<SyncedSkill>> {
        let (name, folder) = (builtin.name, builtin.folder());
        let shipped = folder.digest();
        let present = match self.present_content(builtin.name).await {
            Ok(present) => present.as_ref().map(SkillFolder::digest),
            // Unreadable content belongs to a person and stays.
            Err(_) => return Ok(None),
        };
        let record = SyncRecord {
            offered: row.and_then(|row| Digest::parse(&row.shipped)),
            installed: row.and_then(|row| Digest::parse(&row.installed)),
        };
        match decide(&shipped, &record, present.as_ref()) {
            SyncAction::Nothing => Ok(None),
            SyncAction::Record => Ok(Some(SyncedSkill { name, shipped, is_installed: true })),
            SyncAction::Install => {
                let base = present.as_ref().map_or("", Digest::as_str).to_owned();
                let (files, now) = (proposal::rows(&folder), self.0.clock.now());
                let job = move |tx: Tx<'_>| {
                    let label = label::of_the_program();
                    apply::begin_accepted(tx, name, &base, "shipped", &files, &label, now).map(drop)
                };
                self.0.journal.write("ship a skill", job).await?;
                Ok(Some(SyncedSkill { name, shipped, is_installed: true }))
            }
            SyncAction::Propose => {
                let present = self.present_content(builtin.name).await?.unwrap_or_default();
                // Approving the merge would accept all of it.
                if !self.is_accepted(name, &present.digest()).await? {
                    return Ok(None);
                }
                let base = self.merge_base(name, &record).await?;
                self.keep_shipped(name, &folder).await?;
                let MergedFolder { folder: merged, conflicts } = merge::merge(&base, &present, &folder);
                if merged == present {
                    tracing::warn!("A newer version of the skill {name} changes only what its person changed too");
                    return Ok(Some(SyncedSkill { name, shipped, is_installed: false }));
                }
                let draft = ProposalDraft {
                    skill: builtin.name.to_owned(),
                    change: ProposalChange::Edit,
                    files: proposal::replacing(&present, &merged),
                    rationale: says::newer_builtin(conflicts),
                    origin: ProposalOrigin::Shipped,
                };
                if let Staged::New(..) = self.stage(draft).await? {
                    self.wake_worker();
                }
                Ok(Some(SyncedSkill { name, shipped, is_installed: false }))
            }
        }
    }

    async fn is_accepted(&self, skill: &'static str, digest: &Digest) -> anyhow::Result<bool> {
        let digest = digest.clone();
        let read = move |db: Db<'_>| db.skills().version_with(skill, digest.as_str());
        Ok(self.0.journal.read(read).await?.is_some_and(|version| version.accepted))
    }

    /// Returns the shipped content that the present content grew from: the last offer if it was
    /// approved, else the last one that was installed. Empty if it is not known.
    async fn merge_base(&self, skill: &'static str, record: &SyncRecord) -> anyhow::Result<SkillFolder> {
        let record = record.clone();
        let read = move |db: Db<'_>| {
            let is_taken = db.proposals().was_last_update_approved(skill)?;
            let digest = if is_taken { record.offered } else { record.installed };
            let version = match digest {
                Some(digest) => db.skills().version_with(skill, digest.as_str())?,
                None => None,
            };
            version.map_or_else(|| Ok(Vec::new()), |version| db.skills().files_of_version(version.id))
        };
        Ok(SkillFolder::new(self.0.journal.read(read).await?))
    }

    /// Stores the shipped content among the versions of a skill: it is the base of the next merge,
    /// and its person can roll back to it.
    async fn keep_shipped(&self, skill: &'static str, folder: &SkillFolder) -> anyhow::Result<()> {
        let (digest, files, now) = (folder.digest(), proposal::rows(folder), self.0.clock.now());
        let keep = move |tx: Tx<'_>| {
            if tx.skills().version_with(skill, digest.as_str())?.is_some() {
                return Ok(());
            }
            let label = label::of_the_program();
            let (origin, proposal, accepted) = ("shipped", None, true);
            let (digest, files, label) = (digest.as_str(), files.as_slice(), &label);
            let new = NewVersion { skill, digest, origin, proposal, accepted, label, files, at: now };
            tx.skills().add_version(&new).map(drop)
        };
        self.0.journal.write("keep a shipped skill", keep).await
    }

    /// Records the offered contents, and the installed ones if they are in place: a person may have
    /// prevented the change.
    async fn record_synced(&self, synced: Vec<SyncedSkill>) -> anyhow::Result<()> {
        let mut known = Vec::new();
        for skill in synced {
            let present = self.present_content(skill.name).await.ok().flatten();
            if !skill.is_installed || present.is_some_and(|folder| folder.digest() == skill.shipped) {
                known.push(skill);
            }
        }
        if known.is_empty() {
            return Ok(());
        }
        let job = move |tx: Tx<'_>| {
            known.iter().try_for_each(|SyncedSkill { name, shipped, is_installed }| {
                tx.skills().shipped_skill(name, shipped.as_str(), is_installed.then_some(shipped.as_str()))
            })
        };
        self.0.journal.write("remember what was shipped", job).await
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::scan::scan;
    use super::*;
    use crate::skill::builtin;

    /// Possible journal and folder contents: `v1` and `v2` are our versions, `own` is a person's
    /// work.
    fn digest(name: &str) -> Option<Digest> {
        (name != "-").then(|| Digest::of(name.as_bytes()))
    }

    /// Proves: skills/built-in
    #[test]
    fn each_case_is_decided() {
        // The shipped version is always v2. Columns: offered, installed, present, expected action.
        for (offered, installed, present, step) in [
            ("-", "-", "-", SyncAction::Install),
            ("-", "-", "v1", SyncAction::Propose),
            ("-", "-", "v2", SyncAction::Record),
            ("-", "-", "own", SyncAction::Propose),
            ("v1", "-", "-", SyncAction::Nothing),
            ("v1", "-", "v1", SyncAction::Install),
            ("v1", "-", "v2", SyncAction::Record),
            ("v1", "-", "own", SyncAction::Propose),
            ("v2", "-", "-", SyncAction::Nothing),
            ("v2", "-", "v1", SyncAction::Nothing),
            ("v2", "-", "v2", SyncAction::Record),
            ("v2", "-", "own", SyncAction::Nothing),
            ("v1", "v1", "-", SyncAction::Nothing),
            ("v1", "v1", "v1", SyncAction::Install),
            ("v1", "v1", "v2", SyncAction::Record),
            ("v1", "v1", "own", SyncAction::Propose),
            ("v2", "v1", "-", SyncAction::Nothing),
            ("v2", "v1", "v1", SyncAction::Install),
            ("v2", "v1", "v2", SyncAction::Record),
            ("v2", "v1", "own", SyncAction::Nothing),
            ("v2", "v2", "-", SyncAction::Nothing),
            ("v2", "v2", "v1", SyncAction::Nothing),
            ("v2", "v2", "v2", SyncAction::Nothing),
            ("v2", "v2", "own", SyncAction::Nothing),
        ] {
            let record = SyncRecord { offered: digest(offered), installed: digest(installed) };
            let said = decide(&Digest::of(b"v2"), &record, digest(present).as_ref());
            assert_eq!(said, step, "offered {offered}, installed {installed}, present {present}");
        }
    }

    #[derive(Debug, Clone)]
    enum Event {
        Start,
        Ship,
        Edit(u8),
        Delete,
        PutBack,
        Accept,
    }

    /// A simulated home over many releases: the rules of `decide`, and the effect of each action.
    #[derive(Debug, Default)]
    struct Fixture {
        newest: u8,
        record: SyncRecord,
        present: Option<String>,
        waiting: Option<String>,
        last_ours: Option<String>,
        offers: Vec<String>,
    }

    impl Fixture {
        fn shipped(&self) -> String {
            format!("v{}", self.newest)
        }

        fn start(&mut self) -> SyncAction {
            let shipped = Digest::of(self.shipped().as_bytes());
            let present = self.present.as_ref().map(|text| Digest::of(text.as_bytes()));
            let step = decide(&shipped, &self.record, present.as_ref());
            match step {
                SyncAction::Nothing => {}
                SyncAction::Record => {
                    self.record = SyncRecord { offered: Some(shipped.clone()), installed: Some(shipped) }
                }
                SyncAction::Install => {
                    self.record = SyncRecord { offered: Some(shipped.clone()), installed: Some(shipped) };
                    self.present = Some(self.shipped());
                    self.last_ours = self.present.clone();
                }
                SyncAction::Propose => {
                    self.record.offered = Some(shipped);
                    self.waiting = Some(self.shipped());
                    self.offers.push(self.shipped());
                }
            }
            step
        }

        fn live(&mut self, event: &Event) {
            match event {
                Event::Start => drop(self.start()),
                Event::Ship => self.newest += 1,
                Event::Edit(work) => self.present = Some(format!("own {work}")),
                Event::Delete => self.present = None,
                Event::PutBack => self.present = self.last_ours.clone().or(self.present.take()),
                Event::Accept => self.present = self.waiting.take().or(self.present.take()),
            }
        }
    }

    fn event() -> impl Strategy<Value = Event> {
        prop_oneof![
            4 => Just(Event::Start),
            3 => Just(Event::Ship),
            2 => (0_u8..3).prop_map(Event::Edit),
            1 => Just(Event::Delete),
            1 => Just(Event::PutBack),
            1 => Just(Event::Accept),
        ]
    }

    proptest! {
        #[test]
        fn a_person_is_never_overruled(events in prop::collection::vec(event(), 0..40)) {
            let mut world = Fixture::default();
            let mut started = false;
            for event in &events {
                let was = world.present.clone();
                world.live(event);
                if !matches!(event, Event::Start) {
                    continue;
                }
                match was {
                    Some(text) if text.starts_with("own") => prop_assert_eq!(world.present.as_deref(), Some(text.as_str())),
                    None if started => prop_assert_eq!(&world.present, &None, "what was taken away came back"),
                    _ => {}
                }
                started = true;
                prop_assert_eq!(world.start(), SyncAction::Nothing, "a second start has nothing left to do");
            }
            let mut offers = world.offers.clone();
            offers.dedup();
            prop_assert_eq!(&world.offers, &offers, "one version was offered twice");
        }

        #[test]
        fn an_untouched_builtin_skill_is_always_the_newest(events in prop::collection::vec(event(), 0..40)) {
            let mut world = Fixture::default();
            world.start();
            let untouched = |event: &&Event| matches!(event, Event::Start | Event::Ship | Event::PutBack | Event::Accept);
            for event in events.iter().filter(untouched) {
                world.live(event);
            }
            world.start();
            prop_assert_eq!(&world.present, &Some(world.shipped()));
            prop_assert!(world.offers.is_empty());
        }
    }

    #[test]
    fn nothing_that_ships_has_a_finding() {
        for builtin in builtin::all() {
            assert_eq!(scan(&builtin.folder()), [], "{}", builtin.name);
        }
    }
}
