//! Tool calls of a turn: made, refused, or put to the person.
//!
//! A question is the turn's one answer, about all calls of the reply that need a yes. The others are
//! made before, except those that remove or replace something, which wait with it. What waits is
//! stored as not made, in the transaction that stores the question and ends the turn; the person's
//! answer becomes its result. A yes, an explicit no, or silence begins another turn: after a yes it
//! makes the calls, which are read from the journal, under a grant that applies only to that turn;
//! otherwise it answers what the person had asked without them, and after silence it asks nothing.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use url::Url;

use super::reply::{answer, is_open};
use super::{PendingCall, Turn, TurnOutcome};
use crate::engine::addresses;
use crate::engine::record::{ConsentAnswer, TurnRecord, calls_of};
use crate::engine::system_run::Allowance;
use crate::id::{GrantId, MessageId, PersonId, QuestionId, StepId};
use crate::model::ToolCall;
use crate::review::diff::fenced;
use crate::review::reveal::reveal;
use crate::store::{
    CallPattern, Covers, Db, GrantKind, GrantRow, NewQuestion, NewStep, Node, PATIENCE, StepKind, TurnRow, Tx,
};
use crate::time::Timestamp;
use crate::tool::skill_policy::SkillPolicy;
use crate::tool::skills::SKILL_READERS;
use crate::tool::web::WrittenAddress;
use crate::tool::{Ask, AuthorizableCall, Decision, REFUSED, ToolResult, digest, put_together};
use crate::trust::{Label, Labelled, Scope, Text};
use crate::wish::TypedWish;
use crate::wording::{Language, Sentence, tool as says};

/// Time that a question about what touches only its person waits for the answer, counted from its
/// delivery.
const A_DAY: Duration = Duration::from_secs(24 * 3600);

/// Failure of a call that a decision prevented.
const NOT_MADE: &str = "not made";

/// The step at which the first granted call is made: the one after the step that holds them.
const GRANTED: u32 = 1;

/// What the decisions about all calls of a reply have in common.
struct Circumstances {
    label: Label,
    shown_hosts: BTreeSet<String>,
    typed: Vec<WrittenAddress>,
    linked: Vec<Url>,
    wishes: Vec<TypedWish>,
}

