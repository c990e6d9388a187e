//! Commands: one type for all of them, and the meaning of a line of chat.
//!
//! A [`Command`] either reads or acts, and the type tells which. It is parsed from a line of chat
//! ([`parse`]) or from the words of the command line ([`parse_words`]), and run by one function for
//! both. Parsing is pure and total: any text is a command, a known command with invalid arguments,
//! or unknown. What is known of a chat command stands in its row of the [table](COMMANDS): the
//! parser, the check of the role, `/help`, the chat menu, the hint for a mistyped name, the command
//! line's help and the list in `docs/operating.md` read it there.

mod agenda_arguments;
mod arguments;
mod command_line;
mod search_flags;
mod table;

use arguments::first_word;
pub use arguments::{NEWEST_VERSIONS, ReflectionRequest};
pub use command_line::parse_words;
pub use table::{COMMANDS, CommandRow, InGroup, help};

use super::files::FilesRequest;
use super::imports::ImportRequest;
use super::paging::{ListPlace, PageRequest, RemindersPart};
use super::search::SearchQuery;
use super::transcript::TranscriptPart;
use crate::engine::turn::answered::YesExtent;
use crate::id::{
    AddressId, ConversationId, FileId, ImportId, OpenItemId, OutboxId, PersonId, ProposalId, QuestionId, ReminderId,
    StrangerId, VersionNumber,
};
use crate::people::Role;
use crate::store::ConversationKind;
use crate::tool::marks::WantedMarks;

/// A request to the program, not to the assistant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// A command that decides nothing.
    Read(Query),
    /// A command that may change something.
    Act(Action),
}

/// A command that decides nothing and may be repeated at will. Before it answers, the journal may
/// be brought up to date with files that were changed by hand. The caller of the command line is
/// the owner on whose behalf it acts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Query {
    /// Telegram's Start button, or a pairing code, from a person who already has access.
    Start,
    /// The commands.
    Help,
    /// The caller's account.
    Whoami,
    /// The caller's language and time zone.
    Settings,
    /// Text from outside in the caller's open conversation.
    Trust,
    /// The program's status.
    Status,
    /// Usage and cost of the models.
    Usage,
    /// The models.
    Models,
    /// The MCP tools.
    Tools,
    /// State of the workspace and its index.
    Knowledge,
    /// The caller's reminders.
    Reminders(RemindersPart),
    /// What is open in the caller's life.
    OpenItems,
    /// Items of the caller's `HEARTBEAT.md`.
    Heartbeat,
    /// Ticked items of the caller's `HEARTBEAT.md`, which a command can take out.
    TickedItems,
    /// The newest reflections.
    Reflections(PageRequest),
    /// One reflection, by number or period.
    Reflection(String),
    /// The newest conversations of a kind, or of all.
    Conversations(Option<ConversationKind>, PageRequest),
    /// One conversation, or a part of it.
    Conversation(ConversationId, TranscriptPart),
    /// Full-text search.
    Search(SearchQuery),
    /// Contents of an archive of another program.
    Archive(ImportRequest),
    /// The imports.
    Imports,
    /// The people with access.
    People(PageRequest<ListPlace>),
    /// Strangers who wrote without access.
    Strangers(PageRequest<ListPlace>),
    /// The removed people whom a name could mean.
    FormerPeople(String),
    /// Consequences of handing the workspace root over to that person.
    HandOverPlan(String),
    /// All that waits for the caller's decision.
    Pending,
    /// The pending proposals.
    PendingProposals,
    /// The newest proposals, including decided ones.
    Proposals(PageRequest),
    /// One proposal in full.
    Proposal(ProposalId),
    /// Origin of a proposal.
    ProposalOrigin(ProposalId),
    /// Origin of a fact of the caller by its key, or else of a note.
    Origin(String),
    /// Origin of a fact of the caller, by its key.
    FactOrigin(String),
    /// Origin of the last answer to the caller.
    AnswerOrigin,
    /// The skills.
    Skills,
    /// One skill in full.
    Skill(String),
    /// Versions of a skill.
    SkillHistory(String, PageRequest),
    /// One version of a skill.
    SkillVersion(String, VersionNumber),
    /// Two versions of a skill, compared.
    SkillComparison(String, [VersionNumber; 2]),
    /// Overview of the caller's memory.
    Memory,
    /// Memories of agents and profiles about the caller.
    AgentMemories,
    /// Full-text search in the caller's memory.
    SearchMemory(SearchQuery),
    /// The caller's files at a path.
    Files(FilesRequest),
    /// One note of the caller in full.
    Note(String),
    /// Versions of a note.
    NoteHistory(String, PageRequest),
    /// Two versions of a note, compared.
    NoteComparison(String, [FileId; 2]),
    /// One version of a note.
    NoteVersion {
        /// The note.
        note: String,
        /// Number of the version.
        version: FileId,
        /// The query if the number belongs to the name of the note, which is tried first.
        named: Option<Box<Query>>,
    },
    /// The place where notes can be edited.
    WhereToEdit,
    /// Path and text of a note to edit.
    NoteToEdit {
        /// Name of the owner of the note; blank for the caller.
        person: String,
        /// The note; blank for `MEMORY.md`.
        note: String,
    },
}

