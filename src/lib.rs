//! Compline: a self-hosted chat-bot gateway that cannot lose or double a message.
//!
//! The modules stand in reading order, and imports point only upwards in this list: `docs/architecture.md` draws the house,
//! and `tests/house.rs` keeps to the table of who may import whom.

pub mod adapter;
pub mod admin;
pub mod app;
pub mod cli;
pub mod config;
pub mod engine;
pub mod gateway;
pub mod id;
pub mod memory;
pub mod message;
pub mod model;
pub mod people;
pub mod spend;
pub mod store;
pub mod text;
pub mod time;
pub mod tool;
pub mod trust;
pub mod wording;
