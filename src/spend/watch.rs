//! Whether anybody saw an answer grow: then its provider has worked, and will want its money whatever error came after.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::model::Live;

/// Passes everything on to another and remembers whether there was anything.
pub(super) struct Watch<'a> {
    to: &'a dyn Live,
    grew: AtomicBool,
}

impl<'a> Watch<'a> {
    pub(super) fn new(to: &'a dyn Live) -> Self {
        Self { to, grew: AtomicBool::new(false) }
    }

    /// Whether a piece of text was seen, even if it was void later.
    pub(super) fn grew(&self) -> bool {
        self.grew.load(Ordering::Relaxed)
    }
}

impl Live for Watch<'_> {
    fn grow(&self, delta: &str) {
        self.grew.store(true, Ordering::Relaxed);
        self.to.grow(delta);
    }

    fn restart(&self) {
        self.to.restart();
    }
}
