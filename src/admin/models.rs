//! `/model` and `/usage`: the models with the preferred one, and their use, in money where the
//! price is known and in tokens otherwise.

use std::collections::BTreeMap;

use chrono::{Days, NaiveDate};
use serde_json::{Value, json};

use super::ReportsAdmin;
use super::answer::{Answer, Render, RenderContext, ShownLabel, amount, plain};
use crate::id::PersonId;
use crate::spend::RemainingBudget;
use crate::store::SpendLine;
use crate::wording::Language;
use crate::wording::command as says;

/// The setting that holds the preference, which is applied again after a restart.
pub const PREFERRED_MODEL: &str = "model";

impl ReportsAdmin<'_> {
    /// Lists the models in the order in which they are asked.
    pub(super) fn models(&self) -> ModelsReport {
        ModelsReport { names: self.model_names() }
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

    /// The model that is asked first.
    pub fn model_in_use(&self) -> Option<String> {
        self.model_names().into_iter().next()
    }

    fn model_names(&self) -> Vec<String> {
        let pool = &self.engine.chat;
        let infos = pool.order().into_iter().filter_map(|place| pool.info(place));
        infos.map(|info| format!("{}/{}", info.provider, info.name)).collect()
    }

    /// The usage of the last `days` local days, including today: everyone's, or only that of
    /// `only`.
    pub async fn usage(&self, only: Option<PersonId>, days: u32) -> anyhow::Result<UsageReport> {
        let today = self.zone.day(self.clock.now());
        let first = first_day(&today, days);
        let mut lines = self.journal.read_much(move |db| db.spending().spend_lines(only, days)).await?;
        // A journal row counts towards the local day of its reservation; days without spending
        // count as well.
        lines.retain(|line| line.day >= first);
        let left = if only.is_none() { Some(self.ledger.left().await?) } else { None };
        Ok(UsageReport { today, days, lines, left })
    }
}

/// The models in the order in which they are asked.
pub(super) struct ModelsReport {
    names: Vec<String>,
}

impl ModelsReport {
    fn in_words(&self) -> String {
        let lines: Vec<String> =
            self.names.iter().enumerate().map(|(place, name)| says::model(&plain(name), place == 0)).collect();
        says::models(&lines.join("\n"))
    }

    fn data(&self) -> Value {
        let names = self.names.iter().enumerate();
        names.map(|(place, name)| json!({ "name": name, "preferred": place == 0 })).collect()
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

/// Usage of the models.
pub struct UsageReport {
    /// Local day.
    pub today: String,
    /// Number of days, including today.
    pub days: u32,
    /// Use by day, person, purpose and model; days without any are missing.
    pub lines: Vec<SpendLine>,
    /// Remaining budget, if everyone's usage is shown.
    pub left: Option<RemainingBudget>,
}

impl Render for UsageReport {
    fn markdown(&self, context: &RenderContext<'_>, _: &mut ShownLabel) -> String {
        let language = context.language();
        if self.lines.is_empty() {
            return says::NO_USAGE.in_language(language).into_string();
        }
        let section = |lines: &[&SpendLine], key: &dyn Fn(&SpendLine) -> String| section(language, lines, key);
        let what = |line: &SpendLine| says::purpose_and_model(language, &line.purpose, &line.model);
        let all: Vec<_> = self.lines.iter().collect();
        let now: Vec<_> = self.lines.iter().filter(|line| line.day == self.today).collect();
        let mut parts = vec![
            says::usage_today(language, &section(&now, &what)),
            says::usage_days(language, self.days, &section(&all, &what)),
        ];
        if let Some(left) = &self.left {
            parts.push(says::usage_by_day(language, &section(&all, &|line| line.day.clone())));
            parts.push(says::usage_people(language, &section(&all, &|line| says::spender(language, &line.person))));
            parts.push(says::left(language, left.all.micros, left.all.tokens));
        }
        parts.join("\n\n")
    }

    fn json(&self, _: &RenderContext<'_>, _: &mut ShownLabel) -> Value {
        self.lines.iter().map(line_json).collect()
    }
}

/// A sum over spending lines.
#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    calls: u64,
    micros: u64,
    /// Tokens of calls without a known price.
    tokens: u64,
}

impl Sum {
    fn add(&mut self, line: &SpendLine) {
        self.calls = self.calls.saturating_add(line.calls);
        if line.priced {
            self.micros = self.micros.saturating_add(line.micros);
        } else {
            self.tokens = self.tokens.saturating_add(line.input).saturating_add(line.output);
        }
    }

