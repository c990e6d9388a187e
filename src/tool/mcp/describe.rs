//! A server's description of a tool, in the single form in which it is stored, digested, accepted
//! and offered; and the reasons for refusing one.
//!
//! The schema is written with sorted keys, so that a server that reorders them has not changed
//! anything. The digest covers the lengths and bytes of name, description and this schema. Limits
//! are in bytes, because they protect the journal and the prompt. Names are plain, because they
//! appear in prompts, sources and on the command line.

use rmcp::model::Tool;
use serde_json::Value;

use crate::skill::Digest;
use crate::store::SeenTool;
use crate::trust::{Label, Source};

/// The maximum number of tools of one server.
pub const MOST_TOOLS: usize = 128;
/// The longest name that every provider accepts.
const OFFERED_NAME: usize = 64;
const NAME: usize = 64;
const DESCRIPTION: usize = 4 * 1024;
const SCHEMA: usize = 32 * 1024;

/// The tools listed by a server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listing {
    /// The usable tools.
    pub tools: Vec<SeenTool>,
    /// The number of unusable tools.
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
        self.tools.len() < MOST_TOOLS && self.tools.iter().all(|tool| offered_name(server, &tool.name) != name)
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
        && schema.len() <= SCHEMA;
    is_sound.then(|| SeenTool {
        digest: digest(&tool.name, description, &schema).to_string(),
        label: source(server, &tool.name),
        name: tool.name.to_string(),
        description: description.to_owned(),
        schema,
    })
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
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

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
    fn what_is_out_of_bounds_is_refused_and_counted() {
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
