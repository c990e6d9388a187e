//! `/status`, `/whoami` and `/resend`: the program's status, the caller's account, and new attempts
//! for failed deliveries.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::ReportsAdmin;
use super::answer::{Answer, Render, RenderContext, ShownLabel, address_in_words, amount, plain};
use super::conversation_end::ConversationEnds;
use super::heartbeat::heartbeat_json;
use super::people::address_json;
use super::tools::{server_lines, servers_json};
use super::trust::ConversationTrust;
use super::upkeep::Upkeep;
use crate::id::{OutboxId, PersonId};
use crate::message::Health;
use crate::people::{Address, Person};
use crate::schedule::{HeartbeatStatus, UpcomingReflection};
use crate::search::{VECTORS_COUNTED_UP_TO, VectorHealth};
use crate::spend::RemainingBudget;
use crate::store::{Conversation, Db, Tx};
use crate::time::Timestamp;
use crate::tool::mcp::Condition;
use crate::tool::skill_policy::SkillPolicy;
use crate::trust::{Label, Labelled, Scope, Source};
use crate::wording::turn::budget;
use crate::wording::why::all_in_words;
use crate::wording::{
    Language, Sentence, command as says, schedule as says_of_time, search as says_of_search, trust as says_of_trust,
};

/// Number of upcoming slots shown.
const SLOTS: usize = 3;
/// Number of hosts and recipients shown of a loaded skill.
const MAX_NAMES: usize = 8;

/// The status, as far as its reader may see it.
pub struct StatusReport {
    /// Time of the report.
    pub at: Timestamp,
    /// Version of the program.
    pub version: String,
    /// Number of messages that wait for an answer.
    pub inbox: i64,
    /// Failed deliveries.
    pub set_aside: Vec<OutboxId>,
    streams: Vec<StreamStatus>,
    /// The model that is asked first.
    pub model: Option<String>,
    /// Since when the model does not answer, and why.
    pub outage: Option<(Timestamp, Sentence)>,
    /// When the newest request was refused, and the server's own sentence; only for owners.
    pub refusal: Option<(Timestamp, String)>,
    /// The budget that leaves no room for an answer to the reader.
    used_up: Option<String>,
    /// Sources and skills that the reader's own open conversation has read and loaded.
    marks: Option<ReaderMarks>,
    /// `None` if the reader is a member.
    pub program: Option<ProgramStatus>,
}

/// Sources and skills that a person's open conversation has read and loaded.
struct ReaderMarks {
    /// Name of the person.
    reader: String,
    /// Join of everything that it has read.
    label: Label,
    policy: SkillPolicy,
}

impl ReaderMarks {
    fn lines(&self, language: Language, shown: &mut ShownLabel) -> Vec<String> {
        let mut lines = Vec::new();
        // After a vouch it asks only before something leaves.
        lines.extend((!self.label.is_trusted_here()).then(|| {
            let sources = all_in_words(language, &self.label);
            says_of_trust::status(language, &sources)
        }));
        let mut skills = Vec::new();
        for (name, skill) in &self.policy.skills {
            skill.labels.iter().for_each(|label| shown.also(label));
            let names: Vec<String> = skill.names.iter().take(MAX_NAMES).map(|name| plain(name)).collect();
            skills.push(says_of_trust::loaded_skill(language, &plain(name), &names));
        }
        lines.extend((!skills.is_empty()).then(|| says_of_trust::loaded_skills(language, &skills)));
        lines
    }
}

