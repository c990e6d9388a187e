//! Entry point: parses the command line, runs the command and returns its exit code.

use std::process::ExitCode;

use clap::Parser;
use compline::cli::{self, Cli};

fn main() -> ExitCode {
    cli::calm_panics();
    let done = std::panic::catch_unwind(|| cli::run(Cli::parse()));
    // The failure was reported and logged where it occurred.
    done.unwrap_or(cli::Exit::Failed).into()
}
