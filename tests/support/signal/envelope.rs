//! Envelopes on the wire, with the fields of the real daemon and, on demand, with everything that
//! could confuse a careless reader.

use serde_json::{Map, Value, json};

use super::state::{ChatId, MessageId, OWN_NUMBER, State, UpdateId, group_id, number, uuid};

/// All content fields of an envelope; a noisy one has a null for each absent one.
const CONTENTS: [&str; 7] =
    ["dataMessage", "editMessage", "storyMessage", "syncMessage", "callMessage", "receiptMessage", "typingMessage"];
/// All fields of a message, likewise.
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
    /// A person's envelope with this content, as delivered.
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

    /// Queues a message or an edit, surrounded by small talk of devices if the test asks for it.
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

    /// Queues typing, a receipt, a call, and actions of another device of ours.
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

    /// A sync message: an action of another device of our account.
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

    /// Group fields of a message; none in a direct chat.
    pub(super) fn group_info(&self, chat: ChatId, kind: &str) -> Option<Value> {
        let group = self.groups.get(&chat)?;
        Some(json!({ "groupId": group_id(chat), "groupName": group.title, "revision": 3, "type": kind }))
    }
}

/// An empty message.
pub(super) fn data(timestamp: MessageId) -> Value {
    json!({ "timestamp": timestamp, "message": null, "expiresInSeconds": 0, "viewOnce": false })
}

/// A read receipt.
pub(super) fn receipt(when: i64, timestamps: &[MessageId]) -> Value {
    json!({ "when": when, "isDelivery": false, "isRead": true, "isViewed": false, "timestamps": timestamps })
}

/// Adds nulls for all absent fields, and unknown fields.
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
