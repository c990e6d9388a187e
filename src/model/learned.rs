//! What a server's refusals teach about it: fields that it does not take, and limits that are
//! smaller than the configured ones.
//!
//! Servers of one protocol differ in what they take, and many say so only by refusing. A refusal
//! that names something of the request is followed by a request without it. What made the server
//! answer is remembered as [`Learned`], which the caller keeps in the journal.

use std::collections::BTreeSet;
use std::future::Future;
use std::sync::Mutex;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::error::Refusal;
use super::request::{AnswerFormat, Request, RequestPart, Role, ToolSpec};
use super::{ModelError, ModelInfo};
use crate::time::task::lock;

/// Maximum number of requests that follow one refused request.
const LESSONS: usize = 5;
/// Longest patience with a server that says nothing.
const MOST_PATIENCE: Duration = Duration::from_secs(30 * 60);

/// Part of a request that some servers do not take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Field {
    /// `stream_options`, which asks for the count of tokens.
    StreamOptions,
    /// `temperature`.
    Temperature,
    /// The usual name of the limit of an answer; the other one is sent instead.
    OutputLimit,
    /// A JSON mode or schema of the answer.
    JsonMode,
    /// Instructions as a message of their own role.
    SystemRole,
    /// The thinking before earlier calls.
    Reasoning,
    /// Pictures.
    Pictures,
    /// Tools.
    Tools,
}

/// Words, in lower case, by which a refusal names a field. The first field that was sent counts.
const NAMES: &[(Field, &[&str])] = &[
    (Field::StreamOptions, &["stream_options", "include_usage"]),
    (Field::Temperature, &["temperature"]),
    (Field::OutputLimit, OUTPUT_LIMITS),
    (
        Field::JsonMode,
        &["response_format", "json_object", "json_schema", "json schema", "json mode", "structured output", "grammar"],
    ),
    (
        Field::SystemRole,
        &["system role", "role 'system'", "role \\\"system\\\"", "developer instruction", "system message"],
    ),
    (Field::Reasoning, REASONING),
    (Field::Pictures, &["image", "vision", "multimodal", "multi-modal", "mmproj", "modalit"]),
    (
        Field::Tools,
        &[
            "tools",
            "tool use",
            "tool_choice",
            "tool-choice",
            "tool call",
            "tool_call",
            "function call",
            "functions",
            // llama.cpp, of a schema that it cannot read, without saying whose.
            "json schema",
        ],
    ),
];
const OUTPUT_LIMITS: &[&str] =
    &["max_tokens", "max_completion_tokens", "max_output_tokens", "maxoutputtokens", "max_new_tokens"];
const REASONING: &[&str] = &[
    "reasoning_content",
    "reasoning_details",
    "`reasoning`",
    "'reasoning'",
    "\\\"reasoning\\\"",
    "encrypted content",
    "encrypted_content",
    "reasoning item",
    "thought_signature",
    "thought signature",
    "thinking block",
    "`thinking`",
    "`signature`",
];
/// Words by which a refusal says that a model lacks an ability.
const LACKS: &[&str] = &[
    "not support",
    "unsupported",
    "no support",
    "not available",
    "not enabled",
    "not allowed",
    "not permitted",
    "not implemented",
    "no endpoints",
    "requires",
    "cannot",
    "unknown",
    "unrecognized",
    "unexpected",
    "extra",
    "mmproj",
    "multimodal",
    "text-only",
    "text only",
    "does not accept",
];
/// Words by which it says that the data are wrong.
const BAD_DATA: &[&str] =
    &["invalid image", "image data", "format", "decode", "corrupt", "too large", " mb", "download", "schema", "pixel"];
/// Smallest limit of an answer that is tried.
const LEAST_OUTPUT: u64 = 64;
/// Words before the number of tokens that a window holds.
const WINDOWS: &[&str] = &[
    "context length",
    "context_length",
    "context window",
    "context size",
    "n_ctx",
    "num_ctx",
    "max_model_len",
    "maximum number of tokens allowed",
    "maximum input length",
    "maximum prompt length",
    "token limit",
];

/// What is known of a server for one model.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Learned {
    /// Fields that are not sent.
    pub without: BTreeSet<Field>,
    /// Names of tools that are not offered.
    pub without_tools: BTreeSet<String>,
    /// True if the thinking before earlier calls has to be given back.
    pub wants_reasoning: bool,
    /// Context window in tokens, if it is smaller than the configured one.
    pub context_window: Option<u64>,
    /// Maximum number of tokens in one answer, if it is smaller than the configured one.
    pub max_output: Option<u64>,
    /// Seconds for which the server may be silent, if it needs longer than configured.
    pub patience: Option<u64>,
}

