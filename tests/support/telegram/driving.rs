//! People, groups and incoming updates. Simple updates are one call; a message with marks begins
//! with `from` (see `Draft`).

use serde_json::{Value, json};

use super::FakeTelegram;
use super::draft::entities;
use super::state::{ChatId, MessageId, Queued, State, UpdateId, bot};

/// Membership states in `my_chat_member`.
const MEMBER: &str = "member";
const KICKED: &str = "kicked";

impl FakeTelegram {
    /// Creates a person with an account and a private chat under the same id. The bot may write
    /// there only after their first message.
    pub fn person(&self, id: i64, first_name: &str, username: Option<&str>) -> i64 {
        let mut user = json!({ "id": id, "is_bot": false, "first_name": first_name, "language_code": "en" });
        let mut chat = json!({ "id": id, "type": "private", "first_name": first_name });
        if let Some(username) = username {
            user["username"] = json!(username);
            chat["username"] = json!(username);
        }
        self.change(|state| {
            state.users.insert(id, user);
            state.chats.insert(id, chat);
        });
        id
    }

    /// Changes the language of a person's client.
    pub fn speaks(&self, person: i64, code: &str) {
        self.change(|state| {
            if let Some(user) = state.users.get_mut(&person) {
                user["language_code"] = json!(code);
            }
        });
    }

    /// Creates a supergroup (negative id) with the bot as a member.
    pub fn group(&self, id: ChatId, title: &str) -> ChatId {
        assert!(id < 0, "groups have negative ids");
        self.change(|state| {
            state.chats.insert(id, json!({ "id": id, "type": "supergroup", "title": title }));
            state.known.insert(id);
        });
        id
    }

    /// Creates a supergroup with topics.
    pub fn forum(&self, id: ChatId, title: &str) -> ChatId {
        self.group(id, title);
        self.change(|state| state.chats.get_mut(&id).map(|chat| chat["is_forum"] = json!(true)));
        id
    }

    /// Stores a file on Telegram's side; returns the id for messages.
    pub fn file(&self, bytes: &[u8]) -> String {
        self.change(|state| {
            let id = format!("AgAD{}", state.serial());
            state.files.insert(id.clone(), bytes.to_vec());
            id
        })
    }

    /// Sends a text in the private chat.
    pub fn says(&self, person: i64, text: &str) -> MessageId {
        self.from(person).text(text).send()
    }

    /// Sends a text in a group.
    pub fn says_in(&self, group: ChatId, person: i64, text: &str) -> MessageId {
        self.from(person).in_chat(group).text(text).send()
    }

    /// Replies to a message in the private chat.
    pub fn replies(&self, person: i64, to: MessageId, text: &str) -> MessageId {
        self.from(person).reply_to(to).text(text).send()
    }

    /// Sends a photo with a caption.
    pub fn sends_photo(&self, person: i64, caption: &str, bytes: &[u8]) -> MessageId {
        self.from(person).photo(bytes).caption(caption).send()
    }

    /// Sends a document.
    pub fn sends_document(&self, person: i64, name: &str, mime: &str, bytes: &[u8]) -> MessageId {
        self.from(person).document(name, mime, bytes).send()
    }

    /// Sends a voice note.
    pub fn sends_voice(&self, person: i64, seconds: u32, bytes: &[u8]) -> MessageId {
        self.from(person).voice(seconds, bytes).send()
    }

    /// Sends a sticker.
    pub fn sends_sticker(&self, person: i64, emoji: &str) -> MessageId {
        self.from(person).sticker(emoji).send()
    }

    /// Sends several photos as one album; the caption is on the first, as on the real server.
    pub fn album(&self, person: i64, caption: &str, photos: &[&[u8]]) -> Vec<MessageId> {
        let group = self.change(State::serial).to_string();
        let photo = |(index, bytes): (usize, &&[u8])| {
            let draft = self.from(person).photo(bytes).media_group(&group);
            let draft = if index == 0 { draft.caption(caption) } else { draft };
            draft.send()
        };
        photos.iter().enumerate().map(photo).collect()
    }

    /// Forwards another person's text.
    pub fn forwards(&self, person: i64, author: i64, text: &str) -> MessageId {
        self.from(person).forwarded_from(author).text(text).send()
    }

    /// Forwards the text of a hidden account.
    pub fn forwards_hidden(&self, person: i64, author: &str, text: &str) -> MessageId {
        self.from(person).forwarded_from_hidden(author).text(text).send()
    }

    /// Edits the person's own message in this chat.
    pub fn edits(&self, chat: ChatId, message: MessageId, text: &str) -> UpdateId {
        self.change(|state| {
            let now = state.now_secs();
            let stored = state.received.get_mut(&(chat, message));
            let stored = stored.unwrap_or_else(|| panic!("no message {message} from a person in chat {chat}"));
            let (field, marks) = match stored.get("caption") {
                Some(_) => ("caption", "caption_entities"),
                None => ("text", "entities"),
            };
            stored[field] = json!(text);
            stored[marks] = json!(entities(text));
            stored["edit_date"] = json!(now);
            let edited = stored.clone();
            state.enqueue("edited_message", edited)
        })
    }

