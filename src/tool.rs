//! What the model may call, and the rules that hold for every tool.
//!
//! A tool is told where its arguments came from and answers with labelled text. The toolbox keeps
//! the rules in one place: an unknown tool, bad arguments and a failure are answered in a sentence
//! that the model can act on; what is too long is cut and says so; and in a tainted turn nothing
//! leaves without a person's yes ([`Egress`], [`Decision`]): not to an address that no person
//! typed, not to a tool of another program, and not into what will be told or done later. Nobody is
//! asked about what could not be done anyway, or about what cannot be shown whole.

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
pub use schedule_tools::Later;
use web::Written;

/// The most characters of a result that go to a model.
pub const MAX_RESULT: usize = 24_000;

/// The most characters that a person is shown before they say yes. What is longer is refused:
/// nobody reads it, and nothing is left out.
const MAX_SHOWN: usize = 2_000;

/// Something that a model may call.
#[async_trait]
pub trait Tool: Send + Sync {
    /// How it is described to a model.
    fn spec(&self) -> ToolSpec;

    /// Whether a call that was cut off may simply be made again.
    fn repeatable(&self) -> bool;

    /// What a call does besides giving a text. It bounds where the tool is offered, so there is
    /// none without it.
    fn effects(&self) -> Effects;

    /// Where a call with these arguments would send something.
    fn reach(&self, arguments: &Value) -> Egress;

    /// Whether a call with these arguments could be made at all: asked before a person is.
    ///
    /// # Errors
    /// Why not.
    fn judge(&self, _: &Value) -> Result<(), ToolError> {
        Ok(())
    }

    /// Makes the call.
    async fn run(&self, call: &AuthorizableCall<'_>) -> Result<Output, ToolError>;
}

/// Where a call sends something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Egress {
    /// Nowhere outside.
    Inside,
    /// To this web address.
    Address(String),
    /// Into what will be told or done later: there nobody would know any more that untrusted words
    /// had a part in it.
    Later,
    /// To a tool of another program.
    Outside {
        /// The configured name of its server.
        server: String,
        /// Its name there.
        tool: String,
    },
}

/// What becomes of a call.
pub enum Decision {
    /// It is made.
    Open(AuthorizedCall),
    /// A person is asked first.
    Ask(Ask),
    /// It is not made; the sentence says why.
    Closed(String),
}

/// A call that no rule is against.
pub struct AuthorizedCall {
    tool: Arc<dyn Tool>,
    arguments: Value,
}

/// What a person is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ask {
    /// What a yes allows.
    pub covers: Covers,
    /// Where it would go: a host, or a tool and its server. One line.
    pub to: String,
    /// The question, in one or two sentences.
    pub question: String,
    /// What would be sent, whole: the address, or the arguments.
    pub shown: String,
}

/// One call.
#[derive(Debug)]
pub struct AuthorizableCall<'a> {
    /// The arguments.
    pub arguments: &'a Value,
    /// Whose turn it is.
    pub scope: Scope,
    /// In which conversation.
    pub conversation: ConversationId,
    /// In which turn.
    pub turn: TurnId,
    /// For whom the turn runs.
    pub person: Option<PersonId>,
    /// The first message that the turn answers: what is to be recalled is older.
    pub before: MessageId,
    /// The addresses that persons typed in this conversation before any text from outside held
    /// them.
    pub typed: &'a [Written],
    /// The addresses that stand in pages of their own host which this turn has read.
    pub linked: &'a [Url],
    /// What a person said yes to, for this turn.
    pub granted: Option<&'a Covers>,
    /// The join of all that the turn has read so far: where the arguments came from.
    pub label: &'a Label,
    /// The hosts that the owner was shown when they accepted the skills which are origins of that
    /// label.
    pub shown_hosts: &'a BTreeSet<String>,
}

impl AuthorizableCall<'_> {
    /// Whether a person is asked before something leaves that none of them typed or said yes to.
    fn must_ask(&self) -> bool {
        self.label.asks_before_leaving()
    }

    /// Whether an address may be opened, or a redirect to it followed, without asking anybody.
    pub fn may_open(&self, url: &Url) -> bool {
        !self.must_ask() || self.knows(url)
    }

    /// Whether a person typed that address or said yes to it, or a page of its own host named it;
    /// or nothing untrusted was read, and a skill in use was accepted with its host.
    fn knows(&self, url: &Url) -> bool {
        let wanted = web::normal(url);
        self.typed.iter().any(|typed| typed.allows(&wanted))
            || self.granted == Some(&covers(&wanted))
            || self.linked.contains(&wanted)
            || self.label.is_trusted() && self.shown_hosts.contains(&web::host_name(&wanted))
    }

    /// Refuses an address without the security with which a person typed it.
    fn refuse_downgrade(&self, url: &Url) -> Result<(), ToolError> {
        let is_typed_so = self.typed.iter().any(|typed| typed.allows(url));
        if !is_typed_so && self.typed.iter().any(|typed| typed.forbids(url)) {
            return Err(ToolError::Refused(crate::wording::tool::TYPED_WITH_HTTPS.to_owned()));
        }
        Ok(())
    }
}

