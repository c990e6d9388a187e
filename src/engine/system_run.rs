//! System runs: tasks that the program assigns to the assistant, in a conversation of their own, in
//! a stream without chat.
//!
//! A run is an ordinary turn (full agent, tools, each step stored, resumed after a crash) with four
//! differences. No person reads along, so nothing is shown or posted while it grows, and egress
//! that needs a yes is refused at once. The code that assigned it reads the outcome from the rows
//! and handles it. It uses the background models. And it has only tools whose effects are allowed
//! to its kind ([`Allowance`]): tools that would start further work by themselves are not among
//! them.

use crate::id::{AddressId, ConversationId, FileId, PersonId, StreamId, TurnId};
use crate::model::ToolSpec;
use crate::people::Role;
use crate::store::{
    BoundaryReason, Conversation, ConversationKind, Db, MessageKind, MessageState, NewConversation, NewMessage, Node,
    TextKind, Tx, UnansweredReason,
};
use crate::text::one_line;
use crate::time::Timestamp;
use crate::tool::{Effects, Toolbox};
use crate::trust::{Scope, Text};
use crate::wording::tool as says;

/// Assignment of a run.
#[derive(Debug, Clone, Copy)]
pub struct Assignment<'a> {
    /// Person that the run is for.
    pub person: PersonId,
    /// Kind of the run.
    pub kind: ConversationKind,
    /// Request and its material, each part with its own label.
    pub words: &'a [AssignedText],
    /// Journal nodes that the texts are derived from.
    pub from: &'a [Node],
    /// Current time.
    pub at: Timestamp,
}

/// Part of an assignment.
#[derive(Debug, Clone)]
pub struct AssignedText {
    /// Words.
    pub text: Text,
    /// True if they came from outside, and the person of the run agreed to exactly them.
    pub is_agreed: bool,
}

impl From<Text> for AssignedText {
    fn from(text: Text) -> Self {
        Self { text, is_agreed: false }
    }
}

/// Location of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// Stream of the run, which the caller has to wake.
    pub stream: StreamId,
    /// Conversation of the run.
    pub conversation: ConversationId,
}

/// Outcome of the newest run in a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunOutcome {
    /// The run is not over.
    Open,
    /// The run has an answer, which is stored as a message and was not delivered.
    Answered {
        /// Turn of the run.
        turn: TurnId,
        /// Message that holds the answer.
        message: crate::id::MessageId,
        /// Answer, labelled with the join of everything that was read for it.
        text: Text,
    },
    /// The run ended without an answer.
    GaveUp {
        /// Stored [`UnansweredReason`].
        reason: String,
    },
}

impl RunOutcome {
    /// Returns a run that ended without an answer.
    pub fn gave_up(reason: UnansweredReason) -> Self {
        Self::GaveUp { reason: reason.as_str().to_owned() }
    }
}

/// Assigns a run, in a conversation of its own. Returns `None` if the person has no address.
pub fn assign(tx: Tx<'_>, assignment: &Assignment<'_>) -> anyhow::Result<Option<Run>> {
    let Some(address) = address_of(*tx, assignment.person)? else { return Ok(None) };
    let scope = Scope::Person(assignment.person);
    let stream = tx.conversations().work_stream_for(assignment.person)?;
    let (kind, because, at) = (assignment.kind, BoundaryReason::Schedule, assignment.at);
    let conversation = tx.conversations().open_conversation(&NewConversation { stream, kind, scope, because, at })?;
    let run = Run { stream, conversation };
    say(tx, run, address, assignment)?;
    Ok(Some(run))
}

/// Assigns another run in the same conversation. Returns `None` if the person has no address any
/// more.
///
/// # Errors
/// If the conversation does not exist.
pub fn ask_again(tx: Tx<'_>, conversation: ConversationId, again: &Assignment<'_>) -> anyhow::Result<Option<Run>> {
    let Some(address) = address_of(*tx, again.person)? else { return Ok(None) };
    let stream = tx.conversations().work_stream_for(again.person)?;
    let run = Run { stream, conversation };
    say(tx, run, address, again)?;
    Ok(Some(run))
}

