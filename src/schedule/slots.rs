//! Reflection slots: claimed when due, then resumed until they are over.
//!
//! Everything due is claimed in one transaction, so repeated passes claim nothing twice. One slot
//! of a person is worked on at a time, oldest first: a week waits for its days, a month for its
//! weeks. Members' slots do not wait for the owner's.
//!
//! While the clock is behind the newest message nothing is claimed, because days would end early.
//! Unstarted slots that lie in the future (the clock was ahead, and set right) are deleted, so that
//! their days get a reflection when they come.
//!
//! A request of an owner does not change which time is covered. The period has to be over, earlier
//! periods without a slot go first, and a finished period is repeated only if the request says so.
//! The new run then counts, and the older one stays as it is. A missed period is covered alone,
//! without the others of its slot. The current day can be looked at so far: that is a job of its
//! own ([`SO_FAR`]), so the day's slot still comes.

use std::collections::BTreeSet;
use std::time::Duration;

use super::due::{Claim, JobStart, in_order, plan};
use super::{AFTER_TROUBLE, Schedule};
use crate::id::{PersonId, SlotId};
use crate::people::Role;
use crate::reflection::{Job, SO_FAR, SlotProgress};
use crate::store::{Db, NewSlot, SlotRow, SlotState, SlotWish, Tx};
use crate::time::task::guarded;
use crate::time::{Cron, Period, Span, Timestamp};
use crate::trust::Scope;
use crate::wording::schedule as says;

/// Due slots, and those to come.
#[derive(Debug, Default)]
struct Due {
    claims: Vec<(PersonId, Vec<Claim>)>,
    coming: Vec<UpcomingReflection>,
}

/// An upcoming reflection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpcomingReflection {
    /// The person.
    pub person: PersonId,
    /// The job.
    pub job: Job,
    /// Due time.
    pub at: Timestamp,
    /// Name of the period.
    pub period: String,
}

impl Schedule {
    /// Claims what is due, resumes open slots, and returns the time of the next check.
    pub(super) async fn slots(&self) -> anyhow::Result<Option<Timestamp>> {
        if !self.reflection.enabled {
            self.reflector.report().await?;
            return Ok(None);
        }
        let due = self.claim().await?;
        let again = self.take_up().await?;
        self.reflector.act().await?;
        self.reflector.report().await?;
        Ok(due.into_iter().chain(again).min())
    }

    /// Claims everything due, and returns the next due time.
    async fn claim(&self) -> anyhow::Result<Option<Timestamp>> {
        let now = self.clock.now();
        self.forget_what_has_not_come(now).await?;
        let due = self.due(now, now).await?;
        let claims: Vec<_> = due.claims.into_iter().filter(|(_, claims)| !claims.is_empty()).collect();
        if !claims.is_empty() {
            let write = move |tx: Tx<'_>| {
                claims.iter().try_for_each(|(person, claims)| store(tx, Scope::Person(*person), claims, now))
            };
            self.journal.write("claim slots", write).await?;
        }
        Ok(due.coming.iter().map(|coming| coming.at).min())
    }

    async fn forget_what_has_not_come(&self, now: Timestamp) -> anyhow::Result<()> {
        if self.journal.read(move |db| db.slots().has_slots_after(now)).await? {
            tracing::warn!("The clock was ahead: what was marked for days to come is forgotten");
            self.journal.write("forget slots to come", move |tx| tx.slots().forget_slots_after(now)).await?;
        }
        Ok(())
    }

    /// Due slots for each person in working order, and the upcoming ones: of each job the next, and
    /// those due by `until`. Empty while the clock is behind the newest message.
    async fn due(&self, now: Timestamp, until: Timestamp) -> anyhow::Result<Due> {
        let (config, zone) = (self.reflection.clone(), self.zone);
        let horizon = Duration::from_hours(24 * u64::from(config.catch_up_days));
        self.journal
            .read(move |db| {
                let mut due = Due::default();
                if !config.enabled || db.conversations().high_water()?.is_some_and(|mark| now < mark) {
                    return Ok(due);
                }
                for person in db.people().people()?.iter().filter(|person| person.role == Role::Owner || config.members)
                {
                    let mut claims = Vec::new();
                    for (job, cron) in jobs(&config) {
                        let Some(since) = since(db, person.id, job)? else { continue };
                        let plan = plan(job, cron, &since, horizon, zone, (now, until));
                        claims.extend(plan.claims);
                        let coming = plan.coming.into_iter();
                        due.coming.extend(coming.map(|(at, period)| UpcomingReflection {
                            person: person.id,
                            job,
                            at,
                            period,
                        }));
                    }
                    due.claims.push((person.id, in_order(claims)));
                }
                Ok(due)
            })
            .await
    }

    /// Upcoming reflections, soonest first: of each job the next, and those due by `until`.
    pub async fn coming(&self, until: Timestamp) -> anyhow::Result<Vec<UpcomingReflection>> {
        let mut coming = self.due(self.clock.now(), until).await?.coming;
        coming.sort_by_key(|coming| (coming.at, coming.job));
        Ok(coming)
    }

    /// Resumes open slots, one per person at a time, and returns the next retry time.
    async fn take_up(&self) -> anyhow::Result<Option<Timestamp>> {
        let open = self.journal.read(|db| db.slots().open_slots()).await?;
        let mut waits = BTreeSet::new();
        let mut again = None;
        let mut open: Vec<_> = open.into_iter().filter_map(|slot| Some((Job::named(&slot.job)?, slot))).collect();
        open.sort_by_key(|(job, slot)| (slot.to, *job, slot.id.0));
        for (_, slot) in open {
            if waits.contains(&slot.scope.encode()) {
                continue;
            }
            let next = guarded("Looking back", self.reflector.take_up(&slot)).await.unwrap_or_else(|error| {
                tracing::error!(slot.id = %slot.id, "Slot {} cannot be taken up now: {error:#}", slot.id);
                SlotProgress::At(self.clock.now().plus(AFTER_TROUBLE))
            });
            match next {
                SlotProgress::Over => {}
                SlotProgress::Working => {
                    waits.insert(slot.scope.encode());
                }
                SlotProgress::At(at) => {
                    waits.insert(slot.scope.encode());
                    again = again.into_iter().chain([at]).min();
                }
            }
        }
        Ok(again)
    }
}

