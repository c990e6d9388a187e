//! Arguments of a requested reflection: `daily`, `weekly` or `monthly`, an optional period, and
//! whether to repeat it.

use crate::schedule::Job;

/// A requested reflection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReflectionRequest {
    /// The job.
    pub job: Job,
    /// The period's name; `None` means the latest that is over.
    pub period: Option<String>,
    /// Repeat a finished one.
    pub again: bool,
}

impl ReflectionRequest {
    /// Parses `daily [PERIOD] [again]`.
    pub fn read<'a>(mut words: impl Iterator<Item = &'a str>) -> Option<Self> {
        let job = Job::named(&words.next()?.to_lowercase())?;
        let mut wish = Self { job, period: None, again: false };
        for word in words {
            match word.to_lowercase().as_str() {
                "again" | "--again" if !wish.again => wish.again = true,
                "--period" => {}
                _ if wish.period.is_none() => wish.period = Some(word.to_uppercase()),
                _ => return None,
            }
        }
        Some(wish)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wish_is_a_job_and_perhaps_a_period() {
        let read = |line: &str| ReflectionRequest::read(line.split_whitespace());
        let wish = |job, period: Option<&str>, again| {
            Some(ReflectionRequest { job, period: period.map(str::to_owned), again })
        };
        assert_eq!(read("daily"), wish(Job::Daily, None, false));
        assert_eq!(read("Weekly 2026-w47 again"), wish(Job::Weekly, Some("2026-W47"), true));
        assert_eq!(read("monthly again 2026-10"), wish(Job::Monthly, Some("2026-10"), true));
        for line in ["", "yearly", "daily 2026-11-20 2026-11-21", "daily again again"] {
            assert_eq!(read(line).filter(|wish| wish.period.as_deref() != Some("AGAIN")), None, "{line}");
        }
    }
}
