//! Recognises an answer that is nothing but a tool call written as text.
//!
//! Nothing is ever executed from such text: the caller may only ask the model again. So the
//! arguments are not read.

use serde_json::{Deserializer, Map, Value};

use super::marks::{Extent, Look, Mark, is_name, look_at};
use super::reader::Reader;

/// Keys of the name of a tool.
const NAMES: &[&str] = &["name", "tool", "tool_name", "function", "function_name", "action"];
/// Keys of the arguments.
const ARGUMENTS: &[&str] =
    &["arguments", "parameters", "args", "input", "params", "kwargs", "tool_input", "action_input"];
/// Words in front of a name: Kimi and gpt-oss, Gemma 4.
const PREFIXES: &[&str] = &["functions.", "call:"];

/// Returns the name of the offered tool that an answer calls in writing, if the answer consists of
/// nothing else but thinking and control marks.
///
/// It needs the answer as the model wrote it: [`without_thinking`](super::without_thinking) leaves
/// out such calls.
pub fn written_call<'a>(answer: &str, offered: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let offered: Vec<&str> = offered.into_iter().collect();
    called_names(answer)?.into_iter().find(|name| offered.contains(&name.as_str()))
}

fn called_names(answer: &str) -> Option<Vec<String>> {
    let reader = Reader::of(answer);
    match inside_of_fence(reader.shown().trim()) {
        Some(inside) if reader.calls().is_empty() => names_beside_marks(&Reader::of(inside)),
        _ => names_beside_marks(&reader),
    }
}

fn names_beside_marks(reader: &Reader) -> Option<Vec<String>> {
    let words = reader.shown().trim();
    match (words, reader.calls()) {
        ("", calls) => Some(calls.iter().filter_map(|call| names_in_marks(call)).flatten().collect()),
        (words, []) => names_in_json(words.strip_prefix("functools").unwrap_or(words), names_of_call),
        _ => None,
    }
}

/// Returns the text inside of a fence around all of a text. The end may be missing.
fn inside_of_fence(text: &str) -> Option<&str> {
    let fence = ['`', '~'].into_iter().find(|c| text.chars().take_while(|other| other == c).count() >= 3)?;
    let (_, inside) = text.split_once('\n')?;
    Some(inside.trim_end().trim_end_matches(fence))
}

/// Returns the names in a call that begins with a mark.
fn names_in_marks(call: &str) -> Option<Vec<String>> {
    let mut rest = call;
    while let Look::Mark(_, length) = look_at(rest, Extent::Whole) {
        let (mark, after) = rest.split_at_checked(length)?;
        if let Some(name) = name_in_tag(mark) {
            return Some(vec![name.to_owned()]);
        }
        rest = after.trim_start();
    }
    let body = inside_of_fence(rest).unwrap_or(rest).trim();
    let alone = |name: &str| vec![name.to_owned()];
    if !body.starts_with(['{', '[']) {
        return name_in_front(body).map(alone);
    }
    let names = names_in_json(body, |value| names_of_call(value).or_else(|| names_as_keys(value)));
    names.or_else(|| name_in_broken_json(body).map(alone))
}

/// Returns the name in `<function=name>` or `<invoke name="name">`.
fn name_in_tag(mark: &str) -> Option<&str> {
    let (_, value) = mark.split_once("name=").or_else(|| mark.split_once("function="))?;
    value.trim_start_matches(['"', '\'']).split(['"', '\'', '>', ' ']).next()
}

/// Returns the name in front of arguments, as in `name{"a": 1}` or `name`, a line break, and tags.
fn name_in_front(body: &str) -> Option<&str> {
    let typed = body.strip_prefix("function").unwrap_or_default();
    let body = match look_at(typed, Extent::Whole) {
        Look::Mark(Mark::Control, length) => typed.get(length..)?,
        _ => body,
    };
    let recipient = body.strip_prefix("to=").and_then(|to| to.split(' ').next());
    let body =
        PREFIXES.iter().fold(recipient.unwrap_or(body), |body, prefix| body.strip_prefix(prefix).unwrap_or(body));
    let after = body.trim_start_matches(is_name);
    let name = body.strip_suffix(after)?;
    let is_followed = after.is_empty() || after.starts_with(['{', '[', '(', '<', ':', '`', '\n', '\r']);
    let name = name.strip_suffix(".call").filter(|_| after.starts_with('(')).unwrap_or(name);
    (is_followed && !name.is_empty()).then_some(name)
}

/// Returns the first name in JSON that cannot be parsed, or in a list of Python calls.
fn name_in_broken_json(body: &str) -> Option<&str> {
    let Some((_, after)) = body.split_once("\"name\"") else {
        return name_in_front(body.strip_prefix('[')?.trim_start());
    };
    let value = after.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')?;
    value.split_once('"').map(|(name, _)| name)
}

/// Returns the names in one or more JSON values, all of which must be calls.
fn names_in_json(text: &str, names: impl Fn(&Value) -> Option<Vec<String>>) -> Option<Vec<String>> {
    let (mut rest, mut found) = (text.trim(), Vec::new());
    while !rest.is_empty() {
        let mut values = Deserializer::from_str(rest).into_iter::<Value>();
        found.extend(names(&values.next()?.ok()?)?);
        // Llama separates calls by semicolons.
        rest = rest.get(values.byte_offset()..)?.trim_start_matches(|c: char| c == ';' || c.is_whitespace());
    }
    Some(found)
}

