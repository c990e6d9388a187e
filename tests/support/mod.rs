//! What stories are told with: people, a clock, a model and a server that do as they are told.

pub mod model;
pub mod power;
pub mod saved;
pub mod story;
pub mod telegram;
pub mod victim;
pub mod web;
