//! Skills as readable files: `skills/tea/SKILL.md` as the gate says that it is live.
//!
//! They are not in the person's folder and are not read from disk: proposals and held skills do not
//! appear. They are never written through this module.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::memory::{AccessRefusal, digest};
use crate::review::{ActiveSkills, LiveSkill, Review};
use crate::store::Node;
use crate::tool::ToolError;
use crate::tool::knowledge_tools::{failed, not_given};
use crate::trust::Label;

/// A file of a skill.
pub(super) struct SkillFile {
    pub(super) words: String,
    pub(super) digest: String,
    pub(super) label: Label,
    pub(super) from: Vec<Node>,
}

/// The entries of a skill folder. The names are the skill author's text.
pub(super) struct SkillList {
    pub(super) lines: Vec<String>,
    pub(super) label: Label,
    pub(super) from: Vec<Node>,
}

/// Reads one file verbatim.
pub(super) async fn read(review: &Review, way: &str) -> Result<SkillFile, ToolError> {
    let live = active_skills(review).await?;
    let (one, file) = of(&live, way)?;
    let bytes = one.skill.content.get(file).ok_or_else(missing)?;
    let words = one.skill.content.text(file).ok_or_else(|| not_given(AccessRefusal::NoText))?;
    let from = vec![Node::Version(one.version)];
    Ok(SkillFile { words: words.to_owned(), digest: digest(bytes), label: one.label.clone(), from })
}

/// Lists a folder, under a label that is at least `label`.
pub(super) async fn list(review: &Review, way: &str, label: &Label) -> Result<SkillList, ToolError> {
    let live = active_skills(review).await?;
    let way = way.trim_end_matches('/');
    if way.is_empty() {
        // Names only, as in the index.
        let label = live.skills.values().fold(label.clone(), |label, one| label.join_with(&one.index_label()));
        let lines = live.skills.keys().map(|name| format!("{name}/")).collect();
        return Ok(SkillList { lines, label, from: live.nodes() });
    }
    let (one, folder) = of(&live, way)?;
    let lines = entries(one, folder);
    if lines.is_empty() {
        return Err(missing());
    }
    Ok(SkillList { lines, label: label.join_with(&one.label), from: vec![Node::Version(one.version)] })
}

async fn active_skills(review: &Review) -> Result<Arc<ActiveSkills>, ToolError> {
    review.live().await.map_err(failed)
}

/// Returns the skill of the path's folder, and the path within it.
fn of<'a, 'w>(live: &'a ActiveSkills, way: &'w str) -> Result<(&'a LiveSkill, &'w str), ToolError> {
    let (name, inside) = way.split_once('/').unwrap_or((way, ""));
    Ok((live.skills.get(name).ok_or_else(missing)?, inside))
}

fn entries(one: &LiveSkill, folder: &str) -> Vec<String> {
    let inside = |path: &'_ str| -> Option<String> {
        if folder.is_empty() {
            return Some(path.to_owned());
        }
        path.strip_prefix(folder)?.strip_prefix('/').map(str::to_owned)
    };
    let line = |(path, bytes): (&str, &Arc<[u8]>)| {
        let path = inside(path)?;
        Some(match path.split_once('/') {
            Some((folder, _)) => format!("{folder}/"),
            None => format!("{path} ({} bytes)", bytes.len()),
        })
    };
    one.skill.content.files().filter_map(line).collect::<BTreeSet<_>>().into_iter().collect()
}

fn missing() -> ToolError {
    not_given(AccessRefusal::Missing)
}
