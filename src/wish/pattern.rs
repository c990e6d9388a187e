//! Patterns of words with places for numbers, days and months.
//!
//! `half past {h}` is two words and an hour. Words are folded, as in [`mod@super::tokens`].

use super::tokens::Token;

/// What stood at the places of a pattern, in order.
pub(super) type Found = Vec<u32>;

/// Returns what a pattern finds at the beginning of these tokens, and the number of tokens it takes.
pub(super) fn matched(pattern: &str, tokens: &[Token]) -> Option<(Found, usize)> {
    let mut found = Found::new();
    let mut taken = 0;
    for part in pattern.split(' ') {
        let word = tokens.get(taken)?.word.as_str();
        match part {
            "{h}" => found.push(number(word).filter(|hour| *hour <= 24)?),
            "{m}" => found.push(number(word).filter(|minute| *minute < 60 && word.len() != 1)?),
            "{c}" => found.push(count(word)?),
            "{d}" => found.push(number(word).or_else(|| ordinal(word)).filter(|day| (1..=31).contains(day))?),
            "{w}" => found.push(place_in(WEEKDAYS, word)?),
            "{ws}" => found.push(place_in(WEEKDAYS_IN_PLURAL, word)?),
            "{month}" => found.push(place_in(MONTHS, word)? + 1),
            "{mm}" => found.push(digits(word).filter(|month| (1..=12).contains(month))?),
            "{y}" => found.push(digits(word).filter(|year| (2000..=2999).contains(year))?),
            _ if part == word => {}
            _ => return None,
        }
        taken += 1;
    }
    Some((found, taken))
}

/// Returns the pattern of a table that takes the most tokens, with its meaning.
pub(super) fn longest<M: Copy>(table: &[(&str, M)], tokens: &[Token]) -> Option<(M, Found, usize)> {
    let all = table.iter().filter_map(|(pattern, meaning)| {
        let (found, taken) = matched(pattern, tokens)?;
        Some((*meaning, found, taken))
    });
    all.max_by_key(|(_, _, taken)| *taken)
}

fn digits(word: &str) -> Option<u32> {
    word.bytes().all(|byte| byte.is_ascii_digit()).then(|| word.parse().ok()).flatten()
}

/// Returns a number in digits, or up to sixty in words.
fn number(word: &str) -> Option<u32> {
    let spelled = || NUMBERS.iter().find(|(_, words)| words.split(' ').any(|known| known == word)).map(|(n, _)| *n);
    digits(word).or_else(spelled)
}

/// Returns a number, or one for an article.
fn count(word: &str) -> Option<u32> {
    let is_one = matches!(word, "a" | "an" | "un" | "una" | "ein" | "eine" | "einer" | "einem" | "einen");
    if is_one { Some(1) } else { number(word).filter(|count| *count > 0) }
}

fn ordinal(word: &str) -> Option<u32> {
    matches!(word, "first" | "ersten" | "erster" | "primero" | "primer").then_some(1)
}

fn place_in(names: &[&str], word: &str) -> Option<u32> {
    let at = names.iter().position(|names| names.split(' ').any(|name| name == word))?;
    u32::try_from(at).ok()
}

const NUMBERS: &[(u32, &str)] = &[
    (1, "one eins uno una"),
    (2, "two zwei zwo dos"),
    (3, "three drei tres"),
    (4, "four vier cuatro"),
    (5, "five funf fuenf cinco"),
    (6, "six sechs seis"),
    (7, "seven sieben siete"),
    (8, "eight acht ocho"),
    (9, "nine neun nueve"),
    (10, "ten zehn diez"),
    (11, "eleven elf once"),
    (12, "twelve zwolf zwoelf doce"),
    (15, "fifteen funfzehn fuenfzehn quince"),
    (20, "twenty zwanzig veinte"),
    (30, "thirty dreissig treinta"),
    (40, "forty vierzig cuarenta"),
    (45, "funfundvierzig"),
    (50, "fifty funfzig cincuenta"),
    (60, "sixty sechzig sesenta"),
];

/// Sunday is 0, as in cron.
const WEEKDAYS: &[&str] = &[
    "sunday sonntag domingo",
    "monday mon montag lunes",
    "tuesday tue tues dienstag martes",
    "wednesday wed mittwoch miercoles",
    "thursday thu thurs thur donnerstag jueves",
    "friday fri freitag viernes",
    "saturday samstag sonnabend sabado",
];

/// In Spanish, most have no plural of their own.
const WEEKDAYS_IN_PLURAL: &[&str] = &[
    "sundays sonntags domingos",
    "mondays montags",
    "tuesdays dienstags",
    "wednesdays mittwochs",
    "thursdays donnerstags",
    "fridays freitags",
    "saturdays samstags sabados",
];

const MONTHS: &[&str] = &[
    "january jan januar janner jaenner enero",
    "february feb februar feber febrero",
    "march mar marz maerz marzo",
    "april apr abril",
    "may mai mayo",
    "june jun juni junio",
    "july jul juli julio",
    "august aug agosto",
    "september sep sept septiembre setiembre",
    "october oct oktober okt octubre",
    "november nov noviembre",
    "december dec dezember dez diciembre",
];
