//! The line editor, in a thread of its own because it blocks, and output above the line that is
//! being typed.
//!
//! After each line the thread waits for permission to continue, so that no prompt is open, and the
//! terminal is in its normal state, when the program ends. Printing has a thread of its own as
//! well: it may block until the next prompt while a line is being completed, which the conversation
//! must not.

use std::cell::{Cell, RefCell};
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc as blocking;
use std::thread;

use anyhow::Context as _;
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::DefaultHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Context, ExternalPrinter, Helper};
use tokio::sync::mpsc;

use crate::cli::print::Screen;

const REMEMBERED_LINES: usize = 1000;

type LineEditor = rustyline::Editor<LineWatch, DefaultHistory>;

/// Input at the prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum LineInput {
    /// A line, or several joined by trailing backslashes or pasted at once.
    Line(String),
    /// Ctrl-c.
    Interrupt {
        /// `true` if the line was empty.
        empty: bool,
    },
    /// Ctrl-d.
    End,
    /// The terminal cannot be read.
    Broken(String),
}

/// An open line editor.
pub(super) struct Editor {
    typed: mpsc::Receiver<LineInput>,
    go_on: blocking::SyncSender<()>,
    /// `true` while the thread waits for permission to continue.
    waits: bool,
    print: blocking::Sender<String>,
    width: Arc<AtomicUsize>,
}

/// Opens the editor with its history and shows the first prompt.
pub(super) fn open(prompt: &str, history: &Path, screen: Screen) -> anyhow::Result<Editor> {
    let mut lines = line_editor(history).context("The line editor did not start")?;
    let print = printer(&mut lines)?;
    let (sender, typed) = mpsc::channel(1);
    let (go_on, permission) = blocking::sync_channel(1);
    let width = Arc::new(AtomicUsize::new(screen.width));
    let prompting = Prompting {
        lines,
        prompt: prompt.to_owned(),
        history: history.to_owned(),
        width: Arc::clone(&width),
        typed: sender,
        permission,
    };
    thread::Builder::new().name("prompt".into()).spawn(move || prompting.run()).context("No thread for the prompt")?;
    Ok(Editor { typed, go_on, waits: false, print, width })
}

impl Editor {
    /// Returns the next input. Cancel-safe.
    pub async fn typed(&mut self) -> LineInput {
        let typed = self.typed.recv().await.unwrap_or(LineInput::End);
        self.waits = true;
        typed
    }

    /// Shows the next prompt, if none is open.
    pub fn go_on(&mut self) {
        if std::mem::take(&mut self.waits) {
            // If the thread has ended, `typed` reports it.
            let _ = self.go_on.send(());
        }
    }

    /// Prints above the line that is being typed.
    pub fn print(&self, text: String) {
        if !text.is_empty() {
            let _ = self.print.send(text);
        }
    }

    /// Returns the width of the terminal at the last prompt.
    pub fn width(&self) -> Option<usize> {
        Some(self.width.load(Ordering::Relaxed)).filter(|width| *width > 0)
    }
}

fn line_editor(history: &Path) -> anyhow::Result<LineEditor> {
    let config = rustyline::Config::builder()
        .max_history_size(REMEMBERED_LINES)?
        .history_ignore_dups(true)?
        .history_ignore_space(true)
        .build();
    let mut lines = LineEditor::with_config(config)?;
    if create_private(history).is_ok() {
        // A damaged history does not prevent a conversation.
        let _ = lines.load_history(history);
    }
    Ok(lines)
}

/// Creates the file with permissions that never let other users read it.
fn create_private(path: &Path) -> std::io::Result<()> {
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map(drop)
}

fn printer(lines: &mut LineEditor) -> anyhow::Result<blocking::Sender<String>> {
    let (sender, texts) = blocking::channel::<String>();
    let mut above = lines.create_external_printer().ok();
    let print = move || {
        for text in texts {
            let printed = above.as_mut().is_some_and(|above| above.print(text.clone()).is_ok());
            if !printed {
                let mut out = std::io::stdout();
                let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
            }
        }
    };
    thread::Builder::new().name("print".into()).spawn(print).context("No thread for printing")?;
    Ok(sender)
}

/// The prompting thread.
struct Prompting {
    lines: LineEditor,
    prompt: String,
    history: PathBuf,
    width: Arc<AtomicUsize>,
    typed: mpsc::Sender<LineInput>,
    permission: blocking::Receiver<()>,
}

