//! Whose words a file holds, and who may read it. This file may mint trust: for the program's own
//! first contents, and for what a person wrote by hand.
//!
//! Every reader comes through [`of_file`], after it has read the bytes: it refuses a file that does
//! not lie in the folder of the one it is read for, or whose newest version was written for
//! somebody else. So neither a new owner, nor a folder that is moved meanwhile, nor a row in the
//! wrong place shows one person's words to another.

use super::{default_files, layout};
use crate::store::{Db, FOUND, FolderState};
use crate::trust::{Label, Scope, Source};

/// The file may not be read for that person or group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("It was written for somebody else")]
pub struct Foreign;

/// The label of the first contents of a file: they are part of the program.
pub(super) fn of_first_contents() -> Label {
    Label::trusted()
}

/// The label of a file that stands in a restored workspace and that nobody vouches for.
pub fn of_found_file() -> Label {
    Label::untrusted(Source::new(FOUND, ""))
}

/// The label of a file of an archive that nothing authenticates: trusted if it is a shared file as
/// the program gives it first.
pub fn of_file_from_anywhere(path: &str, digest: &str) -> Label {
    if default_files::is_first(path, digest) { Label::trusted() } else { of_found_file() }
}

/// The label of a file as it stands now, and its row if we wrote just that; or that it may not be
/// read for that party.
///
/// `asked` is the path by which it was asked for, `inside` the one where it really lies; they
/// differ behind a link.
pub(super) fn of_file(
    db: Db<'_>,
    whose: Scope,
    asked: &str,
    inside: &str,
    digest: &str,
) -> anyhow::Result<Result<(Option<i64>, Label), Foreign>> {
    Ok(if is_foreign(db, whose, asked, inside)? { Err(Foreign) } else { Ok(of_content(db, asked, inside, digest)?) })
}

/// Whether a file may not be read for that party.
pub(super) fn is_foreign(db: Db<'_>, whose: Scope, asked: &str, inside: &str) -> anyhow::Result<bool> {
    Ok(is_elsewhere(db, whose, asked, inside)? || is_written_for_another(db, whose, asked, inside)?)
}

/// Whether a path is not in the folder of that party, as it is now.
pub(super) fn is_elsewhere(db: Db<'_>, whose: Scope, asked: &str, inside: &str) -> anyhow::Result<bool> {
    if layout::is_shared(asked) {
        return Ok(false);
    }
    let FolderState::At(folder) = db.folders().folder_of(whose)? else { return Ok(true) };
    Ok(layout::own(&folder, inside).is_none())
}

/// Whether the newest version of a file was written for somebody else. Without a version it was
/// written by hand, for whose folder it lies in.
pub(super) fn is_written_for_another(db: Db<'_>, whose: Scope, asked: &str, inside: &str) -> anyhow::Result<bool> {
    if layout::is_shared(asked) {
        return Ok(false);
    }
    Ok(db.folders().newest_scope_of(inside)?.is_some_and(|scope| !scope.fits(whose)))
}

/// The label of a content, whoever may read it, and its row if we wrote just that. For what shows
/// it to nobody.
pub fn of_content(db: Db<'_>, asked: &str, inside: &str, digest: &str) -> anyhow::Result<(Option<i64>, Label)> {
    let (row, mut label) = match db.file_versions().file_version(inside, digest)? {
        Some((row, label)) => (Some(row), label),
        // A path stays untrusted through any edit; else nobody but a person can have written it.
        None => (None, db.file_versions().last_label_of(inside)?.unwrap_or_else(Label::trusted)),
    };
    if label.is_trusted() && (layout::is_untrusted(asked) || layout::is_untrusted(inside)) {
        label.absorb(&Label::untrusted(Source::unknown()));
    }
    Ok((row, label))
}

/// The label of the name of a file: whoever gave it its words may have chosen that too.
pub(super) fn of_name(db: Db<'_>, spot: &str) -> anyhow::Result<Label> {
    Ok(of_content(db, spot, spot, "")?.1)
}

/// The label of the name of a folder: that of all that was ever written into it, but for the
/// folders that the program makes itself.
pub(super) fn of_folder(db: Db<'_>, spot: &str) -> anyhow::Result<Label> {
    let below = if layout::is_ours(spot) { Vec::new() } else { db.file_versions().labels_below(spot)? };
    Ok(below.iter().fold(Label::trusted(), |label, below| label.join_with(below)))
}
