//! Editing of a memory file in the person's own editor: `$VISUAL`, else `$EDITOR`, else one of the
//! usual editors.
//!
//! The variable is a shell command, as in other programs: it may contain arguments. The editor gets
//! the terminal, and the full path of the file. Its change counts as an edit by hand; afterwards
//! the holder of the home is asked for the file's size.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tokio::process::Command;

use super::client::{Answered, words};
use crate::wording::memory as says;

/// Editors to try if none is configured.
const USUAL: [&str; 3] = ["nano", "vim", "vi"];

/// A file about to be edited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Open {
    /// Path on the disk.
    file: PathBuf,
    /// Path as its owner sees it.
    path: String,
    /// Digest of the current content; blank if there is none.
    digest: String,
}

/// Returns the query for the location of a note. A blank name is the first owner's, a blank note
/// `MEMORY.md`.
pub(super) fn place_line(whose: &str, note: &str) -> Vec<String> {
    words(&["memory", "place", whose, note])
}

/// Returns the command that reports an edit.
pub(super) fn edited_line(whose: &str, open: &Open) -> Vec<String> {
    words(&["memory", "edited", whose, &open.path, &open.digest])
}

/// Parses the answer to [`place_line`]. The error is a sentence.
pub(super) fn placed(answered: &Answered) -> Result<Open, String> {
    let json: Value = serde_json::from_str(&answered.text).unwrap_or_default();
    let field = |name: &str| json.get(name).and_then(Value::as_str).map(str::to_owned);
    if answered.failed {
        return Err(field("error").unwrap_or_else(|| answered.text.clone()));
    }
    match (field("file"), field("path"), field("digest")) {
        (Some(file), Some(path), Some(digest)) => Ok(Open { file: file.into(), path, digest }),
        _ => Err(crate::wording::chat::NOT_UNDERSTOOD.to_owned()),
    }
}

/// Opens the editor and waits until it is closed. The error is a sentence.
pub(super) async fn edit(open: &Open) -> Result<(), String> {
    let named = |name: &str| std::env::var(name).ok();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let editor = choose(named("VISUAL"), named("EDITOR"), &path).ok_or_else(|| says::NO_EDITOR.to_owned())?;
    run(&editor, &open.file).await
}

async fn run(editor: &str, file: &Path) -> Result<(), String> {
    let script = format!("{editor} \"$1\"");
    let ended = Command::new("/bin/sh").arg("-c").arg(script).arg("compline").arg(file).status().await;
    match ended {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(says::editor_failed(editor, &status.to_string())),
        Err(error) => Err(says::editor_failed(editor, &error.to_string())),
    }
}

/// Chooses the editor. Returns `None` if there is none.
fn choose(visual: Option<String>, editor: Option<String>, path: &OsStr) -> Option<String> {
    let named = |name: Option<String>| name.filter(|name| !name.trim().is_empty());
    let on_path = |name: &&&str| std::env::split_paths(path).any(|folder| folder.join(name).is_file());
    named(visual).or_else(|| named(editor)).or_else(|| USUAL.iter().find(on_path).map(|&name| name.to_owned()))
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
        assert_eq!(choose(some("code --wait"), some("ed"), path), some("code --wait"));
        assert_eq!(choose(some(" "), some("ed"), path), some("ed"));
        assert_eq!(choose(None, some("ed"), path), some("ed"));
        assert_eq!(choose(None, None, path), None);
        std::fs::write(folder.path().join("vi"), "").unwrap();
        assert_eq!(choose(None, None, path), some("vi"));
        std::fs::write(folder.path().join("nano"), "").unwrap();
        assert_eq!(choose(None, some(""), path), some("nano"));
    }

    #[test]
    fn an_answer_is_a_place_or_a_sentence() {
        let answered = |text: &str, failed| Answered { text: text.to_owned(), failed };
        let open = placed(&answered(r#"{"file": "/w/memory/a b.md", "path": "memory/a b.md", "digest": ""}"#, false));
        let expected =
            Open { file: "/w/memory/a b.md".into(), path: "memory/a b.md".to_owned(), digest: String::new() };
        assert_eq!(edited_line("Ben", &expected), ["memory", "edited", "Ben", "memory/a b.md", ""]);
        assert_eq!(open, Ok(expected));
        assert_eq!(
            placed(&answered(r#"{"error": "There is no such note."}"#, true)),
            Err("There is no such note.".into())
        );
        assert_eq!(placed(&answered("Gone.", true)), Err("Gone.".into()));
        assert!(placed(&answered("{}", false)).is_err());
    }

    #[tokio::test]
    async fn the_editor_gets_the_file_whatever_it_is_called() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a b'\"$(c).md");
        std::fs::write(&file, "one\n").unwrap();
        let script = folder.path().join("append");
        std::fs::write(&script, "printf '%s\\n' \"$1\" >> \"$2\"\n").unwrap();
        assert_eq!(run(&format!("sh {} 'two three'", script.display()), &file).await, Ok(()));
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "one\ntwo three\n");
        assert!(run("false", &file).await.unwrap_err().contains("false"));
    }
}
