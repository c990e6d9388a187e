//! `compline import`: conversations from archives of other programs.
//!
//! The archive is read twice: first to its end, so that a damaged one is refused before anything is
//! stored, then to store it, some conversations in each transaction. A crash leaves an import that
//! the same command completes. All of it is untrusted, has the source of its import as its label,
//! belongs to one person, and starts no work: no turn, no summary, no extraction.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};

use super::ImportsAdmin;
use super::answer::{Answer, CommandError, Render, RenderContext, ShownLabel, plain, with_fields};
use crate::erasure::Erasure;
use crate::id::ImportId;
use crate::import::{self, ArchiveItem, ArchivedConversation, ImportError, SkipReason};
use crate::people::Person;
use crate::store::{ArchiveKind, ImportRow, ImportState, NewImport, NewImported};
use crate::time::Timestamp;
use crate::trust::{Label, Labelled, Scope, Source, Text};
use crate::wording::gateway;
use crate::wording::import as says;

/// Messages in one transaction, so that it takes some hundredths of a second.
const BATCH: usize = 200;
/// Conversations that are read ahead.
const AHEAD: usize = 4;

/// An archive to import.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ImportRequest {
    /// Full path of the file or folder.
    pub path: PathBuf,
    /// The kind that it is said to have.
    pub kind: Option<ArchiveKind>,
    /// Name of the person who gets it; blank for the caller.
    pub person: String,
    /// True if its texts may be sent to the embedding server.
    pub may_embed: bool,
}

/// What an archive holds.
#[derive(Debug)]
pub(super) struct Survey {
    kind: ArchiveKind,
    conversations: usize,
    messages: usize,
    new: usize,
    days: Option<(Timestamp, Timestamp)>,
    skipped: BTreeMap<SkipReason, usize>,
}

impl Survey {
    fn lines(&self, context: &RenderContext<'_>) -> Vec<String> {
        let days = self.days.map(|(from, to)| (context.zone.show_day(from), context.zone.show_day(to)));
        let days = days.as_ref().map(|(from, to)| (from.as_str(), to.as_str()));
        let mut lines = vec![says::holds(self.kind.as_str(), self.conversations, self.messages, days)];
        lines.extend(self.skipped.iter().map(|(reason, count)| says::skipped(*count, (*reason).into())));
        lines
    }
}

impl Render for Survey {
    fn markdown(&self, context: &RenderContext<'_>, _: &mut ShownLabel) -> String {
        let lines = self.lines(context);
        format!("{}\n\n{}", lines.join("\n"), says::would_add(self.new))
    }

    fn json(&self, _: &RenderContext<'_>, _: &mut ShownLabel) -> Value {
        let skipped: BTreeMap<&str, usize> = self.skipped.iter().map(|(why, count)| ((*why).into(), *count)).collect();
        json!({
            "kind": self.kind.as_str(),
            "conversations": self.conversations,
            "messages": self.messages,
            "new": self.new,
            "first_at": self.days.map(|(first, _)| first.rfc3339()),
            "last_at": self.days.map(|(_, last)| last.rfc3339()),
            "skipped": skipped,
        })
    }
}

/// The imports with the names of their people.
pub(super) struct ImportList(Vec<(ImportRow, String)>);

impl Render for ImportList {
    fn markdown(&self, context: &RenderContext<'_>, _: &mut ShownLabel) -> String {
        if self.0.is_empty() {
            return says::NONE.to_owned();
        }
        let line = |(row, person): &(ImportRow, String)| {
            let at = context.zone.show_day(row.began_at);
            let counts = (row.conversations, row.messages);
            says::line(row.id, row.kind.as_str(), &plain(&row.name), &plain(person), &at, counts, row.state.as_str())
        };
        self.0.iter().map(line).collect::<Vec<_>>().join("\n")
    }

    fn json(&self, _: &RenderContext<'_>, _: &mut ShownLabel) -> Value {
        let one = |(row, person): &(ImportRow, String)| {
            json!({
                "id": row.id,
                "kind": row.kind.as_str(),
                "name": row.name,
                "person": person,
                "at": row.began_at.rfc3339(),
                "state": row.state.as_str(),
                "embedded": row.may_embed,
                "conversations": row.conversations,
                "messages": row.messages,
            })
        };
        self.0.iter().map(one).collect()
    }
}

