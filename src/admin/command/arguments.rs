//! Parsers of the arguments of chat commands.
//!
//! People and addresses are identified by number, because buttons carry them.

use super::{Action, Command, ForgetStep, Query, SettingChange, SourceMessages, search_flags};
use crate::admin::paging::PageRequest;
use crate::admin::transcript::TranscriptPart;
use crate::engine::turn::answered::YesExtent;
use crate::id::{
    AddressId, ConversationId, FileId, MessageId, OutboxId, PersonId, ProposalId, QuestionId, StrangerId, VersionNumber,
};
use crate::people::Role;
use crate::schedule::Job;
use crate::store::ConversationKind;

/// Number of items that a chat lists on a page.
const IN_CHAT: u32 = 10;
/// The first page of versions.
pub const NEWEST_VERSIONS: PageRequest = PageRequest { before: None, limit: 20 };

/// Parses the number of a question, and optionally the extent of the yes.
pub(super) fn yes(rest: &str) -> Option<Action> {
    let (number, extent) = first_word(rest);
    Some(Action::Yes(question(number)?, YesExtent::read(extent)?))
}

/// Parses the number of a question, with nothing after it.
pub(super) fn question(rest: &str) -> Option<QuestionId> {
    rest.parse().ok().map(QuestionId)
}

/// Parses an empty argument, or the number of a delivery.
pub(super) fn resend(rest: &str) -> Option<Action> {
    let id = if rest.is_empty() { None } else { Some(OutboxId(rest.parse().ok()?)) };
    Some(Action::Resend(id))
}

/// Parses a setting with its new value, or an empty argument.
pub(super) fn settings(rest: &str) -> Option<Command> {
    let (name, value) = first_word(rest);
    let change = match (name.to_lowercase().as_str(), named(value)) {
        ("", _) => return Some(Command::Read(Query::Settings)),
        ("language", Some(value)) => SettingChange::Language(value),
        ("timezone" | "zone", Some(value)) => SettingChange::Zone(value),
        _ => return None,
    };
    Some(Command::Act(Action::ChangeSetting(change)))
}

/// Parses an empty argument, a kind of conversations, or the number of one with that of a message
/// in it. A list may go on `before` a number.
pub(super) fn conversations(rest: &str) -> Option<Query> {
    let (rest, page) = page(rest, number);
    let (first, place) = first_word(rest);
    match number(first) {
        Some(id) => {
            let part = match place {
                "" => TranscriptPart::Whole,
                place => TranscriptPart::Around(MessageId(number(place)?)),
            };
            Some(Query::Conversation(ConversationId(id), part)).filter(|_| page.before.is_none())
        }
        None if rest.is_empty() => Some(Query::Conversations(Some(ConversationKind::Chat), page)),
        None => kind_of(rest).map(|kind| Query::Conversations(kind, page)),
    }
}

/// Splits the arguments of a list from the page at their end, `before` and a place.
fn page<P>(rest: &str, place: impl Fn(&str) -> Option<P>) -> (&str, PageRequest<P>) {
    let split = || {
        let (rest, last) = rest.rsplit_once(char::is_whitespace)?;
        let (rest, word) = rest.trim_end().rsplit_once(char::is_whitespace).unwrap_or(("", rest.trim_end()));
        word.eq_ignore_ascii_case("before").then_some((rest.trim_end(), place(last)?))
    };
    let (rest, before) = split().map_or((rest, None), |(rest, before)| (rest, Some(before)));
    (rest, PageRequest { before, limit: IN_CHAT })
}

/// Parses the kind of conversations to list; `all` means every kind.
pub(super) fn kind_of(word: &str) -> Option<Option<ConversationKind>> {
    let word = word.to_lowercase();
    if word == "all" { Some(None) } else { word.trim_end_matches('s').parse().ok().map(Some) }
}

/// Parses an empty argument, or the number or the period of a reflection. The list may go on
/// `before` a number.
pub(super) fn reflections(rest: &str) -> Query {
    let (wanted, page) = page(rest, number);
    named(wanted).map_or(Query::Reflections(page), |_| Query::Reflection(rest.to_owned()))
}

/// Parses a note with an optional code of its plan, and with an optional last word `messages`.
pub(super) fn forget(rest: &str) -> Option<Action> {
    let with_messages = rest.rsplit_once(char::is_whitespace).filter(|(_, last)| last.eq_ignore_ascii_case("messages"));
    let (name, messages) =
        with_messages.map_or((rest, SourceMessages::Keep), |(name, _)| (name.trim_end(), SourceMessages::Delete));
    named(name).map(|name| Action::Forget { name, messages, step: ForgetStep::Plan })
}

