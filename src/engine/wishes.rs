//! What a person typed as a wish of its own, in the messages that a turn answers.
//!
//! The program alone reads it, from her messages: a call that equals a wish is hers, although the
//! turn has read text from outside. Words that stood in such a text, or in an answer after one,
//! before she typed them are not.

use std::sync::Arc;

use super::record::{TurnRecord, calls_of};
use crate::id::MessageId;
use crate::store::{MessageKind, StepKind, TextKind};
use crate::time::Zone;
use crate::trust::{Labelled, Text};
use crate::wish::{TypedWish, Wish, plain_words};

/// Texts of a conversation in order, by who wrote them.
#[derive(Debug, Default)]
pub struct Authors(Vec<(Author, Arc<str>)>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Author {
    Person,
    Outside,
}

impl Authors {
    /// Adds a finished turn.
    pub fn add(&mut self, record: &TurnRecord) {
        self.0.extend(of_messages(record));
        for step in record.steps.iter().filter(|step| step.text.label().asks_before_leaving()) {
            self.0.push((Author::Outside, Arc::clone(step.text.open().0)));
            let calls = if step.kind == StepKind::Model { calls_of(step) } else { Vec::new() };
            self.0.extend(calls.into_iter().map(|call| (Author::Outside, Arc::from(call.arguments))));
        }
    }

    /// Returns the wishes in the messages of a turn, whose words the person was the first to write.
    pub fn wishes_of(&self, record: &TurnRecord, zone: Zone) -> Vec<TypedWish> {
        let now = zone.wall_clock(record.turn.claimed_at);
        let mut wishes = Vec::new();
        for (message, text) in typed(record) {
            let (words, label, scope) = text.open();
            let Some(wish) = Wish::in_message(words, now) else { continue };
            let span = words.get(wish.words.clone()).unwrap_or_default();
            let plain = plain_words(span);
            let here = of_messages(record);
            let mut all = self.0.iter().chain(&here);
            if all
                .find(|(_, text)| plain_words(text).contains(&plain))
                .is_none_or(|(author, _)| *author == Author::Person)
            {
                let words = Labelled::new(Arc::from(span), label.clone(), scope);
                wishes.push(TypedWish { words, when: wish.when, message });
            }
        }
        wishes
    }
}

/// Texts of the messages of a turn: what others wrote stands before what was typed with it.
fn of_messages(record: &TurnRecord) -> Vec<(Author, Arc<str>)> {
    let edits = record.edits.iter().filter(|edit| !edit.text.label().is_trusted()).map(|edit| &edit.text);
    let mut texts: Vec<(Author, Arc<str>)> = edits.map(|text| (Author::Outside, Arc::clone(text.open().0))).collect();
    for message in &record.messages {
        let of_it = record.texts.iter().filter(|text| text.message == message.id);
        let others = of_it.filter(|text| !text.text.label().is_trusted());
        texts.extend(others.map(|text| (Author::Outside, Arc::clone(text.text.open().0))));
        let own = typed(record).filter(|(of, _)| *of == message.id);
        texts.extend(own.map(|(_, text)| (Author::Person, Arc::clone(text.open().0))));
    }
    texts
}

/// What the person typed in the messages of a turn.
fn typed(record: &TurnRecord) -> impl Iterator<Item = (MessageId, &Text)> {
    let said = record.messages.iter().filter(|message| message.kind == MessageKind::Said && message.person.is_some());
    said.flat_map(|message| {
        let texts = record.texts.iter().filter(|text| text.message == message.id && text.kind == TextKind::Said);
        texts.filter(|text| text.text.label().is_trusted()).map(|text| (message.id, &text.text))
    })
}
