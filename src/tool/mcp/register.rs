//! The known outside tools: the rows of the journal, and those of them that may be offered now.
//!
//! The offer is computed when a row changes, and shared until the next change. A server's
//! description of a tool has a single form in which it is stored, digested, accepted and offered.
//! Its schema is written with sorted keys, so that a server that reorders them has not changed
//! anything, and the digest covers the lengths and bytes of name, description and this schema.
//! Limits are in bytes, because they protect the journal and the prompt. Names are plain, because
//! they appear in prompts, sources and on the command line.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use rmcp::model::Tool;
use serde_json::Value;
use tokio::sync::watch;

use crate::id::PersonId;
use crate::model::ToolSpec;
use crate::skill::Digest;
use crate::store::{Journal, OutsideToolRow, SeenTool};
use crate::time::Clock;
use crate::time::task::lock;
use crate::tool::marks::ArgumentMarks;
use crate::trust::{Label, Source};

/// A tool that may be offered, as accepted.
#[derive(Debug, Clone)]
pub struct Accepted {
    /// Configured name of its server.
    pub server: String,
    /// Name on that server.
    pub name: String,
    /// Accepted digest.
    pub digest: String,
    /// Description for the model.
    pub spec: ToolSpec,
    /// What its arguments are.
    pub marks: Arc<ArgumentMarks>,
}

/// All tools that may be offered, and the list of their descriptions.
#[derive(Debug, Default)]
pub struct Offer {
    /// Tools by the name under which they are offered.
    pub tools: BTreeMap<String, Accepted>,
    /// Their descriptions for the model, by name.
    pub specs: Arc<[ToolSpec]>,
}

impl Offer {
    fn of(rows: Vec<OutsideToolRow>, servers: &BTreeSet<String>) -> Self {
        let mut tools = BTreeMap::new();
        for row in rows.into_iter().filter(|row| row.is_accepted() && servers.contains(&row.server)) {
            let Ok(schema) = serde_json::from_str(&row.seen.schema) else { continue };
            let name = offered_name(&row.server, &row.seen.name);
            let marks = Arc::new(ArgumentMarks::read(&row.marks, &schema));
            let spec = ToolSpec { name: name.clone(), description: row.seen.description, schema };
            // If two tools have the same name, the first keeps it: the choice must not depend on a
            // server.
            tools.entry(name).or_insert(Accepted {
                server: row.server,
                name: row.seen.name,
                digest: row.seen.digest,
                spec,
                marks,
            });
        }
        let specs = tools.values().map(|tool| tool.spec.clone()).collect();
        Self { tools, specs }
    }
}

/// Rows, and the offer derived from them.
pub struct Register {
    servers: BTreeSet<String>,
    journal: Journal,
    clock: Arc<dyn Clock>,
    offer: Mutex<Arc<Offer>>,
    renewal: tokio::sync::Mutex<()>,
    changes: watch::Sender<u64>,
}

impl Register {
    /// Loads the journal's knowledge of these servers' tools.
    pub async fn open(servers: BTreeSet<String>, journal: Journal, clock: Arc<dyn Clock>) -> anyhow::Result<Self> {
        let changes = watch::Sender::new(0);
        let register =
            Self { servers, journal, clock, offer: Mutex::default(), renewal: tokio::sync::Mutex::default(), changes };
        register.renew().await?;
        Ok(register)
    }

    /// Returns the clock shared by all servers.
    pub fn clock(&self) -> &dyn Clock {
        &*self.clock
    }

    /// Returns the present offer.
    pub fn offer(&self) -> Arc<Offer> {
        Arc::clone(&lock(&self.offer))
    }

    /// Returns all rows.
    pub async fn seen(&self) -> anyhow::Result<Vec<OutsideToolRow>> {
        self.journal.read(|db| db.mcp_tools().outside_tools()).await
    }

    /// Records a server's listing.
    pub async fn saw(&self, server: &str, listing: &Listing) -> anyhow::Result<()> {
        let (server, tools, now) = (server.to_owned(), listing.tools.clone(), self.clock.now());
        self.journal.write("note outside tools", move |tx| tx.mcp_tools().saw_tools(&server, &tools, now)).await?;
        self.renew().await
    }

