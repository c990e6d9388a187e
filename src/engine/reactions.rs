//! Emoji reactions to messages, as the next turn is shown them.
//!
//! The text is rendered once, in the transaction that begins the turn, and stored with it: every
//! later rendering of the turn has the same bytes. All of it is the program's own text except for
//! the beginning of the message, which is quoted only if it is trusted.

use crate::id::{StreamId, TurnId};
use crate::store::{Db, MessageKind, Reaction, TextKind, Tx, excerpt};
use crate::time::Zone;
use crate::wording::reaction as says;

/// Stores the reactions that came since the previous turn for a turn that begins.
pub fn store_reactions(tx: Tx<'_>, stream: StreamId, turn: TurnId, zone: Zone) -> anyhow::Result<()> {
    let reactions = tx.reactions().new_reactions(stream)?;
    if reactions.is_empty() {
        return Ok(());
    }
    let lines: Vec<String> = reactions.iter().map(|reaction| line(*tx, reaction, zone)).collect::<Result<_, _>>()?;
    tx.reactions().store_reaction_text(turn, &says::block(&lines), &reactions)
}

fn line(db: Db<'_>, reaction: &Reaction, zone: Zone) -> anyhow::Result<String> {
    let who = db.people().person(reaction.person)?.map(|person| person.name).unwrap_or_default();
    let Some(message) = db.messages().message(reaction.message)? else { return Ok(String::new()) };
    let texts = db.messages().texts_of(message.id)?;
    let said = texts.iter().find(|text| text.kind == TextKind::Said && text.text.label().is_trusted());
    let words = said.map(|text| excerpt(text.text.open().0));
    let ours = message.kind == MessageKind::Reply;
    let at = zone.show_short(message.effective_at);
    Ok(says::line(&who, &reaction.emoji, &reaction.told, ours, &at, words.as_deref()))
}
