//! What each argument of an outside tool is: a destination, content, or a choice.
//!
//! An owner decides it when they accept the tool, and it is stored with the acceptance. Both rules
//! that look into a call follow from it: what a lasting yes fixes (`permit`), and what a loaded
//! skill must name (`skill_policy`). An argument is marked by its place: the names that lead to it,
//! with `*` for each item of a list.
//!
//! Nothing is harmless by default. A value in a place without a mark is a destination, and so is a
//! name that the schema does not declare, since it is the model that chose it. What is proposed to
//! the owner follows from the schema: its enumerations and flags are choices, and plain text under
//! names that people use for text is content. Of an argument marked as a choice only what the
//! schema lists is one.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use strum::{EnumString, IntoStaticStr};

/// Names for which plain text is proposed as content.
const TEXTS: &str = "body caption comment content description html markdown message note notes prompt q query question \
                     reason subject summary text words";
/// Maximum number of parts of a schema that are looked at for arguments. References may lead in
/// circles.
const MAX_PARTS: usize = 1_000;
/// Maximum number of names that lead to one.
const MAX_DEPTH: usize = 6;
/// Maximum number of references that are followed to one schema.
const MAX_REFERENCES: usize = 8;

/// What an argument is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, EnumString, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum ArgumentKind {
    /// Says where something goes, to whom, or how much of it. Every call with another value is
    /// another act.
    Destination,
    /// Text that goes there.
    Content,
    /// One of the values that the schema lists.
    Choice,
}

impl ArgumentKind {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Destination, Self::Content, Self::Choice];

    /// Returns its name.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// Marks of the arguments of one tool.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArgumentMarks {
    /// Kind of each declared argument, by place.
    pub arguments: BTreeMap<String, ArgumentKind>,
    /// True if the tool was accepted as a search: words that its person typed may be searched for.
    #[serde(default)]
    pub search: bool,
}

/// Marks that an owner asks for, different from the proposal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WantedMarks {
    /// Arguments by place.
    pub arguments: Vec<(String, ArgumentKind)>,
    /// True to accept the tool as a search.
    pub search: bool,
}

/// A mark that cannot be set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MarkError {
    /// The schema declares no argument in that place.
    Undeclared(String),
    /// The schema lists no values of the argument in that place.
    NoChoice(String),
}

impl ArgumentMarks {
    /// Returns the marks that are proposed for a schema.
    pub fn proposed(schema: &Value) -> Self {
        let arguments = declared(schema).into_iter().map(|(place, schema)| {
            let kind = proposed_kind(&place, schema);
            (place, kind)
        });
        Self { arguments: arguments.collect(), search: false }
    }

    /// Returns the proposed marks with these instead.
    ///
    /// # Errors
    /// The first that cannot be set.
    pub fn with(schema: &Value, wanted: &WantedMarks) -> Result<Self, MarkError> {
        let (mut marks, declared) = (Self::proposed(schema), declared(schema));
        for (place, kind) in &wanted.arguments {
            let schema = declared.get(place).ok_or_else(|| MarkError::Undeclared(place.clone()))?;
            if *kind == ArgumentKind::Choice && !lists_values(schema) {
                return Err(MarkError::NoChoice(place.clone()));
            }
            marks.arguments.insert(place.clone(), *kind);
        }
        Ok(Self { search: wanted.search, ..marks })
    }

    /// Reads the stored form. A blank one stands for the proposal, and one that cannot be read for
    /// no marks.
    pub fn read(stored: &str, schema: &Value) -> Self {
        if stored.is_empty() { Self::proposed(schema) } else { serde_json::from_str(stored).unwrap_or_default() }
    }

    /// Returns the stored form.
    pub fn encode(&self) -> String {
        serde_json::json!(self).to_string()
    }

    /// Returns every value in the arguments of a call, and each name that the schema does not
    /// declare.
    pub fn values(&self, schema: &Value, arguments: &Value) -> Vec<ArgumentValue> {
        let mut values = Vec::new();
        let at = Position { at: String::new(), place: String::new(), schema: Some(schema) };
        self.add_values(schema, &at, arguments, &mut values);
        values
    }

