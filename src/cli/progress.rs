//! How far a piece of work has come, on standard error: only for a person at a terminal, and only when it takes longer than a second.

use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use crate::time::{Clock, Moment, SystemClock};
use crate::wording::upkeep as says;

/// Before this nobody is told anything.
const PATIENCE: Duration = Duration::from_secs(1);
/// How often the line changes.
const EVERY: Duration = Duration::from_millis(200);

/// One line that grows.
pub struct Bar {
    clock: SystemClock,
    began: Moment,
    shown: Option<Moment>,
    visible: bool,
}

impl Bar {
    /// A line that is not shown yet.
    pub fn new(quiet: bool) -> Self {
        let clock = SystemClock::default();
        Self { began: clock.now(), clock, shown: None, visible: !quiet && io::stderr().is_terminal() }
    }

    /// So many bytes of that are done.
    pub fn at(&mut self, doing: &str, bytes: u64) {
        let now = self.clock.now();
        let early = now.since(self.began) < PATIENCE || self.shown.is_some_and(|shown| now.since(shown) < EVERY);
        if self.visible && !early {
            self.shown = Some(now);
            let _ = write!(io::stderr().lock(), "\r\x1b[K{}", says::progress(doing, bytes >> 20));
        }
    }

    /// The work is over.
    pub fn end(&mut self) {
        if self.shown.take().is_some() {
            let _ = write!(io::stderr().lock(), "\r\x1b[K");
        }
    }
}
