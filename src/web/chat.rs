//! The page's channel, as far as the page needs it. The app fills it, so that the page knows no
//! adapter.

use async_trait::async_trait;

use crate::message::{ArrivedFile, ChatEvent};
use crate::people::Person;

/// A message that a person wrote on the page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChatMessage {
    /// The page's own id, under which it may be sent again.
    pub id: String,
    /// Typed text.
    pub text: String,
    /// Pasted pieces.
    pub pasted: Vec<String>,
    /// Files that they sent with it, which lie in their inbox.
    pub files: Vec<ArrivedFile>,
    /// Data of the button that they pressed; blank for a message.
    pub button: String,
}

/// Use of the id of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdUse {
    /// None yet.
    Free,
    /// The message is stored under it, or one whose words were deleted since.
    Stored,
    /// Another message is stored under it.
    Taken,
}

/// The channel of the page.
#[async_trait]
pub trait ChatChannel: Send + Sync {
    /// Returns once the message is in the journal; the inner error is the sentence that says why it
    /// is not.
    ///
    /// # Errors
    /// If the journal cannot be used.
    async fn say(&self, person: &Person, message: ChatMessage) -> anyhow::Result<Result<(), String>>;

    /// Looks up a message under its id.
    ///
    /// # Errors
    /// If the journal cannot be read.
    async fn find(&self, person: &Person, message: &ChatMessage) -> anyhow::Result<IdUse>;

    /// Opens the chat of a person, until the events are dropped; `None` if it is open too often.
    fn open(&self, person: &Person) -> Option<Box<dyn ChatEvents>>;
}

/// The events of an open chat.
#[async_trait]
pub trait ChatEvents: Send {
    /// Waits for the next event; `None` when the chat has to be opened again.
    async fn next(&mut self) -> Option<ChatEvent>;
}
