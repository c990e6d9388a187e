//! The versions of a skill: the list, one in full with what restoring it changes, and two compared.

use serde_json::{Value, json};

use super::{folder_of, present};
use crate::admin::SkillsAdmin;
use crate::admin::answer::{
    Answer, CommandError, Render, RenderContext, ShownLabel, join, plain, visible_line, with_fields,
};
use crate::admin::paging::{Page, PageRequest};
use crate::id::{VersionId, VersionNumber};
use crate::review::{History, diff};
use crate::skill::SkillFolder;
use crate::store::VersionRow;
use crate::trust::Label;
use crate::wording::review::{self as says, Surface};

impl SkillsAdmin<'_> {
    /// A skill's versions, newest first.
    pub async fn history(
        &self,
        name: &str,
        request: PageRequest,
        surface: Surface,
    ) -> Result<SkillHistoryReport, CommandError> {
        let (folder, history) = self.versions_of(name, surface).await?;
        let present = present(&history).map(|version| version.id);
        let newest_first = history.versions.into_iter().rev().collect();
        Ok(SkillHistoryReport { folder, page: request.cut(newest_first, |version| version.number.0), present })
    }

    /// One version of a skill, compared with what is there now.
    pub async fn skill_version(
        &self,
        name: &str,
        version: VersionNumber,
        surface: Surface,
    ) -> Result<SkillVersionReport, CommandError> {
        let (folder, history) = self.versions_of(name, surface).await?;
        let row = find(&folder, &history, version, surface)?;
        let now = match present(&history) {
            Some(present) => Some((present.clone(), self.content_of(present.id).await?)),
            None => None,
        };
        Ok(SkillVersionReport { content: self.content_of(row.id).await?, folder, row, present: now })
    }

    /// Two versions of a skill, compared.
    pub async fn compare_skill_versions(
        &self,
        name: &str,
        [old, new]: [VersionNumber; 2],
        surface: Surface,
    ) -> Result<SkillComparison, CommandError> {
        let (folder, history) = self.versions_of(name, surface).await?;
        let rows = (find(&folder, &history, old, surface)?, find(&folder, &history, new, surface)?);
        let contents = (self.content_of(rows.0.id).await?, self.content_of(rows.1.id).await?);
        Ok(SkillComparison { folder, versions: [(rows.0, contents.0), (rows.1, contents.1)] })
    }

    async fn versions_of(&self, name: &str, surface: Surface) -> Result<(String, History), CommandError> {
        let folder = folder_of(&*self.review.live().await?, name);
        let history = self.review.history(&folder).await?;
        if history.versions.is_empty() {
            return Err(Answer::refusal(says::no_such_skill(&plain(name), surface)).into());
        }
        Ok((folder, history))
    }

    async fn content_of(&self, version: VersionId) -> anyhow::Result<SkillFolder> {
        self.journal.read(move |db| db.skills().files_of_version(version)).await.map(SkillFolder::new)
    }
}

fn find(folder: &str, history: &History, version: VersionNumber, surface: Surface) -> Result<VersionRow, CommandError> {
    let found = history.versions.iter().find(|row| row.number == version).cloned();
    Ok(found.ok_or_else(|| Answer::refusal(says::no_such_version(&plain(folder), version, surface)))?)
}

/// Versions of a skill, newest first.
#[derive(Debug, Clone)]
pub struct SkillHistoryReport {
    /// Folder of the skill.
    pub folder: String,
    /// The page.
    pub page: Page<VersionRow>,
    /// The version with the folder's present content.
    pub present: Option<VersionId>,
}

impl Render for SkillHistoryReport {
    fn markdown(&self, context: &RenderContext<'_>, _: &mut ShownLabel) -> String {
        let versions = &self.page.items;
        let mut lines = vec![says::history_head(&plain(&self.folder)), String::new()];
        lines.extend(versions.iter().map(|version| version_line(version, self.present, context)));
        if self.present.is_none() {
            lines.push(format!("\n{}", says::NONE_PRESENT));
        }
        if self.present.is_none() || versions.len() > 1 {
            lines.push(format!("\n{}", says::how_to_roll_back(&self.folder, context.surface)));
        }
        let command = format!("/history {}", plain(&self.folder));
        lines.extend(self.page.more(&command, context.surface).map(|more| format!("\n{more}")));
        lines.join("\n")
    }

    fn json(&self, _: &RenderContext<'_>, _: &mut ShownLabel) -> Value {
        self.page.items.iter().map(|version| version_json(version, self.present)).collect()
    }
}

/// One version of a skill.
#[derive(Debug, Clone)]
pub struct SkillVersionReport {
    /// Folder of the skill.
    pub folder: String,
    /// The version.
    pub row: VersionRow,
    /// Files.
    pub content: SkillFolder,
    /// The present version with its files; `None` if none is in use.
    pub present: Option<(VersionRow, SkillFolder)>,
}

