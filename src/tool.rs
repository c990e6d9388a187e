//! The tools that a model may call, and the rules that apply to all of them.
//!
//! A tool receives the label of its arguments and returns labelled text. The toolbox applies the
//! rules in one place: unknown tools, arguments that the declared schema does not allow, and
//! failures are answered in a sentence that the model can act on; overlong results are cut and say
//! so; and in a tainted turn nothing leaves without a person's approval ([`Egress`], [`Decision`]):
//! not to an address that no person typed, not to a tool of another program, and not into reminders
//! or scheduled tasks. A question is never asked about a call that would fail anyway, or that
//! cannot be displayed whole.

mod argument; // reading and checking of arguments
pub mod attachments; // files and emoji that go out with an answer
pub mod conversation; // reading earlier conversations and reflections
mod effects; // effects of a call besides its text
pub mod files; // files of the person
pub mod heartbeat; // ticking of items of HEARTBEAT.md
pub mod knowledge; // notes, sections and the note of the day
pub mod marks; // what the arguments of an outside tool are
pub mod mcp; // tools of other programs
pub mod memory_search; // search and recall
mod outcome; // what a call gave, or why it failed
mod permit; // what a lasting yes to an outside tool covers
pub mod open_items; // closing of what is open
pub mod pictures; // pictures put before the model
pub mod question_text; // words of a question; `Toolbox::decide` decides, `engine::turn::call` asks
pub mod schedule; // reminders and tasks
pub mod skill_policy; // where loaded skills let a call go
pub mod skills; // loading and proposing skills
pub mod web; // pages

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use url::Url;

use crate::id::{ConversationId, MessageId, PersonId, TurnId};
use crate::memory::TakenLines;
use crate::model::{ToolCall, ToolSpec};
use crate::people::Party;
use crate::review::reveal::reveal;
use crate::store::{Covers, Journal};
use crate::time::Zone;
use crate::time::task::lock;
use crate::trust::{Label, Labelled, Scope};
use crate::wish::TypedWish;
use crate::wording::tool::{OPEN_IT, unnamed_by_skills};
use crate::wording::{self, Language};
pub use effects::Effects;
use marks::ArgumentMarks;
use mcp::Servers;
pub use outcome::{Output, REFUSED, ToolError, ToolResult};
pub use permit::OutsideCall;
use question_text::QuestionText;
use skill_policy::SkillPolicy;
use web::WrittenAddress;

/// Maximum number of characters of a result that go to a model.
pub const MAX_RESULT: usize = 24_000;

/// Maximum number of characters displayed to a person for approval. Longer calls are refused:
/// people do not read that much, and nothing may be left out.
const MAX_SHOWN: usize = 2_000;

/// A function that a model may call.
#[async_trait]
pub trait Tool: Send + Sync {
    /// Declares the tool. Nothing has a default, so that no effect is forgotten.
    fn declaration(&self) -> ToolDeclaration;

    /// Checks whether a call with these arguments could be made at all, before a person is asked.
    ///
    /// # Errors
    /// Reason why not.
    fn check(&self, _: &Value) -> Result<(), ToolError> {
        Ok(())
    }

    /// Returns the words in which a person is asked before the call, with all data that it would
    /// pass on.
    ///
    /// # Errors
    /// Reason why the call cannot be made.
    async fn question(&self, call: &AuthorizableCall<'_>) -> Result<QuestionText, ToolError> {
        let question = wording::tool::may_i_use(call.language, &self.declaration().spec.name);
        Ok(QuestionText { question, shown: question_text::lines(call.arguments), label: call.label.clone() })
    }

    /// Returns the wish that a call carries out, if its person typed exactly that: then it needs no
    /// question, and keeps the words as they were typed.
    async fn wish<'a>(&self, _: &AuthorizableCall<'a>) -> Result<Option<&'a TypedWish>, ToolError> {
        Ok(None)
    }

    /// Returns the file of which a call would take lines of its person away.
    async fn takes_away(&self, _: &AuthorizableCall<'_>) -> Result<Option<TakenLines>, ToolError> {
        Ok(None)
    }

    /// Returns whether a call of a tool that changes what comes later touches its person alone: then a
    /// question about it waits as long as one about a reminder.
    async fn touches_person_alone(&self, _: &AuthorizableCall<'_>) -> Result<bool, ToolError> {
        Ok(false)
    }

    /// Makes the call.
    async fn run(&self, call: &AuthorizableCall<'_>) -> Result<Output, ToolError>;
}

