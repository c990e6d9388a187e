//! `heartbeat_done`: ticks an item of the owner's `HEARTBEAT.md`.
//!
//! A tick is a row; no tool changes the file. Only a box can be ticked, because a line without one
//! stands for good. Ticking ends a check for good, so in a turn that has read something from
//! outside the person is asked first.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use serde_json::json;

use super::question_text::QuestionText;
use super::{AuthorizableCall, Effects, Egress, Output, Tool, ToolDeclaration, ToolError, argument};
use crate::id::PersonId;
use crate::memory::{HeartbeatItem, HeartbeatItemKind, Workspace, find_heartbeat_item, heartbeat_items};
use crate::people::{Party, Role};
use crate::store::{HeartbeatTick, Journal};
use crate::time::Clock;
use crate::wording::heartbeat as says;

/// The tool.
pub struct HeartbeatDone {
    /// Journal of the ticks.
    pub journal: Journal,
    /// Workspace with the files.
    pub workspace: Workspace,
    /// Clock.
    pub clock: Arc<dyn Clock>,
}

#[async_trait]
impl Tool for HeartbeatDone {
    fn declaration(&self) -> ToolDeclaration {
        let properties = json!({ "item": { "type": "string", "description": says::DONE_ITEM } });
        ToolDeclaration {
            spec: argument::spec("heartbeat_done", says::DONE, properties, &["item"]),
            // The file belongs to one person, who is an owner.
            effects: Effects::WRITES.and(Effects::READS_PERSONAL).and(Effects::OF_OWNER),
            egress: Egress::Later,
            repeatable: true,
            replaces: true,
        }
    }

    async fn question(&self, call: &AuthorizableCall<'_>) -> Result<QuestionText, ToolError> {
        let found = self.find(call).await?;
        Ok(QuestionText::about(&found.item.words, call.label.clone(), |words| says::may_i_tick(call.language, words)))
    }

    async fn run(&self, call: &AuthorizableCall<'_>) -> Result<Output, ToolError> {
        let FoundItem { owner, item, ticks } = self.find(call).await?;
        if ticks.iter().any(|tick| tick.key == item.key && tick.turn != Some(call.turn)) || !item.is_box_open() {
            return Ok(call.own_words(says::was_ticked(&item.words)));
        }
        let (key, turn, now) = (item.key.clone(), Some(call.turn), self.clock.now());
        let tick = self.journal.write("tick a heartbeat item", move |tx| tx.heartbeats().tick(owner, &key, turn, now));
        tick.await.map_err(|error| failed(&error))?;
        Ok(call.own_words(says::ticked(&item.words)))
    }
}

/// The item that a call means.
struct FoundItem {
    owner: PersonId,
    item: HeartbeatItem,
    ticks: Vec<HeartbeatTick>,
}

impl HeartbeatDone {
    /// Finds the item by its words: numbers change with the file.
    async fn find(&self, call: &AuthorizableCall<'_>) -> Result<FoundItem, ToolError> {
        let party = call.party(&self.journal).await.map_err(|error| failed(&error))?;
        let Some(Party::One(owner)) = party.filter(is_owner) else {
            return Err(ToolError::Refused(says::NOT_AN_OWNER.to_owned()));
        };
        let file = self.workspace.files().read_heartbeat(&owner).await.map_err(|error| failed(&error))?;
        let Some((text, _)) = file.filter(|(text, _)| text.label().is_trusted()) else {
            return Err(ToolError::Refused(says::NO_FILE.to_owned()));
        };
        let (items, id) = (heartbeat_items(text.open().0), owner.id);
        let ticks = self.journal.read(move |db| db.heartbeats().heartbeat_ticks(id)).await;
        let ticks = ticks.map_err(|error| failed(&error))?;
        let ticked: BTreeSet<String> = ticks.iter().map(|tick| tick.key.clone()).collect();
        let wanted = Some(call.text("item").trim()).filter(|wanted| wanted.parse::<usize>().is_err());
        let item = wanted
            .and_then(|wanted| find_heartbeat_item(&items, wanted))
            .ok_or_else(|| ToolError::Arguments(says::no_such_item(&open_boxes(&items, &ticked))))?;
        if item.kind == HeartbeatItemKind::Standing {
            return Err(ToolError::Refused(says::STANDING.to_owned()));
        }
        Ok(FoundItem { owner: id, item: item.clone(), ticks })
    }
}

fn is_owner(party: &Party) -> bool {
    party.person().is_some_and(|person| person.role == Role::Owner)
}

fn open_boxes(items: &[HeartbeatItem], ticked: &BTreeSet<String>) -> Vec<String> {
    let open = items.iter().filter(|item| item.is_box_open() && item.is_due(ticked));
    open.map(|item| item.words.clone()).collect()
}

fn failed(error: &anyhow::Error) -> ToolError {
    tracing::error!("An item of HEARTBEAT.md cannot be ticked: {error:#}");
    ToolError::Failed(says::NOT_TICKED.to_owned())
}
