//! Signal: the program that is to be started, the way to the daemon, the daemon, its account.
//!
//! The daemon is asked what it tells without receiving anything, and never subscribed to: it hands
//! each message over once and keeps none, so what a second subscriber is given while no gateway
//! runs would be lost, and beside one it would be given twice. Whether anything arrives is asked of
//! the running gateway.
//!
//! No number stands in what is told: it may be pasted anywhere.

mod door;
mod program;

use super::finding::Finding;
use super::gateway::Gateway;
use crate::adapter::signal::DaemonProbe;
use crate::cli::probe;
use crate::config::{self, SignalEndpoint};
use crate::wording::cli::doctor::not_tried;
use crate::wording::cli::signal as says;

/// Older ones speak another language.
const OLDEST: (u64, u64, u64) = (0, 13, 0);
/// Older ones still work, as far as they ever did, and lack something.
const CURRENT: (u64, u64, u64) = (0, 14, 0);

/// Looks at each step of the way.
pub(super) async fn look(config: &config::Signal, gateway: &Gateway, offline: bool) -> Vec<Finding> {
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
            match door::knock(socket).await {
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

/// What its version means. How old a newer one is cannot be told from its number.
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

/// Trouble, if files that are received could not be read.
fn attachments(config: &config::Signal) -> Option<Finding> {
    let folder = config.attachments_dir.as_deref()?;
    let error = std::fs::read_dir(folder).err()?;
    let what = says::no_attachments(&folder.display().to_string(), &error.kind().to_string());
    Some(Finding::wrong(says::SIGNAL, &what, says::FIX_ATTACHMENTS))
}
