//! Tests a model and the channels with real requests, within ten seconds, and reports the result in
//! a sentence.

use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use super::config::shell;
use super::print::CliError;
use crate::adapter::PollError;
use crate::adapter::signal::{DaemonProbe, Signal};
use crate::adapter::telegram::{BotInfo, Telegram};
use crate::config::{self, SignalEndpoint};
use crate::model::{
    self, AnswerFormat, Field, Message, ModelError, NullSink, Purpose, Request, RequestPart, Role, ToolSpec,
};
use crate::time::SystemClock;
use crate::time::clock::real_sleep;
use crate::trust::{Labelled, Scope, WrongScope};
use crate::wording;
use crate::wording::cli as says;
use crate::wording::search as of_meaning;

/// Time limit of a test, because a person is waiting.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Token limit: more than one word needs, because some models reason first.
const MAX_TOKENS: u64 = 200;

/// A problem and its fix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProbeProblem {
    /// Problem.
    pub what: String,
    /// Fix.
    pub fix: String,
}

impl ProbeProblem {
    fn new(what: impl Into<String>, fix: &str) -> Self {
        Self { what: what.into(), fix: fix.to_owned() }
    }
}

/// Asks a model for one word.
pub async fn model(config: &config::Model) -> Result<(), ProbeProblem> {
    ask_model(config).await.map_err(|error| ProbeProblem::new(error.in_full(), fix_of(&error)))
}

/// Does the same, and returns the model's own error.
pub async fn ask_model(config: &config::Model) -> Result<(), ModelError> {
    let rejected = |error: anyhow::Error| ModelError::Rejected(format!("{error:#}"));
    let model = model::build(config).map_err(rejected)?;
    let question = wording::own(says::PROBE, Scope::Shared);
    let mut request = Request::new(Scope::Shared, Purpose::Chat).with_max_output(MAX_TOKENS);
    request.text(Role::User, question).map_err(|error| rejected(error.into()))?;
    tokio::select! {
        answered = model.call(&request, &NullSink) => answered.map(drop),
        () = real_sleep(TIMEOUT) => Err(ModelError::Later { after: None, what: says::no_answer_within(TIMEOUT) }),
    }
}

/// A part of the protocol that not every server has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelPart {
    /// Calls of tools.
    Tools,
    /// Answers in JSON.
    Json,
    /// Pictures.
    Pictures,
}

/// Asks a model with tools, in JSON and with a picture, if it is configured to take one. Returns what
/// came of each: an error is one of its server, and one that only leaves the part out is `Rejected`.
pub async fn model_parts(config: &config::Model) -> Vec<(ModelPart, Result<(), ModelError>)> {
    let Ok(model) = model::build(config) else { return Vec::new() };
    let mut tried = Vec::new();
    for (part, field) in
        [(ModelPart::Tools, Field::Tools), (ModelPart::Json, Field::JsonMode), (ModelPart::Pictures, Field::Pictures)]
    {
        if part == ModelPart::Pictures && !config.images {
            continue;
        }
        let Ok(request) = request_with(part) else { continue };
        let answered = tokio::select! {
            answered = model.call(&request, &NullSink) => answered.map(drop),
            () = real_sleep(TIMEOUT) => Err(ModelError::Silent(TIMEOUT)),
        };
        let is_left_out = model.server().is_some_and(|server| !server.learned().sends(field));
        let refused = || ModelError::Rejected(says::PART_REFUSED.to_owned());
        tried.push((part, answered.and_then(|()| if is_left_out { Err(refused()) } else { Ok(()) })));
    }
    tried
}

