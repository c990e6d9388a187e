//! The daemon's program: its installation, and the option to receive only while a client listens.

use super::super::finding::Finding;
use crate::cli::signal::installed_at;
use crate::config;
use crate::wording::cli::signal as says;

/// Subcommand that starts a signal-cli daemon.
pub(super) const DAEMON: &str = "daemon";
/// Receive mode that receives only during a subscription.
const MANUAL: &str = "manual";
/// Option for the receive mode.
const RECEIVE_MODE: &str = "--receive-mode";
/// Default receive mode.
const USUAL_MODE: &str = "on-start";
/// Option that keeps messages off standard output.
const NO_STDOUT: &str = "--no-receive-stdout";

/// Returns a finding if the configured program does not exist.
pub(super) fn installed(config: &config::Signal) -> Option<Finding> {
    let name = config.command.first()?;
    let is_there = installed_at(name).is_some();
    (!is_there).then(|| Finding::wrong(says::SIGNAL, &says::not_installed(name), says::FIX_NOT_INSTALLED))
}

/// Returns findings about the arguments of a daemon. Arguments that start another program, such as
/// a script, give none.
pub(super) fn receiving(words: &[String]) -> Vec<Finding> {
    let mut options = words.iter().skip_while(|word| *word != DAEMON).skip(1).map(String::as_str);
    if !words.iter().any(|word| word == DAEMON) {
        return Vec::new();
    }
    let (mut mode, mut is_quiet) = (USUAL_MODE, false);
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
    use super::super::super::finding::FindingState;
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
