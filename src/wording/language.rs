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
        let own = BUNDLES.iter().find(|(code, _)| *code == self.0);
        let known = own.is_some_and(|(_, bundle)| bundle.has_message(&format!("does-{command}")));
        if known { self.message(&format!("does-{command}"), &[]) } else { english.to_owned() }
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

/// A sentence of the catalogue without variables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sentence(pub(super) &'static str);

impl Sentence {
    /// Returns the sentence in a language.
    pub fn in_language(self, language: Language) -> ProgramText {
        ProgramText::message(language.message(self.0, &[]))
    }
}

#[cfg(test)]
mod tests;
