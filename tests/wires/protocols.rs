//! What each protocol says of one answer, streamed and whole, and what goes back with its calls.

use std::sync::Arc;

use compline::config::Provider;
use compline::model::{self, Field, Message, Model, NullSink, Request, RequestPart, Role, Stop, Usage};
use compline::trust::{Label, Labelled, Scope};
use serde_json::{Value, json};

use super::script::{Script, Server, ask, config, text};

/// A protocol: an answer with thinking, words and two calls.
struct Spoken {
    provider: Provider,
    /// End of the configured address.
    path: &'static str,
    /// The streamed answer.
    stream: String,
    /// The same as one value.
    whole: Value,
    /// Address of the call.
    called: &'static str,
    /// Place of what goes back with the first call, and what stands there.
    kept: (&'static str, Value),
    /// A refusal because of it, and what is known after it.
    refusal: &'static str,
}

fn events(events: &[Value]) -> String {
    events
        .iter()
        .map(|event| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or("message")))
        .collect()
}

fn messages() -> Spoken {
    let thinking = json!({ "type": "thinking", "thinking": "Two cities.", "signature": "sig" });
    let call = |id: &str, input: Value| json!({ "type": "tool_use", "id": id, "name": "weather", "input": input });
    let begin =
        |index: u64, block: &Value| json!({ "type": "content_block_start", "index": index, "content_block": block });
    let delta = |index: u64, delta: Value| json!({ "type": "content_block_delta", "index": index, "delta": delta });
    Spoken {
        provider: Provider::Anthropic,
        path: "",
        called: "/v1/messages",
        stream: events(&[
            json!({ "type": "message_start", "message": { "usage": { "input_tokens": 9, "output_tokens": 1 } } }),
            begin(0, &json!({ "type": "thinking", "thinking": "", "signature": "" })),
            delta(0, json!({ "type": "thinking_delta", "thinking": "Two " })),
            delta(0, json!({ "type": "thinking_delta", "thinking": "cities." })),
            delta(0, json!({ "type": "signature_delta", "signature": "sig" })),
            begin(1, &json!({ "type": "text", "text": "" })),
            json!({ "type": "ping" }),
            delta(1, json!({ "type": "text_delta", "text": "I look." })),
            begin(2, &call("a", json!({}))),
            delta(2, json!({ "type": "input_json_delta", "partial_json": "{\"city\":\"Vi" })),
            delta(2, json!({ "type": "input_json_delta", "partial_json": "enna\"}" })),
            begin(3, &call("b", json!({}))),
            delta(3, json!({ "type": "input_json_delta", "partial_json": "{\"city\":\"Oslo\"}" })),
            json!({ "type": "message_delta", "delta": { "stop_reason": "tool_use" }, "usage": { "output_tokens": 7 } }),
            json!({ "type": "message_stop" }),
        ]),
        whole: json!({
            "type": "message",
            "content": [
                thinking, { "type": "text", "text": "I look." },
                call("a", json!({ "city": "Vienna" })), call("b", json!({ "city": "Oslo" })),
            ],
            "stop_reason": "tool_use",
            "usage": { "input_tokens": 9, "output_tokens": 7 },
        }),
        kept: ("/messages/1/content/0", thinking),
        refusal: "messages.1.content.0: Invalid `signature` in `thinking` block",
    }
}

