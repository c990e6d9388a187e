//! A year as a calendar, one column for each week, with the same numbers as a table below.
//!
//! A day with more is darker and larger, so that colour says nothing alone. In the picture days are
//! links for a pointer; the keyboard finds the same links in the table.

use std::collections::BTreeMap;

use chrono::{Datelike, Days, NaiveDate};
use maud::{Markup, html};

/// Side of a day with its gap.
const STEP: u64 = 12;
/// Side of a day.
const SIDE: u64 = 10;
/// Space above for the months.
const MONTHS: u64 = 14;
/// Space on the left for the days of the week.
const WEEKDAYS: u64 = 14;
/// Number of shades of days with something.
const SHADES: u64 = 4;
/// Number of days shown.
const SHOWN: usize = 53 * 7;

/// A year, day by day.
pub struct YearCalendar {
    /// Title, which also names the table.
    pub title: String,
    /// First day, a Monday.
    pub first: NaiveDate,
    /// Last day.
    pub today: NaiveDate,
    /// Titles of the columns of numbers in the table.
    pub columns: Vec<&'static str>,
    /// Address that a day leads to, up to its date.
    pub address: String,
    /// Days with something.
    pub days: BTreeMap<NaiveDate, CalendarDay>,
}

/// A day with something.
pub struct CalendarDay {
    /// Date in words.
    pub date: String,
    /// Number that its shade shows.
    pub weight: u64,
    /// Numbers in the table.
    pub numbers: Vec<u64>,
    /// Events in words.
    pub words: String,
}

impl YearCalendar {
    /// Draws the year, and the table below.
    pub fn markup(&self) -> Markup {
        let most = self.days.values().map(|day| day.weight).max().unwrap_or_default().max(1);
        let all = self.first.iter_days().take_while(|day| *day <= self.today).take(SHOWN);
        let places: Vec<(NaiveDate, u64, u64)> = all.zip(0..).map(|(day, at)| self.place(day, at)).collect();
        let width = places.last().map_or(0, |(_, x, _)| x + STEP);
        html! {
            figure {
                div.scroll.newest tabindex="0" role="group" aria-label=(self.title) {
                    svg.chart.timeline viewBox={ "0 0 " (width) " " (MONTHS + 7 * STEP) } role="group" aria-label=(self.title) {
                        desc { "The table below has the same numbers." }
                        @for (name, row) in [("M", 0), ("W", 2), ("F", 4)] { text.lane x="0" y=(MONTHS + row * STEP + 9) { (name) } }
                        @for (day, x, _) in places.iter().filter(|(day, ..)| begins_month(*day)) {
                            text.month x=(x) y=(MONTHS - 4) { (day.format("%b")) }
                        }
                        path.day-0 d=(self.without_anything(&places)) {}
                        @for (day, x, y) in &places { @if let Some(of) = self.days.get(day) {
                            @let shade = of.weight.saturating_mul(SHADES).div_ceil(most).clamp(1, SHADES);
                            @let inset = (SHADES - shade) / 2;
                            a href={ (self.address) (day) } tabindex="-1" {
                                title { (of.date) ": " (of.words) }
                                rect class={ "day-" (shade) } x=(x + inset) y=(y + inset) width=(SIDE - 2 * inset) height=(SIDE - 2 * inset) rx="2" {}
                            }
                        } }
                    }
                }
                details { summary { "Numbers" } (self.table()) }
            }
        }
    }

    fn place(&self, day: NaiveDate, at: u64) -> (NaiveDate, u64, u64) {
        (day, WEEKDAYS + at / 7 * STEP, MONTHS + at % 7 * STEP)
    }

    /// The outlines of the days without anything.
    fn without_anything(&self, places: &[(NaiveDate, u64, u64)]) -> String {
        let empty = places.iter().filter(|(day, ..)| !self.days.contains_key(day));
        empty.map(|(_, x, y)| format!("M{x} {y}h{SIDE}v{SIDE}h-{SIDE}z")).collect()
    }

    fn table(&self) -> Markup {
        html! { div.scroll tabindex="0" { table {
            caption { (self.title) }
            tr { th scope="col" { "Day" } @for column in &self.columns { th.number scope="col" { (column) } } }
            @for (day, of) in self.days.iter().rev() {
                tr { th scope="row" { a href={ (self.address) (day) } { (of.date) } } @for number in &of.numbers { td.number { (number) } } }
            }
        } } }
    }
}

/// Returns true if the name of a month stands above this day: the first Monday of it.
fn begins_month(day: NaiveDate) -> bool {
    let week_before = day.checked_sub_days(Days::new(7));
    day.weekday() == chrono::Weekday::Mon && week_before.is_some_and(|before| before.month() != day.month())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_day_of_the_year_has_its_place() {
        let day = |text: &str| text.parse::<NaiveDate>().unwrap();
        let of = |weight| CalendarDay {
            date: "26 November 2026".to_owned(),
            weight,
            numbers: vec![weight],
            words: "\"><script>".to_owned(),
        };
        let calendar = YearCalendar {
            title: "The year".to_owned(),
            first: day("2025-11-24"),
            today: day("2026-11-26"),
            columns: vec!["Messages"],
            address: "/conversations?day=".to_owned(),
            days: [(day("2025-11-24"), of(1)), (day("2026-11-26"), of(8))].into(),
        };
        let markup = calendar.markup().into_string();
        // Thursday of the last week, the darkest, and Monday of the first.
        assert!(markup.contains("<rect class=\"day-4\" x=\"638\" y=\"50\" width=\"10\""), "{markup}");
        assert!(markup.contains("<rect class=\"day-1\" x=\"15\" y=\"15\" width=\"8\""), "{markup}");
        assert_eq!(markup.matches('z').count(), 366, "the other days");
        assert_eq!(markup.matches("<text class=\"month\"").count(), 12);
        assert!(!markup.contains("<script>") && markup.contains("26 November 2026"), "{markup}");
    }
}