impl Learned {
    /// Returns true if requests have that field.
    pub fn sends(&self, field: Field) -> bool {
        !self.without.contains(&field)
    }

    /// Adds what else is known: the smaller of two limits.
    fn add(&mut self, other: Self) {
        let smaller = |one: Option<u64>, other: Option<u64>| [one, other].into_iter().flatten().min();
        self.without.extend(other.without);
        self.without_tools.extend(other.without_tools);
        self.wants_reasoning |= other.wants_reasoning;
        self.context_window = smaller(self.context_window, other.context_window);
        self.max_output = smaller(self.max_output, other.max_output);
        self.patience = self.patience.max(other.patience);
    }

    /// Returns false if the refusal is perhaps about this one picture or this one list of tools, and
    /// not about what the model can do.
    fn is_lasting(&self, refusal: &Refusal) -> bool {
        let is_ability = self.without.iter().any(|field| matches!(field, Field::Pictures | Field::Tools));
        let says = |words: &[&str]| words.iter().any(|word| refusal.said.contains(word));
        !is_ability || says(LACKS) && !says(BAD_DATA)
    }

    /// Returns the description of a model within these limits.
    pub fn within(&self, info: &ModelInfo) -> ModelInfo {
        let context_window = self.context_window.map_or(info.context_window, |window| window.min(info.context_window));
        let mut max_output = self.max_output.map_or(info.max_output, |most| most.min(info.max_output));
        if self.context_window.is_some() {
            // The configured limit of an answer was meant for a larger window.
            max_output = max_output.min(context_window / 4).max(1);
        }
        let images = info.images && self.sends(Field::Pictures);
        ModelInfo { context_window, max_output, images, ..info.clone() }
    }

    /// Returns the maximum number of tokens in the answer to a request.
    pub(super) fn output_limit(&self, request: &Request, info: &ModelInfo) -> u64 {
        let most = request.output_limit(self.within(info).max_output);
        self.max_output.map_or(most, |learned| most.min(learned))
    }
}

/// A model's server as it shows itself.
#[derive(Debug, Default)]
pub struct Server {
    learned: Mutex<Learned>,
    /// Calls in a row in which it said nothing.
    silent: Mutex<u32>,
    counts: Mutex<Counts>,
}

impl Server {
    /// Returns what is known of it.
    pub fn learned(&self) -> Learned {
        lock(&self.learned).clone()
    }

    /// Replaces what is known of it.
    pub fn learn(&self, learned: Learned) {
        *lock(&self.learned) = learned;
    }

    /// Makes a call, and further ones as long as a refusal says what to change.
    ///
    /// `own` are the fields that this wire adds to the request.
    pub(super) async fn call<T, F>(
        &self,
        request: &Request,
        info: &ModelInfo,
        own: &[Field],
        attempt: impl Fn(Learned) -> F,
    ) -> Result<T, ModelError>
    where
        F: Future<Output = Result<T, Refusal>>,
    {
        let mut tried = self.learned();
        // What is worth remembering if it helps.
        let mut lessons = Learned::default();
        for _ in 0..LESSONS {
            let refusal = match attempt(tried.clone()).await {
                Ok(answer) => {
                    lock(&self.learned).add(lessons);
                    return Ok(answer);
                }
                Err(refusal) => refusal,
            };
            let sent = Sent::of(request, info, own, &tried);
            let Some(lesson) = sent.lesson(&refusal, &tried) else {
                return Err(refusal.error);
            };
            tried.add(lesson.clone());
            if lesson.context_window.is_some() {
                // The server said so, even if nothing fits it now.
                lock(&self.learned).add(lesson);
                if !sent.has_room(&tried) {
                    return Err(refusal.error);
                }
            } else if lesson.is_lasting(&refusal) {
                lessons.add(lesson);
            }
        }
        attempt(tried).await.map_err(|refusal| refusal.error)
    }

    /// Returns how long to wait for the next word: longer after each call in which there was none.
    pub(super) fn patience(&self, configured: Duration) -> Duration {
        let learned = lock(&self.learned).patience.map(Duration::from_secs).unwrap_or_default();
        let doubled = 2_u32.saturating_pow(*lock(&self.silent));
        configured.max(learned).saturating_mul(doubled).min(MOST_PATIENCE.max(configured))
    }

