//! Command queue: commands run in order of arrival by `admin` and are answered through the outbox.
//! `admin` decides who may give which. They never wait for a turn and never reach a model. An
//! interrupted command is run again, three times at most.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::dispatcher::Dispatcher;
use super::menu;
use crate::admin::command::{self, Action, Command, SettingChange};
use crate::admin::{Admin, AnswerFile, Caller};
use crate::id::AddressId;
use crate::message::ChannelKind;
use crate::store::{Journal, MessageState, NewOutbox, NewPart, OutboxKind, StoredMessage, Tx};
use crate::time::clock::Wakeups;
use crate::time::task::{Panicked, guarded};
use crate::time::{Clock, Timestamp};
use crate::trust::{Labelled, Scope};
use crate::wording;
use crate::wording::command as says;

/// Maximum number of starts of one command.
const MAX_ATTEMPTS: u32 = 3;
/// Worker of the command queue.
pub struct CommandWorker {
    /// The journal.
    pub journal: Journal,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// Implementation of the commands.
    pub admin: Arc<Admin>,
    /// Delivery of the answers.
    pub dispatcher: Arc<Dispatcher>,
}

impl CommandWorker {
    /// Runs queued commands until the program stops.
    pub async fn run(self, wakeups: Wakeups, stop: CancellationToken) {
        let round = || async { self.run_all().await.map(|()| None) };
        wakeups.run_rounds(&*self.clock, &stop, "A command", "Running a command failed", round).await;
    }

    async fn run_all(&self) -> anyhow::Result<()> {
        loop {
            let queued = self.journal.read(|db| db.messages().queued_commands()).await?;
            let Some(command) = queued.into_iter().next() else { break };
            let id = command.id;
            if self.journal.write("begin a command", move |tx| tx.messages().begin_command(id)).await? > MAX_ATTEMPTS {
                self.quarantine(command).await?;
                continue;
            }
            match guarded("A command", self.run_one(command)).await {
                // The attempt was counted; the command is retried or closed at once, and others
                // need not wait for it.
                Err(error) if error.is::<Panicked>() => tracing::error!(message.id = %id, "Command {id} panicked"),
                done => done?,
            }
        }
        let mut notified = Vec::new();
        let applied = self.admin.memory_files().apply_confirmed(&mut notified).await;
        for address in notified {
            self.dispatcher.wake(address);
        }
        applied
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
        let answer = self.admin.chat(&caller, &words).await;
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