impl ImportsAdmin<'_> {
    /// Returns what an archive holds, and how much of it is new. Stores nothing.
    pub(super) async fn survey(&self, caller: &Person, request: &ImportRequest) -> Result<Survey, CommandError> {
        let person = self.receiver(caller, request).await?;
        self.survey_for(&person, request).await
    }

    async fn survey_for(&self, person: &Person, request: &ImportRequest) -> Result<Survey, CommandError> {
        let id = person.id;
        let stream = self.journal.read(move |db| db.conversations().stream_of(id)).await?;
        let path = request.path.clone();
        let (mut survey, keys) = look(path.clone()).await.map_err(|error| cannot_read(&path, &error))?;
        if request.kind.is_some_and(|kind| kind != survey.kind) {
            return Err(Answer::refusal(says::other_kind(&path, survey.kind.as_str())).into());
        }
        survey.new = match stream {
            Some(stream) => self.journal.read_much(move |db| db.imports().unknown(stream, &keys)).await?,
            None => keys.len(),
        };
        Ok(survey)
    }

    /// Imports an archive.
    pub(super) async fn import(&self, caller: &Person, request: &ImportRequest) -> Result<Answer, CommandError> {
        let person = self.receiver(caller, request).await?;
        // What is still being removed counts as there.
        self.schedule.delete_redacted().await?;
        let survey = self.survey_for(&person, request).await?;
        let context = self.render_context(crate::wording::review::Surface::CommandLine);
        let (mut lines, json) = (survey.lines(&context), survey.json(&context, &mut ShownLabel::nothing()));
        lines.push(String::new());
        // Also without anything new: an import that was cut off may only have to be finished.
        let (id, added) = self.store(&person, request, survey.kind).await?;
        if added == 0 {
            lines.push(says::NOTHING_NEW.to_owned());
            return Ok(Answer::ours(lines.join("\n"), json));
        }
        lines.push(says::added(id, added, &plain(&person.name), request.may_embed));
        Ok(Answer::ours(lines.join("\n"), with_fields(json, json!({ "import": id, "added": added }))))
    }

    /// Returns all imports.
    pub(super) async fn list(&self) -> anyhow::Result<ImportList> {
        let list = self.journal.read(|db| {
            let named = |row: ImportRow| {
                let Scope::Person(person) = row.scope else { return Ok((row, String::new())) };
                let name = db.people().person(person)?.map(|person| person.name).unwrap_or_default();
                Ok((row, name))
            };
            db.imports().imports()?.into_iter().map(named).collect::<anyhow::Result<Vec<_>>>()
        });
        Ok(ImportList(list.await?))
    }

    /// Removes all that an import brought.
    pub(super) async fn remove(&self, id: ImportId) -> Result<Answer, CommandError> {
        let row = self.journal.read(move |db| db.imports().import(id)).await?;
        if row.is_none_or(|row| row.state == ImportState::Gone) {
            return Err(Answer::refusal(says::no_such(id)).into());
        }
        self.journal.write("begin to remove an import", move |tx| tx.imports().begin_removal(id)).await?;
        let removed = Erasure::new(&self.journal, &self.workspace).remove_import(id, self.clock.now()).await?;
        Ok(Answer::ours(says::removed(id, removed), json!({ "import": id, "messages": removed })))
    }

    async fn receiver(&self, caller: &Person, request: &ImportRequest) -> Result<Person, CommandError> {
        if request.person.is_empty() {
            return Ok(caller.clone());
        }
        let person = self.person_named(&request.person).await?;
        Ok(person.ok_or_else(|| Answer::refusal(gateway::no_such_person(Some(&request.person))))?)
    }

    /// Stores the conversations of an archive. Returns the import and the number of its messages.
    async fn store(
        &self,
        person: &Person,
        request: &ImportRequest,
        kind: ArchiveKind,
    ) -> Result<(ImportId, usize), CommandError> {
        let (scope, at, may_embed) = (Scope::Person(person.id), self.clock.now(), request.may_embed);
        let name = request.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let person = person.id;
        let begin = self.journal.write("begin an import", move |tx| {
            let stream = tx.conversations().stream_for(person)?;
            let id = tx.imports().begin(&NewImport { stream, scope, kind, name, may_embed, at })?;
            tx.imports().import(id)
        });
        let Some(row) = begin.await? else { return Err(Answer::refusal(says::NOTHING_NEW).into()) };
        let (send, mut receive) = tokio::sync::mpsc::channel(AHEAD);
        let path = request.path.clone();
        let reading = tokio::task::spawn_blocking(move || {
            import::read(&path, &mut |item| match item {
                ArchiveItem::Conversation(found) => match send.blocking_send(found) {
                    Ok(()) => ControlFlow::Continue(()),
                    // The program stops.
                    Err(_) => ControlFlow::Break(()),
                },
                ArchiveItem::Skipped(_) => ControlFlow::Continue(()),
            })
        });
        let (mut batch, mut size, mut added) = (Vec::new(), 0, 0);
        while let Some(found) = receive.recv().await {
            size += found.messages.len();
            batch.push(found);
            if size >= BATCH {
                added += self.write_some(&row, std::mem::take(&mut batch)).await?;
                size = 0;
            }
        }
        added += self.write_some(&row, batch).await?;
        let read = reading.await.map_err(anyhow::Error::from)?;
        read.map_err(|error| Answer::refusal(says::broke_off(&request.path, &error.to_string())))?;
        let (id, now) = (row.id, self.clock.now());
        self.journal.write("finish an import", move |tx| tx.imports().finish(id, now)).await?;
        Ok((id, added))
    }

    async fn write_some(&self, row: &ImportRow, found: Vec<ArchivedConversation>) -> anyhow::Result<usize> {
        let (row, now) = (row.clone(), self.clock.now());
        let write = self.journal.write("import conversations", move |tx| {
            let mut added = 0;
            for conversation in &found {
                let (title, messages) = labelled(&row, conversation, now);
                added += tx.imports().add_conversation(&row, &title, &messages, now)?;
            }
            Ok(added)
        });
        write.await
    }
}

