//! The tests of the source tree: who may import whom, who may mint trust or open a label, what a
//! migration looks like, which test proves which promise, which licences come in with a dependency.
//!
//! Nothing here runs the product; everything reads the tree as text. The rules that a person may
//! want to change are data at the top of the module that enforces them, an exception is a line
//! there with its reason, and a line that is no longer needed fails too. Each scan is first tried
//! on a seeded fault, so that a scan that sees nothing cannot pass.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::panic,
    reason = "a test may stop at the first surprise"
)]

mod circles;
mod files;
mod functions;
mod imports;
mod lexer;
mod licences;
mod lists;
mod manifest;
mod promises;
mod sql;
mod tables;
mod tree;
mod wording;

/// Fails with one finding per line, or passes when there is none.
fn nothing_found(findings: &[String]) {
    assert!(findings.is_empty(), "{} findings:\n  {}", findings.len(), findings.join("\n  "));
}
