//! The next due time of recurring items, their missed occurrences, and delays worth mentioning.

use std::time::Duration;

use crate::store::ReminderRow;
use crate::time::{Cron, Timestamp, Zone};
use crate::wording::reminder as says;

/// The longest delay that is not mentioned: no one reads a message to the second.
const PUNCTUAL: Duration = Duration::from_secs(5 * 60);
/// Maximum number of missed occurrences counted.
const COUNTED: usize = 100;
/// The first time after `now`; `None` for a one-off, or if there is none.
pub(super) fn next(row: &ReminderRow, zone: Zone, now: Timestamp) -> Option<Timestamp> {
    Cron::parse(&row.cron).ok()?.next_after(now, zone)
}

/// Describes the delay; blank if there is none.
pub(super) fn late(row: &ReminderRow, due: Timestamp, zone: Zone, now: Timestamp) -> String {
    let more = Cron::parse(&row.cron).map_or(0, |cron| {
        let times = std::iter::successors(cron.next_after(due, zone), |last| cron.next_after(*last, zone));
        times.take_while(|at| *at <= now).take(COUNTED).count()
    });
    if now.since(due) <= PUNCTUAL && more == 0 {
        return String::new();
    }
    says::late(&zone.show(due), more, COUNTED)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::{PersonId, ReminderId};
    use crate::store::{ReminderKind, ReminderState};
    use crate::trust::Scope;

    fn row(cron: &str) -> ReminderRow {
        ReminderRow {
            id: ReminderId(1),
            person: PersonId(1),
            kind: ReminderKind::Reminder,
            text: crate::wording::own("t", Scope::Person(PersonId(1))),
            cron: cron.to_owned(),
            next_at: None,
            turn: None,
            created_at: Timestamp(0),
            state: ReminderState::Waiting,
        }
    }

    #[test]
    fn a_delay_is_named_when_it_is_one() {
        let minutes = |minutes: u64| Timestamp(0).plus(Duration::from_secs(minutes * 60));
        for (cron, after, says) in [
            ("", 0, ""),
            ("", 5, ""),
            ("", 6, "1970-01-01 00:00 (UTC); it could not come sooner."),
            ("*/15 * * * *", 4, ""),
            ("*/15 * * * *", 14, "1970-01-01 00:00 (UTC); it could not come sooner."),
            ("*/15 * * * *", 15, "(UTC), and once more since; it could not come sooner."),
            ("*/15 * * * *", 61, "(UTC), and 4 times more since; it could not come sooner."),
            ("*/15 * * * *", 60_000, "(UTC), and 100 times or more since; it could not come sooner."),
        ] {
            let late = late(&row(cron), Timestamp(0), Zone::UTC, minutes(after));
            assert!(late.ends_with(says) && late.is_empty() == says.is_empty(), "{cron} {after}: {late}");
        }
    }
}
