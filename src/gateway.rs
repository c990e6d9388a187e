//! The only place where an adapter meets the engine.
//!
//! Inwards ([`intake`], [`admit`]): a batch is parsed, its senders looked up, labels minted, and messages, raw items and cursor are
//! committed in one transaction; only then is it acknowledged. Outwards ([`delivery`]): one task per address sends what the outbox holds,
//! in order. [`live`] shows answers as they grow. [`commands`] hands commands to `admin`; [`socket`] lets the rest of
//! the program in.

pub mod admission;
pub mod commands;
mod consent;
pub mod delivery;
pub mod dispatcher;
mod attachments_out;
mod deletion;
mod group;
mod log_throttle;
pub mod intake;
mod account_link;
pub mod live;
pub mod socket;
mod unknown_sender;
