//! A small set-up for testing commands: a journal, a stopped clock, two people, and two models
//! without dependencies.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::super::answer::Render;
use super::super::{Admin, Answer, Caller, Channels};
use crate::config::{Budget, Config, Conversation, Home, Limit};
use crate::engine::{ChannelAccess, Engine, Watcher};
use crate::id::{AddressId, ConversationId, MessageId, ProposalId, ReminderId, TurnId};
use crate::memory::Workspace;
use crate::message::{ChannelKind, FetchFileError, Health, StartLink, StartWay};
use crate::model::offline::Offline;
use crate::model::{Model, ModelInfo};
use crate::people::{Address, Person, Role};
use crate::reflection::Reflector;
use crate::review::{self, OutboxNotifier, Policy, ProposalOrigin, Review, Reviewer, Staged};
use crate::schedule::Schedule;
use crate::skill::{MAIN, SkillFolder};
use crate::spend::{Ledger, ModelPool};
use crate::store::{
    BoundaryReason, CodeUse, ConversationKind, Journal, MessageKind, NewConversation, NewMessage, NewReminder,
    ReminderKind, Reservation, SummaryContent, SummaryInputs, SummaryState, TextKind, Tx,
};
use crate::time::{Clock, SimulatedClock, Timestamp, Zone};
use crate::tool::Toolbox;
use crate::tool::mcp::{Limits, Servers};
use crate::trust::{Label, Labelled, Scope, Source};
use crate::wording::review::Surface;

/// 2026-11-21 09:00 UTC, a Saturday.
pub(in crate::admin) const START: Timestamp = Timestamp(1_795_251_600_000);

/// The keys of an object, in their order.
pub(in crate::admin) fn keys(json: &Value) -> Vec<&str> {
    json.as_object().unwrap().keys().map(String::as_str).collect()
}

/// A `SKILL.md`.
pub(in crate::admin) fn skill(name: &str, words: &str) -> String {
    format!("---\nname: {name}\ndescription: How to make {name}. Use when somebody wants some.\n---\n\n{words}\n")
}

/// The location of a stored message.
#[derive(Debug, Clone, Copy)]
pub(in crate::admin) struct PostedMessage {
    pub(in crate::admin) conversation: ConversationId,
    pub(in crate::admin) message: MessageId,
}

/// The test set-up.
pub(in crate::admin) struct Fixture {
    pub(in crate::admin) admin: Admin,
    pub(in crate::admin) clock: Arc<SimulatedClock>,
    journal: Journal,
    home: tempfile::TempDir,
    people: Vec<Person>,
}

impl Fixture {
    /// Creates a set-up with Ada, the owner from the configuration, and Ben, a paired member.
    pub(in crate::admin) async fn new() -> Self {
        let mut fixture = Self::without_people().await;
        fixture.declares("Ada", Role::Owner).await;
        fixture.pairs("Ben", Role::Member).await;
        fixture.links("Ada", "telegram", "101").await;
        fixture.links("Ben", "telegram", "102").await;
        fixture.people = fixture.journal.read(|db| db.people().people()).await.unwrap();
        fixture
    }

    /// Creates a set-up without people.
    pub(in crate::admin) async fn without_people() -> Self {
        let home = tempfile::tempdir().unwrap();
        let journal = Journal::open_or_copy(&home.path().join("compline.db"), None).unwrap();
        let clock = Arc::new(SimulatedClock::new(START));
        let admin = admin(&journal, &clock, home.path()).await;
        Self { admin, clock, journal, home, people: Vec::new() }
    }

    /// Renders the result of a query as the command line shows it.
    pub(in crate::admin) fn rendering(&self, result: &dyn Render) -> Answer {
        Answer::rendering(result, &self.admin.render_context(Surface::CommandLine))
    }

    pub(in crate::admin) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub(in crate::admin) fn ada(&self) -> Caller {
        self.caller("Ada")
    }

    pub(in crate::admin) fn ben(&self) -> Caller {
        self.caller("Ben")
    }

    fn caller(&self, name: &str) -> Caller {
        let person = self.people.iter().find(|person| person.name == name).unwrap().clone();
        Caller { person, group: None, language: None }
    }

    pub(in crate::admin) async fn declares(&self, name: &'static str, role: Role) {
        self.write(move |tx| tx.people().allow(name, role, "config", START).map(drop)).await;
    }

    pub(in crate::admin) async fn pairs(&self, name: &'static str, role: Role) {
        self.write(move |tx| tx.people().allow(name, role, "pairing", START).map(drop)).await;
    }

