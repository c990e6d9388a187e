//! The skills that ship with the program, embedded in the binary.
//!
//! They are the same files as under `skills/` in the source, one folder each. Nothing is written
//! here: the caller that puts them on disk decides which changes by a person are kept.

use std::sync::Arc;

use super::folder::SkillFolder;

/// A skill that ships with the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Builtin {
    /// The name, which is also the name of the folder.
    pub name: &'static str,
    /// The files: path and text.
    pub files: &'static [(&'static str, &'static str)],
}

impl Builtin {
    /// Returns the skill as a folder.
    pub fn folder(&self) -> SkillFolder {
        SkillFolder::new(self.files.iter().map(|(path, text)| ((*path).to_owned(), Arc::from(text.as_bytes()))))
    }
}

/// Returns all built-in skills, by name.
pub fn all() -> &'static [Builtin] {
    BUILTINS
}

/// Builds one entry from the files of one folder of `skills/`.
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
