//! Construction of the app from its configuration, one function for each large component.

use std::path::PathBuf;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::WrapAdapter;
use crate::adapter::Adapter;
use crate::adapter::signal::Signal;
use crate::adapter::telegram::Telegram;
use crate::adapter::terminal::Terminal;
use crate::admin::Admin;
use crate::admin::browsers::PageAddress;
use crate::admin::threads::AnswerThreads;
use crate::config::Config;
use crate::engine::files::reader::DocumentReader;
use crate::engine::{Engine, Runtime};
use crate::gateway::dispatcher::Dispatcher;
use crate::gateway::socket::LocalServer;
use crate::memory::free_space::FreeSpace;
use crate::memory::{Index, Workspace};
use crate::reflection::Reflector;
use crate::review::{self, DiskFailpoint, Policy, Review, Reviewer};
use crate::schedule::Schedule;
use crate::search::{ConversationSearch, Vectors};
use crate::skill::builtin::{self, Builtin};
use crate::spend::{Ledger, ModelPool, Transcriber};
use crate::store::Journal;
use crate::time::Clock;
use crate::time::clock::WakeupSender;
use crate::tool::conversation::{ReadConversation, ReadReflection};
use crate::tool::heartbeat::HeartbeatDone;
use crate::tool::knowledge::KnowledgeStore;
use crate::tool::mcp::Servers;
use crate::tool::memory_search::{MemoryRecall, MemorySearch, SearchSources};
use crate::tool::open_items::OpenDone;
use crate::tool::schedule::ScheduleStore;
use crate::tool::web::{Fetcher, Limits, WebFetch};
use crate::tool::{Tool, Toolbox, attachments, files, knowledge, schedule, skills};

/// Components on which most others are built.
pub(super) struct Components {
    pub(super) config: Config,
    pub(super) journal: Journal,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) stop: CancellationToken,
    /// Wakes the scheduler.
    pub(super) scheduler: WakeupSender,
    pub(super) ledger: Arc<Ledger>,
    pub(super) workspace: Workspace,
    pub(super) index: Index,
    pub(super) vectors: Option<Vectors>,
    pub(super) dispatcher: Arc<Dispatcher>,
    pub(super) review: Review,
}

/// Registers the configured adapters other than the terminal. Returns the one for Signal.
pub(super) fn register_adapters(
    config: &Config,
    clock: &Arc<dyn Clock>,
    dispatcher: &Dispatcher,
    wrap: Option<&WrapAdapter>,
) -> anyhow::Result<Option<Arc<Signal>>> {
    let wrapped = |adapter: Arc<dyn Adapter>| match wrap {
        Some(wrap) => wrap(adapter),
        None => adapter,
    };
    if let Some(telegram) = &config.telegram {
        dispatcher.register(wrapped(Arc::new(Telegram::new(telegram, Arc::clone(clock))?)));
    }
    let Some(signal) = &config.signal else { return Ok(None) };
    let signal = Arc::new(Signal::new(signal, Arc::clone(clock))?);
    dispatcher.register(wrapped(Arc::clone(&signal) as _));
    Ok(Some(signal))
}