    /// Records that it said nothing for so long.
    pub(super) fn was_silent(&self) {
        let mut silent = lock(&self.silent);
        *silent = silent.saturating_add(1);
    }

    /// Records that it answered within that patience.
    pub(super) fn has_answered(&self, patience: Duration, configured: Duration) {
        if std::mem::take(&mut *lock(&self.silent)) > 0 && patience > configured {
            lock(&self.learned).patience = Some(patience.as_secs());
        }
    }

    /// Compares the server's count of a request with our estimate. A server that silently leaves out
    /// what does not fit counts the same however much the requests grow.
    pub(super) fn count(&self, estimate: u64, counted: u64) {
        let mut counts = lock(&self.counts);
        if let Some(window) = counts.window_after(estimate, counted) {
            let mut learned = lock(&self.learned);
            let known = learned.context_window.unwrap_or(u64::MAX);
            learned.context_window = Some(known.min(window));
        }
    }
}

/// The newest counts of a server.
#[derive(Debug, Default)]
struct Counts {
    estimate: u64,
    counted: u64,
    /// Largest count. A server that does not count what it has in its cache stays below it.
    most: u64,
    /// Number of requests in a row that grew while their count did not.
    flat: u32,
}

impl Counts {
    /// Takes the count of a request, and returns the window if the server cuts requests to it.
    fn window_after(&mut self, estimate: u64, counted: u64) -> Option<u64> {
        let has_grown = estimate > self.estimate + self.estimate / 20;
        self.most = self.most.max(counted);
        let is_flat = counted.abs_diff(self.counted) <= self.counted / 100 && counted >= self.most - self.most / 10;
        self.flat = if counted > 0 && has_grown && is_flat { self.flat + 1 } else { 0 };
        (self.estimate, self.counted) = (estimate, counted);
        // Windows are configured in multiples of this.
        (self.flat >= 2).then(|| counted.next_multiple_of(1024))
    }
}

/// What a request holds.
struct Sent<'a> {
    fields: BTreeSet<Field>,
    tools: &'a [ToolSpec],
    max_output: u64,
    estimate: u64,
    info: &'a ModelInfo,
}

impl<'a> Sent<'a> {
    fn of(request: &'a Request, info: &'a ModelInfo, own: &[Field], learned: &Learned) -> Self {
        let has = |is_so: fn(&RequestPart) -> bool| request.parts().any(is_so);
        let is_json = matches!(request.format(), AnswerFormat::Json(_)) && request.tools().is_empty();
        let found = [
            (Field::OutputLimit, true),
            (Field::JsonMode, is_json),
            (Field::SystemRole, request.messages().iter().any(|message| message.role() == Role::System)),
            (Field::Reasoning, has(|part| matches!(part, RequestPart::Call { extra, .. } if !extra.is_empty()))),
            (Field::Pictures, has(|part| matches!(part, RequestPart::Image { .. }))),
            (Field::Tools, !request.tools().is_empty() || has(|part| matches!(part, RequestPart::Call { .. }))),
        ];
        let found = found.into_iter().filter(|(_, is_there)| *is_there).map(|(field, _)| field);
        let renamed = |field: &Field| *field == Field::OutputLimit || learned.sends(*field);
        Self {
            fields: found.chain(own.iter().copied()).filter(renamed).collect(),
            tools: request.tools(),
            max_output: learned.output_limit(request, info),
            estimate: request.estimate_tokens(),
            info,
        }
    }

    /// Returns true if the request fits a learned window.
    fn has_room(&self, learned: &Learned) -> bool {
        let info = learned.within(self.info);
        self.estimate.saturating_add(info.max_output) <= info.context_window
    }

