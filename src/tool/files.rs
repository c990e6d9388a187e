//! `read_file`, `write_file`, `edit_file`, `list_files`: the text files of the person's own folder.
//!
//! `read_file` also reads what search results name: a file at a line (`memory/nora.md:12`), and
//! texts of the journal; reading a picture puts it before the model ([`super::pictures`]). Read
//! text carries the file's label, written text the turn's. Tainted text does not reach files that
//! are loaded automatically; it waits in `memory/untrusted/`. A change of a file requires knowledge
//! of its present content: it was read or written in this conversation and is unchanged, or its hash
//! is given. A change after text
//! from outside that takes lines of the person away is shown to them first. Skills can only be read
//! here; so can the experience of profiles, by its name in the prompt.
//!
//! A file name chosen by other people is their text: a list shows a number in its place, by which
//! the file can be read.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Value, json};

use super::conversation::JournalAddress;
use super::knowledge::{KnowledgeStore, normal_path, refuse_skill_path, refused, short_hash, skill_path, unread};
use super::pictures::PictureStore;
use super::question_text::QuestionText;
use super::{AuthorizableCall, Effects, Egress, Output, Tool, ToolDeclaration, ToolError, argument, knowledge, skills};
use crate::memory::{
    AccessError, AccessRefusal, ChangeOrigin, EXPERIENCE, Listed, NewContent, StoredNote, TakenLines, WriteError,
    WriteRefusal, WriteResult, digest, note,
};
use crate::message::file_type;
use crate::people::Party;
use crate::store::Node;
use crate::time::Zone;
use crate::trust::Text;
use crate::wording::knowledge as says;

/// Minimum number of hash digits that identify a content.
const MIN_HASH_DIGITS: usize = 8;
/// Maximum number of entries listed.
const MAX_ENTRIES: usize = 300;

/// Returns the tools for files.
pub fn tools(store: &KnowledgeStore) -> Vec<Arc<dyn Tool>> {
    vec![
        Arc::new(ReadFile(store.clone())),
        Arc::new(WriteFile(store.clone())),
        Arc::new(EditFile(store.clone())),
        Arc::new(ListFiles(store.clone())),
    ]
}

/// `read_file`: returns a file from a line on.
struct ReadFile(KnowledgeStore);

impl ReadFile {
    /// Returns a file of the party's folder; an experience by its name in the prompt.
    async fn own_text(
        &self,
        party: &Party,
        path: &str,
        first: usize,
    ) -> Result<(Text, Vec<Node>, String), AccessError> {
        let files = self.0.workspace.files();
        if let Some(name) = path.strip_prefix("experience/") {
            let learned = files.read_from_line(party, &format!("{EXPERIENCE}{name}"), first).await;
            if !matches!(learned, Err(AccessError::Refused(AccessRefusal::Missing))) {
                return learned;
            }
        }
        files.read_from_line(party, path, first).await
    }

    /// Returns the path of a file, and the line at which it is read: a line in the path counts
    /// unless a file has that very name.
    async fn place(&self, call: &AuthorizableCall<'_>, path: String) -> Result<(String, Option<u64>), ToolError> {
        let Some((file, line)) = path.rsplit_once(':').and_then(|(file, line)| Some((file, line.parse().ok()?))) else {
            return Ok((self.0.existing_path(call, path).await?, None));
        };
        if skill_path(&path).is_none() && self.own_text(&self.0.party(call).await?, &path, 1).await.is_ok() {
            return Ok((path, None));
        }
        Ok((self.0.existing_path(call, file.to_owned()).await?, Some(line)))
    }
}

#[async_trait]
impl Tool for ReadFile {
    fn declaration(&self) -> ToolDeclaration {
        let properties = json!({
            "path": { "type": "string" },
            "from_line": { "type": "integer" }
        });
        ToolDeclaration::reading(argument::spec("read_file", says::READ_FILE, properties, &["path"]))
    }

