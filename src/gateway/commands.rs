//! Command queues: the commands of a person run in order of arrival by `admin` and are answered
//! through the outbox. `admin` decides who may give which. They never wait for a turn or for
//! somebody else's, and never reach a model. An interrupted command is run again, three times at
//! most.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::dispatcher::Dispatcher;
use super::menu;
use crate::admin::command::{self, Action, Command, SettingChange};
use crate::admin::threads::AnswerThreads;
use crate::admin::{Admin, Answer, AnswerFile, Caller};
use crate::id::{AddressId, PersonId};
use crate::message::ChannelKind;
use crate::store::{Journal, MessageState, NewOutbox, NewPart, OutboxKind, StoredMessage, Tx};
use crate::time::clock::{ActivityGuard, WakeupSender, Wakeups};
use crate::time::task::{Panicked, guarded, lock};
use crate::time::{Clock, Timestamp};
use crate::trust::{Labelled, Scope};
use crate::wording;
use crate::wording::command as says;

/// Maximum number of starts of one command.
const MAX_ATTEMPTS: u32 = 3;
/// Pause after a failure that is not the command's.
const PAUSE: Duration = Duration::from_secs(60);

/// Worker of the command queues.
pub struct CommandWorker {
    /// The journal.
    pub journal: Journal,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// Implementation of the commands.
    pub admin: Arc<Admin>,
    /// Delivery of the answers.
    pub dispatcher: Arc<Dispatcher>,
    /// Wakes this worker.
    pub waker: WakeupSender,
    /// Those whose queue is being worked off.
    pub busy: Mutex<HashSet<Option<PersonId>>>,
}

impl CommandWorker {
    /// Runs queued commands until the program stops.
    pub async fn run(self, wakeups: Wakeups, stop: CancellationToken) {
        let (worker, queues) = (Arc::new(self), TaskTracker::new());
        let round = || async { worker.begin(&queues, &stop).await.map(|()| None) };
        wakeups.run_rounds(&*worker.clock, &stop, "A command", "Running a command failed", round).await;
        queues.close();
        queues.wait().await;
    }

    /// Begins to work off the queue of everyone who has one. Where that ends, it wakes this worker.
    async fn begin(self: &Arc<Self>, queues: &TaskTracker, stop: &CancellationToken) -> anyhow::Result<()> {
        for command in self.journal.read(|db| db.messages().queued_commands()).await? {
            if lock(&self.busy).insert(command.person) {
                let (worker, working, stop) = (Arc::clone(self), self.clock.busy(), stop.clone());
                queues.spawn(async move { worker.work_off(command.person, working, stop).await });
            }
        }
        let mut notified = Vec::new();
        let applied = self.admin.memory_files().apply_confirmed(&mut notified).await;
        for address in notified {
            self.dispatcher.wake(address);
        }
        applied
    }

    /// Works off the queue of one person.
    async fn work_off(&self, person: Option<PersonId>, mut working: ActivityGuard, stop: CancellationToken) {
        while let Err(error) = self.run_all(person).await {
            tracing::error!("Running a command failed: {error:#}");
            working = tokio::select! {
                () = stop.cancelled() => return,
                working = working.rest(&*self.clock, PAUSE) => working,
            };
        }
        lock(&self.busy).remove(&person);
        // One may have come since, and what was confirmed is to be applied.
        self.waker.wake(&*self.clock);
        drop(working);
    }

    async fn run_all(&self, person: Option<PersonId>) -> anyhow::Result<()> {
        loop {
            let queued = self.journal.read(|db| db.messages().queued_commands()).await?;
            let Some(command) = queued.into_iter().find(|command| command.person == person) else { return Ok(()) };
            let id = command.id;
            if self.journal.write("begin a command", move |tx| tx.messages().begin_command(id)).await? > MAX_ATTEMPTS {
                self.quarantine(command).await?;
                continue;
            }
            match guarded("A command", self.run_one(command)).await {
                // The attempt was counted; the command is retried or closed at once.
                Err(error) if error.is::<Panicked>() => tracing::error!(message.id = %id, "Command {id} panicked"),
                done => done?,
            }
        }
    }

