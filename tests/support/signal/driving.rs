//! People, groups and incoming envelopes. Simple envelopes are one call; a message with marks
//! begins with `from` (see `Draft`).

use serde_json::{Value, json};

use super::FakeSignal;
use super::envelope::{data, receipt};
use super::state::{ChatId, Group, Human, MessageId, OWN_NUMBER, OWN_UUID, State, UpdateId, number, uuid};

impl FakeSignal {
    /// Creates a person with an account; `number` and `uuid` derive from the id. The user name is
    /// the first name.
    pub fn person(&self, id: i64, first_name: &str, _username: Option<&str>) -> i64 {
        self.change(|state| state.humans.insert(id, Human { name: first_name.to_owned(), is_hidden: false }));
        id
    }

    /// Hides the number of this person from now on.
    pub fn hides_number(&self, person: i64) {
        self.change(|state| state.humans.get_mut(&person).map(|human| human.is_hidden = true));
    }

    /// Creates a group with us and all existing people as members.
    pub fn group(&self, id: ChatId, title: &str) -> ChatId {
        assert!(id < 0, "groups have negative numbers here");
        self.change(|state| {
            let members = state.humans.keys().copied().collect();
            state.groups.insert(id, Group { title: title.to_owned(), members, has_us: true });
        });
        id
    }

    /// Stores a file on Signal's side and in the attachments folder; returns its id.
    pub fn file(&self, bytes: &[u8]) -> String {
        self.change(|state| {
            let id = format!("{:020}.bin", state.serial());
            std::fs::write(state.attachments.join(&id), bytes).expect("a file among the attachments");
            state.files.insert(id.clone(), bytes.to_vec());
            id
        })
    }

    /// Deletes all files of the daemon.
    pub fn forgets_files(&self) {
        self.change(|state| {
            for id in std::mem::take(&mut state.files).into_keys() {
                let _ = std::fs::remove_file(state.attachments.join(id));
            }
        });
    }

    /// Sends a text in the direct chat.
    pub fn says(&self, person: i64, text: &str) -> MessageId {
        self.from(person).text(text).send()
    }

    /// Sends a text in a group.
    pub fn says_in(&self, group: ChatId, person: i64, text: &str) -> MessageId {
        self.from(person).in_chat(group).text(text).send()
    }

    /// Replies to a message in the direct chat.
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

    /// Sends several photos, here as one message.
    pub fn album(&self, person: i64, caption: &str, photos: &[&[u8]]) -> Vec<MessageId> {
        let draft = photos.iter().fold(self.from(person).caption(caption), |draft, bytes| draft.photo(bytes));
        vec![draft.send()]
    }

    /// Forwards another person's text. On Signal a forward looks like typed text, so this sends the
    /// nearest recognisable thing: a shared page without a comment, with the text as its preview.
    pub fn forwards(&self, person: i64, _author: i64, text: &str) -> MessageId {
        self.from(person).text("").preview("https://elsewhere.example/", "", text).send()
    }

    /// Quotes an alleged message of another author.
    pub fn forwards_hidden(&self, person: i64, author: &str, text: &str) -> MessageId {
        self.from(person).text("see").external_quote(author, text).send()
    }

    /// Adds us to a group.
    pub fn adds_bot(&self, group: ChatId, person: i64) -> UpdateId {
        self.change(|state| state.groups.get_mut(&group).map(|group| group.has_us = true));
        self.changes_group(group, person)
    }

    /// Edits the person's own message in this chat.
    pub fn edits(&self, chat: ChatId, message: MessageId, text: &str) -> UpdateId {
        self.change(|state| {
            let (author, _) = state.received.get(&(chat, message)).cloned().unwrap_or_else(|| {
                panic!("no message {message} from a person in chat {chat}");
            });
            let stamp = state.stamp(author);
            let mut data = data(stamp);
            data["message"] = json!(text);
            if let Some(group) = state.group_info(chat, "DELIVER") {
                data["groupInfo"] = group;
            }
            let edit = json!({ "targetSentTimestamp": message, "dataMessage": data });
            let body = state.envelope(author, stamp, "editMessage", edit);
            state.deliver(author, body)
        })
    }

