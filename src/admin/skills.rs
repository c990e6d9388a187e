//! Commands about skills: the list, one skill in full, how to restore a version, and how to propose
//! a new skill from a folder or a note.
//!
//! A skill is identified by its folder, as in proposals and versions. A skill's description is
//! shown with the label of its text; a held or unloadable skill has no known author. A new skill is
//! a pending proposal: an imported folder is always untrusted; a note has the label of its text.

mod versions; // /history, versions shown and compared

pub use versions::{SkillComparison, SkillHistoryReport, SkillVersionReport};

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use serde::Serialize;
use serde_json::{Value, json};

use super::SkillsAdmin;
use super::answer::{Answer, CommandError, Render, RenderContext, ShownLabel, plain, visible_line, with_fields};
use super::review::surface_of;
use crate::id::{ProposalId, VersionId, VersionNumber};
use crate::people::Person;
use crate::review::reveal::reveal;
use crate::review::show;
use crate::review::{
    ActiveSkills, Decided, DecisionError, DecisionSource, FolderLock, History, LiveSkill, ProposalChange,
    ProposalOrigin, Refused, Staged, diff,
};
use crate::skill::{self, Available, MAIN, SkillFolder, manifest, name as names};
use crate::store::{Db, OriginKind, ProposalState, SkillRow, VersionRow};
use crate::text::shorten;
use crate::trust::{Label, Source};
use crate::wording::Language;
use crate::wording::command::OWNER_ONLY;
use crate::wording::review::{self as says, Surface};

/// Maximum number of characters of a description in a list.
const MAX_DESCRIPTION: usize = 160;

/// State of a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SkillUse {
    /// In use.
    Live,
    /// Accepted, but not offered: a tool that it needs, or its platform, is not here.
    Hidden,
    /// Waits for an owner.
    Held,
    /// Cannot be read as a skill.
    Broken,
}

/// One line of the list.
#[derive(Debug, Clone, Serialize)]
pub struct SkillEntry {
    /// Folder.
    pub name: String,
    /// Name in its front matter.
    pub title: String,
    /// Description.
    pub description: String,
    /// Version with its present content.
    pub version: Option<VersionNumber>,
    /// Author: `shipped`, `person`, `proposal` or `rollback`.
    pub origin: String,
    /// State.
    pub state: SkillUse,
    /// A remark about the state.
    pub note: String,
    /// The proposal that waits for a decision about its folder.
    #[serde(skip)]
    pub waits: Option<ProposalId>,
    /// Label of its text.
    #[serde(skip)]
    pub label: Label,
}

