//! The configuration: as written ([`written`]), and as meant ([`Config`]).
//!
//! `written` reads the TOML file key by key and knows where each value came from (file,
//! environment, default). `Config` is what the rest of the house sees: checked, with units, secrets
//! that never print, and no optional value that has a default.

mod channels;
mod difference;
pub mod error;
pub mod example;
pub mod keys;
mod knowledge;
mod mcp;
mod meaning;
pub mod mode;
mod models;
mod overlay;
mod reader;
mod rhythm;
mod rooted;
mod secret;
mod sheet;
mod source;
mod suggest;
mod units;
pub mod written;

pub use difference::{Changed, Subject, difference};
pub use error::ConfigError;
pub use example::{Answers, SecretFrom, SignalAnswers, commented};
pub use mode::mode_finding;
pub use reader::EffectiveValue;
pub use sheet::ValueSource;
pub use units::show_money;
pub use written::{Loaded, load, parse, show};

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use secrecy::SecretString;
use url::Url;

use crate::people::Role;
use crate::time::{Cron, Zone};

/// The whole configuration as meant.
#[derive(Debug, Clone)]
pub struct Config {
    /// Where everything lies.
    pub home: Home,
    /// The zone in which days are counted.
    pub zone: Zone,
    /// The knowledge tree.
    pub workspace: PathBuf,
    /// `[conversation]`
    pub conversation: Conversation,
    /// `[model]`
    pub model: Model,
    /// `[model.fallback]`
    pub fallback: Option<Model>,
    /// `[model.background]`
    pub background: Option<Model>,
    /// `[transcription]`
    pub transcription: Option<Transcription>,
    /// `[budget]`
    pub budget: Budget,
    /// `[telegram]`
    pub telegram: Option<Telegram>,
    /// `[signal]`
    pub signal: Option<Signal>,
    /// `[groups] allowed`: as `telegram:-100…` and `signal:…`
    pub groups: BTreeSet<String>,
    /// `[[people]]`
    pub people: Vec<Person>,
    /// `[agent]`
    pub agent: Agent,
    /// `[memory]`
    pub memory: Memory,
    /// `[embedding]`
    pub embedding: Option<Embedding>,
    /// `[tools]`
    pub tools: Tools,
    /// `[skills]`
    pub skills: Skills,
    /// `[reflection]`
    pub reflection: Reflection,
    /// `[heartbeat]`
    pub heartbeat: Heartbeat,
    /// `[[mcp]]`
    pub mcp: Vec<Mcp>,
    /// `[retention]`
    pub retention: Retention,
}

/// The home directory and what lies in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home(PathBuf);

impl Home {
    /// The home at that path.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    /// The directory itself.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The journal.
    pub fn journal(&self) -> PathBuf {
        self.0.join("compline.db")
    }

    /// The lock that makes its holder the only writer.
    pub fn lock(&self) -> PathBuf {
        self.0.join("lock")
    }

    /// The socket through which other commands reach the running gateway.
    pub fn socket(&self) -> PathBuf {
        self.0.join("compline.sock")
    }

    /// The configuration, unless another file is named.
    pub fn config(&self) -> PathBuf {
        self.0.join("compline.toml")
    }

    /// The key that authenticates backups; never in one.
    pub fn backup_key(&self) -> PathBuf {
        self.0.join("backup.key")
    }

    /// What profiles have learned: layer A, beside the workspace.
    pub fn experience(&self) -> PathBuf {
        self.0.join("experience")
    }

    /// Log files.
    pub fn logs(&self) -> PathBuf {
        self.0.join("logs")
    }
}

/// `[conversation]`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conversation {
    /// A longer silence than this closes a conversation.
    pub gap: Duration,
    /// Messages closer together than this are answered together.
    pub join_within: Duration,
    /// A turn that takes longer is ended.
    pub max_turn: Duration,
}

/// `[model]`, `[model.fallback]`, `[model.background]`
#[derive(Debug, Clone)]
pub struct Model {
    /// Which wire.
    pub provider: Provider,
    /// The name, exactly as the provider spells it; `offline` for the offline model.
    pub name: String,
    /// Another server than the provider's own; never ends in a slash.
    pub base_url: Option<String>,
    /// The key, if one is needed.
    pub api_key: Option<SecretString>,
    /// In tokens.
    pub context_window: u64,
    /// In tokens.
    pub max_output: u64,
    /// Left to the provider if not set.
    pub temperature: Option<f64>,
    /// Whether it can see pictures.
    pub images: bool,
    /// Money for a million tokens.
    pub price: Option<Price>,
    /// How long to wait for the first byte, and between two pieces of an answer.
    pub patience: Duration,
}