    fn in_words(self, language: Language) -> String {
        says::spent(language, self.micros, self.tokens, self.calls)
    }
}

/// Sums by key, one line each, and a total if there are several.
fn section(language: Language, lines: &[&SpendLine], key: &dyn Fn(&SpendLine) -> String) -> String {
    let (mut sums, mut total): (BTreeMap<String, Sum>, Sum) = (BTreeMap::new(), Sum::default());
    for line in lines {
        sums.entry(key(line)).or_default().add(line);
        total.add(line);
    }
    let mut rows: Vec<String> =
        sums.iter().map(|(name, sum)| says::usage_row(&plain(name), &sum.in_words(language))).collect();
    if rows.len() > 1 {
        rows.push(says::usage_total(language, &total.in_words(language)));
    }
    rows.join("\n")
}

/// The first of that many local days ending with `today`. Days compare as text.
fn first_day(today: &str, days: u32) -> String {
    today
        .parse::<NaiveDate>()
        .ok()
        .and_then(|day| day.checked_sub_days(Days::new(days.saturating_sub(1).into())))
        .map_or_else(String::new, |day| day.to_string())
}

fn line_json(line: &SpendLine) -> Value {
    json!({
        "day": line.day,
        "person": line.person,
        "purpose": line.purpose,
        "model": line.model,
        "input_tokens": line.input,
        "cached_tokens": line.cached,
        "output_tokens": line.output,
        "cost": if line.priced { amount(line.micros) } else { Value::Null },
        "calls": line.calls,
    })
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

#[cfg(test)]
mod usage_tests {
    use super::super::tests::fixture::{Fixture, keys};
    use super::*;
    use std::time::Duration;

    #[test]
    fn days_are_counted_on_the_calendar() {
        assert_eq!(first_day("2026-03-01", 1), "2026-03-01");
        assert_eq!(first_day("2026-03-01", 7), "2026-02-23");
        assert_eq!(first_day("nonsense", 7), "");
    }

    #[tokio::test]
    async fn usage_has_the_promised_shape_and_money_only_where_priced() {
        let fixture = Fixture::new().await;
        fixture.spends("Ada", "openai/large", Some(12_300)).await;
        fixture.spends("Ada", "ollama/small", None).await;
        let json = fixture.rendering(&fixture.admin.reports().usage(None, 7).await.unwrap()).json;
        assert_eq!(
            keys(&json[0]),
            ["day", "person", "purpose", "model", "input_tokens", "cached_tokens", "output_tokens", "cost", "calls"]
        );
        assert_eq!((&json[0]["model"], &json[0]["cost"]), (&json!("ollama/small"), &Value::Null));
        assert_eq!((&json[1]["model"], &json[1]["cost"]), (&json!("openai/large"), &json!(0.0123)));
        assert_eq!((&json[1]["day"], &json[1]["input_tokens"]), (&json!("2026-11-21"), &json!(100)));
    }

    #[tokio::test]
    async fn members_see_their_own_usage_and_owners_see_all() {
        let fixture = Fixture::new().await;
        fixture.spends("Ada", "openai/large", Some(1_000_000)).await;
        fixture.spends("Ben", "openai/large", Some(20_000)).await;
        let member = fixture.admin.chat(&fixture.ben(), "/usage").await;
        assert_eq!(member.json.as_array().unwrap().len(), 1);
        assert!(member.markdown.contains("0.02") && !member.markdown.contains("Ada"), "{}", member.markdown);
        let owner = fixture.admin.chat(&fixture.ada(), "/usage").await;
        assert!(["Ada", "Ben", "1.02"].iter().all(|part| owner.markdown.contains(part)), "{}", owner.markdown);
    }

    #[tokio::test]
    async fn usage_older_than_the_period_is_left_out_after_quiet_days() {
        let fixture = Fixture::new().await;
        fixture.spends("Ada", "openai/large", Some(1_000_000)).await;
        fixture.clock.set(fixture.now().plus(Duration::from_secs(8 * 86_400)));
        let answer = fixture.rendering(&fixture.admin.reports().usage(None, 7).await.unwrap());
        assert_eq!(
            (answer.json, answer.markdown.as_str()),
            (json!([]), &*says::NO_USAGE.in_language(Language::ENGLISH))
        );
    }
}