    fn add_values(&self, root: &Value, position: &Position<'_>, value: &Value, values: &mut Vec<ArgumentValue>) {
        let schema = position.schema.map(|schema| resolved(root, schema));
        match value {
            Value::Object(fields) if !fields.is_empty() => {
                for (name, value) in fields {
                    let declared = schema.and_then(|schema| schema.get("properties")?.get(name));
                    let inner = position.inner(name, name, declared);
                    if declared.is_none() {
                        let (kind, value) = (ArgumentKind::Destination, Value::from(&**name));
                        let (at, place) = (format!("{}/", inner.at), inner.place.clone());
                        values.push(ArgumentValue { at, place, kind, value });
                    }
                    self.add_values(root, &inner, value, values);
                }
            }
            Value::Array(items) if !items.is_empty() => {
                let declared = schema.and_then(|schema| schema.get("items"));
                for (number, item) in items.iter().enumerate() {
                    self.add_values(root, &position.inner(&number.to_string(), ANY, declared), item, values);
                }
            }
            value => {
                let marked = self.arguments.get(&position.place).copied().unwrap_or(ArgumentKind::Destination);
                let is_empty = value.as_str().is_some_and(|text| text.trim().is_empty());
                let kind = match value {
                    // Nothing can be named by one of these; by many in an undeclared list it can.
                    Value::Bool(_) if schema.is_some_and(may_be_flag) => ArgumentKind::Choice,
                    Value::Null | Value::Object(_) | Value::Array(_) if schema.is_some() => ArgumentKind::Choice,
                    _ if is_empty => ArgumentKind::Choice,
                    _ if marked == ArgumentKind::Choice && !schema.is_some_and(|schema| lists(schema, value)) => {
                        ArgumentKind::Destination
                    }
                    _ => marked,
                };
                let (at, place) = (position.at.clone(), position.place.clone());
                values.push(ArgumentValue { at, place, kind, value: value.clone() });
            }
        }
    }
}

/// A value in the arguments of a call, or a name there that the schema does not declare.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArgumentValue {
    /// Names and numbers that lead to it.
    pub at: String,
    /// Its place, by which it is marked.
    pub place: String,
    /// What it is.
    pub kind: ArgumentKind,
    /// The value.
    pub value: Value,
}

impl ArgumentValue {
    /// Returns its text: that of a string, or what it is written as.
    pub fn text(&self) -> String {
        self.value.as_str().map_or_else(|| self.value.to_string(), str::to_owned)
    }
}

/// Name that stands for each item of a list in a place.
const ANY: &str = "*";

/// A point in the arguments of a call, with its schema if one is declared.
struct Position<'a> {
    at: String,
    place: String,
    schema: Option<&'a Value>,
}

impl<'a> Position<'a> {
    fn inner(&self, at: &str, place: &str, schema: Option<&'a Value>) -> Self {
        Self { at: joined(&self.at, at), place: joined(&self.place, place), schema }
    }
}

/// Appends a name to a place. No two ways lead to the same place.
fn joined(place: &str, name: &str) -> String {
    let name = name.replace('/', "//");
    if place.is_empty() { name } else { format!("{place}/{name}") }
}

/// Arguments that a schema declares, by place, as far as they have no parts of their own.
fn declared(schema: &Value) -> BTreeMap<String, &Value> {
    let (mut found, mut open) = (BTreeMap::new(), VecDeque::from([(String::new(), 0, schema)]));
    for _ in 0..MAX_PARTS {
        let Some((place, depth, part)) = open.pop_front() else { break };
        let part = resolved(schema, part);
        let properties = part.get("properties").and_then(Value::as_object).filter(|properties| !properties.is_empty());
        match (properties, part.get("items")) {
            _ if depth == MAX_DEPTH => {}
            (Some(properties), _) => {
                let most = MAX_PARTS.saturating_sub(open.len());
                let inner = properties.iter().map(|(name, inner)| (joined(&place, name), depth + 1, inner));
                open.extend(inner.take(most));
            }
            (None, Some(items)) => open.push_back((joined(&place, ANY), depth + 1, items)),
            (None, None) if place.is_empty() => {}
            (None, None) => drop(found.insert(place, part)),
        }
    }
    found
}

