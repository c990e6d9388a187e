//! A way to people, as a story needs it: a server of ours in the place of the real one.
//!
//! What holds for every channel is told over each of them. The file of such a story takes `Story`
//! from the module it stands in (`super::Story`), and stands in one module per channel. It may use
//! what both servers can do; the names are the same on both, and people have the same small
//! numbers. What only one channel has (a button, a forward) has its nearest likeness on the other,
//! said at the server's method; where there is none the story belongs to that channel alone.

use std::sync::Arc;

use super::signal::{self, FakeSignal, Transport, Which};
use super::telegram::FakeTelegram;

/// A server in the place of a real one. Cloning gives another handle on the same one.
pub trait Channel: Clone + Send + Sync + 'static {
    /// The adapter's name, as addresses have it.
    const NAME: &'static str;
    /// Whether our side has to say that an item is in safety, because nothing on the wire says so.
    const IS_TOLD: bool;

    fn start_sync() -> Self;

    /// Time is what this says, in milliseconds.
    fn follow(&self, now: Arc<dyn Fn() -> i64 + Send + Sync>);

    /// The tables of the configuration by which it is found.
    fn settings(&self) -> String;

    /// How somebody is named in `[[people]]`.
    fn address(person: i64) -> String;

    /// How the journal names somebody's address.
    fn peer(person: i64) -> String;

    /// How the journal names a message that somebody sent in their direct chat.
    fn external_id(person: i64, message: i64) -> String;

    fn meet(&self, person: i64, name: &str);

    /// Somebody says something; the number of the message.
    fn person_says(&self, person: i64, text: &str) -> i64;

    /// Something that no assistant can take: a place, a sticker.
    fn sends_unsupported(&self, person: i64);

    /// Somebody sends a plain text file.
    fn sends_file(&self, person: i64, name: &str, text: &str);

    /// Somebody brings words of somebody else.
    fn passes_on(&self, person: i64, author: i64, text: &str);

    /// What somebody was sent, as it stands now.
    fn messages_to(&self, person: i64) -> Vec<String>;

    /// The files that somebody was sent.
    fn files(&self, person: i64) -> Vec<Vec<u8>>;

    /// The names of all requests so far.
    fn calls(&self) -> Vec<String>;

    /// How often somebody began to listen so far.
    fn listeners(&self) -> usize;

    /// An item is in safety.
    fn is_stored(&self, raw: &str);

    /// What is not in safety yet.
    fn unacked(&self) -> usize;

    /// Messages that the channel gave away and cannot give again, whether they were stored or not.
    fn lost(&self) -> Vec<i64>;

    /// Our side is gone, and the server learns of it at once.
    fn hang_up(&self) {}

    /// Waits until a condition holds; it is looked at after each change.
    async fn until(&self, condition: impl Fn(&Self) -> bool);
}

/// The kinds of sources that a label names, without the items that they came in:
/// `preview:in3 web:a.example` is `preview web:a.example`.
pub fn kinds(label: &str) -> String {
    let kinds = label.split(' ').map(|source| match source.split_once(":in") {
        Some((kind, item)) if item.chars().all(|c| c.is_ascii_digit()) => kind,
        _ => source,
    });
    kinds.collect::<Vec<_>>().join(" ")
}

impl Channel for FakeTelegram {
    const NAME: &'static str = "telegram";
    const IS_TOLD: bool = false;

    fn start_sync() -> Self {
        Self::start_sync()
    }

    fn follow(&self, now: Arc<dyn Fn() -> i64 + Send + Sync>) {
        self.set_now(now);
    }

    fn settings(&self) -> String {
        format!("[telegram]\ntoken = \"{}\"\napi_url = \"{}\"\n", self.token(), self.url())
    }

    fn address(person: i64) -> String {
        format!("telegram = {person}")
    }

    fn peer(person: i64) -> String {
        person.to_string()
    }

    fn external_id(person: i64, message: i64) -> String {
        format!("m{person}:{message}")
    }

    fn meet(&self, person: i64, name: &str) {
        self.person(person, name, None);
    }

    fn person_says(&self, person: i64, text: &str) -> i64 {
        self.says(person, text)
    }

    fn sends_unsupported(&self, person: i64) {
        self.from(person).location(59.9, 10.7).send();
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

impl Channel for FakeSignal {
    const NAME: &'static str = "signal";
    const IS_TOLD: bool = true;

    fn start_sync() -> Self {
        Self::start_sync()
    }

    fn follow(&self, now: Arc<dyn Fn() -> i64 + Send + Sync>) {
        self.set_now(now);
    }

    fn settings(&self) -> String {
        format!("[signal]\nendpoint = \"{}\"\naccount = \"{}\"\n", self.endpoint(Transport::Unix), self.account())
    }

    /// Some people are known by their number, some by their account identifier.
    fn address(person: i64) -> String {
        let address = if person % 2 == 1 { signal::number(person) } else { signal::uuid(person) };
        format!("signal = \"{address}\"")
    }

    fn peer(person: i64) -> String {
        signal::uuid(person)
    }

    fn external_id(person: i64, message: i64) -> String {
        format!("m{}:{message}", signal::uuid(person))
    }

    fn meet(&self, person: i64, name: &str) {
        self.person(person, name, None);
    }

    fn person_says(&self, person: i64, text: &str) -> i64 {
        self.says(person, text)
    }

    fn sends_unsupported(&self, person: i64) {
        self.sends_sticker(person, "🎉");
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
