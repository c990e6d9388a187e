//! Read-only probe of a bot, for set-up and checks.

use serde::Deserialize;
use teloxide_core::payloads::{GetMe, GetWebhookInfo};

use super::{Telegram, poll};
use crate::adapter::PollError;
use crate::text;
use crate::time::Timestamp;

/// Maximum length of Telegram's error message as displayed.
const SHOWN: usize = 120;

/// A bot as reported by Telegram.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bot {
    /// User name without `@`.
    pub username: String,
    /// State of the webhook; while one is set, polling receives nothing.
    pub webhook: Option<Calls>,
}

/// State of a webhook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Calls {
    /// Address that Telegram calls.
    pub url: String,
    /// Number of pending updates.
    pub waiting: u64,
    /// Time and message of the last failed call.
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
    /// Asks for the bot of the token and its webhook.
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
