//! Turns a draft into a proposal: taint, hash, structure, scan and effects all pass before anything
//! is written.
//!
//! A refusal is explained in sentences and leaves no trace. An admitted draft is stored whole in
//! one transaction with the verdicts of all stages, so that every decision is about these rows. The
//! skills folder is only read.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::disk::is_name;
use super::duplicate_check::{self, DuplicateState};
use super::effects::Effects;
use super::proposal::{self, DigestInput, ProposalDraft, ProposalOrigin};
use super::structure::{self, Bounds};
use super::taint::{self, TaintVerdict};
use super::{Finding, ProposalChange, Refused, Review, scan};
use crate::id::ProposalId;
use crate::skill::{Digest, SkillFolder};
use crate::store::{Clearance, Db, NewProposal, Node, ReviewStage, StageOutcome, Tx, VerdictRow};
use crate::time::Timestamp;
use crate::trust::Label;
use crate::wording::skill as says;

/// The maximum numbers of waiting proposals by models: trusted ones, and ones with untrusted text,
/// which could otherwise flood the owner.
const MOST_WAITING: usize = 30;
const MOST_TAINTED: usize = 5;

/// The result of submitting a draft.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Staged {
    /// Stored, and waiting for the next stage.
    New(ProposalId, Clearance),
    /// The same proposal already waits.
    Known(ProposalId),
    /// Refused by a stage. Nothing was stored.
    Refused(Refused),
}

impl Review {
    /// Takes a draft through the automatic stages.
    ///
    /// # Errors
    /// If the journal or the skills folder cannot be read or written.
    pub async fn submit(&self, draft: ProposalDraft) -> anyhow::Result<Staged> {
        let guard = Arc::clone(&self.0.write_lock).lock_owned().await;
        // The draft is compared with the present content, which must be a version that the journal
        // knows.
        self.scan_locked().await?;
        let staged = self.stage(draft).await;
        drop(guard);
        if let Ok(Staged::New(..)) = staged {
            self.wake_worker();
        }
        staged
    }

    /// Like [`Review::submit`], for callers that already hold the lock. Does not wake the worker.
    pub(super) async fn stage(&self, draft: ProposalDraft) -> anyhow::Result<Staged> {
        // Names that no skill can have are not looked up: the third stage reports the fault.
        let is_by_a_model = draft.origin.turn().is_some();
        let base = match is_name(&draft.skill) {
            false => None,
            true if is_by_a_model => self.present_content(&draft.skill).await?,
            true => self.stored_content(&draft.skill).await?,
        };
        if let ProposalChange::Rename { to } = &draft.change
            && is_name(to)
            && !matches!(self.present_content(to).await, Ok(None))
        {
            return Ok(Staged::Refused(Refused::because(&says::name_is_taken(to))));
        }
        // A model may only build on accepted content: the untouched parts of a held folder would
        // otherwise be admitted with its proposal, and messages of the later stages would reveal
        // them.
        if is_by_a_model
            && draft.change != ProposalChange::Create
            && let Some(base) = &base
        {
            let (skill, digest) = (draft.skill.clone(), base.digest());
            let version = self.0.journal.read(move |db| db.skills().version_with(&skill, digest.as_str())).await?;
            if !version.is_some_and(|version| version.accepted) {
                return Ok(Staged::Refused(Refused::because(&says::base_is_held(&draft.skill))));
            }
        }
        let accepted = self.accepted_content(&draft, base.as_ref()).await?;
        let examined = tokio::task::spawn_blocking(move || examine(draft, base, accepted.as_ref())).await?;
        let examined = match examined {
            Ok(examined) => examined,
            Err(refused) => return Ok(Staged::Refused(refused)),
        };
        let (now, nonce) = (self.0.clock.now(), proposal::nonce()?);
        let refuse_tainted = self.0.policy.tainted_is_rejected;
        let job = move |tx: Tx<'_>| {
            let verdict = taint::judge(*tx, &examined.draft.origin)?;
            if let Some(refused) = refusal_of(tx, &examined, &verdict, refuse_tainted)? {
                return Ok(Staged::Refused(refused));
            }
            match duplicate_check::check(*tx, &examined.draft, examined.base_digest.as_ref(), examined.result.as_ref())?
            {
                DuplicateState::Refused(refused) => Ok(Staged::Refused(refused)),
                DuplicateState::Waits(id) => Ok(Staged::Known(id)),
                DuplicateState::New => store(tx, &examined, &verdict, &nonce, now),
            }
        };
        self.0.journal.write("stage a proposal", job).await
    }

    /// Returns the accepted content that a draft changes: what it newly does is compared with it.
    async fn accepted_content(
        &self,
        draft: &ProposalDraft,
        base: Option<&SkillFolder>,
    ) -> anyhow::Result<Option<SkillFolder>> {
        let (skill, origin) = (draft.skill.clone(), draft.origin.kind());
        let digest = base.map(SkillFolder::digest);
        let read = move |db: Db<'_>| {
            let digest = digest.as_ref().map_or("", Digest::as_str);
            let version = proposal::base_version(db, &skill, digest, origin)?;
            version.map(|version| db.skills().files_of_version(version.id).map(SkillFolder::new)).transpose()
        };
        self.0.journal.read(read).await
    }
}

