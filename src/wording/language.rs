//! Languages in which people are addressed: each is one file of the catalogue.
//!
//! The sentences that members and strangers meet stand in `catalogue/CODE.ftl`, written in Fluent.
//! Everything else is English: words for models, for owners about the program, and the command
//! line. A further language is one file, and one line in [`CATALOGUES`]; a test holds all files to
//! the same sentences with the same variables.

use std::fmt;
use std::sync::LazyLock;
use std::time::Duration;

use chrono::Datelike;
use fluent_bundle::concurrent::FluentBundle;
use fluent_bundle::{FluentArgs, FluentResource, FluentValue};

use super::ProgramText;
use crate::time::{Timestamp, Zone};

/// Formats a sentence of the catalogue with its variables.
macro_rules! say {
    ($language:expr, $key:literal $(, $name:ident = $value:expr)* $(,)?) => {
        $language.message($key, &[$((stringify!($name), fluent_bundle::FluentValue::from($value))),*])
    };
}
pub(super) use say;

/// Catalogues by the code of their language.
const CATALOGUES: &[(&str, &str)] = &[
    ("en", include_str!("catalogue/en.ftl")),
    ("de", include_str!("catalogue/de.ftl")),
    ("es", include_str!("catalogue/es.ftl")),
];

static BUNDLES: LazyLock<Vec<(&str, FluentBundle<FluentResource>)>> =
    LazyLock::new(|| CATALOGUES.iter().map(|(code, text)| (*code, bundle(code, text))).collect());

fn bundle(code: &str, text: &str) -> FluentBundle<FluentResource> {
    let mut bundle = FluentBundle::new_concurrent(vec![code.parse().unwrap_or_default()]);
    // Marks of direction around each variable would be invisible characters in every message.
    bundle.set_use_isolating(false);
    let resource = FluentResource::try_new(text.to_owned()).unwrap_or_else(|(resource, _)| resource);
    bundle.add_resource_overriding(resource);
    bundle
}

/// A language of the catalogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Language(&'static str);

impl Language {
    /// The language of everything that is not in the catalogue.
    pub const ENGLISH: Self = Self("en");

    /// Returns all languages.
    pub fn all() -> impl Iterator<Item = Self> {
        CATALOGUES.iter().map(|(code, _)| Self(code))
    }

    /// Returns the language of a code, such as `de` or `de-AT`.
    pub fn named(code: &str) -> Option<Self> {
        let base = code.trim().split(['-', '_']).next()?;
        Self::all().find(|language| language.0.eq_ignore_ascii_case(base))
    }

