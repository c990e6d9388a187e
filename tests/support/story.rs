//! A story: three people, one bot, one clock.
//!
//! Ada is the owner, Ben a member, Eve a stranger; each writes over one channel, which is Telegram
//! unless the story says otherwise ([`StoryOver`]). Time passes only by [`StoryOver::pass`], and
//! only when everybody rests. Every story ends with [`StoryOver::end`], which looks for canaries: a
//! token that stands in an untrusted text or in one person's text must never turn up in a prompt
//! that counts as trusted, in a file that is loaded by itself, or in another person's chat.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use compline::app::{App, BuildError, Overrides};
use compline::config::{Config, Home};
use compline::review::DiskFailpoint;
use compline::schedule::FreeSpace;
use compline::skill::builtin::Builtin;
use compline::store::Failpoint;
use compline::time::{Clock, SimulatedClock, Timestamp};
use compline::tool::mcp::Limits;

use super::channel::Channel;
use super::model::{Scripted, words};
use super::telegram::FakeTelegram;
use super::watched;

/// Ada's numeric id.
pub const ADA: i64 = 1001;
/// Ben's numeric id.
pub const BEN: i64 = 1002;
/// Eve's numeric id.
pub const EVE: i64 = 6666;

/// Noon on a Friday, UTC.
pub const NOON: Timestamp = Timestamp(1_795_176_000_000);

/// A canary in untrusted text begins with this, whoever brings it in.
pub const UNTRUSTED: &str = "canary-untrusted-";

/// A story over Telegram.
pub type Story = StoryOver<FakeTelegram>;

/// Everything that a story needs.
pub struct StoryOver<C: Channel> {
    pub fake: C,
    pub model: Arc<Scripted>,
    pub background: Arc<Scripted>,
    pub clock: Arc<SimulatedClock>,
    pub home: PathBuf,
    app: Option<App>,
    settings: String,
    keep: tempfile::TempDir,
    failpoint: Option<Failpoint>,
    fetcher: Option<compline::tool::web::Fetcher>,
    offline: bool,
    fallback: Option<Arc<Scripted>>,
    /// Asked when the first background model fails; set it before the start.
    pub background_fallback: Option<Arc<Scripted>>,
    people: String,
    env: BTreeMap<String, String>,
    outside: Option<Limits>,
    builtins: &'static [Builtin],
    disk_failpoint: Option<DiskFailpoint>,
    free_space: Option<FreeSpace>,
    reader: PathBuf,
    /// Whether asking after the health of an adapter panics; set it before the start.
    pub sick: Arc<AtomicBool>,
}

impl<C: Channel> StoryOver<C> {
    /// Ada, Ben and Eve at noon; the gateway runs and listens.
    pub async fn begin() -> Self {
        Self::with("").await
    }

    /// The same with more settings, as TOML.
    pub async fn with(settings: &str) -> Self {
        let mut story = Self::prepared(settings).await;
        story.start().await;
        story
    }

    /// The same before the gateway was ever started.
    pub async fn prepared(settings: &str) -> Self {
        let clock = Arc::new(SimulatedClock::new(NOON));
        let fake = C::start_sync();
        let now = Arc::clone(&clock);
        fake.follow(Arc::new(move || now.now().0));
        for (id, name) in [(ADA, "Ada"), (BEN, "Ben"), (EVE, "Eve")] {
            fake.meet(id, name);
        }
        let dir = folder();
        let model = Scripted::new(clock.clone());
        let background = Scripted::new(clock.clone());
        Self {
            fake,
            model,
            background,
            clock,
            home: dir.path().to_owned(),
            app: None,
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
            reader: PathBuf::from(env!("CARGO_BIN_EXE_compline")),
            sick: Arc::default(),
            env: BTreeMap::new(),
            outside: None,
            people: format!(
                "[[people]]\nname = \"Ada\"\nrole = \"owner\"\n{}\n[[people]]\nname = \"Ben\"\nrole = \"member\"\n{}\n",
                C::address(ADA),
                C::address(BEN)
            ),
        }
    }

    /// The same without any key: the model is the one of the default configuration.
    pub fn without_a_key(&mut self) {
        self.offline = true;
    }

    /// Web pages come through this from the next start on.
    pub fn fetch_through(&mut self, fetcher: compline::tool::web::Fetcher) {
        self.fetcher = Some(fetcher);
    }

    /// This model is asked when the first one fails, from the next start on.
    pub fn fall_back_to(&mut self, model: Arc<Scripted>) {
        self.fallback = Some(model);
    }

    /// The configuration says this, from the next start on.
    pub fn settings(&mut self, settings: &str) {
        settings.clone_into(&mut self.settings);
    }

    /// The configuration says more of somebody, from the next start on.
    pub fn people_also(&mut self, person: i64, more: &str) {
        let known = C::address(person);
        self.people = self.people.replace(&known, &format!("{known}\n{more}"));
    }