    /// Records that the owner accepts a tool as in this row, with its marks. Returns false if it
    /// has changed since.
    pub async fn accept(&self, row: &OutsideToolRow, by: Option<PersonId>) -> anyhow::Result<bool> {
        let (row, now) = (row.clone(), self.clock.now());
        let accept = move |tx: crate::store::Tx<'_>| tx.mcp_tools().accept_tool(&row, by, now);
        let accepted = self.journal.write("accept an outside tool", accept).await?;
        self.renew().await?;
        Ok(accepted)
    }

    /// Notifies waiting tasks of a change.
    pub fn changed(&self) {
        self.changes.send_modify(|count| *count += 1);
    }

    /// Returns a receiver of the change counter.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    async fn renew(&self) -> anyhow::Result<()> {
        // One at a time, so that older data never replaces newer data.
        let _turn = self.renewal.lock().await;
        let offer = Arc::new(Offer::of(self.seen().await?, &self.servers));
        *lock(&self.offer) = offer;
        self.changed();
        Ok(())
    }
}

/// Maximum number of tools of one server.
pub const MAX_TOOLS: usize = 128;
/// Longest name that every provider accepts.
const OFFERED_NAME: usize = 64;
const NAME: usize = 64;
const DESCRIPTION: usize = 4 * 1024;
const SCHEMA: usize = 32 * 1024;

/// The tools listed by a server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listing {
    /// Usable tools.
    pub tools: Vec<SeenTool>,
    /// Number of unusable tools.
    pub refused: usize,
}

impl Listing {
    /// Filters out unusable tools: invalid names, names that collide when offered, overlong
    /// descriptions, and tools beyond the maximum number.
    pub fn of(server: &str, tools: &[Tool]) -> Self {
        let mut listing = Self::default();
        for tool in tools {
            let seen = seen(server, tool).filter(|seen| listing.has_space(server, seen));
            match seen {
                Some(seen) => listing.tools.push(seen),
                None => listing.refused += 1,
            }
        }
        listing
    }

    fn has_space(&self, server: &str, new: &SeenTool) -> bool {
        let name = offered_name(server, &new.name);
        self.tools.len() < MAX_TOOLS && self.tools.iter().all(|tool| offered_name(server, &tool.name) != name)
    }
}

/// Returns the name under which a tool is offered: `server__tool`. No built-in tool has two
/// consecutive underscores.
pub fn offered_name(server: &str, tool: &str) -> String {
    format!("{server}__{}", tool.replace('.', "_"))
}

/// Returns the label of a tool's description and results.
pub fn source(server: &str, tool: &str) -> Label {
    Label::untrusted(Source::new("tool", &format!("{server}/{tool}")))
}

fn seen(server: &str, tool: &Tool) -> Option<SeenTool> {
    let description = tool.description.as_deref().unwrap_or_default();
    let schema = ordered(&Value::Object((*tool.input_schema).clone())).to_string();
    let is_sound = is_plain(&tool.name)
        && offered_name(server, &tool.name).len() <= OFFERED_NAME
        && description.len() <= DESCRIPTION
        && schema.len() <= SCHEMA
        && has_plain_arguments(&tool.input_schema);
    is_sound.then(|| SeenTool {
        digest: digest(&tool.name, description, &schema).to_string(),
        label: source(server, &tool.name),
        name: tool.name.to_string(),
        description: description.to_owned(),
        schema,
    })
}

/// Returns true if every provider takes the names of the arguments.
fn has_plain_arguments(schema: &serde_json::Map<String, Value>) -> bool {
    let properties = schema.get("properties").and_then(Value::as_object);
    properties.is_none_or(|properties| properties.keys().all(|name| is_plain(name)))
}

fn is_plain(name: &str) -> bool {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    (1..=NAME).contains(&name.len()) && name.chars().all(is_allowed)
}

/// Returns the digest of name, description and schema, each preceded by its length.
fn digest(name: &str, description: &str, schema: &str) -> Digest {
    let mut bytes = Vec::new();
    for field in [name, description, schema] {
        bytes.extend_from_slice(&(field.len() as u64).to_be_bytes());
        bytes.extend_from_slice(field.as_bytes());
    }
    Digest::of(&bytes)
}

