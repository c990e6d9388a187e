//! Record of one turn: everything that the journal holds about it, and the emoji reactions that it
//! is shown.

use std::collections::HashMap;

use crate::id::{MessageId, StreamId, TurnId};
use crate::model::ToolCall;
use crate::store::{
    Attachment, Covers, Db, MessageKind, QuestionRow, QuestionState, Reaction, SentRow, StepRow, StoredMessage,
    StoredText, TextKind, TurnRow, Tx, excerpt,
};
use crate::time::Zone;
use crate::trust::{Scope, Text};
use crate::wording::attachments as says;

/// Everything that the journal holds about one turn.
#[derive(Debug)]
pub struct TurnRecord {
    /// The turn.
    pub turn: TurnRow,
    /// Messages that it answers.
    pub messages: Vec<StoredMessage>,
    /// Speakers of those messages, in a group.
    pub speakers: HashMap<MessageId, String>,
    /// Texts of those messages.
    pub texts: Vec<StoredText>,
    /// Files of those messages.
    pub attachments: Vec<Attachment>,
    /// Reactions that it was shown; blank if there were none.
    pub reacted: String,
    /// Messages that it was shown and that the person had not asked for.
    pub sent: Vec<SentRow>,
    /// Edits that it was shown, made after their messages were answered.
    pub edits: Vec<ShownEdit>,
    /// Steps of the turn.
    pub steps: Vec<StepRow>,
    /// Question whose answer began the turn, if no messages did.
    pub answers: Option<QuestionRow>,
    /// First message of the exchange that the turn continues or starts.
    pub first_message: Option<MessageId>,
}

impl TurnRecord {
    /// Reads a turn.
    pub fn read(db: Db<'_>, turn: TurnRow) -> anyhow::Result<Self> {
        let messages = db.messages().messages_of_turn(turn.id)?;
        let (mut texts, mut attachments, mut speakers) = (Vec::new(), Vec::new(), HashMap::new());
        for message in &messages {
            if matches!(turn.scope, Scope::Group(_)) {
                speakers.extend(speaker(db, message)?.map(|name| (message.id, name)));
            }
            texts.extend(db.messages().texts_of(message.id)?);
            attachments.extend(db.attachments().attachments_of(message.id)?);
        }
        let (steps, reacted) = (db.turns().steps(turn.id)?, db.reactions().reacted(turn.id)?);
        let sent = db.sent().shown_to(turn.id)?;
        let edits = ShownEdit::all(db, db.messages().edits_shown_to(turn.id)?)?;
        let answers = if messages.is_empty() { db.questions().question_before(turn.id)? } else { None };
        let first_message = match &answers {
            Some(question) => db.questions().first_message_of(question.turn)?,
            None => messages.first().map(|message| message.id),
        };
        Ok(Self { turn, messages, speakers, texts, attachments, reacted, sent, edits, steps, answers, first_message })
    }

    /// Returns the question whose yes began the turn.
    pub fn agreed_to(&self) -> Option<&QuestionRow> {
        self.answers.as_ref().filter(|_| self.answer() == Some(ConsentAnswer::Yes))
    }

    /// Returns the answer that began the turn, if no messages did.
    pub fn answer(&self) -> Option<ConsentAnswer> {
        let question = self.answers.as_ref()?;
        Some(match question.state {
            // A late answer begins another turn.
            _ if question.resumed_by == Some(self.turn.id) => ConsentAnswer::Silence,
            QuestionState::Yes => ConsentAnswer::Yes,
            QuestionState::Refused => ConsentAnswer::No,
            QuestionState::Open | QuestionState::Passed | QuestionState::Expired => ConsentAnswer::Silence,
        })
    }
}

/// A person's answer to a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConsentAnswer {
    /// Yes.
    Yes,
    /// No.
    No,
    /// None so far.
    Silence,
}

