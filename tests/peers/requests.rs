//! Every history that can be stored becomes a request that the official clients' own types and the
//! documented rules of the providers allow.

use std::collections::BTreeMap;
use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::Arc;

use compline::config::Provider;
use compline::model::{self, AnswerFormat, Message, NullSink, Purpose, Request, RequestPart, Role, ToolSpec};
use compline::trust::{Label, Labelled, Scope};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

use super::{PIXEL, installed};
use crate::wires::script::{Script, Server, config};

/// Number of histories for each wire.
const HISTORIES: usize = 120;

fn labelled<T>(value: T) -> Labelled<T> {
    Labelled::new(value, Label::trusted(), Scope::Shared)
}

/// Text as people and models write it: also none, and only blanks.
fn words() -> impl Strategy<Value = String> {
    prop_oneof![4 => "[a-z ]{1,20}", 1 => Just(String::new()), 1 => Just(" \n".to_owned()), 1 => "\\PC{1,20}"]
}

/// Names of tools and ids of calls as servers and models write them.
fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => Just("remind".to_owned()),
        1 => Just(String::new()),
        1 => Just("remind<|channel|>commentary".to_owned()),
        1 => Just("x".repeat(70)),
        1 => Just("7.up/\u{e9}".to_owned()),
        1 => "\\PC{1,12}",
    ]
}

