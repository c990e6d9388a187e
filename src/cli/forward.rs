//! Commands that the holder of the home answers: their options, and their words in the gateway's
//! syntax.

use clap::{Args, Subcommand, ValueEnum};

use super::client::words;
use crate::admin::command::help;

/// `compline people …`
#[derive(Debug, Subcommand)]
pub enum People {
    /// List people with access and their addresses
    List(PlacedPage),
    /// List who wrote without access
    Strangers(PlacedPage),
    /// Make the code that claims the assistant for its first owner
    Claim,
    #[command(about = help("pair"))]
    Pair {
        /// Name of the person
        name: String,
        /// Role of the person
        #[arg(long, value_enum, default_value_t = ActAs::Member)]
        role: ActAs,
        /// Readmit the removed person with this number and name
        #[arg(long, value_name = "ID")]
        same_as: Option<u64>,
        /// Add a new person, even if the name was used before
        #[arg(long, conflicts_with = "same_as")]
        new: bool,
    },
    #[command(about = help("remove"))]
    Remove {
        /// Name of the person
        name: String,
    },
    /// Give a stranger access as a new person
    Admit {
        /// Number of the stranger
        stranger: u64,
        /// Name of the person
        name: String,
        /// Role of the person
        #[arg(long, value_enum, default_value_t = ActAs::Member)]
        role: ActAs,
    },
    /// Ignore a stranger
    Ignore {
        /// Number of the stranger
        stranger: u64,
    },
    /// Take an address from its person
    Unlink {
        /// Number of the address
        address: u64,
    },
    /// Merge a person with the earlier one of the same name
    Join {
        /// Number of the person
        person: u64,
    },
    /// Keep a person separate from the earlier one of the same name
    Apart {
        /// Number of the person
        person: u64,
    },
    /// Give the workspace root to another owner
    HandOver {
        /// Name of the new owner
        name: String,
        /// Do not ask for confirmation
        #[arg(long)]
        yes: bool,
    },
}

/// Role of a person with access.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum ActAs {
    /// May chat
    Member,
    /// May do everything
    Owner,
}

/// `compline reminders …`
#[derive(Debug, Subcommand)]
pub enum Reminders {
    /// List the owner's reminders and tasks with their times
    List {
        /// Only what comes after the place that the page before gave
        #[arg(long, value_name = "PLACE")]
        after: Option<String>,
    },
    /// Cancel a reminder or task
    Cancel {
        /// Number of the reminder or task
        id: u64,
    },
}

/// `compline conversations …`
#[derive(Debug, Subcommand)]
pub enum Conversations {
    /// List the newest conversations with their summaries
    List {
        /// Kind of conversations
        #[arg(long, value_enum, default_value_t = ListedKind::Chat)]
        kind: ListedKind,
        #[command(flatten)]
        page: ListedPage,
    },
    /// Show a whole conversation, or the messages around one
    Show {
        /// Number of the conversation
        id: u64,
        /// Number of a message to show with those around it
        #[arg(long, value_name = "MESSAGE")]
        at: Option<u64>,
        /// Print the Markdown source
        #[arg(long)]
        markdown: bool,
    },
}

/// Page of a list.
#[derive(Debug, Args)]
pub struct ListedPage {
    /// Maximum number
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: u32,
    /// Only what is older than the one with this number
    #[arg(long, value_name = "NUMBER")]
    before: Option<u64>,
}

impl ListedPage {
    /// Returns the flags in the gateway's syntax.
    pub fn flags(&self) -> Vec<String> {
        let limit = words(&["--limit", &self.limit.to_string()]);
        let before = self.before.map(|number| words(&["--before", &number.to_string()]));
        limit.into_iter().chain(before.unwrap_or_default()).collect()
    }
}

/// Page of a list that changes while one reads.
#[derive(Debug, Args)]
pub struct PlacedPage {
    /// Maximum number
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: u32,
    /// Only what comes after the place that the page before gave
    #[arg(long, value_name = "PLACE")]
    before: Option<String>,
}

