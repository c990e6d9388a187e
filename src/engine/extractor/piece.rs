//! Piece of a conversation covered by one question: whole messages in order, from the oldest unread
//! one.
//!
//! Nothing is left out. Material longer than one call is asked about piece by piece, so that the
//! newest text comes last instead of never; a single message longer than a call is read in several
//! and answered as one.

use std::sync::Arc;

use crate::engine::summary::SummaryLine;
use crate::id::MessageId;
use crate::store::Node;
use crate::trust::{Label, Labelled, Scope, Text};
use crate::wording::{extraction, prompt};

/// Characters of a conversation that one call reads.
pub(super) const MOST: usize = 20_000;

/// Part of a conversation.
#[derive(Debug, Clone)]
pub(super) struct ConversationChunk {
    /// Text with a number before each line: one text, or several of one long message.
    pub texts: Vec<Text>,
    /// Sources of the lines, starting with line number 1.
    pub sources: Vec<Node>,
    /// Last message of the part.
    pub upto: MessageId,
}

/// Returns the first piece of these lines; `None` if there are none.
pub(super) fn first(lines: &[SummaryLine], scope: Scope) -> Option<ConversationChunk> {
    let first = lines.first()?.message;
    let (mut taken, mut length, mut upto) = (0, 0, first);
    for said in lines.chunk_by(|one, other| one.message == other.message) {
        let more: usize = said.iter().map(|line| line.text.open().0.chars().count()).sum();
        if taken > 0 && length + more > MOST {
            break;
        }
        taken += said.len();
        length += more;
        upto = said.last().map_or(upto, |line| line.message);
    }
    let taken: Vec<&SummaryLine> = lines.iter().take(taken).collect();
    Some(ConversationChunk { texts: texts(&taken, scope), sources: taken.iter().map(|line| line.from).collect(), upto })
}

/// Renders the lines, split where a single one is too long.
fn texts(lines: &[&SummaryLine], scope: Scope) -> Vec<Text> {
    let mut texts: Vec<(String, usize, Label)> = Vec::new();
    for (number, line) in (1..).zip(lines) {
        let (words, label, _) = line.text.open();
        let usual = if line.by_person { prompt::PERSON } else { prompt::ASSISTANT };
        let who = line.speaker.as_deref().unwrap_or(usual);
        for part in parts(words) {
            let length = part.chars().count();
            let spoken = extraction::line(number, who, &part);
            match texts.last_mut() {
                Some((text, so_far, joined)) if *so_far + length <= MOST => {
                    text.push_str(&spoken);
                    *so_far += length;
                    joined.absorb(label);
                }
                _ => texts.push((spoken, length, label.clone())),
            }
        }
    }
    texts.into_iter().map(|(text, _, label)| Labelled::new(Arc::from(text), label, scope)).collect()
}

fn parts(words: &str) -> Vec<String> {
    let all: Vec<char> = words.chars().collect();
    all.chunks(MOST).map(|part| part.iter().collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::PersonId;
    use proptest::prelude::*;

    const ADA: Scope = Scope::Person(PersonId(1));

    fn line(id: i64, words: &str) -> SummaryLine {
        let message = MessageId(id);
        let text = Labelled::new(Arc::from(words), Label::neutral(), ADA);
        SummaryLine { by_person: id % 2 == 1, speaker: None, from: Node::Message(message), message, text }
    }

    /// All pieces, as the extractor takes them one after the other.
    fn all(lines: &[SummaryLine]) -> Vec<ConversationChunk> {
        let (mut pieces, mut upto) = (Vec::new(), MessageId(0));
        loop {
            let left: Vec<SummaryLine> = lines.iter().filter(|line| line.message > upto).cloned().collect();
            let Some(piece) = first(&left, ADA) else { return pieces };
            upto = piece.upto;
            pieces.push(piece);
        }
    }

    #[test]
    fn lines_are_numbered_and_say_who_spoke() {
        let piece = first(&[line(1, "Hi"), line(2, "Hello")], ADA).unwrap();
        assert_eq!(&**piece.texts[0].open().0, "[1] Person: Hi\n[2] Assistant: Hello\n");
        assert_eq!((piece.sources.len(), piece.upto), (2, MessageId(2)));
        assert!(first(&[], ADA).is_none());
    }

    proptest! {
        #[test]
        fn every_word_is_read_once_and_in_order(lengths in prop::collection::vec(0_usize..50_000, 0..10)) {
            let lines: Vec<SummaryLine> = (1..).zip(&lengths).map(|(id, n)| line(id, &"é".repeat(*n))).collect();
            let pieces = all(&lines);
            let read: usize =
                pieces.iter().flat_map(|piece| &piece.texts).map(|text| text.open().0.matches('é').count()).sum();
            prop_assert_eq!(read, lengths.iter().sum::<usize>());
            prop_assert!(pieces.is_sorted_by_key(|piece| piece.upto));
            for piece in &pieces {
                prop_assert!(piece.texts.iter().all(|text| text.open().0.matches('é').count() <= MOST));
                prop_assert!(piece.texts.len() == 1 || piece.sources.len() == 1);
            }
        }
    }
}