    /// Deletes the person's own message for everyone.
    pub fn deletes(&self, chat: ChatId, message: MessageId) -> UpdateId {
        self.change(|state| {
            let (author, _) = state.received.get(&(chat, message)).cloned().unwrap_or_else(|| {
                panic!("no message {message} from a person in chat {chat}");
            });
            state.aside(author, chat, "remoteDelete", json!({ "timestamp": message }))
        })
    }

    /// Reacts to a message of either side.
    pub fn reacts(&self, chat: ChatId, person: i64, message: MessageId, emoji: &str) -> UpdateId {
        self.change(|state| state.react(chat, person, message, emoji, false))
    }

    /// Removes a reaction.
    pub fn unreacts(&self, chat: ChatId, person: i64, message: MessageId, emoji: &str) -> UpdateId {
        self.change(|state| state.react(chat, person, message, emoji, true))
    }

    /// Types the command that a button would carry, because Signal has no buttons. Other data is
    /// ignored.
    pub fn presses(&self, person: i64, _message: MessageId, data: &str) {
        if data.starts_with('/') {
            self.says(person, data);
        }
    }

    /// Sends a read receipt.
    pub fn has_read(&self, person: i64, message: MessageId) -> UpdateId {
        self.aside(person, "receiptMessage", |now| receipt(now, &[message]))
    }

    /// Starts or stops typing.
    pub fn types(&self, person: i64, action: &str) -> UpdateId {
        self.aside(person, "typingMessage", |now| json!({ "action": action, "timestamp": now }))
    }

    /// Starts a call.
    pub fn calls_us(&self, person: i64) -> UpdateId {
        self.aside(
            person,
            "callMessage",
            |_| json!({ "offerMessage": { "id": 7, "type": "audio_call", "opaque": "AA==" } }),
        )
    }

    /// Posts a story.
    pub fn posts_story(&self, person: i64, text: &str) -> UpdateId {
        let text = json!({ "text": text, "backgroundGradient": null });
        self.aside(
            person,
            "storyMessage",
            |_| json!({ "allowsReplies": true, "groupId": null, "textAttachment": text }),
        )
    }

    /// Sets the disappearing-message timer of the direct chat.
    pub fn sets_timer(&self, person: i64, seconds: u64) -> UpdateId {
        self.aside(person, "dataMessage", |now| {
            let mut data = data(now);
            data["expiresInSeconds"] = json!(seconds);
            data["isExpirationUpdate"] = json!(true);
            data
        })
    }

    /// Changes the group itself: its members or its title.
    pub fn changes_group(&self, group: ChatId, person: i64) -> UpdateId {
        self.change(|state| {
            let stamp = state.stamp(person);
            let mut data = data(stamp);
            data["groupInfo"] = state.group_info(group, "UPDATE").unwrap_or_default();
            let body = state.envelope(person, stamp, "dataMessage", data);
            state.deliver(person, body)
        })
    }

    /// Sends a message from another device of ours.
    pub fn we_wrote(&self, to: i64, text: &str) -> UpdateId {
        self.change(|state| {
            let mut sent = data(state.now_ms());
            sent["message"] = json!(text);
            sent["destination"] = json!(number(to));
            sent["destinationNumber"] = json!(number(to));
            sent["destinationUuid"] = json!(uuid(to));
            let body = state.synced(json!({ "sentMessage": sent }));
            state.enqueue(body)
        })
    }

    /// Sends a note to self from another device of ours.
    pub fn note_to_self(&self, text: &str) -> UpdateId {
        self.change(|state| {
            let mut sent = data(state.now_ms());
            sent["message"] = json!(text);
            sent["destination"] = json!(OWN_NUMBER);
            sent["destinationNumber"] = json!(OWN_NUMBER);
            sent["destinationUuid"] = json!(OWN_UUID);
            let body = state.synced(json!({ "sentMessage": sent }));
            state.enqueue(body)
        })
    }