    /// Closes a command that failed at every start, and tells its sender.
    async fn quarantine(&self, command: StoredMessage) -> anyhow::Result<()> {
        let (id, now) = (command.id, self.clock.now());
        tracing::error!(message.id = %id, "Command {id} was begun {MAX_ATTEMPTS} times and never ended; it is closed");
        let close = move |tx: Tx<'_>| {
            let closed = tx.messages().settle_message(id, MessageState::Closed, "failed")?;
            let scope = tx.messages().texts_of(id)?.first().map(|text| text.text.scope());
            let (Some(address), Some(scope)) = (command.address.filter(|_| closed), scope) else { return Ok(None) };
            let text = &wording::own(says::QUARANTINED.in_language(tx.people().language_in(scope)?), scope);
            let quotes = if matches!(scope, Scope::Group(_)) { "" } else { &command.external_id };
            let answer = NewOutbox::answer(OutboxKind::Refusal, address, text, now);
            tx.outbox().post(&NewOutbox { quotes, ..answer })?;
            Ok(Some(address))
        };
        if let Some(address) = self.journal.write("close a command that fails", close).await? {
            self.dispatcher.wake(address);
        }
        Ok(())
    }

    async fn run_one(&self, command: StoredMessage) -> anyhow::Result<()> {
        let id = command.id;
        let person = command.person;
        let (person, texts) = self
            .journal
            .read(move |db| Ok((person.map_or(Ok(None), |id| db.people().person(id))?, db.messages().texts_of(id)?)))
            .await?;
        let (Some(person), Some(address), Some(text)) = (person, command.address, texts.first()) else {
            return self
                .journal
                .write("close a command", move |tx| {
                    tx.messages().settle_message(id, MessageState::Closed, "not_allowed").map(|_| ())
                })
                .await;
        };
        // A command about a group is answered in the group.
        let scope = text.text.scope();
        let group = if let Scope::Group(stream) = scope { Some(stream) } else { None };
        let caller = Caller { person, group, language: None };
        let words = Arc::clone(text.text.open().0);
        let parsed = command::parse(&words);
        let stops = parsed == Some(Command::Act(Action::Stop));
        let is_language = matches!(&parsed, Some(Command::Act(Action::ChangeSetting(SettingChange::Language(_)))));
        // A yes is decided where it takes effect.
        let acts = matches!(&parsed, Some(Command::Act(action)) if !matches!(action, Action::Yes(..)));
        let by = caller.person.id;
        let answer = self.answer(caller, Arc::clone(&words), matches!(parsed, Some(Command::Read(_)))).await?;
        let done = acts && !answer.failed;
        let kind = if answer.failed { OutboxKind::Refusal } else { OutboxKind::Answer };
        let (text, buttons) = (Labelled::new(Arc::from(answer.markdown), answer.label, scope), answer.buttons);
        let (now, is_private) = (self.clock.now(), group.is_none());
        let file = match answer.file {
            // Only its person reads the page.
            Some(file) if self.is_page(address).await? => Some(AnswerFile { address, ..file }),
            file => file,
        };
        let elsewhere = file.as_ref().map(|file| file.address);
        self.journal
            .write("answer a command", move |tx| {
                if tx.messages().settle_message(id, MessageState::Answered, "")? {
                    let quotes = &if is_private { answered_ids(tx, &command, address, stops)? } else { String::new() };
                    if file.as_ref().is_none_or(|file| file.address != address) {
                        let answer = NewOutbox::answer(kind, address, &text, now);
                        tx.outbox().post(&NewOutbox { buttons: &buttons, quotes, ..answer })?;
                    }
                    if let Some(file) = file {
                        let quotes = if file.address == address { quotes } else { "" };
                        post_file(tx, file, scope, quotes, now)?;
                    }
                    if done {
                        tx.outbox().press_buttons(&words, by, now)?;
                    }
                }
                Ok(())
            })
            .await?;
        elsewhere.into_iter().for_each(|address| self.dispatcher.wake(address));
        self.dispatcher.wake(address);
        if is_language {
            self.register_menus().await;
        }
        Ok(())
    }

    /// Answers a command. One that only reads must be answered within a time.
    async fn answer(&self, caller: Caller, words: Arc<str>, reads: bool) -> anyhow::Result<Answer> {
        let (admin, person) = (Arc::clone(&self.admin), caller.person.id);
        let scope = caller.group.map_or(Scope::Person(person), Scope::Group);
        let work = async move { admin.chat(&caller, &words).await };
        if !reads {
            return self.admin.answers.act(Some(person), work).await;
        }
        if let Some(answer) = self.admin.answers.read(person, work).await? {
            return Ok(answer);
        }
        let language = self.journal.read(move |db| db.people().language_in(scope)).await?;
        Ok(Answer::refusal(says::too_slow(language, AnswerThreads::LIMIT)))
    }

    async fn is_page(&self, address: AddressId) -> anyhow::Result<bool> {
        let address = self.journal.read(move |db| db.addresses().address(address)).await?;
        Ok(address.is_some_and(|address| address.adapter == ChannelKind::Web.name()))
    }

    /// Registers the command menus again after a person chose a language.
    async fn register_menus(&self) {
        for adapter in self.dispatcher.all_adapters() {
            if menu::register(&self.journal, &*adapter).await.is_err() {
                tracing::warn!("The command menu in a new language is registered at the next start");
            }
        }
    }
}

/// Posts a file with the text that it comes with.
fn post_file(tx: Tx<'_>, file: AnswerFile, scope: Scope, quotes: &str, now: Timestamp) -> anyhow::Result<()> {
    let AnswerFile { address, words, path, digest } = file;
    let said = NewPart { rich: words.to_string(), plain: words.to_string(), ..NewPart::default() };
    let text = wording::own(words, scope);
    let outbox =
        tx.outbox().post(&NewOutbox { quotes, ..NewOutbox::answer(OutboxKind::Answer, address, &text, now) })?;
    tx.outbox().store_parts(outbox, &[said, NewPart { file: path, digest, ..NewPart::default() }])
}

/// External ids that a command's answer answers: the command, and the messages whose turn it
/// stopped.
fn answered_ids(tx: Tx<'_>, command: &StoredMessage, address: AddressId, stops: bool) -> anyhow::Result<String> {
    let (since, id) = (command.received_at, command.id);
    let stopped = if stops { tx.outbox().stopped_since(address, since, id)? } else { Vec::new() };
    let named: Vec<&str> = std::iter::once(&command.external_id).chain(&stopped).map(String::as_str).collect();
    Ok(named.join("\n"))
}