impl Turn<'_> {
    /// Makes one of the pending calls of the last reply, or refuses it. If none is left but those
    /// that the person has to be asked about first, and those that wait with them, it asks and
    /// returns the end of the turn.
    pub(super) async fn call_one(
        &mut self,
        record: &TurnRecord,
        pending: Vec<PendingCall>,
    ) -> anyhow::Result<Option<TurnOutcome>> {
        let label = self.label_so_far(record);
        let shown_hosts = self.shown_hosts(&label).await?;
        let typed = self.history.addresses.typed_with(record);
        let linked = addresses::linked_in(record, &typed);
        // Without text from elsewhere nothing is asked about that a wish could answer.
        let wishes = if label.asks_before_leaving() { self.wishes(record) } else { Vec::new() };
        let around = Circumstances { label, shown_hosts, typed, linked, wishes };
        // A system run has no person to ask, so the answer is no at once.
        let person = self.row.person.filter(|_| !self.kind().is_run());
        let mut waiting: Vec<(PendingCall, Option<Ask>)> = Vec::new();
        for pending in pending {
            let (call, label) = (&pending.call, &around.label);
            let mut granted = granted(record, pending.seq, call);
            let lasting = self.lasting_grant(call, label, &granted);
            let lasting = lasting.map(|(grant, covers)| {
                granted.push(covers);
                grant.id
            });
            let (allowance, policy) = self.limits_of(call).await?;
            let about = self.about(record, &around, &granted, &policy);
            let refused = match self.decide(&pending, &allowance, &about).await {
                Decision::Ask(_) if record.answer() == Some(ConsentAnswer::Silence) => says::NOT_ASKED_AGAIN.to_owned(),
                Decision::Ask(ask) if person.is_some() => {
                    waiting.push((pending, Some(ask)));
                    continue;
                }
                Decision::Ask(ask) => says::way_out_refused(label, &ask.to),
                Decision::Closed(sentence) => sentence,
                Decision::Open(_) if !waiting.is_empty() && self.engine.toolbox.replaces(&call.name) => {
                    waiting.push((pending, None));
                    continue;
                }
                Decision::Open(authorized) => {
                    // If the grant was taken back meanwhile, the call is decided about again.
                    let Some(step) = self.begin_tool_step(pending.seq, call, label, lasting).await? else {
                        return Ok(None);
                    };
                    let result = authorized.run(about).await;
                    let failed = result.failed;
                    self.store_tool_step(step, &call.name, result).await?;
                    if let Some(how) = failed {
                        self.learn_failure(&call.name, how).await;
                    }
                    return Ok(None);
                }
            };
            let Some(step) = self.begin_tool_step(pending.seq, call, label, None).await? else { return Ok(None) };
            let text = Labelled::new(Arc::from(refused), label.clone(), self.row.scope);
            let result = ToolResult { text, from: Vec::new(), from_outside: false, failed: Some(NOT_MADE) };
            self.store_tool_step(step, &call.name, result).await?;
            return Ok(None);
        }
        let Some(person) = person else { return Ok(None) };
        self.ask_person(person, shown_at_once(waiting), around.label).await.map(Some)
    }

    /// Returns the wishes that the person typed in the messages of this turn.
    pub(super) fn wishes(&self, record: &TurnRecord) -> Vec<TypedWish> {
        if self.kind().is_run() {
            Vec::new()
        } else {
            self.history.authors.wishes_of(record, self.history.shape().zone)
        }
    }

    fn about<'a>(
        &'a self,
        record: &TurnRecord,
        around: &'a Circumstances,
        granted: &'a [Covers],
        policy: &'a SkillPolicy,
    ) -> AuthorizableCall<'a> {
        AuthorizableCall {
            arguments: &serde_json::Value::Null,
            scope: self.row.scope,
            language: self.inputs.language,
            conversation: self.row.conversation,
            turn: self.row.id,
            person: self.row.person,
            before: record.first_message.unwrap_or(MessageId(i64::MAX)),
            typed: &around.typed,
            linked: &around.linked,
            granted,
            wishes: &around.wishes,
            label: &around.label,
            shown_hosts: &around.shown_hosts,
            policy,
            sees_pictures: self.engine.sees(self.models()),
        }
    }

    async fn decide(&self, pending: &PendingCall, allowance: &Allowance, about: &AuthorizableCall<'_>) -> Decision {
        let (toolbox, call) = (&self.engine.toolbox, &pending.call);
        if let Some(sentence) = allowance.refuses(toolbox, &call.name) {
            Decision::Closed(sentence)
        } else if pending.begun && !toolbox.repeatable(&call.name) {
            Decision::Closed(says::OUTCOME_UNKNOWN.to_owned())
        } else {
            toolbox.decide(&call.name, &call.arguments, about).await
        }
    }

    /// Asks about these calls, which ends the turn.
    async fn ask_person(
        &mut self,
        person: PersonId,
        calls: Vec<(PendingCall, Option<Ask>)>,
        label: Label,
    ) -> anyhow::Result<TurnOutcome> {
        let (row, now, language) = (self.row.clone(), self.engine.clock.now(), self.inputs.language);
        let question = PendingQuestion { row, calls, person, label, now, language };
        self.watcher.over();
        self.engine.journal.write("ask the person", move |tx| question.put(tx)).await?;
        self.engine.channels.posted(self.row.address);
        Ok(TurnOutcome::Over)
    }

    /// Returns what a run may do, and where the loaded skills let this call go.
    async fn limits_of(&self, call: &ToolCall) -> anyhow::Result<(Allowance, SkillPolicy)> {
        let (conversation, person) = (self.inputs.conversation.clone(), self.row.person);
        let is_search = self.engine.toolbox.is_search(&call.name);
        let read = move |db: Db<'_>| {
            let policy = SkillPolicy::read(db, conversation.id)?;
            let policy = if is_search { policy.with_words_of(db, conversation.id, person)? } else { policy };
            Ok((Allowance::of(db, &conversation)?, policy))
        };
        self.engine.journal.read(read).await
    }

    /// Hosts that were shown when the skills behind that label were accepted.
    async fn shown_hosts(&self, label: &Label) -> anyhow::Result<BTreeSet<String>> {
        let origins: Vec<_> = label.origins().collect();
        if origins.is_empty() {
            return Ok(BTreeSet::new());
        }
        self.engine.journal.read(move |db| db.skills().hosts_shown_of(origins)).await
    }

    /// Returns the grant under which a call of an outside tool needs no question, and what that is
    /// of the call: the grant covers it, and the context brought no other source since. `None` if
    /// the call needs none.
    fn lasting_grant(&self, call: &ToolCall, label: &Label, granted: &[Covers]) -> Option<(GrantRow, Covers)> {
        if self.grants.is_empty() || !label.asks_before_leaving() {
            return None;
        }
        let call = self.engine.toolbox.outside_call(call)?;
        let (covers, results) = (call.covers(), call.results());
        let still_holds = |grant: &&GrantRow| {
            let known = grant.sources.join_with(&results);
            known.join_with(label) == known
        };
        let tools = self.grants.iter().filter(|grant| grant.kind == GrantKind::Tool && !granted.contains(&covers));
        let mut covering = tools.filter(|grant| call.is_one_of(&CallPattern::decode(&grant.covers)));
        let grant = covering.find(still_holds)?;
        Some((grant.clone(), covers))
    }

    /// Begins a step, and counts it as a use of that grant. `None` if the grant is over.
    async fn begin_tool_step(
        &self,
        seq: u32,
        call: &ToolCall,
        label: &Label,
        grant: Option<GrantId>,
    ) -> anyhow::Result<Option<StepId>> {
        let (row, call, label, now) = (self.row.clone(), call.clone(), label.clone(), self.engine.clock.now());
        let begin_step = move |tx: Tx<'_>| {
            if let Some(grant) = grant
                && !tx.grants().holds(grant)?
            {
                return Ok(None);
            }
            let step = begin(tx, &row, seq, &call, &label, now)?;
            grant.map_or(Ok(()), |grant| tx.grants().use_grant(grant, step, now))?;
            Ok(Some(step))
        };
        self.engine.journal.write("begin a tool step", begin_step).await
    }

    /// Stores a result. What it brings from outside ends each lasting yes to another tool.
    async fn store_tool_step(&self, step: StepId, tool: &str, result: ToolResult) -> anyhow::Result<()> {
        let (turn, conversation, now) = (self.row.id, self.row.conversation, self.engine.clock.now());
        let (reads_skills, tool) = (SKILL_READERS.contains(&tool), tool.to_owned());
        self.engine
            .journal
            .write("store a tool step", move |tx| {
                if result.from_outside {
                    tx.grants().end_tools(conversation, &tool, now)?;
                }
                for source in result.from {
                    if let Node::Version(version) = source
                        && reads_skills
                    {
                        tx.turns().step_read_skill(step, version)?;
                    }
                    tx.derivations().derive(Node::Turn(turn), source)?;
                }
                if let Some(failure) = result.failed {
                    tx.turns().step_failed(step)?;
                    if matches!(failure, NOT_MADE | REFUSED) {
                        tx.turns().step_not_made(step)?;
                    }
                }
                tx.turns().finish_step(step, &result.text, None, "", now)
            })
            .await
    }

    /// Counts a failure of an existing tool. A failure to record it does not prevent an answer.
    async fn learn_failure(&self, tool: &str, how: &'static str) {
        let now = self.engine.clock.now();
        if let Err(error) = self.engine.workspace.notes().learn_failure(&self.inputs.party, tool, how, now).await {
            tracing::warn!(turn.id = %self.row.id, "Turn {}: a failure is not written down: {error:#}", self.row.id);
        }
    }
}

