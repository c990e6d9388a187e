//! Processes the actions that stored reflections propose.
//!
//! Open actions are processed in order. A change to a skill proposed by an owner's reflection is
//! submitted for review, like one requested in a chat, if the owner allows that and the daily limit
//! has room: this decision is stored first, by the one writer, so the limit holds under
//! concurrency. The proposal and the end of the action are one transaction of the review. Within
//! the same limits, a memory proposed by an owner's reflection is stored through the one writer of
//! the workspace, with the label of the reflection: with untrusted text in it, it waits as a note
//! that is not loaded automatically. Text of the form `key: value`, or another value under the
//! title of a fact, is a fact and replaces the known value of its key; any other text becomes a
//! note. All other actions stay suggestions. A crash in between leaves the action taken, and it is
//! resumed.

use std::sync::Arc;

use super::answer_schema::Payload;
use super::{Reflector, commit};
use crate::id::{PersonId, TurnId};
use crate::memory::{self, NoteDraft};
use crate::people::Party;
use crate::review::{ProposalChange, ProposalDraft, ProposalOrigin, Refused, Staged};
use crate::skill::{MAIN, SkillFolder, manifest};
use crate::store::{ActionKind, ActionRow, ActionState, Category, Db, Fact, Layer, Node, Tx};
use crate::time::Timestamp;
use crate::trust::Scope;
use crate::wording::reflection as says;

/// Reason why there is no draft for the review.
enum DraftError {
    /// The action cannot become a proposal; the sentence says why.
    Refused(String),
    /// The journal or the workspace cannot be read.
    Failed(anyhow::Error),
}

impl From<anyhow::Error> for DraftError {
    fn from(error: anyhow::Error) -> Self {
        Self::Failed(error)
    }
}

/// Maximum number of characters in a fact. Longer text is a note, regardless of its form.
const FACT: usize = 500;

/// Settings and limits that decide about an action before it is processed.
struct Rule {
    auto_action: bool,
    /// `[memory] enabled`
    memory_enabled: bool,
    max_per_day: u32,
    day: String,
    now: Timestamp,
}

impl Reflector {
    /// Processes the open actions of stored reflections.
    ///
    /// # Errors
    /// If the journal cannot be used. A failure of one action does not affect the others; the
    /// action is resumed at the next call.
    pub async fn act(&self) -> anyhow::Result<()> {
        for action in self.journal.read(|db| db.reflections().open_actions()).await? {
            if !self.take(&action).await? {
                continue;
            }
            if let Err(error) = self.propose(&action).await {
                tracing::error!(action.id = %action.id, "Action {} cannot be proposed yet: {error:#}", action.id);
            }
        }
        Ok(())
    }

    /// Returns true if the action is to be processed; otherwise it is over.
    async fn take(&self, action: &ActionRow) -> anyhow::Result<bool> {
        let (config, now) = (&self.config, self.clock.now());
        let max_per_day = config.max_actions_per_day;
        let memory_enabled = self.engine.memory.enabled;
        let rule = Rule { auto_action: config.auto_action, memory_enabled, max_per_day, day: self.zone.day(now), now };
        let action = action.clone();
        self.journal.write("take an action", move |tx| rule.take(tx, &action)).await
    }

    async fn propose(&self, action: &ActionRow) -> anyhow::Result<()> {
        if action.kind == ActionKind::Memory {
            return self.remember(action).await;
        }
        let draft = match self.draft(action).await {
            Ok(draft) => draft,
            Err(DraftError::Refused(why)) => return self.refuse(action, why).await,
            Err(DraftError::Failed(error)) => return Err(error),
        };
        match self.review.submit(draft).await? {
            Staged::New(..) => Ok(()),
            Staged::Known(id) => self.refuse(action, says::waits_already(id)).await,
            Staged::Refused(Refused(why)) => self.refuse(action, why.join(" ")).await,
        }
    }

