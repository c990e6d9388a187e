//! The table of chat commands: all that is known of a command but its execution.

use super::arguments::{self, named};
use super::{Action, BrowserChange, Command, Query, ReflectionRequest, agenda_arguments, search_flags};
use crate::admin::files::FilesRequest;
use crate::people::Role;
use crate::wording::Language;
use crate::wording::command as says;
use RowParser::{Act, ByArguments, Read};

/// A chat command.
#[derive(Debug, Clone, Copy)]
pub struct CommandRow {
    /// Name, without the slash.
    pub name: &'static str,
    /// Other names, which neither `/help` nor the menu lists.
    pub aliases: &'static [&'static str],
    /// Lowest role that may use it.
    pub role: Role,
    /// Effect in a group.
    pub in_group: InGroup,
    /// The command of the command line that does the same, if any.
    pub command_line: Option<&'static str>,
    /// Form of the arguments; blank if there are none.
    pub arguments: &'static str,
    /// Description: a short imperative sentence.
    pub help: &'static str,
    /// Further help with invalid arguments.
    pub hint: Option<&'static str>,
    /// True if `/help` lists it.
    pub is_listed: bool,
    /// Lowest role whose menu lists it; `None` if it has to be typed.
    pub menu: Option<Role>,
    parser: RowParser,
}

/// Parser of the arguments. Its type tells whether the command reads or acts.
#[derive(Debug, Clone, Copy)]
enum RowParser {
    /// Every form of the command reads.
    Read(fn(&str) -> Option<Query>),
    /// Every form of the command acts.
    Act(fn(&str) -> Option<Action>),
    /// The arguments decide.
    ByArguments(fn(&str) -> Option<Command>),
}

/// Effect of a command that is given in a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InGroup {
    /// Acts on the group.
    ActsOnGroup,
    /// Answered in the caller's direct chat.
    AnsweredDirectly,
    /// Refused.
    Refused,
}

