//! The promises as stories: the whole house, from a fake Telegram server to a scripted model, on one simulated clock.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::panic,
    missing_docs,
    reason = "a test may stop at the first surprise, and its names say what it shows"
)]

#[allow(dead_code, unused_imports, reason = "not every story needs every person")]
mod support;

#[path = "stories/first.rs"]
mod first;
