//! `react`: adds an emoji reaction to the message that is being answered.
//!
//! It is sent with the answer, and omitted on channels without reactions: nothing depends on it.

use async_trait::async_trait;
use serde_json::{Value, json};

use super::{AuthorizableCall, Effects, Egress, Output, Tool, ToolError, argument};
use crate::model::ToolSpec;
use crate::store::{Enclosure, Journal};
use crate::text::is_emoji;
use crate::wording::enclosed as says;

/// The `react` tool.
pub struct React(Journal);

impl React {
    /// Creates the tool over this journal.
    pub fn new(journal: Journal) -> Self {
        Self(journal)
    }
}

fn emoji(arguments: &Value) -> Result<&str, ToolError> {
    let emoji = argument::text(arguments, "emoji").trim();
    let one = !emoji.is_empty() && is_emoji(emoji);
    one.then_some(emoji).ok_or_else(|| ToolError::Arguments(says::NO_EMOJI.to_owned()))
}

#[async_trait]
impl Tool for React {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "react".to_owned(),
            description: says::REACT.to_owned(),
            schema: json!({
                "type": "object",
                "properties": { "emoji": { "type": "string" } },
                "required": ["emoji"]
            }),
        }
    }

    /// A turn has one reaction, and the newest counts.
    fn repeatable(&self) -> bool {
        true
    }

    fn effects(&self) -> Effects {
        Effects::SHOWS
    }

    fn reach(&self, _: &Value) -> Egress {
        Egress::Inside
    }

    async fn run(&self, call: &AuthorizableCall<'_>) -> Result<Output, ToolError> {
        let (turn, enclosure) = (call.turn, Enclosure::reaction(emoji(call.arguments)?));
        let kept = self.0.write("enclose a reaction", move |tx| {
            let answers = tx.messages().messages_of_turn(turn)?.iter().any(|message| !message.external_id.is_empty());
            if answers {
                tx.outgoing_files().enclose(turn, &enclosure, usize::MAX)?;
            }
            Ok(answers)
        });
        let kept = kept.await.map_err(|error| {
            tracing::error!("A reaction cannot be enclosed: {error:#}");
            ToolError::Failed(says::NOT_KEPT.to_owned())
        })?;
        if !kept {
            return Err(ToolError::Refused(says::NO_MESSAGE.to_owned()));
        }
        Ok(Output { text: says::REACTS.to_owned(), label: call.label.clone(), from: Vec::new() })
    }
}
