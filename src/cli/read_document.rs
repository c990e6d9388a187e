//! `read-document`: the gateway starts this program once more for every received document. People
//! do not type this command.
//!
//! The bytes come on standard input and the text goes to standard output, page by page. Before it
//! reads a byte, the process limits itself: memory and time, no file of any size, no new open
//! files. It also gives up every right that reading and computing do not need
//! ([`super::confinement`]). It knows no home and no configuration, and reads no environment.

use std::io::{self, Read, Write};

use rustix::process::{Resource, Rlimit, setrlimit};

use super::Exit;
use super::confinement::{deny_calls, deny_files};
use super::failure::CliError;
use crate::engine::files::document::{Unread, read};
use crate::engine::files::reader::{Document, MAX_WORDS};

/// Memory limit in bytes.
const MEMORY: u64 = 512 << 20;
/// Processor time limit in seconds.
const SECONDS: u64 = 30;
/// Maximum size of a document: more than is ever received.
const MAX_DOCUMENT: u64 = 64 * 1024 * 1024;
/// Maximum number of open files: standard input, output and error.
const OPEN: u64 = 3;
/// Separator between pages.
const BETWEEN: &[u8] = b"\n\n";

/// Reads the document on standard input.
///
/// # Errors
///
/// If the limits cannot be set, or there is no input.
pub fn run(kind: &str) -> Result<Exit, CliError> {
    // The panic message of a failing parser may quote the document, and is discarded.
    std::panic::set_hook(Box::new(|_| {}));
    let Some(kind) = Document::parse(kind) else { return Ok(Exit::Wrong) };
    deny_files();
    limit_itself()?;
    deny_calls();
    let mut bytes = Vec::new();
    io::stdin().lock().take(MAX_DOCUMENT).read_to_end(&mut bytes)?;
    let mut told = 0;
    let read = read(kind, &bytes, |words| {
        told += words.len() + BETWEEN.len();
        write_reply(words).is_ok() && told <= MAX_WORDS
    });
    Ok(match read {
        Ok(()) => Exit::Done,
        Err(Unread::Locked) => Exit::Locked,
        Err(Unread::Broken) => Exit::Failed,
    })
}

fn write_reply(words: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(words.as_bytes())?;
    out.write_all(BETWEEN)?;
    out.flush()
}

/// Sets the limits. None is loosened: a lower existing limit stays.
fn limit_itself() -> Result<(), CliError> {
    for (resource, most) in [
        (Resource::As, MEMORY),
        (Resource::Cpu, SECONDS),
        (Resource::Core, 0),
        (Resource::Fsize, 0),
        (Resource::Nofile, OPEN),
    ] {
        let most = rustix::process::getrlimit(resource).maximum.map_or(most, |now| now.min(most));
        let set = setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) });
        // macOS has no limit on the total memory of a process.
        if resource != Resource::As || cfg!(target_os = "linux") {
            set.map_err(io::Error::from)?;
        }
    }
    Ok(())
}
