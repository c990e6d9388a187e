//! Parsers of the arguments of the commands about access, proposals, skills, memory and
//! reflections.
//!
//! People and addresses are identified by number, because buttons carry them.

use crate::admin::search::SearchQuery;
use crate::id::{AddressId, FileId, PersonId, ProposalId, VersionId};
use crate::people::Role;
use crate::schedule::Job;

/// A `/people` command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PeopleCommand {
    /// Lists the people with access.
    List,
    /// Unlinks an address from its person.
    Unlink(AddressId),
    /// Revokes a person's access.
    Remove(PersonId),
    /// Confirms that a person is the earlier one of the same name.
    Join(PersonId),
    /// Denies that a person is the earlier one of the same name.
    Apart(PersonId),
}

/// The answer to the question whether a pairing is for the removed person of the same name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Namesake {
    /// The removed person.
    pub person: PersonId,
    /// The role granted by the code.
    pub role: Role,
    /// The answer.
    pub is_same: IsSame,
}

/// Identity of a new and an earlier person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IsSame {
    /// The same person.
    Yes,
    /// A new person.
    No,
}

/// Parses the arguments of `/people`.
pub(super) fn people(rest: &str) -> Option<PeopleCommand> {
    let words: Vec<String> = rest.split_whitespace().map(str::to_lowercase).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["unlink", number] => number.parse().ok().map(|id| PeopleCommand::Unlink(AddressId(id))),
        ["remove", number] => number.parse().ok().map(|id| PeopleCommand::Remove(PersonId(id))),
        ["join", number] => number.parse().ok().map(|id| PeopleCommand::Join(PersonId(id))),
        ["apart", number] => number.parse().ok().map(|id| PeopleCommand::Apart(PersonId(id))),
        ["unlink" | "remove" | "join" | "apart", ..] => None,
        _ => Some(PeopleCommand::List),
    }
}

/// Parses the arguments of `/pair`: `#3 member same`, `#3 member new`.
pub(super) fn namesake(rest: &str) -> Option<Namesake> {
    let words: Vec<String> = rest.split_whitespace().map(str::to_lowercase).collect();
    let [number, role, answer] = words.as_slice() else { return None };
    let person = PersonId(number.strip_prefix('#')?.parse().ok()?);
    let role = role.parse::<Role>().ok().filter(|role| *role != Role::Guest)?;
    let is_same = match answer.as_str() {
        "same" => IsSame::Yes,
        "new" => IsSame::No,
        _ => return None,
    };
    Some(Namesake { person, role, is_same })
}

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
    let (first, hash) = first_word(rest);
    Some(ReviewCommand::Approve { proposal: proposal(first)?, hash: hash.trim_matches('`').to_owned() })
}

/// Parses a number and an optional reason.
pub(super) fn reject(rest: &str) -> Option<ReviewCommand> {
    let (first, why) = first_word(rest);
    Some(ReviewCommand::Reject { proposal: proposal(first)?, why: why.to_owned() })
}

/// Parses `accept` and a name, whose last word is the hash if it looks like one and is not the only
/// word; anything else lists the skills.
pub(super) fn skills(rest: &str) -> ReviewCommand {
    let (verb, name) = first_word(rest);
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

/// A command about the caller's memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MemoryCommand {
    /// Shows an overview.
    Overview,
    /// Shows one note in full.
    Show {
        /// The note, as typed.
        note: String,
    },
    /// Searches the stored data.
    Search(SearchQuery),
    /// Opens an editor, where there is one.
    Edit,
    /// Shows a note's earlier versions.
    History {
        /// The note.
        note: String,
    },
    /// Restores an earlier version of a note.
    Restore {
        /// The note.
        note: String,
        /// The version.
        version: FileId,
    },
    /// Stores a text as the person's own.
    Remember {
        /// The text.
        text: String,
    },
    /// Turns an untrusted note into the person's own.
    Promote {
        /// The note.
        note: String,
        /// The code shown below the preview; blank if there was none.
        code: String,
    },
}

/// Parses `/memory`. A note with the name of one of these verbs needs its `.md`.
pub(super) fn memory(rest: &str) -> Option<MemoryCommand> {
    let (verb, more) = first_word(rest);
    Some(match verb.to_lowercase().as_str() {
        "" => MemoryCommand::Overview,
        "search" => MemoryCommand::Search(super::search_flags::read(more)?),
        "edit" => MemoryCommand::Edit,
        "history" => MemoryCommand::History { note: named(more)? },
        "restore" => {
            let (note, version) = first_word(more);
            MemoryCommand::Restore { note: named(note)?, version: FileId(number(version)?) }
        }
        _ => MemoryCommand::Show { note: rest.to_owned() },
    })
}

