//! Instants, the clock, and the zone in which days are counted.
//!
//! Stored instants are UTC milliseconds ([`Timestamp`]). The system's clock is read, and tasks
//! sleep, only through [`Clock`], so that a test can live through a week in a second. The simulated
//! clock moves only when every task is at rest, which it knows because work is counted
//! ([`ActivityGuard`]).

pub mod backoff;
pub mod clock;
pub mod cron;
pub mod quiet;
pub mod simulated;
pub mod task;
pub mod when;
pub mod zone;

pub use backoff::Backoff;
pub use clock::{ActivityGuard, Clock, SystemClock};
pub use cron::{Cron, CronError};
pub use quiet::{QuietHours, parse_quiet_hours, quiet_until};
pub use simulated::SimulatedClock;
pub use when::{Shift, TimeExpressionError, When};
pub use zone::{Period, Span, Zone};

use std::time::Duration;

use rusqlite::types::{FromSql, FromSqlResult, ToSql, ToSqlOutput, ValueRef};

/// An instant: milliseconds since the Unix epoch, UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// The end of time: waiting until then means waiting for nothing.
    pub const NEVER: Self = Self(i64::MAX);

    /// Converts whole seconds, as in Telegram's timestamps.
    pub fn from_seconds(seconds: i64) -> Self {
        Self(seconds.saturating_mul(1000))
    }

    /// Returns the instant `span` later, saturating at the end of time.
    #[must_use]
    pub fn plus(self, span: Duration) -> Self {
        Self(self.0.saturating_add(millis(span)))
    }

    /// Returns the instant `span` earlier.
    #[must_use]
    pub fn minus(self, span: Duration) -> Self {
        Self(self.0.saturating_sub(millis(span)))
    }

    /// Returns the time since `earlier`; zero if this instant is before it.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }

    /// Returns this retry time, or `now` if it is further away than `longest`: retries are never
    /// further away, so the clock was ahead when the time was set, and there is nothing to wait
    /// for.
    #[must_use]
    pub fn put_off(self, longest: Duration, now: Self) -> Self {
        if self > now.plus(longest) { now } else { self }
    }

    /// Formats as RFC 3339 in UTC, to the millisecond, as `--json` prints it.
    pub fn rfc3339(self) -> String {
        chrono::DateTime::from_timestamp_millis(self.0)
            .unwrap_or_default()
            .to_rfc3339_opts(chrono::SecondsFormat::Millis, true)
    }

    /// Parses an RFC 3339 text; `None` if it is invalid.
    pub fn of_rfc3339(text: &str) -> Option<Self> {
        chrono::DateTime::parse_from_rfc3339(text).ok().map(|at| Self(at.timestamp_millis()))
    }
}

/// A stretch of time, from its first instant up to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeRange {
    /// First instant.
    pub since: Timestamp,
    /// First instant after it.
    pub until: Timestamp,
}

impl TimeRange {
    /// All of time.
    pub const ALL: Self = Self { since: Timestamp(i64::MIN), until: Timestamp::NEVER };

    /// Returns true if the instant lies in it.
    pub fn contains(self, at: Timestamp) -> bool {
        self == Self::ALL || (self.since..self.until).contains(&at)
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
