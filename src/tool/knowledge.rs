//! `remember`, `memory_save` and `memory_section`, and the shared code of all tools that store and
//! change knowledge: the folder's owner, the origin of new text, and the answer to the model.
//!
//! Text of a tainted turn goes where nothing is loaded automatically, and its person is asked
//! whether to keep it; groups and unattended runs are not asked. Every party can access only its
//! own folder.

use std::collections::HashSet;
use std::sync::Arc;

use async_trait::async_trait;
use serde_json::json;

use super::question_text::QuestionText;
use super::{AuthorizableCall, Effects, Egress, Output, Tool, ToolDeclaration, ToolError, argument};
use crate::memory::{
    self, AccessError, AccessRefusal, Author, ChangeOrigin, Consent, NewContent, NoteDraft, PersonShare, Replaced,
    Section, StoredNote, TakenLines, Workspace, WorkspaceError, WriteError, WriteRefusal, WriteResult, note,
    unless_refused, with_section,
};
use crate::people::Party;
use crate::review::Review;
use crate::review::diff::{self, DiffKind};
use crate::store::{Covers, Db, Journal, NewKeep, Node};
use crate::time::{Clock, Zone};
use crate::trust::{Labelled, Scope, Text};
use crate::wording::knowledge as says;
use crate::wording::tool::may_i_take_away;

/// Number of hash digits displayed.
const HASH_DIGITS: usize = 12;

/// Returns the tools that write memories.
pub fn tools(store: &KnowledgeStore) -> Vec<Arc<dyn Tool>> {
    vec![Arc::new(Remember(store.clone())), Arc::new(MemorySave(store.clone())), Arc::new(MemorySection(store.clone()))]
}

/// `remember`: stores a note under a title, with its line in the index.
struct Remember(KnowledgeStore);

#[async_trait]
impl Tool for Remember {
    fn declaration(&self) -> ToolDeclaration {
        let properties = json!({
            "title": { "type": "string" },
            "content": { "type": "string" },
            "kind": { "type": "string", "enum": note::KINDS }
        });
        ToolDeclaration {
            spec: argument::spec("remember", says::REMEMBER, properties, &["title", "content"]),
            effects: Effects::WRITES,
            egress: Egress::Inside,
            // Storing the same note twice results in one note.
            repeatable: true,
            replaces: true,
        }
    }

    async fn run(&self, call: &AuthorizableCall<'_>) -> Result<Output, ToolError> {
        let part = |name| call.text(name).trim().to_owned();
        let note = NoteDraft { title: part("title"), content: part("content"), kind: part("kind") };
        let origin = self.0.origin(call, "remember").await?;
        if let Some(unseen) = self.0.workspace.notes().unseen_by_title(&origin, &note).await.map_err(failed)?
            && self.0.known_digest(call, &unseen).await?.is_none()
        {
            return Err(ToolError::Refused(says::note_unread(&unseen)));
        }
        let stored = self.0.workspace.notes().remember(&origin, &note).await;
        self.0.answer(call, stored, &format!("{}\n\n{}", note.title, note.content)).await
    }
}

/// `memory_save`: adds a line to the note of the day.
struct MemorySave(KnowledgeStore);

#[async_trait]
impl Tool for MemorySave {
    fn declaration(&self) -> ToolDeclaration {
        let properties = json!({ "content": { "type": "string" } });
        ToolDeclaration {
            spec: argument::spec("memory_save", says::MEMORY_SAVE, properties, &["content"]),
            effects: Effects::WRITES,
            egress: Egress::Inside,
            // The same line is not added twice.
            repeatable: true,
            replaces: false,
        }
    }

    async fn run(&self, call: &AuthorizableCall<'_>) -> Result<Output, ToolError> {
        let mut origin = self.0.origin(call, "save").await?;
        let mut words = call.text("content");
        // As it was typed.
        if let Some(wish) = call.wished_note(words) {
            origin.label = wish.words.label().clone();
            origin.from = vec![Node::Message(wish.message)];
            words = wish.words.open().0;
        }
        let stored = self.0.workspace.files().save_today(&origin, words).await;
        self.0.answer(call, stored, words).await
    }
}

