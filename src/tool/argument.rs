//! Declares the parameters of a tool, and checks and reads the arguments of a call.
//!
//! Arguments come from a model, so any may be missing, misspelt or of another type. [`checked`]
//! compares them with the declared schema once for all tools: an argument that is missing, unknown
//! or impossible is an error that names it. A value that merely has another type (a number as text,
//! an enumerated word in capitals) is read as what it means.

use std::cmp::Ordering;

use serde_json::{Map, Value, json};

use crate::model::ToolSpec;
use crate::wording::tool as says;

/// Minimum similarity of two names for a suggestion.
const SIMILAR: f64 = 0.72;
/// Maximum number of suggestions.
const SUGGESTIONS: usize = 3;

/// Names of arguments that stand for another, where a tool has only that one.
const SAME: [(&str, &str); 4] = [("cron", "when"), ("task", "text"), ("text", "content"), ("name", "title")];
/// Former words for enumerated values.
const FORMER: [(&str, &str); 1] = [("user", "person")];

/// Returns the description of a tool for the model; `properties` is a JSON schema by parameter.
pub(super) fn spec(name: &str, description: &str, properties: Value, required: &[&str]) -> ToolSpec {
    let mut schema = json!({ "type": "object", "properties": properties });
    if let (Some(schema), false) = (schema.as_object_mut(), required.is_empty()) {
        schema.insert("required".to_owned(), json!(required));
    }
    ToolSpec { name: name.to_owned(), description: description.to_owned(), schema }
}

/// Returns the arguments of a call as its tool reads them.
///
/// # Errors
/// A sentence that names the arguments that the schema does not allow.
pub(super) fn checked(spec: &ToolSpec, given: Map<String, Value>) -> Result<Value, String> {
    let Some(known) = spec.schema.get("properties").and_then(Value::as_object) else {
        return Ok(Value::Object(given));
    };
    let is_open = spec.schema.get("additionalProperties").is_some_and(|more| *more != Value::Bool(false));
    let (mut read, mut unknown) = (Map::new(), Vec::new());
    for (name, value) in given {
        let same = SAME.into_iter().find(|(other, meant)| *other == name && known.contains_key(*meant));
        let name = match same {
            Some((_, meant)) if !known.contains_key(&name) => meant.to_owned(),
            _ => name,
        };
        match known.get(&name) {
            Some(schema) => read.extend(value_of(&name, schema, value)?.map(|value| (name, value))),
            None if is_open => drop(read.insert(name, value)),
            None => unknown.push(name),
        }
    }
    let required: Vec<&str> = words_of(spec.schema.get("required"));
    let missing: Vec<&str> = required.iter().copied().filter(|name| !read.contains_key(*name)).collect();
    if unknown.is_empty() && missing.is_empty() {
        return Ok(Value::Object(read));
    }
    let meant = |name: &String| {
        let near = nearest(name, known.keys().map(String::as_str)).first().copied();
        let only = (unknown.len() == 1).then_some(missing.as_slice()).and_then(|missing| match missing {
            [only] => Some(*only),
            _ => None,
        });
        near.or(only)
    };
    let unknown: Vec<(&str, Option<&str>)> = unknown.iter().map(|name| (name.as_str(), meant(name))).collect();
    let known: Vec<&str> = known.keys().map(String::as_str).collect();
    Err(says::wrong_arguments(&spec.name, &unknown, &missing, &known, &required))
}

/// Returns the value of an argument; none if it stands for a missing one.
fn value_of(name: &str, schema: &Value, value: Value) -> Result<Option<Value>, String> {
    let Some(kind) = schema.get("type").and_then(Value::as_str) else { return Ok(Some(value)) };
    if value.is_null() && kind != "null" {
        return Ok(None);
    }
    let is_blank = value.as_str().is_some_and(|text| text.trim().is_empty());
    let choices = words_of(schema.get("enum"));
    if !choices.is_empty() {
        return match choice(&value, &choices) {
            Some(chosen) => Ok(Some(Value::from(chosen))),
            None if is_blank => Ok(None),
            None => Err(says::unknown_value(name, &shown(&value), &choices)),
        };
    }
    let text = value.as_str().map(str::trim);
    let (read, expected) = match kind {
        "string" => {
            (if value.is_number() || value.is_boolean() { Some(json!(value.to_string())) } else { None }, "text")
        }
        "integer" => (whole_number(&value), "a whole number"),
        "number" => (text.and_then(|text| text.parse::<f64>().ok()).map(Value::from), "a number"),
        "boolean" => (text.and_then(|text| text.to_lowercase().parse::<bool>().ok()).map(Value::from), "true or false"),
        "array" => (text.and_then(|text| serde_json::from_str(text).ok()).filter(Value::is_array), "a list"),
        "object" => (text.and_then(|text| serde_json::from_str(text).ok()).filter(Value::is_object), "an object"),
        _ => return Ok(Some(value)),
    };
    match read {
        Some(read) => Ok(Some(read)),
        None if fits(kind, &value) => Ok(Some(value)),
        None if is_blank => Ok(None),
        None => Err(says::wrong_type(name, &shown(&value), expected)),
    }
}

