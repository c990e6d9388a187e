//! A plain tar that grows file by file and says when it would be too large.

use std::io::{self, Write};

use crate::time::Timestamp;

/// It would be larger than it may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("It would be too large")]
pub(super) struct Full;

/// One archive.
pub(super) struct Archive<W: Write> {
    tar: tar::Builder<W>,
    room: u64,
    at: u64,
}

/// What a tar adds to each file at most: its header, a long name, the rest of a block; and its end.
const BESIDE: u64 = 4 * 512;

impl<W: Write> Archive<W> {
    pub(super) fn new(out: W, most: u64, now: Timestamp) -> Self {
        let at = u64::try_from(now.0).unwrap_or(0) / 1000;
        Self { tar: tar::Builder::new(out), room: most.saturating_sub(BESIDE), at }
    }

    /// Puts a file in.
    ///
    /// # Errors
    /// [`Full`] if there is no room for it, or that it cannot be written.
    pub(super) fn put(&mut self, path: &str, bytes: &[u8]) -> anyhow::Result<()> {
        let size = u64::try_from(bytes.len())?;
        self.room = self.room.checked_sub(size.saturating_add(BESIDE)).ok_or(Full)?;
        let mut header = tar::Header::new_gnu();
        header.set_size(size);
        header.set_mode(0o600);
        header.set_mtime(self.at);
        Ok(self.tar.append_data(&mut header, path, bytes)?)
    }

    /// Ends it.
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
