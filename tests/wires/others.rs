//! Anthropic, Gemini, Ollama and OpenAI's Responses API, and behaviour common to all providers.

use std::sync::{Arc, Mutex};

use compline::config::Provider;
use compline::model::{
    self, AnswerFormat, Message, ModelError, NullSink, Purpose, Request, RequestPart, Role, Stop, Usage,
};
use compline::trust::{Label, Labelled, Scope};

use super::script::{Script, Server, ask, call, config, later, text};

/// One event of Anthropic's stream.
fn event(name: &str, data: serde_json::Value) -> Vec<u8> {
    format!("event: {name}\ndata: {data}\n\n").into_bytes()
}

fn anthropic_stream() -> Vec<Vec<u8>> {
    use serde_json::json;
    vec![
        event(
            "message_start",
            json!({"message": {"usage": {
            "input_tokens": 10, "cache_creation_input_tokens": 30, "cache_read_input_tokens": 64, "output_tokens": 1}}}),
        ),
        event("content_block_start", json!({"index": 0, "content_block": {"type": "text", "text": ""}})),
        event("content_block_delta", json!({"index": 0, "delta": {"type": "text_delta", "text": "Hello"}})),
        event("content_block_stop", json!({"index": 0})),
        event("message_delta", json!({"delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 5}})),
        event("message_stop", json!({})),
    ]
}

fn pieces(stream: &[Vec<u8>]) -> Vec<&[u8]> {
    stream.iter().map(Vec::as_slice).collect()
}

#[tokio::test]
async fn anthropic_gets_its_name_limit_and_cache_marks() {
    let server = Server::play(vec![Script::stream(&pieces(&anthropic_stream()))]).await;
    let mut config = config(Provider::Anthropic, &server.url);
    config.name = "claude-test-high".to_owned();
    let mut request = Request::new(Scope::Shared, Purpose::Chat);
    for (role, text, cached) in [
        (Role::System, "Rules", true),
        (Role::User, "One", true),
        (Role::System, "Now", false),
        (Role::User, "Two", false),
    ] {
        let message = Message::of(role, Labelled::new(text.into(), Label::trusted(), Scope::Shared));
        request.push(Arc::new(if cached { message.cached() } else { message })).unwrap();
    }
    let reply = model::build(&config).unwrap().call(&request, &NullSink).await.unwrap();
    assert_eq!((text(&reply), reply.usage), ("Hello", Usage { input: 104, cached: 64, output: 5 }));
    let body = server.body();
    assert_eq!((&body["model"], &body["max_tokens"]), (&"claude-test-high".into(), &500.into()));
    let mark = serde_json::json!({ "type": "ephemeral" });
    assert_eq!(body["system"][0]["cache_control"], mark);
    assert_eq!(body["messages"][0]["content"][0]["cache_control"], mark);
    assert_eq!(body["messages"].to_string().matches("cache_control").count(), 1);
    assert!(server.head().contains("x-api-key: sk-very-secret"));
}

#[tokio::test]
async fn anthropic_broken_off_or_in_trouble_is_no_answer() {
    let stream = anthropic_stream();
    // Its reason comes last; only the event after it says nothing more.
    for end in 0..stream.len() - 1 {
        let result = call(Provider::Anthropic, Script::stream(&pieces(&stream[..end]))).await;
        assert_eq!(result, Err(ModelError::Cut), "after {end} events");
        let result = call(Provider::Anthropic, Script::cut(&pieces(&stream[..end]))).await;
        assert!(result.is_err_and(|error| error.is_transient()), "after {end} events");
    }
    let unclosed = call(Provider::Anthropic, Script::cut(&pieces(&stream[..5]))).await.unwrap();
    assert_eq!(text(&unclosed), "Hello");
    let error =
        event("error", serde_json::json!({"type": "error", "error": {"type": "overloaded_error", "message": "x"}}));
    let mut troubled: Vec<&[u8]> = pieces(&stream);
    troubled.insert(3, &error);
    let result = call(Provider::Anthropic, Script::stream(&troubled)).await;
    assert_eq!(result, Err(later("an error inside the answer")));
}

#[tokio::test]
async fn gemini_counts_signs_and_ends_with_a_reason() {
    let piece = |data: serde_json::Value| format!("data: {data}\r\n\r\n").into_bytes();
    let call_of = |city: &str| {
        piece(serde_json::json!({"candidates": [{"content": {"parts": [
            {"functionCall": {"name": "weather", "args": {"city": city}}, "thoughtSignature": format!("sig-{city}")}]}}]}))
    };
    let end =
        piece(serde_json::json!({"candidates": [{"content": {"parts": [{"text": "x"}]}, "finishReason": "STOP"}],
        "usageMetadata": {"promptTokenCount": 50, "cachedContentTokenCount": 20, "candidatesTokenCount": 4}}));
    let stream = [call_of("Vienna"), call_of("Oslo"), end];
    let server = Server::play(vec![Script::stream(&pieces(&stream)), Script::stream(&pieces(&stream))]).await;
    let mut config = config(Provider::Gemini, &server.url);
    config.name = "gemini-3-test-high".to_owned();
    let model = model::build(&config).unwrap();
    let reply = model.call(&ask(), &NullSink).await.unwrap();
    assert!(server.head().starts_with("post /v1beta/models/gemini-3-test-high:streamgeneratecontent?alt=sse "));
    assert_eq!(server.body()["generationConfig"]["maxOutputTokens"], 500);
    assert!(server.body()["generationConfig"].get("thinkingConfig").is_none());
    assert_eq!((reply.stop, reply.usage), (Stop::Tools, Usage { input: 50, cached: 20, output: 4 }));
    let calls: Vec<_> = reply.calls().iter().map(|call| call.open().0.clone()).collect();
    assert_ne!(calls[0].id, calls[1].id);
    let mut request = ask();
    let mut made = Message::new(Role::Assistant);
    for call in &calls {
        let part = RequestPart::Call {
            id: call.id.as_str().into(),
            name: call.name.as_str().into(),
            arguments: call.arguments.as_str().into(),
            extra: call.extra.as_str().into(),
        };
        made.push(Labelled::new(part, Label::trusted(), Scope::Shared));
    }
    request.push(Arc::new(made)).unwrap();
    model.call(&request, &NullSink).await.unwrap();
    let sent = &server.body()["contents"][1]["parts"];
    assert_eq!(
        (&sent[0]["thoughtSignature"], &sent[1]["thoughtSignature"]),
        (&"sig-Vienna".into(), &"sig-Oslo".into())
    );
}

#[tokio::test]
async fn gemini_broken_off_blocked_or_in_trouble_is_no_answer() {
    let gemini = |data: &'static str| async move {
        let (hello, piece) =
            (r#"{"candidates":[{"content":{"parts":[{"text":"Hello"}]}}]}"#, format!("data: {data}\n\n"));
        let hello = format!("data: {hello}\n\n");
        let alone = call(Provider::Gemini, Script::stream(&[piece.as_bytes()])).await.unwrap_err();
        let after = call(Provider::Gemini, Script::stream(&[hello.as_bytes(), piece.as_bytes()])).await.unwrap_err();
        (alone, after)
    };
    let cut = (ModelError::Cut, ModelError::Cut);
    assert_eq!(gemini(r#"{"candidates":[{"content":{"parts":[{"text":"and"}]}}]}"#).await, cut);
    assert_eq!(gemini("{").await, cut);
    let blocked = r#"{"promptFeedback":{"blockReason":"SAFETY"}}"#;
    assert_eq!(gemini(blocked).await, (ModelError::Refused, ModelError::Refused));
    let error = r#"{"error":{"code":503,"message":"overloaded","status":"UNAVAILABLE"}}"#;
    assert_eq!(gemini(error).await, (later("HTTP 503"), later("HTTP 503")));
    let safety = r#"{"candidates":[{"content":{"parts":[{"text":""}]},"finishReason":"SAFETY"}]}"#;
    assert_eq!(gemini(safety).await, (ModelError::Refused, ModelError::Refused));
}

/// A writer that collects the log.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn no_word_of_a_provider_is_logged() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber =
        tracing_subscriber::fmt().with_max_level(tracing::Level::TRACE).with_writer(move || writer.clone()).finish();
    let _guard = tracing::subscriber::set_default(subscriber);
    tracing::info!("the log is on");
    let anthropic = event("error", serde_json::json!({"type": "error", "error": {"message": "CANARY"}}));
    assert!(call(Provider::Anthropic, Script::stream(&[&anthropic])).await.is_err());
    let error: &[u8] = b"data: {\"error\":{\"message\":\"CANARY\"}}\n\n";
    for provider in [Provider::Gemini, Provider::OpenAi] {
        assert!(call(provider, Script::stream(&[error])).await.is_err());
        let refusal = Script::whole("400 Bad", r#"{"error":{"message":"CANARY"}}"#);
        assert!(call(provider, refusal).await.is_err());
    }
    let logged = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    assert!(
        logged.contains("the log is on") && !logged.contains("CANARY") && !logged.contains("sk-very-secret"),
        "{logged}"
    );
}

#[tokio::test]
async fn a_schema_is_sent_until_it_is_refused() {
    const SCHEMA: &str = r#"{"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]}"#;
    let request = || ask().with_format(AnswerFormat::Json(SCHEMA));
    let refused = || Script::whole("400 Bad Request", r#"{"error":{"message":"output_config is not supported"}}"#);
    let stream = anthropic_stream();
    let answer = || Script::stream(&pieces(&stream));
    let server = Server::play(vec![answer(), refused(), answer(), answer()]).await;
    let model = model::build(&config(Provider::Anthropic, &server.url)).unwrap();
    model.call(&request(), &NullSink).await.unwrap();
    let sent = server.body();
    assert_eq!(sent["output_config"]["format"]["schema"]["required"][0], "title", "{sent}");
    for _ in 0..2 {
        model.call(&request(), &NullSink).await.unwrap();
        assert!(server.body()["output_config"].get("format").is_none(), "{}", server.body());
    }
    assert_eq!(server.count(), 4, "asked once more without it, and not again for it");
}
