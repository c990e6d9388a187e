//! Parsers for durations, money and other values that are written as text. Each accepts exactly one
//! notation and names it in its error; misspelt words get a suggestion. Money is parsed digit by
//! digit, never through a float.

use std::time::Duration;

use super::error::ValueError;
use super::keys::{SECTIONS, Section, SectionSpelling};

/// Larger amounts are typing errors. The journal's columns can hold far more.
const MOST: u64 = 1_000_000_000_000_000;

const MICROS: u64 = 1_000_000;

const UNITS: [(&str, u64); 5] = [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1)];

/// Parses a duration such as `6h`, `600ms` or `1h30m`: whole numbers with units, larger units
/// first.
pub fn duration(text: &str) -> Result<Duration, ValueError> {
    let no_duration =
        || wrong(text, "is no duration", "write one as \"6h\", \"10m\", \"600ms\" or \"1h30m\" (units d, h, m, s, ms)");
    let mut rest = text;
    let mut units = UNITS.iter();
    let mut total: u64 = 0;
    while !rest.is_empty() {
        let (digits, after) = split_where(rest, |c| !c.is_ascii_digit());
        let (word, next) = split_where(after, |c| c.is_ascii_digit());
        let (_, millis) = units.find(|(unit, _)| *unit == word).ok_or_else(no_duration)?;
        let amount: u64 = digits.parse().map_err(|_| no_duration())?;
        total = amount.checked_mul(*millis).and_then(|part| total.checked_add(part)).ok_or_else(no_duration)?;
        rest = next;
    }
    if text.is_empty() || total > MOST { Err(no_duration()) } else { Ok(Duration::from_millis(total)) }
}

/// Parses a duration within bounds.
pub fn duration_within(text: &str, least: Duration, most: Duration) -> Result<Duration, ValueError> {
    let span = duration(text)?;
    if (least..=most).contains(&span) {
        return Ok(span);
    }
    let (least, most) = (show_duration(least), show_duration(most));
    Err(wrong(text, "is out of bounds", format!("write a duration from \"{least}\" to \"{most}\"")))
}

/// Formats a duration for [`duration`], to the millisecond.
pub fn show_duration(span: Duration) -> String {
    let mut remaining = u64::try_from(span.as_millis()).unwrap_or(u64::MAX);
    let mut shown = String::new();
    for (unit, millis) in UNITS {
        if remaining >= millis {
            shown.push_str(&format!("{}{unit}", remaining / millis));
            remaining %= millis;
        }
    }
    if shown.is_empty() { "0ms".to_owned() } else { shown }
}

/// Parses an amount of money into micro-units: a plain decimal number with at most six decimals.
pub fn money(text: &str) -> Result<u64, ValueError> {
    let no_money = || {
        wrong(
            text,
            "is no amount of money",
            "write a plain number that is not negative, with at most six decimals, as 5.00",
        )
    };
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    let all_digits = |part: &str| part.chars().all(|c| c.is_ascii_digit());
    if whole.is_empty() || decimals.len() > 6 || text.ends_with('.') || !all_digits(whole) || !all_digits(decimals) {
        return Err(no_money());
    }
    let whole: u64 = whole.parse().map_err(|_| no_money())?;
    let decimals: u64 = format!("{decimals:0<6}").parse().map_err(|_| no_money())?;
    let micros = whole.checked_mul(MICROS).and_then(|micros| micros.checked_add(decimals));
    micros.filter(|micros| *micros <= MOST).ok_or_else(no_money)
}

/// Formats an amount for [`money`], with at least two decimals.
pub fn show_money(micros: u64) -> String {
    let mut shown = format!("{}.{:06}", micros / MICROS, micros % MICROS);
    let enough = shown.len() - 4;
    while shown.len() > enough && shown.ends_with('0') {
        shown.pop();
    }
    shown
}

/// Parses an integer within bounds.
pub fn count(text: &str, least: u64, most: u64) -> Result<u64, ValueError> {
    let number = text.parse().ok().filter(|number| (least..=most).contains(number));
    number.ok_or_else(|| {
        ValueError::new(
            format!("{} is not a whole number from {least} to {most}", quoted(text)),
            "write one in plain digits",
        )
    })
}

/// Parses a number of tokens.
pub fn tokens(text: &str) -> Result<u64, ValueError> {
    count(text, 0, MOST)
}

/// Parses `true` or `false`.
pub fn flag(text: &str) -> Result<bool, ValueError> {
    text.parse().map_err(|_| wrong(text, "is neither true nor false", "write true or false"))
}

/// Parses one of a few words.
pub fn one_of<T: Copy>(text: &str, words: &[(&str, T)]) -> Result<T, ValueError> {
    words.iter().find(|(word, _)| *word == text).map(|(_, value)| *value).ok_or_else(|| {
        let known: Vec<String> = words.iter().map(|(word, _)| format!("\"{word}\"")).collect();
        let known = match known.split_last() {
            Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
            _ => known.concat(),
        };
        wrong(text, "is not known here", format!("write {known}"))
    })
}

/// Parses a JSON array of texts, the notation of
/// [`WrittenValue`](super::written_values::WrittenValue) and of environment variables.
pub fn list(text: &str) -> Result<Vec<String>, ValueError> {
    serde_json::from_str(text).map_err(|_| wrong(text, "is no list of texts", "write one as [\"one\", \"two\"]"))
}

/// Formats a list for [`list`].
pub fn show_list(texts: &[String]) -> String {
    serde_json::Value::from(texts).to_string()
}