fn request_with(part: ModelPart) -> Result<Request, WrongScope> {
    let request = Request::new(Scope::Shared, Purpose::Chat).with_max_output(MAX_TOKENS);
    let mut request = match part {
        ModelPart::Json => request.with_format(AnswerFormat::Json(r#"{"type":"object","properties":{"ready":{"type":"boolean"}},"required":["ready"],"additionalProperties":false}"#)),
        ModelPart::Tools => {
            let schema = serde_json::json!({ "type": "object", "properties": { "word": { "type": "string" } } });
            let (name, description) = ("say_ready".to_owned(), says::PROBE_TOOL.to_owned());
            request.with_tools(Arc::from([ToolSpec { name, description, schema }]))
        }
        ModelPart::Pictures => request,
    };
    let words = if part == ModelPart::Json { says::PROBE_JSON } else { says::PROBE };
    let mut question = Message::of(Role::User, wording::own(words, Scope::Shared));
    if part == ModelPart::Pictures {
        let image = RequestPart::Image { mime: Arc::from("image/png"), bytes: Arc::from(grey_square()) };
        question.push(Labelled::new(image, wording::own(words, Scope::Shared).label().clone(), Scope::Shared));
    }
    request.push(Arc::new(question))?;
    Ok(request)
}

/// A PNG of 64 by 64 grey pixels: some models take no smaller picture.
fn grey_square() -> Vec<u8> {
    const SIDE: u8 = 64;
    let row = [&[0_u8][..], &[128; SIDE as usize][..]].concat();
    let mut pixels = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    let _ = (0..SIDE).try_for_each(|_| pixels.write_all(&row));
    let header = [0, 0, 0, SIDE, 0, 0, 0, SIDE, 8, 0, 0, 0, 0];
    let mut png = b"\x89PNG\r\n\x1a\n".to_vec();
    for (kind, data) in
        [(b"IHDR", header.to_vec()), (b"IDAT", pixels.finish().unwrap_or_default()), (b"IEND", Vec::new())]
    {
        let mut sum = flate2::Crc::new();
        sum.update(kind);
        sum.update(&data);
        png.extend(u32::try_from(data.len()).unwrap_or_default().to_be_bytes());
        png.extend(kind);
        png.extend(&data);
        png.extend(sum.sum().to_be_bytes());
    }
    png
}

/// Returns what to do about an error of a model.
pub fn fix_of(error: &ModelError) -> &'static str {
    match error {
        ModelError::Later { .. } | ModelError::Silent(_) | ModelError::Cut => says::FIX_MODEL_AWAY,
        ModelError::BadKey => says::FIX_MODEL_KEY,
        ModelError::NoCredit => says::FIX_MODEL_CREDIT,
        ModelError::TooLong
        | ModelError::Unusable(_)
        | ModelError::Refused
        | ModelError::Rejected(_)
        | ModelError::OverBudget(_)
        | ModelError::AboveLimit(_) => says::FIX_MODEL_REQUEST,
    }
}

/// Requests the vector of a short text and returns its number of dimensions.
pub async fn embedding(config: &config::Embedding) -> Result<usize, ProbeProblem> {
    let embedder = model::embed::build(config)
        .map_err(|error| ProbeProblem::new(format!("{error:#}"), of_meaning::FIX_REQUEST))?;
    let words = wording::own(of_meaning::PROBE, Scope::Shared);
    let embedded = embedder.embed(&[words], TIMEOUT).await.map_err(|error| {
        let fix = match &error {
            ModelError::Later { .. } | ModelError::Cut => of_meaning::FIX_AWAY,
            ModelError::BadKey => of_meaning::FIX_KEY,
            ModelError::NoCredit => says::FIX_MODEL_CREDIT,
            _ => of_meaning::FIX_REQUEST,
        };
        ProbeProblem::new(error.in_full(), fix)
    })?;
    Ok(embedded.vectors.first().map_or(0, Vec::len))
}

impl From<ProbeProblem> for CliError {
    fn from(ProbeProblem { what, fix }: ProbeProblem) -> Self {
        Self::Failed(says::with_fix(&what, &fix))
    }
}

/// Asks Signal's daemon for its version and accounts.
pub async fn signal(config: &config::Signal) -> Result<DaemonProbe, ProbeProblem> {
    let signal = Signal::new(config, Arc::new(SystemClock::default()))
        .map_err(|error| ProbeProblem::new(format!("{error:#}"), says::signal::FIX_AWAY))?;
    existing_signal(&signal, config).await
}

/// Does the same through an existing client.
pub async fn existing_signal(signal: &Signal, config: &config::Signal) -> Result<DaemonProbe, ProbeProblem> {
    let result = tokio::select! {
        result = signal.probe() => result.map_err(|error| match error {
            PollError::Unreachable(why) => why,
            other => other.to_string(),
        }),
        () = real_sleep(TIMEOUT) => Err(says::no_answer_within(TIMEOUT)),
    };
    result.map_err(|why| ProbeProblem {
        what: says::signal::away(&why),
        fix: says::signal::fix_start(&listens_at(&config.endpoint)),
    })
}

/// Problem: the daemon answers, but has no account for the assistant.
pub fn no_account(sentence: &'static str) -> ProbeProblem {
    ProbeProblem::new(sentence, says::signal::FIX_NO_ACCOUNT)
}

/// Asks Telegram for the bot's identity.
pub async fn telegram(config: &config::Telegram) -> Result<BotInfo, ProbeProblem> {
    let bot = Telegram::new(config, Arc::new(SystemClock::default()))
        .map_err(|error| ProbeProblem::new(format!("{error:#}"), says::FIX_TELEGRAM_AWAY))?;
    let result = tokio::select! {
        result = bot.probe() => result,
        () = real_sleep(TIMEOUT) => Err(PollError::Unreachable(says::no_answer_within(TIMEOUT))),
    };
    result.map_err(|error| match error {
        PollError::BadToken => ProbeProblem::new(says::BAD_TOKEN, says::FIX_TOKEN),
        PollError::Conflict => ProbeProblem::new(says::CONFLICT, says::FIX_CONFLICT),
        PollError::Wait(_) | PollError::Unreachable(_) | PollError::Closed => {
            ProbeProblem::new(says::telegram_away(&error.to_string()), says::FIX_TELEGRAM_AWAY)
        }
    })
}

/// Returns the options with which signal-cli listens at the endpoint.
pub(super) fn listens_at(endpoint: &SignalEndpoint) -> String {
    match endpoint {
        SignalEndpoint::Unix(socket) => format!("--socket {}", shell(socket)),
        SignalEndpoint::Tcp(address) => format!("--tcp {address}"),
        SignalEndpoint::Http(address) => {
            format!("--http {}", address.split_once("://").map_or(address.as_str(), |(_, authority)| authority))
        }
    }
}
