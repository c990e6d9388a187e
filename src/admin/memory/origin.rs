//! `/why`: where a note, a fact or the last answer of the caller comes from, in a few sentences:
//! whose hand, when, in which conversation, and from which text from outside.
//!
//! The edges of the journal decide, never a model. What the journal no longer shows is reported as
//! lost. Everybody asks about their own only; proposals are the owners' (`admin::review`).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::history::FileHistory;
use super::{name, no_such_note};
use crate::admin::MemoryAdmin;
use crate::admin::answer::{
    Answer, CommandError, Render, RenderContext, ShownLabel, join, plain, sources, with_fields,
};
use crate::id::ConversationId;
use crate::memory::{FactOrigin, is_instruction, path_in_folder};
use crate::people::Person;
use crate::review::why;
use crate::store::{Db, FileRow, FolderState, Node, StepKind, TurnRow};
use crate::trust::{Label, Scope};
use crate::wording::Locale;
use crate::wording::memory as says;
use crate::wording::review::Surface;
use crate::wording::why::{self as origin, AnswerParts};

/// The origin of a proposal, a note, a fact or an answer, one line for each step.
#[derive(Debug, Clone)]
pub struct OriginReport {
    /// Subject of the question, for a program.
    pub of: Value,
    /// Label of it.
    pub label: Label,
    /// Sentences, as Markdown.
    pub lines: Vec<String>,
}

impl Render for OriginReport {
    fn markdown(&self, _: &RenderContext<'_>, shown: &mut ShownLabel) -> String {
        shown.also(&self.label);
        self.lines.join("\n")
    }

    fn json(&self, _: &RenderContext<'_>, shown: &mut ShownLabel) -> Value {
        shown.also(&self.label);
        with_fields(&self.of, json!({ "lines": self.lines, "sources": sources(&self.label) }))
    }
}

impl MemoryAdmin<'_> {
    /// The origin of the fact with that key, or else of the note with that name.
    pub(in crate::admin) async fn origin(
        &self,
        person: &Person,
        typed: &str,
        surface: Surface,
    ) -> Result<OriginReport, CommandError> {
        match self.fact(person, typed, surface).await? {
            Some(report) => Ok(report),
            None => self.origin_of_note(person, typed, surface).await,
        }
    }

    /// The origin of the fact with that key.
    pub(in crate::admin) async fn origin_of_fact(
        &self,
        person: &Person,
        key: &str,
        surface: Surface,
    ) -> Result<OriginReport, CommandError> {
        Ok(self
            .fact(person, key, surface)
            .await?
            .ok_or_else(|| Answer::refusal(origin::NO_FACT.in_language(surface.language())))?)
    }

    async fn fact(&self, person: &Person, key: &str, surface: Surface) -> anyhow::Result<Option<OriginReport>> {
        let change = self.change_by(person, "hand");
        let found = self.workspace.notes().origins_of_fact(&change, key).await?;
        if found.is_empty() {
            return Ok(None);
        }
        let locale = self.locale_in(Scope::Person(person.id), surface).await?;
        let read = move |db: Db<'_>| {
            let (mut of, mut labels, mut lines) = (json!({}), Vec::new(), Vec::new());
            for FactOrigin { path, fact, label, since } in found {
                let words = plain(&format!("{}: {}", fact.key, fact.value));
                lines.push(origin::fact(locale.language, &words, &plain(&path)));
                lines.extend(since.iter().map(|since| written(since, locale)));
                let versions: Vec<&FileRow> = since.iter().collect();
                // Lines that came later may have other sources.
                let own = since.as_ref().map_or(&label, |since| &since.label);
                lines.extend(origin_lines(db, &versions, own, locale, surface)?);
                of = json!({ "fact": fact.key, "path": path });
                labels.push(label);
            }
            Ok(OriginReport { of, label: join(labels.iter()), lines })
        };
        self.journal.read_much(read).await.map(Some)
    }

    /// The origin of the note with that name.
    pub async fn origin_of_note(
        &self,
        person: &Person,
        typed: &str,
        surface: Surface,
    ) -> Result<OriginReport, CommandError> {
        let histories = self.histories(person, typed).await?;
        let present = histories.into_iter().find_map(|FileHistory { path, versions, present }| {
            let label = present?.text.label().clone();
            Some((path, versions.into_iter().take_while(|row| !row.digest.is_empty()).collect::<Vec<_>>(), label))
        });
        let Some((path, versions, label)) = present else { return Err(no_such_note(surface).into()) };
        let locale = self.locale_in(Scope::Person(person.id), surface).await?;
        let read = move |db: Db<'_>| {
            let mut lines = vec![origin::note(locale.language, &plain(name::visible_path(&path)))];
            lines.extend(versions.last().map(|first| written(first, locale)));
            if let [last, _, ..] = versions.as_slice() {
                let origin = says::version_origin(locale.language, &last.author, &last.cause);
                lines.push(origin::changed(locale.language, versions.len() - 1, &locale.near(last.at), &origin));
            }
            let rows: Vec<&FileRow> = versions.iter().collect();
            lines.extend(origin_lines(db, &rows, &label, locale, surface)?);
            Ok(OriginReport { of: json!({ "path": path }), label, lines })
        };
        Ok(self.journal.read_much(read).await?)
    }

    /// The origin of the last answer in a person's own chat.
    pub(in crate::admin) async fn origin_of_answer(
        &self,
        person: &Person,
        surface: Surface,
    ) -> Result<OriginReport, CommandError> {
        let (id, scope) = (person.id, Scope::Person(person.id));
        let locale = self.locale_in(Scope::Person(person.id), surface).await?;
        let read = move |db: Db<'_>| {
            let Some(stream) = db.conversations().stream_of(id)? else { return Ok(None) };
            let Some(turn) = db.turns().last_answered(stream)? else { return Ok(None) };
            let folder = match db.folders().folder_of(scope)? {
                FolderState::At(folder) => Some(folder),
                _ => None,
            };
            let parts = parts_of(db, &turn, folder.as_deref())?;
            let mut lines = origin::answer(locale.language, &locale.near(turn.claimed_at), &parts);
            lines.push(conversations_line(db, BTreeSet::from([turn.conversation]), locale, surface)?);
            lines.extend(why::outside(db, &[(Node::Turn(turn.id), turn.label.clone())], &turn.label, locale)?);
            let of = json!({ "conversation": turn.conversation, "at": turn.claimed_at.rfc3339(), "parts": parts });
            Ok(Some(OriginReport { of, label: turn.label, lines }))
        };
        let found: Option<OriginReport> = self.journal.read_much(read).await?;
        Ok(found.ok_or_else(|| Answer::refusal(origin::NO_ANSWER.in_language(surface.language())))?)
    }
}

