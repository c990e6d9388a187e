//! Telegram, as a bot, by long polling.
//!
//! `parse` and `html` are pure; `wire` is the one way to the network and the only file that holds the token;
//! `poll`, `send`, `file` and `menu` say what each failure of it means to the gateway. Kept in memory alone:
//! how the channel is, and which chats asked to be left alone ([`pause::Pauses`]). All else is the journal's.
//!
//! Polling rather than a webhook: it needs no open port, and Telegram keeps what nobody has fetched for a
//! day.

mod file;
mod html;
mod look;
mod menu;
mod parse;
mod pause;
mod poll;
mod send;
mod trouble;
mod wire;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use serde::Deserialize;
use serde::de::IgnoredAny;
use teloxide_core::payloads::{AnswerCallbackQuery, DeleteWebhook, DeleteWebhookSetters, GetMe, SendChatAction};
use teloxide_core::types::{CallbackQueryId, ChatAction};

use crate::adapter::markdown::Links;
use crate::adapter::{Adapter, Batch, FetchFileError, Form, MenuEntry, Piece, PollError, SendError, Unreadable};
use crate::config;
use crate::message::{Health, Inbound, Outbound};
use crate::people::Role;
use crate::time::{Clock, Moment};
use crate::wording::telegram as words;

pub use look::Bot;
use pause::Pauses;
use wire::Wire;

/// The channel's name in addresses.
const NAME: &str = "telegram";
/// Telegram bans for minutes whoever edits much faster.
const PREVIEW_PACE: Duration = Duration::from_millis(1500);

/// One Telegram bot.
pub struct Telegram {
    wire: Wire,
    clock: Arc<dyn Clock>,
    pauses: Pauses,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    account: Option<i64>,
    last_poll_at: Option<Moment>,
    trouble: Option<&'static str>,
}

#[derive(Deserialize)]
struct Me {
    id: i64,
}

impl Telegram {
    /// A bot that has not been reached yet.
    pub fn new(config: &config::Telegram, clock: Arc<dyn Clock>) -> anyhow::Result<Self> {
        let wire = Wire::new(&config.api_url, config.token.clone())?;
        Ok(Self { wire, clock, pauses: Pauses::default(), state: Mutex::default() })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps what `health` tells.
    fn heard<T>(&self, result: Result<T, PollError>) -> Result<T, PollError> {
        let mut state = self.state();
        match &result {
            Ok(_) => (state.last_poll_at, state.trouble) = (Some(self.clock.now()), None),
            Err(error) => state.trouble = Some(trouble::sentence(error)),
        }
        result
    }

    /// Who we are; and no webhook any more, or every poll would be a conflict. What waits for us is kept.
    async fn introduce(&self) -> Result<Me, PollError> {
        let me = self.wire.ask(&GetMe::new()).await.map_err(poll::trouble)?;
        let no_webhook = DeleteWebhook::new().drop_pending_updates(false);
        self.wire.ask::<_, IgnoredAny>(&no_webhook).await.map_err(poll::trouble)?;
        Ok(me)
    }

    fn rest(&self, peer: &str) -> Option<Duration> {
        self.pauses.rest(peer, self.clock.now())
    }

    /// Lets something go to a chat unless the chat is to be left alone, and learns when it is.
    async fn unless_paused<T>(
        &self,
        peer: &str,
        sending: impl Future<Output = Result<T, SendError>>,
    ) -> Result<T, SendError> {
        if let Some(rest) = self.rest(peer) {
            return Err(SendError::Wait(rest));
        }
        let result = sending.await;
        if let Err(SendError::Wait(wait)) = &result {
            self.pauses.note(peer, *wait, self.clock.now());
        }
        result
    }
}

/// Room in each part for a few words before it, as when it may be a repeat.
const MARK_ROOM: usize = 40;

#[async_trait]
impl Adapter for Telegram {
    fn name(&self) -> &'static str {
        NAME
    }

    fn account(&self) -> String {
        self.state().account.map_or_else(|| self.wire.account(), |id| id.to_string())
    }

    async fn connect(&self) -> Result<(), PollError> {
        let me = self.introduce().await;
        let me = self.heard(me)?;
        self.state().account = Some(me.id);
        Ok(())
    }

    async fn next(&self, cursor: Option<&str>) -> Result<Batch, PollError> {
        let batch = poll::poll(&self.wire, cursor, || self.clock.now()).await;
        self.heard(batch)
    }

    fn parse(&self, raw: &str) -> Result<Inbound, Unreadable> {
        parse::parse(raw)
    }

    async fn ack(&self, _cursor: Option<&str>) {}

    fn render(&self, outbound: &Outbound) -> Vec<Piece> {
        let (text, label, _) = outbound.text.open();
        let links = if label.is_trusted() { Links::Named } else { Links::Bare };
        let parts = html::render(text, links, html::LIMIT - MARK_ROOM).into_iter();
        let mut pieces: Vec<Piece> =
            parts.map(|part| Piece { rich: part.html, plain: part.plain, buttons: Vec::new() }).collect();
        if let Some(last) = pieces.last_mut() {
            last.buttons.clone_from(&outbound.buttons);
        }
        pieces
    }

    async fn send(&self, peer: &str, piece: &Piece, form: Form) -> Result<String, SendError> {
        self.unless_paused(peer, send::send(&self.wire, peer, piece, form)).await
    }

    async fn edit(&self, peer: &str, external_id: &str, piece: &Piece, form: Form) -> Result<(), SendError> {
        self.unless_paused(peer, send::edit(&self.wire, peer, external_id, piece, form)).await
    }

    fn preview_pace(&self) -> Option<Duration> {
        Some(PREVIEW_PACE)
    }

    async fn grow(&self, _peer: &str, _delta: &str) {}

    async fn typing(&self, peer: &str) {
        let Ok(chat) = send::chat(peer) else { return };
        if self.rest(peer).is_some() {
            return;
        }
        let shown = self.wire.ask::<_, IgnoredAny>(&SendChatAction::new(chat, ChatAction::Typing)).await;
        if let Some(wait) = shown.err().and_then(|failure| failure.wait()) {
            self.pauses.note(peer, wait, self.clock.now());
        }
    }

    async fn button_heard(&self, callback: &str) {
        let heard = AnswerCallbackQuery::new(CallbackQueryId(callback.to_owned()));
        if let Err(failure) = self.wire.ask::<_, IgnoredAny>(&heard).await {
            let reason = failure.reason();
            tracing::debug!(%reason, "Telegram was not told that a button press was heard");
        }
    }

    async fn fetch(&self, reference: &str, max: u64) -> Result<Vec<u8>, FetchFileError> {
        file::fetch(&self.wire, reference, max).await
    }

    async fn menu(&self, commands: &[MenuEntry], peers: &[(String, Role)]) {
        menu::register(&self.wire, commands, peers).await;
    }

    fn health(&self) -> Health {
        let state = self.state();
        let silent = state.last_poll_at.map(|at| self.clock.now().since(at) > trouble::SILENCE);
        let unheard = match silent {
            Some(true) => Some(words::SILENT),
            Some(false) => None,
            None => Some(words::NOT_YET),
        };
        Health { trouble: state.trouble.or(unheard).map(str::to_owned), last_event_at: state.last_poll_at }
    }
}
