//! Our own client for the OpenAI protocol, which checks the stream exactly.

use std::sync::Arc;
use std::time::Duration;

use compline::config::{self, Provider};
use compline::model::transcribe::Transcript;
use compline::model::{
    self, AnswerFormat, Message, ModelError, NullSink, Reply, RequestPart, Role, Stop, ToolSpec, Usage,
};
use compline::trust::{Label, Labelled, Scope};

use super::script::{Script, Server, ask, call, call_in_haste, config, later, silent, text};

const HELLO: &[u8] = b"data: {\"choices\":[{\"delta\":{\"content\":\"Hello\"}}]}\n\n";
const STOP: &[u8] = b"data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
const DONE: &[u8] = b"data: [DONE]\n\n";

async fn openai(script: Script) -> Result<Reply, ModelError> {
    call(Provider::OpenAi, script).await
}

#[tokio::test]
async fn a_stream_is_whole_only_when_the_server_says_so() {
    for whole in [&[HELLO, STOP, DONE] as &[&[u8]], &[HELLO, STOP], &[HELLO, DONE], &[HELLO, b"data: [DONE]"]] {
        assert_eq!(text(&openai(Script::stream(whole)).await.unwrap()), "Hello");
    }
    for part in [
        &[HELLO] as &[&[u8]],
        &[],
        &[HELLO, b"data: {\"choices\":[{\"delta\":{\"cont"],
        &[HELLO, b"data: ]]\n\n", STOP],
    ] {
        assert_eq!(openai(Script::stream(part)).await, Err(ModelError::Cut), "{part:?}");
    }
    assert_eq!(openai(Script::cut(&[HELLO])).await, Err(ModelError::Cut));
    assert_eq!(text(&openai(Script::cut(&[HELLO, STOP])).await.unwrap()), "Hello");
}

#[tokio::test]
async fn an_error_inside_a_stream_is_an_error() {
    let error: &[u8] = b"data: {\"error\":{\"message\":\"overloaded\",\"code\":502}}\n\n";
    assert_eq!(openai(Script::stream(&[HELLO, error, STOP, DONE])).await, Err(later("HTTP 502")));
    let spent: &[u8] = b"data: {\"error\":{\"message\":\"x\",\"code\":\"insufficient_quota\"}}\n\n";
    assert_eq!(openai(Script::stream(&[spent, DONE])).await, Err(ModelError::NoCredit));
    let filtered: &[u8] = b"data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"content_filter\"}]}\n\n";
    assert_eq!(openai(Script::stream(&[HELLO, filtered, DONE])).await, Err(ModelError::Refused));
}

#[tokio::test]
async fn silence_is_waited_out_and_no_longer() {
    let hasty = |script| call_in_haste(Provider::OpenAi, script);
    let never = Script { pieces: vec![], then_silent: true };
    assert_eq!(hasty(never).await, silent());
    let stalled = Script::cut(&[HELLO]).silent();
    assert_eq!(hasty(stalled).await, silent());
    let done = Script::cut(&[HELLO, STOP]).silent();
    assert_eq!(text(&hasty(done).await.unwrap()), "Hello");
    for provider in [Provider::Anthropic, Provider::Gemini] {
        let never = Script { pieces: vec![], then_silent: true };
        assert_eq!(call_in_haste(provider, never).await, silent(), "{provider:?}");
        let stalled = Script::cut(&[b": nothing\n\n"]).silent();
        assert_eq!(call_in_haste(provider, stalled).await, silent(), "{provider:?}");
    }
}