/// The texts of a conversation under the label of their import. None is younger than now.
fn labelled(row: &ImportRow, found: &ArchivedConversation, now: Timestamp) -> (Text, Vec<NewImported>) {
    let text = |words: &str| Labelled::new(Arc::from(words), Label::untrusted(Source::import(row.id)), row.scope);
    let messages = found.messages.iter().map(|message| NewImported {
        key: message.key.clone(),
        at: message.at.map_or(now, |at| at.min(now)),
        text: text(&message.text),
    });
    (text(&says::titled(row.kind.as_str(), &found.title)), messages.collect())
}

/// Reads an archive to its end. Returns what it holds, and the digest of each message.
async fn look(path: PathBuf) -> Result<(Survey, Vec<String>), ImportError> {
    let look = tokio::task::spawn_blocking(move || {
        let (mut conversations, mut keys) = (0, Vec::new());
        let (mut skipped, mut days): (BTreeMap<SkipReason, usize>, Option<(Timestamp, Timestamp)>) = Default::default();
        let kind = import::read(&path, &mut |item| {
            match item {
                ArchiveItem::Conversation(found) => {
                    conversations += 1;
                    for message in found.messages {
                        if let Some(at) = message.at {
                            days = Some(days.map_or((at, at), |(first, last)| (first.min(at), last.max(at))));
                        }
                        keys.push(message.key);
                    }
                }
                ArchiveItem::Skipped(reason) => *skipped.entry(reason).or_default() += 1,
            }
            ControlFlow::Continue(())
        })?;
        let messages = keys.len();
        keys.sort_unstable();
        keys.dedup();
        Ok((Survey { kind, conversations, messages, new: 0, days, skipped }, keys))
    });
    look.await.unwrap_or_else(|error| Err(ImportError::Unreadable(std::io::Error::other(error))))
}

fn cannot_read(path: &Path, error: &ImportError) -> CommandError {
    Answer::refusal(says::cannot_read(path, &error.to_string())).into()
}
