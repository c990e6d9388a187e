//! Parser for the words of the command line, as passed through the local socket.
//!
//! The typed program has checked the flags. Words that make no sense here come from another version
//! of the program.

use std::path::Path;

use super::arguments::{self, kind_of};
use super::{Action, BrowserChange, Command, ForgetStep, NameMeans, Query, ReflectionRequest, SourceMessages};
use crate::admin::files::{FilesRequest, read_place};
use crate::admin::imports::ImportRequest;
use crate::admin::paging::{PageRequest, RemindersPart};
use crate::admin::search::SearchQuery;
use crate::admin::transcript::TranscriptPart;
use crate::id::{
    AddressId, ConversationId, FileId, ImportId, MessageId, OutboxId, PersonId, ProposalId, ReminderId, StrangerId,
    VersionNumber,
};
use crate::memory::{FileOrder, FolderPart};
use crate::people::Role;
use crate::store::ConversationKind;
use crate::tool::marks::WantedMarks;

/// Default number of items on a page.
const DEFAULT_LIMIT: u32 = 20;
/// Default number of files on a page.
const FILES: usize = 100;

/// Parses the words of the command line; `None` if they are invalid.
pub fn parse_words(words: &[&str]) -> Option<Command> {
    query(words).map(Command::Read).or_else(|| action(words).map(Command::Act))
}

fn query(words: &[&str]) -> Option<Query> {
    Some(match words {
        ["status"] => Query::Status,
        ["usage"] => Query::Usage,
        ["model"] => Query::Models,
        ["tools", "list"] => Query::Tools,
        ["knowledge"] => Query::Knowledge,
        ["reminders", "list"] => Query::Reminders(RemindersPart::page(None)),
        ["reminders", "list", "--after", place] => Query::Reminders(RemindersPart::page(Some(place.parse().ok()?))),
        ["reflections", "list", page @ ..] => Query::Reflections(page_of(page)?),
        ["reflections", "show", wanted] => Query::Reflection(text(wanted)),
        ["conversations", "list", "--kind", kind, page @ ..] => Query::Conversations(kind_of(kind)?, page_of(page)?),
        ["conversations", "list", page @ ..] => Query::Conversations(Some(ConversationKind::Chat), page_of(page)?),
        ["conversations", "show", id] => Query::Conversation(ConversationId(number(id)?), TranscriptPart::Whole),
        ["conversations", "show", id, "--at", message] => {
            Query::Conversation(ConversationId(number(id)?), TranscriptPart::Around(MessageId(number(message)?)))
        }
        ["files", request @ ..] => Query::Files(files(request)?),
        ["search", query @ ..] => Query::Search(SearchQuery::read(query)?),
        ["import", "list"] => Query::Imports,
        ["import", "survey", path, flags @ ..] => Query::Archive(archive(path, flags)?),
        ["people", "list", page @ ..] => Query::People(page_by(page, |place| place.parse().ok())?),
        ["people", "strangers", page @ ..] => Query::Strangers(page_by(page, |place| place.parse().ok())?),
        ["people", "former", name] => Query::FormerPeople(text(name)),
        ["people", "hand-over", name] => Query::HandOverPlan(text(name)),
        ["review", "list"] => Query::PendingProposals,
        ["review", "list", "--all", page @ ..] => Query::Proposals(page_of(page)?),
        ["review", "why", of @ ..] => arguments::why(&of.join(" ")),
        ["review", "show", id] => Query::Proposal(ProposalId(number(id)?)),
        ["skills", "list"] => Query::Skills,
        ["skills", "show", name] => Query::Skill(text(name)),
        ["skills", "show", name, version] => Query::SkillVersion(text(name), VersionNumber(number(version)?)),
        ["skills", "diff", name, old, new] => {
            Query::SkillComparison(text(name), [VersionNumber(number(old)?), VersionNumber(number(new)?)])
        }
        ["skills", "history", name, page @ ..] => Query::SkillHistory(text(name), page_of(page)?),
        ["memory"] => Query::Memory,
        ["memory", "profiles"] => Query::AgentMemories,
        ["memory", "show", note] => Query::Note(text(note)),
        ["memory", "search", query @ ..] => Query::SearchMemory(SearchQuery::read(query)?),
        ["memory", "show" | "history", note, version] if number(version).is_some() => {
            Query::NoteVersion { note: text(note), version: FileId(number(version)?), named: None }
        }
        ["memory", "diff", note, old, new] => {
            Query::NoteComparison(text(note), [FileId(number(old)?), FileId(number(new)?)])
        }
        ["memory", "history", note, page @ ..] => Query::NoteHistory(text(note), page_of(page)?),
        ["memory", "place", person, note] => Query::NoteToEdit { person: text(person), note: text(note) },
        _ => return None,
    })
}

