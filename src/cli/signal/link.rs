//! Linking: the daemon requests a link from Signal, a phone scans it, and the daemon becomes
//! another device of that phone's account.
//!
//! The link is valid once, for a minute or two. Anyone who scans it gives the daemon access to
//! their own account, so it is shown and never stored.

use std::io::IsTerminal;

use super::{code, daemon};
use crate::adapter::signal::Signal;
use crate::cli::block_on;
use crate::cli::failure::CliError;
use crate::cli::print;
use crate::config::{self, Home};
use crate::wording::cli::signal as says;

/// Shows a link and waits until a phone has scanned it. Returns the number of the linked account.
pub fn link(config: &config::Signal, home: &Home, name: &str) -> Result<String, CliError> {
    block_on(daemon::with(config, home, async |signal| scan(signal, name).await))
}

async fn scan(signal: &Signal, name: &str) -> Result<String, CliError> {
    print::print_remark(says::ASKING_FOR_LINK);
    let link = signal.start_link().await.map_err(|error| not_linked(&error))?;
    print::print_remark(says::SCAN);
    // Without terminal colours the code could be light on dark, which phones do not read.
    if std::io::stderr().is_terminal() {
        print::print_remark(&code::drawn(&link).unwrap_or_default());
    }
    print::print_remark(&says::or_copy(&link));
    signal.finish_link(&link, name).await.map_err(|error| not_linked(&error))
}

fn not_linked(error: &anyhow::Error) -> CliError {
    CliError::Failed(crate::wording::cli::with_fix(&format!("{error:#}"), says::FIX_NOT_LINKED))
}