/// A command that may change something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Send one of the caller's files to their direct chat.
    SendFile(String),
    /// Starts a new conversation with the next message. Takes effect on admission.
    New,
    /// Stops the running turn.
    Stop,
    /// Answers a question with yes. Takes effect on admission.
    Yes(QuestionId, YesExtent),
    /// Answers a question with no. Takes effect on admission.
    No(QuestionId),
    /// Resends one failed delivery, or all.
    Resend(Option<OutboxId>),
    /// Cancels one of the caller's reminders.
    CancelReminder(ReminderId),
    /// Ends one of the caller's reminders, which has come.
    FinishReminder(ReminderId),
    /// Sets one of the caller's reminders, which has come, once more.
    SnoozeReminder(ReminderId),
    /// Changes the caller's list of open items.
    ChangeOpenItems(OpenItemChange),
    /// Changes the caller's `HEARTBEAT.md` or its ticks.
    ChangeHeartbeat(HeartbeatChange),
    /// Runs a reflection now.
    Reflect(ReflectionRequest),
    /// Sets the preferred model.
    PreferModel(String),
    /// Forget what was learned of the models' servers.
    ForgetLearned,
    /// Accepts an MCP tool as it was shown.
    AcceptTool {
        /// Name of the tool.
        name: String,
        /// The typed digits of the hash.
        hash: String,
        /// The typed word for what it does; blank if there is none.
        word: String,
        /// What its arguments are, where it differs from the proposal.
        marks: WantedMarks,
    },
    /// Repairs the workspace and its index.
    RepairKnowledge,
    /// Creates the code that claims the assistant for its first owner.
    Claim,
    /// Creates a code that links another address to the caller's account.
    Link,
    /// Signs browsers in or out.
    Browsers(BrowserChange),
    /// Creates a pairing code.
    Pair {
        /// Name of the person.
        name: String,
        /// Role of the person.
        role: Role,
        /// The person meant, if removed people had the name.
        means: Option<NameMeans>,
    },
    /// Creates a pairing code for the name of a removed person.
    PairNamesake {
        /// The removed person.
        former: PersonId,
        /// Role granted by the code.
        role: Role,
        /// `true` for the removed person, `false` for a new person of the same name.
        is_same: bool,
    },
    /// Revokes the access of the person of that name.
    Remove(String),
    /// Revokes a person's access.
    RemovePerson(PersonId),
    /// Unlinks an address from its person.
    Unlink(AddressId),
    /// Gives a stranger access as a new person; asks for name and role if there is no name.
    AdmitStranger {
        /// The stranger.
        stranger: StrangerId,
        /// Name of the person; blank if it is to be asked for.
        name: String,
        /// Role of the person.
        role: Role,
    },
    /// Ignores a stranger.
    IgnoreStranger(StrangerId),
    /// Confirms that a person is the earlier one of the same name.
    Join(PersonId),
    /// Denies that a person is the earlier one of the same name.
    Apart(PersonId),
    /// Hands the workspace root over to that person.
    HandOver(String),
    /// Makes a proposal live.
    Approve {
        /// The proposal.
        proposal: ProposalId,
        /// The typed digits; blank if there were none.
        hash: String,
        /// The word for what it newly does; blank if there was none.
        word: String,
    },
    /// Rejects a proposal.
    Reject {
        /// The proposal.
        proposal: ProposalId,
        /// The reason; may be blank.
        why: String,
    },
    /// Shows a held skill folder, or accepts it as it was shown.
    AcceptSkill {
        /// Name of the folder.
        name: String,
        /// The typed digits; blank if there were none.
        hash: String,
        /// The word for what it newly does; blank if there was none.
        word: String,
    },
    /// Restores an earlier version of a skill.
    RollBack {
        /// The skill.
        name: String,
        /// The version.
        version: VersionNumber,
    },
    /// Proposes the skill in a folder of this computer.
    ImportSkill {
        /// Full path of the folder.
        path: String,
        /// Name of the skill.
        name: String,
    },
    /// Proposes a skill with the content of a note.
    SkillFromNote {
        /// The note.
        note: String,
        /// Name of the skill; `None` for that of the note.
        name: Option<String>,
    },
    /// Stores a text as the caller's own.
    Remember(String),
    /// Shows an untrusted note, or turns it into the caller's own.
    Promote {
        /// The note.
        note: String,
        /// The code shown below the note; blank if there was none.
        code: String,
    },
    /// Shows something that the caller sent, or lets it count as theirs in the open conversation.
    Vouch {
        /// Number in the list.
        number: usize,
        /// The code shown below it; blank if there was none.
        code: String,
    },
    /// Takes back everything that the caller allowed in the open conversation.
    TakeBack,
    /// Switches on or off whether what another agent or profile has learned comes to mind.
    SwitchMemory {
        /// Name of the agent or profile.
        name: String,
        /// True for on, false for off.
        on: bool,
    },
    /// Restores an earlier version of a note.
    RestoreNote {
        /// The note.
        note: String,
        /// The version.
        version: FileId,
    },
    /// Takes in what was written in an editor.
    NoteEdited {
        /// Name of the owner of the note; blank for the caller.
        person: String,
        /// Path of the file.
        path: String,
        /// Text that the editor opened.
        base: String,
        /// Text that it saved.
        text: String,
    },
    /// Deletes a note or a fact.
    Forget {
        /// The note or fact, the number of a deletion to continue, or what is named by a plan with
        /// its code.
        name: String,
        /// Handling of the messages.
        messages: SourceMessages,
        /// Step.
        step: ForgetStep,
    },
    /// Deletes all data of the person of that name.
    ForgetPerson(String),
    /// Imports an archive of another program.
    Import(ImportRequest),
    /// Removes all that an import brought.
    RemoveImport(ImportId),
    /// Changes the caller's language or time zone.
    ChangeSetting(SettingChange),
    /// Sends the caller all their data.
    Export,
    /// Writes all data of a person into a file.
    ExportTo {
        /// Name of the person.
        name: String,
        /// Full path of the new file.
        file: String,
    },
}

