//! `recall`: searches past conversations of the same scope.
//!
//! It returns trusted hits and the number of untrusted matches. Untrusted hits must be requested
//! explicitly, and then carry their label into the turn.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use serde_json::json;

use super::{AuthorizableCall, Effects, Egress, Output, Tool, ToolDeclaration, ToolError, argument};
use crate::id::ConversationId;
use crate::memory::{RecallQuery, Recollection};
use crate::store::{Db, Hit, Node, Summary, SummaryInputs};
use crate::time::Zone;
use crate::trust::{Label, Labelled};
use crate::wording;

/// The maximum number of hits.
const MOST: usize = 20;
/// The default number of hits.
const USUAL: usize = 6;
/// The maximum number of whole conversations displayed with the hits.
const SUMMARIES: usize = 3;
/// The maximum number of characters displayed of one hit.
const SNIPPET: usize = 600;

/// The `recall` tool.
pub struct Recall {
    recollection: Recollection,
    zone: Zone,
}

impl Recall {
    /// Creates a recall over this source; times are displayed in `zone`.
    pub fn new(recollection: Recollection, zone: Zone) -> Self {
        Self { recollection, zone }
    }

    /// Returns the full summary of a conversation that read text from outside, which is stored in
    /// addition to the trusted one.
    fn summary_line(&self, summary: &Summary) -> String {
        let (says, label, _) = summary.content.open();
        let lists = [&says.topics, &says.decisions, &says.preferences, &says.pending];
        let words: Vec<&str> = lists.into_iter().flatten().map(String::as_str).collect();
        let words = crate::text::shorten(&crate::text::one_line(&words.join("; ")), SNIPPET);
        wording::tool::whole_conversation(&crate::text::one_line(&says.title), &label.encode(), &words)
    }

    fn line(&self, hit: &Hit) -> String {
        let who = if hit.person.is_some() { wording::tool::THE_PERSON } else { wording::tool::THE_ASSISTANT };
        let (words, label, _) = hit.text.open();
        let who = if label.is_trusted() { who.to_owned() } else { wording::tool::from_outside(who, &label.encode()) };
        // One line each, so that text of a message cannot pass for another hit.
        let words = crate::text::shorten(&crate::text::one_line(words), SNIPPET);
        format!("[{}] {who}: {words}", self.zone.show_short(hit.at))
    }
}

/// Returns the full summaries of the conversations that contain the hits; only tainted ones have
/// one.
fn full_summaries(db: Db<'_>, hits: &[Hit]) -> anyhow::Result<Vec<Summary>> {
    let conversations: BTreeSet<ConversationId> = hits.iter().filter_map(|hit| hit.conversation).collect();
    let found =
        conversations.into_iter().rev().take(SUMMARIES).map(|id| db.summaries().summary_of(id, SummaryInputs::Full));
    found.filter_map(Result::transpose).collect()
}

#[async_trait]
impl Tool for Recall {
    fn declaration(&self) -> ToolDeclaration {
        let properties = json!({
            "query": { "type": "string" },
            "limit": { "type": "integer", "maximum": MOST },
            "include_untrusted": { "type": "boolean", "description": wording::tool::RECALL_UNTRUSTED }
        });
        ToolDeclaration {
            spec: argument::spec("recall", wording::tool::RECALL, properties, &["query"]),
            effects: Effects::READS,
            egress: Egress::Inside,
            repeatable: true,
        }
    }

    async fn run(&self, call: &AuthorizableCall<'_>) -> Result<Output, ToolError> {
        let query = argument::text(call.arguments, "query").to_owned();
        let untrusted_too = argument::flag(call.arguments, "include_untrusted");
        let limit = argument::limit(call.arguments, USUAL, MOST);
        let words = Labelled::new(Arc::from(query), call.label.clone(), call.scope);
        let asked = RecallQuery { words, untrusted_too, limit, before: Some(call.before) };
        let (found, from, summaries) = self
            .recollection
            .search(&asked, move |db, found| {
                let from = found
                    .hits
                    .iter()
                    .map(|hit| db.derivations().node_of(hit.message))
                    .collect::<anyhow::Result<Vec<Node>>>()?;
                let summaries = if untrusted_too { full_summaries(db, &found.hits)? } else { Vec::new() };
                Ok((found, from, summaries))
            })
            .await
            .map_err(|_| ToolError::Failed(wording::tool::RECALL_FAILED.to_owned()))?;
        let mut lines: Vec<String> = found.hits.iter().map(|hit| self.line(hit)).collect();
        if lines.is_empty() {
            lines.push(wording::tool::RECALL_NOTHING.to_owned());
        }
        if found.untrusted > 0 {
            lines.push(wording::tool::recall_untrusted(found.untrusted));
        }
        lines.extend(summaries.iter().map(|summary| self.summary_line(summary)));
        let labels = found.hits.iter().map(|hit| hit.text.label());
        let label = Label::join_of(labels.chain(summaries.iter().map(|summary| summary.content.label())));
        let from = from.into_iter().chain(summaries.iter().map(|summary| Node::Summary(summary.id))).collect();
        Ok(Output { text: lines.join("\n"), label, from })
    }
}