fn action(words: &[&str]) -> Option<Action> {
    Some(match words {
        ["model", "forget-learned"] => Action::ForgetLearned,
        ["model", name] => Action::PreferModel((*name).to_owned()),
        ["resend"] => Action::Resend(None),
        ["resend", id] => Action::Resend(Some(OutboxId(number(id)?))),
        ["reminders", "cancel", id] => Action::CancelReminder(ReminderId(number(id)?)),
        ["reflect", request @ ..] => Action::Reflect(ReflectionRequest::read(request.iter().copied())?),
        ["tools", "accept", name, hash, rest @ ..] => {
            let (word, marks) = match rest {
                [word, marks @ ..] if !word.starts_with("--") => (*word, marks),
                marks => ("", marks),
            };
            Action::AcceptTool { name: text(name), hash: text(hash), word: text(word), marks: wanted_marks(marks)? }
        }
        ["knowledge", "--mend"] => Action::RepairKnowledge,
        ["web"] => Action::Browsers(BrowserChange::SignIn(None)),
        ["web", "--as", name] => Action::Browsers(BrowserChange::SignIn(Some(text(name)))),
        ["web", "--end-all"] => Action::Browsers(BrowserChange::EndAll(None)),
        ["web", "--end-all", "--as", name] => Action::Browsers(BrowserChange::EndAll(Some(text(name)))),
        ["people", "claim"] => Action::Claim,
        ["people", "pair", name, role, means @ ..] => {
            let role = role.parse::<Role>().ok().filter(|role| *role != Role::Guest)?;
            let means = match means {
                [] => None,
                ["--new"] => Some(NameMeans::SomebodyNew),
                ["--same-as", id] => Some(NameMeans::Former(PersonId(number(id)?))),
                _ => return None,
            };
            Action::Pair { name: text(name), role, means }
        }
        ["people", "remove", name] => Action::Remove(text(name)),
        ["people", "unlink", id] => Action::Unlink(AddressId(number(id)?)),
        ["people", "admit", id, name, role] => {
            let role = role.parse::<Role>().ok().filter(|role| *role != Role::Guest)?;
            Action::AdmitStranger { stranger: StrangerId(number(id)?), name: text(name), role }
        }
        ["people", "ignore", id] => Action::IgnoreStranger(StrangerId(number(id)?)),
        ["people", "join", id] => Action::Join(PersonId(number(id)?)),
        ["people", "apart", id] => Action::Apart(PersonId(number(id)?)),
        ["people", "hand-over", name, "--yes"] => Action::HandOver(text(name)),
        ["review", "approve", id, hash, word @ ..] if word.len() < 2 => {
            Action::Approve { proposal: ProposalId(number(id)?), hash: text(hash), word: word.concat() }
        }
        ["review", "reject", id, why] => Action::Reject { proposal: ProposalId(number(id)?), why: text(why) },
        ["skills", "accept", name] => {
            Action::AcceptSkill { name: text(name), hash: String::new(), word: String::new() }
        }
        ["skills", "accept", name, hash, word @ ..] if word.len() < 2 => {
            Action::AcceptSkill { name: text(name), hash: text(hash), word: word.concat() }
        }
        ["skills", "rollback", name, id] => Action::RollBack { name: text(name), version: VersionNumber(number(id)?) },
        ["skills", "import", path, name] if Path::new(path).is_absolute() => {
            Action::ImportSkill { path: text(path), name: text(name) }
        }
        ["skills", "promote", note] => Action::SkillFromNote { note: text(note), name: None },
        ["skills", "promote", note, name] => Action::SkillFromNote { note: text(note), name: Some(text(name)) },
        ["memory", "promote", note] => Action::Promote { note: text(note), code: String::new() },
        ["memory", "promote", note, code] => Action::Promote { note: text(note), code: text(code) },
        ["memory", "profile", name, state @ ("on" | "off")] => {
            Action::SwitchMemory { name: text(name), on: *state == "on" }
        }
        ["memory", "restore", note, id] => Action::RestoreNote { note: text(note), version: FileId(number(id)?) },
        ["memory", "edited", person, path, base, edited] => {
            Action::NoteEdited { person: text(person), path: text(path), base: text(base), text: text(edited) }
        }
        ["memory", "forget", note, flags @ ..] if flags.iter().all(|flag| ["--messages", "--yes"].contains(flag)) => {
            let messages = if flags.contains(&"--messages") { SourceMessages::Delete } else { SourceMessages::Keep };
            let step = if flags.contains(&"--yes") { ForgetStep::Execute } else { ForgetStep::Plan };
            Action::Forget { name: text(note), messages, step }
        }
        ["forget", name, "--yes"] => Action::ForgetPerson(text(name)),
        ["import", "read", path, flags @ ..] => Action::Import(archive(path, flags)?),
        ["import", "remove", id] => Action::RemoveImport(ImportId(number(id)?)),
        ["export", name, file] if Path::new(file).is_absolute() => {
            Action::ExportTo { name: text(name), file: text(file) }
        }
        _ => return None,
    })
}