/// A change of a person's settings, to a word as typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SettingChange {
    /// The language in which they are addressed.
    Language(String),
    /// Their time zone.
    Zone(String),
}

/// A change of a person's list of open items.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OpenItemChange {
    /// It is settled.
    Done(OpenItemId),
    /// It is no longer wanted.
    Drop(OpenItemId),
    /// It is open again.
    Reopen(OpenItemId),
    /// It is put off until that time, or until tomorrow.
    Later(OpenItemId, String),
    /// Another item.
    Add(String),
}

/// A change of an owner's `HEARTBEAT.md` or its ticks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HeartbeatChange {
    /// Adds a box.
    AddOnce(String),
    /// Adds a line without a box.
    AddStanding(String),
    /// Ticks the item with that number or these words.
    Tick(String),
    /// Removes the tick of that item.
    Untick(String),
    /// Takes the ticked items out of the file.
    Tidy,
}

/// A change of who is signed in where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BrowserChange {
    /// Makes a link that signs a browser in as the person of that name, or as the caller.
    SignIn(Option<String>),
    /// Ends the sessions of the person of that name, or of everyone.
    EndAll(Option<String>),
}

/// The person meant by the name of removed people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameMeans {
    /// The given removed person.
    Former(PersonId),
    /// None of them.
    SomebodyNew,
}

