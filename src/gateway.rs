//! The only place where an adapter meets the engine.
//!
//! Inwards ([`intake`], [`admit`]): a batch is parsed, its senders looked up, labels minted, and messages, raw items and cursor are
//! committed in one transaction; only then is it acknowledged. Outwards ([`delivery`]): one task per address sends what the outbox holds,
//! in order. [`live`] shows answers as they grow. [`commands`] hands commands to `admin`; [`socket`] lets the rest of
//! the program in.

pub mod admit;
pub mod commands;
mod consent;
pub mod delivery;
pub mod desk;
mod enclosed;
mod gone;
mod group;
mod held;
pub mod intake;
mod join;
pub mod live;
pub mod socket;
mod stranger;
