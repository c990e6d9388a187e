//! The tools that a model may call, and the rules that apply to all of them.
//!
//! A tool receives the label of its arguments and returns labelled text. The toolbox applies the
//! rules in one place: unknown tools, bad arguments and failures are answered in a sentence that
//! the model can act on; overlong results are cut and say so; and in a tainted turn nothing leaves
//! without a person's approval ([`Egress`], [`Decision`]): not to an address that no person typed,
//! not to a tool of another program, and not into reminders or scheduled tasks. A question is never
//! asked about a call that would fail anyway, or that cannot be displayed whole.

mod argument;
mod effects;
pub mod files;
pub mod knowledge_tools;
mod schedule_tools;
pub mod load_skill;
pub mod memory_recall;
pub mod memory_save;
pub mod memory_search;
pub mod memory_section;
pub mod mcp;
pub mod react;
pub mod read_reflection;
pub mod recall;
pub mod remember;
pub mod remind;
pub mod schedule;
pub mod scheduled;
pub mod send_file;
pub mod submit_skill;
pub mod web;
pub mod web_fetch;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use serde_json::Value;
use sha2::{Digest, Sha256};
use url::Url;

use crate::id::{ConversationId, MessageId, PersonId, TurnId};
use crate::model::ToolSpec;
use crate::review::reveal::reveal;
use crate::store::{Covers, Node};
use crate::trust::{Label, Labelled, Scope, Text};
pub use effects::Effects;
use mcp::Servers;
pub use schedule_tools::ScheduleStore;
use web::WrittenAddress;

/// The maximum number of characters of a result that go to a model.
pub const MAX_RESULT: usize = 24_000;

/// The maximum number of characters displayed to a person for approval. Longer calls are refused:
/// people do not read that much, and nothing may be left out.
const MAX_SHOWN: usize = 2_000;

/// A function that a model may call.
#[async_trait]
pub trait Tool: Send + Sync {
    /// Returns the description for the model.
    fn spec(&self) -> ToolSpec;

    /// Returns whether an interrupted call may simply be repeated.
    fn repeatable(&self) -> bool;

    /// Returns the effects of a call besides its text. They limit where the tool is offered, so
    /// every tool declares them.
    fn effects(&self) -> Effects;

    /// Returns the destination of a call with these arguments.
    fn reach(&self, arguments: &Value) -> Egress;

    /// Checks whether a call with these arguments could be made at all, before a person is asked.
    ///
    /// # Errors
    /// The reason why not.
    fn judge(&self, _: &Value) -> Result<(), ToolError> {
        Ok(())
    }

    /// Makes the call.
    async fn run(&self, call: &AuthorizableCall<'_>) -> Result<Output, ToolError>;
}

/// The destination of a call's data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Egress {
    /// Nothing leaves.
    Inside,
    /// This web address.
    Address(String),
    /// Reminders and scheduled tasks, where the influence of untrusted text would no longer be
    /// apparent.
    Later,
    /// A tool of another program.
    Outside {
        /// The configured name of its server.
        server: String,
        /// The name on that server.
        tool: String,
    },
}

/// The decision about a call.
pub enum Decision {
    /// The call is allowed.
    Open(AuthorizedCall),
    /// A person is asked first.
    Ask(Ask),
    /// The call is refused, for the reason in this sentence.
    Closed(String),
}

/// A call that no rule forbids.
pub struct AuthorizedCall {
    tool: Arc<dyn Tool>,
    arguments: Value,
}

/// A question to a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ask {
    /// The scope of an approval.
    pub covers: Covers,
    /// The destination: a host, or a tool and its server. One line.
    pub to: String,
    /// The question, in one or two sentences.
    pub question: String,
    /// The complete data to be sent: the address, or the arguments.
    pub shown: String,
}

