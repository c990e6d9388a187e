//! Servers that refuse a part of a request are asked again without it, and that is remembered.

use std::sync::Arc;
use std::time::Duration;

use compline::config::Provider;
use compline::model::{
    self, AnswerFormat, Field, Learned, Message, Model, ModelError, NullSink, Reply, Request, RequestPart, Role,
    ToolSpec,
};
use compline::trust::{Label, Labelled, Scope};
use serde_json::{Value, json};

use super::script::{Script, Server, ask, config, text};

const HELLO: &[u8] = b"data: {\"choices\":[{\"delta\":{\"content\":\"Hello\"}}]}\n\n";
const DONE: &[u8] = b"data: [DONE]\n\n";

fn answer() -> Script {
    Script::stream(&[HELLO, DONE])
}

fn refused(status: &str, body: &Value) -> Script {
    Script::whole(status, &body.to_string())
}

fn says(message: &str) -> Script {
    refused("400 Bad Request", &json!({ "error": { "message": message } }))
}

fn labelled<T>(value: T) -> Labelled<T> {
    Labelled::new(value, Label::trusted(), Scope::Shared)
}

fn tool(name: &str) -> ToolSpec {
    ToolSpec { name: name.to_owned(), description: "Does it.".to_owned(), schema: json!({ "type": "object" }) }
}

/// A question with a picture, after a turn with a call.
fn full() -> Request {
    let mut request = ask();
    let mut spoken = Message::new(Role::Assistant);
    let extra = json!({ "model": "openai/qwen-max", "reasoning_content": "I look." }).to_string();
    let (id, name, arguments) = (Arc::from("c1"), Arc::from("look"), Arc::from("{}"));
    spoken.push(labelled(RequestPart::Call { id, name, arguments, extra: Arc::from(extra) }));
    request.push(Arc::new(spoken)).unwrap();
    let mut result = Message::new(Role::Tool);
    result.push(labelled(RequestPart::Result {
        id: Arc::from("c1"),
        name: Arc::from("look"),
        text: Arc::from("A cat."),
    }));
    request.push(Arc::new(result)).unwrap();
    let mut question = Message::of(Role::User, labelled(Arc::from("And this?")));
    question.push(labelled(RequestPart::Image { mime: Arc::from("image/png"), bytes: Arc::from(&b"png"[..]) }));
    request.push(Arc::new(question)).unwrap();
    request.with_tools(Arc::from([tool("look"), tool("q__echo")]))
}

async fn asked(model: &Arc<dyn Model>, request: &Request) -> Result<Reply, ModelError> {
    model.call(request, &NullSink).await
}

fn learned(model: &Arc<dyn Model>) -> Learned {
    model.server().unwrap().learned()
}

/// A refusal, what it teaches, and what holds for the next request.
type Lesson = (Script, Learned, fn(&Value) -> bool);

