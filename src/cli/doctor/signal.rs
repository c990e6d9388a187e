//! Signal: the configured program, the connection to the daemon, the daemon, and its account.
//!
//! The daemon is only asked for data that it returns without receiving messages, and never
//! subscribed to. It delivers each message once and keeps none: a message delivered to a second
//! subscriber would be lost while no gateway runs, and duplicated while one does. The running
//! gateway is asked if messages arrive.
//!
//! The output contains no numbers, so it can be pasted anywhere.

mod door;
mod program;

use super::finding::Finding;
use super::gateway::Gateway;
use crate::adapter::signal::DaemonProbe;
use crate::cli::probe;
use crate::config::{self, SignalEndpoint};
use crate::wording::cli::doctor::not_tried;
use crate::wording::cli::signal as says;

/// Older versions have an incompatible API.
const OLDEST: (u64, u64, u64) = (0, 13, 0);
/// Older versions work but lack features.
const CURRENT: (u64, u64, u64) = (0, 14, 0);

/// Checks each step of the connection.
pub(super) async fn check(config: &config::Signal, gateway: &Gateway, offline: bool) -> Vec<Finding> {
    let mut findings: Vec<Finding> = program::installed(config).into_iter().collect();
    findings.extend(attachments(config));
    if offline {
        findings.extend(program::receiving(&config.command));
        findings.push(Finding::note(says::SIGNAL, &not_tried(says::THE_DAEMON), ""));
        return findings;
    }
    match &config.endpoint {
        SignalEndpoint::Unix(socket) => {
            findings.extend(door::open_to_others(socket));
            match door::connect(socket).await {
                Ok(words) => findings.extend(program::receiving(words.as_ref().unwrap_or(&config.command))),
                Err(error) => {
                    findings.extend(program::receiving(&config.command));
                    findings.push(door::closed(config, socket, &error, gateway));
                    return findings;
                }
            }
        }
        SignalEndpoint::Tcp(_) | SignalEndpoint::Http(_) => findings.extend(program::receiving(&config.command)),
    }
    findings.extend(daemon(config, gateway).await);
    findings
}

async fn daemon(config: &config::Signal, gateway: &Gateway) -> Vec<Finding> {
    match probe::signal(config).await {
        Ok(look) => [age(&look), account(config, &look)].into_iter().flatten().collect(),
        Err(_) if !config.command.is_empty() && !gateway.is_there() => {
            vec![Finding::note(says::SIGNAL, says::STARTED_BY_RUN, "")]
        }
        Err(trouble) => vec![Finding::wrong(says::SIGNAL, &trouble.what, &trouble.fix)],
    }
}

/// Assesses the version. The number of a newer one does not reveal its age.
fn age(look: &DaemonProbe) -> Option<Finding> {
    let version = look.numbers();
    if version < OLDEST {
        return Some(Finding::wrong(says::SIGNAL, &says::too_old(&look.version), says::FIX_OLD));
    }
    (version < CURRENT).then(|| Finding::note(says::SIGNAL, &says::old(&look.version), says::FIX_OLD))
}

fn account(config: &config::Signal, look: &DaemonProbe) -> Option<Finding> {
    Some(match look.account(config.account.as_deref()) {
        Ok(_) => Finding::ok(says::SIGNAL, &says::answers(&look.version)),
        Err(sentence) => Finding::wrong(says::SIGNAL, sentence, ""),
    })
}

/// Returns a finding if received files could not be read.
fn attachments(config: &config::Signal) -> Option<Finding> {
    let folder = config.attachments_dir.as_deref()?;
    let error = std::fs::read_dir(folder).err()?;
    let what = says::no_attachments(&folder.display().to_string(), &error.kind().to_string());
    Some(Finding::wrong(says::SIGNAL, &what, says::FIX_ATTACHMENTS))
}