/// A tool call with its context.
#[derive(Debug)]
pub struct AuthorizableCall<'a> {
    /// The arguments.
    pub arguments: &'a Value,
    /// The scope of the turn.
    pub scope: Scope,
    /// The conversation.
    pub conversation: ConversationId,
    /// The turn.
    pub turn: TurnId,
    /// The person for whom the turn runs.
    pub person: Option<PersonId>,
    /// The first message that the turn answers; recall searches older ones.
    pub before: MessageId,
    /// The addresses that people typed in this conversation before any text from outside contained
    /// them.
    pub typed: &'a [WrittenAddress],
    /// The addresses found in pages of their own host that this turn has read.
    pub linked: &'a [Url],
    /// A person's approval for this turn.
    pub granted: Option<&'a Covers>,
    /// The join of everything the turn has read so far: the label of the arguments.
    pub label: &'a Label,
    /// The hosts displayed to the owner on acceptance of the skills that are origins of this label.
    pub shown_hosts: &'a BTreeSet<String>,
}

impl AuthorizableCall<'_> {
    /// Returns whether a person must approve destinations that they have not typed or approved
    /// already.
    fn must_ask(&self) -> bool {
        self.label.asks_before_leaving()
    }

    /// Returns whether an address may be opened, or a redirect to it followed, without a question.
    pub fn may_open(&self, url: &Url) -> bool {
        !self.must_ask() || self.knows(url)
    }

    /// Returns whether a person typed or approved this address, or a page of its own host named it;
    /// or nothing untrusted was read, and a skill in use was accepted with its host.
    fn knows(&self, url: &Url) -> bool {
        let wanted = web::normal(url);
        self.typed.iter().any(|typed| typed.allows(&wanted))
            || self.granted == Some(&covers(&wanted))
            || self.linked.contains(&wanted)
            || self.label.is_trusted() && self.shown_hosts.contains(&web::host_name(&wanted))
    }

    /// Refuses an http address that a person typed with https.
    fn refuse_downgrade(&self, url: &Url) -> Result<(), ToolError> {
        let is_typed_so = self.typed.iter().any(|typed| typed.allows(url));
        if !is_typed_so && self.typed.iter().any(|typed| typed.forbids(url)) {
            return Err(ToolError::Refused(crate::wording::tool::TYPED_WITH_HTTPS.to_owned()));
        }
        Ok(())
    }
}

/// Returns the scope of an approval of this address.
fn covers(url: &Url) -> Covers {
    Covers::Address(hex::encode(Sha256::digest(url.as_str())))
}

/// The result of a call, with its origins besides the arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// The text for the model.
    pub text: String,
    /// The label.
    pub label: Label,
    /// The origins in the journal.
    pub from: Vec<Node>,
}

/// The result of a call, as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolResult {
    /// The text for the model.
    pub text: Text,
    /// The origins in the journal.
    pub from: Vec<Node>,
    /// Our own word for the failure, if any.
    pub failed: Option<&'static str>,
}

/// The reason for a failed call. The text goes to the model, in our own words.
#[derive(Debug, Clone, thiserror::Error, PartialEq, Eq)]
pub enum ToolError {
    /// Invalid arguments.
    #[error("{0}")]
    Arguments(String),
    /// A failure; a retry may succeed.
    #[error("{0}")]
    Failed(String),
    /// Forbidden by a rule.
    #[error("{0}")]
    Refused(String),
}

impl ToolError {
    /// Returns our own word for the error, which contains nothing from outside.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Arguments(_) => "bad arguments",
            Self::Failed(_) => "failed",
            Self::Refused(_) => "refused",
        }
    }
}

/// The tools of a conversation: the built-in ones, and the permitted ones of other programs.
#[derive(Clone, Default)]
pub struct Toolbox {
    tools: Vec<Arc<dyn Tool>>,
    specs: Arc<[ToolSpec]>,
    outside: Option<Arc<Servers>>,
    joined: Arc<Mutex<Joined>>,
}

