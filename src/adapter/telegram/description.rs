//! The text that Telegram shows before the first message: "What can this bot do?".

use serde::Deserialize;
use teloxide_core::payloads::{GetMyDescription, SetMyDescription, SetMyDescriptionSetters};

use super::bot_api::{BotApi, CallError};

#[derive(Deserialize)]
struct KnownDescription {
    #[serde(default)]
    description: String,
}

/// Sets the description in each language, the first one also for all other languages, unless the
/// bot has one already. Best effort.
pub(super) async fn register(api: &BotApi, texts: &[(&'static str, String)]) {
    if let Err(failure) = set(api, texts).await {
        let reason = failure.to_string();
        tracing::debug!(%reason, "The description of the Telegram bot could not be set");
    }
}

async fn set(api: &BotApi, texts: &[(&'static str, String)]) -> Result<(), CallError> {
    let known: KnownDescription = api.request(&GetMyDescription::new()).await?;
    if !known.description.is_empty() {
        return Ok(());
    }
    // The default comes last: it says that all are set.
    for (code, text) in texts.iter().skip(1) {
        api.request::<_, bool>(&SetMyDescription::new().description(text).language_code(*code)).await?;
    }
    match texts.first() {
        Some((_, text)) => api.request::<_, bool>(&SetMyDescription::new().description(text)).await.map(drop),
        None => Ok(()),
    }
}
