//! Tests of the models and the channels with real requests.
//!
//! The gateway registers Telegram's webhook at every start, so a missing registration is a problem
//! only while one is running. The listening address is tested by binding it for a moment, which
//! disturbs nothing: if our own gateway has it, that is correct.

use std::io;

use serde_json::Value;

use super::{Gateway, model_name, signal};
use crate::adapter::telegram::{BotInfo, WebhookStatus};
use crate::admin::doctor::Finding;
use crate::admin::doctor::services::{groups, meaning};
use crate::cli::probe::{self, ModelPart};
use crate::config::{self, Config, Provider, TelegramDelivery, Webhook};
use crate::model::{ModelError, embed};
use crate::search::{VECTORS_COUNTED_UP_TO, VectorHealth};
use crate::store;
use crate::time::{Timestamp, Zone};
use crate::wording::cli as of_probe;
use crate::wording::doctor as says;
use crate::wording::{Language, search};

/// Tests each of them. A running gateway is also asked for its channels: only the gateway knows if
/// they receive.
pub(super) async fn check(config: &Config, gateway: &Gateway, offline: bool) -> Vec<Finding> {
    let mut findings = vec![model(says::MODEL, &config.model, &model_name(config), offline).await];
    let others = [
        (says::FALLBACK, &config.fallback),
        (says::BACKGROUND, &config.background),
        (says::REVIEWER, &config.reviewer),
    ];
    for (check, other) in others {
        if let Some(other) = other {
            let name = format!("{}/{}", other.provider.as_str(), other.name);
            findings.push(model(check, other, &name, offline).await);
        }
    }
    findings.push(embedding_finding(config, gateway, offline).await);
    if let Some(bot) = &config.telegram {
        findings.extend(telegram_findings(bot, gateway, config.zone, offline).await);
    }
    if let Some(daemon) = &config.signal {
        findings.extend(signal::check(daemon, gateway, offline).await);
    }
    findings.extend(groups(config));
    findings.push(gateway.finding());
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
        Ok(()) => parts(check, name, &probe::model_parts(config).await),
        Err(trouble) => Finding::wrong(check, &format!("{name}: {}", trouble.what), &trouble.fix),
    }
}

fn part_name(part: ModelPart) -> &'static str {
    match part {
        ModelPart::Tools => says::TOOLS_OF_MODEL,
        ModelPart::Json => says::JSON_OF_MODEL,
        ModelPart::Pictures => says::PICTURES_OF_MODEL,
    }
}

/// Tells which parts of the protocol a model that answers has.
fn parts(check: &'static str, name: &str, parts: &[(ModelPart, Result<(), ModelError>)]) -> Finding {
    let has: Vec<&str> = parts.iter().filter(|(_, tried)| tried.is_ok()).map(|(part, _)| part_name(*part)).collect();
    let lacks: Vec<String> = parts
        .iter()
        .filter_map(|(part, tried)| Some(says::lacks(part_name(*part), &tried.as_ref().err()?.in_full())))
        .collect();
    let what = says::answers_with(name, &has);
    match lacks.as_slice() {
        [] => Finding::ok(check, &what),
        lacks => Finding::note(check, &format!("{what}; {}", lacks.join("; ")), of_probe::FIX_MODEL_PART),
    }
}

/// Returns the finding.
async fn embedding_finding(config: &Config, gateway: &Gateway, offline: bool) -> Finding {
    let Some(embedding) = &config.embedding else { return Finding::ok(says::MEANING, search::BY_WORDS) };
    if let Gateway::Runs(status) = gateway
        && let Some(state) = status.get("embeddings").filter(|state| state.is_object())
    {
        return reported_state(state, config.zone);
    }
    let state = stored_state(config, embedding);
    if offline {
        return Finding::note(says::MEANING, &says::not_tried(&state), "");
    }
    match probe::embedding(embedding).await {
        Ok(dimensions) => Finding::ok(says::MEANING, &search::embedding_answers(&state, dimensions)),
        Err(trouble) => Finding::wrong(says::MEANING, &format!("{state}: {}", trouble.what), &trouble.fix),
    }
}

/// Formats the state that the gateway reports.
fn reported_state(state: &Value, zone: Zone) -> Finding {
    let text = |key: &str| state.get(key).and_then(Value::as_str).unwrap_or_default();
    let shown = |key| Timestamp::of_rfc3339(text(key)).map_or_else(|| text(key).to_owned(), |at| zone.show_short(at));
    let count = |key: &str| state.get(key).and_then(Value::as_u64);
    let dimensions = count("dimensions").and_then(|length| usize::try_from(length).ok());
    let (kept, lacking) = (count("with_vector").unwrap_or_default(), count("without_vector").unwrap_or_default());
    let what = search::embedding_model(
        Language::ENGLISH,
        text("source"),
        text("model"),
        dimensions,
        kept,
        lacking,
        VECTORS_COUNTED_UP_TO,
    );
    let away = match text("trouble") {
        "" => None,
        why => Some((why, shown("since"), shown("next_at"))),
    };
    meaning(&what, away)
}

