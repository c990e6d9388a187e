//! Chat commands: the meaning of a line of chat.
//!
//! Pure and total: any text is a command, a known command with invalid arguments, or unknown. What
//! is known of a command stands in its row of the [table](COMMANDS): the parser, the check of the
//! role, `/help`, the chat menu, the hint for a mistyped name, the command line's help and the list
//! in `docs/operating.md` read it there.

mod arguments;
mod search_flags;
mod table;

pub use arguments::{IsSame, MemoryCommand, Namesake, PeopleCommand, ReflectionRequest, ReviewCommand};
use arguments::{first_word, named};
pub use table::{COMMANDS, CommandRow, InGroup, help};

use super::search::SearchQuery;
use crate::id::{OutboxId, QuestionId, ReminderId};
use crate::people::Role;

/// Handling of messages in a deletion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SourceMessages {
    /// Messages are kept.
    Keep,
    /// Messages from which the note or fact was made are deleted.
    Delete,
}

/// A request to the program, not to the assistant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChatCommand {
    /// Telegram's Start button, or a pairing code, from a person who already has access.
    Start,
    /// Lists the commands.
    Help,
    /// Shows the caller's account.
    Whoami,
    /// Starts a new conversation with the next message. Takes effect on admission.
    New,
    /// Stops the running turn.
    Stop,
    /// Answers a question with yes. Takes effect on admission.
    Yes(QuestionId),
    /// Answers a question with no. Takes effect on admission.
    No(QuestionId),
    /// Shows the program's status.
    Status,
    /// Shows usage and cost of the models.
    Usage,
    /// Resends one failed delivery, or all.
    Resend(Option<OutboxId>),
    /// Lists the caller's reminders.
    Reminders,
    /// Cancels one of the caller's reminders.
    CancelReminder(ReminderId),
    /// Full-text search.
    Search(SearchQuery),
    /// Shows or changes access and addresses.
    People(PeopleCommand),
    /// Hands the root of the workspace over to another owner.
    HandOver {
        /// The new owner.
        name: String,
        /// Confirmation; without it the command only explains the consequences.
        sure: Confirmation,
    },
    /// Creates a pairing code.
    Pair {
        /// The name of the new person.
        name: String,
        /// The role of the new person.
        role: Role,
    },
    /// Creates a pairing code for the name of a removed person.
    PairAgain(Namesake),
    /// Creates a code that links another address to the caller's account.
    Link,
    /// Revokes a person's access.
    Remove {
        /// The person's name.
        name: String,
    },
    /// Shows the models, or sets the preferred one.
    Model {
        /// The preferred model.
        name: Option<String>,
    },
    /// Runs a reflection now.
    Reflect(ReflectionRequest),
    /// A command about proposals and skills.
    Review(ReviewCommand),
    /// A command about the caller's memory.
    Memory(MemoryCommand),
    /// Deletes a note or a fact.
    Forget {
        /// The note or fact, or the number of a deletion to continue.
        name: String,
        /// Handling of the messages.
        messages: SourceMessages,
    },
    /// Exports all data of the caller.
    Export,
}

/// Confirmation of a hand-over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Confirmation {
    /// Only explain the consequences.
    NotYet,
    /// Hand over.
    Yes,
}

/// A line that names no command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownCommand {
    /// The typed name, without the slash.
    pub name: String,
    /// The most similar name in the menu, if one is similar enough.
    pub near: Option<&'static str>,
}

/// Finds the row and the arguments of the command in a line of chat.
///
/// # Errors
/// If the line does not begin with a known command.
pub fn find(text: &str) -> Result<(&'static CommandRow, &str), UnknownCommand> {
    let (first, rest) = first_word(text);
    let typed = first.strip_prefix('/').unwrap_or(first);
    // In a group's menu Telegram writes `/new@name_of_bot`.
    let typed = typed.split_once('@').map_or(typed, |(name, _)| name);
    let is_command = first.starts_with('/');
    let name = if is_command && code_in(text).is_some() { "start".to_owned() } else { typed.to_lowercase() };
    let row = COMMANDS.iter().find(|row| row.is_named(&name)).filter(|_| is_command);
    row.map(|row| (row, rest)).ok_or_else(|| unknown(typed))
}

