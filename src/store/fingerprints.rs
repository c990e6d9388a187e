//! Fingerprints of untrusted texts, used to recognise pasted text.
//!
//! They are written in the transaction that stores such a text: received text, tool results, and
//! the parts of a proposal shown to an owner. A match leads to the stored text, which is then
//! compared letter by letter with the typed one. Fingerprints are derived:
//! [`FingerprintsMut::rebuild_fingerprints`] restores them from the journal, and an older journal
//! gets them when it is first opened. The descriptions of unaccepted MCP tools are short, change in
//! place, and are compared without stored fingerprints.

use crate::store::handles::{Fingerprints, FingerprintsMut};
use std::collections::BTreeSet;
use std::sync::Arc;

use rusqlite::params;

use super::Node;
use crate::id::{MessageId, ProposalId, StepId, TurnId};
use crate::text::winnow::{RUN, fingerprints, plain, share_run};
use crate::trust::{Label, Scope};

/// Number of source texts that is enough to establish the origin of a paste.
const ENOUGH: usize = 8;

/// Owner of deleted text.
#[derive(Debug, Clone, Copy)]
pub(super) enum FingerprintOwner {
    /// Text row.
    Text(i64),
    /// Step row.
    Step(i64),
}

/// Origin of a paste.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pasted {
    /// Label of the source text.
    pub label: Label,
    /// Node of the source text; none for the description of an MCP tool.
    pub from: Option<Node>,
}

impl Fingerprints<'_> {
    /// Returns the untrusted texts of that scope, and shared ones, that have [`RUN`] consecutive
    /// characters in common with this one.
    pub fn pasted_from(&self, words: &str, scope: Scope) -> anyhow::Result<Vec<Pasted>> {
        let typed = plain(words);
        let hashes = fingerprints(&typed);
        let mut candidates = BTreeSet::<String>::new();
        for hash in &hashes {
            candidates.extend(self.db.all("SELECT node FROM fingerprints WHERE hash = ?1", [hash])?);
        }
        let mut found = self.pasted_from_tools(&typed, &hashes)?;
        for node in candidates {
            let Some((known, of, pasted)) = self.fingerprinted(&node)? else { continue };
            if of.fits(scope) && !pasted.label.is_trusted() && share_run(&typed, &plain(&known)) {
                found.push(pasted);
            }
            if found.len() >= ENOUGH {
                break;
            }
        }
        Ok(found)
    }

    /// Returns the text behind a fingerprint, with its scope and origin.
    fn fingerprinted(&self, node: &str) -> anyhow::Result<Option<(Arc<str>, Scope, Pasted)>> {
        let Some((kind, id)) = node.split_once(':') else { return Ok(None) };
        let sql = match kind {
            "file" => return self.fingerprinted_file(id.parse()?),
            "reason" => return self.shown("SELECT rationale, label, id FROM proposals WHERE id = ?1", id.parse()?),
            "verdict" => return self.shown("SELECT note, label, proposal_id FROM verdicts WHERE id = ?1", id.parse()?),
            "text" => "SELECT text, scope, label, message_id FROM texts WHERE id = ?1",
            "step" => "SELECT text, scope, label, turn_id FROM steps WHERE id = ?1",
            _ => return Ok(None),
        };
        let row: Option<(Arc<str>, Scope, Label, i64)> = self.db.first(sql, [id.parse::<i64>()?])?;
        let Some((text, scope, label, of)) = row else { return Ok(None) };
        let from = if kind == "text" { self.db.derivations().node_of(MessageId(of))? } else { Node::Turn(TurnId(of)) };
        Ok(Some((text, scope, Pasted { label, from: Some(from) })))
    }

    /// Returns the reason of a proposal, or a stage's note, which an owner sees next to the files.
    /// Approval covers only the files, so these stay untrusted.
    fn shown(&self, sql: &str, id: i64) -> anyhow::Result<Option<(Arc<str>, Scope, Pasted)>> {
        Ok(self.db.first(sql, [id])?.map(|(words, label, proposal)| {
            (words, Scope::Shared, Pasted { label, from: Some(Node::Proposal(proposal)) })
        }))
    }

    /// Compares with the descriptions of unaccepted MCP tools, which are shown to the owner for a
    /// decision.
    fn pasted_from_tools(&self, typed: &[char], hashes: &BTreeSet<i64>) -> anyhow::Result<Vec<Pasted>> {
        let mut found = Vec::new();
        if hashes.is_empty() {
            return Ok(found);
        }
        for tool in self.db.mcp_tools().outside_tools()?.into_iter().filter(|tool| !tool.is_accepted()) {
            let stands = [&tool.seen.description, &tool.seen.schema].into_iter().any(|words| {
                let known = plain(words);
                !fingerprints(&known).is_disjoint(hashes) && share_run(typed, &known)
            });
            if stands && found.len() < ENOUGH {
                found.push(Pasted { label: tool.seen.label, from: None });
            }
        }
        Ok(found)
    }

    /// Returns a file of a proposal. Owners see everyone's proposals, so it counts as shared; after
    /// approval it is trusted.
    fn fingerprinted_file(&self, id: i64) -> anyhow::Result<Option<(Arc<str>, Scope, Pasted)>> {
        let row: Option<(Vec<u8>, Label, ProposalId)> = self.db.first(
            "SELECT f.bytes, f.label, p.id FROM skill_files f JOIN proposals p ON p.id = f.proposal_id
             WHERE f.id = ?1 AND p.state <> 'approved'",
            [id],
        )?;
        Ok(row.and_then(|(bytes, label, proposal)| {
            let words = String::from_utf8(bytes).ok()?;
            Some((Arc::from(words), Scope::Shared, Pasted { label, from: Some(Node::Proposal(proposal)) }))
        }))
    }
}