/// Money for a million tokens, in micro-units of the currency that the budget counts in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Price {
    /// Of input that was not cached.
    pub input: u64,
    /// Of input served from the provider's cache.
    pub cached: u64,
    /// Of output.
    pub output: u64,
}

/// Which wire a model speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Provider {
    /// The built-in model that needs nothing.
    Offline,
    /// Any server that speaks OpenAI's chat completions.
    OpenAi,
    /// Anthropic.
    Anthropic,
    /// Google Gemini.
    Gemini,
    /// A local Ollama.
    Ollama,
}

impl Provider {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Offline, Self::OpenAi, Self::Anthropic, Self::Gemini, Self::Ollama];

    /// The word for it in the configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Offline => "offline",
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Ollama => "ollama",
        }
    }

    /// The provider of that word.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|provider| provider.as_str() == word)
    }
}

/// `[transcription]`: voice notes to text, by an OpenAI-compatible endpoint.
#[derive(Debug, Clone)]
pub struct Transcription {
    /// Up to and with `/v1`; never ends in a slash.
    pub base_url: String,
    /// The model's name.
    pub name: String,
    /// The key, if one is needed.
    pub api_key: Option<SecretString>,
    /// Price of one minute, in micro-units of money; tokens count where it is unknown.
    pub price_per_minute: Option<u64>,
}

/// `[budget]`: money in micro-units of the currency the prices are in; tokens where a price is
/// unknown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Budget {
    /// All spending of a local day.
    pub daily: Limit,
    /// One person's.
    pub per_person_daily: Limit,
    /// One group's.
    pub per_group_daily: Limit,
    /// Summaries and other work for which nobody waits.
    pub background_daily: Limit,
    /// Percentage of `daily` that only the chats of owners may spend.
    pub owner_reserve: u64,
    /// The most rounds of tool calls in one turn.
    pub tool_rounds: u32,
}

/// A limit in money and one in tokens; each call counts towards one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    /// In micro-units.
    pub micros: u64,
    /// In tokens.
    pub tokens: u64,
}

/// `[telegram]`
#[derive(Debug, Clone)]
pub struct Telegram {
    /// The bot's token.
    pub token: SecretString,
    /// Where the Bot API is; never ends in a slash.
    pub api_url: String,
    /// How messages come.
    pub way_in: TelegramWay,
}

/// How Telegram's messages come.
#[derive(Debug, Clone)]
pub enum TelegramWay {
    /// We ask for them.
    Polling,
    /// Telegram calls.
    Webhook(Webhook),
}

/// Where Telegram calls.
#[derive(Debug, Clone)]
pub struct Webhook {
    /// The public address.
    pub url: Url,
    /// Where we listen.
    pub listen: SocketAddr,
    /// What each call has to show.
    pub secret: SecretString,
}

/// `[signal]`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signal {
    /// Where the daemon listens.
    pub endpoint: SignalEndpoint,
    /// Which of its accounts is ours, if it may have several: a number, or an account identifier.
    pub account: Option<String>,
    /// Where it puts received files, if that can be read from here.
    pub attachments_dir: Option<PathBuf>,
    /// The daemon itself, if it is ours to start: the program and its arguments, or nothing.
    pub command: Vec<String>,
}

/// Where signal-cli's daemon listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SignalEndpoint {
    /// On a Unix socket.
    Unix(PathBuf),
    /// On a TCP port: `HOST:PORT`.
    Tcp(String),
    /// By HTTP: the address up to and without `/api`.
    Http(String),
}

/// One of `[[people]]`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    /// The name under which the assistant knows them.
    pub name: String,
    /// What they may do.
    pub role: Role,
    /// Their numeric Telegram id.
    pub telegram: Option<i64>,
    /// Their Signal number or account identifier.
    pub signal: Option<String>,
    /// The adapter through which they like to be reached, if it matters to them.
    pub prefer: Option<String>,
}

/// `[agent]`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agent {
    /// What the assistant is called.
    pub name: String,
    /// Its profile.
    pub profile: String,
}

