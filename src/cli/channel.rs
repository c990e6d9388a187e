//! The messaging channels, as far as the command line deals with them.
//!
//! The terminal is not one of them: anyone who can open it is the owner, so there is nothing to
//! claim.

use crate::config::{Config, Person};
use crate::people::Role;

/// A messaging channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Channel {
    /// Telegram bot.
    Telegram,
    /// Signal account.
    Signal,
}

impl Channel {
    /// Returns the configured channels.
    pub fn of(config: &Config) -> Vec<Self> {
        let telegram = config.telegram.is_some().then_some(Self::Telegram);
        telegram.into_iter().chain(config.signal.is_some().then_some(Self::Signal)).collect()
    }

    /// Returns the name in addresses.
    pub fn name(self) -> &'static str {
        match self {
            Self::Telegram => "telegram",
            Self::Signal => "signal",
        }
    }

    /// Returns the name for display.
    pub fn shown(self) -> &'static str {
        match self {
            Self::Telegram => "Telegram",
            Self::Signal => "Signal",
        }
    }

    /// Returns `true` if the configuration contains an owner's address on this channel.
    pub fn names_owner(self, config: &Config) -> bool {
        let has_address = |person: &&Person| match self {
            Self::Telegram => person.telegram.is_some(),
            Self::Signal => person.signal.is_some(),
        };
        config.people.iter().filter(|person| person.role == Role::Owner).any(|person| has_address(&person))
    }
}

/// Returns `true` if the first owner still has to claim the assistant, according to the
/// configuration: it contains no owner's address on any configured channel.
pub fn awaits_claim(config: &Config) -> bool {
    let channels = Channel::of(config);
    !channels.is_empty() && !channels.iter().any(|channel| channel.names_owner(config))
}
