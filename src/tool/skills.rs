//! `load_skill`, `load_skill_resource` and `submit_skill`, and skills as readable files.
//!
//! Reading is the second and third stage of disclosing a skill, and covers only what `review` says
//! is live: a proposal, a held folder or a path outside of the skill does not exist here. A
//! proposal is the only way for a model to change a skill; its answer never contains the digest.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Value, json};

use super::knowledge::{failed, not_given};
use super::{AuthorizableCall, Effects, Egress, Output, Tool, ToolDeclaration, ToolError, argument};
use crate::memory::{AccessRefusal, digest};
use crate::model::ToolCall;
use crate::review::{ActiveSkills, LiveSkill, ProposalChange, ProposalDraft, ProposalOrigin};
use crate::review::{Review, Staged};
use crate::skill::MAIN;
use crate::skill::name::path_problem;
use crate::store::{Clearance, Node, StepRow};
use crate::text::{one_line, shorten};
use crate::trust::Label;
use crate::wording::tool as says;

/// Name of the tool that proposes a change of a skill.
pub const SUBMIT_SKILL: &str = "submit_skill";

/// Name of the tool that reads a skill.
pub const LOAD_SKILL: &str = "load_skill";

/// Names of the tools that read the text of a skill.
pub const SKILL_READERS: [&str; 3] = [LOAD_SKILL, "load_skill_resource", "read_file"];

/// Maximum number of characters stored of a rationale.
const MAX_RATIONALE: usize = 4_000;
/// Maximum number of characters of a name in a transcript.
const MAX_NAME: usize = 80;

/// Returns the tools over this gate and its live skills.
pub fn tools(review: &Review) -> Vec<Arc<dyn Tool>> {
    vec![
        Arc::new(LoadSkill(review.clone())),
        Arc::new(LoadSkillResource(review.clone())),
        Arc::new(SubmitSkill(review.clone())),
    ]
}

/// Name of the skill that a step read, for a transcript: its text is not what was said. `None` for
/// any other step.
pub fn loaded_skill(step: &StepRow) -> Option<String> {
    if step.tool != LOAD_SKILL || !step.made || step.failed {
        return None;
    }
    let call: ToolCall = serde_json::from_str(&step.call).ok()?;
    let arguments: Value = serde_json::from_str(&call.arguments).ok()?;
    Some(shorten(&one_line(arguments.get("name")?.as_str()?), MAX_NAME))
}

/// `load_skill`: reads the whole `SKILL.md` of a skill.
struct LoadSkill(Review);

#[async_trait]
impl Tool for LoadSkill {
    fn declaration(&self) -> ToolDeclaration {
        let properties = json!({ "name": { "type": "string" } });
        ToolDeclaration::reading(argument::spec(LOAD_SKILL, says::LOAD_SKILL, properties, &["name"]))
    }

    async fn run(&self, call: &AuthorizableCall<'_>) -> Result<Output, ToolError> {
        let live = find(&self.0, call).await?;
        let others: Vec<&str> = live.skill.content.files().map(|(path, _)| path).filter(|path| *path != MAIN).collect();
        let text = text_of(&live, MAIN)?;
        Ok(output(&live, says::skill(&live.skill.folder, text, &others)))
    }
}

/// `load_skill_resource`: reads another file of a skill.
struct LoadSkillResource(Review);

#[async_trait]
impl Tool for LoadSkillResource {
    fn declaration(&self) -> ToolDeclaration {
        let properties = json!({
            "name": { "type": "string" },
            "path": { "type": "string" }
        });
        ToolDeclaration::reading(argument::spec(
            "load_skill_resource",
            says::LOAD_SKILL_RESOURCE,
            properties,
            &["name", "path"],
        ))
    }

    async fn run(&self, call: &AuthorizableCall<'_>) -> Result<Output, ToolError> {
        let live = find(&self.0, call).await?;
        let path = call.text("path");
        if let Some(problem) = path_problem(path) {
            return Err(ToolError::Arguments(says::bad_path(path, problem)));
        }
        let text = text_of(&live, path)?.to_owned();
        Ok(output(&live, text))
    }
}

async fn find(review: &Review, call: &AuthorizableCall<'_>) -> Result<LiveSkill, ToolError> {
    let name = call.text("name");
    let live = review.live().await.map_err(|error| {
        tracing::error!("The skills cannot be read: {error:#}");
        ToolError::Failed(says::SKILLS_UNREADABLE.to_owned())
    })?;
    live.find(name).cloned().ok_or_else(|| ToolError::Arguments(says::no_such_skill(name)))
}

/// Looks up a name in the content that was read and judged, never a path on disk.
fn text_of<'a>(live: &'a LiveSkill, path: &str) -> Result<&'a str, ToolError> {
    match (live.skill.content.get(path), live.skill.content.text(path)) {
        (Some(_), Some(text)) => Ok(text),
        (Some(bytes), None) => Err(ToolError::Failed(says::not_text(path, bytes.len()))),
        (None, _) => Err(ToolError::Arguments(says::no_such_resource(path))),
    }
}

fn output(live: &LiveSkill, text: String) -> Output {
    Output { text, label: live.label.clone(), from: vec![Node::Version(live.version)] }
}

/// `submit_skill`: proposes a change to a skill.
struct SubmitSkill(Review);