/// Leaves out of a question what is too much to read at once; the rest is asked about when it is
/// its turn.
fn shown_at_once(mut calls: Vec<(PendingCall, Option<Ask>)>) -> Vec<(PendingCall, Option<Ask>)> {
    let together = put_together(&calls.iter().filter_map(|(_, ask)| ask.as_ref()).collect::<Vec<_>>());
    for (_, ask) in calls.iter_mut().filter(|(_, ask)| ask.is_some()).skip(together) {
        *ask = None;
    }
    calls
}

/// A question that is about to be asked.
struct PendingQuestion {
    row: TurnRow,
    /// The calls in question, and without a question those that wait with them.
    calls: Vec<(PendingCall, Option<Ask>)>,
    person: PersonId,
    /// Label of the calls' text.
    label: Label,
    now: Timestamp,
    language: Language,
}

impl PendingQuestion {
    fn put(&self, tx: Tx<'_>) -> anyhow::Result<()> {
        // Stopped meanwhile: the question is moot.
        if !is_open(tx, self.row.id)? {
            return Ok(());
        }
        let mut steps: Vec<StepId> = Vec::new();
        for (PendingCall { seq, call, .. }, _) in &self.calls {
            steps.push(begin(tx, &self.row, *seq, call, &self.label, self.now)?);
        }
        let Some(step) = steps.first() else { anyhow::bail!("Turn {} has no call to ask about", self.row.id) };
        let covers = |(_, ask): &(_, Option<Ask>)| ask.as_ref().map_or(Covers::Nothing, |ask| ask.covers.clone());
        let covers: Vec<Covers> = self.calls.iter().map(covers).collect();
        let calls: Vec<ToolCall> = self.calls.iter().map(|(pending, _)| pending.call.clone()).collect();
        let question = tx.questions().ask(&NewQuestion {
            stream: self.row.stream,
            conversation: self.row.conversation,
            turn: self.row.id,
            step: *step,
            person: self.person,
            address: self.row.address,
            calls: &self.text(serde_json::to_string(&calls)?),
            covers: &covers,
            digest: &digest(&calls),
            at: self.now,
            waits: if self.is_own() { A_DAY } else { PATIENCE },
        })?;
        for step in &steps {
            tx.turns().step_not_made(*step)?;
            tx.turns().finish_step(*step, &self.text(says::asked_first(question)), None, "", self.now)?;
        }
        answer(tx, &self.row, &self.question(question), &self.buttons(question), self.now)
    }

