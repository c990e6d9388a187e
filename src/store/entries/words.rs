//! Full-text terms of an entry.
//!
//! Every term begins with scope and trust level (`p3tgarden`), as in the index of messages. So a
//! query reads only terms of its own scope, and the entries of others affect neither its cost nor
//! the rarity of a word. Kind, category, section and agent are terms too, in a separate column that
//! is never scored.

use crate::store::handles::EntriesMut;
use rusqlite::params;

use super::super::message_search::place;
use super::{EntryKind, hex_digest};
use crate::text::fold;
use crate::trust::{Label, Scope};

/// Source of an entry's terms.
pub(super) struct IndexedText<'a> {
    pub path: &'a str,
    pub scope: Scope,
    pub label: &'a Label,
    pub section: &'a str,
    pub name: &'a str,
    pub kind: EntryKind,
    pub category: &'a str,
    pub text: &'a str,
}

impl IndexedText<'_> {
    /// Returns the terms for all limits of a query.
    fn places(&self) -> String {
        let names = [
            ("category", self.category),
            ("section", self.section),
            ("agent", agent_of(self.path).unwrap_or_default()),
        ];
        let named = names.iter().filter(|(_, name)| !name.trim().is_empty());
        named.fold(kind_word(self.kind), |words, (prefix, name)| format!("{words} {}", name_word(prefix, name)))
    }
}

/// Term for a kind. It ends in a digit, so that stemming does not change it.
pub(super) fn kind_word(kind: EntryKind) -> String {
    format!("kind{}0", kind.as_str())
}

/// Term for a name, ignoring case and surrounding spaces. It ends in a digit as well.
pub(super) fn name_word(prefix: &str, name: &str) -> String {
    let digest = hex_digest(&[&fold::fold(name.trim()).to_lowercase()]);
    format!("{prefix}{}0", digest.get(..16).unwrap_or(&digest))
}

/// Returns the agent whose memory contains a path, if any.
pub(super) fn agent_of(path: &str) -> Option<&str> {
    let own = match path.split_once('/') {
        Some(("people" | "groups", rest)) => rest.split_once('/').map_or("", |(_, own)| own),
        _ => path,
    };
    own.strip_prefix("agents/")?.split_once('/').map(|(agent, _)| agent)
}

impl EntriesMut<'_> {
    /// Adds the terms of a row to the index.
    pub(super) fn put_entry_words(&self, id: i64, told: &IndexedText<'_>) -> anyhow::Result<()> {
        let place = place(told.scope, told.label.is_trusted());
        self.db.run(
            "INSERT INTO entries_fts (rowid, name, body, place) VALUES (?1, ?2, ?3, ?4)",
            params![
                id,
                fold::under(&place, told.name),
                fold::under(&place, told.text),
                fold::under(&place, &told.places())
            ],
        )
    }
}
