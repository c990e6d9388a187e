//! Operator commands, implemented once for chat, the command line and the local socket.
//!
//! Each [command] reads or acts, and returns an [`Answer`]: Markdown for a person on a phone, JSON
//! for a program, and the label of the texts shown. [`Admin::chat`] decides which person may give
//! which command in chat. The command line has the owner's rights ([`Admin::command_line`]),
//! because anyone who can open the home has them. Every command may be run twice: an interrupted
//! one is simply run again.

mod agenda; // the day and week of a person
mod answer; // what a command returns: Markdown and JSON
pub mod backup; // backups and their key
pub mod browsers; // links that sign a browser in, and the end of sessions
mod calendar; // conversations by the day
mod chat; // the chat of the page
pub mod command; // commands as data: table, parsers
pub mod export; // export of a person
mod conversation_end; // whether a conversation goes on
mod conversations; // /conversations: the list
pub mod doctor; // what has to be fixed
mod erasure; // /forget
mod erasure_plan; // what /forget shows before it deletes
mod files; // /files, /file
pub mod health; // health over time
mod heartbeat; // /heartbeat
mod imports; // compline import
mod jobs; // commands that run for long
mod keep_confirmed; // "Keep this?" answered with yes
pub mod log; // entries of the log
mod memory; // files, history, /remember, /promote
mod models; // /model
mod numbers; // the state as numbers
pub mod owner_notice; // notices to all owners
mod open_items; // /open
mod paging; // lists by pages
mod pairing; // /pair and the claim of the first owner
mod people; // /people: roles, addresses, same persons
mod pending; // /pending
pub mod restore; // restore of a backup
mod review; // commands about proposals; who may decide: `review::owner_decision`
mod run; // from a command to its answer
mod search; // /search
mod settings; // /settings
mod skills; // skills: list, import, versions
mod snooze; // /reminders done, /reminders later
pub mod standby; // takeover from a replica
mod status; // /status
mod strangers; // senders without access: let in, ignore
pub mod threads; // where answers are made
mod tools; // tools of MCP servers: list, accept
mod transcript; // /conversations: one of them
mod trust; // /trust
mod turn_work; // tools and cost of an answer
mod usage; // /usage
mod upkeep; // the last upkeep

pub use agenda::{AgendaItem, AgendaKind, MAX_MESSAGES, MAX_MISSED, MissedItem, MissedItems, PastItems};
pub use answer::{Answer, AnswerFile, CommandError};
pub use calendar::{ConversationCalendar, DayCount};
pub use chat::{BegunConversation, ChatEntry, PRESS, RecentChat};
pub use conversations::{ConversationItem, ConversationTitle, ConversationsReport};
pub use files::{FilesReport, FilesRequest};
pub use imports::ImportRequest;
pub use jobs::{ReflectionItem, ReflectionReport, ReflectionsReport, RemindersReport};
pub use memory::{
    AgentMemories, FileComparison, FileHistoryPage, FileVersion, Knowledge, MemoryFile, MemoryReport, NoteEdit,
    NoteSection, NotesListed, OriginReport, RepairMode, SortedNotes, UnreadFiles, note_address,
};
pub use models::{ModelEntry, ModelsReport, PREFERRED_MODEL};
pub use numbers::Numbers;
pub use open_items::OpenReport;
pub use paging::{ListPlace, Page, PageRequest, RemindersPart};
pub use pairing::{Pairing, PairingCode};
pub use pending::PendingReport;
pub use people::{HandOverPlan, ListedPerson, PeopleReport, PersonReport};
pub use review::{ProposalItem, ProposalView, ProposalsReport};
pub use search::{FileExcerpt, FileLine, HitSource, SEARCH_DEPTH, SearchKind, SearchQuery, SearchReport, SearchRow};
pub use skills::{
    SkillComparison, SkillEntry, SkillHistoryReport, SkillReport, SkillUse, SkillVersionReport, SkillsReport,
};
pub use status::{ProgramStatus, StatusReport};
pub use tools::{ToolAcceptance, ToolEntry, ToolState, ToolsReport, bad_mark, show_marks};
pub use transcript::{FullConversation, TranscriptEntry, TranscriptPart};
pub use turn_work::{ToolCallItem, TurnWork};
pub use usage::{DearConversation, UsagePeriod, UsageReport};

