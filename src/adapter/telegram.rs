//! Telegram, as a bot.
//!
//! `parse` and `html` are pure; `bot_api` is the only access to the network and the only file that
//! holds the token; `poll` and `send` translate its errors for the gateway. Kept in memory only:
//! the state of the channel, our identity, and rate limits per chat ([`RateLimits`]).
//! Everything else is in the journal.
//!
//! Updates are received by long polling, unless the configuration asks for a webhook ([`webhook`]):
//! polling needs no open port, and either way Telegram keeps unconfirmed updates for a day.

mod bot_api;
mod html;
mod parse;
mod poll;
mod send;
mod webhook;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use async_trait::async_trait;
use bot_api::{ApiRefusal, BotApi, CallError};
use parse::BotIdentity;
use poll::TelegramProblem;
use send::SendTarget;
use serde::Deserialize;
use serde::de::IgnoredAny;
use teloxide_core::payloads::{
    AnswerCallbackQuery, DeleteWebhook, DeleteWebhookSetters, GetMe, GetWebhookInfo, SendChatAction,
};
use teloxide_core::types::{CallbackQueryId, ChatAction};
use webhook::WebhookReceiver;

use crate::adapter::markdown::LinkDisplay;
use crate::adapter::{
    Adapter, Batch, MenuEntry, OutgoingPart, PREFIX_SPACE, PartFormat, PollError, SendError, Sound, Typing, Unreadable,
};
use crate::config::{self, TelegramDelivery};
use crate::message::{ChannelKind, FetchFileError, Health, Inbound, Outbound, OutgoingFile, chat_of};
use crate::people::Role;
use crate::text;
use crate::time::task::lock;
use crate::time::{Clock, Timestamp};
use crate::wording::channel as words;

/// Name of the channel in addresses.
const NAME: &str = ChannelKind::Telegram.name();
/// Telegram bans bots that edit much faster for minutes.
const EDIT_INTERVAL: Duration = Duration::from_millis(1500);
/// Telegram displays a typing indicator for five seconds.
const TYPING_INTERVAL: Duration = Duration::from_secs(4);

/// Maximum number of chats remembered; the pause that ends first is dropped.
const MAX_CHATS: usize = 1024;

/// One Telegram bot.
pub struct Telegram {
    api: BotApi,
    clock: Arc<dyn Clock>,
    rate_limits: RateLimits,
    /// Receives the updates, if a webhook is configured.
    webhook: Option<WebhookReceiver>,
    state: Mutex<TelegramState>,
}

#[derive(Default)]
struct TelegramState {
    /// Our identity, known once Telegram was asked.
    identity: Option<BotIdentity>,
    last_poll_at: Option<Timestamp>,
    problem: Option<&'static str>,
}

impl Telegram {
    /// Creates a bot that has not been reached yet.
    pub fn new(config: &config::Telegram, clock: Arc<dyn Clock>) -> anyhow::Result<Self> {
        let api = BotApi::new(&config.api_url, config.token.clone())?;
        let webhook = match &config.delivery {
            TelegramDelivery::Polling => None,
            TelegramDelivery::Webhook(webhook) => Some(WebhookReceiver::new(webhook.clone(), Arc::clone(&clock))),
        };
        Ok(Self { api, clock, rate_limits: RateLimits::default(), webhook, state: Mutex::default() })
    }

    fn state(&self) -> MutexGuard<'_, TelegramState> {
        lock(&self.state)
    }

    /// Records a result for `health`.
    fn record_poll<T>(&self, result: Result<T, TelegramProblem>) -> Result<T, PollError> {
        let mut state = self.state();
        match result {
            Ok(received) => {
                (state.last_poll_at, state.problem) = (Some(self.clock.now()), None);
                Ok(received)
            }
            Err(TelegramProblem { sentence, error }) => {
                state.problem = Some(sentence);
                Err(error)
            }
        }
    }

    /// Learns our identity, and sets the webhook or removes it, since polling with a webhook is a
    /// conflict. Pending updates are kept.
    async fn identify(&self) -> Result<BotIdentity, TelegramProblem> {
        let me = self.api.request(&GetMe::new()).await.map_err(poll::poll_error)?;
        match &self.webhook {
            Some(webhook) => webhook.connect(&self.api).await?,
            None => {
                let no_webhook = DeleteWebhook::new().drop_pending_updates(false);
                self.api.request::<_, IgnoredAny>(&no_webhook).await.map_err(poll::poll_error)?;
            }
        }
        Ok(me)
    }

    /// Our identity. The id is part of the token, so it is known from the start.
    fn identity(&self) -> BotIdentity {
        let known = self.state().identity.clone();
        known.unwrap_or_else(|| BotIdentity {
            id: self.api.account().parse().unwrap_or_default(),
            ..BotIdentity::default()
        })
    }

    /// Remaining rate limit. Telegram limits rates per chat, across topics.
    fn remaining_pause(&self, peer: &str) -> Option<Duration> {
        self.rate_limits.remaining(chat_of(peer), self.clock.now())
    }

    /// Sends unless the chat is rate limited, and records a new rate limit.
    async fn unless_paused<T>(
        &self,
        peer: &str,
        sending: impl Future<Output = Result<T, SendError>>,
    ) -> Result<T, SendError> {
        if let Some(rest) = self.remaining_pause(peer) {
            return Err(SendError::Wait(rest));
        }
        let result = sending.await;
        if let Err(SendError::Wait(wait)) = &result {
            self.rate_limits.record(chat_of(peer), *wait, self.clock.now());
        }
        result
    }
}

