//! What is measured with: conversations, and what is asked about them. The form of a file stands in `docs/retrieval.md`.

use serde::Deserialize;

/// A file.
#[derive(Deserialize)]
pub struct Set {
    pub conversations: Vec<Talk>,
}

/// Everything that some people said to each other, and what is asked about it.
#[derive(Deserialize)]
pub struct Talk {
    pub sessions: Vec<Session>,
    pub questions: Vec<Asked>,
}

/// What was said at one time.
#[derive(Deserialize)]
pub struct Session {
    pub id: String,
    pub turns: Vec<Turn>,
}

#[derive(Deserialize)]
pub struct Turn {
    pub id: String,
    pub speaker: String,
    pub at: String,
    pub text: String,
}

#[derive(Deserialize)]
pub struct Asked {
    pub question: String,
    /// Turns in which the answer stands.
    pub evidence: Vec<String>,
    #[serde(default)]
    pub kind: serde_json::Value,
}
