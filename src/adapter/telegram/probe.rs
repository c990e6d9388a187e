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
pub struct BotInfo {
    /// User name without `@`.
    pub username: String,
    /// State of the webhook; while one is set, polling receives nothing.
    pub webhook: Option<WebhookStatus>,
}

/// State of a webhook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebhookStatus {
    /// Address that Telegram calls.
    pub url: String,
    /// Number of pending updates.
    pub pending: u64,
    /// Time and message of the last failed call.
    pub last_error: Option<(Timestamp, String)>,
}

#[derive(Deserialize)]
struct BotName {
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
    pub async fn probe(&self) -> Result<BotInfo, PollError> {
        let named: BotName = self.wire.request(&GetMe::new()).await.map_err(poll::poll_error)?;
        let webhook: WebhookInfo = self.wire.request(&GetWebhookInfo::new()).await.map_err(poll::poll_error)?;
        Ok(BotInfo { username: named.username, webhook: webhook.calls() })
    }
}

impl WebhookInfo {
    fn calls(self) -> Option<WebhookStatus> {
        let said = text::shorten(&text::one_line(&self.last_error_message), SHOWN);
        let failed = self.last_error_date.map(|at| (Timestamp::from_seconds(at), said));
        let calls = WebhookStatus { url: self.url, pending: self.pending_update_count, last_error: failed };
        Some(calls).filter(|calls| !calls.url.is_empty())
    }
}
