//! What comes again and again, as people say it instead of five cron fields.

use super::language::{Language, say};

/// Names of the days, from Sunday, as cron counts them.
const DAYS: [&str; 7] = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];

/// Returns when an expression of five cron fields recurs: in words if they are short, as
/// `every day at 17:00`, and otherwise as it is written.
pub fn recurrence(language: Language, cron: &str) -> String {
    in_words(language, cron).unwrap_or_else(|| say!(language, "recurs-as", cron = cron))
}

/// Returns the same in English with its fields, for a model, which needs them to change it.
pub fn recurrence_with_fields(cron: &str) -> String {
    let words = in_words(Language::ENGLISH, cron).map(|words| format!("{words} (`{cron}`)"));
    words.unwrap_or_else(|| recurrence(Language::ENGLISH, cron))
}

fn in_words(language: Language, cron: &str) -> Option<String> {
    let fields: Vec<&str> = cron.split_whitespace().collect();
    let [minute, hours, day, "*", weekdays] = fields[..] else { return None };
    let minute = number(minute, 59)?;
    if (hours, day, weekdays) == ("*", "*", "*") {
        return Some(say!(language, "recurs-hourly", minute = minute));
    }
    let hours: Option<Vec<u8>> = hours.split(',').map(|hour| number(hour, 23)).collect();
    let times: Vec<String> = hours?.into_iter().map(|hour| format!("{hour:02}:{minute:02}")).collect();
    let times = times.join(", ");
    match (day, weekdays) {
        ("*", "*") => Some(say!(language, "recurs-daily", times = times)),
        ("*", weekdays) => weekly(language, weekdays, times),
        (day, "*") => Some(say!(language, "recurs-monthly", day = number(day, 31)?, times = times)),
        _ => None,
    }
}

fn weekly(language: Language, weekdays: &str, times: String) -> Option<String> {
    // From Monday, as a week is read.
    let mut named = [false; 7];
    for range in weekdays.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last) = (weekday(first)?, weekday(last)?);
        if first > last {
            return None;
        }
        for day in first..=last {
            *named.get_mut(usize::from(day + 6) % 7)? = true;
        }
    }
    Some(match named {
        [true, true, true, true, true, true, true] => say!(language, "recurs-daily", times = times),
        [true, true, true, true, true, false, false] => say!(language, "recurs-on-workdays", times = times),
        named => {
            let days = (1_u8..).zip(named).filter(|(_, is_named)| *is_named);
            let days: Vec<String> = days.map(|(day, _)| say!(language, "weekday", weekday = day)).collect();
            say!(language, "recurs-weekly", days = days.join(", "), times = times)
        }
    })
}

fn number(text: &str, most: u8) -> Option<u8> {
    text.parse().ok().filter(|number| *number <= most)
}

/// The number of a day, from Sunday, which is 0 and 7.
fn weekday(text: &str) -> Option<u8> {
    let named = DAYS.iter().position(|name| text.eq_ignore_ascii_case(name));
    named.and_then(|place| u8::try_from(place).ok()).or_else(|| number(text, 7))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_again_is_said_as_people_say_it() {
        for (cron, expected) in [
            ("0 17 * * *", "every day at 17:00"),
            ("05 9,13 * * *", "every day at 09:05, 13:05"),
            ("55 18 * * SUN", "every Sunday at 18:55"),
            ("0 9 * * 1,thu", "every Monday, Thursday at 09:00"),
            ("0 9 * * 0-6", "every day at 09:00"),
            ("0 9 * * 5-7", "every Friday, Saturday, Sunday at 09:00"),
            ("30 8 * * MON-FRI", "Monday to Friday at 08:30"),
            ("0 10 1 * *", "on day 1 of each month at 10:00"),
            ("15 * * * *", "every hour, at minute 15"),
        ] {
            assert_eq!(recurrence(Language::ENGLISH, cron), expected, "{cron}");
            assert_eq!(recurrence_with_fields(cron), format!("{expected} (`{cron}`)"));
        }
        for cron in
            ["0 9 1 * MON", "0 9 1 6 *", "*/5 * * * *", "0 9 * * MON#2", "0 9 * * 6-1", "0 9 L * *", "0 8-10 * * *"]
        {
            let as_written = format!("repeatedly, on the schedule `{cron}`");
            assert_eq!(recurrence(Language::ENGLISH, cron), as_written);
            assert_eq!(recurrence_with_fields(cron), as_written);
        }
        let german = Language::named("de").unwrap();
        assert_eq!(recurrence(german, "0 9 * * 1"), "jeden Montag um 09:00");
        let spanish = Language::named("es").unwrap();
        assert_eq!(recurrence(spanish, "0 9 * * 1-5"), "de lunes a viernes a las 09:00");
    }
}
