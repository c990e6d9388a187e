//! The wires against a scripted server: every way in which a provider can fail, byte by byte.

// A test may fail.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod embed;
mod openai;
mod others;
mod script;
