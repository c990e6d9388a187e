//! Second stage: checks that a draft is a change, is based on the present content, and was not
//! already decided.

use super::proposal::{ProposalDraft, ProposalOrigin};
use super::{ProposalChange, Refused};
use crate::id::ProposalId;
use crate::skill::{Digest, SkillFolder};
use crate::store::{Db, ProposalRow, ProposalState};
use crate::wording::skill as says;

/// The verdict on a draft.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum DuplicateState {
    /// New.
    New,
    /// The same proposal already waits. Submitting twice creates no second one, so an interrupted
    /// call may be repeated.
    Waits(ProposalId),
    /// Not a change, or rejected before.
    Refused(Refused),
}

/// Compares a draft with the present content and with earlier decisions.
pub(super) fn check(
    db: Db<'_>,
    draft: &ProposalDraft,
    base: Option<&Digest>,
    result: Option<&SkillFolder>,
) -> anyhow::Result<DuplicateState> {
    let content = result.map(SkillFolder::digest);
    // Held content is proposed as it is.
    let held = matches!(draft.origin, ProposalOrigin::Folder);
    if !held && draft.change == ProposalChange::Edit && base.is_some() && base == content.as_ref() {
        return Ok(DuplicateState::Refused(Refused::because(says::NO_CHANGE)));
    }
    let (base, content) = (base.map_or("", Digest::as_str), content.as_ref().map_or("", Digest::as_str));
    let alike = db.proposals().proposals_like(&draft.skill, draft.change.as_str(), draft.change.new_name(), content)?;
    if let Some(same) = alike.iter().find(|row| row.state == ProposalState::Pending && row.base == base) {
        return Ok(DuplicateState::Waits(same.id));
    }
    // A deletion has no content: a rejection covers the deletion of exactly this base.
    match alike.iter().find(|row| row.state == ProposalState::Rejected && (!content.is_empty() || row.base == base)) {
        Some(row) => {
            let refused = Refused::because(&says::rejected_before(row.id, &reason(db, draft, row)?));
            Ok(DuplicateState::Refused(refused))
        }
        None => Ok(DuplicateState::New),
    }
}

/// Returns the owner's reason for a rejection, for the proposer only. Blank for anyone else, who
/// may not be entitled to read it; and blank if it repeats untrusted text, which must not come back
/// as the owner's words.
fn reason(db: Db<'_>, draft: &ProposalDraft, row: &ProposalRow) -> anyhow::Result<String> {
    let person = draft.origin.turn().and_then(|(_, person)| person);
    let tells = person == row.person && db.fingerprints().pasted_from(&row.reason, row.scope)?.is_empty();
    Ok(if tells { row.reason.clone() } else { String::new() })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::store::{Journal, NewProposal, OriginKind};
    use crate::time::Timestamp;
    use crate::trust::{Label, Scope, Source};

    fn folder(text: &str) -> SkillFolder {
        SkillFolder::new([("SKILL.md".to_owned(), Arc::from(text.as_bytes()))])
    }

    fn draft(change: ProposalChange, origin: ProposalOrigin) -> ProposalDraft {
        ProposalDraft { skill: "tea".to_owned(), change, files: Vec::new(), rationale: String::new(), origin }
    }

    /// Returns a journal with one proposal in the given state, of `content`, made from `base`.
    async fn known(
        change: &'static str,
        base: Option<SkillFolder>,
        content: Option<SkillFolder>,
        state: ProposalState,
    ) -> (Journal, tempfile::TempDir) {
        let home = tempfile::tempdir().unwrap();
        let journal = Journal::open_or_copy(&home.path().join("j.db"), None).unwrap();
        journal
            .write("stage", move |tx| {
                let digest = |folder: &Option<SkillFolder>| folder.as_ref().map(SkillFolder::digest);
                let (base, content) = (digest(&base), digest(&content));
                let id = tx.proposals().stage(&NewProposal {
                    skill: "tea",
                    change,
                    new_name: "",
                    base: base.as_ref().map_or("", Digest::as_str),
                    content: content.as_ref().map_or("", Digest::as_str),
                    nonce: "n",
                    digest: "d",
                    rationale: "",
                    origin: OriginKind::Turn,
                    turn: None,
                    person: None,
                    clearance: crate::store::Clearance::Tainted,
                    label: &Label::untrusted(Source::unknown()),
                    scope: Scope::Shared,
                    files: &[],
                    at: Timestamp(1),
                })?;
                if state != ProposalState::Pending {
                    tx.proposals().settle_proposal(id, state, "no", Timestamp(1))?;
                }
                Ok(())
            })
            .await
            .unwrap();
        (journal, home)
    }

    async fn say(
        journal: &Journal,
        draft: ProposalDraft,
        base: Option<SkillFolder>,
        result: Option<SkillFolder>,
    ) -> DuplicateState {
        let base = base.as_ref().map(SkillFolder::digest);
        journal.read(|db| check(db, &draft, base.as_ref(), result.as_ref())).await.unwrap()
    }

    #[tokio::test]
    async fn a_change_that_changes_nothing_is_refused_but_what_is_held_lies_there_already() {
        let (journal, _home) = known("create", None, Some(folder("x")), ProposalState::Expired).await;
        let (same, other) = (folder("a"), folder("b"));
        let edit = |origin| draft(ProposalChange::Edit, origin);
        assert!(matches!(
            say(&journal, edit(ProposalOrigin::Import(None)), Some(same.clone()), Some(same.clone())).await,
            DuplicateState::Refused(_)
        ));
        assert_eq!(
            say(&journal, edit(ProposalOrigin::Import(None)), Some(same.clone()), Some(other)).await,
            DuplicateState::New
        );
        assert_eq!(
            say(&journal, edit(ProposalOrigin::Folder), Some(same.clone()), Some(same)).await,
            DuplicateState::New
        );
    }

    #[tokio::test]
    async fn the_same_waits_once_and_only_for_the_same_base() {
        let (journal, _home) = known("edit", Some(folder("a")), Some(folder("b")), ProposalState::Pending).await;
        let again = |base: &str| {
            say(
                &journal,
                draft(ProposalChange::Edit, ProposalOrigin::Import(None)),
                Some(folder(base)),
                Some(folder("b")),
            )
        };
        assert_eq!(again("a").await, DuplicateState::Waits(ProposalId(1)));
        assert_eq!(again("c").await, DuplicateState::New);
    }

    /// Proves: gate/rejected
    #[tokio::test]
    async fn a_rejected_result_is_rejected_from_any_base() {
        let (journal, _home) = known("edit", Some(folder("a")), Some(folder("b")), ProposalState::Rejected).await;
        for base in ["a", "c"] {
            let said = say(
                &journal,
                draft(ProposalChange::Edit, ProposalOrigin::Import(None)),
                Some(folder(base)),
                Some(folder("b")),
            )
            .await;
            assert_eq!(said, DuplicateState::Refused(Refused::because(&says::rejected_before(ProposalId(1), "no"))));
        }
    }

    #[tokio::test]
    async fn a_deletion_that_was_refused_may_be_asked_for_again_when_the_skill_is_another() {
        let (journal, _home) = known("delete", Some(folder("a")), None, ProposalState::Rejected).await;
        assert!(matches!(
            say(&journal, draft(ProposalChange::Delete, ProposalOrigin::Import(None)), Some(folder("a")), None).await,
            DuplicateState::Refused(_)
        ));
        assert_eq!(
            say(&journal, draft(ProposalChange::Delete, ProposalOrigin::Import(None)), Some(folder("b")), None).await,
            DuplicateState::New
        );
    }
}
