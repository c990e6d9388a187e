//! Finds the note meant by a typed name.
//!
//! Only the last component counts, and `.md` may be omitted: a path to some other place is read as
//! the note of that name. Two kinds of prefix are accepted, because they are folders of the memory
//! with names of their own: `untrusted/`, and `agents/…`, `experience/…` or `learnings/…`, whose
//! files are not named like notes. A name that no note has may still be that of a file at the top
//! of the folder, or of an agent. If the whole path leads downwards to a file in the person's
//! folder, that file is meant: the person can view and revert every file that the assistant may
//! change. The tree ensures that a path stays in the person's folder, regardless of the result
//! here.

use crate::memory::{EXPERIENCE, normal_path, note};

/// Maximum length of a name, in characters.
const MAX_LENGTH: usize = 120;

/// Files at the top of a person's folder, which their bare names mean.
const TOP: [&str; 4] = ["HEARTBEAT", "USER", "SOUL", "AGENTS"];

/// A note, as named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Name {
    /// The name as repeated to the person: the last component, without `.md`.
    pub(super) stem: String,
    /// The file at the top of the folder that the bare name means.
    top: Option<String>,
    /// True if `untrusted/` preceded the name.
    untrusted: bool,
    /// Possible paths, if the name leads to the assistant's own files.
    elsewhere: Vec<String>,
    /// The path as typed, if it leads to any other file.
    typed: Option<String>,
    /// Possible paths if there is no note of that name.
    last: Vec<String>,
}

impl Name {
    /// Parses a name; `None` if no note can have it.
    pub(super) fn read(typed: &str) -> Option<Self> {
        let typed = typed.trim();
        let (folder, name) = typed.rsplit_once('/').unwrap_or(("", typed));
        let bare = name.strip_suffix(".md").unwrap_or(name).trim();
        let fits = !bare.is_empty() && !bare.starts_with('.') && bare.chars().count() <= MAX_LENGTH;
        if !fits || bare.chars().any(char::is_control) {
            return None;
        }
        let untrusted = folder.rsplit('/').next() == Some("untrusted");
        let stem = if bare.eq_ignore_ascii_case("memory") { "MEMORY" } else { bare };
        let elsewhere = reserved_paths(folder, name);
        let top = TOP.into_iter().find(|top| typed == name && top.eq_ignore_ascii_case(bare));
        let top = top.map(|top| format!("{top}.md"));
        let last = if folder.is_empty() && !typed.starts_with('/') {
            vec![format!("{bare}.md"), of_agent(bare)]
        } else {
            Vec::new()
        };
        let typed = normal_path(typed).filter(|way| leads_down(typed) && is_outer_path(way));
        Some(Self { stem: stem.to_owned(), top, untrusted, elsewhere, typed, last })
    }

    /// Possible paths as the owner sees them, likeliest first.
    pub(super) fn paths(&self) -> Vec<String> {
        if !self.elsewhere.is_empty() {
            return self.elsewhere.clone();
        }
        let stems = self.stems();
        let own = stems.iter().map(|stem| format!("memory/{stem}.md")).filter(|_| !self.untrusted);
        let outside = stems.iter().map(|stem| format!("memory/untrusted/{stem}.md"));
        let typed = self.typed.iter().flat_map(|way| [way.clone(), format!("{way}.md")]);
        let top = self.top.iter().cloned();
        top.chain(typed).chain(own).chain(outside).chain(self.last.iter().cloned()).collect()
    }

    /// The same paths, untrusted ones first.
    pub(super) fn untrusted_paths(&self) -> Vec<String> {
        let (outside, own): (Vec<_>, Vec<_>) =
            self.paths().into_iter().partition(|path| path.starts_with("memory/untrusted/"));
        outside.into_iter().chain(own).collect()
    }

    /// The path of a new note with that name.
    pub(super) fn new_path(&self) -> String {
        // The instructions are shared: they are made at the start, and no person needs a copy.
        let own = self.top.clone().filter(|top| ["HEARTBEAT.md", "USER.md"].contains(&top.as_str()));
        own.or_else(|| self.elsewhere.first().cloned()).unwrap_or_else(|| format!("memory/{}.md", self.stem))
    }

    /// The name as typed, and as the file name of a note with that title.
    fn stems(&self) -> Vec<String> {
        let slug = note::slug(&self.stem);
        if self.stem == "MEMORY" || slug == self.stem { vec![self.stem.clone()] } else { vec![self.stem.clone(), slug] }
    }
}

/// The shortest name of a file that commands understand.
pub(super) fn short(path: &str) -> String {
    let path = visible_path(path);
    let name = path.strip_suffix(".md").unwrap_or(path);
    name.strip_prefix("memory/untrusted/").or_else(|| name.strip_prefix("memory/")).unwrap_or(name).to_owned()
}

/// Returns a name that leads to exactly this file, regardless of other files: the shortest, if
/// several do.
pub fn address(path: &str) -> String {
    let inner = path.strip_prefix("memory/").unwrap_or(path);
    let names = [short(path), inner.strip_suffix(".md").unwrap_or(inner).to_owned()];
    let leads_there =
        |name: &String| Name::read(name).is_some_and(|name| name.paths().first().is_some_and(|first| first == path));
    names.into_iter().find(leads_there).unwrap_or_else(|| visible_path(path).to_owned())
}

/// A path as shown to a person: files next to the workspace look like files in it.
pub(in crate::admin) fn visible_path(path: &str) -> &str {
    path.trim_start_matches('/')
}

/// Returns whether a path leads only downwards.
fn leads_down(typed: &str) -> bool {
    typed.split('/').all(|part| part == "." || !(part.is_empty() || part.starts_with('.')))
}

