//! Signal: the configured program, the connection to the daemon, the daemon, and its account.
//!
//! The daemon is only asked for data that it returns without receiving messages, and never
//! subscribed to. It delivers each message once and keeps none: a message delivered to a second
//! subscriber would be lost while no gateway runs, and duplicated while one does. The running
//! gateway is asked if messages arrive.
//!
//! The output contains no numbers, so it can be pasted anywhere.

use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use tokio::net::UnixStream;

use super::Gateway;
use crate::adapter::signal::DaemonProbe;
use crate::admin::doctor::Finding;
use crate::admin::doctor::signal::{DAEMON, attachments, open_to_others, receiving};
use crate::cli::probe::{self, listens_at};
use crate::cli::signal::installed_at;
use crate::config::{self, SignalEndpoint};
use crate::wording::cli::signal as says;
use crate::wording::doctor::not_tried;

/// Older versions have an incompatible API.
const OLDEST: (u64, u64, u64) = (0, 13, 0);
/// Older versions work but lack features.
const CURRENT: (u64, u64, u64) = (0, 14, 0);

/// Checks each step of the connection.
pub(super) async fn check(config: &config::Signal, gateway: &Gateway, offline: bool) -> Vec<Finding> {
    let mut findings: Vec<Finding> = installed(config).into_iter().collect();
    findings.extend(attachments(config));
    if offline {
        findings.extend(receiving(&config.command));
        findings.push(Finding::note(says::SIGNAL, &not_tried(says::THE_DAEMON), ""));
        return findings;
    }
    match &config.endpoint {
        SignalEndpoint::Unix(socket) => {
            findings.extend(open_to_others(socket));
            match connect(socket).await {
                Ok(words) => findings.extend(receiving(words.as_ref().unwrap_or(&config.command))),
                Err(error) => {
                    findings.extend(receiving(&config.command));
                    findings.push(closed(config, socket, &error, gateway));
                    return findings;
                }
            }
        }
        SignalEndpoint::Tcp(_) | SignalEndpoint::Http(_) => findings.extend(receiving(&config.command)),
    }
    findings.extend(daemon(config, gateway).await);
    findings
}

async fn daemon(config: &config::Signal, gateway: &Gateway) -> Vec<Finding> {
    match probe::signal(config).await {
        Ok(daemon_probe) => [age(&daemon_probe), account(config, &daemon_probe)].into_iter().flatten().collect(),
        Err(_) if !config.command.is_empty() && !gateway.is_there() => {
            vec![Finding::note(says::SIGNAL, says::STARTED_BY_RUN, "")]
        }
        Err(trouble) => vec![Finding::wrong(says::SIGNAL, &trouble.what, &trouble.fix)],
    }
}

/// Assesses the version. The number of a newer one does not reveal its age.
fn age(daemon_probe: &DaemonProbe) -> Option<Finding> {
    let version = daemon_probe.numbers();
    if version < OLDEST {
        return Some(Finding::wrong(says::SIGNAL, &says::too_old(&daemon_probe.version), says::FIX_OLD));
    }
    (version < CURRENT).then(|| Finding::note(says::SIGNAL, &says::old(&daemon_probe.version), says::FIX_OLD))
}

fn account(config: &config::Signal, daemon_probe: &DaemonProbe) -> Option<Finding> {
    Some(match daemon_probe.account(config.account.as_deref()) {
        Ok(_) => Finding::ok(says::SIGNAL, &says::answers(&daemon_probe.version)),
        Err(sentence) => Finding::wrong(says::SIGNAL, sentence, ""),
    })
}

/// Connects to the socket without sending anything. Returns the arguments of the listening process,
/// if the system reveals them.
pub(super) async fn connect(socket: &Path) -> io::Result<Option<Vec<String>>> {
    let stream = UnixStream::connect(socket).await?;
    let id = stream.peer_cred().ok().and_then(|peer| peer.pid());
    Ok(id.and_then(|id| words_of(&PathBuf::from(format!("/proc/{id}/cmdline")))))
}

/// Returns the arguments if they are those of a signal-cli daemon; other processes are not judged.
fn words_of(line: &Path) -> Option<Vec<String>> {
    let line = std::fs::read(line).ok()?;
    let words = line.split(|byte| *byte == 0).filter(|word| !word.is_empty());
    let words: Vec<String> = words.map(|word| String::from_utf8_lossy(word).into_owned()).collect();
    words.iter().any(|word| word == DAEMON).then_some(words)
}

/// Returns the finding for a failed connection.
pub(super) fn closed(config: &config::Signal, socket: &Path, error: &io::Error, gateway: &Gateway) -> Finding {
    let shown = socket.display().to_string();
    let is_ours = !config.command.is_empty();
    let is_socket = std::fs::symlink_metadata(socket).is_ok_and(|found| found.file_type().is_socket());
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused if is_ours && !gateway.is_there() => {
            Finding::note(says::SIGNAL, says::STARTED_BY_RUN, "")
        }
        io::ErrorKind::NotFound if is_ours => {
            Finding::wrong(says::SIGNAL, says::NOT_THERE_YET, says::FIX_NOT_THERE_YET)
        }
        io::ErrorKind::NotFound => {
            Finding::wrong(says::SIGNAL, &says::no_socket(&shown), &says::fix_start(&listens_at(&config.endpoint)))
        }
        io::ErrorKind::ConnectionRefused if is_socket => {
            let fix = says::fix_stale(&shown, &listens_at(&config.endpoint));
            Finding::wrong(says::SIGNAL, &says::stale(&shown), &fix)
        }
        io::ErrorKind::PermissionDenied => Finding::wrong(says::SIGNAL, &says::forbidden(&shown), says::FIX_FORBIDDEN),
        kind => Finding::wrong(
            says::SIGNAL,
            &says::not_opened(&shown, &kind.to_string()),
            &says::fix_start(&listens_at(&config.endpoint)),
        ),
    }
}

/// Returns a finding if the configured program does not exist.
pub(super) fn installed(config: &config::Signal) -> Option<Finding> {
    let name = config.command.first()?;
    let is_there = installed_at(name).is_some();
    (!is_there).then(|| Finding::wrong(says::SIGNAL, &says::not_installed(name), says::FIX_NOT_INSTALLED))
}