/// Everything that the rules for all tools need to know of one.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolDeclaration {
    /// Name, description and parameters, for the model.
    pub spec: ToolSpec,
    /// Effects of a call besides its text. They limit where the tool is offered.
    pub effects: Effects,
    /// Destination of a call's data.
    pub egress: Egress,
    /// True if an interrupted call may simply be repeated.
    pub repeatable: bool,
    /// True if a call may remove or replace what there is. It then waits with a question about
    /// another call of its reply.
    pub replaces: bool,
}

impl ToolDeclaration {
    /// Declares a tool that only reads data available to the assistant.
    pub fn reading(spec: ToolSpec) -> Self {
        Self { spec, effects: Effects::READS, egress: Egress::Inside, repeatable: true, replaces: false }
    }
}

/// Destination of a call's data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Egress {
    /// Nothing leaves.
    Inside,
    /// The web address in the argument of this name.
    Address(&'static str),
    /// Scheduled tasks and changes of what is scheduled, where the influence of untrusted text would
    /// no longer be apparent.
    Later,
    /// Words that come back to their person later, and go nowhere else.
    ToPerson,
    /// A tool of another program.
    Outside {
        /// Configured name of its server.
        server: String,
        /// Name on that server.
        tool: String,
        /// What its arguments are.
        marks: Arc<ArgumentMarks>,
    },
}

impl Egress {
    /// Returns a call with these arguments; `None` if it is not one of a tool of another program.
    fn outside_call(&self, spec: &ToolSpec, arguments: &Value) -> Option<OutsideCall> {
        let Self::Outside { server, tool, marks } = self else { return None };
        let values = marks.values(&spec.schema, arguments);
        Some(OutsideCall { server: server.clone(), tool: tool.clone(), values })
    }
}

/// Decision about a call.
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
    /// Scope of an approval.
    pub covers: Covers,
    /// The destination: a host, or a tool and its server. One line.
    pub to: String,
    /// Words, with every hidden character written out.
    pub text: QuestionText,
}

impl Ask {
    /// Returns the number of characters that the person has to read.
    fn length(&self) -> usize {
        self.text.question.chars().count() + self.text.shown.chars().count()
    }
}

/// A tool call with its context.
#[derive(Debug)]
pub struct AuthorizableCall<'a> {
    /// What the person typed as a wish of its own, in the messages that the turn answers.
    pub wishes: &'a [TypedWish],
    /// Arguments.
    pub arguments: &'a Value,
    /// Scope of the turn.
    pub scope: Scope,
    /// Language of the questions to the person.
    pub language: Language,
    /// Conversation.
    pub conversation: ConversationId,
    /// Turn.
    pub turn: TurnId,
    /// Person for whom the turn runs.
    pub person: Option<PersonId>,
    /// First message that the turn answers; recall searches older ones.
    pub before: MessageId,
    /// Addresses that people typed in this conversation before any text from outside contained
    /// them.
    pub typed: &'a [WrittenAddress],
    /// Addresses found in pages of their own host that this turn has read.
    pub linked: &'a [Url],
    /// Part of this call that a person's approval covers.
    pub granted: &'a [Covers],
    /// Join of everything the turn has read so far: the label of the arguments.
    pub label: &'a Label,
    /// Hosts displayed to the owner on acceptance of the skills that are origins of this label.
    pub shown_hosts: &'a BTreeSet<String>,
    /// Policy of the skills that the conversation has loaded.
    pub policy: &'a SkillPolicy,
    /// True if the model in use can be shown pictures.
    pub sees_pictures: bool,
}

