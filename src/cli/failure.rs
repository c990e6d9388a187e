//! Reasons for a failed command, in words for the person who typed it.

use std::io;

use crate::app::BuildError;
use crate::config::ConfigError;
use crate::store::OpenError;
use crate::wording::cli as says;
use crate::wording::upkeep;

/// Reason for a failed command.
#[derive(Debug)]
pub enum CliError {
    /// Wrong usage or configuration, with a fix.
    Wrong(String),
    /// Any other failure.
    Failed(String),
    /// The reader of the output is gone, as after `| head`. This is not an error.
    Unread,
}

impl From<ConfigError> for CliError {
    fn from(error: ConfigError) -> Self {
        Self::Wrong(error.to_string())
    }
}

impl From<BuildError> for CliError {
    fn from(error: BuildError) -> Self {
        match error {
            BuildError::Held(home) => Self::Failed(says::held(&home)),
            BuildError::Journal(error) => error.into(),
            BuildError::Other(error) => error.into(),
        }
    }
}

impl From<OpenError> for CliError {
    fn from(error: OpenError) -> Self {
        let told = error.to_string();
        let fix = match error {
            OpenError::Newer { .. } => says::FIX_NEWER,
            OpenError::Damaged { .. } => says::FIX_DAMAGED,
            OpenError::Locked { .. } => says::FIX_LOCKED,
            OpenError::ReadOnly { .. } => says::FIX_READ_ONLY,
            OpenError::Full { .. } => says::FIX_FULL,
            OpenError::NoRoomToCopy { .. } => upkeep::FIX_NO_ROOM_TO_COPY,
            OpenError::NotCopied { .. } => upkeep::FIX_NOT_COPIED,
            OpenError::Other(error) => return error.into(),
        };
        Self::Failed(says::with_fix(&told, fix))
    }
}

impl From<anyhow::Error> for CliError {
    fn from(error: anyhow::Error) -> Self {
        let broken = error.chain().filter_map(|cause| cause.downcast_ref::<io::Error>());
        if broken.map(io::Error::kind).any(|kind| kind == io::ErrorKind::BrokenPipe) {
            return Self::Unread;
        }
        Self::Failed(format!("{error:#}"))
    }
}

impl From<io::Error> for CliError {
    fn from(error: io::Error) -> Self {
        anyhow::Error::new(error).into()
    }
}
