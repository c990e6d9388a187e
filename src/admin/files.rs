//! `/files`, `/file` and `compline files`: a person's own files, folder by folder, and one of them
//! sent as a document.
//!
//! Everyone sees the files of their own folder and nothing else; the command line acts for the
//! first owner. What the list says of a file comes from the workspace, which also decides what a
//! path means.

use std::sync::Arc;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use serde_json::{Value, json};

use super::MemoryAdmin;
use super::answer::{
    Answer, AnswerFile, CommandError, Render, RenderContext, ShownLabel, plain, sources, visible_line,
};
use crate::engine::files::{extracted_text, tell_person_of_room};
use crate::engine::system_run;
use crate::id::{FileId, PartId, PersonId};
use crate::memory::room::FileRoom;
use crate::memory::{
    AccessError, AccessRefusal, Browsed, FileOrder, FileProblem, FolderItem, FolderPage, FolderPart, OpenedFile,
    StoredUpload, Upload,
};
use crate::people::{Party, Person};
use crate::review::reveal::is_hidden;
use crate::store::FileRow;
use crate::time::Timestamp;
use crate::tool::attachments::MAX_FILE;
use crate::trust::{Labelled, Scope, Text};
use crate::wording::review::Surface;
use crate::wording::why::all_in_words;
use crate::wording::{Language, command, files as says, memory};

/// Number of items that a chat lists.
const IN_CHAT: usize = 20;
/// Characters encoded in a typed place.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'.').remove(b'-').remove(b'/');

/// A part of a folder that a command asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilesRequest {
    /// Path of the folder as its owner sees it; blank for all of theirs.
    pub path: String,
    /// The part of it.
    pub part: FolderPart,
}

impl FilesRequest {
    /// Parses the arguments of a chat command: a folder, or nothing for all files; the list may go
    /// on `after` a name or a place. What stands in backticks is one name.
    pub(super) fn read(rest: &str) -> Self {
        let rest = rest.trim();
        let (folder, after) = match rest.strip_suffix('`').and_then(|rest| rest.rsplit_once('`')) {
            Some(("", folder)) => (folder, ""),
            Some((before, after)) if before == "after " || before.ends_with(" after ") => {
                (before.strip_suffix("after ").unwrap_or_default(), after)
            }
            _ => match rest.strip_prefix("after ") {
                Some(after) => ("", after),
                None => rest.rsplit_once(" after ").unwrap_or((rest, "")),
            },
        };
        let [path, after] = [folder, after].map(|word| word.trim().trim_matches('`'));
        let part = FolderPart { order: FileOrder::Name, after: read_place(after), limit: IN_CHAT };
        Self { path: path.to_owned(), part }
    }
}

/// Returns a place in a list as one word that can be typed and means nothing else: as it is if it
/// has only letters, digits and a few signs, encoded after a `%` otherwise.
fn typed_place(place: &str) -> String {
    let is_plain = |c: char| (c.is_alphanumeric() && !is_hidden(c)) || matches!(c, '.' | '-' | '_' | '/');
    match place.chars().all(is_plain) && !place.starts_with('-') {
        true => place.to_owned(),
        false => format!("%{}", utf8_percent_encode(place, ENCODED)),
    }
}

/// Reads such a word, or a name as it is.
pub(super) fn read_place(word: &str) -> String {
    let place = word.strip_prefix('%').and_then(|word| percent_decode_str(word).decode_utf8().ok());
    place.filter(|place| typed_place(place) == word).map_or_else(|| word.to_owned(), String::from)
}

/// A person's files at a path: a part of a folder, or one file.
#[derive(Debug, Clone)]
pub struct FilesReport(pub Browsed);

impl FilesReport {
    fn items(&self) -> &[FolderItem] {
        match &self.0 {
            Browsed::Folder(folder) => &folder.items,
            Browsed::File(file) => std::slice::from_ref(file),
        }
    }
}

impl Render for FilesReport {
    fn markdown(&self, context: &RenderContext<'_>, shown: &mut ShownLabel) -> String {
        let language = context.language();
        let mut lines: Vec<String> = self.items().iter().map(|item| line(item, context, shown)).collect();
        let Browsed::Folder(FolderPage { path, next, below, .. }) = &self.0 else { return lines.join("\n") };
        if lines.is_empty() && next.is_none() {
            return says::NO_FILES.in_language(language).into_string();
        }
        lines.insert(0, says::head(language, &visible_line(path), below.files, below.bytes));
        lines.push(String::new());
        lines.extend(next.as_ref().map(|place| more(path, &plain(&typed_place(place)), context.surface)));
        lines.push(says::how_to_open(context.surface));
        lines.join("\n")
    }

