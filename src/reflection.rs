//! Looking back: what the assistant thinks of a day, a week or a month, and what may come of it.
//!
//! A slot ([`crate::schedule`]) says which period and for whom. Here is decided whether there is anything to look at, what the assistant is shown
//! ([`input`]), what counts as an answer ([`form`]), and what becomes of each thing that it proposes ([`actions`]). The run itself is an ordinary
//! turn in a conversation of its own ([`crate::engine::work`]). Everything is read off the rows, so a crash at any point is taken up from there.

use std::sync::Arc;

use crate::config;
use crate::engine::Engine;
use crate::review::Review;
use crate::store::{Journal, SlotRow};
use crate::time::{Clock, Moment, Zone};

/// What the room is made of.
pub struct Parts {
    /// The journal.
    pub journal: Journal,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The zone.
    pub zone: Zone,
    /// `[reflection]`
    pub config: config::Reflection,
    /// Who does the work.
    pub engine: Arc<Engine>,
    /// The gate.
    pub review: Review,
}

/// Whoever looks back.
pub struct Reflector {
    parts: Parts,
}

/// What comes next in a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// It is over.
    Over,
    /// The assistant is at it; whoever assigned it is rung.
    Working,
    /// It is tried again then.
    At(Moment),
}

impl Reflector {
    /// A reflector that rests until it is asked.
    pub fn new(parts: Parts) -> Self {
        Self { parts }
    }

    /// Takes up a slot that is claimed or worked on, wherever it stands.
    ///
    /// # Errors
    /// If the journal cannot be used.
    pub async fn take_up(&self, slot: &SlotRow) -> anyhow::Result<Next> {
        let (id, now) = (slot.id, self.parts.clock.now());
        let quiet = crate::store::SlotState::Quiet;
        self.parts.journal.write("end a slot", move |tx| tx.end_slot(id, quiet, "", now).map(|_| Next::Over)).await
    }

    /// Does what stored reflections propose and nobody has seen to yet.
    ///
    /// # Errors
    /// If the journal cannot be used.
    pub async fn act(&self) -> anyhow::Result<()> {
        Ok(())
    }
}
