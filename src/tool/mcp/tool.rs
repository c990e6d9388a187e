//! An outside tool, callable by a model, and its result as text.
//!
//! Text is passed through; structured content becomes JSON unless a text says the same; a picture,
//! sound or file goes into the party's `inbox/` under the label of the tool, and a picture is put
//! before the model; anything else becomes a line that describes it. The text is enclosed in a
//! frame that it cannot close.

use std::sync::Arc;

use anyhow::Context;
use async_trait::async_trait;
use base64::Engine as _;
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use serde_json::Value;

use super::connection::McpError;
use super::register::Accepted;
use super::register::source;
use super::server::Server;
use crate::memory::received_path;
use crate::message::file_type;
use crate::tool::pictures::{MAX_PICTURE, PictureStore};
use crate::tool::question_text::{QuestionText, lines};
use crate::tool::{AuthorizableCall, Effects, Egress, MAX_RESULT, Output, Tool, ToolDeclaration, ToolError};
use crate::trust::Label;
use crate::wording::tool as says;

/// An accepted tool of an MCP server.
pub struct OutsideTool {
    server: Arc<Server>,
    accepted: Accepted,
    store: PictureStore,
}

impl OutsideTool {
    /// Creates the accepted tool, called on this server; its files go into that store.
    pub fn new(server: Arc<Server>, accepted: Accepted, store: PictureStore) -> Self {
        Self { server, accepted, store }
    }

    /// Returns the error in our own words.
    fn error(&self, no: &McpError) -> ToolError {
        let name = &self.accepted.spec.name;
        match no {
            McpError::Away => ToolError::Unreachable(says::tool_unavailable(name)),
            McpError::Changed => ToolError::Refused(says::tool_changed(name)),
            McpError::Silent(limit) => ToolError::TimedOut(says::no_answer(name, limit.as_secs())),
            McpError::Start | McpError::Broken | McpError::Objects(_) => ToolError::Failed(says::broke_off(name)),
        }
    }

    fn output(&self, text: String) -> Output {
        Output { text, label: self.label(), from: Vec::new() }
    }

    fn label(&self) -> Label {
        source(&self.accepted.server, &self.accepted.name)
    }

    /// Returns the parts of a result as text, and keeps its files.
    async fn parts(&self, call: &AuthorizableCall<'_>, result: &CallToolResult) -> Vec<String> {
        let mut parts = Vec::new();
        let mut files = 0;
        for content in &result.content {
            parts.push(match GivenFile::of(content).filter(|_| files < MAX_FILES) {
                None => part(content),
                Some(file) => {
                    files += 1;
                    self.keep(call, &file).await.unwrap_or_else(|error| {
                        tracing::warn!("A file of the tool {} is not kept: {error:#}", self.accepted.spec.name);
                        part(content)
                    })
                }
            });
        }
        parts
    }

    /// Keeps a file in the inbox of the party, and shows a picture. Returns the line about it.
    async fn keep(&self, call: &AuthorizableCall<'_>, file: &GivenFile) -> anyhow::Result<String> {
        let party = call.party(&self.store.journal).await?.context("Nobody is there to keep it for")?;
        let picture = file_type::of_picture(&file.bytes);
        let kind = picture.unwrap_or(&file.mime);
        let stem = file.name.rsplit_once('.').map_or(file.name.as_str(), |(stem, _)| stem);
        let extension = file_type::extension_of(kind).map(str::to_owned);
        let extension = extension.unwrap_or_else(|| file_type::extension(&file.name));
        let name = format!("{}-{stem}.{extension}", self.accepted.server);
        let files = self.store.workspace.files();
        let room = files.room_of(&party, self.server.now()).await?;
        if u64::try_from(file.bytes.len()).is_ok_and(|size| size > room.left()) {
            return Ok(says::content_without_room(file.what, &self::name(kind)));
        }
        let (path, digest) = files.save_given(&party, &name, &file.bytes, &self.label(), self.server.now()).await?;
        let own_path = received_path(&path).to_owned();
        let fits = u64::try_from(file.bytes.len()).is_ok_and(|size| size <= MAX_PICTURE);
        let is_shown =
            picture.is_some() && fits && call.sees_pictures && self.store.enclose(call, path, digest).await?;
        Ok(says::content_kept(file.what, &self::name(kind), &own_path, is_shown))
    }
}

#[async_trait]
impl Tool for OutsideTool {
    /// Tools that the owner trusts as read-only count as reading; all others may do anything.
    fn declaration(&self) -> ToolDeclaration {
        let Accepted { server, name, spec, marks, .. } = self.accepted.clone();
        let (effects, egress) = match self.server.trusts_to_read(&name) {
            true => (Effects::READS, Egress::Inside),
            false => (Effects::LEAVES, Egress::Outside { server, tool: name, marks }),
        };
        ToolDeclaration { spec, effects, egress, repeatable: false, replaces: true }
    }