    /// Stores a fact or note. Idempotent, so it can be repeated after a crash.
    async fn remember(&self, action: &ActionRow) -> anyhow::Result<()> {
        let Some((origin, note)) = self.note_of(action).await? else {
            return self.refuse(action, says::UNREADABLE.to_owned()).await;
        };
        let workspace = &self.engine.workspace;
        let stored = match self.fact_of(&origin, &note).await? {
            Some(fact) => workspace.notes().store_fact(&origin, fact).await,
            None => workspace.notes().remember(&origin, &note).await.map(stored_at),
        };
        let place = match stored {
            Ok(place) => place,
            Err(error) => return self.refuse(action, error.refusal()?.to_string()).await,
        };
        let (id, now) = (action.id, origin.now);
        let end = move |tx: Tx<'_>| tx.reflections().end_action(id, ActionState::Kept, &place, now).map(drop);
        self.journal.write("keep what a reflection remembers", end).await
    }

    /// Returns the fact that a note states, if any. Untrusted text is never a fact, because that
    /// would change what is loaded.
    async fn fact_of(&self, origin: &memory::ChangeOrigin, note: &NoteDraft) -> anyhow::Result<Option<Fact>> {
        let text = note.content.trim();
        if !origin.label.is_trusted() || text.contains('\n') || text.chars().count() > FACT {
            return Ok(None);
        }
        let (workspace, title) = (&self.engine.workspace, &*note.title);
        // `Correction: …` states no fact of that name.
        let (key, value) = match memory::memory_md::split_key(text) {
            Some((key, value)) if key == title || workspace.notes().knows_key(&origin.who, key).await? => (key, value),
            _ if workspace.notes().knows_key(&origin.who, title).await? => (title, text),
            _ => return Ok(None),
        };
        let (key, value, sources) = (key.to_owned(), value.to_owned(), origin.from.clone());
        Ok(Some(Fact { key, value, category: Category::Fact, layer: Layer::A, sources }))
    }

