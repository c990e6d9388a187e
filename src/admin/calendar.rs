//! A person's conversations by the day: the year as a calendar, and the list of one day.

use std::collections::BTreeMap;

use chrono::NaiveDate;

use super::conversations::describe;
use super::paging::PageRequest;
use super::{ConversationsReport, HistoryAdmin};
use crate::id::PersonId;
use crate::store::{Conversation, ConversationKind, Db};
use crate::time::{Period, Span, TimeRange, Zone};

/// Number of weeks before the present one.
const WEEKS: usize = 52;

/// The conversations of a day, counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DayCount {
    /// Conversations that began.
    pub conversations: u64,
    /// Messages counted in them.
    pub messages: u64,
}

/// The year up to this week.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConversationCalendar {
    /// First day: a Monday.
    pub first: NaiveDate,
    /// Today.
    pub today: NaiveDate,
    /// Days on which a conversation began.
    pub days: BTreeMap<NaiveDate, DayCount>,
}

impl HistoryAdmin<'_> {
    /// Counts a person's conversations of a kind by the local day on which they began, over the
    /// last year.
    pub async fn calendar(
        &self,
        person: PersonId,
        kind: ConversationKind,
        zone: Zone,
    ) -> anyhow::Result<ConversationCalendar> {
        let now = self.clock.now();
        let this_week = Period::containing(Span::Week, now, zone);
        let first_week = (0..WEEKS).fold(this_week, |week, _| week.previous());
        let time = TimeRange { since: first_week.begins(zone), until: this_week.ends(zone) };
        let count = move |db: Db<'_>| {
            let mut days: BTreeMap<NaiveDate, DayCount> = BTreeMap::new();
            for (at, messages) in db.conversations().openings(person, kind, time)? {
                let day = days.entry(zone.calendar_day(at)).or_default();
                day.conversations += 1;
                day.messages = day.messages.saturating_add(messages.try_into().unwrap_or(0));
            }
            Ok(days)
        };
        let days = self.journal.read_much(count).await?;
        Ok(ConversationCalendar { first: first_week.first_day(), today: zone.calendar_day(now), days })
    }

    /// A person's conversations of a kind that began on a local day, page by page.
    pub async fn conversations_of_day(
        &self,
        person: PersonId,
        kind: ConversationKind,
        (day, zone): (Period, Zone),
        request: PageRequest,
    ) -> anyhow::Result<ConversationsReport> {
        let ends = self.reports().ends();
        let time = TimeRange { since: day.begins(zone), until: day.ends(zone) };
        let page = self
            .journal
            .read_much(move |db| {
                let read = |before, limit| db.conversations().conversations_opened(person, kind, time, before, limit);
                let page = request.read(|found: &Conversation| found.id.0, read)?;
                page.try_map(|conversation| describe(db, conversation, ends))
            })
            .await?;
        Ok(ConversationsReport { kind: Some(kind), page })
    }
}