/// `memory_section`: reads, extends or replaces one section of a Markdown file.
struct MemorySection(KnowledgeStore);

impl MemorySection {
    async fn read(&self, call: &AuthorizableCall<'_>, path: &str, section: &str) -> Result<Output, ToolError> {
        let party = self.0.party(call).await?;
        let found = self.0.workspace.files().read_section(&party, path, section).await.map_err(unread)?;
        let (text, from) = found.ok_or_else(|| ToolError::Arguments(says::NO_SUCH_SECTION.to_owned()))?;
        let (words, label, _) = text.open();
        Ok(Output { text: words.to_string(), label: label.clone(), from })
    }

    /// Refuses to replace a section that the conversation was not shown as it stands.
    async fn check_known(&self, call: &AuthorizableCall<'_>, path: &str) -> Result<(), ToolError> {
        let (party, section) = (self.0.party(call).await?, call.text("section"));
        let found = self.0.workspace.files().read_section(&party, path, section).await;
        let Ok(Some((text, _))) = found else { return Ok(()) };
        let (present, conversation) = (Arc::clone(text.open().0), call.conversation);
        if call.text("content").contains(present.trim()) || self.0.known_digest(call, path).await?.is_some() {
            return Ok(());
        }
        let look = move |db: Db<'_>| {
            let shown = db.turns().results_of(conversation, "memory_section")?;
            Ok(shown.iter().any(|text| *text.open().0 == present))
        };
        let is_shown = self.0.journal.read(look).await.map_err(failed)?;
        if is_shown { Ok(()) } else { Err(ToolError::Refused(says::SECTION_UNREAD.to_owned())) }
    }
}

#[async_trait]
impl Tool for MemorySection {
    fn declaration(&self) -> ToolDeclaration {
        let properties = json!({
            "path": { "type": "string" },
            "section": { "type": "string" },
            "action": { "type": "string", "enum": ["read", "append", "replace"] },
            "content": { "type": "string" }
        });
        ToolDeclaration {
            spec: argument::spec("memory_section", says::MEMORY_SECTION, properties, &["path", "section", "action"]),
            effects: Effects::WRITES,
            egress: Egress::Inside,
            // The same text is not appended twice.
            repeatable: true,
            replaces: true,
        }
    }

    async fn takes_away(&self, call: &AuthorizableCall<'_>) -> Result<Option<TakenLines>, ToolError> {
        if call.text("action") != "replace" {
            return Ok(None);
        }
        let path = self.0.existing_path(call, normal_path(call.text("path"))).await?;
        let change = Section::Replace(call.text("content").to_owned());
        let make = |text: Option<&str>| with_section(text.unwrap_or_default(), call.text("section"), &change);
        self.0.taken_by(call, &path, make).await
    }

    async fn question(&self, call: &AuthorizableCall<'_>) -> Result<QuestionText, ToolError> {
        taken_lines(call, self.takes_away(call).await?)
    }

    async fn run(&self, call: &AuthorizableCall<'_>) -> Result<Output, ToolError> {
        let (path, section) = (normal_path(call.text("path")), call.text("section"));
        let words = call.text("content");
        refuse_skill_path(&path)?;
        let path = self.0.existing_path(call, path).await?;
        let change = match call.text("action") {
            "read" => return self.read(call, &path, section).await,
            "append" if words.trim().is_empty() => return Err(ToolError::Arguments(says::NO_CONTENT.to_owned())),
            "append" => Section::Append(words.to_owned()),
            "replace" => {
                self.check_known(call, &path).await?;
                Section::Replace(words.to_owned())
            }
            _ => return Err(ToolError::Arguments(says::BAD_ACTION.to_owned())),
        };
        let origin = self.0.origin(call, "section").await?;
        let stored = self.0.workspace.files().section(&origin, &path, section, change).await;
        if let Ok(stored) = &stored
            && !stored.redirected
        {
            self.0.request_to_keep_file(call, &path, &stored.written).await?;
        }
        self.0.answer(call, stored, words).await
    }
}

