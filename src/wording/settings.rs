//! Replies to `/settings`.

use super::language::{Language, say};
use crate::time::{Timestamp, Zone};

/// The language and time zone of a person, and how to change them.
pub fn settings(language: Language, zone: Zone, now: Timestamp) -> String {
    let codes: Vec<&str> = Language::all().map(Language::code).collect();
    say!(
        language,
        "settings",
        language = language.name(),
        zone = zone.name(),
        time = zone.time_of_day(now),
        codes = codes.join(", "),
    )
}

/// Title of a button that gives another command.
pub fn button(language: Language, command: &str) -> String {
    say!(language, "settings-button", command = command)
}

/// A language was chosen, in that language.
pub fn language_chosen(language: Language) -> String {
    say!(language, "language-chosen", language = language.name())
}

/// A time zone was chosen.
pub fn zone_chosen(language: Language, zone: Zone, now: Timestamp) -> String {
    say!(language, "zone-chosen", zone = zone.name(), time = zone.time_of_day(now))
}

/// Refusal of an unknown language.
pub fn no_such_language(language: Language, word: &str) -> String {
    let names: Vec<String> = Language::all().map(|known| format!("{known} ({})", known.name())).collect();
    say!(language, "no-such-language", word = word, known = names.join(", "))
}

/// Refusal of an unknown time zone, with the one that was probably meant.
pub fn no_such_zone(language: Language, word: &str, near: Option<&str>) -> String {
    match near {
        Some(near) => say!(language, "no-such-zone-near", word = word, near = near),
        None => say!(language, "no-such-zone", word = word),
    }
}
