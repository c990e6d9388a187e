//! Parsers of the commands about proposals and skills.

use crate::id::{ProposalId, VersionId};

/// A command about proposals and skills.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReviewCommand {
    /// Lists the pending proposals.
    Pending,
    /// Shows one proposal in full.
    Show(ProposalId),
    /// Makes a proposal live.
    Approve {
        /// The proposal.
        proposal: ProposalId,
        /// The typed digits; blank if there were none.
        hash: String,
    },
    /// Rejects a proposal.
    Reject {
        /// The proposal.
        proposal: ProposalId,
        /// The reason; may be blank.
        why: String,
    },
    /// Shows the origin of a proposal.
    Why(ProposalId),
    /// Lists the skills.
    Skills,
    /// Shows a held folder, or accepts it as it was shown.
    Accept {
        /// The folder's name.
        name: String,
        /// The typed digits; blank if there were none.
        hash: String,
    },
    /// Shows a skill's earlier versions.
    History {
        /// The skill.
        name: String,
    },
    /// Restores an earlier version.
    RollBack {
        /// The skill.
        name: String,
        /// The version.
        version: VersionId,
    },
}

/// Parses the number of a proposal, with nothing after it.
pub(super) fn proposal(rest: &str) -> Option<ProposalId> {
    number(rest).map(ProposalId)
}

/// Parses a number and a hash.
pub(super) fn approve(rest: &str) -> Option<ReviewCommand> {
    let (first, hash) = super::first_word(rest);
    Some(ReviewCommand::Approve { proposal: proposal(first)?, hash: hash.trim_matches('`').to_owned() })
}

/// Parses a number and an optional reason.
pub(super) fn reject(rest: &str) -> Option<ReviewCommand> {
    let (first, why) = super::first_word(rest);
    Some(ReviewCommand::Reject { proposal: proposal(first)?, why: why.to_owned() })
}

/// Parses `accept` and a name, whose last word is the hash if it looks like one and is not the only
/// word; anything else lists the skills.
pub(super) fn skills(rest: &str) -> ReviewCommand {
    let (verb, name) = super::first_word(rest);
    if verb != "accept" || name.is_empty() {
        return ReviewCommand::Skills;
    }
    let is_hash = |word: &str| (8..=64).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let parted = name.rsplit_once(char::is_whitespace).map(|(name, word)| (name, word.trim_matches('`')));
    let (name, hash) = parted.filter(|(_, word)| is_hash(word)).unwrap_or((name, ""));
    ReviewCommand::Accept { name: name.trim_end().to_owned(), hash: hash.to_owned() }
}

/// Parses a name, which may contain spaces, and a version.
pub(super) fn roll_back(rest: &str) -> Option<ReviewCommand> {
    let (name, version) = rest.rsplit_once(char::is_whitespace)?;
    Some(ReviewCommand::RollBack { name: name.trim_end().to_owned(), version: number(version).map(VersionId)? })
}

/// Parses digits only: `+1` or `-1` would be a typing error.
fn number(word: &str) -> Option<i64> {
    word.bytes().all(|byte| byte.is_ascii_digit()).then(|| word.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admin::command::ChatCommand;
    use proptest::prelude::*;

    fn read(line: &str) -> Option<ReviewCommand> {
        match super::super::parse(&format!("/{line}")) {
            Some(ChatCommand::Review(command)) => Some(command),
            other => {
                assert_eq!(other, None, "{line:?}");
                None
            }
        }
    }

    #[test]
    fn lines_and_what_they_mean() {
        let twelve = ProposalId(12);
        let (hash, nothing) = ("a3f9c21b".to_owned(), String::new());
        for (line, command) in [
            ("pending", ReviewCommand::Pending),
            ("pending now", ReviewCommand::Pending),
            ("show 12", ReviewCommand::Show(twelve)),
            ("approve 12 a3f9c21b", ReviewCommand::Approve { proposal: twelve, hash: hash.clone() }),
            ("approve 12  `a3f9c21b`", ReviewCommand::Approve { proposal: twelve, hash: hash.clone() }),
            ("approve 12", ReviewCommand::Approve { proposal: twelve, hash: nothing.clone() }),
            ("reject 12", ReviewCommand::Reject { proposal: twelve, why: nothing.clone() }),
            ("reject 12 not  like this", ReviewCommand::Reject { proposal: twelve, why: "not  like this".to_owned() }),
            ("why 12", ReviewCommand::Why(twelve)),
            ("skills", ReviewCommand::Skills),
            ("skills accept tea", ReviewCommand::Accept { name: "tea".to_owned(), hash: nothing.clone() }),
            ("skills accept My Tea  a3f9c21b", ReviewCommand::Accept { name: "My Tea".to_owned(), hash }),
            ("skills accept a3f9c21b", ReviewCommand::Accept { name: "a3f9c21b".to_owned(), hash: nothing }),
            ("skills accept", ReviewCommand::Skills),
            ("history tea", ReviewCommand::History { name: "tea".to_owned() }),
            ("rollback tea 7", ReviewCommand::RollBack { name: "tea".to_owned(), version: VersionId(7) }),
            ("rollback My Tea  7", ReviewCommand::RollBack { name: "My Tea".to_owned(), version: VersionId(7) }),
        ] {
            assert_eq!(read(line), Some(command), "{line:?}");
        }
        for line in [
            "show",
            "show 12 13",
            "show -12",
            "show 99999999999999999999",
            "approve a3f9c21b",
            "why not",
            "history",
            "rollback tea",
            "rollback tea seven",
            "rollback",
        ] {
            assert_eq!(read(line), None, "{line:?}");
        }
    }

    proptest! {
        #[test]
        fn a_button_means_the_proposal_under_which_it_stands(id in 0_i64.., hash in "[0-9a-f]{16}") {
            let approve = ReviewCommand::Approve { proposal: ProposalId(id), hash: hash.clone() };
            prop_assert_eq!(read(&format!("approve {id} {hash}")), Some(approve));
            prop_assert_eq!(read(&format!("why {id}")), Some(ReviewCommand::Why(ProposalId(id))));
        }
    }
}