    fn check(&self, _: &Value) -> Result<(), ToolError> {
        self.server.check(&self.accepted).map_err(|no| self.error(&no))
    }

    async fn question(&self, call: &AuthorizableCall<'_>) -> Result<QuestionText, ToolError> {
        let question = says::may_i_send(call.language, &self.accepted.server, &self.accepted.name);
        let lines = lines(call.arguments);
        let shown = if lines.is_empty() { says::WITHOUT_ARGUMENTS.to_owned() } else { lines };
        Ok(QuestionText { question, shown, label: call.label.clone() })
    }

    async fn run(&self, call: &AuthorizableCall<'_>) -> Result<Output, ToolError> {
        let Value::Object(arguments) = call.arguments else {
            return Err(ToolError::Arguments(crate::wording::tool::BAD_ARGUMENTS.to_owned()));
        };
        let name = &self.accepted.spec.name;
        match self.server.call(&self.accepted, arguments.clone()).await {
            Ok(given) => {
                let parts = self.parts(call, &given).await;
                Ok(self.output(framed(name, &given, parts)))
            }
            Err(McpError::Objects(words)) => Ok(self.output(frame(name, &words, says::CALL_FAILED))),
            Err(no) => Err(self.error(&no)),
        }
    }
}

/// Together with the frame shorter than the limit for all tools, so that the frame is never cut.
const WORDS: usize = MAX_RESULT - 1_000;
/// Maximum length of a type or address given by a server.
const NAME: usize = 200;
/// Maximum number of files of one result that are kept.
const MAX_FILES: usize = 10;

/// A file in a result.
struct GivenFile {
    what: &'static str,
    mime: String,
    name: String,
    bytes: Vec<u8>,
}

impl GivenFile {
    /// Returns the file that a part of a result is; `None` if it is none, or cannot be decoded.
    fn of(content: &ContentBlock) -> Option<Self> {
        let (what, mime, name, data) = match content {
            ContentBlock::Image(image) => ("picture", image.mime_type.as_str(), "picture", &image.data),
            ContentBlock::Audio(audio) => ("sound", audio.mime_type.as_str(), "sound", &audio.data),
            ContentBlock::Resource(embedded) => match &embedded.resource {
                ResourceContents::BlobResourceContents { uri, blob, mime_type, .. } => {
                    let name = uri.rsplit('/').next().unwrap_or_default();
                    ("file", mime_type.as_deref().unwrap_or_default(), name, blob)
                }
                _ => return None,
            },
            _ => return None,
        };
        let bytes = base64::engine::general_purpose::STANDARD.decode(data).ok().filter(|bytes| !bytes.is_empty())?;
        Some(Self { what, mime: mime.to_owned(), name: name.to_owned(), bytes })
    }
}

/// Returns the whole result in its frame.
fn framed(tool: &str, result: &CallToolResult, parts: Vec<String>) -> String {
    let words = words(result, parts);
    if result.is_error == Some(true) {
        frame(tool, &words, says::CALL_FAILED)
    } else {
        frame(tool, &words, says::OUTPUT_OF)
    }
}

fn frame(tool: &str, words: &str, what: &str) -> String {
    let whole = crate::text::defuse(words, says::FRAME);
    let shown = crate::text::shorten(&whole, WORDS);
    let shown = if shown.trim().is_empty() { says::NO_OUTPUT } else { &shown };
    says::framed(what, tool, shown)
}

fn words(result: &CallToolResult, mut parts: Vec<String>) -> String {
    if let Some(structured) = &result.structured_content {
        let says_the_same = |part: &String| serde_json::from_str::<Value>(part).is_ok_and(|said| said == *structured);
        if !parts.iter().any(says_the_same) {
            parts.push(structured.to_string());
        }
    }
    parts.join("\n")
}

fn part(content: &ContentBlock) -> String {
    match content {
        ContentBlock::Text(text) => text.text.clone(),
        ContentBlock::Image(image) => says::content_left_out("picture", &name(&image.mime_type), size(&image.data)),
        ContentBlock::Audio(audio) => says::content_left_out("sound", &name(&audio.mime_type), size(&audio.data)),
        ContentBlock::ResourceLink(link) => says::link(&name(&link.uri)),
        ContentBlock::Resource(embedded) => match &embedded.resource {
            ResourceContents::TextResourceContents { text, .. } => text.clone(),
            ResourceContents::BlobResourceContents { blob, mime_type, .. } => {
                says::content_left_out("file", &name(mime_type.as_deref().unwrap_or_default()), size(blob))
            }
            _ => says::UNKNOWN_KIND.to_owned(),
        },
        _ => says::UNKNOWN_KIND.to_owned(),
    }
}

