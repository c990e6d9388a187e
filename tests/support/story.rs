//! The fixture of a story: three people, one bot, one clock.
//!
//! Ada is the owner, Ben a member, Eve a stranger; each writes over one channel, Telegram by
//! default ([`StoryOver`]). Time passes only by [`StoryOver::pass`], and only when everything is
//! idle. Every story ends with [`StoryOver::end`], which looks for canaries: a token from an
//! untrusted text or from one person's text must never appear in a prompt that counts as trusted,
//! in a file that is loaded automatically, or in another person's chat.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use compline::app::{App, BuildError, Overrides};
use compline::config::{Config, Home};
use compline::memory::free_space::FreeSpace;
use compline::review::DiskFailpoint;
use compline::skill::builtin::Builtin;
use compline::store::Failpoint;
use compline::time::{Clock, SimulatedClock, Timestamp};
use compline::tool::mcp::Limits;
use rusqlite::Connection;

use super::channel::{Channel, Start};
use super::model::{Scripted, words};
use super::telegram::FakeTelegram;
use super::{template_journal, watched_adapter};

/// Ada's numeric id.
pub const ADA: i64 = 1001;
/// Ben's numeric id: long enough that no time and no digest contains it by chance.
pub const BEN: i64 = 1_002_804;
/// Eve's numeric id.
pub const EVE: i64 = 6666;

/// Noon on a Friday, UTC.
pub const NOON: Timestamp = Timestamp(1_795_176_000_000);

/// Prefix of every canary in untrusted text, independent of the sender.
pub const UNTRUSTED: &str = "canary-untrusted-";

/// A story over Telegram.
pub type Story = StoryOver<FakeTelegram>;

/// State of a story.
pub struct StoryOver<C: Channel> {
    pub fake: C,
    pub model: Arc<Scripted>,
    pub background: Arc<Scripted>,
    pub clock: Arc<SimulatedClock>,
    pub home: PathBuf,
    app: Option<App>,
    journal: Mutex<Option<Connection>>,
    settings: String,
    keep: tempfile::TempDir,
    failpoint: Option<Failpoint>,
    fetcher: Option<compline::tool::web::Fetcher>,
    offline: bool,
    fallback: Option<Arc<Scripted>>,
    /// Model that reviews, if one of its own is configured; set it before the start.
    pub reviewer: Option<Arc<Scripted>>,
    /// Second background model, asked when the first one fails; set it before the start.
    pub background_fallback: Option<Arc<Scripted>>,
    people: String,
    env: BTreeMap<String, String>,
    mcp_limits: Option<Limits>,
    builtins: &'static [Builtin],
    disk_failpoint: Option<DiskFailpoint>,
    free_space: Option<FreeSpace>,
    reader: PathBuf,
    /// Makes the health check of an adapter panic; set it before the start.
    pub sick: Arc<AtomicBool>,
}

impl<C: Start> StoryOver<C> {
    /// Starts the gateway for Ada, Ben and Eve at noon and waits until it listens.
    pub async fn begin() -> Self {
        Self::with("").await
    }

    /// Starts like `begin`, with additional settings as TOML.
    pub async fn with(settings: &str) -> Self {
        let mut story = Self::prepared(settings).await;
        story.start().await;
        story
    }

    /// Builds the story without starting the gateway.
    pub async fn prepared(settings: &str) -> Self {
        Self::over(C::start_sync(), settings)
    }
}

impl<C: Channel> StoryOver<C> {
    /// Builds a story over this server without starting the gateway.
    pub fn over(fake: C, settings: &str) -> Self {
        let clock = Arc::new(SimulatedClock::new(NOON));
        let now = Arc::clone(&clock);
        fake.follow(Arc::new(move || now.now().0));
        for (id, name) in [(ADA, "Ada"), (BEN, "Ben"), (EVE, "Eve")] {
            fake.meet(id, name);
        }
        let people = format!(
            "[[people]]\nname = \"Ada\"\nrole = \"owner\"\n{}\n[[people]]\nname = \"Ben\"\nrole = \"member\"\n{}\n",
            fake.address(ADA),
            fake.address(BEN)
        );
        let dir = folder();
        template_journal::place_in(dir.path());
        let model = Scripted::new(clock.clone());
        let background = Scripted::new(clock.clone());
        Self {
            fake,
            model,
            reviewer: Some(background.clone()),
            background,
            clock,
            home: dir.path().to_owned(),
            app: None,
            journal: Mutex::default(),
            settings: settings.to_owned(),
            keep: dir,
            failpoint: None,
            fetcher: None,
            offline: false,
            fallback: None,
            background_fallback: None,
            builtins: &[],
            disk_failpoint: None,
            free_space: None,
            // The browser tests are of another package, and read no documents.
            reader: PathBuf::from(option_env!("CARGO_BIN_EXE_compline").unwrap_or_default()),
            sick: Arc::default(),
            env: BTreeMap::new(),
            mcp_limits: None,
            people,
        }
    }

