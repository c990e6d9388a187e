//! The program against a real llama.cpp, whose model is made of random numbers: it babbles, in
//! bytes that are mostly no UTF-8, and sometimes says nothing at all. Nothing can be asserted of
//! what it says; what it says is answered, stored, counted and delivered like anything else.

use std::path::Path;
use std::sync::Arc;

use compline::config::Provider;
use compline::model::{AnswerFormat, Field, Message, Model, ModelError, NullSink, Request, RequestPart, Role, Stop};
use compline::wording::{Language, turn};
use serde_json::Value;

use super::program::{LIMIT, Program, Server};
use super::{PIXEL, ask, go_on, installed, labelled, requests, text, wire};
use crate::support::free_address::free_address;
use crate::support::telegram::FakeTelegram;

const ADA: i64 = 1001;

fn start(manner: &[&str]) -> Server {
    let program = installed("llama.py");
    let arguments: Vec<&Path> = std::iter::once(&*program).chain(manner.iter().map(Path::new)).collect();
    Server::start(installed("venv/bin/python"), &arguments)
}

/// Ada, a model that babbles, and the program between them.
struct Scene {
    fake: FakeTelegram,
    program: Program,
    llama: Option<Server>,
}

impl Scene {
    fn begin(manner: &str, max_output: u32) -> Self {
        Self::begin_at(manner, max_output, "0")
    }

    /// With the model's server at that port.
    fn begin_at(manner: &str, max_output: u32, port: &str) -> Self {
        let llama = start(&[manner, port]);
        let fake = FakeTelegram::start_sync();
        fake.person(ADA, "Ada", None);
        let program = Program::start(&format!(
            "timezone = \"UTC\"\n[model]\nprovider = \"openai\"\nbase_url = \"{}/v1\"\nname = \"babble\"\n\
             context_window = 32000\nmax_output = {max_output}\n[telegram]\ntoken = \"{}\"\napi_url = \"{}\"\n\
             [[people]]\nname = \"Ada\"\nrole = \"owner\"\ntelegram = {ADA}\n",
            llama.url,
            fake.token(),
            fake.url()
        ));
        Self { fake, program, llama: Some(llama) }
    }

    /// Ada says something, and the answer to it has arrived.
    fn talk(&mut self, words: &str, replies: i64) {
        self.fake.says(ADA, words);
        self.program.until("SELECT count(*) FROM outbox WHERE state = 'sent' AND kind = 'reply'", replies);
    }
}

/// Model calls whose tokens the server counted.
const COUNTED: &str = "SELECT count(*) FROM spending WHERE purpose = 'chat' AND state = 'spent'
    AND input_tokens > 0 AND output_tokens > 0";

/// Promise (models/weak-model): The rambling output of a weak model is stored, counted and
/// delivered like any other answer.
#[test]
fn babble_is_answered_stored_counted_and_delivered() {
    let mut scene = Scene::begin("", 300);
    for (at, words) in ["Good evening", "Grüß Gott \u{1f600}", "and once more"].into_iter().enumerate() {
        scene.talk(words, i64::try_from(at).unwrap() + 1);
    }
    assert_eq!(scene.program.count("SELECT count(*) FROM turns WHERE state = 'done'"), 3);
    assert_eq!(scene.program.count(COUNTED), 3);
    assert!(scene.fake.texts(ADA).len() >= 3 && scene.fake.texts(ADA).iter().all(|text| !text.is_empty()));
    assert!(scene.program.is_alive());
}

#[test]
fn an_answer_that_reaches_the_limit_says_so() {
    let mut scene = Scene::begin("endless", 20);
    scene.talk("Good evening", 1);
    let cut = turn::CUT_BY_LIMIT.in_language(Language::ENGLISH);
    let cut = cut.trim_matches('_');
    assert!(scene.fake.texts(ADA).concat().contains(cut), "{:?}", scene.fake.texts(ADA));
    assert_eq!(scene.program.count("SELECT output_tokens FROM spending WHERE purpose = 'chat'"), 20);
}

/// Proves: models/weak-model
#[test]
fn an_answer_that_never_ends_is_stopped() {
    let mut scene = Scene::begin("endless", 20_000);
    scene.fake.says(ADA, "Good evening");
    assert!(scene.fake.wait_for(LIMIT, |fake| !fake.sent(ADA).is_empty()), "the answer is seen growing");
    scene.fake.says(ADA, "/stop");
    scene.program.until("SELECT count(*) FROM turns WHERE state = 'stopped'", 1);
    scene.program.until("SELECT count(*) FROM outbox WHERE state = 'pending'", 0);
    assert_eq!(scene.program.count("SELECT count(*) FROM turns WHERE state = 'running'"), 0);
    assert!(scene.program.is_alive());
}

