//! The configuration: as written, and as interpreted ([`Config`]).
//!
//! [`load()`] reads the TOML file key by key and records the source of each value (file,
//! environment, default). The rest of the program sees only `Config`: validated, with units, with
//! secrets that never print, and without optional values that have a default.

mod channels;
mod difference;
pub mod error;
pub mod example;
pub mod keys;
pub mod load;
mod mcp;
mod known_models;
mod models;
mod page;
mod private_file;
mod reader;
mod reflection;
mod secrets;
mod sections;
mod skills;
mod units;
mod written_values;

pub use difference::{Changed, Subject, difference};
pub use error::ConfigError;
pub use example::{Answers, SecretFrom, SignalAnswers, commented};
pub use known_models::{KnownModel, known_model};
pub use load::{ConfigSource, LoadedConfig, load, load_with_missing_secrets, mode_finding, parse};
pub use private_file::write_private;
pub use reader::EffectiveValue;
pub use reflection::{Reflection, ReflectionReview, TellOwner};
pub use secrets::{NamedSecret, SecretLocation, SecretPlace, named_secrets, secret_keys, secret_place};
pub use skills::{ByHand, Skills};
pub use units::{money, nearest_zone, show_money};
pub use written_values::ValueSource;

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use secrecy::SecretString;
use url::Url;

use crate::message::ChannelKind;
use crate::people::Role;
use crate::time::Zone;
use crate::wording::Language;

/// The complete configuration.
#[derive(Debug, Clone)]
pub struct Config {
    /// Origin of the settings.
    pub source: ConfigSource,
    /// Home directory.
    pub home: Home,
    /// Time zone that determines the days.
    pub zone: Zone,
    /// Language of groups, and of people without one.
    pub language: Language,
    /// Workspace directory.
    pub workspace: PathBuf,
    /// `[conversation]`
    pub conversation: Conversation,
    /// `[model]`
    pub model: Model,
    /// `[model.fallback]`
    pub fallback: Option<Model>,
    /// `[model.background]`
    pub background: Option<Model>,
    /// `[model.reviewer]`
    pub reviewer: Option<Model>,
    /// `[transcription]`
    pub transcription: Option<Transcription>,
    /// `[budget]`
    pub budget: Budget,
    /// `[telegram]`
    pub telegram: Option<Telegram>,
    /// `[signal]`
    pub signal: Option<Signal>,
    /// `[groups]`.
    pub groups: Groups,
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
    /// `[web]`: the page, unless it is switched off.
    pub web: Option<Web>,
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
    /// `[standby] folder`: the replica.
    pub replica: Option<PathBuf>,
}

/// The home directory and the paths in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home(PathBuf);

impl Home {
    /// Creates a home at `path`.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    /// Returns the directory.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Journal.
    pub fn journal(&self) -> PathBuf {
        self.0.join("compline.db")
    }

    /// Lock that makes its holder the only writer.
    pub fn lock(&self) -> PathBuf {
        self.0.join("lock")
    }

    /// Socket of the running gateway, for other commands.
    pub fn socket(&self) -> PathBuf {
        self.0.join("compline.sock")
    }

    /// Configuration file, unless another one is named.
    pub fn config(&self) -> PathBuf {
        self.0.join("compline.toml")
    }

    /// Number of this home, which its journal repeats.
    pub fn id(&self) -> PathBuf {
        self.0.join("home.id")
    }

    /// Key that authenticates backups. No backup contains it.
    pub fn backup_key(&self) -> PathBuf {
        self.0.join("backup.key")
    }

    /// List of the backups that were made.
    pub fn backup_list(&self) -> PathBuf {
        self.0.join("backups.json")
    }

    /// Experience of the profiles: layer A, outside the workspace.
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
    /// A longer silence closes the conversation.
    pub gap: Duration,
    /// Messages with shorter gaps are answered together.
    pub join_within: Duration,
    /// Time limit of a turn.
    pub max_turn: Duration,
    /// True if photos that a person sends count as theirs.
    pub trust_own_photos: bool,
}

/// `[model]`, `[model.fallback]`, `[model.background]`, `[model.reviewer]`
#[derive(Debug, Clone)]
pub struct Model {
    /// Wire protocol.
    pub provider: Provider,
    /// Name, exactly as the provider spells it; `offline` for the offline model.
    pub name: String,
    /// Server other than the provider's own; never ends in a slash.
    pub base_url: Option<String>,
    /// API key, if needed.
    pub api_key: Option<SecretString>,
    /// Context window in tokens.
    pub context_window: u64,
    /// Maximum output in tokens.
    pub max_output: u64,
    /// Sampling temperature; `None` leaves it to the provider.
    pub temperature: Option<f64>,
    /// `true` if the model supports images.
    pub images: bool,
    /// Price per million tokens.
    pub price: Option<Price>,
    /// Maximum wait for the first byte, and between two pieces of an answer.
    pub patience: Duration,
}

