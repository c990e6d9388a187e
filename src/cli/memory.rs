//! `compline memory …`: the memory of the first owner, which is the root of the workspace.
//!
//! The holder of the home answers every query, as a command line. Only the editor runs here, at the
//! person's terminal, on a copy: `$VISUAL`, else `$EDITOR`, else one of the usual editors. The
//! variable is a shell command, as in other programs: it may contain arguments. Afterwards the
//! holder of the home puts what was changed in the copy into the file, by lines, as an edit by
//! hand; so what was written into the file meanwhile stays. A copy that cannot be taken in is kept.

use std::ffi::OsStr;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueEnum};
use serde_json::Value;
use tempfile::TempDir;
use tokio::process::Command;

use super::Exit;
use super::client::{self, Answered, words};
use super::config::CliPaths;
use super::forward::{ListedPage, SearchLimits, flags};
use super::print::{CliError, Printer};
use crate::admin::command::help;
use crate::wording::memory as says;

/// Editors to try if none is configured.
const DEFAULT_EDITORS: [&str; 3] = ["nano", "vim", "vi"];

/// `compline memory […]`
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Memory {
    #[command(subcommand)]
    command: Option<MemoryAction>,
}

/// Action on the memory.
#[derive(Debug, Subcommand)]
enum MemoryAction {
    /// Show MEMORY.md and the notes with their sizes, or one note
    Show {
        /// The note, with or without .md
        note: Option<String>,
        /// Show this version and what restoring it changes
        version: Option<u64>,
    },
    /// Show what changed from one version of a note to another
    Diff {
        /// The note
        note: String,
        /// Number of the older version, from `history`
        from: u64,
        /// Number of the newer version
        to: u64,
    },
    /// Open a note in $VISUAL, $EDITOR, nano or vi
    Edit {
        /// The note, which need not exist yet [default: MEMORY.md]
        note: Option<String>,
    },
    /// Search all stored memory
    Search(Search),
    /// List the versions of a note, newest first: time, author, reason, size
    History {
        /// The note
        note: String,
        /// Show this version and what restoring it changes
        version: Option<u64>,
        #[command(flatten)]
        page: ListedPage,
    },
    /// Restore an earlier version of a note
    Restore {
        /// The note
        note: String,
        /// Number of the version, from `history`
        version: u64,
    },
    /// List what agents and profiles have learned
    Profiles,
    /// Switch what another agent or profile has learned
    Profile {
        /// Name from `profiles`
        name: String,
        /// Whether it comes to mind by itself
        #[arg(value_enum)]
        state: SwitchState,
    },
    #[command(about = help("promote"))]
    Promote {
        /// The note
        note: String,
        /// Code below the shown text
        code: Option<String>,
    },
    #[command(about = help("forget"))]
    Forget {
        /// The note, or the words of the fact
        note: String,
        /// Also delete the messages that it came from
        #[arg(long)]
        messages: bool,
        /// Delete without showing first what goes
        #[arg(long)]
        yes: bool,
    },
}

/// State of a switch.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum SwitchState {
    /// It comes to mind
    On,
    /// It is only stored and found
    Off,
}

/// `compline memory search …`
#[derive(Debug, Args)]
struct Search {
    /// Words to search for
    #[arg(required = true)]
    query: Vec<String>,
    /// Search only the memory of this agent
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Search only under this heading
    #[arg(long, value_name = "HEADING")]
    section: Option<String>,
    #[command(flatten)]
    limits: SearchLimits,
    /// Match upper and lower case exactly
    #[arg(long)]
    case: bool,
    /// Lines to show above and below a match
    #[arg(long, default_value_t = 0, value_name = "N")]
    context: u32,
    /// Maximum number of results
    #[arg(long, default_value_t = 10, value_name = "N")]
    limit: u32,
}

