//! `/model`: the models, with the preferred one.

use serde_json::{Value, json};

use super::ReportsAdmin;
use super::answer::{Answer, Render, RenderContext, ShownLabel, plain};
use crate::config::Price;
use crate::wording::command as says;
use crate::wording::learned as of_servers;

/// The setting that holds the preference, which is applied again after a restart.
pub const PREFERRED_MODEL: &str = "model";

impl ReportsAdmin<'_> {
    /// Lists the models in the order in which they are asked.
    pub fn models(&self) -> ModelsReport {
        let pool = &self.engine.chat;
        let entry = |place| {
            let info = pool.info(place)?;
            let name = info.full_name();
            Some(ModelEntry {
                name,
                is_resting: pool.is_resting(place),
                price: info.price,
                context: info.context_window,
                learned: pool.learned(place),
            })
        };
        ModelsReport { models: pool.order().into_iter().filter_map(entry).collect() }
    }

    /// Prefers a model, from now on and after a restart. An unknown name changes nothing, and the
    /// answer lists the models.
    pub async fn prefer(&self, name: &str) -> anyhow::Result<Answer> {
        if !self.engine.chat.prefer(Some(name)) {
            let listed = self.models().in_words();
            return Ok(Answer::refusal(says::no_such_model(&plain(name), &listed)));
        }
        let chosen = self.model_in_use().unwrap_or_default();
        self.journal.write("prefer a model", move |tx| tx.settings().set_fact(PREFERRED_MODEL, &chosen)).await?;
        let now_first = plain(&self.model_in_use().unwrap_or_default());
        Ok(Answer::ours(says::preferred(&now_first), self.models().data()))
    }

    /// Forgets what was learned of the models' servers.
    pub async fn forget_learned(&self) -> anyhow::Result<Answer> {
        for pool in [&self.engine.chat, &*self.engine.background, self.review.models()] {
            pool.forget_learned().await?;
        }
        Ok(Answer::ours(of_servers::FORGOTTEN.to_owned(), self.models().data()))
    }

    /// The model that is asked first.
    pub fn model_in_use(&self) -> Option<String> {
        self.models().models.into_iter().next().map(|model| model.name)
    }
}

/// The models in the order in which they are asked.
pub struct ModelsReport {
    /// The models.
    pub models: Vec<ModelEntry>,
}

/// A model that answers.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelEntry {
    /// Provider and name.
    pub name: String,
    /// True if it failed several times, so that others are asked first for a while.
    pub is_resting: bool,
    /// Price, if known.
    pub price: Option<Price>,
    /// Context window in tokens.
    pub context: u64,
    /// What was learned of its server.
    pub learned: Vec<String>,
}

impl ModelsReport {
    fn in_words(&self) -> String {
        let line = |(place, model): (usize, &ModelEntry)| says::model(&plain(&model.name), place == 0, &model.learned);
        let lines: Vec<String> = self.models.iter().enumerate().map(line).collect();
        says::models(&lines.join("\n"))
    }

    fn data(&self) -> Value {
        let entry = |(place, model): (usize, &ModelEntry)| json!({ "name": model.name, "preferred": place == 0, "learned": model.learned });
        self.models.iter().enumerate().map(entry).collect()
    }
}

impl Render for ModelsReport {
    fn markdown(&self, _: &RenderContext<'_>, _: &mut ShownLabel) -> String {
        self.in_words()
    }

    fn json(&self, _: &RenderContext<'_>, _: &mut ShownLabel) -> Value {
        self.data()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::fixture::Fixture;
    use super::*;

    #[tokio::test]
    async fn a_preference_is_kept_and_nonsense_changes_nothing() {
        let fixture = Fixture::new().await;
        let names = |json: &Value| json.as_array().unwrap().iter().map(|one| one["name"].clone()).collect::<Vec<_>>();
        assert_eq!(
            names(&fixture.rendering(&fixture.admin.reports().models()).json),
            ["offline/first", "offline/second"]
        );
        let refused = fixture.admin.chat(&fixture.ada(), "/model third").await;
        assert!(refused.failed && refused.markdown.contains("offline/second"), "{}", refused.markdown);
        assert_eq!(
            (fixture.admin.reports().model_in_use().as_deref(), fixture.fact(PREFERRED_MODEL).await),
            (Some("offline/first"), None)
        );
        let chosen = fixture.admin.chat(&fixture.ada(), "/model second").await;
        assert_eq!(names(&chosen.json), ["offline/second", "offline/first"]);
        assert_eq!(fixture.fact(PREFERRED_MODEL).await.as_deref(), Some("offline/second"));
    }
}
