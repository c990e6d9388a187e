//! Assembly of the parts that others are built on, one function for each of the large ones.

use std::path::PathBuf;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::{WrapAdapter, free_space_at};
use crate::adapter::Adapter;
use crate::adapter::signal::Signal;
use crate::adapter::telegram::Telegram;
use crate::admin::Admin;
use crate::config::Config;
use crate::engine::files::reader::DocumentReader;
use crate::engine::{Engine, Runtime};
use crate::gateway::dispatcher::Dispatcher;
use crate::memory::{Index, Workspace};
use crate::reflection::Reflector;
use crate::review::{self, DiskFailpoint, Policy, Review};
use crate::schedule::{FreeSpace, Schedule};
use crate::search::{ConversationSearch, Vectors};
use crate::skill::builtin::{self, Builtin};
use crate::spend::{Ledger, ModelPool, Transcriber};
use crate::store::Journal;
use crate::time::Clock;
use crate::time::clock::WakeupSender;
use crate::tool::knowledge::KnowledgeStore;
use crate::tool::mcp::Servers;
use crate::tool::memory_search::{MemoryRecall, MemorySearch, ReadReflection, SearchSources};
use crate::tool::schedule::ScheduleStore;
use crate::tool::web::{Fetcher, Limits, WebFetch};
use crate::tool::{Tool, Toolbox, attachments, files, knowledge, schedule, skills};

/// Parts that most others are built on.
pub(super) struct Foundation {
    pub(super) config: Config,
    pub(super) journal: Journal,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) stop: CancellationToken,
    /// Wakes the schedule.
    pub(super) scheduler: WakeupSender,
    pub(super) ledger: Arc<Ledger>,
    pub(super) tree: Workspace,
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
    reviewer: &Arc<ModelPool>,
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
            by_hand_is_live: config.skills.by_hand_is_live,
        },
        reviewer: Arc::clone(reviewer),
        notifier: Arc::new(Arc::clone(dispatcher)),
        failpoint,
    })
}

impl Foundation {
    /// Builds the tools.
    ///
    /// # Errors
    ///
    /// If the client for web pages cannot be set up.
    pub(super) fn toolbox(&self, fetcher: Option<Fetcher>) -> anyhow::Result<Toolbox> {
        let Self { config, journal, clock, tree, index, review, .. } = self;
        let later = ScheduleStore::new(journal.clone(), Arc::clone(clock), config.zone, self.scheduler.clone());
        let keeping =
            KnowledgeStore::new(journal.clone(), tree.clone(), review.clone(), Arc::clone(clock), config.zone);
        Ok(toolbox(config, journal, tree, review, &later, fetcher)?
            .and(knowledge_tools(config, index, journal, &keeping)))
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
            tool_rounds: self.config.budget.tool_rounds,
            tree: self.tree.clone(),
            index: self.index.clone(),
            review: self.review.clone(),
            toolbox,
            chat,
            background,
            transcription: transcription.map(|config| Transcriber::new(config, Arc::clone(&self.ledger))),
            audience: Arc::new(Arc::clone(&self.dispatcher)),
            reader: DocumentReader::new(&reader.or_else(|| std::env::current_exe().ok()).unwrap_or_default()),
            runtime: Runtime::new(self.clock.now(), self.stop.clone(), self.scheduler.clone()),
        });
        // The engine holds the dispatcher, so a strong reference back would leak both.
        let asks = Arc::downgrade(&engine);
        self.dispatcher.on_question_delivered(move |stream| {
            if let Some(engine) = asks.upgrade() {
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
            tree: self.tree.clone(),
            engine: Arc::clone(engine),
            reflector: Reflector {
                journal: self.journal.clone(),
                clock: Arc::clone(&self.clock),
                zone: self.config.zone,
                config: self.config.reflection.clone(),
                engine: Arc::clone(engine),
                review: self.review.clone(),
            },
            free_space: free_space.unwrap_or_else(|| free_space_at(self.config.home.path())),
            waker: self.scheduler.clone(),
            pass_done: Default::default(),
            rounds: Default::default(),
        })
    }

    /// Builds the implementation of all commands.
    pub(super) fn admin(&self, engine: &Arc<Engine>, schedule: &Arc<Schedule>, outside: &Arc<Servers>) -> Arc<Admin> {
        Arc::new(Admin {
            journal: self.journal.clone(),
            clock: Arc::clone(&self.clock),
            zone: self.config.zone,
            engine: Arc::clone(engine),
            ledger: Arc::clone(&self.ledger),
            review: self.review.clone(),
            tree: self.tree.clone(),
            index: self.index.clone(),
            agent: self.config.agent.name.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            schedule: Arc::clone(schedule),
            outside: Arc::clone(outside),
            health: Arc::clone(&self.dispatcher) as _,
            tries: Default::default(),
        })
    }
}

/// Builds the tools for conversations, skills, schedules and outgoing files.
///
/// # Errors
///
/// If the client for web pages cannot be set up.
pub(super) fn toolbox(
    config: &Config,
    journal: &Journal,
    tree: &Workspace,
    review: &Review,
    later: &ScheduleStore,
    fetcher: Option<Fetcher>,
) -> anyhow::Result<Toolbox> {
    let mut tools: Vec<Arc<dyn Tool>> = vec![Arc::new(ReadReflection::new(journal.clone()))];
    tools.extend(skills::tools(review));
    tools.extend(schedule::tools(later));
    tools.extend(attachments::tools(journal, tree));
    if config.tools.web_fetch {
        let fetcher = match fetcher {
            Some(fetcher) => fetcher,
            None => Fetcher::new(Limits::default())?,
        };
        tools.push(Arc::new(WebFetch::new(fetcher)));
    }
    Ok(Toolbox::new(tools))
}

/// Builds the tools that read, change and search knowledge. File tools and the search of past
/// conversations are always available; the other memory tools can be switched off.
pub(super) fn knowledge_tools(
    config: &Config,
    index: &Index,
    journal: &Journal,
    keeping: &KnowledgeStore,
) -> Vec<Arc<dyn Tool>> {
    let messages =
        ConversationSearch::new(journal.clone(), index.vectors().cloned(), &config.agent.name).in_zone(config.zone);
    let index_if_enabled = config.memory.enabled.then(|| index.clone());
    let sources = SearchSources { messages, index: index_if_enabled, journal: journal.clone(), zone: config.zone };
    let mut tools = files::tools(keeping);
    if config.memory.enabled {
        tools.extend(knowledge::tools(keeping));
        tools.push(Arc::new(MemoryRecall::new(sources.clone(), index.clone())));
    }
    tools.push(Arc::new(MemorySearch::new(sources)));
    tools
}