impl PlacedPage {
    /// Returns the flags in the gateway's syntax.
    pub fn flags(&self) -> Vec<String> {
        let limit = words(&["--limit", &self.limit.to_string()]);
        limit.into_iter().chain(flags(&[("--before", &self.before)])).collect()
    }
}

/// Kind of conversations to list.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum ListedKind {
    /// With people and groups
    Chat,
    /// Reflections on past days, weeks and months
    Reflection,
    /// Checks of HEARTBEAT.md
    Heartbeat,
    /// Scheduled tasks
    Task,
    /// Imported from other programs
    Imported,
    /// All of them
    All,
}

/// `compline files …`
#[derive(Debug, Args)]
pub struct Files {
    /// Folder [default: all of the owner's files]
    folder: Option<String>,
    /// Maximum number
    #[arg(long, value_name = "N", default_value_t = 100)]
    limit: u32,
    /// Order
    #[arg(long, value_enum, default_value_t = ListedOrder::Name)]
    sort: ListedOrder,
    /// Only what comes after that name, or after the place that the page before gave
    #[arg(long, value_name = "NAME")]
    after: Option<String>,
}

/// Order of files.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum ListedOrder {
    /// By name
    Name,
    /// Largest first
    Size,
    /// Last changed first
    Time,
}

/// `compline search …`
#[derive(Debug, Args)]
pub struct Search {
    /// Words to search for
    #[arg(required = true)]
    query: Vec<String>,
    /// Areas to search
    #[arg(long = "in", value_enum, value_delimiter = ',')]
    kinds: Vec<SearchArea>,
    #[command(flatten)]
    limits: SearchLimits,
    /// Maximum number of results
    #[arg(long, default_value_t = 10)]
    limit: u32,
    /// Match upper and lower case exactly
    #[arg(long)]
    case: bool,
    /// Lines to show above and below a match in a file
    #[arg(long, default_value_t = 0)]
    context: u32,
}

/// Limits of every search.
#[derive(Debug, Args)]
pub struct SearchLimits {
    /// Search only in this category of facts and notes
    #[arg(long, value_name = "WORD")]
    category: Option<String>,
    /// Only what was written from this day or time on
    #[arg(long, value_name = "DAY")]
    since: Option<String>,
    /// Only what was written until this day or time
    #[arg(long, value_name = "DAY")]
    until: Option<String>,
    /// Only the results after that many
    #[arg(long, value_name = "N")]
    after: Option<u32>,
}

/// Area of a search.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum SearchArea {
    /// Messages
    Messages,
    /// Summaries of conversations
    Conversations,
    /// Reflections of the assistant
    Reflections,
    /// Facts, notes, and other stored memory
    Notes,
    /// All other files of the workspace
    Files,
    /// Active skills
    Skills,
}

/// `compline reflect …`
#[derive(Debug, Args)]
pub struct Reflect {
    /// Kind of period
    #[arg(value_enum)]
    job: ReflectPeriod,
    /// The day (2026-11-20), week (2026-W47) or month (2026-11) [default: the latest that is over]
    #[arg(long)]
    period: Option<String>,
    /// Repeat an existing reflection
    #[arg(long)]
    again: bool,
}

/// `compline reflections …`
#[derive(Debug, Subcommand)]
pub enum Reflections {
    /// List the newest reflections
    List(ListedPage),
    /// Show a reflection with the outcome of its proposals
    Show {
        /// Number or period (2026-11-20, 2026-W47, 2026-11)
        id: String,
        /// Print the Markdown source
        #[arg(long)]
        markdown: bool,
    },
}

/// Period of a reflection.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum ReflectPeriod {
    /// A day
    Daily,
    /// A week
    Weekly,
    /// A month
    Monthly,
}