/// The part of the status that only owners see.
pub struct ProgramStatus {
    /// Start of the program.
    pub started_at: Timestamp,
    /// Channels.
    pub adapters: Vec<(String, Health)>,
    /// Servers of outside tools.
    pub servers: BTreeMap<String, Condition>,
    /// Number of messages to be delivered.
    pub outbox: i64,
    /// Number of proposals that wait for a decision.
    pub pending: usize,
    /// Last upkeep, check and restore.
    pub upkeep: Upkeep,
    /// `None` if no vectors are computed.
    embedding: Option<VectorHealth>,
    upcoming: Vec<UpcomingReflection>,
    heartbeats: Vec<HeartbeatStatus>,
    /// Remaining budget.
    pub budget: RemainingBudget,
    /// Size of the journal with its log in bytes.
    pub journal_bytes: u64,
    /// Free space on its disk in bytes, if known.
    pub free_bytes: Option<u64>,
}

/// The state of a stream.
struct StreamStatus {
    /// Name of the person or group.
    with: String,
    waiting: i64,
    newest: Option<Conversation>,
    /// True if the newest conversation continues.
    goes_on: bool,
}

impl StreamStatus {
    fn current(&self) -> Option<&Conversation> {
        self.newest.as_ref().filter(|_| self.goes_on)
    }
}

/// A person's account.
pub(super) struct AccountReport {
    person: Person,
    addresses: Vec<Address>,
    /// The conversation that continues.
    current: Option<Conversation>,
}

impl ReportsAdmin<'_> {
    /// The status for a reader; with `only`, as far as it concerns that person.
    pub async fn status(&self, reader: Option<&Person>, only: Option<PersonId>) -> anyhow::Result<StatusReport> {
        let used_up = match reader {
            Some(reader) => self.engine.chat.used_up(Scope::Person(reader.id)).await?,
            None => None,
        };
        let (ends, reader) = (self.ends(), reader.cloned());
        let read = move |db: Db<'_>| {
            let marks = match &reader {
                Some(reader) => {
                    let (label, policy) = ConversationTrust::marks(db, reader, &ends)?;
                    Some(ReaderMarks { reader: reader.name.clone(), label, policy })
                }
                None => None,
            };
            Ok((streams(db, only, &ends)?, db.outbox().set_aside(only)?, marks))
        };
        let (streams, set_aside, marks) = self.journal.read(read).await?;
        Ok(StatusReport {
            marks,
            at: self.clock.now(),
            version: self.version.clone(),
            inbox: streams.iter().map(|stream| stream.waiting).sum(),
            set_aside: set_aside.iter().map(|row| row.id).collect(),
            streams,
            model: self.model_in_use(),
            outage: self.engine.outage(),
            refusal: self.engine.chat.refusal().filter(|_| only.is_none()),
            used_up,
            program: if only.is_some() { None } else { Some(self.program_status().await?) },
        })
    }

    async fn program_status(&self) -> anyhow::Result<ProgramStatus> {
        let (outbox, upkeep) = self.journal.read(|db| Ok((db.outbox().waiting_outbox()?, Upkeep::read(db)?))).await?;
        let embedding = match self.index.vectors() {
            Some(vectors) => Some(vectors.health().await?),
            None => None,
        };
        let mut upcoming = self.schedule.coming(self.clock.now()).await?;
        upcoming.truncate(SLOTS);
        let journal = self.config.home.journal();
        let size = |path: &std::path::Path| std::fs::metadata(path).map_or(0, |file| file.len());
        Ok(ProgramStatus {
            started_at: self.engine.began(),
            journal_bytes: size(&journal) + size(&journal.with_extension("db-wal")),
            free_bytes: self.schedule.free_space.bytes(),
            adapters: self.channels.health(),
            servers: self.mcp.conditions().into_iter().collect(),
            outbox,
            pending: self.review.pending().await?.len(),
            upkeep,
            embedding,
            upcoming,
            heartbeats: self.schedule.heartbeats(None).await?,
            budget: self.ledger.left().await?,
        })
    }

    /// A person's account.
    pub(super) async fn whoami(&self, person: &Person) -> anyhow::Result<AccountReport> {
        let (id, ends) = (person.id, self.ends());
        let (addresses, streams) =
            self.journal.read(move |db| Ok((db.addresses().addresses_of(id)?, streams(db, Some(id), &ends)?))).await?;
        Ok(AccountReport {
            person: person.clone(),
            addresses: addresses.into_iter().map(|known| known.address).collect(),
            current: streams.first().and_then(StreamStatus::current).cloned(),
        })
    }

    /// The parameters for computing the end of a conversation.
    pub(super) fn ends(&self) -> ConversationEnds {
        ConversationEnds::new(self.engine.conversation.gap, self.clock.now())
    }

    /// Resends one failed delivery, or all; with `only`, only those addressed to that person.
    pub async fn resend(
        &self,
        only: Option<PersonId>,
        one: Option<OutboxId>,
        language: Language,
    ) -> anyhow::Result<Answer> {
        let again = move |tx: Tx<'_>| {
            let mut rows = tx.outbox().set_aside(only)?;
            rows.retain(|row| one.is_none_or(|id| id == row.id));
            for row in &rows {
                tx.outbox().resend(row.id)?;
            }
            Ok(rows)
        };
        let rows = self.journal.write("send again", again).await?;
        for row in &rows {
            self.engine.channels.posted(row.address);
        }
        let numbers: Vec<OutboxId> = rows.iter().map(|row| row.id).collect();
        match (rows.is_empty(), one) {
            (false, _) => Ok(Answer::ours(says::resent(language, rows.len()), json!({ "resent": numbers }))),
            (true, None) => Ok(Answer::ours(says::NOTHING_SET_ASIDE.in_language(language), json!({ "resent": [] }))),
            (true, Some(_)) => Ok(Answer::refusal(says::NOT_SET_ASIDE.in_language(language))),
        }
    }
}

