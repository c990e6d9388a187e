//! Times of a reminder or task: one or a recurrence, and its end.

use std::time::Duration;

use serde_json::Value;

use super::{COMPARED, NEXT_TIMES};
use crate::store::ReminderRow;
use crate::time::{Cron, Shift, Timestamp, When, Zone};
use crate::tool::{ToolError, argument};
use crate::wording::Language;
use crate::wording::reminder as says;

/// Times of a reminder or task.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ScheduleSpec {
    /// First time.
    pub(super) next_at: Timestamp,
    /// Recurrence; none for a single one.
    pub(super) cron: Option<Cron>,
    /// Last moment of a recurrence.
    pub(super) until: Option<Timestamp>,
    /// Adjustment of a single time for clock changes.
    pub(super) shift: Shift,
    /// True if a day was named without a clock time.
    pub(super) is_bare_day: bool,
}

impl ScheduleSpec {
    pub(super) fn once(when: When) -> Self {
        Self { next_at: when.at, cron: None, until: None, shift: when.shift, is_bare_day: when.is_bare_day }
    }

    pub(super) fn again(cron: Cron, now: Timestamp, zone: Zone) -> Result<Self, ToolError> {
        let never = || ToolError::Arguments(says::not_cron(&crate::time::CronError::Never.to_string()));
        let next_at = cron.next_after(now, zone).ok_or_else(never)?;
        Ok(Self { next_at, cron: Some(cron), until: None, shift: Shift::None, is_bare_day: false })
    }

    /// Returns the plan of a stored entry.
    pub(super) fn of(row: &ReminderRow) -> Self {
        Self {
            next_at: row.next_at.unwrap_or(Timestamp(0)),
            cron: row.recurrence(),
            until: row.until,
            shift: Shift::None,
            is_bare_day: false,
        }
    }

    /// Returns the same recurrence without its end, from its first time after `now` on.
    pub(super) fn resumed(self, now: Timestamp, zone: Zone) -> Self {
        let next_at = self.cron.as_ref().and_then(|cron| cron.next_after(now, zone)).unwrap_or(self.next_at);
        Self { next_at, until: None, ..self }
    }

    /// Sets the end of the recurrence.
    pub(super) fn lasting(self, end: RecurrenceEnd, now: Timestamp, zone: Zone) -> Result<Self, ToolError> {
        let until = match end {
            RecurrenceEnd::Unchanged | RecurrenceEnd::Never => return Ok(self),
            RecurrenceEnd::At(until) => until,
        };
        let Some(cron) = &self.cron else { return Err(ToolError::Arguments(says::UNTIL_ONCE.to_owned())) };
        match cron.next_after(now, zone) {
            Some(first) if first > until => Err(ToolError::Arguments(says::ends_before(&zone.show(first)))),
            _ => Ok(Self { until: Some(until), ..self }),
        }
    }

    pub(super) fn next_times(&self, cron: &Cron, now: Timestamp, zone: Zone) -> String {
        let times = cron.next_times(now, zone, NEXT_TIMES).into_iter();
        let times = times.filter(|at| self.until.is_none_or(|until| *at <= until));
        times.map(|at| zone.show_short(at)).collect::<Vec<_>>().join(", ")
    }

    pub(super) fn in_words(&self, now: Timestamp, zone: Zone) -> String {
        match &self.cron {
            Some(cron) => {
                let until = self.until.map(|until| zone.show_end(until));
                says::again(cron.as_str(), until.as_deref(), zone.name(), &self.next_times(cron, now, zone))
            }
            None => zone.show(self.next_at),
        }
    }

    /// Returns the times of an entry that is to be made, for a question.
    pub(super) fn in_question(&self, now: Timestamp, zone: Zone, language: Language) -> String {
        match &self.cron {
            Some(cron) => {
                let until = self.until.map(|until| zone.show_end(until));
                says::again_and_again(language, cron.as_str(), until.as_deref(), &self.next_times(cron, now, zone))
            }
            None => says::on_day(language, &language.day_and_time(zone, self.next_at)),
        }
    }

    /// Returns the times of an entry that exists, for a question.
    pub(super) fn of_question(&self, now: Timestamp, zone: Zone, language: Language) -> String {
        match &self.cron {
            Some(_) => says::that_comes(language, &self.in_question(now, zone, language)),
            None => says::of_day(language, &language.day_and_time(zone, self.next_at)),
        }
    }

    pub(super) fn in_words_long(&self, now: Timestamp, zone: Zone) -> String {
        if self.cron.is_some() { self.in_words(now, zone) } else { zone.show_long(self.next_at) }
    }

    /// Returns true if both are the same times, to the minute. One with an end is like no other.
    pub(super) fn is_as(&self, other: &Self, now: Timestamp, zone: Zone) -> bool {
        let minute = |at: Timestamp| at.0.div_euclid(60_000);
        let times = |plan: &Self| plan.cron.as_ref().map(|cron| cron.next_times(now, zone, COMPARED));
        self.until.is_none()
            && other.until.is_none()
            && minute(self.next_at) == minute(other.next_at)
            && (self.cron == other.cron || times(self) == times(other))
    }

    /// Returns what the person has to be told about the time.
    pub(super) fn note(&self) -> &'static str {
        match self.shift {
            Shift::Skipped => says::SKIPPED,
            Shift::Twice => says::TWICE,
            Shift::None if self.is_bare_day => says::BARE_DAY,
            Shift::None => "",
        }
    }
}

/// Argument `until`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum RecurrenceEnd {
    /// Not given.
    Unchanged,
    /// Recurs without an end.
    Never,
    /// Does not recur after that moment.
    At(Timestamp),
}

/// Reads `until`, said at that time. A day is included.
pub(super) fn until(arguments: &Value, said_at: Timestamp, zone: Zone) -> Result<RecurrenceEnd, ToolError> {
    let text = argument::text(arguments, "until").trim().to_lowercase();
    if text.is_empty() {
        return Ok(RecurrenceEnd::Unchanged);
    }
    if ["never", "none", "forever"].contains(&text.as_str()) {
        return Ok(RecurrenceEnd::Never);
    }
    let end_of = |text: &str| {
        let range = zone.parse_local(text)?;
        Some(if range.since == range.until { range.until } else { range.until.minus(Duration::from_millis(1)) })
    };
    let end = match (end_of(&text), When::parse(&text, said_at, zone)) {
        (Some(end), _) => Some(end),
        (None, Ok(when)) if when.is_bare_day => end_of(&zone.day(when.at)),
        (None, Ok(when)) => Some(when.at),
        (None, Err(_)) => None,
    };
    match end {
        Some(end) if end > said_at => Ok(RecurrenceEnd::At(end)),
        Some(_) => Err(ToolError::Arguments(says::UNTIL_PAST.to_owned())),
        None => Err(ToolError::Arguments(says::UNTIL_FORM.to_owned())),
    }
}