impl SkillsAdmin<'_> {
    /// All skills: the live ones, and the others with the reason.
    pub async fn skills(&self) -> anyhow::Result<SkillsReport> {
        Ok(SkillsReport { entries: self.entries().await? })
    }

    /// One skill in full.
    pub async fn skill(&self, name: &str) -> Result<SkillReport, CommandError> {
        let live = self.review.live().await?;
        let folder = folder_of(&live, name);
        let entry = self.entries().await?.into_iter().find(|entry| entry.name == folder);
        let unknown = || Answer::refusal(says::no_such_skill(&plain(name), Surface::CommandLine));
        Ok(SkillReport { entry: entry.ok_or_else(unknown)?, live: live.find(name).cloned() })
    }

    /// Shows a held folder, or accepts it if `hash` is that of the folder shown, and `word` names
    /// what it newly does.
    pub async fn accept_skill(&self, name: &str, hash: &str, word: &str, by: DecisionSource) -> anyhow::Result<Answer> {
        match self.review.held(name).await? {
            FolderLock::Waits(id) if !hash.is_empty() => self.approve(id, hash, word, by).await,
            FolderLock::Waits(id) => match self.proposal(id, surface_of(by)).await {
                Ok(report) => Ok(Answer::rendering(&report, &self.render_context(surface_of(by)))),
                Err(error) => error.into_answer(),
            },
            FolderLock::Refused(why) => {
                Ok(Answer::refusal(says::cannot_accept(&plain(name), &plain(&why.to_string()))))
            }
            FolderLock::No => {
                let is_used = self.review.live().await?.find(name).is_some();
                let (name, surface) = (plain(name), surface_of(by));
                Ok(Answer::refusal(if is_used { says::not_held(&name) } else { says::no_such_skill(&name, surface) }))
            }
        }
    }

    /// Replaces the present version of a skill with an earlier one.
    pub async fn roll_back(&self, name: &str, version: VersionNumber, by: DecisionSource) -> anyhow::Result<Answer> {
        let folder = folder_of(&*self.review.live().await?, name);
        let history = self.review.history(&folder).await?;
        if history.versions.is_empty() {
            return Ok(Answer::refusal(says::no_such_skill(&plain(name), surface_of(by))));
        }
        let shown = plain(&folder);
        let made_at = history.versions.iter().find(|row| row.number == version).map(|row| row.made_at);
        let at = made_at.map(|at| self.zone.show_short(at)).unwrap_or_default();
        Ok(match self.review.roll_back(&folder, version, by).await? {
            Decided::Live(_) | Decided::Deleted(_) | Decided::Rejected => {
                Answer::ours(says::rolled_back(&shown, version, &at), json!({ "skill": folder, "version": version }))
            }
            Decided::Later => Answer::ours(says::LATER, json!({ "skill": folder, "version": version })),
            Decided::Conflict => Answer::refusal(says::edited_meanwhile(&shown)),
            Decided::Not(DecisionError::NotAllowed) => Answer::refusal(OWNER_ONLY.in_language(Language::ENGLISH)),
            Decided::Not(DecisionError::NeverAccepted) => Answer::refusal(says::never_accepted(version)),
            Decided::Not(DecisionError::NoChange) => Answer::refusal(says::same_content(&shown, version)),
            Decided::Not(_) => Answer::refusal(says::no_such_version(&shown, version, surface_of(by))),
        })
    }

    async fn entries(&self) -> anyhow::Result<Vec<SkillEntry>> {
        let live = self.review.live().await?;
        let (held, changed): (Vec<String>, Vec<String>) =
            live.held.iter().cloned().partition(|name| !live.skills.contains_key(name));
        let held = self.journal.read(move |db| held.iter().map(|name| held_entry(db, name)).collect()).await?;
        let changed = self.journal.read(move |db| changed.into_iter().map(|name| held_change(db, name)).collect());
        let changed: BTreeMap<String, (String, Option<ProposalId>)> = changed.await?;
        let used: Vec<VersionId> = live.skills.values().map(|one| one.version).collect();
        let numbers: BTreeMap<VersionId, VersionNumber> =
            self.journal.read(move |db| used.into_iter().map(|id| number_of(db, id)).collect()).await?;
        let tools = self.engine.toolbox.names();
        let available = Available { tools: &tools, platform: std::env::consts::OS };
        let mut entries: Vec<SkillEntry> = held;
        entries.extend(live.skills.values().map(|one| live_entry(one, numbers.get(&one.version).copied(), &available)));
        for entry in &mut entries {
            if let Some((why, waits)) = changed.get(&entry.name) {
                (entry.note, entry.waits) = (why.clone(), *waits);
            }
        }
        for broken in &live.broken {
            match entries.iter_mut().find(|entry| entry.name == broken.folder) {
                Some(entry) => entry.note = says::change_unreadable(&broken.why),
                None => entries.push(broken_entry(broken)),
            }
        }
        entries.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(entries)
    }

    /// Proposes the skill in a folder on this computer, given by its full path.
    pub async fn import(&self, path: &str, name: &str) -> anyhow::Result<Answer> {
        let from = Path::new(path).to_owned();
        let read = tokio::task::spawn_blocking(move || SkillFolder::read(&from)).await?;
        let mut shown = ShownLabel::nothing();
        shown.also(&Label::untrusted(Source::new("import", "")));
        match read {
            Ok(content) => self.propose(name, &content, ProposalOrigin::Import(None), shown).await,
            Err(error) => Ok(Answer::refusal_showing(
                shown,
                says::cannot_import(&visible_line(path), &visible_line(&error.to_string())),
            )),
        }
    }

    /// Proposes a skill made from a note of that owner.
    pub async fn promote(&self, owner: &Person, note: &str, name: Option<&str>) -> anyhow::Result<Answer> {
        let mut shown = ShownLabel::nothing();
        let cannot = |why: &str| Answer::refusal(says::cannot_use_note(&visible_line(note), why));
        let (text, file) = match self.engine.workspace.files().read_note(owner, note).await {
            Ok(read) => read,
            Err(error) => {
                return Ok(Answer::refusal(says::cannot_read_note(
                    &visible_line(note),
                    &visible_line(&format!("{error:#}")),
                )));
            }
        };
        let label = text.label().clone();
        let name = name.map_or_else(|| manifest::name_for(note), str::to_owned);
        if name.is_empty() {
            return Ok(cannot(says::NAME_NEEDED));
        }
        let words: &Arc<str> = shown.words(&text);
        match manifest::skill_of(&name, words) {
            Some(main) => {
                let content = SkillFolder::new([(MAIN.to_owned(), Arc::from(main.into_bytes()))]);
                self.propose(&name, &content, ProposalOrigin::Note { label, file }, shown).await
            }
            None => Ok(cannot(says::NOTE_WITHOUT_WORDS)),
        }
    }

    async fn propose(
        &self,
        name: &str,
        content: &SkillFolder,
        origin: ProposalOrigin,
        shown: ShownLabel,
    ) -> anyhow::Result<Answer> {
        if !names::is_valid(name) {
            let why = manifest::ManifestProblem::BadName(shorten(name, 80)).to_string();
            return Ok(Answer::refusal_showing(shown, says::not_proposed(&visible_line(&why))));
        }
        let draft = match self.review.draft(name, content, origin).await {
            Ok(draft) => draft,
            Err(error) => {
                return Ok(Answer::refusal_showing(
                    shown,
                    says::place_is_taken(&plain(name), &visible_line(&format!("{error:#}"))),
                ));
            }
        };
        match self.review.submit(draft).await? {
            Staged::New(id, _) => self.staged(id, shown).await,
            Staged::Known(id) => Ok(Answer::showing(shown, says::waits_already(id), json!({ "proposal": id }))),
            Staged::Refused(Refused(why)) => {
                let why: Vec<String> = why.iter().map(|why| format!("- {}", visible_line(why))).collect();
                Ok(Answer::refusal_showing(shown, says::not_proposed(&why.join("\n"))))
            }
        }
    }

    async fn staged(&self, id: ProposalId, mut shown: ShownLabel) -> anyhow::Result<Answer> {
        let Some(proposal) = self.review.proposal(id).await? else { anyhow::bail!("A new proposal vanished") };
        let row = &proposal.row;
        shown.also(&row.label);
        let json =
            json!({ "proposal": id, "skill": row.skill, "change": row.change, "standing": row.clearance.as_str() });
        Ok(Answer::showing(
            shown,
            says::staged(id, &show::change(row, Language::ENGLISH), &show::standing(&proposal, Language::ENGLISH)),
            json,
        ))
    }
}

