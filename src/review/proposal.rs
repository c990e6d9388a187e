//! Proposals: as requested ([`ProposalDraft`]), and as stored in the journal ([`Proposal`]),
//! immutable, under one digest.
//!
//! The digest covers everything that the owner decides about: the skill, the change, the base
//! content and the resulting content, what the change newly does, the rationale, the label. It
//! includes a random number, so that no model can know the digest of its own proposal and persuade
//! a person to approve it unseen. It is computed from the stored rows each time it is used.

use std::sync::Arc;

use anyhow::Context;
use rand::TryRng;
use rand::rngs::SysRng;

use super::effects::Effects;
use super::{Finding, ProposalChange};
use crate::id::{ActionId, ConversationId, ImportId, PersonId, ProposalId, TurnId};
use crate::skill::{Digest, SkillFolder};
use crate::store::{Db, Node, OriginKind, ProposalRow, ReviewStage, SkillFile, VerdictRow, VersionRow};
use crate::trust::Label;

/// A requested change.
#[derive(Debug, Clone)]
pub struct ProposalDraft {
    /// The skill's name.
    pub skill: String,
    /// The requested change.
    pub change: ProposalChange,
    /// Files to put into the present content, or with `None` to remove from it.
    pub files: Vec<(String, Option<Arc<[u8]>>)>,
    /// The reason, in the proposer's words.
    pub rationale: String,
    /// The origin.
    pub origin: ProposalOrigin,
}

/// The origin of a proposal. Its claims are checked against the journal and never make a proposal
/// cleaner than the journal says.
#[derive(Debug, Clone, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum ProposalOrigin {
    /// Requested by a model in a turn.
    Turn {
        /// The turn.
        turn: TurnId,
        /// The turn's conversation.
        conversation: ConversationId,
        /// The person of the turn.
        person: Option<PersonId>,
        /// The join of everything the turn had read.
        label: Label,
    },
    /// Proposed by a reflection of the owner.
    Reflection {
        /// The action of the reflection, which becomes this proposal in the same transaction.
        action: ActionId,
        /// The turn whose answer is the reflection.
        turn: TurnId,
        /// The person of the reflection.
        person: PersonId,
        /// For an action based on a note: the label of the note's text, and the row of the file
        /// version if we wrote it.
        note: Option<(Label, Option<i64>)>,
    },
    /// The owner turns a note of the workspace into a skill.
    Note {
        /// The label of the note's text.
        label: Label,
        /// The row of the file version, if we wrote it.
        file: Option<i64>,
    },
    /// Imported by the owner: a folder, or with an import of another program's workspace.
    Import(Option<ImportId>),
    /// Held content that is already in the folder.
    Folder,
    /// A newer version of a built-in skill that the owner has changed.
    Shipped,
}

impl ProposalOrigin {
    /// Returns the kind.
    pub fn kind(&self) -> OriginKind {
        match self {
            Self::Turn { .. } => OriginKind::Turn,
            Self::Reflection { .. } => OriginKind::Reflection,
            Self::Note { .. } => OriginKind::Note,
            Self::Import(_) => OriginKind::Import,
            Self::Folder => OriginKind::Folder,
            Self::Shipped => OriginKind::Shipped,
        }
    }

    /// Returns the turn that produced it and the turn's person, if any.
    pub(super) fn turn(&self) -> Option<(TurnId, Option<PersonId>)> {
        match self {
            Self::Turn { turn, person, .. } => Some((*turn, *person)),
            Self::Reflection { turn, person, .. } => Some((*turn, Some(*person))),
            Self::Note { .. } | Self::Import(_) | Self::Folder | Self::Shipped => None,
        }
    }

    /// Returns the row of the version of the underlying note, if we wrote it.
    fn note(&self) -> Option<i64> {
        match self {
            Self::Note { file, .. } => *file,
            Self::Reflection { note: Some((_, file)), .. } => *file,
            _ => None,
        }
    }

    /// Returns its direct origins.
    pub(super) fn nodes(&self) -> impl Iterator<Item = Node> {
        self.turn().map(|(turn, _)| Node::Turn(turn)).into_iter().chain(self.note().map(Node::File))
    }
}

