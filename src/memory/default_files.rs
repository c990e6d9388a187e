//! The files that are loaded by themselves, and what stands in them at first.

use super::layout;

const AGENTS: &str = include_str!("../../config/prompts/workspace-AGENTS.md");
const SOUL: &str = include_str!("../../config/prompts/workspace-SOUL.md");
const USER: &str = include_str!("../../config/prompts/workspace-USER.md");
const MEMORY: &str = include_str!("../../config/prompts/workspace-MEMORY.md");
const DAY: &str = include_str!("../../config/prompts/workspace-day.md");

/// A file that is loaded by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum DefaultFile {
    /// How to work.
    Agents,
    /// The assistant's character.
    Soul,
    /// The person.
    User,
    /// What was kept about them.
    Memory,
    /// Their note of the day.
    Today,
}

impl DefaultFile {
    /// Those that are everybody's.
    pub(super) const SHARED: [Self; 2] = [Self::Agents, Self::Soul];
    /// Those that each person has of their own.
    pub(super) const OWN: [Self; 3] = [Self::User, Self::Memory, Self::Today];

    /// How the person whose file it is finds it.
    pub(super) fn name(self, day: &str) -> String {
        match self {
            Self::Agents => "AGENTS.md".to_owned(),
            Self::Soul => "SOUL.md".to_owned(),
            Self::User => "USER.md".to_owned(),
            Self::Memory => "memory/MEMORY.md".to_owned(),
            Self::Today => format!("memory/{day}.md"),
        }
    }

    /// Where it lies for the person with that folder.
    pub(super) fn path(self, folder: &str, day: &str) -> String {
        if self.is_shared() { self.name(day) } else { layout::within(folder, &self.name(day)) }
    }

    /// Whether it is everybody's.
    pub(super) fn is_shared(self) -> bool {
        Self::SHARED.contains(&self)
    }

    /// What stands in it at first; `date` is the day as a person writes it.
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

/// Whether that is a shared file as the program gives it first.
pub(super) fn is_first(path: &str, digest: &str) -> bool {
    DefaultFile::SHARED
        .into_iter()
        .any(|kept| kept.name("") == path && super::digest(kept.first_contents("").as_bytes()) == digest)
}
