//! Selects the periods that are due for reflection: a pure function of the cron expressions, the
//! last slot of each job, the zone and the time.
//!
//! A period is due at the first time that its cron expression names at or after its end. The
//! expression therefore says when a job runs, never which time it covers: one that matches only
//! weekdays catches up on the weekend on Monday. Windows abut: each begins where the last one
//! ended, even if the zone or other settings changed in between. After an absence each period is
//! made up for, oldest first, but periods that were due before the horizon become one missed slot.
//! The latest period of each job is always made up for.

use std::time::Duration;

use crate::reflection::Job;
use crate::time::{Cron, Period, Timestamp, Zone};

/// Starting point of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JobStart {
    /// No slot yet: begins with the period in which the person was first known.
    Known(Timestamp),
    /// The last slot: the name of its period, and the end of its window.
    Last(String, Timestamp),
}

/// A slot that is due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// The job.
    pub job: Job,
    /// The period; for a missed slot, the last one it covers.
    pub period: Period,
    /// First instant of the window.
    pub from: Timestamp,
    /// First instant after the window.
    pub to: Timestamp,
    /// Due time.
    pub due_at: Timestamp,
    /// Number of covered periods that are not made up for; 0 for a normal slot.
    pub missed: u32,
}

/// Slots that are due, and those to come.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DuePlan {
    /// Slots to claim, oldest first.
    pub claims: Vec<Claim>,
    /// Due times and names of the job's periods to come, soonest first.
    pub coming: Vec<(Timestamp, String)>,
}

/// Plans the slots of one job: those that are due at `now`, the next one, and those due by `until`.
pub fn plan(
    job: Job,
    cron: &Cron,
    since: &JobStart,
    horizon: Duration,
    zone: Zone,
    (now, until): (Timestamp, Timestamp),
) -> DuePlan {
    let (mut period, mut from) = begin(job, since, zone);
    let mut plan = DuePlan::default();
    loop {
        let to = period.ends(zone);
        // A date that a zone skipped contains no time.
        if to > from {
            let Some(due_at) = cron.next_from(to, zone) else { break };
            if due_at <= now {
                plan.claims.push(Claim { job, period, from, to, due_at, missed: 0 });
            } else if due_at <= until || plan.coming.is_empty() {
                plan.coming.push((due_at, period.to_string()));
            } else {
                break;
            }
            from = to;
        }
        period = period.next();
    }
    plan.claims = without_the_old(plan.claims, now.minus(horizon));
    plan
}

/// The first period, and the start of its window.
fn begin(job: Job, since: &JobStart, zone: Zone) -> (Period, Timestamp) {
    match since {
        JobStart::Known(at) => {
            let period = Period::containing(job.span(), *at, zone);
            (period, period.begins(zone))
        }
        JobStart::Last(name, ended) => {
            let period = Period::containing(job.span(), *ended, zone);
            // After a change of the zone the same local day may come twice. The rest of it goes
            // into the next period.
            let again = period.to_string() == *name;
            (if again { period.next() } else { period }, *ended)
        }
    }
}

/// Merges the periods due before the horizon into one missed slot; the latest period stays.
fn without_the_old(claims: Vec<Claim>, horizon: Timestamp) -> Vec<Claim> {
    let kept = claims.iter().position(|claim| claim.due_at >= horizon).unwrap_or(claims.len().saturating_sub(1));
    let (old, rest) = claims.split_at(kept);
    let missed = old.first().zip(old.last()).map(|(first, last)| Claim {
        from: first.from,
        missed: u32::try_from(old.len()).unwrap_or(u32::MAX),
        ..last.clone()
    });
    missed.into_iter().chain(rest.iter().cloned()).collect()
}

/// Sorts claims into working order: by the end of their windows, then days before weeks before
/// months.
pub fn in_order(mut claims: Vec<Claim>) -> Vec<Claim> {
    claims.sort_by_key(|claim| (claim.to, claim.job));
    claims
}

#[cfg(test)]
mod tests;