fn fits(kind: &str, value: &Value) -> bool {
    match kind {
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        _ => value.is_object(),
    }
}

/// Returns the enumerated word that a value means.
fn choice<'a>(value: &Value, choices: &[&'a str]) -> Option<&'a str> {
    let text = value.as_str()?;
    let find = |word: &str| choices.iter().find(|choice| choice.eq_ignore_ascii_case(word.trim())).copied();
    let former = || FORMER.into_iter().find(|(old, _)| old.eq_ignore_ascii_case(text.trim()));
    choices.iter().find(|choice| **choice == text).copied().or_else(|| find(text)).or_else(|| find(former()?.1))
}

/// Reads a whole number that is written as text or as a fraction.
fn whole_number(value: &Value) -> Option<Value> {
    if let Some(text) = value.as_str() {
        return text.trim().trim_start_matches('#').parse::<i64>().ok().map(Value::from);
    }
    let number = value.as_f64().filter(|number| number.fract() == 0.0 && !fits("integer", value))?;
    format!("{number:.0}").parse::<i64>().ok().map(Value::from)
}

fn shown(value: &Value) -> String {
    crate::text::shorten(&crate::text::one_line(&value.to_string()), 60)
}

fn words_of(list: Option<&Value>) -> Vec<&str> {
    list.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
}

/// Returns the names that are most like a word: similar in letters, or with a part in common.
pub(super) fn nearest<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let word = word.to_lowercase();
    let parts = |name: &str| name.split(['_', '-', ' ', '.']).map(str::to_owned).collect::<Vec<_>>();
    let ours = parts(&word);
    let mut scored: Vec<(f64, &str)> = names
        .into_iter()
        .map(|name| {
            let lower = name.to_lowercase();
            let shared = parts(&lower).iter().filter(|part| ours.iter().any(|own| is_same_part(own, part))).count();
            let letters = strsim::jaro_winkler(&word, &lower);
            let bonus = if shared > 0 { 1.0 } else { 0.0 };
            (letters + bonus, name)
        })
        .filter(|(score, _)| *score >= SIMILAR)
        .collect();
    scored.sort_by(|one, other| other.0.partial_cmp(&one.0).unwrap_or(Ordering::Equal));
    scored.truncate(SUGGESTIONS);
    scored.into_iter().map(|(_, name)| name).collect()
}

fn is_same_part(one: &str, other: &str) -> bool {
    let (short, long) = if one.len() <= other.len() { (one, other) } else { (other, one) };
    short == long || short.len() >= 4 && long.starts_with(short)
}

/// Returns a text; blank if there is none.
pub(super) fn text<'a>(arguments: &'a Value, name: &str) -> &'a str {
    arguments.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// Returns whether a flag is set.
pub(super) fn flag(arguments: &Value, name: &str) -> bool {
    arguments.get(name).and_then(Value::as_bool).unwrap_or(false)
}

