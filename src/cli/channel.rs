//! Owners on the messaging channels, according to the configuration.

use crate::config::Config;
use crate::message::ChannelKind;
use crate::people::Role;

/// Returns `true` if the configuration contains an owner's address on this channel.
pub fn names_owner(config: &Config, channel: ChannelKind) -> bool {
    let owners = config.people.iter().filter(|person| person.role == Role::Owner);
    owners.flat_map(|person| person.addresses()).any(|(on, _)| on == channel)
}

/// Returns `true` if the first owner still has to claim the assistant, according to the
/// configuration: it contains no owner's address on any configured channel.
pub fn awaits_claim(config: &Config) -> bool {
    let channels = config.channels();
    !channels.is_empty() && !channels.iter().any(|channel| names_owner(config, *channel))
}
