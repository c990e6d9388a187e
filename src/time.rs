//! Instants, the clock, and the zone in which days are counted.
//!
//! Stored instants are UTC milliseconds ([`Timestamp`]). Nothing reads the system's clock or sleeps
//! but through [`Clock`], so that a test can live through a week in a second. The simulated clock
//! moves only when every task is at rest, which it knows because work is counted
//! ([`ActivityGuard`]).

pub mod clock;
pub mod cron;
pub mod period;
pub mod simulated;
pub mod task;
pub mod when;
pub mod zone;

pub use clock::{ActivityGuard, Clock, SystemClock};
pub use cron::{Cron, NotCron};
pub use period::{Period, Span};
pub use simulated::SimulatedClock;
pub use when::{NotWhen, Shift, When};
pub use zone::Zone;

use std::time::Duration;

use rusqlite::types::{FromSql, FromSqlResult, ToSql, ToSqlOutput, ValueRef};

/// An instant: milliseconds since the Unix epoch, UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// The end of time: what waits for it waits for nothing.
    pub const NEVER: Self = Self(i64::MAX);

    /// From whole seconds, as Telegram stamps its messages.
    pub fn from_seconds(seconds: i64) -> Self {
        Self(seconds.saturating_mul(1000))
    }

    /// The instant `span` later; at the end of time it stays there.
    #[must_use]
    pub fn plus(self, span: Duration) -> Self {
        Self(self.0.saturating_add(millis(span)))
    }

    /// The instant `span` earlier.
    #[must_use]
    pub fn minus(self, span: Duration) -> Self {
        Self(self.0.saturating_sub(millis(span)))
    }

    /// How long after `earlier` this is; zero if it is not.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }

    /// This instant as an earlier self put something off to it, which it never does for longer than
    /// `longest`: if it is further away the clock was ahead then, and there is nothing to wait for.
    #[must_use]
    pub fn put_off(self, longest: Duration, now: Self) -> Self {
        if self > now.plus(longest) { now } else { self }
    }

    /// RFC 3339 in UTC, to the millisecond, as `--json` prints it.
    pub fn rfc3339(self) -> String {
        chrono::DateTime::from_timestamp_millis(self.0)
            .unwrap_or_default()
            .to_rfc3339_opts(chrono::SecondsFormat::Millis, true)
    }

    /// The instant that such a text states; `None` if it is none.
    pub fn of_rfc3339(text: &str) -> Option<Self> {
        chrono::DateTime::parse_from_rfc3339(text).ok().map(|at| Self(at.timestamp_millis()))
    }
}

fn millis(span: Duration) -> i64 {
    i64::try_from(span.as_millis()).unwrap_or(i64::MAX)
}

impl ToSql for Timestamp {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::from(self.0))
    }
}

impl FromSql for Timestamp {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        i64::column_result(value).map(Self)
    }
}
