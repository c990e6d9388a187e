//! `compline web`: signs a browser in, or ends sessions.
//!
//! The link stands in the output. On a desktop it is also opened, through a page that only this
//! user can read: every account of the computer can read a command line.

use std::io::{self, IsTerminal};
use std::path::Path;
use std::process::{Command, Stdio};

use clap::Args;
use serde_json::Value;
use url::Url;

use super::client::{self, words};
use super::config::CliPaths;
use super::init::write_private;
use super::print::{CliError, Printer, print_remark};
use super::{Exit, qr_code};
use crate::wording::page as says;

/// Name of the page in the home that leads to the link.
const REDIRECT: &str = "sign-in.html";

/// `compline web …`
#[derive(Debug, Args)]
pub struct WebArgs {
    /// Person to sign in [default: the owner]
    #[arg(long = "as", value_name = "NAME")]
    person: Option<String>,
    /// Show a QR code for a telephone, which needs `public_url`
    #[arg(long)]
    qr: bool,
    /// Sign out every browser, or those of the person
    #[arg(long, conflicts_with = "qr")]
    end_all: bool,
}

/// Runs the command.
pub fn run(options: &WebArgs, paths: &CliPaths, printer: Printer) -> Result<Exit, CliError> {
    let mut line = words(if options.end_all { &["web", "--end-all"] } else { &["web"] });
    if let Some(person) = &options.person {
        line.extend(words(&["--as", person]));
    }
    if options.end_all {
        return client::run(&line, paths, printer);
    }
    let answered = client::ask(&line, paths, Printer { json: true, ..printer })?;
    let answer: Value = serde_json::from_str(&answered.text).map_err(anyhow::Error::from)?;
    let field = |name: &str| answer.get(name).and_then(Value::as_str).unwrap_or_default();
    if answered.failed {
        return Err(CliError::Failed(field("error").to_owned()));
    }
    if printer.json {
        return client::print_answer(&answered, printer);
    }
    let link = if options.qr { field("public_url") } else { field("url") };
    if link.is_empty() {
        return Err(CliError::Wrong(says::QR_NEEDS_PUBLIC_URL.to_owned()));
    }
    printer.markdown(&says::link_on_command_line(field("name"), link))?;
    if options.qr {
        qr_code::draw(link).iter().for_each(|drawing| print_remark(drawing));
        return Ok(Exit::Done);
    }
    let local = Url::parse(link).ok().filter(|link| link.scheme() == "http");
    if let Some(port) = local.and_then(|link| link.port()) {
        printer.note(&says::from_elsewhere(port));
    }
    open_browser(link, paths.home.path())?;
    Ok(Exit::Done)
}

/// Opens the link on the desktop from which the command was typed, if there is one.
fn open_browser(link: &str, home: &Path) -> Result<(), CliError> {
    let has_desktop =
        ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| std::env::var_os(name).is_some_and(|v| !v.is_empty()));
    if !io::stdout().is_terminal() || !(has_desktop || cfg!(target_os = "macos")) {
        return Ok(());
    }
    let page = home.join(REDIRECT);
    write_private(&page, &format!("<!DOCTYPE html><meta http-equiv=\"refresh\" content=\"0;url={link}\">\n"))?;
    let opener = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    // Without an opener the printed link remains.
    let _ = Command::new(opener).arg(page).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    Ok(())
}