impl ProposalChange {
    /// Returns the stored word.
    pub fn as_str(&self) -> &'static str {
        self.into()
    }

    /// Returns the new name of a rename; otherwise blank.
    pub fn new_name(&self) -> &str {
        if let Self::Rename { to } = self { to } else { "" }
    }

    /// Parses the stored words.
    pub fn read(word: &str, new_name: &str) -> Option<Self> {
        Some(match word.parse::<Self>().ok()? {
            Self::Rename { .. } => Self::Rename { to: new_name.to_owned() },
            change => change,
        })
    }
}

/// A stored proposal with everything that belongs to it.
#[derive(Debug, Clone)]
pub struct Proposal {
    /// The stored row.
    pub row: ProposalRow,
    /// The proposed change.
    pub change: ProposalChange,
    /// The content that the skill would have; `None` for a deletion.
    pub result: Option<SkillFolder>,
    /// The content to compare with, as far as it is still stored.
    pub base: Option<SkillFolder>,
    /// The verdicts of the stages, in order.
    pub verdicts: Vec<VerdictRow>,
    /// True if it contains a third party's text: from outside, from a third party's skill, or from
    /// the version that it would change.
    pub third_party: bool,
    /// New effects, as stored with it.
    pub effects: Effects,
}

impl Proposal {
    /// Loads the proposal with this id.
    ///
    /// # Errors
    /// If the journal cannot be read, or holds an unknown word.
    pub fn load(db: Db<'_>, id: ProposalId) -> anyhow::Result<Option<Self>> {
        let Some(row) = db.proposals().proposal(id)? else { return Ok(None) };
        let change = ProposalChange::read(&row.change, &row.new_name).context("A proposal holds an unknown change")?;
        let result = (change != ProposalChange::Delete)
            .then(|| db.skills().files_of_proposal(id).map(SkillFolder::new))
            .transpose()?;
        let base = base_of(db, &row)?;
        let of_base = base.as_ref().is_some_and(|version| version.label.asks_before_leaving());
        // An update of a built-in skill is merged into the version that it would change.
        let third_party = of_base || (row.origin != OriginKind::Shipped && row.label.asks_before_leaving());
        let base = base.map(|version| db.skills().files_of_version(version.id).map(SkillFolder::new)).transpose()?;
        let verdicts = db.proposals().verdicts_of(id)?;
        let effects = match stored_effects(&verdicts) {
            "" => Effects::of_change(base.as_ref(), result.as_ref()),
            stored => serde_json::from_str(stored).context("The effects of a proposal cannot be read")?,
        };
        Ok(Some(Self { row, change, result, base, verdicts, third_party, effects }))
    }

    /// Returns the digest of the rows as they are now. If it differs from the stored digest, the
    /// rows were tampered with.
    pub fn digest(&self) -> Digest {
        let content = self.result.as_ref().map(SkillFolder::digest);
        DigestInput {
            skill: &self.row.skill,
            change: &self.change,
            base: &self.row.base,
            content: content.as_ref().map_or("", Digest::as_str),
            rationale: &self.row.rationale,
            label: &self.row.label,
            effects: stored_effects(&self.verdicts),
            nonce: &self.row.nonce,
        }
        .digest()
    }

    /// Returns the findings of the scan.
    pub fn findings(&self) -> Vec<Finding> {
        let scans = self.verdicts.iter().filter(|verdict| verdict.stage == ReviewStage::Scan);
        scans.flat_map(|verdict| serde_json::from_str::<Vec<Finding>>(&verdict.findings).unwrap_or_default()).collect()
    }
}

/// Returns the effects as they were stored; blank for a proposal of an earlier program version.
fn stored_effects(verdicts: &[VerdictRow]) -> &str {
    verdicts.iter().find(|verdict| verdict.stage == ReviewStage::Effects).map_or("", |verdict| &verdict.findings)
}

fn base_of(db: Db<'_>, row: &ProposalRow) -> anyhow::Result<Option<VersionRow>> {
    base_version(db, &row.skill, &row.base, row.origin)
}

/// Returns the version to compare a change with. For a held folder this is the last accepted
/// version; otherwise text that was never accepted would count as unchanged and not be displayed.
pub(super) fn base_version(
    db: Db<'_>,
    skill: &str,
    base: &str,
    origin: OriginKind,
) -> anyhow::Result<Option<VersionRow>> {
    let present = db.skills().version_with(skill, base)?;
    if origin == OriginKind::Folder || present.as_ref().is_some_and(|version| !version.accepted) {
        return Ok(db.skills().versions_of(skill)?.into_iter().rev().find(|version| version.accepted));
    }
    Ok(present)
}

