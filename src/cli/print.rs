//! Standard output and standard error: facts, remarks, failures, rendered Markdown and progress.
//!
//! A closed reader is distinguished from a full disk. Progress is shown only at a terminal, and
//! only if the work takes longer than a second.

use std::io::{self, BufRead, IsTerminal, Write};
use std::sync::Arc;
use std::time::Duration;

use super::Exit;
use crate::adapter::terminal::ansi::{self, TerminalStyle};
use crate::app::{BuildError, lock_holder};
use crate::config::{ConfigError, Home};
use crate::markdown::LinkDisplay;
use crate::review::reveal::{escape_json, reveal};
use crate::store::OpenError;
use crate::time::{Clock, SystemClock, Timestamp};
use crate::wording::{cli as says, upkeep};

const DEFAULT_WIDTH: usize = 80;
/// Width for files and pipes, whose lines are not wrapped.
const UNWRAPPED: usize = 1_000_000;
/// Delay before progress is shown.
const SHOW_AFTER: Duration = Duration::from_secs(1);
/// Interval between updates.
const UPDATE_INTERVAL: Duration = Duration::from_millis(200);

/// Output options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Printer {
    /// Print facts as JSON.
    pub json: bool,
    /// Print only the requested output.
    pub quiet: bool,
    /// Print Markdown as it is.
    pub source: bool,
}

impl Printer {
    /// Prints a fact as it is.
    pub fn fact(self, text: &str) -> Result<(), CliError> {
        let mut out = io::stdout().lock();
        out.write_all(text.trim_end_matches('\n').as_bytes())?;
        out.write_all(b"\n")?;
        Ok(out.flush()?)
    }

    /// Prints a fact as JSON.
    pub fn json(self, value: &impl serde::Serialize) -> Result<(), CliError> {
        self.fact(&escape_json(&serde_json::to_string_pretty(value).map_err(anyhow::Error::from)?))
    }

    /// Prints JSON or Markdown, rendered unless its source is wanted. Link targets are spelled out,
    /// because the origin of the text is unknown here.
    pub fn markdown(self, text: &str) -> Result<(), CliError> {
        if self.json {
            return self.fact(&escape_json(text));
        }
        if self.source {
            return self.fact(text);
        }
        self.fact(&Screen::of_stdout().show(text, LinkDisplay::SpelledOut))
    }

    /// Prints a failure on standard error, as JSON if facts are.
    pub fn failure(self, failure: CliError) -> Exit {
        let as_json = |words: String| escape_json(&serde_json::json!({ "error": words }).to_string());
        match failure {
            CliError::Wrong(words) if self.json => CliError::Wrong(as_json(words)).print(),
            CliError::Failed(words) if self.json => CliError::Failed(as_json(words)).print(),
            failure => failure.print(),
        }
    }

    /// Prints a note on standard error, unless notes are disabled.
    pub fn note(self, text: &str) {
        if !self.quiet {
            print_remark(text);
        }
    }
}

/// Prints a line on standard error. Errors are ignored, because nothing could report them.
pub fn print_remark(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Asks a question on standard error and returns the typed line, trimmed.
pub fn ask(question: &str) -> Result<String, CliError> {
    let mut out = io::stderr().lock();
    write!(out, "{question}")?;
    out.flush()?;
    let mut typed = String::new();
    io::stdin().lock().read_line(&mut typed)?;
    Ok(typed.trim().to_owned())
}

/// Returns `true` if both standard input and standard error are terminals.
pub fn is_dialogue() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

impl CliError {
    /// Prints the failure on standard error.
    pub fn print(self) -> Exit {
        let (words, exit) = match self {
            Self::Wrong(words) => (words, Exit::Wrong),
            Self::Failed(words) => (words, Exit::Failed),
            Self::Unread => return Exit::Done,
        };
        // A path or a name may hold anything.
        print_remark(&reveal(&words));
        exit
    }
}

/// Reason for a failed command.
#[derive(Debug, PartialEq, Eq)]
pub enum CliError {
    /// Wrong usage or configuration, with a fix.
    Wrong(String),
    /// Any other failure.
    Failed(String),
    /// The reader of the output is gone, as after `| head`. This is not an error.
    Unread,
}

impl From<ConfigError> for CliError {
    fn from(error: ConfigError) -> Self {
        Self::Wrong(error.to_string())
    }
}

impl From<BuildError> for CliError {
    fn from(error: BuildError) -> Self {
        match error {
            BuildError::Held(home) => {
                let holder = lock_holder(&Home::at(home.clone()));
                Self::Failed(says::held(&home, holder.map(|holder| holder.process)))
            }
            error @ BuildError::Foreign(_) => Self::Wrong(error.to_string()),
            BuildError::Journal(error) => error.into(),
            BuildError::Other(error) => {
                let kinds = error.chain().filter_map(|cause| Some(cause.downcast_ref::<io::Error>()?.kind()));
                match kinds.filter_map(fix_of).next() {
                    Some(fix) => Self::Failed(says::with_fix(&format!("{error:#}"), fix)),
                    None => error.into(),
                }
            }
        }
    }
}

/// Returns the fix for a disk that cannot be written to.
pub fn fix_of(kind: io::ErrorKind) -> Option<&'static str> {
    match kind {
        io::ErrorKind::ReadOnlyFilesystem => Some(says::FIX_READ_ONLY),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Some(says::FIX_FULL),
        _ => None,
    }
}

