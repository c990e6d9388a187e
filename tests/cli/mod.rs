//! The command line as a person meets it: the real program in a home of its own, its exit code and
//! its words.

mod backup;
mod chat;
mod documents;
mod ephemeral;
mod errors;
mod facts;
mod import;
mod installing;
mod memory;
mod model;
mod forget;
mod moving;
mod one_shot;
mod page;
mod people;
mod program;
mod running;
mod setup;
mod signal;
mod skills;
mod standby;
mod telegram;
mod upgrade;
mod wizard;
