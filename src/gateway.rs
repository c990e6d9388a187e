//! The only place where adapters meet the engine.
//!
//! Inwards ([`intake`], [`admission`]): a batch is parsed, its senders are looked up, labels are
//! assigned, and messages, raw items and cursor are committed in one transaction; only then is the
//! batch acknowledged. Outwards ([`delivery`]): one task per address sends the outbox in order.
//! [`live_preview`] streams replies, [`commands`] passes commands to `admin`, and [`socket`] serves
//! local clients.

pub mod admission; // from a received item to a queued message
pub mod commands; // chat commands in their order
pub mod delivery; // one task per address: outbox to channel, waits, retries, quiet hours
pub mod dispatcher; // registry of adapters and delivery queues
pub mod intake; // receiving loop of each channel
pub mod live_preview; // answers that grow while they are written
pub mod menu; // command menus by role and language
pub mod socket; // the local socket of terminal clients