fn streams(db: Db<'_>, only: Option<PersonId>, ends: &ConversationEnds) -> anyhow::Result<Vec<StreamStatus>> {
    let mut found = Vec::new();
    for (id, person, _) in db.conversations().streams()? {
        let with = match person {
            Some(person) if only.is_none_or(|only| only == person) => {
                db.people().person(person)?.map(|person| person.name)
            }
            None if only.is_none() => db.groups().group_of(id)?.map(|(_, group)| says::group(&group)),
            _ => None,
        };
        let Some(with) = with else { continue };
        let newest = db.conversations().newest_conversation(id)?;
        let goes_on = newest.as_ref().is_some_and(|newest| ends.of(newest).is_none());
        found.push(StreamStatus { with, waiting: db.messages().waiting_in(id)?, newest, goes_on });
    }
    Ok(found)
}

impl Render for StatusReport {
    fn markdown(&self, context: &RenderContext<'_>, shown: &mut ShownLabel) -> String {
        let (zone, language, program) = (context.zone, context.language(), self.program.as_ref());
        let mut lines = vec![says::status_head(context.agent, &self.version, zone.name())];
        if let Some(program) = program {
            lines.extend(program.adapters.iter().map(|(name, health)| adapter_line(language, name, health, self.at)));
            lines.extend(Some(server_lines(&program.servers, language, zone)).filter(|servers| !servers.is_empty()));
        }
        lines.push(says::status_queues(language, self.inbox, program.map(|program| program.outbox)));
        let numbers: Vec<String> = self.set_aside.iter().map(ToString::to_string).collect();
        lines.extend((!numbers.is_empty()).then(|| says::status_set_aside(&numbers, context.surface)));
        if let Some(program) = program {
            lines.push(says::status_proposals(language, program.pending));
            lines.extend(program.upkeep.lines(context));
            lines.extend(program.embedding.as_ref().map(|health| embedding_line(health, context)));
        }
        for stream in &self.streams {
            lines.push(stream_line(stream, context));
            let own = self.marks.as_ref().filter(|marks| marks.reader == stream.with);
            lines.extend(own.into_iter().flat_map(|marks| marks.lines(language, shown)));
        }
        if let Some(program) = program {
            let times = program.upcoming.iter();
            let times = times.map(|next| says_of_time::slot(language, next.job.as_str(), &context.upcoming(next.at)));
            lines.extend(says_of_time::slots(language, &times.collect::<Vec<_>>()));
            lines.extend(program.heartbeats.iter().map(|heartbeat| heartbeat_line(heartbeat, context)));
        }
        let outage = self.outage.map(|(since, why)| (context.near(since), why.in_language(language)));
        lines.push(says::status_model(language, &plain(self.model.as_deref().unwrap_or_default()), outage));
        lines.extend(self.refusal.as_ref().map(|(at, why)| {
            let why = server_words(why);
            let why: &String = shown.words(&why);
            says::status_refusal(language, &context.near(*at), &plain(why))
        }));
        lines.extend(self.used_up.as_deref().map(|which| says::used_up(language, which)));
        lines.extend(program.map(|program| says::left(language, program.budget.all.micros, program.budget.all.tokens)));
        lines.join("\n")
    }

