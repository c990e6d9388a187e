//! Automatically loaded files, and their initial contents.

use super::layout;

const AGENTS: &str = include_str!("../../config/prompts/workspace-AGENTS.md");
const SOUL: &str = include_str!("../../config/prompts/workspace-SOUL.md");
const USER: &str = include_str!("../../config/prompts/workspace-USER.md");
const MEMORY: &str = include_str!("../../config/prompts/workspace-MEMORY.md");
const DAY: &str = include_str!("../../config/prompts/workspace-day.md");

/// A file that is loaded automatically.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum DefaultFile {
    /// Working instructions.
    Agents,
    /// The assistant's character.
    Soul,
    /// The person's description of themselves.
    User,
    /// Facts and notes about the person.
    Memory,
    /// The person's note of the day.
    Today,
}

impl DefaultFile {
    /// Files shared by all people.
    pub(super) const SHARED: [Self; 2] = [Self::Agents, Self::Soul];
    /// Files that each person has.
    pub(super) const OWN: [Self; 3] = [Self::User, Self::Memory, Self::Today];

    /// Returns the path as the file's owner sees it.
    pub(super) fn name(self, day: &str) -> String {
        match self {
            Self::Agents => "AGENTS.md".to_owned(),
            Self::Soul => "SOUL.md".to_owned(),
            Self::User => "USER.md".to_owned(),
            Self::Memory => "memory/MEMORY.md".to_owned(),
            Self::Today => format!("memory/{day}.md"),
        }
    }

    /// Returns the path for the person with that folder.
    pub(super) fn path(self, folder: &str, day: &str) -> String {
        if self.is_shared() { self.name(day) } else { layout::within(folder, &self.name(day)) }
    }

    /// Returns true for shared files.
    pub(super) fn is_shared(self) -> bool {
        Self::SHARED.contains(&self)
    }

    /// Returns the initial contents; `date` is the day in human-readable form.
    pub(super) fn first_contents(self, date: &str) -> String {
        match self {
            Self::Agents => AGENTS.to_owned(),
            Self::Soul => SOUL.to_owned(),
            Self::User => USER.to_owned(),
            Self::Memory => MEMORY.to_owned(),
            Self::Today => DAY.replace("{date}", date),
        }
    }
}

/// Returns true for a shared file with its initial contents.
pub(super) fn is_first(path: &str, digest: &str) -> bool {
    DefaultFile::SHARED
        .into_iter()
        .any(|kept| kept.name("") == path && super::digest(kept.first_contents("").as_bytes()) == digest)
}