/// A draft with the results that need no journal.
struct ExaminedDraft {
    draft: ProposalDraft,
    base_digest: Option<Digest>,
    result: Option<SkillFolder>,
    findings: Vec<Finding>,
    effects: Effects,
}

fn examine(
    draft: ProposalDraft,
    base: Option<SkillFolder>,
    accepted: Option<&SkillFolder>,
) -> Result<ExaminedDraft, Refused> {
    let result = outcome(&draft, base.as_ref())?;
    let by_owner = matches!(draft.origin, ProposalOrigin::Import(_) | ProposalOrigin::Folder | ProposalOrigin::Shipped);
    let bounds = if by_owner { Bounds::import() } else { Bounds::proposal() };
    // Content already in the folder cannot be refused for its shape: it is held, and the owner
    // decides.
    if !matches!(draft.origin, ProposalOrigin::Folder) {
        let faults = structure::check(&draft.change, &draft.skill, base.as_ref(), result.as_ref(), bounds);
        if !faults.is_empty() {
            return Err(Refused(faults));
        }
    }
    let mut findings = result.as_ref().map(scan::scan).unwrap_or_default();
    findings.extend(scan::scan_text("", &draft.rationale));
    findings.extend([draft.skill.as_str(), draft.change.new_name()].into_iter().flat_map(scan::scan_name));
    let name = if accepted.is_none() { draft.skill.as_str() } else { draft.change.new_name() };
    let effects = Effects::of_change(accepted, result.as_ref()).with_name(name);
    Ok(ExaminedDraft { base_digest: base.as_ref().map(SkillFolder::digest), draft, result, findings, effects })
}

/// Returns the content that the skill would have. Files that the draft does not name stay as they
/// are.
fn outcome(draft: &ProposalDraft, base: Option<&SkillFolder>) -> Result<Option<SkillFolder>, Refused> {
    let mut folder = match (&draft.change, base) {
        (ProposalChange::Delete, _) if draft.files.is_empty() => return Ok(None),
        (ProposalChange::Delete, _) => return Err(Refused::because(says::DELETE_HAS_NO_FILES)),
        (ProposalChange::Create, _) => SkillFolder::default(),
        (ProposalChange::Edit | ProposalChange::Rename { .. }, Some(base)) => base.clone(),
        (ProposalChange::Edit | ProposalChange::Rename { .. }, None) => {
            return Err(Refused::because(&says::no_such_skill(&draft.skill)));
        }
    };
    let unique: BTreeMap<_, _> = draft.files.iter().map(|(path, bytes)| (path, bytes)).collect();
    if unique.len() != draft.files.len() {
        return Err(Refused::because(says::FILE_TWICE));
    }
    for (path, bytes) in &draft.files {
        match bytes {
            Some(bytes) => folder.put(path, Arc::clone(bytes)),
            None if folder.remove(path) => {}
            None => return Err(Refused::because(&says::no_such_file(path))),
        }
    }
    if let ProposalChange::Rename { to } = &draft.change
        && draft.files.is_empty()
        && let Some(renamed) = folder.text(crate::skill::MAIN).and_then(|text| renamed(text, to))
    {
        folder.put(crate::skill::MAIN, Arc::from(renamed.into_bytes()));
    }
    Ok(Some(folder))
}

