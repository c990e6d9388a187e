//! `read-document`: what the gateway starts once more of itself for every document that somebody
//! sent, and nobody types.
//!
//! The bytes come on standard input and the words go to standard output, page by page. Before it
//! looks at a byte the process limits itself: memory and time, no file of any size, nothing opened
//! that is not open already; and it gives up every right that reading and computing do not take
//! ([`super::confinement`]). It knows no home and no configuration, and reads no environment.

use std::io::{self, Read, Write};

use rustix::process::{Resource, Rlimit, setrlimit};

use super::Exit;
use super::confinement::{deny_calls, deny_files};
use super::failure::CliError;
use crate::engine::files::document::{Unread, read};
use crate::engine::files::reader::{Document, MAX_WORDS};

/// The most memory that it may have, in bytes.
const MEMORY: u64 = 512 << 20;
/// The most time of a processor that it may take, in seconds.
const SECONDS: u64 = 30;
/// The largest document: more than is ever received.
const MAX_DOCUMENT: u64 = 64 * 1024 * 1024;
/// Input, output and errors are open, and nothing else will be.
const OPEN: u64 = 3;
/// What stands between two pages.
const BETWEEN: &[u8] = b"\n\n";

/// Reads the document on standard input.
///
/// # Errors
/// If the limits cannot be set, or there is no input.
pub fn run(kind: &str) -> Result<Exit, CliError> {
    // What a parser says of a document while it breaks is nobody's concern.
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
        tell(words).is_ok() && told <= MAX_WORDS
    });
    Ok(match read {
        Ok(()) => Exit::Done,
        Err(Unread::Locked) => Exit::Locked,
        Err(Unread::Broken) => Exit::Failed,
    })
}

fn tell(words: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(words.as_bytes())?;
    out.write_all(BETWEEN)?;
    out.flush()
}

/// No limit is loosened: where less is allowed already, that stays.
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
        // macOS knows no limit on the whole of a process's memory.
        if resource != Resource::As || cfg!(target_os = "linux") {
            set.map_err(io::Error::from)?;
        }
    }
    Ok(())
}
