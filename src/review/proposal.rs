//! What is proposed: as it is asked for ([`ProposalDraft`]), and as it lies in the journal
//! ([`Proposal`]), immutable, under one digest.
//!
//! The digest covers everything that the owner decides about: which skill, which change, the
//! content it was made from and the content it would have, the reason, the label. A random number
//! is mixed in, so no model can know the digest of what it proposed and talk somebody into
//! approving it unseen. It is computed anew from the stored rows whenever it is used.

use std::sync::Arc;

use anyhow::Context;
use rand::TryRng;
use rand::rngs::SysRng;

use super::{Finding, ProposalChange};
use crate::id::{ActionId, ConversationId, PersonId, ProposalId, TurnId};
use crate::skill::{Digest, SkillFolder};
use crate::store::{Db, Node, ProposalRow, SkillFile, VerdictRow, VersionRow};
use crate::trust::Label;

/// What somebody asks for.
#[derive(Debug, Clone)]
pub struct ProposalDraft {
    /// The skill's name.
    pub skill: String,
    /// What would happen to it.
    pub change: ProposalChange,
    /// Files that would be put into its present content, or with `None` be taken out of it.
    pub files: Vec<(String, Option<Arc<[u8]>>)>,
    /// Why, in the words of whoever asks.
    pub rationale: String,
    /// Where it comes from.
    pub origin: ProposalOrigin,
}

/// Where a proposal comes from. What it says is checked against the journal, and never makes
/// anything cleaner than the journal says.
#[derive(Debug, Clone)]
pub enum ProposalOrigin {
    /// A model asked for it in a turn.
    Turn {
        /// The turn.
        turn: TurnId,
        /// Its conversation.
        conversation: ConversationId,
        /// Whose turn it is.
        person: Option<PersonId>,
        /// The join of all that the turn had read.
        label: Label,
    },
    /// A reflection of the owner proposes it.
    Reflection {
        /// As which of its actions, which becomes this proposal in the same transaction.
        action: ActionId,
        /// The turn whose answer the reflection is.
        turn: TurnId,
        /// Whose reflection it is.
        person: PersonId,
        /// If it is made of a note: where the note's words came from, and the row of the version of
        /// the file if we wrote it.
        note: Option<(Label, Option<i64>)>,
    },
    /// The owner makes a note of the workspace a skill.
    Note {
        /// Where the note's words came from.
        label: Label,
        /// The row of the version of the file, if we wrote it.
        file: Option<i64>,
    },
    /// The owner brings it from elsewhere.
    Import,
    /// It lies in the folder already, and has a finding.
    Folder,
    /// A newer version of a built-in that the owner has changed.
    Shipped,
}

impl ProposalOrigin {
    /// The stored word.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Turn { .. } => "turn",
            Self::Reflection { .. } => "reflection",
            Self::Note { .. } => "note",
            Self::Import => "import",
            Self::Folder => "folder",
            Self::Shipped => "shipped",
        }
    }
}

impl ProposalOrigin {
    /// Whose turn it grew in, if it grew in one.
    pub(super) fn turn(&self) -> Option<(TurnId, Option<PersonId>)> {
        match self {
            Self::Turn { turn, person, .. } => Some((*turn, *person)),
            Self::Reflection { turn, person, .. } => Some((*turn, Some(*person))),
            Self::Note { .. } | Self::Import | Self::Folder | Self::Shipped => None,
        }
    }

    /// The row of the version of the note that it is made of, if we wrote it.
    fn note(&self) -> Option<i64> {
        match self {
            Self::Note { file, .. } => *file,
            Self::Reflection { note: Some((_, file)), .. } => *file,
            _ => None,
        }
    }

    /// What it grew from at first hand.
    pub(super) fn nodes(&self) -> impl Iterator<Item = Node> {
        self.turn().map(|(turn, _)| Node::Turn(turn)).into_iter().chain(self.note().map(Node::File))
    }
}

impl ProposalChange {
    /// The stored word.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Edit => "edit",
            Self::Delete => "delete",
            Self::Rename { .. } => "rename",
        }
    }

    /// The new name of a rename; else blank.
    pub fn new_name(&self) -> &str {
        if let Self::Rename { to } = self { to } else { "" }
    }

    /// The change of those stored words.
    pub fn read(word: &str, new_name: &str) -> Option<Self> {
        match word {
            "create" => Some(Self::Create),
            "edit" => Some(Self::Edit),
            "delete" => Some(Self::Delete),
            "rename" => Some(Self::Rename { to: new_name.to_owned() }),
            _ => None,
        }
    }
}