use std::ops::Deref;
use std::sync::Arc;

use serde_json::json;

use crate::config::Config;
use crate::engine::{Engine, JustSent};
use crate::id::{PersonId, StreamId};
use crate::memory::{Index, Workspace};
use crate::message::{ChannelKind, Health, StartWay};
use crate::people::{Party, Person, Role};
use crate::review::Review;
use crate::schedule::Schedule;
use crate::spend::Ledger;
use crate::store::Journal;
use crate::time::{Clock, Zone};
use crate::tool::mcp::Servers;
use crate::trust::Scope;
use crate::wording::command as says;
use crate::wording::review::Surface;
use crate::wording::{Language, Locale};
use command::{Action, COMMANDS, Command, InGroup, MAX_COMMAND, NoCommand};
use erasure::ForgetRequest;
use run::Origin;

/// The origin of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// The person who gave it.
    pub person: Person,
    /// The group that the command acts on; `None` means that it is about the caller, who alone
    /// reads the answer.
    pub group: Option<StreamId>,
    /// Language of the answers, if it is not that of the chat.
    pub language: Option<Language>,
}

/// The connected channels.
pub trait Channels: Send + Sync {
    /// Health of each, by name.
    fn health(&self) -> Vec<(String, Health)>;

    /// Name by which people find our account on that channel.
    fn public_name(&self, channel: ChannelKind) -> Option<String>;

    /// Ways in which a person can send this pairing code.
    fn start_ways(&self, code: &str) -> Vec<StartWay>;
}

/// Runs commands.
pub struct Admin {
    /// The configuration.
    pub config: Arc<Config>,
    /// The journal.
    pub journal: Journal,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The zone in which times are shown and days counted.
    pub zone: Zone,
    /// The engine.
    pub engine: Arc<Engine>,
    /// The budget ledger.
    pub ledger: Arc<Ledger>,
    /// The review gate.
    pub review: Review,
    /// The workspace.
    pub workspace: Workspace,
    /// The search index.
    pub index: Index,
    /// The assistant's name.
    pub agent: String,
    /// The program's version.
    pub version: String,
    /// The schedule.
    pub schedule: Arc<Schedule>,
    /// The MCP servers.
    pub mcp: Arc<Servers>,
    /// The connected channels.
    pub channels: Arc<dyn Channels>,
    /// Addresses of the page.
    pub page: browsers::PageAddress,
    /// Where answers are made.
    pub answers: threads::AnswerThreads,
    /// Attempts to store confirmed texts while the disk is full.
    pub(crate) failed_attempts: keep_confirmed::FailedAttempts,
}

impl Admin {
    /// Answers a chat line that begins with a slash. An internal error yields an answer too: one
    /// sentence, plus a log line.
    pub async fn chat(&self, caller: &Caller, text: &str) -> Answer {
        let language = self.language_for(caller).await;
        let (row, arguments) = match command::find(text) {
            Ok(found) => found,
            Err(NoCommand::Unknown { name, near }) => {
                return Answer::refusal(says::unknown(language, &answer::plain(&name), near));
            }
            Err(NoCommand::TooLong) => return Answer::refusal(says::too_long(language, MAX_COMMAND)),
        };
        if caller.person.role < row.role {
            return Answer::refusal(says::OWNER_ONLY.in_language(language));
        }
        if caller.group.is_some() && row.in_group != InGroup::ActsOnGroup {
            return Answer::refusal(says::DIRECT_ONLY.in_language(language));
        }
        let Some(command) = row.parse(arguments) else { return Answer::refusal(row.usage(language)) };
        // What only owners read about the program is English, and then all of it.
        let spoken = if row.role == Role::Owner { Language::ENGLISH } else { language };
        let done = match (caller.group, command) {
            (None, command) => self.run(&Origin::chat(&caller.person, spoken), command).await,
            (Some(group), Command::Act(Action::Forget { name, messages, step })) => {
                let request = ForgetRequest { name: &name, messages, step, surface: Surface::Chat(language) };
                self.erasure().forget(&Party::Group(group), &caller.person, &request).await
            }
            // The others that act on a group took effect on admission
            // (`gateway::admission::group`).
            (Some(_), _) => return Answer::refusal(says::DIRECT_ONLY.in_language(language)),
        };
        done.unwrap_or_else(|error| {
            let id = caller.person.id;
            tracing::error!(person.id = %id, "A command of person {id} failed: {error:#}");
            Answer::failure(language, &error)
        })
    }