/// The configured jobs, each with its expression.
fn jobs(config: &crate::config::Reflection) -> impl Iterator<Item = (Job, &Cron)> {
    let crons = [&config.daily, &config.weekly, &config.monthly];
    Job::ALL.into_iter().zip(crons).filter_map(|(job, cron)| Some((job, cron.as_ref()?)))
}

pub(super) fn since(db: Db<'_>, person: PersonId, job: Job) -> anyhow::Result<Option<JobStart>> {
    if let Some(last) = db.slots().last_slot(Scope::Person(person), job.as_str())? {
        return Ok(Some(JobStart::Last(last.period, last.to)));
    }
    Ok(db.people().known_since(person)?.map(JobStart::Known))
}

pub(super) fn store(tx: Tx<'_>, scope: Scope, claims: &[Claim], now: Timestamp) -> anyhow::Result<()> {
    for claim in claims {
        let missed = claim.missed > 0;
        tx.slots().claim_slot(&NewSlot {
            job: claim.job.as_str(),
            scope,
            period: &claim.period.to_string(),
            from: claim.from,
            to: claim.to,
            due_at: claim.due_at,
            state: if missed { SlotState::Missed } else { SlotState::Claimed },
            reason: &if missed { says::missed(claim.missed) } else { String::new() },
            again: false,
            at: now,
        })?;
    }
    Ok(())
}

/// The result of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OnDemandResult {
    /// The reflection on the period starts once the earlier ones are done.
    Begun(SlotId, String),
    /// The period is already in progress.
    OnIt(SlotId, String),
    /// The period is already done.
    Done(SlotRow),
    /// The period is not over yet.
    NotOver(String),
    /// The period lies before the person was known.
    TooEarly(String),
    /// Invalid name of a period.
    NoPeriod,
    /// Reflections are disabled.
    Off,
}

impl Schedule {
    /// Requests a reflection now: on the named period, or else on the latest that is over.
    pub async fn ask(
        &self,
        person: PersonId,
        job: Job,
        name: Option<&str>,
        again: bool,
        wish: SlotWish,
    ) -> anyhow::Result<OnDemandResult> {
        if !self.reflection.enabled {
            return Ok(OnDemandResult::Off);
        }
        let (now, zone) = (self.clock.now(), self.zone);
        if job == Job::Daily && name.is_some_and(|name| name.eq_ignore_ascii_case(SO_FAR)) {
            return self.ask_so_far(person, wish, now).await;
        }
        let latest = Period::containing(job.span(), now, zone).previous();
        let Some(period) = name.map_or(Some(latest), |name| Period::named(job.span(), name)) else {
            return Ok(OnDemandResult::NoPeriod);
        };
        if period.ends(zone) > now {
            return Ok(OnDemandResult::NotOver(period.to_string()));
        }
        let result = self
            .journal
            .write("ask for a slot", move |tx| {
                let scope = Scope::Person(person);
                let name = period.to_string();
                let (begins, ends) = (period.begins(zone), period.ends(zone));
                let last = match tx.slots().newest_run(scope, job.as_str(), &name)? {
                    None => missed_slot(tx, scope, job, (begins, ends))?,
                    last => last,
                };
                // A missed slot covers several periods, and one of them is wanted.
                let last = last.map(|last| match last.state {
                    SlotState::Missed => {
                        SlotRow { from: last.from.max(begins), to: last.to.min(ends), period: name.clone(), ..last }
                    }
                    _ => last,
                });
                if let Some(last) = last {
                    return wished(tx, again_or_not(tx, last, again, now)?, wish);
                }
                let Some(since) = since(*tx, person, job)? else { return Ok(OnDemandResult::TooEarly(name)) };
                // Due as soon as it is over, and never too old, because it was requested.
                let every_minute = Cron::parse("* * * * *")?;
                let plan = plan(job, &every_minute, &since, Duration::MAX, zone, (now, now));
                let wanted: Vec<_> = plan.claims.into_iter().filter(|claim| claim.to <= ends).collect();
                store(tx, scope, &wanted, now)?;
                let row = tx.slots().newest_run(scope, job.as_str(), &name)?;
                let begun =
                    row.map_or(OnDemandResult::TooEarly(name.clone()), |row| OnDemandResult::Begun(row.id, name));
                wished(tx, begun, wish)
            })
            .await?;
        // Without a name, a day whose predecessor is done or unknown is looked at so far.
        let is_of_today = job == Job::Daily && name.is_none() && !again;
        if is_of_today && matches!(result, OnDemandResult::TooEarly(_) | OnDemandResult::Done(_)) {
            return self.ask_so_far(person, wish, now).await;
        }
        self.wake();
        Ok(result)
    }