/// `[memory]`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Memory {
    /// Whether anything is extracted, kept by a tool, or shown of it.
    pub enabled: bool,
    /// Where the dynamic block stands in a prompt.
    pub placement: Placement,
    /// Extraction runs after so many turns.
    pub extract_every: u32,
    /// The room for the agent's own memory, in tokens; as much again for the global block.
    pub max_tokens: u64,
    /// The share of layer A in it, in per cent.
    pub split: u32,
    /// Whether layer A of a profile is shown to everybody else.
    pub experience_for_all: bool,
}

/// Where the dynamic block stands in a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placement {
    /// Right before the newest message.
    Tail,
    /// With the instructions at the beginning.
    System,
}

/// `[embedding]`
#[derive(Debug, Clone)]
pub struct Embedding {
    /// Which wire.
    pub provider: EmbeddingProvider,
    /// Never ends in a slash: up to and with `/v1` for OpenAI, the root for Ollama.
    pub base_url: String,
    /// The model's name.
    pub name: String,
    /// How many numbers to ask for, if not the model's own.
    pub dimensions: Option<u32>,
    /// The key, if one is needed.
    pub api_key: Option<SecretString>,
}

/// Which wire an embedding model speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EmbeddingProvider {
    /// Any server that speaks OpenAI's embeddings.
    OpenAi,
    /// Ollama's own.
    Ollama,
}

/// `[tools]`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tools {
    /// Whether the assistant may read web pages.
    pub web_fetch: bool,
}

/// `[skills]`
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Skills {
    /// Where they lie.
    pub dir: PathBuf,
    /// Whether a reviewer may approve what is clean in every respect.
    pub reviewer_approves: bool,
    /// Whether what text from outside had a part in is refused instead of waiting.
    pub tainted_is_rejected: bool,
    /// Whether a folder that a person puts there is used without having been accepted.
    pub by_hand_is_live: bool,
}

/// One of `[[mcp]]`: a server of outside tools.
#[derive(Debug, Clone)]
pub struct Mcp {
    /// Its name, which the names of its tools begin with.
    pub name: String,
    /// How it is reached.
    pub reach: McpReach,
    /// Its tools that may be used without a yes whatever was read before.
    pub trusted_read_only: BTreeSet<String>,
    /// The whole environment of its program.
    pub environment: BTreeMap<String, SecretString>,
}

/// How a server of outside tools is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum McpReach {
    /// It is started as a child: the program and its arguments.
    Command(Vec<String>),
    /// It runs at this address.
    Url(Url),
}

impl McpReach {
    /// The directory in which programs start: relative paths lead to the same place whoever starts
    /// Compline, and nothing may be written there.
    pub const START: &'static str = "/";
}

/// `[reflection]`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reflection {
    /// Whether there are any.
    pub enabled: bool,
    /// Whether there are any of members.
    pub members: bool,
    /// When days are looked back on; none for never.
    pub daily: Option<Cron>,
    /// When weeks are.
    pub weekly: Option<Cron>,
    /// When months are.
    pub monthly: Option<Cron>,
    /// With fewer messages of a person than this a day is passed over.
    pub min_messages: u32,
    /// Whether what is proposed for skills goes to the gate.
    pub auto_action: bool,
    /// Who decides about clean proposals.
    pub review: ReflectionReview,
    /// So many go to the gate from one reflection.
    pub max_actions_per_reflection: u32,
    /// So many go to the gate on one local day.
    pub max_actions_per_day: u32,
    /// Periods that ended longer ago are not looked back on, but for the latest of each kind.
    pub catch_up_days: u32,
    /// Whether the owner is told.
    pub tell_owner: bool,
}

/// Who decides about a clean proposal of a reflection.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ReflectionReview {
    /// The owner.
    #[default]
    Human,
    /// The reviewer may approve.
    Ai,
    /// Nobody: what passes the other stages becomes live.
    Nobody,
}

/// `[heartbeat]`
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Heartbeat {
    /// How often; none for never.
    pub interval: Option<Duration>,
    /// Local times of day between which nothing is looked at, in minutes since midnight; the second
    /// may be the smaller one.
    pub quiet: Option<(u32, u32)>,
}

/// `[retention]`: what is older is deleted; not set means kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// Days that the words of messages are kept.
    pub messages_days: Option<u32>,
    /// Days that files which came with messages are kept.
    pub attachments_days: Option<u32>,
    /// Days that log files are kept.
    pub logs_days: Option<u32>,
}
