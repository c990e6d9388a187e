//! A scripted model that records every request.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use compline::model::{
    Model, ModelError, ModelInfo, Purpose, Reply, Request, RequestPart, Role, Server, Stop, StreamSink, ToolCall, Usage,
};
use compline::time::Clock;

/// One scripted reaction to a request.
#[derive(Clone)]
pub enum Say {
    /// Answers with a text.
    Text(String),
    /// Calls tools: name and JSON arguments.
    Calls(Vec<(String, String)>),
    /// Answers with a text that ends for this reason.
    Ends(String, Stop),
    /// Answers, and reports this usage.
    Counted(String, Usage),
    /// Fails.
    Fail(ModelError),
    /// Streams its answer in pieces, with simulated time before each.
    Grow(Vec<(Duration, String)>),
    /// Waits for the gate, then continues with the script.
    Hold(Gate),
}

/// A gate that a story opens.
#[derive(Clone, Default)]
pub struct Gate(Arc<tokio::sync::Notify>, Arc<tokio::sync::Notify>);

impl Gate {
    /// Lets the model continue.
    pub fn open(&self) {
        self.0.notify_one();
    }

    /// Completes when the model has reached the gate.
    pub async fn reached(&self) {
        self.1.notified().await;
    }
}

type Answering = Box<dyn Fn(&Request) -> Say + Send + Sync>;

/// A model with a script.
pub struct Scripted {
    info: ModelInfo,
    clock: Arc<dyn Clock>,
    script: Mutex<VecDeque<Say>>,
    otherwise: Mutex<Answering>,
    requests: Mutex<Vec<Request>>,
    counted: Mutex<Option<u64>>,
    /// What is known of its server.
    pub server: Server,
}

impl Scripted {
    /// Answers "ok" to chats and a plain summary to summaries unless scripted otherwise.
    pub fn new(clock: Arc<dyn Clock>) -> Arc<Self> {
        let info = ModelInfo {
            provider: "scripted".to_owned(),
            name: "scripted".to_owned(),
            context_window: 100_000,
            max_output: 1_000,
            images: true,
            price: None,
        };
        Self::with_card(clock, info)
    }

    /// Creates a model with other properties.
    pub fn with_card(clock: Arc<dyn Clock>, info: ModelInfo) -> Arc<Self> {
        Arc::new(Self {
            info,
            clock,
            script: Mutex::default(),
            otherwise: Mutex::new(Box::new(usual)),
            requests: Mutex::default(),
            counted: Mutex::default(),
            server: Server::default(),
        })
    }

    /// Appends a reaction to the script.
    pub fn then(&self, say: Say) -> &Self {
        self.script.lock().unwrap().push_back(say);
        self
    }

    /// Appends an answer to the script.
    pub fn says(&self, text: &str) -> &Self {
        self.then(Say::Text(text.to_owned()))
    }

    /// Appends a tool call to the script.
    pub fn calls(&self, tool: &str, arguments: serde_json::Value) -> &Self {
        self.then(Say::Calls(vec![(tool.to_owned(), arguments.to_string())]))
    }

    /// Appends a failure to the script.
    pub fn fails(&self, error: ModelError) -> &Self {
        self.then(Say::Fail(error))
    }

    /// Sets the reaction for an empty script.
    pub fn otherwise(&self, answering: impl Fn(&Request) -> Say + Send + Sync + 'static) {
        *self.otherwise.lock().unwrap() = Box::new(answering);
    }

    /// All requests.
    pub fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }

    /// All requests after the first `count`.
    pub fn requests_since(&self, count: usize) -> Vec<Request> {
        self.requests.lock().unwrap().iter().skip(count).cloned().collect()
    }

    /// Number of requests.
    pub fn asked(&self) -> usize {
        self.requests.lock().unwrap().len()
    }

    /// Reports this number of tokens for each call from now on, independent of its content.
    pub fn counts(&self, tokens: u64) {
        *self.counted.lock().unwrap() = Some(tokens);
    }

    /// Chat requests.
    pub fn chats(&self) -> Vec<Request> {
        self.requests().into_iter().filter(|request| request.purpose() == Purpose::Chat).collect()
    }

    /// Summary requests.
    pub fn summaries(&self) -> Vec<Request> {
        self.requests().into_iter().filter(|request| request.purpose() == Purpose::Summary).collect()
    }

    /// The newest chat request as text.
    pub fn last_prompt(&self) -> String {
        self.chats().last().map(words).unwrap_or_default()
    }

    fn next(&self, request: &Request) -> Say {
        let scripted = self.script.lock().unwrap().pop_front();
        scripted.unwrap_or_else(|| (self.otherwise.lock().unwrap_or_else(PoisonError::into_inner))(request))
    }
}

