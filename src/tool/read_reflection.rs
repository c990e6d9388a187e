//! `read_reflection`: returns the assistant's reflection on a day, a week or a month.
//!
//! Only reflections of the same scope are found. A reflection influenced by text from outside is
//! never given to a model automatically; requesting it here is explicit, and the result carries its
//! label into the turn.

use async_trait::async_trait;
use serde_json::json;

use super::{AuthorizableCall, Effects, Egress, Output, Tool, ToolDeclaration, ToolError, argument};
use crate::store::{Db, Journal, Node};
use crate::trust::Scope;
use crate::wording::tool as says;

/// The `read_reflection` tool.
#[derive(Debug)]
pub struct ReadReflection(Journal);

impl ReadReflection {
    /// Creates the tool over this journal.
    pub fn new(journal: Journal) -> Self {
        Self(journal)
    }
}

#[async_trait]
impl Tool for ReadReflection {
    fn declaration(&self) -> ToolDeclaration {
        let properties = json!({ "period": { "type": "string", "description": says::REFLECTION_PERIOD } });
        ToolDeclaration {
            spec: argument::spec("read_reflection", says::READ_REFLECTION, properties, &["period"]),
            effects: Effects::READS_PERSONAL,
            egress: Egress::Inside,
            repeatable: true,
        }
    }

    async fn run(&self, call: &AuthorizableCall<'_>) -> Result<Output, ToolError> {
        let period = call.text("period").trim().to_owned();
        let (scope, named) = (call.scope, period.clone());
        let found = self.0.read(move |db| find(db, scope, &named)).await;
        match found {
            Ok(Some(output)) => Ok(output),
            Ok(None) => Err(ToolError::Failed(says::no_reflection(&period))),
            Err(_) => Err(ToolError::Failed(says::REFLECTIONS_UNREADABLE.to_owned())),
        }
    }
}

fn find(db: Db<'_>, scope: Scope, period: &str) -> anyhow::Result<Option<Output>> {
    let Some(reflection) = db.reflections().reflection_on(scope, period)? else { return Ok(None) };
    let mut label = reflection.label;
    let mut words = String::new();
    for text in db.messages().texts_of(reflection.message)? {
        let (part, of, _) = text.text.open();
        label.absorb(of);
        words.push_str(part);
    }
    Ok(Some(Output { text: words, label, from: vec![Node::Message(reflection.message)] }))
}
