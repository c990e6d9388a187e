//! Use and cost of the models: per day and purpose as a picture, by purpose, model and person, and
//! the conversations that cost most.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use axum::extract::{Query, State};
use axum::response::{IntoResponse, Response};
use chrono::{Days, NaiveDate};
use maud::{Markup, html};
use serde::Deserialize;

use crate::admin::{UsagePeriod, UsageReport};
use crate::store::SpendLine;
use crate::web::chart::{SERIES, StackedBars};
use crate::web::session::Member;
use crate::web::visitor::Visitor;
use crate::web::{Web, layout, texts};
use crate::wording::page as says;
use crate::wording::{self, Language, command};

/// Number of days shown.
const DAYS: u32 = 30;
/// Height of the budget in bars of the dearest day, up to which its line is drawn: above, the bars
/// would vanish.
const MOST_ABOVE: u64 = 5;

/// The days to show.
#[derive(Deserialize)]
pub struct PeriodQuery {
    /// Day after the last.
    #[serde(default)]
    before: String,
}

/// Shows use and cost: an owner everyone's, a member their own.
pub async fn usage(
    Member(visitor): Member,
    (State(web), Query(PeriodQuery { before })): (State<Arc<Web>>, Query<PeriodQuery>),
) -> Response {
    let only = (!visitor.is_owner()).then_some(visitor.person.id);
    let period = UsagePeriod { days: DAYS, before: before.parse().ok() };
    let report = match web.admin.reports().usage(only, Some(visitor.person.id), period).await {
        Ok(report) => report,
        Err(error) => return layout::failure(&error),
    };
    let main = html! {
        (periods(&report))
        @if let (Some(left), Some(daily)) = (&report.left, &report.daily) {
            p { (says::daily_budget(&wording::money(daily.micros), &number(daily.tokens))) " "
                (says::left_today(&wording::money(left.all.micros), &number(left.all.tokens))) }
        }
        @if report.lines.is_empty() { p { (says::NO_USAGE) } } @else {
            (by_day(&report).markup())
            @if is_priced(&report) && unpriced(&report.lines) > 0 { p.note { (says::not_drawn(&number(unpriced(&report.lines)))) } }
            @if report.cached_percent() > 0 { p.note { (says::cached(report.cached_percent())) } }
            (sums(&report, "Purpose", |line| purpose(&line.purpose)))
            (sums(&report, "Model", |line| line.model.clone()))
            @if visitor.is_owner() { (sums(&report, "Person", |line| command::spender(Language::ENGLISH, &line.person))) }
            (dearest(&report, &visitor))
        }
    };
    layout::page(Some(&visitor), "/usage", "Usage", main).into_response()
}

fn number(number: u64) -> String {
    Language::ENGLISH.number(number)
}

fn purpose(name: &str) -> String {
    command::purpose(Language::ENGLISH, name)
}

/// Names the days, with links to those before and after.
fn periods(report: &UsageReport) -> Markup {
    let day = |text: &str| text.parse::<NaiveDate>().ok();
    let words = |text: &str| day(text).map(wording::date).unwrap_or_default();
    let later = day(&report.last).filter(|_| report.last < report.today);
    let later = later.and_then(|last| last.checked_add_days(Days::new(u64::from(report.days) + 1)));
    let is_newest = later.is_some_and(|before| before.to_string() > report.today);
    html! {
        p { (words(&report.first)) " to " (words(&report.last)) }
        p {
            @if report.has_earlier { a.button rel="prev" href={ "/usage?before=" (report.first) } { "Earlier" } " " }
            @if let Some(before) = later {
                @if is_newest { a.button rel="next" href="/usage" { "Later" } }
                @else { a.button rel="next" href={ "/usage?before=" (before) } { "Later" } }
            }
        }
    }
}

fn is_priced(report: &UsageReport) -> bool {
    report.lines.iter().any(|line| line.priced)
}

/// Tokens of models without a price.
fn unpriced<'a>(lines: impl IntoIterator<Item = &'a SpendLine>) -> u64 {
    lines.into_iter().filter(|line| !line.priced).map(|line| line.input.saturating_add(line.output)).sum()
}

