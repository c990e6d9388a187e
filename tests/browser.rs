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

#[path = "browser/chat.rs"]
mod chat;
#[path = "browser/deciding.rs"]
mod deciding;
#[path = "browser/driver.rs"]
mod driver;
#[path = "browser/every_page.rs"]
mod every_page;
#[path = "browser/examination.rs"]
mod examination;
#[path = "browser/files.rs"]
mod files;
#[path = "browser/keyboard.rs"]
mod keyboard;
#[path = "browser/other_sites.rs"]
mod other_sites;
#[path = "browser/pictures.rs"]
mod pictures;
#[path = "browser/signing_in.rs"]
mod signing_in;
#[allow(dead_code, unused_imports, reason = "the browser needs little of the fixtures")]
mod support;
