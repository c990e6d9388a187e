//! Records that part of an answer was streamed: then its provider has worked, and will charge for
//! it despite any later error.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::model::StreamSink;

/// Forwards everything to another sink and records that there was text.
pub(super) struct StreamProbe<'a> {
    to: &'a dyn StreamSink,
    has_text: AtomicBool,
}

impl<'a> StreamProbe<'a> {
    pub(super) fn new(to: &'a dyn StreamSink) -> Self {
        Self { to, has_text: AtomicBool::new(false) }
    }

    /// Returns true if a piece of text was seen, even if it was discarded later.
    pub(super) fn grew(&self) -> bool {
        self.has_text.load(Ordering::Relaxed)
    }
}

impl StreamSink for StreamProbe<'_> {
    fn append(&self, delta: &str) {
        self.has_text.store(true, Ordering::Relaxed);
        self.to.append(delta);
    }

    fn restart(&self) {
        self.to.restart();
    }
}