/// Draws money, or tokens if no price is known, for each day of the period.
fn by_day(report: &UsageReport) -> StackedBars {
    let is_priced = is_priced(report);
    let amount = |line: &SpendLine| if is_priced { line.micros } else { line.input.saturating_add(line.output) };
    let sum = |is_meant: &dyn Fn(&SpendLine) -> bool| -> u64 {
        report.lines.iter().filter(|line| is_meant(line)).map(amount).sum()
    };
    let purposes: BTreeSet<&str> = report.lines.iter().map(|line| line.purpose.as_str()).collect();
    // The smallest share one series, so that no two look the same.
    let mut purposes: Vec<Vec<&str>> = purposes.into_iter().map(|purpose| vec![purpose]).collect();
    if purposes.len() > SERIES {
        purposes.sort_by_key(|purpose| Reverse(sum(&|line| purpose.contains(&&*line.purpose))));
        let others = purposes.split_off(SERIES - 1).concat();
        purposes.push(others);
    }
    let first = report.first.parse::<NaiveDate>().ok();
    let days = first.into_iter().flat_map(|first| first.iter_days());
    let bars: Vec<(String, String, Vec<u64>)> = days
        .map(|day| (day, day.to_string()))
        .take_while(|(_, written)| *written <= report.last)
        .map(|(day, written)| {
            let of = |purpose: &Vec<&str>| sum(&|line| line.day == written && purpose.contains(&&*line.purpose));
            (day.format("%d").to_string(), wording::date(day), purposes.iter().map(of).collect())
        })
        .collect();
    let most = bars.iter().map(|(.., numbers)| numbers.iter().sum::<u64>()).max().unwrap_or_default();
    let limit = report.daily.map(|daily| if is_priced { daily.micros } else { daily.tokens });
    let limit = limit.filter(|limit| *limit > 0 && *limit <= most.saturating_mul(MOST_ABOVE));
    StackedBars {
        title: if is_priced { "Cost per day" } else { "Tokens per day" }.to_owned(),
        bars,
        series: purposes
            .iter()
            .map(|names| if let [name] = **names { purpose(name) } else { says::OTHER_PURPOSES.to_owned() })
            .collect(),
        limit: limit.map(|limit| (limit, "Budget".to_owned())),
        words: if is_priced { wording::money } else { number },
    }
}

fn sums(report: &UsageReport, what: &str, key: impl Fn(&SpendLine) -> String) -> Markup {
    let mut groups: BTreeMap<String, Vec<&SpendLine>> = BTreeMap::new();
    for line in &report.lines {
        groups.entry(key(line)).or_default().push(line);
    }
    let row = |(name, lines): (&String, &Vec<&SpendLine>)| {
        let sum = |amount: fn(&SpendLine) -> u64| lines.iter().map(|line| amount(line)).sum::<u64>();
        let (read, cached) = (sum(|line| line.input), sum(|line| line.cached));
        html! { tr {
            th scope="row" { bdi { (name) } }
            td.number { (number(sum(|line| line.calls))) } td.number { (number(read)) }
            td.number { (cached.saturating_mul(100).checked_div(read).unwrap_or_default()) " %" }
            td.number { (number(sum(|line| line.output))) } td.number { (cost(lines)) }
        } }
    };
    html! { section {
        h2 { "By " (what.to_lowercase()) }
        div.scroll tabindex="0" { table {
            tr { th scope="col" { (what) } th.number scope="col" { "Calls" } th.number scope="col" { "Read" } th.number scope="col" { "From cache" } th.number scope="col" { "Written" } th.number scope="col" { "Cost" } }
            @for group in &groups { (row(group)) }
        } }
    } }
}

/// The cost of lines, as far as prices are known.
fn cost(lines: &[&SpendLine]) -> String {
    if !lines.iter().any(|line| line.priced) {
        return says::NO_PRICE.to_owned();
    }
    let money = wording::money(lines.iter().map(|line| line.micros).sum());
    if unpriced(lines.iter().copied()) > 0 { says::partly_priced(&money) } else { money }
}

