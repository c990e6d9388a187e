//! Lookup of entries by digest, by row and by use. For lookup by words see [`super::matching`].
//!
//! No lookup returns entries of another scope. The other limits of a query are applied here for
//! entries that were not found by words.
//!
//! Every full-text term of an entry begins with scope and trust level (`p3tgarden`), as in the
//! index of messages. So a query reads only terms of its own scope, and the entries of others
//! affect neither its cost nor the rarity of a word. Kind, category, section and agent are terms
//! too, in a separate column that is never scored.

use std::collections::HashMap;

use rusqlite::params;

use super::super::message_search::place;
use super::{EntryKind, hex_digest};
use crate::store::handles::{Entries, EntriesMut};
use crate::store::rows::{from_row, text};
use crate::text::fold;
use crate::time::{TimeRange, Timestamp};
use crate::trust::{Label, Scope, Text};

/// Newest extraction answers that are read for categories.
const MAX_ANSWERS: u32 = 1_000;

/// Limits of a query.
#[derive(Debug, Clone)]
pub struct Lookup {
    /// Scope; shared entries are included.
    pub scope: Scope,
    /// Kinds; all if empty.
    pub kinds: Vec<EntryKind>,
    /// Category.
    pub category: Option<String>,
    /// Heading.
    pub section: Option<String>,
    /// Agents whose memory is searched, and profiles as `experience/NAME`; all if empty.
    pub agents: Vec<String>,
    /// True to include untrusted entries.
    pub untrusted_too: bool,
    /// Time of writing.
    pub time: TimeRange,
}

/// A stored entry with its use count.
#[derive(Debug, Clone, PartialEq)]
pub struct EntryRow {
    /// Row id.
    pub id: i64,
    /// Key, which survives every rebuild.
    pub key: String,
    /// Path.
    pub path: String,
    /// Line in the file, from 1.
    pub line: u32,
    /// Kind.
    pub kind: EntryKind,
    /// Category, or blank.
    pub category: String,
    /// Heading above the entry.
    pub section: Text,
    /// Key of a fact, title of a note; blank for running text.
    pub name: Text,
    /// Text.
    pub text: Text,
    /// SHA-256 of the text.
    pub digest: String,
    /// Time of writing.
    pub at: Timestamp,
    /// Number of uses by trusted turns.
    pub uses: u32,
    /// Time of the last use.
    pub used_at: Option<Timestamp>,
}

const COLUMNS: &str =
    "SELECT e.id, e.key, e.path, e.line, e.kind, e.category, e.digest, e.at, coalesce(u.uses, 0) AS uses, u.last_at,
    e.section, e.name, e.text, e.label, e.scope";
const FROM: &str = "FROM entries e LEFT JOIN entry_uses u ON u.key = e.key";

from_row! {
    EntryRow { id, key, path, line, kind, category, digest, at, uses, used_at: "last_at" }
    with |row| { section: text(row, "section")?, name: text(row, "name")?, text: text(row, "text")? }
}

impl Lookup {
    /// Returns limits that include every trusted entry of that scope.
    pub fn of(scope: Scope) -> Self {
        Self {
            scope,
            kinds: Vec::new(),
            category: None,
            section: None,
            agents: Vec::new(),
            untrusted_too: false,
            time: TimeRange::ALL,
        }
    }

    /// Returns true if the entry is within the limits.
    fn takes(&self, row: &EntryRow) -> bool {
        let named = |wanted: &Option<String>, name: &str| {
            wanted.as_deref().is_none_or(|wanted| name_word("", wanted) == name_word("", name))
        };
        let trusted = self.untrusted_too || row.text.label().is_trusted();
        let kind = self.kinds.is_empty() || self.kinds.contains(&row.kind);
        let agent = agent_of(&row.path).unwrap_or_default();
        let agent = |wanted: &String| name_word("", wanted) == name_word("", &agent);
        let names = named(&self.category, &row.category) && named(&self.section, row.section.open().0);
        let other = trusted && kind && names && self.time.contains(row.at);
        row.text.scope().fits(self.scope) && other && (self.agents.is_empty() || self.agents.iter().any(agent))
    }
}