/// Parses `handover` and a name, with an optional last word `yes` as confirmation; a verb and the
/// number of a person or address; `strangers`; anything else lists people. Lists go on `before`.
pub(super) fn people(rest: &str) -> Option<Command> {
    let (verb, of) = first_word(rest);
    let page = |rest| page(rest, |place| place.parse().ok()).1;
    let action = match verb.to_lowercase().as_str() {
        "handover" | "hand-over" => {
            let (name, last) = of.rsplit_once(char::is_whitespace).unwrap_or((of, ""));
            if !last.eq_ignore_ascii_case("yes") {
                return named(of).map(|name| Command::Read(Query::HandOverPlan(name)));
            }
            Action::HandOver(named(name.trim_end())?)
        }
        "unlink" => Action::Unlink(AddressId(of.parse().ok()?)),
        "remove" => Action::RemovePerson(PersonId(of.parse().ok()?)),
        "admit" => {
            let (number, whom) = first_word(of);
            let stranger = StrangerId(number.parse().ok()?);
            match pair(whom) {
                Some(Action::Pair { name, role, .. }) => Action::AdmitStranger { stranger, name, role },
                _ if whom.is_empty() => Action::AdmitStranger { stranger, name: String::new(), role: Role::Member },
                _ => return None,
            }
        }
        "ignore" => Action::IgnoreStranger(StrangerId(of.parse().ok()?)),
        "join" => Action::Join(PersonId(of.parse().ok()?)),
        "apart" => Action::Apart(PersonId(of.parse().ok()?)),
        "strangers" => return Some(Command::Read(Query::Strangers(page(of)))),
        _ => return Some(Command::Read(Query::People(PageRequest { limit: 5 * IN_CHAT, ..page(rest) }))),
    };
    Some(Command::Act(action))
}

/// Parses `#N ROLE same|new`, or a name with an optional last word as role; a guest cannot be given
/// access.
pub(super) fn pair(rest: &str) -> Option<Action> {
    let role_of = |word: &str| word.to_lowercase().parse::<Role>().ok().filter(|role| *role != Role::Guest);
    if rest.starts_with('#') {
        let words: Vec<String> = rest.split_whitespace().map(str::to_lowercase).collect();
        let [number, role, answer] = words.as_slice() else { return None };
        let is_same = match answer.as_str() {
            "same" => true,
            "new" => false,
            _ => return None,
        };
        let former = PersonId(number.strip_prefix('#')?.parse().ok()?);
        return Some(Action::PairNamesake { former, role: role_of(role)?, is_same });
    }
    let (name, last) = rest.rsplit_once(char::is_whitespace).unwrap_or(("", rest));
    let (name, role) = role_of(last).map_or((rest, Role::Member), |role| (name.trim_end(), role));
    named(name).map(|name| Action::Pair { name, role, means: None })
}

/// Parses the number of a proposal, with nothing after it.
pub(super) fn proposal(rest: &str) -> Option<ProposalId> {
    number(rest).map(ProposalId)
}

/// Parses the number of a proposal, `fact` and a key, or a key or note; blank for the last answer.
pub(super) fn why(rest: &str) -> Query {
    let (first, key) = first_word(rest);
    if first.eq_ignore_ascii_case("fact") && !key.is_empty() {
        return Query::FactOrigin(key.to_owned());
    }
    let named = || named(rest).map_or(Query::AnswerOrigin, Query::Origin);
    proposal(rest).map_or_else(named, Query::ProposalOrigin)
}

/// Parses a number, a hash, and an optional word.
pub(super) fn approve(rest: &str) -> Option<Action> {
    let (first, typed) = first_word(rest);
    let (hash, word) = first_word(typed.trim_matches('`'));
    let (hash, word) = (hash.trim_matches('`').to_owned(), word.trim_matches('`').trim().to_owned());
    Some(Action::Approve { proposal: proposal(first)?, hash, word })
}

/// Parses a number and an optional reason.
pub(super) fn reject(rest: &str) -> Option<Action> {
    let (first, why) = first_word(rest);
    Some(Action::Reject { proposal: proposal(first)?, why: why.to_owned() })
}

