//! The channels on which people write, as far as the command line tells of them.
//!
//! The terminal is none of these: whoever can open it is the owner, and nobody has to claim
//! anything there.

use crate::config::{Config, Person};
use crate::people::Role;

/// A channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Channel {
    /// A bot.
    Telegram,
    /// An account.
    Signal,
}

impl Channel {
    /// Those of the configuration.
    pub fn of(config: &Config) -> Vec<Self> {
        let telegram = config.telegram.is_some().then_some(Self::Telegram);
        telegram.into_iter().chain(config.signal.is_some().then_some(Self::Signal)).collect()
    }

    /// Its name in addresses.
    pub fn name(self) -> &'static str {
        match self {
            Self::Telegram => "telegram",
            Self::Signal => "signal",
        }
    }

    /// As a person calls it.
    pub fn shown(self) -> &'static str {
        match self {
            Self::Telegram => "Telegram",
            Self::Signal => "Signal",
        }
    }

    /// Whether the configuration says who an owner is there.
    pub fn names_owner(self, config: &Config) -> bool {
        let has_address = |person: &&Person| match self {
            Self::Telegram => person.telegram.is_some(),
            Self::Signal => person.signal.is_some(),
        };
        config.people.iter().filter(|person| person.role == Role::Owner).any(|person| has_address(&person))
    }
}

/// Whether the first owner is still to make themselves known, as far as the configuration says: it
/// names them on no channel that there is.
pub fn awaits_claim(config: &Config) -> bool {
    let channels = Channel::of(config);
    !channels.is_empty() && !channels.iter().any(|channel| channel.names_owner(config))
}