    fn asks(&self) -> impl Iterator<Item = &Ask> {
        self.calls.iter().filter_map(|(_, ask)| ask.as_ref())
    }

    /// Returns true if all of it touches the person alone.
    fn is_own(&self) -> bool {
        self.asks().all(|ask| matches!(ask.covers, Covers::OwnCall | Covers::Change(_)))
    }

    /// Returns the title and command of each button.
    fn buttons(&self, question: QuestionId) -> Vec<(String, String)> {
        let title = |title: Sentence| title.in_language(self.language).into_string();
        let mut buttons = vec![(title(says::YES_BUTTON), format!("/yes {question}"))];
        if let Some(varying) = self.may_last() {
            let lasting = [(says::YES_TEN_BUTTON, "10"), (says::YES_UNTIL_NEW_BUTTON, "new")];
            buttons.extend(lasting.map(|(name, extent)| (title(name), format!("/yes {question} {extent}"))));
            let varying = says::varying_button(self.language, &varying);
            buttons.extend(varying.map(|title| (title, format!("/yes {question} 10 vary"))));
        }
        buttons.push((title(says::NO_BUTTON), format!("/no {question}")));
        buttons
    }

    /// Returns the arguments that may differ in further calls, if a yes may cover any: the question
    /// is about one call of a tool of another program, and not asked in a group.
    fn may_last(&self) -> Option<Vec<String>> {
        let mut asks = self.asks();
        let Covers::Tool { wider, .. } = &asks.next()?.covers else { return None };
        let is_alone = asks.next().is_none() && matches!(self.row.scope, Scope::Person(_));
        is_alone.then(|| wider.iter().flat_map(|wider| &wider.varying).map(|place| reveal(place)).collect())
    }

    /// Returns the question in words, which may name things that the turn has not read.
    fn question(&self, id: QuestionId) -> Text {
        let (mut label, mut calls) = (self.label.clone(), Vec::new());
        for ask in self.asks() {
            label.absorb(&ask.text.label);
            let (question, shown) = (&ask.text.question, &ask.text.shown);
            calls.push(if shown.is_empty() { question.clone() } else { format!("{question}\n\n{}", fenced(shown)) });
        }
        let agree = match self.is_own() {
            true => says::agree_own(self.language, id, calls.len()),
            false => says::agree(self.language, id, calls.len(), PATIENCE.as_secs() / 60),
        };
        let mut words = says::may_i(self.language, &calls, &self.label, &agree);
        if let Some(varying) = self.may_last() {
            words = format!("{words}\n\n{}", says::may_last(self.language, id, &varying));
        }
        Labelled::new(Arc::from(words), label, self.row.scope)
    }

    fn text(&self, words: String) -> Text {
        Labelled::new(Arc::from(words), self.label.clone(), self.row.scope)
    }
}

/// Returns what the person's yes covers of this call: each address for the whole turn, and the call
/// if it is the one that was shown, in its place.
fn granted(record: &TurnRecord, seq: u32, call: &ToolCall) -> Vec<Covers> {
    let Some(question) = record.agreed_to() else { return Vec::new() };
    let calls = record.steps.first().map(calls_of).unwrap_or_default();
    let place = seq.checked_sub(GRANTED).and_then(|place| usize::try_from(place).ok());
    let is_shown = || {
        let shown = place.and_then(|place| calls.get(place));
        let is_same = |shown: &ToolCall| (&shown.name, &shown.arguments) == (&call.name, &call.arguments);
        shown.is_some_and(is_same) && digest(&calls) == question.digest
    };
    let covers = question.covers.iter().enumerate().filter(|(at, covers)| match covers {
        Covers::Address(_) => true,
        Covers::Call | Covers::OwnCall | Covers::Change(_) | Covers::Tool { .. } => Some(*at) == place && is_shown(),
        // A grant of the conversation covers these.
        Covers::Destinations(_) | Covers::Nothing => false,
    });
    covers.map(|(_, covers)| covers.clone()).collect()
}

