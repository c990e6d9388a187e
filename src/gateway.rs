//! The only place where adapters meet the engine.
//!
//! Inwards ([`intake`], [`admission`]): a batch is parsed, its senders are looked up, labels are
//! assigned, and messages, raw items and cursor are committed in one transaction; only then is the
//! batch acknowledged. Outwards ([`delivery`]): one task per address sends the outbox in order.
//! [`live_preview`] streams replies, [`commands`] passes commands to `admin`, and [`socket`] serves
//! local clients.

pub mod admission;
pub mod commands;
pub mod delivery;
pub mod dispatcher;
pub mod intake;
pub mod live_preview;
pub mod socket;