impl From<OpenError> for CliError {
    fn from(error: OpenError) -> Self {
        let text = error.to_string();
        let fix = match error {
            OpenError::Newer { .. } => says::FIX_NEWER,
            OpenError::TooOld { .. } => upkeep::FIX_TOO_OLD,
            OpenError::Damaged { .. } => says::FIX_DAMAGED,
            OpenError::Locked { .. } => says::FIX_LOCKED,
            OpenError::ReadOnly { .. } => says::FIX_READ_ONLY,
            OpenError::Full { .. } => says::FIX_FULL,
            OpenError::NoRoomToCopy { .. } => upkeep::FIX_NO_ROOM_TO_COPY,
            OpenError::NotCopied { .. } => upkeep::FIX_NOT_COPIED,
            OpenError::Other(error) => return error.into(),
        };
        Self::Failed(says::with_fix(&text, fix))
    }
}

impl From<anyhow::Error> for CliError {
    fn from(error: anyhow::Error) -> Self {
        let broken = error.chain().filter_map(|cause| cause.downcast_ref::<io::Error>());
        if broken.map(io::Error::kind).any(|kind| kind == io::ErrorKind::BrokenPipe) {
            return Self::Unread;
        }
        Self::Failed(format!("{error:#}"))
    }
}

impl From<io::Error> for CliError {
    fn from(error: io::Error) -> Self {
        anyhow::Error::new(error).into()
    }
}

/// Properties of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Screen {
    /// `true` if a person watches the output as it streams.
    pub live: bool,
    /// Width in columns.
    pub width: usize,
    /// `true` if colours and text styles are wanted.
    pub color: bool,
    /// `true` to mark code and headings that have no colour.
    pub marks: bool,
}

impl Screen {
    /// Returns the properties of standard output.
    pub fn of_stdout() -> Self {
        let live = std::io::stdout().is_terminal();
        let width = if live { columns() } else { UNWRAPPED };
        Self { live, width, color: live && wants_color(), marks: true }
    }

    /// Returns the properties for refusals on standard error: plain, because its reader may be a
    /// log.
    pub fn of_stderr() -> Self {
        Self { live: false, width: UNWRAPPED, color: false, marks: true }
    }

    /// Renders Markdown followed by an empty line. Untrusted text cannot hide a link target.
    pub fn show(self, markdown: &str, links: LinkDisplay) -> String {
        let style = TerminalStyle { color: self.color, width: self.width, marks: self.marks };
        let shown = ansi::render(markdown, links, &style);
        if shown.is_empty() { shown } else { shown + "\n\n" }
    }

    /// Renders Markdown in lines, without an empty one at the end.
    pub fn lines(self, markdown: &str, links: LinkDisplay) -> Vec<String> {
        self.show(markdown, links).trim_end_matches('\n').split('\n').map(str::to_owned).collect()
    }

    /// Returns true if a line can be changed after it was printed.
    pub fn moves_cursor(self) -> bool {
        let is_plain = |term: std::ffi::OsString| ["dumb", "cons25", "emacs"].iter().any(|plain| term == *plain);
        self.live && !std::env::var_os("TERM").is_some_and(is_plain)
    }

    /// Renders a line outside the conversation.
    pub fn remark(self, line: &str) -> String {
        if self.color { format!("\u{1b}[2m{line}\u{1b}[0m\n") } else { format!("{line}\n") }
    }
}

fn columns() -> usize {
    let measured = rustyline::DefaultEditor::new().ok().and_then(|mut editor| editor.dimensions());
    let text = || std::env::var("COLUMNS").ok()?.parse().ok();
    measured.map(|(columns, _)| usize::from(columns)).or_else(text).filter(|width| *width > 0).unwrap_or(DEFAULT_WIDTH)
}