impl Search {
    /// Returns the command in the gateway's syntax.
    fn line(&self) -> Vec<String> {
        let (limit, context) = (self.limit.to_string(), self.context.to_string());
        let mut line = words(&["memory", "search", "--limit", &limit, "--context", &context]);
        line.extend(flags(&[("--agent", &self.agent), ("--section", &self.section)]));
        line.extend(self.limits.flags());
        line.extend(self.case.then(|| "--case".to_owned()));
        line.extend(words(&["--", &self.query.join(" ")]));
        line
    }
}

/// Runs the command.
pub fn run(memory: &Memory, paths: &CliPaths, printer: Printer) -> Result<Exit, CliError> {
    let line = match &memory.command {
        None | Some(MemoryAction::Show { note: None, .. }) => words(&["memory"]),
        Some(MemoryAction::Show { note: Some(note), version }) => {
            words(&["memory", "show", note]).into_iter().chain(version.map(|version| version.to_string())).collect()
        }
        Some(MemoryAction::Diff { note, from, to }) => {
            words(&["memory", "diff", note, &from.to_string(), &to.to_string()])
        }
        Some(MemoryAction::Edit { note }) => return edit(note.as_deref().unwrap_or_default(), paths, printer),
        Some(MemoryAction::Search(search)) => search.line(),
        Some(MemoryAction::History { note, version: None, page }) => {
            words(&["memory", "history", note]).into_iter().chain(page.flags()).collect()
        }
        Some(MemoryAction::History { note, version: Some(version), .. }) => {
            words(&["memory", "history", note, &version.to_string()])
        }
        Some(MemoryAction::Restore { note, version }) => words(&["memory", "restore", note, &version.to_string()]),
        Some(MemoryAction::Profiles) => words(&["memory", "profiles"]),
        Some(MemoryAction::Profile { name, state }) => {
            let state = if matches!(state, SwitchState::On) { "on" } else { "off" };
            words(&["memory", "profile", name, state])
        }
        Some(MemoryAction::Promote { note, code: None }) => words(&["memory", "promote", note]),
        Some(MemoryAction::Promote { note, code: Some(code) }) => words(&["memory", "promote", note, code]),
        Some(MemoryAction::Forget { note, messages, yes }) => {
            let flags = [("--messages", *messages), ("--yes", *yes)];
            let set = flags.iter().filter(|(_, is_set)| *is_set).map(|(flag, _)| (*flag).to_owned());
            words(&["memory", "forget", note]).into_iter().chain(set).collect()
        }
    };
    client::run(&line, paths, printer)
}

/// Edits a note. The home is not locked while the editor is open: a gateway may start or write
/// meanwhile.
fn edit(note: &str, paths: &CliPaths, printer: Printer) -> Result<Exit, CliError> {
    let quietly = Printer { quiet: true, ..printer };
    let answered = client::ask(&open_command("", note), paths, Printer { json: true, ..printer })?;
    let opened = parse_note_text(&answered).map_err(CliError::Failed)?;
    let copy = super::block_on(async { NoteCopy::edited(opened).await.map_err(CliError::Failed) })?;
    match client::ask(&copy.save_command(""), paths, quietly) {
        Ok(answered) if answered.failed => Err(CliError::Failed(copy.keep(&failure(&answered)))),
        Ok(answered) => client::print_answer(&answered, printer),
        Err(CliError::Wrong(why) | CliError::Failed(why)) => Err(CliError::Failed(copy.keep(&why))),
        Err(CliError::Unread) => Err(CliError::Unread),
    }
}

/// Text of a note about to be edited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NoteText {
    /// Path as its owner sees it.
    path: String,
    /// Text; blank if there is none.
    text: String,
}

/// Returns the query for the text of a note. A blank name is the first owner's, a blank note
/// `MEMORY.md`.
pub(super) fn open_command(whose: &str, note: &str) -> Vec<String> {
    words(&["memory", "place", whose, note])
}