/// Promise (models/learned): A server that refuses a part of a request is asked again without it, and
/// not for it again: stream options, temperature, the name or size of the limit, tools, one tool,
/// pictures, system messages, thinking. What people notice is told to the owners once.
#[tokio::test]
async fn a_part_that_is_refused_is_left_out_from_then_on() {
    let without = |field: Field| Learned { without: [field].into(), ..Learned::default() };
    let table: Vec<Lesson> = vec![
        (
            refused(
                "422 Unprocessable Entity",
                &json!({ "object": "error", "message": { "detail": [{ "type": "extra_forbidden", "loc": ["body", "stream_options"], "msg": "Extra inputs are not permitted" }] } }),
            ),
            without(Field::StreamOptions),
            |body| body.get("stream_options").is_none(),
        ),
        (says("Unsupported value: 'temperature' does not support 0.5"), without(Field::Temperature), |body| {
            body.get("temperature").is_none()
        }),
        (
            says(
                "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
            ),
            without(Field::OutputLimit),
            |body| body["max_completion_tokens"] == 500 && body.get("max_tokens").is_none(),
        ),
        (
            says("`max_tokens` must be less than or equal to `300`, the maximum value for `max_tokens`"),
            Learned { max_output: Some(300), ..Learned::default() },
            |body| body["max_tokens"] == 300,
        ),
        (
            refused(
                "400 Bad Request",
                &json!({ "error": "registry.ollama.ai/library/gemma3:4b does not support tools" }),
            ),
            without(Field::Tools),
            |body| body.get("tools").is_none() && !body.to_string().contains("tool_call"),
        ),
        (
            refused(
                "500 Internal Server Error",
                &json!({ "error": { "message": "tools param requires --jinja flag" } }),
            ),
            without(Field::Tools),
            |body| body.get("tools").is_none(),
        ),
        (
            says("Invalid schema for function 'q__echo': schema must be of type object"),
            Learned { without_tools: ["q__echo".to_owned()].into(), ..Learned::default() },
            |body| body["tools"].as_array().unwrap().len() == 1 && body["tools"][0]["function"]["name"] == "look",
        ),
        (
            refused(
                "404 Not Found",
                &json!({ "error": { "message": "No endpoints found that support image input", "code": 404 } }),
            ),
            without(Field::Pictures),
            |body| !body.to_string().contains("image_url") && body.to_string().contains("cannot see"),
        ),
        (says("System role not supported"), without(Field::SystemRole), |body| {
            body["messages"][0]["role"] == "user" && body["messages"][0]["content"].to_string().contains("Be brief")
        }),
        (says("property 'messages.1.reasoning_content' is unsupported"), without(Field::Reasoning), |body| {
            !body.to_string().contains("reasoning")
        }),
    ];
    for (refusal, expected, is_right) in table {
        let server = Server::play(vec![refusal, answer(), answer()]).await;
        let mut config = config(Provider::OpenAi, &server.url);
        config.temperature = Some(0.5);
        let model = model::build(&config).unwrap();
        assert_eq!(text(&asked(&model, &full()).await.unwrap()), "Hello");
        assert!(is_right(&server.body()), "{expected:?}: {}", server.body());
        assert_eq!(learned(&model), expected);
        asked(&model, &full()).await.unwrap();
        assert!(is_right(&server.body()), "{expected:?}: {}", server.body());
        assert_eq!(server.count(), 3, "{expected:?}");
    }
}

/// Proves: models/learned
#[tokio::test]
async fn a_bad_picture_or_schema_teaches_nothing_about_the_model() {
    for sentence in [
        "Invalid image data: cannot decode",
        "You uploaded an unsupported image. Use one of the formats png, jpeg",
        "Invalid schema in tools",
    ] {
        let server = Server::play(vec![says(sentence), answer()]).await;
        let model = model::build(&config(Provider::OpenAi, &server.url)).unwrap();
        assert_eq!(text(&asked(&model, &full()).await.unwrap()), "Hello", "{sentence}");
        assert_eq!(learned(&model), Learned::default(), "{sentence}");
    }
}

/// Proves: models/learned
#[tokio::test]
async fn several_parts_are_learned_one_after_the_other_and_a_refusal_of_all_teaches_nothing() {
    let (options, temperature) = (says("stream_options: unknown field"), says("temperature: unknown field"));
    let server = Server::play(vec![options, temperature, answer()]).await;
    let mut config = config(Provider::OpenAi, &server.url);
    config.temperature = Some(0.5);
    let model = model::build(&config).unwrap();
    asked(&model, &ask()).await.unwrap();
    assert_eq!(learned(&model).without, [Field::StreamOptions, Field::Temperature].into());

    let server = Server::play(vec![says("stream_options: no"), says("Your account is not enabled")]).await;
    let model = model::build(&super::script::config(Provider::OpenAi, &server.url)).unwrap();
    let refusal = asked(&model, &ask()).await.unwrap_err();
    assert_eq!(refusal, ModelError::Rejected("HTTP 400: Your account is not enabled".to_owned()));
    assert_eq!(refusal.to_string(), "The provider rejects the request (HTTP 400)", "no word of a server for a log");
    assert_eq!(learned(&model), Learned::default());
}

