//! `/export` and `compline export`: all data of one person, as one file that can be opened without
//! this program.
//!
//! The file is a plain tar of Markdown, JSON lines and the person's files. Data is selected by
//! scope and by folder, as for prompts, so it contains nothing of other people: from a group only
//! the person's own messages. In chat the file is sent as a document, stays in the person's folder
//! under `exports/` until it is a week old, and fits the limit of every channel; on the command
//! line it is written to a path of the owner's choice.

mod archive;
mod record;

use crate::admin::HistoryAdmin;
use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use serde_json::json;

use super::answer::{Answer, ShownLabel, plain};
use crate::engine::system_run;
use crate::people::{Party, Person};
use crate::store::{NewOutbox, NewPart, OutboxKind, Tx};
use crate::time::Timestamp;
use crate::tool::attachments::MAX_FILE;
use crate::trust::{Label, Scope};
use crate::wording::{self, command, export as says};
use archive::{Archive, Full};

/// Maximum size, in bytes, of one of the person's files; no channel delivers larger ones.
const LARGEST: u64 = 256 << 20;

impl HistoryAdmin<'_> {
    /// Sends a person all their data.
    pub async fn export(&self, person: &Person) -> anyhow::Result<Answer> {
        let id = person.id;
        let Some(address) = self.journal.read(move |db| system_run::address_of(db, id)).await? else {
            return Ok(Answer::refusal(says::NO_ADDRESS));
        };
        let now = self.clock.now();
        let made = self.pack(person, Vec::new(), MAX_FILE, now).await;
        let (bytes, label) = match made {
            Err(error) if error.is::<Full>() => return Ok(Answer::refusal(says::too_large(MAX_FILE >> 20))),
            made => made?,
        };
        let who = Party::One(person.clone());
        let size = u64::try_from(bytes.len())?.div_ceil(1024);
        let (path, digest) = self.tree.files().save_export(&who, &file_name(now), bytes, &label, now).await?;
        let words = says::comes(size);
        let (file, scope) = (path.clone(), who.scope());
        let post = move |tx: Tx<'_>| {
            let text = wording::own(words.clone(), scope);
            let new = NewOutbox { kind: OutboxKind::Answer, ..NewOutbox::notice(address, &text, now) };
            let outbox = tx.outbox().post(&new)?;
            let said = NewPart { rich: words.to_string(), plain: words.into_string(), ..NewPart::default() };
            tx.outbox().store_parts(outbox, &[said, NewPart { file, digest, ..NewPart::default() }])
        };
        self.journal.write("send what is kept of somebody", post).await?;
        self.engine.audience.posted(address);
        Ok(Answer::ours(says::SENT, json!({ "file": path, "kib": size })))
    }

    /// Writes all data of a person to a new file.
    pub async fn export_to(&self, name: &str, file: &str) -> anyhow::Result<Answer> {
        let asked = name.to_owned();
        let Some(person) = self.journal.read(move |db| db.people().person_named(&asked)).await? else {
            return Ok(Answer::refusal(command::no_such_person(&plain(name))));
        };
        let shown = plain(file);
        let out = match OpenOptions::new().write(true).create_new(true).mode(0o600).open(file) {
            Ok(out) => out,
            Err(error) => return Ok(Answer::refusal(says::not_written(&shown, &error.to_string()))),
        };
        let made = self.pack(&person, std::io::BufWriter::new(out), u64::MAX, self.clock.now()).await;
        let written = made.and_then(|(out, _)| {
            let out = out.into_inner().map_err(std::io::IntoInnerError::into_error)?;
            out.sync_all()?;
            Ok(out.metadata()?.len())
        });
        match written {
            Ok(size) => {
                let kib = size.div_ceil(1024);
                Ok(Answer::ours(says::written(&person.name, &shown, kib), json!({ "file": file, "bytes": size })))
            }
            Err(error) => {
                let _ = std::fs::remove_file(Path::new(file));
                Err(error)
            }
        }
    }

    /// Packs all data of a person into an archive of at most `most` bytes.
    async fn pack<W: std::io::Write>(
        &self,
        person: &Person,
        out: W,
        most: u64,
        now: Timestamp,
    ) -> anyhow::Result<(W, Label)> {
        let mut archive = Archive::new(out, most, now);
        let mut shown = ShownLabel::nothing();
        archive.put("README.md", says::readme(&person.name, &self.zone.show(now)).as_bytes())?;
        self.record(person, &mut archive, &mut shown).await?;
        let who = Party::One(person.clone());
        for file in self.tree.folders().files_of(&who).await? {
            if file.path.starts_with("exports/") {
                continue;
            }
            let Some(bytes) = self.tree.folders().bytes_of(who.scope(), &file, LARGEST.min(most)).await? else {
                // The file is larger than the whole archive may be. A file that has disappeared is
                // skipped.
                anyhow::ensure!(file.size <= most, Full);
                continue;
            };
            let place = match file.path.strip_prefix(crate::memory::EXPERIENCE) {
                Some(beside) => format!("experience/{beside}"),
                None => format!("knowledge/{}", file.path),
            };
            archive.put(&place, &bytes)?;
        }
        // Files without a recorded origin have unknown provenance here.
        shown.also(&Label::untrusted(crate::trust::Source::new("export", "")));
        Ok((archive.finish()?, Answer::showing(shown, "", json!(null)).label))
    }
}

/// `compline-2026-11-21.tar`; replaces the one of the same day.
fn file_name(now: Timestamp) -> String {
    format!("compline-{}.tar", now.rfc3339().chars().take(10).collect::<String>())
}

fn scope_of(person: &Person) -> Scope {
    Scope::Person(person.id)
}
