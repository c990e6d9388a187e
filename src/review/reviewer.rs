//! The reviewer: a model that reads a proposal as data and says whether it is safe.
//!
//! The request belongs to no conversation and offers no tools. The reviewed text is enclosed in
//! boundaries that it cannot contain, because they are derived from it. The answer counts only if
//! it holds exactly one verdict; other text around it is ignored. Everything else is
//! [`Verdict::None`]: other words, a second verdict, one copied from the proposal, no answer within
//! a minute, no model but the offline one. No verdict never counts as approval.
//!
//! A verdict is the advice of a model that has read untrusted text: it changes no label, and
//! nothing here approves anything.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;

use super::effects::Effects;
use super::reveal::reveal;
use super::show::effect_lines;
use super::{Finding, ProposalChange};
use crate::model::json_answer;
use crate::model::retry::RetryPolicy;
use crate::model::{AnswerFormat, ModelError, NullSink, Purpose, Reply, Request, Role, Stop};
use crate::skill::Digest;
use crate::spend::{AskPolicy, ModelPool, SpendCause};
use crate::store::Clearance;
use crate::time::Clock;
use crate::trust::Labelled;
use crate::wording::{self, review as words};

/// The time limit for all attempts together.
const TIMEOUT: Duration = Duration::from_secs(60);
/// The owner waits for the verdict: one more attempt, unless the server asks for a long pause.
const RETRY: RetryPolicy = RetryPolicy { attempts: 2, longest_wait: Duration::from_secs(30) };
/// The most tokens of an answer, thinking included.
const MAX_OUTPUT: u64 = 4_000;
/// The maximum length of the reasons in characters.
const MAX_REASONS: usize = 2_000;
/// The minimum length, without spaces, at which reasons found in the proposal count as copied.
const MIN_ECHO: usize = 12;

/// JSON Schema of a verdict.
const SCHEMA: &str = r#"{"type": "object", "properties": {
  "verdict": {"type": "string", "enum": ["safe", "unsafe"]}, "reasons": {"type": "string"}},
  "required": ["verdict", "reasons"], "additionalProperties": false}"#;

/// The subject of a review.
#[derive(Debug)]
pub struct ReviewSubject<'a> {
    /// The skill's name.
    pub skill: &'a str,
    /// The kind of change.
    pub change: &'a ProposalChange,
    /// The whole diff, as people read it.
    pub diff: &'a str,
    /// The rationale, in the proposer's words.
    pub rationale: &'a str,
    /// The findings of the scan.
    pub findings: &'a [Finding],
    /// New effects of the change.
    pub effects: &'a Effects,
    /// Decision of the check of its origin.
    pub clearance: Clearance,
}

/// The reviewer's verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// No objection.
    Safe {
        /// The reviewer's reasons.
        why: String,
    },
    /// The reviewer objects.
    Unsafe {
        /// The reviewer's reasons.
        why: String,
    },
    /// No verdict.
    None {
        /// The reason, in words for the owner.
        why: &'static str,
    },
}

/// Builds the request to the reviewer about `subject`.
///
/// # Errors
/// None that a proposal could cause.
pub fn request(subject: &Labelled<ReviewSubject<'_>>) -> anyhow::Result<Request> {
    let (ReviewSubject { skill, change, diff, rationale, findings, effects, clearance }, label, scope) = subject.open();
    let change = match change {
        ProposalChange::Create => words::CREATE.to_owned(),
        ProposalChange::Edit => words::EDIT.to_owned(),
        ProposalChange::Delete => words::DELETE.to_owned(),
        ProposalChange::Rename { to } => words::rename(&line(to)),
    };
    let rationale = if rationale.trim().is_empty() { words::NO_RATIONALE.to_owned() } else { defused(rationale) };
    let origin = match clearance {
        Clearance::Clean => words::FROM_THE_OWNER,
        Clearance::Careful => words::FROM_OTHERS,
        Clearance::Tainted => words::FROM_OUTSIDE,
    };
    let body = |boundary: &str| {
        words::proposal(&words::ProposalWords {
            boundary,
            skill: &line(skill),
            change: &change,
            origin,
            rationale: &rationale,
            findings: &listed(findings),
            effects: &defused(&effects_listed(effects)),
            diff: &defused(diff),
        })
    };
    let boundary = boundary(&body(""));
    let data = Labelled::new(Arc::from(body(&boundary)), label.clone(), scope);
    let mut request =
        Request::new(scope, Purpose::Review).with_format(AnswerFormat::Json(SCHEMA)).with_max_output(MAX_OUTPUT);
    request.text(Role::System, wording::own(words::reviewer(&boundary), scope))?;
    request.text(Role::User, data)?;
    Ok(request)
}