fn dearest(report: &UsageReport, visitor: &Visitor) -> Markup {
    html! { @if !report.dearest.is_empty() { section {
        h2 { "Most expensive conversations" }
        @if visitor.is_owner() { p.note { (says::ONLY_OWN_TITLES) } }
        div.scroll tabindex="0" { table {
            tr { th scope="col" { "Conversation" } th.number scope="col" { "Calls" } th.number scope="col" { "Tokens without a price" } th.number scope="col" { "Cost" } }
            @for one in &report.dearest { tr {
                th.name scope="row" { @match &one.item {
                    Some(item) => a href={ "/conversations/" (item.conversation.id) } { (texts::line(&item.title_text(visitor.zone))) },
                    None => bdi { (one.person) },
                } }
                td.number { (number(one.cost.calls)) } td.number { (number(one.cost.tokens)) } td.number { (wording::money(one.cost.micros)) }
            } }
        } }
    } } }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Limit;

    fn line(day: &str, purpose: &str, micros: u64) -> SpendLine {
        SpendLine {
            day: day.to_owned(),
            person: "Ada".to_owned(),
            purpose: purpose.to_owned(),
            model: "scripted/large".to_owned(),
            calls: 1,
            input: 100,
            cached: 25,
            output: 10,
            micros,
            priced: micros > 0,
        }
    }

    fn report(daily: u64) -> UsageReport {
        UsageReport {
            today: "2026-11-26".to_owned(),
            first: "2026-10-28".to_owned(),
            last: "2026-11-26".to_owned(),
            days: DAYS,
            lines: vec![
                line("2026-11-20", "chat", 300),
                line("2026-11-20", "summary", 100),
                line("2026-11-26", "chat", 50),
            ],
            dearest: Vec::new(),
            has_earlier: false,
            left: None,
            daily: Some(Limit { micros: daily, tokens: 7 }),
        }
    }

    #[test]
    fn every_day_of_the_period_has_its_bar() {
        let chart = by_day(&report(4_000));
        assert_eq!((chart.bars.len(), &*chart.bars[0].0, &*chart.bars[29].0), (30, "28", "26"));
        assert_eq!((&*chart.bars[0].1, &*chart.bars[29].1), ("28 October 2026", "26 November 2026"));
        assert_eq!((&chart.bars[23].2, &chart.bars[29].2), (&vec![300, 100], &vec![50, 0]));
        assert_eq!(report(1).cached_percent(), 25);
    }

    #[test]
    fn no_two_purposes_look_the_same() {
        let mut report = report(4_000);
        report.lines = (1..=9).map(|number| line("2026-11-20", &format!("p{number}"), number * 10)).collect();
        let chart = by_day(&report);
        assert_eq!(chart.bars[23].2, [90, 80, 70, 60, 50, 100]);
        assert_eq!((chart.series.len(), chart.series.last().map(String::as_str)), (SERIES, Some("other")));
        report.lines.truncate(SERIES);
        assert_eq!(by_day(&report).bars[23].2, [10, 20, 30, 40, 50, 60], "each of its own, by name");
    }

    #[test]
    fn models_without_a_price_are_told_apart() {
        let mut report = report(4_000);
        report.lines[1].priced = false;
        let lines: Vec<&SpendLine> = report.lines.iter().collect();
        assert_eq!((cost(&lines[1..2]), cost(&lines[..1])), ("no price".to_owned(), wording::money(300)));
        assert_eq!(cost(&lines), format!("{}, in part without a price", wording::money(450)));
        assert_eq!(unpriced(&report.lines), 110);
        let table = sums(&report, "Purpose", |line| line.purpose.clone()).into_string();
        let chat = table.split("<bdi>chat</bdi>").nth(1).unwrap().split("</tr>").next().unwrap();
        let cells: Vec<&str> =
            chat.split("<td class=\"number\">").skip(1).map(|cell| cell.split('<').next().unwrap()).collect();
        assert_eq!(cells, ["2", "200", "25 %", "20", &wording::money(350)], "{table}");
    }

    /// Promise (page/budget-line): The picture of cost has the daily budget as a line, unless all
    /// bars would vanish below it.
    #[test]
    fn the_budget_is_a_line_where_it_is_near() {
        assert!(by_day(&report(2_000)).markup().into_string().contains("class=\"limit\""));
        assert!(!by_day(&report(2_001)).markup().into_string().contains("class=\"limit\""));
    }
}
