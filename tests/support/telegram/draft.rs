//! Builder of one incoming message, delivered by `send`.

use serde_json::{Value, json};

use super::FakeTelegram;
use super::state::{ChatId, MessageId, State, bot, without_reply};

/// A message under construction; see `FakeTelegram::from`.
#[must_use = "a draft is delivered by send()"]
pub struct Draft {
    fake: FakeTelegram,
    chat: ChatId,
    message: Value,
}

impl FakeTelegram {
    /// Begins a message of this person, in the private chat by default.
    pub fn from(&self, person: i64) -> Draft {
        let from = self.read(|state| state.user(person));
        Draft { fake: self.clone(), chat: person, message: json!({ "from": from }) }
    }
}

impl Draft {
    /// Delivers the message; the bot may write to the chat from now on.
    pub fn send(self) -> MessageId {
        let Self { fake, chat, message } = self;
        fake.change(|state| state.receive("message", chat, message))
    }

    /// Sends into a group.
    pub fn in_chat(mut self, chat: ChatId) -> Self {
        self.chat = chat;
        self
    }

    /// Sends into a topic of a forum.
    pub fn in_topic(self, thread_id: i64) -> Self {
        self.field("message_thread_id", json!(thread_id)).field("is_topic_message", json!(true))
    }

    /// Text; commands, mentions and addresses in it are marked as the real server does.
    pub fn text(self, text: &str) -> Self {
        self.field("text", json!(text)).field("entities", json!(entities(text)))
    }

    /// Text below the attachment.
    pub fn caption(self, text: &str) -> Self {
        self.field("caption", json!(text)).field("caption_entities", json!(entities(text)))
    }

    /// A photo in two sizes; both lead to the same bytes.
    pub fn photo(self, bytes: &[u8]) -> Self {
        let small = self.file(bytes, json!({ "width": 90, "height": 60 }));
        let large = self.file(bytes, json!({ "width": 1280, "height": 853 }));
        self.field("photo", json!([small, large]))
    }

    /// A document under a file name chosen by the sender.
    pub fn document(self, name: &str, mime: &str, bytes: &[u8]) -> Self {
        let document = self.file(bytes, json!({ "file_name": name, "mime_type": mime }));
        self.field("document", document)
    }

    /// A voice note.
    pub fn voice(self, seconds: u32, bytes: &[u8]) -> Self {
        let voice = self.file(bytes, json!({ "duration": seconds, "mime_type": "audio/ogg" }));
        self.field("voice", voice)
    }

    /// An audio file, as the music player sends it.
    pub fn audio(self, name: &str, mime: &str, bytes: &[u8]) -> Self {
        let audio = self.file(bytes, json!({ "duration": 3, "file_name": name, "mime_type": mime }));
        self.field("audio", audio)
    }

    /// A round video message; the server gives it no type.
    pub fn video_note(self, bytes: &[u8]) -> Self {
        let note = self.file(bytes, json!({ "duration": 3, "length": 240 }));
        self.field("video_note", note)
    }

    pub fn sticker(self, emoji: &str) -> Self {
        let look = json!({
            "type": "regular", "width": 512, "height": 512, "is_animated": false, "is_video": false, "emoji": emoji,
        });
        let sticker = self.file(b"webp", look);
        self.field("sticker", sticker)
    }

    pub fn contact(self, first_name: &str, phone: &str) -> Self {
        self.field("contact", json!({ "first_name": first_name, "phone_number": phone }))
    }

    pub fn location(self, latitude: f64, longitude: f64) -> Self {
        self.field("location", json!({ "latitude": latitude, "longitude": longitude }))
    }

    /// A place with a name; the server repeats its coordinates as a location.
    pub fn venue(self, title: &str, address: &str, latitude: f64, longitude: f64) -> Self {
        let location = json!({ "latitude": latitude, "longitude": longitude });
        self.location(latitude, longitude)
            .field("venue", json!({ "location": location, "title": title, "address": address }))
    }

    pub fn poll(self, question: &str, options: &[&str]) -> Self {
        let options: Value = options.iter().map(|text| json!({ "text": text, "voter_count": 0 })).collect();
        let id = self.fake.change(State::serial).to_string();
        self.field(
            "poll",
            json!({
                "id": id, "question": question, "options": options, "total_voter_count": 0, "is_closed": false,
                "is_anonymous": true, "type": "regular", "allows_multiple_answers": false,
            }),
        )
    }

    /// Marks a message as part of an album; see also `FakeTelegram::album`.
    pub fn media_group(self, id: &str) -> Self {
        self.field("media_group_id", json!(id))
    }

    /// Replies to a message of the same chat, from the bot or from a person.
    pub fn reply_to(self, message: MessageId) -> Self {
        let shown = self.fake.read(|state| state.shown(self.chat, message));
        let shown = shown.unwrap_or_else(|| panic!("no message {message} in chat {}", self.chat));
        self.field("reply_to_message", without_reply(shown))
    }