/// Price per million tokens, in micro-units of the budget's currency.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Price {
    /// Price of uncached input.
    pub input: u64,
    /// Price of input from the provider's cache.
    pub cached: u64,
    /// Price of output.
    pub output: u64,
}

/// Wire protocol of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::EnumString, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum Provider {
    /// Built-in model without dependencies.
    Offline,
    /// Any server with OpenAI's chat completions API.
    OpenAi,
    /// Anthropic.
    Anthropic,
    /// Google Gemini.
    Gemini,
    /// Local Ollama.
    Ollama,
}

impl Provider {
    /// All providers.
    pub const ALL: &[Self] = <Self as strum::VariantArray>::VARIANTS;

    /// Returns the name in the configuration.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Parses the name in the configuration.
    pub fn parse(word: &str) -> Option<Self> {
        word.parse().ok()
    }
}

/// `[transcription]`: voice notes to text, by an OpenAI-compatible endpoint.
#[derive(Debug, Clone)]
pub struct Transcription {
    /// Base address, up to and including `/v1`; never ends in a slash.
    pub base_url: String,
    /// Name of the model.
    pub name: String,
    /// API key, if needed.
    pub api_key: Option<SecretString>,
    /// Price per minute, in micro-units of money. Tokens count if it is unknown.
    pub price_per_minute: Option<u64>,
}

/// `[budget]`: money in micro-units of the currency of the prices; tokens where a price is unknown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Budget {
    /// Limit of all spending on a local day.
    pub daily: Limit,
    /// Limit per person.
    pub per_person_daily: Limit,
    /// Limit per group.
    pub per_group_daily: Limit,
    /// Limit of summaries and other background work.
    pub background_daily: Limit,
    /// Percentage of `daily` that is reserved for chats of owners.
    pub owner_reserve: u64,
    /// Maximum rounds of tool calls per turn.
    pub tool_rounds: u32,
}

/// A limit in money and one in tokens; each call counts towards one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    /// Money in micro-units.
    pub micros: u64,
    /// Tokens.
    pub tokens: u64,
}

/// `[telegram]`
#[derive(Debug, Clone)]
pub struct Telegram {
    /// Token of the bot.
    pub token: SecretString,
    /// Address of the Bot API; never ends in a slash.
    pub api_url: String,
    /// Folder in which a local Bot API server keeps files, which it names by their paths.
    pub files_dir: Option<PathBuf>,
    /// Delivery of updates: polling or webhook.
    pub delivery: TelegramDelivery,
}

/// Delivery of Telegram updates.
#[derive(Debug, Clone)]
pub enum TelegramDelivery {
    /// Polling by this program.
    Polling,
    /// Webhook calls by Telegram.
    Webhook(Webhook),
}

/// Webhook for Telegram's calls.
#[derive(Debug, Clone)]
pub struct Webhook {
    /// Public address.
    pub url: Url,
    /// Local address to listen on.
    pub listen: SocketAddr,
    /// Secret that each call must contain.
    pub secret: SecretString,
}

/// `[groups]`
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Groups {
    /// Allowed groups, as `telegram:-100…` and `signal:…`.
    pub allowed: BTreeSet<String>,
    /// `true` if people without access are answered there too.
    pub guests: bool,
}

/// `[signal]`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signal {
    /// Endpoint of the daemon.
    pub endpoint: SignalEndpoint,
    /// The assistant's account, if the daemon may have several: a number, or an account identifier.
    pub account: Option<String>,
    /// Folder where the daemon stores received files, if it is readable from here.
    pub attachments_dir: Option<PathBuf>,
    /// Program and arguments that start the daemon; empty if Compline does not start it.
    pub command: Vec<String>,
}

/// Endpoint of signal-cli's daemon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SignalEndpoint {
    /// Unix socket.
    Unix(PathBuf),
    /// TCP port: `HOST:PORT`.
    Tcp(String),
    /// HTTP address, without `/api`.
    Http(String),
}

/// An entry of `[[people]]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    /// Name by which the assistant knows the person.
    pub name: String,
    /// Role.
    pub role: Role,
    /// Numeric Telegram id.
    pub telegram: Option<i64>,
    /// Signal number or account identifier.
    pub signal: Option<String>,
    /// Preferred adapter.
    pub prefer: Option<String>,
    /// Own time zone; none for the one of the configuration.
    pub zone: Option<Zone>,
    /// Language in which they are addressed; none for the one of their channel or of the home.
    pub language: Option<Language>,
    /// Quiet hours as written, such as `22:00-07:00`; blank for none.
    pub quiet_hours: String,
}

impl Person {
    /// Quiet hours unless others are set.
    pub const QUIET_HOURS: &str = "22:00-07:00";
}

impl Config {
    /// Returns the configured messaging channels. The terminal is none of them: anyone who can open
    /// it is the owner.
    pub fn channels(&self) -> Vec<ChannelKind> {
        let telegram = self.telegram.is_some().then_some(ChannelKind::Telegram);
        telegram.into_iter().chain(self.signal.is_some().then_some(ChannelKind::Signal)).collect()
    }