    /// Answers a chat line that only reads, for a page that is merely opened. A line that would act
    /// changes nothing, and is answered with its form.
    pub async fn chat_query(&self, caller: &Caller, text: &str) -> Answer {
        match command::find(text) {
            Ok((row, arguments)) if !matches!(row.parse(arguments), Some(Command::Read(_))) => {
                Answer::refusal(row.usage(self.language_for(caller).await))
            }
            _ => self.chat(caller, text).await,
        }
    }

    /// Returns the person with access of that name.
    async fn person_named(&self, name: &str) -> anyhow::Result<Option<Person>> {
        let name = name.to_owned();
        self.journal.read(move |db| db.people().person_named(&name)).await
    }

    /// Returns the language in which a command is answered; English if it cannot be read.
    async fn language_for(&self, caller: &Caller) -> Language {
        if let Some(language) = caller.language {
            return language;
        }
        let scope = caller.group.map_or(Scope::Person(caller.person.id), Scope::Group);
        self.engine.language_of(scope).await.unwrap_or(Language::ENGLISH)
    }

    /// Returns language, zone and time in which a party reads there.
    async fn locale_in(&self, scope: Scope, surface: Surface) -> anyhow::Result<Locale> {
        let zone = self.engine.zone_of(scope).await?;
        Ok(Locale { language: surface.language(), zone, now: self.clock.now() })
    }

    /// Returns the language in which a person is addressed.
    async fn language_of(&self, person: PersonId) -> anyhow::Result<Language> {
        self.journal.read(move |db| db.people().language_of(person)).await
    }

    /// Stops a person's running turn, or the message that is about to begin one.
    pub async fn stop(&self, person: &Person) -> anyhow::Result<Answer> {
        let id = person.id;
        let stream = self.journal.read(move |db| db.conversations().stream_of(id)).await?;
        let stopped = match stream {
            Some(stream) => self.engine.stop_turn(stream, JustSent::Closed).await?,
            None => false,
        } | self.engine.stop_tasks(id).await?;
        let sentence = if stopped { says::STOPPED } else { says::NOTHING_RUNS };
        Ok(Answer::ours(sentence.in_language(self.language_of(person.id).await?), json!({ "stopped": stopped })))
    }
}

fn help(language: Language, role: Role) -> Answer {
    let mine = || COMMANDS.iter().filter(|row| row.is_listed && role >= row.role);
    let lines: Vec<String> = mine().map(|row| says::help_line(&row.form(), &row.description(language))).collect();
    let json: Vec<_> = mine().map(|row| json!({ "name": row.name, "does": row.menu_line(language) })).collect();
    Answer::ours(says::help(language, &lines.join("\n")), json!(json))
}

/// Defines the subjects of [`Admin`]: each is a type of its own with the methods of its commands,
/// so that none has too many.
macro_rules! subjects {
    ($($(#[$doc:meta])* $method:ident: $subject:ident;)*) => {
        $($(#[$doc])*
        #[derive(Clone, Copy)]
        pub struct $subject<'a> {
            pub(super) admin: &'a Admin,
        }

        impl Deref for $subject<'_> {
            type Target = Admin;

            fn deref(&self) -> &Admin {
                self.admin
            }
        })*

        impl Admin {
            $($(#[$doc])*
            pub fn $method(&self) -> $subject<'_> {
                $subject { admin: self }
            })*
        }
    };
}

subjects! {
    /// Skills, proposals and their review.
    skills_and_proposals: SkillsAdmin;
    /// Search in all stored data.
    finder: SearchAdmin;
    /// Conversations and their export.
    history: HistoryAdmin;
    /// Files and facts that a person can view and change.
    memory_files: MemoryAdmin;
    /// People, pairing and hand-over.
    members: PeopleAdmin;
    /// Archives of other programs.
    imports: ImportsAdmin;
    /// Deletion of data at a person's request.
    erasure: ErasureAdmin;
    /// Status, usage, models, tools and failed deliveries.
    reports: ReportsAdmin;
    /// Reminders and reflections.
    jobs: JobsAdmin;
}

#[cfg(test)]
mod tests;