/// An edit of a message that was answered before.
#[derive(Debug, Clone)]
pub struct ShownEdit {
    /// The message.
    pub message: StoredMessage,
    /// Speaker, in a group.
    pub speaker: Option<String>,
    /// The text that the message has now.
    pub text: Text,
}

impl ShownEdit {
    /// Adds the messages to the texts of edits. Deleted ones are left out.
    pub fn all(db: Db<'_>, texts: Vec<StoredText>) -> anyhow::Result<Vec<Self>> {
        let mut edits = Vec::new();
        for StoredText { message, text, .. } in texts {
            let message = db.messages().message(message)?.filter(|message| !message.gone);
            let Some(message) = message.filter(|_| !text.open().0.is_empty()) else { continue };
            let is_group = matches!(text.scope(), Scope::Group(_));
            let speaker = if is_group { speaker(db, &message)? } else { None };
            edits.push(Self { message, speaker, text });
        }
        Ok(edits)
    }
}

/// Speaker of a message: the configured name of a person, a guest's number, or the archive that it
/// was imported from. `None` for a message without a sender.
pub fn speaker(db: Db<'_>, message: &StoredMessage) -> anyhow::Result<Option<String>> {
    if let Some(number) = message.guest {
        return Ok(Some(crate::wording::prompt::guest(number)));
    }
    if let Some(kind) = db.imports().archive_of(message.id)? {
        return Ok(Some(crate::wording::import::imported_from(crate::wording::Language::ENGLISH, kind.as_str())));
    }
    let person = message.person.map_or(Ok(None), |id| db.people().person(id))?;
    Ok(person.map(|person| person.name))
}

/// Tool calls of a model step.
pub fn calls_of(step: &StepRow) -> Vec<ToolCall> {
    serde_json::from_str(&step.call).unwrap_or_default()
}

/// Calls that a question withholds. None if they cannot be read.
pub fn withheld_calls(question: &QuestionRow) -> Vec<ToolCall> {
    let stored = question.calls.open().0;
    serde_json::from_str(stored).or_else(|_| serde_json::from_str(stored).map(|call| vec![call])).unwrap_or_default()
}

/// Calls that the person of a question was shown.
pub fn shown_calls(question: &QuestionRow) -> Vec<ToolCall> {
    let calls = withheld_calls(question).into_iter().zip(&question.covers);
    calls.filter(|(_, covers)| **covers != Covers::Nothing).map(|(call, _)| call).collect()
}

/// Stores the reactions that came since the previous turn for a turn that begins.
///
/// The text is rendered once, in the transaction that begins the turn, and stored with it: every
/// later rendering of the turn has the same bytes. All of it is the program's own text except for
/// the beginning of the message, which is quoted only if it is trusted.
pub fn store_reactions(tx: Tx<'_>, stream: StreamId, turn: TurnId, zone: Zone) -> anyhow::Result<()> {
    let reactions = tx.reactions().new_reactions(stream)?;
    if reactions.is_empty() {
        return Ok(());
    }
    let lines: Vec<String> = reactions.iter().map(|reaction| line(*tx, reaction, zone)).collect::<Result<_, _>>()?;
    tx.reactions().store_reaction_text(turn, &says::reactions(&lines), &reactions)
}

fn line(db: Db<'_>, reaction: &Reaction, zone: Zone) -> anyhow::Result<String> {
    let who = db.people().person(reaction.person)?.map(|person| person.name).unwrap_or_default();
    let Some(message) = db.messages().message(reaction.message)? else { return Ok(String::new()) };
    let texts = db.messages().texts_of(message.id)?;
    let said = texts.iter().find(|text| text.kind == TextKind::Said && text.text.label().is_trusted());
    let words = said.map(|text| excerpt(text.text.open().0));
    let ours = message.kind == MessageKind::Reply;
    let at = zone.show_short(message.effective_at);
    Ok(says::reaction(&who, &reaction.emoji, &reaction.told, ours, &at, words.as_deref()))
}