    /// Removes every API key, so that the default configuration picks the model.
    pub fn without_a_key(&mut self) {
        self.offline = true;
    }

    /// Fetches web pages through this fetcher from the next start on.
    pub fn fetch_through(&mut self, fetcher: compline::tool::web::Fetcher) {
        self.fetcher = Some(fetcher);
    }

    /// Adds a fallback model from the next start on.
    pub fn fall_back_to(&mut self, model: Arc<Scripted>) {
        self.fallback = Some(model);
    }

    /// Replaces the settings from the next start on.
    pub fn settings(&mut self, settings: &str) {
        settings.clone_into(&mut self.settings);
    }

    /// Appends settings to the entry of one person from the next start on.
    pub fn people_also(&mut self, person: i64, more: &str) {
        let known = self.fake.address(person);
        self.people = self.people.replace(&known, &format!("{known}\n{more}"));
    }

    /// Configures exactly these people, by name, role and id, from the next start on.
    pub fn people_are(&mut self, people: &[(&str, &str, i64)]) {
        let entry = |(name, role, id): &(&str, &str, i64)| {
            format!("[[people]]\nname = \"{name}\"\nrole = \"{role}\"\n{}\n", self.fake.address(*id))
        };
        self.people = people.iter().map(entry).collect();
    }

    /// Configures Ada alone from the next start on.
    pub fn only_ada(&mut self) {
        self.people = format!("[[people]]\nname = \"Ada\"\nrole = \"owner\"\n{}\n", self.fake.address(ADA));
    }

    /// Configures exactly these people, by name, role and id, from the next start on.
    pub fn name(&mut self, people: &[(&str, &str, i64)]) {
        let entry = |(name, role, person): &(&str, &str, i64)| {
            format!("[[people]]\nname = \"{name}\"\nrole = \"{role}\"\n{}\n", self.fake.address(*person))
        };
        self.people = people.iter().map(entry).collect();
    }

    /// Removes all people from the configuration from the next start on.
    pub fn configure_no_people(&mut self) {
        self.people.clear();
    }

    /// Sets the failpoint of the commits from the next start on.
    pub fn fail_at(&mut self, failpoint: Option<Failpoint>) {
        self.failpoint = failpoint;
    }

    /// Sets the failpoint of the disk writes from the next start on.
    pub fn fail_on_disk(&mut self, failpoint: Option<DiskFailpoint>) {
        self.disk_failpoint = failpoint;
    }

    /// Reports this free disk space, in bytes, from the next start on.
    pub fn disk_with(&mut self, free: u64) {
        self.disk_reports(move || Some(free));
    }

    /// Reports the free disk space that a function says, from the next start on.
    pub fn disk_reports(&mut self, report: impl Fn() -> Option<u64> + Send + Sync + 'static) {
        self.free_space = Some(FreeSpace::reported_by(report));
    }

    /// Reads documents with this program from the next start on.
    pub fn read_documents_with(&mut self, program: &Path) {
        self.reader = program.to_owned();
    }

    /// Ships these skills with the program from the next start on; none by default.
    pub fn ship(&mut self, builtins: &'static [Builtin]) {
        self.builtins = builtins;
    }

