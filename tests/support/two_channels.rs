//! Both channels at once, for stories in which one person uses both. Telegram by default.

use std::sync::Arc;

use super::channel::{Channel, Start};
use super::signal::FakeSignal;
use super::telegram::FakeTelegram;

/// A Telegram and a Signal server with the same people.
#[derive(Clone)]
pub struct TwoChannels {
    pub telegram: FakeTelegram,
    pub signal: FakeSignal,
}

impl Start for TwoChannels {
    fn start_sync() -> Self {
        Self { telegram: FakeTelegram::start_sync(), signal: FakeSignal::start_sync() }
    }
}

impl Channel for TwoChannels {
    fn name(&self) -> &'static str {
        self.signal.name()
    }

    fn is_told(&self) -> bool {
        true
    }

    fn follow(&self, now: Arc<dyn Fn() -> i64 + Send + Sync>) {
        self.telegram.follow(Arc::clone(&now));
        self.signal.follow(now);
    }

    fn settings(&self) -> String {
        format!("{}{}", Channel::settings(&self.telegram), Channel::settings(&self.signal))
    }

    fn address(&self, person: i64) -> String {
        format!("{}\n{}", self.telegram.address(person), self.signal.address(person))
    }

    fn peer(&self, person: i64) -> String {
        self.telegram.peer(person)
    }

    fn external_id(&self, person: i64, message: i64) -> String {
        self.telegram.external_id(person, message)
    }

    fn meet(&self, person: i64, name: &str) {
        self.telegram.meet(person, name);
        self.signal.meet(person, name);
    }

    fn person_says(&self, person: i64, text: &str) -> i64 {
        self.telegram.person_says(person, text)
    }

    fn group_address(&self, group: i64) -> String {
        self.telegram.group_address(group)
    }

    fn meet_group(&self, group: i64) {
        self.telegram.meet_group(group);
        self.signal.meet_group(group);
    }

    fn asks_in(&self, group: i64, person: i64, text: &str) {
        self.telegram.asks_in(group, person, text);
    }

    fn sends_unsupported(&self, person: i64) {
        self.telegram.sends_unsupported(person);
    }

    fn sends_file(&self, person: i64, name: &str, text: &str) {
        self.telegram.sends_file(person, name, text);
    }

    fn passes_on(&self, person: i64, author: i64, text: &str) {
        self.telegram.passes_on(person, author, text);
    }

    fn messages_to(&self, person: i64) -> Vec<String> {
        [self.telegram.messages_to(person), self.signal.messages_to(person)].concat()
    }

    fn files(&self, person: i64) -> Vec<Vec<u8>> {
        [self.telegram.files(person), self.signal.files(person)].concat()
    }

    fn calls(&self) -> Vec<String> {
        [Channel::calls(&self.telegram), Channel::calls(&self.signal)].concat()
    }

    fn listeners(&self) -> usize {
        // A story begins only when both listen.
        self.telegram.listeners().min(self.signal.listeners())
    }

    fn is_stored(&self, raw: &str) {
        self.signal.is_stored(raw);
    }

    fn unacked(&self) -> usize {
        Channel::unacked(&self.telegram) + Channel::unacked(&self.signal)
    }

    fn lost(&self) -> Vec<i64> {
        Channel::lost(&self.signal)
    }

    fn hang_up(&self) {
        self.signal.hang_up();
    }

    async fn until(&self, condition: impl Fn(&Self) -> bool) {
        tokio::select! {
            () = self.telegram.until(|_| condition(self)) => {}
            () = self.signal.until(|_| condition(self)) => {}
        }
    }
}