impl Prompting {
    fn run(mut self) {
        loop {
            if let Some((columns, _)) = self.lines.dimensions() {
                self.width.store(usize::from(columns), Ordering::Relaxed);
            }
            let typed = self.read();
            let over = matches!(typed, LineInput::Broken(_));
            if self.typed.blocking_send(typed).is_err() || over || self.permission.recv().is_err() {
                return;
            }
        }
    }

    fn read(&mut self) -> LineInput {
        self.lines.set_helper(Some(LineWatch::default()));
        let read = self.lines.readline(&self.prompt);
        let (empty, folds) = self.lines.helper().map_or((true, Vec::new()), LineWatch::seen);
        match read {
            Ok(line) => {
                let text = unfolded(&line, &folds);
                self.remember(&text);
                LineInput::Line(text)
            }
            Err(ReadlineError::Interrupted) => LineInput::Interrupt { empty },
            Err(ReadlineError::Eof) => LineInput::End,
            Err(error) => LineInput::Broken(error.to_string()),
        }
    }

    /// Adds a line to the history. Write errors are ignored.
    fn remember(&mut self, line: &str) {
        if !line.trim().is_empty() && self.lines.add_history_entry(line).is_ok_and(|added| added) {
            let _ = self.lines.append_history(&self.history);
        }
    }
}

/// Removes the backslashes that only continued a line. Backslashes in pasted text stay: the text
/// before the cursor at each fold distinguishes the two.
fn unfolded(line: &str, folds: &[String]) -> String {
    let mut text = String::with_capacity(line.len());
    let mut taken = 0;
    for fold in folds {
        let (Some(before), Some(after)) = (fold.strip_suffix('\\'), line.strip_prefix(fold.as_str())) else {
            continue;
        };
        if let Some(part) = line.get(taken..before.len()).filter(|_| after.starts_with('\n')) {
            text.push_str(part);
            taken = fold.len();
        }
    }
    text + line.get(taken..).unwrap_or_default()
}

/// Watches one line for content and continuation.
#[derive(Debug, Default)]
struct LineWatch {
    filled: Cell<bool>,
    /// Text at each enter after a backslash.
    folds: RefCell<Vec<String>>,
}

impl LineWatch {
    /// Returns `true` if the line ended empty, and the folds.
    fn seen(&self) -> (bool, Vec<String>) {
        (!self.filled.get(), self.folds.borrow().clone())
    }
}

impl Helper for LineWatch {}
impl Highlighter for LineWatch {}

impl Completer for LineWatch {
    type Candidate = String;
}

impl Hinter for LineWatch {
    type Hint = String;

    fn hint(&self, line: &str, _pos: usize, _context: &Context<'_>) -> Option<String> {
        self.filled.set(!line.is_empty());
        None
    }
}

impl Validator for LineWatch {
    fn validate(&self, context: &mut ValidationContext) -> rustyline::Result<ValidationResult> {
        if !context.input().ends_with('\\') {
            return Ok(ValidationResult::Valid(None));
        }
        self.folds.borrow_mut().push(context.input().to_owned());
        Ok(ValidationResult::Incomplete)
    }
}

#[cfg(test)]
impl Editor {
    /// An editor without a terminal: a sender of input and a receiver of output.
    pub fn scripted(width: usize) -> (Self, mpsc::Sender<LineInput>, blocking::Receiver<String>) {
        let (sender, typed) = mpsc::channel(8);
        let (print, printed) = blocking::channel();
        // The receiver is not needed.
        let (go_on, _) = blocking::sync_channel(1);
        let width = Arc::new(AtomicUsize::new(width));
        (Self { typed, go_on, waits: false, print, width }, sender, printed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_go_on_are_one_text() {
        let folds = ["one\\", "one\\\ntwo\\"].map(str::to_owned);
        assert_eq!(unfolded("one\\\ntwo\\\nthree", &folds), "one\ntwo\nthree");
        assert_eq!(unfolded("", &folds), "");
    }

    #[test]
    fn pasted_backslashes_stay() {
        let pasted = "docker run \\\n  -it";
        assert_eq!(unfolded(pasted, &[]), pasted);
        // The line was changed after it had been folded: nothing is removed by guessing.
        assert_eq!(unfolded(pasted, &["podman run \\".to_owned()]), pasted);
    }

    #[cfg(unix)]
    #[test]
    fn the_history_is_private() {
        use std::os::unix::fs::PermissionsExt;
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("terminal_history");
        create_private(&path).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
