//! Signal, as far as it can be told from files: who can reach its socket, whether received files
//! can be read, and whether the configured daemon loses messages.
//!
//! The socket has no password: anyone who can open it can write in the owner's name and read all
//! messages. So one of its parent folders has to exclude others. The mode of the socket itself is
//! reset at each start of the daemon and guarantees nothing.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::Finding;
use crate::config::{self, SignalEndpoint};
use crate::wording::cli::signal as says;

/// Permission bit with which every user can enter a folder.
const OTHERS_EXECUTE: u32 = 0o001;
const OTHERS_WRITE: u32 = 0o002;
/// Subcommand that starts a signal-cli daemon.
pub const DAEMON: &str = "daemon";
/// Receive mode that receives only during a subscription.
const MANUAL: &str = "manual";
/// Option for the receive mode.
const RECEIVE_MODE: &str = "--receive-mode";
/// Default receive mode.
const DEFAULT_RECEIVE_MODE: &str = "on-start";
/// Option that keeps messages off standard output.
const NO_STDOUT: &str = "--no-receive-stdout";

/// Returns the findings.
pub fn local_findings(config: &config::Signal) -> Vec<Finding> {
    let mut findings: Vec<Finding> = attachments(config).into_iter().collect();
    if let SignalEndpoint::Unix(socket) = &config.endpoint {
        findings.extend(open_to_others(socket));
    }
    findings.extend(receiving(&config.command));
    findings
}

/// Returns a finding if received files could not be read.
pub fn attachments(config: &config::Signal) -> Option<Finding> {
    let folder = config.attachments_dir.as_deref()?;
    let error = std::fs::read_dir(folder).err()?;
    let what = says::no_attachments(&folder.display().to_string(), &error.kind().to_string());
    Some(Finding::wrong(says::SIGNAL, &what, says::FIX_ATTACHMENTS))
}

/// Returns a finding if others can reach the socket.
pub fn open_to_others(socket: &Path) -> Option<Finding> {
    let mode = |path: &Path| std::fs::metadata(path).map(|found| found.permissions().mode());
    let folder = socket.parent()?;
    if !folder.ancestors().all(|above| mode(above).is_ok_and(|mode| mode & OTHERS_EXECUTE != 0)) {
        return None;
    }
    let (shown, fix) = (socket.display().to_string(), says::fix_open(&folder.display().to_string()));
    Some(match mode(socket) {
        Ok(mode) if mode & OTHERS_WRITE != 0 => Finding::wrong(says::SIGNAL, &says::open(&shown), &fix),
        _ => Finding::note(says::SIGNAL, &says::nearly_open(&shown), &fix),
    })
}

/// Returns findings about the arguments of a daemon. Arguments that start another program, such as
/// a script, give none.
pub fn receiving(words: &[String]) -> Vec<Finding> {
    let mut options = words.iter().skip_while(|word| *word != DAEMON).skip(1).map(String::as_str);
    if !words.iter().any(|word| word == DAEMON) {
        return Vec::new();
    }
    let (mut mode, mut is_quiet) = (DEFAULT_RECEIVE_MODE, false);
    while let Some(option) = options.next() {
        match option.split_once('=') {
            Some((RECEIVE_MODE, value)) => mode = value,
            None if option == RECEIVE_MODE => mode = options.next().unwrap_or_default(),
            _ => is_quiet |= option == NO_STDOUT,
        }
    }
    let loses = (mode != MANUAL).then(|| Finding::wrong(says::SIGNAL, &says::receives(mode), says::FIX_RECEIVES));
    let prints = (!is_quiet).then(|| Finding::note(says::SIGNAL, says::PRINTS, says::FIX_PRINTS));
    loses.into_iter().chain(prints).collect()
}

#[cfg(test)]
mod tests {
    use super::super::FindingState;
    use super::*;

    fn states(line: &str) -> Vec<FindingState> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        receiving(&words).iter().map(|finding| finding.state).collect()
    }

    #[test]
    fn only_a_daemon_that_waits_for_a_subscriber_loses_nothing() {
        let quiet = "signal-cli daemon --no-receive-stdout --receive-mode";
        assert_eq!(states(&format!("{quiet}=manual")), []);
        assert_eq!(states(&format!("java -cp x Main -c /d daemon {NO_STDOUT} {RECEIVE_MODE} manual --tcp h:1")), []);
        for mode in ["=on-start", " on-connection", "=", " "] {
            assert_eq!(states(&format!("{quiet}{mode}")), [FindingState::Wrong], "{mode}");
        }
        assert_eq!(states("signal-cli daemon --socket /s"), [FindingState::Wrong, FindingState::Note]);
        assert_eq!(states("signal-cli daemon --receive-mode=manual"), [FindingState::Note]);
    }

    #[test]
    fn words_that_start_something_else_say_nothing() {
        for line in ["", "/usr/local/bin/start-signal", "sh -c signal-cli_daemon"] {
            assert_eq!(states(line), [], "{line}");
        }
    }
}
