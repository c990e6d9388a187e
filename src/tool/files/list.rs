//! `list_files`: the entries of a folder. File names chosen by other people are their text, and
//! carry their label.

use async_trait::async_trait;
use serde_json::{Value, json};

use super::skill;
use crate::memory::Listed;
use crate::model::ToolSpec;
use crate::time::Zone;
use crate::tool::knowledge_tools::{KnowledgeStore, failed, not_given, shown_path, skill_way, text_of};
use crate::tool::{AuthorizableCall, Effects, Egress, Output, Tool, ToolError};
use crate::wording::knowledge as says;

/// The maximum number of entries listed.
const MOST: usize = 300;

/// The `list_files` tool.
pub struct ListFiles(KnowledgeStore);

impl ListFiles {
    /// Creates the tool.
    pub fn new(keeping: KnowledgeStore) -> Self {
        Self(keeping)
    }
}

#[async_trait]
impl Tool for ListFiles {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "list_files".to_owned(),
            description: says::LIST_FILES.to_owned(),
            schema: json!({
                "type": "object",
                "properties": { "path": { "type": "string", "description": says::LIST_FILES_PATH } }
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
            let skill::SkillList { lines, label, from } = skill::list(&self.0.review, way, call.label).await?;
            return Ok(Output { text: list_answer(lines), label, from });
        }
        let party = self.0.party(call).await?;
        let listed = self.0.tree.files().list(&party, &path).await.map_err(failed)?.map_err(not_given)?;
        let label = listed.iter().take(MOST).fold(call.label.clone(), |label, entry| label.join_with(&entry.label));
        // Skills are stored outside the folder, but are read as if they were in it.
        let skills = (path.is_empty() || path == ".").then(|| "skills/".to_owned());
        let lines = skills.into_iter().chain(listed.iter().map(|entry| line(entry, self.0.zone))).collect();
        Ok(Output { text: list_answer(lines), label, from: Vec::new() })
    }
}

fn list_answer(mut lines: Vec<String>) -> String {
    if lines.len() > MOST {
        let more = says::more_entries(lines.len() - MOST);
        lines.truncate(MOST);
        lines.push(more);
    }
    if lines.is_empty() { says::EMPTY_FOLDER.to_owned() } else { lines.join("\n") }
}

fn line(entry: &Listed, zone: Zone) -> String {
    match entry.folder {
        true => format!("{}/", entry.name),
        false => format!("{} ({} bytes, {})", entry.name, entry.size, zone.show_short(entry.at)),
    }
}