    pub(in crate::admin) async fn links(&self, name: &'static str, adapter: &'static str, peer: &'static str) {
        self.write(move |tx| {
            let person = tx.people().person_named(name)?.map(|person| person.id);
            tx.addresses().link(&Address::new(adapter, "bot", peer), person, START).map(drop)
        })
        .await;
    }

    pub(in crate::admin) async fn is_contacted_by(&self, adapter: &'static str, sender: &'static str) {
        self.write(move |tx| {
            tx.addresses().record_stranger(&Address::new(adapter, "bot", sender), "Eve", START, "2026-11-21").map(drop)
        })
        .await;
    }

    /// Stores a message from a person that waits for an answer.
    pub(in crate::admin) async fn says(&self, name: &'static str, words: &'static str) -> PostedMessage {
        self.write(move |tx| add(tx, name, MessageKind::Said, words, Label::trusted())).await
    }

    /// Stores a reply to a person, made after the assistant read untrusted text.
    pub(in crate::admin) async fn receives(
        &self,
        name: &'static str,
        words: &'static str,
        source: Source,
    ) -> PostedMessage {
        self.write(move |tx| add(tx, name, MessageKind::Reply, words, Label::untrusted(source))).await
    }

    pub(in crate::admin) async fn closes(&self, conversation: ConversationId) {
        self.write(move |tx| tx.conversations().close_conversation(conversation, START)).await;
    }

    pub(in crate::admin) async fn sums_up(&self, said: &PostedMessage, title: &'static str, decision: &'static str) {
        let PostedMessage { conversation, message } = *said;
        self.write(move |tx| {
            let scope = tx.conversations().conversation(conversation)?.unwrap().scope;
            tx.summaries().request_summary(
                conversation,
                message,
                SummaryInputs::Trusted,
                &Label::trusted(),
                scope,
                START,
            )?;
            let row = tx.summaries().wanted_row(conversation, message, SummaryInputs::Trusted)?.unwrap();
            let content = SummaryContent {
                title: title.to_owned(),
                decisions: vec![decision.to_owned()],
                ..SummaryContent::default()
            };
            tx.summaries().store_summary(
                row,
                SummaryState::Made,
                &Labelled::new(content, Label::trusted(), scope),
                "offline/first",
                START,
            )
        })
        .await;
    }

    /// Records a model call for a person, with its price if known.
    pub(in crate::admin) async fn spends(&self, name: &'static str, model: &'static str, micros: Option<u64>) {
        self.write(move |tx| {
            let person = tx.people().person_named(name)?.unwrap().id;
            tx.spending()
                .reserve(&Reservation {
                    guessed: 0,
                    turn: None,
                    person: Some(person),
                    scope: Scope::Person(person),
                    purpose: "chat",
                    model,
                    day: "2026-11-21",
                    at: START,
                    priced: micros.is_some(),
                    input: 100,
                    output: 20,
                    micros: micros.unwrap_or(0),
                })
                .map(drop)
        })
        .await;
    }

    /// Adds a reminder that many seconds after the start, recurring if `cron` is given.
    pub(in crate::admin) async fn reminds(
        &self,
        name: &'static str,
        words: &'static str,
        cron: &'static str,
        seconds: u64,
    ) -> ReminderId {
        self.write(move |tx| {
            let person = tx.people().person_named(name)?.unwrap().id;
            let text = Labelled::new(Arc::from(words), Label::trusted(), Scope::Person(person));
            tx.reminders().add_reminder(&NewReminder {
                person,
                kind: ReminderKind::Reminder,
                text: &text,
                cron: Some(cron).filter(|cron| !cron.is_empty()),
                next_at: START.plus(Duration::from_secs(seconds)),
                until: None,
                turn: None,
                agreed_at: None,
                at: START,
            })
        })
        .await
    }

    /// Uses a pairing code.
    pub(in crate::admin) async fn uses(&self, code: &str, at: Timestamp) -> CodeUse {
        let code = code.to_owned();
        self.write(move |tx| tx.pairing().use_code(&code, at)).await
    }

    /// Number of codes created so far.
    pub(in crate::admin) async fn pairing_codes(&self) -> i64 {
        let path = self.home.path().join("compline.db");
        let connection = rusqlite::Connection::open(path).unwrap();
        connection.query_row("SELECT count(*) FROM pairing_codes", [], |row| row.get(0)).unwrap()
    }