    /// Writes a skill into the folder by hand: name, description and body.
    pub fn write_skill(&self, name: &str, description: &str, body: &str) {
        let folder = self.home.join("skills").join(name);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("SKILL.md"), skill(name, description, body)).unwrap();
    }

    /// Returns the `SKILL.md` of a skill, if it exists.
    pub fn skill(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.home.join("skills").join(name).join("SKILL.md")).ok()
    }

    /// Sets an environment variable of Compline from the next start on.
    pub fn set_env(&mut self, name: &str, value: &str) {
        self.env.insert(name.to_owned(), value.to_owned());
    }

    /// Sets the time limits of MCP servers from the next start on.
    pub fn limit_outside(&mut self, limits: Limits) {
        self.mcp_limits = Some(limits);
    }

    /// Returns the answer to a command line.
    pub async fn command_line(&self, words: &[&str]) -> compline::admin::Answer {
        let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        self.app().admin.command_line(&words).await
    }

    /// Continues from another home, as after a power cut. The previous home is deleted.
    pub fn move_to(&mut self, home: tempfile::TempDir) {
        self.home = home.path().to_owned();
        self.journal = Mutex::default();
        self.keep = home;
    }

    /// The configuration of the story.
    pub fn config(&self) -> Config {
        // Reflection, heartbeat and the page are off except in the stories about them.
        let still = ["[reflection]\nenabled = false\n", "[heartbeat]\ninterval = \"0\"\n", "[web]\nenabled = false\n"];
        let still: String = still
            .into_iter()
            .filter(|section| !self.settings.contains(&section[..section.find(']').unwrap()]))
            .collect();
        let zone = if self.settings.contains("timezone") { "" } else { "timezone = \"UTC\"\n" };
        // Nobody has quiet hours except in the stories about them.
        let loud = |entry: &str| if entry.contains("quiet_hours") { "" } else { "\nquiet_hours = \"\"\n" };
        let mut entries = self.people.split("[[people]]");
        let head = entries.next().unwrap_or_default().to_owned();
        let people = entries.fold(head, |all, entry| format!("{all}[[people]]{entry}{}", loud(entry)));
        let text = format!("{zone}{}\n{still}{}{people}", self.settings, self.fake.settings());
        let home = Home::at(&self.home);
        // Skills written by hand are live except in the stories about their review.
        let mut env = self.env.clone();
        if !self.settings.contains("by_hand") {
            env.insert("COMPLINE__SKILLS__BY_HAND".to_owned(), "live".to_owned());
        }
        compline::config::parse(&text, "story.toml", &env, home).unwrap().config
    }

    /// Starts the gateway and waits until it listens.
    pub async fn start(&mut self) {
        let models = |models: &mut dyn Iterator<Item = &Arc<Scripted>>| -> Vec<Arc<dyn compline::model::Model>> {
            if self.offline { Vec::new() } else { models.map(|model| Arc::clone(model) as _).collect() }
        };
        let seams = || Overrides {
            clock: Some(self.clock.clone()),
            chat: models(&mut Some(&self.model).into_iter().chain(&self.fallback)),
            background: models(&mut Some(&self.background).into_iter().chain(&self.background_fallback)),
            reviewer: models(&mut self.reviewer.iter()),
            fetcher: self.fetcher.clone(),
            jitter: Some(|| 0.5),
            builtins: Some(self.builtins),
            failpoint: self.failpoint.clone(),
            mcp_limits: self.mcp_limits,
            disk_failpoint: self.disk_failpoint.clone(),
            free_space: self.free_space.clone(),
            adapters: watched_adapter::stand(&self.fake, &self.sick),
            reader: Some(self.reader.clone()),
            terminal_only: false,
        };
        // A program that another test starts in this process holds the lock from its fork to its
        // exec.
        let built = async {
            loop {
                match App::build(self.config(), seams()).await {
                    Err(BuildError::Held(_)) => tokio::task::yield_now().await,
                    built => break built.unwrap(),
                }
            }
        };
        let app = tokio::time::timeout(Duration::from_secs(20), built).await.expect("another process has the home");
        let listeners = self.fake.listeners();
        app.start().await.unwrap();
        self.app = Some(app);
        self.listens(listeners).await;
    }

    /// Waits until a new listener connects. A request that the server cut off is retried after a
    /// pause by the clock, which stands still in a story: without a listener, one second of it
    /// passes.
    async fn listens(&self, before: usize) {
        let patience = Duration::from_secs(2);
        while tokio::time::timeout(patience, self.fake.until(|fake| fake.listeners() > before)).await.is_err() {
            self.clock.advance(Duration::from_secs(1)).await;
        }
    }

    /// Stops the gateway as an operator would.
    pub async fn stop(&mut self) {
        if let Some(app) = self.take_app() {
            app.stop().await;
            self.fake.hang_up();
        }
    }

    /// Stops and starts the gateway.
    pub async fn restart(&mut self) {
        self.stop().await;
        self.start().await;
    }

    /// Returns the running gateway.
    pub fn app(&self) -> &App {
        self.app.as_ref().unwrap()
    }

    /// Returns the status report of the gateway; empty if none runs.
    pub async fn status(&self) -> String {
        let Some(app) = &self.app else { return String::new() };
        app.admin.command_line(&["status".to_owned()]).await.markdown
    }

    /// Takes the gateway out of the story, as when its process is gone.
    pub fn take_app(&mut self) -> Option<App> {
        self.journal = Mutex::default();
        self.app.take()
    }

    /// Waits until every message is stored and everything is idle. No time passes.
    pub async fn settle(&self) {
        self.fake.until(|fake| fake.unacked() == 0).await;
        self.clock.work().idle().await;
    }

    /// Lets time pass.
    pub async fn pass(&self, span: Duration) {
        self.settle().await;
        self.clock.advance(span).await;
        self.settle().await;
    }

    /// Advances the clock second by second until the condition holds. Traffic on the wire takes a
    /// little real time meanwhile.
    pub async fn until(&self, mut holds: impl AsyncFnMut() -> bool) {
        let looking = async {
            while !holds().await {
                self.clock.advance(Duration::from_secs(1)).await;
                for _ in 0..200 {
                    tokio::task::yield_now().await;
                }
            }
        };
        tokio::time::timeout(Duration::from_secs(30), looking).await.expect("it never came true");
    }

    /// Passes enough time for messages to be joined and answered.
    pub async fn answered(&self) {
        self.pass(Duration::from_secs(2)).await;
    }

    /// Sends a message from a person and waits for the answer.
    pub async fn say(&self, person: i64, text: &str) {
        self.fake.person_says(person, text);
        self.answered().await;
    }

    /// Lets a person forget something, and carry out the plan that is shown.
    pub async fn forgets(&self, person: i64, what: &str) {
        self.say(person, &format!("/forget {what}")).await;
        if let Some(command) = forget_command(&self.last_received_by(person)) {
            self.say(person, &command).await;
        }
    }

    /// Messages that a person received.
    pub fn received_by(&self, person: i64) -> Vec<String> {
        self.fake.messages_to(person)
    }

    /// Last message that a person received.
    pub fn last_received_by(&self, person: i64) -> String {
        self.received_by(person).pop().unwrap_or_default()
    }

    /// Queries one number from the journal.
    pub fn count(&self, sql: &str) -> i64 {
        self.in_journal(|db| db.query_row(sql, [], |row| row.get(0)).unwrap())
    }

    /// Queries one text from the journal.
    pub fn text(&self, sql: &str) -> String {
        self.in_journal(|db| db.query_row(sql, [], |row| row.get(0)).unwrap())
    }

    /// Looks into the journal. While the gateway runs, the connection is kept: each new one reads
    /// the whole schema.
    pub fn in_journal<T>(&self, look: impl FnOnce(&Connection) -> T) -> T {
        let path = self.home.join("compline.db");
        if self.app.is_none() {
            return look(&Connection::open(path).unwrap());
        }
        let mut kept = self.journal.lock().unwrap_or_else(PoisonError::into_inner);
        look(kept.get_or_insert_with(|| Connection::open(path).unwrap()))
    }

    /// Ends the story and checks the canaries.
    pub async fn end(mut self) {
        if self.app.is_some() {
            self.settle().await;
        }
        self.check_canaries();
        self.stop().await;
    }

    /// Ends a story without the check of canaries: an owner made something live that derives from
    /// untrusted text, and from then on it counts as theirs.
    pub async fn stop_here(mut self) {
        self.settle().await;
        self.stop().await;
    }

    /// Asserts that no untrusted canary is in a trusted prompt or in a file that is loaded
    /// automatically, and that no person's canary reaches another person.
    pub fn check_canaries(&self) {
        for request in self.model.requests().iter().chain(&self.background.requests()) {
            let words = words(request);
            if request.label().is_trusted() {
                assert!(!words.contains(UNTRUSTED), "an untrusted canary in a trusted prompt:\n{words}");
            }
            let theirs = request.scope();
            for (id, canary) in [(1, canary(ADA)), (2, canary(BEN))] {
                let own = theirs == compline::trust::Scope::Person(compline::id::PersonId(id));
                assert!(own || !words.contains(&canary), "{canary} in a prompt for {}:\n{words}", theirs.encode());
            }
        }
        for (person, other) in [(ADA, BEN), (BEN, ADA), (EVE, ADA), (EVE, BEN)] {
            let sent = self.received_by(person).join("\n");
            assert!(!sent.contains(&canary(other)), "{person} was sent {}", canary(other));
        }
        for file in ["AGENTS.md", "SOUL.md", "USER.md", "memory/MEMORY.md"] {
            let path = self.home.join("workspace").join(file);
            let words = std::fs::read_to_string(path).unwrap_or_default();
            assert!(!words.contains(UNTRUSTED), "an untrusted canary in {file}");
        }
    }
}

