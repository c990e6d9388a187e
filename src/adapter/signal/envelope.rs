//! The daemon's `receive` notification, and the identity of a party in it.
//!
//! Read field by field and never into one type, for the same reason as in `telegram::parse`: a
//! field that is missing, null, of another type or unknown costs only itself. Two things fail
//! closed. An envelope that is not plainly a data message or its edit is
//! [`EnvelopeContent::Control`]; and a party is identified only by what has the form of an
//! identifier or number, so that a profile name can never pass for an identity. The meaning of the
//! content is left to `parse`.

use serde_json::Value;

use crate::adapter::request::field;
use crate::time::Timestamp;

/// Identifier that the daemon reports for an unknown party.
const UNKNOWN_UUID: &str = "00000000-0000-0000-0000-000000000000";

/// One notification.
#[derive(Debug)]
pub(super) struct Envelope<'v> {
    /// Receiving account of the daemon.
    pub account: SignalParty,
    /// Sender.
    pub sender: SignalParty,
    /// The sender's timestamp, which is half of a message's id and is not trusted as a time.
    pub sent_at: Option<i64>,
    /// The server's timestamp.
    pub server_at: Option<Timestamp>,
    /// Content.
    pub content: EnvelopeContent<'v>,
}

/// Content of an envelope.
#[derive(Debug)]
pub(super) enum EnvelopeContent<'v> {
    /// A new message.
    Data(&'v Value),
    /// An edit.
    Edit {
        /// Timestamp of the edited message.
        of: Option<i64>,
        /// The new message.
        data: &'v Value,
    },
    /// Receipts, typing, calls, stories, sync messages of our other devices, undecryptable
    /// messages.
    Control,
}

/// A party known by account identifier, by number, or both.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct SignalParty {
    identifier: Option<String>,
    number: Option<String>,
}

impl<'v> Envelope<'v> {
    /// Reads a notification, with or without the subscription around it.
    pub fn of(notification: &'v Value) -> Option<Self> {
        let notice = field(notification, "result").unwrap_or(notification);
        let envelope = field(notice, "envelope").filter(|envelope| envelope.is_object())?;
        Some(Self {
            account: SignalParty::from_name(text(notice, "account")),
            sender: SignalParty::of(envelope, ["sourceUuid", "sourceNumber", "source"]),
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

    /// Data message in it.
    pub fn data(&self) -> Option<&'v Value> {
        match self {
            Self::Data(data) | Self::Edit { data, .. } => Some(data),
            Self::Control => None,
        }
    }

    /// Group id; empty if it is unreadable, because a message with any group info is never a direct
    /// one.
    pub fn group(&self) -> Option<&'v str> {
        field(self.data()?, "groupInfo").map(|group| text(group, "groupId"))
    }
}

impl SignalParty {
    /// Reads a party from these fields. Each value is classified by its form; the first of each
    /// kind counts.
    pub fn of(value: &Value, keys: [&str; 3]) -> Self {
        keys.iter().fold(Self::default(), |party, key| party.merged_with(Self::from_name(text(value, key))))
    }

    /// Reads a party from one value of either kind.
    pub fn from_name(name: &str) -> Self {
        let identifier = identifier(name);
        let number = Some(name).filter(|name| is_number(name)).map(str::to_owned);
        Self { identifier, number }
    }

    /// Adds what another source knows about the same party.
    pub fn merged_with(self, other: Self) -> Self {
        Self { identifier: self.identifier.or(other.identifier), number: self.number.or(other.number) }
    }

    /// Name in addresses and message ids.
    pub fn name(&self) -> Option<&str> {
        self.identifier.as_deref().or(self.number.as_deref())
    }

    /// Number of a party that also has an identifier.
    pub fn alias(&self) -> Option<&str> {
        self.number.as_deref().filter(|_| self.identifier.is_some())
    }

    /// Returns true if both are certainly the same. Numbers change hands, so they count only if an
    /// identifier is missing.
    pub fn is_same_as(&self, other: &Self) -> bool {
        match (&self.identifier, &other.identifier) {
            (Some(mine), Some(theirs)) => mine == theirs,
            _ => self.number.is_some() && self.number == other.number,
        }
    }

    /// Returns true if both cannot be the same.
    pub fn is_distinct_from(&self, other: &Self) -> bool {
        let differ =
            |mine: &Option<String>, theirs: &Option<String>| mine.is_some() && theirs.is_some() && mine != theirs;
        differ(&self.identifier, &other.identifier) || differ(&self.number, &other.number)
    }
}

/// Normalises an identifier: lower case, except the prefix of the second kind.
fn identifier(name: &str) -> Option<String> {
    let (kind, uuid) = match name.split_at_checked(4) {
        Some((kind, uuid)) if kind.eq_ignore_ascii_case("PNI:") => ("PNI:", uuid),
        _ => ("", name),
    };
    (is_uuid(uuid) && uuid != UNKNOWN_UUID).then(|| format!("{kind}{}", uuid.to_ascii_lowercase()))
}

fn is_uuid(text: &str) -> bool {
    let fits = |(at, byte): (usize, u8)| match at {
        8 | 13 | 18 | 23 => byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    };
    text.len() == UNKNOWN_UUID.len() && text.bytes().enumerate().all(fits)
}

fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix('+').unwrap_or_default();
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns the text of a field, or an empty text.
pub(super) fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Returns true if a field is `true`.
pub(super) fn is_set(value: &Value, key: &str) -> bool {
    value.get(key).and_then(Value::as_bool).unwrap_or_default()
}

/// Returns a positive timestamp in milliseconds since the epoch.
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
            (json!({"sourceUuid": UNKNOWN_UUID, "sourceNumber": NUMBER}), Some(NUMBER), None),
            (json!({"sourceUuid": 7, "sourceNumber": ["+1"]}), None, None),
            (json!({"sourceUuid": "Ada", "sourceNumber": "12025550101", "source": "+"}), None, None),
            (json!({"sourceName": NUMBER}), None, None),
            (json!({}), None, None),
        ] {
            let party = SignalParty::of(&fields, ["sourceUuid", "sourceNumber", "source"]);
            assert_eq!((party.name(), party.alias()), (name, alias), "{fields}");
        }
    }

    #[test]
    fn numbers_count_only_where_an_identifier_is_missing() {
        let known = SignalParty::from_name(UUID).merged_with(SignalParty::from_name(NUMBER));
        let other = SignalParty::from_name("7c2b6a10-51de-4f0c-9a3e-2f6d0c1b00ae");
        assert!(
            known.is_same_as(&SignalParty::from_name(NUMBER))
                && known.is_same_as(&SignalParty::from_name(&UUID.to_uppercase()))
        );
        assert!(
            !known.is_same_as(&other.clone().merged_with(SignalParty::from_name(NUMBER))) && !known.is_same_as(&other)
        );
        assert!(
            !SignalParty::default().is_same_as(&SignalParty::default())
                && !SignalParty::from_name("").is_same_as(&known)
        );
        assert!(
            known.is_distinct_from(&SignalParty::from_name("+1"))
                && known.is_distinct_from(&other)
                && !other.is_distinct_from(&SignalParty::from_name(NUMBER))
        );
    }
}
