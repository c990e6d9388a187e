//! Mutation testing of labels and scopes: makes the source locations named in the environment
//! permissive.
//!
//! Only tests have this switch. It requires the feature `mutation`, which only the dev-dependency
//! of this package on itself enables, and a build with debug assertions. In every other build these
//! functions do nothing. The test that switches one location after another is
//! `tests/stories/trust/mutation.rs`. Each statement passes here, so the statements are counted too.

/// Returns whether the caller's caller is the location made permissive.
#[cfg(not(all(feature = "mutation", debug_assertions)))]
#[inline(always)]
pub(super) fn is_permissive() -> bool {
    false
}

/// The statement to run.
#[cfg(not(all(feature = "mutation", debug_assertions)))]
#[inline(always)]
pub fn statement(sql: &str) -> std::borrow::Cow<'_, str> {
    std::borrow::Cow::Borrowed(sql)
}

/// The number of statements run by this process.
#[cfg(not(all(feature = "mutation", debug_assertions)))]
pub fn statements() -> u64 {
    0
}

#[cfg(all(feature = "mutation", debug_assertions))]
pub(super) use switch::is_permissive;
#[cfg(all(feature = "mutation", debug_assertions))]
pub use switch::{statement, statements};

#[cfg(all(feature = "mutation", debug_assertions))]
mod switch {
    use std::borrow::Cow;
    use std::collections::BTreeSet;
    use std::fs::{File, OpenOptions};
    use std::io::Write;
    use std::panic::Location;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::sync::{LazyLock, Mutex, PoisonError};

    /// The locations to make permissive, separated by U+001E: `file:line:column` of a call, or two
    /// lines, a piece of SQL and its replacement.
    static PLACES: LazyLock<Vec<String>> = LazyLock::new(|| {
        let places = std::env::var("COMPLINE_MUTATE").unwrap_or_default();
        places.split('\u{1e}').filter(|place| !place.is_empty()).map(str::to_owned).collect()
    });
    /// Locations reached so far, and the file that receives one line for each.
    static TRACE: LazyLock<Option<Mutex<Trace>>> = LazyLock::new(|| {
        let path = std::env::var_os("COMPLINE_MUTATION_TRACE")?;
        let file = OpenOptions::new().create(true).append(true).open(path).ok()?;
        Some(Mutex::new((file, BTreeSet::new())))
    });

    /// Number of statements so far.
    static STATEMENTS: AtomicU64 = AtomicU64::new(0);

    type Trace = (File, BTreeSet<String>);

    /// Returns whether the caller's caller is the location made permissive.
    #[track_caller]
    pub(crate) fn is_permissive() -> bool {
        if PLACES.is_empty() && TRACE.is_none() {
            return false;
        }
        let at = Location::caller().to_string();
        let is = PLACES.contains(&at);
        record(at);
        is
    }

    /// The statement to run.
    pub fn statement(sql: &str) -> Cow<'_, str> {
        STATEMENTS.fetch_add(1, Ordering::Relaxed);
        if !sql.contains("scope") || (PLACES.is_empty() && TRACE.is_none()) {
            return Cow::Borrowed(sql);
        }
        let plain = sql.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
        record(plain.clone());
        let pieces = PLACES.iter().filter_map(|place| place.split_once('\n'));
        Cow::Owned(pieces.fold(plain, |plain, (piece, permissive)| plain.replace(piece, permissive)))
    }

    /// The number of statements run by this process.
    pub fn statements() -> u64 {
        STATEMENTS.load(Ordering::Relaxed)
    }

    fn record(place: String) {
        let Some(trace) = &*TRACE else { return };
        let (file, seen) = &mut *trace.lock().unwrap_or_else(PoisonError::into_inner);
        if !seen.contains(&place) {
            // A failed write makes the trace shorter, and a table built from it shows that.
            let _ = writeln!(file, "{place}");
            seen.insert(place);
        }
    }
}
