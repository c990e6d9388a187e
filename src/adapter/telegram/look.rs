//! Looks at a bot without changing anything, for whoever sets it up or checks it.

use serde::Deserialize;
use teloxide_core::payloads::{GetMe, GetWebhookInfo};

use super::{Telegram, poll};
use crate::adapter::PollError;

/// A bot as Telegram tells of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bot {
    /// Its name, as people find it, without `@`.
    pub username: String,
    /// Whether a webhook is set, so that updates go there and not to whoever polls.
    pub has_webhook: bool,
}

#[derive(Deserialize)]
struct Named {
    #[serde(default)]
    username: String,
}

#[derive(Deserialize)]
struct Webhook {
    #[serde(default)]
    url: String,
}

impl Telegram {
    /// Asks who the token's bot is, and where its updates go.
    ///
    /// # Errors
    /// By what to do about it.
    pub async fn look(&self) -> Result<Bot, PollError> {
        let named: Named = self.wire.ask(&GetMe::new()).await.map_err(poll::trouble)?;
        let webhook: Webhook = self.wire.ask(&GetWebhookInfo::new()).await.map_err(poll::trouble)?;
        Ok(Bot { username: named.username, has_webhook: !webhook.url.is_empty() })
    }
}
