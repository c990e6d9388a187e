//! Times as people say them in English, German and Spanish: `tomorrow morning at 8`, `um halb zehn`,
//! `el lunes a las 10 y media`, `every Monday at 9:30`.
//!
//! Pure and strict: an expression has one meaning, in a form that `time::When` or `time::Cron` reads,
//! or none. An hour that may be in either half of the day, with nothing that says in which, is the
//! next one that the clock shows; on a later day it must be clear.

use chrono::{Datelike, Days, NaiveDate, NaiveDateTime, NaiveTime, Timelike};

use super::pattern::longest;
use super::tokens::Token;
use super::vocabulary::{
    AFTER, AND_MINUTES, AT, BETWEEN, CLOCKS, ClockForm, DAYS, DayForm, EVERY, EveryForm, HALVES, Half, MORE_WEEKDAYS,
    SUFFIXES,
};

/// A time expression at the beginning of some tokens.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Spoken {
    day: Option<Day>,
    clock: Option<Clock>,
    half: Option<Half>,
    /// Minutes from now.
    after: Option<u32>,
    every: Option<Every>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Day {
    /// Number of days from today.
    In(u32),
    /// The first such weekday to come, from today on, or from tomorrow on.
    Weekday(u32, FirstDay),
    Date {
        day: u32,
        month: u32,
        year: Option<u32>,
    },
    /// The next such day of a month.
    OfMonth(u32),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FirstDay {
    Today,
    Tomorrow,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Clock {
    hour: u32,
    minute: u32,
    /// True if it is of a clock of 24 hours.
    is_whole: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Every {
    Day,
    /// Weekdays, Sunday is 0.
    Weekdays(Vec<u32>),
    /// Day of the month.
    Month(u32),
    /// Day and month.
    Year(u32, u32),
}

/// A part of an expression.
enum Piece {
    Day(Day),
    Clock(Clock),
    Half(Half),
    After(u32),
    Every(Every),
}

impl Spoken {
    /// Returns the expression at the beginning of these tokens, and the number of tokens it takes.
    pub fn read(tokens: &[Token]) -> Option<(Self, usize)> {
        let (mut spoken, mut taken) = (Self::default(), 0);
        loop {
            let rest = tokens.get(taken..).unwrap_or_default();
            let skipped = rest.iter().take_while(|token| BETWEEN.contains(&token.word.as_str())).count();
            // A word between may itself begin a piece: `am 3.`, `am 3. Dezember`.
            let all = (0..=skipped).rev().filter_map(|skip| {
                let (pieces, length) = pieces(rest.get(skip..)?, taken + skip > 0)?;
                Some((pieces, skip + length))
            });
            let next = all.max_by_key(|(_, length)| *length);
            let Some((pieces, length)) = next else { break };
            let mut grown = spoken.clone();
            if !pieces.into_iter().all(|piece| grown.add(piece)) {
                break;
            }
            spoken = grown;
            taken += length;
        }
        (taken > 0).then_some((spoken, taken))
    }

    /// Adds a piece. Returns false if there is one of its kind.
    fn add(&mut self, piece: Piece) -> bool {
        fn set<T>(place: &mut Option<T>, value: T) -> bool {
            place.replace(value).is_none()
        }
        match piece {
            // `Friday, 27 November`
            Piece::Day(day @ Day::Date { .. }) if matches!(self.day, Some(Day::Weekday(..))) => {
                self.day = Some(day);
                true
            }
            Piece::Day(day) => set(&mut self.day, day),
            Piece::Clock(clock) => set(&mut self.clock, clock),
            // `every evening at 9 pm`
            Piece::Half(half) if self.half == Some(half) => true,
            Piece::Half(half) => set(&mut self.half, half),
            Piece::After(minutes) => set(&mut self.after, minutes),
            Piece::Every(every) => set(&mut self.every, every),
        }
    }

    /// Returns both together; `None` if a piece is there twice.
    pub fn join(mut self, other: Self) -> Option<Self> {
        let pieces = [
            other.day.map(Piece::Day),
            other.clock.map(Piece::Clock),
            other.half.map(Piece::Half),
            other.after.map(Piece::After),
            other.every.map(Piece::Every),
        ];
        pieces.into_iter().flatten().all(|piece| self.add(piece)).then_some(self)
    }

    /// Returns true if it says when something is, and not only on which day.
    pub fn has_clock(&self) -> bool {
        self.clock.is_some() || self.after.is_some()
    }

    /// Returns true if it cannot be anything but a time, as `morning` can.
    pub fn is_clear(&self) -> bool {
        self.has_clock() || self.every.is_some()
    }

    /// Returns the meaning in a form that `When` or `Cron` reads, at this local time.
    pub fn meaning(&self, now: NaiveDateTime) -> Option<String> {
        match (&self.every, self.day, self.after) {
            (None, None, Some(minutes)) if self.clock.is_none() && self.half.is_none() => {
                Some(format!("in {minutes} minutes"))
            }
            (Some(every), None, None) => {
                let time = self.clock?.on_a_known_day(self.half)?;
                let (minute, hour) = (time.minute(), time.hour());
                Some(match every {
                    Every::Day => format!("{minute} {hour} * * *"),
                    Every::Weekdays(days) => {
                        let days: Vec<String> = days.iter().map(u32::to_string).collect();
                        format!("{minute} {hour} * * {}", days.join(","))
                    }
                    Every::Month(day) => format!("{minute} {hour} {day} * *"),
                    Every::Year(day, month) => format!("{minute} {hour} {day} {month} *"),
                })
            }
            (None, day, None) => {
                let at = self.moment(day, now)?;
                Some(at.format("%Y-%m-%d %H:%M").to_string())
            }
            _ => None,
        }
    }

    fn moment(&self, day: Option<Day>, now: NaiveDateTime) -> Option<NaiveDateTime> {
        let (clock, today) = (self.clock?, now.date());
        let times = match day {
            None | Some(Day::In(0)) => clock.times(self.half),
            Some(_) => clock.on_a_known_day(self.half).into_iter().collect(),
        };
        let days: Vec<NaiveDate> = match day {
            None => today.iter_days().take(2).collect(),
            Some(Day::In(days)) => vec![today.checked_add_days(Days::new(days.into()))?],
            Some(Day::Weekday(wanted, first)) => {
                let is_it = |date: &NaiveDate| date.weekday().num_days_from_sunday() == wanted;
                let later = if first == FirstDay::Today { 0 } else { 1 };
                today.iter_days().skip(later).filter(is_it).take(2).collect()
            }
            Some(Day::OfMonth(day)) => today.iter_days().take(62).filter(|date| date.day() == day).collect(),
            Some(Day::Date { day, month, year: Some(year) }) => {
                vec![NaiveDate::from_ymd_opt(i32::try_from(year).ok()?, month, day)?]
            }
            Some(Day::Date { day, month, year: None }) => {
                let years = [today.year(), today.year() + 1].into_iter();
                years.filter_map(|year| NaiveDate::from_ymd_opt(year, month, day)).collect()
            }
        };
        let moments = days.iter().flat_map(|day| times.iter().map(|time| day.and_time(*time)));
        moments.filter(|at| *at > now).min()
    }
}

impl Clock {
    /// Returns the times that it may mean.
    fn times(self, half: Option<Half>) -> Vec<NaiveTime> {
        let hours = match (half, self.hour) {
            (Some(Half::Am), 12) => vec![0],
            (Some(Half::Pm), hour) if hour < 12 => vec![hour + 12],
            (None, hour) if !self.is_whole && (1..12).contains(&hour) => vec![hour, hour + 12],
            (None, 12) if !self.is_whole => vec![12, 0],
            (_, 24) => vec![0],
            (_, hour) => vec![hour],
        };
        hours.into_iter().filter_map(|hour| NaiveTime::from_hms_opt(hour, self.minute, 0)).collect()
    }

    /// Returns the one time that it can mean on a day that is not today.
    fn on_a_known_day(self, half: Option<Half>) -> Option<NaiveTime> {
        match self.times(half).as_slice() {
            [time] => Some(*time),
            // Nobody is reminded at night without saying so.
            [time, _] if (7..=12).contains(&self.hour) => Some(*time),
            _ => None,
        }
    }
}

/// Returns the pieces at the beginning of these tokens; `follows` is true if others stand before.
fn pieces(tokens: &[Token], follows: bool) -> Option<(Vec<Piece>, usize)> {
    if let Some((every, half, taken)) = every(tokens) {
        let pieces = std::iter::once(Piece::Every(every)).chain(half.map(Piece::Half));
        return Some((pieces.collect(), taken));
    }
    if let Some((minutes, taken)) = after(tokens) {
        return Some((vec![Piece::After(minutes)], taken));
    }
    let (day, clock) = (day(tokens), clock(tokens));
    let day_takes = day.as_ref().map_or(0, |(_, _, taken)| *taken);
    match (day, clock) {
        (_, Some((clock, half, taken))) if taken > day_takes => {
            Some((std::iter::once(Piece::Clock(clock)).chain(half.map(Piece::Half)).collect(), taken))
        }
        (Some((day, half, taken)), _) => {
            Some((std::iter::once(Piece::Day(day)).chain(half.map(Piece::Half)).collect(), taken))
        }
        _ => {
            let (half, _, taken) = longest(HALVES, tokens)?;
            // `morning` alone is a greeting.
            follows.then_some((vec![Piece::Half(half)], taken))
        }
    }
}

fn every(tokens: &[Token]) -> Option<(Every, Option<Half>, usize)> {
    if let Some((meaning, found, taken)) = longest(EVERY, tokens) {
        let (first, last) = (found.first().copied(), found.get(1).copied());
        let every = match meaning {
            EveryForm::Day | EveryForm::Half(_) => Every::Day,
            EveryForm::Weekday => {
                let (more, length) = more_weekdays(tokens.get(taken..).unwrap_or_default());
                let days = first.into_iter().chain(more).collect();
                return Some((Every::Weekdays(days), None, taken + length));
            }
            EveryForm::Workdays => Every::Weekdays((1..=5).collect()),
            EveryForm::Weekend => Every::Weekdays(vec![0, 6]),
            EveryForm::FromTo => {
                let (first, last) = first.zip(last)?;
                let last = if last < first { last + 7 } else { last };
                Every::Weekdays((first..=last).map(|day| day % 7).collect())
            }
            EveryForm::Month => Every::Month(first?),
            EveryForm::DayMonth => Every::Year(first?, last?),
            EveryForm::MonthDay => Every::Year(last?, first?),
        };
        let half = if let EveryForm::Half(half) = meaning { Some(half) } else { None };
        return Some((every, half, taken));
    }
    None
}

/// Returns further weekdays of a list, and the number of tokens they take.
fn more_weekdays(tokens: &[Token]) -> (Vec<u32>, usize) {
    let (mut days, mut taken) = (Vec::new(), 0);
    while let Some(rest) = tokens.get(taken..) {
        let next = longest(MORE_WEEKDAYS, rest);
        let Some(((), found, length)) = next else { break };
        days.extend(found);
        taken += length;
    }
    (days, taken)
}

fn after(tokens: &[Token]) -> Option<(u32, usize)> {
    let ((per_unit, extra), found, taken) = longest(AFTER, tokens)?;
    let count = found.first().copied().unwrap_or(1);
    let minutes = count.checked_mul(per_unit)?.checked_add(extra)?;
    // `in 1 hour and 20 minutes`
    let more = longest(AND_MINUTES, tokens.get(taken..).unwrap_or_default()).filter(|_| per_unit == 60 && extra == 0);
    let (minutes, taken) = match more {
        Some(((), more, length)) => (minutes.checked_add(*more.first()?)?, taken + length),
        None => (minutes, taken),
    };
    Some((minutes, taken))
}

fn day(tokens: &[Token]) -> Option<(Day, Option<Half>, usize)> {
    let (form, found, taken) = longest(DAYS, tokens)?;
    let number = |at: usize| found.get(at).copied();
    let (day, half) = match form {
        DayForm::In(days) => (Day::In(days), None),
        DayForm::Half(days, half) => (Day::In(days), Some(half)),
        DayForm::Count(per_unit) => (Day::In(number(0)?.checked_mul(per_unit)?), None),
        DayForm::Weekday => (Day::Weekday(number(0)?, FirstDay::Today), None),
        DayForm::NextWeekday => (Day::Weekday(number(0)?, FirstDay::Tomorrow), None),
        DayForm::DayMonth => (Day::Date { day: number(0)?, month: number(1)?, year: number(2) }, None),
        DayForm::MonthDay => (Day::Date { day: number(1)?, month: number(0)?, year: number(2) }, None),
        DayForm::OfMonth => (Day::OfMonth(number(0)?), None),
        // `15/12` and `12/15`, but not `3/4`.
        DayForm::Slashed => {
            let (one, other) = (number(0)?, number(1)?);
            let (day, month) = if one > 12 { (one, other) } else { (other, one) };
            let is_clear = day > 12 && month <= 12;
            (is_clear.then_some(Day::Date { day, month, year: None })?, None)
        }
        DayForm::YearMonthDay => (Day::Date { day: number(2)?, month: number(1)?, year: number(0) }, None),
    };
    Some((day, half, taken))
}

fn clock(tokens: &[Token]) -> Option<(Clock, Option<Half>, usize)> {
    let lead = longest(AT, tokens).map_or(0, |((), _, taken)| taken);
    let rest = tokens.get(lead..)?;
    let core = longest(CLOCKS, rest)?;
    let (form, found, mut taken) = core;
    let rest = rest.get(taken..).unwrap_or_default();
    let (mut half, mut is_marked, mut is_whole) = (None, false, form == ClockForm::Sharp);
    if let Some((suffix, _, length)) = longest(SUFFIXES, rest) {
        taken += length;
        is_marked = true;
        half = suffix;
    }
    let first = found.first().copied();
    let (hour, minute) = match form {
        // A number alone is no time.
        ClockForm::Hour if lead == 0 && !is_marked => return None,
        ClockForm::Dotted if lead == 0 && !is_marked => return None,
        ClockForm::Hour => (first?, 0),
        ClockForm::Sharp | ClockForm::Dotted => (first?, *found.get(1)?),
        ClockForm::Past(minutes) => (first?, minutes),
        ClockForm::To(minutes) => (before(first?), 60 - minutes),
        ClockForm::MinutesPast => (*found.get(1)?, first?),
        ClockForm::MinutesTo => (before(*found.get(1)?), 60 - first?),
        ClockForm::HourMinutes => (first?, *found.get(1)?),
        ClockForm::HourLessMinutes => (before(first?), 60 - found.get(1)?),
        ClockForm::Noon => (12, 0),
        ClockForm::Midnight => (24, 0),
    };
    is_whole = match form {
        ClockForm::Noon | ClockForm::Midnight => true,
        // `6:45 Uhr`, `09:30` and `18:00` are of a clock of 24 hours.
        _ => {
            let has_zero = tokens.get(lead).is_some_and(|token| token.word.starts_with('0'));
            hour > 12 || hour == 0 || is_whole && (has_zero || is_marked && half.is_none())
        }
    };
    Some((Clock { hour, minute, is_whole }, half, lead + taken))
}

/// The hour before, on a clock of twelve hours.
fn before(hour: u32) -> u32 {
    if hour == 1 { 12 } else { hour.saturating_sub(1) }
}
