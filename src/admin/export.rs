//! `/export` and `compline export`: all data of one person, as one file that can be opened without
//! this program.
//!
//! The file is a zip, which phones open too, without compression: of Markdown, JSON lines and the
//! person's files. Data is selected by scope and by folder, as for prompts, so it contains nothing
//! of other people: from a group only the person's own messages. In chat the file is sent as a
//! document, stays in the person's folder under `exports/` until it is a week old, and fits the
//! limit of every channel; on the command line it is written to a path of the owner's choice, and
//! the page hands it to the browser.

use std::fs::{File, OpenOptions};
use std::io::{Cursor, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use serde_json::{Value, json};
use tokio::io::AsyncReadExt;
use zip::write::{SimpleFileOptions, ZipWriter};

use super::HistoryAdmin;
use super::RemindersPart;
use super::answer::{Answer, AnswerFile, Render, RenderContext, ShownLabel, plain, sources, with_fields};
use super::transcript::{self, TranscriptPart};
use crate::engine::system_run;
use crate::id::{ConversationId, PersonId};
use crate::memory::OpenedFile;
use crate::people::{Party, Person};
use crate::store::{Db, SummaryContent, SummaryInputs};
use crate::time::Timestamp;
use crate::tool::attachments::MAX_FILE;
use crate::trust::{Label, Labelled, Scope};
use crate::wording::review::Surface;
use crate::wording::{Language, command, personal_data as says};

/// Number of bytes copied at once.
const CHUNK: usize = 1 << 20;
/// Size in bytes from which a file of an archive needs longer headers.
const LARGE: u64 = 1 << 31;
/// Maximum size of a zip's two headers of a file, without its names, and of the zip's end.
const OVERHEAD: u64 = 256;

impl HistoryAdmin<'_> {
    /// Sends a person all their data.
    pub async fn export(&self, person: &Person, surface: Surface) -> anyhow::Result<Answer> {
        let language = surface.language();
        let id = person.id;
        let Some(address) = self.journal.read(move |db| system_run::address_of(db, id)).await? else {
            return Ok(Answer::refusal(says::NO_ADDRESS.in_language(language)));
        };
        let now = self.clock.now();
        let made = self.pack(person, Cursor::new(Vec::new()), MAX_FILE, surface).await;
        let (bytes, label) = match made {
            Err(error) if error.is::<Full>() => {
                return Ok(Answer::refusal(says::export_too_large(language, MAX_FILE >> 20)));
            }
            made => made?,
        };
        let who = Party::One(person.clone());
        let bytes = bytes.into_inner();
        let size = u64::try_from(bytes.len())?.div_ceil(1024);
        let (path, digest) = self.workspace.files().save_export(&who, &file_name(now), bytes, &label, now).await?;
        let json = json!({ "file": path, "kib": size });
        let file = AnswerFile { address, words: says::export_attached(language, size), path, digest };
        Ok(Answer { file: Some(file), ..Answer::ours(says::EXPORT_IN_DIRECT_CHAT.in_language(language), json) })
    }

    /// Packs all data of a person into a file without a name, which is gone once it is closed.
    pub async fn export_to_page(&self, person: &Person) -> anyhow::Result<OpenedFile> {
        let out = self.workspace.files().unnamed_file().await?;
        let out = std::io::BufWriter::new(out);
        let (out, _) = self.pack(person, out, u64::MAX, Surface::Chat(Language::ENGLISH)).await?;
        let mut file = out.into_inner().map_err(std::io::IntoInnerError::into_error)?;
        let size = file.stream_position()?;
        file.rewind()?;
        Ok(OpenedFile { file, name: file_name(self.clock.now()), size, picture: None })
    }

    /// Writes all data of a person to a new file.
    pub async fn export_to(&self, name: &str, file: &str) -> anyhow::Result<Answer> {
        let Some(person) = self.person_named(name).await? else {
            return Ok(Answer::refusal(command::no_such_person(&plain(name))));
        };
        let shown = plain(file);
        let out = match OpenOptions::new().write(true).create_new(true).mode(0o600).open(file) {
            Ok(out) => out,
            Err(error) => return Ok(Answer::refusal(says::export_not_written(&shown, &error.to_string()))),
        };
        let made = self.pack(&person, std::io::BufWriter::new(out), u64::MAX, Surface::CommandLine).await;
        let written = made.and_then(|(out, _)| {
            let out = out.into_inner().map_err(std::io::IntoInnerError::into_error)?;
            out.sync_all()?;
            Ok(out.metadata()?.len())
        });
        match written {
            Ok(size) => {
                let kib = size.div_ceil(1024);
                Ok(Answer::ours(
                    says::export_written(&person.name, &shown, kib),
                    json!({ "file": file, "bytes": size }),
                ))
            }
            Err(error) => {
                let _ = std::fs::remove_file(Path::new(file));
                Err(error)
            }
        }
    }

    /// Packs all data of a person into an archive of at most `most` bytes.
    async fn pack<W: Write + Seek>(
        &self,
        person: &Person,
        out: W,
        most: u64,
        surface: Surface,
    ) -> anyhow::Result<(W, Label)> {
        let zone = self.engine.zone_of(Scope::Person(person.id)).await?;
        let context = RenderContext { zone, ..self.render_context(surface) };
        let now = context.now;
        let mut archive = Archive::new(out, most, now);
        let mut shown = ShownLabel::nothing();
        archive.put(
            "README.md",
            says::export_readme(context.language(), &person.name, &context.language().day_and_time(zone, now))
                .as_bytes(),
        )?;
        self.record(person, &mut archive, &context, &mut shown).await?;
        let who = Party::One(person.clone());
        for file in self.workspace.folders().files_of(&who).await? {
            if file.path.starts_with("exports/") {
                continue;
            }
            // A file that has disappeared is skipped.
            let Some(opened) = self.workspace.folders().open(who.scope(), &file).await? else { continue };
            let place = match file.path.strip_prefix(crate::memory::EXPERIENCE) {
                Some(inside) => format!("experience/{inside}"),
                None => format!("knowledge/{}", file.path),
            };
            archive.copy(&place, opened).await?;
        }
        // Files without a recorded origin have unknown provenance here.
        shown.also(&Label::untrusted(crate::trust::Source::new("export", "")));
        Ok((archive.finish()?, Answer::showing(shown, "", json!(null)).label))
    }

    /// Adds conversations, messages, summaries, reflections and reminders.
    pub(super) async fn record<W: Write + Seek>(
        &self,
        person: &Person,
        archive: &mut Archive<W>,
        context: &RenderContext<'_>,
        shown: &mut ShownLabel,
    ) -> anyhow::Result<()> {
        let (mut messages, mut summaries) = (Vec::new(), Vec::new());
        for id in self.conversations_of(person.id).await? {
            let (only, ends) = (person.id, self.reports().ends());
            let read = move |db: Db<'_>| {
                Ok((transcript::read(db, id, Some(only), TranscriptPart::Whole, ends)?, summaries_of(db, id)?))
            };
            let (whole, written) = self.journal.read_much(read).await?;
            let Some(whole) = whole else { continue };
            let text = whole.markdown(context, shown);
            archive.put(&format!("conversations/{:06}.md", id.0), text.as_bytes())?;
            let said = transcript::messages_json(&whole, &self.agent, shown);
            messages.extend(
                said.as_array().into_iter().flatten().map(|one| with_fields(one, json!({ "conversation": id }))),
            );
            summaries.extend(written.iter().map(|summary| summary_json(id, summary, shown)));
        }
        messages.extend(self.sent_messages(person, shown).await?);
        messages.extend(self.group_messages(person, shown).await?);
        archive.put("messages.jsonl", lines(&messages).as_bytes())?;
        archive.put("summaries.jsonl", lines(&summaries).as_bytes())?;
        self.thoughts(person, archive, shown).await?;
        let reminders = self.jobs().reminders(person, RemindersPart::ALL).await?.json(context, shown);
        let reminders: Vec<Value> = reminders.as_array().cloned().unwrap_or_default();
        archive.put("reminders.jsonl", lines(&reminders).as_bytes())?;
        let open = self.jobs().open_items(person).await?.json(context, shown);
        archive.put("open.jsonl", lines(&open.as_array().cloned().unwrap_or_default()).as_bytes())?;
        let settings = self.members().settings(person).await?.json(context, shown);
        archive.put("settings.json", settings.to_string().as_bytes())
    }

    async fn conversations_of(&self, person: PersonId) -> anyhow::Result<Vec<ConversationId>> {
        let list = move |db: Db<'_>| {
            let mut ids: Vec<ConversationId> = db
                .conversations()
                .conversations(Some(person), None, i64::MAX, u32::MAX)?
                .into_iter()
                .map(|conversation| conversation.id)
                .collect();
            ids.sort();
            Ok(ids)
        };
        self.journal.read_much(list).await
    }

    /// Unasked messages since the person last wrote: they belong to no
    /// conversation yet.
    async fn sent_messages(&self, person: &Person, shown: &mut ShownLabel) -> anyhow::Result<Vec<Value>> {
        let id = person.id;
        let unshown = move |db: Db<'_>| match db.conversations().stream_of(id)? {
            Some(stream) => db.sent().unshown(stream),
            None => Ok(Vec::new()),
        };
        let sent = self.journal.read_much(unshown).await?;
        Ok(sent
            .iter()
            .map(|row| {
                let is_tainted = !row.text.label().is_trusted();
                json!({
                    "id": row.message,
                    "at": row.at.rfc3339(),
                    "from": self.agent,
                    "cause": row.cause.to_string(),
                    "text": &**shown.words(&row.text),
                    "tainted": is_tainted,
                })
            })
            .collect())
    }

    /// The person's own messages in groups, without those of others.
    async fn group_messages(&self, person: &Person, shown: &mut ShownLabel) -> anyhow::Result<Vec<Value>> {
        let id = person.id;
        let read = move |db: Db<'_>| {
            let mut said = Vec::new();
            for message in db.erasure().group_messages(id, u32::MAX)? {
                let Some(message) = db.messages().message(message)? else { continue };
                let texts = db
                    .messages()
                    .texts_of(message.id)?
                    .into_iter()
                    .filter(|text| text.kind == crate::store::TextKind::Said);
                said.push((message, texts.map(|text| text.text).collect::<Vec<_>>()));
            }
            Ok(said)
        };
        let said = self.journal.read_much(read).await?;
        Ok(said
            .iter()
            .map(|(message, texts)| {
                let words: Vec<&str> = texts.iter().map(|text| &**shown.words(text)).collect();
                json!({
                    "id": message.id,
                    "at": message.effective_at.rfc3339(),
                    "from": person.name,
                    "text": words.join("\n\n"),
                    "group": true,
                })
            })
            .collect())
    }

    async fn thoughts<W: Write + Seek>(
        &self,
        person: &Person,
        archive: &mut Archive<W>,
        shown: &mut ShownLabel,
    ) -> anyhow::Result<()> {
        let scope = Scope::Person(person.id);
        let read = move |db: Db<'_>| {
            let mut thoughts = Vec::new();
            for row in db.reflections().reflections(Some(scope), i64::MAX, u32::MAX)? {
                thoughts.push((row.id, db.messages().texts_of(row.message)?));
            }
            Ok(thoughts)
        };
        for (id, texts) in self.journal.read_much(read).await? {
            let words: Vec<&str> = texts.iter().map(|text| &**shown.words(&text.text)).collect();
            archive.put(&format!("reflections/{:06}.md", id.0), words.join("\n\n").as_bytes())?;
        }
        Ok(())
    }
}

