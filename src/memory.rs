//! The workspace: Markdown files with the assistant's character and what it knows.
//!
//! A person can read and edit the files at any time; the next turn sees the change. The program
//! writes through a single writer: it commits a row with path, hash and label, then renames a
//! temporary file into place. So a reader can tell where the text of a file comes from ([`label`]),
//! and a crash leaves either the old file or the new one.
//!
//! Only trusted text is loaded automatically. Text that is unreadable, unfit for a prompt or too
//! long is left out or cut, and [`TurnFiles::notes`] says so: a broken file never stops the
//! assistant from answering. Nothing outside the workspace is read or written, wherever a link in
//! it points. Each person has separate files. The root belongs to one person, which is a stored
//! fact; everyone else has a folder named after their id.

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
mod received;
mod remember;
pub mod section;
mod program_files;
mod page_cache;
mod canonical_name;
mod supersede;
mod extracted_text;
mod workspace;
mod restore;
mod path_walk;
mod write;

#[cfg(test)]
mod tests;

pub use browse::{Listed, NoteLine, Notes, UnreadNote};
pub use disk::Received;
pub use extracted_text::received_path;
pub use file_access::{AccessRefusal, OwnFile};
pub use hand_over::{HandOverRefusal, HandOverResult};
pub use health::{Misplaced, WorkspaceFixes, WorkspaceHealth};
pub use index::{Index, IndexHealth, IndexTotals};
pub use label::{of_content as label_of_content, of_file_from_anywhere, of_found_file};
pub use layout::{EXPERIENCE, is_owner_only, normal as normal_path, own as path_in_folder};
pub use owned_files::OwnPath;
pub use page::{digest, without_comments};
pub use passage::Section;
pub use remember::{NoteDraft, StoredNote};
pub use workspace::{Workspace, WriteRefusal};
pub use write::{Author, ChangeOrigin, New, WriteResult};

use crate::trust::Text;

/// The files that a turn for one person begins with. A missing or skipped file is an empty text.
#[derive(Debug, Clone)]
pub struct TurnFiles {
    /// Working instructions, shared by all people.
    pub agents: Text,
    /// The assistant's character, shared by all people.
    pub soul: Text,
    /// The person's description of themselves.
    pub user: Text,
    /// The person's `MEMORY.md`.
    pub memory: Text,
    /// Share of its size limit that `MEMORY.md` uses, in per cent.
    pub memory_percent: usize,
    /// The person's note of the day.
    pub today: Text,
    /// The agent's own memory about the person and about this workspace.
    pub agent: Text,
    /// Experience of other profiles, if it is to be shown.
    pub experience: Text,
    /// Rows of the loaded file versions that the program wrote itself.
    pub nodes: Vec<i64>,
    /// Omissions and cuts with their reasons, for the log. Never contains file contents.
    pub notes: Vec<String>,
}
