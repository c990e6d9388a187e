//! "Keep this?": asks the person, after the turn's answer, about what a tainted turn wanted to
//! remember.
//!
//! The text is already in `memory/untrusted/`, and nothing loads it automatically. The person sees
//! all of it, with nothing hidden, or is told where to look: no question is about text that was not
//! shown. The questions are posted in the transaction that ends the turn, so they are asked once.
//! There are no questions in a group or in a system run.

use std::sync::Arc;

use crate::review::diff::fenced;
use crate::review::reveal::reveal;
use crate::store::{KEEP_WAITS, KeepRow, NewOutbox, OutboxKind, TurnRow, Tx};
use crate::time::Timestamp;
use crate::trust::{Label, Labelled};
use crate::wording::memory as says;
use crate::wording::why::all_in_words;

/// Maximum number of separate questions.
const MOST: usize = 3;
/// Maximum length in bytes of a text in a question.
const LONGEST: usize = 3_000;

/// Asks about everything that the turn wanted to keep.
pub(super) fn ask(tx: Tx<'_>, row: &TurnRow, now: Timestamp) -> anyhow::Result<()> {
    let Some(person) = row.person else { return Ok(()) };
    let wanted = tx.keep_requests().unasked_keep_requests(row.id)?;
    let (short, long): (Vec<_>, Vec<_>) =
        wanted.into_iter().filter(|keep| keep.person == person).partition(|keep| keep.shown.open().0.len() <= LONGEST);
    for keep in short.iter().take(MOST) {
        put(tx, row, keep, now)?;
    }
    let rest: Vec<&KeepRow> = short.iter().skip(MOST).chain(&long).collect();
    point_to(tx, row, &rest, now)
}

/// Posts one question with the exact text.
fn put(tx: Tx<'_>, row: &TurnRow, keep: &KeepRow, now: Timestamp) -> anyhow::Result<()> {
    let number = tx.keep_requests().mark_keep_asked(keep.id, row.address)?;
    let (words, label, scope) = keep.shown.open();
    let page =
        [says::keep_this(&keep.path, &all_in_words(label)), fenced(&reveal(words)), says::keep_how(number, KEEP_WAITS)];
    let text = Labelled::new(Arc::from(page.join("\n\n")), label.clone(), scope);
    let buttons = [(says::KEEP_BUTTON, "yes"), (says::LEAVE_BUTTON, "no")];
    let buttons = buttons.map(|(title, word)| (title.to_owned(), format!("/{word} {number}")));
    let (kind, buttons) = (OutboxKind::Notice, &buttons[..]);
    tx.outbox().post(&NewOutbox { kind, buttons, ..NewOutbox::notice(row.address, &text, now) }).map(drop)
}

/// Posts a notice that names the files that are too long or too many to ask about.
fn point_to(tx: Tx<'_>, row: &TurnRow, rest: &[&KeepRow], now: Timestamp) -> anyhow::Result<()> {
    if rest.is_empty() {
        return Ok(());
    }
    // The file names were derived from untrusted text.
    let label = rest.iter().fold(Label::clone(&row.label), |label, keep| label.join_with(keep.shown.label()));
    let name = |path: &str| path.trim_start_matches("memory/untrusted/").trim_end_matches(".md").to_owned();
    let lines = rest.iter().map(|keep| says::keep_later(&keep.path, &name(&keep.path)));
    let words: Vec<String> = std::iter::once(says::KEEP_LATER.to_owned()).chain(lines).collect();
    let text = Labelled::new(Arc::from(words.join("\n")), label, row.scope);
    tx.outbox().post(&NewOutbox::notice(row.address, &text, now)).map(drop)
}