/// Parses a line of chat; `None` if the command is unknown or its arguments are invalid.
pub fn parse(text: &str) -> Option<ChatCommand> {
    let (row, arguments) = find(text).ok()?;
    row.parse(arguments)
}

/// The pairing code in a text that contains nothing else: `/start CODE`, `/pair CODE`, or the code
/// alone.
///
/// A code has the shape `ABCD-EFGH`, in the letters and digits of [`CODE_LETTERS`] and in either
/// case.
pub fn code_in(text: &str) -> Option<&str> {
    let (first, rest) = first_word(text);
    let code = if first.starts_with('/') {
        let name = first.split_once('@').map_or(first, |(name, _)| name);
        ["/start", "/pair"].iter().any(|known| name.eq_ignore_ascii_case(known)).then_some(rest)?
    } else {
        text.trim()
    };
    is_code(code).then_some(code)
}

/// The letters and digits of a pairing code. None can be mistaken for another (Crockford's base
/// 32).
pub const CODE_LETTERS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

fn is_code(word: &str) -> bool {
    word.len() == 9
        && word.bytes().enumerate().all(|(place, byte)| match place {
            4 => byte == b'-',
            _ => CODE_LETTERS.contains(&byte.to_ascii_uppercase()),
        })
}

/// Parses `#N ROLE same|new`, or a name with an optional last word as role; a guest cannot be given
/// access.
fn pair(rest: &str) -> Option<ChatCommand> {
    if rest.starts_with('#') {
        return arguments::namesake(rest).map(ChatCommand::PairAgain);
    }
    let (name, last) = rest.rsplit_once(char::is_whitespace).unwrap_or(("", rest));
    let role = last.to_lowercase().parse::<Role>().ok().filter(|role| *role != Role::Guest);
    let (name, role) = role.map_or((rest, Role::Member), |role| (name.trim_end(), role));
    named(name).map(|name| ChatCommand::Pair { name, role })
}

/// Parses `handover` and a name, with an optional last word `yes` as confirmation, or anything that
/// [`access`] parses.
fn people(rest: &str) -> Option<ChatCommand> {
    let (verb, name) = first_word(rest);
    if !["handover", "hand-over"].contains(&verb.to_lowercase().as_str()) {
        return arguments::people(rest).map(ChatCommand::People);
    }
    let (begin, last) = name.rsplit_once(char::is_whitespace).unwrap_or((name, ""));
    let (name, sure) = if last.eq_ignore_ascii_case("yes") {
        (begin.trim_end(), Confirmation::Yes)
    } else {
        (name, Confirmation::NotYet)
    };
    named(name).map(|name| ChatCommand::HandOver { name, sure })
}

/// Parses an empty argument, or `cancel` and a number.
fn reminders(rest: &str) -> Option<ChatCommand> {
    let (verb, number) = first_word(rest);
    match verb.to_lowercase().as_str() {
        "" => Some(ChatCommand::Reminders),
        "cancel" => number.parse().ok().map(|id| ChatCommand::CancelReminder(ReminderId(id))),
        _ => None,
    }
}

/// Parses an empty argument, or the number of a delivery.
fn resend(rest: &str) -> Option<ChatCommand> {
    let id = if rest.is_empty() { None } else { Some(OutboxId(rest.parse().ok()?)) };
    Some(ChatCommand::Resend(id))
}