/// Promise (models/restart): A model server that ends in the middle of an answer and starts again has
/// only delayed the answer.
#[test]
fn a_server_that_starts_again_answers_the_same_question() {
    let port = free_address().port().to_string();
    let mut scene = Scene::begin_at("endless", 20_000, &port);
    scene.fake.says(ADA, "Good evening");
    assert!(scene.fake.wait_for(LIMIT, |fake| !fake.sent(ADA).is_empty()), "the answer is seen growing");
    scene.llama = None;
    scene.llama = Some(start(&["", &port]));
    scene.program.until("SELECT count(*) FROM outbox WHERE state = 'sent' AND kind = 'reply'", 1);
    assert_eq!(scene.program.count("SELECT count(*) FROM turns WHERE state = 'done'"), 1);
}

fn model(manner: &str) -> (Server, Arc<dyn Model>) {
    let server = start(&[manner]);
    let model = wire(Provider::OpenAi, &server.url);
    (server, model)
}

/// Proves: models/valid-requests
#[tokio::test]
async fn the_grammar_of_calls_takes_any_declared_tool() {
    let (_server, model) = model("tools");
    let mut tools = requests::tools();
    let schemas = [
        serde_json::json!({ "type": "object", "properties": { "x": { "$ref": "https://example.org/x.json" } } }),
        serde_json::json!({ "type": "object", "properties": { "x": { "type": "file" } } }),
        serde_json::json!({ "type": "object", "properties": { "x": { "type": ["string", "null"], "format": "date-time" } } }),
    ];
    tools.extend(schemas.into_iter().enumerate().map(|(n, schema)| compline::model::ToolSpec {
        name: format!("odd{n}"),
        description: String::new(),
        schema,
    }));
    let call = compline::model::ToolCall {
        id: "a".to_owned(),
        name: "odd0".to_owned(),
        arguments: "{}".to_owned(),
        extra: String::new(),
    };
    for request in [ask("Good evening"), go_on("Good evening", &[call])] {
        let request = request.with_tools(tools.clone().into()).with_max_output(30);
        let reply = model.call(&request, &NullSink).await.unwrap();
        assert!(reply.usage.input > 0);
    }
    assert_eq!(model.server().unwrap().learned(), Default::default(), "nothing was refused");
}

/// Proves: models/learned
#[tokio::test]
async fn what_it_refuses_is_left_out() {
    let (_server, plain) = model("plain");
    plain.call(&ask("Good evening").with_max_output(30), &NullSink).await.unwrap();
    assert!(!plain.server().unwrap().learned().sends(Field::Tools), "it has no template for tools");

    let mut question = Message::of(Role::User, labelled(Arc::from("What is this?")));
    question.push(labelled(RequestPart::Image { mime: "image/png".into(), bytes: PIXEL.into() }));
    let mut request = Request::new(compline::trust::Scope::Shared, compline::model::Purpose::Chat);
    request.push(Arc::new(question)).unwrap();
    plain.call(&request.with_max_output(30), &NullSink).await.unwrap();
    assert!(!plain.server().unwrap().learned().sends(Field::Pictures), "it sees nothing");
}

/// Proves: models/smaller-window
#[tokio::test]
async fn its_window_is_learned_from_its_refusal() {
    let (_server, model) = model("small");
    let long = model.call(&ask(&"word ".repeat(1000)).with_max_output(30), &NullSink).await;
    assert_eq!(long, Err(ModelError::TooLong));
    assert_eq!(model.server().unwrap().learned().context_window, Some(4096));
    model.call(&ask("Good evening").with_max_output(30), &NullSink).await.unwrap();
}

#[tokio::test]
async fn its_json_mode_gives_json() {
    let (_server, model) = model("");
    let request = ask("Answer in JSON.").with_tools(Arc::from([])).with_format(AnswerFormat::Json("{}"));
    let reply = model.call(&request, &NullSink).await.unwrap();
    let is_json = serde_json::from_str::<Value>(text(&reply)).is_ok_and(|value| value.is_object());
    assert!(reply.stop == Stop::Length || is_json, "{:?}", text(&reply));
    assert!(model.server().unwrap().learned().sends(Field::JsonMode));
}