/// Parses the name of a skill; the list may go on `before` a number.
pub(super) fn history(rest: &str) -> Option<Query> {
    let (name, page) = page(rest, number);
    Some(Query::SkillHistory(named(name)?, PageRequest { before: page.before, ..NEWEST_VERSIONS }))
}

/// Splits a name, which may contain spaces, from the number of a version.
fn version_of(rest: &str) -> Option<(String, i64)> {
    let (name, version) = rest.rsplit_once(char::is_whitespace)?;
    Some((name.trim_end().to_owned(), number(version)?))
}

/// Splits a name, which may contain spaces, from the numbers of two versions.
fn versions_of(rest: &str) -> Option<(String, [i64; 2])> {
    let (rest, new) = version_of(rest)?;
    let (name, old) = version_of(&rest)?;
    Some((name, [old, new]))
}

/// Parses `show` and a name with an optional version, `diff` and a name with two versions, or
/// `accept` and a name, whose last word is the hash if it looks like one and is not the only word;
/// a plain word may follow the hash. Anything else lists the skills.
pub(super) fn skills(rest: &str) -> Command {
    let (verb, name) = first_word(rest);
    let query = match verb {
        "show" => version_of(name)
            .map(|(name, version)| Query::SkillVersion(name, VersionNumber(version)))
            .or_else(|| named(name).map(Query::Skill)),
        "diff" => versions_of(name).map(|(name, versions)| Query::SkillComparison(name, versions.map(VersionNumber))),
        _ => None,
    };
    if verb != "accept" || name.is_empty() {
        return Command::Read(query.unwrap_or(Query::Skills));
    }
    let is_hash = |word: &str| (8..=64).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let last = |name: &'_ str| {
        let (before, word) = name.rsplit_once(char::is_whitespace)?;
        Some((before.trim_end().to_owned(), word.trim_matches('`').to_owned()))
    };
    let with_hash = |name: &str| last(name).filter(|(_, hash)| is_hash(hash));
    let with_word = last(name).and_then(|(before, word)| with_hash(&before).map(|found| (found, word)));
    let ((name, hash), word) = match (with_hash(name), with_word) {
        (Some(found), _) => (found, String::new()),
        (None, Some((found, word))) => (found, word),
        (None, None) => ((name.trim_end().to_owned(), String::new()), String::new()),
    };
    Command::Act(Action::AcceptSkill { name, hash, word })
}

/// Parses a name, which may contain spaces, and a version.
pub(super) fn roll_back(rest: &str) -> Option<Action> {
    let (name, version) = rest.rsplit_once(char::is_whitespace)?;
    Some(Action::RollBack { name: name.trim_end().to_owned(), version: number(version).map(VersionNumber)? })
}

/// Parses digits only: `+1` or `-1` would be a typing error.
fn number(word: &str) -> Option<i64> {
    word.bytes().all(|byte| byte.is_ascii_digit()).then(|| word.parse().ok())?
}

/// Parses `/memory`. A note with the name of one of these verbs needs its `.md`.
pub(super) fn memory(rest: &str) -> Option<Command> {
    let (verb, more) = first_word(rest);
    Some(Command::Read(match verb.to_lowercase().as_str() {
        "" => Query::Memory,
        "search" => Query::SearchMemory(search_flags::read(more)?),
        "edit" => Query::WhereToEdit,
        "profiles" if more.is_empty() => Query::AgentMemories,
        "profile" => match switch(more) {
            None => Query::Note(rest.to_owned()),
            switched => return switched,
        },
        "show" => match version_of(more) {
            Some((note, version)) => {
                let named = Some(Box::new(Query::Note(more.to_owned())));
                Query::NoteVersion { note, version: FileId(version), named }
            }
            None => named(more).map_or(Query::Memory, Query::Note),
        },
        "diff" => {
            let (note, versions) = versions_of(more)?;
            Query::NoteComparison(note, versions.map(FileId))
        }
        "history" if page(more, number).1.before.is_some() => {
            let (note, page) = page(more, number);
            Query::NoteHistory(named(note)?, PageRequest { before: page.before, ..NEWEST_VERSIONS })
        }
        "history" => match more.rsplit_once(char::is_whitespace).map(|(note, last)| (note.trim(), number(last))) {
            Some((note, Some(version))) => {
                let named = Some(Box::new(Query::NoteHistory(more.to_owned(), NEWEST_VERSIONS)));
                Query::NoteVersion { note: note.to_owned(), version: FileId(version), named }
            }
            _ => Query::NoteHistory(named(more)?, NEWEST_VERSIONS),
        },
        "restore" => {
            let (note, version) = more.rsplit_once(char::is_whitespace)?;
            let (note, version) = (named(note.trim_end())?, FileId(number(version)?));
            return Some(Command::Act(Action::RestoreNote { note, version }));
        }
        _ => Query::Note(rest.to_owned()),
    }))
}