    /// Returns `true` if it contains an owner's address on this channel.
    pub fn names_owner(&self, channel: ChannelKind) -> bool {
        let owners = self.people.iter().filter(|person| person.role == Role::Owner);
        owners.flat_map(|person| person.addresses()).any(|(on, _)| on == channel)
    }

    /// Returns `[model.reviewer]` if it is none of the models that write proposals: it has another
    /// name than each of them, or another server.
    pub fn own_reviewer(&self) -> Option<&Model> {
        let mut authors = std::iter::once(&self.model).chain(&self.fallback).chain(&self.background);
        self.reviewer
            .as_ref()
            .filter(|own| own.provider != Provider::Offline && !authors.any(|author| author.is_same(own)))
    }
}

impl Model {
    /// Returns whether both are one model: the same name at the same server.
    fn is_same(&self, other: &Self) -> bool {
        (self.provider, &self.base_url) == (other.provider, &other.base_url)
            && self.name.eq_ignore_ascii_case(&other.name)
    }
}

impl Person {
    /// Returns the person's addresses by channel.
    pub fn addresses(&self) -> Vec<(ChannelKind, String)> {
        let telegram = self.telegram.map(|id| (ChannelKind::Telegram, id.to_string()));
        let signal = self.signal.clone().map(|account| (ChannelKind::Signal, account));
        telegram.into_iter().chain(signal).collect()
    }
}

/// `[agent]`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agent {
    /// Name of the assistant.
    pub name: String,
    /// Profile.
    pub profile: String,
}

/// `[memory]`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Memory {
    /// Enables extraction, the tools that store, and memory in prompts.
    pub enabled: bool,
    /// Position of the dynamic block in a prompt.
    pub placement: Placement,
    /// Number of turns between extractions.
    pub extract_every: u32,
    /// Size of the agent's own memory in tokens; the global block has the same size again.
    pub max_tokens: u64,
    /// Share of layer A in it, in per cent.
    pub split: u32,
    /// `true` if layer A of a profile is shown to everyone else.
    pub experience_for_all: bool,
}

/// Position of the dynamic block in a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placement {
    /// Directly before the newest message.
    Tail,
    /// With the instructions at the beginning.
    System,
}

/// `[embedding]`
#[derive(Debug, Clone)]
pub struct Embedding {
    /// Wire protocol.
    pub provider: EmbeddingProvider,
    /// Base address, never ends in a slash: up to and including `/v1` for OpenAI, the root for
    /// Ollama.
    pub base_url: String,
    /// Name of the model.
    pub name: String,
    /// Number of dimensions, if not the model's own.
    pub dimensions: Option<u32>,
    /// API key, if needed.
    pub api_key: Option<SecretString>,
}

/// Wire protocol of an embedding model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EmbeddingProvider {
    /// Any server with OpenAI's embeddings API.
    OpenAi,
    /// Ollama's own API.
    Ollama,
}

/// `[tools]`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tools {
    /// Enables reading web pages.
    pub web_fetch: bool,
}

/// `[web]`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Web {
    /// Local address.
    pub listen: SocketAddr,
    /// Address behind a TLS proxy: `https`, without a path.
    pub public_url: Option<Url>,
    /// Time without use after which a browser is signed out.
    pub session: Duration,
    /// Whether the state of the program is also served under the public address.
    pub public_metrics: bool,
}

/// An entry of `[[mcp]]`: an MCP server.
#[derive(Debug, Clone)]
pub struct Mcp {
    /// Name, and prefix of the names of its tools.
    pub name: String,
    /// Transport.
    pub transport: McpTransport,
    /// Tools that need no consent, even after untrusted text was read.
    pub trusted_read_only: BTreeSet<String>,
    /// Complete environment of the server's program.
    pub environment: BTreeMap<String, SecretString>,
}

/// Transport of an MCP server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum McpTransport {
    /// Child process: program and arguments.
    Command(Vec<String>),
    /// Address of a running server.
    Url(Url),
}

impl McpTransport {
    /// Working directory of the programs. It is fixed and not writable, so relative paths do not
    /// depend on where Compline was started.
    pub const WORKING_DIR: &'static str = "/";
}

/// `[heartbeat]`
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Heartbeat {
    /// Interval; `None` for never.
    pub interval: Option<Duration>,
    /// Quiet hours in local time, in minutes since midnight. The end may be smaller than the start.
    pub quiet: Option<(u32, u32)>,
}

/// `[retention]`: older data is deleted; `None` means kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// Retention of message texts in days.
    pub messages_days: Option<u32>,
    /// Retention of received files in days.
    pub attachments_days: Option<u32>,
    /// Retention of log files in days.
    pub logs_days: Option<u32>,
    /// Days that a replica keeps what was deleted; none without a replica.
    pub replica_days: Option<u32>,
}
