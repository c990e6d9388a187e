//! What stands in the full-text index for an entry.
//!
//! Every word begins with whose the entry is and whether it is trusted (`p3tgarden`), as it does in
//! the index of what was said. So a question walks only through words of its own scope, and how
//! much others know changes neither what it costs nor what is rare. Kind, category, section and
//! agent are words too, in a column of their own that never weighs.

use crate::store::handles::EntriesMut;
use rusqlite::params;

use super::super::message_search::place;
use super::{EntryKind, hex_digest};
use crate::text::fold;
use crate::trust::{Label, Scope};

/// What the words of an entry are made of.
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
    /// Everything that a question may be limited to.
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

/// The word for that kind. It ends in a digit, so no stemming changes it.
pub(super) fn kind_word(kind: EntryKind) -> String {
    format!("kind{}0", kind.as_str())
}

/// The word for whatever has that name: letter case and what surrounds it do not count. It ends in
/// a digit as well.
pub(super) fn name_word(prefix: &str, name: &str) -> String {
    let digest = hex_digest(&[&fold::fold(name.trim()).to_lowercase()]);
    format!("{prefix}{}0", digest.get(..16).unwrap_or(&digest))
}

/// The agent whose memory a path is, if it is one.
pub(super) fn agent_of(path: &str) -> Option<&str> {
    let own = match path.split_once('/') {
        Some(("people" | "groups", rest)) => rest.split_once('/').map_or("", |(_, own)| own),
        _ => path,
    };
    own.strip_prefix("agents/")?.split_once('/').map(|(agent, _)| agent)
}

impl EntriesMut<'_> {
    /// Puts the words of that row into the index.
    pub(super) fn put_entry_words(&self, id: i64, told: &IndexedText<'_>) -> anyhow::Result<()> {
        let place = place(told.scope, told.label.is_trusted());
        self.db.prepare_cached("INSERT INTO entries_fts (rowid, name, body, place) VALUES (?1, ?2, ?3, ?4)")?.execute(
            params![
                id,
                fold::under(&place, told.name),
                fold::under(&place, told.text),
                fold::under(&place, &told.places())
            ],
        )?;
        Ok(())
    }
}
