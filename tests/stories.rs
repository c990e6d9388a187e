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
#[path = "stories/trust.rs"]
mod trust;
#[path = "stories/egress.rs"]
mod egress;
#[path = "stories/derived.rs"]
mod derived;
#[path = "stories/context.rs"]
mod context;
#[path = "stories/budget.rs"]
mod budget;
#[path = "stories/recall.rs"]
mod recall;
#[path = "stories/offline.rs"]
mod offline;
#[path = "stories/store.rs"]
mod store;