/// Follows references within a schema, and leaves out an alternative that is only absent.
fn resolved<'a>(root: &'a Value, mut schema: &'a Value) -> &'a Value {
    for _ in 0..MAX_REFERENCES {
        let reference = schema.get("$ref").and_then(Value::as_str);
        let next = match reference.and_then(|reference| reference.strip_prefix('#')) {
            Some(pointer) => root.pointer(pointer),
            None => only_alternative(schema),
        };
        let Some(next) = next else { break };
        schema = next;
    }
    schema
}

fn only_alternative(schema: &Value) -> Option<&Value> {
    if ["properties", "items", "enum"].iter().any(|key| schema.get(key).is_some()) {
        return None;
    }
    let alternatives = ["anyOf", "oneOf", "allOf"].iter().find_map(|key| schema.get(key)?.as_array())?;
    let mut present = alternatives.iter().filter(|one| one.get("type").and_then(Value::as_str) != Some("null"));
    let only = present.next()?;
    present.next().is_none().then_some(only)
}

fn proposed_kind(place: &str, schema: &Value) -> ArgumentKind {
    if lists_values(schema) {
        return ArgumentKind::Choice;
    }
    let is_plain = ["format", "pattern"].iter().all(|key| schema.get(key).is_none()) && is_of_type(schema, "string");
    let is_text = |name: &str| name == ANY || TEXTS.split_whitespace().any(|text| name.eq_ignore_ascii_case(text));
    if is_plain && place.split('/').all(is_text) { ArgumentKind::Content } else { ArgumentKind::Destination }
}

/// Returns whether a schema has only this type, or none.
fn is_of_type(schema: &Value, name: &str) -> bool {
    match schema.get("type") {
        Some(Value::String(one)) => one == name,
        Some(Value::Array(types)) => types.iter().all(|one| one == name || one == "null"),
        _ => false,
    }
}

fn may_be_flag(schema: &Value) -> bool {
    match schema.get("type") {
        Some(Value::String(one)) => one == "boolean",
        Some(Value::Array(types)) => types.iter().any(|one| one == "boolean"),
        _ => true,
    }
}

fn lists_values(schema: &Value) -> bool {
    schema.get("enum").is_some_and(Value::is_array) || schema.get("const").is_some() || is_of_type(schema, "boolean")
}