/// Knowledge of all people, as tools change it.
#[derive(Clone)]
pub struct KnowledgeStore {
    pub(super) journal: Journal,
    pub(super) workspace: Workspace,
    pub(super) review: Review,
    pub(super) zone: Zone,
    clock: Arc<dyn Clock>,
}

impl KnowledgeStore {
    /// Creates it over this workspace and the gate's live skills; times are displayed in `zone`.
    pub fn new(journal: Journal, workspace: Workspace, review: Review, clock: Arc<dyn Clock>, zone: Zone) -> Self {
        Self { journal, workspace, review, zone, clock }
    }

    /// Returns the party that owns the folder.
    pub(super) async fn party(&self, call: &AuthorizableCall<'_>) -> Result<Party, ToolError> {
        let party = call.party(&self.journal).await.map_err(failed)?;
        party.ok_or_else(|| ToolError::Refused(says::NOBODY.to_owned()))
    }

    /// Returns the path of an existing file: a bare name that is none, as in the index of notes,
    /// means the file in `memory/`, and a number the file that a list showed under it.
    pub(super) async fn existing_path(&self, call: &AuthorizableCall<'_>, path: String) -> Result<String, ToolError> {
        if let Some(numbered) = self.numbered_path(call, &path).await? {
            return Ok(if self.is_missing(call, &path).await? { numbered } else { path });
        }
        if path.is_empty() || path.contains('/') || !self.is_missing(call, &path).await? {
            return Ok(path);
        }
        let in_memory = format!("memory/{path}");
        Ok(if self.is_missing(call, &in_memory).await? { path } else { in_memory })
    }

    /// Returns the path of the file that stands in a list under that number.
    pub(super) async fn numbered_path(
        &self,
        call: &AuthorizableCall<'_>,
        path: &str,
    ) -> Result<Option<String>, ToolError> {
        let party = self.party(call).await?;
        self.workspace.files().numbered(&party, path).await.map_err(failed)
    }

    async fn is_missing(&self, call: &AuthorizableCall<'_>, path: &str) -> Result<bool, ToolError> {
        let read = self.workspace.files().read_text(&self.party(call).await?, path).await;
        Ok(matches!(read, Err(WorkspaceError::Refused(AccessRefusal::Missing))))
    }

    /// Returns what the person typed for a change by this turn, and agreed to.
    async fn share_of(&self, call: &AuthorizableCall<'_>) -> Result<PersonShare, ToolError> {
        if call.label.is_trusted() {
            return Ok(PersonShare::default());
        }
        let wishes = call.wishes.iter().filter(|wish| wish.when.is_none());
        let typed = wishes.map(|wish| wish.words.clone()).collect();
        let consent = match agreed_change(call) {
            Some(digest) => {
                let mut digests = vec![digest.clone()];
                digests.extend(self.written_in(call).await?);
                Consent::Shown(digests)
            }
            None if call.label.is_trusted_here() => Consent::Vouched,
            None => Consent::None,
        };
        Ok(PersonShare { typed, consent })
    }

    /// Returns the digests of what the turn wrote, which is what its person agreed to after a yes.
    async fn written_in(&self, call: &AuthorizableCall<'_>) -> Result<Vec<String>, ToolError> {
        let turn = call.turn;
        self.journal.read(move |db| db.file_versions().written_in(turn)).await.map_err(failed)
    }

    /// Returns the origin of a change by this turn.
    pub(super) async fn origin(
        &self,
        call: &AuthorizableCall<'_>,
        cause: &'static str,
    ) -> Result<ChangeOrigin, ToolError> {
        Ok(ChangeOrigin {
            who: self.party(call).await?,
            label: call.label.clone(),
            author: Author::Assistant,
            cause,
            from: vec![Node::Turn(call.turn)],
            person: self.share_of(call).await?,
            now: self.clock.now(),
        })
    }

