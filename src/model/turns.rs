//! Arranges a request for the wire formats: instructions first, then alternating sides.
//!
//! Local servers fill a chat template that often supports only one system message, at the very
//! beginning, and requires user and assistant to alternate; the large providers do not mind. So
//! later instructions appear as the program's text on the user's side, and neighbours of one side
//! are joined. Nothing is reordered, so a cached prefix stays the same from call to call.
//!
//! What a model or a server wrote is not sent back as it is: a request with one bad id or name would
//! be refused, and so would all that follow, to whichever provider. Calls get ids of our own by
//! position and names in the common pattern, and each call has exactly one result. The journal keeps
//! what was received.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::learned::{Field, Learned};
use super::request::{Message, Request, RequestPart, Role, ToolSpec};
use crate::wording::prompt;

/// Maximum number of cache marks that any provider accepts in one request.
const MAX_MARKS: usize = 4;
/// Maximum length of a tool's name at every provider (OpenAI; Anthropic and Gemini take more).
const MAX_NAME: usize = 64;
/// The types of JSON Schema (<https://json-schema.org/draft/2020-12/json-schema-core#section-4.2.1>).
const TYPES: [&str; 7] = ["array", "boolean", "integer", "null", "number", "object", "string"];
/// Name of a tool that a model called without one.
const NAMELESS: &str = "unknown";

/// Neighbouring messages of one side.
#[derive(Debug)]
pub(super) struct Turn {
    pub(super) role: Role,
    pub(super) parts: Vec<MarkedPart>,
}

/// A part, with a mark if it ends a prefix that a prompt cache may keep.
#[derive(Debug)]
pub(super) struct MarkedPart {
    pub(super) part: RequestPart,
    pub(super) marked: bool,
}

/// Arranges the request as turns that every server takes, without what this one does not take.
pub(super) fn of(request: &Request, learned: &Learned) -> Vec<Turn> {
    let mut calls = Calls::default();
    let mut turns = Vec::new();
    for mut turn in grouped(request, learned) {
        if turn.role != Role::Tool {
            turns.extend(calls.unanswered());
        }
        turn.parts.retain_mut(|marked_part| calls.rename(&mut marked_part.part));
        if turn.role == Role::Tool {
            turn.parts.extend(calls.unanswered().into_iter().flat_map(|turn| turn.parts));
        }
        join(&mut turns, turn);
    }
    turns.extend(calls.unanswered());
    // Chat templates want a word of the user first.
    let begins = turns.iter().position(|turn| turn.role != Role::System).unwrap_or(turns.len());
    if turns.get(begins).is_none_or(|turn| turn.role != Role::User) {
        turns.insert(begins, words(Role::User, prompt::GOES_ON));
    }
    turns
}

/// Adds a turn: to the last one, if it is of the same side.
fn join(turns: &mut Vec<Turn>, turn: Turn) {
    match turns.last_mut() {
        _ if turn.parts.is_empty() => {}
        Some(last) if last.role == turn.role => last.parts.extend(turn.parts),
        // Mistral and Gemini take no words of the user directly after results.
        Some(last) if last.role == Role::Tool && turn.role == Role::User => {
            turns.extend([words(Role::Assistant, prompt::RESULTS_READ), turn]);
        }
        _ => turns.push(turn),
    }
}

/// A turn of the program's words.
fn words(role: Role, words: &'static str) -> Turn {
    Turn { role, parts: vec![MarkedPart { part: RequestPart::Text(Arc::from(words)), marked: false }] }
}

/// The calls of a request so far.
#[derive(Default)]
struct Calls {
    count: usize,
    /// Calls without a result: the id that the server gave, then ours, then the name.
    open: Vec<(Arc<str>, Arc<str>, Arc<str>)>,
}

impl Calls {
    /// Gives a call, or a result, its id and name. Returns false for a result without a call.
    fn rename(&mut self, part: &mut RequestPart) -> bool {
        match part {
            RequestPart::Call { id, name, .. } => {
                self.count += 1;
                let ours = our_id(self.count);
                *name = common_name(name);
                self.open.push((std::mem::replace(id, Arc::clone(&ours)), ours, Arc::clone(name)));
                true
            }
            RequestPart::Result { id, name, .. } => {
                let Some(at) = self.open.iter().position(|(given, ..)| given == id) else { return false };
                let (_, ours, called) = self.open.remove(at);
                (*id, *name) = (ours, called);
                true
            }
            RequestPart::Text(_) | RequestPart::Image { .. } => true,
        }
    }

