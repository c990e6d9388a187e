//! Which note is meant by what somebody typed.
//!
//! Only the last part of it counts, and `.md` may be left out: whoever types a way somewhere else means a note of that name, of which there is none. Two
//! things may stand before it, because they are folders of the memory with names of their own: `untrusted/`, and `agents/…` or `learnings/…`, whose files are
//! not called like notes. That a path stays in the person's folder is seen to by the tree, whatever comes out of here.

use crate::memory::note;

/// The longest name that is looked for, in characters.
const LONGEST: usize = 120;

/// A note as it was named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Name {
    /// The name as it is repeated to the person: the last part, without `.md`.
    pub(super) stem: String,
    /// Whether `untrusted/` stood before it.
    untrusted: bool,
    /// The path, if it leads to what the assistant keeps for itself.
    elsewhere: Option<String>,
}

impl Name {
    /// What was meant; `None` if no note can be called like that.
    pub(super) fn read(typed: &str) -> Option<Self> {
        let typed = typed.trim();
        let (folder, name) = typed.rsplit_once('/').unwrap_or(("", typed));
        let bare = name.strip_suffix(".md").unwrap_or(name).trim();
        let fits = !bare.is_empty() && !bare.starts_with('.') && bare.chars().count() <= LONGEST;
        if !fits || bare.chars().any(char::is_control) {
            return None;
        }
        let untrusted = folder.rsplit('/').next() == Some("untrusted");
        let stem = if bare.eq_ignore_ascii_case("memory") { "MEMORY" } else { bare };
        let elsewhere = is_kept_elsewhere(folder).then(|| format!("{folder}/{bare}.md"));
        Some(Self { stem: stem.to_owned(), untrusted, elsewhere })
    }

    /// Where it may lie, as its owner sees it, likeliest first.
    pub(super) fn paths(&self) -> Vec<String> {
        if let Some(path) = &self.elsewhere {
            return vec![path.clone()];
        }
        let stems = self.stems();
        let own = stems.iter().map(|stem| format!("memory/{stem}.md")).filter(|_| !self.untrusted);
        let outside = stems.iter().map(|stem| format!("memory/untrusted/{stem}.md"));
        let user = self.stem.eq_ignore_ascii_case("user").then(|| "USER.md".to_owned());
        own.chain(outside).chain(user).collect()
    }

    /// The same with what came from outside first.
    pub(super) fn paths_from_outside(&self) -> Vec<String> {
        let (outside, own): (Vec<_>, Vec<_>) =
            self.paths().into_iter().partition(|path| path.starts_with("memory/untrusted/"));
        outside.into_iter().chain(own).collect()
    }

    /// Where a new note of that name is begun.
    pub(super) fn new_path(&self) -> String {
        self.elsewhere.clone().unwrap_or_else(|| format!("memory/{}.md", self.stem))
    }

    /// The name as typed, and as the title of a note whose file is called differently.
    fn stems(&self) -> Vec<String> {
        let slug = note::slug(&self.stem);
        if self.stem == "MEMORY" || slug == self.stem { vec![self.stem.clone()] } else { vec![self.stem.clone(), slug] }
    }
}

/// How a file is named in a command: as short as it is understood.
pub(super) fn short(path: &str) -> String {
    let name = path.strip_suffix(".md").unwrap_or(path);
    name.strip_prefix("memory/untrusted/").or_else(|| name.strip_prefix("memory/")).unwrap_or(name).to_owned()
}

fn is_kept_elsewhere(folder: &str) -> bool {
    let plain = folder.split('/').all(|part| !part.is_empty() && !part.starts_with('.'));
    plain && matches!(folder.split('/').next(), Some("agents" | "learnings"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn first(typed: &str) -> Option<String> {
        Name::read(typed).and_then(|name| name.paths().into_iter().next())
    }

    #[test]
    fn names_and_where_they_lead() {
        for (typed, path) in [
            ("deploy-key", "memory/deploy-key.md"),
            ("deploy-key.md", "memory/deploy-key.md"),
            ("memory/deploy-key.md", "memory/deploy-key.md"),
            ("../../secret", "memory/secret.md"),
            ("/etc/passwd", "memory/passwd.md"),
            ("memory", "memory/MEMORY.md"),
            ("Memory.md", "memory/MEMORY.md"),
            ("2026-11-21", "memory/2026-11-21.md"),
            ("untrusted/tea", "memory/untrusted/tea.md"),
            ("memory/untrusted/tea.md", "memory/untrusted/tea.md"),
            ("agents/compline/memory.md", "agents/compline/memory.md"),
            ("learnings/corrections", "learnings/corrections.md"),
            ("agents/../../secret.md", "memory/secret.md"),
            ("people/ben/memory/tea", "memory/tea.md"),
        ] {
            assert_eq!(first(typed).as_deref(), Some(path), "{typed}");
        }
        for typed in ["", " ", "/", ".md", "..", "memory/.hidden", "a\u{0}b", &"x".repeat(200)] {
            assert_eq!(Name::read(typed), None, "{typed}");
        }
    }

    #[test]
    fn what_is_trusted_is_found_first_unless_it_is_about_to_become_so() {
        let name = Name::read("tea").unwrap();
        assert_eq!(name.paths(), ["memory/tea.md", "memory/untrusted/tea.md"]);
        assert_eq!(name.paths_from_outside(), ["memory/untrusted/tea.md", "memory/tea.md"]);
        assert_eq!(name.new_path(), "memory/tea.md");
        assert_eq!(short("memory/untrusted/tea.md"), "tea");
        assert_eq!(short("agents/compline/memory.md"), "agents/compline/memory");
    }

    proptest! {
        #[test]
        fn no_name_leads_out_of_the_memory(typed in "[a-z./\\\\ ~-]{0,30}") {
            for path in Name::read(&typed).map(|name| name.paths()).unwrap_or_default() {
                prop_assert!(path.split('/').all(|part| !part.is_empty() && part != ".." && part != "."), "{}", path);
                let known = ["memory/", "agents/", "learnings/"].iter().any(|folder| path.starts_with(folder));
                prop_assert!(known || path == "USER.md", "{}", path);
            }
        }
    }
}
