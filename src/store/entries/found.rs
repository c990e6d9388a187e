//! Lookup of entries by digest, by row and by use. For lookup by words see [`super::matching`].
//!
//! No lookup returns entries of another scope. The other limits of a query are applied here for
//! entries that were not found by words.

use crate::store::handles::Entries;
use std::collections::HashMap;
use std::sync::Arc;

use rusqlite::{Row, ToSql, params, params_from_iter};

use super::super::EntryKind;
use super::words::{agent_of, name_word};
use crate::time::Timestamp;
use crate::trust::{Label, Labelled, Scope, Text};

/// Newest extraction answers that are read for categories.
const TAKEN_DOWN: u32 = 1_000;

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
    /// Agent whose memory is searched.
    pub agent: Option<String>,
    /// True to include untrusted entries.
    pub untrusted_too: bool,
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

const COLUMNS: &str = "SELECT e.id, e.key, e.path, e.line, e.kind, e.category, e.section, e.name, e.text, e.digest, e.at, e.label, e.scope,
    coalesce(u.uses, 0) AS uses, u.last_at";
const FROM: &str = "FROM entries e LEFT JOIN entry_uses u ON u.key = e.key";

fn entry(row: &Row<'_>) -> rusqlite::Result<EntryRow> {
    let (label, scope): (Label, Scope) = (row.get("label")?, row.get("scope")?);
    let text = |name: &str| -> rusqlite::Result<Text> {
        Ok(Labelled::new(row.get::<_, Arc<str>>(name)?, label.clone(), scope))
    };
    Ok(EntryRow {
        id: row.get("id")?,
        key: row.get("key")?,
        path: row.get("path")?,
        line: row.get("line")?,
        kind: row.get("kind")?,
        category: row.get("category")?,
        section: text("section")?,
        name: text("name")?,
        text: text("text")?,
        digest: row.get("digest")?,
        at: row.get("at")?,
        uses: row.get("uses")?,
        used_at: row.get("last_at")?,
    })
}

impl Lookup {
    /// Returns limits that include every trusted entry of that scope.
    pub fn of(scope: Scope) -> Self {
        Self { scope, kinds: Vec::new(), category: None, section: None, agent: None, untrusted_too: false }
    }

    /// Returns true if the entry is within the limits.
    fn takes(&self, row: &EntryRow) -> bool {
        let named = |wanted: &Option<String>, name: &str| {
            wanted.as_deref().is_none_or(|wanted| name_word("", wanted) == name_word("", name))
        };
        let trusted = self.untrusted_too || row.text.label().is_trusted();
        let kind = self.kinds.is_empty() || self.kinds.contains(&row.kind);
        let agent = agent_of(&row.path).unwrap_or("");
        let names = named(&self.category, &row.category) && named(&self.section, row.section.open().0);
        row.text.scope().fits(self.scope) && trusted && kind && names && named(&self.agent, agent)
    }
}

impl Entries<'_> {
    /// Returns the entries with one of these text digests, within the limits.
    pub fn entries_saying(&self, lookup: &Lookup, digests: &[String]) -> anyhow::Result<Vec<EntryRow>> {
        let mut found = Vec::new();
        for some in digests.chunks(CHUNK) {
            let sql = format!("{COLUMNS} {FROM} WHERE e.digest IN ({}) ORDER BY e.id", marks(some.len()));
            let mut query = self.db.prepare(&sql)?;
            found.extend(query.query_map(params_from_iter(some), entry)?.collect::<Result<Vec<_>, _>>()?);
        }
        found.retain(|row| lookup.takes(row));
        Ok(found)
    }

    /// Returns entries by row id, in no particular order.
    pub fn entry_rows(&self, ids: &[i64]) -> anyhow::Result<Vec<EntryRow>> {
        let mut found = Vec::new();
        for some in ids.chunks(CHUNK) {
            let mut query = self.db.prepare(&format!("{COLUMNS} {FROM} WHERE e.id IN ({})", marks(some.len())))?;
            let values = some.iter().map(|id| id as &dyn ToSql);
            found.extend(query.query_map(params_from_iter(values), entry)?.collect::<Result<Vec<_>, _>>()?);
        }
        Ok(found)
    }

    /// Returns path and section of the entries with these keys.
    pub fn entry_places(&self, keys: &[String]) -> anyhow::Result<Vec<(String, String)>> {
        let mut query = self.db.prepare_cached("SELECT path, section FROM entries WHERE key = ?1")?;
        let mut places = Vec::new();
        for key in keys {
            places
                .extend(query.query_map([key], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<Vec<_>, _>>()?);
        }
        Ok(places)
    }

    /// Returns the trusted facts and notes of a scope that are likely to matter most: the last used
    /// and the newest, at most `limit` of each.
    pub fn entries_of_use(&self, scope: Scope, limit: u32) -> anyhow::Result<Vec<EntryRow>> {
        let trusted = Label::is_trusted_sql("e.label");
        let which = format!("e.scope = ?1 AND e.kind IN ('fact', 'note') AND {trusted}");
        let mut used = self.db
            .prepare_cached(&format!("{COLUMNS} FROM entry_uses u CROSS JOIN entries e ON e.key = u.key WHERE {which} ORDER BY u.last_at DESC LIMIT ?2"))?;
        let mut newest =
            self.db.prepare_cached(&format!("{COLUMNS} {FROM} WHERE {which} ORDER BY e.at DESC, e.id LIMIT ?2"))?;
        let mut found: HashMap<i64, EntryRow> = HashMap::new();
        for query in [&mut used, &mut newest] {
            for row in query.query_map(params![scope, limit], entry)? {
                let row = row?;
                found.insert(row.id, row);
            }
        }
        Ok(found.into_values().collect())
    }

    /// Returns the categories of a scope's extracted facts, by lower-case key; for a duplicate key,
    /// the newest.
    pub fn fact_categories(&self, scope: Scope) -> anyhow::Result<HashMap<String, String>> {
        let mut query = self.db.prepare_cached(
            "SELECT f.value ->> 'key', f.value ->> 'category' FROM extractions e, json_each(e.facts) f
             WHERE e.id IN (SELECT id FROM extractions WHERE scope = ?1 AND state IN ('asked', 'kept') ORDER BY id DESC LIMIT ?2)
             ORDER BY e.id",
        )?;
        let mut categories = HashMap::new();
        for row in query.query_map(params![scope, TAKEN_DOWN], |row| Ok((row.get(0)?, row.get(1)?)))? {
            let (key, category): (Option<String>, Option<String>) = row?;
            if let (Some(key), Some(category)) = (key, category) {
                categories.insert(key.trim().to_lowercase(), category);
            }
        }
        Ok(categories)
    }
}

/// Rows per query.
const CHUNK: usize = 500;

fn marks(count: usize) -> String {
    vec!["?"; count].join(", ")
}
