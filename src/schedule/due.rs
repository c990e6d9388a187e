//! Which periods are to be looked back on now: a pure function of the cron expressions, the last
//! slot of each job, the zone and the time.
//!
//! A period is due at the first time that its cron expression names at or after its end, so the
//! expression says when a job runs and never what it covers: one that comes true on weekdays only
//! makes up for the weekend on Monday. Windows abut: each begins where the last one ended, whatever
//! was changed in between, the zone included. After an absence each period is made up for, oldest
//! first, but those that were due more than the horizon ago become one slot that is missed; the
//! latest of each job is always made up for.

use std::time::Duration;

use crate::reflection::Job;
use crate::time::{Cron, Period, Timestamp, Zone};

/// Where a job goes on from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Since {
    /// Nothing was looked back on yet: from the period on in which the person was first known.
    Known(Timestamp),
    /// The last slot: the name of its period, and where its window ended.
    Last(String, Timestamp),
}

/// A slot that is due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// Its job.
    pub job: Job,
    /// The period; of a missed slot the last one in it.
    pub period: Period,
    /// The window's first instant.
    pub from: Timestamp,
    /// The first instant after it.
    pub to: Timestamp,
    /// When it was due.
    pub due_at: Timestamp,
    /// How many periods it holds that are not made up for; 0 for one that is.
    pub missed: u32,
}

/// What is due now, and when the next one will be.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DuePlan {
    /// To be claimed, oldest first.
    pub claims: Vec<Claim>,
    /// When the next period of the job is due, and which.
    pub next: Option<(Timestamp, String)>,
}

/// What of one job is due.
pub fn plan(job: Job, cron: &Cron, since: &Since, horizon: Duration, zone: Zone, now: Timestamp) -> DuePlan {
    let (mut period, mut from) = begin(job, since, zone);
    let mut plan = DuePlan::default();
    loop {
        let to = period.ends(zone);
        // A date that a zone skipped has no time in it.
        if to > from {
            let Some(due_at) = cron.next_from(to, zone) else { break };
            if due_at > now {
                plan.next = Some((due_at, period.to_string()));
                break;
            }
            plan.claims.push(Claim { job, period, from, to, due_at, missed: 0 });
            from = to;
        }
        period = period.next();
    }
    plan.claims = without_the_old(plan.claims, now.minus(horizon));
    plan
}

/// The period to begin with, and from where.
fn begin(job: Job, since: &Since, zone: Zone) -> (Period, Timestamp) {
    match since {
        Since::Known(at) => {
            let period = Period::containing(job.span(), *at, zone);
            (period, period.begins(zone))
        }
        Since::Last(name, ended) => {
            let period = Period::containing(job.span(), *ended, zone);
            // After a change of the zone the same local day may come twice: the rest of it goes
            // with the next one.
            let again = period.to_string() == *name;
            (if again { period.next() } else { period }, *ended)
        }
    }
}

/// What was due before the horizon becomes one missed slot; the latest stays.
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

/// In the order in which they are worked on: by what they cover, then days before weeks before
/// months.
pub fn in_order(mut claims: Vec<Claim>) -> Vec<Claim> {
    claims.sort_by_key(|claim| (claim.to, claim.job));
    claims
}

#[cfg(test)]
mod tests;