/// Parses a note and an optional code.
pub(super) fn promote(rest: &str) -> Option<MemoryCommand> {
    let (note, code) = first_word(rest);
    Some(MemoryCommand::Promote { note: named(note)?, code: code.trim_matches('`').to_owned() })
}

/// A requested reflection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReflectionRequest {
    /// The job.
    pub job: Job,
    /// The period's name; `None` means the latest that is over.
    pub period: Option<String>,
    /// Repeat a finished one.
    pub again: bool,
}

impl ReflectionRequest {
    /// Parses `daily [PERIOD] [again]`.
    pub fn read<'a>(mut words: impl Iterator<Item = &'a str>) -> Option<Self> {
        let job = Job::named(&words.next()?.to_lowercase())?;
        let mut request = Self { job, period: None, again: false };
        for word in words {
            match word.to_lowercase().as_str() {
                "again" | "--again" if !request.again => request.again = true,
                "--period" => {}
                _ if request.period.is_none() => request.period = Some(word.to_uppercase()),
                _ => return None,
            }
        }
        Some(request)
    }
}

/// Splits a text into its first word and the rest.
pub(super) fn first_word(text: &str) -> (&str, &str) {
    let text = text.trim();
    let (first, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    (first, rest.trim())
}

/// Returns the name, unless it is blank.
pub(super) fn named(name: &str) -> Option<String> {
    Some(name.to_owned()).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod gate_tests {
    use super::super::ChatCommand;
    use super::*;
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

#[cfg(test)]
mod memory_tests {
    use super::super::{ChatCommand, parse};
    use super::*;

    #[test]
    fn lines_and_what_they_mean() {
        let note = |note: &str| note.to_owned();
        for (line, meant) in [
            ("/memory", MemoryCommand::Overview),
            ("/memory tea", MemoryCommand::Show { note: note("tea") }),
            ("/memory edit", MemoryCommand::Edit),
            ("/memory EDIT tea", MemoryCommand::Edit),
            ("/memory edit.md", MemoryCommand::Show { note: note("edit.md") }),
            (
                "/memory search --case Tea",
                MemoryCommand::Search(SearchQuery { case: true, limit: 8, ..SearchQuery::of("Tea") }),
            ),
            ("/memory search.md", MemoryCommand::Show { note: note("search.md") }),
            ("/memory history tea", MemoryCommand::History { note: note("tea") }),
            ("/memory restore tea 12", MemoryCommand::Restore { note: note("tea"), version: FileId(12) }),
            ("/remember Cat: Tom\nDog: Rex", MemoryCommand::Remember { text: note("Cat: Tom\nDog: Rex") }),
            ("/promote tea", MemoryCommand::Promote { note: note("tea"), code: note("") }),
            ("/promote tea `0a1b2c3d`", MemoryCommand::Promote { note: note("tea"), code: note("0a1b2c3d") }),
        ] {
            assert_eq!(parse(line), Some(ChatCommand::Memory(meant)), "{line}");
        }
        for line in [
            "/memory search",
            "/memory history",
            "/memory restore tea last",
            "/memory restore tea +1",
            "/remember",
            "/promote",
            "/memories",
        ] {
            assert_eq!(parse(line), None, "{line}");
        }
    }
}

#[cfg(test)]
mod reflection_request_tests {
    use super::*;

    #[test]
    fn a_wish_is_a_job_and_perhaps_a_period() {
        let read = |line: &str| ReflectionRequest::read(line.split_whitespace());
        let request = |job, period: Option<&str>, again| {
            Some(ReflectionRequest { job, period: period.map(str::to_owned), again })
        };
        assert_eq!(read("daily"), request(Job::Daily, None, false));
        assert_eq!(read("Weekly 2026-w47 again"), request(Job::Weekly, Some("2026-W47"), true));
        assert_eq!(read("monthly again 2026-10"), request(Job::Monthly, Some("2026-10"), true));
        for line in ["", "yearly", "daily 2026-11-20 2026-11-21", "daily again again"] {
            assert_eq!(read(line).filter(|request| request.period.as_deref() != Some("AGAIN")), None, "{line}");
        }
    }
}
