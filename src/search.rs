//! Search over everything that a person or group knows: messages, facts, notes, files, summaries
//! and reflections, and the skills.
//!
//! A query goes the same way for all of them. [`text::question`](crate::text::question) takes its
//! words apart; the full-text index in the [`store`](crate::store) finds candidates by words, and
//! [`vectors`] by meaning; [`hybrid_score`] merges the two rankings. Then [`messages`] ranks by
//! conversation, and [`entries`] by category and use; `floor` decides whether they found anything.
//! [`snippet`] shows the place of a match.
//!
//! Scope and trust are resolved inside the index, before anything is counted or ranked, so the
//! texts of others affect neither results nor cost. Nothing here changes what is searched: `memory`
//! keeps the index of files up to date, and the journal that of messages.

pub mod entries;
mod floor;
pub mod hybrid_score;
pub mod messages;
mod rank;
pub mod snippet;
pub mod vectors;

pub use entries::{EntryHit, EntryMatches, EntryQuery};
pub use messages::{ConversationQuery, ConversationSearch, MessageHit, MessageMatches, find_messages};
pub use vectors::{VECTORS_COUNTED_UP_TO, VectorHealth, VectorOutage, VectorParts, Vectors};
