//! The provider clients against a scripted server: every kind of failure, byte by byte.

// A test may fail.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod embed;
mod openai;
mod others;
mod script;
