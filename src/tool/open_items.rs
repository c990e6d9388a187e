//! `open_done`: closes an item of the list of what is open.
//!
//! It ends an item for good, as far as the assistant is concerned, so in a turn that has read
//! something from outside the person is asked first. A person can open it again.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::json;

use super::question_text::QuestionText;
use super::{AuthorizableCall, Effects, Egress, Output, Tool, ToolDeclaration, ToolError, argument};
use crate::id::OpenItemId;
use crate::store::{Journal, OpenItem, OpenItemState};
use crate::time::Clock;
use crate::wording::open_items as says;

/// The tool.
pub struct OpenDone {
    /// Journal of the items.
    pub journal: Journal,
    /// Clock.
    pub clock: Arc<dyn Clock>,
}

#[async_trait]
impl Tool for OpenDone {
    fn declaration(&self) -> ToolDeclaration {
        let properties = json!({ "number": { "type": "integer" } });
        ToolDeclaration {
            spec: argument::spec("open_done", says::DONE, properties, &["number"]),
            effects: Effects::WRITES,
            egress: Egress::Later,
            repeatable: true,
            replaces: true,
        }
    }

    async fn question(&self, call: &AuthorizableCall<'_>) -> Result<QuestionText, ToolError> {
        let item = self.find(call).await?;
        let words = item.text.open().0;
        Ok(QuestionText::about(words, call.label.clone(), |words| says::may_i_close(call.language, words)))
    }

    async fn touches_person_alone(&self, _: &AuthorizableCall<'_>) -> Result<bool, ToolError> {
        Ok(true)
    }

    async fn run(&self, call: &AuthorizableCall<'_>) -> Result<Output, ToolError> {
        let item = self.find(call).await?;
        let (id, now) = (item.id, self.clock.now());
        let close = move |tx: crate::store::Tx<'_>| tx.open_items().close_open_item(id, OpenItemState::Done, now);
        self.journal.write("close an open item", close).await.map_err(|error| failed(&error))?;
        Ok(call.own_words(says::closed(item.text.open().0)))
    }
}

impl OpenDone {
    /// Returns the item that a call means; one that is closed already counts as found.
    async fn find(&self, call: &AuthorizableCall<'_>) -> Result<OpenItem, ToolError> {
        let number = call.arguments.get("number").and_then(serde_json::Value::as_i64).unwrap_or_default();
        let (scope, id) = (call.scope, OpenItemId(number));
        let item = self.journal.read(move |db| db.open_items().open_item(scope, id)).await;
        let item = item.map_err(|error| failed(&error))?;
        item.ok_or_else(|| ToolError::Arguments(says::no_such(number)))
    }
}

fn failed(error: &anyhow::Error) -> ToolError {
    tracing::error!("An open item cannot be closed: {error:#}");
    ToolError::Failed(says::NOT_CLOSED.to_owned())
}