/// Asks the first model, and once more after a transient error. The caller counts as active
/// meanwhile.
pub async fn ask(models: &ModelPool, request: &Request, on_behalf: &SpendCause, clock: &dyn Clock) -> Verdict {
    let Some(&index) = models.order().first() else { return Verdict::None { why: words::NO_MODEL } };
    if models.info(index).is_none_or(|info| info.provider == "offline") {
        return Verdict::None { why: words::OFFLINE };
    }
    let policy = AskPolicy { retry: RETRY, falls_back: false, ..AskPolicy::patient(&NullSink) };
    let deadline = clock.now().plus(TIMEOUT);
    let answer = tokio::select! {
        biased;
        answer = models.ask(request, on_behalf, policy) => answer,
        _elapsed = clock.wake_at(deadline) => return Verdict::None { why: words::TOO_SLOW },
    };
    match answer {
        Ok(reply) => judge(request, &reply),
        Err(error) => {
            tracing::warn!("A proposal gets no verdict: {error}");
            Verdict::None { why: why(&error) }
        }
    }
}

/// Reads the verdict in an answer: one JSON object with the two keys.
pub fn read(reply: &str) -> Verdict {
    match only_verdict(reply) {
        Some(ReviewerAnswer { verdict, reasons }) if verdict == "safe" => Verdict::Safe { why: reasons },
        Some(ReviewerAnswer { verdict, reasons }) if verdict == "unsafe" => Verdict::Unsafe { why: reasons },
        _ => Verdict::None { why: words::NOT_STRICT },
    }
}

/// Returns a line that does not occur in `content`: a digest of it, extended until it is unique.
fn boundary(content: &str) -> String {
    let mut boundary = format!("data-{}", Digest::of(content.as_bytes()).short());
    while content.contains(&boundary) {
        let more = Digest::of(format!("{boundary}\n{content}").as_bytes());
        boundary.push_str(more.short());
    }
    boundary
}

/// Returns outside text with hidden characters revealed and without markers that some models treat
/// as frames.
fn defused(text: &str) -> String {
    let marks =
        ["untrusted", "context", "im_start", "im_end", "system", "user", "assistant", "start_of_turn", "end_of_turn"];
    marks.into_iter().fold(reveal(text), |text, mark| crate::text::defuse(&text, mark))
}

fn line(text: &str) -> String {
    crate::text::one_line(&defused(text))
}

fn listed(findings: &[Finding]) -> String {
    if findings.is_empty() {
        return words::NO_FINDINGS.to_owned();
    }
    let mut list = String::new();
    for finding in findings {
        let _ = writeln!(
            list,
            "{}",
            words::finding(&finding.rule, &line(&finding.path), finding.line, &line(&finding.excerpt))
        );
    }
    list
}

fn effects_listed(effects: &Effects) -> String {
    if effects.is_empty() { words::NO_FINDINGS.to_owned() } else { effect_lines(effects) }
}

