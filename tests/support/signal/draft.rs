//! Builder of one incoming message, delivered by `send`.

use serde_json::{Value, json};

use super::FakeSignal;
use super::envelope::data;
use super::state::{ChatId, MessageId, OWN_NUMBER, OWN_UUID, STICKER_PACK, State, number, uuid};

/// Placeholder of a mention in a body.
const MENTION: char = '\u{fffc}';

/// A message under construction; see `FakeSignal::from`.
#[must_use = "a draft is delivered by send()"]
pub struct Draft {
    fake: FakeSignal,
    author: i64,
    chat: ChatId,
    data: Value,
    dated: Option<i64>,
}

impl FakeSignal {
    /// Begins a message of this person, in the direct chat by default.
    pub fn from(&self, person: i64) -> Draft {
        self.read(|state| state.human(person));
        Draft { fake: self.clone(), author: person, chat: person, data: data(0), dated: None }
    }
}

impl Draft {
    /// Delivers the message.
    pub fn send(self) -> MessageId {
        let Self { fake, author, chat, data, dated } = self;
        fake.change(|state| state.receive(author, chat, data, dated))
    }

    /// Sends into a group.
    pub fn in_chat(mut self, chat: ChatId) -> Self {
        self.chat = chat;
        self
    }

    pub fn text(self, text: &str) -> Self {
        self.field("message", json!(text))
    }

    /// Text below the attachment; Signal has one body for both.
    pub fn caption(self, text: &str) -> Self {
        self.text(text)
    }

    /// Mentions us before the text.
    pub fn mentions_us(self) -> Self {
        self.mention(json!({ "name": OWN_NUMBER, "number": OWN_NUMBER, "uuid": OWN_UUID }))
    }

    /// Mentions another person before the text.
    pub fn mentions(self, person: i64) -> Self {
        let name = self.fake.read(|state| state.human(person).name);
        self.mention(json!({ "name": name, "number": number(person), "uuid": uuid(person) }))
    }

    fn mention(self, mut whom: Value) -> Self {
        let text = self.data["message"].as_str().unwrap_or_default();
        whom["start"] = json!(0);
        whom["length"] = json!(1);
        let mut all = self.data["mentions"].as_array().cloned().unwrap_or_default();
        for earlier in &mut all {
            earlier["start"] = json!(earlier["start"].as_i64().unwrap_or_default() + 2);
        }
        all.insert(0, whom);
        let text = format!("{MENTION} {text}");
        self.field("message", json!(text)).field("mentions", json!(all))
    }

    pub fn photo(self, bytes: &[u8]) -> Self {
        self.attach("image/jpeg", None, bytes)
    }

    /// A document under a file name chosen by the sender.
    pub fn document(self, name: &str, mime: &str, bytes: &[u8]) -> Self {
        self.attach(mime, Some(name), bytes)
    }

    /// A voice note: to the daemon a nameless audio attachment.
    pub fn voice(self, _seconds: u32, bytes: &[u8]) -> Self {
        self.attach("audio/aac", None, bytes)
    }

    fn attach(mut self, mime: &str, name: Option<&str>, bytes: &[u8]) -> Self {
        let id = self.fake.file(bytes);
        let attachment = json!({
            "contentType": mime, "filename": name, "id": id, "size": bytes.len(), "width": null, "height": null,
            "caption": null, "uploadTimestamp": self.fake.now_ms(),
        });
        let mut all = self.data["attachments"].as_array().cloned().unwrap_or_default();
        all.push(attachment);
        self.data["attachments"] = json!(all);
        self
    }

    /// A sticker, which the daemon reports by its number; a blank emoji is in no pack that it
    /// knows.
    pub fn sticker(self, emoji: &str) -> Self {
        let number = self.fake.change(|state| {
            state.stickers.push(emoji.to_owned());
            state.stickers.len() - 1
        });
        self.field("sticker", json!({ "packId": STICKER_PACK, "stickerId": number }))
    }

    pub fn contact(self, name: &str, phone: &str) -> Self {
        let name =
            json!({ "display": name, "given": name, "family": null, "prefix": null, "suffix": null, "middle": null });
        let phone = json!([{ "value": phone, "type": "MOBILE", "label": null }]);
        self.field("contacts", json!([{ "name": name, "phone": phone, "organization": null }]))
    }

    pub fn poll(self, question: &str, options: &[&str]) -> Self {
        self.field("pollCreate", json!({ "question": question, "allowMultiple": false, "options": options }))
    }

    /// Preview of a page below its address.
    pub fn preview(mut self, url: &str, title: &str, description: &str) -> Self {
        if self.data["message"].is_null() {
            self = self.text(url);
        }
        self.field("previews", json!([{ "url": url, "title": title, "description": description, "image": null }]))
    }

    /// Replies to a message of the same chat, ours or another person's.
    pub fn reply_to(self, message: MessageId) -> Self {
        let quote = self.fake.read(|state| state.quote(self.chat, message));
        let quote = quote.unwrap_or_else(|| panic!("no message {message} in chat {}", self.chat));
        self.field("quote", quote)
    }

    /// Replies to an alleged message of an unknown author.
    pub fn external_quote(self, author: &str, text: &str) -> Self {
        let id = self.fake.now_ms() - 77_000;
        self.field(
            "quote",
            json!({
                "id": id, "author": author, "authorNumber": null, "authorUuid": uuid(7_777_777), "text": text,
                "attachments": [],
            }),
        )
    }

    /// Sets the time after reading at which the message disappears.
    pub fn expires_in(self, seconds: u64) -> Self {
        self.field("expiresInSeconds", json!(seconds))
    }

    /// Marks the message as viewable once.
    pub fn view_once(self) -> Self {
        self.field("viewOnce", json!(true))
    }

    /// Dates the message at this time (seconds) instead of now.
    pub fn dated(mut self, secs: i64) -> Self {
        self.dated = Some(secs * 1000);
        self
    }

    /// Sets any other field of the message.
    pub fn field(mut self, key: &str, value: Value) -> Self {
        self.data[key] = value;
        self
    }
}

impl State {
    /// Completes a message, records it and queues it.
    pub(super) fn receive(&mut self, author: i64, chat: ChatId, mut data: Value, dated: Option<i64>) -> MessageId {
        let stamp = self.stamp(author);
        data["timestamp"] = json!(stamp);
        if let Some(group) = self.group_info(chat, "DELIVER") {
            data["groupInfo"] = group;
        }
        let text = data["message"].as_str().unwrap_or_default().to_owned();
        self.received.insert((chat, stamp), (author, text));
        let mut body = self.envelope(author, stamp, "dataMessage", data);
        if let Some(dated) = dated {
            body["envelope"]["serverReceivedTimestamp"] = json!(dated);
        }
        self.deliver(author, body);
        stamp
    }

    /// A message of either side as shown by a quote.
    fn quote(&self, chat: ChatId, message: MessageId) -> Option<Value> {
        let ours = self.sent.iter().find(|sent| sent.chat == chat && sent.is_named(message) && !sent.deleted);
        let (number, uuid, text) = match ours {
            Some(sent) => (Some(OWN_NUMBER.to_owned()), OWN_UUID.to_owned(), sent.text.clone()),
            None => {
                let (author, text) = self.received.get(&(chat, message)).cloned()?;
                ((!self.human(author).is_hidden).then(|| number(author)), uuid(author), text)
            }
        };
        let author = number.clone().unwrap_or_else(|| uuid.clone());
        Some(json!({
            "id": message, "author": author, "authorNumber": number, "authorUuid": uuid, "text": text, "attachments": [],
        }))
    }
}