/// All commands, in the order in which they are listed.
pub const COMMANDS: &[CommandRow] = &[
    member("start", "[CODE]", "Greet the assistant", Read(|_| Some(Query::Start))).unlisted(),
    member("help", "", "List the commands", Read(|_| Some(Query::Help))).in_menu(),
    // Words after the command would be lost.
    member("new", "", "Start a new conversation", Act(|rest| rest.is_empty().then_some(Action::New)))
        .aliases(&["clear", "reset"])
        .in_group(InGroup::ActsOnGroup)
        .hint("then send your message separately")
        .in_menu(),
    member("stop", "", "Stop the current answer", Act(|_| Some(Action::Stop)))
        .aliases(&["cancel"])
        .in_group(InGroup::ActsOnGroup)
        .in_menu(),
    member("yes", "NUMBER", "Answer yes to a question", Act(arguments::yes))
        .in_group(InGroup::Refused)
        .hint("with the number of the question; 10 or new also covers further calls of an outside tool, with vary also of other content"),
    member("no", "NUMBER", "Answer no to a question", Act(|rest| arguments::question(rest).map(Action::No)))
        .in_group(InGroup::Refused)
        .hint("with the number of the question"),
    member("status", "", "Show state and remaining budget", Read(|_| Some(Query::Status)))
        .command_line("status")
        .in_menu_of(Role::Owner),
    member("usage", "", "Show use and cost of models", Read(|_| Some(Query::Usage)))
        .aliases(&["cost"])
        .command_line("usage"),
    member("resend", "[NUMBER]", "Resend failed deliveries", Act(arguments::resend)).command_line("resend"),
    member(
        "memory",
        "[NOTE | search WORDS | history NOTE [VERSION] | restore NOTE VERSION]",
        "Show, search and restore memory",
        ByArguments(arguments::memory),
    )
    .command_line("memory")
    .hint(
        "search also takes --agent NAME, --section HEADING, --category WORD, --since and --until DAY, --case and \
         --context LINES; show NOTE VERSION shows a version, and diff NOTE VERSION VERSION what changed between two; \
         profiles lists what other agents and profiles have learned, and profile NAME on|off switches it",
    )
    .in_menu(),
    member("remember", "TEXT", "Remember a text", Act(|rest| named(rest).map(Action::Remember))).in_menu(),
    member("promote", "NOTE [CODE]", "Trust a note from outside", Act(arguments::promote))
        .command_line("memory promote"),
    member("trust", "[NUMBER | off]", "Trust what you sent", ByArguments(arguments::trust))
        .hint("NUMBER is that of the list; off takes everything back"),
    member("reminders", "[cancel|done|later N]", "List or change reminders", ByArguments(agenda_arguments::reminders))
        .aliases(&["remind"])
        .command_line("reminders")
        .hint("to set one, ask for it in your own words, without a command; later sets one that has come again, in an hour")
        .in_menu(),
    member("open", "[done N]", "Show what is open", ByArguments(agenda_arguments::open_items)).hint(
        "also drop N, for what is no longer wanted; later N WHEN, without WHEN tomorrow; undo N opens a closed one again, \
         for thirty days; add TEXT",
    ),
    member("forget", "NOTE [messages]", "Delete a note or fact for good", Act(arguments::forget))
        .in_group(InGroup::ActsOnGroup)
        .command_line("memory forget")
        .hint(
            "NOTE is its name, the key of a fact, or all words of a line; it shows what goes and the code that deletes \
             it; \"messages\" also deletes the messages that it came from; /forget WORDS messages deletes what stands \
             in messages only",
        )
        .in_menu(),
    member("why", "[NOTE | KEY | NUMBER]", "Show where it is from", Read(|rest| Some(arguments::why(rest))))
        .command_line("review why"),
    member("conversations", "[KIND | NUMBER]", "List or show conversations", Read(arguments::conversations))
        .command_line("conversations")
        .hint(
            "KIND is chats, reflections, heartbeats, tasks, imported or all; before NUMBER lists older ones; the number of a \
             message after that of its conversation shows the part around it",
        ),
    member("export", "", "Export all your data", Act(|_| Some(Action::Export))).command_line("export"),
    member("files", "[FOLDER]", "List your files", Read(|rest| Some(Query::Files(FilesRequest::read(rest)))))
        .command_line("files")
        .hint("FOLDER after NAME lists what comes after NAME")
        .unlisted(),
    member("file", "PATH", "Send a file", Act(|rest| named(rest).map(Action::SendFile)))
        .hint("/files lists the paths")
        .unlisted(),
    member("whoami", "", "Show your role and addresses", Read(|_| Some(Query::Whoami))),
    member("settings", "[language CODE | timezone ZONE]", "Change language and time zone", ByArguments(arguments::settings)),
    member("web", "", "Open the page", Act(|_| Some(Action::Browsers(BrowserChange::SignIn(None)))))
        .command_line("web"),
    member("link", "", "Link another address", Act(|_| Some(Action::Link))),
    owner(
        "heartbeat",
        "[add TEXT | always TEXT | done N | open N | tidy]",
        "Show or change regular checks",
        ByArguments(agenda_arguments::heartbeat),
    )
    .hint("add is for something to do once, always for a standing instruction; tidy takes out what is ticked"),
    member("pending", "", "List what waits for you", Read(|_| Some(Query::Pending)))
        .command_line("review list")
        .in_menu(),
    owner(
        "show",
        "NUMBER",
        "Show a proposal in full",
        Read(|rest| arguments::proposal(rest).map(Query::Proposal)),
    )
    .command_line("review show")
    .hint("/pending lists the numbers"),
    owner("approve", "NUMBER HASH [WORD]", "Approve a proposal as shown", Act(arguments::approve))
        .command_line("review approve")
        .hint("/pending lists the numbers, and /show NUMBER gives the hash"),
    owner("reject", "NUMBER [REASON]", "Reject a proposal", Act(arguments::reject))
        .command_line("review reject")
        .hint("/pending lists the numbers"),
    owner(
        "skills",
        "[accept NAME [HASH]]",
        "List skills, or accept a held one",
        ByArguments(|rest| Some(arguments::skills(rest))),
    )
    .command_line("skills")
    .hint("show NAME [VERSION] shows a skill or a version of it, and diff NAME VERSION VERSION what changed between two")
    .in_menu(),
    owner("history", "NAME", "List the versions of a skill", Read(arguments::history))
        .command_line("skills history")
        .hint("/skills lists the names"),
    owner("rollback", "NAME VERSION", "Restore an earlier version of a skill", Act(arguments::roll_back))
        .command_line("skills rollback")
        .hint("/history NAME lists the versions"),
    owner(
        "reflect",
        "daily | weekly | monthly [PERIOD] [again]",
        "Reflect on a period now",
        Act(|rest| ReflectionRequest::read(rest.split_whitespace()).map(Action::Reflect)),
    )
    .command_line("reflect")
    .hint("PERIOD is like 2026-11-20, 2026-W47, 2026-11 or today; \"again\" repeats an existing reflection"),
    owner("reflections", "[PERIOD]", "List or show reflections", Read(|rest| Some(arguments::reflections(rest))))
        .command_line("reflections"),
    member(
        "search",
        "WORDS",
        "Search everything",
        Read(|rest| search_flags::read(rest).map(Query::Search)),
    )
    .command_line("search")
    .hint("it also takes --in messages|conversations|reflections|notes|files|skills, --category WORD, --since and --until DAY, --case and --context LINES"),
    owner(
        "model",
        "[NAME]",
        "Show the models, or prefer one",
        ByArguments(|rest| {
            Some(match named(rest) {
                None => Command::Read(Query::Models),
                Some(name) if name == "forget-learned" => Command::Act(Action::ForgetLearned),
                Some(name) => Command::Act(Action::PreferModel(name)),
            })
        }),
    )
    .command_line("model")
    .in_menu(),
    owner(
        "people",
        "[admit|ignore|unlink|remove|join|apart N, handover NAME]",
        "List or manage people",
        ByArguments(arguments::people),
    )
    .command_line("people")
    .in_menu(),
    owner("pair", "NAME [owner]", "Make a code for a person", Act(arguments::pair))
        .aliases(&["invite"])
        .command_line("people pair")
        .hint("if asked about the name, /pair #N member same or /pair #N member new")
        .in_menu(),
    owner("remove", "NAME", "Revoke the access of a person", Act(|rest| named(rest).map(Action::Remove)))
        .command_line("people remove"),
];

