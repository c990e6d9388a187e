//! The data set: conversations, and questions about them. `docs/retrieval.md` describes the file
//! format.

use serde::Deserialize;

/// The content of a file.
#[derive(Deserialize)]
pub struct Set {
    pub conversations: Vec<Talk>,
}

/// A whole conversation, with questions about it.
#[derive(Deserialize)]
pub struct Talk {
    pub sessions: Vec<Session>,
    pub questions: Vec<Asked>,
}

/// The messages of one occasion.
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
    /// Turns that contain the answer.
    pub evidence: Vec<String>,
    #[serde(default)]
    pub kind: serde_json::Value,
}
