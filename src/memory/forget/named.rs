//! Resolution of a name that a party wants erased: a note, a fact or a line, in present files or
//! only in earlier versions.
//!
//! Present content takes precedence. A file that still exists is not identified by a former title,
//! but its former lines are found.

use crate::memory::workspace::WorkspaceErasure;
use crate::people::Party;
use crate::store::Forgotten;
use crate::text::needle::ErasureQuery;
use crate::trust::{Label, Scope};

use super::{Forgettable, is_memory};
use crate::memory::owned_files::OwnPath;
use crate::memory::{label, memory_md, note, page};

impl WorkspaceErasure<'_> {
    /// Resolves a name: a note by path, file name or title, a fact by key, or a line by its full
    /// text. Searches present files first, then earlier versions. `None` if nothing matches.
    pub async fn erasable(&self, who: &Party, name: &str) -> anyhow::Result<Option<Forgettable>> {
        let files = self.folders().files_of(who).await?;
        if let Some(note) = note_named(&files, name).cloned() {
            return self.note_to_forget(who.scope(), note).await.map(Some);
        }
        for file in files.iter().filter(|file| is_note(&file.path)) {
            let words = self.folders().words_of(who.scope(), file).await?.unwrap_or_default();
            if title_of(&words).is_some_and(|title| is_same(&title, name)) {
                return self.note_to_forget(who.scope(), file.clone()).await.map(Some);
            }
        }
        if let Some(fact) = self.fact_to_forget(who, &files, name).await? {
            return Ok(Some(fact));
        }
        if let Some(line) = self.line_to_forget(who, &files, name).await? {
            return Ok(Some(line));
        }
        self.old_data_to_forget(who, &files, name).await
    }

    async fn note_to_forget(&self, whose: Scope, file: OwnPath) -> anyhow::Result<Forgettable> {
        let words = self.folders().words_of(whose, &file).await?.unwrap_or_default();
        let title = title_of(&words).unwrap_or_else(|| stem(&file.path).to_owned());
        let (spot, digest) = (file.spot.clone(), page::digest(words.as_bytes()));
        let (_, label) = self.0.journal.read(move |db| label::of_content(db, &spot, &spot, &digest)).await?;
        let needles = ErasureQuery::of_note(&title, &words);
        Ok(Forgettable { what: Forgotten::Note, target: file.spot, needles, label })
    }

    /// Returns a fact with all its recorded values, past and present.
    async fn fact_to_forget(&self, who: &Party, files: &[OwnPath], key: &str) -> anyhow::Result<Option<Forgettable>> {
        let (scope, mut label) = (who.scope(), Label::neutral());
        let mut found: Option<(String, ErasureQuery)> = None;
        for file in files.iter().filter(|file| holds_facts(&file.path)) {
            let words = self.folders().words_of(who.scope(), file).await?.unwrap_or_default();
            for fact in words.lines().filter_map(memory_md::fact_of).filter(|fact| is_same(&fact.key, key)) {
                let (spot, digest) = (file.spot.clone(), page::digest(words.as_bytes()));
                let (_, from) = self.0.journal.read(move |db| label::of_content(db, &spot, &spot, &digest)).await?;
                label.absorb(&from);
                let (name, needles) = found.get_or_insert_with(|| (fact.key.clone(), ErasureQuery::default()));
                needles.join(ErasureQuery::of_fact(name, &fact.value));
            }
        }
        let Some((target, mut needles)) = found else { return Ok(None) };
        for kept in self.0.journal.read(move |db| db.erasure().old_contents(scope)).await? {
            for fact in kept.words.lines().filter_map(memory_md::fact_of).filter(|fact| is_same(&fact.key, key)) {
                needles.join(ErasureQuery::of_fact(&target, &fact.value));
            }
        }
        Ok(Some(Forgettable { what: Forgotten::Fact, target, needles, label }))
    }

    /// Returns a memory line with exactly that text, in a list (as a text without a key is stored)
    /// or in prose; if the line states a fact, returns the fact.
    async fn line_to_forget(&self, who: &Party, files: &[OwnPath], words: &str) -> anyhow::Result<Option<Forgettable>> {
        let mut label = Label::neutral();
        let mut found = false;
        for file in files.iter().filter(|file| is_memory(&file.path)) {
            let text = self.folders().words_of(who.scope(), file).await?.unwrap_or_default();
            let entry =
                |line: &&str| memory_md::item_text(line).is_some_and(|said| ErasureQuery::are_same_words(said, words));
            if let Some(fact) =
                text.lines().find(entry).filter(|_| holds_facts(&file.path)).and_then(memory_md::fact_of)
            {
                return self.fact_to_forget(who, files, &fact.key).await;
            }
            let says = |line: &str| entry(&line) || ErasureQuery::are_same_words(line, words);
            if !text.lines().any(says) {
                continue;
            }
            let (spot, digest) = (file.spot.clone(), page::digest(text.as_bytes()));
            label.absorb(&self.0.journal.read(move |db| label::of_content(db, &spot, &spot, &digest)).await?.1);
            found = true;
        }
        let needles = ErasureQuery::of_line(words);
        let line = Forgettable { what: Forgotten::Fact, target: words.to_owned(), needles, label };
        Ok(Some(line).filter(|line| found && !line.needles.is_empty()))
    }
}

/// Returns the note with that path or file name.
pub(super) fn note_named<'f>(files: &'f [OwnPath], name: &str) -> Option<&'f OwnPath> {
    let named = name.trim().trim_end_matches(".md");
    let meant = |file: &&OwnPath, path: &str| file.path.strip_suffix(".md") == Some(path);
    let places = [named.to_owned(), format!("memory/{named}"), format!("memory/untrusted/{named}")];
    places.iter().find_map(|path| files.iter().filter(|file| is_note(&file.path)).find(|file| meant(file, path)))
}

/// Returns true if the file is a note that can be deleted as a whole.
pub(super) fn is_note(path: &str) -> bool {
    path.starts_with("memory/") && path.ends_with(".md") && path != "memory/MEMORY.md"
}

fn holds_facts(path: &str) -> bool {
    is_memory(path) && !path.starts_with("learnings/")
}

pub(super) fn is_same(one: &str, other: &str) -> bool {
    let plain = |text: &str| crate::text::one_line(text).to_lowercase();
    !one.trim().is_empty() && plain(one) == plain(other)
}

/// Returns the title of a note: the name in its front matter, or its first heading.
pub(super) fn title_of(text: &str) -> Option<String> {
    let named = Some(note::read(text).name).filter(|name| !name.is_empty());
    let headed = || text.lines().find_map(|line| line.strip_prefix("# ")).map(|title| title.trim().to_owned());
    named.or_else(headed).filter(|title| !title.is_empty())
}

/// Returns the file name without folder and extension.
pub(super) fn stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.strip_suffix(".md").unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_called_what_it_says() {
        for (text, title) in [
            ("---\nname: \"Garden gate\"\ntype: fact\n---\n# Other", Some("Garden gate")),
            ("# Gate\nwords", Some("Gate")),
            ("words", None),
            ("---\nname:\n---\n", None),
        ] {
            assert_eq!(title_of(text).as_deref(), title, "{text}");
        }
    }
}