/// What a yes to that address covers.
fn covers(url: &Url) -> Covers {
    Covers::Address(hex(Sha256::digest(url.as_str())))
}

fn hex(hash: impl AsRef<[u8]>) -> String {
    hash.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What a call gave: the text, and where it came from besides the arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// What the model gets to read.
    pub text: String,
    /// Where it came from.
    pub label: Label,
    /// What in the journal its words grew from.
    pub from: Vec<Node>,
}

/// What a call gave, as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolResult {
    /// What the model gets to read.
    pub text: Text,
    /// What in the journal its words grew from.
    pub from: Vec<Node>,
    /// Our own word for what went wrong, if it did.
    pub failed: Option<&'static str>,
}

/// Why a call gave nothing. The text goes to the model, in our own words.
#[derive(Debug, Clone, thiserror::Error, PartialEq, Eq)]
pub enum ToolError {
    /// The arguments make no sense.
    #[error("{0}")]
    Arguments(String),
    /// It did not work; another try may.
    #[error("{0}")]
    Failed(String),
    /// A rule forbids it.
    #[error("{0}")]
    Refused(String),
}

impl ToolError {
    /// Our own word for it, which says nothing of what came from outside.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Arguments(_) => "bad arguments",
            Self::Failed(_) => "failed",
            Self::Refused(_) => "refused",
        }
    }
}

/// The tools of a conversation: the built-in ones, and those of other programs that may be offered.
#[derive(Clone, Default)]
pub struct Toolbox {
    tools: Vec<Arc<dyn Tool>>,
    specs: Arc<[ToolSpec]>,
    outside: Option<Arc<Servers>>,
    joined: Arc<Mutex<Joined>>,
}

/// The descriptions of the outside tools, and the list that they were joined to last.
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
    /// A box with these tools.
    pub fn new(tools: Vec<Arc<dyn Tool>>) -> Self {
        let specs: Arc<[ToolSpec]> = tools.iter().map(|tool| tool.spec()).collect();
        let joined = Joined { outside: Arc::default(), all: Arc::clone(&specs) };
        Self { tools, specs, outside: None, joined: Arc::new(Mutex::new(joined)) }
    }

    /// With these tools besides.
    #[must_use]
    pub fn and(mut self, more: Vec<Arc<dyn Tool>>) -> Self {
        self.tools.extend(more);
        Self { outside: self.outside, ..Self::new(self.tools) }
    }

    /// With the tools of these servers besides.
    #[must_use]
    pub fn with_outside(mut self, servers: Arc<Servers>) -> Self {
        self.outside = Some(servers);
        self
    }

    /// How the tools are described to a model. The same list is given again until an outside tool
    /// is accepted or changes.
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

    /// The names of the tools.
    pub fn names(&self) -> Vec<String> {
        self.specs().iter().map(|spec| spec.name.clone()).collect()
    }

    /// Whether a call of that tool that was cut off may simply be made again.
    pub fn repeatable(&self, name: &str) -> bool {
        self.find(name).is_none_or(|tool| tool.repeatable())
    }

    /// What a call of that tool does besides giving a text; `None` if there is no such tool.
    pub fn effects(&self, name: &str) -> Option<Effects> {
        self.find(name).map(|tool| tool.effects())
    }

    /// What a person may call a tool: its name, and for one of another program also its name there,
    /// alone or behind its server's.
    pub fn names_of(&self, name: &str) -> Vec<String> {
        let mut names = vec![name.to_owned()];
        if let Some(Egress::Outside { server, tool }) = self.find(name).map(|tool| tool.reach(&Value::Null)) {
            names.push(format!("{server}/{tool}"));
            names.push(tool);
        }
        names
    }

    /// What becomes of a call.
    pub fn way(&self, name: &str, arguments: &str, call: &AuthorizableCall<'_>) -> Decision {
        self.decide(name, arguments, call).unwrap_or_else(|error| Decision::Closed(error.to_string()))
    }

    fn decide(&self, name: &str, arguments: &str, call: &AuthorizableCall<'_>) -> Result<Decision, ToolError> {
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

    /// No outside tool is ever found under the name of a built-in one.
    fn find(&self, name: &str) -> Option<Arc<dyn Tool>> {
        self.built_in(name).or_else(|| self.outside.as_ref()?.find(name))
    }

    fn built_in(&self, name: &str) -> Option<Arc<dyn Tool>> {
        let place = self.specs.iter().position(|spec| spec.name == name)?;
        self.tools.get(place).cloned()
    }
}

impl AuthorizedCall {
    /// Makes the call. Whatever happens, there is a text for the model: its label is the join of
    /// where the arguments and the result came from.
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

/// The name under which a yes belongs to a call: SHA-256 over the tool's name and the arguments as
/// they were written.
pub fn digest(name: &str, arguments: &str) -> String {
    let length = u64::try_from(name.len()).unwrap_or(u64::MAX).to_be_bytes();
    let hash = Sha256::new().chain_update(length).chain_update(name).chain_update(arguments).finalize();
    hex(hash)
}

/// What a person has to be asked before something goes there; nothing if the address is known.
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

/// The arguments as a person is shown them: all of them, and nothing in them hidden.
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