    /// Writes a file in the home by hand.
    pub(in crate::admin) fn writes(&self, path: &str, text: &str) -> PathBuf {
        let file = self.home.path().join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, text).unwrap();
        file
    }

    /// Reads a file of the home.
    pub(in crate::admin) fn reads(&self, path: &str) -> Option<String> {
        std::fs::read_to_string(self.home.path().join(path)).ok()
    }

    /// Imports a skill whose only file ends with those words. Returns the proposal and the first
    /// digits of its digest.
    pub(in crate::admin) async fn proposes(&self, name: &str, words: &str) -> (ProposalId, String) {
        let content = SkillFolder::new([(MAIN.to_owned(), Arc::from(skill(name, words).into_bytes()))]);
        let review = &self.admin.review;
        let draft = review.draft(name, &content, ProposalOrigin::Import(None)).await.unwrap();
        let Staged::New(id, _) = review.submit(draft).await.unwrap() else { panic!("it was refused") };
        (id, review.proposal(id).await.unwrap().unwrap().digest().short().to_owned())
    }

    /// Changes the journal behind the program's back.
    pub(in crate::admin) fn tampers(&self, statement: &str) {
        let connection = rusqlite::Connection::open(self.home.path().join("compline.db")).unwrap();
        assert!(connection.execute(statement, []).unwrap() > 0, "{statement}");
    }

    /// The bytes of the journal, with everything that was committed.
    pub(in crate::admin) fn stored(&self) -> Vec<Vec<u8>> {
        let bytes = |name: &str| std::fs::read(self.home.path().join(name)).unwrap_or_default();
        vec![bytes("compline.db"), bytes("compline.db-wal")]
    }

    pub(in crate::admin) async fn fact(&self, key: &'static str) -> Option<String> {
        self.journal.read(move |db| db.settings().fact(key)).await.unwrap()
    }

    async fn write<T: Send + 'static>(&self, job: impl FnOnce(Tx<'_>) -> anyhow::Result<T> + Send + 'static) -> T {
        self.journal.write("prepare a test", job).await.unwrap()
    }
}

fn add(tx: Tx<'_>, name: &str, kind: MessageKind, words: &str, label: Label) -> anyhow::Result<PostedMessage> {
    let person = tx.people().person_named(name)?.unwrap();
    let (stream, scope) = (tx.conversations().stream_for(person.id)?, Scope::Person(person.id));
    let conversation = match tx.conversations().newest_conversation(stream)? {
        Some(current) => current.id,
        None => tx.conversations().open_conversation(&NewConversation {
            stream,
            kind: ConversationKind::Chat,
            scope,
            because: BoundaryReason::First,
            at: START,
        })?,
    };
    let message = tx.messages().add_message(&NewMessage {
        stream,
        conversation: Some(conversation),
        inbox: None,
        address: None,
        person: (kind == MessageKind::Said).then_some(person.id),
        guest: None,
        kind,
        scope,
        external_id: "",
        album: "",
        received_at: START,
        server_at: None,
        effective_at: START,
        turn: None,
    })?;
    if kind == MessageKind::Said {
        tx.conversations().count_message(conversation, message, START)?;
    }
    tx.messages().add_text(message, TextKind::Said, &Labelled::new(Arc::from(words), label, scope))?;
    Ok(PostedMessage { conversation, message })
}