/// Returns the front matter with another name.
fn renamed(text: &str, to: &str) -> Option<String> {
    let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
    let front = lines.iter().skip(1).position(|line| line.trim_end() == "---")?;
    let name = lines.iter_mut().skip(1).take(front).find(|line| line.starts_with("name:"))?;
    let end = if name.ends_with("\r\n") { "\r\n" } else { "\n" };
    *name = format!("name: {to}{end}");
    Some(lines.concat())
}

/// Refuses a model's proposal if its person may not propose, or if the owner has enough waiting.
fn refusal_of(
    tx: Tx<'_>,
    examined: &ExaminedDraft,
    verdict: &TaintVerdict,
    refuse_tainted: bool,
) -> anyhow::Result<Option<Refused>> {
    match &examined.draft.origin {
        ProposalOrigin::Turn { .. } => {}
        ProposalOrigin::Reflection { person, .. } if tx.people().is_owner(*person)? => {}
        ProposalOrigin::Reflection { .. } => return Ok(Some(Refused::because(says::REFLECTION_OF_A_MEMBER))),
        ProposalOrigin::Note { .. } | ProposalOrigin::Import(_) | ProposalOrigin::Folder | ProposalOrigin::Shipped => {
            return Ok(None);
        }
    }
    let tainted = verdict.clearance == Clearance::Tainted;
    if tainted && refuse_tainted {
        return Ok(Some(Refused::because(&says::tainted_refused(&verdict.label))));
    }
    let waiting: Vec<_> = tx.proposals().pending_proposals()?.into_iter().filter(|row| row.turn.is_some()).collect();
    let alike = waiting.iter().filter(|row| (row.clearance == Clearance::Tainted) == tainted).count();
    let most = if tainted { MOST_TAINTED } else { MOST_WAITING };
    Ok((alike >= most).then(|| Refused::because(&says::too_many_wait(alike))))
}

fn store(
    tx: Tx<'_>,
    examined: &ExaminedDraft,
    verdict: &TaintVerdict,
    nonce: &str,
    now: Timestamp,
) -> anyhow::Result<Staged> {
    let ExaminedDraft { draft, base_digest, result, findings, effects } = examined;
    // A clean draft with a finding or a dangerous effect waits for the owner; neither ever improves
    // the clearance.
    let clearance = match verdict.clearance {
        Clearance::Clean if !findings.is_empty() || effects.waits() => Clearance::Careful,
        other => other,
    };
    let content = result.as_ref().map(SkillFolder::digest);
    let listed = serde_json::to_string(effects)?;
    let sealed = DigestInput {
        skill: &draft.skill,
        change: &draft.change,
        base: base_digest.as_ref().map_or("", Digest::as_str),
        content: content.as_ref().map_or("", Digest::as_str),
        rationale: &draft.rationale,
        label: &verdict.label,
        effects: &listed,
        nonce,
    };
    let (turn, person) = draft.origin.turn().unzip();
    let turn = turn.map(|id| tx.turns().turn(id)).transpose()?.flatten().map(|row| row.id);
    let id = tx.proposals().stage(&NewProposal {
        skill: &draft.skill,
        change: draft.change.as_str(),
        new_name: draft.change.new_name(),
        base: sealed.base,
        content: sealed.content,
        nonce,
        digest: sealed.digest().as_str(),
        rationale: &draft.rationale,
        origin: draft.origin.kind(),
        turn,
        person: person.flatten(),
        clearance,
        label: &verdict.label,
        scope: verdict.scope,
        files: &result.as_ref().map(proposal::rows).unwrap_or_default(),
        at: now,
    })?;
    for row in verdict_rows(verdict, findings, effects, listed.clone())? {
        tx.proposals().add_verdict(id, &row, verdict.scope, now)?;
    }
    for node in draft.origin.nodes() {
        tx.derivations().derive(Node::Proposal(id), node)?;
    }
    if let ProposalOrigin::Reflection { action, .. } = &draft.origin {
        anyhow::ensure!(
            tx.reflections().action_proposed(*action, id, now)?,
            "Action {action} is not to be proposed any more"
        );
    }
    Ok(Staged::New(id, clearance))
}

