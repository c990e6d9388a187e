//! Emoji reactions: one row for each person and message, with the state last shown to the
//! assistant.
//!
//! A reaction is not a message: it opens no conversation and calls no model. The next turn of the
//! stream gets a text about it, which is stored with the turn.

use crate::store::handles::{Reactions, ReactionsMut};
use crate::store::rows::from_row;
use rusqlite::params;

use crate::id::{MessageId, PersonId, StreamId, TurnId};
use crate::store::Node;
use crate::text::{one_line, shorten};
use crate::time::Timestamp;

/// Characters of a message quoted in that text.
const EXCERPT: usize = 60;
/// Maximum number of reactions per turn.
const MOST: u32 = 20;

/// A reaction not yet shown to the assistant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reaction {
    /// Message.
    pub message: MessageId,
    /// Person.
    pub person: PersonId,
    /// Emoji; blank if it was removed.
    pub emoji: String,
    /// Emoji shown to the assistant before; blank if none.
    pub told: String,
}

from_row! { Reaction { message: "message_id", person: "person_id", emoji, told } }

/// Returns the beginning of a message, as a reference to it.
pub fn excerpt(words: &str) -> String {
    shorten(&one_line(words), EXCERPT)
}

impl Reactions<'_> {
    /// Returns the reactions to messages of that stream that no turn has been shown.
    pub fn new_reactions(&self, stream: StreamId) -> anyhow::Result<Vec<Reaction>> {
        self.db.all(
            "SELECT r.message_id, r.person_id, r.emoji, r.told FROM reactions r JOIN messages m
             ON m.id = r.message_id
             WHERE r.emoji <> r.told AND m.stream_id = ?1 ORDER BY r.at, r.id LIMIT ?2",
            params![stream, MOST],
        )
    }

    /// Returns a turn's text about reactions; blank if there is none.
    pub fn reacted(&self, turn: TurnId) -> anyhow::Result<String> {
        self.db.one("SELECT reacted FROM turns WHERE id = ?1", [turn])
    }
}

impl ReactionsMut<'_> {
    /// Records a reaction to a message; a blank emoji removes it.
    pub fn react(&self, message: MessageId, person: PersonId, emoji: &str, now: Timestamp) -> anyhow::Result<()> {
        self.db.run(
            "INSERT INTO reactions (message_id, person_id, emoji, at) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (message_id, person_id) DO UPDATE SET emoji = ?3, at = ?4",
            params![message, person, emoji, now],
        )
    }

    /// Stores a turn's text about these reactions.
    pub fn store_reaction_text(&self, turn: TurnId, words: &str, of: &[Reaction]) -> anyhow::Result<()> {
        self.db.run("UPDATE turns SET reacted = ?2 WHERE id = ?1", params![turn, words])?;
        let mut told =
            self.db.prepare_cached("UPDATE reactions SET told = ?3 WHERE message_id = ?1 AND person_id = ?2")?;
        for reaction in of {
            told.execute(params![reaction.message, reaction.person, reaction.emoji])?;
            self.tx().derivations().derive(Node::Turn(turn), Node::Message(reaction.message))?;
        }
        Ok(())
    }

    /// Removes the quotes of a deleted message from the texts about reactions.
    pub(super) fn unquote(&self, message: MessageId) -> anyhow::Result<()> {
        let told: Vec<(TurnId, i64, String)> = self.db.all(
            "SELECT u.id, u.conversation_id, t.text FROM derived_from d JOIN turns u
                 ON u.id = CAST(substr(d.child, 6) AS INTEGER)
                 JOIN texts t ON t.message_id = ?1 AND t.kind = 'said'
                 WHERE d.parent = 'message:' || ?1 AND d.child LIKE 'turn:%' AND u.reacted <> ''",
            [message],
        )?;
        for (turn, conversation, words) in told {
            self.db.run(
                "UPDATE turns SET reacted = replace(reacted, ?2, '…') WHERE id = ?1",
                params![turn, excerpt(&words)],
            )?;
            self.db.run("UPDATE conversations SET revision = revision + 1 WHERE id = ?1", [conversation])?;
        }
        Ok(())
    }
}
