//! `compline review …`: decisions on proposals. Anyone who can open the home decides as its owner.

use clap::Subcommand;

use super::client::words;
use crate::admin::command::help;

/// `compline review …`
#[derive(Debug, Subcommand)]
pub enum ReviewCommand {
    /// List the newest proposals, including pending ones
    List,
    #[command(about = help("show"))]
    Show {
        /// Number of the proposal
        id: u64,
    },
    #[command(about = help("approve"))]
    Approve {
        /// Number of the proposal
        id: u64,
        /// Hash at the end of `show`, at least 8 digits
        hash: String,
    },
    #[command(about = help("reject"))]
    Reject {
        /// Number of the proposal
        id: u64,
        /// Reason for the record
        #[arg(long, value_name = "WHY", default_value = "", hide_default_value = true)]
        reason: String,
    },
}

impl ReviewCommand {
    /// Returns the command in the gateway's syntax.
    pub fn line(&self) -> Vec<String> {
        match self {
            Self::List => words(&["review", "list"]),
            Self::Show { id } => words(&["review", "show", &id.to_string()]),
            Self::Approve { id, hash } => words(&["review", "approve", &id.to_string(), hash]),
            Self::Reject { id, reason } => words(&["review", "reject", &id.to_string(), reason]),
        }
    }
}
