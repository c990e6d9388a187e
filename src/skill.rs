//! Skills as people write them: folders with a `SKILL.md` in the open Agent Skills format. This
//! room only reads.
//!
//! Knows the format ([`manifest`]), what lies on the disk ([`catalogue`], [`folder`]) and how a
//! prompt lists it ([`index`]). It does not know which skills may be used: nobody but `review`
//! looks at skills through this room, because only `review` knows whose words they are and which of
//! them are held.

pub mod builtin;
pub mod catalogue;
pub mod folder;
mod front;
pub mod index;
pub mod manifest;
pub mod name;
pub mod note;

pub use catalogue::{Catalogue, Skill, SkillCache, UnloadableSkill};
pub use folder::{Digest, MAIN, SkillFolder};
pub use index::{Available, applies, listing};