    /// Sends a text after a change of the sender's keys: the daemon reports it and keeps the
    /// message. Once the keys are trusted it comes again (`redeliver` the returned number).
    pub fn says_with_new_keys(&self, person: i64, text: &str) -> UpdateId {
        self.change(|state| {
            let stamp = state.stamp(person);
            let mut data = data(stamp);
            data["message"] = json!(text);
            state.received.insert((person, stamp), (person, text.to_owned()));
            let whole = state.envelope(person, stamp, "dataMessage", data);
            let kept = state.enqueue(whole);
            state.queue.pop_back();
            let mut empty = state.envelope(person, stamp, "", Value::Null);
            empty["exception"] = json!({
                "message": format!("Untrusted identity for {}", uuid(person)), "type": "UntrustedIdentityException",
            });
            state.enqueue(empty);
            kept
        })
    }

    /// Delivers an envelope again.
    pub fn redeliver(&self, id: UpdateId) {
        self.change(|state| {
            let old = state.history.iter().rev().find(|queued| queued.id == id).cloned();
            state.queue.push_back(old.unwrap_or_else(|| panic!("no envelope {id}")));
        });
    }

    /// Queues a raw object in place of `{account, envelope}`.
    pub fn envelope(&self, body: Value) -> UpdateId {
        self.change(|state| state.enqueue(body))
    }

    /// Writes raw bytes on all subscribed connections: garbage, half a line, a line without end.
    pub fn writes(&self, bytes: &[u8]) {
        self.change(|state| {
            let to: Vec<u64> = state.subscriptions.values().map(|subscription| subscription.connection).collect();
            to.into_iter().for_each(|connection| state.write(connection, bytes.to_vec()));
        });
    }

    /// Keeps messages on the server in spite of listeners, until `release_messages`.
    pub fn hold_messages(&self) {
        self.change(|state| state.is_holding = true);
    }

    /// Releases the held messages, newest first if `backwards`.
    pub fn release_messages(&self, backwards: bool) {
        self.change(|state| {
            if backwards {
                state.queue = state.queue.drain(..).rev().collect();
            }
            state.is_holding = false;
        });
    }

    /// Adds unknown fields, and nulls for all absent ones, from now on.
    pub fn noisy(&self, on: bool) {
        self.change(|state| state.is_noisy = on);
    }

    /// Surrounds every message with typing, receipts, calls and sync messages, from now on.
    pub fn chatty(&self, on: bool) {
        self.change(|state| state.is_chatty = on);
    }

    fn aside(&self, person: i64, kind: &str, content: impl FnOnce(i64) -> Value) -> UpdateId {
        self.change(|state| {
            let now = state.now_ms();
            let body = state.envelope(person, now, kind, content(now));
            state.enqueue(body)
        })
    }
}

impl State {
    /// Queues a message whose one purpose is a field.
    fn aside(&mut self, author: i64, chat: ChatId, field: &str, value: Value) -> UpdateId {
        let stamp = self.stamp(author);
        let mut data = data(stamp);
        data[field] = value;
        if let Some(group) = self.group_info(chat, "DELIVER") {
            data["groupInfo"] = group;
        }
        let body = self.envelope(author, stamp, "dataMessage", data);
        self.deliver(author, body)
    }

    fn react(&mut self, chat: ChatId, person: i64, message: MessageId, emoji: &str, is_remove: bool) -> UpdateId {
        let ours = self.sent.iter().any(|sent| sent.chat == chat && sent.is_named(message));
        let theirs = self.received.get(&(chat, message)).map(|(author, _)| *author);
        let (number, uuid) = match (ours, theirs) {
            (true, _) | (_, None) => (OWN_NUMBER.to_owned(), OWN_UUID.to_owned()),
            (false, Some(author)) => (number(author), uuid(author)),
        };
        let reaction = json!({
            "emoji": emoji, "targetAuthor": number, "targetAuthorNumber": number, "targetAuthorUuid": uuid,
            "targetSentTimestamp": message, "isRemove": is_remove,
        });
        self.aside(person, chat, "reaction", reaction)
    }
}