/// `compline-2026-11-21.zip`; replaces the one of the same day.
fn file_name(now: Timestamp) -> String {
    format!("compline-{}.zip", now.rfc3339().chars().take(10).collect::<String>())
}

/// Size limit exceeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("It would be too large")]
pub(super) struct Full;

/// An archive being written.
pub(super) struct Archive<W: Write + Seek> {
    zip: ZipWriter<W>,
    room: u64,
    options: SimpleFileOptions,
}

impl<W: Write + Seek> Archive<W> {
    pub(super) fn new(out: W, most: u64, now: Timestamp) -> Self {
        let time = chrono::DateTime::from_timestamp_millis(now.0).unwrap_or_default().naive_utc();
        let options = SimpleFileOptions::default()
            .compression_method(zip::CompressionMethod::Stored)
            .unix_permissions(0o600)
            // A zip knows no time before 1980.
            .last_modified_time(time.try_into().unwrap_or_default());
        Self { zip: ZipWriter::new(out), room: most.saturating_sub(OVERHEAD), options }
    }

    /// Adds a file.
    ///
    /// # Errors
    /// [`Full`] if there is no room for it, or if it cannot be written.
    pub(super) fn put(&mut self, path: &str, bytes: &[u8]) -> anyhow::Result<()> {
        self.begin(path, u64::try_from(bytes.len())?)?;
        Ok(self.zip.write_all(bytes)?)
    }

