//! Who is there: people, their roles, and the addresses at which they are reached.

use std::fmt;

use crate::id::{AddressId, PersonId, StreamId};
use crate::trust::Scope;

/// What a person may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Speaks in an allowed group; never trusted.
    Guest,
    /// May chat.
    Member,
    /// May do everything.
    Owner,
}

impl Role {
    /// The word for it in configuration, journal and chat.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Guest => "guest",
            Self::Member => "member",
            Self::Owner => "owner",
        }
    }

    /// The role of that word.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Guest, Self::Member, Self::Owner].into_iter().find(|role| role.as_str() == word)
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Whether a name may be a person's: it stands in prompts as our own words, and names a folder. The
/// rule of the configuration.
pub fn is_name(name: &str) -> bool {
    let is_allowed = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
    (1..=40).contains(&name.chars().count()) && name.trim() == name && name.chars().all(is_allowed)
}

/// Somebody who is allowed in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    /// Their row.
    pub id: PersonId,
    /// Their configured name: the only name that stands in a prompt as our own words.
    pub name: String,
    /// What they may do.
    pub role: Role,
}

/// With whom a stream is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Party {
    /// With one person.
    One(Person),
    /// With a group, which goes by the number of its stream.
    Group(StreamId),
}

impl Party {
    /// Whose text it holds.
    pub fn scope(&self) -> Scope {
        match self {
            Self::One(person) => Scope::Person(person.id),
            Self::Group(stream) => Scope::Group(*stream),
        }
    }

    /// The person, if it is one.
    pub fn person(&self) -> Option<&Person> {
        match self {
            Self::One(person) => Some(person),
            Self::Group(_) => None,
        }
    }
}

/// Where somebody is reached, as the adapters name it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address {
    /// The adapter's name: `telegram`, `signal`, `terminal`.
    pub adapter: String,
    /// Which of our own accounts there, as the bot's numeric id.
    pub account: String,
    /// The other side, as the adapter spells it: a chat id, a uuid.
    pub peer: String,
}

impl Address {
    /// An address from its three parts.
    pub fn new(adapter: &str, account: &str, peer: &str) -> Self {
        Self { adapter: adapter.to_owned(), account: account.to_owned(), peer: peer.to_owned() }
    }
}

/// An address with its row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownAddress {
    /// Its row.
    pub id: AddressId,
    /// Where it is.
    pub address: Address,
}
