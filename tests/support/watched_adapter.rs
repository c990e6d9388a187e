//! A wrapper around an adapter that reports acknowledged items to the fake server.
//!
//! The daemon of signal-cli sends a message and forgets it, so the wire does not show a story when
//! the gateway has stored it. An adapter learns it by `ack`. This one delegates to the real adapter
//! and passes acknowledgements to the fake server.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use compline::adapter::{
    Adapter, Batch, MenuEntry, OutgoingPart, PartFormat, PollError, SendError, Sound, Typing, Unreadable,
};
use compline::app::WrapAdapter;
use compline::message::{FetchFileError, Health, Inbound, Outbound, OutgoingFile};
use compline::people::Role;

use super::channel::Channel;

/// Wraps the adapters of a story over this channel.
///
/// While `sick` is set, the health check of an adapter panics: a fault in the middle of `/status`.
pub fn stand<C: Channel>(channel: &C, sick: &Arc<AtomicBool>) -> Option<WrapAdapter> {
    let sick = Arc::clone(sick);
    let is_needed = channel.is_told() || sick.load(Ordering::SeqCst);
    let channel = channel.clone();
    let watch = move |behind: Arc<dyn Adapter>| -> Arc<dyn Adapter> {
        let is_ours = behind.name() == channel.name();
        let watched = || Watched {
            behind: Arc::clone(&behind),
            channel: channel.clone(),
            items: Mutex::default(),
            sick: Arc::clone(&sick),
        };
        if is_ours { Arc::new(watched()) } else { behind }
    };
    is_needed.then(|| Arc::new(watch) as WrapAdapter)
}

struct Watched<C> {
    behind: Arc<dyn Adapter>,
    channel: C,
    /// Items handed over last.
    items: Mutex<Vec<String>>,
    sick: Arc<AtomicBool>,
}

#[async_trait]
impl<C: Channel> Adapter for Watched<C> {
    fn name(&self) -> &'static str {
        self.behind.name()
    }

    fn account(&self) -> String {
        self.behind.account()
    }

    async fn connect(&self) -> Result<(), PollError> {
        self.behind.connect().await
    }

    async fn next(&self, cursor: Option<&str>) -> Result<Batch, PollError> {
        let batch = self.behind.next(cursor).await?;
        self.items.lock().unwrap().clone_from(&batch.items);
        Ok(batch)
    }

    fn parse(&self, raw: &str) -> Result<Inbound, Unreadable> {
        self.behind.parse(raw)
    }

    fn sender_name(&self, raw: &str) -> String {
        self.behind.sender_name(raw)
    }

    async fn ack(&self, cursor: Option<&str>) {
        let items = std::mem::take(&mut *self.items.lock().unwrap());
        items.iter().for_each(|raw| self.channel.is_stored(raw));
        self.behind.ack(cursor).await;
    }

    fn render(&self, outbound: &Outbound) -> Vec<OutgoingPart> {
        self.behind.render(outbound)
    }

    fn with_prefix(&self, piece: &OutgoingPart, words: &str) -> OutgoingPart {
        self.behind.with_prefix(piece, words)
    }

    fn is_attended(&self, peer: &str) -> bool {
        self.behind.is_attended(peer)
    }

    fn sound(&self) -> Sound {
        self.behind.sound()
    }

    async fn send(&self, peer: &str, piece: &OutgoingPart, form: PartFormat) -> Result<String, SendError> {
        self.behind.send(peer, piece, form).await
    }

    async fn edit(
        &self,
        peer: &str,
        external_id: &str,
        piece: &OutgoingPart,
        form: PartFormat,
    ) -> Result<(), SendError> {
        self.behind.edit(peer, external_id, piece, form).await
    }

    async fn replace_buttons(&self, peer: &str, external_id: &str, title: &str) -> Result<(), SendError> {
        self.behind.replace_buttons(peer, external_id, title).await
    }

    fn edit_interval(&self) -> Option<Duration> {
        self.behind.edit_interval()
    }

    async fn stream_delta(&self, peer: &str, delta: &str, answers: &[String]) {
        self.behind.stream_delta(peer, delta, answers).await;
    }

    async fn typing(&self, peer: &str, typing: Typing) {
        self.behind.typing(peer, typing).await;
    }

    fn typing_interval(&self) -> Duration {
        self.behind.typing_interval()
    }

    async fn mark_read(&self, peer: &str, external_id: &str) {
        self.behind.mark_read(peer, external_id).await;
    }

    async fn send_file(&self, peer: &str, file: &OutgoingFile) -> Result<String, SendError> {
        self.behind.send_file(peer, file).await
    }

    async fn react(&self, peer: &str, external_id: &str, emoji: &str) -> Result<(), SendError> {
        self.behind.react(peer, external_id, emoji).await
    }

    async fn acknowledge_button(&self, callback: &str) {
        self.behind.acknowledge_button(callback).await;
    }

    async fn fetch(&self, reference: &str, max: u64) -> Result<Vec<u8>, FetchFileError> {
        self.behind.fetch(reference, max).await
    }

    async fn register_menu(&self, commands: &[MenuEntry], peers: &[(String, Role)]) {
        self.behind.register_menu(commands, peers).await;
    }

    fn health(&self) -> Health {
        assert!(!self.sick.load(Ordering::SeqCst), "on purpose");
        self.behind.health()
    }

    async fn health_changed(&self) {
        self.behind.health_changed().await;
    }
}