    /// Returns the answer to a stored text; `words` are what a person is asked about if it was
    /// redirected.
    pub(super) async fn answer(
        &self,
        call: &AuthorizableCall<'_>,
        stored: Result<StoredNote, WriteError>,
        words: &str,
    ) -> Result<Output, ToolError> {
        let stored = stored.map_err(refused)?;
        if stored.redirected {
            self.request_to_keep(call, &stored, words).await.map_err(failed)?;
        }
        let text = match (stored.redirected, stored.written.version) {
            (true, _) => says::redirected(&stored.path),
            (false, Some(_)) => says::kept(&stored.path, stored.instead_of.as_ref().map(|old| old.shown.as_str())),
            (false, None) => says::kept_already(&stored.path),
        };
        let mut output = self.output(call, text, &stored.written);
        if let Some(old) = &stored.instead_of {
            output.label.absorb(&old.label);
        }
        Ok(output)
    }

    /// Returns the result of a call that changed a file.
    pub(super) fn output(&self, call: &AuthorizableCall<'_>, text: String, written: &WriteResult) -> Output {
        let from = written.version.map(|version| Node::File(version.0)).into_iter().collect();
        Output { text, label: call.label.clone(), from }
    }

    /// Returns what a change would take away of the person's lines.
    pub(super) async fn taken_by(
        &self,
        call: &AuthorizableCall<'_>,
        path: &str,
        make: impl Fn(Option<&str>) -> Result<NewContent, WriteRefusal>,
    ) -> Result<Option<TakenLines>, ToolError> {
        let origin = self.origin(call, "file").await?;
        let mut taken = self.workspace.versions().taken_by(&origin, path, make).await.map_err(failed)?;
        // Of several changes that were shown together, each stands on the one before.
        if let (Some(taken), Some(agreed)) = (&mut taken, agreed_change(call))
            && self.written_in(call).await?.contains(&taken.digest)
        {
            taken.digest.clone_from(agreed);
        }
        Ok(taken)
    }

    /// Returns whether the conversation was shown a part of a file as it stands, or wrote it so. This is
    /// read from the stored steps and versions, so it survives a restart.
    pub(super) async fn is_known(
        &self,
        call: &AuthorizableCall<'_>,
        path: &str,
        digest: &str,
    ) -> Result<bool, ToolError> {
        let shown = self.shown(call, path, digest).await?;
        Ok(shown.is_none_or(|lines| !lines.is_empty()))
    }

    /// Returns the SHA-256 of the text of a file that the conversation was shown whole as it stands, or
    /// wrote so.
    pub(super) async fn known_digest(
        &self,
        call: &AuthorizableCall<'_>,
        path: &str,
    ) -> Result<Option<String>, ToolError> {
        let read = self.workspace.files().read_text(&self.party(call).await?, path).await;
        let Ok((text, _, digest)) = read else { return Ok(None) };
        let (shown, words) = (self.shown(call, path, &digest).await?, text.open().0);
        let is_known = shown.is_none_or(|lines| words.lines().all(|line| lines.contains(line)));
        Ok(is_known.then(|| memory::digest(words.as_bytes())))
    }

