//! `compline completions`, `compline manual` and `compline changelog`: text that the program
//! carries with it. None of them needs a home.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Context;
use clap::{Args, Command, CommandFactory};
use clap_complete::Shell;

use super::print::{CliError, Printer};
use super::{Cli, Exit};

/// Every version's changes.
const CHANGELOG: &str = include_str!("../../CHANGELOG.md");

/// `compline completions SHELL`
#[derive(Debug, Args)]
pub struct Completions {
    /// Shell to complete commands in
    shell: Shell,
}

/// `compline manual`
#[derive(Debug, Args)]
pub struct Manual {
    /// Write a page for each command into this folder instead
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

/// `compline changelog`
#[derive(Debug, Args)]
pub struct Changelog {
    /// Include earlier versions
    #[arg(long)]
    all: bool,
}

/// Prints the script by which a shell completes commands.
pub fn completions(options: &Completions) -> Result<Exit, CliError> {
    let mut script = Vec::new();
    clap_complete::generate(options.shell, &mut Cli::command(), "compline", &mut script);
    print_bytes(&script)
}

/// Prints the manual page of the program, or writes one for each command.
pub fn manual(options: &Manual) -> Result<Exit, CliError> {
    let Some(dir) = &options.dir else {
        let mut page = Vec::new();
        clap_mangen::Man::new(built()).render(&mut page)?;
        return print_bytes(&page);
    };
    std::fs::create_dir_all(dir)
        .and_then(|()| clap_mangen::generate_to(built(), dir))
        .with_context(|| format!("Cannot write the manual to {}", dir.display()))?;
    Ok(Exit::Done)
}

/// Prints the changes of the newest version, or of all.
pub fn changelog(options: &Changelog, printer: Printer) -> Result<Exit, CliError> {
    printer.markdown(if options.all { CHANGELOG } else { newest(CHANGELOG) })?;
    Ok(Exit::Done)
}

/// Returns the first section of a changelog.
fn newest(changelog: &str) -> &str {
    let start = changelog.find("\n## ").map_or(0, |at| at + 1);
    let section = changelog.get(start..).unwrap_or_default();
    section.get(1..).and_then(|rest| rest.find("\n## ")).and_then(|end| section.get(..=end)).unwrap_or(section)
}

/// Returns the commands with their help complete, as manual pages show it.
fn built() -> Command {
    let mut command = Cli::command();
    command.build();
    command
}

fn print_bytes(bytes: &[u8]) -> Result<Exit, CliError> {
    let mut out = std::io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()?;
    Ok(Exit::Done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_section_ends_before_the_next() {
        let changelog = "# Changelog\n\nWords.\n\n## 0.2.0\n\nB\n\n## 0.1.0\n\nA\n";
        assert_eq!(newest(changelog), "## 0.2.0\n\nB\n");
        assert_eq!(newest("# Changelog\n\n## 0.1.0\n\nA\n"), "## 0.1.0\n\nA\n");
    }
}