/// Proves: models/learned
#[tokio::test]
async fn a_server_that_never_ceases_to_refuse_is_asked_a_few_times() {
    let names =
        ["stream_options", "temperature", "max_tokens", "system role", "tools", "image_url", "reasoning_content", "x"];
    let server = Server::play(names.iter().map(|name| says(name)).collect()).await;
    let mut config = config(Provider::OpenAi, &server.url);
    config.temperature = Some(0.5);
    let model = model::build(&config).unwrap();
    assert!(matches!(asked(&model, &full()).await, Err(ModelError::Rejected(_))));
    assert_eq!((server.count(), learned(&model)), (6, Learned::default()));
}

/// Promise (models/smaller-window): A window or limit of an answer that is smaller than configured is learned
/// from what the server says.
#[tokio::test]
async fn a_smaller_window_is_learned_from_the_sentence() {
    for (sentence, window) in [
        (
            "This model's maximum context length is 4096 tokens. However, you requested 7000 tokens (2904 in the messages, 4096 in the completion).",
            4096,
        ),
        (
            "the request exceeds the available context size. try increasing it\",\"type\":\"exceed_context_size_error\",\"n_prompt_tokens\":5555,\"n_ctx\":4096",
            4096,
        ),
        ("request (5555 tokens) exceeds the available context size (4,096 tokens), try increasing it", 4096),
        ("prompt is too long: 200060 tokens > 4000 maximum", 4000),
        ("The input token count (9999) exceeds the maximum number of tokens allowed (8192).", 8192),
        (
            "Trying to keep the first 4521 tokens when context the overflows. However, the model is loaded with context length of only 2048 tokens, which is not enough.",
            2048,
        ),
    ] {
        let server = Server::play(vec![says(sentence), answer(), answer()]).await;
        let model = model::build(&config(Provider::OpenAi, &server.url)).unwrap();
        asked(&model, &ask()).await.unwrap();
        assert_eq!(learned(&model).context_window, Some(window), "{sentence}");
        let info = learned(&model).within(model.info());
        assert_eq!((info.context_window, info.max_output), (window, 500.min(window / 4)), "{sentence}");
        assert_eq!(server.body()["max_tokens"], 500.min(window / 4));
    }
}

/// Proves: models/smaller-window
#[tokio::test]
async fn a_request_that_does_not_fit_the_window_is_too_long_and_teaches_it() {
    let server = Server::play(vec![says("maximum context length is 300 tokens"), answer()]).await;
    let model = model::build(&config(Provider::OpenAi, &server.url)).unwrap();
    let mut request = ask();
    request.text(Role::User, labelled(Arc::from("word ".repeat(400)))).unwrap();
    assert_eq!(asked(&model, &request).await, Err(ModelError::TooLong));
    assert_eq!((learned(&model).context_window, server.count()), (Some(300), 1));
}

/// Proves: models/smaller-window
#[tokio::test]
async fn a_server_that_cuts_silently_shows_by_its_counts() {
    let counted = |tokens: u64| {
        let usage = json!({ "done": true, "prompt_eval_count": tokens, "eval_count": 1 });
        Script::whole("200 OK", &format!("{{\"message\":{{\"content\":\"Hello\"}}}}\n{usage}\n"))
    };
    for (counts, window) in [
        ([900, 2040, 2042, 2041], Some(2048)),
        ([900, 2040, 2042, 2600], None),
        ([500, 1000, 2000, 4000], None),
        // It counts only what is not in its cache.
        ([900, 300, 300, 300], None),
    ] {
        let server = Server::play(counts.into_iter().map(counted).collect()).await;
        let model = model::build(&config(Provider::Ollama, &server.url)).unwrap();
        for times in 1..=4 {
            let mut request = ask();
            request.text(Role::User, labelled(Arc::from("some words ".repeat(400 * times)))).unwrap();
            asked(&model, &request).await.unwrap();
        }
        assert_eq!(learned(&model).context_window, window, "{counts:?}");
    }
}