    /// Returns the lines of a file that the conversation was shown, as it stands; `None` if it wrote the
    /// file so.
    async fn shown(
        &self,
        call: &AuthorizableCall<'_>,
        path: &str,
        digest: &str,
    ) -> Result<Option<HashSet<String>>, ToolError> {
        let (conversation, line) = (call.conversation, says::file_line(path, short_hash(digest)));
        let digest = digest.to_owned();
        let look = move |db: Db<'_>| {
            if db.file_versions().is_written_in(conversation, &digest)? {
                return Ok(None);
            }
            let read = db.turns().results_of(conversation, "read_file")?;
            let read = read.iter().map(|text| text.open().0).filter(|text| text.starts_with(&line));
            Ok(Some(read.flat_map(|text| text.lines()).map(str::to_owned).collect()))
        };
        self.journal.read(look).await.map_err(failed)
    }

    /// Requests, once a conversation, that the person is asked whether to keep what a file with lines
    /// of theirs now holds from outside.
    pub(super) async fn request_to_keep_file(
        &self,
        call: &AuthorizableCall<'_>,
        path: &str,
        written: &WriteResult,
    ) -> Result<(), ToolError> {
        if written.version.is_none() || !written.is_mixed {
            return Ok(());
        }
        let party = self.party(call).await?;
        let (shown, digest) = self.workspace.files().outside_of(&party, path).await.map_err(unread)?;
        if shown.open().0.trim().is_empty() {
            return Ok(());
        }
        let (conversation, asked) = (call.conversation, path.to_owned());
        let is_asked = self.journal.read(move |db| db.keep_requests().is_asked_about(conversation, &asked)).await;
        if is_asked.map_err(failed)? {
            return Ok(());
        }
        self.add_request(call, path.to_owned(), digest, shown, None).await.map_err(failed)
    }

    async fn request_to_keep(
        &self,
        call: &AuthorizableCall<'_>,
        stored: &StoredNote,
        words: &str,
    ) -> anyhow::Result<()> {
        let (path, digest) = (stored.path.clone(), stored.written.digest.clone());
        let words = self.as_filed(call, &path).await?.unwrap_or_else(|| words.to_owned());
        let shown: Text = Labelled::new(Arc::from(words), stored.written.label.clone(), call.scope);
        let replaced = match self.party(call).await {
            Ok(party) => self.workspace.versions().replaced_by_pending(&party, &path).await?,
            Err(_) => None,
        };
        self.add_request(call, path, digest, shown, replaced).await
    }

    async fn add_request(
        &self,
        call: &AuthorizableCall<'_>,
        path: String,
        digest: String,
        shown: Text,
        replaced: Option<Replaced>,
    ) -> anyhow::Result<()> {
        let (turn, conversation, now) = (call.turn, call.conversation, self.clock.now());
        let Scope::Person(person) = call.scope else { return Ok(()) };
        let reads_along =
            move |db: Db<'_>| Ok(db.conversations().conversation(conversation)?.is_some_and(|row| !row.kind.is_run()));
        if !self.journal.read(reads_along).await? {
            return Ok(());
        }
        let (instead_of, replaces) = replaced.map(|replaced| (replaced.shown, replaced.digest)).unwrap_or_default();
        self.journal
            .write("want to keep something", move |tx| {
                let (instead_of, replaces) = (instead_of.as_str(), replaces.as_str());
                let new = NewKeep { path: &path, digest: &digest, shown: &shown, instead_of, replaces };
                tx.keep_requests().add_keep_request(turn, person, &new, now)
            })
            .await
    }

    /// Returns the complete text that an approval would make trusted: the title for the index, and
    /// the body.
    async fn as_filed(&self, call: &AuthorizableCall<'_>, path: &str) -> anyhow::Result<Option<String>> {
        let Ok(party) = self.party(call).await else { return Ok(None) };
        let read = unless_refused(self.workspace.files().read_text(&party, path).await)?;
        let Some((text, _, _)) = read else { return Ok(None) };
        let note = note::read(text.open().0);
        let titled = note.name.is_empty() || note.body.trim_start().starts_with(&note.name);
        Ok(Some(if titled { note.body } else { format!("{}\n\n{}", note.name, note.body) }))
    }
}

/// Returns the digest of the content on which its person agreed to a change.
pub(super) fn agreed_change<'a>(call: &AuthorizableCall<'a>) -> Option<&'a String> {
    call.granted.iter().find_map(|covers| match covers {
        Covers::Change(digest) => Some(digest),
        _ => None,
    })
}

/// Returns the question before a change that takes lines of a person away.
pub(super) fn taken_lines(call: &AuthorizableCall<'_>, taken: Option<TakenLines>) -> Result<QuestionText, ToolError> {
    let Some(TakenLines { path, before, after, .. }) = taken else {
        return Err(ToolError::Refused(says::NOT_TAKEN_FROM_OUTSIDE.to_owned()));
    };
    let (words, label, _) = before.open();
    Ok(QuestionText {
        question: may_i_take_away(call.language, &path),
        shown: changed_lines(words, &after),
        label: label.clone(),
    })
}

