//! A model that says what the story wants, and remembers everything it was asked.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use compline::model::{
    Model, ModelError, ModelInfo, Purpose, Reply, Request, RequestPart, Role, Stop, StreamSink, ToolCall, Usage,
};
use compline::time::Clock;

/// What the model does when it is asked.
#[derive(Clone)]
pub enum Say {
    /// Answers.
    Text(String),
    /// Calls tools: name and JSON arguments.
    Calls(Vec<(String, String)>),
    /// Answers, with what the provider counted.
    Counted(String, Usage),
    /// Gives no answer.
    Fail(ModelError),
    /// Lets its answer grow piece by piece, with simulated time before each.
    Grow(Vec<(Duration, String)>),
    /// Waits for the gate before it goes on with the next thing in the script.
    Hold(Gate),
}

/// A gate that a story opens.
#[derive(Clone, Default)]
pub struct Gate(Arc<tokio::sync::Notify>, Arc<tokio::sync::Notify>);

impl Gate {
    /// Lets the model go on.
    pub fn open(&self) {
        self.0.notify_one();
    }

    /// Completes when the model has come to the gate.
    pub async fn reached(&self) {
        self.1.notified().await;
    }
}

type Answering = Box<dyn Fn(&Request) -> Say + Send + Sync>;

/// The scripted model.
pub struct Scripted {
    card: ModelInfo,
    clock: Arc<dyn Clock>,
    script: Mutex<VecDeque<Say>>,
    otherwise: Mutex<Answering>,
    requests: Mutex<Vec<Request>>,
    counted: Mutex<Option<u64>>,
}

impl Scripted {
    /// A model that answers "ok" to chats and a plain summary to summaries, unless the story says
    /// otherwise.
    pub fn new(clock: Arc<dyn Clock>) -> Arc<Self> {
        let card = ModelInfo {
            provider: "scripted".to_owned(),
            name: "scripted".to_owned(),
            context_window: 100_000,
            max_output: 1_000,
            images: true,
            price: None,
        };
        Self::with_card(clock, card)
    }

    /// The same with another card.
    pub fn with_card(clock: Arc<dyn Clock>, card: ModelInfo) -> Arc<Self> {
        Arc::new(Self {
            card,
            clock,
            script: Mutex::default(),
            otherwise: Mutex::new(Box::new(usual)),
            requests: Mutex::default(),
            counted: Mutex::default(),
        })
    }

    /// The next thing it does, after what was said before.
    pub fn then(&self, say: Say) -> &Self {
        self.script.lock().unwrap().push_back(say);
        self
    }

    /// The next thing it answers.
    pub fn says(&self, text: &str) -> &Self {
        self.then(Say::Text(text.to_owned()))
    }

    /// The next thing it does is to call a tool.
    pub fn calls(&self, tool: &str, arguments: serde_json::Value) -> &Self {
        self.then(Say::Calls(vec![(tool.to_owned(), arguments.to_string())]))
    }

    /// The next thing it does is to fail.
    pub fn fails(&self, error: ModelError) -> &Self {
        self.then(Say::Fail(error))
    }

    /// What it does when the script is at its end.
    pub fn otherwise(&self, answering: impl Fn(&Request) -> Say + Send + Sync + 'static) {
        *self.otherwise.lock().unwrap() = Box::new(answering);
    }

    /// Everything it was asked.
    pub fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }

    /// Everything it was asked after the first `count` requests.
    pub fn requests_since(&self, count: usize) -> Vec<Request> {
        self.requests.lock().unwrap().iter().skip(count).cloned().collect()
    }

    /// How often it was asked.
    pub fn asked(&self) -> usize {
        self.requests.lock().unwrap().len()
    }

    /// From now on it counts so many tokens for each call, answer included, whatever was sent.
    pub fn counts(&self, tokens: u64) {
        *self.counted.lock().unwrap() = Some(tokens);
    }

    /// What it was asked for chats.
    pub fn chats(&self) -> Vec<Request> {
        self.requests().into_iter().filter(|request| request.purpose() == Purpose::Chat).collect()
    }

    /// What it was asked for summaries.
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

/// A plain answer of the kind that was asked for.
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
            r#"{"title": "A talk", "topics": ["talk"], "decisions": [], "preferences": [], "pending": []}"#.to_owned()
        }
    })
}

#[async_trait]
impl Model for Scripted {
    fn card(&self) -> &ModelInfo {
        &self.card
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

/// All the words of a request, with a mark for each speaker.
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