/// Asserts that every part of a prompt with untrusted words has an untrusted label.
pub fn every_untrusted_part_is_labelled(story: &StoryOver<impl Channel>) {
    for request in story.model.requests().iter().chain(&story.background.requests()) {
        for part in request.messages().iter().flat_map(|message| message.parts()) {
            let held = format!("{:?}", part.open().0).contains(UNTRUSTED);
            assert!(!held || !part.label().is_trusted(), "untrusted words count as trusted: {part:?}");
        }
    }
}

/// Text of a `SKILL.md`.
pub fn skill(name: &str, description: &str, body: &str) -> String {
    format!("---\nname: {name}\ndescription: {description}\n---\n\n{body}\n")
}

/// Canary in the messages that a person types.
pub fn canary(person: i64) -> String {
    format!("canary-of-{person}")
}

/// Creates a temporary folder, in memory if possible: a story commits often and needs no
/// durability.
fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

/// Copies a home as a power cut leaves it. The journal stands still meanwhile, other files need
/// not: if an entry moves, appears or disappears during the copy, the copy is repeated.
pub fn copy_home(from: &Path) -> tempfile::TempDir {
    for _ in 0..1000 {
        let to = folder();
        let before = entries(from);
        let whole = before.iter().all(|(path, is_folder)| copied(from, to.path(), path, *is_folder));
        if whole && entries(from) == before {
            return to;
        }
    }
    panic!("{} never stood still", from.display());
}

