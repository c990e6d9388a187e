//! Looks at a bot without changing anything, for whoever sets it up or checks it.

use serde::Deserialize;
use teloxide_core::payloads::{GetMe, GetWebhookInfo};

use super::{Telegram, poll};
use crate::adapter::PollError;
use crate::text;
use crate::time::Timestamp;

/// As much as is shown of what Telegram says of a failed call.
const SHOWN: usize = 120;

/// A bot as Telegram tells of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bot {
    /// Its name, as people find it, without `@`.
    pub username: String,
    /// Where Telegram calls; whoever polls gets nothing meanwhile.
    pub webhook: Option<Calls>,
}

/// How Telegram fares with calling.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Calls {
    /// The address.
    pub url: String,
    /// How many messages wait to be handed over.
    pub waiting: u64,
    /// When a call failed last, and what Telegram says of it.
    pub failed: Option<(Timestamp, String)>,
}

#[derive(Deserialize)]
struct Named {
    #[serde(default)]
    username: String,
}

#[derive(Deserialize)]
struct WebhookInfo {
    #[serde(default)]
    url: String,
    #[serde(default)]
    pending_update_count: u64,
    last_error_date: Option<i64>,
    #[serde(default)]
    last_error_message: String,
}

impl Telegram {
    /// Asks who the token's bot is, and where its updates go.
    ///
    /// # Errors
    /// By what to do about it.
    pub async fn look(&self) -> Result<Bot, PollError> {
        let named: Named = self.wire.ask(&GetMe::new()).await.map_err(poll::trouble)?;
        let webhook: WebhookInfo = self.wire.ask(&GetWebhookInfo::new()).await.map_err(poll::trouble)?;
        Ok(Bot { username: named.username, webhook: webhook.calls() })
    }
}

impl WebhookInfo {
    fn calls(self) -> Option<Calls> {
        let said = text::shorten(&text::one_line(&self.last_error_message), SHOWN);
        let failed = self.last_error_date.map(|at| (Timestamp::from_seconds(at), said));
        let calls = Calls { url: self.url, waiting: self.pending_update_count, failed };
        Some(calls).filter(|calls| !calls.url.is_empty())
    }
}
