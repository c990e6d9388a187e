//! The skills that come with the program, embedded in it.
//!
//! They are the same files that stand under `skills/` in the source, one folder each. Nothing is
//! written here: whoever puts them on the disk decides what of a person's own changes stays.

use std::sync::Arc;

use super::folder::SkillFolder;

/// A skill that comes with the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Builtin {
    /// Its name, which is also that of its folder.
    pub name: &'static str,
    /// Its files: path and text.
    pub files: &'static [(&'static str, &'static str)],
}

impl Builtin {
    /// The same as a folder.
    pub fn folder(&self) -> SkillFolder {
        SkillFolder::new(self.files.iter().map(|(path, text)| ((*path).to_owned(), Arc::from(text.as_bytes()))))
    }
}

/// All of them, by name.
pub fn all() -> &'static [Builtin] {
    BUILTINS
}

/// One entry: the files of one folder of `skills/`.
macro_rules! builtin {
    ($name:literal: $($path:literal),+) => {
        Builtin { name: $name, files: &[$(($path, include_str!(concat!("../../skills/", $name, "/", $path)))),+] }
    };
}

const BUILTINS: &[Builtin] = &[
    builtin!("daily-brief": "SKILL.md", "resources/brief.md"),
    builtin!("decision-helper": "SKILL.md", "resources/table.md"),
    builtin!("failure-patterns": "SKILL.md"),
    builtin!("iterative-planning": "SKILL.md", "resources/plan.md"),
    builtin!("learning-tutor": "SKILL.md"),
    builtin!("memory-keeping": "SKILL.md"),
    builtin!("skill-authoring": "SKILL.md", "resources/template.md"),
    builtin!("web-research": "SKILL.md"),
    builtin!("writing-help": "SKILL.md"),
];

#[cfg(test)]
mod tests;
