//! Offline model: needs no key, no network and no time. A real default that does not pretend to be
//! more than it is.
//!
//! The model answers from the conversation, the memory and the last summary in the prompt, calls
//! tools for the plainest requests (reminders, notes, searches, pages), writes extractive
//! summaries, and names itself under each answer. It generates nothing: every statement is a quote
//! with its origin, so it can show a tool's output but never obey it. The same request gives the
//! same answer. Only the newest messages are read, so its time does not grow with the history.

mod answer;
pub mod extract;
mod fact_rules;
mod prompt_view;
mod requests;
mod words;

use async_trait::async_trait;

use super::{Model, ModelError, ModelInfo, Purpose, Reply, Request, Stop, StreamSink, Usage};
use crate::text;
use crate::wording::offline as phrases;
use answer::OfflineAnswer;
use prompt_view::PromptView;

/// The offline model.
#[derive(Debug)]
pub struct Offline {
    info: ModelInfo,
}

impl Offline {
    /// Creates the model with that description.
    pub fn new(info: ModelInfo) -> Self {
        Self { info }
    }
}

#[async_trait]
impl Model for Offline {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    async fn call(&self, request: &Request, live: &dyn StreamSink) -> Result<Reply, ModelError> {
        let answer = match request.purpose() {
            Purpose::Summary => OfflineAnswer::text(extract::summary(request)),
            Purpose::Reflection => OfflineAnswer::text(fact_rules::reflection(request)),
            // The offline model does not understand the checklist, so it never has anything to
            // report.
            Purpose::Heartbeat => OfflineAnswer::text(phrases::NOTHING_TO_REPORT.to_owned()),
            Purpose::Task => OfflineAnswer::text(phrases::time_for(&text::one_line(&PromptView::of(request).question))),
            Purpose::Extraction => OfflineAnswer::text(fact_rules::facts(request)),
            Purpose::Chat | Purpose::Review | Purpose::Transcription | Purpose::Embedding => {
                answer::to(&PromptView::of(request))
            }
        };
        for word in answer.text.split_inclusive(' ') {
            live.append(word);
        }
        let stop = if answer.calls.is_empty() { Stop::End } else { Stop::Tools };
        let usage = Usage { input: request.estimate_tokens(), cached: 0, output: text::estimate_tokens(&answer.text) };
        let model = self.info.full_name();
        Ok(Reply::to(request, &answer.text, answer.calls, stop, usage, model))
    }
}

#[cfg(test)]
mod tests;
