//! What people put under messages, as the next turn is told of it.
//!
//! The words are made once, in the transaction that begins the turn, and stored with it: whoever
//! shows the turn again shows the same bytes. They are the program's own but for the beginning of
//! the message, which stands there only if nothing untrusted had a part in it.

use crate::id::{StreamId, TurnId};
use crate::store::{Db, MessageKind, Reaction, TextKind, Tx, excerpt};
use crate::time::Zone;
use crate::wording::reaction as says;

/// Tells a turn that begins of the reactions that came since the one before.
pub fn tell(tx: Tx<'_>, stream: StreamId, turn: TurnId, zone: Zone) -> anyhow::Result<()> {
    let reactions = tx.reactions().untold_reactions(stream)?;
    if reactions.is_empty() {
        return Ok(());
    }
    let lines: Vec<String> = reactions.iter().map(|reaction| line(*tx, reaction, zone)).collect::<Result<_, _>>()?;
    tx.reactions().tell_reactions(turn, &says::block(&lines), &reactions)
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