/// The folder of the skill with that name.
fn folder_of(live: &ActiveSkills, name: &str) -> String {
    live.find(name).map_or_else(|| name.to_owned(), |found| found.skill.folder.clone())
}

fn number_of(db: Db<'_>, id: VersionId) -> anyhow::Result<(VersionId, VersionNumber)> {
    let row = db.skills().version_row(id)?.context("A version in use vanished")?;
    Ok((id, row.number))
}

fn live_entry(one: &LiveSkill, version: Option<VersionNumber>, available: &Available<'_>) -> SkillEntry {
    let manifest = &one.skill.manifest;
    let applies = skill::applies(manifest, available);
    SkillEntry {
        name: one.skill.folder.clone(),
        title: manifest.name.clone(),
        description: manifest.description.clone(),
        version,
        origin: one.origin.clone(),
        state: if applies { SkillUse::Live } else { SkillUse::Hidden },
        note: if applies { String::new() } else { says::HIDDEN.to_owned() },
        waits: None,
        label: one.label.clone(),
    }
}

fn held_entry(db: Db<'_>, name: &str) -> anyhow::Result<SkillEntry> {
    let row = db.skills().skill(name)?;
    let digest = row.as_ref().map(|row| row.digest.as_str()).unwrap_or_default();
    let version = db.skills().version_with(name, digest)?;
    let (note, waits) = reason_for_hold(db, name, digest)?;
    let words = |pick: fn(&SkillRow) -> &String| row.as_ref().map(pick).cloned().unwrap_or_default();
    Ok(SkillEntry {
        name: name.to_owned(),
        title: name.to_owned(),
        description: words(|row| &row.description),
        version: version.as_ref().map(|version| version.number),
        origin: words(|row| &row.origin),
        state: SkillUse::Held,
        note,
        waits,
        label: version.map_or_else(unaccepted_label, |version| version.label),
    })
}

/// A skill whose folder was changed, and the reason why the change is not used.
fn held_change(db: Db<'_>, name: String) -> anyhow::Result<(String, (String, Option<ProposalId>))> {
    let digest = db.skills().skill(&name)?.map(|row| row.digest).unwrap_or_default();
    let (why, waits) = reason_for_hold(db, &name, &digest)?;
    Ok((name, (says::change_held(&why), waits)))
}

