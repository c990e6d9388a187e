//! All files of the catalogue say the same.

use std::collections::{BTreeMap, BTreeSet};

use fluent_syntax::ast::{Entry, Expression, InlineExpression, Message, Pattern, PatternElement};

use super::*;

/// Sentences of a file, each with its variables.
type Sentences = BTreeMap<String, BTreeSet<String>>;

fn sentences(code: &str) -> Sentences {
    let (_, text) = CATALOGUES.iter().find(|(known, _)| *known == code).unwrap();
    let resource =
        FluentResource::try_new((*text).to_owned()).unwrap_or_else(|(_, errors)| panic!("{code}: {errors:?}"));
    let mut found = Sentences::new();
    for entry in resource.entries() {
        match entry {
            Entry::Message(Message { id, value: Some(value), attributes, .. }) if attributes.is_empty() => {
                let mut variables = BTreeSet::new();
                in_pattern(value, &mut variables);
                assert_eq!(found.insert(id.name.to_owned(), variables), None, "{code}: {} stands twice", id.name);
            }
            Entry::Comment(_) | Entry::GroupComment(_) | Entry::ResourceComment(_) => {}
            other => panic!("{code}: {other:?}"),
        }
    }
    found
}

fn in_pattern(pattern: &Pattern<&str>, variables: &mut BTreeSet<String>) {
    for element in &pattern.elements {
        let PatternElement::Placeable { expression } = element else { continue };
        match expression {
            Expression::Inline(inline) => in_inline(inline, variables),
            Expression::Select { selector, variants } => {
                in_inline(selector, variables);
                variants.iter().for_each(|variant| in_pattern(&variant.value, variables));
            }
        }
    }
}

fn in_inline(inline: &InlineExpression<&str>, variables: &mut BTreeSet<String>) {
    match inline {
        InlineExpression::VariableReference { id } => drop(variables.insert(id.name.to_owned())),
        InlineExpression::Placeable { expression } => match &**expression {
            Expression::Inline(inline) => in_inline(inline, variables),
            Expression::Select { .. } => panic!("a choice within a choice"),
        },
        other => panic!("neither a variable nor a choice: {other:?}"),
    }
}

/// The state of a program that is not well: English tells the cause, the others where it is told.
#[test]
fn a_problem_in_the_state_says_where_its_cause_is_told_in_plain_words() {
    for (code, place) in
        [("de", "der Befehl `compline doctor` auf dem Computer"), ("es", "la orden `compline doctor`, en el ordenador")]
    {
        let language = Language::all().find(|language| language.to_string() == code).unwrap();
        let problem = [
            say!(language, "status-trouble", why = "no route to host"),
            say!(language, "status-chat-trouble", why = "no route to host"),
            say!(language, "vectors-away", what = "m", since = "9:00", why = "no route to host", next = "9:10"),
            say!(language, "status-upkeep", at = "9:00", state = "damaged"),
        ];
        for told in problem {
            assert!(told.contains(place) && !told.contains("no route to host"), "{code}: {told}");
        }
    }
}