impl Entries<'_> {
    /// Returns the entries with one of these text digests, within the limits.
    pub fn entries_saying(&self, lookup: &Lookup, digests: &[String]) -> anyhow::Result<Vec<EntryRow>> {
        let sql = format!("{COLUMNS} {FROM} WHERE e.digest IN (SELECT value FROM json_each(?1)) ORDER BY e.id");
        let mut found: Vec<EntryRow> = self.db.all(&sql, [serde_json::to_string(digests)?])?;
        found.retain(|row| lookup.takes(row));
        Ok(found)
    }

    /// Returns entries by row id, in no particular order.
    pub fn entry_rows(&self, ids: &[i64]) -> anyhow::Result<Vec<EntryRow>> {
        let sql = format!("{COLUMNS} {FROM} WHERE e.id IN (SELECT value FROM json_each(?1))");
        self.db.all(&sql, [serde_json::to_string(ids)?])
    }

    /// Returns path and section of the entries with these keys.
    pub fn entry_places(&self, keys: &[String]) -> anyhow::Result<Vec<(String, String)>> {
        let mut places = Vec::new();
        for key in keys {
            places.extend(self.db.all("SELECT path, section FROM entries WHERE key = ?1", [key])?);
        }
        Ok(places)
    }

    /// Returns the trusted facts and notes of a scope that are likely to matter most: the last used
    /// and the newest, at most `limit` of each.
    pub fn entries_of_use(&self, scope: Scope, limit: u32) -> anyhow::Result<Vec<EntryRow>> {
        let trusted = Label::is_trusted_sql("e.label");
        let which = format!("e.scope = ?1 AND e.kind IN ('fact', 'note') AND {trusted}");
        let used = "FROM entry_uses u CROSS JOIN entries e ON e.key = u.key";
        let mut found: HashMap<i64, EntryRow> = HashMap::new();
        for (from, order) in [(used, "u.last_at DESC"), (FROM, "e.at DESC, e.id")] {
            let sql = format!("{COLUMNS} {from} WHERE {which} ORDER BY {order} LIMIT ?2");
            let rows: Vec<EntryRow> = self.db.all(&sql, params![scope, limit])?;
            found.extend(rows.into_iter().map(|row| (row.id, row)));
        }
        Ok(found.into_values().collect())
    }

    /// Returns the trusted facts and notes of a scope that were used, the most used first.
    pub fn most_used_entries(&self, scope: Scope, limit: u32) -> anyhow::Result<Vec<EntryRow>> {
        let trusted = Label::is_trusted_sql("e.label");
        let sql = format!(
            "{COLUMNS} FROM entry_uses u CROSS JOIN entries e ON e.key = u.key
             WHERE e.scope = ?1 AND e.kind IN ('fact', 'note') AND {trusted}
             ORDER BY u.uses DESC, u.last_at DESC LIMIT ?2"
        );
        self.db.all(&sql, params![scope, limit])
    }

    /// Returns the categories that trusted entries of a scope state and that are plain words,
    /// sorted.
    pub fn categories(&self, scope: Scope) -> anyhow::Result<Vec<String>> {
        let trusted = Label::is_trusted_sql("label");
        let sql = format!("SELECT DISTINCT category FROM entries WHERE scope = ?1 AND category <> '' AND {trusted}");
        let stated: Vec<String> = self.db.all(&sql, [scope])?;
        let mut plain: Vec<String> =
            stated.into_iter().map(|name| name.to_lowercase()).filter(|name| is_category(name)).collect();
        plain.sort();
        plain.dedup();
        Ok(plain)
    }

    /// Returns the categories of a scope's extracted facts, by lower-case key; for a duplicate key,
    /// the newest.
    pub fn fact_categories(&self, scope: Scope) -> anyhow::Result<HashMap<String, String>> {
        let rows: Vec<(Option<String>, Option<String>)> = self.db.all(
            "SELECT f.value ->> 'key', f.value ->> 'category' FROM extractions e, json_each(e.facts) f
             WHERE e.id IN (SELECT id FROM extractions WHERE scope = ?1 AND state IN ('asked', 'kept') ORDER BY id DESC LIMIT ?2)
             ORDER BY e.id",
            params![scope, MAX_ANSWERS],
        )?;
        let named = rows.into_iter().filter_map(|(key, category)| Some((key?.trim().to_lowercase(), category?)));
        Ok(named.collect())
    }
}

/// Maximum length of the name of a category, in characters.
const CATEGORY: usize = 30;

/// Returns true if a word can name a category: letters, digits and dashes, with a letter among
/// them.
pub fn is_category(word: &str) -> bool {
    let fits = (1..=CATEGORY).contains(&word.chars().count()) && word.contains(char::is_alphabetic);
    fits && word.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_'))
}

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
        let agent = agent_of(self.path);
        let names =
            [("category", self.category), ("section", self.section), ("agent", agent.as_deref().unwrap_or_default())];
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

/// Returns the agent whose memory contains a path, or the profile, as `experience/NAME`.
pub fn agent_of(path: &str) -> Option<String> {
    let inside = path.strip_prefix("//experience/");
    let own = match inside.unwrap_or(path).split_once('/') {
        Some(("people" | "groups", rest)) => rest.split_once('/').map_or("", |(_, own)| own),
        _ => inside.unwrap_or(path),
    };
    if inside.is_some() {
        return own.strip_suffix(".md").map(|profile| format!("experience/{profile}"));
    }
    own.strip_prefix("agents/")?.split_once('/').map(|(agent, _)| agent.to_owned())
}

impl EntriesMut<'_> {
    /// Adds the terms of a row to the index.
    pub(super) fn put_entry_words(&self, id: i64, of: &IndexedText<'_>) -> anyhow::Result<()> {
        let place = place(of.scope, of.label.is_trusted());
        self.db.run(
            "INSERT INTO entries_fts (rowid, name, body, place) VALUES (?1, ?2, ?3, ?4)",
            params![id, fold::under(&place, of.name), fold::under(&place, of.text), fold::under(&place, &of.places())],
        )
    }
}
