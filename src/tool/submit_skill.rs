//! `submit_skill`: proposes a change to a skill, which is the only way for a model to change one.
//! The answer never contains the proposal's digest.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Value, json};

use super::{AuthorizableCall, Effects, Egress, Output, Tool, ToolError, argument};
use crate::model::ToolSpec;
use crate::review::{AutoApproval, ProposalChange, ProposalDraft, ProposalOrigin, Review, Staged};
use crate::wording::tool as says;

/// The maximum number of characters stored of a rationale.
const RATIONALE: usize = 4_000;

/// The `submit_skill` tool.
#[derive(Debug)]
pub struct SubmitSkill(Review);

impl SubmitSkill {
    /// Creates the tool over this gate.
    pub fn new(review: Review) -> Self {
        Self(review)
    }
}

#[async_trait]
impl Tool for SubmitSkill {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "submit_skill".to_owned(),
            description: says::SUBMIT_SKILL.to_owned(),
            schema: json!({
                "type": "object",
                "properties": {
                    "name": { "type": "string" },
                    "change": { "type": "string", "enum": ["create", "edit", "delete", "rename"] },
                    "files": {
                        "type": "array",
                        "description": says::SUBMIT_FILES,
                        "items": {
                            "type": "object",
                            "properties": { "path": { "type": "string" }, "content": { "type": ["string", "null"] } },
                            "required": ["path", "content"]
                        }
                    },
                    "new_name": { "type": "string" },
                    "rationale": { "type": "string" }
                },
                "required": ["name", "change", "rationale"]
            }),
        }
    }

    /// A repeated call finds the waiting proposal.
    fn repeatable(&self) -> bool {
        true
    }

    fn effects(&self) -> Effects {
        Effects::PROPOSES
    }

    fn reach(&self, _: &Value) -> Egress {
        Egress::Inside
    }

    async fn run(&self, call: &AuthorizableCall<'_>) -> Result<Output, ToolError> {
        let draft = read(call)?;
        let staged = self.0.submit(draft).await.map_err(|error| {
            tracing::error!(turn.id = %call.turn, "A proposal of turn {} cannot be staged: {error:#}", call.turn);
            ToolError::Failed(says::SUBMIT_FAILED.to_owned())
        })?;
        let text = match staged {
            Err(refused) => return Err(ToolError::Refused(says::submit_refused(&refused.0))),
            Ok(Staged::Known(id)) => says::submit_known(id),
            Ok(Staged::New(id, AutoApproval::Tainted)) => says::submit_tainted(id),
            Ok(Staged::New(id, _)) => says::submitted(id),
        };
        // Our own words about arguments whose label is joined.
        Ok(Output { text, label: call.label.clone(), from: Vec::new() })
    }
}

fn read(call: &AuthorizableCall<'_>) -> Result<ProposalDraft, ToolError> {
    let word = |name: &str| argument::text(call.arguments, name);
    let change = ProposalChange::read(word("change"), word("new_name"))
        .ok_or_else(|| ToolError::Arguments(says::SUBMIT_WHICH_CHANGE.to_owned()))?;
    let files = match call.arguments.get("files") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(files)) => files.iter().map(file).collect::<Result<_, _>>()?,
        Some(_) => return Err(ToolError::Arguments(says::SUBMIT_BAD_FILES.to_owned())),
    };
    Ok(ProposalDraft {
        skill: word("name").to_owned(),
        change,
        files,
        rationale: crate::text::shorten(word("rationale"), RATIONALE),
        origin: ProposalOrigin::Turn {
            turn: call.turn,
            conversation: call.conversation,
            person: call.person,
            label: call.label.clone(),
        },
    })
}

type File = (String, Option<Arc<[u8]>>);

fn file(value: &Value) -> Result<File, ToolError> {
    let path = value.get("path").and_then(Value::as_str);
    match (path, value.get("content")) {
        (Some(path), Some(Value::String(text))) => Ok((path.to_owned(), Some(Arc::from(text.as_bytes())))),
        (Some(path), Some(Value::Null)) => Ok((path.to_owned(), None)),
        _ => Err(ToolError::Arguments(says::SUBMIT_BAD_FILES.to_owned())),
    }
}
