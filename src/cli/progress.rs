//! Progress on standard error: only at a terminal, and only if the work takes longer than a second.

use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::time::Duration;

use crate::time::{Clock, SystemClock, Timestamp};
use crate::wording::upkeep as says;

/// Delay before progress is shown.
const PATIENCE: Duration = Duration::from_secs(1);
/// Interval between updates.
const EVERY: Duration = Duration::from_millis(200);

/// A progress line that is updated in place.
pub struct Bar<W = io::Stderr> {
    clock: Arc<dyn Clock>,
    out: W,
    began: Timestamp,
    shown: Option<Timestamp>,
    visible: bool,
}

impl Bar {
    /// Creates a hidden progress line.
    pub fn new(quiet: bool) -> Self {
        Self::on(Arc::new(SystemClock::default()), io::stderr(), !quiet && io::stderr().is_terminal())
    }
}

impl<W: Write> Bar<W> {
    fn on(clock: Arc<dyn Clock>, out: W, visible: bool) -> Self {
        Self { began: clock.now(), clock, out, shown: None, visible }
    }

    /// Shows the number of processed bytes.
    pub fn at(&mut self, doing: &str, bytes: u64) {
        self.show(|_| says::progress(doing, bytes >> 20));
    }

    /// Shows the elapsed time of work with unknown duration.
    fn show_elapsed(&mut self, doing: &str) {
        self.show(|since| says::goes_on(doing, since.as_secs()));
    }

    fn show(&mut self, line: impl FnOnce(Duration) -> String) {
        let now = self.clock.now();
        let since = now.since(self.began);
        let early = since < PATIENCE || self.shown.is_some_and(|shown| now.since(shown) < EVERY);
        if self.visible && !early {
            self.shown = Some(now);
            let _ = write!(self.out, "\r\x1b[K{}", line(since));
            let _ = self.out.flush();
        }
    }

    /// Ends the work and removes the line.
    pub fn end(&mut self) {
        if self.shown.take().is_some() {
            let _ = write!(self.out, "\r\x1b[K");
            let _ = self.out.flush();
        }
    }

    /// Runs `work` and shows the elapsed time meanwhile.
    pub async fn while_it<T>(mut self, doing: &str, work: impl Future<Output = T>) -> T {
        let mut work = std::pin::pin!(work);
        loop {
            let next = self.clock.now().plus(EVERY);
            tokio::select! {
                biased;
                done = &mut work => {
                    self.end();
                    return done;
                }
                _busy = self.clock.wake_at(next) => self.show_elapsed(doing),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::SimulatedClock;
    use std::sync::Mutex;

    const NOW: Timestamp = Timestamp(1_800_000_000_000);

    /// Output sent to a screen.
    #[derive(Clone, Default)]
    struct Screen(Arc<Mutex<Vec<u8>>>);

    impl Write for Screen {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// Returns the output during work that takes this many seconds.
    async fn shown(seconds: u64, visible: bool) -> String {
        let (clock, screen) = (Arc::new(SimulatedClock::new(NOW)), Screen::default());
        let bar = Bar::on(clock.clone(), screen.clone(), visible);
        let span = Duration::from_secs(seconds) + Duration::from_millis(100);
        let work = async { drop(clock.wake_at(NOW.plus(span)).await) };
        let passes = async {
            for _ in 0..seconds * 10 + 2 {
                clock.advance(Duration::from_millis(100)).await;
            }
        };
        tokio::join!(bar.while_it("Forgetting Ben", work), passes);
        String::from_utf8(screen.0.lock().unwrap().clone()).unwrap()
    }

    /// Promise (command-line/long-task): During a long deletion or export the terminal shows how
    /// long it has been running; piped output contains no such line.
    #[tokio::test]
    async fn a_line_moves_while_it_takes_long_and_is_gone_afterwards() {
        let seen = shown(3, true).await;
        for second in 1..=3 {
            assert!(seen.contains(&format!("\r\x1b[KForgetting Ben: {second} s")), "{seen:?}");
        }
        assert!(seen.ends_with("\r\x1b[K") && !seen.contains('\n'), "{seen:?}");
    }

    /// Proves: command-line/long-task
    #[tokio::test]
    async fn what_is_quick_and_what_goes_into_a_pipe_shows_nothing() {
        assert_eq!((shown(0, true).await.as_str(), shown(3, false).await.as_str()), ("", ""));
    }
}