/// Returns the removed and the added lines of a text, without what surrounds them.
fn changed_lines(before: &str, after: &str) -> String {
    let lines = diff::hunks_of_texts(before, after).into_iter().flat_map(|hunk| hunk.lines);
    let shown = lines.filter_map(|line| match line.kind {
        DiffKind::Removed => Some(format!("\u{2212} {}", line.text)),
        DiffKind::Added => Some(format!("+ {}", line.text)),
        DiffKind::Kept | DiffKind::Remark => None,
    });
    shown.collect::<Vec<_>>().join("\n")
}

/// Returns a path for display, without `.` and `..` steps.
pub(super) fn normal_path(path: &str) -> String {
    crate::memory::normal_path(path.trim()).unwrap_or_else(|| path.trim().to_owned())
}

/// Returns the hash digits displayed before a file.
pub(super) fn short_hash(digest: &str) -> &str {
    digest.get(..HASH_DIGITS).unwrap_or(digest)
}

/// Returns the path relative to the skills folder; `None` if the path is outside of it.
pub(super) fn skill_path(path: &str) -> Option<&str> {
    let (first, rest) = path.split_once('/').unwrap_or((path, ""));
    first.eq_ignore_ascii_case("skills").then_some(rest)
}

/// Refuses paths of skills, which are outside the workspace and are changed only by their gate.
pub(super) fn refuse_skill_path(path: &str) -> Result<(), ToolError> {
    let is_skill = skill_path(path).is_some();
    if is_skill { Err(ToolError::Refused(says::SKILLS_ARE_ONLY_READ.to_owned())) } else { Ok(()) }
}

/// Returns the error of a read.
pub(super) fn unread(error: AccessError) -> ToolError {
    match error {
        WorkspaceError::Refused(why) => not_given(why),
        WorkspaceError::Failed(error) => failed(error),
    }
}

pub(super) fn not_given(why: AccessRefusal) -> ToolError {
    ToolError::Arguments(
        match why {
            AccessRefusal::BadPath => says::BAD_PATH,
            AccessRefusal::Missing => says::NO_SUCH_FILE,
            AccessRefusal::Elsewhere => says::NOT_THEIRS,
            AccessRefusal::NoText => says::NO_TEXT,
            AccessRefusal::TooLarge => says::TOO_LARGE_TO_READ,
        }
        .to_owned(),
    )
}

/// Returns the error of a change.
pub(super) fn refused(error: WriteError) -> ToolError {
    let why = match error {
        WorkspaceError::Refused(why) => why,
        WorkspaceError::Failed(error) => return failed(error),
    };
    ToolError::Refused(match why {
        WriteRefusal::Elsewhere => says::BAD_PATH.to_owned(),
        WriteRefusal::Foreign => says::NOT_THEIRS.to_owned(),
        WriteRefusal::OwnersHand => says::OWNERS_HAND.to_owned(),
        WriteRefusal::Untrusted => says::NOT_FROM_OUTSIDE.to_owned(),
        WriteRefusal::TooLarge(most) => says::too_large(most),
        WriteRefusal::NoText => says::NO_TEXT.to_owned(),
        WriteRefusal::Unreadable(path) => says::broken_file(&path),
        WriteRefusal::Impossible(why) => why,
    })
}

pub(super) fn failed(error: anyhow::Error) -> ToolError {
    tracing::error!("A file of the workspace cannot be used: {error:#}");
    ToolError::Failed(says::FAILED.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_lies_among_the_skills_is_one() {
        for (path, meant) in
            [("skills", Some("")), ("skills/tea/SKILL.md", Some("tea/SKILL.md")), ("SKILLS/tea", Some("tea"))]
        {
            assert_eq!(skill_path(path), meant, "{path}");
        }
        for path in ["", "skillset/tea", "memory/skills/tea.md", "skills.md"] {
            assert_eq!(skill_path(path), None, "{path}");
        }
    }
}