    /// Builds the note of an action, with its person and origin.
    async fn note_of(&self, action: &ActionRow) -> anyhow::Result<Option<(memory::ChangeOrigin, NoteDraft)>> {
        let (id, scope) = (action.reflection, action.scope);
        let query = move |db: Db<'_>| {
            let Scope::Person(person) = scope else { return Ok(None) };
            Ok(db.reflections().reflection(id)?.zip(db.people().person(person)?))
        };
        let Some((reflection, person)) = self.journal.read(query).await? else { return Ok(None) };
        let Ok(payload) = serde_json::from_str::<Payload>(&action.payload) else { return Ok(None) };
        let origin = memory::ChangeOrigin {
            who: Party::One(person),
            label: action.label.clone(),
            author: memory::Author::Program,
            cause: "reflection",
            from: vec![Node::Turn(reflection.turn)],
            person: memory::PersonShare::default(),
            now: self.clock.now(),
        };
        let note = NoteDraft { title: action.title.clone(), content: payload.text, kind: "project".to_owned() };
        Ok(Some((origin, note)))
    }

    async fn refuse(&self, action: &ActionRow, why: String) -> anyhow::Result<()> {
        let (id, now) = (action.id, self.clock.now());
        let end = move |tx: Tx<'_>| tx.reflections().end_action(id, ActionState::Refused, &why, now).map(drop);
        self.journal.write("refuse an action", end).await
    }

    async fn draft(&self, action: &ActionRow) -> Result<ProposalDraft, DraftError> {
        let id = action.reflection;
        let reflection = self.journal.read(move |db| db.reflections().reflection(id)).await?;
        let (Some(reflection), Scope::Person(person)) = (reflection, action.scope) else {
            return Err(DraftError::Refused(says::UNREADABLE.to_owned()));
        };
        let Ok(payload) = serde_json::from_str::<Payload>(&action.payload) else {
            return Err(DraftError::Refused(says::UNREADABLE.to_owned()));
        };
        let change = match action.kind {
            ActionKind::CreateSkill => ProposalChange::Create,
            ActionKind::ChangeSkill => ProposalChange::Edit,
            ActionKind::PromoteNote => return self.draft_of_note(action, reflection.turn, person, payload).await,
            ActionKind::Memory | ActionKind::Configuration | ActionKind::Other => {
                return Err(DraftError::Refused(says::NOT_BY_THE_PROGRAM.to_owned()));
            }
        };
        let bytes = |content: String| -> Arc<[u8]> { Arc::from(content.into_bytes()) };
        let files = payload.files.into_iter().map(|file| (file.path, file.content.map(bytes))).collect();
        let origin = ProposalOrigin::Reflection { action: action.id, turn: reflection.turn, person, note: None };
        Ok(ProposalDraft { skill: payload.skill, change, files, rationale: payload.why, origin })
    }

    /// Drafts a skill from a note. The note's text has its own label.
    async fn draft_of_note(
        &self,
        action: &ActionRow,
        turn: TurnId,
        person: PersonId,
        payload: Payload,
    ) -> Result<ProposalDraft, DraftError> {
        let Some(owner) = self.journal.read(move |db| db.people().person(person)).await? else {
            return Err(DraftError::Refused(says::NOTE_OF_ANOTHER.to_owned()));
        };
        let (text, file) = match self.engine.workspace.files().read_note(&owner, &payload.note).await {
            Ok(read) => read,
            Err(error) => return Err(DraftError::Refused(says::note_unreadable(&format!("{error:#}")))),
        };
        let (words, label, _) = text.open();
        let name = if payload.skill.is_empty() { manifest::name_for(&payload.note) } else { payload.skill };
        if name.is_empty() {
            return Err(DraftError::Refused(says::NOTE_NEEDS_A_NAME.to_owned()));
        }
        let Some(main) = manifest::skill_of(&name, words) else {
            return Err(DraftError::Refused(says::NOTE_WITHOUT_WORDS.to_owned()));
        };
        let content = SkillFolder::new([(MAIN.to_owned(), Arc::from(main.into_bytes()))]);
        let note = Some((label.clone(), file));
        let origin = ProposalOrigin::Reflection { action: action.id, turn, person, note };
        let draft = self.review.draft(&name, &content, origin).await?;
        Ok(ProposalDraft { rationale: payload.why, ..draft })
    }
}

/// Describes where a note was stored, for readers of the action's outcome.
fn stored_at(stored: memory::StoredNote) -> String {
    if stored.redirected { says::kept_apart(&stored.path) } else { stored.path }
}

impl Rule {
    fn take(&self, tx: Tx<'_>, action: &ActionRow) -> anyhow::Result<bool> {
        let suggestion = if !self.auto_action {
            Some(says::AUTO_ACTION_IS_OFF)
        } else if !commit::is_owners(*tx, action.scope)? {
            Some(says::ONLY_OF_OWNERS)
        } else if !action.kind.is_done() {
            Some(says::NOT_BY_THE_PROGRAM)
        } else if action.kind == ActionKind::Memory && !self.memory_enabled {
            Some(says::MEMORY_IS_OFF)
        } else {
            None
        };
        if let Some(why) = suggestion {
            tx.reflections().end_action(action.id, ActionState::Suggested, why, self.now)?;
            return Ok(false);
        }
        match tx.reflections().action(action.id)?.map(|now| now.state) {
            Some(ActionState::New) => {}
            state => return Ok(state == Some(ActionState::Taken)),
        }
        if tx.reflections().take_action(action.id, &self.day, self.max_per_day)? {
            return Ok(true);
        }
        tx.reflections().end_action(
            action.id,
            ActionState::OverLimit,
            &says::too_many_today(self.max_per_day, &self.day),
            self.now,
        )?;
        Ok(false)
    }
}
