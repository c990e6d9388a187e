//! Test fixtures: channels, a simulated clock, scripted models and fake servers.

pub mod both;
pub mod channel;
pub mod fake;
pub mod hand;
pub mod model;
pub mod older;
pub mod pdf;
pub mod power;
pub mod saved;
pub mod search;
pub mod seat;
pub mod signal;
pub mod story;
pub mod telegram;
pub mod victim;
pub mod watched;
pub mod web;
pub mod workspace;