impl SkillVersionReport {
    /// Returns the change that restoring it makes, with the label of both texts; `None` if there is
    /// no present version.
    pub fn changes(&self) -> Option<(String, Label)> {
        let (row, files) = self.present.as_ref()?;
        Some((diff::diff(Some(files), Some(&self.content)), join([&row.label, &self.row.label].into_iter())))
    }

    /// Returns its files as one text, with hidden characters revealed.
    pub fn text(&self) -> String {
        diff::diff(None, Some(&self.content))
    }

    /// Like [`changes`](Self::changes), shown in an answer.
    fn shown_changes(&self, shown: &mut ShownLabel) -> Option<String> {
        let (changes, label) = self.changes()?;
        shown.also(&label);
        Some(changes)
    }
}

impl Render for SkillVersionReport {
    fn markdown(&self, context: &RenderContext<'_>, shown: &mut ShownLabel) -> String {
        shown.also(&self.row.label);
        let head = says::skill_version_head(&plain(&self.folder), &version_line(&self.row, None, context));
        let whole = self.text();
        let mut parts = vec![head];
        parts.extend(fenced_diff(&whole, context));
        match self.shown_changes(shown) {
            Some(changes) if changes.is_empty() => parts.push(says::IS_PRESENT.to_owned()),
            Some(changes) => {
                parts.push(says::RESTORING_CHANGES.to_owned());
                parts.extend(fenced_diff(&changes, context));
            }
            None => {}
        }
        parts.join("\n\n")
    }

    fn json(&self, _: &RenderContext<'_>, shown: &mut ShownLabel) -> Value {
        shown.also(&self.row.label);
        let files = self.content.files().map(|(path, bytes)| json!({ "path": path, "bytes": bytes.len() }));
        let changes = self.shown_changes(shown);
        let text = self.text();
        let further = json!({ "files": files.collect::<Value>(), "text": text, "diff": changes });
        with_fields(version_json(&self.row, None), further)
    }
}

/// Two versions of a skill.
#[derive(Debug, Clone)]
pub struct SkillComparison {
    /// Folder of the skill.
    pub folder: String,
    /// Each with its files.
    pub versions: [(VersionRow, SkillFolder); 2],
}

impl SkillComparison {
    /// Returns the change from the first to the second, with the label of both.
    pub fn changes(&self) -> (String, Label) {
        let [(old, before), (new, after)] = &self.versions;
        (diff::diff(Some(before), Some(after)), join([&old.label, &new.label].into_iter()))
    }

    /// Like [`changes`](Self::changes), shown in an answer.
    fn shown_changes(&self, shown: &mut ShownLabel) -> String {
        let (changes, label) = self.changes();
        shown.also(&label);
        changes
    }
}

impl Render for SkillComparison {
    fn markdown(&self, context: &RenderContext<'_>, shown: &mut ShownLabel) -> String {
        let changes = self.shown_changes(shown);
        let [(old, _), (new, _)] = &self.versions;
        let head = says::comparison_head(&visible_line(&self.folder), old.number, new.number);
        let mut parts = vec![head];
        match changes.is_empty() {
            true => parts.push(says::NO_DIFFERENCE.to_owned()),
            false => parts.extend(fenced_diff(&changes, context)),
        }
        parts.join("\n\n")
    }

    fn json(&self, _: &RenderContext<'_>, shown: &mut ShownLabel) -> Value {
        let [old, new] = self.versions.each_ref().map(|(row, _)| version_json(row, None));
        json!({ "from": old, "to": new, "diff": self.shown_changes(shown) })
    }
}

/// A change as far as its reader's surface shows it, and the remark that it is cut.
fn fenced_diff(changes: &str, context: &RenderContext<'_>) -> impl Iterator<Item = String> {
    let (part, remark) = context.fitting(changes);
    std::iter::once(diff::fenced_diff(part)).chain(remark)
}

fn version_line(version: &VersionRow, present: Option<VersionId>, context: &RenderContext<'_>) -> String {
    let mark = match version {
        version if present == Some(version.id) => says::PRESENT,
        version if !version.accepted => says::NEVER_ACCEPTED,
        _ => "",
    };
    says::version(version.number, &context.zone.show_short(version.made_at), &version.origin, version.proposal, mark)
}

fn version_json(version: &VersionRow, present: Option<VersionId>) -> Value {
    json!({
        "version": version.number,
        "skill": version.skill,
        "at": version.made_at.rfc3339(),
        "origin": version.origin,
        "proposal": version.proposal,
        "accepted": version.accepted,
        "present": present == Some(version.id),
    })
}
