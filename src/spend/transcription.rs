//! Metered transcription: the worst case is reserved before a recording is fetched, and settled
//! with the server's count.
//!
//! Only the size of a recording is known beforehand, and the length that a sender claims proves
//! nothing. So the worst case is the length that this size has at the lowest bitrate that Opus
//! supports for speech. A server without counts leaves a call there.

use std::sync::Arc;

use super::budget::Cost;
use super::ledger::{CallEstimate, Ledger, SpendCause};
use super::model_pool::{Attempts, Jitter};
use crate::config;
use crate::id::SpendId;
use crate::model::transcribe::{Transcript, transcribe};
use crate::model::{ModelError, Purpose, retry};
use crate::trust::Scope;

/// Minimum number of bytes in a second of sound: 6 kbit/s, the lowest bitrate of Opus (RFC 6716,
/// section 2.1.1).
const LEAST_BYTES_A_SECOND: u64 = 750;
/// Size reserved for a recording of unknown size, and the maximum fetched of one.
const UNKNOWN_SIZE: u64 = 4 << 20;
/// Minimum reservation: the headers of a short recording are larger than its sound.
const LEAST_SIZE: u64 = 16 << 10;

/// Metered endpoint of `[transcription]`.
pub struct Transcriber {
    config: config::Transcription,
    ledger: Arc<Ledger>,
    jitter: Jitter,
}

/// A transcription whose worst case is reserved.
#[derive(Debug)]
#[must_use = "it is settled by the transcription, or released"]
pub struct ReservedTranscription {
    id: SpendId,
    /// Maximum number of bytes that the reservation covers.
    pub most: u64,
    scope: Scope,
    on_behalf: SpendCause,
}

impl Transcriber {
    /// Creates the configured endpoint, metered by `ledger`.
    pub fn new(config: config::Transcription, ledger: Arc<Ledger>, jitter: Jitter) -> Self {
        Self { config, ledger, jitter }
    }

    /// Reserves the worst case of a recording of that size, if every limit has room for it.
    ///
    /// # Errors
    /// [`ModelError::OverBudget`] or [`ModelError::AboveLimit`]; `Later` if nothing can be written.
    pub async fn reserve(
        &self,
        size: Option<u64>,
        scope: Scope,
        on_behalf: SpendCause,
    ) -> Result<ReservedTranscription, ModelError> {
        let most = size.unwrap_or(UNKNOWN_SIZE).max(LEAST_SIZE);
        let worst = Cost::of_sound(most.div_ceil(LEAST_BYTES_A_SECOND), self.config.price_per_minute);
        let model = format!("openai/{}", self.config.name);
        // The calibration must not learn from this estimate, which is of a size and not of a text.
        let wanted = CallEstimate { scope, purpose: Purpose::Transcription, model, guessed: 0, worst };
        let id = self.ledger.reserve(wanted, on_behalf).await?;
        Ok(ReservedTranscription { id, most, scope, on_behalf })
    }

    /// Releases a reservation: nothing was sent.
    pub async fn release(&self, reserved: ReservedTranscription) {
        self.ledger.settle(reserved.id, Cost::nothing()).await;
    }

    /// Transcribes a recording that is no larger than the reserved size, with retries. Each further
    /// attempt is reserved separately. The caller has to be counted as working.
    ///
    /// # Errors
    /// As for a model. A recording that is larger than it was said to be is
    /// [`ModelError::TooLong`], and not sent.
    pub async fn transcribe(
        &self,
        mut reserved: ReservedTranscription,
        bytes: &[u8],
        mime: &str,
    ) -> Result<String, ModelError> {
        if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > reserved.most {
            self.release(reserved).await;
            return Err(ModelError::TooLong);
        }
        let mut attempts = Attempts::new(self.ledger.clock(), retry::STANDARD, self.jitter);
        loop {
            let result = transcribe(&self.config, bytes.to_vec(), mime).await;
            if let Some(cost) = self.cost_of(&result) {
                self.ledger.settle(reserved.id, cost).await;
            }
            let error = match result {
                Ok(transcript) => return Ok(transcript.text),
                Err(error) => error,
            };
            if !attempts.wait_after(&error).await {
                return Err(error);
            }
            reserved = self.reserve(Some(reserved.most), reserved.scope, reserved.on_behalf).await?;
        }
    }

    /// Cost by the server's count; `None` leaves the call at its worst case.
    fn cost_of(&self, result: &Result<Transcript, ModelError>) -> Option<Cost> {
        let price = self.config.price_per_minute;
        match result {
            Ok(Transcript { tokens: Some((input, output)), .. }) if price.is_none() => {
                Some(Cost { output: *output, ..Cost::of_reading(*input) })
            }
            Ok(Transcript { seconds, .. }) => seconds.map(|seconds| Cost::of_sound(seconds, price)),
            Err(ModelError::Cut | ModelError::Refused) => None,
            Err(_) => Some(Cost::nothing()),
        }
    }
}
