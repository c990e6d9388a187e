//! The model that needs nothing: no key, no network, no time. A real default, and not a pretence of
//! more than it is.
//!
//! It answers from the conversation, the memory and the last summary in the prompt, calls tools for
//! the plainest of wishes, writes extractive summaries, and says under each answer which model is
//! speaking. It generates nothing: every statement it makes is a quote with its origin, so what a
//! tool brought home can be shown by it but never obeyed. The same request gives the same answer.
//! It looks at the newest messages only, so its time does not grow with a history.

mod answer;
pub mod extract;
mod reflection;
mod arithmetic;
mod fact_rules;
mod transcript;
mod prompt_view;
mod words;

use async_trait::async_trait;

use super::{Model, ModelError, ModelInfo, Purpose, Reply, Request, Stop, StreamSink, Usage};
use crate::text;
use crate::wording::offline as phrases;
use prompt_view::PromptView;

/// The offline model.
#[derive(Debug)]
pub struct Offline {
    card: ModelInfo,
}

impl Offline {
    /// The model behind that card.
    pub fn new(card: ModelInfo) -> Self {
        Self { card }
    }
}

#[async_trait]
impl Model for Offline {
    fn card(&self) -> &ModelInfo {
        &self.card
    }

    async fn call(&self, request: &Request, live: &dyn StreamSink) -> Result<Reply, ModelError> {
        let answer = match request.purpose() {
            Purpose::Summary => answer::OfflineAnswer::text(transcript::summary(request)),
            Purpose::Reflection => answer::OfflineAnswer::text(reflection::answer(request)),
            // It understands no list of what to look at, so it never has anything to report.
            Purpose::Heartbeat => answer::OfflineAnswer::text(phrases::NOTHING_TO_REPORT.to_owned()),
            Purpose::Task => {
                answer::OfflineAnswer::text(phrases::time_for(&text::one_line(&PromptView::of(request).question)))
            }
            Purpose::Extraction => answer::OfflineAnswer::text(fact_rules::answer(request)),
            Purpose::Chat | Purpose::Review | Purpose::Transcription | Purpose::Embedding => {
                answer::to(&PromptView::of(request))
            }
        };
        for word in answer.text.split_inclusive(' ') {
            live.grow(word);
        }
        let stop = if answer.calls.is_empty() { Stop::End } else { Stop::Tools };
        let usage = Usage { input: request.estimate_tokens(), cached: 0, output: text::estimate_tokens(&answer.text) };
        let model = format!("{}/{}", self.card.provider, self.card.name);
        Ok(Reply::to(request, &answer.text, answer.calls, stop, usage, model))
    }
}

#[cfg(test)]
mod tests;
