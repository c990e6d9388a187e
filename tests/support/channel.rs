//! A channel as a story needs it: a fake server in the place of the real one.
//!
//! Stories that hold on every channel are in [`every_channel`](super::every_channel).

use std::sync::Arc;

use super::signal::{self, FakeSignal, Transport, Which};
use super::telegram::FakeTelegram;

/// A fake server in the place of a real one. Clones share the server.
pub trait Channel: Clone + Send + Sync + 'static {
    /// The adapter's name, as addresses have it.
    fn name(&self) -> &'static str;
    /// True if an adapter must acknowledge stored items explicitly, because the wire does not.
    fn is_told(&self) -> bool;

    /// Takes the time from this function, in milliseconds.
    fn follow(&self, now: Arc<dyn Fn() -> i64 + Send + Sync>);

    /// Tables of the configuration that connect to this server.
    fn settings(&self) -> String;

    /// Entry of a person's address in `[[people]]`.
    fn address(&self, person: i64) -> String;

    /// Address of a person in the journal.
    fn peer(&self, person: i64) -> String;

    /// Journal id of a message that a person sent in their direct chat.
    fn external_id(&self, person: i64, message: i64) -> String;

    fn meet(&self, person: i64, name: &str);

    /// Sends a message from a person; returns its number.
    fn person_says(&self, person: i64, text: &str) -> i64;

    /// Entry of a group in the configuration.
    fn group_address(&self, group: i64) -> String;

    /// Creates a group with us and all existing people as members.
    fn meet_group(&self, group: i64);

    /// Sends a message from a person in a group, addressed to us.
    fn asks_in(&self, group: i64, person: i64, text: &str);

    /// Sends content that no assistant can take: a dice, a payment.
    fn sends_unsupported(&self, person: i64);

    /// Sends a plain text file from a person.
    fn sends_file(&self, person: i64, name: &str, text: &str);

    /// Forwards or quotes another author's words.
    fn passes_on(&self, person: i64, author: i64, text: &str);

    /// Messages that a person received, after all edits.
    fn messages_to(&self, person: i64) -> Vec<String>;

    /// Files that a person received.
    fn files(&self, person: i64) -> Vec<Vec<u8>>;

    /// Names of all requests so far.
    fn calls(&self) -> Vec<String>;

    /// Number of times that the gateway began to listen.
    fn listeners(&self) -> usize;

    /// Acknowledges a stored item.
    fn is_stored(&self, raw: &str);

    /// Number of items that are not stored yet.
    fn unacked(&self) -> usize;

    /// Messages that the channel delivered and cannot deliver again, stored or not.
    fn lost(&self) -> Vec<i64>;

    /// Tells the server that the gateway is gone.
    fn hang_up(&self) {}

    /// Waits until a condition holds; checks it after each change.
    async fn until(&self, condition: impl Fn(&Self) -> bool);
}

/// A fake server of one kind.
pub trait Start: Channel {
    fn start_sync() -> Self;
}

/// Kinds of sources in a label, without their items: `preview:in3 web:a.example` becomes `preview
/// web:a.example`.
pub fn kinds(label: &str) -> String {
    let kinds = label.split(' ').map(|source| match source.split_once(":in") {
        Some((kind, item)) if item.chars().all(|c| c.is_ascii_digit()) => kind,
        _ => source,
    });
    kinds.collect::<Vec<_>>().join(" ")
}

impl Start for FakeTelegram {
    fn start_sync() -> Self {
        Self::start_sync()
    }
}