impl AuthorizableCall<'_> {
    /// Returns a text argument; blank if there is none.
    fn text(&self, name: &str) -> &str {
        argument::text(self.arguments, name)
    }

    /// Returns our own words about arguments, under the label of those.
    fn own_words(&self, text: impl Into<String>) -> Output {
        Output { text: text.into(), label: self.label.clone(), from: Vec::new() }
    }

    /// Returns the zone in which times are shown and read: that of the person, or of the home.
    async fn zone(&self, journal: &Journal, home: Zone) -> Result<Zone, ToolError> {
        let scope = self.scope;
        let zone = journal.read(move |db| db.people().zone_in(scope, home)).await;
        zone.map_err(|error| ToolError::Failed(format!("{error:#}")))
    }

    /// Returns the party that reads the answer and owns the folder; `None` if there is none.
    async fn party(&self, journal: &Journal) -> anyhow::Result<Option<Party>> {
        Ok(match self.scope {
            Scope::Group(stream) => Some(Party::Group(stream)),
            Scope::Person(id) => journal.read(move |db| db.people().person(id)).await?.map(Party::One),
            Scope::Shared => None,
        })
    }

    /// Returns the wish to note exactly these words, if the person typed one. Only what a turn after
    /// text from outside writes needs one.
    fn wished_note(&self, words: &str) -> Option<&TypedWish> {
        let mut wishes = self.wishes.iter().filter(|wish| wish.when.is_none() && !self.label.is_trusted());
        wishes.find(|wish| wish.has_words(words))
    }

    /// Returns whether the person was shown this call whole and agreed to it, or vouched for all from
    /// outside that had a part in it.
    fn is_agreed(&self) -> bool {
        let is_granted = self.granted.iter().any(|covers| matches!(covers, Covers::Call | Covers::OwnCall));
        is_granted || !self.label.is_trusted() && self.label.is_trusted_here()
    }

    /// Returns whether a person must approve destinations that they have not typed or approved.
    fn must_ask(&self) -> bool {
        self.label.asks_before_leaving()
    }

    /// Returns whether an address may be opened, or a redirect to it followed, without a question.
    pub fn may_open(&self, url: &Url) -> bool {
        !self.must_ask() && self.policy.allows(url) || self.knows(url)
    }

    /// Returns whether a person typed or approved this address, or a page of its own host named it;
    /// or nothing untrusted was read, and a skill in use was accepted with its host.
    fn knows(&self, url: &Url) -> bool {
        let wanted = web::normal(url);
        self.typed.iter().any(|typed| typed.allows(&wanted))
            || self.granted.contains(&covers(&wanted))
            || self.linked.contains(&wanted)
            || self.label.is_of_skills_alone() && self.shown_hosts.contains(&web::host_name(&wanted))
    }

    /// Refuses an http address that a person typed with https.
    fn refuse_downgrade(&self, url: &Url) -> Result<(), ToolError> {
        let is_typed_so = self.typed.iter().any(|typed| typed.allows(url));
        if !is_typed_so && self.typed.iter().any(|typed| typed.forbids(url)) {
            return Err(ToolError::Refused(wording::tool::TYPED_WITH_HTTPS.to_owned()));
        }
        Ok(())
    }
}

/// Returns the scope of an approval of this address.
fn covers(url: &Url) -> Covers {
    Covers::Address(hex::encode(Sha256::digest(url.as_str())))
}

/// Tools of a conversation: the built-in ones, and the permitted ones of other programs.
#[derive(Clone, Default)]
pub struct Toolbox {
    tools: Vec<Arc<dyn Tool>>,
    specs: Arc<[ToolSpec]>,
    outside: Option<Arc<Servers>>,
    joined: Arc<Mutex<Joined>>,
}

