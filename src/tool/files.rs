//! `read_file`, `write_file`, `edit_file`, `list_files`: the text files of the person's own folder.
//!
//! Read text carries the file's label, written text the turn's. Tainted text does not reach files
//! that are loaded automatically; it waits in `memory/untrusted/`. An edit requires knowledge of
//! the present content: the file was read in this turn and is unchanged, or its hash is given. This
//! is checked against the stored steps of the turn, so it survives a restart. Skills can only be
//! read here; so can the experience of profiles, by its name in the prompt.

mod edit;
mod list;
mod skill;

use async_trait::async_trait;
use serde_json::{Value, json};

pub use edit::EditFile;
pub use list::ListFiles;

use super::knowledge_tools::{
    KnowledgeStore, failed, no_skill, not_given, refused, short, shown_path, skill_way, text_of,
};
use super::{AuthorizableCall, Effects, Egress, Output, Tool, ToolError};
use crate::memory::{AccessRefusal, ChangeOrigin, EXPERIENCE, New, StoredNote, WriteRefusal, WriteResult, note};
use crate::model::ToolSpec;
use crate::store::Node;
use crate::trust::Text;
use crate::wording::knowledge as says;

/// The `read_file` tool.
pub struct ReadFile(KnowledgeStore);

/// The `write_file` tool.
pub struct WriteFile(KnowledgeStore);

impl ReadFile {
    /// Creates the tool.
    pub fn new(keeping: KnowledgeStore) -> Self {
        Self(keeping)
    }

    async fn of_the_party(
        &self,
        call: &AuthorizableCall<'_>,
        path: &str,
    ) -> Result<(Text, Vec<Node>, String), ToolError> {
        let party = self.0.party(call).await?;
        if let Some(name) = path.strip_prefix("experience/") {
            let learned =
                self.0.tree.files().read_text(&party, &format!("{EXPERIENCE}{name}")).await.map_err(failed)?;
            if !matches!(learned, Err(AccessRefusal::Missing)) {
                return learned.map_err(not_given);
            }
        }
        self.0.tree.files().read_text(&party, path).await.map_err(failed)?.map_err(not_given)
    }
}

impl WriteFile {
    /// Creates the tool.
    pub fn new(keeping: KnowledgeStore) -> Self {
        Self(keeping)
    }

    async fn delete(
        &self,
        call: &AuthorizableCall<'_>,
        origin: &ChangeOrigin,
        path: &str,
    ) -> Result<Output, ToolError> {
        let written = self.0.tree.notes().drop_note(origin, path).await.map_err(failed)?.map_err(refused)?;
        Ok(self.0.output(call, says::deleted(path), &written))
    }
}

#[async_trait]
impl Tool for ReadFile {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "read_file".to_owned(),
            description: says::READ_FILE.to_owned(),
            schema: json!({
                "type": "object",
                "properties": {
                    "path": { "type": "string", "description": says::PATH },
                    "from_line": { "type": "integer" }
                },
                "required": ["path"]
            }),
        }
    }

    fn repeatable(&self) -> bool {
        true
    }

    fn effects(&self) -> Effects {
        Effects::READS
    }

    fn reach(&self, _: &Value) -> Egress {
        Egress::Inside
    }

    async fn run(&self, call: &AuthorizableCall<'_>) -> Result<Output, ToolError> {
        let path = shown_path(text_of(call, "path"));
        if let Some(way) = skill_way(&path) {
            let skill::SkillFile { words, digest, label, from } = skill::read(&self.0.review, way).await?;
            return Ok(Output { text: shown(call, &path, &digest, &words), label, from });
        }
        let (text, from, digest) = self.of_the_party(call, &path).await?;
        let (words, label, _) = text.open();
        Ok(Output { text: shown(call, &path, &digest, words), label: label.clone(), from })
    }
}

/// Returns the text of a file from the requested line on, below the line that names it.
fn shown(call: &AuthorizableCall<'_>, path: &str, digest: &str, words: &str) -> String {
    let first = call.arguments.get("from_line").and_then(Value::as_u64).unwrap_or(1);
    let skipped = usize::try_from(first.saturating_sub(1)).unwrap_or(usize::MAX);
    let words: String = words.split_inclusive('\n').skip(skipped).collect();
    format!("{}\n{words}", says::file_line(path, short(digest)))
}

#[async_trait]
impl Tool for WriteFile {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "write_file".to_owned(),
            description: says::WRITE_FILE.to_owned(),
            schema: json!({
                "type": "object",
                "properties": {
                    "path": { "type": "string" },
                    "content": { "type": "string" }
                },
                "required": ["path", "content"]
            }),
        }
    }

    /// Writing the same content twice is one change.
    fn repeatable(&self) -> bool {
        true
    }

    fn effects(&self) -> Effects {
        Effects::WRITES
    }

    fn reach(&self, _: &Value) -> Egress {
        Egress::Inside
    }

    async fn run(&self, call: &AuthorizableCall<'_>) -> Result<Output, ToolError> {
        let path = shown_path(text_of(call, "path"));
        let Some(content) = call.arguments.get("content").and_then(Value::as_str) else {
            return Err(ToolError::Arguments(says::NO_CONTENT.to_owned()));
        };
        no_skill(&path)?;
        let origin = self.0.origin(call, "file").await?;
        if content.is_empty() {
            return self.delete(call, &origin, &path).await;
        }
        let new = content.to_owned();
        let written =
            self.0.tree.versions().change(&origin, &path, move |_| Ok(New::Text(new.clone()))).await.map_err(failed)?;
        change_answer(&self.0, call, &origin, &path, written, content).await
    }
}

/// Returns the answer to a file change. Text that may not be stored there waits for the person's
/// approval.
async fn change_answer(
    keeping: &KnowledgeStore,
    call: &AuthorizableCall<'_>,
    origin: &ChangeOrigin,
    path: &str,
    written: Result<WriteResult, WriteRefusal>,
    words: &str,
) -> Result<Output, ToolError> {
    match written {
        Ok(written) => Ok(keeping.output(call, says::written(path, short(&written.digest)), &written)),
        Err(WriteRefusal::Untrusted) if !words.trim().is_empty() => {
            let kept = pending_note_answer(keeping, origin, path, words).await;
            keeping.answer(call, kept, words).await
        }
        Err(why) => Err(refused(why)),
    }
}

async fn pending_note_answer(
    keeping: &KnowledgeStore,
    origin: &ChangeOrigin,
    path: &str,
    words: &str,
) -> anyhow::Result<Result<StoredNote, WriteRefusal>> {
    let meant = note::read(words);
    let stem = path.rsplit('/').next().unwrap_or_default().trim_end_matches(".md");
    let title = if meant.name.is_empty() { stem.replace('-', " ") } else { meant.name };
    keeping.tree.notes().store_pending_text(origin, &title, &meant.body).await
}
