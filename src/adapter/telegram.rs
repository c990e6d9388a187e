//! Telegram, as a bot.
//!
//! `parse` and `html` are pure; `wire` is the only access to the network and the only file that
//! holds the token; `poll`, `send`, `upload`, `file` and `register_menu` translate its errors for
//! the gateway. Kept in memory only: the state of the channel, our identity, and rate limits per
//! chat ([`rate_limit::RateLimits`]). Everything else is in the journal.
//!
//! Updates are received by long polling, unless the configuration asks for a webhook ([`webhook`]):
//! polling needs no open port, and either way Telegram keeps unconfirmed updates for a day.

mod download;
mod html;
mod probe;
mod menu;
mod parse;
mod rate_limit;
mod poll;
mod send;
mod problem;
mod upload;
mod webhook;
mod bot_api;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use serde::Deserialize;
use serde::de::IgnoredAny;
use teloxide_core::payloads::{AnswerCallbackQuery, DeleteWebhook, DeleteWebhookSetters, GetMe, SendChatAction};
use teloxide_core::types::{CallbackQueryId, ChatAction};

use crate::adapter::markdown::LinkDisplay;
use crate::adapter::{
    Adapter, Batch, FetchFileError, MenuEntry, OutgoingPart, PartFormat, PollError, SendError, Typing, Unreadable,
};
use crate::config::{self, TelegramDelivery};
use crate::message::{Health, Inbound, Outbound, OutgoingFile};
use crate::people::Role;
use crate::time::{Clock, Timestamp};
use crate::wording::telegram as words;

use bot_api::BotApi;
use parse::BotIdentity;
pub use probe::{BotInfo, WebhookStatus};
use problem::TelegramProblem;
use rate_limit::RateLimits;
use send::SendTarget;
use webhook::WebhookReceiver;

/// Name of the channel in addresses.
const NAME: &str = "telegram";
/// Telegram bans bots that edit much faster for minutes.
const PREVIEW_PACE: Duration = Duration::from_millis(1500);
/// Telegram displays a typing indicator for five seconds.
const TYPING_PACE: Duration = Duration::from_secs(4);

/// One Telegram bot.
pub struct Telegram {
    wire: BotApi,
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

#[derive(Deserialize)]
struct BotUser {
    id: i64,
    #[serde(default)]
    username: String,
}

impl Telegram {
    /// Creates a bot that has not been reached yet.
    pub fn new(config: &config::Telegram, clock: Arc<dyn Clock>) -> anyhow::Result<Self> {
        let wire = BotApi::new(&config.api_url, config.token.clone())?;
        let webhook = match &config.way_in {
            TelegramDelivery::Polling => None,
            TelegramDelivery::Webhook(webhook) => Some(WebhookReceiver::new(webhook.clone(), Arc::clone(&clock))),
        };
        Ok(Self { wire, clock, rate_limits: RateLimits::default(), webhook, state: Mutex::default() })
    }

    fn state(&self) -> MutexGuard<'_, TelegramState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
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
    async fn identify(&self) -> Result<BotUser, TelegramProblem> {
        let me = self.wire.request(&GetMe::new()).await.map_err(poll::poll_error)?;
        match &self.webhook {
            Some(webhook) => webhook.connect(&self.wire).await?,
            None => {
                let no_webhook = DeleteWebhook::new().drop_pending_updates(false);
                self.wire.request::<_, IgnoredAny>(&no_webhook).await.map_err(poll::poll_error)?;
            }
        }
        Ok(me)
    }

    /// Our identity. The id is part of the token, so it is known from the start.
    fn identity(&self) -> BotIdentity {
        let known = self.state().identity.clone();
        known.unwrap_or_else(|| BotIdentity {
            id: self.wire.account().parse().unwrap_or_default(),
            ..BotIdentity::default()
        })
    }

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

/// Telegram limits rates per chat, across topics.
fn chat_of(peer: &str) -> &str {
    peer.split_once('/').map_or(peer, |(chat, _)| chat)
}

/// Space reserved in each part for a prefix such as the repeat notice.
const MARK_ROOM: usize = 40;

#[async_trait]
impl Adapter for Telegram {
    fn name(&self) -> &'static str {
        NAME
    }