#[async_trait]
impl Adapter for Telegram {
    fn name(&self) -> &'static str {
        NAME
    }

    fn account(&self) -> String {
        self.state().identity.as_ref().map_or_else(|| self.api.account(), |us| us.id.to_string())
    }

    async fn connect(&self) -> Result<(), PollError> {
        let me = self.identify().await;
        let me = self.record_poll(me)?;
        self.state().identity = Some(me);
        Ok(())
    }

    async fn next(&self, cursor: Option<&str>) -> Result<Batch, PollError> {
        let batch = match &self.webhook {
            Some(webhook) => webhook.next(&self.api, cursor).await,
            None => poll::poll(&self.api, cursor, || self.clock.now()).await.map_err(TelegramProblem::from),
        };
        self.record_poll(batch)
    }

    fn parse(&self, raw: &str) -> Result<Inbound, Unreadable> {
        parse::parse(raw, &self.identity())
    }

    async fn ack(&self, _cursor: Option<&str>) {
        if let Some(webhook) = &self.webhook {
            webhook.ack();
        }
    }

    fn render(&self, outbound: &Outbound) -> Vec<OutgoingPart> {
        let (text, label, _) = outbound.text.open();
        let links = if label.asks_before_leaving() { LinkDisplay::SpelledOut } else { LinkDisplay::Embedded };
        let parts = html::render(text, links, html::LIMIT - PREFIX_SPACE).into_iter();
        let mut pieces: Vec<OutgoingPart> =
            parts.map(|part| OutgoingPart { rich: part.html, plain: part.plain, ..OutgoingPart::default() }).collect();
        if let Some(last) = pieces.last_mut() {
            last.buttons.clone_from(&outbound.buttons);
        }
        pieces
    }

    fn sound(&self) -> Sound {
        Sound::Optional
    }

    async fn send(&self, peer: &str, piece: &OutgoingPart, form: PartFormat) -> Result<String, SendError> {
        self.unless_paused(peer, send::send(&self.api, peer, piece, form)).await
    }

    async fn edit(
        &self,
        peer: &str,
        external_id: &str,
        piece: &OutgoingPart,
        form: PartFormat,
    ) -> Result<(), SendError> {
        self.unless_paused(peer, send::edit(&self.api, peer, external_id, piece, form)).await
    }

    fn edit_interval(&self) -> Option<Duration> {
        Some(EDIT_INTERVAL)
    }

    async fn typing(&self, peer: &str, typing: Typing) {
        // Telegram's indicator ends by itself, within seconds or with the reply.
        if typing == Typing::Stopped {
            return;
        }
        let Ok(target) = SendTarget::of(peer) else { return };
        if self.remaining_pause(peer).is_some() {
            return;
        }
        let mut action = SendChatAction::new(target.chat, ChatAction::Typing);
        action.message_thread_id = target.topic;
        let shown = self.api.request::<_, IgnoredAny>(&action).await;
        if let Err(CallError::Rejected(ApiRefusal { wait: Some(wait), .. })) = shown {
            self.rate_limits.record(chat_of(peer), wait, self.clock.now());
        }
    }

    fn typing_interval(&self) -> Duration {
        TYPING_INTERVAL
    }

    async fn send_file(&self, peer: &str, file: &OutgoingFile) -> Result<String, SendError> {
        self.unless_paused(peer, send::send_file(&self.api, peer, file)).await
    }

    async fn react(&self, peer: &str, external_id: &str, emoji: &str) -> Result<(), SendError> {
        self.unless_paused(peer, send::react(&self.api, peer, external_id, emoji)).await
    }

    async fn acknowledge_button(&self, callback: &str) {
        let answer = AnswerCallbackQuery::new(CallbackQueryId(callback.to_owned()));
        if let Err(reason) = self.api.request::<_, IgnoredAny>(&answer).await {
            tracing::debug!(%reason, "Telegram was not told that a button press was heard");
        }
    }

    async fn fetch(&self, reference: &str, max: u64) -> Result<Vec<u8>, FetchFileError> {
        send::fetch(&self.api, reference, max).await
    }

    async fn register_menu(&self, commands: &[MenuEntry], peers: &[(String, Role)]) {
        send::register_menu(&self.api, commands, peers).await;
    }

    fn health(&self) -> Health {
        let state = self.state();
        let silent = state.last_poll_at.map(|at| self.clock.now().since(at) > poll::SILENCE);
        let unheard = match silent {
            Some(true) => Some(words::TELEGRAM_SILENT),
            Some(false) => None,
            None => Some(words::TELEGRAM_NOT_YET),
        };
        let problem = state.problem.or(unheard).map(str::to_owned);
        Health { problem, last_event_at: state.last_poll_at, ..Health::default() }
    }
}

