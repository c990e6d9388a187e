//! `compline tools …`

use clap::Subcommand;

/// Commands for MCP tools.
#[derive(Debug, Subcommand)]
pub enum Tools {
    /// List all MCP tools, with full descriptions of those not yet accepted
    List,
    /// Accept a tool exactly as described under the hash
    Accept {
        /// Name of the tool, as `server__tool`
        name: String,
        /// At least 8 digits of the hash from `list`
        hash: String,
    },
}

impl Tools {
    /// Returns the command in the gateway's syntax.
    pub fn line(&self) -> Vec<String> {
        let words: &[&str] = match self {
            Self::List => &["tools", "list"],
            Self::Accept { name, hash } => &["tools", "accept", name, hash],
        };
        words.iter().map(|&word| word.to_owned()).collect()
    }
}
