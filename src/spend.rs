//! Metered models: before each model call its worst-case cost is reserved, and no call is paid for
//! twice.
//!
//! A [`ModelPool`] holds the models of one use in order of choice, each metered by the one
//! [`Ledger`]. Checking every limit of the local day and reserving the worst case is a single
//! transaction, so concurrent calls can never exceed a limit together. Afterwards the reservation
//! is settled with the provider's count. A call that was cut off, or lost because the process died,
//! stays at its worst case: a budget may be used up too early, never too late.
//!
//! Calls count in money where the price is known and in tokens where it is not. The offline model
//! costs nothing and is never refused. [`ModelPool::ask`] walks through retries, fallback and the
//! circuit breaker; what a person is told is the engine's business.

mod budget; // worst-case cost of a call, and the limits
mod learning; // what the models' servers taught
mod ledger; // reserves a call or refuses it, and settles it
mod model_pool; // retries, fallback, circuit breaker
mod transcription; // voice notes

#[cfg(test)]
mod tests;

pub use ledger::{Ledger, RemainingBudget, SpendCause};
pub use model_pool::{AskPolicy, Jitter, ModelPool, Outage, Question};
pub use transcription::{ReservedTranscription, Transcriber};
