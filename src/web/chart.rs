//! Pictures of numbers, as SVG with the same numbers as a table below.
//!
//! Only attributes and classes are used, since the content policy allows no inline style; series
//! differ by pattern as well as by colour.

use maud::{Markup, html};

/// Height of the tallest bar, in units of the picture.
const HEIGHT: u64 = 160;
/// Width of a bar with its gap.
const STEP: usize = 24;
/// Width of a bar.
const BAR: usize = 18;
/// Space below the bars for their names.
const NAMES: u64 = 20;

/// Number of series that colour and pattern tell apart.
pub const SERIES: usize = 6;

/// Bars that stand side by side, each of the same series on top of each other.
pub struct StackedBars {
    /// Title, which also names the table.
    pub title: String,
    /// Names of the series, at most [`SERIES`].
    pub series: Vec<String>,
    /// Bars: the name below, the day in the table, and a number for each series.
    pub bars: Vec<(String, String, Vec<u64>)>,
    /// Number that a line marks, with its name.
    pub limit: Option<(u64, String)>,
    /// Number in words.
    pub words: fn(u64) -> String,
}

impl StackedBars {
    /// Draws the bars, and the table below.
    pub fn markup(&self) -> Markup {
        let sums = self.bars.iter().map(|(.., numbers)| numbers.iter().sum::<u64>());
        let top = sums.chain(self.limit.iter().map(|(limit, _)| *limit)).max().unwrap_or_default().max(1);
        let width = self.bars.len().max(1) * STEP;
        let height = HEIGHT + NAMES;
        html! {
            figure {
                svg.chart viewBox={ "0 0 " (width) " " (height) } role="img" aria-label=(self.title) {
                    title { (self.title) }
                    desc { "The table below has the same numbers." }
                    (patterns())
                    @for (at, (name, _, numbers)) in self.bars.iter().enumerate() { (bar(at, name, numbers, top)) }
                    @if let Some((limit, _)) = &self.limit {
                        @let y = HEIGHT - scaled(*limit, top);
                        line.limit x1="0" x2=(width) y1=(y) y2=(y) {}
                    }
                }
                figcaption {
                    @for (at, name) in self.series.iter().enumerate() {
                        span.key { svg viewBox="0 0 12 12" aria-hidden="true" { rect width="12" height="12" class={ "series-" (at % SERIES) } {} } (name) " " }
                    }
                    @if let Some((limit, name)) = &self.limit { span.key { (name) ": " ((self.words)(*limit)) } }
                }
                details { summary { "Numbers" } (self.table()) }
            }
        }
    }

    fn table(&self) -> Markup {
        html! { div.scroll tabindex="0" { table {
            caption { (self.title) }
            tr { th scope="col" { "Day" } @for name in &self.series { th.number scope="col" { (name) } } }
            @for (_, day, numbers) in &self.bars {
                tr { th scope="row" { (day) } @for number in numbers { td.number { ((self.words)(*number)) } } }
            }
        } } }
    }
}

/// Width of the names of lanes.
const LANE_NAMES: u32 = 90;
/// Width of a lane.
const LANE: u32 = 390;
/// Height of a lane.
const LANE_HEIGHT: u32 = 26;

/// Moments on lanes, one below the other.
pub struct Timeline {
    /// Title, which also names the table.
    pub title: String,
    /// Names of equal parts of the time shown.
    pub parts: Vec<String>,
    /// Lanes: name and moments.
    pub lanes: Vec<(String, Vec<Moment>)>,
    /// Place of the present, if it is shown.
    pub now: Option<f64>,
}

/// A moment on a lane.
pub struct Moment {
    /// Place: 0 is the beginning of the time shown, 1 its end.
    pub place: f64,
    /// Time in words.
    pub time: String,
    /// Words about it.
    pub words: Markup,
}