/// Refers to the pending proposal for the folder, or to the rejected one; returns the pending one.
fn reason_for_hold(db: Db<'_>, name: &str, digest: &str) -> anyhow::Result<(String, Option<ProposalId>)> {
    let waiting = db
        .proposals()
        .pending_proposals()?
        .into_iter()
        .find(|row| row.origin == OriginKind::Folder && row.skill == name);
    let like = db.proposals().proposals_like(name, ProposalChange::Edit.as_str(), "", digest)?;
    let refused = like.iter().find(|row| row.state == ProposalState::Rejected).map(|row| row.id);
    let waiting = waiting.map(|row| row.id);
    Ok((says::held(waiting, refused), waiting))
}

fn broken_entry(broken: &skill::UnloadableSkill) -> SkillEntry {
    SkillEntry {
        name: broken.folder.clone(),
        title: broken.folder.clone(),
        description: String::new(),
        version: None,
        origin: String::new(),
        state: SkillUse::Broken,
        note: says::broken(&broken.why),
        waits: None,
        label: unaccepted_label(),
    }
}

/// The first sentence of a description. In a list, the rest (when to use the skill) is useful to
/// the assistant only.
fn brief(description: &str) -> String {
    let first = manifest::first_sentence(description);
    let short = shorten(first, MAX_DESCRIPTION);
    if short == first {
        return short;
    }
    let words = short.rsplit_once(' ').map_or(short.as_str(), |(words, _)| words);
    format!("{}…", words.trim_end_matches('…'))
}

/// The label of unaccepted content in the skills folder.
fn unaccepted_label() -> Label {
    Label::untrusted(Source::new("folder", ""))
}

/// All skills, live or not.
#[derive(Debug, Clone)]
pub struct SkillsReport {
    /// The skills, by name.
    pub entries: Vec<SkillEntry>,
}

impl SkillEntry {
    /// Returns the first sentence of its description, with hidden characters revealed.
    pub fn summary(&self) -> String {
        reveal(&brief(&self.description))
    }
}

impl Render for SkillsReport {
    fn markdown(&self, _: &RenderContext<'_>, shown: &mut ShownLabel) -> String {
        if self.entries.is_empty() {
            return says::NO_SKILLS.to_owned();
        }
        let mut lines = Vec::new();
        for entry in &self.entries {
            shown.also(&entry.label);
            let description = visible_line(&brief(&entry.description));
            lines.push(says::skill(&plain(&entry.name), &visible_line(&entry.note), &description));
        }
        if self.entries.iter().any(|entry| entry.state == SkillUse::Broken) {
            lines.push(format!("\n{}", says::CHECK_THEM));
        }
        lines.join("\n")
    }

    fn json(&self, _: &RenderContext<'_>, _: &mut ShownLabel) -> Value {
        json!(self.entries)
    }
}

/// One skill.
#[derive(Debug, Clone)]
pub struct SkillReport {
    /// Line in the list.
    pub entry: SkillEntry,
    /// Files, if it is used.
    pub live: Option<LiveSkill>,
}

impl Render for SkillReport {
    fn markdown(&self, _: &RenderContext<'_>, shown: &mut ShownLabel) -> String {
        let entry = &self.entry;
        shown.also(&entry.label);
        let (name, note) = (plain(&entry.name), visible_line(&entry.note));
        let Some(found) = &self.live else { return says::not_live(&name, &note) };
        let content = &found.skill.content;
        let head = |version| says::skill_head(&name, version, &found.origin, &visible_line(&entry.description));
        let mut parts: Vec<String> = entry.version.map(head).into_iter().collect();
        if !entry.note.is_empty() {
            parts.push(if entry.state == SkillUse::Live { says::note(&note) } else { says::not_live(&name, &note) });
        }
        let files = content.files().map(|(path, bytes)| says::file(&visible_line(path), bytes.len()));
        parts.push(files.collect::<Vec<_>>().join("\n"));
        parts.push(diff::fenced(&reveal(content.text(MAIN).unwrap_or_default())));
        parts.join("\n\n")
    }

    fn json(&self, _: &RenderContext<'_>, _: &mut ShownLabel) -> Value {
        let Some(found) = &self.live else { return json!(self.entry) };
        let content = &found.skill.content;
        let files = content.files().map(|(path, bytes)| json!({ "path": path, "bytes": bytes.len() }));
        let text = content.text(MAIN).unwrap_or_default();
        with_fields(&self.entry, json!({ "files": files.collect::<Value>(), "text": text }))
    }
}

/// The newest version with the folder's present content.
fn present(history: &History) -> Option<&VersionRow> {
    history.versions.iter().rev().find(|version| version.digest == history.present)
}

#[cfg(test)]
mod tests;
