//! What the adapters promise the gateway, against servers that misbehave on demand.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    missing_docs,
    reason = "a test may stop at the first surprise"
)]

mod support {
    #[allow(dead_code, unused_imports, reason = "shared with the stories")]
    pub mod telegram;
}

#[path = "support/telegram/selftest.rs"]
mod selftest;
#[path = "adapters/telegram.rs"]
mod telegram;