impl Timeline {
    /// Draws the lanes, and the table below.
    pub fn markup(&self) -> Markup {
        let height = LANE_HEIGHT * u32::try_from(self.lanes.len()).unwrap_or(1);
        let part = f64::from(LANE) / f64::from(u32::try_from(self.parts.len().max(1)).unwrap_or(1));
        let left =
            |part_number: usize| f64::from(LANE_NAMES) + part * f64::from(u32::try_from(part_number).unwrap_or(0));
        html! {
            figure {
                div.scroll tabindex="0" role="group" aria-label=(self.title) {
                    svg.chart.timeline viewBox={ "0 0 " (LANE_NAMES + LANE) " " (height + 20) } role="img" aria-label=(self.title) {
                        title { (self.title) }
                        desc { "The table below has the same times." }
                        (patterns())
                        @for (at, name) in self.parts.iter().enumerate() {
                            line.grid x1=(left(at)) x2=(left(at)) y1="0" y2=(height) {}
                            text.name x=(left(at) + part / 2.0) y=(height + 14) { (name) }
                        }
                        @for (lane, (name, moments)) in self.lanes.iter().enumerate() { (lane_markup(lane, name, moments)) }
                        @if let Some(now) = self.now {
                            @let x = place(now);
                            line.limit x1=(x) x2=(x) y1="0" y2=(height) {}
                        }
                    }
                }
                details { summary { "Times" } div.scroll tabindex="0" { table {
                    caption { (self.title) }
                    tr { th scope="col" { "When" } th scope="col" { "What" } th scope="col" { "Words" } }
                    @for (name, moments) in &self.lanes { @for moment in moments {
                        tr { td { (moment.time) } td { (name) } td { (moment.words) } }
                    } }
                } } }
            }
        }
    }
}

fn lane_markup(lane: usize, name: &str, moments: &[Moment]) -> Markup {
    let middle = u32::try_from(lane).unwrap_or(0) * LANE_HEIGHT + LANE_HEIGHT / 2;
    html! {
        text.lane x="0" y=(middle + 4) { (name) }
        line.grid x1=(LANE_NAMES) x2=(LANE_NAMES + LANE) y1=(middle) y2=(middle) {}
        @for moment in moments {
            circle class={ "series-" (lane % 6) } cx=(place(moment.place)) cy=(middle) r="6" { title { (moment.time) } }
        }
    }
}

/// Returns the place on the picture.
fn place(share: f64) -> f64 {
    f64::from(LANE_NAMES) + (share.clamp(0.0, 1.0) * f64::from(LANE) * 10.0).round() / 10.0
}

/// Days of a bar of health.
const DAY_STEP: usize = 5;
/// Width of a day of a bar of health.
const DAY_WIDTH: usize = 4;
/// Height of a bar of health.
const DAY_HEIGHT: usize = 24;

/// Mark of a day on a bar of health, told by height as well as by colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DayMark {
    /// All of it worked.
    Well,
    /// A problem occurred.
    Ill,
    /// Switched off.
    Off,
    /// Nothing was recorded.
    Unknown,
}

/// One bar of days.
pub struct DayBar {
    /// Title, which says the sum in words.
    pub title: String,
    /// Days, oldest first, with their words.
    pub days: Vec<(DayMark, String)>,
}

impl DayBar {
    /// Draws the bar. Its numbers stand in a table of the page.
    pub fn markup(&self) -> Markup {
        let width = self.days.len().max(1) * DAY_STEP;
        let days = || self.days.iter().enumerate();
        let well = days().filter(|(_, (mark, _))| *mark == DayMark::Well);
        let column = |at: usize| format!("M{} 0h{DAY_WIDTH}v{DAY_HEIGHT}h-{DAY_WIDTH}z", at * DAY_STEP);
        html! {
            svg.chart.daybar viewBox={ "0 0 " (width) " " (DAY_HEIGHT) } role="img" aria-label=(self.title) {
                title { (self.title) }
                line.grid x1="0" x2=(width) y1=(DAY_HEIGHT) y2=(DAY_HEIGHT) {}
                path.well d=(well.map(|(at, _)| column(at)).collect::<String>()) {}
                @for (at, (mark, words)) in days() { (day(at, *mark, words)) }
            }
        }
    }
}

