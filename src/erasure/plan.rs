//! Plans of erasures: the note, fact or line that a party means by a name or by words.
//!
//! Present content takes precedence over earlier versions of files, which could be restored. A
//! deleted note is identified by its file name or a former title; a fact or a line by the text of
//! any file version. A file that still exists is not identified by a former title, but its former
//! lines are found.

use super::{Erasure, is_memory};
use crate::id::PersonId;
use crate::memory::{OwnPath, digest, label_of_content, memory_md, note, path_in_folder};
use crate::people::Party;
use crate::store::{ErasureKind, ErasurePlan, OldContent};
use crate::text::erasure_query::ErasureQuery;
use crate::trust::{Label, Scope};

impl Erasure<'_> {
    /// Resolves a name: a note by path, file name or title, a fact by key, or a line by its full
    /// text. Searches present files first, then earlier versions. `None` if nothing matches.
    pub async fn plan_of_name(&self, who: &Party, name: &str) -> anyhow::Result<Option<ErasurePlan>> {
        let files = self.workspace.folders().files_of(who).await?;
        if let Some(note) = note_named(&files, name) {
            return self.note_plan(who, note).await.map(Some);
        }
        for file in files.iter().filter(|file| is_note(&file.path)) {
            if title_of(&self.text_of(who, file).await?).is_some_and(|title| is_same(&title, name)) {
                return self.note_plan(who, file).await.map(Some);
            }
        }
        if let Some(fact) = self.fact_plan(who, &files, name).await? {
            return Ok(Some(fact));
        }
        if let Some(line) = self.line_plan(who, &files, name).await? {
            return Ok(Some(line));
        }
        self.old_plan(who, &files, name).await
    }

    /// Returns the erasure of all these words in sequence on one line, in any case. `None` if there
    /// are too few letters.
    pub fn plan_of_words(words: &str) -> Option<ErasurePlan> {
        let plan = ErasurePlan {
            kind: ErasureKind::Words,
            target: ErasureQuery::words_of(words),
            query: ErasureQuery::of_words(words),
            label: Label::neutral(),
        };
        Some(plan).filter(|plan| !plan.query.is_empty())
    }

    /// Returns the erasure of a person who has or had access.
    pub async fn plan_of_person(&self, id: PersonId, name: &str) -> anyhow::Result<ErasurePlan> {
        Ok(ErasurePlan {
            kind: ErasureKind::Person,
            target: self.workspace.last_folder_of(id, name).await?,
            query: ErasureQuery::default(),
            label: Label::neutral(),
        })
    }

    async fn note_plan(&self, who: &Party, file: &OwnPath) -> anyhow::Result<ErasurePlan> {
        let text = self.text_of(who, file).await?;
        let title = title_of(&text).unwrap_or_else(|| stem(&file.path).to_owned());
        Ok(ErasurePlan {
            kind: ErasureKind::Note,
            target: file.location.clone(),
            query: ErasureQuery::of_note(&title, &text),
            label: self.label_of(file, &text).await?,
        })
    }

    /// Returns a fact with all its recorded values, past and present.
    async fn fact_plan(&self, who: &Party, files: &[OwnPath], key: &str) -> anyhow::Result<Option<ErasurePlan>> {
        let (mut label, mut query, mut target) = (Label::neutral(), ErasureQuery::default(), None);
        for file in files.iter().filter(|file| holds_facts(&file.path)) {
            let text = self.text_of(who, file).await?;
            let facts = facts_called(&text, key);
            if facts.is_empty() {
                continue;
            }
            label.absorb(&self.label_of(file, &text).await?);
            for fact in facts {
                query.join(ErasureQuery::of_fact(target.get_or_insert(fact.key), &fact.value));
            }
        }
        let Some(target) = target else { return Ok(None) };
        for old in self.old_contents(who.scope()).await? {
            for fact in facts_called(&old.text, key) {
                query.join(ErasureQuery::of_fact(&target, &fact.value));
            }
        }
        Ok(Some(ErasurePlan { kind: ErasureKind::Fact, target, query, label }))
    }

    /// Returns a line with exactly that text, in the memory or in a file by the assistant: in a list
    /// (as a text without a key is stored) or in prose; if the line states a fact, returns the fact.
    async fn line_plan(&self, who: &Party, files: &[OwnPath], words: &str) -> anyhow::Result<Option<ErasurePlan>> {
        let (mut label, mut is_found) = (Label::neutral(), false);
        let assistant_files = self.assistant_files(who.scope()).await?;
        for file in files.iter().filter(|file| assistant_files.may_lose_lines(file)) {
            let text = self.text_of(who, file).await?;
            if !assistant_files.loses_lines(file, &text) {
                continue;
            }
            let item = text.lines().find(|line| is_item(line, words));
            if let Some(fact) = item.filter(|_| holds_facts(&file.path)).and_then(memory_md::parse_fact) {
                return self.fact_plan(who, files, &fact.key).await;
            }
            if item.is_some() || text.lines().any(|line| ErasureQuery::are_same_words(line, words)) {
                label.absorb(&self.label_of(file, &text).await?);
                is_found = true;
            }
        }
        let query = ErasureQuery::of_line(words);
        let line = ErasurePlan { kind: ErasureKind::Fact, target: words.to_owned(), query, label };
        Ok(Some(line).filter(|line| is_found && !line.query.is_empty()))
    }

    /// Returns data with that name which only earlier versions hold.
    async fn old_plan(&self, who: &Party, files: &[OwnPath], name: &str) -> anyhow::Result<Option<ErasurePlan>> {
        // A number resumes an unfinished erasure, as we tell people to type it.
        if name.trim().parse::<i64>().is_ok() {
            return Ok(None);
        }
        let folder = self.workspace.folder_of(who).await?;
        let contents = self.old_contents(who.scope()).await?;
        let deleted: Vec<&OldContent> =
            contents.iter().filter(|old| !files.iter().any(|file| file.location == old.path)).collect();
        let note = old_note_named(&deleted, &folder, name);
        let (mut query, mut label, mut is_found) = (ErasureQuery::default(), Label::neutral(), false);
        for old in &contents {
            let found = match &note {
                Some(path) if old.path == *path => {
                    let title = title_of(&old.text).unwrap_or_else(|| stem(&old.path).to_owned());
                    Some(ErasureQuery::of_note(&title, &old.text))
                }
                Some(_) => None,
                None => Some(values_in(&old.text, name)).filter(|values| !values.is_empty()),
            };
            let Some(found) = found else { continue };
            label.absorb(&old.label);
            query.join(found);
            is_found = true;
        }
        let (kind, target) = match note {
            Some(path) => (ErasureKind::Note, path),
            None => (ErasureKind::Fact, name.to_owned()),
        };
        Ok(is_found.then_some(ErasurePlan { kind, target, query, label }))
    }

    pub(super) async fn text_of(&self, who: &Party, file: &OwnPath) -> anyhow::Result<String> {
        Ok(self.workspace.folders().words_of(who.scope(), file).await?.unwrap_or_default())
    }

    pub(super) async fn label_of(&self, file: &OwnPath, text: &str) -> anyhow::Result<Label> {
        let (location, digest) = (file.location.clone(), digest(text.as_bytes()));
        let (_, label) = self.journal.read(move |db| label_of_content(db, &location, &location, &digest)).await?;
        Ok(label)
    }

    pub(super) async fn old_contents(&self, scope: Scope) -> anyhow::Result<Vec<OldContent>> {
        self.journal.read_much(move |db| db.erasure().old_contents(scope)).await
    }
}

