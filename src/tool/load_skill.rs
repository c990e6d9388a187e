//! `load_skill` and `load_skill_resource`: the second and third stages of disclosing a skill. Both
//! read only what `review` says is live: for them a proposal, a held folder or a path outside of
//! the skill does not exist.

use async_trait::async_trait;
use serde_json::{Value, json};

use super::{AuthorizableCall, Effects, Egress, Output, Tool, ToolError, argument};
use crate::model::ToolSpec;
use crate::review::{LiveSkill, Review};
use crate::skill::MAIN;
use crate::skill::name::path_problem;
use crate::store::Node;
use crate::wording::tool as says;

/// The `load_skill` tool: reads the whole `SKILL.md` of a skill.
#[derive(Debug)]
pub struct LoadSkill(Review);

/// The `load_skill_resource` tool: reads another file of a skill.
#[derive(Debug)]
pub struct LoadSkillResource(Review);

impl LoadSkill {
    /// Creates the tool over the gate's live skills.
    pub fn new(review: Review) -> Self {
        Self(review)
    }
}

impl LoadSkillResource {
    /// Creates the tool over the gate's live skills.
    pub fn new(review: Review) -> Self {
        Self(review)
    }
}

#[async_trait]
impl Tool for LoadSkill {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "load_skill".to_owned(),
            description: says::LOAD_SKILL.to_owned(),
            schema: json!({
                "type": "object",
                "properties": { "name": { "type": "string" } },
                "required": ["name"]
            }),
        }
    }

    fn repeatable(&self) -> bool {
        true
    }

    fn effects(&self) -> Effects {
        Effects::READS
    }

    fn reach(&self, _: &Value) -> Egress {
        Egress::Inside
    }

    async fn run(&self, call: &AuthorizableCall<'_>) -> Result<Output, ToolError> {
        let live = find(&self.0, call).await?;
        let others: Vec<&str> = live.skill.content.files().map(|(path, _)| path).filter(|path| *path != MAIN).collect();
        let text = text_of(&live, MAIN)?;
        Ok(output(&live, says::skill(&live.skill.folder, text, &others)))
    }
}

#[async_trait]
impl Tool for LoadSkillResource {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "load_skill_resource".to_owned(),
            description: says::LOAD_SKILL_RESOURCE.to_owned(),
            schema: json!({
                "type": "object",
                "properties": {
                    "name": { "type": "string" },
                    "path": { "type": "string" }
                },
                "required": ["name", "path"]
            }),
        }
    }

    fn repeatable(&self) -> bool {
        true
    }

    fn effects(&self) -> Effects {
        Effects::READS
    }

    fn reach(&self, _: &Value) -> Egress {
        Egress::Inside
    }

    async fn run(&self, call: &AuthorizableCall<'_>) -> Result<Output, ToolError> {
        let live = find(&self.0, call).await?;
        let path = argument::text(call.arguments, "path");
        if let Some(problem) = path_problem(path) {
            return Err(ToolError::Arguments(says::bad_path(path, problem)));
        }
        let text = text_of(&live, path)?.to_owned();
        Ok(output(&live, text))
    }
}

async fn find(review: &Review, call: &AuthorizableCall<'_>) -> Result<LiveSkill, ToolError> {
    let name = argument::text(call.arguments, "name");
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
