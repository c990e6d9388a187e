//! Whose words a file holds. This file may mint trust: for the program's own first contents, and for what a person wrote by hand.

use super::{first, place};
use crate::store::{Db, FOUND};
use crate::trust::{Label, Source};

/// The label of the first contents of a file: they are part of the program.
pub(super) fn of_first_contents() -> Label {
    Label::trusted()
}

/// The label of a file that stands in a restored workspace and that nobody vouches for.
pub fn of_found_file() -> Label {
    Label::untrusted(Source::new(FOUND, ""))
}

/// The label of a file of an archive that nothing authenticates: trusted if it is a shared file as the program gives it first.
pub fn of_file_from_anywhere(path: &str, digest: &str) -> Label {
    if first::is_first(path, digest) { Label::trusted() } else { of_found_file() }
}

/// The label of a file as it stands now, and its row if we wrote just that.
///
/// `asked` is the path by which it was asked for, `inside` the one where it really lies; they differ behind a link.
///
/// # Errors
/// If the journal cannot be read.
pub fn of_file(db: Db<'_>, asked: &str, inside: &str, digest: &str) -> anyhow::Result<(Option<i64>, Label)> {
    let (row, mut label) = match db.file_version(inside, digest)? {
        Some((row, label)) => (Some(row), label),
        // A path stays untrusted through any edit; else nobody but a person can have written it.
        None => (None, db.last_label_of(inside)?.unwrap_or_else(Label::trusted)),
    };
    if label.is_trusted() && (place::is_untrusted(asked) || place::is_untrusted(inside)) {
        label.absorb(&Label::untrusted(Source::unknown()));
    }
    Ok((row, label))
}

/// The label of the name of a file: whoever gave it its words may have chosen that too.
pub(super) fn of_name(db: Db<'_>, spot: &str) -> anyhow::Result<Label> {
    Ok(of_file(db, spot, spot, "")?.1)
}

/// The label of the name of a folder: that of all that was ever written into it, but for the folders that the program makes itself.
pub(super) fn of_folder(db: Db<'_>, spot: &str) -> anyhow::Result<Label> {
    let below = if place::is_ours(spot) { Vec::new() } else { db.labels_below(spot)? };
    Ok(below.iter().fold(Label::trusted(), |label, below| label.join(below)))
}