impl Channel for FakeTelegram {
    fn name(&self) -> &'static str {
        "telegram"
    }

    fn is_told(&self) -> bool {
        false
    }

    fn follow(&self, now: Arc<dyn Fn() -> i64 + Send + Sync>) {
        self.set_now(now);
    }

    fn settings(&self) -> String {
        format!("[telegram]\ntoken = \"{}\"\napi_url = \"{}\"\n", self.token(), self.url())
    }

    fn address(&self, person: i64) -> String {
        format!("telegram = {person}")
    }

    fn peer(&self, person: i64) -> String {
        person.to_string()
    }

    fn external_id(&self, person: i64, message: i64) -> String {
        format!("m{person}:{message}")
    }

    fn meet(&self, person: i64, name: &str) {
        self.person(person, name, None);
    }

    fn person_says(&self, person: i64, text: &str) -> i64 {
        self.says(person, text)
    }

    fn group_address(&self, group: i64) -> String {
        format!("telegram:{group}")
    }

    fn meet_group(&self, group: i64) {
        self.group(group, "The family");
    }

    fn asks_in(&self, group: i64, person: i64, text: &str) {
        self.says_in(group, person, &format!("@{} {text}", self.bot_username()));
    }

    fn sends_unsupported(&self, person: i64) {
        self.from(person).field("dice", serde_json::json!({ "emoji": "🎲", "value": 3 })).send();
    }

    fn sends_file(&self, person: i64, name: &str, text: &str) {
        self.sends_document(person, name, "text/plain", text.as_bytes());
    }

    fn passes_on(&self, person: i64, author: i64, text: &str) {
        self.forwards(person, author, text);
    }

    fn messages_to(&self, person: i64) -> Vec<String> {
        self.texts(person)
    }

    fn files(&self, person: i64) -> Vec<Vec<u8>> {
        self.sent(person).into_iter().filter_map(|sent| sent.file).map(|file| file.bytes).collect()
    }

    fn calls(&self) -> Vec<String> {
        self.calls()
    }

    fn listeners(&self) -> usize {
        self.polls()
    }

    fn is_stored(&self, _raw: &str) {}

    fn unacked(&self) -> usize {
        self.unacked()
    }

    fn lost(&self) -> Vec<i64> {
        Vec::new()
    }

    async fn until(&self, condition: impl Fn(&Self) -> bool) {
        self.until(condition).await;
    }
}

impl Start for FakeSignal {
    fn start_sync() -> Self {
        Self::start_sync()
    }
}

impl Channel for FakeSignal {
    fn name(&self) -> &'static str {
        "signal"
    }

    fn is_told(&self) -> bool {
        true
    }

    fn follow(&self, now: Arc<dyn Fn() -> i64 + Send + Sync>) {
        self.set_now(now);
    }

    fn settings(&self) -> String {
        format!("[signal]\nendpoint = \"{}\"\naccount = \"{}\"\n", self.endpoint(Transport::Unix), self.account())
    }

    /// Addresses some people by their number, some by their account identifier.
    fn address(&self, person: i64) -> String {
        let address = if person % 2 == 1 { signal::number(person) } else { signal::uuid(person) };
        format!("signal = \"{address}\"")
    }

    fn peer(&self, person: i64) -> String {
        signal::uuid(person)
    }

    fn external_id(&self, person: i64, message: i64) -> String {
        format!("m{}:{message}", signal::uuid(person))
    }

    fn meet(&self, person: i64, name: &str) {
        self.person(person, name, None);
    }

    fn person_says(&self, person: i64, text: &str) -> i64 {
        self.says(person, text)
    }

    fn group_address(&self, group: i64) -> String {
        format!("signal:{}", signal::group_id(group))
    }

    fn meet_group(&self, group: i64) {
        self.group(group, "The family");
    }

    fn asks_in(&self, group: i64, person: i64, text: &str) {
        self.from(person).in_chat(group).text(text).mentions_us().send();
    }

    fn sends_unsupported(&self, person: i64) {
        self.from(person).field("payment", serde_json::json!({ "note": "x", "receipt": "eA==" })).send();
    }

    fn sends_file(&self, person: i64, name: &str, text: &str) {
        self.sends_document(person, name, "text/plain", text.as_bytes());
    }

    fn passes_on(&self, person: i64, author: i64, text: &str) {
        self.forwards(person, author, text);
    }

    fn messages_to(&self, person: i64) -> Vec<String> {
        self.texts(person)
    }

    fn files(&self, person: i64) -> Vec<Vec<u8>> {
        self.sent(person).into_iter().flat_map(|sent| sent.files).map(|file| file.bytes).collect()
    }

    fn calls(&self) -> Vec<String> {
        self.calls()
    }

    fn listeners(&self) -> usize {
        usize::try_from(self.subscriptions()).unwrap()
    }

    fn is_stored(&self, raw: &str) {
        self.stored(raw);
    }

    fn unacked(&self) -> usize {
        self.unacked()
    }

    fn lost(&self) -> Vec<i64> {
        self.lost()
    }

    fn hang_up(&self) {
        self.close(Which::Both);
    }

    async fn until(&self, condition: impl Fn(&Self) -> bool) {
        self.until(condition).await;
    }
}
