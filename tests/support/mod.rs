//! Test fixtures: channels, a simulated clock, scripted models and fake servers.

pub mod browser;
pub mod channel;
pub mod every_channel;
pub mod fake;
pub mod free_address;
pub mod injected_events;
pub mod mcp;
pub mod lived_in;
pub mod model;
pub mod obedient_model;
pub mod office;
pub mod page_list;
pub mod pdf;
pub mod power;
pub mod saved_texts;
pub mod search;
pub mod seeds;
pub mod signal;
pub mod story;
pub mod telegram;
pub mod template_journal;
pub mod terminal_client;
pub mod two_channels;
pub mod watched_adapter;
pub mod web;
pub mod workspace;
