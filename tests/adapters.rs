//! What the adapters promise the gateway, against servers that misbehave on demand.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice
)]

mod support {
    #[allow(dead_code, unused_imports)]
    pub mod telegram;
}

#[path = "adapters/telegram.rs"]
mod telegram;
