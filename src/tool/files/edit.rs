//! `edit_file`: replaces one passage of a known file.

use async_trait::async_trait;
use serde_json::{Value, json};

use super::change_answer;
use crate::memory::{New, WriteRefusal, digest};
use crate::model::ToolSpec;
use crate::store::Db;
use crate::tool::knowledge_tools::{KnowledgeStore, failed, no_skill, not_given, short, shown_path, text_of};
use crate::tool::{AuthorizableCall, Effects, Egress, Output, Tool, ToolError};
use crate::wording::knowledge as says;

/// The minimum number of hash digits that identify a content.
const LEAST: usize = 8;
/// The tools after which a turn knows a file's content.
const SHOW: [&str; 3] = ["read_file", "write_file", "edit_file"];

/// The `edit_file` tool.
pub struct EditFile(KnowledgeStore);

impl EditFile {
    /// Creates the tool.
    pub fn new(keeping: KnowledgeStore) -> Self {
        Self(keeping)
    }

    /// Returns the digest of the present content, if the turn knows it.
    async fn known(&self, call: &AuthorizableCall<'_>, path: &str) -> Result<String, ToolError> {
        let party = self.0.party(call).await?;
        let (_, _, now) = self.0.tree.files().read_text(&party, path).await.map_err(failed)?.map_err(not_given)?;
        let given = text_of(call, "expected").trim().to_lowercase();
        if !given.is_empty() {
            let names = given.len() >= LEAST && now.starts_with(&given);
            return if names { Ok(now) } else { Err(ToolError::Refused(says::OTHER_HASH.to_owned())) };
        }
        let (turn, line) = (call.turn, says::file_line(path, short(&now)));
        let look = move |db: Db<'_>| {
            let steps = db.turns().steps(turn)?;
            let mut shown = steps.iter().filter(|step| step.done && SHOW.contains(&step.tool.as_str()));
            Ok(shown.any(|step| step.text.open().0.starts_with(&line)))
        };
        let read = self.0.journal.read(look).await.map_err(failed)?;
        if read { Ok(now) } else { Err(ToolError::Refused(says::READ_FIRST.to_owned())) }
    }
}

#[async_trait]
impl Tool for EditFile {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "edit_file".to_owned(),
            description: says::EDIT_FILE.to_owned(),
            schema: json!({
                "type": "object",
                "properties": {
                    "path": { "type": "string" },
                    "old": { "type": "string" },
                    "new": { "type": "string" },
                    "expected": { "type": "string" }
                },
                "required": ["path", "old", "new"]
            }),
        }
    }

    /// The second time the passage is no longer there, and the model could not tell why.
    fn repeatable(&self) -> bool {
        false
    }

    fn effects(&self) -> Effects {
        Effects::WRITES
    }

    fn reach(&self, _: &Value) -> Egress {
        Egress::Inside
    }

    async fn run(&self, call: &AuthorizableCall<'_>) -> Result<Output, ToolError> {
        let path = shown_path(text_of(call, "path"));
        no_skill(&path)?;
        let (old, new) = (text_of(call, "old").to_owned(), text_of(call, "new").to_owned());
        let known = self.known(call, &path).await?;
        let origin = self.0.origin(call, "edit").await?;
        let words = new.clone();
        let make = move |text: Option<&str>| edited(text.unwrap_or_default(), &known, &old, &new);
        let written = self.0.tree.versions().change(&origin, &path, make).await.map_err(failed)?;
        change_answer(&self.0, call, &origin, &path, written, &words).await
    }
}

/// Returns the text with the new passage, if the text is the known one and contains the old passage
/// exactly once.
fn edited(text: &str, known: &str, old: &str, new: &str) -> Result<New, WriteRefusal> {
    let impossible = |why: &str| Err(WriteRefusal::Impossible(why.to_owned()));
    if digest(text.as_bytes()) != known {
        return impossible(says::READ_FIRST);
    }
    let mut parts = text.splitn(3, old);
    match (old, parts.next(), parts.next(), parts.next()) {
        ("", ..) | (_, _, None, _) => impossible(says::OLD_MISSING),
        (_, Some(before), Some(after), None) => Ok(New::Text(format!("{before}{new}{after}"))),
        _ => impossible(says::OLD_TWICE),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_passage_is_replaced_only_where_it_stands_once_in_what_is_known() {
        let (text, known) = ("a b a", digest(b"a b a"));
        assert_eq!(edited(text, &known, "b", "c"), Ok(New::Text("a c a".to_owned())));
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
