//! A server of outside tools (MCP), as a real process with a log of its requests.

use std::path::PathBuf;
use std::time::Duration;

use compline::tool::mcp::Limits;
use serde_json::{Value, json};

use super::channel::{Channel, Start};
use super::story::StoryOver;

/// A server that misbehaves according to its mode and logs its requests.
pub struct FakeServer {
    pub mode: &'static str,
    dir: tempfile::TempDir,
}

impl FakeServer {
    pub fn new(mode: &'static str) -> Self {
        Self { mode, dir: tempfile::tempdir().unwrap() }
    }

    pub fn log_file(&self) -> PathBuf {
        self.dir.path().join("log")
    }

    /// Its section of the configuration.
    pub fn section(&self, more: &str) -> String {
        let program = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fakes/mcp.py");
        let command = json!(["python3", "-I", program, self.mode, self.log_file()]);
        format!("[[mcp]]\nname = \"fake\"\ncommand = {command}\n{more}\n")
    }

    /// Requests of that kind so far.
    pub fn log(&self, what: &str) -> Vec<String> {
        let text = std::fs::read_to_string(self.log_file()).unwrap_or_default();
        text.lines().filter(|line| line.starts_with(what)).map(str::to_owned).collect()
    }

    /// A story that can connect to it, before its start.
    pub async fn prepared<C: Start>(&self, more: &str) -> StoryOver<C> {
        let mut story = StoryOver::prepared(&self.section(more)).await;
        self.lets_connect(&mut story);
        story
    }

    /// Lets a story start it, and wait for it in real time.
    pub fn lets_connect<C: Channel>(&self, story: &mut StoryOver<C>) {
        story.set_env("PATH", &std::env::var("PATH").unwrap());
        story.limit_outside(Limits { connect: Duration::from_secs(20), call: Duration::from_secs(20) });
    }
}

/// Known tools, as the owner sees them.
pub async fn list<C: Channel>(story: &StoryOver<C>) -> Vec<Value> {
    story.command_line(&["tools", "list"]).await.json.as_array().unwrap().clone()
}

/// Accepts a tool unchanged, as the owner, with the word for what it does.
pub async fn accept<C: Channel>(story: &StoryOver<C>, name: &str) {
    accept_with(story, name, &[]).await;
}

/// Accepts a tool like `accept`, with these flags.
pub async fn accept_with<C: Channel>(story: &StoryOver<C>, name: &str, flags: &[&str]) {
    let tools = list(story).await;
    let tool = tools.iter().find(|tool| tool["name"] == name).unwrap();
    let mut line = vec!["tools", "accept", name, tool["hash"].as_str().unwrap()];
    line.extend(tool["word"].as_str());
    line.extend(flags);
    let answer = story.command_line(&line).await;
    assert!(!answer.failed, "{}", answer.markdown);
}