#[async_trait]
impl Tool for SubmitSkill {
    fn declaration(&self) -> ToolDeclaration {
        let properties = json!({
            "name": { "type": "string" },
            "change": { "type": "string", "enum": ["create", "edit", "delete", "rename"] },
            "files": {
                "type": "array",
                "description": says::SUBMIT_FILES,
                "items": {
                    "type": "object",
                    "properties": { "path": { "type": "string" }, "content": { "type": "string" } }
                }
            },
            "new_name": { "type": "string" },
            "rationale": { "type": "string" }
        });
        ToolDeclaration {
            spec: argument::spec(SUBMIT_SKILL, says::SUBMIT_SKILL, properties, &["name", "change", "rationale"]),
            effects: Effects::PROPOSES,
            egress: Egress::Inside,
            // A repeated call finds the waiting proposal.
            repeatable: true,
            replaces: false,
        }
    }

    async fn run(&self, call: &AuthorizableCall<'_>) -> Result<Output, ToolError> {
        let staged = self.0.submit(draft(call)?).await.map_err(|error| {
            tracing::error!(turn.id = %call.turn, "A proposal of turn {} cannot be staged: {error:#}", call.turn);
            ToolError::Failed(says::SUBMIT_FAILED.to_owned())
        })?;
        let text = match staged {
            Staged::Refused(refused) => return Err(ToolError::Refused(says::submit_refused(&refused.0))),
            Staged::Known(id) => says::submit_known(id),
            Staged::New(id, Clearance::Tainted) => says::submit_tainted(id),
            Staged::New(id, _) => says::submitted(id),
        };
        Ok(call.own_words(text))
    }
}

fn draft(call: &AuthorizableCall<'_>) -> Result<ProposalDraft, ToolError> {
    let change = ProposalChange::read(call.text("change"), call.text("new_name"))
        .ok_or_else(|| ToolError::Arguments(says::SUBMIT_WHICH_CHANGE.to_owned()))?;
    let bad_files = || ToolError::Arguments(says::SUBMIT_BAD_FILES.to_owned());
    let file = |value: &Value| {
        let path = value.get("path").and_then(Value::as_str);
        match (path, value.get("content")) {
            (Some(path), Some(Value::String(text))) => Ok((path.to_owned(), Some(Arc::from(text.as_bytes())))),
            (Some(path), Some(Value::Null)) => Ok((path.to_owned(), None)),
            _ => Err(bad_files()),
        }
    };
    let files = match call.arguments.get("files") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(files)) => files.iter().map(file).collect::<Result<_, _>>()?,
        Some(_) => return Err(bad_files()),
    };
    Ok(ProposalDraft {
        skill: call.text("name").to_owned(),
        change,
        files,
        rationale: crate::text::shorten(call.text("rationale"), MAX_RATIONALE),
        origin: ProposalOrigin::Turn {
            turn: call.turn,
            conversation: call.conversation,
            person: call.person,
            label: call.label.clone(),
        },
    })
}

/// A file of a skill.
pub(super) struct SkillFile {
    pub(super) text: String,
    pub(super) digest: String,
    pub(super) label: Label,
    pub(super) from: Vec<Node>,
}

/// Entries of a skill folder. The names are the skill author's text.
pub(super) struct SkillFolder {
    pub(super) lines: Vec<String>,
    pub(super) label: Label,
    pub(super) from: Vec<Node>,
}

/// Reads one file verbatim; `path` is relative to the skills folder.
pub(super) async fn read_file(review: &Review, path: &str) -> Result<SkillFile, ToolError> {
    let live = review.live().await.map_err(failed)?;
    let (one, file) = skill_of(&live, path)?;
    let bytes = one.skill.content.get(file).ok_or_else(missing)?;
    let text = one.skill.content.text(file).ok_or_else(|| not_given(AccessRefusal::NoText))?.to_owned();
    Ok(SkillFile { text, digest: digest(bytes), label: one.label.clone(), from: vec![Node::Version(one.version)] })
}

/// Lists a folder, under a label that is at least `label`.
pub(super) async fn list_folder(review: &Review, path: &str, label: &Label) -> Result<SkillFolder, ToolError> {
    let live = review.live().await.map_err(failed)?;
    let path = path.trim_end_matches('/');
    if path.is_empty() {
        // Names only, as in the index.
        let label = live.skills.values().fold(label.clone(), |label, one| label.join_with(&one.index_label()));
        let lines = live.skills.keys().map(|name| format!("{name}/")).collect();
        return Ok(SkillFolder { lines, label, from: live.nodes() });
    }
    let (one, folder) = skill_of(&live, path)?;
    let inside = |path: &str| match folder {
        "" => Some(path.to_owned()),
        folder => path.strip_prefix(folder)?.strip_prefix('/').map(str::to_owned),
    };
    let line = |(path, bytes): (&str, &Arc<[u8]>)| {
        let path = inside(path)?;
        Some(match path.split_once('/') {
            Some((folder, _)) => format!("{folder}/"),
            None => format!("{path} ({} bytes)", bytes.len()),
        })
    };
    let lines: BTreeSet<String> = one.skill.content.files().filter_map(line).collect();
    if lines.is_empty() {
        return Err(missing());
    }
    let (lines, from) = (lines.into_iter().collect(), vec![Node::Version(one.version)]);
    Ok(SkillFolder { lines, label: label.join_with(&one.label), from })
}

/// Returns the skill of the path's folder, and the path within it.
fn skill_of<'a, 'p>(live: &'a ActiveSkills, path: &'p str) -> Result<(&'a LiveSkill, &'p str), ToolError> {
    let (name, inside) = path.split_once('/').unwrap_or((path, ""));
    Ok((live.skills.get(name).ok_or_else(missing)?, inside))
}

fn missing() -> ToolError {
    not_given(AccessRefusal::Missing)
}