    async fn run(&self, call: &AuthorizableCall<'_>) -> Result<Output, ToolError> {
        let path = normal_path(call.text("path"));
        if let Some(address) = JournalAddress::parse(&path) {
            return address.read(&self.0.journal, self.0.zone, call).await;
        }
        let (path, line) = self.place(call, path).await?;
        let line = call.arguments.get("from_line").and_then(Value::as_u64).or(line).unwrap_or(1);
        let line = usize::try_from(line).unwrap_or(usize::MAX);
        if let Some(in_skills) = skill_path(&path) {
            let file = skills::read_file(&self.0.review, in_skills).await?;
            let text = shown(&path, &file.digest, crate::text::from_line(&file.text, line));
            return Ok(Output { text, label: file.label, from: file.from });
        }
        let party = self.0.party(call).await?;
        let (text, from, digest) = match self.own_text(&party, &path, line).await {
            Err(AccessError::Refused(AccessRefusal::NoText | AccessRefusal::TooLarge)) => {
                return PictureStore::of(&self.0).show(call, &party, &path).await;
            }
            read => read.map_err(unread)?,
        };
        let (words, label, _) = text.open();
        Ok(Output { text: shown(&path, &digest, words), label: label.clone(), from })
    }
}

/// Returns the text of a file below the line that names it.
fn shown(path: &str, digest: &str, words: &str) -> String {
    format!("{}\n{words}", says::file_line(path, short_hash(digest)))
}

/// `write_file`: replaces or deletes a file.
struct WriteFile(KnowledgeStore);

#[async_trait]
impl Tool for WriteFile {
    fn declaration(&self) -> ToolDeclaration {
        let properties = json!({
            "path": { "type": "string" },
            "content": { "type": "string" }
        });
        ToolDeclaration {
            spec: argument::spec("write_file", says::WRITE_FILE, properties, &["path", "content"]),
            effects: Effects::WRITES,
            egress: Egress::Inside,
            // Writing the same content twice is one change.
            repeatable: true,
            replaces: true,
        }
    }

    async fn takes_away(&self, call: &AuthorizableCall<'_>) -> Result<Option<TakenLines>, ToolError> {
        let Some(content) = call.arguments.get("content").and_then(Value::as_str) else { return Ok(None) };
        let path = normal_path(call.text("path"));
        let known = self.0.known_digest(call, &path).await?;
        // What was agreed to on another content is shown again.
        let is_shown = knowledge::agreed_change(call).is_some();
        let known = |text: &str| is_shown || known.as_deref() == Some(&*digest(text.as_bytes()));
        self.0.taken_by(call, &path, |text| replaced(text, known, content)).await
    }

    async fn question(&self, call: &AuthorizableCall<'_>) -> Result<QuestionText, ToolError> {
        knowledge::taken_lines(call, self.takes_away(call).await?)
    }

    async fn run(&self, call: &AuthorizableCall<'_>) -> Result<Output, ToolError> {
        let path = normal_path(call.text("path"));
        let Some(content) = call.arguments.get("content").and_then(Value::as_str) else {
            return Err(ToolError::Arguments(says::NO_CONTENT.to_owned()));
        };
        refuse_skill_path(&path)?;
        let (origin, known) = (self.0.origin(call, "file").await?, self.0.known_digest(call, &path).await?);
        if content.is_empty() {
            let dropped = self.0.workspace.notes().drop_note(&origin, &path, known).await;
            let written = dropped.map_err(refused)?;
            return Ok(self.0.output(call, says::deleted(&path), &written));
        }
        let (new, is_shown) = (content.to_owned(), knowledge::agreed_change(call).is_some());
        let make = move |text: Option<&str>| {
            replaced(text, |text| is_shown || known.as_deref() == Some(&*digest(text.as_bytes())), &new)
        };
        let written = self.0.workspace.versions().change(&origin, &path, make).await;
        change_answer(&self.0, call, &origin, &path, written, content).await
    }
}

/// Returns the new content of a file that is written whole, if the text there is known.
fn replaced(text: Option<&str>, is_known: impl Fn(&str) -> bool, new: &str) -> Result<NewContent, WriteRefusal> {
    let is_lost = |text: &str| text != new && !text.trim().is_empty() && !is_known(text);
    match new {
        _ if text.is_some_and(is_lost) => Err(WriteRefusal::Impossible(says::READ_BEFORE_WRITING.to_owned())),
        "" => Ok(NewContent::Deleted),
        new => Ok(NewContent::Text(new.to_owned())),
    }
}