    fn json(&self, context: &RenderContext<'_>, _: &mut ShownLabel) -> Value {
        let program = self.program.as_ref();
        let list = |make: fn(&ProgramStatus) -> Value| program.map_or_else(|| json!([]), make);
        json!({
            "version": self.version,
            "zone": context.zone.name(),
            "started_at": program.map(|program| program.started_at.rfc3339()),
            "adapters": list(|program| program.adapters.iter().map(adapter_json).collect()),
            "servers": list(|program| servers_json(&program.servers)),
            "queues": {
                "inbox": self.inbox,
                "outbox": program.map_or(0, |program| program.outbox),
                "set_aside": self.set_aside.len(),
            },
            "streams": self.streams.iter().map(stream_json).collect::<Value>(),
            "slots": list(|program| program.upcoming.iter().map(slot_json).collect()),
            "heartbeats": list(|program| program.heartbeats.iter().map(heartbeat_json).collect()),
            "proposals": { "pending": program.map_or(0, |program| program.pending) },
            "upkeep": program.map_or_else(|| json!({}), |program| program.upkeep.json()),
            "embeddings": embedding_json(program.and_then(|program| program.embedding.as_ref())),
            "budget": program.map_or_else(|| json!({}), |program| budget_json(&program.budget)),
            "model": self.model,
            "outage": self.outage.map(|(since, why)| json!({ "since": since.rfc3339(), "why": &*why.in_language(Language::ENGLISH) })),
            "used_up": self.used_up.as_deref().map(|which| budget(Language::ENGLISH, which)),
        })
    }
}

impl Render for AccountReport {
    fn markdown(&self, context: &RenderContext<'_>, _: &mut ShownLabel) -> String {
        let since = self.current.as_ref().map(|conversation| context.near(conversation.opened_at));
        let language = context.language();
        let reached: Vec<String> = self.addresses.iter().map(address_in_words).collect();
        let lines = [
            says::whoami(language, &self.person.name, self.person.role.as_str()),
            says::reached(language, &reached),
            says::since(language, since.as_deref()),
            says::MEMORY_SCOPE.in_language(language).into_string(),
        ];
        lines.join("\n")
    }

    fn json(&self, _: &RenderContext<'_>, _: &mut ShownLabel) -> Value {
        json!({
            "name": self.person.name,
            "role": self.person.role,
            "addresses": self.addresses.iter().map(address_json).collect::<Value>(),
            "conversation": self.current.as_ref().map(|conversation| conversation.id),
            "since": self.current.as_ref().map(|conversation| conversation.opened_at.rfc3339()),
            "scope": Scope::Person(self.person.id).encode(),
        })
    }
}

fn adapter_line(language: Language, name: &str, health: &Health, now: Timestamp) -> String {
    let ago = |at: Option<Timestamp>| at.map(|at| now.since(at));
    let (heard, message) = (ago(health.last_event_at), ago(health.last_message_at));
    says::adapter(language, name, health.problem.as_deref(), heard, message, health.chat_problem.as_deref())
}

