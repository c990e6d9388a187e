//! The page in a real browser: Chromium by its driver, at a gateway in this process whose model and
//! clock are simulated.
//!
//! `bash tests/run.sh page` installs the browser and the checker of accessibility, and runs this;
//! without them it fails and says so. The list of pages is that of the table of routes, each
//! reached by a link, so a new page is held to all of this by itself.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::panic,
    missing_docs,
    reason = "a test may stop at the first surprise, and its names say what it shows"
)]

mod chat;
mod deciding;
mod driver;
mod every_page;
mod examination;
mod files;
mod keyboard;
mod other_sites;
mod pictures;
mod signing_in;
#[allow(dead_code, unused_imports, unused_macros, reason = "the browser needs little of the fixtures")]
#[path = "../support/mod.rs"]
mod support;