/// Parses the answer to [`open_command`]. The error is a sentence.
pub(super) fn parse_note_text(answered: &Answered) -> Result<NoteText, String> {
    if answered.failed {
        return Err(failure(answered));
    }
    let json: Value = serde_json::from_str(&answered.text).unwrap_or_default();
    let field = |name: &str| json.get(name).and_then(Value::as_str).map(str::to_owned);
    match (field("path"), field("text")) {
        (Some(path), Some(text)) => Ok(NoteText { path, text }),
        _ => Err(crate::wording::chat::NOT_UNDERSTOOD.to_owned()),
    }
}

/// Returns the sentence of an answer that failed.
fn failure(answered: &Answered) -> String {
    let json: Value = serde_json::from_str(&answered.text).unwrap_or_default();
    json.get("error").and_then(Value::as_str).map_or_else(|| answered.text.clone(), str::to_owned)
}

/// A copy of a note that a person has edited. It is deleted when this value is dropped, unless it is
/// kept.
pub(super) struct NoteCopy {
    opened: NoteText,
    text: String,
    folder: TempDir,
    file: PathBuf,
}

impl NoteCopy {
    /// Opens a copy of the note in the person's editor and waits until it is closed. The error is a
    /// sentence.
    pub(super) async fn edited(opened: NoteText) -> Result<Self, String> {
        let named = |name: &str| std::env::var(name).ok();
        let path = std::env::var_os("PATH").unwrap_or_default();
        let editor = choose_editor(named("VISUAL"), named("EDITOR"), &path);
        Self::edited_with(&editor.ok_or_else(|| says::NO_EDITOR.to_owned())?, opened).await
    }

    async fn edited_with(editor: &str, opened: NoteText) -> Result<Self, String> {
        // The editor shows the name of the file, and knows its kind by it.
        let name = opened.path.rsplit('/').next().unwrap_or_default().to_owned();
        let make = || {
            let folder = tempfile::Builder::new().prefix("compline-").tempdir()?;
            let file = folder.path().join(&name);
            if !opened.text.is_empty() {
                std::fs::write(&file, &opened.text)?;
            }
            std::io::Result::Ok((folder, file))
        };
        let (folder, file) = make().map_err(|error| says::editor_failed(editor, &error.to_string()))?;
        let mut copy = Self { text: opened.text.clone(), opened, folder, file };
        let outcome = run_editor(editor, &copy.file).await;
        let saved = match std::fs::read(&copy.file) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(copy.keep(&error.to_string())),
        };
        copy.text = match String::from_utf8(saved) {
            Ok(text) => text,
            Err(_) => return Err(copy.keep(says::EDIT_NO_TEXT)),
        };
        match outcome {
            Err(why) if copy.text != copy.opened.text => Err(copy.keep(&why)),
            outcome => outcome.map(|()| copy),
        }
    }

    /// Returns the command that takes in the edit.
    pub(super) fn save_command(&self, whose: &str) -> Vec<String> {
        words(&["memory", "edited", whose, &self.opened.path, &self.opened.text, &self.text])
    }

    /// Keeps the copy, if it was changed, and returns the reason with its place.
    pub(super) fn keep(self, why: &str) -> String {
        if std::fs::read(&self.file).unwrap_or_default() == self.opened.text.as_bytes() {
            return why.to_owned();
        }
        let _ = self.folder.keep();
        says::edit_kept(why, &self.file)
    }
}

async fn run_editor(editor: &str, file: &Path) -> Result<(), String> {
    let script = format!("{editor} \"$1\"");
    let status = Command::new("/bin/sh").arg("-c").arg(script).arg("compline").arg(file).status().await;
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(says::editor_failed(editor, &status.to_string())),
        Err(error) => Err(says::editor_failed(editor, &error.to_string())),
    }
}

