//! What we read of the daemon's `receive` notification, and how a party is named in it.
//!
//! Read field by field and never into one type, as `telegram::parse` does and for the same reason: a field that is missing,
//! null, of another type or of the future costs only itself. Two things fail closed. What is not plainly a data message
//! or its edit is [`EnvelopeContent::Control`]; and a party is known only by what has the form of an identifier or of a
//! number, so that a profile name can never stand where an identity is compared.
//!
//! It does not say what any of it means: that is `parse`.

use serde_json::Value;

use crate::time::Timestamp;

/// The identifier that the daemon shows for somebody whom it does not know.
const NOBODY: &str = "00000000-0000-0000-0000-000000000000";

/// One notification.
#[derive(Debug)]
pub(super) struct Envelope<'v> {
    /// For which account of the daemon it came.
    pub account: Party,
    /// Who sent it.
    pub sender: Party,
    /// The sender's stamp, which is half of a message's name and tells no time.
    pub sent_at: Option<i64>,
    /// The server's stamp.
    pub server_at: Option<Timestamp>,
    /// What is in it.
    pub content: EnvelopeContent<'v>,
}

/// What an envelope holds.
#[derive(Debug)]
pub(super) enum EnvelopeContent<'v> {
    /// Something new.
    Data(&'v Value),
    /// Something said anew.
    Edit {
        /// The stamp of what it replaces.
        of: Option<i64>,
        /// What is said now.
        data: &'v Value,
    },
    /// Receipts, typing, calls, stories, what our other devices did, what could not be decrypted.
    Control,
}

/// Somebody, by account identifier, by number, or both.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Party {
    identifier: Option<String>,
    number: Option<String>,
}

impl<'v> Envelope<'v> {
    /// Reads a notification, with or without the subscription around it.
    pub fn of(notification: &'v Value) -> Option<Self> {
        let notice = field(notification, "result").unwrap_or(notification);
        let envelope = field(notice, "envelope").filter(|envelope| envelope.is_object())?;
        Some(Self {
            account: Party::named(text(notice, "account")),
            sender: Party::of(envelope, ["sourceUuid", "sourceNumber", "source"]),
            sent_at: stamp(envelope, "timestamp"),
            server_at: stamp(envelope, "serverReceivedTimestamp").map(Timestamp),
            content: EnvelopeContent::of(envelope),
        })
    }
}

impl<'v> EnvelopeContent<'v> {
    fn of(envelope: &'v Value) -> Self {
        let object = |value: &'v Value, key| field(value, key).filter(|inner| inner.is_object());
        if field(envelope, "syncMessage").is_some() {
            return Self::Control;
        }
        if let Some(data) = object(envelope, "dataMessage") {
            return Self::Data(data);
        }
        match object(envelope, "editMessage").and_then(|edit| Some((edit, object(edit, "dataMessage")?))) {
            Some((edit, data)) => Self::Edit { of: stamp(edit, "targetSentTimestamp"), data },
            None => Self::Control,
        }
    }

    /// The message in it.
    pub fn data(&self) -> Option<&'v Value> {
        match self {
            Self::Data(data) | Self::Edit { data, .. } => Some(data),
            Self::Control => None,
        }
    }

    /// The group that it was said in, with an empty id if that cannot be read: what claims to be of a group never is of a direct chat.
    pub fn group(&self) -> Option<&'v str> {
        field(self.data()?, "groupInfo").map(|group| text(group, "groupId"))
    }
}

impl Party {
    /// Whom these fields name. Each is taken for what it looks like; the first of either kind counts.
    pub fn of(value: &Value, keys: [&str; 3]) -> Self {
        keys.iter().fold(Self::default(), |party, key| party.or(Self::named(text(value, key))))
    }

    /// Whom a single name names, which may be of either kind.
    pub fn named(name: &str) -> Self {
        let identifier = identifier(name);
        let number = Some(name).filter(|name| is_number(name)).map(str::to_owned);
        Self { identifier, number }
    }

    /// The same party with what another source knows besides.
    pub fn or(self, other: Self) -> Self {
        Self { identifier: self.identifier.or(other.identifier), number: self.number.or(other.number) }
    }

    /// How it stands in addresses and in the names of messages.
    pub fn name(&self) -> Option<&str> {
        self.identifier.as_deref().or(self.number.as_deref())
    }