    fn json(&self, _: &RenderContext<'_>, shown: &mut ShownLabel) -> Value {
        self.items().iter().map(|item| item_json(item, shown)).collect()
    }
}

fn line(item: &FolderItem, context: &RenderContext<'_>, shown: &mut ShownLabel) -> String {
    shown.also(&item.label);
    let (language, name) = (context.language(), visible_line(&item.name));
    let sources = plain(&all_in_words(language, &item.label));
    match item.is_folder {
        true => says::folder_line(language, &name, item.totals.files, item.totals.bytes, &sources),
        false => {
            let origin = memory::version_origin(language, &item.author, &item.cause);
            says::file_line(language, &name, item.totals.bytes, &context.near(item.at), &origin, &sources)
        }
    }
}

/// Says how the list goes on.
fn more(path: &str, next: &str, surface: Surface) -> String {
    match surface {
        Surface::Chat(language) => {
            let command = format!("/files {} after {next}", visible_line(path));
            command::more(language, &command.replace("  ", " "))
        }
        Surface::CommandLine => command::more(Language::ENGLISH, &format!("--after {next}")),
    }
}

fn item_json(item: &FolderItem, shown: &mut ShownLabel) -> Value {
    shown.also(&item.label);
    json!({
        "name": item.name,
        "path": item.path,
        "kind": if item.is_folder { "folder" } else { "file" },
        "files": item.totals.files,
        "bytes": item.totals.bytes,
        "changed_at": item.at.rfc3339(),
        "author": item.author,
        "cause": item.cause,
        "tainted": !item.label.is_trusted(),
        "sources": sources(&item.label),
    })
}