    /// The configuration names these people, by name, role and id, from the next start on.
    pub fn people_are(&mut self, people: &[(&str, &str, i64)]) {
        let entry = |(name, role, id): &(&str, &str, i64)| {
            format!("[[people]]\nname = \"{name}\"\nrole = \"{role}\"\n{}\n", C::address(*id))
        };
        self.people = people.iter().map(entry).collect();
    }

    /// The configuration names Ada alone, from the next start on.
    pub fn only_ada(&mut self) {
        self.people = format!("[[people]]\nname = \"Ada\"\nrole = \"owner\"\n{}\n", C::address(ADA));
    }

    /// The configuration names these, each with role and address, from the next start on.
    pub fn name(&mut self, people: &[(&str, &str, i64)]) {
        let entry = |(name, role, person): &(&str, &str, i64)| {
            format!("[[people]]\nname = \"{name}\"\nrole = \"{role}\"\n{}\n", C::address(*person))
        };
        self.people = people.iter().map(entry).collect();
    }

    /// Nobody is named in the configuration, from the next start on.
    pub fn configure_no_people(&mut self) {
        self.people.clear();
    }

    /// Commits are seen by this from the next start on.
    pub fn fail_at(&mut self, failpoint: Option<Failpoint>) {
        self.failpoint = failpoint;
    }

    /// Steps on the disk are seen by this from the next start on.
    pub fn fail_on_disk(&mut self, failpoint: Option<DiskFailpoint>) {
        self.disk_failpoint = failpoint;
    }

    /// The disk has that much room from the next start on, in bytes.
    pub fn disk_with(&mut self, free: u64) {
        self.free_space = Some(Arc::new(move || Some(free)));
    }

    /// Documents are read by this program, from the next start on.
    pub fn read_documents_with(&mut self, program: &Path) {
        self.reader = program.to_owned();
    }

    /// These skills ship with the program from the next start on; none unless a story says so.
    pub fn ship(&mut self, builtins: &'static [Builtin]) {
        self.builtins = builtins;
    }