    /// The number beside the identifier.
    pub fn alias(&self) -> Option<&str> {
        self.number.as_deref().filter(|_| self.identifier.is_some())
    }

    /// Whether both are certainly one. Numbers change hands, so they count only where an identifier is missing.
    pub fn is(&self, other: &Self) -> bool {
        match (&self.identifier, &other.identifier) {
            (Some(mine), Some(theirs)) => mine == theirs,
            _ => self.number.is_some() && self.number == other.number,
        }
    }

    /// Whether they cannot be one.
    pub fn differs(&self, other: &Self) -> bool {
        let differ =
            |mine: &Option<String>, theirs: &Option<String>| mine.is_some() && theirs.is_some() && mine != theirs;
        differ(&self.identifier, &other.identifier) || differ(&self.number, &other.number)
    }
}

/// In the one spelling that is compared: lower case, but for the prefix of the second kind.
fn identifier(name: &str) -> Option<String> {
    let (kind, uuid) = match name.split_at_checked(4) {
        Some((kind, uuid)) if kind.eq_ignore_ascii_case("PNI:") => ("PNI:", uuid),
        _ => ("", name),
    };
    (is_uuid(uuid) && uuid != NOBODY).then(|| format!("{kind}{}", uuid.to_ascii_lowercase()))
}

fn is_uuid(text: &str) -> bool {
    let fits = |(at, byte): (usize, u8)| match at {
        8 | 13 | 18 | 23 => byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    };
    text.len() == NOBODY.len() && text.bytes().enumerate().all(fits)
}

fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix('+').unwrap_or_default();
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// A field that is there and not null.
pub(super) fn field<'v>(value: &'v Value, key: &str) -> Option<&'v Value> {
    value.get(key).filter(|value| !value.is_null())
}

/// The text in a field; empty if there is none.
pub(super) fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// What a field lists; nothing if it is no list.
pub(super) fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Whether a field says yes.
pub(super) fn is_set(value: &Value, key: &str) -> bool {
    value.get(key).and_then(Value::as_bool).unwrap_or_default()
}

/// Milliseconds since the epoch, if they can be.
pub(super) fn stamp(value: &Value, key: &str) -> Option<i64> {
    value.get(key)?.as_i64().filter(|stamp| *stamp > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const UUID: &str = "7c2b6a10-51de-4f0c-9a3e-2f6d0c1b00ad";
    const NUMBER: &str = "+12025550101";

    #[test]
    fn a_party_is_known_by_what_looks_like_an_identity() {
        let pni = format!("PNI:{UUID}");
        for (fields, name, alias) in [
            (json!({"sourceUuid": UUID, "sourceNumber": NUMBER}), Some(UUID), Some(NUMBER)),
            (json!({"sourceUuid": UUID.to_uppercase(), "sourceNumber": null}), Some(UUID), None),
            (json!({"sourceNumber": NUMBER}), Some(NUMBER), None),
            (json!({"source": pni.to_lowercase(), "sourceUuid": null, "sourceNumber": null}), Some(pni.as_str()), None),
            (json!({"source": NUMBER, "sourceUuid": UUID}), Some(UUID), Some(NUMBER)),
            (json!({"sourceUuid": NOBODY, "sourceNumber": NUMBER}), Some(NUMBER), None),
            (json!({"sourceUuid": 7, "sourceNumber": ["+1"]}), None, None),
            (json!({"sourceUuid": "Ada", "sourceNumber": "12025550101", "source": "+"}), None, None),
            (json!({"sourceName": NUMBER}), None, None),
            (json!({}), None, None),
        ] {
            let party = Party::of(&fields, ["sourceUuid", "sourceNumber", "source"]);
            assert_eq!((party.name(), party.alias()), (name, alias), "{fields}");
        }
    }

    #[test]
    fn numbers_count_only_where_an_identifier_is_missing() {
        let known = Party::named(UUID).or(Party::named(NUMBER));
        let other = Party::named("7c2b6a10-51de-4f0c-9a3e-2f6d0c1b00ae");
        assert!(known.is(&Party::named(NUMBER)) && known.is(&Party::named(&UUID.to_uppercase())));
        assert!(!known.is(&other.clone().or(Party::named(NUMBER))) && !known.is(&other));
        assert!(!Party::default().is(&Party::default()) && !Party::named("").is(&known));
        assert!(known.differs(&Party::named("+1")) && known.differs(&other) && !other.differs(&Party::named(NUMBER)));
    }
}