/// The description of a command, for another list that has the same command.
pub fn help(name: &str) -> &'static str {
    COMMANDS.iter().find(|row| row.name == name).map_or("", |row| row.help)
}

const fn member(name: &'static str, arguments: &'static str, help: &'static str, parser: RowParser) -> CommandRow {
    let (aliases, command_line, hint): (&[&str], _, _) = (&[], None, None);
    let (role, in_group, is_listed, menu) = (Role::Member, InGroup::AnsweredDirectly, true, None);
    CommandRow { name, aliases, role, in_group, command_line, arguments, help, hint, is_listed, menu, parser }
}

const fn owner(name: &'static str, arguments: &'static str, help: &'static str, parser: RowParser) -> CommandRow {
    // In a group another person may hold the phone, or read along.
    CommandRow { role: Role::Owner, in_group: InGroup::Refused, ..member(name, arguments, help, parser) }
}

impl CommandRow {
    const fn aliases(self, aliases: &'static [&'static str]) -> Self {
        Self { aliases, ..self }
    }

    const fn in_group(self, in_group: InGroup) -> Self {
        Self { in_group, ..self }
    }

    const fn command_line(self, command: &'static str) -> Self {
        Self { command_line: Some(command), ..self }
    }

    const fn hint(self, hint: &'static str) -> Self {
        Self { hint: Some(hint), ..self }
    }

    const fn unlisted(self) -> Self {
        Self { is_listed: false, ..self }
    }

    const fn in_menu(self) -> Self {
        self.in_menu_of(self.role)
    }

    const fn in_menu_of(self, role: Role) -> Self {
        Self { menu: Some(role), ..self }
    }

    /// Returns true if the name, in lower case, names the command.
    pub(super) fn is_named(&self, name: &str) -> bool {
        self.name == name || self.aliases.contains(&name)
    }

    /// Parses the arguments; `None` if they are invalid.
    pub fn parse(&self, arguments: &str) -> Option<Command> {
        match self.parser {
            RowParser::Read(parse) => parse(arguments).map(Command::Read),
            RowParser::Act(parse) => parse(arguments).map(Command::Act),
            RowParser::ByArguments(parse) => parse(arguments),
        }
    }

    /// The command as it is typed.
    pub fn form(&self) -> String {
        format!("/{} {}", self.name, self.arguments).trim_end().to_owned()
    }

    /// The description in a language.
    pub fn description(&self, language: Language) -> String {
        language.description(self.name, self.help)
    }

    /// The description with the form of the arguments, for a menu that shows the name itself.
    pub fn menu_line(&self, language: Language) -> String {
        let separator = if self.arguments.is_empty() { "" } else { ": " };
        format!("{}{separator}{}", self.description(language), self.arguments)
    }

    /// Reply to invalid arguments.
    pub fn usage(&self, language: Language) -> String {
        let hint = self.hint.map(|english| language.hint(self.name, english));
        says::usage(language, &self.form(), hint.as_deref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admin::command::{find, parse};

    /// The docs' list, between these two lines.
    const MARKS: [&str; 2] = ["<!-- commands: generated -->\n", "<!-- end of commands -->\n"];

    #[test]
    fn the_menu_is_what_the_parser_knows() {
        for row in COMMANDS {
            let is_valid = |arguments: &&str| parse(&format!("/{} {arguments}", row.name)).is_some();
            let valid = ["", "7", "something", "something 7", "7 something", "daily"].iter().find(|one| is_valid(one));
            assert!(valid.is_some(), "{}", row.name);
            for name in [&row.name].into_iter().chain(row.aliases) {
                assert_eq!(find(&format!("/{name}")).map(|(found, _)| found.name), Ok(row.name));
            }
        }
    }

    #[test]
    fn eight_commands_are_in_the_menu_of_members_and_thirteen_in_that_of_owners() {
        let menu = |role| COMMANDS.iter().filter(move |row| row.menu.is_some_and(|lowest| role >= lowest)).count();
        assert_eq!((menu(Role::Member), menu(Role::Owner)), (8, 13));
        assert!(COMMANDS.iter().all(|row| row.is_listed || row.menu.is_none()), "the menu is a part of /help");
    }

    #[test]
    fn descriptions_are_short_imperatives() {
        for row in COMMANDS {
            let words = row.help.split(' ').count();
            assert!((2..=8).contains(&words) && row.help.chars().count() <= 60, "{}", row.help);
            assert!(row.help.starts_with(char::is_uppercase) && !row.help.ends_with('.'), "{}", row.help);
            for language in Language::all() {
                let line = row.menu_line(language);
                assert!(line.chars().count() <= 256, "more than Telegram takes: {line}");
                let description = row.description(language);
                assert!(description.chars().count() <= 60 && !description.ends_with('.'), "{description}");
                assert_eq!(description == row.help, language == Language::ENGLISH, "{language} lacks {}", row.name);
                let Some(english) = row.hint else { continue };
                let is_english = language.hint(row.name, english) == english;
                assert_eq!(is_english, language == Language::ENGLISH, "{language} lacks the hint of {}", row.name);
            }
        }
    }

    #[test]
    fn owner_commands_are_refused_in_a_group() {
        let refused = COMMANDS.iter().filter(|row| row.in_group == InGroup::Refused);
        for row in refused.clone() {
            assert!(row.role == Role::Owner || ["yes", "no"].contains(&row.name), "{}", row.name);
        }
        assert_eq!(refused.count(), COMMANDS.iter().filter(|row| row.role == Role::Owner).count() + 2);
    }

    #[test]
    fn the_list_in_the_docs_is_the_generated_one() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/operating.md");
        let docs = std::fs::read_to_string(path).unwrap();
        let (before, rest) = docs.split_once(MARKS[0]).unwrap();
        let (committed, after) = rest.split_once(MARKS[1]).unwrap();
        let generated = listing();
        if std::env::var_os("WRITE_DOCS").is_some() {
            std::fs::write(path, [before, MARKS[0], &generated, MARKS[1], after].concat()).unwrap();
        } else {
            assert!(committed == generated, "{path} is out of date: run this test once with WRITE_DOCS=1");
        }
    }

    fn listing() -> String {
        let mut lines = vec![
            "| in the chat | who | in a group | on the command line | effect |".to_owned(),
            "|---|---|---|---|---|".to_owned(),
        ];
        lines.extend(COMMANDS.iter().filter(|row| row.name != "start").map(|row| {
            let in_group = match row.in_group {
                InGroup::ActsOnGroup => "acts on the group",
                InGroup::AnsweredDirectly => "answered in the direct chat",
                InGroup::Refused => "refused",
            };
            let form = row.form().replace('|', "\\|");
            let command_line = row.command_line.map_or(String::new(), |line| format!("`compline {line}`"));
            let role = row.role.as_str();
            let also: Vec<String> = row.aliases.iter().map(|name| format!("`/{name}`")).collect();
            let also = if also.is_empty() { String::new() } else { format!("; also {}", also.join(", ")) };
            let hidden = if row.is_listed { "" } else { "; not in `/help`, which is full" };
            format!("| `{form}` | {role} | {in_group} | {command_line} | {}{also}{hidden} |", row.help)
        }));
        lines.join("\n") + "\n"
    }
}
