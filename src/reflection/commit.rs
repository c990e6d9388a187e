//! End of a slot: stores a valid answer with everything in it, or the failure.
//!
//! Each is one transaction: the reflection, its text, its actions, the slot; so there is never a
//! reflection without its actions. Its owner is told when these are done
//! ([`report`](super::report)). An answer is stored under the join of everything that its turn had
//! read.

use std::sync::Arc;

use super::answer_schema::{self, ProposedAction, ReflectionForm};
use super::{Reflector, SlotProgress, render};
use crate::config::TellOwner;
use crate::engine::system_run;
use crate::id::{AddressId, ConversationId, MessageId, PersonId, ReflectionId, TurnId};
use crate::model::json_answer::AnswerProblem;
use crate::people::Role;
use crate::store::{
    ActionKind, ActionState, Db, MessageKind, NewAction, NewMessage, NewOutbox, NewReflection, Node, Report, SlotRow,
    SlotState, SlotWish, TextKind, Tx,
};
use crate::time::Timestamp;
use crate::trust::{Label, Labelled, Scope, Text};
use crate::wording::{self, reflection as says};

/// Reads the reflection in an answer.
///
/// # Errors
/// If there is none.
pub fn read(answer: &Text) -> Result<ReflectionForm, AnswerProblem> {
    answer_schema::read(answer.open().0)
}

/// A valid answer about to be stored.
struct ValidReflection {
    slot: SlotRow,
    conversation: ConversationId,
    turn: TurnId,
    form: ReflectionForm,
    label: Label,
    /// Maximum number of actions taken from the reflection; `None` if the program takes none.
    max_actions: Option<u32>,
    tell_owner: TellOwner,
    now: Timestamp,
}

impl Reflector {
    /// Stores a valid answer.
    pub(super) async fn commit(
        &self,
        slot: &SlotRow,
        conversation: ConversationId,
        turn: TurnId,
        form: ReflectionForm,
        label: &Label,
    ) -> anyhow::Result<SlotProgress> {
        let config = &self.config;
        let reflection = ValidReflection {
            slot: slot.clone(),
            conversation,
            turn,
            form,
            label: label.clone(),
            max_actions: config.auto_action.then_some(config.max_actions_per_reflection),
            tell_owner: config.tell_owner,
            now: self.clock.now(),
        };
        self.journal.write("keep a reflection", move |tx| reflection.store(tx)).await?;
        Ok(SlotProgress::Over)
    }

    /// Records that too little was said in that period, and tells whoever asked for it.
    pub(super) async fn end_quietly(&self, slot: &SlotRow) -> anyhow::Result<SlotProgress> {
        let (slot, now) = (slot.clone(), self.clock.now());
        let address = self.journal.write("end a quiet slot", move |tx| {
            tx.slots().end_slot(slot.id, SlotState::Quiet, "", now)?;
            let Scope::Person(person) = slot.scope else { return Ok(None) };
            let Some(address) = system_run::address_of(*tx, person)?.filter(|_| slot.wish == Some(SlotWish::Told))
            else {
                return Ok(None);
            };
            let words = wording::own(wording::schedule::quiet(&slot.period), slot.scope);
            tx.outbox().post(&NewOutbox::notice(address, &words, now)).map(|_| Some(address))
        });
        if let Some(address) = address.await? {
            self.engine.channels.posted(address);
        }
        Ok(SlotProgress::Over)
    }

    /// Records that there is no reflection on that period, and notifies the owner of the reason.
    pub(super) async fn give_up(&self, slot: &SlotRow, reason: &str) -> anyhow::Result<SlotProgress> {
        let (slot, reason, now) = (slot.clone(), reason.to_owned(), self.clock.now());
        let address = self.journal.write("give a reflection up", move |tx| fail(tx, &slot, &reason, now)).await?;
        if let Some(address) = address {
            self.engine.channels.posted(address);
        }
        Ok(SlotProgress::Over)
    }
}

impl ValidReflection {
    fn store(mut self, tx: Tx<'_>) -> anyhow::Result<()> {
        let slot = tx.slots().slot(self.slot.id)?.filter(|slot| slot.state == SlotState::Working);
        let Some(slot) = slot else { return Ok(()) };
        if let Some(turn) = tx.turns().turn(self.turn)? {
            self.label.absorb(&turn.label);
        }
        let message = self.add_message(tx)?;
        let of_owner = is_owners(*tx, self.slot.scope)?;
        let report = match self.tell_owner {
            _ if !of_owner => None,
            _ if slot.wish == Some(SlotWish::Told) => Some(Report::Always),
            TellOwner::Always => Some(Report::Always),
            TellOwner::Proposals => Some(Report::Changes),
            TellOwner::Never => None,
        };
        let reflection = tx.reflections().store_reflection(&NewReflection {
            slot: self.slot.id,
            turn: self.turn,
            message,
            title: &self.form.title,
            label: &self.label,
            scope: self.slot.scope,
            report,
            at: self.now,
        })?;
        self.add_actions(tx, reflection, of_owner)?;
        tx.slots().end_slot(self.slot.id, SlotState::Done, "", self.now)?;
        tx.conversations().close_conversation(self.conversation, self.now)
    }