/// Returns the answer to a file change. Text that may not be stored there waits for the person's
/// approval.
async fn change_answer(
    store: &KnowledgeStore,
    call: &AuthorizableCall<'_>,
    origin: &ChangeOrigin,
    path: &str,
    written: Result<WriteResult, WriteError>,
    words: &str,
) -> Result<Output, ToolError> {
    match written {
        Ok(written) => {
            store.request_to_keep_file(call, path, &written).await?;
            Ok(store.output(call, says::written(path, short_hash(&written.digest)), &written))
        }
        Err(WriteError::Refused(WriteRefusal::Untrusted)) if !words.trim().is_empty() => {
            let stored = store_pending(store, origin, path, words).await;
            store.answer(call, stored, words).await
        }
        Err(why) => Err(refused(why)),
    }
}

async fn store_pending(
    store: &KnowledgeStore,
    origin: &ChangeOrigin,
    path: &str,
    words: &str,
) -> Result<StoredNote, WriteError> {
    let note = note::read(words);
    let stem = path.rsplit('/').next().unwrap_or_default().trim_end_matches(".md");
    let title = if note.name.is_empty() { stem.replace('-', " ") } else { note.name };
    store.workspace.notes().store_pending_text(origin, &title, &note.body).await
}

/// `edit_file`: replaces one passage of a known file.
struct EditFile(KnowledgeStore);

impl EditFile {
    /// Returns the digest of the present text, if the conversation knows it.
    async fn known(&self, call: &AuthorizableCall<'_>, path: &str) -> Result<String, ToolError> {
        let party = self.0.party(call).await?;
        let (text, _, now) = self.0.workspace.files().read_text(&party, path).await.map_err(unread)?;
        let of_text = digest(text.open().0.as_bytes());
        let given = call.text("expected").trim().to_lowercase();
        if !given.is_empty() {
            let names = given.len() >= MIN_HASH_DIGITS && now.starts_with(&given);
            return if names { Ok(of_text) } else { Err(ToolError::Refused(says::OTHER_HASH.to_owned())) };
        }
        let is_known = self.0.is_known(call, path, &now).await?;
        if is_known { Ok(of_text) } else { Err(ToolError::Refused(says::READ_FIRST.to_owned())) }
    }
}

#[async_trait]
impl Tool for EditFile {
    fn declaration(&self) -> ToolDeclaration {
        let properties = json!({
            "path": { "type": "string" },
            "old": { "type": "string" },
            "new": { "type": "string" },
            "expected": { "type": "string" }
        });
        ToolDeclaration {
            spec: argument::spec("edit_file", says::EDIT_FILE, properties, &["path", "old", "new"]),
            effects: Effects::WRITES,
            egress: Egress::Inside,
            // The second time the passage is no longer there, and the model could not tell why.
            repeatable: false,
            replaces: true,
        }
    }

    async fn takes_away(&self, call: &AuthorizableCall<'_>) -> Result<Option<TakenLines>, ToolError> {
        let path = self.0.existing_path(call, normal_path(call.text("path"))).await?;
        let make = |text: Option<&str>| {
            let text = text.unwrap_or_default();
            edited(text, &digest(text.as_bytes()), call.text("old"), call.text("new"))
        };
        self.0.taken_by(call, &path, make).await
    }

    async fn question(&self, call: &AuthorizableCall<'_>) -> Result<QuestionText, ToolError> {
        // A call that would be refused is not asked about.
        let path = self.0.existing_path(call, normal_path(call.text("path"))).await?;
        self.known(call, &path).await?;
        knowledge::taken_lines(call, self.takes_away(call).await?)
    }

    async fn run(&self, call: &AuthorizableCall<'_>) -> Result<Output, ToolError> {
        let path = normal_path(call.text("path"));
        refuse_skill_path(&path)?;
        let path = self.0.existing_path(call, path).await?;
        let (old, new) = (call.text("old").to_owned(), call.text("new").to_owned());
        let known = self.known(call, &path).await?;
        let origin = self.0.origin(call, "edit").await?;
        let words = new.clone();
        let make = move |text: Option<&str>| edited(text.unwrap_or_default(), &known, &old, &new);
        let written = self.0.workspace.versions().change(&origin, &path, make).await;
        change_answer(&self.0, call, &origin, &path, written, &words).await
    }
}