    /// Ends the calls that have no result, as after an interruption.
    fn unanswered(&mut self) -> Option<Turn> {
        let result = |(_, id, name)| RequestPart::Result { id, name, text: Arc::from(prompt::NO_RESULT) };
        let parts: Vec<MarkedPart> =
            self.open.drain(..).map(result).map(|part| MarkedPart { part, marked: false }).collect();
        (!parts.is_empty()).then_some(Turn { role: Role::Tool, parts })
    }
}

/// Returns the id of the call at that position: nine letters and digits, which is the only form that
/// Mistral takes (<https://docs.mistral.ai/capabilities/function_calling/>).
fn our_id(position: usize) -> Arc<str> {
    format!("call{position:05}").into()
}

/// Returns a tool's name in the pattern that every provider takes: `[A-Za-z_][A-Za-z0-9_-]{0,63}`.
fn common_name(written: &str) -> Arc<str> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let name: String = written.chars().take(MAX_NAME).map(|c| if is_plain(c) { c } else { '_' }).collect();
    match name.chars().next() {
        None => Arc::from(NAMELESS),
        Some(first) if first.is_ascii_alphabetic() || first == '_' => Arc::from(name),
        Some(_) => Arc::from(format!("_{}", name.get(..MAX_NAME - 1).unwrap_or(&name))),
    }
}

/// Returns the schema of a tool's arguments as every server takes it: that of an object, with its
/// properties, even if there are none, without alternatives at its top (Anthropic), with items in
/// each array (OpenAI), and without foreign types and references to other documents (llama.cpp).
pub(super) fn schema(declared: &Value) -> Value {
    let mut schema = declared.as_object().cloned().unwrap_or_default();
    schema.retain(|key, _| !matches!(key.as_str(), "anyOf" | "oneOf" | "allOf"));
    schema.insert("type".to_owned(), "object".into());
    if !schema.get("properties").is_some_and(Value::is_object) {
        schema.insert("properties".to_owned(), Value::Object(Map::new()));
    }
    let mut schema = Value::Object(schema);
    simplify(&mut schema);
    schema
}

/// Gives each array of a schema items, of any kind if none are declared, and takes off what only some
/// servers can read.
fn simplify(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            fields.retain(|key, value| match (key.as_str(), value.as_str()) {
                ("type", Some(kind)) => TYPES.contains(&kind),
                ("$ref", Some(place)) => place.starts_with('#'),
                _ => true,
            });
            // A schema may be a mere yes or no, which not every server can read (Ollama).
            for (_, property) in fields.get_mut("properties").and_then(Value::as_object_mut).into_iter().flatten() {
                if property.is_boolean() {
                    *property = Value::Object(Map::new());
                }
            }
            if fields.get("type").is_some_and(|kind| kind == "array") && !fields.contains_key("items") {
                fields.insert("items".to_owned(), Value::Object(Map::new()));
            }
            fields.values_mut().for_each(simplify);
        }
        Value::Array(items) => items.iter_mut().for_each(simplify),
        _ => {}
    }
}

/// Returns the tools that are offered to a server.
pub(super) fn tools<'a>(request: &'a Request, learned: &'a Learned) -> impl Iterator<Item = &'a ToolSpec> {
    let is_taken = |tool: &&ToolSpec| !learned.without_tools.contains(&tool.name);
    request.tools().iter().filter(|_| learned.sends(Field::Tools)).filter(is_taken)
}

/// Groups the request into turns.
fn grouped(request: &Request, learned: &Learned) -> Vec<Turn> {
    let mut turns: Vec<Turn> = Vec::new();
    let marks = request.messages().iter().filter(|message| message.ends_cached_stretch()).count();
    let mut surplus = marks.saturating_sub(MAX_MARKS);
    for message in request.messages() {
        let marked = message.ends_cached_stretch() && surplus == 0;
        if message.ends_cached_stretch() {
            surplus = surplus.saturating_sub(1);
        }
        let parts = marked_parts(message, marked, learned);
        if parts.is_empty() {
            continue;
        }
        let beginning = turns.iter().all(|turn| turn.role == Role::System);
        let role = match message.role() {
            Role::System if !beginning || !learned.sends(Field::SystemRole) => Role::User,
            role => role,
        };
        match turns.last_mut() {
            Some(last) if last.role == role => last.parts.extend(parts),
            _ => turns.push(Turn { role, parts }),
        }
    }
    turns
}