    fn add_message(&self, tx: Tx<'_>) -> anyhow::Result<MessageId> {
        let stream = tx.turns().turn(self.turn)?.map(|turn| turn.stream);
        let message = tx.messages().add_message(&NewMessage {
            stream: stream.ok_or_else(|| anyhow::anyhow!("Turn {} vanished", self.turn))?,
            conversation: Some(self.conversation),
            inbox: None,
            address: None,
            person: None,
            guest: None,
            kind: MessageKind::Reflection,
            scope: self.slot.scope,
            external_id: "",
            album: "",
            received_at: self.now,
            server_at: None,
            effective_at: self.now,
            turn: Some(self.turn),
        })?;
        tx.messages().add_text(message, TextKind::Said, &self.text(render::markdown(&self.slot, &self.form)))?;
        tx.derivations().derive(Node::Message(message), Node::Turn(self.turn))?;
        Ok(message)
    }

    fn add_actions(&self, tx: Tx<'_>, reflection: ReflectionId, of_owner: bool) -> anyhow::Result<()> {
        let max = self.max_actions.filter(|_| of_owner);
        let mut to_do = 0;
        for (seq, proposed) in (0_u32..).zip(&self.form.actions) {
            to_do += u32::from(is_done(proposed));
            let too_many = max.filter(|max| is_done(proposed) && to_do > *max);
            self.add_action(tx, reflection, seq, proposed, too_many)?;
        }
        Ok(())
    }

    fn add_action(
        &self,
        tx: Tx<'_>,
        reflection: ReflectionId,
        seq: u32,
        proposed: &ProposedAction,
        too_many: Option<u32>,
    ) -> anyhow::Result<()> {
        let (kind, title, payload, mut state, mut reason) = match proposed {
            ProposedAction::Valid(action) => {
                let payload = serde_json::to_string(&action.payload)?;
                (action.kind, action.title.as_str(), payload, ActionState::New, String::new())
            }
            ProposedAction::Invalid { kind, title, given, error } => {
                let (kind, payload) = (kind.unwrap_or(ActionKind::Other), serde_json::to_string(given)?);
                (kind, title.as_str(), payload, ActionState::Malformed, error.clone())
            }
        };
        if let Some(max) = too_many {
            (state, reason) = (ActionState::OverLimit, says::too_many_at_once(max));
        }
        tx.reflections().add_action(&NewAction {
            reflection,
            seq,
            kind,
            title,
            payload: &payload,
            state,
            reason: &reason,
            label: &self.label,
            scope: self.slot.scope,
            at: self.now,
        })?;
        Ok(())
    }

    fn text(&self, words: String) -> Text {
        Labelled::new(Arc::from(words), self.label.clone(), self.slot.scope)
    }
}

fn is_done(proposed: &ProposedAction) -> bool {
    matches!(proposed, ProposedAction::Valid(action) if action.kind.is_done())
}

/// Returns true if the scope belongs to an owner, by the current state of the journal.
pub fn is_owners(db: Db<'_>, scope: Scope) -> anyhow::Result<bool> {
    let Scope::Person(person) = scope else { return Ok(false) };
    Ok(db.people().person(person)?.is_some_and(|person| person.role == Role::Owner))
}

/// Returns the address of the notice, if there is one.
fn fail(tx: Tx<'_>, slot: &SlotRow, reason: &str, now: Timestamp) -> anyhow::Result<Option<AddressId>> {
    if !tx.slots().end_slot(slot.id, SlotState::Failed, reason, now)? {
        return Ok(None);
    }
    if let Some(conversation) = slot.conversation {
        tx.conversations().close_conversation(conversation, now)?;
    }
    let Some(owner) = notice_recipient(*tx, slot.scope)? else { return Ok(None) };
    let Some(address) = system_run::address_of(*tx, owner)? else { return Ok(None) };
    let Scope::Person(person) = slot.scope else { return Ok(None) };
    let Some(person) = tx.people().person(person)? else { return Ok(None) };
    let words = wording::own(says::failed(&slot.job, &slot.period, &person.name, reason), Scope::Person(owner));
    tx.outbox().post(&NewOutbox::notice(address, &words, now))?;
    Ok(Some(address))
}

/// Returns the owner of the scope, otherwise the first owner.
fn notice_recipient(db: Db<'_>, scope: Scope) -> anyhow::Result<Option<PersonId>> {
    if let Scope::Person(person) = scope
        && is_owners(db, scope)?
    {
        return Ok(Some(person));
    }
    Ok(db.people().people()?.into_iter().filter(|person| person.role == Role::Owner).map(|person| person.id).min())
}