    /// Presses a button below one of the bot's messages in the private chat; returns the id of the
    /// callback. The existence of the button is not checked: stale and forged presses happen.
    pub fn presses(&self, person: i64, message: MessageId, data: &str) -> String {
        self.presses_in(person, person, message, data)
    }

    /// Presses a button in a group.
    pub fn presses_in(&self, chat: ChatId, person: i64, message: MessageId, data: &str) -> String {
        self.change(|state| {
            let id = format!("77{:016}", state.serial());
            let shown = state.shown(chat, message);
            let shown = shown.unwrap_or_else(|| panic!("no message {message} in chat {chat}"));
            state.callbacks.insert(id.clone());
            let from = state.user(person);
            let body = json!({ "id": id, "from": from, "message": shown, "chat_instance": "-1", "data": data });
            state.enqueue("callback_query", body);
            id
        })
    }

    /// Reacts to a message; arrives only if the bot asked for `message_reaction`.
    pub fn reacts(&self, chat: ChatId, person: i64, message: MessageId, emoji: &str) -> UpdateId {
        self.change(|state| {
            let body = json!({
                "chat": state.chat(chat), "message_id": message, "user": state.user(person), "date": state.now_secs(),
                "old_reaction": [], "new_reaction": [{ "type": "emoji", "emoji": emoji }],
            });
            state.enqueue("message_reaction", body)
        })
    }

    /// Blocks the bot: it receives an update, and sends fail with 403.
    pub fn blocks(&self, person: i64) -> UpdateId {
        self.block(person);
        self.change(|state| state.membership(person, person, MEMBER, KICKED))
    }

    /// Unblocks the bot.
    pub fn unblocks(&self, person: i64) -> UpdateId {
        self.unblock(person);
        self.change(|state| state.membership(person, person, KICKED, MEMBER))
    }

    /// Adds the bot to a group.
    pub fn adds_bot(&self, group: ChatId, person: i64) -> UpdateId {
        self.unblock(group);
        self.change(|state| state.membership(group, person, "left", MEMBER))
    }

    /// Removes the bot from a group: sends fail with 403.
    pub fn removes_bot(&self, group: ChatId, person: i64) -> UpdateId {
        self.block(group);
        self.change(|state| state.membership(group, person, MEMBER, KICKED))
    }

    /// Upgrades a group to a supergroup with a new id; sends to the old one name the new one.
    pub fn upgrades(&self, old: ChatId, new: ChatId, person: i64) {
        let title = self.read(|state| state.chat(old)["title"].as_str().unwrap_or_default().to_owned());
        self.group(new, &title);
        self.from(person).in_chat(old).field("migrate_to_chat_id", json!(new)).send();
        self.from(person).in_chat(new).field("migrate_from_chat_id", json!(old)).send();
        self.change(|state| state.migrated.insert(old, new));
    }

    /// Publishes a post in a channel, without a sender.
    pub fn channel_post(&self, channel: ChatId, title: &str, text: &str) -> MessageId {
        let chat = json!({ "id": channel, "type": "channel", "title": title });
        self.change(|state| {
            state.chats.insert(channel, chat.clone());
            state.receive("channel_post", channel, json!({ "sender_chat": chat, "text": text }))
        })
    }

    /// Queues an update of a kind that no library knows.
    pub fn unknown_kind(&self) -> UpdateId {
        self.update(json!({ "hologram_call": { "id": "1", "beams": [1, 2, 3] } }))
    }

    /// Queues a raw update, wanted or not; it gets the next id unless it has one.
    pub fn update(&self, update: Value) -> UpdateId {
        self.change(|state| state.enqueue_raw(update))
    }

    /// Delivers an update again under its old id, once, independent of the polled offset.
    pub fn redeliver(&self, id: UpdateId) {
        self.change(|state| {
            let old = state.history.iter().rev().find(|(old, _)| *old == id);
            let update = old.map(|(_, update)| update.clone()).unwrap_or_else(|| panic!("no update {id}"));
            state.queue.push(Queued { id, update, forced: true, delivered: false });
        });
    }
}

impl State {
    /// Queues `my_chat_member`.
    fn membership(&mut self, chat: ChatId, by: i64, old: &str, new: &str) -> UpdateId {
        self.known.insert(chat);
        let member = |status: &str| match status {
            KICKED => json!({ "status": KICKED, "user": bot(), "until_date": 0 }),
            status => json!({ "status": status, "user": bot() }),
        };
        let body = json!({
            "chat": self.chat(chat), "from": self.user(by), "date": self.now_secs(),
            "old_chat_member": member(old), "new_chat_member": member(new),
        });
        self.enqueue("my_chat_member", body)
    }
}
