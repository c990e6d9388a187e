//! Suggestions for misspelt words.

use super::error::ValueError;
use super::keys::{SECTIONS, Section, SectionSpelling};
use super::units::quoted;

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

/// Returns the IANA zone that was probably meant, by its city or by similarity.
pub fn nearest_zone(word: &str) -> Option<&'static str> {
    let city = word.replace(' ', "_").to_lowercase();
    let names = || chrono_tz::TZ_VARIANTS.iter().map(|zone| zone.name());
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
        Some(meant) => format!("write {meant}, if that is what was meant; otherwise delete it"),
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
    use super::*;

    #[test]
    fn zones() {
        for (word, zone) in
            [("Europe/Vienn", "Europe/Vienna"), ("vienna", "Europe/Vienna"), ("america/new york", "America/New_York")]
        {
            assert_eq!(nearest_zone(word), Some(zone), "{word}");
        }
        assert_eq!(nearest_zone("??"), None);
    }
}