/// Returns the note with that path or file name, else in any case: phones begin with a capital.
fn note_named<'f>(files: &'f [OwnPath], name: &str) -> Option<&'f OwnPath> {
    let name = name.trim().trim_end_matches(".md");
    let paths = [name.to_owned(), format!("memory/{name}"), format!("memory/untrusted/{name}")];
    let named = |is_same: fn(&str, &str) -> bool| {
        let is_at = |file: &&OwnPath, path: &str| {
            is_note(&file.path) && file.path.strip_suffix(".md").is_some_and(|known| is_same(known, path))
        };
        paths.iter().find_map(|path| files.iter().find(|file| is_at(file, path)))
    };
    named(|known, path| known == path).or_else(|| named(str::eq_ignore_ascii_case))
}

/// Returns the former location of the deleted note with that name.
fn old_note_named(deleted: &[&OldContent], folder: &str, name: &str) -> Option<String> {
    let (files, texts): (Vec<OwnPath>, Vec<&str>) = deleted
        .iter()
        .filter_map(|old| {
            let path = path_in_folder(folder, &old.path).filter(|path| is_note(path))?;
            Some((OwnPath { path, location: old.path.clone(), size: 0 }, old.text.as_str()))
        })
        .unzip();
    let is_titled = |text: &&str| title_of(text).is_some_and(|title| is_same(&title, name));
    let titled = || files.get(texts.iter().position(is_titled)?);
    note_named(&files, name).or_else(titled).map(|file| file.location.clone())
}

/// Returns the values under that key in a text, and the lines that consist of just that name.
fn values_in(text: &str, name: &str) -> ErasureQuery {
    let mut query = ErasureQuery::default();
    for line in text.lines() {
        let is_item = is_item(line, name);
        match memory_md::parse_fact(line) {
            Some(fact) if is_item || is_same(&fact.key, name) => {
                query.join(ErasureQuery::of_fact(&fact.key, &fact.value));
            }
            _ if is_item || ErasureQuery::are_same_words(line, name) => query.join(ErasureQuery::of_line(name)),
            _ => {}
        }
    }
    query
}

fn facts_called(text: &str, key: &str) -> Vec<memory_md::Fact> {
    text.lines().filter_map(memory_md::parse_fact).filter(|fact| is_same(&fact.key, key)).collect()
}

/// Returns true if the line is a list item with just these words.
fn is_item(line: &str, words: &str) -> bool {
    memory_md::item_text(line).is_some_and(|item| ErasureQuery::are_same_words(item, words))
}

/// Returns true if the file is a note that can be deleted as a whole.
pub(super) fn is_note(path: &str) -> bool {
    path.starts_with("memory/") && path.ends_with(".md") && path != "memory/MEMORY.md"
}

fn holds_facts(path: &str) -> bool {
    is_memory(path) && !path.starts_with("learnings/")
}

fn is_same(one: &str, other: &str) -> bool {
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
fn stem(path: &str) -> &str {
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
