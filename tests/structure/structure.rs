//! Tests of the source tree: imports, places that mint trust or open a label, the form of
//! migrations, proofs of promises, licences of dependencies.
//!
//! They read the tree as text and never run the product. The rules that a person may want to change
//! are data at the top of the module that enforces them, an exception is a line there with its
//! reason, and an unused line fails too. Each scan is first tried on a seeded fault, so that a
//! blind scan cannot pass.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::panic,
    reason = "a test may stop at the first surprise"
)]

mod circles;
mod documents;
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

/// Fails with one finding per line, or passes without findings.
fn nothing_found(findings: &[String]) {
    assert!(findings.is_empty(), "{} findings:\n  {}", findings.len(), findings.join("\n  "));
}