/// Outcome of the newest run in that conversation.
pub fn outcome(db: Db<'_>, conversation: ConversationId) -> anyhow::Result<RunOutcome> {
    let messages = db.messages().messages_of(conversation)?;
    let request = messages.iter().rev().find(|message| message.kind == MessageKind::Task);
    let Some(request) = request else { return Ok(RunOutcome::gave_up(UnansweredReason::NeverAsked)) };
    let Some(turn) = request.turn.map(|id| db.turns().turn(id)).transpose()?.flatten() else {
        let closed = request.state == MessageState::Closed;
        return Ok(if closed { RunOutcome::GaveUp { reason: request.reason.clone() } } else { RunOutcome::Open });
    };
    if turn.is_open() {
        return Ok(RunOutcome::Open);
    }
    let reply = messages.iter().find(|message| message.kind == MessageKind::Reply && message.turn == Some(turn.id));
    let Some(reply) = reply else { return Ok(RunOutcome::GaveUp { reason: request.reason.clone() }) };
    let text = db.messages().texts_of(reply.id)?.into_iter().next().map(|text| text.text);
    let Some(text) = text else { return Ok(RunOutcome::gave_up(UnansweredReason::Forgotten)) };
    Ok(RunOutcome::Answered { turn: turn.id, message: reply.id, text })
}

/// Address at which a person is reached: the preferred one, else the one where they wrote last,
/// else any that they have.
pub fn address_of(db: Db<'_>, person: PersonId) -> anyhow::Result<Option<AddressId>> {
    if let Some(heard) = db.addresses().reached_at(person)? {
        return Ok(Some(heard));
    }
    Ok(db.addresses().addresses_of(person)?.first().map(|known| known.id))
}

fn say(tx: Tx<'_>, run: Run, address: AddressId, assignment: &Assignment<'_>) -> anyhow::Result<()> {
    let scope = Scope::Person(assignment.person);
    let message = tx.messages().add_message(&NewMessage {
        stream: run.stream,
        conversation: Some(run.conversation),
        inbox: None,
        address: Some(address),
        person: None,
        guest: None,
        kind: MessageKind::Task,
        scope,
        external_id: "",
        album: "",
        received_at: assignment.at,
        server_at: None,
        effective_at: assignment.at,
        turn: None,
    })?;
    for AssignedText { text, is_agreed } in assignment.words {
        let kind = if *is_agreed { TextKind::Agreed } else { TextKind::Said };
        // The text is stored elsewhere too, and search finds it there.
        tx.messages().add_unsearched_text(message, kind, text)?;
    }
    for parent in assignment.from {
        tx.derivations().derive(Node::Message(message), *parent)?;
    }
    tx.conversations().count_message(run.conversation, message, assignment.at)
}

/// Authors of files that a person wrote themselves: with another program, or by a command.
const PEOPLE: [&str; 2] = ["hand", "person"];

/// Effects allowed to a run that no person reads along. A reflection requests everything else in
/// its result.
const REFLECTION: Effects = Effects::READS.and(Effects::READS_PERSONAL).and(Effects::FETCHES);
const ERRAND: Effects = REFLECTION.and(Effects::WRITES).and(Effects::PROPOSES).and(Effects::OF_OWNER);
/// Lists, proposals and reflections belong to one person, who can manage them in their direct chat.
const GROUP: Effects =
    Effects::ALL.without(Effects::SCHEDULES).without(Effects::PROPOSES).without(Effects::READS_PERSONAL);

/// Permitted effects of a conversation.
///
/// A run that no person reads along passes nothing to other programs, with one exception: a tool
/// that its person named in text that they wrote themselves. `HEARTBEAT.md` counts if it was
/// written by hand or by a command. The text of a task was chosen by a model; it counts only if it
/// appears verbatim in what the person typed up to the request.
#[derive(Debug)]
pub struct Allowance {
    effects: Effects,
    is_run: bool,
    /// Texts in which tools of other programs may be named.
    words: Vec<String>,
}

impl Allowance {
    /// Derives the allowance of a conversation from the journal.
    pub fn of(db: Db<'_>, conversation: &Conversation) -> anyhow::Result<Self> {
        let kind = conversation.kind;
        let (effects, words) = match (kind, conversation.scope) {
            (ConversationKind::Reflection | ConversationKind::Imported, _) => (REFLECTION, Vec::new()),
            (ConversationKind::Heartbeat | ConversationKind::Task, _) => {
                (ERRAND, words_of_person(db, kind, conversation.id)?)
            }
            (ConversationKind::Chat | ConversationKind::Piped, Scope::Group(_)) => (GROUP, Vec::new()),
            (ConversationKind::Chat | ConversationKind::Piped, _) => (Effects::ALL, Vec::new()),
        };
        let is_owner = match conversation.scope {
            Scope::Person(id) => db.people().person(id)?.is_some_and(|person| person.role == Role::Owner),
            Scope::Group(_) | Scope::Shared => false,
        };
        let effects = if is_owner { effects } else { effects.without(Effects::OF_OWNER) };
        Ok(Self { effects, is_run: kind.is_run(), words })
    }

