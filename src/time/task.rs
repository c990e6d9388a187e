//! Panic isolation for tasks.

use std::panic::AssertUnwindSafe;
use std::sync::{Mutex, MutexGuard, PoisonError};

use futures::FutureExt;

/// Runs one piece of a task's work. A panic in it becomes an error, so the task can pause and
/// continue with the next.
///
/// # Errors
/// Error of the work, or [`Panicked`].
pub async fn guarded<T>(name: &str, work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    AssertUnwindSafe(work).catch_unwind().await.unwrap_or_else(|_| Err(Panicked(name.to_owned()).into()))
}

/// Locks a mutex even if its holder panicked: a panic ends one piece of work, not the program.
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Error: the work panicked.
#[derive(Debug, thiserror::Error)]
#[error("{0} panicked")]
pub struct Panicked(String);

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_becomes_an_error() {
        let fell: anyhow::Result<()> = guarded("It", async { panic!("on purpose") }).await;
        assert_eq!(fell.unwrap_err().to_string(), "It panicked");
        assert_eq!(guarded("It", async { Ok(3) }).await.unwrap(), 3);
    }
}