/// Lists every file and folder below, folders before their content. Entries that vanish meanwhile
/// are left out.
fn entries(home: &Path) -> Vec<(PathBuf, bool)> {
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        let Some(listed) = if_present(std::fs::read_dir(home.join(&folder))) else { continue };
        for entry in listed {
            let entry = entry.unwrap();
            let Some(kind) = if_present(entry.file_type()) else { continue };
            let path = folder.join(entry.file_name());
            if kind.is_dir() {
                folders.push(path.clone());
            }
            if kind.is_dir() || kind.is_file() {
                found.push((path, kind.is_dir()));
            }
        }
    }
    found
}

fn copied(from: &Path, to: &Path, path: &Path, is_folder: bool) -> bool {
    if is_folder {
        std::fs::create_dir(to.join(path)).unwrap();
        return true;
    }
    if_present(std::fs::copy(from.join(path), to.join(path))).is_some()
}

fn if_present<T>(result: std::io::Result<T>) -> Option<T> {
    match result {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        result => Some(result.unwrap()),
    }
}

/// Text typed by a person: trusted, in the given scope.
pub fn typed(words: &str, scope: compline::trust::Scope) -> compline::trust::Text {
    compline::trust::Labelled::new(Arc::from(words), compline::trust::Label::trusted(), scope)
}

/// Command by which the plan of a deletion is carried out; `None` if the text shows no plan.
pub fn forget_command(told: &str) -> Option<String> {
    let (before, _) = told.split_once(" deletes all of this for good")?;
    before.rsplit_once("/forget ").map(|(_, rest)| format!("/forget {rest}"))
}