/// Parses a name, which may contain spaces, and `on` or `off`.
fn switch(rest: &str) -> Option<Command> {
    let (name, state) = rest.rsplit_once(char::is_whitespace)?;
    let on = ["off", "on"].iter().position(|word| state.eq_ignore_ascii_case(word))? == 1;
    Some(Command::Act(Action::SwitchMemory { name: named(name.trim_matches('`'))?, on }))
}

/// Parses a note and an optional code.
pub(super) fn promote(rest: &str) -> Option<Action> {
    let (note, code) = first_word(rest);
    Some(Action::Promote { note: named(note)?, code: code.trim_matches('`').to_owned() })
}

/// Parses an empty argument, `off`, or a number with an optional code.
pub(super) fn trust(rest: &str) -> Option<Command> {
    let (first, code) = first_word(rest);
    match first.to_lowercase().as_str() {
        "" => Some(Command::Read(Query::Trust)),
        "off" => Some(Command::Act(Action::TakeBack)),
        number => {
            let code = code.trim_matches('`').to_owned();
            Some(Command::Act(Action::Vouch { number: number.parse().ok()?, code }))
        }
    }
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
    use super::*;
    use proptest::prelude::*;

    fn read(line: &str) -> Option<Command> {
        super::super::parse(&format!("/{line}"))
    }

    #[test]
    fn lines_and_what_they_mean() {
        let twelve = ProposalId(12);
        let (hash, nothing) = ("a3f9c21b".to_owned(), String::new());
        for (line, command) in [
            ("pending", Command::Read(Query::Pending)),
            ("pending now", Command::Read(Query::Pending)),
            ("show 12", Command::Read(Query::Proposal(twelve))),
            (
                "approve 12 a3f9c21b",
                Command::Act(Action::Approve { proposal: twelve, hash: hash.clone(), word: nothing.clone() }),
            ),
            (
                "approve 12  `a3f9c21b`",
                Command::Act(Action::Approve { proposal: twelve, hash: hash.clone(), word: nothing.clone() }),
            ),
            (
                "approve 12",
                Command::Act(Action::Approve { proposal: twelve, hash: nothing.clone(), word: nothing.clone() }),
            ),
            ("reject 12", Command::Act(Action::Reject { proposal: twelve, why: nothing.clone() })),
            (
                "reject 12 not  like this",
                Command::Act(Action::Reject { proposal: twelve, why: "not  like this".to_owned() }),
            ),
            ("why 12", Command::Read(Query::ProposalOrigin(twelve))),
            ("why", Command::Read(Query::AnswerOrigin)),
            ("why memory/tea.md", Command::Read(Query::Origin("memory/tea.md".to_owned()))),
            ("why My Cat", Command::Read(Query::Origin("My Cat".to_owned()))),
            ("why fact My Cat", Command::Read(Query::FactOrigin("My Cat".to_owned()))),
            ("why fact", Command::Read(Query::Origin("fact".to_owned()))),
            ("skills", Command::Read(Query::Skills)),
            (
                "skills accept tea",
                Command::Act(Action::AcceptSkill {
                    name: "tea".to_owned(),
                    hash: nothing.clone(),
                    word: nothing.clone(),
                }),
            ),
            (
                "skills accept My Tea  a3f9c21b",
                Command::Act(Action::AcceptSkill {
                    name: "My Tea".to_owned(),
                    hash: hash.clone(),
                    word: nothing.clone(),
                }),
            ),
            (
                "skills accept My Tea a3f9c21b sends",
                Command::Act(Action::AcceptSkill { name: "My Tea".to_owned(), hash, word: "sends".to_owned() }),
            ),
            (
                "skills accept a3f9c21b",
                Command::Act(Action::AcceptSkill {
                    name: "a3f9c21b".to_owned(),
                    hash: nothing.clone(),
                    word: nothing.clone(),
                }),
            ),
            ("skills accept", Command::Read(Query::Skills)),
            ("history tea", Command::Read(Query::SkillHistory("tea".to_owned(), NEWEST_VERSIONS))),
            (
                "history My Tea before 7",
                Command::Read(Query::SkillHistory(
                    "My Tea".to_owned(),
                    PageRequest { before: Some(7), ..NEWEST_VERSIONS },
                )),
            ),
            ("skills show My Tea", Command::Read(Query::Skill("My Tea".to_owned()))),
            ("skills show My Tea 7", Command::Read(Query::SkillVersion("My Tea".to_owned(), VersionNumber(7)))),
            (
                "skills diff My Tea 5 7",
                Command::Read(Query::SkillComparison("My Tea".to_owned(), [VersionNumber(5), VersionNumber(7)])),
            ),
            ("skills diff tea 5", Command::Read(Query::Skills)),
            ("rollback tea 7", Command::Act(Action::RollBack { name: "tea".to_owned(), version: VersionNumber(7) })),
            (
                "rollback My Tea  7",
                Command::Act(Action::RollBack { name: "My Tea".to_owned(), version: VersionNumber(7) }),
            ),
        ] {
            assert_eq!(read(line), Some(command), "{line:?}");
        }
        for line in [
            "show",
            "show 12 13",
            "show -12",
            "show 99999999999999999999",
            "approve a3f9c21b",
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
            for word in ["", "sends"] {
                let (proposal, word) = (ProposalId(id), word.to_owned());
                let approve = Command::Act(Action::Approve { proposal, hash: hash.clone(), word: word.clone() });
                prop_assert_eq!(read(&format!("approve {id} {hash} {word}")), Some(approve));
            }
            prop_assert_eq!(read(&format!("why {id}")), Some(Command::Read(Query::ProposalOrigin(ProposalId(id)))));
        }
    }
}