fn marked_parts(message: &Message, marked: bool, learned: &Learned) -> Vec<MarkedPart> {
    let taken = |part: &RequestPart| match part {
        RequestPart::Text(text) if text.trim().is_empty() => None,
        RequestPart::Image { .. } if !learned.sends(Field::Pictures) => {
            Some(RequestPart::Text(Arc::from(prompt::PICTURE_NOT_SHOWN)))
        }
        RequestPart::Call { .. } | RequestPart::Result { .. } if !learned.sends(Field::Tools) => None,
        part => Some(part.clone()),
    };
    let mut parts: Vec<MarkedPart> = message
        .parts()
        .iter()
        .filter_map(|part| taken(part.open().0))
        .map(|part| MarkedPart { part, marked: false })
        .collect();
    if let Some(last) = parts.last_mut() {
        last.marked = marked;
    }
    parts
}

/// Returns arguments as they are sent back: always an object.
///
/// Providers and chat templates parse them, and some fail on anything but an object. So any other
/// value is wrapped as text.
pub(super) fn arguments(written: &str) -> Map<String, Value> {
    match serde_json::from_str(written) {
        Ok(Value::Object(object)) => object,
        _ if written.trim().is_empty() => Map::new(),
        _ => Map::from_iter([("unreadable".to_owned(), written.into())]),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::model::Purpose;
    use crate::trust::{Label, Labelled, Scope};

    fn request(messages: &[(Role, &str, bool)]) -> Request {
        let mut request = Request::new(Scope::Shared, Purpose::Chat);
        for (role, text, cached) in messages {
            let message = Message::of(*role, Labelled::new(Arc::from(*text), Label::trusted(), Scope::Shared));
            let message = if *cached { message.cached() } else { message };
            request.push(Arc::new(message)).unwrap();
        }
        request
    }

    fn shape(request: &Request) -> String {
        let mut shape = String::new();
        for turn in of(request, &Learned::default()) {
            shape.push_str(&format!("{:?}:", turn.role).to_lowercase());
            for marked_part in turn.parts {
                match &marked_part.part {
                    RequestPart::Text(text) => shape.push_str(text),
                    RequestPart::Call { id, name, .. } => shape.push_str(&format!("[{name} {id}]")),
                    RequestPart::Result { id, name, text } => shape.push_str(&format!("[{name} {id}={text}]")),
                    RequestPart::Image { .. } => panic!(),
                }
                if marked_part.marked {
                    shape.push('!');
                }
            }
            shape.push(' ');
        }
        shape.trim_end().to_owned()
    }

    #[test]
    fn neighbours_join_and_late_instructions_are_the_users_side() {
        use Role::{Assistant, System, User};
        let request = request(&[
            (System, "a", false),
            (System, "b", true),
            (User, "c", false),
            (Assistant, "", false),
            (System, "d", false),
            (User, "e", true),
            (Assistant, "f", false),
        ]);
        assert_eq!(shape(&request), "system:ab! user:cde! assistant:f");
    }

    #[test]
    fn only_the_last_four_marks_count() {
        let messages: Vec<_> = ["a", "b", "c", "d", "e", "f"].map(|text| (Role::User, text, true)).into();
        assert_eq!(shape(&request(&messages)), "user:abc!d!e!f!");
    }

    fn with_calls(messages: &[(Role, &[(&str, &str)])]) -> Request {
        let mut request = Request::new(Scope::Shared, Purpose::Chat);
        for (role, parts) in messages {
            let mut message = Message::new(*role);
            for (id, name) in *parts {
                let (id, name) = (Arc::from(*id), Arc::from(*name));
                let part = match role {
                    Role::Assistant => RequestPart::Call { id, name, arguments: Arc::from("{}"), extra: Arc::from("") },
                    Role::Tool => RequestPart::Result { id, name, text: Arc::from("x") },
                    _ => RequestPart::Text(name),
                };
                message.push(Labelled::new(part, Label::trusted(), Scope::Shared));
            }
            request.push(Arc::new(message)).unwrap();
        }
        request
    }

    #[test]
    fn calls_have_ids_of_our_own_and_one_result_each() {
        use Role::{Assistant, Tool, User};
        let request = with_calls(&[
            (User, &[("", "go")]),
            (Assistant, &[("a", "look"), ("a", "look"), ("", "remind<|channel|>commentary")]),
            (Tool, &[("a", "look"), ("a", "look"), ("", "remind<|channel|>commentary")]),
            (Assistant, &[("toolu_01/\u{e9}", ""), ("b", "7 up")]),
            (Tool, &[("b", "7 up"), ("never", "called")]),
            (Assistant, &[("c", "look")]),
            (User, &[("", "hello?")]),
            (Assistant, &[("d", "look")]),
        ]);
        let (none, read) = (prompt::NO_RESULT, prompt::RESULTS_READ);
        assert_eq!(
            shape(&request),
            format!(
                "user:go assistant:[look call00001][look call00002][remind__channel__commentary call00003] \
                 tool:[look call00001=x][look call00002=x][remind__channel__commentary call00003=x] \
                 assistant:[unknown call00004][_7_up call00005] tool:[_7_up call00005=x][unknown call00004={none}] \
                 assistant:[look call00006] tool:[look call00006={none}] assistant:{read} user:hello? \
                 assistant:[look call00007] tool:[look call00007={none}]"
            )
        );
    }

    proptest! {
        #[test]
        fn any_name_becomes_one_that_every_provider_takes(written in "\\PC{0,80}") {
            let name = common_name(&written);
            prop_assert!((1..=MAX_NAME).contains(&name.len()));
            prop_assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-')));
            prop_assert!(name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'));
        }

        #[test]
        fn any_history_becomes_calls_with_one_result_each(
            messages in prop::collection::vec((0_u8..4, prop::collection::vec(("[ab]?", "[a-z<]{0,3}"), 1..4)), 0..12)
        ) {
            let roles = [Role::System, Role::User, Role::Assistant, Role::Tool];
            let owned: Vec<(Role, Vec<(&str, &str)>)> = messages
                .iter()
                .map(|(role, parts)| {
                    (roles[usize::from(*role)], parts.iter().map(|(id, name)| (id.as_str(), name.as_str())).collect())
                })
                .collect();
            let borrowed: Vec<(Role, &[(&str, &str)])> =
                owned.iter().map(|(role, parts)| (*role, parts.as_slice())).collect();
            let turns = of(&with_calls(&borrowed), &Learned::default());
            let mut ids = BTreeSet::new();
            for (at, turn) in turns.iter().enumerate() {
                let of_calls = |turn: &Turn| -> BTreeSet<Arc<str>> {
                    let id = |part: &MarkedPart| match &part.part {
                        RequestPart::Call { id, .. } | RequestPart::Result { id, .. } => Some(Arc::clone(id)),
                        _ => None,
                    };
                    turn.parts.iter().filter_map(id).collect()
                };
                match turn.role {
                    // Put between results and words of the user.
                    Role::Assistant if of_calls(turn).is_empty() => {
                        prop_assert_eq!(turns[at - 1].role, Role::Tool);
                    }
                    Role::Assistant => {
                        let own = of_calls(turn);
                        prop_assert_eq!(own.len(), turn.parts.len());
                        prop_assert!(own.iter().all(|id| ids.insert(Arc::clone(id))));
                        prop_assert_eq!(turns.get(at + 1).map(of_calls), Some(own));
                    }
                    Role::Tool => prop_assert!(at > 0 && turns[at - 1].role == Role::Assistant),
                    Role::System => prop_assert_eq!(at, 0),
                    Role::User => {}
                }
                prop_assert!(at == 0 || turns[at - 1].role != turn.role);
            }
        }
    }

    #[test]
    fn a_schema_is_that_of_an_object_with_properties() {
        let empty = serde_json::json!({ "type": "object", "properties": {} });
        for declared in ["null", "{}", "true", r#"{"type": "object"}"#, r#"{"type": ["object"], "properties": []}"#] {
            assert_eq!(schema(&serde_json::from_str(declared).unwrap()), empty, "{declared}");
        }
        let full =
            serde_json::json!({ "type": "object", "properties": { "a": { "type": "string" } }, "required": ["a"] });
        assert_eq!(schema(&full), full);
        let odd = serde_json::json!({ "type": "object", "properties": {
            "type": { "type": "file", "title": "A" }, "$ref": { "$ref": "https://example.org/x.json" },
            "b": { "$ref": "#/$defs/b" }, "any": true } });
        let plain = serde_json::json!({ "type": "object", "properties": {
            "type": { "title": "A" }, "$ref": {}, "b": { "$ref": "#/$defs/b" }, "any": {} } });
        assert_eq!(schema(&odd), plain);
    }

    #[test]
    fn arguments_are_always_an_object() {
        let text = |written: &str| serde_json::to_string(&arguments(written)).unwrap();
        assert_eq!(text(r#"{"b":1,"a":2}"#), r#"{"b":1,"a":2}"#);
        assert_eq!(text(" "), "{}");
        assert_eq!(text("{\"a\":"), r#"{"unreadable":"{\"a\":"}"#);
        assert_eq!(text("[1]"), r#"{"unreadable":"[1]"}"#);
    }
}