async fn admin(journal: &Journal, clock: &Arc<SimulatedClock>, home: &Path) -> Admin {
    let zone = Zone::named("Europe/Vienna").unwrap();
    let limit = Limit { micros: 5_000_000, tokens: 2_000_000 };
    let budget = Budget {
        daily: limit,
        per_person_daily: limit,
        per_group_daily: limit,
        background_daily: limit,
        owner_reserve: 0,
        tool_rounds: 12,
    };
    let dyn_clock: Arc<dyn Clock> = Arc::<SimulatedClock>::clone(clock);
    let ledger = Arc::new(Ledger::new(journal.clone(), Arc::clone(&dyn_clock), zone, budget));
    let purse = |names: &[&str]| ModelPool::new(names.iter().map(|name| offline(name)).collect(), Arc::clone(&ledger));
    let background = Arc::new(purse(&["first"]));
    let review = Review::new(review::ReviewParts {
        journal: journal.clone(),
        clock: Arc::clone(&dyn_clock),
        dir: home.join("skills"),
        builtins: &[],
        policy: Policy { by_hand: crate::config::ByHand::Live, ..Policy::default() },
        reviewer: Reviewer { models: Arc::clone(&background), is_own: false },
        notifier: Arc::new(Nobody),
        failpoint: None,
    });
    let config =
        crate::config::parse("timezone = \"UTC\"", "fixture.toml", &Default::default(), Home::at(home)).unwrap().config;
    let workspace = Workspace::new(home.join("workspace"), home.join("experience"), journal.clone(), zone);
    let engine = Arc::new(Engine {
        journal: journal.clone(),
        clock: Arc::clone(&dyn_clock),
        zone,
        conversation: Conversation {
            gap: Duration::from_secs(6 * 3600),
            join_within: Duration::from_millis(600),
            max_turn: Duration::from_secs(600),
            trust_own_photos: false,
        },
        agent: "compline".to_owned(),
        tool_rounds: 12,
        memory: config.memory.clone(),
        heartbeat: config.heartbeat.interval,
        workspace: workspace.clone(),
        index: crate::memory::Index::new(workspace, journal.clone(), Arc::clone(&dyn_clock)),
        review: review.clone(),
        toolbox: Toolbox::new(Vec::new()),
        chat: purse(&["first", "second"]),
        background,
        transcription: None,
        channels: Arc::new(Nobody),
        reader: crate::engine::files::reader::DocumentReader::new(Path::new("/nowhere")),
        runtime: crate::engine::Runtime::new(
            dyn_clock.now(),
            CancellationToken::new(),
            crate::time::clock::wakeups().0,
        ),
    });
    let workspace = || Workspace::new(home.join("workspace"), home.join("experience"), journal.clone(), zone);
    let mcp =
        Servers::open(&[], journal.clone(), workspace(), Arc::clone(&dyn_clock), Limits::default()).await.unwrap();
    let schedule = schedule(&config, &engine, workspace());
    let index = crate::memory::Index::new(workspace(), journal.clone(), Arc::clone(&dyn_clock));
    Admin {
        config: Arc::new(config),
        journal: journal.clone(),
        schedule,
        mcp,
        clock: Arc::clone(&dyn_clock),
        zone,
        engine,
        ledger,
        review,
        workspace: workspace(),
        index,
        agent: "compline".to_owned(),
        version: "0.1.0".to_owned(),
        channels: Arc::new(Nobody),
        page: Default::default(),
        answers: crate::admin::threads::AnswerThreads::new(dyn_clock),
        failed_attempts: Default::default(),
    }
}

fn schedule(config: &Config, engine: &Arc<Engine>, workspace: Workspace) -> Arc<Schedule> {
    Arc::new(Schedule {
        journal: engine.journal.clone(),
        clock: Arc::clone(&engine.clock),
        zone: engine.zone,
        reflection: config.reflection.clone(),
        heartbeat: config.heartbeat,
        retention: config.retention,
        workspace,
        engine: Arc::clone(engine),
        reflector: Reflector {
            journal: engine.journal.clone(),
            clock: Arc::clone(&engine.clock),
            zone: engine.zone,
            config: config.reflection.clone(),
            engine: Arc::clone(engine),
            review: engine.review.clone(),
        },
        free_space: crate::memory::free_space::FreeSpace::reported_by(|| None),
        waker: crate::time::clock::wakeups().0,
        pass_done: Default::default(),
        rounds: Default::default(),
    })
}

fn offline(name: &str) -> Arc<dyn Model> {
    Arc::new(Offline::new(ModelInfo {
        provider: "offline".to_owned(),
        name: name.to_owned(),
        context_window: 8_000,
        max_output: 1_000,
        images: false,
        price: None,
    }))
}

/// Watches nothing, fetches nothing, and knows two adapters.
struct Nobody;

#[async_trait::async_trait]
impl ChannelAccess for Nobody {
    fn watch(&self, _: TurnId, _: AddressId) -> Box<dyn Watcher> {
        Box::new(Self)
    }

    async fn fetch(&self, _: AddressId, _: &str, _: u64) -> Result<Vec<u8>, FetchFileError> {
        Err(FetchFileError::NotFound)
    }
}

impl crate::model::StreamSink for Nobody {
    fn append(&self, _: &str) {}

    fn restart(&self) {}
}

impl Watcher for Nobody {
    fn label(&self, _: &Label) {}

    fn over(&self) {}
}

impl OutboxNotifier for Nobody {
    fn posted(&self, _: AddressId) {}

    fn settled(&self) {}
}

impl Channels for Nobody {
    fn health(&self) -> Vec<(String, Health)> {
        let well = Health { last_event_at: Some(START), ..Health::default() };
        let ill = Health { problem: Some("The socket is gone.".to_owned()), ..Health::default() };
        vec![("telegram".to_owned(), well), ("terminal".to_owned(), ill)]
    }

    fn public_name(&self, _: ChannelKind) -> Option<String> {
        None
    }

    fn start_ways(&self, code: &str) -> Vec<StartWay> {
        let link = StartLink::WithCode(format!("https://t.me/compline_bot?start={code}"));
        vec![StartWay { channel: "Telegram", account: "@compline_bot".to_owned(), link: Some(link) }]
    }
}
