//! "Keep this?": what a tainted turn wanted to remember is put to its person, behind the turn's
//! answer.
//!
//! The words lie in `memory/untrusted/` already, and nothing reads them by itself. The person sees
//! all of them, with nothing hidden, or is told where to look: nobody is asked about what they were
//! not shown. The questions are posted in the transaction that ends the turn, so they are put once.
//! Nobody is asked in a group or about work that the program does by itself.

use std::sync::Arc;

use crate::review::diff::fenced;
use crate::review::reveal::reveal;
use crate::store::{KEEP_WAITS, KeepRow, NewOutbox, OutboxKind, TurnRow, Tx};
use crate::time::Timestamp;
use crate::trust::{Label, Labelled};
use crate::wording::memory as says;
use crate::wording::why::all_in_words;

/// So many are asked one by one.
const MOST: usize = 3;
/// What is longer than this in bytes is not put into a question.
const LONGEST: usize = 3_000;

/// Asks about everything that the turn wanted to keep.
pub(super) fn ask(tx: Tx<'_>, row: &TurnRow, now: Timestamp) -> anyhow::Result<()> {
    let Some(person) = row.person else { return Ok(()) };
    let wanted = tx.keep_requests().wanted_keeps(row.id)?;
    let (short, long): (Vec<_>, Vec<_>) =
        wanted.into_iter().filter(|keep| keep.person == person).partition(|keep| keep.shown.open().0.len() <= LONGEST);
    for keep in short.iter().take(MOST) {
        put(tx, row, keep, now)?;
    }
    let rest: Vec<&KeepRow> = short.iter().skip(MOST).chain(&long).collect();
    point_to(tx, row, &rest, now)
}

/// One question with the exact words.
fn put(tx: Tx<'_>, row: &TurnRow, keep: &KeepRow, now: Timestamp) -> anyhow::Result<()> {
    let number = tx.keep_requests().ask_to_keep(keep.id, row.address)?;
    let (words, label, scope) = keep.shown.open();
    let page =
        [says::keep_this(&keep.path, &all_in_words(label)), fenced(&reveal(words)), says::keep_how(number, KEEP_WAITS)];
    let text = Labelled::new(Arc::from(page.join("\n\n")), label.clone(), scope);
    let buttons = [(says::KEEP_BUTTON, "yes"), (says::LEAVE_BUTTON, "no")];
    let buttons = buttons.map(|(title, word)| (title.to_owned(), format!("/{word} {number}")));
    let (kind, buttons) = (OutboxKind::Notice, &buttons[..]);
    tx.outbox().post(&NewOutbox { kind, buttons, ..NewOutbox::notice(row.address, &text, now) }).map(drop)
}

/// Where to look for what is too long, or too much.
fn point_to(tx: Tx<'_>, row: &TurnRow, rest: &[&KeepRow], now: Timestamp) -> anyhow::Result<()> {
    if rest.is_empty() {
        return Ok(());
    }
    // The names of the files were made of words from outside.
    let label = rest.iter().fold(Label::clone(&row.label), |label, keep| label.join_with(keep.shown.label()));
    let name = |path: &str| path.trim_start_matches("memory/untrusted/").trim_end_matches(".md").to_owned();
    let lines = rest.iter().map(|keep| says::keep_later(&keep.path, &name(&keep.path)));
    let words: Vec<String> = std::iter::once(says::KEEP_LATER.to_owned()).chain(lines).collect();
    let text = Labelled::new(Arc::from(words.join("\n")), label, row.scope);
    tx.outbox().post(&NewOutbox::notice(row.address, &text, now)).map(drop)
}