fn heartbeat_line(heartbeat: &HeartbeatStatus, context: &RenderContext<'_>) -> String {
    let last = heartbeat.ran_at.map(|at| context.near(at));
    let next = heartbeat.next_at.map(|at| context.upcoming(at));
    says_of_time::heartbeat_status(context.language(), &heartbeat.person, last.as_deref(), next.as_deref())
}

/// What a model's server said, as text from outside.
fn server_words(said: &str) -> Labelled<String> {
    Labelled::new(said.to_owned(), Label::untrusted(Source::model_server()), Scope::Shared)
}

fn stream_line(stream: &StreamStatus, context: &RenderContext<'_>) -> String {
    let language = context.language();
    let Some(newest) = &stream.newest else { return says::stream_silent(language, &stream.with) };
    let last = context.near(newest.last_at);
    says::stream(language, &stream.with, stream.current().map(|conversation| conversation.id), &last)
}

fn adapter_json((name, health): &(String, Health)) -> Value {
    json!({
        "name": name,
        "state": if health.problem.is_none() { "ok" } else { "trouble" },
        "last_event_at": health.last_event_at.map(Timestamp::rfc3339),
        "last_message_at": health.last_message_at.map(Timestamp::rfc3339),
        "trouble": health.problem,
        "remark": health.chat_problem,
    })
}

fn slot_json(next: &UpcomingReflection) -> Value {
    json!({ "job": next.job.as_str(), "period": next.period, "due_at": next.at.rfc3339() })
}

fn stream_json(stream: &StreamStatus) -> Value {
    json!({
        "person": stream.with,
        "conversation": stream.current().map(|conversation| conversation.id),
        "last_message_at": stream.newest.as_ref().map(|newest| newest.last_at.rfc3339()),
    })
}

fn budget_json(left: &RemainingBudget) -> Value {
    json!({
        "day": left.day,
        "left": amount(left.all.micros),
        "left_tokens": left.all.tokens,
        "background_left": amount(left.background.micros),
        "background_left_tokens": left.background.tokens,
    })
}

/// State of the semantic search, for people.
fn embedding_line(health: &VectorHealth, context: &RenderContext<'_>) -> String {
    let VectorHealth { source, model, dimensions, kept, lacking, .. } = health;
    let (language, counted_up_to) = (context.language(), VECTORS_COUNTED_UP_TO);
    let (source, model) = (plain(source), plain(model));
    let mut what =
        says_of_search::embedding_model(language, &source, &model, *dimensions, *kept, *lacking, counted_up_to);
    if let Some(away) = &health.away {
        let (since, next) = (context.near(away.since), context.near(away.next));
        what = says_of_search::embedding_unreachable(language, &what, &plain(&away.why), &since, &next);
    }
    says_of_search::embedding_status(language, &what)
}

/// The same for programs; `null` if no vectors are computed. `trouble` and `next_at` are present
/// while the server is unreachable.
fn embedding_json(health: Option<&VectorHealth>) -> Value {
    let Some(health) = health else { return Value::Null };
    let failed = health.failed.as_ref();
    json!({
        "source": health.source,
        "model": health.model,
        "dimensions": health.dimensions,
        "with_vector": health.kept,
        "without_vector": health.lacking,
        "in_memory": health.loaded,
        "complete": health.is_complete,
        "trouble": health.away.as_ref().map(|away| &away.why),
        "since": health.away.as_ref().map(|away| away.since.rfc3339()),
        "next_at": health.away.as_ref().map(|away| away.next.rfc3339()),
        "last_failure": failed.map(|(why, _)| why),
        "last_failure_at": failed.map(|(_, at)| *at).map(Timestamp::rfc3339),
    })
}

#[cfg(test)]
mod tests;