    /// Adds an open file of any size, as long as it is now.
    ///
    /// # Errors
    /// [`Full`] if there is no room for it, or if it cannot be read or written.
    async fn copy(&mut self, path: &str, file: File) -> anyhow::Result<()> {
        let size = file.metadata()?.len();
        self.begin(path, size)?;
        let (mut file, mut chunk) = (tokio::fs::File::from_std(file).take(size), vec![0; CHUNK]);
        loop {
            match file.read(&mut chunk).await? {
                0 => return Ok(()),
                read => self.zip.write_all(chunk.get(..read).unwrap_or_default())?,
            }
        }
    }

    fn begin(&mut self, path: &str, size: u64) -> anyhow::Result<()> {
        let size_with_names = size.saturating_add(u64::try_from(path.len().saturating_mul(2))?);
        self.room = self.room.checked_sub(size_with_names.saturating_add(OVERHEAD)).ok_or(Full)?;
        Ok(self.zip.start_file(path, self.options.large_file(size >= LARGE))?)
    }

    /// Finishes the archive.
    pub(super) fn finish(self) -> anyhow::Result<W> {
        Ok(self.zip.finish()?)
    }
}

fn summaries_of(db: Db<'_>, id: ConversationId) -> anyhow::Result<Vec<Labelled<SummaryContent>>> {
    let views =
        [SummaryInputs::Trusted, SummaryInputs::Full].into_iter().map(|view| db.summaries().summary_of(id, view));
    Ok(views.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().map(|summary| summary.content).collect())
}