fn name(given: &str) -> String {
    crate::text::shorten(&crate::text::one_line(given), NAME)
}

/// Returns the number of bytes encoded as base64.
fn size(data: &str) -> usize {
    base64::engine::general_purpose::STANDARD.decode(data).map_or(data.len(), |bytes| bytes.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn given(result: Value) -> String {
        let result: CallToolResult = serde_json::from_value(result).unwrap();
        framed("s__t", &result, result.content.iter().map(part).collect())
    }

    #[test]
    fn every_kind_of_tool_content_is_shown() {
        let table = [
            (json!({ "content": [{ "type": "text", "text": "a" }, { "type": "text", "text": "b" }] }), "a\nb"),
            (json!({ "content": [] }), "(nothing)"),
            (json!({ "content": [], "structuredContent": { "a": 1 } }), "{\"a\":1}"),
            (
                json!({ "content": [{ "type": "text", "text": "{ \"a\": 1 }" }], "structuredContent": { "a": 1 } }),
                "{ \"a\": 1 }",
            ),
            (
                json!({ "content": [{ "type": "audio", "data": "AAAA", "mimeType": "audio/\nogg" }] }),
                "[a sound (audio/ ogg) of 3 bytes, which is not shown]",
            ),
            (json!({ "content": [{ "type": "resource", "resource": { "uri": "x:y", "text": "words" } }] }), "words"),
            (
                json!({ "content": [{ "type": "resource", "resource": { "uri": "x:y", "blob": "AAAA" } }] }),
                "[a file of 3 bytes, which is not shown]",
            ),
            (json!({ "content": [{ "type": "resource_link", "uri": "x:y", "name": "n" }] }), "[a link to x:y]"),
        ];
        for (result, words) in table {
            assert_eq!(given(result), format!("Output of s__t:\n<tool_output>\n{words}\n</tool_output>"));
        }
        let failed = given(json!({ "content": [{ "type": "text", "text": "no" }], "isError": true }));
        assert!(failed.starts_with("The call failed. Said by s__t:\n<tool_output>\nno"), "{failed}");
    }

    proptest! {
        #[test]
        fn no_words_close_the_frame_or_are_longer_than_a_result_may_be(
            text in "(</?tool_output>|< /TOOL_output>|[a<>/]|.){0,40}",
            times in 1_usize..2000,
        ) {
            let framed = frame("s__t", &text.repeat(times), says::CALL_FAILED);
            prop_assert!(framed.chars().count() < MAX_RESULT);
            prop_assert_eq!(framed.to_lowercase().matches("</tool_output>").count(), 1);
            prop_assert!(framed.ends_with("\n</tool_output>"));
        }
    }

    #[test]
    fn fuzzed() {
        let seeds: [&[u8]; 4] = [
            br#"{"result": {"content": [{"type": "text", "text": "a"}], "isError": false}}"#,
            br#"{"result": {"content": [{"type": "image", "data": "AAAA", "mimeType": "image/png"}], "structuredContent": {"a": 1}}}"#,
            br#"{"result": {"content": [{"type": "resource", "resource": {"uri": "x:y", "blob": "AAAA"}}, {"type": "resource_link", "uri": "x:y", "name": "n"}]}}"#,
            br##"{"schema": {"type": "object", "properties": {"to": {"$ref": "#/$defs/a"}, "n": {"enum": [1]}}, "$defs": {"a": {"type": ["string", "null"]}}}, "arguments": {"to": "x", "n": 1, "more": [{}]}}"##,
        ];
        crate::fuzz::target("mcp", &seeds, |bytes| {
            let given: Value = serde_json::from_slice(bytes).ok()?;
            let result = serde_json::from_value::<CallToolResult>(given["result"].clone()).ok().map(|result| {
                let framed = framed("s__t", &result, result.content.iter().map(part).collect());
                assert_eq!(framed.to_lowercase().matches("</tool_output>").count(), 1);
                let files: Vec<_> =
                    result.content.iter().map(|content| GivenFile::of(content).map(|file| file.mime)).collect();
                (files, result.is_error)
            });
            let marks = crate::tool::marks::ArgumentMarks::proposed(&given["schema"]);
            let values = marks.values(&given["schema"], &given["arguments"]);
            Some((result, marks, values))
        });
    }
}
