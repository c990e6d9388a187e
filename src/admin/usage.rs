//! `/usage`: use and cost of the models, in money where the price is known and in tokens otherwise,
//! and the conversations that cost most.

use std::collections::BTreeMap;

use chrono::{Days, NaiveDate};
use serde_json::{Value, json};

use super::ReportsAdmin;
use super::answer::{Render, RenderContext, ShownLabel, amount, plain};
use super::conversations::{ConversationItem, describe, person_of};
use crate::config::Limit;
use crate::id::PersonId;
use crate::spend::RemainingBudget;
use crate::store::{ConversationCost, Db, SpendLine};
use crate::wording::Language;
use crate::wording::command as says;

/// Number of conversations that cost most.
const DEAREST: u32 = 10;
/// Number of them in an answer of a command.
const DEAREST_SHOWN: usize = 3;

/// The local days of a usage report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UsagePeriod {
    /// Number of days.
    pub days: u32,
    /// Day after the last; `None` for tomorrow.
    pub before: Option<NaiveDate>,
}

impl ReportsAdmin<'_> {
    /// The usage of some local days: everyone's, or only that of `only`. Titles of conversations
    /// are those of `reader` alone.
    pub async fn usage(
        &self,
        only: Option<PersonId>,
        reader: Option<PersonId>,
        period: UsagePeriod,
    ) -> anyhow::Result<UsageReport> {
        let (today, ends) = (self.zone.day(self.clock.now()), self.reports().ends());
        let end = period.before.and_then(|day| day.pred_opt());
        let last = end.map_or_else(|| today.clone(), |day| day.to_string());
        let first = first_day(&last, period.days);
        // A journal row counts towards the local day of its reservation, which may lie ahead after
        // a change of the zone.
        let until = end.map_or_else(|| "9999-12-31".to_owned(), |day| day.to_string());
        let since = first.clone();
        let read = move |db: Db<'_>| {
            let lines = db.spending().spend_lines(only, &since, &until)?;
            let costs = db.spending().dearest_conversations(only, &since, &until, DEAREST)?;
            let mut dearest = Vec::new();
            for cost in costs {
                let Some(conversation) = db.conversations().conversation(cost.conversation)? else { continue };
                let is_own = reader.map_or(Ok(false), |reader| db.conversations().is_of(cost.conversation, reader))?;
                let person = person_of(db, &conversation)?;
                let item = if is_own { Some(describe(db, conversation, ends)?) } else { None };
                dearest.push(DearConversation { cost, person, item });
            }
            Ok((lines, dearest, db.spending().is_spent_before(only, &since)?))
        };
        let (lines, dearest, has_earlier) = self.journal.read_much(read).await?;
        let left = if only.is_none() { Some(self.ledger.left().await?) } else { None };
        let daily = left.as_ref().map(|_| self.ledger.daily_limit());
        Ok(UsageReport { today, first, last, days: period.days, lines, dearest, has_earlier, left, daily })
    }
}

/// A conversation that cost much.
#[derive(Debug, Clone)]
pub struct DearConversation {
    /// Cost in the period.
    pub cost: ConversationCost,
    /// Name of its person or group.
    pub person: String,
    /// List item, if it is the reader's own.
    pub item: Option<ConversationItem>,
}

/// Usage of the models.
pub struct UsageReport {
    /// Local day.
    pub today: String,
    /// First day of the period.
    pub first: String,
    /// Last day of the period.
    pub last: String,
    /// Number of days.
    pub days: u32,
    /// Use by day, person, purpose, model and whether the price is known; days without any are
    /// missing.
    pub lines: Vec<SpendLine>,
    /// Conversations that cost most, dearest first.
    pub dearest: Vec<DearConversation>,
    /// True if there is any use before the period.
    pub has_earlier: bool,
    /// Remaining budget, if everyone's usage is shown.
    pub left: Option<RemainingBudget>,
    /// Budget of a day, if everyone's usage is shown.
    pub daily: Option<Limit>,
}

impl UsageReport {
    /// Share of the input that came from the providers' caches, in percent.
    pub fn cached_percent(&self) -> u64 {
        let sum = |of: fn(&SpendLine) -> u64| self.lines.iter().map(of).fold(0, u64::saturating_add);
        let (cached, input) = (sum(|line| line.cached), sum(|line| line.input));
        cached.saturating_mul(100).checked_div(input).unwrap_or(0)
    }
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
        let cached = self.cached_percent();
        parts.extend((cached > 0).then(|| says::usage_cached(language, cached)));
        let dear = |one: &DearConversation| {
            let ConversationCost { conversation, calls, micros, tokens } = one.cost;
            let name = says::usage_conversation(language, conversation, &plain(&one.person));
            says::usage_row(&name, &says::spent(language, micros, tokens, calls))
        };
        let dearest: Vec<String> = self.dearest.iter().take(DEAREST_SHOWN).map(dear).collect();
        parts.extend((!dearest.is_empty()).then(|| says::usage_by_conversation(language, &dearest.join("\n"))));
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
    use super::super::tests::fixture::{Fixture, keys};
    use super::*;
    use std::time::Duration;

    fn week() -> UsagePeriod {
        UsagePeriod { days: 7, before: None }
    }

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
        let json = fixture.rendering(&fixture.admin.reports().usage(None, None, week()).await.unwrap()).json;
        assert_eq!(
            keys(&json[0]),
            ["day", "person", "purpose", "model", "input_tokens", "cached_tokens", "output_tokens", "cost", "calls"]
        );
        assert_eq!((&json[0]["model"], &json[0]["cost"]), (&json!("ollama/small"), &Value::Null));
        assert_eq!((&json[1]["model"], &json[1]["cost"]), (&json!("openai/large"), &json!(0.0123)));
        assert_eq!((&json[1]["day"], &json[1]["input_tokens"]), (&json!("2026-11-21"), &json!(100)));
    }

    #[tokio::test]
    async fn calls_before_and_after_a_price_was_known_count_apart() {
        let fixture = Fixture::new().await;
        fixture.spends("Ada", "openai/large", Some(12_300)).await;
        fixture.spends("Ada", "openai/large", None).await;
        let report = fixture.admin.reports().usage(None, None, week()).await.unwrap();
        let lines: Vec<_> = report.lines.iter().map(|line| (line.priced, line.calls, line.micros)).collect();
        assert_eq!(lines, [(false, 1, 0), (true, 1, 12_300)]);
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
        let report = async |only| fixture.admin.reports().usage(only, only, week()).await.unwrap();
        let (ada, ben) = (fixture.ada().person.id, fixture.ben().person.id);
        for (only, has_earlier) in [(None, true), (Some(ada), true), (Some(ben), false)] {
            assert_eq!(report(only).await.has_earlier, has_earlier, "{only:?}");
        }
        let answer = fixture.rendering(&report(None).await);
        assert_eq!(
            (answer.json, answer.markdown.as_str()),
            (json!([]), &*says::NO_USAGE.in_language(Language::ENGLISH))
        );
    }
}
