//! The line editor, in a thread of its own because it blocks, and output above the line that is
//! being typed.
//!
//! After each line the thread waits for permission to continue, so that no prompt is open, and the
//! terminal is in its normal state, when the program ends. Printing has a thread of its own as
//! well: it may block until the next prompt while a line is being completed, which the conversation
//! must not.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc as blocking;
use std::sync::{Arc, Mutex};
use std::thread;

use anyhow::Context as _;
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::{Hint, Hinter};
use rustyline::history::DefaultHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Cmd, ColorMode, CompletionType, Context, ExternalPrinter, Helper, KeyCode, KeyEvent, Modifiers};
use tokio::sync::mpsc;

use crate::admin::command::COMMANDS;
use crate::cli::print::Screen;
use crate::text::shorten;
use crate::time::task::lock;

const REMEMBERED_LINES: usize = 1000;
/// Columns that a status takes at most.
const LONGEST_STATUS: usize = 72;
/// Commands of the conversation itself.
const OWN_COMMANDS: [&str; 2] = ["exit", "quit"];
/// Draws the prompt again: one line up, and down again.
const DRAW_AGAIN: &str = "\u{1b}[1A\n";

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
    status: Status,
    shows_status: bool,
}

/// Text at an empty prompt, which tells what is going on.
#[derive(Clone, Default)]
struct Status(Arc<Mutex<String>>);

/// Opens the editor with its history and shows the first prompt.
pub(super) fn open(prompt: &str, history: &Path, screen: Screen) -> anyhow::Result<Editor> {
    let mut lines = line_editor(history, screen).context("The line editor did not start")?;
    let print = printer(&mut lines)?;
    let (sender, typed) = mpsc::channel(1);
    let (go_on, permission) = blocking::sync_channel(1);
    let width = Arc::new(AtomicUsize::new(screen.width));
    let status = Status::default();
    let prompting = Prompting {
        lines,
        prompt: prompt.to_owned(),
        screen,
        status: status.clone(),
        history: history.to_owned(),
        width: Arc::clone(&width),
        typed: sender,
        permission,
    };
    thread::Builder::new().name("prompt".into()).spawn(move || prompting.run()).context("No thread for the prompt")?;
    Ok(Editor { typed, go_on, waits: false, print, width, status, shows_status: screen.moves_cursor() })
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

    /// Shows this at the prompt while nothing is typed there; blank for nothing.
    pub fn set_status(&self, status: &str) {
        let before = std::mem::replace(&mut *lock(&self.status.0), status.to_owned());
        // A prompt that is about to open shows it by itself.
        if before != status && self.shows_status && !self.waits {
            self.print(DRAW_AGAIN.to_owned());
        }
    }

    /// Returns the width of the terminal at the last prompt.
    pub fn width(&self) -> Option<usize> {
        Some(self.width.load(Ordering::Relaxed)).filter(|width| *width > 0)
    }
}

fn line_editor(history: &Path, screen: Screen) -> anyhow::Result<LineEditor> {
    let config = rustyline::Config::builder()
        .max_history_size(REMEMBERED_LINES)?
        .history_ignore_dups(true)?
        .history_ignore_space(true)
        .completion_type(CompletionType::List)
        // The status needs it; what is coloured is decided by the screen.
        .color_mode(if screen.moves_cursor() { ColorMode::Forced } else { ColorMode::Disabled })
        .build();
    let mut lines = LineEditor::with_config(config)?;
    lines.bind_sequence(KeyEvent(KeyCode::Enter, Modifiers::ALT), Cmd::Newline);
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
    screen: Screen,
    status: Status,
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
        let room = self.width.load(Ordering::Relaxed).saturating_sub(self.prompt.chars().count() + 1);
        let room = if self.screen.moves_cursor() { room.min(LONGEST_STATUS) } else { 0 };
        let status = self.status.clone();
        self.lines.set_helper(Some(LineWatch { status, room, is_dim: self.screen.color, ..LineWatch::default() }));
        let styled = if self.screen.color { bold(&self.prompt) } else { self.prompt.clone() };
        let read = self.lines.readline(&(&self.prompt, &styled));
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

fn bold(prompt: &str) -> String {
    format!("\u{1b}[1;36m{prompt}\u{1b}[0m")
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

/// Watches one line for content and continuation, completes commands, and shows the status.
#[derive(Default)]
struct LineWatch {
    filled: Cell<bool>,
    /// Text at each enter after a backslash.
    folds: RefCell<Vec<String>>,
    status: Status,
    /// Columns kept for the status.
    room: usize,
    is_dim: bool,
}

impl LineWatch {
    /// Returns `true` if the line ended empty, and the folds.
    fn seen(&self) -> (bool, Vec<String>) {
        (!self.filled.get(), self.folds.borrow().clone())
    }
}

impl Helper for LineWatch {}

impl Highlighter for LineWatch {
    fn highlight_hint<'h>(&self, _: &'h str) -> Cow<'h, str> {
        let status = lock(&self.status.0).clone();
        let shown = format!("{:room$}", shorten(&status, self.room), room = self.room);
        Cow::Owned(if self.is_dim { format!("\u{1b}[2m{shown}\u{1b}[0m") } else { shown })
    }
}

impl Completer for LineWatch {
    type Candidate = String;

    fn complete(&self, line: &str, at: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        Ok((0, commands_like(line.get(..at).unwrap_or_default())))
    }
}

/// Commands that begin with what was typed.
fn commands_like(typed: &str) -> Vec<String> {
    let Some(begun) = typed.strip_prefix('/') else { return Vec::new() };
    let listed = COMMANDS.iter().filter(|row| row.is_listed).map(|row| row.name);
    let like = listed.chain(OWN_COMMANDS).filter(|name| name.starts_with(begun));
    let mut found: Vec<String> = like.map(|name| format!("/{name}")).collect();
    found.sort();
    found
}

/// Place for the status, of constant width.
struct StatusPlace(String);

impl Hint for StatusPlace {
    fn display(&self) -> &str {
        &self.0
    }

    fn completion(&self) -> Option<&str> {
        None
    }
}

impl Hinter for LineWatch {
    type Hint = StatusPlace;

    fn hint(&self, line: &str, _pos: usize, _context: &Context<'_>) -> Option<StatusPlace> {
        self.filled.set(!line.is_empty());
        line.is_empty().then(|| StatusPlace(" ".repeat(self.room)))
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
        let (width, status) = (Arc::new(AtomicUsize::new(width)), Status::default());
        (Self { typed, go_on, waits: false, print, width, status, shows_status: false }, sender, printed)
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

    #[test]
    fn commands_are_completed_until_their_arguments() {
        assert_eq!(commands_like("/qu"), ["/quit"]);
        let all = commands_like("/");
        assert!(all.contains(&"/help".to_owned()) && all.contains(&"/exit".to_owned()) && all.is_sorted());
        for typed in ["", "qu", "/memory ", "/nothing", "a /he"] {
            assert!(commands_like(typed).is_empty(), "{typed}");
        }
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