    /// Code, as in the names of the catalogue's files.
    pub fn code(self) -> &'static str {
        self.0
    }

    /// Returns the name of the language in that language.
    pub fn name(self) -> String {
        say!(self, "language-name")
    }

    /// Returns the English name of the language.
    pub fn english_name(self) -> String {
        say!(self, "language-in-english")
    }

    /// Returns the description of a command, given the English one.
    pub fn description(self, command: &str, english: &str) -> String {
        self.of_command("does", command, english)
    }

    /// Returns the help with invalid arguments of a command, given the English one.
    pub fn hint(self, command: &str, english: &str) -> String {
        self.of_command("hint", command, english)
    }

    fn of_command(self, kind: &str, command: &str, english: &str) -> String {
        let (own, key) = (BUNDLES.iter().find(|(code, _)| *code == self.0), format!("{kind}-{command}"));
        let known = own.is_some_and(|(_, bundle)| bundle.has_message(&key));
        if known { self.message(&key, &[]) } else { english.to_owned() }
    }

    /// Formats a duration: `40 seconds`, `3 hours`.
    pub fn span(self, span: Duration) -> String {
        let seconds = span.as_secs();
        match seconds {
            0..90 => say!(self, "span-seconds", count = seconds),
            90..5_400 => say!(self, "span-minutes", count = (seconds + 30) / 60),
            5_400..172_800 => say!(self, "span-hours", count = (seconds + 1_800) / 3_600),
            _ => say!(self, "span-days", count = (seconds + 43_200) / 86_400),
        }
    }

    /// Formats a day and a clock time: `Friday, 20 November 2026, 18:00`.
    pub fn day_and_time(self, zone: Zone, at: Timestamp) -> String {
        let day = zone.calendar_day(at);
        say!(
            self,
            "day-and-time",
            weekday = day.weekday().number_from_monday(),
            day = day.day(),
            month = day.month(),
            year = day.year().to_string(),
            time = zone.time_of_day(at),
        )
    }

    /// Formats a time that is known to be near: `18:05` today, `yesterday 18:05`, else with the
    /// date.
    pub fn near(self, zone: Zone, at: Timestamp, now: Timestamp) -> String {
        if zone.calendar_day(at) == zone.calendar_day(now) { zone.time_of_day(at) } else { self.to_come(zone, at, now) }
    }

    /// Formats a time to come: `today 18:30`, `tomorrow 09:00`, `Monday 09:00` within a week, else
    /// `Thu 26 Nov, 09:00`, with the year if it is another one.
    pub fn to_come(self, zone: Zone, at: Timestamp, now: Timestamp) -> String {
        let time = zone.time_of_day(at);
        match self.named_day(zone, at, now) {
            Some(day) => say!(self, "near-time", day = day, time = time),
            None => self.far_time(&self.short_day(zone, at, Some(now)), &time),
        }
    }

    /// Formats the last moment of something to come: its day, if that is when the day ends.
    pub fn end(self, zone: Zone, at: Timestamp, now: Timestamp) -> String {
        if zone.time_of_day(at) == "23:59" { self.day(zone, at, now) } else { self.to_come(zone, at, now) }
    }

    /// Formats a day that is known to be near: `today`, `Monday`, `Thu 26 Nov`.
    pub fn day(self, zone: Zone, at: Timestamp, now: Timestamp) -> String {
        self.named_day(zone, at, now).unwrap_or_else(|| self.short_day(zone, at, Some(now)))
    }

    /// Formats a time for a text that is kept: `Thu 26 Nov 2026, 09:00`.
    pub fn date_and_time(self, zone: Zone, at: Timestamp) -> String {
        self.far_time(&self.short_day(zone, at, None), &zone.time_of_day(at))
    }

    fn far_time(self, day: &str, time: &str) -> String {
        say!(self, "far-time", day = day, time = time)
    }

    fn named_day(self, zone: Zone, at: Timestamp, now: Timestamp) -> Option<String> {
        let day = zone.calendar_day(at);
        Some(match day.signed_duration_since(zone.calendar_day(now)).num_days() {
            -1 => say!(self, "yesterday"),
            0 => say!(self, "today"),
            1 => say!(self, "tomorrow"),
            2..=6 => say!(self, "weekday", weekday = day.weekday().number_from_monday()),
            _ => return None,
        })
    }

    /// Formats a date with its weekday, without the year if it is that of `now`: `Thu 26 Nov`.
    pub fn date(self, zone: Zone, at: Timestamp, now: Timestamp) -> String {
        self.short_day(zone, at, Some(now))
    }

    fn short_day(self, zone: Zone, at: Timestamp, now: Option<Timestamp>) -> String {
        let day = zone.calendar_day(at);
        let is_this_year = now.is_some_and(|now| zone.calendar_day(now).year() == day.year());
        let (weekday, month) = (day.weekday().number_from_monday(), day.month());
        let date = say!(self, "short-day", weekday = weekday, day = day.day(), month = month);
        if is_this_year { date } else { say!(self, "day-of-year", day = date, year = day.year().to_string()) }
    }

    /// Formats a number, with its digits in groups of three if there are more than four.
    pub fn number(self, number: u64) -> String {
        let digits = number.to_string();
        if digits.len() <= 4 {
            return digits;
        }
        let separator = say!(self, "digit-separator");
        let mut grouped = String::new();
        for (place, digit) in digits.chars().enumerate() {
            if place > 0 && (digits.len() - place).is_multiple_of(3) {
                grouped.push_str(&separator);
            }
            grouped.push(digit);
        }
        grouped
    }

    /// Formats an amount in micro-units with two to four decimals.
    pub fn money(self, micros: u64) -> String {
        let amount = super::money(micros);
        let (whole, rest) = amount.split_once('.').unwrap_or((&amount, ""));
        let whole = whole.parse().map_or_else(|_| whole.to_owned(), |whole| self.number(whole));
        format!("{whole}{}{rest}", say!(self, "decimal-sign"))
    }

    /// Formats the sentence of that key; in English if this language lacks it.
    pub(super) fn message(self, key: &str, variables: &[(&'static str, FluentValue<'_>)]) -> String {
        let pattern = |code: &str| {
            let (_, bundle) = BUNDLES.iter().find(|(known, _)| *known == code)?;
            Some((bundle, bundle.get_message(key)?.value()?))
        };
        let Some((bundle, pattern)) = pattern(self.0).or_else(|| pattern(Self::ENGLISH.0)) else {
            return key.to_owned();
        };
        let variables: FluentArgs<'_> = variables.iter().cloned().collect();
        bundle.format_pattern(pattern, Some(&variables), &mut Vec::new()).into_owned()
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// Language, zone and time in which a person reads.
#[derive(Debug, Clone, Copy)]
pub struct Locale {
    /// The language.
    pub language: Language,
    /// The zone of the times.
    pub zone: Zone,
    /// The present time.
    pub now: Timestamp,
}

impl Locale {
    /// Formats a time that is over: `18:05`, `yesterday 18:05`, `Thu 26 Nov, 18:05`.
    pub fn near(self, at: Timestamp) -> String {
        self.language.near(self.zone, at, self.now)
    }
}

/// A sentence of the catalogue without variables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sentence(pub(super) &'static str);

impl Sentence {
    /// Key in the catalogue, by which a sentence can be stored.
    pub fn key(self) -> &'static str {
        self.0
    }

    /// Returns the sentence in a language.
    pub fn in_language(self, language: Language) -> ProgramText {
        ProgramText::message(language.message(self.0, &[]))
    }
}

#[cfg(test)]
mod tests;