fn responses() -> Spoken {
    let thinking = json!({ "type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "enc" });
    let call = |id: &str, city: &str| {
        let arguments = json!({ "city": city }).to_string();
        json!({ "type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": "weather", "arguments": arguments })
    };
    let message =
        json!({ "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "I look." }] });
    let done =
        |index: u64, item: &Value| json!({ "type": "response.output_item.done", "output_index": index, "item": item });
    let response = json!({
        "object": "response",
        "status": "completed",
        "error": null,
        "output": [thinking, message, call("a", "Vienna"), call("b", "Oslo")],
        "usage": { "input_tokens": 9, "output_tokens": 7, "input_tokens_details": { "cached_tokens": 0 } },
    });
    Spoken {
        provider: Provider::OpenAi,
        path: "/v1/responses",
        called: "/v1/responses",
        stream: events(&[
            json!({ "type": "response.created", "response": { "object": "response", "status": "in_progress" } }),
            done(0, &thinking),
            json!({ "type": "response.output_text.delta", "output_index": 1, "delta": "I " }),
            json!({ "type": "response.output_text.delta", "output_index": 1, "delta": "look." }),
            done(1, &message),
            json!({ "type": "response.function_call_arguments.delta", "output_index": 2, "delta": "{\"city\":" }),
            done(2, &call("a", "Vienna")),
            done(3, &call("b", "Oslo")),
            json!({ "type": "response.completed", "response": response }),
        ]),
        whole: response,
        kept: ("/input/1", thinking),
        refusal: "Encrypted content is not supported with this model.",
    }
}

fn gemini() -> Spoken {
    let call = |city: &str, signature: Option<&str>| {
        let mut part = json!({ "functionCall": { "name": "weather", "args": { "city": city } } });
        signature.into_iter().for_each(|signature| part["thoughtSignature"] = signature.into());
        part
    };
    let piece = |parts: Value| json!({ "candidates": [{ "content": { "role": "model", "parts": parts } }] });
    let mut last = piece(json!([call("Oslo", None)]));
    last["candidates"][0]["finishReason"] = "STOP".into();
    last["usageMetadata"] = json!({ "promptTokenCount": 9, "candidatesTokenCount": 4, "thoughtsTokenCount": 3 });
    let pieces = vec![
        piece(json!([{ "text": "Two cities.", "thought": true }])),
        piece(json!([{ "text": "I " }])),
        piece(json!([{ "text": "look." }, call("Vienna", Some("sig"))])),
        last,
    ];
    Spoken {
        provider: Provider::Gemini,
        path: "",
        called: "/v1beta/models/gemini-test:streamgeneratecontent?alt=sse",
        stream: events(&pieces),
        whole: pieces.into(),
        kept: ("/contents/1/parts/1/thoughtSignature", "sig".into()),
        refusal: "Invalid thought_signature in functionCall",
    }
}

fn ollama() -> Spoken {
    let call = |city: &str| json!({ "function": { "name": "weather", "arguments": { "city": city } } });
    let said = |message: Value| json!({ "model": "m", "message": message, "done": false });
    let pieces = [
        said(json!({ "role": "assistant", "content": "", "thinking": "Two " })),
        said(json!({ "role": "assistant", "content": "", "thinking": "cities." })),
        said(json!({ "role": "assistant", "content": "I look." })),
        said(json!({ "role": "assistant", "content": "", "tool_calls": [call("Vienna")] })),
        said(json!({ "role": "assistant", "content": "", "tool_calls": [call("Oslo")] })),
        json!({ "message": { "content": "" }, "done": true, "done_reason": "stop", "prompt_eval_count": 9, "eval_count": 7 }),
    ];
    Spoken {
        provider: Provider::Ollama,
        path: "",
        called: "/api/chat",
        stream: pieces.iter().map(|piece| format!("{piece}\n")).collect(),
        whole: json!({
            "message": {
                "role": "assistant", "content": "I look.", "thinking": "Two cities.",
                "tool_calls": [call("Vienna"), call("Oslo")],
            },
            "done": true, "done_reason": "stop", "prompt_eval_count": 9, "eval_count": 7,
        }),
        kept: ("/messages/2/thinking", "Two cities.".into()),
        refusal: "`thinking` is not supported by this model",
    }
}

fn build(spoken: &Spoken, name: &str, server: &Server) -> Arc<dyn Model> {
    let mut config = config(spoken.provider, &(server.url.clone() + spoken.path));
    config.name = name.to_owned();
    model::build(&config).unwrap()
}

/// The question, the model's answer, and the results of its calls.
fn next_request(reply: &model::Reply) -> Request {
    let labelled = |part: RequestPart| Labelled::new(part, Label::trusted(), Scope::Shared);
    let (mut spoken, mut results) = (Message::new(Role::Assistant), Message::new(Role::Tool));
    spoken.push(labelled(RequestPart::Text(text(reply).into())));
    for call in reply.calls() {
        let call = call.open().0;
        let (id, name): (Arc<str>, Arc<str>) = (call.id.as_str().into(), call.name.as_str().into());
        let (arguments, extra) = (call.arguments.as_str().into(), call.extra.as_str().into());
        spoken.push(labelled(RequestPart::Call { id: Arc::clone(&id), name: Arc::clone(&name), arguments, extra }));
        results.push(labelled(RequestPart::Result { id, name, text: "Rain".into() }));
    }
    let mut request = ask();
    request.push(Arc::new(spoken)).unwrap();
    request.push(Arc::new(results)).unwrap();
    request
}

/// Promise (models/same-answer): Through each protocol an answer has the same words, calls and counts,
/// streamed or whole; the thinking before its calls goes back unchanged to the model that gave it, to no
/// other, and not once the server has refused it.
#[tokio::test]
async fn each_protocol_says_the_same_and_keeps_the_thinking() {
    for spoken in [messages(), responses(), gemini(), ollama()] {
        let provider = spoken.provider;
        let whole = || Script::whole("200 OK\r\ncontent-type: application/json", &spoken.whole.to_string());
        let refused = json!({ "error": { "message": spoken.refusal } }).to_string();
        let scripts = vec![
            Script::whole("200 OK\r\ncontent-type: text/event-stream", &spoken.stream),
            whole(),
            whole(),
            whole(),
            Script::whole("400 Bad Request", &refused),
            whole(),
        ];
        let server = Server::play(scripts).await;
        let model = build(&spoken, "gemini-test", &server);
        let replies = [model.call(&ask(), &NullSink).await.unwrap(), model.call(&ask(), &NullSink).await.unwrap()];
        assert!(server.head().starts_with(&format!("post {} ", spoken.called)), "{}", server.head());
        for reply in &replies {
            assert_eq!((text(reply), reply.stop), ("I look.", Stop::Tools), "{provider:?}");
            assert_eq!(reply.usage, Usage { input: 9, cached: 0, output: 7 }, "{provider:?}");
            let calls: Vec<_> = reply.calls().iter().map(|call| call.open().0).collect();
            assert_eq!(
                calls.iter().map(|call| (call.name.as_str(), call.arguments.as_str())).collect::<Vec<_>>(),
                [("weather", r#"{"city":"Vienna"}"#), ("weather", r#"{"city":"Oslo"}"#)],
                "{provider:?}"
            );
            assert_ne!(calls[0].id, calls[1].id, "{provider:?}");
        }
        assert_eq!(replies[0].calls(), replies[1].calls(), "{provider:?}");

        let (place, kept) = &spoken.kept;
        let request = next_request(&replies[0]);
        model.call(&request, &NullSink).await.unwrap();
        assert_eq!(server.body().pointer(place), Some(kept), "{provider:?}: {}", server.body());
        build(&spoken, "other", &server).call(&request, &NullSink).await.unwrap();
        assert_ne!(server.body().pointer(place), Some(kept), "{provider:?}");
        model.call(&request, &NullSink).await.unwrap();
        assert_ne!(server.body().pointer(place), Some(kept), "{provider:?}");
        assert!(server.body().get("include").is_none());
        assert!(!model.server().unwrap().learned().sends(Field::Reasoning), "{provider:?}");
    }
}

/// Proves: models/thinking-returned
#[tokio::test]
async fn gemini_gets_a_word_in_place_of_a_signature_that_it_wants() {
    let spoken = gemini();
    let whole = || Script::whole("200 OK", &spoken.whole.to_string());
    let missing = "Function call is missing a thought_signature in functionCall parts. This is required for tools";
    let refused = json!({ "error": { "code": 400, "message": missing, "status": "INVALID_ARGUMENT" } }).to_string();
    let server = Server::play(vec![whole(), Script::whole("400 Bad Request", &refused), whole()]).await;
    let reply = build(&spoken, "other", &server).call(&ask(), &NullSink).await.unwrap();
    build(&spoken, "gemini-3", &server).call(&next_request(&reply), &NullSink).await.unwrap();
    let parts = &server.body()["contents"][1]["parts"];
    assert_eq!(parts[1]["thoughtSignature"], "skip_thought_signature_validator", "{parts}");
    assert!(parts[2].get("thoughtSignature").is_none(), "{parts}");
}

/// Promise (models/ollama-window): Ollama is told the window that a model shall have, so it leaves out
/// nothing silently.
#[tokio::test]
async fn ollama_is_told_its_window() {
    let spoken = ollama();
    let server = Server::play(vec![Script::whole("200 OK", &spoken.stream)]).await;
    build(&spoken, "small", &server).call(&ask(), &NullSink).await.unwrap();
    assert_eq!(server.body()["options"], json!({ "num_ctx": 10_000, "num_predict": 500 }));
    assert_eq!(server.body()["stream"], true);
}

/// Proves: models/same-answer
#[tokio::test]
async fn an_answer_that_breaks_off_is_none_through_each_protocol() {
    for spoken in [messages(), responses(), gemini(), ollama()] {
        // Before the event that tells the end, at each of its bytes.
        let end = ["message_delta", "response.completed", "\"Oslo\"", "\"done\":true"]
            .iter()
            .filter_map(|sign| spoken.stream.find(sign))
            .max()
            .unwrap();
        let bytes = spoken.stream.as_bytes();
        let scripts = (0..end).step_by(7).map(|end| Script::cut(&[&bytes[..end.max(1)]])).collect();
        let server = Server::play(scripts).await;
        let model = build(&spoken, "m", &server);
        for end in (0..end).step_by(7) {
            let result = model.call(&ask(), &NullSink).await;
            assert!(
                result.as_ref().is_err_and(model::ModelError::is_transient),
                "{:?} {end}: {result:?}",
                spoken.provider
            );
        }
    }
}
