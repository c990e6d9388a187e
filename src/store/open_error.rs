//! Reasons why a journal cannot be opened.

use std::path::PathBuf;

/// Reason why a journal cannot be opened. Variants differ by remedy.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Written by a newer program.
    #[error("{path} was written by a newer Compline (journal version {found}, this program knows {known})")]
    Newer {
        /// Path.
        path: PathBuf,
        /// Version of the file.
        found: u32,
        /// Newest version that this program knows.
        known: u32,
    },
    /// Not an SQLite file, or damaged.
    #[error("{path} is not a journal, or it is damaged")]
    Damaged {
        /// Path.
        path: PathBuf,
    },
    /// Locked by another program.
    #[error("{path} is locked by another program")]
    Locked {
        /// Path.
        path: PathBuf,
    },
    /// Directory or file not writable.
    #[error("{path} cannot be written")]
    ReadOnly {
        /// Path.
        path: PathBuf,
    },
    /// Disk full.
    #[error("The disk that holds {path} is full")]
    Full {
        /// Path.
        path: PathBuf,
    },
    /// Older than the program, and no room for a copy.
    #[error("{path} is older than this program, and there is no room for a copy of it before it is brought up to date")]
    NoRoomToCopy {
        /// Path.
        path: PathBuf,
    },
    /// Older than the program, and cannot be copied.
    #[error(
        "{path} is older than this program, and no copy of it can be made before it is brought up to date: {cause:#}"
    )]
    NotCopied {
        /// Path.
        path: PathBuf,
        /// Cause.
        cause: anyhow::Error,
    },
    /// Any other error.
    #[error(transparent)]
    Other(#[from] anyhow::Error),
}
