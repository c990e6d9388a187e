//! The heartbeat: a periodic check of `HEARTBEAT.md`, which the owner writes by hand, and an
//! assistant run if the file is actionable.
//!
//! While it is not ([`actionable`]) no model is called and no slot is created. A check costs one
//! line in the journal, the time of the last check, and the next check is computed from that time,
//! however often the program restarts. There are no checks in quiet hours; one that was due then
//! happens once after them. While other work runs for the owner, a check is skipped. The file
//! counts only while it is trusted: untrusted text in it starts no run.
//!
//! An answer that reports nothing is stored and not sent. A failed run is neither repeated nor
//! reported: the next check sees the same file.

mod actionable;

use anyhow::Context;

use super::{FinishedRun, Schedule, claim_occurrence, post_answer};
use crate::engine::system_run::{Assignment, RunOutcome, address_of, assign};
use crate::id::{PersonId, StreamId};
use crate::store::{Cause, ConversationKind, Node, SlotState, Tx};
use crate::time::{Timestamp, Zone, quiet_until};
use crate::trust::{Scope, Text};
use crate::wording::schedule as says;
use crate::wording::{self, turn::EMPTY_ANSWER};

/// The job name of heartbeat slots.
const JOB: &str = "heartbeat";
/// The setting that holds the time of the last check.
const LAST_CHECK: &str = "heartbeat_at";

/// A run to start: the owner, the file's text, and its row if the program wrote it.
type DueHeartbeat = (PersonId, Text, Option<i64>);

impl Schedule {
    /// Does what is due, and returns the time of the next check.
    pub(super) async fn heartbeat(&self) -> anyhow::Result<Option<Timestamp>> {
        self.end_heartbeats().await?;
        let Some(interval) = self.heartbeat.interval else { return Ok(None) };
        let now = self.clock.now();
        let last = self.journal.read(|db| db.settings().fact(LAST_CHECK)).await?;
        let due = match last.and_then(|at| at.parse().ok()).map(Timestamp) {
            Some(last) if last <= now => last.plus(interval),
            // The first check, or the clock was set back: the interval starts again.
            _ => {
                self.journal.write("begin to count heartbeats", move |tx| record_check(tx, now)).await?;
                now.plus(interval)
            }
        };
        if now < due {
            return Ok(Some(due));
        }
        if let Some(end) = quiet_until(self.heartbeat.quiet, now, self.zone) {
            return Ok(Some(end));
        }
        let (to_do, zone) = (self.actionable_file().await, self.zone);
        let begun = self.journal.write("look at the heartbeat file", move |tx| {
            record_check(tx, now)?;
            to_do.map_or(Ok(None), |to_do| begin(tx, &to_do, due, zone, now))
        });
        if let Some(stream) = begun.await? {
            self.engine.wake_stream(stream);
        }
        Ok(Some(now.plus(interval)))
    }

    /// Returns the file's content if it is trusted and actionable.
    async fn actionable_file(&self) -> Option<DueHeartbeat> {
        let (owner, text, row) = match self.workspace.files().read_heartbeat().await {
            Ok(found) => found?,
            Err(error) => {
                tracing::warn!("HEARTBEAT.md cannot be read, and nothing is done about it: {error:#}");
                return None;
            }
        };
        let (words, label, _) = text.open();
        if !actionable::is_actionable(words) {
            return None;
        }
        if !label.is_trusted() {
            tracing::warn!("HEARTBEAT.md is not followed: untrusted text had a part in it ({})", label.encode());
            return None;
        }
        Some((owner, text, row))
    }

    async fn end_heartbeats(&self) -> anyhow::Result<()> {
        let now = self.clock.now();
        for ended in self.ended(|job| job == JOB).await? {
            let posted = self.journal.write("end a heartbeat", move |tx| match &ended {
                FinishedRun { slot, outcome: RunOutcome::Answered { text, message, .. } } if !is_nothing(text) => {
                    post_answer(tx, slot, Cause::HEARTBEAT, *message, text, now)
                }
                FinishedRun { slot, outcome: RunOutcome::GaveUp { reason } } => {
                    tx.slots().end_slot(slot.id, SlotState::Failed, reason, now).map(|_| None)
                }
                FinishedRun { slot, .. } => tx.slots().end_slot(slot.id, SlotState::Done, "", now).map(|_| None),
            });
            if let Some(address) = posted.await? {
                self.engine.channels.posted(address);
            }
        }
        Ok(())
    }
}

fn record_check(tx: Tx<'_>, now: Timestamp) -> anyhow::Result<()> {
    tx.settings().set_fact(LAST_CHECK, &now.0.to_string())
}

/// Claims the slot and assigns the run. `None` if the slot was claimed before, other work runs, or
/// the owner cannot be reached.
fn begin(
    tx: Tx<'_>,
    to_do: &DueHeartbeat,
    due: Timestamp,
    zone: Zone,
    now: Timestamp,
) -> anyhow::Result<Option<StreamId>> {
    let (owner, file, row) = to_do;
    let scope = Scope::Person(*owner);
    if address_of(*tx, *owner)?.is_none() || tx.slots().open_slots()?.iter().any(|slot| slot.scope == scope) {
        return Ok(None);
    }
    let state = (SlotState::Claimed, "");
    let Some(slot) = claim_occurrence(tx, JOB, scope, due, state, now)? else { return Ok(None) };
    let words = [wording::own(says::heartbeat(&zone.show_long(now)), scope), file.clone()];
    let from: Vec<Node> = row.iter().map(|row| Node::File(*row)).collect();
    let run = assign(
        tx,
        &Assignment { person: *owner, kind: ConversationKind::Heartbeat, words: &words, from: &from, at: now },
    )?
    .context("An owner who could be reached cannot be any more")?;
    tx.slots().slot_works(slot, run.conversation)?;
    Ok(Some(run.stream))
}

/// Returns whether an answer reports nothing: the agreed word in any case and with anything around
/// it, or no words at all.
fn is_nothing(answer: &Text) -> bool {
    let (words, _, _) = answer.open();
    let letters = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).collect::<String>().to_lowercase();
    let text = letters(&without_tags(words));
    text.is_empty() || text == letters(says::NOTHING_TO_REPORT) || **words == *EMPTY_ANSWER
}

fn without_tags(words: &str) -> String {
    let mut pieces = words.split('<');
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |all, piece| all + piece.split_once('>').map_or(piece, |(_, after)| after))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    use crate::trust::{Label, Labelled};

    #[test]
    fn nothing_to_tell_in_all_its_dresses() {
        let is_nothing = |words: &str| {
            let clean = Label::neutral();
            is_nothing(&Labelled::new(Arc::from(words), clean, Scope::Shared))
        };
        for words in [
            "HEARTBEAT_OK",
            "heartbeat_ok",
            " Heartbeat_OK.\n",
            "**HEARTBEAT_OK**",
            "`HEARTBEAT_OK`!",
            "> *heartbeat ok*",
            "<b>HEARTBEAT_OK</b>",
            "(HEARTBEAT\\_OK)",
            "",
            "…",
            EMPTY_ANSWER,
        ] {
            assert!(is_nothing(words), "{words:?}");
        }
        for words in ["HEARTBEAT_OK, but the oven is on", "ok", "HEARTBEAT_NOT_OK", "Nothing to report < 3", "1"] {
            assert!(!is_nothing(words), "{words:?}");
        }
    }
}
