//! `compline review …`: the gate, from the command line of the home. Whoever can open the home
//! decides as its owner.

use clap::Subcommand;

use super::client::words;

/// `compline review …`
#[derive(Debug, Subcommand)]
pub enum ReviewCommand {
    /// The newest proposals, with those that wait among them
    List,
    /// One proposal whole: origin, stages, findings, diff, and the hash at the end
    Show {
        /// Its number
        id: u64,
    },
    /// Make a proposal live, exactly as it was shown
    Approve {
        /// Its number
        id: u64,
        /// The hash at the end of what `show` prints, at least 8 digits of it
        hash: String,
    },
    /// Refuse a proposal for good
    Reject {
        /// Its number
        id: u64,
        /// Why, for the record
        #[arg(long, value_name = "WHY", default_value = "", hide_default_value = true)]
        reason: String,
    },
}

impl ReviewCommand {
    /// As the gateway understands it.
    pub fn line(&self) -> Vec<String> {
        match self {
            Self::List => words(&["review", "list"]),
            Self::Show { id } => words(&["review", "show", &id.to_string()]),
            Self::Approve { id, hash } => words(&["review", "approve", &id.to_string(), hash]),
            Self::Reject { id, reason } => words(&["review", "reject", &id.to_string(), reason]),
        }
    }
}
