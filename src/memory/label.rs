//! Labels of files, and who may read them. This module may mint trust: for the program's own
//! initial file contents and for edits made by hand.
//!
//! Every read ends in [`of_file`], after the bytes are read. It refuses a file outside the folder
//! of the reader's party, and one whose newest version was written for another party. So neither a
//! new owner, nor a folder that is being moved, nor a misplaced row shows one person's text to
//! another.

use super::passages::Passages;
use super::{layout, page};
use crate::id::FileId;
use crate::store::{Db, FOUND, FolderState};
use crate::trust::{Label, Scope, Source};

/// The file may not be read for that person or group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("It was written for somebody else")]
pub struct Foreign;

/// Returns the label of initial file contents, which are part of the program.
pub(super) fn of_first_contents() -> Label {
    Label::trusted()
}

/// Returns the label of a file found in a restored workspace, with no proof of its origin.
pub fn of_found_file() -> Label {
    Label::untrusted(Source::new(FOUND, ""))
}

/// Returns the label of a file from an unauthenticated archive: trusted only if it is a shared file
/// with the program's initial contents.
pub fn of_file_from_anywhere(path: &str, digest: &str) -> Label {
    if page::is_first(path, digest) { Label::trusted() } else { of_found_file() }
}

/// Returns the label of a file in its present state, with its row if the program wrote this
/// version; `None` if it may not be read for that party.
///
/// The real path differs from the requested one behind a link.
pub(super) fn of_file(
    db: Db<'_>,
    reader: Scope,
    requested_path: &str,
    real_path: &str,
    digest: &str,
) -> anyhow::Result<Option<(Option<i64>, Label)>> {
    if is_foreign(db, reader, requested_path, real_path)? {
        Ok(None)
    } else {
        of_content(db, requested_path, real_path, digest).map(Some)
    }
}

/// Returns true if the file may not be read for that party.
pub(super) fn is_foreign(db: Db<'_>, reader: Scope, requested_path: &str, real_path: &str) -> anyhow::Result<bool> {
    Ok(is_elsewhere(db, reader, requested_path, real_path)?
        || is_written_for_another(db, reader, requested_path, real_path)?)
}

/// Returns true if the path lies outside the party's present folder.
pub(super) fn is_elsewhere(db: Db<'_>, reader: Scope, requested_path: &str, real_path: &str) -> anyhow::Result<bool> {
    if layout::is_shared(requested_path) {
        return Ok(false);
    }
    let FolderState::At(folder) = db.folders().folder_of(reader)? else { return Ok(true) };
    Ok(layout::own(&folder, real_path).is_none())
}

/// Returns true if the newest version was written for another party. A file without a version was
/// written by hand, for the party whose folder holds it.
pub(super) fn is_written_for_another(
    db: Db<'_>,
    reader: Scope,
    requested_path: &str,
    real_path: &str,
) -> anyhow::Result<bool> {
    if layout::is_shared(requested_path) {
        return Ok(false);
    }
    Ok(db.folders().newest_scope_of(real_path)?.is_some_and(|scope| !scope.fits(reader)))
}

/// Returns the label of a content regardless of the reader, with its row if the program wrote it.
/// For uses that display it to no one.
pub fn of_content(
    db: Db<'_>,
    requested_path: &str,
    real_path: &str,
    digest: &str,
) -> anyhow::Result<(Option<i64>, Label)> {
    let (row, mut label) = match db.file_versions().file_version(real_path, digest)? {
        Some((row, label)) => (Some(row), label),
        // A path stays untrusted through any edit; otherwise only a person can have written the
        // file.
        None => (None, db.file_versions().last_label_of(real_path)?.unwrap_or_else(Label::trusted)),
    };
    mark_by_location(&mut label, &[requested_path, real_path]);
    Ok((row, label))
}

/// Marks what lies in a folder for text from outside.
fn mark_by_location(label: &mut Label, paths: &[&str]) {
    if label.is_trusted() && paths.iter().any(|path| layout::is_untrusted(path)) {
        label.absorb(&Label::untrusted(Source::unknown()));
    }
}

/// Returns the labels of the lines of a file in its present state, regardless of the reader, with
/// its row if the program wrote it. A line changed by hand is that person's, and so is a new one.
pub(super) fn passages_of(
    db: Db<'_>,
    requested_path: &str,
    real_path: &str,
    digest: &str,
    text: &str,
) -> anyhow::Result<(Option<i64>, Passages)> {
    let (row, label) = of_content(db, requested_path, real_path, digest)?;
    let is_marked = |path| layout::is_untrusted(path);
    if label.is_trusted() || is_marked(requested_path) || is_marked(real_path) {
        return Ok((row, Passages::whole(label)));
    }
    if row.is_some() {
        return Ok((row, stored_passages(db, row, label)?));
    }
    let versions = db.file_versions();
    let newest = versions.file_history(real_path, 1)?.into_iter().next();
    let content = newest.as_ref().map(|newest| versions.file_content(newest.id)).transpose()?.flatten();
    match (newest, content.and_then(|content| String::from_utf8(content).ok())) {
        (Some(newest), Some(content)) if newest.label == label => {
            let before = Passages::decode(&versions.passages(newest.id)?, label);
            Ok((None, before.edited(&content, text, |_| of_hand()).passages))
        }
        _ => Ok((None, Passages::whole(label))),
    }
}

/// Returns the labels of the lines of a version with that label.
pub(super) fn stored_passages(db: Db<'_>, row: Option<i64>, label: Label) -> anyhow::Result<Passages> {
    match row.filter(|_| !label.is_trusted()) {
        Some(row) => Ok(Passages::decode(&db.file_versions().passages(FileId(row))?, label)),
        None => Ok(Passages::whole(label)),
    }
}

/// Returns the label of a line that a person wrote by hand.
pub(super) fn of_hand() -> Label {
    Label::trusted()
}

/// Returns the label of a line that a person was shown in the change that they agreed to.
pub(super) fn of_agreed() -> Label {
    Label::trusted()
}

/// Returns the label of a picture in a file: its content was not typed.
pub fn of_pixels(label: Label) -> Label {
    if label.is_trusted() { label.join_with(&Label::untrusted(Source::unknown())) } else { label }
}

/// Returns the label of a file's name: that of its first text, whose author may have chosen it, until
/// its person has made the file theirs under that name.
pub(super) fn of_name(db: Db<'_>, location: &str) -> anyhow::Result<Label> {
    if db.file_versions().is_promoted(location)? {
        return Ok(of_agreed());
    }
    let mut label = db.file_versions().first_of(location)?.map_or_else(Label::trusted, |(_, label)| label);
    mark_by_location(&mut label, &[location]);
    Ok(label)
}

/// Returns the label of a folder's name: that of the first text written into it, except for folders
/// that the program creates itself.
pub(super) fn of_folder(db: Db<'_>, location: &str) -> anyhow::Result<Label> {
    let first = if layout::is_ours(location) { None } else { db.file_versions().first_below(location)? };
    Ok(first.map_or_else(Label::trusted, |(_, label)| label))
}

/// Returns the label of the name of a file or folder, and the number of its first version.
pub(super) fn of_entry(db: Db<'_>, location: &str, is_folder: bool) -> anyhow::Result<(Option<i64>, Label)> {
    let versions = db.file_versions();
    let first = if is_folder { versions.first_below(location)? } else { versions.first_of(location)? };
    let label = if is_folder { of_folder(db, location)? } else { of_name(db, location)? };
    Ok((first.map(|(number, _)| number), label))
}