/// Parses the path of an archive and the flags after it.
fn archive(path: &str, mut flags: &[&str]) -> Option<ImportRequest> {
    let mut request = ImportRequest { path: Path::new(path).to_owned(), ..ImportRequest::default() };
    loop {
        flags = match flags {
            [] => return request.path.is_absolute().then_some(request),
            ["--kind", kind, rest @ ..] => {
                request.kind = Some(kind.parse().ok()?);
                rest
            }
            ["--as", person, rest @ ..] => {
                request.person = text(person);
                rest
            }
            ["--embed", rest @ ..] => {
                request.may_embed = true;
                rest
            }
            _ => return None,
        };
    }
}

fn text(word: &str) -> String {
    word.to_owned()
}

fn number(word: &str) -> Option<i64> {
    word.parse().ok()
}

/// Parses `[--limit N] [--sort ORDER] [--after PLACE] [-- FOLDER]`.
fn files(mut words: &[&str]) -> Option<FilesRequest> {
    let mut part = FolderPart { order: FileOrder::Name, after: String::new(), limit: FILES };
    loop {
        words = match words {
            [] => return Some(FilesRequest { path: String::new(), part }),
            ["--", path] => return Some(FilesRequest { path: text(path), part }),
            ["--limit", limit, rest @ ..] => {
                part.limit = limit.parse().ok()?;
                rest
            }
            ["--sort", order, rest @ ..] => {
                part.order = order.parse().ok()?;
                rest
            }
            ["--after", place, rest @ ..] => {
                part.after = read_place(place);
                rest
            }
            _ => return None,
        };
    }
}

/// Parses `[--limit N] [--before N]`.
fn page_of(words: &[&str]) -> Option<PageRequest> {
    page_by(words, number)
}

/// Like [`page_of`], in a list whose places `read` reads.
fn page_by<P>(mut words: &[&str], read: impl Fn(&str) -> Option<P>) -> Option<PageRequest<P>> {
    let mut page = PageRequest::newest(DEFAULT_LIMIT);
    loop {
        words = match words {
            [] => return Some(page),
            ["--limit", limit, rest @ ..] => {
                page.limit = limit.parse().ok()?;
                rest
            }
            ["--before", before, rest @ ..] => {
                page.before = Some(read(before)?);
                rest
            }
            _ => return None,
        };
    }
}

/// Parses `[--destination ARGUMENT]… [--content ARGUMENT]… [--choice ARGUMENT]… [--search]`.
fn wanted_marks(mut words: &[&str]) -> Option<WantedMarks> {
    let mut wanted = WantedMarks::default();
    loop {
        words = match words {
            [] => return Some(wanted),
            ["--search", rest @ ..] => {
                wanted.search = true;
                rest
            }
            [flag, place, rest @ ..] => {
                wanted.arguments.push((text(place), flag.strip_prefix("--")?.parse().ok()?));
                rest
            }
            _ => return None,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admin::SearchKind;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_question_stays_as_it_was_typed(query in "\\PC{1,30}", limit in 0_u32..500) {
            let limit_word = limit.to_string();
            let sought = SearchQuery::read(&["--limit", &limit_word, "--in", "messages", "--case", "--context", "2", "--", &query]);
            let kinds = vec![SearchKind::Message];
            let limit = usize::try_from(limit).unwrap();
            prop_assert_eq!(sought, Some(SearchQuery { limit, kinds, case: true, context: 2, ..SearchQuery::of(&query) }));
        }
    }
}
