//! The Telegram bot: its token, and the destination of its updates.
//!
//! The gateway registers the webhook at every start, so a missing registration is a problem only
//! while one is running. The listening address is tested by binding it for a moment, which disturbs
//! nothing: if our own gateway has it, that is correct.

use std::io;

use super::finding::Finding;
use super::gateway::Gateway;
use crate::adapter::telegram::{BotInfo, WebhookStatus};
use crate::cli::probe;
use crate::config::{self, TelegramDelivery, Webhook};
use crate::time::Zone;
use crate::wording::cli::doctor as says;

/// Queries Telegram.
pub(super) async fn check(config: &config::Telegram, gateway: &Gateway, zone: Zone, offline: bool) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let TelegramDelivery::Webhook(webhook) = &config.way_in {
        findings.extend(listening(webhook, gateway));
    }
    if offline {
        findings.push(Finding::note(says::TELEGRAM, &says::not_tried(says::BOT), ""));
        return findings;
    }
    match (probe::telegram(config).await, &config.way_in) {
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