    /// Returns what a refusal teaches: something that was sent and need not be.
    fn lesson(&self, refusal: &Refusal, tried: &Learned) -> Option<Learned> {
        let said = refusal.said.as_str();
        match &refusal.error {
            ModelError::TooLong => return self.smaller_window(said, tried).or_else(|| self.smaller_answer(said)),
            ModelError::Rejected(_) => {}
            // Some servers count what they do not have as their own failure.
            ModelError::Later { .. }
                if matches!(refusal.status, 500 | 501) && LACKS.iter().any(|lack| said.contains(lack)) => {}
            _ => return None,
        }
        let named = self.tools.iter().enumerate().find(|(place, tool)| names_tool(said, *place, &tool.name));
        if let Some((_, tool)) = named.filter(|(_, tool)| !tried.without_tools.contains(&tool.name)) {
            return Some(Learned { without_tools: [tool.name.clone()].into(), ..Learned::default() });
        }
        for (field, _) in NAMES.iter().filter(|(_, names)| names.iter().any(|name| said.contains(name))) {
            match field {
                Field::OutputLimit => {
                    let renamed = || tried.sends(Field::OutputLimit).then(|| without(Field::OutputLimit));
                    return self.smaller_answer(said).or_else(renamed);
                }
                Field::Reasoning if !tried.wants_reasoning && is_missing(said) => {
                    return Some(Learned { wants_reasoning: true, ..Learned::default() });
                }
                field if self.fields.contains(field) => return Some(without(*field)),
                _ => {}
            }
        }
        // Not every server that refuses a JSON mode says so.
        let is_unsaid = matches!(refusal.error, ModelError::Rejected(_)) && self.fields.contains(&Field::JsonMode);
        is_unsaid.then(|| without(Field::JsonMode))
    }

    fn smaller_window(&self, said: &str, tried: &Learned) -> Option<Learned> {
        let window = window(said)?;
        if tried.context_window == Some(window) {
            // The question is larger than it was guessed.
            let half = tried.within(self.info).max_output / 2;
            return (half >= LEAST_OUTPUT).then(|| Learned { max_output: Some(half), ..Learned::default() });
        }
        (window < self.info.context_window).then(|| Learned { context_window: Some(window), ..Learned::default() })
    }

    /// Keeps to the largest number in the refusal that is smaller than what was asked for.
    fn smaller_answer(&self, said: &str) -> Option<Learned> {
        OUTPUT_LIMITS.iter().find(|name| said.contains(**name))?;
        let smaller = numbers(said).map(|(_, number)| number).filter(|number| (16..self.max_output).contains(number));
        let most = smaller.max()?;
        let most = if said.contains("exclusive") { most - 1 } else { most };
        Some(Learned { max_output: Some(most), ..Learned::default() })
    }
}

fn without(field: Field) -> Learned {
    Learned { without: [field].into(), ..Learned::default() }
}

/// Returns true if a refusal asks for what was not sent.
fn is_missing(said: &str) -> bool {
    ["missing", "required", "must be", "must provide", "need"].iter().any(|word| said.contains(word))
}

/// Returns true if a refusal names that tool, by its name in quotes or by its place in the list.
fn names_tool(said: &str, place: usize, name: &str) -> bool {
    let name = name.to_lowercase();
    let is_quoted = ["'", "\"", "`", "\\\""].iter().any(|quote| said.contains(&format!("{quote}{name}{quote}")));
    let places = [format!("tools[{place}]"), format!("tools.{place}."), format!("function_declarations[{place}]")];
    is_quoted || places.iter().any(|place| said.contains(place))
}

/// Returns the size of the window that a refusal names.
fn window(said: &str) -> Option<u64> {
    const NEAR: usize = 40;
    let after = numbers(said).filter_map(|(at, number)| {
        let before = said.get(..at).unwrap_or_default();
        let begin = before.char_indices().rev().nth(NEAR).map_or(0, |(begin, _)| begin);
        let near = before.get(begin..).unwrap_or_default();
        // Only words between the name and its number.
        let words = near.rsplit(|c: char| c.is_ascii_digit()).next().unwrap_or_default();
        let is_maximum = said.get(at..).is_some_and(|rest| {
            rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == ',').starts_with(" maximum")
        });
        (is_maximum || WINDOWS.iter().any(|name| words.contains(name))).then_some(number)
    });
    after.filter(|number| *number >= 256).min()
}

/// Returns the whole numbers of a text, with their places. `4,096` is one number.
fn numbers(text: &str) -> impl Iterator<Item = (usize, u64)> {
    let mut rest = 0;
    std::iter::from_fn(move || {
        let at = rest + text.get(rest..)?.find(|c: char| c.is_ascii_digit())?;
        let tail = text.get(at..)?;
        let is_inside = |(place, c): (usize, char)| {
            let next = tail.get(place + 1..).and_then(|after| after.chars().next());
            !(c.is_ascii_digit() || c == ',' && next.is_some_and(|next| next.is_ascii_digit()))
        };
        let length = tail.char_indices().find(|found| is_inside(*found)).map_or(tail.len(), |(end, _)| end);
        rest = at + length;
        let digits: String = tail.chars().take(length).filter(char::is_ascii_digit).collect();
        Some((at, digits.parse().unwrap_or(u64::MAX)))
    })
}