    /// Requests a reflection on the current day up to now, even if there was one before.
    async fn ask_so_far(&self, person: PersonId, wish: SlotWish, now: Timestamp) -> anyhow::Result<OnDemandResult> {
        let day = Period::containing(Span::Day, now, self.zone);
        let (from, name) = (day.begins(self.zone), day.to_string());
        let begun = self.journal.write("ask for a slot so far", move |tx| {
            let scope = Scope::Person(person);
            let new = NewSlot {
                job: SO_FAR,
                scope,
                period: &name,
                from,
                to: now,
                due_at: now,
                state: SlotState::Claimed,
                reason: "",
                again: true,
                at: now,
            };
            let begun = match tx.slots().claim_slot(&new)? {
                Some(id) => OnDemandResult::Begun(id, says::so_far(&name)),
                None => {
                    let open = tx.slots().newest_run(scope, SO_FAR, &name)?;
                    open.map_or(OnDemandResult::NoPeriod, |row| OnDemandResult::OnIt(row.id, says::so_far(&name)))
                }
            };
            wished(tx, begun, wish)
        });
        let begun = begun.await?;
        self.wake();
        Ok(begun)
    }

    /// Returns the slot when it is over, or in its current state after `patience`. That is real
    /// time, because a person is waiting.
    pub async fn when_over(&self, id: SlotId, patience: Duration) -> anyhow::Result<Option<SlotRow>> {
        let mut pass_done = self.pass_done.subscribe();
        let over = async {
            loop {
                let slot = self.journal.read(move |db| db.slots().slot(id)).await?;
                if slot.as_ref().is_none_or(|slot| !slot.state.is_open()) || pass_done.changed().await.is_err() {
                    return Ok(slot);
                }
            }
        };
        tokio::select! {
            slot = over => slot,
            () = crate::time::clock::real_sleep(patience) => self.journal.read(move |db| db.slots().slot(id)).await,
        }
    }
}

/// Marks the slot that somebody waits for.
fn wished(tx: Tx<'_>, result: OnDemandResult, wish: SlotWish) -> anyhow::Result<OnDemandResult> {
    if let OnDemandResult::Begun(slot, _) | OnDemandResult::OnIt(slot, _) = &result {
        tx.slots().wish(*slot, wish)?;
    }
    Ok(result)
}

/// Returns the missed slot that covers that period.
fn missed_slot(
    tx: Tx<'_>,
    scope: Scope,
    job: Job,
    (begins, ends): (Timestamp, Timestamp),
) -> anyhow::Result<Option<SlotRow>> {
    let slots = tx.slots().slots_within(scope, job.as_str(), begins, Timestamp(i64::MAX))?;
    Ok(slots.into_iter().find(|slot| slot.state == SlotState::Missed && slot.from < ends))
}

fn again_or_not(tx: Tx<'_>, last: SlotRow, again: bool, now: Timestamp) -> anyhow::Result<OnDemandResult> {
    if last.state.is_open() {
        return Ok(OnDemandResult::OnIt(last.id, last.period));
    }
    // A skipped, missed or failed slot has no reflection to repeat, so a request without `again` is
    // enough.
    if last.state == SlotState::Done && !again {
        return Ok(OnDemandResult::Done(last));
    }
    let new = NewSlot {
        job: &last.job,
        scope: last.scope,
        period: &last.period,
        from: last.from,
        to: last.to,
        due_at: now,
        state: SlotState::Claimed,
        reason: "",
        again: true,
        at: now,
    };
    let id = tx.slots().claim_slot(&new)?;
    Ok(id.map_or(OnDemandResult::OnIt(last.id, last.period.clone()), |id| {
        OnDemandResult::Begun(id, last.period.clone())
    }))
}