/// Proves: time/near
#[test]
fn near_times_are_named_by_their_local_day() {
    let vienna = Zone::named("Europe/Vienna").unwrap();
    let at = |text| vienna.parse_local(text).unwrap().since;
    let now = at("2026-10-24 23:30"); // the clocks go back in the night that follows
    let language = |code| Language::named(code).unwrap();
    for (code, time, shown) in [
        ("en", "2026-10-24 23:59", "today 23:59"),
        ("en", "2026-10-25 00:00", "tomorrow 00:00"),
        ("en", "2026-10-25 23:59", "tomorrow 23:59"),
        ("en", "2026-10-26 00:00", "Monday 00:00"),
        ("en", "2026-10-30 09:00", "Friday 09:00"),
        ("en", "2026-10-31 09:00", "Sat 31 Oct, 09:00"),
        ("en", "2026-10-22 23:59", "Thu 22 Oct, 23:59"),
        ("en", "2027-01-05 09:00", "Tue 5 Jan 2027, 09:00"),
        ("de", "2026-10-25 09:00", "morgen 09:00"),
        ("de", "2026-10-26 09:00", "Montag 09:00"),
        ("de", "2026-11-26 09:00", "Do. 26. Nov., 09:00"),
        ("es", "2026-10-23 09:00", "ayer 09:00"),
        ("es", "2026-11-26 09:00", "jue 26 nov, 09:00"),
    ] {
        assert_eq!(language(code).to_come(vienna, at(time), now), shown);
    }
    for (time, shown) in [("2026-10-24 00:05", "00:05"), ("2026-10-23 23:59", "yesterday 23:59")] {
        assert_eq!(Language::ENGLISH.near(vienna, at(time), now), shown);
    }
    assert_eq!(language("de").end(vienna, at("2026-10-31 23:59"), now), "Sa. 31. Okt.");
    assert_eq!(Language::ENGLISH.date_and_time(vienna, now), "Sat 24 Oct 2026, 23:30");
}

/// Promise (people/numbers): Large numbers have their digits in groups, as your language writes
/// them: 1,996,850 or 1.996.850.
#[test]
fn digits_stand_in_groups_as_the_language_has_them() {
    let [english, german] = ["en", "de"].map(|code| Language::named(code).unwrap());
    assert_eq!(
        [999, 1_996, 19_968, 1_996_850].map(|number| english.number(number)),
        ["999", "1996", "19,968", "1,996,850"]
    );
    assert_eq!(german.number(1_996_850), "1.996.850");
    assert_eq!((english.money(12_345_600_000), german.money(12_340)), ("12,345.60".to_owned(), "0,0123".to_owned()));
}

/// Telegram shows two buttons in a row and cuts what does not fit. Nothing that Telegram publishes
/// names a width; 20 characters are what WhatsApp takes at most for a button.
const BUTTON: usize = 20;

/// Promise (delivery/buttons-fit): What stands on a button fits beside another one on a phone, in
/// every language.
#[test]
fn what_stands_on_a_button_fits_in_every_language() {
    let is_button = |key: &str| ["button-", "decision-"].iter().any(|kind| key.starts_with(kind));
    let english = sentences("en");
    let keys: Vec<&String> = english.keys().filter(|key| is_button(key)).collect();
    assert!(keys.len() > 15, "{keys:?}");
    for language in Language::all() {
        let settings = ["whoami", "link", "usage", "export"].map(|of| crate::wording::settings::button(language, of));
        let titles = keys.iter().map(|key| language.message(key, &[]));
        for title in titles.chain(settings).chain([language.name()]) {
            assert!((1..=BUTTON).contains(&title.chars().count()), "{language}: {title}");
        }
    }
}

/// Proves: people/language
#[test]
fn marks_are_as_short_as_parts_leave_room_for() {
    use crate::wording::gateway::{CLOSED, MARK, POSSIBLY_REPEATED};
    for language in Language::all() {
        for mark in [POSSIBLY_REPEATED, CLOSED] {
            assert!(mark.in_language(language).len() <= MARK, "{language}: {}", &*mark.in_language(language));
        }
    }
}

/// Proves: people/language
#[test]
fn all_languages_have_the_same_sentences_with_the_same_variables() {
    let english = sentences("en");
    assert!(english.len() > 60, "{}", english.len());
    for (code, text) in CATALOGUES {
        let mut own = sentences(code);
        // The English descriptions and hints of commands stand in the table of commands, which
        // tests these.
        own.retain(|key, _| !key.starts_with("does-") && !key.starts_with("hint-"));
        assert_eq!(own, english, "{code}");
        let is_hidden = |c: char| c.is_control() || crate::text::is_ignorable(c) || (c.is_whitespace() && c != ' ');
        let hidden: Vec<char> = text.chars().filter(|c| *c != '\n' && is_hidden(*c)).collect();
        assert!(hidden.is_empty(), "{code}: {hidden:?}");
    }
}
