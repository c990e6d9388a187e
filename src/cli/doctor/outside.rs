//! The model and the channels, for real.

use serde_json::Value;

use super::finding::Finding;
use super::model_name;
use crate::cli::place::Place;
use crate::cli::{ask, probe};
use crate::config::{self, Config, Provider};
use crate::wording::cli::doctor as says;

/// Tries each. The channels of a running gateway are asked of itself: it alone knows whether they are deaf.
pub(super) async fn look(config: &Config, place: &Place, offline: bool) -> Vec<Finding> {
    let mut findings = vec![model(says::MODEL, &config.model, &model_name(config), offline).await];
    for (check, other) in [(says::FALLBACK, &config.fallback), (says::BACKGROUND, &config.background)] {
        if let Some(other) = other {
            let name = format!("{}/{}", other.provider.as_str(), other.name);
            findings.push(model(check, other, &name, offline).await);
        }
    }
    if let Some(telegram) = &config.telegram {
        findings.push(bot(telegram, offline).await);
    }
    findings.push(gateway(place).await);
    findings
}

async fn model(check: &'static str, config: &config::Model, name: &str, offline: bool) -> Finding {
    if config.provider == Provider::Offline {
        return Finding::ok(check, says::OFFLINE);
    }
    if offline {
        return Finding::note(check, &says::not_tried(name), "");
    }
    match probe::model(config).await {
        Ok(()) => Finding::ok(check, &says::answers(name)),
        Err(trouble) => Finding::wrong(check, &format!("{name}: {}", trouble.what), &trouble.fix),
    }
}

async fn bot(config: &config::Telegram, offline: bool) -> Finding {
    if offline {
        return Finding::note(says::TELEGRAM, &says::not_tried(says::BOT), "");
    }
    match probe::telegram(config).await {
        Ok(bot) if bot.has_webhook => Finding::note(says::TELEGRAM, &says::webhook(&bot.username), says::FIX_WEBHOOK),
        Ok(bot) => Finding::ok(says::TELEGRAM, &says::answers(&format!("@{}", bot.username))),
        Err(trouble) => Finding::wrong(says::TELEGRAM, &trouble.what, &trouble.fix),
    }
}

/// What the running gateway says of its channels.
async fn gateway(place: &Place) -> Finding {
    let status = ask::of_gateway(&["status".to_owned()], &place.home, true).await;
    let Ok(Some(status)) = status else {
        return match status {
            Ok(_) => Finding::note(says::GATEWAY, says::NOT_RUNNING, ""),
            Err(_) => Finding::wrong(says::GATEWAY, says::SILENT, says::FIX_SILENT),
        };
    };
    let mut troubles = Vec::new();
    let status: Value = serde_json::from_str(&status.text).unwrap_or_default();
    let parts = ["adapters", "servers"].into_iter().filter_map(|part| status.get(part).and_then(Value::as_array));
    for adapter in parts.flatten() {
        let name = adapter.get("name").and_then(Value::as_str).unwrap_or_default();
        let trouble = adapter.get("trouble").and_then(Value::as_str).unwrap_or_default();
        if !trouble.is_empty() {
            troubles.push(format!("{name}: {trouble}"));
        }
    }
    match troubles.as_slice() {
        [] => Finding::ok(says::GATEWAY, says::RUNNING),
        troubles => Finding::wrong(says::GATEWAY, &troubles.join("\n"), ""),
    }
}
