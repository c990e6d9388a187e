//! Webhook calls: one update at a time, oldest first, each repeated until the bot answers 200.
//!
//! The address is `https`, as Telegram demands; the TLS proxy in front of the bot's own listener is
//! part of the fake (`leads_to`). Without a target, a webhook only blocks polls.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::FakeTelegram;
use super::methods::{Call, Outcome, Refusal};
use super::state::{Shared, State, UpdateId};

/// First and longest pause after a failed call.
const PAUSE: Duration = Duration::from_millis(5);
const LONGEST_PAUSE: Duration = Duration::from_millis(200);

impl FakeTelegram {
    /// Sets the listener behind the bot's public address.
    pub fn leads_to(&self, listener: SocketAddr) {
        self.change(|state| state.leads_to = Some(listener));
    }

    /// Makes the bot unreachable; Telegram notices at its next call.
    pub fn leads_nowhere(&self) {
        let nowhere = SocketAddr::from(([127, 0, 0, 1], 1));
        self.change(|state| state.leads_to = Some(nowhere));
    }

    /// Each call of the bot, with the status of its answer; 0 without an answer.
    pub fn called(&self) -> Vec<(UpdateId, u16)> {
        self.read(|state| state.called.clone())
    }

    /// Webhook address; blank if the bot polls.
    pub fn webhook(&self) -> String {
        self.read(|state| state.webhook.clone())
    }
}

impl State {
    /// Returns whether updates are delivered by webhook calls.
    pub(super) fn calls_the_bot(&self) -> bool {
        !self.webhook.is_empty() && self.leads_to.is_some()
    }

    /// Next call: its address, its secret, and the update.
    fn next_call(&self) -> Option<(String, String, UpdateId, Value)> {
        let listener = self.leads_to.filter(|_| self.calls_the_bot())?;
        let path = self.webhook.splitn(4, '/').nth(3).unwrap_or_default();
        let queued = self.queue.first()?;
        let address = format!("http://{listener}/{path}");
        Some((address, self.webhook_secret.clone(), queued.id, queued.update.clone()))
    }

    fn was_called(&mut self, id: UpdateId, status: u16) {
        self.called.push((id, status));
        if status == 200 {
            // A repeated copy has the same number; one answer confirms one of them.
            if let Some(at) = self.queue.iter().position(|queued| queued.id == id) {
                self.queue.remove(at);
                self.acked += 1;
            }
        } else {
            self.call_failed_secs = Some(self.now_secs());
        }
    }
}

/// `setWebhook`
pub(super) fn set(state: &mut State, call: &Call) -> Outcome {
    let url = call.text("url");
    let secret = call.text("secret_token");
    if !url.is_empty() && !url.starts_with("https://") {
        return Err(Refusal::bad("bad webhook: An HTTPS URL must be provided for webhook"));
    }
    if secret.len() > 256 || !secret.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-') {
        return Err(Refusal::bad("secret token contains unallowed characters"));
    }
    if let Some(Value::Array(kinds)) = call.json("allowed_updates") {
        state.allowed = kinds.iter().filter_map(Value::as_str).map(str::to_owned).collect();
    }
    if call.flag("drop_pending_updates") {
        state.queue.clear();
    }
    (state.webhook, state.webhook_secret) = (url.to_owned(), secret.to_owned());
    state.call_failed_secs = None;
    Ok(json!(true))
}

/// `getWebhookInfo`
pub(super) fn info(state: &State) -> Value {
    let mut info = json!({
        "url": state.webhook, "has_custom_certificate": false, "pending_update_count": state.queue.len(),
    });
    if let Some(secs) = state.call_failed_secs {
        info["last_error_date"] = json!(secs);
        info["last_error_message"] = json!("Wrong response from the webhook: 503 Service Unavailable");
    }
    info
}

/// Calls the bot for as long as the fake runs.
pub(super) async fn call_the_bot(shared: Arc<Shared>) {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder().no_proxy().build().expect("a client");
    let mut changes = shared.changes();
    let mut pause = PAUSE;
    loop {
        let next = shared.lock().next_call();
        let Some((address, secret, id, update)) = next else {
            let _ = changes.changed().await;
            continue;
        };
        let call = client.post(address).header("x-telegram-bot-api-secret-token", secret).json(&update).send();
        let status = call.await.map_or(0, |answer| answer.status().as_u16());
        shared.change(|state| state.was_called(id, status));
        if status == 200 {
            pause = PAUSE;
        } else {
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }
}