/// Builds the gate of skills.
pub(super) fn review(
    config: &Config,
    (journal, clock): (&Journal, &Arc<dyn Clock>),
    reviewer: Reviewer,
    dispatcher: &Arc<Dispatcher>,
    (builtins, failpoint): (Option<&'static [Builtin]>, Option<DiskFailpoint>),
) -> Review {
    Review::new(review::ReviewParts {
        journal: journal.clone(),
        clock: Arc::clone(clock),
        dir: config.skills.dir.clone(),
        builtins: builtins.unwrap_or_else(builtin::all),
        policy: Policy {
            reviewer_approves: config.skills.reviewer_approves,
            reflections: config.reflection.review,
            tainted_is_rejected: config.skills.tainted_is_rejected,
            by_hand: config.skills.by_hand,
        },
        reviewer,
        notifier: Arc::new(Arc::clone(dispatcher)),
        failpoint,
    })
}

impl Components {
    /// Builds the tools.
    ///
    /// # Errors
    ///
    /// If the client for web pages cannot be set up.
    pub(super) fn toolbox(&self, fetcher: Option<Fetcher>) -> anyhow::Result<Toolbox> {
        let Self { config, journal, clock, workspace, review, .. } = self;
        let schedules = ScheduleStore::new(journal.clone(), Arc::clone(clock), config.zone, self.scheduler.clone());
        let mut tools: Vec<Arc<dyn Tool>> = vec![Arc::new(ReadReflection::new(journal.clone()))];
        tools.extend(skills::tools(review));
        tools.extend(schedule::tools(&schedules));
        tools.push(Arc::new(OpenDone { journal: journal.clone(), clock: Arc::clone(clock) }));
        if config.heartbeat.interval.is_some() {
            tools.push(Arc::new(HeartbeatDone {
                journal: journal.clone(),
                workspace: workspace.clone(),
                clock: Arc::clone(clock),
            }));
        }
        tools.extend(attachments::tools(journal, workspace));
        if config.tools.web_fetch {
            let fetcher = fetcher.map_or_else(|| Fetcher::new(Limits::default()), Ok)?;
            tools.push(Arc::new(WebFetch::new(fetcher)));
        }
        tools.extend(self.knowledge_tools());
        Ok(Toolbox::new(tools))
    }

    /// Builds the tools that read, change and search knowledge. File tools and the search of past
    /// conversations are always available; the other memory tools can be switched off.
    fn knowledge_tools(&self) -> Vec<Arc<dyn Tool>> {
        let Self { config, journal, clock, workspace, index, review, .. } = self;
        let (zone, is_enabled) = (config.zone, config.memory.enabled);
        let store = KnowledgeStore::new(journal.clone(), workspace.clone(), review.clone(), Arc::clone(clock), zone);
        let messages =
            ConversationSearch::new(journal.clone(), index.vectors().cloned(), &config.agent.name).in_zone(zone);
        let searched = is_enabled.then(|| index.clone());
        let sources = SearchSources { messages, index: searched, journal: journal.clone(), zone };
        let mut tools = files::tools(&store);
        if is_enabled {
            tools.extend(knowledge::tools(&store));
            tools.push(Arc::new(MemoryRecall::new(sources.clone(), index.clone())));
        }
        tools.push(Arc::new(MemorySearch::new(sources)));
        tools.push(Arc::new(ReadConversation::new(journal.clone(), zone)));
        tools
    }

    /// Builds the engine.
    pub(super) fn engine(
        &self,
        chat: ModelPool,
        background: Arc<ModelPool>,
        toolbox: Toolbox,
        reader: Option<PathBuf>,
    ) -> Arc<Engine> {
        let transcription = self.config.transcription.clone();
        let engine = Arc::new(Engine {
            journal: self.journal.clone(),
            clock: Arc::clone(&self.clock),
            zone: self.config.zone,
            conversation: self.config.conversation.clone(),
            agent: self.config.agent.name.clone(),
            memory: self.config.memory.clone(),
            heartbeat: self.config.heartbeat.interval,
            tool_rounds: self.config.budget.tool_rounds,
            workspace: self.workspace.clone(),
            index: self.index.clone(),
            review: self.review.clone(),
            toolbox,
            transcription: transcription
                .map(|config| Transcriber::new(config, Arc::clone(&self.ledger), chat.jitter())),
            chat,
            background,
            channels: Arc::new(Arc::clone(&self.dispatcher)),
            reader: DocumentReader::new(&reader.or_else(|| std::env::current_exe().ok()).unwrap_or_default()),
            runtime: Runtime::new(self.clock.now(), self.stop.clone(), self.scheduler.clone()),
        });
        // The engine holds the dispatcher, so a strong reference back would leak both.
        let weak_engine = Arc::downgrade(&engine);
        self.dispatcher.on_question_delivered(move |stream| {
            if let Some(engine) = weak_engine.upgrade() {
                engine.wake_stream(stream);
            }
        });
        engine
    }

    /// Builds the scheduler.
    pub(super) fn schedule(&self, engine: &Arc<Engine>, free_space: Option<FreeSpace>) -> Arc<Schedule> {
        Arc::new(Schedule {
            journal: self.journal.clone(),
            clock: Arc::clone(&self.clock),
            zone: self.config.zone,
            reflection: self.config.reflection.clone(),
            heartbeat: self.config.heartbeat,
            retention: self.config.retention,
            workspace: self.workspace.clone(),
            engine: Arc::clone(engine),
            reflector: Reflector {
                journal: self.journal.clone(),
                clock: Arc::clone(&self.clock),
                zone: self.config.zone,
                config: self.config.reflection.clone(),
                engine: Arc::clone(engine),
                review: self.review.clone(),
            },
            free_space: free_space.unwrap_or_else(|| FreeSpace::at(self.config.home.path())),
            waker: self.scheduler.clone(),
            pass_done: Default::default(),
            rounds: Default::default(),
        })
    }

    /// Builds the implementation of all commands.
    pub(super) fn admin(&self, engine: &Arc<Engine>, schedule: &Arc<Schedule>, mcp: &Arc<Servers>) -> Arc<Admin> {
        Arc::new(Admin {
            config: Arc::new(self.config.clone()),
            journal: self.journal.clone(),
            clock: Arc::clone(&self.clock),
            zone: self.config.zone,
            engine: Arc::clone(engine),
            ledger: Arc::clone(&self.ledger),
            review: self.review.clone(),
            workspace: self.workspace.clone(),
            index: self.index.clone(),
            agent: self.config.agent.name.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            schedule: Arc::clone(schedule),
            mcp: Arc::clone(mcp),
            channels: Arc::clone(&self.dispatcher) as _,
            page: PageAddress::new(self.config.web.as_ref().and_then(|web| web.public_url.clone())),
            answers: AnswerThreads::new(Arc::clone(&self.clock)),
            failed_attempts: Default::default(),
        })
    }

    /// Builds the server of the local socket.
    pub(super) fn local_server(&self, terminal: Arc<Terminal>, admin: &Arc<Admin>) -> Arc<LocalServer> {
        Arc::new(LocalServer {
            journal: self.journal.clone(),
            clock: Arc::clone(&self.clock),
            terminal,
            admin: Arc::clone(admin),
            agent: self.config.agent.name.clone(),
        })
    }
}
