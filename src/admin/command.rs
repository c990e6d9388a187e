//! Chat commands: the list of commands, their arguments, and the parser.
//!
//! Pure and total: any text is either a command or a [`ParseError`]. The one table below is the
//! menu, the help, and the list that misspelt names are compared with; a test checks the parser
//! against it.

mod access;
mod gate;
mod looking;
mod memory;
mod parting;
mod seeking;

pub use access::{IsSame, Namesake, PeopleCommand};
pub use gate::Gate;
pub use looking::Looking;
pub use memory::Memory;
pub use parting::DataCommand;

use super::hand_over::Confirmation;
use super::search::SearchQuery;
use crate::id::{OutboxId, QuestionId, ReminderId};
use crate::people::Role;
use crate::wording::access as of_access;
use crate::wording::command as says;
use crate::wording::export as of_export;
use crate::wording::forget as of_forgetting;
use crate::wording::memory as of_memory;
use crate::wording::reminder_command as of_reminders;
use crate::wording::review_command as of_gate;
use crate::wording::schedule as of_time;

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
    Yes {
        /// The question, if named.
        question: Option<QuestionId>,
    },
    /// Answers a question with no. Takes effect on admission.
    No {
        /// The question, if named.
        question: Option<QuestionId>,
    },
    /// Shows the program's status.
    Status,
    /// Shows usage and cost of the models.
    Usage,
    /// Resends failed deliveries, if the argument is valid.
    Resend(Option<Resend>),
    /// Lists the caller's reminders.
    Reminders,
    /// Cancels one of the caller's reminders.
    CancelReminder {
        /// The reminder, if named.
        id: Option<ReminderId>,
    },
    /// Full-text search.
    Search(SearchQuery),
    /// Shows or changes access and addresses.
    People(PeopleCommand),
    /// Hands the root of the workspace over to another owner.
    HandOver {
        /// The new owner, if named.
        name: Option<String>,
        /// Confirmation; without it the command only explains the consequences.
        sure: Confirmation,
    },
    /// Creates a pairing code.
    Pair {
        /// The name of the new person.
        name: Option<String>,
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
    /// Runs a reflection now, if the argument is valid.
    Reflect(Option<Looking>),
    /// A command about proposals and skills.
    Gate(Gate),
    /// A command about the caller's memory.
    Memory(Memory),
    /// Deletes or exports data.
    Part(DataCommand),
}

/// The deliveries to resend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resend {
    /// All failed deliveries.
    All,
    /// One delivery.
    One(OutboxId),
}

/// Reason why a line is not a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ParseError {
    /// Unknown command.
    Unknown {
        /// The typed name, without the slash.
        name: String,
        /// The most similar existing name, if one is similar enough.
        near: Option<&'static str>,
    },
    /// Known command with invalid arguments.
    Usage {
        /// The correct usage.
        how: String,
    },
}

/// One line of the menu.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MenuEntry {
    /// Name, without the slash.
    pub name: &'static str,
    /// Short description.
    pub does: &'static str,
    /// The lowest role that may use it.
    pub role: Role,
}

const fn everyone(name: &'static str, does: &'static str) -> MenuEntry {
    MenuEntry { name, does, role: Role::Member }
}

const fn owner(name: &'static str, does: &'static str) -> MenuEntry {
    MenuEntry { name, does, role: Role::Owner }
}

const MENU: &[MenuEntry] = &[
    everyone("help", says::DOES_HELP),
    everyone("new", says::DOES_NEW),
    everyone("stop", says::DOES_STOP),
    everyone("yes", says::DOES_YES),
    everyone("no", says::DOES_NO),
    everyone("status", says::DOES_STATUS),
    everyone("usage", says::DOES_USAGE),
    everyone("resend", says::DOES_RESEND),
    everyone("memory", of_memory::DOES_MEMORY),
    everyone("remember", of_memory::DOES_REMEMBER),
    everyone("promote", of_memory::DOES_PROMOTE),
    everyone("reminders", of_reminders::DOES),
    everyone("forget", of_forgetting::DOES),
    everyone("export", of_export::DOES),
    everyone("whoami", says::DOES_WHOAMI),
    everyone("link", says::DOES_LINK),
    owner("pending", of_gate::DOES_PENDING),
    owner("show", of_gate::DOES_SHOW),
    owner("approve", of_gate::DOES_APPROVE),
    owner("reject", of_gate::DOES_REJECT),
    owner("why", of_gate::DOES_WHY),
    owner("skills", of_gate::DOES_SKILLS),
    owner("history", of_gate::DOES_HISTORY),
    owner("rollback", of_gate::DOES_ROLLBACK),
    owner("reflect", of_time::DOES_REFLECT),
    owner("search", says::DOES_SEARCH),
    owner("model", says::DOES_MODEL),
    owner("people", says::DOES_PEOPLE),
    owner("pair", says::DOES_PAIR),
    owner("remove", says::DOES_REMOVE),
];