    /// Tools that are offered.
    pub fn offered(&self, toolbox: &Toolbox) -> std::sync::Arc<[ToolSpec]> {
        let all = toolbox.specs();
        if all.iter().all(|tool| self.refuses(toolbox, &tool.name).is_none()) {
            return all;
        }
        all.iter().filter(|tool| self.refuses(toolbox, &tool.name).is_none()).cloned().collect()
    }

    /// Returns the reason if that tool may not be called here.
    pub fn refuses(&self, toolbox: &Toolbox, name: &str) -> Option<String> {
        let effects = toolbox.effects(name)?;
        if effects.are_within(self.effects) {
            return None;
        }
        if !self.is_run || !effects.are_within(self.effects.and(Effects::LEAVES)) {
            return Some(says::unknown(name, &[]));
        }
        (!self.names(toolbox, name)).then(|| says::not_named(name))
    }

    fn names(&self, toolbox: &Toolbox, name: &str) -> bool {
        let names = toolbox.names_of(name);
        self.words.iter().any(|words| names.iter().any(|name| names_whole(words, name)))
    }
}

/// Returns true if a name occurs in a text as a whole word.
fn names_whole(words: &str, name: &str) -> bool {
    let is_of_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '-'));
    !name.is_empty()
        && words.match_indices(name).any(|(at, _)| {
            let before = words.get(..at).and_then(|before| before.chars().next_back());
            let after = words.get(at + name.len()..).and_then(|after| after.chars().next());
            !is_of_word(before) && !is_of_word(after)
        })
}

/// Texts of a run that its person wrote themselves.
fn words_of_person(db: Db<'_>, kind: ConversationKind, run: ConversationId) -> anyhow::Result<Vec<String>> {
    let asked = db.messages().messages_of(run)?.into_iter().find(|message| message.kind == MessageKind::Task);
    let Some(asked) = asked else { return Ok(Vec::new()) };
    // The first text is the program's own description of the run, the third what models said in
    // earlier ones.
    let texts = db.messages().texts_of(asked.id)?.into_iter().skip(1).take(1).map(|text| text.text);
    let texts: Vec<Text> = texts.filter(|text| text.label().is_trusted()).collect();
    let mut words: Vec<String> = texts.iter().map(|text| one_line(text.open().0)).collect();
    let mut is_asked_in_talk = false;
    for parent in db.derivations().parents(Node::Message(asked.id))? {
        match parent {
            Node::File(row) => {
                let author = db.file_versions().file_row(FileId(row))?.map(|row| row.author);
                words.retain(|_| author.as_deref().is_some_and(|author| PEOPLE.contains(&author)));
            }
            Node::Turn(turn) => {
                is_asked_in_talk = true;
                let typed = typed_in(db, turn)?;
                words.retain(|words| typed.iter().any(|typed| typed.contains(words)));
            }
            _ => words.clear(),
        }
    }
    words.retain(|_| is_asked_in_talk || kind == ConversationKind::Heartbeat);
    Ok(words)
}

/// Texts typed in the conversation of that turn up to then.
fn typed_in(db: Db<'_>, turn: TurnId) -> anyhow::Result<Vec<String>> {
    let Some(row) = db.turns().turn(turn)? else { return Ok(Vec::new()) };
    let mut typed = Vec::new();
    for message in db.messages().messages_of(row.conversation)? {
        if message.kind == MessageKind::Said && message.turn.is_some_and(|said| said <= turn) {
            let texts = db.messages().texts_of(message.id)?.into_iter();
            let texts = texts.filter(|text| text.kind == TextKind::Said && text.text.label().is_trusted());
            typed.extend(texts.map(|text| one_line(text.text.open().0)));
        }
    }
    Ok(typed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_is_named_by_a_whole_word() {
        for words in ["call fake__echo now", "fake/echo", "(echo)", "echo", "use `echo`, please"] {
            assert!(["fake__echo", "fake/echo", "echo"].iter().any(|name| names_whole(words, name)), "{words}");
        }
        for words in ["", "echoes", "my_echo", "re-echo it", "fake__echoes", "Echo"] {
            assert!(!["fake__echo", "fake/echo", "echo"].iter().any(|name| names_whole(words, name)), "{words}");
        }
    }
}