fn begin(
    tx: Tx<'_>,
    row: &TurnRow,
    seq: u32,
    call: &ToolCall,
    label: &Label,
    now: Timestamp,
) -> anyhow::Result<StepId> {
    let stored = serde_json::to_string(call)?;
    tx.turns().begin_step(&NewStep {
        turn: row.id,
        seq,
        kind: StepKind::Tool,
        tool: &call.name,
        call: &stored,
        label,
        scope: row.scope,
        at: now,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::{AddressId, ConversationId, PersonId, StreamId, TurnId};
    use crate::store::{QuestionRow, QuestionState, StepRow, TurnState};
    use crate::trust::Scope;

    /// A turn that a yes to those calls began.
    fn record(covers: &[Covers], calls: &[ToolCall]) -> TurnRecord {
        let words = |words: &'static str| crate::wording::own(words, Scope::Shared);
        let (stream, conversation, person) = (StreamId(1), ConversationId(1), PersonId(1));
        let label = words("").label().clone();
        let turn = TurnRow {
            id: TurnId(2),
            stream,
            conversation,
            person: Some(person),
            address: AddressId(1),
            scope: Scope::Shared,
            state: TurnState::Running,
            reason: String::new(),
            claimed_at: Timestamp(0),
            context: words(""),
            recalled: words(""),
            interruptions: 0,
            counted: 0,
            label,
            attempts: 0,
            retry_at: None,
            noticed: false,
        };
        let question = QuestionRow {
            id: QuestionId(1),
            stream,
            conversation,
            turn: TurnId(1),
            person,
            address: AddressId(1),
            calls: words("[]"),
            covers: covers.to_vec(),
            digest: digest(calls),
            state: QuestionState::Yes,
            expires_at: None,
            resumed_by: None,
        };
        let step = StepRow {
            made: true,
            failed: false,
            id: StepId(1),
            turn: turn.id,
            seq: 0,
            kind: StepKind::Model,
            done: true,
            tool: String::new(),
            call: serde_json::to_string(calls).unwrap(),
            text: words(""),
        };
        let (messages, speakers, texts, attachments, reacted, sent) = Default::default();
        let edits = Vec::new();
        TurnRecord {
            turn,
            messages,
            speakers,
            texts,
            attachments,
            reacted,
            sent,
            edits,
            steps: vec![step],
            answers: Some(question),
            first_message: None,
        }
    }

    fn call(arguments: &str) -> ToolCall {
        ToolCall { id: "1".into(), name: "send".into(), arguments: arguments.into(), extra: String::new() }
    }

    #[test]
    fn a_yes_to_calls_is_for_exactly_these_in_their_place_once() {
        let [shown, unshown, other] = ["{\"to\": \"ben\"}", "{}", "{\"to\": \"eve\"}"].map(call);
        let calls = [shown.clone(), unshown.clone(), other.clone()];
        let mut record = record(&[Covers::Call, Covers::Nothing, Covers::Call], &calls);
        assert_eq!(granted(&record, 1, &shown), [Covers::Call]);
        assert_eq!(granted(&record, 3, &other), [Covers::Call]);
        for (seq, call) in [(1, &other), (3, &shown), (2, &unshown), (0, &shown), (4, &shown), (5, &shown)] {
            assert_eq!(granted(&record, seq, call), [], "{seq} {call:?}");
        }
        assert_eq!(granted(&record, 1, &ToolCall { name: "sends".into(), ..shown.clone() }), []);
        record.steps[0].call = serde_json::to_string(&[other.clone(), unshown, shown]).unwrap();
        assert_eq!(granted(&record, 1, &other), [], "the stored calls are not those that were shown");
    }

    #[test]
    fn a_yes_to_an_address_is_for_the_whole_turn_and_no_yes_is_for_nothing() {
        let address = Covers::Address("0f3a".to_owned());
        let mut record = record(std::slice::from_ref(&address), &[call("{}")]);
        assert_eq!(granted(&record, 5, &call("{\"url\": 1}")), [address]);
        for state in [QuestionState::Refused, QuestionState::Open, QuestionState::Expired] {
            record.answers.as_mut().unwrap().state = state;
            assert_eq!(granted(&record, 1, &call("{}")), []);
        }
        record.answers = None;
        assert_eq!(granted(&record, 1, &call("{}")), []);
    }
}
