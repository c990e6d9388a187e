//! The socket of the daemon: the listening process, and the other users of this computer who could
//! connect.
//!
//! There is no password: anyone who can open the socket can write in the owner's name and read all
//! messages. So one of its parent folders has to exclude others. The mode of the socket itself is
//! reset at each start of the daemon and guarantees nothing.

use std::io;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::{Path, PathBuf};

use tokio::net::UnixStream;

use super::super::finding::Finding;
use super::super::gateway::Gateway;
use crate::cli::probe::listens_at;
use crate::config;
use crate::wording::cli::signal as says;

/// Permission bit with which every user can enter a folder.
const EVERYBODY_ENTERS: u32 = 0o001;
const EVERYBODY_WRITES: u32 = 0o002;

/// Returns a finding if others can reach the socket.
pub(super) fn open_to_others(socket: &Path) -> Option<Finding> {
    let mode = |path: &Path| std::fs::metadata(path).map(|found| found.permissions().mode());
    let folder = socket.parent()?;
    if !folder.ancestors().all(|above| mode(above).is_ok_and(|mode| mode & EVERYBODY_ENTERS != 0)) {
        return None;
    }
    let (shown, fix) = (socket.display().to_string(), says::fix_open(&folder.display().to_string()));
    Some(match mode(socket) {
        Ok(mode) if mode & EVERYBODY_WRITES != 0 => Finding::wrong(says::SIGNAL, &says::open(&shown), &fix),
        _ => Finding::note(says::SIGNAL, &says::nearly_open(&shown), &fix),
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
    words.iter().any(|word| word == super::program::DAEMON).then_some(words)
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