/// Returns the value with the keys of every object sorted.
fn ordered(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_by_key(|(key, _)| *key);
            entries.into_iter().map(|(key, value)| (key.clone(), ordered(value))).collect()
        }
        Value::Array(items) => items.iter().map(ordered).collect(),
        plain => plain.clone(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn tool(name: &str, description: &str, schema: Value) -> Tool {
        serde_json::from_value(json!({ "name": name, "description": description, "inputSchema": schema })).unwrap()
    }

    fn digest_of(name: &str, description: &str, schema: Value) -> String {
        Listing::of("s", &[tool(name, description, schema)]).tools.remove(0).digest
    }

    #[test]
    fn every_word_counts_and_the_order_of_keys_does_not() {
        let one = digest_of("ab", "cd", json!({ "type": "object", "title": "e", "allOf": [{ "a": 1, "b": 2 }] }));
        let shuffled = digest_of("ab", "cd", json!({ "allOf": [{ "b": 2, "a": 1 }], "title": "e", "type": "object" }));
        assert_eq!(one, shuffled);
        for (name, description, schema) in [
            ("abc", "d", json!({ "type": "object", "title": "e", "allOf": [{ "a": 1, "b": 2 }] })),
            ("ab", "cd\u{200b}", json!({ "type": "object", "title": "e", "allOf": [{ "a": 1, "b": 2 }] })),
            ("ab", "cd", json!({ "type": "object", "title": "e", "allOf": [{ "a": 1, "b": "2" }] })),
            ("ab", "cd", json!({ "type": "object", "title": "e" })),
        ] {
            assert_ne!(one, digest_of(name, description, schema), "{name} {description}");
        }
    }

    #[test]
    fn out_of_bounds_tools_are_refused_and_counted() {
        let schema = || json!({ "type": "object" });
        let fits = ["a", "a.b", "A-b_c", &"x".repeat(61)];
        for name in fits {
            assert_eq!(Listing::of("s", &[tool(name, "", schema())]).refused, 0, "{name}");
        }
        let odd = ["", "a b", "a/b", "ä", "a\n", &"x".repeat(62), &"x".repeat(65)];
        for name in odd {
            assert_eq!(Listing::of("s", &[tool(name, "", schema())]).refused, 1, "{name}");
        }
        for (length, refused) in [(4096, 0), (4097, 1)] {
            assert_eq!(Listing::of("s", &[tool("a", &"x".repeat(length), schema())]).refused, refused, "{length}");
        }
        for (length, refused) in [(32_000, 0), (33_000, 1)] {
            let wide = json!({ "title": "x".repeat(length) });
            assert_eq!(Listing::of("s", &[tool("a", "", wide)]).refused, refused, "{length}");
        }
        let many: Vec<Tool> = (0..130).map(|number| tool(&format!("t{number}"), "", schema())).collect();
        let listing = Listing::of("s", &many);
        assert_eq!((listing.tools.len(), listing.refused), (128, 2));
        let twins = Listing::of("s", &[tool("a.b", "", schema()), tool("a_b", "", schema())]);
        assert_eq!((twins.tools.len(), twins.tools[0].name.as_str(), twins.refused), (1, "a.b", 1));
    }

    proptest! {
        #[test]
        fn an_offered_name_fits_every_provider_and_no_two_are_one(
            names in prop::collection::vec("[a-cA_.-]{0,4}|.{0,70}", 0..6),
        ) {
            let tools: Vec<Tool> = names.iter().map(|name| tool(name, "", json!({}))).collect();
            let listing = Listing::of("files-2", &tools);
            let mut offered: Vec<String> =
                listing.tools.iter().map(|tool| offered_name("files-2", &tool.name)).collect();
            for name in &offered {
                prop_assert!(name.len() <= 64 && name.starts_with("files-2__"));
                prop_assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-')));
            }
            prop_assert_eq!(listing.tools.len() + listing.refused, names.len());
            offered.sort();
            offered.dedup();
            prop_assert_eq!(offered.len(), listing.tools.len());
        }
    }
}