/// Author of a version, and the time of writing.
fn written(version: &FileRow, locale: Locale) -> String {
    let origin = says::version_origin(locale.language, &version.author, &version.cause);
    origin::written(locale.language, &locale.near(version.at), &origin)
}

/// The conversations and the outside texts that versions of a file come from, newest version first.
fn origin_lines(
    db: Db<'_>,
    versions: &[&FileRow],
    label: &Label,
    locale: Locale,
    surface: Surface,
) -> anyhow::Result<Vec<String>> {
    let mut conversations = BTreeSet::new();
    for version in versions {
        for parent in db.derivations().parents(Node::File(version.id.0))? {
            conversations.extend(db.derivations().conversation_of(parent)?);
        }
    }
    let mut lines = Vec::new();
    if !conversations.is_empty() {
        lines.push(conversations_line(db, conversations, locale, surface)?);
    }
    let starts: Vec<(Node, Label)> =
        versions.iter().rev().map(|version| (Node::File(version.id.0), version.label.clone())).collect();
    lines.extend(why::outside(db, &starts, label, locale)?);
    Ok(lines)
}

/// The newest of some conversations, each with its day and the command that shows it.
fn conversations_line(
    db: Db<'_>,
    ids: BTreeSet<ConversationId>,
    locale: Locale,
    surface: Surface,
) -> anyhow::Result<String> {
    const MOST: usize = 3;
    let mut named = Vec::new();
    for id in ids.iter().rev().take(MOST) {
        let opened = db.conversations().conversation(*id)?.map(|found| locale.near(found.opened_at));
        named.push(origin::conversation(*id, &opened.unwrap_or_default(), surface));
    }
    Ok(origin::conversations(locale.language, &named, ids.len().saturating_sub(MOST)))
}

/// Returns the texts that a turn was shown, by its edges and its tool calls. Files outside of the
/// person's folder are left out, except for the instructions that all share.
fn parts_of(db: Db<'_>, turn: &TurnRow, folder: Option<&str>) -> anyhow::Result<AnswerParts> {
    let mut parts = AnswerParts { messages: db.messages().messages_of_turn(turn.id)?.len(), ..AnswerParts::default() };
    for parent in db.derivations().parents(Node::Turn(turn.id))? {
        match parent {
            Node::Turn(_) if db.derivations().conversation_of(parent)? == Some(turn.conversation) => {
                parts.has_history = true;
            }
            Node::Turn(_) | Node::Message(_) | Node::Summary(_) => {
                let of = db.derivations().conversation_of(parent)?.filter(|of| *of != turn.conversation);
                parts.conversations.extend(of.map(|of| of.0));
            }
            Node::File(id) => {
                let Some(row) = db.file_versions().file_row(id.into())? else { continue };
                let own = folder.and_then(|folder| path_in_folder(folder, &row.path));
                let Some(path) = own.or_else(|| is_instruction(&row.path).then_some(row.path)) else { continue };
                parts.files.insert(plain(name::visible_path(&path)));
            }
            _ => {}
        }
    }
    let mut tools = BTreeMap::new();
    for step in db.turns().steps(turn.id)?.into_iter().filter(|step| step.kind == StepKind::Tool && step.made) {
        *tools.entry(step.tool).or_insert(0_usize) += 1;
    }
    parts.tools = tools;
    Ok(parts)
}
