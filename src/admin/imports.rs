//! `compline import`: conversations from archives of other programs, and notes and skills from
//! their folders.
//!
//! The archive is read twice: first to its end, so that a damaged one is refused before anything is
//! stored, then to store it, some conversations in each transaction. A crash leaves an import that
//! the same command completes. All of it is untrusted, has the source of its import as its label,
//! belongs to one person, and starts no work: no turn, no summary, no extraction. A note waits
//! for its promotion, a skill for its review.

mod survey;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::OwnedMutexGuard;

use super::ImportsAdmin;
use super::answer::{Answer, CommandError, Render, RenderContext, ShownLabel, plain, visible_line, with_fields};
use crate::erasure::Erasure;
use crate::id::ImportId;
use crate::import::{self, ArchiveItem, ArchivedConversation, ArchivedNote, ArchivedSkill, ImportError};
use crate::memory::{Author, ChangeOrigin, PersonShare, WriteError};
use crate::people::{Party, Person};
use crate::review::{ProposalOrigin, Refused, Staged};
use crate::store::{ArchiveKind, ImportRow, ImportState, NewImport, NewImported};
use crate::time::Timestamp;
use crate::trust::{Label, Labelled, Scope, Source, Text};
use crate::wording::gateway;
use crate::wording::import as says;
use survey::{Survey, look, titled};

/// Messages in one transaction, so that it takes some hundredths of a second.
const BATCH: usize = 200;
/// Conversations, notes and skills that are read ahead.
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