/// Returns whether a path can be that of a file outside the memory and in the person's own folder.
fn is_outer_path(way: &str) -> bool {
    let (first, rest) = way.split_once('/').unwrap_or(("", way));
    let is_name = first.is_empty() && !rest.strip_suffix(".md").unwrap_or(rest).contains('.');
    !is_name && !["memory", "untrusted", "people", "groups"].iter().any(|folder| first.eq_ignore_ascii_case(folder))
}

/// Possible paths of a name in a folder that the assistant keeps for itself, likeliest first; none
/// in any other folder.
fn reserved_paths(folder: &str, name: &str) -> Vec<String> {
    let bare = name.strip_suffix(".md").unwrap_or(name).trim();
    let folder = visible_path(folder);
    let plain = folder.split('/').all(|part| !part.is_empty() && !part.starts_with('.'));
    let inside = format!("{folder}/{bare}.md");
    match folder.split('/').next().filter(|_| plain) {
        Some("experience") => vec![inside.replacen("experience/", EXPERIENCE, 1), inside],
        // After `agents/` comes an agent, unless a file has the whole name.
        Some("agents") if folder == "agents" && bare == name => vec![of_agent(bare), inside],
        Some("agents") if folder == "agents" => vec![inside, of_agent(bare)],
        Some("agents" | "learnings") => vec![inside],
        _ => Vec::new(),
    }
}

/// The path of an agent's notes about the workspace.
fn of_agent(name: &str) -> String {
    format!("agents/{}/memory.md", name.to_lowercase().replace(' ', "-"))
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
            ("heartbeat", "HEARTBEAT.md"),
            ("SOUL.md", "SOUL.md"),
            ("memory/user", "memory/user.md"),
            ("Memory.md", "memory/MEMORY.md"),
            ("2026-11-21", "memory/2026-11-21.md"),
            ("untrusted/tea", "memory/untrusted/tea.md"),
            ("memory/untrusted/tea.md", "memory/untrusted/tea.md"),
            ("agents/compline/memory.md", "agents/compline/memory.md"),
            ("agents/compline", "agents/compline/memory.md"),
            ("agents/compline.md", "agents/compline.md"),
            ("learnings/corrections", "learnings/corrections.md"),
            ("experience/default", "//experience/default.md"),
            ("//experience/default.md", "//experience/default.md"),
            ("experience/../../secret", "memory/secret.md"),
            ("agents/../../secret.md", "memory/secret.md"),
            ("people/2-ben/memory/tea", "memory/tea.md"),
        ] {
            assert_eq!(first(typed).as_deref(), Some(path), "{typed}");
        }
        for typed in ["", " ", "/", ".md", "..", "memory/.hidden", "a\u{0}b", &"x".repeat(200)] {
            assert_eq!(Name::read(typed), None, "{typed}");
        }
    }

    #[test]
    fn a_way_that_leads_down_is_that_of_a_file_too() {
        for (typed, way) in [("plans/tea", "plans/tea"), ("plans/./tea.md", "plans/tea.md"), ("todo.txt", "todo.txt")] {
            let paths = Name::read(typed).unwrap().paths();
            assert!(paths.starts_with(&[way.to_owned(), format!("{way}.md")]), "{typed}: {paths:?}");
        }
        for typed in
            ["../../secret", "/etc/passwd", "a/../../b", "a//b", "plans/.git/config", "/tea.md", "people/2-ben/x"]
        {
            let paths = Name::read(typed).unwrap().paths();
            assert!(paths.iter().all(|path| path.starts_with("memory/")), "{typed}: {paths:?}");
        }
    }

    #[test]
    fn trusted_notes_are_found_first_except_when_promoting() {
        let name = Name::read("Tea").unwrap();
        let last = ["Tea.md", "agents/tea/memory.md"];
        let (own, outside) =
            (["memory/Tea.md", "memory/tea.md"], ["memory/untrusted/Tea.md", "memory/untrusted/tea.md"]);
        assert_eq!(name.paths(), [own, outside, last].concat());
        assert_eq!(name.untrusted_paths(), [outside, own, last].concat());
        assert_eq!(name.new_path(), "memory/Tea.md");
        let of_the_agent = Name::read("agents/compline").map(|name| name.new_path());
        assert_eq!(of_the_agent.as_deref(), Some("agents/compline/memory.md"), "a file beside it would hide it");
        assert_eq!(short("//experience/default.md"), "experience/default");
        assert_eq!(short("memory/untrusted/tea.md"), "tea");
        assert_eq!(short("agents/compline/memory.md"), "agents/compline/memory");
    }

    #[test]
    fn an_address_leads_to_its_own_file() {
        for (path, name) in [
            ("memory/tea.md", "tea"),
            ("memory/MEMORY.md", "MEMORY"),
            ("memory/untrusted/tea.md", "untrusted/tea"),
            ("memory/user.md", "memory/user.md"),
            ("USER.md", "USER"),
            ("memory/v1.2.md", "memory/v1.2.md"),
            ("memory/tea.md.md", "memory/tea.md.md"),
            ("agents/compline/memory.md", "agents/compline/memory"),
            ("//experience/default.md", "experience/default"),
            ("memory/2026-11-21.md", "2026-11-21"),
        ] {
            assert_eq!(address(path), name);
            assert_eq!(first(name).as_deref(), Some(path), "{name}");
        }
    }

    proptest! {
        #[test]
        fn no_name_leads_out_of_the_folder(typed in "[a-z./\\\\ ~-]{0,30}") {
            for path in Name::read(&typed).map(|name| name.paths()).unwrap_or_default() {
                let path = path.strip_prefix("//experience/").unwrap_or(&path);
                prop_assert!(path.split('/').all(|part| !part.is_empty() && !part.starts_with('.')), "{}", path);
            }
        }
    }
}
