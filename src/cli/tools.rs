//! `compline tools …`

use clap::Subcommand;

/// What is done with outside tools.
#[derive(Debug, Subcommand)]
pub enum Tools {
    /// Every outside (MCP) tool; those that wait to be accepted with all that they say of
    /// themselves
    List,
    /// Accept a tool exactly as it is under that hash
    Accept {
        /// Its name, as `server__tool`
        name: String,
        /// At least 8 digits of the hash that `list` shows
        hash: String,
    },
}

impl Tools {
    /// As the gateway understands it.
    pub fn line(&self) -> Vec<String> {
        let words: &[&str] = match self {
            Self::List => &["tools", "list"],
            Self::Accept { name, hash } => &["tools", "accept", name, hash],
        };
        words.iter().map(|&word| word.to_owned()).collect()
    }
}