/// Chooses the editor. Returns `None` if there is none.
fn choose_editor(visual: Option<String>, editor: Option<String>, path: &OsStr) -> Option<String> {
    let named = |name: Option<String>| name.filter(|name| !name.trim().is_empty());
    let on_path = |name: &&&str| std::env::split_paths(path).any(|folder| folder.join(name).is_file());
    named(visual)
        .or_else(|| named(editor))
        .or_else(|| DEFAULT_EDITORS.iter().find(on_path).map(|&name| name.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves: command-line/editor
    #[test]
    fn the_editor_that_is_named_or_one_that_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().as_os_str();
        let some = |name: &str| Some(name.to_owned());
        assert_eq!(choose_editor(some("code --wait"), some("ed"), path), some("code --wait"));
        assert_eq!(choose_editor(some(" "), some("ed"), path), some("ed"));
        assert_eq!(choose_editor(None, some("ed"), path), some("ed"));
        assert_eq!(choose_editor(None, None, path), None);
        std::fs::write(folder.path().join("vi"), "").unwrap();
        assert_eq!(choose_editor(None, None, path), some("vi"));
        std::fs::write(folder.path().join("nano"), "").unwrap();
        assert_eq!(choose_editor(None, some(""), path), some("nano"));
    }

    #[test]
    fn an_answer_is_a_text_or_a_sentence() {
        let answered = |text: &str, failed| Answered { text: text.to_owned(), failed };
        let opened = parse_note_text(&answered(r#"{"path": "memory/a b.md", "text": "one"}"#, false));
        assert_eq!(opened, Ok(NoteText { path: "memory/a b.md".to_owned(), text: "one".to_owned() }));
        assert_eq!(
            parse_note_text(&answered(r#"{"error": "There is no such note."}"#, true)),
            Err("There is no such note.".into())
        );
        assert_eq!(parse_note_text(&answered("Gone.", true)), Err("Gone.".into()));
        assert!(parse_note_text(&answered("{}", false)).is_err());
    }

    /// Proves: command-line/editor
    #[tokio::test]
    async fn a_copy_is_edited_and_kept_only_if_it_cannot_be_taken_in() {
        let folder = tempfile::tempdir().unwrap();
        let script = |name: &str, line: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, line).unwrap();
            format!("sh {}", path.display())
        };
        let opened = NoteText { path: "memory/a b.md".to_owned(), text: "one\n".to_owned() };
        let copy = NoteCopy::edited_with(&script("append", "echo two >> \"$1\""), opened.clone()).await.ok().unwrap();
        assert_eq!(copy.save_command("Ben"), ["memory", "edited", "Ben", "memory/a b.md", "one\n", "one\ntwo\n"]);
        let file = copy.file.clone();
        assert!(file.ends_with("a b.md") && file.exists());
        drop(copy);
        assert!(!file.exists());
        for (name, line, is_kept) in [
            ("fail", "exit 1", false),
            ("save and fail", "echo two >> \"$1\"; exit 1", true),
            ("binary", "printf '\\377' > \"$1\"", true),
        ] {
            let editor = format!("sh '{}'", folder.path().join(name).display());
            script(name, line);
            let why = NoteCopy::edited_with(&editor, opened.clone()).await.err().unwrap();
            let kept = why.rsplit_once("is kept in ").map(|(_, place)| PathBuf::from(place.trim_end_matches('.')));
            assert_eq!(kept.as_ref().is_some_and(|kept| kept.exists()), is_kept, "{why}");
            if let Some(kept) = kept {
                std::fs::remove_dir_all(kept.parent().unwrap()).unwrap();
            }
        }
    }

    #[tokio::test]
    async fn the_editor_opens_a_file_with_any_name() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a b'\"$(c).md");
        std::fs::write(&file, "one\n").unwrap();
        let script = folder.path().join("append");
        std::fs::write(&script, "printf '%s\\n' \"$1\" >> \"$2\"\n").unwrap();
        assert_eq!(run_editor(&format!("sh {} 'two three'", script.display()), &file).await, Ok(()));
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "one\ntwo three\n");
        assert!(run_editor("false", &file).await.unwrap_err().contains("false"));
    }
}
