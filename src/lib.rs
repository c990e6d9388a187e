//! Compline: a self-hosted chat-bot gateway that neither loses nor duplicates a message.
//!
//! The modules stand in reading order, and each imports only modules above it.
//! `docs/architecture.md` describes the structure; `tests/structure` enforces the table of allowed
//! imports.

pub mod fuzz; // mutation of inputs, for the parsers of outside bytes
pub mod id; // types of row ids
pub mod trust; // labels, scopes, labelled text
pub mod time; // timestamps, clocks, backoff, times as people write them
pub mod people; // types: persons, roles, addresses
pub mod message; // what channels and the gateway exchange
pub mod text; // links, quotes, pasted text, server-sent events
pub mod wish; // what a person asks for in a message, read without a model
pub mod markdown; // Markdown as blocks, for every channel and the page
pub mod tls; // HTTP clients with TLS
pub mod http; // HTTP server with fixed limits
pub mod wording; // every sentence that the program says
pub mod config; // settings: keys, defaults, checks
pub mod store; // the journal (SQLite): every table, one file per table family
pub mod model; // clients of model servers, their errors and retries; the offline model
pub mod skill; // skills on disk: format, folder, index in the prompt
pub mod adapter; // channels: Telegram, Signal, terminal
pub mod import; // archives that other programs export
pub mod spend; // budgets, metering, fallback to other models
pub mod search; // one search over messages, memory, files, conversations
pub mod memory; // the workspace: files, labels, versions, index
pub mod review; // the gate: proposed skills, their stages and decisions
pub mod erasure; // /forget: plan, execution, verification
pub mod tool; // tools that a model may call
pub mod engine; // streams, turns, boundaries, compaction, extraction, summaries
pub mod reflection; // daily, weekly and monthly reflections
pub mod schedule; // reminders, tasks, heartbeat, due reflections, nightly upkeep
pub mod admin; // commands of chat and command line: who may, what they do; pairing
pub mod gateway; // admission of messages; delivery of all that is sent, quiet hours
pub mod web; // the page
pub mod app; // assembly of all parts, start and stop
pub mod cli; // the command line