    /// A person puts a skill into the folder by hand: name, description and body.
    pub fn write_skill(&self, name: &str, description: &str, body: &str) {
        let folder = self.home.join("skills").join(name);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("SKILL.md"), skill(name, description, body)).unwrap();
    }

    /// What lies in the folder of a skill, if anything does.
    pub fn skill(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.home.join("skills").join(name).join("SKILL.md")).ok()
    }

    /// What Compline finds in its environment, from the next start on.
    pub fn set_env(&mut self, name: &str, value: &str) {
        self.env.insert(name.to_owned(), value.to_owned());
    }

    /// How long servers of outside tools may take, from the next start on.
    pub fn limit_outside(&mut self, limits: Limits) {
        self.outside = Some(limits);
    }

    /// What the command line answers.
    pub async fn command_line(&self, words: &[&str]) -> compline::admin::Answer {
        let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        self.app().admin.command_line(&words).await
    }

    /// Goes on from another home, as after a power cut. The one before is gone.
    pub fn move_to(&mut self, home: tempfile::TempDir) {
        self.home = home.path().to_owned();
        self.keep = home;
    }

    /// The configuration of the story.
    pub fn config(&self) -> Config {
        // What happens by itself happens in the stories about it.
        let still = ["[reflection]\nenabled = false\n", "[heartbeat]\ninterval = \"0\"\n"];
        let still: String = still
            .into_iter()
            .filter(|section| !self.settings.contains(&section[..section.find(']').unwrap()]))
            .collect();
        let zone = if self.settings.contains("timezone") { "" } else { "timezone = \"UTC\"\n" };
        let text = format!("{zone}{}\n{still}{}{}", self.settings, self.fake.settings(), self.people);
        let home = Home::at(&self.home);
        // What a person writes by hand is held in the stories about it.
        let mut env = self.env.clone();
        if !self.settings.contains("by_hand") {
            env.insert("COMPLINE__SKILLS__BY_HAND".to_owned(), "live".to_owned());
        }
        compline::config::parse(&text, "story.toml", &env, home).unwrap().config
    }

    /// Starts the gateway and waits until it listens.
    pub async fn start(&mut self) {
        let seams = || Overrides {
            clock: Some(self.clock.clone()),
            chat: if self.offline { Vec::new() } else { self.chat_models() },
            background: if self.offline { Vec::new() } else { self.background_models() },
            fetcher: self.fetcher.clone(),
            jitter: Some(|| 0.5),
            builtins: Some(self.builtins),
            failpoint: self.failpoint.clone(),
            outside: self.outside,
            disk_failpoint: self.disk_failpoint.clone(),
            free_space: self.free_space.clone(),
            adapters: watched::stand(&self.fake, &self.sick),
            reader: Some(self.reader.clone()),
            terminal_only: false,
        };
        // A program that another test starts in this process holds the lock for the moment from its
        // birth to its own beginning.
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

    /// Waits until somebody listens anew. What keeps the gateway from it (a request that the server
    /// cut off) is tried again after a pause by the clock, which stands still in a story: if nobody
    /// comes, a second of it passes.
    async fn listens(&self, before: usize) {
        let patience = Duration::from_secs(2);
        while tokio::time::timeout(patience, self.fake.until(|fake| fake.listeners() > before)).await.is_err() {
            self.clock.advance(Duration::from_secs(1)).await;
        }
    }

    fn chat_models(&self) -> Vec<Arc<dyn compline::model::Model>> {
        std::iter::once(&self.model).chain(&self.fallback).map(|model| Arc::clone(model) as _).collect()
    }

    fn background_models(&self) -> Vec<Arc<dyn compline::model::Model>> {
        let all = std::iter::once(&self.background).chain(&self.background_fallback);
        all.map(|model| Arc::clone(model) as _).collect()
    }

    /// Stops the gateway as an operator would.
    pub async fn stop(&mut self) {
        if let Some(app) = self.app.take() {
            app.stop().await;
            self.fake.hang_up();
        }
    }

    /// Stops and starts.
    pub async fn restart(&mut self) {
        self.stop().await;
        self.start().await;
    }

    /// The gateway.
    pub fn app(&self) -> &App {
        self.app.as_ref().unwrap()
    }

    /// How the gateway says that it is; nothing if there is none.
    pub async fn status(&self) -> String {
        let Some(app) = &self.app else { return String::new() };
        app.admin.reports().status(None).await.map(|answer| answer.markdown).unwrap_or_default()
    }

    /// Gives the gateway away, as when its process is gone.
    pub fn take_app(&mut self) -> Option<App> {
        self.app.take()
    }

    /// Waits until everything that was said is stored and everybody rests. No time passes.
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

    /// Lets time pass second by second until it is so. What happens on the wire meanwhile takes
    /// real time, if only a little.
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

    /// Long enough for messages to be joined and answered.
    pub async fn answered(&self) {
        self.pass(Duration::from_secs(2)).await;
    }

    /// Somebody says something, and it is answered.
    pub async fn say(&self, person: i64, text: &str) {
        self.fake.person_says(person, text);
        self.answered().await;
    }

    /// What somebody was sent.
    pub fn received_by(&self, person: i64) -> Vec<String> {
        self.fake.messages_to(person)
    }

    /// The last thing somebody was sent.
    pub fn last_received_by(&self, person: i64) -> String {
        self.received_by(person).pop().unwrap_or_default()
    }

    /// One number from the journal.
    pub fn count(&self, sql: &str) -> i64 {
        let db = rusqlite::Connection::open(self.home.join("compline.db")).unwrap();
        db.query_row(sql, [], |row| row.get(0)).unwrap()
    }

    /// One text from the journal.
    pub fn text(&self, sql: &str) -> String {
        let db = rusqlite::Connection::open(self.home.join("compline.db")).unwrap();
        db.query_row(sql, [], |row| row.get(0)).unwrap()
    }

    /// The end of every story: nothing stands where it must not.
    pub async fn end(mut self) {
        if self.app.is_some() {
            self.settle().await;
        }
        self.check_canaries();
        self.stop().await;
    }

    /// The end of a story in which an owner made something live that untrusted text had a part in:
    /// from then on it counts as theirs.
    pub async fn stop_here(mut self) {
        self.settle().await;
        self.stop().await;
    }

    /// No untrusted canary in a prompt that counts as trusted or in a file that is loaded by
    /// itself; no person's canary with anybody else.
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

/// Every part of every prompt that holds untrusted words has a label that says so.
pub fn every_untrusted_part_is_labelled(story: &StoryOver<impl Channel>) {
    for request in story.model.requests().iter().chain(&story.background.requests()) {
        for part in request.messages().iter().flat_map(|message| message.parts()) {
            let held = format!("{:?}", part.open().0).contains(UNTRUSTED);
            assert!(!held || !part.label().is_trusted(), "untrusted words count as trusted: {part:?}");
        }
    }
}

/// A `SKILL.md`.
pub fn skill(name: &str, description: &str, body: &str) -> String {
    format!("---\nname: {name}\ndescription: {description}\n---\n\n{body}\n")
}

/// The canary in what that person types.
pub fn canary(person: i64) -> String {
    format!("canary-of-{person}")
}

/// A folder in memory, where there is one: a story commits often, and nobody pulls the plug of the
/// test.
fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

/// Copies a home as a power cut leaves it: whatever is in the files at this instant. The journal
/// stands still meanwhile, the rest of the program need not: if something was moved, made or removed
/// under the copy, it is taken again.
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

/// Every file and folder below, folders before what is in them. What vanishes while we look is left
/// out.
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

/// Words of a person, as they typed them.
pub fn typed(words: &str, scope: compline::trust::Scope) -> compline::trust::Text {
    compline::trust::Labelled::new(Arc::from(words), compline::trust::Label::trusted(), scope)
}
