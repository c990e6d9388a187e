//! The only place where adapters meet the engine.
//!
//! Inwards ([`intake`], [`admission`]): a batch is parsed, its senders are looked up, labels are
//! assigned, and messages, raw items and cursor are committed in one transaction; only then is the
//! batch acknowledged. Outwards ([`delivery`]): one task per address sends the outbox in order.
//! [`live_preview`] streams replies, [`commands`] passes commands to `admin`, and [`socket`] serves
//! local clients.

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
pub mod live_preview;
mod sender;
pub mod socket;
mod unknown_sender;
