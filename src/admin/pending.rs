//! `/pending`: all that waits for a person's decision.

use std::sync::Arc;

use serde_json::{Value, json};

use super::ReportsAdmin;
use super::answer::{Render, RenderContext, ShownLabel, plain};
use super::review::ProposalsReport;
use crate::id::QuestionId;
use crate::people::{Person, Role};
use crate::store::{Db, KeepRow, QuestionRow};
use crate::text::shorten;
use crate::trust::Text;
use crate::wording::Sentence;
use crate::wording::memory::{KEEP_BUTTON, LEAVE_BUTTON};
use crate::wording::review as says;
use crate::wording::tool::{NO_BUTTON, YES_BUTTON};

/// Maximum number of characters shown of a question.
const MAX_CHARACTERS: usize = 200;

impl ReportsAdmin<'_> {
    /// The open questions to a person, and for an owner the pending proposals.
    pub async fn pending(&self, person: &Person) -> anyhow::Result<PendingReport> {
        let (id, now) = (person.id, self.clock.now());
        let waiting = move |db: Db<'_>| {
            let keeps: Vec<_> =
                db.keep_requests().open_keeps(id)?.into_iter().filter(|keep| keep.is_open(now)).collect();
            let mut questions = Vec::new();
            let stream = db.conversations().stream_of(id)?;
            let open = stream.map(|stream| db.questions().open_questions(stream)).transpose()?.unwrap_or_default();
            for question in open.into_iter().filter(|row| row.person == id && row.is_open(now)) {
                let conversation = db.conversations().conversation(question.conversation)?;
                let is_going_on = conversation.is_some_and(|conversation| conversation.closed_at.is_none());
                if is_going_on || question.is_own() {
                    let reply = db.activity().reply_of(question.turn)?;
                    let texts = reply.map(|reply| db.messages().texts_of(reply)).transpose()?.unwrap_or_default();
                    questions.push((question, texts.into_iter().next().map(|stored| stored.text)));
                }
            }
            Ok((questions, keeps))
        };
        let (questions, keeps) = self.journal.read(waiting).await?;
        let proposals = match person.role {
            Role::Owner => Some(self.skills_and_proposals().pending().await?),
            _ => None,
        };
        Ok(PendingReport { questions, keeps, proposals })
    }
}

/// All that waits for a person's decision.
pub struct PendingReport {
    /// Open questions, each with its text.
    pub questions: Vec<(QuestionRow, Option<Text>)>,
    /// Texts that may be kept.
    pub keeps: Vec<KeepRow>,
    /// Pending proposals; `None` for those who decide about none.
    pub proposals: Option<ProposalsReport>,
}

impl PendingReport {
    /// Returns true if nothing waits.
    pub fn is_empty(&self) -> bool {
        self.questions.is_empty()
            && self.keeps.is_empty()
            && self.proposals.as_ref().is_none_or(ProposalsReport::is_empty)
    }
}

impl Render for PendingReport {
    fn markdown(&self, context: &RenderContext<'_>, shown: &mut ShownLabel) -> String {
        let mut lines = Vec::new();
        for (row, text) in &self.questions {
            let words = text.as_ref().map_or("", |text| &**shown.words::<Arc<str>>(text));
            let first = shorten(words.lines().next().unwrap_or_default(), MAX_CHARACTERS);
            lines.push(says::question_waits(context.language(), row.id, &plain(&first)));
        }
        for (row, number) in self.keeps.iter().filter_map(|row| row.number.map(|number| (row, number))) {
            shown.also(row.shown.label());
            lines.push(says::keep_waits(context.language(), number, &plain(&row.path)));
        }
        let proposals = self.proposals.as_ref().filter(|proposals| lines.is_empty() || !proposals.is_empty());
        let proposals = proposals.map(|proposals| proposals.markdown(context, shown));
        if lines.is_empty() {
            return proposals.unwrap_or_else(|| says::NOTHING_WAITS.in_language(context.language()).into_string());
        }
        [lines.join("\n")].into_iter().chain(proposals).collect::<Vec<_>>().join("\n\n")
    }

    fn json(&self, context: &RenderContext<'_>, shown: &mut ShownLabel) -> Value {
        json!({
            "questions": self.questions.iter().map(|(row, _)| row.id).collect::<Vec<_>>(),
            "keeps": self.keeps.iter().map(|row| row.number).collect::<Vec<_>>(),
            "proposals": self.proposals.as_ref().map(|proposals| proposals.json(context, shown)),
        })
    }

    fn buttons(&self, context: &RenderContext<'_>) -> Vec<(String, String)> {
        let answers = |id: QuestionId, yes: Sentence, no: Sentence| {
            [(yes, "yes"), (no, "no")]
                .map(|(title, word)| (says::button_of_question(context.language(), title, id), format!("/{word} {id}")))
        };
        let questions = self.questions.iter().map(|(row, _)| (row.id, YES_BUTTON, NO_BUTTON));
        let keeps = self.keeps.iter().filter_map(|row| Some((row.number?, KEEP_BUTTON, LEAVE_BUTTON)));
        let answers = questions.chain(keeps).flat_map(|(id, yes, no)| answers(id, yes, no));
        answers.chain(self.proposals.iter().flat_map(|proposals| proposals.buttons(context))).collect()
    }
}