/// `compline review …`
#[derive(Debug, Subcommand)]
pub enum ReviewCommand {
    /// List the proposals that wait
    List {
        /// Decided ones as well, newest first
        #[arg(long)]
        all: bool,
        /// Maximum number
        #[arg(long, value_name = "N", requires = "all")]
        limit: Option<u32>,
        /// Only what is older than the one with this number
        #[arg(long, value_name = "NUMBER", requires = "all")]
        before: Option<u64>,
    },
    #[command(about = help("show"))]
    Show {
        /// Number of the proposal
        id: u64,
    },
    #[command(about = help("why"))]
    Why {
        /// A note, the key of a fact, or the number of a proposal; the last answer without it
        of: Vec<String>,
    },
    #[command(about = help("approve"))]
    Approve {
        /// Number of the proposal
        id: u64,
        /// Hash at the end of `show`, at least 8 digits
        hash: String,
        /// Word after the hash, if `show` gives one
        word: Option<String>,
    },
    #[command(about = help("reject"))]
    Reject {
        /// Number of the proposal
        id: u64,
        /// Reason for the record
        #[arg(long, value_name = "WHY", default_value = "", hide_default_value = true)]
        reason: String,
    },
}

/// Commands for MCP tools.
#[derive(Debug, Subcommand)]
pub enum Tools {
    /// List all MCP tools, with full descriptions of those not yet accepted
    List,
    /// Accept a tool exactly as described under the hash
    Accept {
        /// Name of the tool, as `server__tool`
        name: String,
        /// At least 8 digits of the hash from `list`
        hash: String,
        /// The word from `list`, if one is shown
        word: Option<String>,
        /// Ask about each value of this argument that no loaded skill names
        #[arg(long, value_name = "ARGUMENT")]
        destination: Vec<String>,
        /// Count this argument as text that may differ if you want it
        #[arg(long, value_name = "ARGUMENT")]
        content: Vec<String>,
        /// Count this argument as a choice from the values in the schema
        #[arg(long, value_name = "ARGUMENT")]
        choice: Vec<String>,
        /// Let it search for what you typed without a question
        #[arg(long)]
        search: bool,
    },
}

impl People {
    /// Returns the command in the gateway's syntax.
    pub fn line(&self) -> Vec<String> {
        match self {
            Self::List(page) => words(&["people", "list"]).into_iter().chain(page.flags()).collect(),
            Self::Strangers(page) => words(&["people", "strangers"]).into_iter().chain(page.flags()).collect(),
            Self::Claim => words(&["people", "claim"]),
            Self::Pair { name, role, same_as, new } => {
                let mut line = words(&["people", "pair", name, &value(role)]);
                match same_as {
                    Some(id) => line.extend(words(&["--same-as", &id.to_string()])),
                    None => line.extend(new.then(|| "--new".to_owned())),
                }
                line
            }
            Self::Admit { stranger, name, role } => {
                words(&["people", "admit", &stranger.to_string(), name, &value(role)])
            }
            Self::Ignore { stranger } => words(&["people", "ignore", &stranger.to_string()]),
            Self::Unlink { address } => words(&["people", "unlink", &address.to_string()]),
            Self::Join { person } => words(&["people", "join", &person.to_string()]),
            Self::Apart { person } => words(&["people", "apart", &person.to_string()]),
            Self::Remove { name } => words(&["people", "remove", name]),
            Self::HandOver { name, .. } => words(&["people", "hand-over", name]),
        }
    }
}

impl Reminders {
    /// Returns the command in the gateway's syntax.
    pub fn line(&self) -> Vec<String> {
        match self {
            Self::List { after } => {
                words(&["reminders", "list"]).into_iter().chain(flags(&[("--after", after)])).collect()
            }
            Self::Cancel { id } => words(&["reminders", "cancel", &id.to_string()]),
        }
    }
}

impl Conversations {
    /// Returns the command in the gateway's syntax.
    pub fn line(&self) -> Vec<String> {
        match self {
            Self::List { kind, page } => {
                let mut line = words(&["conversations", "list", "--kind", &value(kind)]);
                line.extend(page.flags());
                line
            }
            Self::Show { id, at: None, .. } => words(&["conversations", "show", &id.to_string()]),
            Self::Show { id, at: Some(at), .. } => {
                words(&["conversations", "show", &id.to_string(), "--at", &at.to_string()])
            }
        }
    }

    /// Returns `true` if the Markdown source is wanted.
    pub fn is_source(&self) -> bool {
        matches!(self, Self::Show { markdown: true, .. })
    }
}

