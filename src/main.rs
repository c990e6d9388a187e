//! The program: read the command line, do it, say how it went.

use std::process::ExitCode;

use clap::Parser;
use compline::cli::{self, Cli};

fn main() -> ExitCode {
    cli::calm_panics();
    let done = std::panic::catch_unwind(|| cli::run(Cli::parse()));
    // Whatever broke was told and logged where it broke.
    done.unwrap_or(cli::Exit::Failed).into()
}