/// Maximum length of Telegram's error message as displayed.
const MAX_MESSAGE: usize = 120;

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

/// Telegram's report about its calls.
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
        let us: BotIdentity = self.api.request(&GetMe::new()).await.map_err(poll::poll_error)?;
        let webhook: WebhookInfo = self.api.request(&GetWebhookInfo::new()).await.map_err(poll::poll_error)?;
        let why = text::shorten(&text::one_line(&webhook.last_error_message), MAX_MESSAGE);
        let last_error = webhook.last_error_date.map(|at| (Timestamp::from_seconds(at), why));
        let status = WebhookStatus { url: webhook.url, pending: webhook.pending_update_count, last_error };
        Ok(BotInfo { username: us.username, webhook: Some(status).filter(|status| !status.url.is_empty()) })
    }
}

/// Chats that are rate limited after a 429, with their deadlines: until then nothing is sent there.
///
/// Telegram extends the ban of a bot that keeps sending, so sends, edits and typing all check here
/// first. The gateway also stores the wait of the address that met the limit (`gateway::delivery`);
/// this map covers the other topics of the chat, edits and typing.
#[derive(Debug, Default)]
struct RateLimits(Mutex<HashMap<String, RateLimit>>);

#[derive(Debug, Clone, Copy)]
struct RateLimit {
    until: Timestamp,
    length: Duration,
}

impl RateLimit {
    /// Remaining time, no longer than asked for, even when the clock has been set back meanwhile.
    fn remaining(self, now: Timestamp) -> Duration {
        self.until.since(now).min(self.length)
    }
}

impl RateLimits {
    /// Remaining wait for a chat, if any.
    fn remaining(&self, peer: &str, now: Timestamp) -> Option<Duration> {
        let rest = self.lock().get(peer)?.remaining(now);
        (!rest.is_zero()).then_some(rest)
    }

    /// Records a rate limit of that length. A later deadline is never shortened.
    fn record(&self, peer: &str, length: Duration, now: Timestamp) {
        let mut chats = self.lock();
        chats.retain(|_, pause| !pause.remaining(now).is_zero());
        if chats.get(peer).is_some_and(|pause| pause.remaining(now) >= length) {
            return;
        }
        if chats.len() >= MAX_CHATS && !chats.contains_key(peer) {
            let soonest = chats.iter().min_by_key(|(_, pause)| pause.until).map(|(peer, _)| peer.clone());
            soonest.and_then(|peer| chats.remove(&peer));
        }
        chats.insert(peer.to_owned(), RateLimit { until: now.plus(length), length });
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, RateLimit>> {
        lock(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEVEN: Duration = Duration::from_secs(7);

    #[test]
    fn a_pause_ends_exactly_on_time() {
        let (pauses, start) = (RateLimits::default(), Timestamp(1_000_000));
        pauses.record("1", SEVEN, start);
        assert_eq!(pauses.remaining("1", start), Some(SEVEN));
        assert_eq!(pauses.remaining("1", start.plus(Duration::from_millis(6_999))), Some(Duration::from_millis(1)));
        assert_eq!(pauses.remaining("1", start.plus(SEVEN)), None);
        assert_eq!(pauses.remaining("2", start), None);
    }

    #[test]
    fn the_later_deadline_counts() {
        let (pauses, start) = (RateLimits::default(), Timestamp(1_000_000));
        pauses.record("1", SEVEN, start);
        pauses.record("1", Duration::from_secs(2), start);
        assert_eq!(pauses.remaining("1", start), Some(SEVEN));
        pauses.record("1", Duration::from_secs(60), start);
        assert_eq!(pauses.remaining("1", start), Some(Duration::from_secs(60)));
    }

    #[test]
    fn a_clock_that_was_set_back_does_not_lengthen_it() {
        let (pauses, start) = (RateLimits::default(), Timestamp(100_000_000));
        pauses.record("1", SEVEN, start);
        assert_eq!(pauses.remaining("1", start.minus(Duration::from_secs(3600))), Some(SEVEN));
    }

    #[test]
    fn it_is_bounded_and_forgets_what_has_passed() {
        let (pauses, start) = (RateLimits::default(), Timestamp(0));
        for chat in 0..3 * MAX_CHATS {
            pauses.record(&chat.to_string(), SEVEN, start.plus(Duration::from_millis(chat as u64)));
        }
        assert_eq!(pauses.lock().len(), MAX_CHATS);
        pauses.record("x", SEVEN, start.plus(Duration::from_secs(600)));
        assert_eq!(pauses.lock().len(), 1);
    }
}
