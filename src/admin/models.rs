//! `/model`: the models, and the preferred one.

use crate::admin::ReportsAdmin;
use serde_json::{Value, json};

use super::answer::{Answer, plain};
use crate::model::ModelInfo;
use crate::spend::ModelPool;
use crate::wording::command as says;

/// The setting that holds the preference, which is applied again after a restart.
const FACT: &str = "model";

impl ReportsAdmin<'_> {
    /// Lists the models in the order in which they are asked.
    pub fn models(&self) -> Answer {
        let names = self.model_names();
        let lines: Vec<String> =
            names.iter().enumerate().map(|(place, name)| says::model(&plain(name), place == 0)).collect();
        Answer::ours(says::models(&lines.join("\n")), self.models_json())
    }

    /// Prefers a model, from now on and after a restart. An unknown name changes nothing, and the
    /// answer lists the models.
    pub async fn prefer(&self, name: &str) -> anyhow::Result<Answer> {
        if !self.model_pool().prefer(Some(name)) {
            let listed = self.models();
            return Ok(Answer::refusal(says::no_such_model(&plain(name), &listed.markdown)));
        }
        let kept = self.model_in_use().unwrap_or_default();
        self.journal.write("prefer a model", move |tx| tx.settings().set_fact(FACT, &kept)).await?;
        let now_first = plain(&self.model_in_use().unwrap_or_default());
        Ok(Answer::ours(says::preferred(&now_first), self.models_json()))
    }

    /// The model that is asked first.
    pub(super) fn model_in_use(&self) -> Option<String> {
        self.model_names().into_iter().next()
    }

    fn model_names(&self) -> Vec<String> {
        let purse = self.model_pool();
        purse.order().into_iter().filter_map(|place| purse.card(place)).map(full_name).collect()
    }

    fn models_json(&self) -> Value {
        self.model_names()
            .iter()
            .enumerate()
            .map(|(place, name)| json!({ "name": name, "preferred": place == 0 }))
            .collect()
    }

    fn model_pool(&self) -> &ModelPool {
        &self.engine.chat
    }
}

fn full_name(card: &ModelInfo) -> String {
    format!("{}/{}", card.provider, card.name)
}

#[cfg(test)]
mod tests {
    use super::super::test_support::Fixture;
    use super::*;

    #[tokio::test]
    async fn a_preference_is_kept_and_nonsense_changes_nothing() {
        let house = Fixture::new().await;
        let names = |json: &Value| json.as_array().unwrap().iter().map(|one| one["name"].clone()).collect::<Vec<_>>();
        assert_eq!(names(&house.admin.reports().models().json), ["offline/first", "offline/second"]);
        let refused = house.admin.chat(&house.ada(), "/model third").await;
        assert!(refused.failed && refused.markdown.contains("offline/second"), "{}", refused.markdown);
        assert_eq!(
            (house.admin.reports().model_in_use().as_deref(), house.fact(FACT).await),
            (Some("offline/first"), None)
        );
        let chosen = house.admin.chat(&house.ada(), "/model second").await;
        assert_eq!(names(&chosen.json), ["offline/second", "offline/first"]);
        assert_eq!(house.fact(FACT).await.as_deref(), Some("offline/second"));
    }
}
