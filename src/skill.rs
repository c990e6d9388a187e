//! Skills as people write them: folders with a `SKILL.md` in the open Agent Skills format. This
//! module only reads.
//!
//! Covers the format ([`manifest`]), the files on disk ([`catalogue`], [`folder`]) and the listing
//! in a prompt ([`index`]). It does not know which skills may be used: only `review` reads skills
//! through this module, because only `review` knows the origin of their text and which of them are
//! held.

pub mod builtin; // skills that ship with the program
pub mod catalogue; // the skills of a folder
pub mod folder; // files and digest
mod front; // front matter
pub mod index; // the list in a prompt
pub mod manifest; // SKILL.md
pub mod name; // valid names

pub use catalogue::{Catalogue, Skill, SkillCache, UnloadableSkill};
pub use folder::{Digest, MAIN, SkillFolder, Unreadable};
pub use index::{Available, applies, listing};
