//! Builds, starts and stops the app.
//!
//! The holder of a home's lock is its only writer, so the journal is opened and migrated only under
//! the lock. Everything external (the clock, the models, the adapters, access to web pages) can be
//! overridden, so a test builds the same app with fakes.

mod assembly;
mod lock;
mod page_chat;
mod people;

use std::fs::File;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::FutureExt;
use tokio::sync::{broadcast, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::adapter::Adapter;
use crate::adapter::signal::Signal;
use crate::adapter::terminal::Terminal;
use crate::adapter::web::WebChat;
use crate::admin::{self, Admin, PREFERRED_MODEL};
use crate::config::{self, Config, Home};
use crate::engine::Engine;
use crate::gateway::commands::CommandWorker;
use crate::gateway::dispatcher::{AccessGranted, Dispatcher};
use crate::gateway::intake::Intake;
use crate::gateway::socket::LocalServer;
use crate::http::Server;
use crate::memory::free_space::FreeSpace;
use crate::memory::{Index, Workspace};
use crate::message::ChannelKind;
use crate::model::Model;
use crate::people::Address;
use crate::review::{DiskFailpoint, Review, Reviewer};
use crate::schedule::Schedule;
use crate::search::{VectorParts, Vectors};
use crate::skill::builtin::Builtin;
use crate::spend::{Jitter, Ledger, ModelPool};
use crate::store::{DiskSpace, Failpoint, HOME_ID, Journal, OpenError};
use crate::time::clock::{WakeupSender, Wakeups};
use crate::time::task::lock;
use crate::time::{Clock, SystemClock};
use crate::tool::mcp::{self, Servers};
use crate::tool::web::Fetcher;
use crate::web::Web;
use crate::wording;

use assembly::Components;
pub use lock::{lock_holder, take_lock, take_lock_as_it_is};
use page_chat::PageChat;

/// Time for unfinished work to end when the program stops.
const STOP_WITHIN: Duration = Duration::from_secs(8);
/// Interval at which the index picks up changes, if vectors are computed.
const INDEX_INTERVAL: Duration = Duration::from_secs(60);

/// Replacements for external dependencies. `None` and empty mean the real ones.
#[derive(Default)]
pub struct Overrides {
    /// Clock.
    pub clock: Option<Arc<dyn Clock>>,
    /// Models for answers, first choice first.
    pub chat: Vec<Arc<dyn Model>>,
    /// Models for background work.
    pub background: Vec<Arc<dyn Model>>,
    /// Reviewer of its own.
    pub reviewer: Vec<Arc<dyn Model>>,
    /// Access to web pages.
    pub fetcher: Option<Fetcher>,
    /// Random numbers for the waits between two attempts at a model.
    pub jitter: Option<Jitter>,
    /// The skills that ship with the program.
    pub builtins: Option<&'static [Builtin]>,
    /// Hook before and after every commit.
    pub failpoint: Option<Failpoint>,
    /// Hook at every step of a change of the skills folder.
    pub disk_failpoint: Option<DiskFailpoint>,
    /// Time limits of MCP servers.
    pub mcp_limits: Option<mcp::Limits>,
    /// Free space on the disk of the home.
    pub free_space: Option<FreeSpace>,
    /// `true` if the terminal is the only adapter, as for `chat` without a running gateway.
    pub terminal_only: bool,
    /// Program that reads documents.
    pub reader: Option<PathBuf>,
    /// Wraps each other adapter and observes its traffic.
    pub adapters: Option<WrapAdapter>,
}

/// Wraps an adapter in another.
pub type WrapAdapter = Arc<dyn Fn(Arc<dyn Adapter>) -> Arc<dyn Adapter> + Send + Sync>;

/// Reason why the app cannot be built, grouped by remedy.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// Another process holds the home.
    #[error("Another Compline is running with the home {}", .0.display())]
    Held(PathBuf),
    /// The journal belongs to another home.
    #[error("{}", wording::standby::foreign_journal(.0))]
    Foreign(PathBuf),
    /// The journal cannot be opened.
    #[error(transparent)]
    Journal(#[from] OpenError),
    /// Any other error.
    #[error(transparent)]
    Other(#[from] anyhow::Error),
}

/// The assembled app.
pub struct App {
    /// Journal.
    pub journal: Journal,
    /// Clock.
    pub clock: Arc<dyn Clock>,
    /// Engine, which answers messages.
    pub engine: Arc<Engine>,
    /// Admin, which runs commands.
    pub admin: Arc<Admin>,
    /// Server of the local socket.
    pub local: Arc<LocalServer>,
    /// MCP servers.
    pub mcp: Arc<Servers>,
    /// Scheduler.
    pub schedule: Arc<Schedule>,
    schedule_wakeups: Mutex<Option<Wakeups>>,
    config: Config,
    /// Settings of the page, if it is served.
    page: Option<config::Web>,
    page_chat: Arc<WebChat>,
    review: Review,
    signal: Option<Arc<Signal>>,
    /// Vectors for semantic search, if configured.
    pub vectors: Option<Vectors>,
    /// Workspace.
    pub workspace: Workspace,
    /// Search index.
    pub index: Index,
    dispatcher: Arc<Dispatcher>,
    tasks: TaskTracker,
    stop: CancellationToken,
    _home_lock: File,
}

/// Creates the channels of this computer, and registers those that are used.
fn local_channels(dispatcher: &Dispatcher, clock: &Arc<dyn Clock>, has_page: bool) -> (Arc<Terminal>, Arc<WebChat>) {
    let (terminal, page_chat) = (Terminal::new(Arc::clone(clock)), WebChat::new());
    dispatcher.register(terminal.clone());
    if has_page {
        dispatcher.register(page_chat.clone());
    }
    (terminal, page_chat)
}

impl App {
    /// Builds the app without starting anything.
    ///
    /// # Errors
    ///
    /// Returns a [`BuildError`], grouped by remedy.
    pub async fn build(config: Config, overrides: Overrides) -> Result<Self, BuildError> {
        let home_lock = take_lock(&config.home)?;
        let page = config.web.clone().filter(|_| !overrides.terminal_only);
        let journal = open_journal(&config.home, overrides.failpoint).await?;
        let clock = overrides.clock.unwrap_or_else(|| Arc::new(SystemClock::default()));
        let stop = CancellationToken::new();
        let (scheduler, schedule_wakeups) = crate::time::clock::wakeups();
        people::declare_people(&journal, &config, clock.now()).await?;
        let ledger = Arc::new(Ledger::new(journal.clone(), Arc::clone(&clock), config.zone, config.budget.clone()));
        let models = (overrides.chat, overrides.background, overrides.reviewer);
        let (chat, background, reviewer) = model_pools(&config, models, overrides.jitter, &ledger).await?;
        if let Some(preferred) = journal.read(|db| db.settings().fact(PREFERRED_MODEL)).await?
            && !chat.prefer(Some(&preferred))
        {
            people::end_preference(&journal, &preferred, &chat, clock.now()).await?;
        }
        let workspace =
            Workspace::new(config.workspace.clone(), config.home.experience(), journal.clone(), config.zone)
                .with_agent(&config.agent, &config.memory)
                .with_free_space(overrides.free_space.clone());
        workspace.seed(clock.now()).await?;
        let vectors = vectors(&config, &journal, &clock, &ledger)?;
        let index = Index::new(workspace.clone(), journal.clone(), Arc::clone(&clock)).with_vectors(vectors.clone());
        let dispatcher =
            Dispatcher::new(journal.clone(), workspace.clone(), Arc::clone(&clock), stop.clone(), scheduler.clone());
        let (terminal, page_chat) = local_channels(&dispatcher, &clock, page.is_some());
        let signal = match overrides.terminal_only {
            true => None,
            false => assembly::register_adapters(&config, &clock, &dispatcher, overrides.adapters.as_ref())?,
        };
        let skills = (overrides.builtins, overrides.disk_failpoint);
        let review = assembly::review(&config, (&journal, &clock), reviewer, &dispatcher, skills);
        let limits = overrides.mcp_limits.unwrap_or_default();
        crate::admin::show_marks(&journal, clock.now()).await?;
        let mcp = Servers::open(&config.mcp, journal.clone(), workspace.clone(), Arc::clone(&clock), limits).await?;
        // Before anything reads a skill. A failure does not prevent the start.
        if let Err(error) = review.start().await {
            tracing::error!("The skills cannot be brought up to date: {error:#}");
        }
        let components = Components {
            config,
            journal,
            clock,
            stop,
            scheduler,
            ledger,
            workspace,
            index,
            vectors,
            dispatcher,
            review,
        };
        let toolbox = components.toolbox(overrides.fetcher)?.with_outside(Arc::clone(&mcp));
        let engine = components.engine(chat, background, toolbox, overrides.reader);
        let schedule = components.schedule(&engine, overrides.free_space);
        let admin = components.admin(&engine, &schedule, &mcp);
        let local = components.local_server(terminal, &admin);
        Ok(Self {
            journal: components.journal,
            clock: components.clock,
            engine,
            admin,
            local,
            mcp,
            schedule,
            schedule_wakeups: Mutex::new(Some(schedule_wakeups)),
            page,
            page_chat,
            config: components.config,
            review: components.review,
            signal,
            vectors: components.vectors,
            workspace: components.workspace,
            index: components.index,
            dispatcher: components.dispatcher,
            tasks: TaskTracker::new(),
            stop: components.stop,
            _home_lock: home_lock,
        })
    }

    /// Starts everything: resumes unfinished work, then receives from the adapters.
    ///
    /// # Errors
    ///
    /// If the journal or the socket cannot be used.
    pub async fn start(&self) -> anyhow::Result<()> {
        let (commands, wakeups) = crate::time::clock::wakeups();
        let worker = CommandWorker {
            journal: self.journal.clone(),
            clock: Arc::clone(&self.clock),
            admin: Arc::clone(&self.admin),
            dispatcher: Arc::clone(&self.dispatcher),
            waker: commands.clone(),
            busy: Mutex::default(),
        };
        // Resumes interrupted deletions before anything can display the data.
        self.schedule.delete_redacted().await?;
        self.tasks.spawn(worker.run(wakeups, self.stop.clone()));
        commands.wake(&*self.clock);
        self.tasks.spawn(self.review.clone().run(self.stop.clone()));
        if let Some(daemon) = self.signal.as_ref().and_then(|signal| signal.daemon(self.stop.clone())) {
            self.tasks.spawn(daemon);
        }
        for work in self.mcp.work(&self.stop) {
            self.tasks.spawn(work);
        }
        self.tasks.spawn(keep_index_current(self.index.clone(), Arc::clone(&self.clock), self.stop.clone()));
        if let Some(vectors) = &self.vectors {
            self.tasks.spawn(vectors.clone().load(self.stop.clone()));
            self.tasks.spawn(vectors.clone().run(self.stop.clone()));
        }
        for adapter in self.dispatcher.all_adapters() {
            for address in people::announce_absence_at_start(&self.journal, &*adapter, self.clock.now()).await? {
                self.dispatcher.wake(address);
            }
        }
        self.engine.start().await?;
        if let Some(wakeups) = lock(&self.schedule_wakeups).take() {
            self.tasks.spawn(Arc::clone(&self.schedule).run(wakeups, self.stop.clone()));
        }
        let listener = LocalServer::listen(&self.config.home.socket())?;
        self.tasks.spawn(Arc::clone(&self.local).serve(listener, self.stop.clone()));
        self.serve_page().await?;
        self.wake_on_presence_change();
        self.tasks.spawn(warn_of_full_disk(
            Arc::clone(&self.local.terminal),
            self.journal.disk_space(),
            self.stop.clone(),
        ));
        for adapter in self.dispatcher.all_adapters() {
            self.tasks.spawn(self.intake(adapter, commands.clone()).run(self.stop.clone()));
        }
        Ok(())
    }

    /// Serves the page, if it is switched on. If its address cannot be used, the app works without
    /// it and says so.
    async fn serve_page(&self) -> anyhow::Result<()> {
        let Some(config) = self.page.clone() else { return Ok(()) };
        let page = &self.admin.page;
        let bound = tokio::net::TcpListener::bind(config.listen).await;
        let (listener, address) = match bound.and_then(|listener| listener.local_addr().map(|at| (listener, at))) {
            Ok(bound) => bound,
            Err(error) => {
                let why = wording::page::cannot_listen(&config.listen.to_string(), &error.to_string());
                tracing::warn!("{why}");
                page.failed(why);
                return Ok(());
            }
        };
        let routes = self.page_at(config, address).await?.routes();
        let server = Server::new("A page", routes, Arc::clone(&self.clock), self.stop.clone());
        self.tasks.spawn(server.serve(listener));
        let (channel, stop) = (Arc::clone(&self.page_chat), self.stop.clone());
        self.tasks.spawn(async move {
            stop.cancelled().await;
            channel.close();
        });
        page.served_at(address);
        Ok(())
    }

    /// Returns the page under that address.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub async fn page_at(&self, config: config::Web, address: SocketAddr) -> anyhow::Result<Arc<Web>> {
        let home_id = self.journal.read(|db| db.settings().fact(HOME_ID)).await?.unwrap_or_default();
        let chat = PageChat {
            channel: Arc::clone(&self.page_chat),
            journal: self.journal.clone(),
            clock: Arc::clone(&self.clock),
        };
        Ok(Web::new(Arc::clone(&self.admin), Arc::new(chat), config, &home_id, address))
    }

    /// Returns all access granted from now on.
    pub fn newcomers(&self) -> broadcast::Receiver<AccessGranted> {
        self.dispatcher.newcomers()
    }

    /// Completes when the health of a channel has changed for another reason than the passage of
    /// time. For one caller, who misses no change between two calls.
    pub async fn health_changed(&self) {
        self.dispatcher.health_changed().await;
    }

    /// Stops cleanly: starts no new work, lets requests in flight finish, and closes the journal
    /// last.
    pub async fn stop(self) {
        self.stop.cancel();
        self.tasks.close();
        let ended = async {
            self.tasks.wait().await;
            self.engine.finished().await;
            self.dispatcher.wait_until_finished().await;
        };
        tokio::select! {
            () = ended => {}
            () = crate::time::clock::real_sleep(STOP_WITHIN) => {
                tracing::warn!("Something did not stop in time; it is taken up at the next start");
            }
        }
        self.journal.close().await;
        let _ = std::fs::remove_file(self.config.home.socket());
    }

    fn wake_on_presence_change(&self) {
        let wake = |channel: ChannelKind| {
            // The dispatcher holds the channel, so a strong reference back would keep the journal
            // open forever.
            let dispatcher = Arc::downgrade(&self.dispatcher);
            move |peer: &str| {
                let Some(dispatcher) = dispatcher.upgrade() else { return };
                let address = Address::new(channel.name(), "local", peer);
                if let Ok(Some((id, _))) = dispatcher.journal().read_now(|db| db.addresses().who_is(&address)) {
                    dispatcher.wake(id);
                }
            }
        };
        self.local.terminal.on_presence_change(wake(ChannelKind::Terminal));
        self.page_chat.on_presence_change(wake(ChannelKind::Web));
    }

    fn intake(&self, adapter: Arc<dyn Adapter>, commands: WakeupSender) -> Intake {
        let (journal, clock) = (self.journal.clone(), Arc::clone(&self.clock));
        let (dispatcher, here) = (Arc::clone(&self.dispatcher), Arc::clone(&adapter));
        let connected = move || {
            let (journal, clock) = (journal.clone(), Arc::clone(&clock));
            let (dispatcher, adapter) = (Arc::clone(&dispatcher), Arc::clone(&here));
            async move {
                people::declare_addresses(&journal, &*adapter, clock.now()).await?;
                for address in people::announce_absence(&journal, &*adapter, clock.now()).await? {
                    dispatcher.wake(address);
                }
                Ok(())
            }
            .boxed()
        };
        Intake {
            journal: self.journal.clone(),
            clock: Arc::clone(&self.clock),
            zone: self.config.zone,
            gap: self.config.conversation.gap,
            trust_own_photos: self.config.conversation.trust_own_photos,
            agent: self.config.agent.name.clone(),
            groups: Arc::new(self.config.groups.clone()),
            adapter,
            engine: Arc::clone(&self.engine),
            dispatcher: Arc::clone(&self.dispatcher),
            commands,
            connected: Box::new(connected),
        }
    }
}

/// Opens the journal of the home, unless it is that of another.
async fn open_journal(home: &Home, failpoint: Option<Failpoint>) -> Result<Journal, BuildError> {
    let journal = Journal::open(&home.journal(), failpoint)?;
    if admin::standby::claim::bind(&journal, home).await? {
        return Ok(journal);
    }
    journal.close().await;
    Err(BuildError::Foreign(home.path().to_owned()))
}

/// Models for answers, for background work and for reviews, each first choice first.
type ModelLists = (Vec<Arc<dyn Model>>, Vec<Arc<dyn Model>>, Vec<Arc<dyn Model>>);

/// Builds the models for answers, for background work and for reviews, which are those for
/// background work without a reviewer of its own. Given models replace configured ones.
async fn model_pools(
    config: &Config,
    (chat, background, reviewer): ModelLists,
    jitter: Option<Jitter>,
    ledger: &Arc<Ledger>,
) -> anyhow::Result<(ModelPool, Arc<ModelPool>, Reviewer)> {
    let configured = |models: [Option<&crate::config::Model>; 2]| -> anyhow::Result<Vec<Arc<dyn Model>>> {
        models.into_iter().flatten().map(crate::model::build).collect()
    };
    let chat = if chat.is_empty() { configured([Some(&config.model), config.fallback.as_ref()])? } else { chat };
    let background = match (&config.background, background.is_empty()) {
        (_, false) => background,
        (Some(model), true) => vec![crate::model::build(model)?],
        (None, true) => chat.clone(),
    };
    let reviewer = if reviewer.is_empty() { configured([config.own_reviewer(), None])? } else { reviewer };
    let pool = |models| {
        let pool = ModelPool::new(models, Arc::clone(ledger));
        if let Some(jitter) = jitter { pool.with_jitter(jitter) } else { pool }
    };
    let (chat, background, own) = (pool(chat), Arc::new(pool(background)), pool(reviewer));
    for pool in [&chat, &*background, &own] {
        pool.recollect().await?;
    }
    let is_own = !own.is_empty();
    let models = if is_own { Arc::new(own) } else { Arc::clone(&background) };
    Ok((chat, background, Reviewer { models, is_own }))
}

/// Returns the vectors, if an embedding model is configured.
fn vectors(
    config: &Config,
    journal: &Journal,
    clock: &Arc<dyn Clock>,
    ledger: &Arc<Ledger>,
) -> anyhow::Result<Option<Vectors>> {
    let Some(embedder) = config.embedding.as_ref().map(crate::model::embed::build).transpose()? else {
        return Ok(None);
    };
    let (journal, clock, ledger) = (journal.clone(), Arc::clone(clock), Arc::clone(ledger));
    Ok(Some(Vectors::new(VectorParts { journal, clock, ledger, embedder })))
}

/// Warns waiting terminals when nothing more can be written, because no answer can be stored
/// either.
async fn warn_of_full_disk(terminal: Arc<Terminal>, mut space: watch::Receiver<DiskSpace>, stop: CancellationToken) {
    let mut was_none = false;
    loop {
        let changed = tokio::select! {
            () = stop.cancelled() => return,
            changed = space.changed() => changed,
        };
        if changed.is_err() {
            return;
        }
        let is_none = space.borrow_and_update().is_none;
        if is_none {
            terminal.warn_waiting(wording::gateway::DISK_FULL);
        }
        match (was_none, is_none) {
            (false, true) => tracing::error!("Nothing more can be written: the disk is full, or a limit is reached"),
            (true, false) => tracing::info!("There is room to write again"),
            _ => {}
        }
        was_none = is_none;
    }
}

/// Updates the index at the start, so that the first search does not have to. With an embedding
/// model it continues, because new text needs its vector before the first search for it.
async fn keep_index_current(index: Index, clock: Arc<dyn Clock>, stop: CancellationToken) {
    let mut busy = clock.busy();
    loop {
        let work = crate::time::task::guarded("The index", index.refresh_all());
        match stop.run_until_cancelled(work).await {
            None => return,
            Some(Err(error)) => {
                tracing::error!("The index cannot be brought up to date, and every search tries again: {error:#}");
            }
            Some(Ok(())) => {}
        }
        if index.vectors().is_none() {
            return;
        }
        let next = clock.now().plus(INDEX_INTERVAL);
        busy = tokio::select! {
            () = stop.cancelled() => return,
            woken = busy.rest_until(&*clock, next) => woken,
        };
    }
}
