//! Use and cost of the models: per day and purpose as a picture, and by model and person.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use maud::{Markup, html};

use crate::admin::UsageReport;
use crate::store::SpendLine;
use crate::web::chart::StackedBars;
use crate::web::session::Member;
use crate::web::{Web, layout};
use crate::wording::{self, Language};

/// Number of days shown, including today.
const DAYS: u32 = 30;

/// Shows use and cost: an owner everyone's, a member their own.
pub async fn usage(Member(visitor): Member, State(web): State<Arc<Web>>) -> Response {
    let only = (!visitor.is_owner()).then_some(visitor.person.id);
    let report = match web.admin.reports().usage(only, DAYS).await {
        Ok(report) => report,
        Err(error) => return layout::failure(&error),
    };
    let main = html! {
        @if report.lines.is_empty() {
            p { "No model has been used in the last " (DAYS) " days. Write to your assistant, and its cost stands here." }
        } @else {
            @if let Some(left) = &report.left {
                p { "Left today: " strong { (wording::money(left.all.micros)) } ", and " (left.all.tokens) " tokens of models without a price." }
            }
            (by_day(&report).markup())
            (sums(&report, "Model", |line| line.model.clone()))
            @if visitor.is_owner() { (sums(&report, "Person", |line| wording::command::spender(Language::ENGLISH, &line.person))) }
        }
    };
    layout::page(Some(&visitor), "/usage", "Usage", main).into_response()
}

/// Draws money, or tokens if no price is known.
fn by_day(report: &UsageReport) -> StackedBars {
    let is_priced = report.lines.iter().any(|line| line.priced);
    let amount = |line: &SpendLine| if is_priced { line.micros } else { line.input.saturating_add(line.output) };
    let purposes: BTreeSet<&str> = report.lines.iter().map(|line| line.purpose.as_str()).collect();
    let days: BTreeSet<&str> = report.lines.iter().map(|line| line.day.as_str()).collect();
    let sum = |day: &str, purpose: &str| {
        report.lines.iter().filter(|line| line.day == day && line.purpose == purpose).map(amount).sum()
    };
    let bars = days.iter().map(|day| {
        let name = day.rsplit('-').next().unwrap_or(day).to_owned();
        (name, purposes.iter().map(|purpose| sum(day, purpose)).collect())
    });
    StackedBars {
        title: if is_priced { "Cost per day" } else { "Tokens per day" }.to_owned(),
        bars: bars.collect(),
        series: purposes.iter().map(|purpose| (*purpose).to_owned()).collect(),
        limit: None,
        words: if is_priced { wording::money } else { |tokens| tokens.to_string() },
    }
}

fn sums(report: &UsageReport, what: &str, key: impl Fn(&SpendLine) -> String) -> Markup {
    let mut sums: BTreeMap<String, (u64, u64, u64)> = BTreeMap::new();
    for line in &report.lines {
        let (calls, tokens, micros) = sums.entry(key(line)).or_default();
        *calls += line.calls;
        *tokens += line.input + line.output;
        *micros += line.micros;
    }
    html! { section {
        h2 { "By " (what.to_lowercase()) }
        div.scroll tabindex="0" { table {
            tr { th scope="col" { (what) } th.number scope="col" { "Calls" } th.number scope="col" { "Tokens" } th.number scope="col" { "Cost" } }
            @for (name, (calls, tokens, micros)) in &sums {
                tr { th scope="row" { (name) } td.number { (calls) } td.number { (tokens) } td.number { (wording::money(*micros)) } }
            }
        } }
    } }
}