/// Formats the state from the journal; only the name of the model, if no journal is readable.
fn stored_state(config: &Config, embedding: &config::Embedding) -> String {
    let Ok(embedder) = embed::build(embedding) else { return embedding.name.clone() };
    let model_info = embedder.info();
    let health = store::examine(&config.home.journal(), |db| VectorHealth::read(db, model_info));
    health.map_or_else(
        |_| format!("{}/{}", model_info.provider, model_info.name),
        |VectorHealth { source, model, dimensions, kept, lacking, .. }| {
            search::embedding_model(
                Language::ENGLISH,
                &source,
                &model,
                dimensions,
                kept,
                lacking,
                VECTORS_COUNTED_UP_TO,
            )
        },
    )
}

/// Queries Telegram.
async fn telegram_findings(config: &config::Telegram, gateway: &Gateway, zone: Zone, offline: bool) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let TelegramDelivery::Webhook(webhook) = &config.delivery {
        findings.extend(listening(webhook, gateway));
    }
    if offline {
        findings.push(Finding::note(says::TELEGRAM, &says::not_tried(says::BOT), ""));
        return findings;
    }
    match (probe::telegram(config).await, &config.delivery) {
        (Err(trouble), _) => findings.push(Finding::wrong(says::TELEGRAM, &trouble.what, &trouble.fix)),
        (Ok(bot), TelegramDelivery::Polling) => findings.push(polled(&bot)),
        (Ok(bot), TelegramDelivery::Webhook(webhook)) => findings.push(called(&bot, webhook, gateway, zone)),
    }
    findings
}

fn polled(bot: &BotInfo) -> Finding {
    match &bot.webhook {
        Some(_) => Finding::note(says::TELEGRAM, &says::webhook(&bot.username), says::FIX_WEBHOOK),
        None => Finding::ok(says::TELEGRAM, &says::answers(&format!("@{}", bot.username))),
    }
}

fn called(bot: &BotInfo, webhook: &Webhook, gateway: &Gateway, zone: Zone) -> Finding {
    match &bot.webhook {
        Some(WebhookStatus { url, pending: 1.., last_error: Some((at, why)) }) if url == webhook.url.as_str() => {
            let what = says::calls_fail(&bot.username, &zone.show(*at), why);
            Finding::wrong(says::TELEGRAM, &what, says::FIX_CALLS_FAIL)
        }
        Some(calls) if calls.url == webhook.url.as_str() => {
            Finding::ok(says::TELEGRAM, &says::is_called(&bot.username))
        }
        _ if gateway.is_there() => {
            Finding::wrong(says::TELEGRAM, &says::called_elsewhere(&bot.username), says::FIX_CALLED_ELSEWHERE)
        }
        _ => Finding::note(says::TELEGRAM, &says::not_called_yet(&bot.username), ""),
    }
}

/// Returns a finding if the gateway cannot listen for Telegram's calls.
fn listening(webhook: &Webhook, gateway: &Gateway) -> Option<Finding> {
    let error = std::net::TcpListener::bind(webhook.listen).err()?;
    // A running gateway reports with its channels if it owns the address.
    if error.kind() == io::ErrorKind::AddrInUse && gateway.is_there() {
        return None;
    }
    let what = says::cannot_listen(&webhook.listen.to_string(), &error.kind().to_string());
    Some(Finding::wrong(says::TELEGRAM, &what, says::FIX_CANNOT_LISTEN))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::admin::doctor::FindingState;

    #[test]
    fn the_state_of_a_running_gateway_is_reported_with_the_fix() {
        let mut state = json!({
            "source": "ollama", "model": "small", "dimensions": 8, "with_vector": 12, "without_vector": 0, "trouble": null,
        });
        let zone = Zone::named("Europe/Vienna").unwrap();
        let well = reported_state(&state, zone);
        assert_eq!((well.state, well.what.contains("ollama/small, 8 numbers")), (FindingState::Ok, true));
        state["trouble"] = json!("The key is refused");
        state["next_at"] = json!("2026-11-21T10:00:00.000Z");
        let ill = reported_state(&state, zone);
        assert!(ill.what.contains("The key is refused") && ill.what.contains("2026-11-21 11:00"), "{}", ill.what);
        assert_eq!((ill.state, ill.fix.as_str()), (FindingState::Wrong, search::FIX_AWAY));
    }
}