/// Parses a sampling temperature.
pub fn temperature(text: &str) -> Result<f64, ValueError> {
    let number = text.parse().ok().filter(|number| (0.0..=2.0).contains(number));
    number.ok_or_else(|| wrong(text, "is not between 0 and 2", "write a number such as 0.7"))
}

/// Returns the error that a text is wrong, as `"6x" is no duration`.
pub fn wrong(text: &str, what: &str, fix: impl Into<String>) -> ValueError {
    ValueError::new(format!("{} {what}", quoted(text)), fix)
}

/// Quotes the text on one line, shortened to fit in a sentence.
pub fn quoted(text: &str) -> String {
    let plain: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    format!("\"{}\"", crate::text::shorten(&plain, 60))
}

fn split_where(text: &str, border: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at_checked(text.find(border).unwrap_or(text.len())).unwrap_or((text, ""))
}

/// Returns the most similar candidate, if any is similar enough.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    candidates
        .into_iter()
        .map(|candidate| (strsim::normalized_damerau_levenshtein(&word, &candidate.to_lowercase()), candidate))
        .filter(|(likeness, _)| *likeness >= 0.55)
        .max_by(|one, other| one.0.total_cmp(&other.0))
        .map(|(_, candidate)| candidate)
}

/// Returns the IANA zone that was probably meant, by its city or by similarity. None for an offset:
/// `Etc/GMT+2` is two hours behind UTC, the opposite of what people write.
pub fn nearest_zone(word: &str) -> Option<&'static str> {
    let is_offset = |name: &&str| name.contains(|c: char| c.is_ascii_digit());
    if is_offset(&word) {
        return None;
    }
    let city = word.replace(' ', "_").to_lowercase();
    let names = || chrono_tz::TZ_VARIANTS.iter().map(|zone| zone.name()).filter(|name| !is_offset(name));
    let is_the_city = |name: &&str| name.to_lowercase().rsplit('/').next() == Some(city.as_str());
    names().find(is_the_city).or_else(|| nearest(word, names()))
}

/// Returns the error for a key or section that does not exist here.
pub fn unknown(section: &Section, name: &str) -> ValueError {
    let place = heading(section);
    let word = if section.path.is_empty() { "key or section" } else { "key" };
    let what = format!("There is no {word} {} {place}", quoted(name));
    let known = || section.keys.iter().map(|key| key.name).chain(section.children().map(Section::name));
    if let Some(home) = SECTIONS.iter().find(|other| other.path != section.path && other.key(name).is_some())
        && known().all(|key| strsim::damerau_levenshtein(key, name) > 1)
    {
        return ValueError::new(what, format!("{name} belongs {}", heading(home)));
    }
    let fix = match nearest(name, known()) {
        Some(suggestion) => format!("write {suggestion}, if that is what was meant; otherwise delete it"),
        None => format!("delete it; known here: {}", known().collect::<Vec<_>>().join(", ")),
    };
    ValueError::new(what, fix)
}

fn heading(section: &Section) -> String {
    match section.form {
        _ if section.path.is_empty() => "above the first section".to_owned(),
        SectionSpelling::Repeated => format!("in [[{}]]", section.path),
        SectionSpelling::Table | SectionSpelling::Again | SectionSpelling::Inline => format!("in [{}]", section.path),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn durations() {
        let table = [("6h", 21_600_000), ("600ms", 600), ("1h30m", 5_400_000), ("7d", 604_800_000), ("0s", 0)];
        for (text, millis) in table {
            assert_eq!(duration(text).unwrap(), Duration::from_millis(millis), "{text}");
        }
        for text in
            ["", "6", "h", "6x", "30m1h", "1h1h", "-1h", "1.5h", "1h 30m", " 6h", "99999999999999999999h", "6H", "٣h"]
        {
            assert!(duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn amounts_of_money() {
        for (text, micros) in [("5", 5_000_000), ("5.00", 5_000_000), ("0.1", 100_000), ("0.000001", 1), ("0", 0)] {
            assert_eq!(money(text).unwrap(), micros, "{text}");
        }
        for text in
            ["", ".5", "5.", "-1", "+1", "1e3", "inf", "nan", "0.0000001", "5,00", "1000000001", "99999999999999999999"]
        {
            assert!(money(text).is_err(), "{text}");
        }
        assert_eq!(show_money(5_000_000), "5.00");
        assert_eq!(show_money(150), "0.00015");
    }

    proptest! {
        #[test]
        fn a_shown_duration_reads_back(millis in 0..=MOST) {
            let span = Duration::from_millis(millis);
            prop_assert_eq!(duration(&show_duration(span)).unwrap(), span);
        }

        #[test]
        fn shown_money_reads_back(micros in 0..=MOST) {
            prop_assert_eq!(money(&show_money(micros)).unwrap(), micros);
        }

        #[test]
        fn no_text_panics(text in any::<String>(), near in "[0-9]{0,22}[.dhms]{0,3}[0-9]{0,9}[dhms]{0,3}") {
            for text in [text, near] {
                let _ = (duration(&text), money(&text), tokens(&text), flag(&text), temperature(&text));
            }
        }
    }

    #[test]
    fn zones() {
        for (word, zone) in
            [("Europe/Vienn", "Europe/Vienna"), ("vienna", "Europe/Vienna"), ("america/new york", "America/New_York")]
        {
            assert_eq!(nearest_zone(word), Some(zone), "{word}");
        }
        for word in ["??", "GMT+2", "UTC+2", "gmt-5"] {
            assert_eq!(nearest_zone(word), None, "{word}");
        }
    }
}