#[tokio::test]
async fn a_refusal_says_what_to_do() {
    let dated = "429 Too Many\r\ndate: Fri, 20 Nov 2026 18:05:00 GMT\r\nretry-after: Fri, 20 Nov 2026 18:05:09 GMT";
    for provider in [Provider::OpenAi, Provider::Anthropic, Provider::Gemini] {
        let busy = ModelError::Later { after: Some(Duration::from_secs(9)), what: "HTTP 429".to_owned() };
        assert_eq!(call(provider, Script::whole(dated, "")).await, Err(busy), "{provider:?}");
        for (head, expected) in [
            ("402 Payment Required", ModelError::NoCredit),
            ("401 Unauthorized", ModelError::BadKey),
            ("413 Too Large", ModelError::TooLong),
            ("500 Oh", later("HTTP 500")),
            ("404 Not Found", ModelError::Rejected("HTTP 404: no such model".to_owned())),
            (
                "307 Elsewhere\r\nlocation: http://127.0.0.1:9/",
                ModelError::Rejected("HTTP 307: no such model".to_owned()),
            ),
        ] {
            let script = Script::whole(head, r#"{"error":{"message":"no such model"}}"#);
            assert_eq!(call(provider, script).await, Err(expected), "{provider:?} {head}");
        }
    }
}

#[tokio::test]
async fn invalid_model_responses_are_distinguished() {
    for provider in [Provider::OpenAi, Provider::Anthropic, Provider::Gemini, Provider::Ollama] {
        let page = Script::whole("200 OK\r\ncontent-type: text/html; charset=utf-8", "<html>Log in");
        let expected = "it answers with text/html, not with a model's answer";
        assert_eq!(call(provider, page).await, Err(ModelError::Rejected(expected.to_owned())), "{provider:?}");
    }
    let garbage = Script::whole("200 OK\r\ncontent-type: application/json", "{\"choices\":");
    assert_eq!(openai(garbage).await, Err(ModelError::Cut));
    let huge = vec![b'a'; 2 << 20];
    assert_eq!(openai(Script::stream(&[b"data: ", &huge, b"\n\n", DONE])).await, Err(ModelError::Cut));
    for provider in [Provider::OpenAi, Provider::Anthropic, Provider::Gemini] {
        let nobody = model::build(&config(provider, "http://127.0.0.1:1")).unwrap();
        let refused = nobody.call(&ask(), &NullSink).await;
        assert_eq!(refused, Err(later("no connection to the server")), "{provider:?}");
    }
}

#[tokio::test]
async fn a_server_that_does_not_stream_is_understood() {
    let body = r#"{"choices":[{"message":{"content":"Hello","tool_calls":[{"id":"a","function":{"name":"f","arguments":{"x":1}}}]},
        "finish_reason":"tool_calls"}],"usage":{"prompt_tokens":9,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":4}}}"#;
    let reply = openai(Script::whole("200 OK\r\ncontent-type: application/json", body)).await.unwrap();
    assert_eq!((text(&reply), reply.stop), ("Hello", Stop::Tools));
    assert_eq!(reply.usage, Usage { input: 9, cached: 4, output: 2 });
    assert_eq!(reply.calls()[0].open().0.arguments, r#"{"x":1}"#);
}

/// Promise (models/odd-servers): What servers do differently from each other costs no answer: other
/// forms of fields that do not matter, a wrong type of content, parallel calls under one number.
#[tokio::test]
async fn only_text_calls_and_the_end_decide_about_an_answer() {
    let odd: [&[u8]; 4] = [
        br#"{"choices":[null,{"delta":{"content":"Hello","tool_calls":{}},"finish_reason":7}],"usage":{"prompt_tokens":"9","completion_tokens":2.5}}"#,
        br#"{"choices":[{"delta":{"tool_calls":[null],"refusal":[]}}],"usage":"none"}"#,
        br#"{"choices":{},"usage":null,"error":null}"#,
        br#"{"choices":[{"delta":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"prompt_tokens_details":[]}}"#,
    ];
    let lines: Vec<Vec<u8>> = odd.iter().map(|piece| [b"data: ", *piece, b"\n\n"].concat()).collect();
    let stream: Vec<&[u8]> = lines.iter().map(Vec::as_slice).collect();
    let reply = openai(Script::stream(&stream)).await.unwrap();
    assert_eq!((text(&reply), reply.stop, reply.usage.input), ("Hello", Stop::End, 9));

    let body = lines.concat();
    let body = std::str::from_utf8(&body).unwrap();
    let whole = r#"{"choices":[{"message":{"content":"Hello"},"finish_reason":"stop"}]}"#;
    for kind in [
        "",
        "content-type: text/plain\r\n",
        "content-type: application/json\r\n",
        "content-type: text/event-stream\r\n",
    ] {
        for body in [body, whole, &format!("\n\n : ping\n\n{body}"), &format!("  \n{whole}")] {
            let body = body.trim_start_matches("\n\n ");
            let head = format!("200 OK\r\n{kind}x-a: b");
            assert_eq!(text(&openai(Script::whole(&head, body)).await.unwrap()), "Hello", "{kind} {body}");
        }
    }
    let words = Script::whole("200 OK\r\ncontent-type: text/plain", "It works!");
    let expected = "it answers with text/plain, not with a model's answer";
    assert_eq!(openai(words).await, Err(ModelError::Rejected(expected.to_owned())));
}

/// Proves: models/odd-servers
#[tokio::test]
async fn parallel_calls_under_one_number_are_apart() {
    let stream = |pieces: &[&str]| {
        let line = |piece: &&str| {
            format!("data: {{\"choices\":[{{\"delta\":{{\"tool_calls\":[{piece}]}}}}]}}\n\n").into_bytes()
        };
        pieces.iter().map(line).collect::<Vec<_>>()
    };
    let table: [(&[&str], &[&str]); 6] = [
        (
            &[
                r#"{"index":0,"id":"call_0","function":{"name":"f","arguments":"{\"a\":1}"}}"#,
                r#"{"index":0,"id":"call_1","function":{"name":"f","arguments":"{\"a\":2}"}}"#,
                r#"{"index":0,"id":"call_2","function":{"name":"g","arguments":{"a":3}}}"#,
            ],
            &[r#"f{"a":1}"#, r#"f{"a":2}"#, r#"g{"a":3}"#],
        ),
        // Without ids, and without numbers.
        (
            &[
                r#"{"index":0,"function":{"name":"f","arguments":"{}"}},{"index":0,"function":{"name":"f","arguments":"{}"}}"#,
            ],
            &["f{}", "f{}"],
        ),
        (
            &[
                r#"{"function":{"name":"f","arguments":"{\"a\""}}"#,
                r#"{"function":{"arguments":":1}"}}"#,
                r#"{"function":{"name":"g","arguments":"{}"}}"#,
            ],
            &[r#"f{"a":1}"#, "g{}"],
        ),
        // Two calls under one id.
        (
            &[
                r#"{"index":0,"id":"x","function":{"name":"f","arguments":"{}"}}"#,
                r#"{"index":0,"id":"x","function":{"name":"g","arguments":"{}"}}"#,
            ],
            &["f{}", "g{}"],
        ),
        // One call, of which each piece says everything again.
        (
            &[
                r#"{"index":0,"id":"x","function":{"name":"f","arguments":"{\"a\":"}}"#,
                r#"{"index":0,"id":"x","function":{"name":"f","arguments":"{\"b\":1}"}}"#,
                r#"{"index":0,"id":"x","function":{"name":"f","arguments":"}"}}"#,
            ],
            &[r#"f{"a":{"b":1}}"#],
        ),
        // Pieces of two calls in turn.
        (
            &[
                r#"{"index":0,"id":"x","function":{"name":"f","arguments":""}},{"index":1,"id":"y","function":{"name":"g","arguments":""}}"#,
                r#"{"index":0,"function":{"arguments":"{}"}},{"index":1,"function":{"arguments":"{}"}}"#,
            ],
            &["f{}", "g{}"],
        ),
    ];
    for (pieces, expected) in table {
        let lines = stream(pieces);
        let mut lines: Vec<&[u8]> = lines.iter().map(Vec::as_slice).collect();
        lines.push(DONE);
        let reply = openai(Script::stream(&lines)).await.unwrap();
        let calls: Vec<_> = reply.calls().iter().map(|call| call.open().0.clone()).collect();
        let shape: Vec<_> = calls.iter().map(|call| format!("{}{}", call.name, call.arguments)).collect();
        assert_eq!(shape, expected, "{pieces:?}");
    }
}

/// Promise (models/half-answers): Half a sentence never counts as an answer: an end that is no good
/// end is tried again, and if that lasts, the answer says where it broke off.
#[tokio::test]
async fn an_end_that_is_not_good_is_a_broken_answer() {
    let ends_with = |reason: &str| {
        format!("data: {{\"choices\":[{{\"delta\":{{}},\"finish_reason\":\"{reason}\"}}]}}\n\n").into_bytes()
    };
    for (reasons, stop) in [
        (&["stop", "end_turn", "STOP", "eos", "stop_sequence", "complete", "function_call", ""][..], Stop::End),
        (&["length", "max_tokens", "MAX_TOKENS", "model_length", "max_output_tokens"], Stop::Length),
        (
            &[
                "error",
                "abort",
                "other",
                "unknown",
                "insufficient_system_resource",
                "repetition_truncation",
                "OTHER",
                "a_new_word",
            ],
            Stop::Broken,
        ),
    ] {
        for reason in reasons {
            let reply = openai(Script::stream(&[HELLO, &ends_with(reason), DONE])).await.unwrap();
            assert_eq!((text(&reply), reply.stop), ("Hello", stop), "{reason}");
        }
    }
    for reason in ["content_filter", "SAFETY", "sensitive", "refusal"] {
        assert_eq!(
            openai(Script::stream(&[HELLO, &ends_with(reason), DONE])).await,
            Err(ModelError::Refused),
            "{reason}"
        );
    }
    let call: &[u8] = br#"data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"x","function":{"name":"f","arguments":"{}"}}]}}]}"#;
    let broken = [call, b"\n\n", &ends_with("error"), DONE].concat();
    assert_eq!(openai(Script::stream(&[&broken])).await, Err(ModelError::Cut), "perhaps not all calls are there");
}

#[tokio::test]
async fn pieces_of_characters_and_of_calls_are_put_together() {
    let umlaut = "data: {\"choices\":[{\"delta\":{\"content\":\"Grüße 🌍\"}}]}\n\n".as_bytes();
    let cuts = (1..umlaut.len()).map(|cut| umlaut.split_at(cut));
    let server = Server::play(cuts.clone().map(|(a, b)| Script::stream(&[a, b, DONE])).collect()).await;
    let model = model::build(&config(Provider::OpenAi, &server.url)).unwrap();
    for _ in cuts {
        assert_eq!(text(&model.call(&ask(), &NullSink).await.unwrap()), "Grüße 🌍");
    }
    let call =
        |body: &str| format!("data: {{\"choices\":[{{\"delta\":{{\"tool_calls\":[{body}]}}}}]}}\n\n").into_bytes();
    let pieces = [
        call(
            r#"{"index":0,"id":"a","function":{"name":"f","arguments":""}},{"index":1,"id":"b","function":{"name":"g"}}"#,
        ),
        call(r#"{"index":1,"function":{"arguments":"{\"y\""}}"#),
        call(r#"{"index":0,"function":{"arguments":"not json"}}"#),
        call(r#"{"index":1,"id":"b","function":{"name":"g","arguments":":2}"}}"#),
    ];
    let mut stream: Vec<&[u8]> = pieces.iter().map(Vec::as_slice).collect();
    stream.push(DONE);
    let reply = openai(Script::stream(&stream)).await.unwrap();
    let calls: Vec<_> = reply.calls().iter().map(|call| call.open().0.clone()).collect();
    let shape: Vec<_> = calls.iter().map(|call| (&*call.id, &*call.name, &*call.arguments)).collect();
    assert_eq!(shape, [("a", "f", "not json"), ("b", "g", r#"{"y":2}"#)]);
    let bare = [call(r#"{"function":{"name":"f","arguments":"{}"}}"#)];
    let reply = openai(Script::stream(&[&bare[0], DONE])).await.unwrap();
    assert_eq!(reply.calls()[0].open().0.id, "call_2_0");
}

#[tokio::test]
async fn the_request_is_what_every_server_understands() {
    let server = Server::play(vec![Script::stream(&[HELLO, DONE])]).await;
    let mut request = ask();
    let mut made = Message::new(Role::Assistant);
    let part = RequestPart::Call { id: "a".into(), name: "f".into(), arguments: "{\"x".into(), extra: "".into() };
    made.push(Labelled::new(part, Label::trusted(), Scope::Shared));
    let mut question = Message::of(Role::User, Labelled::new("Look".into(), Label::trusted(), Scope::Shared));
    let image = RequestPart::Image { mime: "image/png".into(), bytes: Arc::from([1_u8, 2, 3]) };
    question.push(Labelled::new(image, Label::trusted(), Scope::Shared));
    request.push(Arc::new(made)).unwrap();
    request.push(Arc::new(question.cached())).unwrap();
    model::build(&config(Provider::OpenAi, &server.url)).unwrap().call(&request, &NullSink).await.unwrap();
    let expected = serde_json::json!({
        "model": "qwen-max",
        "messages": [
            { "role": "system", "content": "Be brief." },
            { "role": "user", "content": "Hello" },
            { "role": "assistant", "content": null, "tool_calls": [
                { "id": "call00001", "type": "function", "function": { "name": "f", "arguments": "{\"unreadable\":\"{\\\"x\"}" } },
            ] },
            { "role": "tool", "tool_call_id": "call00001", "content": "There is no result: the call was interrupted." },
            { "role": "assistant", "content": "I have the results." },
            { "role": "user", "content": [
                { "type": "text", "text": "Look" },
                { "type": "image_url", "image_url": { "url": "data:image/png;base64,AQID" } },
            ] },
        ],
        "stream": true,
        "stream_options": { "include_usage": true },
        "max_tokens": 500,
    });
    assert_eq!(server.body(), expected);
    assert!(server.head().starts_with("post /v1/chat/completions "), "{}", server.head());
    assert!(server.head().contains("authorization: bearer sk-very-secret"));
}

#[tokio::test]
async fn json_mode_is_asked_for_until_the_server_refuses_it() {
    let refused = || Script::whole("400 Bad Request", r#"{"error":{"message":"response_format is not supported"}}"#);
    let answer = || Script::stream(&[HELLO, DONE]);
    let server = Server::play(vec![answer(), answer(), refused(), refused(), refused(), answer(), answer()]).await;
    let model = model::build(&config(Provider::OpenAi, &server.url)).unwrap();
    let json = || ask().with_format(AnswerFormat::Json("{\"type\": \"object\"}"));
    let mode = || server.body().get("response_format").cloned();
    let asked_for = Some(serde_json::json!({ "type": "json_object" }));

    model.call(&json(), &NullSink).await.unwrap();
    assert_eq!(mode(), asked_for);
    let tool = ToolSpec { name: "f".to_owned(), description: String::new(), schema: serde_json::json!({}) };
    model.call(&json().with_tools(Arc::from([tool])), &NullSink).await.unwrap();
    assert_eq!(mode(), None, "not together with tools");

    assert!(model.call(&json(), &NullSink).await.is_err(), "refused with and without it");
    assert_eq!(mode(), None);
    model.call(&json(), &NullSink).await.unwrap();
    model.call(&json(), &NullSink).await.unwrap();
    assert_eq!(mode(), None, "a server that refused it is not asked for it again");
    assert_eq!(server.count(), 7);
}

#[tokio::test]
async fn thinking_is_no_part_of_an_answer() {
    let piece = |field: &str, words: &str| {
        format!("data: {}\n\n", serde_json::json!({ "choices": [{ "delta": { field: words } }] }))
    };
    let pieces = [piece("reasoning_content", "Hm."), piece("reasoning", "Hm."), piece("content", "<think>Hm.</th")];
    let pieces = pieces.into_iter().chain([piece("content", "ink>\n\nHello")]).collect::<String>();
    assert_eq!(text(&openai(Script::stream(&[pieces.as_bytes(), STOP, DONE])).await.unwrap()), "Hello");
}

#[tokio::test]
async fn an_empty_key_sends_none() {
    let server = Server::play(vec![Script::stream(&[HELLO, DONE])]).await;
    let mut config = config(Provider::Ollama, &server.url);
    config.api_key = Some("".into());
    model::build(&config).unwrap().call(&ask(), &NullSink).await.unwrap();
    assert!(!server.head().contains("authorization"));
}

#[tokio::test]
async fn a_recording_becomes_words() {
    let scripts = vec![
        Script::whole("200 OK\r\ncontent-type: application/json", r#"{"text":" Good morning. "}"#),
        Script::whole("200 OK", r#"{"text":"a","usage":{"type":"duration","seconds":7.2}}"#),
        Script::whole(
            "200 OK",
            r#"{"text":"b","usage":{"type":"tokens","input_tokens":90,"output_tokens":5,"input_token_details":{"audio_tokens":81}}}"#,
        ),
        Script::whole("200 OK", r#"{"text":"c","usage":"nonsense"}"#),
        Script::whole("503 Busy\r\nretry-after: 3", ""),
        Script::whole("200 OK", "<html>"),
    ];
    let server = Server::play(scripts).await;
    let config = config::Transcription {
        base_url: server.url.clone(),
        name: "whisper-1".to_owned(),
        api_key: Some("sk-very-secret".into()),
        price_per_minute: None,
    };
    let hear = || model::transcribe::transcribe(&config, b"OggS".to_vec(), "audio/ogg");
    let words = |text: &str| Transcript { text: text.to_owned(), ..Transcript::default() };
    assert_eq!(hear().await.unwrap(), words("Good morning."));
    assert_eq!(hear().await.unwrap(), Transcript { seconds: Some(8), ..words("a") });
    assert_eq!(hear().await.unwrap(), Transcript { seconds: Some(9), tokens: Some((90, 5)), ..words("b") });
    assert_eq!(hear().await.unwrap(), words("c"), "a count that cannot be read costs no words");
    let asked = server.asked.lock().unwrap()[0].clone();
    for part in ["POST /v1/audio/transcriptions ", "name=\"model\"\r\n\r\nwhisper-1", "filename=\"voice.ogg\"", "OggS"]
    {
        assert!(asked.contains(part), "{part} in {asked}");
    }
    let busy = ModelError::Later { after: Some(Duration::from_secs(3)), what: "HTTP 503".to_owned() };
    assert_eq!(hear().await, Err(busy));
    assert_eq!(hear().await, Err(ModelError::Cut), "the server took it, so it may charge for it");
}

#[tokio::test]
async fn every_saved_stream_is_an_answer_or_a_clear_error() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/corpus/stream");
    let mut read = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        for provider in [Provider::OpenAi, Provider::Anthropic, Provider::Gemini] {
            if let Err(error) = call(provider, Script::stream(&[&bytes])).await {
                assert!(!error.to_string().is_empty() && error.to_string().len() < 400, "{error}");
            }
        }
        read += 1;
    }
    assert!(read >= 10, "the corpus is missing");
}