    /// Quotes a part of the answered message.
    pub fn quote(self, text: &str) -> Self {
        self.field("quote", json!({ "text": text, "position": 0, "is_manual": true }))
    }

    /// Replies to a message in another chat, with the quoted text.
    pub fn external_quote(self, author: &str, text: &str) -> Self {
        let origin = json!({ "type": "hidden_user", "date": self.fake.now_ms() / 1000, "sender_user_name": author });
        self.field("external_reply", json!({ "origin": origin })).quote(text)
    }

    /// Marks a forward from a person with a visible account.
    pub fn forwarded_from(self, person: i64) -> Self {
        let sender = self.fake.read(|state| state.user(person));
        let origin = json!({ "type": "user", "date": self.fake.now_ms() / 1000, "sender_user": sender });
        self.field("forward_origin", origin)
    }

    /// Marks a forward from a hidden account.
    pub fn forwarded_from_hidden(self, name: &str) -> Self {
        let origin = json!({ "type": "hidden_user", "date": self.fake.now_ms() / 1000, "sender_user_name": name });
        self.field("forward_origin", origin)
    }

    /// Marks a forward from a channel.
    pub fn forwarded_from_channel(self, id: ChatId, title: &str) -> Self {
        let chat = json!({ "id": id, "type": "channel", "title": title });
        let date = self.fake.now_ms() / 1000;
        self.field("forward_origin", json!({ "type": "channel", "date": date, "chat": chat, "message_id": 5 }))
    }

    /// Marks a message composed by an inline bot.
    pub fn via_bot(self, username: &str) -> Self {
        let via = json!({ "id": 990_000_001, "is_bot": true, "first_name": username, "username": username });
        self.field("via_bot", via)
    }

    /// Address of the link preview below the text.
    pub fn link_preview(self, url: &str) -> Self {
        self.field("link_preview_options", json!({ "url": url }))
    }

    /// Dates the message at this time (seconds) instead of now.
    pub fn dated(self, secs: i64) -> Self {
        self.field("date", json!(secs))
    }

    /// Sets any other field of the message.
    pub fn field(mut self, key: &str, value: Value) -> Self {
        self.message[key] = value;
        self
    }

    fn file(&self, bytes: &[u8], mut look: Value) -> Value {
        let id = self.fake.file(bytes);
        look["file_unique_id"] = json!(format!("u{id}"));
        look["file_size"] = json!(bytes.len());
        look["file_id"] = json!(id);
        look
    }
}

impl State {
    /// Completes a message, records it and queues it.
    pub(super) fn receive(&mut self, kind: &str, chat: ChatId, mut message: Value) -> MessageId {
        let id = self.new_message_id(chat);
        message["message_id"] = json!(id);
        message["chat"] = self.chat(chat);
        if message.get("date").is_none() {
            message["date"] = json!(self.now_secs());
        }
        if message.get("is_topic_message").is_some() && message.get("reply_to_message").is_none() {
            message["reply_to_message"] = self.beginning(chat, &message["message_thread_id"]);
        }
        if let Some(fields) = message.as_object_mut() {
            fields.retain(|key, value| !(key.ends_with("entities") && value.as_array().is_some_and(Vec::is_empty)));
        }
        self.known.insert(chat);
        self.received.insert((chat, id), message.clone());
        self.enqueue(kind, message);
        id
    }
}

impl State {
    /// First message of a topic; every message in a topic refers to it like a reply.
    fn beginning(&self, chat: ChatId, thread: &Value) -> Value {
        json!({
            "message_id": thread, "from": bot(), "chat": self.chat(chat), "date": 1_700_000_000,
            "message_thread_id": thread, "is_topic_message": true,
            "forum_topic_created": { "name": "Topic", "icon_color": 7_322_096 },
        })
    }
}

/// Commands, mentions and addresses as entities in UTF-16 units.
pub(super) fn entities(text: &str) -> Vec<Value> {
    let mut found = Vec::new();
    let mut offset = 0;
    for word in text.split_inclusive(char::is_whitespace) {
        let bare = word.trim_end().trim_end_matches([',', '.', '!', '?', ':', ')']);
        let kind = match bare {
            _ if bare.starts_with('/') && bare.len() > 1 && !bare[1..].contains('/') => Some("bot_command"),
            _ if bare.starts_with('@') && bare.len() > 1 => Some("mention"),
            _ if bare.starts_with("http://") || bare.starts_with("https://") => Some("url"),
            _ => None,
        };
        if let Some(kind) = kind {
            let length = bare.encode_utf16().count();
            found.push(json!({ "type": kind, "offset": offset, "length": length }));
        }
        offset += word.encode_utf16().count();
    }
    found
}