/// The menu, commands for everyone first.
pub fn menu() -> &'static [MenuEntry] {
    MENU
}

impl ChatCommand {
    /// The lowest role that may give the command.
    pub fn role(&self) -> Role {
        match self {
            Self::Start
            | Self::Help
            | Self::Whoami
            | Self::Link
            | Self::New
            | Self::Stop
            | Self::Yes { .. }
            | Self::No { .. }
            | Self::Status
            | Self::Reminders
            | Self::CancelReminder { .. }
            | Self::Memory(_)
            | Self::Part(_)
            | Self::Resend(_)
            | Self::Usage => Role::Member,
            Self::Search(_)
            | Self::People(_)
            | Self::HandOver { .. }
            | Self::Pair { .. }
            | Self::PairAgain(_)
            | Self::Remove { .. }
            | Self::Model { .. }
            | Self::Reflect(_)
            | Self::Gate(_) => Role::Owner,
        }
    }
}

/// Parses a line of chat.
///
/// # Errors
/// If the line is not a command, or is incomplete.
pub fn parse(text: &str) -> Result<ChatCommand, ParseError> {
    let (first, rest) = first_word(text);
    let typed = first.strip_prefix('/').unwrap_or(first);
    // In a group's menu Telegram writes `/new@name_of_bot`.
    let typed = typed.split_once('@').map_or(typed, |(name, _)| name);
    let name = typed.to_lowercase();
    if !first.starts_with('/') {
        return Err(unknown(typed));
    }
    match name.as_str() {
        "start" => Ok(ChatCommand::Start),
        "help" => Ok(ChatCommand::Help),
        "whoami" => Ok(ChatCommand::Whoami),
        "link" => Ok(ChatCommand::Link),
        // Words after the command would be lost.
        "new" | "reset" if !rest.is_empty() => Err(usage(says::HOW_NEW)),
        "new" | "reset" => Ok(ChatCommand::New),
        "stop" => Ok(ChatCommand::Stop),
        "yes" => Ok(ChatCommand::Yes { question: question(rest) }),
        "no" => Ok(ChatCommand::No { question: question(rest) }),
        "status" => Ok(ChatCommand::Status),
        "usage" => Ok(ChatCommand::Usage),
        "resend" if rest.is_empty() => Ok(ChatCommand::Resend(Some(Resend::All))),
        "resend" => Ok(ChatCommand::Resend(rest.parse().ok().map(|id| Resend::One(OutboxId(id))))),
        "reminders" => Ok(reminders(rest)),
        "search" => seeking::read(rest).map(ChatCommand::Search).ok_or_else(|| usage(says::HOW_SEARCH)),
        "reflect" => Ok(ChatCommand::Reflect(Looking::read(rest.split_whitespace()))),
        "people" => people(rest).ok_or_else(|| usage(of_access::HOW_PEOPLE)),
        "pair" if code_in(text).is_some() => Ok(ChatCommand::Start),
        "pair" if rest.starts_with('#') => {
            access::namesake(rest).map(ChatCommand::PairAgain).ok_or_else(|| usage(of_access::HOW_PAIR_AGAIN))
        }
        "pair" => Ok(pair(rest)),
        "remove" if rest.is_empty() => Err(usage(says::HOW_REMOVE)),
        "remove" => Ok(ChatCommand::Remove { name: rest.to_owned() }),
        "model" => Ok(ChatCommand::Model { name: Some(rest.to_owned()).filter(|name| !name.is_empty()) }),
        name => {
            let of_memory = memory::parse(name, rest).map(ChatCommand::Memory);
            let of_parting = || parting::parse(name, rest).map(ChatCommand::Part);
            of_memory
                .or_else(of_parting)
                .or_else(|| gate::parse(name, rest).map(ChatCommand::Gate))
                .ok_or_else(|| unknown(typed))
        }
    }
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

/// Parses `/pair`. A last word that names a role is the role; a guest cannot be given access.
fn pair(rest: &str) -> ChatCommand {
    let (name, last) = rest.rsplit_once(char::is_whitespace).unwrap_or(("", rest));
    let role = Role::parse(&last.to_lowercase()).filter(|role| *role != Role::Guest);
    let (name, role) = role.map_or((rest, Role::Member), |role| (name.trim_end(), role));
    ChatCommand::Pair { name: Some(name.to_owned()).filter(|name| !name.is_empty()), role }
}

/// Parses `handover` and a name, with an optional last word `yes` as confirmation, or anything that
/// [`access`] parses.
fn people(rest: &str) -> Option<ChatCommand> {
    let (verb, name) = first_word(rest);
    if !["handover", "hand-over"].contains(&verb.to_lowercase().as_str()) {
        return access::people(rest).map(ChatCommand::People);
    }
    let (begin, last) = name.rsplit_once(char::is_whitespace).unwrap_or((name, ""));
    let (name, sure) = if last.eq_ignore_ascii_case("yes") {
        (begin.trim_end(), Confirmation::Yes)
    } else {
        (name, Confirmation::NotYet)
    };
    Some(ChatCommand::HandOver { name: Some(name.to_owned()).filter(|name| !name.is_empty()), sure })
}

/// Parses an empty argument, or `cancel` and a number.
fn reminders(rest: &str) -> ChatCommand {
    let (verb, number) = first_word(rest);
    match verb.to_lowercase().as_str() {
        "" => ChatCommand::Reminders,
        "cancel" => ChatCommand::CancelReminder { id: number.parse().ok().map(ReminderId) },
        _ => ChatCommand::CancelReminder { id: None },
    }
}

/// Parses the number of a question, with nothing after it.
fn question(rest: &str) -> Option<QuestionId> {
    rest.parse().ok().map(QuestionId)
}

fn first_word(text: &str) -> (&str, &str) {
    let text = text.trim();
    let (first, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    (first, rest.trim())
}

fn usage(how: &str) -> ParseError {
    ParseError::Usage { how: how.to_owned() }
}

fn unknown(typed: &str) -> ParseError {
    let name = crate::text::shorten(typed, 40);
    let like = |entry: &MenuEntry| strsim::normalized_damerau_levenshtein(&name.to_lowercase(), entry.name);
    let near = MENU
        .iter()
        .map(|entry| (like(entry), entry.name))
        .filter(|(likeness, _)| *likeness >= 0.5)
        .max_by(|one, other| one.0.total_cmp(&other.0))
        .map(|(_, name)| name);
    ParseError::Unknown { name, near }
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
        ChatCommand::HandOver { name: Some(name.to_owned()), sure }
    }

    fn pairing(name: Option<&str>, role: Role) -> ChatCommand {
        ChatCommand::Pair { name: name.map(str::to_owned), role }
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
            ("/pair", pairing(None, Role::Member)),
            ("/pair owner", pairing(None, Role::Owner)),
            ("/pair Ben", pairing(Some("Ben"), Role::Member)),
            ("/pair Ben OWNER", pairing(Some("Ben"), Role::Owner)),
            ("/pair Ben guest", pairing(Some("Ben guest"), Role::Member)),
            ("/pair Ben the Elder member", pairing(Some("Ben the Elder"), Role::Member)),
            ("/pair #3 member same", again(3, Role::Member, IsSame::Yes)),
            ("/Pair@compline_bot #12  OWNER new", again(12, Role::Owner, IsSame::No)),
            ("/people", ChatCommand::People(PeopleCommand::List)),
            ("/people unlink 12", ChatCommand::People(PeopleCommand::Unlink(AddressId(12)))),
            ("/people remove 2", ChatCommand::People(PeopleCommand::Remove(PersonId(2)))),
            ("/people JOIN 5", ChatCommand::People(PeopleCommand::Join(PersonId(5)))),
            ("/people apart 5", ChatCommand::People(PeopleCommand::Apart(PersonId(5)))),
            ("/people handover", ChatCommand::HandOver { name: None, sure: Confirmation::NotYet }),
            ("/people handover Carl", handing_over("Carl", Confirmation::NotYet)),
            ("/people Hand-Over Carl the Elder YES", handing_over("Carl the Elder", Confirmation::Yes)),
            ("/remove Ben", ChatCommand::Remove { name: "Ben".to_owned() }),
            ("/model", ChatCommand::Model { name: None }),
            ("/resend", ChatCommand::Resend(Some(Resend::All))),
            ("/resend 12", ChatCommand::Resend(Some(Resend::One(OutboxId(12))))),
            ("/resend all", ChatCommand::Resend(None)),
            ("/yes 12", ChatCommand::Yes { question: Some(QuestionId(12)) }),
            ("/NO@compline_bot  3 ", ChatCommand::No { question: Some(QuestionId(3)) }),
            ("/yes", ChatCommand::Yes { question: None }),
            ("/yes 1 2", ChatCommand::Yes { question: None }),
            ("/yes please", ChatCommand::Yes { question: None }),
            ("/reminders", ChatCommand::Reminders),
            ("/Reminders@compline_bot CANCEL  7 ", ChatCommand::CancelReminder { id: Some(ReminderId(7)) }),
            ("/reminders tomorrow", ChatCommand::CancelReminder { id: None }),
            ("/reminders cancel 1 2", ChatCommand::CancelReminder { id: None }),
            ("/model small", ChatCommand::Model { name: Some("small".to_owned()) }),
        ];
        for (line, command) in cases {
            assert_eq!(parse(line), Ok(command), "{line:?}");
        }
    }

    #[test]
    fn lines_that_lack_something() {
        for (line, how) in [
            ("/search", says::HOW_SEARCH),
            ("/search --in dreams red", says::HOW_SEARCH),
            ("/remove@bot ", says::HOW_REMOVE),
            ("/new what about tomorrow", says::HOW_NEW),
            ("/people unlink", of_access::HOW_PEOPLE),
            ("/people join Ada", of_access::HOW_PEOPLE),
            ("/pair #3", of_access::HOW_PAIR_AGAIN),
            ("/pair #3 guest same", of_access::HOW_PAIR_AGAIN),
            ("/pair #x member same", of_access::HOW_PAIR_AGAIN),
        ] {
            assert_eq!(parse(line), Err(usage(how)), "{line:?}");
        }
        for (line, name, near) in [
            ("/serach red", "serach", Some("search")),
            ("/stat", "stat", Some("status")),
            ("/xyzzy", "xyzzy", None),
            ("/", "", None),
            ("help", "help", Some("help")),
        ] {
            assert_eq!(parse(line), Err(ParseError::Unknown { name: name.to_owned(), near }), "{line:?}");
        }
    }

    #[test]
    fn the_menu_is_what_the_parser_knows() {
        for entry in menu() {
            let command = parse(&format!("/{} something", entry.name)).or_else(|_| parse(&format!("/{}", entry.name)));
            assert_eq!(command.map(|command| command.role()), Ok(entry.role), "{}", entry.name);
            assert!(!entry.does.is_empty() && entry.does.chars().count() <= 60, "{}", entry.does);
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
            if let Err(ParseError::Unknown { name, .. }) = parse(&text) {
                prop_assert!(name.chars().count() <= 40);
            }
            if let Some(code) = code_in(&text) {
                prop_assert!(is_code(code) && text.contains(code));
            }
        }

        #[test]
        fn words_are_searched_for_as_typed(words in "-?[a-zäöü0-9'\"][a-zäöü0-9'\"-]{0,6}( [a-zäöü0-9]{1,8}){0,3}") {
            prop_assert_eq!(parse(&format!("/search {words}")), Ok(search(&words)));
        }
    }
}