impl MemoryAdmin<'_> {
    /// A person's files at a path.
    pub async fn browse(&self, person: &Person, request: &FilesRequest) -> Result<FilesReport, AccessError> {
        let (who, now) = (Party::One(person.clone()), self.clock.now());
        let FilesRequest { path, part } = request;
        Ok(FilesReport(self.workspace.files().browse(&who, path, part.clone(), now).await?))
    }

    /// The text of one of a person's files, with its digest.
    pub async fn file_text(&self, person: &Person, path: &str) -> Result<(Text, String), AccessError> {
        let who = Party::One(person.clone());
        let (text, _, digest) = self.workspace.files().read_text(&who, path).await?;
        Ok((text, digest))
    }

    /// Opens one of a person's files.
    pub async fn open_file(&self, person: &Person, path: &str) -> Result<OpenedFile, AccessError> {
        self.workspace.files().open_own(&Party::One(person.clone()), path).await
    }

    /// The versions of one of a person's files, newest first.
    pub async fn file_versions(&self, person: &Person, path: &str) -> anyhow::Result<Vec<FileRow>> {
        self.workspace.versions().history(&Party::One(person.clone()), path).await
    }

    /// The deleted files of a person that can be restored, by path from the one after `after` on:
    /// the newest version of each with its content. Also the path after which the next page begins,
    /// if there is one.
    pub async fn deleted_files(
        &self,
        person: &Person,
        after: &str,
        limit: usize,
    ) -> anyhow::Result<(Vec<FileRow>, Option<String>)> {
        let who = Party::One(person.clone());
        let mut deleted = self.index.deleted_files(&who, after, limit.saturating_add(1)).await?;
        let has_more = deleted.len() > limit;
        deleted.truncate(limit);
        let next = deleted.last().filter(|_| has_more).map(|last| last.path.clone());
        Ok((deleted, next))
    }

    /// The content of a version of one of a person's files, if it is kept.
    pub async fn file_version(&self, person: &Person, path: &str, version: FileId) -> anyhow::Result<Option<Text>> {
        let who = Party::One(person.clone());
        let stored = self.workspace.versions().content(&who, path, version).await?;
        Ok(stored.and_then(|(text, label)| Some(Labelled::new(Arc::from(text?), label, who.scope()))))
    }

    /// The number of files of a person that the assistant changed after that time.
    pub async fn changed_by_assistant(&self, person: PersonId, since: Timestamp) -> anyhow::Result<u32> {
        let scope = Scope::Person(person);
        self.journal.read(move |db| db.file_versions().changed_by_assistant(scope, since)).await
    }

    /// The files of a person that they should look at, each with its problem; of notes without a
    /// line in `MEMORY.md` at most that many.
    pub async fn file_problems(&self, person: &Person, unlisted: usize) -> anyhow::Result<Vec<(String, FileProblem)>> {
        self.workspace.checks().problems_of(&Party::One(person.clone()), unlisted).await
    }

    /// The usual folders of a person, each with whether it exists.
    pub async fn usual_folders(&self, person: &Person) -> anyhow::Result<Vec<(&'static str, bool)>> {
        self.workspace.checks().folders_of(&Party::One(person.clone())).await
    }

    /// Adds the line in `MEMORY.md` for a person's note, as `compline doctor --fix` does for all.
    /// Returns false if the note has one, or none can be added.
    pub async fn list_note(&self, person: &Person, path: &str) -> anyhow::Result<bool> {
        self.workspace.checks().list_note(&Party::One(person.clone()), path, self.clock.now()).await
    }

    /// Begins to receive a file for a person; `None` while too many arrive.
    pub async fn begin_upload(&self, person: &Person) -> anyhow::Result<Option<Upload>> {
        self.workspace.files().begin_upload(&Party::One(person.clone())).await
    }

    /// Returns the space for a person's files.
    pub async fn room_of(&self, person: &Person) -> anyhow::Result<FileRoom> {
        self.workspace.files().room_of(&Party::One(person.clone()), self.clock.now()).await
    }

    /// Returns whether the disk takes more of a file that is arriving.
    pub fn disk_has_room(&self) -> bool {
        self.workspace.files().disk_has_room()
    }

    /// Stores a whole file in a person's inbox, as coming from outside, and the text of a document
    /// next to it if that can be read and stored.
    pub async fn finish_upload(&self, person: &Person, upload: Upload, name: &str) -> anyhow::Result<()> {
        let (who, now, files) = (Party::One(person.clone()), self.clock.now(), self.workspace.files());
        let StoredUpload { path, label, .. } = files.finish_upload(&who, upload, name, "", now).await?;
        let read = async {
            let bytes = files.read_inbox(who.scope(), &path).await?;
            if let Some(words) = extracted_text(&self.engine, &bytes, name).await {
                let text = Labelled::new(Arc::from(words), label, who.scope());
                files.save_text_of(&path, &text, now).await?;
            }
            anyhow::Ok(())
        };
        // The file itself is there.
        if let Err(error) = read.await {
            tracing::warn!("The text of an uploaded file is not stored: {error:#}");
        }
        tell_person_of_room(&self.engine, person).await
    }

    /// Stores a whole file of a message in a person's inbox, under its name and that message's. Its
    /// text is read with the message.
    pub async fn finish_file_of(
        &self,
        person: &Person,
        upload: Upload,
        name: &str,
        message: &str,
    ) -> anyhow::Result<StoredUpload> {
        let (who, now) = (Party::One(person.clone()), self.clock.now());
        let stored = self.workspace.files().finish_upload(&who, upload, name, message, now).await?;
        tell_person_of_room(&self.engine, person).await?;
        Ok(stored)
    }

    /// The bytes of a file that was sent to that person, with its name; `None` if it was not, or is
    /// no longer as it was sent.
    pub async fn sent_file(&self, person: &Person, id: PartId) -> anyhow::Result<Option<(String, Vec<u8>)>> {
        let who = person.id;
        let Some(file) = self.journal.read(move |db| db.outbox().sent_file(who, id)).await? else { return Ok(None) };
        let bytes = self.workspace.files().chosen_file(&file.path, &file.digest, MAX_FILE).await?;
        Ok(bytes.map(|bytes| (file.name().to_owned(), bytes)))
    }

    /// A person's files at a path, for a command.
    pub(super) async fn files(
        &self,
        person: &Person,
        request: &FilesRequest,
        surface: Surface,
    ) -> Result<FilesReport, CommandError> {
        match self.browse(person, request).await {
            Ok(report) => Ok(report),
            Err(error) => {
                error.refusal()?;
                Err(Answer::refusal(says::none_such(surface)).into())
            }
        }
    }

    /// Sends one of a person's files to their direct chat.
    pub(super) async fn send_file(&self, person: &Person, path: &str, surface: Surface) -> anyhow::Result<Answer> {
        let (language, id) = (surface.language(), person.id);
        let who = Party::One(person.clone());
        let found = match self.workspace.files().own_file(&who, path, MAX_FILE).await {
            Ok(found) => found,
            Err(error) => {
                return Ok(Answer::refusal(match error.refusal()? {
                    AccessRefusal::TooLarge => says::too_large(language, MAX_FILE / 1_000_000),
                    _ => says::none_such(surface),
                }));
            }
        };
        let Some(address) = self.journal.read(move |db| system_run::address_of(db, id)).await? else {
            return Ok(Answer::refusal(says::NO_CHAT.in_language(language)));
        };
        let words = says::attached(language, found.size.div_ceil(1024));
        let json = json!({ "file": found.path, "bytes": found.size });
        let file = AnswerFile { address, words, path: found.path, digest: found.digest };
        Ok(Answer { file: Some(file), ..Answer::ours(says::IN_DIRECT_CHAT.in_language(language), json) })
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::fixture::{Fixture, keys};
    use super::*;

    fn request(path: &str, after: &str, limit: usize) -> FilesRequest {
        let part = FolderPart { order: FileOrder::Name, after: after.to_owned(), limit };
        FilesRequest { path: path.to_owned(), part }
    }

    async fn folder(fixture: &Fixture, person: &Person, path: &str) -> Option<FolderPage> {
        let memory = fixture.admin.memory_files();
        match memory.browse(person, &request(path, "", 100)).await {
            Ok(FilesReport(Browsed::Folder(folder))) => Some(folder),
            Ok(FilesReport(Browsed::File(_))) => None,
            Err(error) => error.refusal().map(|_| None).unwrap(),
        }
    }

    fn names(folder: &FolderPage) -> Vec<&str> {
        folder.items.iter().map(|item| item.name.as_str()).collect()
    }

    #[test]
    fn lines_and_what_they_mean() {
        for (line, path, after) in [
            ("", "", ""),
            ("plans/my garden", "plans/my garden", ""),
            ("after b.md", "", "b.md"),
            ("`before and after` after `b.md`", "before and after", "b.md"),
            ("`plans after x`", "plans after x", ""),
            ("many after `a after b.md`", "many", "a after b.md"),
            ("after `a after b.md`", "", "a after b.md"),
            ("many after %a%20after%20b.md", "many", "a after b.md"),
            ("many after %x.md", "many", "%x.md"),
            ("many after %zz", "many", "%zz"),
        ] {
            assert_eq!(FilesRequest::read(line), request(path, after, IN_CHAT), "{line}");
        }
    }

    /// Promise (files/totals): A list of files says how many files lie below each folder, and how
    /// large they are together.
    #[tokio::test]
    async fn folders_have_totals_and_files_have_authors() {
        let fixture = Fixture::new().await;
        let ada = fixture.ada().person;
        fixture.writes("workspace/plans/garden/roses.md", "red");
        fixture.writes("workspace/plans/house.md", "green");
        fixture.writes("workspace/plans/.hidden/key", "secret");
        let memory = fixture.admin.memory_files();
        memory.remember(&ada, "The train leaves at nine", Language::ENGLISH).await.unwrap();
        let root = folder(&fixture, &ada, "").await.unwrap();
        let plans = root.items.iter().find(|item| item.name == "plans").unwrap();
        assert_eq!((plans.totals.files, plans.totals.bytes, plans.is_folder), (2, 8, true));
        assert_eq!(root.below, root.all);
        let plans = folder(&fixture, &ada, "plans/").await.unwrap();
        assert_eq!(names(&plans), ["garden", "house.md"]);
        assert_eq!((plans.below.files, plans.all), (2, root.all));
        let house = &plans.items[1];
        assert_eq!((house.path.as_str(), house.author.as_str(), house.totals.bytes), ("plans/house.md", "hand", 5));
        // A command wrote it; then a hand did, which its bytes tell.
        let author = async || folder(&fixture, &ada, "memory").await.unwrap().items.pop().unwrap().author;
        assert_eq!(author().await, "person");
        fixture.writes("workspace/memory/MEMORY.md", "By hand\n");
        assert_eq!(author().await, "hand");
        let answer = fixture.rendering(&memory.browse(&ada, &request("plans", "", 9)).await.unwrap());
        assert!(answer.markdown.starts_with("**plans**: 2 files, 8 bytes\n- **garden/**, 1 file, 3 bytes\n"));
        let json = &answer.json[1];
        let fields = ["name", "path", "kind", "files", "bytes", "changed_at", "author", "cause", "tainted", "sources"];
        assert_eq!(keys(json), fields);
        assert_eq!((&json["kind"], &json["bytes"]), (&json!("file"), &json!(5)));
    }

    /// Promise (files/own): Each person sees the files of their own folder; no path, link or hidden
    /// name leads to another's or out of the workspace.
    #[tokio::test]
    async fn nobody_sees_the_files_of_others() {
        let fixture = Fixture::new().await;
        let (ada, ben) = (fixture.ada().person, fixture.ben().person);
        fixture.writes("workspace/diary.md", "Ada's");
        fixture.writes("workspace/people/2-ben/tea.md", "Ben's");
        fixture.writes("workspace/.git/config", "hidden");
        fixture.writes("secret", "outside");
        let home = fixture.writes("workspace/plans/a.md", "a").parent().unwrap().to_owned();
        for (link, target) in
            [("out", "../../secret"), ("ben", "../people/2-ben"), ("tea.md", "../people/2-ben/tea.md")]
        {
            std::os::unix::fs::symlink(target, home.join(link)).unwrap();
        }
        let root = folder(&fixture, &ada, "").await.unwrap();
        assert!(names(&root).contains(&"diary.md"));
        assert!(!names(&root).iter().any(|name| ["people", "groups", ".git"].contains(name)), "{root:?}");
        assert_eq!(names(&folder(&fixture, &ada, "plans").await.unwrap()), ["a.md"]);
        assert_eq!(names(&folder(&fixture, &ben, "").await.unwrap()), ["tea.md"]);
        let memory = fixture.admin.memory_files();
        for path in [
            "people",
            "people/2-ben",
            "people/2-ben/tea.md",
            ".git",
            ".git/config",
            "..",
            "../secret",
            "/etc",
            "plans/out",
            "plans/ben",
            "plans/ben/tea.md",
            "plans/tea.md",
            "plans/../../secret",
            "a//b",
            "plans/nul\0",
        ] {
            assert!(memory.browse(&ada, &request(path, "", 9)).await.is_err(), "{path}");
            assert!(memory.open_file(&ada, path).await.is_err(), "{path}");
            let sent = memory.send_file(&ada, path, Surface::CommandLine).await.unwrap();
            assert!(sent.failed && sent.file.is_none(), "{path}");
        }
        for path in ["diary.md", "../../diary.md", "plans", "people/2-ben"] {
            assert!(memory.browse(&ben, &request(path, "", 9)).await.is_err(), "{path}");
            assert!(memory.open_file(&ben, path).await.is_err(), "{path}");
        }
        let sent = memory.send_file(&ben, "tea.md", Surface::CommandLine).await.unwrap();
        assert_eq!(sent.file.unwrap().path, "people/2-ben/tea.md");
    }

    /// Proves: operation/next-page
    #[tokio::test]
    async fn a_long_folder_is_listed_page_by_page() {
        let fixture = Fixture::new().await;
        let ada = fixture.ada().person;
        // The pages end at the hard ones.
        let name = |number: usize| match number {
            19 => "19 after b.md".to_owned(),
            39 => "39\u{202e}`gpj.md".to_owned(),
            _ => format!("{number:02} after.md"),
        };
        let written: Vec<String> = (0..45).map(name).collect();
        written.iter().for_each(|name| drop(fixture.writes(&format!("workspace/many/{name}"), "")));
        let (mut shown, mut command) = (Vec::new(), "/files many".to_owned());
        loop {
            let answer = fixture.admin.chat(&fixture.ada(), &command).await;
            shown.extend(answer.json.as_array().unwrap().iter().map(|item| item["name"].as_str().unwrap().to_owned()));
            match answer.markdown.lines().find_map(|line| line.strip_prefix("More: ")) {
                Some(next) => command = next.to_owned(),
                None => break,
            }
        }
        assert_eq!(shown, written);
        for place in ["plain.md", "-x", "100/Küche.md", "a_b", "50% off", "%20", "a\u{3164}b", "line\nbreak"] {
            let word = typed_place(place);
            assert_eq!((read_place(&word).as_str(), word.contains(char::is_whitespace)), (place, false), "{word}");
        }
        let page = fixture.admin.memory_files().browse(&ada, &request("many", "44 after.md", 9)).await.unwrap();
        assert!(page.items().is_empty());
    }

    /// Promise (files/hostile-names): The name of a file is shown as text: no markup of it takes
    /// effect, and hidden characters and line breaks are written out.
    #[tokio::test]
    async fn hostile_names_are_text() {
        let fixture = Fixture::new().await;
        let long = "n".repeat(250);
        for name in ["**bold** [a](https://evil.example)", "line\nbreak", "\u{202e}gpj.exe", &long] {
            fixture.writes(&format!("workspace/odd/{name}"), "");
        }
        let answer = fixture.admin.chat(&fixture.ada(), "/files odd").await.markdown;
        assert!(!answer.contains('\u{202e}') && answer.contains("U+202E"), "{answer}");
        assert!(!answer.contains("**bold** [a](https"), "{answer}");
        // Head, four files, a blank line, and what to type.
        assert_eq!(answer.lines().count(), 7, "{answer}");
        assert!(answer.contains(&long), "{answer}");
    }
}
