//! Declares the parameters of a tool, and reads the arguments of a call.
//!
//! Arguments come from a model, so any may be missing or of another type; both count as not given.
//! The tool decides whether that is an error, in its own words.

use serde_json::{Value, json};

use crate::model::ToolSpec;

/// Returns the description of a tool for the model; `properties` is a JSON schema by parameter.
pub(super) fn spec(name: &str, description: &str, properties: Value, required: &[&str]) -> ToolSpec {
    let mut schema = json!({ "type": "object", "properties": properties });
    if let (Some(schema), false) = (schema.as_object_mut(), required.is_empty()) {
        schema.insert("required".to_owned(), json!(required));
    }
    ToolSpec { name: name.to_owned(), description: description.to_owned(), schema }
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
    use serde_json::json;

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
}