/// Returns the verdicts of the first five stages.
fn verdict_rows(
    verdict: &TaintVerdict,
    findings: &[Finding],
    effects: &Effects,
    listed: String,
) -> anyhow::Result<[VerdictRow; 5]> {
    let row = |stage: ReviewStage, passed: bool, note: &str, label: &Label| VerdictRow {
        stage,
        outcome: if passed { StageOutcome::Passed } else { StageOutcome::Waits },
        note: note.to_owned(),
        findings: "[]".to_owned(),
        label: label.clone(),
    };
    let ours = super::label::of_the_program();
    // The excerpts in the findings are the proposal's own text.
    let scan = VerdictRow {
        findings: serde_json::to_string(findings)?,
        ..row(ReviewStage::Scan, findings.is_empty(), &says::findings(findings.len()), &verdict.label)
    };
    let effects = VerdictRow { findings: listed, ..row(ReviewStage::Effects, !effects.waits(), "", &verdict.label) };
    Ok([
        row(ReviewStage::Taint, verdict.clearance == Clearance::Clean, &verdict.note, &ours),
        row(ReviewStage::Hash, true, "", &ours),
        row(ReviewStage::Structure, true, "", &ours),
        scan,
        effects,
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draft(change: ProposalChange, files: &[(&str, Option<&str>)]) -> ProposalDraft {
        let file =
            |(path, text): &(&str, Option<&str>)| ((*path).to_owned(), text.map(|text| Arc::from(text.as_bytes())));
        ProposalDraft {
            skill: "tea".to_owned(),
            change,
            files: files.iter().map(file).collect(),
            rationale: String::new(),
            origin: ProposalOrigin::Import(None),
        }
    }

    fn base() -> SkillFolder {
        let file = |path: &str, text: &str| (path.to_owned(), Arc::from(text.as_bytes()));
        SkillFolder::new([file("SKILL.md", "---\nname: tea\n---\nname: tea\n"), file("resources/a", "a")])
    }

    #[test]
    fn files_not_named_in_a_draft_stay() {
        let files = [("resources/a", None), ("resources/b", Some("b"))];
        let folder = outcome(&draft(ProposalChange::Edit, &files), Some(&base())).unwrap().unwrap();
        assert_eq!(folder.files().map(|(path, _)| path).collect::<Vec<_>>(), ["SKILL.md", "resources/b"]);
        assert_eq!(outcome(&draft(ProposalChange::Delete, &[]), Some(&base())), Ok(None));
    }

    #[test]
    fn invalid_input_is_refused() {
        for (change, files, base) in [
            (ProposalChange::Delete, vec![("a", Some("a"))], Some(base())),
            (ProposalChange::Edit, vec![("a", Some("a"))], None),
            (ProposalChange::Edit, vec![("nothing", None)], Some(base())),
            (ProposalChange::Create, vec![("a", Some("a")), ("a", Some("b"))], None),
        ] {
            assert!(outcome(&draft(change.clone(), &files), base.as_ref()).is_err(), "{change:?} {files:?}");
        }
    }

    #[test]
    fn a_rename_changes_the_name_in_the_front_matter_and_nothing_else() {
        let rename = draft(ProposalChange::Rename { to: "chai".to_owned() }, &[]);
        let folder = outcome(&rename, Some(&base())).unwrap().unwrap();
        assert_eq!(folder.text("SKILL.md"), Some("---\nname: chai\n---\nname: tea\n"));
        assert_eq!(renamed("---\r\nname: tea\r\n---\r\n", "chai").as_deref(), Some("---\r\nname: chai\r\n---\r\n"));
        assert_eq!(renamed("no front matter", "chai"), None);
    }
}