/// Returns the names of a call, or of a list of calls.
fn names_of_call(value: &Value) -> Option<Vec<String>> {
    match value {
        Value::Array(calls) => calls.iter().map(|call| name_of_call(call.as_object()?)).collect(),
        Value::Object(fields) => match fields.get("tool_calls") {
            Some(Value::Array(calls)) => calls.iter().map(|call| name_of_call(call.as_object()?)).collect(),
            _ => Some(vec![name_of_call(fields)?]),
        },
        _ => None,
    }
}

fn name_of_call(fields: &Map<String, Value>) -> Option<String> {
    if let Some(function) = fields.get("function").and_then(Value::as_object) {
        return Some(function.get("name")?.as_str()?.to_owned());
    }
    let (key, name) = NAMES.iter().find_map(|key| Some((*key, fields.get(*key)?.as_str()?)))?;
    let has_arguments = ARGUMENTS.iter().any(|key| fields.contains_key(*key));
    (has_arguments || key == "tool").then(|| name.strip_prefix("functions.").unwrap_or(name).to_owned())
}

/// Returns the names of calls that are written as `{"name": {…}}`: Apertus.
fn names_as_keys(value: &Value) -> Option<Vec<String>> {
    let name = |call: &Value| match call.as_object()?.iter().next()? {
        (name, Value::Object(_)) => Some(name.clone()),
        _ => None,
    };
    match value {
        Value::Array(calls) => calls.iter().map(name).collect(),
        call => Some(vec![name(call)?]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const OFFERED: [&str; 3] = ["remind", "look_up", "mail.send"];

    fn called(answer: &str) -> Option<String> {
        written_call(answer, OFFERED)
    }

    #[test]
    fn a_call_in_any_notation_is_recognised() {
        for answer in [
            r#"<tool_call>{"name": "remind", "arguments": {"at": "noon"}}</tool_call>"#,
            "<tool_call>\n{\"name\": \"remind\", \"arguments\": {}}\n</tool_call>\n<tool_call>\n{\"name\": \"look_up\"}\n</tool_call>",
            r#"<TOOL_CALL id="1">{"arguments": {"a": 1}, "name": "remind"}"#,
            r#"<tool_call>{"name": "remind", "arguments": {"at": "no"#,
            r#"<tool_call>{"name": "remind", "arguments": {'at': None}}</tool_call>"#,
            "<tool_call>remind\n<arg_key>at</arg_key>\n<arg_value>noon</arg_value>\n</tool_call>",
            "<tool_call>remind</tool_call>",
            "<longcat_tool_call>remind\n<longcat_arg_key>at</longcat_arg_key></longcat_tool_call>",
            "<tool_call>\n<function=remind>\n<parameter=at>\nnoon\n</parameter>\n</function>\n</tool_call>",
            r#"<tool_calls>[{"name": "remind", "arguments": {}}]</tool_calls>"#,
            r#"<function=remind>{"at": "noon"}</function>"#,
            r#"<function=remind>{"at": "noon"}</function><|eom_id|>"#,
            r#"<function name="remind">{"at": "noon"}</function>"#,
            "<function=remind>\n<parameter=at>noon</parameter>\n</function>\n</tool_call>",
            r#"<function_call>{"name": "remind", "arguments": "{}"}</function_call>"#,
            r#"<function_calls><invoke name="remind"><parameter name="at">noon</parameter></invoke></function_calls>"#,
            r#"<invoke name="remind"><parameter name="at">noon</parameter></invoke>"#,
            "<minimax:tool_call>\n<invoke name=\"remind\">\n<parameter name=\"at\">noon</parameter>\n</invoke>\n</minimax:tool_call>",
            "<seed:tool_call><function=remind><parameter=at>noon</parameter></function></seed:tool_call>",
            "<start_function_call>call:remind{at:<escape>noon<escape>}<end_function_call>",
            "<|tool_call>call:remind{at:<|\"|>noon<|\"|>}<tool_call|>",
            r#"{"name": "remind", "arguments": {"at": "noon"}}"#,
            r#"{"name": "remind", "parameters": {"at": "noon"}}"#,
            r#"{"type": "function", "name": "remind", "input": {}}"#,
            r#"{"name": "remind", "args": {}}; {"name": "look_up", "args": {}}"#,
            r#"[{"name": "remind", "arguments": {}}, {"name": "look_up", "arguments": {}}]"#,
            r#"{"type": "function", "function": {"name": "remind", "arguments": "{}"}}"#,
            r#"{"tool_calls": [{"id": "1", "function": {"name": "remind"}}]}"#,
            r#"{"tool": "remind", "at": "noon"}"#,
            r#"{"tool_name": "remind", "parameters": {}}"#,
            r#"{"action": "remind", "action_input": "noon"}"#,
            r#"{"name": "functions.remind", "arguments": {}}"#,
            r#"functools[{"name": "remind", "arguments": {}}]"#,
            r#"[TOOL_CALLS]remind{"at": "noon"}"#,
            r#"[TOOL_CALLS]remind[ARGS]{"at": "noon"}"#,
            r#"[TOOL_CALLS]remind[CALL_ID]123456789[ARGS]{"at": "noon"}</s>"#,
            r#"[TOOL_CALLS] [{"name": "remind", "arguments": {}, "id": "123456789"}]"#,
            r#"[TOOL_REQUEST]{"name": "remind", "arguments": {}}[END_TOOL_REQUEST]"#,
            r#"<|python_tag|>{"name": "remind", "parameters": {}}<|eom_id|>"#,
            r#"<|python_tag|>remind.call(at="noon")"#,
            "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>remind\n```json\n{\"at\": \"noon\"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜><｜end▁of▁sentence｜>",
            "<｜tool calls begin｜><｜tool call begin｜>remind<｜tool sep｜>{}<｜tool call end｜><｜tool calls end｜>",
            "<｜DSML｜function_calls>\n<｜DSML｜invoke name=\"remind\">\n</｜DSML｜invoke>\n</｜DSML｜function_calls>",
            r#"<|tool_calls_section_begin|><|tool_call_begin|>functions.remind:0<|tool_call_argument_begin|>{"at": 1}<|tool_call_end|><|tool_calls_section_end|>"#,
            r#"<|channel|>commentary to=functions.remind <|constrain|>json<|message|>{"at": "noon"}<|call|>"#,
            "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>commentary to=functions.remind json<|message|>{}<|call|>",
            "<|start|>assistant to=functions.remind<|channel|>commentary<|message|>{}<|call|>",
            r#"<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "remind", "parameters": {}}]<|END_ACTION|>"#,
            r#"<|tools_prefix|>[{"remind": {"at": "noon"}}]<|tools_suffix|>"#,
            r#"<|tool_call_start|>[remind(at="noon")]<|tool_call_end|>"#,
            r#"<|tool_call|>[{"name": "remind", "arguments": {}}]<|/tool_call|>"#,
            r#"<|action_start|><|plugin|>{"name": "remind", "parameters": {}}<|action_end|>"#,
        ] {
            assert_eq!(called(answer).as_deref(), Some("remind"), "{answer}");
            let around = format!("<think>\nHm, look_up?\n</think>\n\n{answer}\n<|im_end|>\n");
            assert_eq!(called(&around).as_deref(), Some("remind"), "{around}");
            assert_eq!(called(&format!("```json\n{answer}\n```")).as_deref(), Some("remind"), "{answer}");
            assert_eq!(called(&format!("~~~\n{answer}\n")).as_deref(), Some("remind"), "{answer}");
            assert_eq!(written_call(answer, ["other"]), None, "{answer}");
            assert_eq!(called(&format!("I will do that.\n{answer}")), None, "{answer}");
        }
    }

    #[test]
    fn the_first_offered_tool_counts() {
        let calls = r#"<tool_call>{"name": "a"}</tool_call> <tool_call>{"name": "look_up"}</tool_call>"#;
        assert_eq!(called(calls).as_deref(), Some("look_up"));
        assert_eq!(called(r#"[TOOL_CALLS]mail.send{"a": 1}"#).as_deref(), Some("mail.send"));
    }

    #[test]
    fn other_answers_are_no_calls() {
        for answer in [
            "",
            "remind",
            "Good morning",
            r#"{"name": "remind"}"#,
            r#"{"name": "Remind", "arguments": {}}"#,
            r#"{"name": "remind", "arguments": {"#,
            r#"{"title": "remind", "arguments": {}}"#,
            r#"[{"name": "remind", "arguments": {}}, 1]"#,
            r#"[{"name": "remind", "arguments": {}}, {"name": "x"}]"#,
            r#"{"name": "remind", "arguments": {}} does it."#,
            r#"Use this: {"name": "remind", "arguments": {}}"#,
            r#"{"remind": {"at": "noon"}}"#,
            r#"`{"name": "remind", "arguments": {}}`"#,
            "```json\n{\"name\": \"remind\", \"arguments\": {}}\n```\nThis is a call.",
            "<tool_call>remind me</tool_call>",
            "<think>\n<tool_call>{\"name\": \"remind\"}</tool_call>\n</think>\nGood morning",
            "I could.\n<tool_call>{\"name\": \"remind\"}</tool_call>\n</think>\n",
            "<|channel|>analysis<|message|>remind<|end|>",
            "<|channel|>commentary<|message|>remind<|end|>",
            "<|tool_call_begin|>function",
            "[]",
            "[1, 2]",
        ] {
            assert_eq!(called(answer), None, "{answer}");
        }
    }

    proptest! {
        #[test]
        fn no_answer_makes_it_panic(answer in "(?s).{0,200}", nested in 0_usize..300) {
            let _ = called(&answer);
            let _ = called(&format!("<tool_call>{answer}"));
            let _ = called(&"[".repeat(nested));
            let _ = called(&format!("<tool_call>{}", "{\"name\":".repeat(nested)));
        }
    }
}