/// The default answer for the purpose of a request.
pub fn usual(request: &Request) -> Say {
    Say::Text(match request.purpose() {
        Purpose::Chat | Purpose::Task | Purpose::Transcription | Purpose::Embedding => "ok".to_owned(),
        Purpose::Extraction => "[]".to_owned(),
        Purpose::Heartbeat => "HEARTBEAT_OK".to_owned(),
        Purpose::Reflection => {
            r#"{"title": "A day", "observations": ["It was a day."], "patterns": [], "proposed_actions": []}"#
                .to_owned()
        }
        Purpose::Review => r#"{"verdict": "safe", "reasons": "Nothing in it works against anybody."}"#.to_owned(),
        Purpose::Summary => {
            r#"{"title": "A talk", "topics": ["talk"], "decisions": [], "preferences": [], "closed": [], "new": []}"#
                .to_owned()
        }
    })
}

#[async_trait]
impl Model for Scripted {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn server(&self) -> Option<&Server> {
        Some(&self.server)
    }

    async fn call(&self, request: &Request, live: &dyn StreamSink) -> Result<Reply, ModelError> {
        self.requests.lock().unwrap().push(request.clone());
        let reply = |text: &str, calls: Vec<ToolCall>| {
            let stop = if calls.is_empty() { Stop::End } else { Stop::Tools };
            let told = *self.counted.lock().unwrap();
            let input = told.map_or_else(|| request.estimate_tokens(), |tokens| tokens.saturating_sub(10));
            let usage = Usage { input, cached: 0, output: 10 };
            Ok(Reply::to(request, text, calls, stop, usage, "scripted/scripted".to_owned()))
        };
        loop {
            match self.next(request) {
                Say::Text(text) => {
                    live.append(&text);
                    return reply(&text, Vec::new());
                }
                Say::Counted(text, usage) => {
                    return Ok(Reply::to(request, &text, Vec::new(), Stop::End, usage, "scripted/scripted".to_owned()));
                }
                Say::Ends(text, stop) => {
                    live.append(&text);
                    let mut ended = reply(&text, Vec::new())?;
                    ended.stop = stop;
                    return Ok(ended);
                }
                Say::Fail(error) => return Err(error),
                Say::Calls(calls) => {
                    let calls = calls.into_iter().enumerate().map(|(n, (name, arguments))| ToolCall {
                        id: format!("call_{n}"),
                        name,
                        arguments,
                        extra: String::new(),
                    });
                    return reply("", calls.collect());
                }
                Say::Grow(pieces) => {
                    let mut whole = String::new();
                    for (pause, piece) in pieces {
                        compline::time::clock::suspend_activity(&*self.clock, pause).await;
                        live.append(&piece);
                        whole.push_str(&piece);
                    }
                    return reply(&whole, Vec::new());
                }
                Say::Hold(gate) => {
                    gate.1.notify_one();
                    gate.0.notified().await;
                }
            }
        }
    }
}

/// All words of a request, each message marked with its role.
pub fn words(request: &Request) -> String {
    let mut all = String::new();
    for message in request.messages() {
        let who = match message.role() {
            Role::System => "system",
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::Tool => "tool",
        };
        for part in message.parts() {
            let text = match part.open().0 {
                RequestPart::Text(text) => text.to_string(),
                RequestPart::Image { bytes, .. } => format!("(picture of {} bytes)", bytes.len()),
                RequestPart::Call { name, arguments, .. } => format!("(calls {name} {arguments})"),
                RequestPart::Result { name, text, .. } => format!("({name} gave) {text}"),
            };
            all.push_str(&format!("{who}: {text}\n"));
        }
    }
    all
}