/// The descriptions of the outside tools, and the latest list that includes them.
#[derive(Default)]
struct Joined {
    outside: Arc<[ToolSpec]>,
    all: Arc<[ToolSpec]>,
}

impl std::fmt::Debug for Toolbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}

impl Toolbox {
    /// Creates a toolbox with these tools.
    pub fn new(tools: Vec<Arc<dyn Tool>>) -> Self {
        let specs: Arc<[ToolSpec]> = tools.iter().map(|tool| tool.spec()).collect();
        let joined = Joined { outside: Arc::default(), all: Arc::clone(&specs) };
        Self { tools, specs, outside: None, joined: Arc::new(Mutex::new(joined)) }
    }

    /// Adds these tools.
    #[must_use]
    pub fn and(mut self, more: Vec<Arc<dyn Tool>>) -> Self {
        self.tools.extend(more);
        Self { outside: self.outside, ..Self::new(self.tools) }
    }

    /// Adds the tools of these servers.
    #[must_use]
    pub fn with_outside(mut self, servers: Arc<Servers>) -> Self {
        self.outside = Some(servers);
        self
    }

    /// Returns the descriptions for the model. The same list is returned until an outside tool is
    /// accepted or changes.
    pub fn specs(&self) -> Arc<[ToolSpec]> {
        let Some(servers) = &self.outside else { return Arc::clone(&self.specs) };
        let outside = servers.specs();
        let mut joined = self.joined.lock().unwrap_or_else(PoisonError::into_inner);
        if !Arc::ptr_eq(&joined.outside, &outside) {
            let others = outside.iter().filter(|spec| self.built_in(&spec.name).is_none());
            joined.all = self.specs.iter().chain(others).cloned().collect();
            joined.outside = outside;
        }
        Arc::clone(&joined.all)
    }

    /// Returns the names of the tools.
    pub fn names(&self) -> Vec<String> {
        self.specs().iter().map(|spec| spec.name.clone()).collect()
    }

    /// Returns whether an interrupted call of this tool may simply be repeated.
    pub fn repeatable(&self, name: &str) -> bool {
        self.find(name).is_none_or(|tool| tool.repeatable())
    }

    /// Returns the effects of a call of this tool besides its text; `None` if there is no such
    /// tool.
    pub fn effects(&self, name: &str) -> Option<Effects> {
        self.find(name).map(|tool| tool.effects())
    }

    /// Returns the names a person may use for a tool: its own, and for a tool of another program
    /// also its name there, alone or after its server's.
    pub fn names_of(&self, name: &str) -> Vec<String> {
        let mut names = vec![name.to_owned()];
        if let Some(Egress::Outside { server, tool }) = self.find(name).map(|tool| tool.reach(&Value::Null)) {
            names.push(format!("{server}/{tool}"));
            names.push(tool);
        }
        names
    }

    /// Decides about a call.
    pub fn decide(&self, name: &str, arguments: &str, call: &AuthorizableCall<'_>) -> Decision {
        self.try_decide(name, arguments, call).unwrap_or_else(|error| Decision::Closed(error.to_string()))
    }

    fn try_decide(&self, name: &str, arguments: &str, call: &AuthorizableCall<'_>) -> Result<Decision, ToolError> {
        let tool = self.find(name).ok_or_else(|| ToolError::Arguments(crate::wording::tool::unknown(name)))?;
        let arguments = parse_arguments(arguments)?;
        let reach = tool.reach(&arguments);
        if let Egress::Address(address) = &reach
            && let Ok(url) = web::parse(address)
        {
            call.refuse_downgrade(&url)?;
        }
        if call.must_ask() && reach != Egress::Inside {
            tool.judge(&arguments)?;
            if let Some(ask) = ask(name, reach, &arguments, call)?
                && call.granted != Some(&ask.covers)
            {
                return Ok(Decision::Ask(ask));
            }
        }
        Ok(Decision::Open(AuthorizedCall { tool, arguments }))
    }

