//! The items of an erasure that a person can choose from, and their choice.
//!
//! A choice names its items by keys. A key of text is its digest, so a stored choice says nothing
//! of what was left out. It is stored with the erasure and deleted with its words.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use sha2::Digest as _;

use crate::id::{ConversationId, MessageId, ReminderId};
use crate::text::erasure_query::ErasureQuery;

/// Something that holds what is to be forgotten, and that can be left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ErasureItem {
    /// A note, with its versions and its index line: path relative to the workspace.
    Note(String),
    /// A line of a file and of its versions.
    Line {
        /// Path relative to the workspace.
        path: String,
        /// The line.
        line: String,
    },
    /// An exported archive: path relative to the workspace.
    Archive(String),
    /// A message.
    Message(MessageId),
    /// The text of a reflection.
    Reflection(MessageId),
    /// The summaries of a conversation.
    Summary(ConversationId),
    /// A reminder or task.
    Reminder(ReminderId),
}

impl ErasureItem {
    /// Returns the key of the item. How a line is written (case, punctuation, spaces) does not
    /// matter.
    pub fn key(&self) -> String {
        match self {
            Self::Note(path) => format!("note:{}", digest(path)),
            Self::Line { path, line } => {
                format!("line:{}", digest(&format!("{path}\n{}", ErasureQuery::words_of(line))))
            }
            Self::Archive(path) => format!("archive:{}", digest(path)),
            Self::Message(id) | Self::Reflection(id) => format!("message:{id}"),
            Self::Summary(id) => format!("summary:{id}"),
            Self::Reminder(id) => format!("reminder:{id}"),
        }
    }
}

/// The choice of a person among the items of a plan. The default leaves nothing out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ErasureChoice {
    spared: BTreeSet<String>,
    added: BTreeSet<String>,
}

impl ErasureChoice {
    /// Returns the choice of the first items without the second ones.
    pub fn of<'i>(
        chosen: impl IntoIterator<Item = &'i ErasureItem>,
        spared: impl IntoIterator<Item = &'i ErasureItem>,
    ) -> Self {
        let keys = |item: &ErasureItem| item.key();
        // What is deleted only if it is chosen.
        let added = chosen.into_iter().filter(|item| matches!(item, ErasureItem::Reminder(_)));
        Self { added: added.map(keys).collect(), spared: spared.into_iter().map(keys).collect() }
    }

    /// Returns true if something was left out.
    pub fn is_narrow(&self) -> bool {
        !self.spared.is_empty()
    }

    /// Returns true if the item with that key was left out.
    pub fn spares(&self, key: &str) -> bool {
        self.spared.contains(key)
    }

    /// Returns true if that line of a file was left out, alone or with its note.
    pub fn spares_line(&self, path: &str, line: &str) -> bool {
        self.is_narrow()
            && (self.spares(&ErasureItem::Note(path.to_owned()).key())
                || self.spares(&ErasureItem::Line { path: path.to_owned(), line: line.to_owned() }.key()))
    }

    /// Returns true if the item with that key was chosen, which otherwise stays.
    pub fn adds(&self, key: &str) -> bool {
        self.added.contains(key)
    }
}

fn digest(text: &str) -> String {
    hex::encode(sha2::Sha256::digest(text.as_bytes()))
}