fn summary_json(id: ConversationId, summary: &Labelled<SummaryContent>, shown: &mut ShownLabel) -> Value {
    let (content, label) = (shown.words(summary), summary.label());
    json!({
        "conversation": id,
        "title": content.title,
        "topics": content.topics,
        "decisions": content.decisions,
        "preferences": content.preferences,
        "pending": content.pending,
        "sources": sources(label),
    })
}

/// One value per line.
fn lines(values: &[Value]) -> String {
    values.iter().map(|value| format!("{value}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::fixture::Fixture;
    use super::*;
    use std::io::{self, SeekFrom};

    /// Counts bytes and keeps none.
    #[derive(Default)]
    struct Counted {
        at: u64,
        size: u64,
    }

    impl Write for Counted {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.at += bytes.len() as u64;
            self.size = self.size.max(self.at);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Seek for Counted {
        fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
            self.at = match to {
                SeekFrom::Start(at) => at,
                SeekFrom::End(by) => self.size.saturating_add_signed(by),
                SeekFrom::Current(by) => self.at.saturating_add_signed(by),
            };
            Ok(self.at)
        }
    }

    /// Proves: forgetting/export
    #[tokio::test]
    async fn a_file_of_any_size_is_in_it() {
        let (fixture, size) = (Fixture::new().await, 257 << 20);
        File::options().write(true).open(fixture.writes("workspace/film.mkv", "")).unwrap().set_len(size).unwrap();
        let (history, ada) = (fixture.admin.history(), fixture.ada().person);
        let packed = async |most| history.pack(&ada, Counted::default(), most, Surface::CommandLine).await;
        assert!(packed(u64::MAX).await.unwrap().0.size > size);
        assert!(packed(MAX_FILE).await.is_err_and(|error| error.is::<Full>()));
    }

    #[test]
    fn it_never_grows_beyond_what_it_may() {
        let most = 20_000;
        let mut archive = Archive::new(Cursor::new(Vec::new()), most, Timestamp(0));
        let mut count = 0;
        let refused = loop {
            match archive.put(&format!("{}/{count}", "long".repeat(40)), &[0; 700]) {
                Ok(()) => count += 1,
                Err(error) => break error,
            }
        };
        let bytes: Vec<u8> = archive.finish().unwrap().into_inner();
        assert!(refused.is::<Full>() && count > 3 && bytes.len() <= 20_000, "{count} {}", bytes.len());
        assert_eq!(zip::ZipArchive::new(Cursor::new(bytes)).unwrap().len(), count);
    }
}
