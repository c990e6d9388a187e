//! Tests of the models and the channels with real requests.

use strum::VariantArray;

use super::finding::Finding;
use super::gateway::Gateway;
use super::{meaning, model_name, signal, telegram};
use crate::cli::probe;
use crate::config::{self, Config, Provider};
use crate::message::ChannelKind;
use crate::wording::cli::doctor as says;

/// Tests each of them. A running gateway is also asked for its channels: only the gateway knows if
/// they receive.
pub(super) async fn check(config: &Config, gateway: &Gateway, offline: bool) -> Vec<Finding> {
    let mut findings = vec![model(says::MODEL, &config.model, &model_name(config), offline).await];
    for (check, other) in [(says::FALLBACK, &config.fallback), (says::BACKGROUND, &config.background)] {
        if let Some(other) = other {
            let name = format!("{}/{}", other.provider.as_str(), other.name);
            findings.push(model(check, other, &name, offline).await);
        }
    }
    findings.push(meaning::check(config, gateway, offline).await);
    if let Some(bot) = &config.telegram {
        findings.extend(telegram::check(bot, gateway, config.zone, offline).await);
    }
    if let Some(daemon) = &config.signal {
        findings.extend(signal::check(daemon, gateway, offline).await);
    }
    findings.extend(groups(config));
    findings.push(gateway.finding());
    findings
}

async fn model(check: &'static str, config: &config::Model, name: &str, offline: bool) -> Finding {
    if config.provider == Provider::Offline {
        return Finding::ok(check, says::OFFLINE);
    }
    if offline {
        return Finding::note(check, &says::not_tried(name), "");
    }
    match probe::model(config).await {
        Ok(()) => Finding::ok(check, &says::answers(name)),
        Err(trouble) => Finding::wrong(check, &format!("{name}: {}", trouble.what), &trouble.fix),
    }
}

/// Finds groups that are allowed on a channel that is not configured.
fn groups(config: &Config) -> Vec<Finding> {
    let configured = config.channels();
    let absent = ChannelKind::VARIANTS.iter().filter(|channel| !configured.contains(channel)).map(|kind| kind.name());
    let finding = |channel: &str| {
        let count = config.groups.iter().filter(|group| group.split(':').next() == Some(channel)).count();
        let fix = says::fix_unheard_groups(channel);
        (count > 0).then(|| Finding::wrong(says::GROUPS, &says::unheard_groups(channel, count), &fix))
    };
    absent.filter_map(finding).collect()
}
