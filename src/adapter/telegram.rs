//! Telegram, as a bot.
//!
//! `parse` and `html` are pure; `bot_api` is the only access to the network and the only file that
//! holds the token; `poll` and `send` translate its errors for the gateway. Kept in memory only:
//! the state of the channel, our identity, rate limits per chat, and what the last messages show.
//! Everything else is in the journal.
//!
//! Updates are received by long polling, unless the configuration asks for a webhook ([`webhook`]):
//! polling needs no open port, and either way Telegram keeps unconfirmed updates for a day.

mod bot_api; // calls of the Bot API, with the token; what an error asks for
mod description; // text before the first message
mod html; // Markdown as Telegram's HTML
mod parse; // updates
mod poll; // long polling
mod rate_limits; // chats that wait after a 429
mod send; // sending, and the meaning of each refusal
mod shown_texts; // what the last messages show
mod webhook; // updates that Telegram pushes

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use async_trait::async_trait;
use bot_api::{ApiRefusal, BotApi, CallError};
use parse::BotIdentity;
use poll::TelegramProblem;
use rate_limits::RateLimits;
use send::SendTarget;
use serde::Deserialize;
use serde::de::IgnoredAny;
use shown_texts::ShownTexts;
use teloxide_core::payloads::{
    AnswerCallbackQuery, DeleteWebhook, DeleteWebhookSetters, GetMe, GetWebhookInfo, SendChatAction,
};
use teloxide_core::types::{CallbackQueryId, ChatAction};
use tokio::sync::Notify;
use webhook::WebhookReceiver;

use crate::adapter::{
    Adapter, Batch, MenuEntry, OutgoingPart, PREFIX_SPACE, PartFormat, PollError, SendError, Sound, Typing, Unreadable,
    with_commands,
};
use crate::config::{self, TelegramDelivery};
use crate::markdown::LinkDisplay;
use crate::message::{ChannelKind, FetchFileError, Health, Inbound, Outbound, OutgoingFile, StartLink, chat_of};
use crate::people::Role;
use crate::text;
use crate::time::task::lock;
use crate::time::{Clock, Timestamp};
use crate::wording::channel as words;

/// Name of the channel in addresses.
const NAME: &str = ChannelKind::Telegram.name();
/// Maximum number of bytes of what a button sends back (`callback_data` in
/// <https://core.telegram.org/bots/api#inlinekeyboardbutton>).
const BUTTON_DATA: usize = 64;
/// Telegram bans bots that edit much faster for minutes.
const EDIT_INTERVAL: Duration = Duration::from_millis(1500);
/// Telegram displays a typing indicator for five seconds.
const TYPING_INTERVAL: Duration = Duration::from_secs(4);

/// One Telegram bot.
pub struct Telegram {
    api: BotApi,
    files_dir: Option<PathBuf>,
    clock: Arc<dyn Clock>,
    rate_limits: RateLimits,
    shown_texts: ShownTexts,
    /// Receives the updates, if a webhook is configured.
    webhook: Option<WebhookReceiver>,
    state: Mutex<TelegramState>,
    /// Notified when the health has changed for another reason than the passage of time.
    health_changed: Notify,
}