/// Descriptions of the outside tools, and the latest list that includes them.
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
        let specs: Arc<[ToolSpec]> = tools.iter().map(|tool| tool.declaration().spec).collect();
        let joined = Joined { outside: Arc::default(), all: Arc::clone(&specs) };
        Self { tools, specs, outside: None, joined: Arc::new(Mutex::new(joined)) }
    }

    /// Adds the tools of these servers.
    #[must_use]
    pub fn with_outside(mut self, servers: Arc<Servers>) -> Self {
        self.outside = Some(servers);
        self
    }

    /// Returns the descriptions for the model, the same list until an outside tool changes.
    pub fn specs(&self) -> Arc<[ToolSpec]> {
        let Some(servers) = &self.outside else { return Arc::clone(&self.specs) };
        let outside = servers.specs();
        let mut joined = lock(&self.joined);
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

    /// Returns the names of the tools that only read.
    pub fn reading(&self) -> Arc<BTreeSet<String>> {
        let only = Effects::READS.and(Effects::READS_PERSONAL).and(Effects::FETCHES);
        let names = self.names().into_iter();
        Arc::new(names.filter(|name| self.effects(name).is_some_and(|effects| effects.are_within(only))).collect())
    }

    /// Returns whether an interrupted call of this tool may simply be repeated.
    pub fn repeatable(&self, name: &str) -> bool {
        self.find(name).is_none_or(|tool| tool.declaration().repeatable)
    }

    /// Returns whether a call of this tool may remove or replace what there is.
    pub fn replaces(&self, name: &str) -> bool {
        self.find(name).is_some_and(|tool| tool.declaration().replaces)
    }

    /// Returns the effects of a call besides its text; `None` if there is no such tool.
    pub fn effects(&self, name: &str) -> Option<Effects> {
        self.find(name).map(|tool| tool.declaration().effects)
    }

    /// Returns the names a person may use for a tool: its own, and for a tool of another program
    /// also its name there, alone or after its server's.
    pub fn names_of(&self, name: &str) -> Vec<String> {
        let mut names = vec![name.to_owned()];
        if let Some(Egress::Outside { server, tool, .. }) = self.find(name).map(|tool| tool.declaration().egress) {
            names.push(format!("{server}/{tool}"));
            names.push(tool);
        }
        names
    }

    /// Returns a call of an outside tool as its tool reads it; `None` for any other call.
    pub fn outside_call(&self, call: &ToolCall) -> Option<OutsideCall> {
        let ToolDeclaration { spec, egress, .. } = self.find(&call.name)?.declaration();
        let arguments = argument::checked(&spec, parse_arguments(&call.arguments).ok()?).ok()?;
        egress.outside_call(&spec, &arguments)
    }

    /// Returns whether a tool was accepted as a search.
    pub fn is_search(&self, name: &str) -> bool {
        let egress = self.find(name).map(|tool| tool.declaration().egress);
        matches!(egress, Some(Egress::Outside { marks, .. }) if marks.search)
    }

    /// Decides about a call.
    pub async fn decide(&self, name: &str, arguments: &str, call: &AuthorizableCall<'_>) -> Decision {
        let decision = self.try_decide(name, arguments, call).await;
        decision.unwrap_or_else(|error| Decision::Closed(error.to_string()))
    }

    async fn try_decide(
        &self,
        name: &str,
        arguments: &str,
        call: &AuthorizableCall<'_>,
    ) -> Result<Decision, ToolError> {
        let tool = self.find(name).ok_or_else(|| ToolError::Arguments(self.unknown(name)))?;
        let ToolDeclaration { spec, egress, .. } = tool.declaration();
        let arguments = argument::checked(&spec, parse_arguments(arguments)?).map_err(ToolError::Arguments)?;
        if let Egress::Address(argument) = egress
            && let Ok(url) = web::parse(argument::text(&arguments, argument))
        {
            call.refuse_downgrade(&url)?;
        }
        let values = egress.outside_call(&spec, &arguments).map(|call| call.values).unwrap_or_default();
        let taken = match egress {
            Egress::Inside if !call.label.is_trusted_here() => {
                tool.takes_away(&AuthorizableCall { arguments: &arguments, ..*call }).await?
            }
            _ => None,
        };
        let must_ask = match egress {
            Egress::Inside => taken.is_some(),
            // It stays here, so what its person vouched for may have a part in it.
            Egress::Later | Egress::ToPerson => call.label.is_of_third_party(),
            Egress::Address(_) => call.must_ask(),
            Egress::Outside { ref marks, .. } => call.must_ask() && !(marks.search && call.policy.are_typed(&values)),
        };
        let unnamed = call.policy.unnamed(&egress, &arguments, &values);
        if must_ask || !unnamed.is_empty() {
            tool.check(&arguments)?;
            let call = AuthorizableCall { arguments: &arguments, ..*call };
            if let Egress::ToPerson = egress
                && tool.wish(&call).await?.is_some()
            {
                return Ok(Decision::Open(AuthorizedCall { tool, arguments }));
            }
            if let Some(ask) = ask(&*tool, egress, &call, taken, must_ask, unnamed).await? {
                return Ok(Decision::Ask(ask));
            }
        }
        Ok(Decision::Open(AuthorizedCall { tool, arguments }))
    }

    fn unknown(&self, name: &str) -> String {
        let names = self.names();
        wording::tool::unknown(name, &argument::nearest(name, names.iter().map(String::as_str)))
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
            from_outside: output.label.asks_before_leaving(),
            failed,
        }
    }
}

