//! The command line as a person meets it: the real program in a home of its own, its exit code and
//! its words.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::panic,
    reason = "a test may stop at the first surprise"
)]

mod support {
    #[path = "../support/fake.rs"]
    pub mod fake;
    #[path = "../support/older_journals.rs"]
    pub mod older_journals;
    #[allow(dead_code, unused_imports, reason = "shared with the stories")]
    pub mod signal;
    #[allow(dead_code, unused_imports, reason = "shared with the stories")]
    pub mod telegram;
}

#[path = "cli/backup.rs"]
mod backup;
#[path = "cli/chat.rs"]
mod chat;
#[path = "cli/documents.rs"]
mod documents;
#[path = "cli/ephemeral.rs"]
mod ephemeral;
#[path = "cli/errors.rs"]
mod errors;
#[path = "cli/facts.rs"]
mod facts;
#[path = "cli/import.rs"]
mod import;
#[path = "cli/installing.rs"]
mod installing;
#[path = "cli/memory.rs"]
mod memory;
#[path = "cli/model.rs"]
mod model;
#[path = "cli/forget.rs"]
mod forget;
#[path = "cli/moving.rs"]
mod moving;
#[path = "cli/one_shot.rs"]
mod one_shot;
#[path = "cli/page.rs"]
mod page;
#[path = "cli/people.rs"]
mod people;
#[path = "cli/program.rs"]
mod program;
#[path = "cli/running.rs"]
mod running;
#[path = "cli/setup.rs"]
mod setup;
#[path = "cli/signal.rs"]
mod signal;
#[path = "cli/skills.rs"]
mod skills;
#[path = "cli/standby.rs"]
mod standby;
#[path = "cli/telegram.rs"]
mod telegram;
#[path = "cli/upgrade.rs"]
mod upgrade;
#[path = "cli/wizard.rs"]
mod wizard;
