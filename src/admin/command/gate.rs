//! Parser for the commands about proposals and skills, all of which are the owner's.
//!
//! An invalid number is not an error here but `None`, so that a caller without permission learns
//! only that, and not the syntax.

use crate::id::{ProposalId, VersionId};

/// An owner's command about proposals and skills.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Gate {
    /// Lists the pending proposals.
    Pending,
    /// Shows one proposal in full.
    Show {
        /// The proposal.
        proposal: Option<ProposalId>,
    },
    /// Makes a proposal live.
    Approve {
        /// The proposal.
        proposal: Option<ProposalId>,
        /// The typed digits; blank if there were none.
        hash: String,
    },
    /// Rejects a proposal.
    Reject {
        /// The proposal.
        proposal: Option<ProposalId>,
        /// The reason; may be blank.
        why: String,
    },
    /// Shows the origin of a proposal.
    Why {
        /// The proposal.
        proposal: Option<ProposalId>,
    },
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
        /// The skill; blank if not named.
        name: String,
    },
    /// Restores an earlier version.
    RollBack {
        /// The skill.
        name: String,
        /// The version.
        version: Option<VersionId>,
    },
}

/// Parses a command; `None` if the name belongs to another group.
pub(super) fn parse(name: &str, rest: &str) -> Option<Gate> {
    let (first, more) = super::first_word(rest);
    let proposal = number(first).map(ProposalId);
    Some(match name {
        "pending" => Gate::Pending,
        "show" => Gate::Show { proposal: alone(proposal, more) },
        "approve" => Gate::Approve { proposal, hash: more.trim_matches('`').to_owned() },
        "reject" => Gate::Reject { proposal, why: more.to_owned() },
        "why" => Gate::Why { proposal: alone(proposal, more) },
        "skills" if first == "accept" && !more.is_empty() => accept(more),
        "skills" => Gate::Skills,
        "history" => Gate::History { name: rest.to_owned() },
        "rollback" => roll_back(rest),
        _ => return None,
    })
}

/// The last word is the hash, if it looks like one and is not the only word.
fn accept(rest: &str) -> Gate {
    let is_hash = |word: &str| (8..=64).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let parted = rest.rsplit_once(char::is_whitespace).map(|(name, word)| (name, word.trim_matches('`')));
    let (name, hash) = parted.filter(|(_, word)| is_hash(word)).unwrap_or((rest, ""));
    Gate::Accept { name: name.trim_end().to_owned(), hash: hash.to_owned() }
}

/// The last word is the version; a folder's name may contain spaces.
fn roll_back(rest: &str) -> Gate {
    let (name, version) = rest.rsplit_once(char::is_whitespace).unwrap_or((rest, ""));
    Gate::RollBack { name: name.trim_end().to_owned(), version: number(version).map(VersionId) }
}

fn alone(proposal: Option<ProposalId>, more: &str) -> Option<ProposalId> {
    proposal.filter(|_| more.is_empty())
}

/// Parses digits only: `+1` or `-1` would be a typing error.
fn number(word: &str) -> Option<i64> {
    word.bytes().all(|byte| byte.is_ascii_digit()).then(|| word.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(line: &str) -> Gate {
        let (name, rest) = super::super::first_word(line);
        parse(name, rest).unwrap()
    }

    #[test]
    fn lines_and_what_they_mean() {
        let (twelve, none) = (Some(ProposalId(12)), None);
        let (hash, nothing) = ("a3f9c21b".to_owned(), String::new());
        for (line, command) in [
            ("pending", Gate::Pending),
            ("pending now", Gate::Pending),
            ("show 12", Gate::Show { proposal: twelve }),
            ("show", Gate::Show { proposal: none }),
            ("show 12 13", Gate::Show { proposal: none }),
            ("show -12", Gate::Show { proposal: none }),
            ("show 99999999999999999999", Gate::Show { proposal: none }),
            ("approve 12 a3f9c21b", Gate::Approve { proposal: twelve, hash: hash.clone() }),
            ("approve 12  `a3f9c21b`", Gate::Approve { proposal: twelve, hash: hash.clone() }),
            ("approve 12", Gate::Approve { proposal: twelve, hash: nothing.clone() }),
            ("approve a3f9c21b", Gate::Approve { proposal: none, hash: nothing.clone() }),
            ("reject 12", Gate::Reject { proposal: twelve, why: nothing.clone() }),
            ("reject 12 not  like this", Gate::Reject { proposal: twelve, why: "not  like this".to_owned() }),
            ("why 12", Gate::Why { proposal: twelve }),
            ("why not", Gate::Why { proposal: none }),
            ("skills", Gate::Skills),
            ("skills accept tea", Gate::Accept { name: "tea".to_owned(), hash: nothing.clone() }),
            ("skills accept My Tea  a3f9c21b", Gate::Accept { name: "My Tea".to_owned(), hash: hash.clone() }),
            ("skills accept a3f9c21b", Gate::Accept { name: "a3f9c21b".to_owned(), hash: nothing.clone() }),
            ("skills accept", Gate::Skills),
            ("history tea", Gate::History { name: "tea".to_owned() }),
            ("history", Gate::History { name: nothing.clone() }),
            ("rollback tea 7", Gate::RollBack { name: "tea".to_owned(), version: Some(VersionId(7)) }),
            ("rollback My Tea  7", Gate::RollBack { name: "My Tea".to_owned(), version: Some(VersionId(7)) }),
            ("rollback tea", Gate::RollBack { name: "tea".to_owned(), version: None }),
            ("rollback tea seven", Gate::RollBack { name: "tea".to_owned(), version: None }),
            ("rollback", Gate::RollBack { name: nothing, version: None }),
        ] {
            assert_eq!(read(line), command, "{line:?}");
        }
        assert_eq!(parse("help", ""), None);
    }

    proptest! {
        #[test]
        fn a_button_means_the_proposal_under_which_it_stands(id in 0_i64.., hash in "[0-9a-f]{16}") {
            let approve = Gate::Approve { proposal: Some(ProposalId(id)), hash: hash.clone() };
            prop_assert_eq!(read(&format!("approve {id} {hash}")), approve);
            prop_assert_eq!(read(&format!("why {id}")), Gate::Why { proposal: Some(ProposalId(id)) });
        }
    }
}