/// Returns how many of these questions, from the first on, may be put together: all that the person
/// has to read at once is limited.
pub fn put_together(asks: &[&Ask]) -> usize {
    let lengths = asks.iter().scan(0, |sum: &mut usize, ask| {
        *sum += ask.length();
        Some(*sum)
    });
    lengths.take_while(|sum| *sum <= MAX_SHOWN).count().max(1)
}

/// Returns the key under which an approval belongs to calls: of one, SHA-256 over the tool's name
/// and the arguments as written; of several, SHA-256 over the keys of each.
pub fn digest(calls: &[ToolCall]) -> String {
    let keys = calls.iter().map(|ToolCall { name, arguments, .. }| {
        let length = u64::try_from(name.len()).unwrap_or(u64::MAX).to_be_bytes();
        hex::encode(Sha256::new().chain_update(length).chain_update(name).chain_update(arguments).finalize())
    });
    let keys: Vec<String> = keys.collect();
    if let [key] = &keys[..] { key.clone() } else { hex::encode(Sha256::digest(keys.join(" "))) }
}

/// Returns the question to a person before data goes to this destination; `None` if the address is
/// known, or the call approved. `must_ask` says that the rules about text from outside ask,
/// `unnamed` what no loaded skill names. A yes covers what was shown or, if only the skills ask,
/// the destinations.
async fn ask(
    tool: &dyn Tool,
    egress: Egress,
    call: &AuthorizableCall<'_>,
    taken: Option<TakenLines>,
    must_ask: bool,
    unnamed: BTreeSet<String>,
) -> Result<Option<Ask>, ToolError> {
    let (covers, to, address) = match egress {
        Egress::Inside => match taken {
            Some(taken) => (Covers::Change(taken.digest), wording::tool::change_that_takes(&taken.path), None),
            None => return Ok(None),
        },
        Egress::Address(argument) => {
            let url = web::parse(argument::text(call.arguments, argument))
                .map_err(|error| ToolError::Refused(error.to_string()))?;
            if call.knows(&url) {
                return Ok(None);
            }
            let url = web::normal(&url);
            (covers(&url), web::host_name(&url), Some(String::from(url)))
        }
        Egress::Later | Egress::ToPerson => {
            let is_own = egress == Egress::ToPerson || tool.touches_person_alone(call).await?;
            let covers = if is_own { Covers::OwnCall } else { Covers::Call };
            (covers, tool.declaration().spec.name, None)
        }
        Egress::Outside { server, tool: name, marks } => {
            let to = reveal(&crate::text::one_line(&format!("{server}/{name}")));
            let values = marks.values(&tool.declaration().spec.schema, call.arguments);
            (OutsideCall { server, tool: name, values }.covers(), to, None)
        }
    };
    if call.granted.contains(&covers) {
        return Ok(None);
    }
    let QuestionText { mut question, shown, label } = tool.question(call).await?;
    if !unnamed.is_empty() {
        let (language, opens_alone) = (call.language, address.is_some() && !must_ask);
        let asked = if opens_alone { OPEN_IT.in_language(language).into() } else { question };
        question = format!("{} {asked}", unnamed_by_skills(language, call.policy.names(), &unnamed));
    }
    let (covers, to) = match must_ask {
        true => (covers, to),
        false => (Covers::Destinations(unnamed.clone()), unnamed.into_iter().collect::<Vec<_>>().join(", ")),
    };
    // A yes to an address covers exactly what is shown.
    let text = QuestionText { question: reveal(&question), shown: address.unwrap_or_else(|| reveal(&shown)), label };
    let ask = Ask { covers, to, text };
    if ask.length() > MAX_SHOWN {
        let refusal = match ask.covers {
            Covers::Change(_) => wording::tool::too_long_a_change,
            _ => wording::tool::too_long_to_ask,
        };
        return Err(ToolError::Refused(refusal(call.label, MAX_SHOWN)));
    }
    Ok(Some(ask))
}

fn parse_arguments(text: &str) -> Result<Map<String, Value>, ToolError> {
    if text.trim().is_empty() {
        return Ok(Map::new());
    }
    match serde_json::from_str(text) {
        Ok(Value::Object(map)) => Ok(map),
        _ => Err(ToolError::Arguments(wording::tool::BAD_ARGUMENTS.to_owned())),
    }
}

#[cfg(test)]
mod schedule_tests;
#[cfg(test)]
mod tests;
