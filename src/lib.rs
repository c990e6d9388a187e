//! Compline: a self-hosted chat-bot gateway that neither loses nor duplicates a message.
//!
//! The modules stand in reading order, and each imports only modules above it.
//! `docs/architecture.md` describes the structure; `tests/structure` enforces the table of allowed
//! imports.

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
pub mod search;
pub mod memory;
pub mod review;
pub mod erasure;
pub mod tool;
pub mod engine;
pub mod reflection;
pub mod schedule;
pub mod admin;
pub mod gateway;
pub mod app;
pub mod cli;