fn wants_color() -> bool {
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    !is_set("NO_COLOR") && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

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

/// Runs `work`, which reports its progress, and shows it.
pub fn with_progress<T>(quiet: bool, work: impl FnOnce(&mut dyn FnMut(&'static str, u64)) -> T) -> T {
    let mut bar = Bar::new(quiet);
    let done = work(&mut |doing, bytes| bar.show(|_| upkeep::progress(doing, bytes >> 20)));
    bar.end();
    done
}

impl<W: Write> Bar<W> {
    fn on(clock: Arc<dyn Clock>, out: W, visible: bool) -> Self {
        Self { began: clock.now(), clock, out, shown: None, visible }
    }

    fn show(&mut self, line: impl FnOnce(Duration) -> String) {
        let now = self.clock.now();
        let since = now.since(self.began);
        let early = since < SHOW_AFTER || self.shown.is_some_and(|shown| now.since(shown) < UPDATE_INTERVAL);
        if self.visible && !early {
            self.shown = Some(now);
            let _ = write!(self.out, "\r\x1b[K{}", line(since));
            let _ = self.out.flush();
        }
    }

    /// Removes the line.
    fn end(&mut self) {
        if self.shown.take().is_some() {
            let _ = write!(self.out, "\r\x1b[K");
            let _ = self.out.flush();
        }
    }

    /// Runs `work` and shows the elapsed time meanwhile.
    pub async fn while_it<T>(self, doing: &str, work: impl Future<Output = T>) -> T {
        self.while_counting(doing, work, async || None).await
    }

    /// Runs `work` and shows the elapsed time meanwhile, with what `count` says every second. A
    /// hidden line counts nothing.
    pub async fn while_counting<T>(
        mut self,
        doing: &str,
        work: impl Future<Output = T>,
        count: impl AsyncFn() -> Option<String>,
    ) -> T {
        let (mut work, mut counted) = (std::pin::pin!(work), (self.began, None));
        let done = loop {
            let next = self.clock.now().plus(UPDATE_INTERVAL);
            tokio::select! {
                biased;
                done = &mut work => break done,
                _busy = self.clock.wake_at(next) => {}
            }
            if self.visible && self.clock.now().since(counted.0) >= SHOW_AFTER {
                tokio::select! {
                    biased;
                    done = &mut work => break done,
                    so_far = count() => counted = (self.clock.now(), so_far),
                }
            }
            self.show(|since| upkeep::goes_on(doing, since.as_secs(), counted.1.as_deref()));
        };
        self.end();
        done
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::SimulatedClock;
    use std::sync::Mutex;

    const NOW: Timestamp = Timestamp(1_800_000_000_000);

    #[test]
    fn a_home_that_cannot_be_written_has_a_fix() {
        for (kind, fix) in
            [(io::ErrorKind::ReadOnlyFilesystem, says::FIX_READ_ONLY), (io::ErrorKind::StorageFull, says::FIX_FULL)]
        {
            let error = anyhow::Error::new(io::Error::from(kind)).context("Cannot write in the home");
            let CliError::Failed(text) = CliError::from(BuildError::Other(error)) else { panic!("{kind:?}") };
            assert!(text.starts_with("Cannot write in the home") && text.ends_with(fix), "{text}");
        }
    }

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
        counted(seconds, visible, async || None).await
    }

    async fn counted(seconds: u64, visible: bool, count: impl AsyncFn() -> Option<String>) -> String {
        let (clock, screen) = (Arc::new(SimulatedClock::new(NOW)), Screen::default());
        let bar = Bar::on(clock.clone(), screen.clone(), visible);
        let span = Duration::from_secs(seconds) + Duration::from_millis(100);
        let work = async { drop(clock.wake_at(NOW.plus(span)).await) };
        let passes = async {
            for _ in 0..seconds * 10 + 2 {
                clock.advance(Duration::from_millis(100)).await;
            }
        };
        tokio::join!(bar.while_counting("Forgetting Ben", work, count), passes);
        String::from_utf8(screen.0.lock().unwrap().clone()).unwrap()
    }

    /// Promise (command-line/long-task): During a long deletion, export or import the terminal
    /// shows how long it has been running, and how far an import is; piped output contains no such
    /// line.
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
    async fn no_progress_is_shown_for_quick_tasks_or_in_a_pipe() {
        assert_eq!((shown(0, true).await.as_str(), shown(3, false).await.as_str()), ("", ""));
    }

    /// Proves: command-line/long-task
    #[tokio::test]
    async fn counts_are_shown_as_they_grow_and_not_asked_for_in_a_pipe() {
        let asked = std::cell::Cell::new(0);
        let count = async || {
            asked.set(asked.get() + 1);
            Some(format!("{} messages", asked.get()))
        };
        let seen = counted(3, true, &count).await;
        for second in 1..=3 {
            assert!(seen.contains(&format!("\r\x1b[KForgetting Ben: {second} s, {second} messages")), "{seen:?}");
        }
        asked.set(0);
        assert_eq!((counted(3, false, &count).await.as_str(), asked.get()), ("", 0));
    }
}