/// Promise (models/thinking-returned): The thinking before a call goes back to the server that gave it,
/// and one that wants some gets a word in its place where none was kept.
#[tokio::test]
async fn the_thinking_before_a_call_is_given_back() {
    let pieces = [
        json!({ "choices": [{ "delta": { "reasoning_content": "I look " } }] }),
        json!({ "choices": [{ "delta": { "reasoning_content": "it up." } }] }),
        json!({ "choices": [{ "delta": { "tool_calls": [{ "index": 0, "id": "a", "function": { "name": "look", "arguments": "{}" } }] } }] }),
        json!({ "choices": [{ "delta": {}, "finish_reason": "tool_calls" }] }),
    ]
    .map(|piece| format!("data: {piece}\n\n").into_bytes());
    let pieces: Vec<&[u8]> = pieces.iter().map(Vec::as_slice).collect();
    let missing = says("Missing `reasoning_content` field in the assistant message at message index 2.");
    let server = Server::play(vec![Script::stream(&pieces), answer(), missing, answer()]).await;
    let model = model::build(&config(Provider::OpenAi, &server.url)).unwrap();
    let reply = asked(&model, &ask().with_tools(Arc::from([tool("look")]))).await.unwrap();
    let call = reply.calls()[0].open().0.clone();
    let next = |extra: &str| {
        let mut request = ask();
        let mut spoken = Message::new(Role::Assistant);
        let (id, name, arguments) =
            (call.id.as_str().into(), call.name.as_str().into(), call.arguments.as_str().into());
        spoken.push(labelled(RequestPart::Call { id, name, arguments, extra: extra.into() }));
        request.push(Arc::new(spoken)).unwrap();
        request
    };
    asked(&model, &next(&call.extra)).await.unwrap();
    assert_eq!(server.body()["messages"][2]["reasoning_content"], "I look it up.");
    assert!(!server.body().to_string().contains("extra_content"));
    asked(&model, &next("")).await.unwrap();
    assert_eq!(server.body()["messages"][2]["reasoning_content"], "(not kept)");
    assert!(learned(&model).wants_reasoning);
}

/// Promise (models/patience): A server that is silent for longer than `patience` is waited for twice as
/// long the next time, and what it needed is remembered.
#[tokio::test]
async fn patience_grows_until_the_server_answers() {
    let never = || Script { pieces: vec![], then_silent: true };
    let server = Server::play(vec![never(), never(), answer()]).await;
    let mut config = config(Provider::OpenAi, &server.url);
    config.patience = Duration::from_millis(600);
    let model = model::build(&config).unwrap();
    for waited in [600, 1200] {
        assert_eq!(asked(&model, &ask()).await, Err(ModelError::Silent(Duration::from_millis(waited))));
    }
    assert_eq!(text(&asked(&model, &ask()).await.unwrap()), "Hello");
    assert_eq!(learned(&model).patience, Some(2), "in whole seconds");
}

/// Proves: models/learned
#[tokio::test]
async fn twice_the_room_ends_at_the_servers_own_limit() {
    let refusal = "max_tokens is too large: 1000. This model supports at most 700 completion tokens";
    let server = Server::play(vec![says(refusal), answer()]).await;
    let model = model::build(&config(Provider::OpenAi, &server.url)).unwrap();
    asked(&model, &ask().with_wider_output()).await.unwrap();
    assert_eq!(server.body()["max_tokens"], 700);
}

/// Proves: models/learned
#[tokio::test]
async fn other_wires_learn_too() {
    for provider in [Provider::Anthropic, Provider::Gemini] {
        let refusal = json!({ "type": "error", "error": { "type": "invalid_request_error", "message": "this model does not support tools" } });
        let server = Server::play(vec![refused("400 Bad Request", &refusal), says("no")]).await;
        let model = model::build(&config(provider, &server.url)).unwrap();
        assert!(asked(&model, &ask().with_tools(Arc::from([tool("look")]))).await.is_err());
        assert_eq!(server.count(), 2, "{provider:?}");
        assert!(server.body().get("tools").is_none(), "{provider:?}: {}", server.body());
    }
}

/// Proves: models/learned
#[tokio::test]
async fn an_unnamed_refusal_of_json_is_followed_by_a_request_without() {
    let server = Server::play(vec![says("Bad request"), answer()]).await;
    let model = model::build(&config(Provider::OpenAi, &server.url)).unwrap();
    asked(&model, &ask().with_format(AnswerFormat::Json("{\"type\": \"object\"}"))).await.unwrap();
    assert_eq!(learned(&model).without, [Field::JsonMode].into());
}