/// Returns the `limit` argument: `usual` if missing, clamped to 1 to `most`.
pub(super) fn limit(arguments: &Value, usual: usize, most: usize) -> usize {
    let asked = arguments.get("limit").and_then(Value::as_u64).and_then(|limit| usize::try_from(limit).ok());
    asked.unwrap_or(usual).clamp(1, most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn search() -> ToolSpec {
        let properties = json!({
            "query": { "type": "string" },
            "in": { "type": "string", "enum": ["facts", "notes"] },
            "kind": { "type": "string", "enum": ["person", "project"] },
            "limit": { "type": "integer" },
            "all": { "type": "boolean" },
            "files": { "type": "array" }
        });
        spec("memory_search", "", properties, &["query"])
    }

    fn check(given: Value) -> Result<Value, String> {
        let Value::Object(given) = given else { panic!("not an object") };
        checked(&search(), given)
    }

    /// Proves: tools/arguments
    #[test]
    fn a_value_of_another_type_is_read_as_what_it_means() {
        let given =
            json!({ "query": 7, "in": " Facts ", "kind": "user", "limit": " 4 ", "all": "True", "files": "[1]" });
        let read = json!({ "query": "7", "in": "facts", "kind": "person", "limit": 4, "all": true, "files": [1] });
        assert_eq!(check(given), Ok(read));
        assert_eq!(check(json!({ "query": "a", "limit": 4.0 })), Ok(json!({ "query": "a", "limit": 4 })));
        let none = json!({ "query": "a", "in": " ", "limit": null, "all": "", "files": null });
        assert_eq!(check(none), Ok(json!({ "query": "a" })));
    }

    /// Proves: tools/arguments
    #[test]
    fn a_missing_an_unknown_and_an_impossible_argument_are_named() {
        for (given, parts) in [
            (json!({}), &["memory_search", "`query` is missing", "query (required), in, kind, limit"][..]),
            (json!({ "query": null }), &["`query` is missing"]),
            (json!({ "q": "keys" }), &["`q` is unknown (did you mean `query`?)", "`query` is missing"]),
            (json!({ "words": "keys" }), &["`words` is unknown (did you mean `query`?)"]),
            (json!({ "query": "a", "xyz": 1 }), &["`xyz` is unknown;", "kind, limit"]),
            (json!({ "query": "a", "in": "said" }), &["`in` cannot be \"said\"", "facts, notes"]),
            (json!({ "query": "a", "in": ["facts"] }), &["`in` cannot be [\"facts\"]", "facts, notes"]),
            (json!({ "query": "a", "limit": "many" }), &["`limit` cannot be \"many\"", "a whole number"]),
            (json!({ "query": "a", "limit": 1.5 }), &["`limit` cannot be 1.5", "a whole number"]),
            (json!({ "query": ["a"] }), &["`query` cannot be [\"a\"]", "text"]),
        ] {
            let sentence = check(given.clone()).unwrap_err();
            assert!(parts.iter().all(|part| sentence.contains(part)), "{given}: {sentence}");
        }
    }

    #[test]
    fn a_synonym_is_taken_where_the_tool_has_only_the_other_word() {
        let change = spec("change", "", json!({ "when": { "type": "string" }, "text": { "type": "string" } }), &[]);
        let given = json!({ "cron": "0 9 * * *", "task": "a" }).as_object().unwrap().clone();
        assert_eq!(checked(&change, given), Ok(json!({ "when": "0 9 * * *", "text": "a" })));
    }

    #[test]
    fn a_schema_of_another_program_decides_whether_it_is_open() {
        let given = || json!({ "more": 1 }).as_object().unwrap().clone();
        let mut open = spec("call", "", json!({ "a": { "type": ["string", "null"] } }), &[]);
        assert!(checked(&open, given()).unwrap_err().contains("`more` is unknown"));
        open.schema.as_object_mut().unwrap().insert("additionalProperties".to_owned(), json!(true));
        assert_eq!(checked(&open, given()), Ok(json!({ "more": 1 })));
        let none = ToolSpec { schema: json!({}), ..open };
        assert_eq!(checked(&none, given()), Ok(json!({ "more": 1 })));
    }

    #[test]
    fn names_that_share_a_part_are_near() {
        let names = ["memory_search", "web_fetch", "remind", "write_file", "load_skill"];
        for (word, near) in [
            ("search_web", &["web_fetch", "memory_search"][..]),
            ("set_reminder", &["remind"]),
            ("writefile", &["write_file"]),
            ("delete_file", &["write_file"]),
            ("xyz", &[]),
        ] {
            let mut found = nearest(word, names);
            let mut wanted = near.to_vec();
            found.sort_unstable();
            wanted.sort_unstable();
            assert_eq!(found, wanted, "{word}");
        }
    }

    #[test]
    fn arguments_of_the_wrong_type_count_as_missing() {
        let given = json!({ "path": 3, "include": "yes", "limit": -1 });
        assert_eq!((text(&given, "path"), flag(&given, "include"), limit(&given, 5, 20)), ("", false, 5));
        assert_eq!(
            (text(&Value::Null, "path"), flag(&Value::Null, "include"), limit(&Value::Null, 5, 20)),
            ("", false, 5)
        );
    }

    #[test]
    fn a_limit_has_its_bounds() {
        let asked = |n: u64| limit(&json!({ "limit": n }), 5, 20);
        assert_eq!([asked(0), asked(7), asked(u64::MAX)], [1, 7, 20]);
    }

    proptest! {
        #[test]
        fn what_is_read_fits_the_schema(name in "(query|in|limit|all|files|q|\\PC{0,6})", text in "\\PC{0,12}", kind in 0_u8..6) {
            let value = match kind {
                0 => json!(text),
                1 => json!(4),
                2 => json!([text]),
                3 => json!({ "a": text }),
                4 => json!(null),
                _ => json!(1.5e300),
            };
            if let Ok(read) = check(json!({ "query": "a", name: value })) {
                prop_assert!(read["query"].is_string());
                prop_assert!(read.get("limit").is_none_or(Value::is_i64));
                prop_assert!(read.get("in").is_none_or(|area| ["facts", "notes"].contains(&area.as_str().unwrap())));
            }
        }
    }
}