/// Parses a note, with an optional last word `messages`.
fn forget(rest: &str) -> Option<ChatCommand> {
    let with_messages = rest.rsplit_once(char::is_whitespace).filter(|(_, last)| last.eq_ignore_ascii_case("messages"));
    let (name, messages) =
        with_messages.map_or((rest, SourceMessages::Keep), |(name, _)| (name.trim_end(), SourceMessages::Delete));
    named(name).map(|name| ChatCommand::Forget { name, messages })
}

/// Parses the number of a question, with nothing after it.
fn question(rest: &str) -> Option<QuestionId> {
    rest.parse().ok().map(QuestionId)
}

fn unknown(typed: &str) -> UnknownCommand {
    let name = crate::text::shorten(typed, 40);
    let like = |row: &CommandRow| strsim::normalized_damerau_levenshtein(&name.to_lowercase(), row.name);
    let near = COMMANDS
        .iter()
        .filter(|row| row.in_menu)
        .map(|row| (like(row), row.name))
        .filter(|(likeness, _)| *likeness >= 0.5)
        .max_by(|one, other| one.0.total_cmp(&other.0))
        .map(|(_, name)| name);
    UnknownCommand { name, near }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::{AddressId, PersonId};
    use proptest::prelude::*;

    fn search(words: &str) -> ChatCommand {
        ChatCommand::Search(SearchQuery { limit: 8, ..SearchQuery::of(words) })
    }

    fn again(person: i64, role: Role, is_same: IsSame) -> ChatCommand {
        ChatCommand::PairAgain(Namesake { person: PersonId(person), role, is_same })
    }

    fn handing_over(name: &str, sure: Confirmation) -> ChatCommand {
        ChatCommand::HandOver { name: name.to_owned(), sure }
    }

    fn pairing(name: &str, role: Role) -> ChatCommand {
        ChatCommand::Pair { name: name.to_owned(), role }
    }

    #[test]
    fn lines_and_what_they_mean() {
        let cases = [
            ("/help", ChatCommand::Help),
            ("/Link@compline_bot", ChatCommand::Link),
            ("/HELP", ChatCommand::Help),
            ("  /whoami \n", ChatCommand::Whoami),
            ("/new", ChatCommand::New),
            ("/reset", ChatCommand::New),
            ("/Reset@compline_bot", ChatCommand::New),
            ("/stop now", ChatCommand::Stop),
            ("/start", ChatCommand::Start),
            ("/start ABCD-EFGH", ChatCommand::Start),
            ("/pair abcd-efgh", ChatCommand::Start),
            ("/search@compline_bot  red  shoes ", search("red  shoes")),
            ("/search\nred", search("red")),
            ("/pair Ben", pairing("Ben", Role::Member)),
            ("/pair Ben OWNER", pairing("Ben", Role::Owner)),
            ("/pair Ben guest", pairing("Ben guest", Role::Member)),
            ("/pair Ben the Elder member", pairing("Ben the Elder", Role::Member)),
            ("/pair #3 member same", again(3, Role::Member, IsSame::Yes)),
            ("/Pair@compline_bot #12  OWNER new", again(12, Role::Owner, IsSame::No)),
            ("/people", ChatCommand::People(PeopleCommand::List)),
            ("/people unlink 12", ChatCommand::People(PeopleCommand::Unlink(AddressId(12)))),
            ("/people remove 2", ChatCommand::People(PeopleCommand::Remove(PersonId(2)))),
            ("/people JOIN 5", ChatCommand::People(PeopleCommand::Join(PersonId(5)))),
            ("/people apart 5", ChatCommand::People(PeopleCommand::Apart(PersonId(5)))),
            ("/people handover Carl", handing_over("Carl", Confirmation::NotYet)),
            ("/people Hand-Over Carl the Elder YES", handing_over("Carl the Elder", Confirmation::Yes)),
            ("/remove Ben", ChatCommand::Remove { name: "Ben".to_owned() }),
            ("/model", ChatCommand::Model { name: None }),
            ("/resend", ChatCommand::Resend(None)),
            ("/resend 12", ChatCommand::Resend(Some(OutboxId(12)))),
            ("/yes 12", ChatCommand::Yes(QuestionId(12))),
            ("/NO@compline_bot  3 ", ChatCommand::No(QuestionId(3))),
            ("/reminders", ChatCommand::Reminders),
            ("/Reminders@compline_bot CANCEL  7 ", ChatCommand::CancelReminder(ReminderId(7))),
            ("/model small", ChatCommand::Model { name: Some("small".to_owned()) }),
        ];
        for (line, command) in cases {
            assert_eq!(parse(line), Some(command), "{line:?}");
        }
    }

    #[test]
    fn a_last_word_asks_for_messages_too() {
        for (line, name, messages) in [
            ("/forget garden gate", "garden gate", SourceMessages::Keep),
            ("/forget garden gate  Messages", "garden gate", SourceMessages::Delete),
            ("/forget 7 messages", "7", SourceMessages::Delete),
            ("/forget messages", "messages", SourceMessages::Keep),
        ] {
            assert_eq!(parse(line), Some(ChatCommand::Forget { name: name.to_owned(), messages }), "{line}");
        }
        assert_eq!(parse("/export x"), Some(ChatCommand::Export));
    }

    #[test]
    fn lines_that_lack_something() {
        for (line, name) in [
            ("/search", "search"),
            ("/search --in dreams red", "search"),
            ("/remove@bot ", "remove"),
            ("/new what about tomorrow", "new"),
            ("/people unlink", "people"),
            ("/people join Ada", "people"),
            ("/people handover", "people"),
            ("/pair", "pair"),
            ("/pair owner", "pair"),
            ("/pair #3", "pair"),
            ("/pair #3 guest same", "pair"),
            ("/pair #x member same", "pair"),
            ("/resend all", "resend"),
            ("/yes", "yes"),
            ("/yes 1 2", "yes"),
            ("/yes please", "yes"),
            ("/reminders tomorrow", "reminders"),
            ("/reminders cancel 1 2", "reminders"),
            ("/forget", "forget"),
        ] {
            assert_eq!((parse(line), find(line).unwrap().0.name), (None, name), "{line:?}");
        }
        for (line, name, near) in [
            ("/serach red", "serach", Some("search")),
            ("/stat", "stat", Some("status")),
            ("/xyzzy", "xyzzy", None),
            ("/", "", None),
            ("help", "help", Some("help")),
        ] {
            assert_eq!(find(line).unwrap_err(), UnknownCommand { name: name.to_owned(), near }, "{line:?}");
        }
    }

    #[test]
    fn codes_alone_or_behind_two_commands() {
        for text in ["7KQ2-MX4D", " 7kq2-mx4d\n", "/start 7KQ2-MX4D", "/pair@bot 7kq2-mx4d", "/START 7KQ2-MX4D"] {
            assert_eq!(code_in(text).map(str::to_uppercase).as_deref(), Some("7KQ2-MX4D"), "{text:?}");
        }
        for text in
            ["7KQ2MX4D", "7KQ2-MX4", "7KQ2-MX4I", "7KQ2-MX4D please", "/new 7KQ2-MX4D", "/start", "7KQ2é-MX4", ""]
        {
            assert_eq!(code_in(text), None, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn every_text_has_an_answer(text in "\\PC{0,60}", slash in any::<bool>()) {
            let text = if slash { format!("/{text}") } else { text };
            if let Err(unknown) = find(&text) {
                prop_assert!(unknown.name.chars().count() <= 40);
            }
            if let Some(code) = code_in(&text) {
                prop_assert!(is_code(code) && text.contains(code));
            }
        }

        #[test]
        fn words_are_searched_for_as_typed(words in "-?[a-zäöü0-9'\"][a-zäöü0-9'\"-]{0,6}( [a-zäöü0-9]{1,8}){0,3}") {
            prop_assert_eq!(parse(&format!("/search {words}")), Some(search(&words)));
        }
    }
}