/// A stored proposal with all that belongs to it.
#[derive(Debug, Clone)]
pub struct Proposal {
    /// Its row.
    pub row: ProposalRow,
    /// What it would do.
    pub change: ProposalChange,
    /// The content that the skill would have; `None` for a delete.
    pub result: Option<SkillFolder>,
    /// The content that it was made from, as far as that is kept.
    pub base: Option<SkillFolder>,
    /// What the stages said, in order.
    pub verdicts: Vec<VerdictRow>,
    /// Whether words of a third party are in it: they come from outside, from a third party's
    /// skill, or from the version that it would change.
    pub third_party: bool,
}

impl Proposal {
    /// The proposal of that id.
    ///
    /// # Errors
    /// If the journal cannot be read, or holds a word that it never wrote.
    pub fn load(db: Db<'_>, id: ProposalId) -> anyhow::Result<Option<Self>> {
        let Some(row) = db.proposals().proposal(id)? else { return Ok(None) };
        let change = ProposalChange::read(&row.change, &row.new_name).context("A proposal holds an unknown change")?;
        let result = (change != ProposalChange::Delete)
            .then(|| db.skills().files_of_proposal(id).map(SkillFolder::new))
            .transpose()?;
        let base = base_of(db, &row)?;
        let of_base = base.as_ref().is_some_and(|version| version.label.asks_before_leaving());
        let third_party = row.origin != "shipped" && (of_base || row.label.asks_before_leaving());
        let base = base.map(|version| db.skills().files_of_version(version.id).map(SkillFolder::new)).transpose()?;
        let verdicts = db.proposals().verdicts_of(id)?;
        Ok(Some(Self { row, change, result, base, verdicts, third_party }))
    }

    /// The digest that the stored rows have now. Anything but the stored digest means that somebody
    /// tampered with them.
    pub fn digest(&self) -> Digest {
        let content = self.result.as_ref().map(SkillFolder::digest);
        DigestInput {
            skill: &self.row.skill,
            change: &self.change,
            base: &self.row.base,
            content: content.as_ref().map_or("", Digest::as_str),
            rationale: &self.row.rationale,
            label: &self.row.label,
            nonce: &self.row.nonce,
        }
        .digest()
    }

    /// What the scan found.
    pub fn findings(&self) -> Vec<Finding> {
        let scans = self.verdicts.iter().filter(|verdict| verdict.stage == "scan");
        scans.flat_map(|verdict| serde_json::from_str::<Vec<Finding>>(&verdict.findings).unwrap_or_default()).collect()
    }
}

/// The version that a proposal is to be compared with: where a held folder lies, what was accepted
/// last. Else a text that nobody ever accepted would pass for one that does not change, and not be
/// shown.
fn base_of(db: Db<'_>, row: &ProposalRow) -> anyhow::Result<Option<VersionRow>> {
    let lies = db.skills().version_with(&row.skill, &row.base)?;
    if row.origin == "folder" || lies.as_ref().is_some_and(|version| !version.accepted) {
        return Ok(db.skills().versions_of(&row.skill)?.into_iter().rev().find(|version| version.accepted));
    }
    Ok(lies)
}

/// All that a decision is about.
#[derive(Debug)]
pub(super) struct DigestInput<'a> {
    pub skill: &'a str,
    pub change: &'a ProposalChange,
    pub base: &'a str,
    pub content: &'a str,
    pub rationale: &'a str,
    pub label: &'a Label,
    pub nonce: &'a str,
}

impl DigestInput<'_> {
    /// The digest over every field, each with its length.
    pub fn digest(&self) -> Digest {
        let label = self.label.encode();
        let fields = [
            self.skill,
            self.change.as_str(),
            self.change.new_name(),
            self.base,
            self.content,
            self.rationale,
            &label,
            self.nonce,
        ];
        let mut all = Vec::new();
        for field in fields {
            all.extend((field.len() as u64).to_be_bytes());
            all.extend(field.as_bytes());
        }
        Digest::of(&all)
    }
}

/// A number that nobody can guess.
pub(super) fn nonce() -> anyhow::Result<String> {
    let mut random = [0_u8; 16];
    SysRng.try_fill_bytes(&mut random).context("The computer has no randomness to give")?;
    Ok(random.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The files of a folder as the journal keeps them.
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
        let sealed = |skill, change, base, content, rationale, label, nonce| {
            DigestInput { skill, change, base, content, rationale, label, nonce }.digest()
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