/// Returns the text with the new passage, if the text is the known one and contains the old passage
/// exactly once.
fn edited(text: &str, known: &str, old: &str, new: &str) -> Result<NewContent, WriteRefusal> {
    let impossible = |why: &str| Err(WriteRefusal::Impossible(why.to_owned()));
    if digest(text.as_bytes()) != known {
        return impossible(says::READ_FIRST);
    }
    let mut parts = text.splitn(3, old);
    match (old, parts.next(), parts.next(), parts.next()) {
        ("", ..) | (_, _, None, _) => impossible(says::OLD_MISSING),
        (_, Some(before), Some(after), None) => Ok(NewContent::Text(format!("{before}{new}{after}"))),
        _ => impossible(says::OLD_TWICE),
    }
}

/// `list_files`: lists a folder.
struct ListFiles(KnowledgeStore);

#[async_trait]
impl Tool for ListFiles {
    fn declaration(&self) -> ToolDeclaration {
        let properties = json!({ "path": { "type": "string" } });
        ToolDeclaration::reading(argument::spec("list_files", says::LIST_FILES, properties, &[]))
    }

    async fn run(&self, call: &AuthorizableCall<'_>) -> Result<Output, ToolError> {
        let path = normal_path(call.text("path"));
        if let Some(in_skills) = skill_path(&path) {
            let folder = skills::list_folder(&self.0.review, in_skills, call.label).await?;
            return Ok(Output { text: list_answer(folder.lines), label: folder.label, from: folder.from });
        }
        let path = match self.0.numbered_path(call, &path).await? {
            Some(file) => file.rsplit_once('/').map_or_else(String::new, |(folder, _)| folder.to_owned()),
            None => path,
        };
        let party = self.0.party(call).await?;
        let listed = self.0.workspace.files().list(&party, &path).await.map_err(unread)?;
        // Skills are stored outside the folder, but are read as if they were in it.
        let skills = (path.is_empty() || path == ".").then(|| "skills/".to_owned());
        let zone = call.zone(&self.0.journal, self.0.zone).await?;
        let lines = skills.into_iter().chain(listed.iter().map(|entry| line(entry, zone))).collect();
        let shown = listed.iter().take(MAX_ENTRIES).filter(|entry| entry.label.is_trusted());
        let label = shown.fold(call.label.clone(), |label, entry| label.join_with(&entry.label));
        Ok(Output { text: list_answer(lines), label, from: Vec::new() })
    }
}

fn list_answer(mut lines: Vec<String>) -> String {
    if lines.len() > MAX_ENTRIES {
        let more = says::more_entries(lines.len() - MAX_ENTRIES);
        lines.truncate(MAX_ENTRIES);
        lines.push(more);
    }
    if lines.is_empty() { says::EMPTY_FOLDER.to_owned() } else { lines.join("\n") }
}

/// Returns the line of an entry. Where somebody else chose the name, a number stands for it.
fn line(entry: &Listed, zone: Zone) -> String {
    let extension = file_type::known_extension(&entry.name).filter(|_| !entry.folder);
    let name = match entry.label.is_trusted() {
        true => entry.name.clone(),
        false => says::numbered_file(entry.number, extension),
    };
    match entry.folder {
        true => format!("{name}/"),
        false => format!("{name} ({} bytes, {})", entry.size, zone.show_short(entry.at)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_passage_is_replaced_only_where_it_stands_once_in_what_is_known() {
        let (text, known) = ("a b a", digest(b"a b a"));
        assert_eq!(edited(text, &known, "b", "c"), Ok(NewContent::Text("a c a".to_owned())));
        for (old, known, why) in [
            ("a", known.as_str(), says::OLD_TWICE),
            ("x", &known, says::OLD_MISSING),
            ("", &known, says::OLD_MISSING),
            ("b", "another", says::READ_FIRST),
        ] {
            assert_eq!(edited(text, known, old, "c"), Err(WriteRefusal::Impossible(why.to_owned())));
        }
    }
}