/// The verdict in a reply to `request`. One that was cut off, calls tools or only repeats what
/// stands in the proposal is none.
fn judge(request: &Request, reply: &Reply) -> Verdict {
    if reply.stop != Stop::End || !reply.calls().is_empty() {
        return Verdict::None { why: words::CUT };
    }
    let text = reply.text().open().0;
    let verdict = read(text);
    match &verdict {
        Verdict::Safe { why } | Verdict::Unsafe { why } if is_echo(request, text, why) => {
            Verdict::None { why: words::ECHO }
        }
        _ => verdict,
    }
}

/// Returns whether the answer or its reasons occur in the reviewed text. Spaces and punctuation are
/// ignored, since a diff and JSON write them differently.
fn is_echo(request: &Request, answer: &str, why: &str) -> bool {
    let bare =
        |text: &str| text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect::<String>();
    let (answer, why) = (bare(answer), bare(why));
    let reviewed =
        request.messages().iter().filter(|message| message.role() == Role::User).flat_map(|message| message.parts());
    reviewed
        .filter_map(|part| match part.open().0 {
            crate::model::RequestPart::Text(text) => Some(bare(text)),
            _ => None,
        })
        .any(|text| text.contains(&answer) || why.chars().count() >= MIN_ECHO && text.contains(&why))
}

fn why(error: &ModelError) -> &'static str {
    match error {
        ModelError::TooLong => words::TOO_LONG,
        ModelError::Refused => words::DECLINED,
        ModelError::OverBudget(_) | ModelError::AboveLimit(_) => words::OVER_BUDGET,
        ModelError::Cut | ModelError::Unusable(_) => words::CUT,
        ModelError::Later { .. }
        | ModelError::Silent(_)
        | ModelError::NoCredit
        | ModelError::BadKey
        | ModelError::Rejected(_) => words::UNREACHABLE,
    }
}

/// The verdict's form. A key that stands twice is an error of the derived parser.
#[derive(Deserialize)]
struct ReviewerAnswer {
    verdict: String,
    reasons: String,
}

/// Returns the one verdict in a reply, ignoring other text. Of two verdicts neither counts:
/// one may be a quotation.
fn only_verdict(reply: &str) -> Option<ReviewerAnswer> {
    let values = json_answer::values(reply).ok()?;
    let mut verdicts = values.iter().filter(|(_, value)| value.get("verdict").is_some());
    let (Some((written, _)), None) = (verdicts.next(), verdicts.next()) else { return None };
    let mut answer: ReviewerAnswer = serde_json::from_str(written).ok()?;
    if answer.reasons.trim().is_empty() || answer.reasons.chars().count() > MAX_REASONS {
        return None;
    }
    answer.reasons = line(&answer.reasons);
    Some(answer)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::model::json_answer::grammar;

    proptest! {
        #[test]
        fn a_complete_verdict_is_always_understood(
            (before, after) in grammar::around(),
            is_safe in any::<bool>(),
            is_certain in any::<bool>(),
        ) {
            let verdict = if is_safe { "safe" } else { "unsafe" };
            let given = json!({ "verdict": verdict, "reasons": "It only warms the pot.", "certain": is_certain });
            let answer = format!("{before}{given}{after}");
            let why = "It only warms the pot.".to_owned();
            let expected = if is_safe { Verdict::Safe { why } } else { Verdict::Unsafe { why } };
            prop_assert_eq!(read(&answer), expected, "{}", answer);
        }

        #[test]
        fn no_answer_makes_it_panic_and_half_a_verdict_is_none(
            answer in "(?s)(\\{\"verdict\": \"safe\")?.{0,200}",
            length in 1_usize..60,
        ) {
            let _ = read(&answer);
            let whole = json!({ "verdict": "safe", "reasons": "It only warms the pot." }).to_string();
            let cut = whole.get(..length.min(whole.len() - 1)).unwrap_or_default();
            prop_assert!(matches!(read(cut), Verdict::None { .. }), "{}", cut);
        }
    }
}
