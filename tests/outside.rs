//! The program from outside: as a person and an operator meet it, killed in the middle of its work,
//! and at the other ends of its wires.
//!
//! One crate, so that the fake servers are compiled, and the library is linked, once for all of it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::panic,
    missing_docs,
    reason = "a test may stop at the first surprise, and its names say what it shows"
)]

mod adapters;
mod cli;
mod kill;
mod peers;
#[path = "support/telegram/selftest.rs"]
mod selftest;
#[path = "support/signal/selftest.rs"]
mod signal_selftest;
mod support {
    pub mod fake;
    pub mod free_address;
    #[allow(dead_code, unused_imports, reason = "shared with the stories")]
    pub mod signal;
    #[allow(dead_code, unused_imports, reason = "shared with the stories")]
    pub mod telegram;
    pub mod template_journal;
}
mod wires;