#[cfg(test)]
mod memory_tests {
    use super::super::{SearchQuery, parse};
    use super::*;

    #[test]
    fn lines_and_what_they_mean() {
        let note = |note: &str| note.to_owned();
        for (line, meant) in [
            ("/memory", Command::Read(Query::Memory)),
            ("/memory tea", Command::Read(Query::Note(note("tea")))),
            ("/memory edit", Command::Read(Query::WhereToEdit)),
            ("/memory EDIT tea", Command::Read(Query::WhereToEdit)),
            ("/memory edit.md", Command::Read(Query::Note(note("edit.md")))),
            (
                "/memory search --case Tea",
                Command::Read(Query::SearchMemory(SearchQuery { case: true, limit: 8, ..SearchQuery::of("Tea") })),
            ),
            ("/memory search.md", Command::Read(Query::Note(note("search.md")))),
            ("/memory history tea", Command::Read(Query::NoteHistory(note("tea"), NEWEST_VERSIONS))),
            (
                "/memory history green tea before 12",
                Command::Read(Query::NoteHistory(
                    note("green tea"),
                    PageRequest { before: Some(12), ..NEWEST_VERSIONS },
                )),
            ),
            ("/memory show tea", Command::Read(Query::Note(note("tea")))),
            (
                "/memory show green tea 12",
                Command::Read(Query::NoteVersion {
                    note: note("green tea"),
                    version: FileId(12),
                    named: Some(Box::new(Query::Note(note("green tea 12")))),
                }),
            ),
            (
                "/memory diff green tea 9 12",
                Command::Read(Query::NoteComparison(note("green tea"), [FileId(9), FileId(12)])),
            ),
            (
                "/memory history green tea 12",
                Command::Read(Query::NoteVersion {
                    note: note("green tea"),
                    version: FileId(12),
                    named: Some(Box::new(Query::NoteHistory(note("green tea 12"), NEWEST_VERSIONS))),
                }),
            ),
            ("/memory restore a b 12", Command::Act(Action::RestoreNote { note: note("a b"), version: FileId(12) })),
            ("/remember Cat: Tom\nDog: Rex", Command::Act(Action::Remember(note("Cat: Tom\nDog: Rex")))),
            ("/promote tea", Command::Act(Action::Promote { note: note("tea"), code: note("") })),
            ("/promote tea `0a1b2c3d`", Command::Act(Action::Promote { note: note("tea"), code: note("0a1b2c3d") })),
        ] {
            assert_eq!(parse(line), Some(meant), "{line}");
        }
        for line in [
            "/memory search",
            "/memory history",
            "/memory diff tea 12",
            "/memory diff 9 12",
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
