//! A plain tar that grows file by file and reports when it would become too large.

use std::io::{self, Write};

use crate::time::Timestamp;

/// Size limit exceeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("It would be too large")]
pub(super) struct Full;

/// An archive being written.
pub(super) struct Archive<W: Write> {
    tar: tar::Builder<W>,
    room: u64,
    at: u64,
}

/// Maximum overhead of a tar per file: header, long name and block padding; and of its end.
const BESIDE: u64 = 4 * 512;

impl<W: Write> Archive<W> {
    pub(super) fn new(out: W, most: u64, now: Timestamp) -> Self {
        let at = u64::try_from(now.0).unwrap_or(0) / 1000;
        Self { tar: tar::Builder::new(out), room: most.saturating_sub(BESIDE), at }
    }

    /// Adds a file.
    ///
    /// # Errors
    /// [`Full`] if there is no room for it, or if it cannot be written.
    pub(super) fn put(&mut self, path: &str, bytes: &[u8]) -> anyhow::Result<()> {
        let size = u64::try_from(bytes.len())?;
        self.room = self.room.checked_sub(size.saturating_add(BESIDE)).ok_or(Full)?;
        let mut header = tar::Header::new_gnu();
        header.set_size(size);
        header.set_mode(0o600);
        header.set_mtime(self.at);
        Ok(self.tar.append_data(&mut header, path, bytes)?)
    }

    /// Finishes the archive.
    pub(super) fn finish(self) -> io::Result<W> {
        self.tar.into_inner()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_never_grows_beyond_what_it_may() {
        let most = 20_000;
        let mut archive = Archive::new(Vec::new(), most, Timestamp(0));
        let mut count = 0;
        let refused = loop {
            match archive.put(&format!("{}/{count}", "long".repeat(40)), &[0; 700]) {
                Ok(()) => count += 1,
                Err(error) => break error,
            }
        };
        let bytes = archive.finish().unwrap();
        assert!(refused.is::<Full>() && count > 3 && bytes.len() <= 20_000, "{count} {}", bytes.len());
        assert_eq!(tar::Archive::new(bytes.as_slice()).entries().unwrap().count(), count);
    }
}