/// What comes back with a call, as given by each of the asked models.
fn kept(fields: &'static str) -> impl Strategy<Value = String> {
    const GIVERS: &[&str] = &["openai/qwen-max", "ollama/qwen-max", "anthropic/qwen-max", "gemini/gemini-test"];
    prop::sample::select(GIVERS).prop_map(move |giver| format!(r#"{{"model":"{giver}",{fields}}}"#))
}

fn part(role: Role) -> BoxedStrategy<RequestPart> {
    let text = words().prop_map(|text| RequestPart::Text(text.into()));
    let arguments =
        prop_oneof![Just("{}"), Just(r#"{"when":"now"}"#), Just(""), Just("{\"cut"), Just("[1]"), Just("7")];
    let extra = prop_oneof![
        3 => Just(String::new()),
        1 => kept(r#""reasoning_content":"Hm.","reasoning_details":[{}]"#),
        1 => kept(r#""extra_content":{"google":{"thought_signature":"c2ln"}}"#),
        1 => kept(r#""thoughtSignature":"c2ln""#),
        1 => kept(r#""thinking_blocks":[{"type":"thinking","thinking":"Hm.","signature":"c2ln"}]"#),
        1 => kept(r#""reasoning_items":[{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"c2ln"}]"#),
        1 => kept(r#""thinking":"Hm.""#),
        1 => Just(r#"{"model":"another/model","thinking":"Hm."}"#.to_owned()),
        1 => Just("not json".to_owned()),
    ];
    let id = prop_oneof![3 => Just("call_0".to_owned()), 1 => name()];
    match role {
        Role::System => text.boxed(),
        Role::User => {
            let image = RequestPart::Image { mime: Arc::from("image/png"), bytes: Arc::from(PIXEL) };
            prop_oneof![4 => text, 1 => Just(image)].boxed()
        }
        Role::Assistant => {
            let call = (id, name(), arguments, extra).prop_map(|(id, name, arguments, extra)| RequestPart::Call {
                id: id.into(),
                name: name.into(),
                arguments: arguments.into(),
                extra: extra.into(),
            });
            prop_oneof![1 => text, 2 => call].boxed()
        }
        Role::Tool => (id, name(), words())
            .prop_map(|(id, name, text)| RequestPart::Result { id: id.into(), name: name.into(), text: text.into() })
            .boxed(),
    }
}

fn message() -> impl Strategy<Value = (Role, Vec<RequestPart>, bool)> {
    let role = prop_oneof![
        1 => Just(Role::System),
        3 => Just(Role::User),
        3 => Just(Role::Assistant),
        3 => Just(Role::Tool),
    ];
    role.prop_flat_map(|role| (Just(role), prop::collection::vec(part(role), 1..4), any::<bool>()))
}

/// Tools as a server of tools may declare them.
pub fn tools() -> Vec<ToolSpec> {
    let schemas = [
        json!({ "type": "object", "properties": { "when": { "type": "string" } }, "required": ["when"] }),
        json!({ "type": "object" }),
        json!({}),
        json!({ "type": "object", "properties": { "list": { "type": "array" }, "any": true } }),
        json!({ "type": "object", "properties": {}, "anyOf": [{ "required": ["a"] }] }),
    ];
    let tool = |(number, schema): (usize, Value)| ToolSpec {
        name: if number == 0 { "remind".to_owned() } else { format!("fake__tool{number}") },
        description: "Does it.".to_owned(),
        schema,
    };
    schemas.into_iter().enumerate().map(tool).collect()
}

fn request(history: &[(Role, Vec<RequestPart>, bool)], number: usize) -> Request {
    let mut request = Request::new(Scope::Shared, Purpose::Chat);
    request.text(Role::System, labelled("Be brief. Answer in JSON if you are asked to.".into())).unwrap();
    for (role, parts, is_cached) in history {
        let mut message = Message::new(*role);
        parts.iter().for_each(|part| message.push(labelled(part.clone())));
        request.push(Arc::new(if *is_cached { message.cached() } else { message })).unwrap();
    }
    request.text(Role::User, labelled("And now?".into())).unwrap();
    match number % 3 {
        0 => request.with_format(AnswerFormat::Json(r#"{"type":"object","properties":{"a":{"type":"string"}}}"#)),
        _ => request.with_tools(tools().into()),
    }
}

async fn bodies(provider: Provider, path: &str) -> Vec<Value> {
    let mut runner = TestRunner::deterministic();
    let histories = prop::collection::vec(message(), 0..10);
    let refusal = || Script::whole("401 Unauthorized", "{}");
    let server = Server::play((0..HISTORIES).map(|_| refusal()).collect()).await;
    let model = model::build(&config(provider, &(server.url.clone() + path))).unwrap();
    for number in 0..HISTORIES {
        let history = histories.new_tree(&mut runner).unwrap().current();
        assert!(model.call(&request(&history, number), &NullSink).await.is_err());
    }
    let asked = server.asked.lock().unwrap();
    asked.iter().map(|asked| serde_json::from_str(asked.split_once("\r\n\r\n").unwrap().1).unwrap()).collect()
}

/// Promise (models/valid-requests): Whatever a model or a server wrote before (names, ids, arguments,
/// empty texts, interrupted calls), each request keeps to what the official clients of OpenAI, Anthropic,
/// Google, Mistral and Ollama can send, and to the rules that they document.
#[tokio::test]
async fn every_stored_history_becomes_a_request_that_official_clients_could_send() {
    let mut lines = Vec::new();
    let wires = [
        ("openai", Provider::OpenAi, ""),
        ("responses", Provider::OpenAi, "/v1/responses"),
        ("ollama", Provider::Ollama, ""),
        ("anthropic", Provider::Anthropic, ""),
        ("gemini", Provider::Gemini, ""),
    ];
    for (wire, provider, path) in wires {
        lines.extend(
            bodies(provider, path).await.into_iter().map(|body| json!({ "wire": wire, "body": body }).to_string()),
        );
    }
    assert_eq!(lines.len(), wires.len() * HISTORIES);
    let checker = installed("requests.py");
    let selftest = Command::new(installed("venv/bin/python")).arg(&checker).arg("--selftest").output().unwrap();
    assert_eq!(String::from_utf8_lossy(&selftest.stdout).trim(), "ok", "each rule finds what breaks it");
    let mut child = Command::new(installed("venv/bin/python"))
        .arg(&checker)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let all = lines.join("\n") + "\n";
    let writing = std::thread::spawn(move || input.write_all(all.as_bytes()).unwrap());
    let judged = child.wait_with_output().unwrap();
    writing.join().unwrap();
    let judged = String::from_utf8_lossy(&judged.stdout).into_owned();
    assert_eq!(judged.lines().count(), lines.len(), "{judged}");
    // One request for each kind of verdict.
    let wrong: BTreeMap<&str, &String> = judged.lines().zip(&lines).filter(|(verdict, _)| *verdict != "ok").collect();
    assert!(wrong.is_empty(), "{} kinds: {wrong:#?}", wrong.len());
}