#[derive(Default)]
struct TelegramState {
    /// Our identity, known once Telegram was asked.
    identity: Option<BotIdentity>,
    last_poll_at: Option<Timestamp>,
    /// Time at which the attempt that runs now, or the next one, was or will be begun.
    attempt_at: Option<Timestamp>,
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
        Ok(Self {
            api,
            files_dir: config.files_dir.clone(),
            clock,
            rate_limits: RateLimits::default(),
            shown_texts: ShownTexts::default(),
            webhook,
            state: Mutex::default(),
            health_changed: Notify::new(),
        })
    }

    fn state(&self) -> MutexGuard<'_, TelegramState> {
        lock(&self.state)
    }

    /// Records a result for `health`.
    fn record_poll<T>(&self, result: Result<T, TelegramProblem>) -> Result<T, PollError> {
        let mut state = self.state();
        let wait = match &result {
            Err(TelegramProblem { error: PollError::Wait(asked), .. }) => *asked,
            _ => Duration::ZERO,
        };
        let is_first = state.attempt_at.replace(self.clock.now().plus(wait)).is_none();
        let problem = result.as_ref().err().map(|problem| problem.sentence);
        if std::mem::replace(&mut state.problem, problem) != problem || is_first {
            self.health_changed.notify_one();
        }
        if result.is_ok() {
            state.last_poll_at = Some(self.clock.now());
        }
        result.map_err(|problem| problem.error)
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

    fn username(&self) -> Option<String> {
        Some(self.identity().username).filter(|name| !name.is_empty())
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

    fn public_name(&self) -> Option<String> {
        self.username().map(|name| format!("@{name}"))
    }

    /// Telegram sends `/start CODE` when the link is opened
    /// (<https://core.telegram.org/bots/features#deep-linking>).
    fn start_link(&self, code: &str) -> Option<StartLink> {
        self.username().map(|name| StartLink::WithCode(format!("https://t.me/{name}?start={code}")))
    }

    async fn connect(&self) -> Result<(), PollError> {
        let me = self.identify().await;
        if let Ok(me) = &me {
            self.state().identity = Some(me.clone());
        }
        self.record_poll(me).map(drop)
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

    fn sender_name(&self, raw: &str) -> String {
        parse::sender_name(raw)
    }

    async fn ack(&self, _cursor: Option<&str>) {
        if let Some(webhook) = &self.webhook {
            webhook.ack();
        }
    }

    fn render(&self, outbound: &Outbound) -> Vec<OutgoingPart> {
        let (text, label) = (with_commands(outbound, BUTTON_DATA), outbound.text.label());
        let links = if label.asks_before_leaving() { LinkDisplay::SpelledOut } else { LinkDisplay::Embedded };
        let parts = html::render(&text, links, html::LIMIT - PREFIX_SPACE).into_iter();
        let mut pieces: Vec<OutgoingPart> =
            parts.map(|part| OutgoingPart { rich: part.html, plain: part.plain, ..OutgoingPart::default() }).collect();
        if let Some(last) = pieces.last_mut() {
            let fits = |(_, command): &&(String, String)| command.len() <= BUTTON_DATA;
            last.buttons = outbound.buttons.iter().filter(fits).cloned().collect();
        }
        pieces
    }

    fn sound(&self) -> Sound {
        Sound::Optional
    }

    fn marks_forwards(&self) -> bool {
        true
    }

    async fn send(&self, peer: &str, piece: &OutgoingPart, form: PartFormat) -> Result<String, SendError> {
        let sent = self.unless_paused(peer, send::send(&self.api, peer, piece, form)).await?;
        self.shown_texts.record(&sent, piece, form);
        Ok(sent)
    }

    async fn edit(
        &self,
        peer: &str,
        external_id: &str,
        piece: &OutgoingPart,
        form: PartFormat,
    ) -> Result<(), SendError> {
        if self.shown_texts.is_shown(external_id, piece, form) {
            return Ok(());
        }
        self.shown_texts.forget(external_id);
        self.unless_paused(peer, send::edit(&self.api, peer, external_id, piece, form)).await?;
        self.shown_texts.record(external_id, piece, form);
        Ok(())
    }

    async fn replace_buttons(&self, peer: &str, external_id: &str, title: &str) -> Result<(), SendError> {
        self.shown_texts.forget(external_id);
        self.unless_paused(peer, send::replace_buttons(&self.api, peer, external_id, title)).await
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
        send::fetch(&self.api, self.files_dir.as_deref(), reference, max).await
    }

    async fn register_menu(&self, commands: &[MenuEntry], peers: &[(String, Role)]) {
        send::register_menu(&self.api, commands, peers).await;
    }

    async fn register_description(&self, texts: &[(&'static str, String)]) {
        description::register(&self.api, texts).await;
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
        let attempted_for = state.attempt_at.map(|at| self.clock.now().since(at));
        Health {
            problem,
            last_event_at: state.last_poll_at,
            is_connecting: attempted_for.is_none(),
            is_stalled: attempted_for.is_some_and(|span| span > poll::SILENCE),
            ..Health::default()
        }
    }

    async fn health_changed(&self) {
        self.health_changed.notified().await;
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
