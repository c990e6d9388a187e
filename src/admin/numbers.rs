//! The state of the program as numbers, without names or words.

use super::ReportsAdmin;
use crate::store::Db;

/// The state of the program, counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Numbers {
    /// People with access.
    pub people: usize,
    /// Browsers that are signed in.
    pub browsers: usize,
    /// Messages that wait for an answer.
    pub waiting_messages: usize,
    /// Deliveries that wait.
    pub waiting_deliveries: i64,
    /// Deliveries that failed and were set aside.
    pub failed_deliveries: usize,
    /// Proposals that wait for an owner.
    pub waiting_proposals: usize,
    /// Spending of the local day so far, in micro-units of the prices' currency.
    pub spent_micros: u64,
    /// Tokens of the local day so far that have no known price.
    pub unpriced_tokens: u64,
    /// True while the model does not answer.
    pub model_is_out: bool,
}

impl ReportsAdmin<'_> {
    /// Counts.
    pub async fn numbers(&self) -> anyhow::Result<Numbers> {
        let (now, day) = (self.clock.now(), self.zone.day(self.clock.now()));
        let model_is_out = self.engine.outage().is_some();
        let waiting_proposals = self.review.pending().await?.len();
        let read = move |db: Db<'_>| {
            let mut waiting_messages = 0;
            for (stream, ..) in db.conversations().streams()? {
                waiting_messages += usize::try_from(db.messages().waiting_in(stream)?)?;
            }
            let spent = db.spending().spent(&day, None, false)?;
            Ok(Numbers {
                people: db.people().people()?.len(),
                browsers: db.web_sessions().count(now)?,
                waiting_messages,
                waiting_deliveries: db.outbox().waiting_outbox()?,
                failed_deliveries: db.outbox().set_aside(None)?.len(),
                waiting_proposals,
                spent_micros: spent.micros,
                unpriced_tokens: spent.tokens,
                model_is_out,
            })
        };
        self.journal.read(read).await
    }
}
