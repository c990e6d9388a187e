//! People, their roles and their addresses.

use std::fmt;

use strum::{EnumString, IntoStaticStr};

use crate::id::{AddressId, PersonId, StreamId};
use crate::trust::Scope;

/// A person's permissions.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    serde::Serialize,
    serde::Deserialize,
    EnumString,
    IntoStaticStr,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "snake_case")]
pub enum Role {
    /// Speaks in an allowed group; never trusted.
    Guest,
    /// May use the chat.
    Member,
    /// May use everything.
    Owner,
}

impl Role {
    /// Returns the word by which it is stored and shown.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Returns whether `name` is a valid person name, by the same rule as the configuration: it appears
/// in prompts as the program's own words, and names a folder.
pub fn is_name(name: &str) -> bool {
    let is_allowed = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
    (1..=40).contains(&name.chars().count()) && name.trim() == name && name.chars().all(is_allowed)
}

/// A person with access.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    /// Row id.
    pub id: PersonId,
    /// Configured name: the only name that appears in a prompt as the program's own words.
    pub name: String,
    /// The person's role.
    pub role: Role,
}

/// The other party of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Party {
    /// One person.
    One(Person),
    /// A group, identified by its stream.
    Group(StreamId),
}

impl Party {
    /// The scope of the stream's text.
    pub fn scope(&self) -> Scope {
        match self {
            Self::One(person) => Scope::Person(person.id),
            Self::Group(stream) => Scope::Group(*stream),
        }
    }

    /// The person, unless the party is a group.
    pub fn person(&self) -> Option<&Person> {
        match self {
            Self::One(person) => Some(person),
            Self::Group(_) => None,
        }
    }
}

/// An address in the adapter's own terms.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address {
    /// The adapter's name: `telegram`, `signal`, `terminal`.
    pub adapter: String,
    /// The program's own account on the adapter, such as the bot's numeric id.
    pub account: String,
    /// The other side in the adapter's notation, such as a chat id or a UUID.
    pub peer: String,
}

impl Address {
    /// Creates an address from its three parts.
    pub fn new(adapter: &str, account: &str, peer: &str) -> Self {
        Self { adapter: adapter.to_owned(), account: account.to_owned(), peer: peer.to_owned() }
    }
}

/// An address with its row id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownAddress {
    /// Row id.
    pub id: AddressId,
    /// The address itself.
    pub address: Address,
}
