//! How things look on the wire: one envelope for each, with the fields of the real daemon, and on
//! demand with everything in it that a careless reader would stumble over.

use serde_json::{Map, Value, json};

use super::state::{ChatId, MessageId, OWN_NUMBER, State, UpdateId, group_id, number, uuid};

/// Everything that an envelope may hold; a noisy one says of each that it is not there.
const CONTENTS: [&str; 7] =
    ["dataMessage", "editMessage", "storyMessage", "syncMessage", "callMessage", "receiptMessage", "typingMessage"];
/// The same for a message.
const PARTS: [&str; 12] = [
    "message",
    "reaction",
    "quote",
    "mentions",
    "previews",
    "attachments",
    "sticker",
    "remoteDelete",
    "contacts",
    "textStyles",
    "groupInfo",
    "storyContext",
];

impl State {
    /// Somebody's envelope with this content, as it would be handed over.
    pub(super) fn envelope(&self, author: i64, timestamp: MessageId, kind: &str, content: Value) -> Value {
        let human = self.human(author);
        let now = self.now_ms();
        let number = (!human.is_hidden).then(|| number(author));
        let mut envelope = json!({
            "source": number.clone().unwrap_or_else(|| uuid(author)),
            "sourceNumber": number,
            "sourceUuid": uuid(author),
            "sourceName": human.name,
            "sourceDevice": 1,
            "timestamp": timestamp,
            "serverReceivedTimestamp": now,
            "serverDeliveredTimestamp": now,
        });
        if !kind.is_empty() {
            envelope[kind] = content;
        }
        json!({ "envelope": envelope, "account": OWN_NUMBER })
    }

    /// Puts a message or an edit on the server, with the small talk of devices around it if the
    /// test wants that.
    pub(super) fn deliver(&mut self, author: i64, mut body: Value) -> UpdateId {
        if self.is_chatty {
            self.small_talk(author);
        }
        if self.is_noisy {
            add_noise(&mut body);
        }
        let id = self.enqueue(body);
        if self.is_chatty {
            self.small_talk(author);
        }
        id
    }

    /// Typing, a receipt, a call, and what another device of ours did.
    fn small_talk(&mut self, author: i64) {
        let now = self.now_ms();
        for body in [
            self.envelope(author, now, "typingMessage", json!({ "action": "STARTED", "timestamp": now })),
            self.envelope(author, now, "receiptMessage", receipt(now, &[now - 1])),
            self.envelope(author, now, "callMessage", json!({ "offerMessage": { "id": 7, "type": "audio_call" } })),
            self.synced(json!({ "readMessages": [{ "senderUuid": uuid(author), "timestamp": now - 1 }] })),
            self.envelope(author, now, "typingMessage", json!({ "action": "STOPPED", "timestamp": now })),
        ] {
            self.enqueue(body);
        }
    }

    /// A sync message: what another device of our own account did.
    pub(super) fn synced(&self, content: Value) -> Value {
        let now = self.now_ms();
        json!({
            "envelope": {
                "source": OWN_NUMBER, "sourceNumber": OWN_NUMBER, "sourceUuid": super::OWN_UUID, "sourceName": "Compline",
                "sourceDevice": 2, "timestamp": now, "serverReceivedTimestamp": now, "serverDeliveredTimestamp": now,
                "syncMessage": content,
            },
            "account": OWN_NUMBER,
        })
    }

    /// What a message in a group says of it; nothing in a direct chat.
    pub(super) fn group_info(&self, chat: ChatId, kind: &str) -> Option<Value> {
        let group = self.groups.get(&chat)?;
        Some(json!({ "groupId": group_id(chat), "groupName": group.title, "revision": 3, "type": kind }))
    }
}

/// A message without anything in it.
pub(super) fn data(timestamp: MessageId) -> Value {
    json!({ "timestamp": timestamp, "message": null, "expiresInSeconds": 0, "viewOnce": false })
}

/// A receipt that something was read.
pub(super) fn receipt(when: i64, timestamps: &[MessageId]) -> Value {
    json!({ "when": when, "isDelivery": false, "isRead": true, "isViewed": false, "timestamps": timestamps })
}

/// Says of everything that is not there that it is not, and adds what nobody knows.
fn add_noise(body: &mut Value) {
    let nothing = |fields: &mut Map<String, Value>, names: &[&str]| {
        for name in names {
            fields.entry(*name).or_insert(Value::Null);
        }
        fields.insert("holograms".to_owned(), json!([{ "beams": 3, "deep": { "er": null } }, "later"]));
    };
    let Some(envelope) = body["envelope"].as_object_mut() else { return };
    nothing(envelope, &CONTENTS);
    envelope.remove("sourceName");
    envelope.insert("source".to_owned(), Value::Null);
    if let Some(data) = envelope.get_mut("dataMessage").and_then(Value::as_object_mut) {
        nothing(data, &PARTS);
    }
    if let Some(data) = envelope.get_mut("editMessage").and_then(|edit| edit["dataMessage"].as_object_mut()) {
        nothing(data, &PARTS);
    }
    body["exception"] = Value::Null;
    body["futureField"] = json!(1.5);
}