/// Draws a day on which not all of it worked.
fn day(at: usize, mark: DayMark, words: &str) -> Markup {
    let (height, class) = match mark {
        DayMark::Ill => (DAY_HEIGHT / 2, "ill"),
        DayMark::Off => (DAY_HEIGHT / 6, "off"),
        DayMark::Well | DayMark::Unknown => return html! {},
    };
    html! {
        rect class=(class) x=(at * DAY_STEP) y=(DAY_HEIGHT - height) width=(DAY_WIDTH) height=(height) { title { (words) } }
    }
}

fn bar(at: usize, name: &str, numbers: &[u64], top: u64) -> Markup {
    let x = at * STEP + (STEP - BAR) / 2;
    let mut floor = HEIGHT;
    let mut parts = Vec::new();
    for (series, number) in numbers.iter().enumerate() {
        let height = scaled(*number, top);
        floor = floor.saturating_sub(height);
        parts.push((series % SERIES, floor, height));
    }
    html! {
        @for (series, y, height) in parts.iter().filter(|(_, _, height)| *height > 0) {
            rect class={ "series-" (series) } x=(x) y=(y) width=(BAR) height=(height) {}
        }
        text.name x=(x + BAR / 2) y=(HEIGHT + NAMES - 6) { (name) }
    }
}

/// Returns the height of a number; one that is not zero can be seen.
fn scaled(number: u64, top: u64) -> u64 {
    let height = u128::from(number) * u128::from(HEIGHT) / u128::from(top);
    u64::try_from(height).unwrap_or(HEIGHT).max(u64::from(number > 0))
}

/// Patterns of the series, for those who do not tell colours apart.
fn patterns() -> Markup {
    let lines = [("1", "M0 6L6 0"), ("2", "M0 0L6 6"), ("3", "M0 3H6"), ("4", "M3 0V6"), ("5", "M0 3H6M3 0V6")];
    html! { defs { @for (number, path) in lines {
        pattern id={ "pattern-" (number) } class={ "pattern-" (number) } width="6" height="6" patternUnits="userSpaceOnUse" {
            rect.ground width="6" height="6" {}
            path d=(path) {}
        }
    } } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heights_keep_their_proportions_and_nothing_vanishes() {
        assert_eq!([0, 1, 50, 100].map(|number| scaled(number, 100)), [0, 1, 80, 160]);
        assert_eq!(scaled(1, 1_000_000), 1);
        assert_eq!(scaled(u64::MAX, u64::MAX), HEIGHT);
    }

    #[test]
    fn a_day_of_health_is_told_by_height_and_words() {
        let marks = [DayMark::Well, DayMark::Ill, DayMark::Off, DayMark::Unknown];
        let days = marks.map(|mark| (mark, format!("<{mark:?}>"))).into();
        let markup = DayBar { title: "Health".to_owned(), days }.markup().into_string();
        let heights: Vec<&str> =
            markup.split("width=\"4\" height=\"").skip(1).filter_map(|part| part.split('"').next()).collect();
        assert_eq!(heights, ["12", "4"], "{markup}");
        assert!(markup.contains("class=\"well\" d=\"M0 0h4v24h-4z\""), "{markup}");
        assert!(markup.contains("&lt;Ill&gt;") && !markup.contains("<Ill>"), "{markup}");
    }

    #[test]
    fn a_name_is_text_in_picture_and_table() {
        let name = "<script>alert(1)</script>";
        let chart = StackedBars {
            title: name.to_owned(),
            series: vec![name.to_owned()],
            bars: vec![(name.to_owned(), name.to_owned(), vec![3])],
            limit: Some((5, name.to_owned())),
            words: |number| number.to_string(),
        };
        let markup = chart.markup().into_string();
        assert!(!markup.contains("<script") && markup.contains("&lt;script"), "{markup}");
    }
}
