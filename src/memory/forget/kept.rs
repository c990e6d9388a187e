//! Erasure from earlier versions of files, which could be restored.
//!
//! A deleted note is identified by its file name or a former title; a fact or a line by the text of
//! any file version. A file that still exists is not identified by a former title, but its former
//! lines are found.

use crate::memory::workspace::WorkspaceErasure;
use crate::people::Party;
use crate::store::{Forgotten, KeptWords};
use crate::text::needle::ErasureQuery;

use super::Forgettable;
use super::named::{is_note, is_same, note_named, stem, title_of};
use crate::memory::owned_files::OwnPath;
use crate::memory::{layout, memory_md};
use crate::trust::Label;

impl WorkspaceErasure<'_> {
    /// Finds data with that name which only earlier versions hold.
    pub(super) async fn old_data_to_forget(
        &self,
        who: &Party,
        files: &[OwnPath],
        name: &str,
    ) -> anyhow::Result<Option<Forgettable>> {
        // A number resumes an unfinished erasure, as we tell people to type it.
        if name.trim().parse::<i64>().is_ok() {
            return Ok(None);
        }
        let (scope, folder) = (who.scope(), self.folder_of(who).await?);
        let kept = self.0.journal.read_much(move |db| db.erasure().old_contents(scope)).await?;
        let stands = |spot: &str| files.iter().any(|file| file.spot == spot);
        let gone: Vec<&KeptWords> = kept.iter().filter(|kept| !stands(&kept.path)).collect();
        let (what, target, found) = match note_once(&gone, &folder, name) {
            Some(spot) => {
                let versions = gone.into_iter().filter(|kept| kept.path == spot);
                (Forgotten::Note, spot.clone(), versions.map(|kept| (kept, lines_of_note(kept))).collect::<Vec<_>>())
            }
            None => {
                let found = kept.iter().map(|kept| (kept, values_in(&kept.words, name)));
                (Forgotten::Fact, name.to_owned(), found.filter(|(_, needles)| !needles.is_empty()).collect())
            }
        };
        if found.is_empty() {
            return Ok(None);
        }
        let (mut needles, mut label) = (ErasureQuery::default(), Label::neutral());
        for (kept, of) in found {
            label.absorb(&kept.label);
            needles.join(of);
        }
        Ok(Some(Forgettable { what, target, needles, label }))
    }
}

/// Returns the former location of the note with that name.
fn note_once(gone: &[&KeptWords], folder: &str, name: &str) -> Option<String> {
    let notes: Vec<(OwnPath, &str)> = gone
        .iter()
        .filter_map(|kept| {
            let path = layout::own(folder, &kept.path).filter(|path| is_note(path))?;
            Some((OwnPath { path, spot: kept.path.clone(), size: 0 }, kept.words.as_str()))
        })
        .collect();
    let paths: Vec<OwnPath> = notes.iter().map(|(file, _)| file.clone()).collect();
    let titled = || notes.iter().find(|(_, words)| title_of(words).is_some_and(|title| is_same(&title, name)));
    note_named(&paths, name).or_else(|| titled().map(|(file, _)| file)).map(|file| file.spot.clone())
}

fn lines_of_note(kept: &KeptWords) -> ErasureQuery {
    let title = title_of(&kept.words).unwrap_or_else(|| stem(&kept.path).to_owned());
    ErasureQuery::of_note(&title, &kept.words)
}

/// Returns the values under that key in a text, and the lines that consist of just that name.
fn values_in(text: &str, name: &str) -> ErasureQuery {
    let mut needles = ErasureQuery::default();
    for line in text.lines() {
        let fact = memory_md::fact_of(line);
        let whole = memory_md::item_text(line).is_some_and(|said| ErasureQuery::are_same_words(said, name));
        match fact {
            Some(fact) if whole || is_same(&fact.key, name) => {
                needles.join(ErasureQuery::of_fact(&fact.key, &fact.value))
            }
            _ if whole || ErasureQuery::are_same_words(line, name) => needles.join(ErasureQuery::of_line(name)),
            _ => {}
        }
    }
    needles
}
