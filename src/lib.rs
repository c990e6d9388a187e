//! Compline: a self-hosted chat-bot gateway that cannot lose or double a message.
//!
//! The modules stand in reading order, and imports point only upwards in this list:
//! `docs/architecture.md` draws the house, and `tests/structure` keeps to the table of who may
//! import whom.

pub mod id;
pub mod trust;
pub mod time;
pub mod people;
pub mod message;
pub mod text;
pub mod wording;
pub mod config;
pub mod store;
pub mod model;
pub mod skill;
pub mod adapter;
pub mod spend;
pub mod memory;
pub mod review;
pub mod tool;
pub mod engine;
pub mod reflection;
pub mod schedule;
pub mod admin;
pub mod gateway;
pub mod app;
pub mod cli;