/// Everything that a decision covers.
#[derive(Debug)]
pub(super) struct DigestInput<'a> {
    pub skill: &'a str,
    pub change: &'a ProposalChange,
    pub base: &'a str,
    pub content: &'a str,
    pub rationale: &'a str,
    pub label: &'a Label,
    /// The stored effects; blank for a proposal of an earlier program version.
    pub effects: &'a str,
    pub nonce: &'a str,
}

impl DigestInput<'_> {
    /// Returns the digest over all fields, each preceded by its length.
    pub fn digest(&self) -> Digest {
        let label = self.label.encode();
        let mut fields = vec![
            self.skill,
            self.change.as_str(),
            self.change.new_name(),
            self.base,
            self.content,
            self.rationale,
            &label,
            self.nonce,
        ];
        fields.extend((!self.effects.is_empty()).then_some(self.effects));
        let mut all = Vec::new();
        for field in fields {
            all.extend((field.len() as u64).to_be_bytes());
            all.extend(field.as_bytes());
        }
        Digest::of(&all)
    }
}

/// Returns an unguessable number.
pub(super) fn nonce() -> anyhow::Result<String> {
    let mut random = [0_u8; 16];
    SysRng.try_fill_bytes(&mut random).context("The computer has no randomness to give")?;
    Ok(hex::encode(random))
}

/// Returns the files of a draft that replaces the content `present` by `content`.
pub(super) fn replacing(present: &SkillFolder, content: &SkillFolder) -> Vec<(String, Option<Arc<[u8]>>)> {
    let removed = present.files().map(|(path, _)| path).filter(|path| content.get(path).is_none());
    let removed = removed.map(|path| (path.to_owned(), None));
    removed.chain(rows(content).into_iter().map(|(path, bytes)| (path, Some(bytes)))).collect()
}

/// Returns the files of a folder in the journal's format.
pub(super) fn rows(folder: &SkillFolder) -> Vec<SkillFile> {
    folder.files().map(|(path, bytes)| (path.to_owned(), Arc::clone(bytes))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trust::Source;

    #[test]
    fn every_field_counts() {
        let (clean, tainted) = (Label::neutral(), Label::untrusted(Source::web("example.org")));
        let (edit, rename) = (ProposalChange::Edit, ProposalChange::Rename { to: "b".to_owned() });
        let with_effects = |skill, change, base, content, rationale, label, effects, nonce| {
            DigestInput { skill, change, base, content, rationale, label, effects, nonce }.digest()
        };
        let sealed = |skill, change, base, content, rationale, label, nonce| {
            with_effects(skill, change, base, content, rationale, label, "[]", nonce)
        };
        let digests = [
            sealed("a", &edit, "1", "2", "why", &clean, "n"),
            sealed("b", &edit, "1", "2", "why", &clean, "n"),
            sealed("a", &ProposalChange::Create, "1", "2", "why", &clean, "n"),
            sealed("a", &rename, "1", "2", "why", &clean, "n"),
            sealed("a", &edit, "12", "", "why", &clean, "n"),
            sealed("a", &edit, "1", "3", "why", &clean, "n"),
            sealed("a", &edit, "1", "2", "because", &clean, "n"),
            sealed("a", &edit, "1", "2", "why", &tainted, "n"),
            sealed("a", &edit, "1", "2", "why", &clean, "m"),
            with_effects("a", &edit, "1", "2", "why", &clean, "[{}]", "n"),
            with_effects("a", &edit, "1", "2", "why", &clean, "", "n"),
        ];
        let different: std::collections::BTreeSet<_> = digests.iter().collect();
        assert_eq!(different.len(), digests.len());
    }

    #[test]
    fn changes_survive_storing() {
        for change in [
            ProposalChange::Create,
            ProposalChange::Edit,
            ProposalChange::Delete,
            ProposalChange::Rename { to: "new".to_owned() },
        ] {
            assert_eq!(ProposalChange::read(change.as_str(), change.new_name()), Some(change));
        }
        assert_eq!(ProposalChange::read("replace", ""), None);
    }
}
