//! Whether anybody saw an answer grow: then its provider has worked, and will want its money
//! whatever error came after.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::model::StreamSink;

/// Passes everything on to another and remembers whether there was anything.
pub(super) struct StreamProbe<'a> {
    to: &'a dyn StreamSink,
    grew: AtomicBool,
}

impl<'a> StreamProbe<'a> {
    pub(super) fn new(to: &'a dyn StreamSink) -> Self {
        Self { to, grew: AtomicBool::new(false) }
    }

    /// Whether a piece of text was seen, even if it was void later.
    pub(super) fn grew(&self) -> bool {
        self.grew.load(Ordering::Relaxed)
    }
}

impl StreamSink for StreamProbe<'_> {
    fn grow(&self, delta: &str) {
        self.grew.store(true, Ordering::Relaxed);
        self.to.grow(delta);
    }

    fn restart(&self) {
        self.to.restart();
    }
}