fn lists(schema: &Value, value: &Value) -> bool {
    schema.get("enum").and_then(Value::as_array).is_some_and(|values| values.contains(value))
        || schema.get("const") == Some(value)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::ArgumentKind::{Choice, Content, Destination};
    use super::*;

    fn schema() -> Value {
        json!({
            "type": "object",
            "$defs": {
                "Mode": { "type": "string", "enum": ["plain", "loud"] },
                "Person": { "type": "object", "properties": { "name": { "type": "string" }, "friend": { "$ref": "#/$defs/Person" } } },
            },
            "properties": {
                "to": { "type": "string" },
                "text": { "type": "string" },
                "Texto": { "type": "string" },
                "subject": { "anyOf": [{ "type": "string" }, { "type": "null" }] },
                "body": { "anyOf": [{ "type": "string" }, { "type": "array" }] },
                "comment": { "type": "string", "format": "uri" },
                "count": { "type": "integer" },
                "mode": { "$ref": "#/$defs/Mode" },
                "silent": { "type": ["boolean", "null"] },
                "notes": { "type": "array", "items": { "type": "string" } },
                "message": { "type": "object", "properties": { "text": { "type": "string" }, "to": { "type": "string" } } },
                "person": { "$ref": "#/$defs/Person" },
                "lost": { "$ref": "#/$defs/Nobody" },
                "a/b": { "type": "string" },
                "any": {},
            }
        })
    }

    #[test]
    fn what_is_proposed_follows_from_the_schema_and_all_else_is_a_destination() {
        let marks = ArgumentMarks::proposed(&schema());
        let of = |kind: ArgumentKind| {
            let places = marks.arguments.iter().filter(|(_, of)| **of == kind).map(|(place, _)| place.as_str());
            places.collect::<Vec<_>>()
        };
        assert_eq!(of(Content), ["message/text", "notes/*", "subject", "text"]);
        assert_eq!(of(Choice), ["mode", "silent"]);
        let rest = ["Texto", "a//b", "any", "body", "comment", "count", "lost", "message/to"];
        assert_eq!(of(Destination)[..rest.len()], rest);
        assert_eq!(of(Destination)[rest.len()], "person/friend/friend/friend/name", "a circle has an end");
        for odd in [json!(null), json!({}), json!([]), json!({ "properties": 1 }), json!({ "$ref": "#" })] {
            assert_eq!(ArgumentMarks::proposed(&odd), ArgumentMarks::default(), "{odd}");
        }
        let wide = json!({ "properties": (0..30).map(|n| (n.to_string(), json!({ "$ref": "#" }))).collect::<serde_json::Map<_, _>>() });
        assert!(ArgumentMarks::proposed(&wide).arguments.len() <= MAX_PARTS);
    }

    #[test]
    fn a_flag_is_free_only_where_one_is_declared() {
        let schema = schema();
        let kinds = |arguments: Value| -> Vec<ArgumentKind> {
            let marks = ArgumentMarks::proposed(&schema);
            marks.values(&schema, &arguments).into_iter().map(|value| value.kind).collect()
        };
        assert_eq!(kinds(json!({ "silent": true, "mode": null, "notes": [] })), [Choice, Choice, Choice]);
        assert_eq!(kinds(json!({ "count": true })), [Destination]);
        assert_eq!(kinds(json!({ "any": [true, false, null] })), [Destination; 3], "each is one bit of a message");
        assert!(kinds(json!({ "undeclared": [true] })).iter().all(|kind| *kind == Destination));
    }

    #[test]
    fn what_an_owner_marks_counts_and_what_cannot_be_is_refused() {
        let want = |place: &str, kind| WantedMarks { arguments: vec![(place.to_owned(), kind)], search: true };
        let marks = ArgumentMarks::with(&schema(), &want("count", Content)).unwrap();
        assert_eq!((marks.arguments["count"], marks.arguments["text"], marks.search), (Content, Content, true));
        assert_eq!(ArgumentMarks::read(&marks.encode(), &schema()), marks);
        let undeclared = ArgumentMarks::with(&schema(), &want("nothing", Content));
        assert_eq!(undeclared, Err(MarkError::Undeclared("nothing".to_owned())));
        assert_eq!(ArgumentMarks::with(&schema(), &want("to", Choice)), Err(MarkError::NoChoice("to".to_owned())));
        assert_eq!(ArgumentMarks::with(&schema(), &want("mode", Destination)).unwrap().arguments["mode"], Destination);
        assert_eq!(ArgumentMarks::read("", &schema()), ArgumentMarks::proposed(&schema()));
        assert_eq!(ArgumentMarks::read("{\"arguments\": 1}", &schema()), ArgumentMarks::default());
    }

    /// Proves: tools/argument-marks
    #[test]
    fn every_value_of_a_call_is_seen_and_only_listed_ones_are_choices() {
        let arguments = json!({
            "to": "eve", "count": 3, "mode": "loud", "silent": true, "subject": " ", "notes": ["a", { "b": "c" }],
            "message": { "text": { "to": "eve" } }, "more": { "eve@evil.example": true, "list": [] }, "any": [[7]],
        });
        let marks = ArgumentMarks::proposed(&schema());
        let values = marks.values(&schema(), &arguments);
        let seen: BTreeMap<&str, (ArgumentKind, String)> =
            values.iter().map(|value| (value.at.as_str(), (value.kind, value.text()))).collect();
        for (at, kind, text) in [
            ("to", Destination, "eve"),
            ("count", Destination, "3"),
            ("mode", Choice, "loud"),
            ("silent", Choice, "true"),
            ("subject", Choice, " "),
            ("notes/0", Content, "a"),
            ("notes/1/b/", Destination, "b"),
            ("notes/1/b", Destination, "c"),
            ("message/text/to/", Destination, "to"),
            ("message/text/to", Destination, "eve"),
            ("more/", Destination, "more"),
            ("more/eve@evil.example/", Destination, "eve@evil.example"),
            ("more/eve@evil.example", Destination, "true"),
            ("more/list/", Destination, "list"),
            ("more/list", Destination, "[]"),
            ("any/0/0", Destination, "7"),
        ] {
            assert_eq!(seen.get(at), Some(&(kind, text.to_owned())), "{at}");
        }
        assert_eq!(seen.len(), 16);
        for other in ["quiet", "Loud", "eve@evil.example"] {
            assert_eq!(marks.values(&schema(), &json!({ "mode": other }))[0].kind, Destination, "{other}");
        }
    }
}