impl FingerprintsMut<'_> {
    /// Rebuilds all fingerprints.
    pub fn rebuild_fingerprints(&self) -> anyhow::Result<()> {
        self.db.run("DELETE FROM fingerprints", [])?;
        let untrusted = format!("NOT {}", Label::is_trusted_sql("label"));
        for words in [
            "'text:' || id, text FROM texts WHERE true",
            "'step:' || id, text FROM steps WHERE state = 'done' AND call <> '[]'",
            "'reason:' || id, rationale FROM proposals WHERE true",
            "'verdict:' || id, note FROM verdicts WHERE true",
        ] {
            let mut query = self.db.prepare(&format!("SELECT {words} AND {untrusted}"))?;
            let mut rows = query.query([])?;
            while let Some(row) = rows.next()? {
                let (node, words): (String, String) = (row.get(0)?, row.get(1)?);
                self.store_fingerprints(&node, &words)?;
            }
        }
        let mut files = self.db.prepare("SELECT id, bytes, label FROM skill_files WHERE proposal_id IS NOT NULL")?;
        let mut rows = files.query([])?;
        while let Some(row) = rows.next()? {
            let bytes: Vec<u8> = row.get(1)?;
            self.fingerprint_file(row.get(0)?, &bytes, &row.get(2)?)?;
        }
        Ok(())
    }

    /// Builds the fingerprints of a journal that is older than the current form.
    pub(super) fn catch_up_fingerprints(&self) -> anyhow::Result<()> {
        if self.db.settings().fact(CAUGHT_UP)?.as_deref() != Some(OF_WHAT) {
            self.rebuild_fingerprints()?;
            self.tx().settings().set_fact(CAUGHT_UP, OF_WHAT)?;
        }
        Ok(())
    }

    /// Adds the fingerprints of a text.
    pub(super) fn fingerprint_text(&self, row: i64, words: &str, label: &Label) -> anyhow::Result<()> {
        if label.is_trusted() { Ok(()) } else { self.store_fingerprints(&format!("text:{row}"), words) }
    }

    /// Adds the fingerprints of a step's result.
    pub(super) fn fingerprint_step(&self, step: StepId, words: &str, label: &Label) -> anyhow::Result<()> {
        if label.is_trusted() { Ok(()) } else { self.store_fingerprints(&format!("step:{step}"), words) }
    }

    /// Adds the fingerprints of a proposed file. A file too long for a model's proposal is not
    /// shown in a chat, and is skipped.
    pub(super) fn fingerprint_file(&self, row: i64, bytes: &[u8], label: &Label) -> anyhow::Result<()> {
        match std::str::from_utf8(bytes) {
            Ok(words) if !label.is_trusted() && bytes.len() <= LONGEST_FILE => {
                self.store_fingerprints(&format!("file:{row}"), words)
            }
            _ => Ok(()),
        }
    }

    /// Adds the fingerprints of a proposal's reason.
    pub(super) fn fingerprint_reason(&self, row: ProposalId, words: &str, label: &Label) -> anyhow::Result<()> {
        if label.is_trusted() { Ok(()) } else { self.store_fingerprints(&format!("reason:{row}"), words) }
    }

    /// Adds the fingerprints of a stage's note on a proposal.
    pub(super) fn fingerprint_verdict(&self, row: i64, words: &str, label: &Label) -> anyhow::Result<()> {
        if label.is_trusted() { Ok(()) } else { self.store_fingerprints(&format!("verdict:{row}"), words) }
    }

    /// Removes the fingerprints of a deleted text or step.
    pub(super) fn drop_fingerprints(&self, keeper: FingerprintOwner, words: &str) -> anyhow::Result<()> {
        let node = match keeper {
            FingerprintOwner::Text(row) => format!("text:{row}"),
            FingerprintOwner::Step(row) => format!("step:{row}"),
        };
        let mut delete = self.db.prepare_cached("DELETE FROM fingerprints WHERE hash = ?1 AND node = ?2")?;
        for hash in fingerprints(&plain(words)) {
            delete.execute(params![hash, node])?;
        }
        Ok(())
    }

    fn store_fingerprints(&self, node: &str, words: &str) -> anyhow::Result<()> {
        // The length in bytes is at least that in characters.
        if words.len() < RUN {
            return Ok(());
        }
        let mut insert = self.db.prepare_cached("INSERT OR IGNORE INTO fingerprints (hash, node) VALUES (?1, ?2)")?;
        for hash in fingerprints(&plain(words)) {
            insert.execute(params![hash, node])?;
        }
        Ok(())
    }
}

/// Size limit for proposed files with fingerprints, in bytes.
const LONGEST_FILE: usize = 64 * 1024;

/// Key of the current form of the fingerprints: how they are computed and from what.
const CAUGHT_UP: &str = "fingerprints";
const OF_WHAT: &str = "3";