    /// Finds a tool. The name of a built-in tool never leads to an outside tool.
    fn find(&self, name: &str) -> Option<Arc<dyn Tool>> {
        self.built_in(name).or_else(|| self.outside.as_ref()?.find(name))
    }

    fn built_in(&self, name: &str) -> Option<Arc<dyn Tool>> {
        let place = self.specs.iter().position(|spec| spec.name == name)?;
        self.tools.get(place).cloned()
    }
}

impl AuthorizedCall {
    /// Makes the call. It always returns a text for the model, labelled with the join of the
    /// arguments' and the result's labels.
    pub async fn run(self, call: AuthorizableCall<'_>) -> ToolResult {
        let (label, scope) = (call.label.clone(), call.scope);
        let call = AuthorizableCall { arguments: &self.arguments, ..call };
        let made = self.tool.run(&call).await;
        let failed = made.as_ref().err().map(ToolError::word);
        let output =
            made.unwrap_or_else(|error| Output { text: error.to_string(), label: Label::neutral(), from: Vec::new() });
        let text = crate::text::shorten(&output.text, MAX_RESULT);
        ToolResult {
            text: Labelled::new(Arc::from(text), label.join_with(&output.label), scope),
            from: output.from,
            failed,
        }
    }
}

/// Returns the key under which an approval belongs to a call: SHA-256 over the tool's name and the
/// arguments as written.
pub fn digest(name: &str, arguments: &str) -> String {
    let length = u64::try_from(name.len()).unwrap_or(u64::MAX).to_be_bytes();
    let hash = Sha256::new().chain_update(length).chain_update(name).chain_update(arguments).finalize();
    hex::encode(hash)
}

/// Returns the question to a person before data goes to this destination; `None` if the address is
/// known.
fn ask(name: &str, reach: Egress, arguments: &Value, call: &AuthorizableCall<'_>) -> Result<Option<Ask>, ToolError> {
    let ask = match reach {
        Egress::Inside => return Ok(None),
        Egress::Address(address) => {
            let url = web::parse(&address).map_err(|error| ToolError::Refused(error.to_string()))?;
            if call.knows(&url) {
                return Ok(None);
            }
            let url = web::normal(&url);
            let question = crate::wording::tool::may_i_open(call.label);
            Ask { covers: covers(&url), to: web::host_name(&url), question, shown: url.into() }
        }
        Egress::Later => {
            let question = crate::wording::reminder::may_i(call.label, name);
            Ask { covers: Covers::Call, to: name.to_owned(), question, shown: whole(arguments)? }
        }
        Egress::Outside { server, tool } => {
            let to = reveal(&crate::text::one_line(&format!("{server}/{tool}")));
            let question = crate::wording::tool::may_i_call(call.label, &to);
            Ask { covers: Covers::Call, to, question, shown: whole(arguments)? }
        }
    };
    if ask.shown.chars().count() + ask.to.chars().count() > MAX_SHOWN {
        return Err(ToolError::Refused(crate::wording::tool::too_long_to_ask(call.label, MAX_SHOWN)));
    }
    Ok(Some(ask))
}

/// Returns the arguments as displayed to a person: all of them, with nothing hidden.
fn whole(arguments: &Value) -> Result<String, ToolError> {
    let shown = serde_json::to_string_pretty(arguments).map_err(|error| ToolError::Failed(error.to_string()))?;
    Ok(reveal(&shown))
}

fn parse_arguments(text: &str) -> Result<Value, ToolError> {
    if text.trim().is_empty() {
        return Ok(Value::Object(serde_json::Map::new()));
    }
    match serde_json::from_str(text) {
        Ok(Value::Object(map)) => Ok(Value::Object(map)),
        _ => Err(ToolError::Arguments(crate::wording::tool::BAD_ARGUMENTS.to_owned())),
    }
}

#[cfg(test)]
mod tests;