impl Files {
    /// Returns the command in the gateway's syntax.
    pub fn line(&self) -> Vec<String> {
        let mut line = words(&["files", "--limit", &self.limit.to_string()]);
        line.extend(words(&["--sort", &value(&self.sort)]));
        line.extend(flags(&[("--after", &self.after)]));
        line.extend(words(&["--", self.folder.as_deref().unwrap_or_default()]));
        line
    }
}

impl Search {
    /// Returns the command in the gateway's syntax.
    pub fn line(&self) -> Vec<String> {
        let mut line = words(&["search", "--limit", &self.limit.to_string()]);
        line.extend(self.case.then(|| "--case".to_owned()));
        if self.context > 0 {
            line.extend(words(&["--context", &self.context.to_string()]));
        }
        line.extend(self.kinds.iter().flat_map(|area| ["--in".to_owned(), value(area)]));
        line.extend(self.limits.flags());
        line.extend(words(&["--", &self.query.join(" ")]));
        line
    }
}

impl SearchLimits {
    /// Returns the flags in the gateway's syntax.
    pub fn flags(&self) -> Vec<String> {
        let after = self.after.map(|after| after.to_string());
        let values = [("--category", &self.category), ("--since", &self.since), ("--until", &self.until)];
        flags(&[&values[..], &[("--after", &after)]].concat())
    }
}

/// Returns those flags that have a value.
pub fn flags(given: &[(&str, &Option<String>)]) -> Vec<String> {
    let given = given.iter().filter_map(|(flag, value)| Some([*flag, value.as_deref()?]));
    given.flatten().map(str::to_owned).collect()
}

impl Tools {
    /// Returns the command in the gateway's syntax.
    pub fn line(&self) -> Vec<String> {
        match self {
            Self::List => words(&["tools", "list"]),
            Self::Accept { name, hash, word, destination, content, choice, search } => {
                let marks = [("--destination", destination), ("--content", content), ("--choice", choice)];
                let marks = marks.into_iter().flat_map(|(flag, of)| of.iter().flat_map(move |place| [flag, place]));
                let accept = ["tools", "accept", name, hash].into_iter().chain(word.as_deref());
                let line: Vec<&str> = accept.chain(marks).chain(search.then_some("--search")).collect();
                words(&line)
            }
        }
    }
}

impl ReviewCommand {
    /// Returns the command in the gateway's syntax.
    pub fn line(&self) -> Vec<String> {
        match self {
            Self::List { all, limit, before } => {
                let mut line = words(&["review", "list"]);
                line.extend(all.then(|| "--all".to_owned()));
                line.extend(
                    ListedPage { limit: limit.unwrap_or(20), before: *before }.flags().into_iter().filter(|_| *all),
                );
                line
            }
            Self::Show { id } => words(&["review", "show", &id.to_string()]),
            Self::Why { of } => words(&["review", "why"]).into_iter().chain(of.iter().cloned()).collect(),
            Self::Approve { id, hash, word } => {
                words(&["review", "approve", &id.to_string(), hash]).into_iter().chain(word.clone()).collect()
            }
            Self::Reject { id, reason } => words(&["review", "reject", &id.to_string(), reason]),
        }
    }
}

impl Reflections {
    /// Returns the command in the gateway's syntax.
    pub fn line(&self) -> Vec<String> {
        match self {
            Self::List(page) => words(&["reflections", "list"]).into_iter().chain(page.flags()).collect(),
            Self::Show { id, .. } => words(&["reflections", "show", id]),
        }
    }

    /// Returns `true` if the Markdown source is wanted.
    pub fn is_source(&self) -> bool {
        matches!(self, Self::Show { markdown: true, .. })
    }
}

impl Reflect {
    /// Returns the command in the gateway's syntax.
    pub fn line(&self) -> Vec<String> {
        let mut line = words(&["reflect", &value(&self.job)]);
        line.extend(self.period.clone());
        line.extend(self.again.then(|| "again".to_owned()));
        line
    }
}

/// Returns the name of an option's value.
fn value(value: &impl ValueEnum) -> String {
    value.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}