/// Handling of messages in a deletion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SourceMessages {
    /// Messages are kept.
    Keep,
    /// Messages from which the note or fact was made are deleted.
    Delete,
}

/// Step of a deletion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForgetStep {
    /// Shows the plan, unless its code is given.
    Plan,
    /// Carries out the plan.
    Execute,
}

/// Maximum length of a command, in characters: that of a message on Telegram.
pub const MAX_COMMAND: usize = 4096;

/// A line that is no command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoCommand {
    /// It names none.
    Unknown {
        /// The typed name, without the slash.
        name: String,
        /// The most similar listed name, if one is similar enough.
        near: Option<&'static str>,
    },
    /// It is longer than [`MAX_COMMAND`], and was not looked at.
    TooLong,
}

/// Returns whether a text is longer than a command may be.
pub fn is_too_long(text: &str) -> bool {
    text.len() > MAX_COMMAND && text.chars().nth(MAX_COMMAND).is_some()
}

/// Finds the row and the arguments of the command in a line of chat.
///
/// # Errors
/// If the line does not begin with a known command, or is too long for one.
pub fn find(text: &str) -> Result<(&'static CommandRow, &str), NoCommand> {
    if is_too_long(text) {
        return Err(NoCommand::TooLong);
    }
    let (first, rest) = first_word(text);
    let typed = first.strip_prefix('/').unwrap_or(first);
    // In a group's menu Telegram writes `/new@name_of_bot`.
    let typed = typed.split_once('@').map_or(typed, |(name, _)| name);
    let is_command = first.starts_with('/');
    let name = if is_command && code_in(text).is_some() { "start".to_owned() } else { typed.to_lowercase() };
    let row = COMMANDS.iter().find(|row| row.is_named(&name)).filter(|_| is_command);
    row.map(|row| (row, rest)).ok_or_else(|| unknown(typed))
}

/// Parses a line of chat; `None` if the command is unknown or too long, or its arguments are invalid.
pub fn parse(text: &str) -> Option<Command> {
    let (row, arguments) = find(text).ok()?;
    row.parse(arguments)
}

/// The pairing code in a text that contains nothing else: `/start CODE`, `/pair CODE` (or
/// `/invite CODE`), or the code alone.
///
/// A code has the shape `ABCD-EFGH`, in the letters and digits of [`CODE_LETTERS`] and in either
/// case.
pub fn code_in(text: &str) -> Option<&str> {
    let (first, rest) = first_word(text);
    let code = if first.starts_with('/') {
        let name = first.split_once('@').map_or(first, |(name, _)| name);
        ["/start", "/pair", "/invite"].iter().any(|known| name.eq_ignore_ascii_case(known)).then_some(rest)?
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

fn unknown(typed: &str) -> NoCommand {
    let name = crate::text::shorten(typed, 40);
    let like = |row: &CommandRow| strsim::normalized_damerau_levenshtein(&name.to_lowercase(), row.name);
    let near = COMMANDS
        .iter()
        .filter(|row| row.is_listed)
        .map(|row| (like(row), row.name))
        .filter(|(likeness, _)| *likeness >= 0.5)
        .max_by(|one, other| one.0.total_cmp(&other.0))
        .map(|(_, name)| name);
    NoCommand::Unknown { name, near }
}

#[cfg(test)]
mod tests;
