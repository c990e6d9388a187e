//! When what comes back is due next, how often it was due meanwhile, and when a delay is worth a word.

use std::time::Duration;

use crate::store::{Db, ReminderRow};
use crate::time::{Cron, Moment, Zone};
use crate::wording::reminder as says;

/// A delay up to this is none: nobody reads a message to the second.
const PUNCTUAL: Duration = Duration::from_secs(5 * 60);
/// As many missed occurrences are counted.
const COUNTED: usize = 100;
/// As many occurrences that happened already are passed over: only a clock that is set back again and again leaves more than one or two.
const PASSED_OVER: usize = 1_000;

/// The first time after `now` at which it has not happened yet; `None` for what comes once, or never again.
///
/// # Errors
/// If the journal cannot be read.
pub(super) fn next(db: Db<'_>, row: &ReminderRow, zone: Zone, now: Moment) -> anyhow::Result<Option<Moment>> {
    let Ok(cron) = Cron::parse(&row.cron) else { return Ok(None) };
    let (scope, job) = (row.scope(), row.job());
    for at in std::iter::successors(cron.next_after(now, zone), |last| cron.next_after(*last, zone)).take(PASSED_OVER) {
        if !db.has_slot(scope, &job, &at.rfc3339())? {
            return Ok(Some(at));
        }
    }
    Ok(None)
}

/// What is said of a delay; blank if there is none.
pub(super) fn late(row: &ReminderRow, due: Moment, zone: Zone, now: Moment) -> String {
    let more = Cron::parse(&row.cron).map_or(0, |cron| {
        let times = std::iter::successors(cron.next_after(due, zone), |last| cron.next_after(*last, zone));
        times.take_while(|at| *at <= now).take(COUNTED).count()
    });
    if now.since(due) <= PUNCTUAL && more == 0 {
        return String::new();
    }
    says::late(&zone.show(due), more, COUNTED)
}