    fn account(&self) -> String {
        self.state().identity.as_ref().map_or_else(|| self.wire.account(), |us| us.id.to_string())
    }

    async fn connect(&self) -> Result<(), PollError> {
        let me = self.identify().await;
        let me = self.record_poll(me)?;
        self.state().identity = Some(BotIdentity { id: me.id, username: me.username });
        Ok(())
    }

    async fn next(&self, cursor: Option<&str>) -> Result<Batch, PollError> {
        let batch = match &self.webhook {
            Some(webhook) => webhook.next(&self.wire, cursor).await,
            None => poll::poll(&self.wire, cursor, || self.clock.now()).await.map_err(TelegramProblem::from),
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
        let parts = html::render(text, links, html::LIMIT - MARK_ROOM).into_iter();
        let mut pieces: Vec<OutgoingPart> =
            parts.map(|part| OutgoingPart { rich: part.html, plain: part.plain, ..OutgoingPart::default() }).collect();
        if let Some(last) = pieces.last_mut() {
            last.buttons.clone_from(&outbound.buttons);
        }
        pieces
    }

    async fn send(&self, peer: &str, piece: &OutgoingPart, form: PartFormat) -> Result<String, SendError> {
        self.unless_paused(peer, send::send(&self.wire, peer, piece, form)).await
    }

    async fn edit(
        &self,
        peer: &str,
        external_id: &str,
        piece: &OutgoingPart,
        form: PartFormat,
    ) -> Result<(), SendError> {
        self.unless_paused(peer, send::edit(&self.wire, peer, external_id, piece, form)).await
    }

    fn edit_interval(&self) -> Option<Duration> {
        Some(PREVIEW_PACE)
    }

    async fn stream_delta(&self, _peer: &str, _delta: &str, _answers: &[String]) {}

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
        let shown = self.wire.request::<_, IgnoredAny>(&action).await;
        if let Some(wait) = shown.err().and_then(|failure| failure.wait()) {
            self.rate_limits.record(chat_of(peer), wait, self.clock.now());
        }
    }

    fn typing_interval(&self) -> Duration {
        TYPING_PACE
    }

    async fn mark_read(&self, _peer: &str, _external_id: &str) {}

    async fn send_file(&self, peer: &str, file: &OutgoingFile) -> Result<String, SendError> {
        self.unless_paused(peer, upload::send(&self.wire, peer, file)).await
    }

    async fn react(&self, peer: &str, external_id: &str, emoji: &str) -> Result<(), SendError> {
        self.unless_paused(peer, send::react(&self.wire, peer, external_id, emoji)).await
    }

    async fn acknowledge_button(&self, callback: &str) {
        let heard = AnswerCallbackQuery::new(CallbackQueryId(callback.to_owned()));
        if let Err(failure) = self.wire.request::<_, IgnoredAny>(&heard).await {
            let reason = failure.reason();
            tracing::debug!(%reason, "Telegram was not told that a button press was heard");
        }
    }

    async fn fetch(&self, reference: &str, max: u64) -> Result<Vec<u8>, FetchFileError> {
        download::fetch(&self.wire, reference, max).await
    }

    async fn register_menu(&self, commands: &[MenuEntry], peers: &[(String, Role)]) {
        menu::register(&self.wire, commands, peers).await;
    }

    fn health(&self) -> Health {
        let state = self.state();
        let silent = state.last_poll_at.map(|at| self.clock.now().since(at) > problem::SILENCE);
        let unheard = match silent {
            Some(true) => Some(words::SILENT),
            Some(false) => None,
            None => Some(words::NOT_YET),
        };
        let problem = state.problem.or(unheard).map(str::to_owned);
        Health { problem, last_event_at: state.last_poll_at, ..Health::default() }
    }
}