/// Counts of an import.
#[derive(Debug, Default)]
struct Added {
    messages: usize,
    notes: usize,
    skills: usize,
    /// Names of skills and notes that were refused, with the reason.
    refused: Vec<(String, String)>,
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
            let counts = [row.conversations, row.messages, row.notes, row.skills];
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
                "notes": row.notes,
                "skills": row.skills,
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
        let messages = keys.messages;
        survey.new = match stream {
            Some(stream) => self.journal.read_much(move |db| db.imports().unknown(stream, &messages)).await?,
            None => messages.len(),
        };
        if !keys.notes.is_empty() {
            survey.new_notes = self.workspace.notes().count_new(&Party::One(person.clone()), keys.notes).await?;
        }
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
        lines.extend(added.refused.iter().map(|(name, why)| says::refused(&visible_line(name), &plain(why))));
        if added.messages + added.notes + added.skills == 0 {
            lines.push(says::NOTHING_NEW.to_owned());
            return Ok(Answer::ours(lines.join("\n"), json));
        }
        let counts = (added.messages, added.notes, added.skills);
        lines.push(says::added(id, counts, &plain(&person.name), request.may_embed));
        let fields = json!({
            "import": id,
            "added": added.messages,
            "added_notes": added.notes,
            "proposed": added.skills,
        });
        Ok(Answer::ours(lines.join("\n"), with_fields(json, fields)))
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
        let json = json!({ "import": id, "messages": removed.messages, "notes": removed.notes });
        Ok(Answer::ours(says::removed(id, removed.messages, removed.notes), json))
    }

    async fn receiver(&self, caller: &Person, request: &ImportRequest) -> Result<Person, CommandError> {
        if request.person.is_empty() {
            return Ok(caller.clone());
        }
        let person = self.person_named(&request.person).await?;
        Ok(person.ok_or_else(|| Answer::refusal(gateway::no_such_person(Some(&request.person))))?)
    }

    /// Stores what an archive holds.
    async fn store(
        &self,
        person: &Person,
        request: &ImportRequest,
        kind: ArchiveKind,
    ) -> Result<(ImportId, Added), CommandError> {
        let (id, scope, at, may_embed) = (person.id, Scope::Person(person.id), self.clock.now(), request.may_embed);
        let name = request.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let begin = self.journal.write("begin an import", move |tx| {
            let stream = tx.conversations().stream_for(id)?;
            let id = tx.imports().begin(&NewImport { stream, scope, kind, name, may_embed, at })?;
            tx.imports().import(id)
        });
        let Some(row) = begin.await? else { return Err(Answer::refusal(says::NOTHING_NEW).into()) };
        let (send, mut receive) = tokio::sync::mpsc::channel(AHEAD);
        let path = request.path.clone();
        let reading = tokio::task::spawn_blocking(move || {
            import::read(&path, &mut |item| match item {
                ArchiveItem::Skipped(_) | ArchiveItem::SkippedFile(..) => ControlFlow::Continue(()),
                found => match send.blocking_send(found) {
                    Ok(()) => ControlFlow::Continue(()),
                    // The program stops.
                    Err(_) => ControlFlow::Break(()),
                },
            })
        });
        let (mut batch, mut size, mut added) = (Vec::new(), 0, Added::default());
        while let Some(item) = receive.recv().await {
            match item {
                ArchiveItem::Conversation(found) => {
                    size += found.messages.len();
                    batch.push(found);
                }
                ArchiveItem::Note(note) => self.write_note(&row, person, &note, &mut added).await?,
                ArchiveItem::Skill(skill) => self.propose(&row, skill, &mut added).await?,
                ArchiveItem::Skipped(_) | ArchiveItem::SkippedFile(..) => {}
            }
            if size >= BATCH {
                added.messages += self.write_some(&row, std::mem::take(&mut batch)).await?;
                size = 0;
            }
        }
        added.messages += self.write_some(&row, batch).await?;
        let read = reading.await.map_err(anyhow::Error::from)?;
        read.map_err(|error| Answer::refusal(says::broke_off(&request.path, &error.to_string())))?;
        let (id, now) = (row.id, self.clock.now());
        self.journal.write("finish an import", move |tx| tx.imports().finish(id, now)).await?;
        Ok((id, added))
    }

    /// Keeps a removal out while something is stored, and refuses it after one.
    async fn keep_open(&self, row: &ImportRow) -> anyhow::Result<OwnedMutexGuard<()>> {
        let (guard, id) = (self.workspace.erasure_lock().await, row.id);
        let is_open = self.journal.read(move |db| db.imports().is_open(id)).await?;
        anyhow::ensure!(is_open, "Import {id} was removed meanwhile");
        Ok(guard)
    }

    /// Stores a note that waits for its promotion, unless it was stored before.
    async fn write_note(
        &self,
        row: &ImportRow,
        person: &Person,
        note: &ArchivedNote,
        added: &mut Added,
    ) -> anyhow::Result<()> {
        let _open = self.keep_open(row).await?;
        let origin = ChangeOrigin {
            who: Party::One(person.clone()),
            label: label_of(row.id),
            author: Author::Program,
            cause: "import",
            from: Vec::new(),
            person: PersonShare::default(),
            now: self.clock.now(),
        };
        match self.workspace.notes().store_imported(&origin, &titled(note)).await {
            Ok(is_new) => added.notes += usize::from(is_new),
            Err(WriteError::Refused(why)) => added.refused.push((note.path.clone(), why.to_string())),
            Err(WriteError::Failed(error)) => return Err(error),
        }
        Ok(())
    }

    /// Hands a skill to its review.
    async fn propose(&self, row: &ImportRow, skill: ArchivedSkill, added: &mut Added) -> anyhow::Result<()> {
        let _open = self.keep_open(row).await?;
        let ArchivedSkill { name, content } = skill;
        let origin = ProposalOrigin::Import(Some(row.id));
        let staged = match self.review.draft(&name, &content, origin).await {
            Ok(draft) => self.review.submit(draft).await?,
            Err(error) => Staged::Refused(Refused(vec![format!("{error:#}")])),
        };
        match staged {
            Staged::New(..) => added.skills += 1,
            Staged::Known(_) => {}
            Staged::Refused(why) => added.refused.push((name, why.to_string())),
        }
        Ok(())
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
    let text = |words: &str| Labelled::new(Arc::from(words), label_of(row.id), row.scope);
    let messages = found.messages.iter().map(|message| NewImported {
        key: message.key.clone(),
        at: message.at.map_or(now, |at| at.min(now)),
        text: text(&message.text),
    });
    (text(&says::titled(row.kind.as_str(), &found.title)), messages.collect())
}

/// The label of all that came with an import.
fn label_of(id: ImportId) -> Label {
    Label::untrusted(Source::import(id))
}

fn cannot_read(path: &Path, error: &ImportError) -> CommandError {
    Answer::refusal(says::cannot_read(path, &error.to_string())).into()
}
