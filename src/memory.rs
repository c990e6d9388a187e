//! The knowledge tree, as far as it is loaded by itself: who the assistant is, and what it always
//! knows.
//!
//! The tree is a folder of Markdown files that a person can read and edit at any time; the next
//! turn sees the change. Whoever writes into it from here goes through one writer: a row with path,
//! hash and label is committed, then a temporary file is renamed into place. So reading can tell
//! whose words a file holds ([`label`]), and a crash leaves the old file or the new one.
//!
//! Only trusted text is loaded by itself. What cannot be read, does not belong in a prompt or is
//! too long is left out or cut, and [`Loaded::notes`] says so: a broken file never keeps the
//! assistant from answering. Nothing outside the tree is read or written, wherever a link in it
//! points. Each person has files of their own. The root of the tree is one person's, which is a
//! stored fact; everybody else has a folder by their id.

mod quarantine;
mod before;
mod owned_files;
mod browse;
mod agent;
mod disk;
mod exported;
mod facts;
mod recovery;
mod default_files;
mod folder_moves;
mod forget;
mod forget_person;
mod hand_over;
mod health;
mod index;
mod label;
mod learn;
mod load;
pub mod memory_md;
pub mod note;
mod file_access;
mod page;
mod versions;
mod passage;
mod layout;
mod read;
mod recall;
mod received;
mod remember;
pub mod section;
mod program_files;
mod page_cache;
mod canonical_name;
mod supersede;
mod extracted_text;
mod workspace;
mod vectors;
mod restore;
mod path_walk;
mod write;

#[cfg(test)]
mod tests;

pub use crate::store::{Corpus, hybrid_score};
pub use browse::{Listed, NoteLine, Notes, UnreadNote};
pub use extracted_text::received_path;
pub use file_access::{NotGiven, OwnFile};
pub use forget::{ErasureOutcome, Forgettable};
pub use forget_person::PersonGone;
pub use hand_over::{HandedOver, NotHandedOver};
pub use health::{Misplaced, TreeHealth, TreeMended};
pub use index::{EntryHit, Index, IndexHealth, IndexMatches, IndexQuery, IndexTotals};
pub use label::{of_content as label_of_content, of_file_from_anywhere, of_found_file};
pub use layout::{EXPERIENCE, normal as normal_path};
pub use owned_files::OwnPath;
pub use page::{digest, without_comments};
pub use passage::Section;
pub use recall::{RecallQuery, Recollection};
pub use received::Received;
pub use remember::{Kept, NoteDraft};
pub use vectors::{
    COUNT_UP_TO as VECTORS_COUNTED_UP_TO, Near, VectorFailure as VectorTrouble, VectorHealth, VectorParts, Vectors,
};
pub use workspace::Workspace;
pub use write::{Author, ChangeOrigin, New, NotWritten, Written};

use crate::trust::Text;

/// What one turn for one person begins with. A file that is missing or left out is an empty text.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// How to work; for everybody.
    pub agents: Text,
    /// The assistant's character; for everybody.
    pub soul: Text,
    /// The person, in their own words.
    pub user: Text,
    /// What was kept about them.
    pub memory: Text,
    /// How much of its room that file takes, in per cent.
    pub memory_percent: usize,
    /// Their note of the day.
    pub today: Text,
    /// What the agent itself keeps in mind: about the person, and about this workspace.
    pub agent: Text,
    /// What other profiles have learned, if that is to be shown.
    pub experience: Text,
    /// The rows of those file versions that we wrote ourselves.
    pub nodes: Vec<i64>,
    /// What was left out or cut and why, for the log; never a word of a file.
    pub notes: Vec<String>,
}
