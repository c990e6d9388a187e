//! Memory: the Markdown files with the assistant's character and what it knows, the search over
//! them and over the conversations, and their erasure.
//!
//! The files lie in the workspace and, as far as they are experience of an agent's profile, in a
//! folder next to it; nothing outside of both is read or written, wherever a link in them points.
//! The root of the workspace belongs to one person, which is a stored fact. Everyone else has a
//! folder under `people/`, and every group one under `groups/`. A person can read and edit their
//! files at any time; the next turn sees the change.
//!
//! The program writes through a single writer (`write`): it commits a row with path, hash and
//! label, then renames a temporary file into place. So a reader can tell where the text of a file
//! comes from ([`label`]), and a crash leaves either the old file or the new one. Only trusted text
//! is loaded automatically ([`load`]); other text is read on request and carries its label.
//!
//! [`Workspace`] gives access by purpose: reading (`files`, `browse`, `stored_files`, `uploads`),
//! changes (`write`, `versions`, `approved_text`), notes and facts (`notes`, `facts`, `learn`),
//! folders (`folders`, `owned_files`), checks (`health`). [`Index`] keeps the entries that are
//! searched.

mod agent; // the agent's own memory
mod approved_text; // text from outside that its person approves: what it becomes
mod browse; // folders page by page, files opened for their owner
mod disk; // reading and writing below the root
mod fact_origin; // since when a fact has its value
mod facts; // lists of facts, one value per key
mod files; // reading for a party
mod folder_tree; // folders as a tree
mod folders; // whose folder is where
mod hand_edits; // values changed by hand
mod health; // figures and fixes for `doctor`
mod heartbeat_file; // items of HEARTBEAT.md
mod imported; // notes from a folder of another program
mod index; // entries for the search
mod key_note; // notes that state the value of a key
mod known; // what the extractor is shown
mod label; // where the text of a file comes from
mod layout; // names, places and size limits
mod learn; // corrections and failures of tools
mod listing; // index lines of notes written by hand
mod load; // files that a turn begins with
pub mod memory_md; // managed regions of MEMORY.md
pub mod note; // front matter of a note
mod notes; // notes with their index lines, and daily notes
mod other_agents; // memory of other agents and profiles, on or off
mod owned_files; // all files of a party
mod page; // a file as prompts show it
mod passages; // labels of the lines of a file
mod path_walk; // paths that follow no link
pub mod free_space; // free space on a disk
pub mod room; // space that the files of one may take
pub mod section; // sections of Markdown
mod stale_edits; // edits by hand of an older version
mod stored_files; // files that the program writes whole
mod unseen;
mod uploads; // files that arrive bit by bit
mod versions; // history, restoring
mod workspace; // the handle
mod write; // the single writer

#[cfg(test)]
mod tests;

pub use browse::{Browsed, FileOrder, FolderItem, FolderPage, FolderPart, OpenedFile};
pub use disk::RemoveOutcome;
pub use fact_origin::FactOrigin;
pub use files::{AccessError, AccessRefusal, HEARTBEAT, Listed, NoteLine, NoteList, OwnFile, UnreadNote};
pub use folder_tree::{FileTotals, FolderNode, FolderTree};
pub use folders::{HandOverError, HandOverRefusal, HandOverResult};
pub use hand_edits::{FollowedEdit, HandEditEffect};
pub use health::{FileProblem, Misplaced, WorkspaceFixes, WorkspaceHealth};
pub use heartbeat_file::{
    HeartbeatItem, HeartbeatItemKind, find_heartbeat_item, heartbeat_items, with_heartbeat_item, with_heartbeat_ticks,
    without_ticked_items,
};
pub use imported::{ImportedNote, ImportedNoteKey};
pub use index::{Index, IndexHealth, IndexTotals, NotePaths};
pub use known::KnownItems;
pub use label::{of_content as label_of_content, of_file_from_anywhere, of_found_file, of_pixels as label_of_pixels};
pub use layout::{
    EXPERIENCE, is_instruction, is_owner_only, is_pending_note, normal as normal_path, own as path_in_folder,
};
pub use learn::{FAILED_CALL, Learnings, TIMED_OUT, UNREACHABLE};
pub use notes::{NoteDraft, Replaced, Section, StoredNote, with_section};
pub use other_agents::AgentMemory;
pub use owned_files::OwnPath;
pub use page::{digest, without_comments};
pub use stored_files::received_path;
pub use uploads::{StoredUpload, Upload};
pub use versions::MAX_VERSIONS;
pub use workspace::{Workspace, WorkspaceError, WriteError, WriteRefusal, unless_refused};
pub use write::{Author, ChangeOrigin, Consent, NewContent, PersonShare, TakenLines, WriteResult};

use crate::text::one_line;
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
    /// The person's `MEMORY.md`, without the lines of the rules below.
    pub memory: Text,
    /// The person's rules, the notes of kind `preference`, whole.
    pub rules: Text,
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
    /// Names of the party's own files that exist and cannot be opened, and of the shared ones if an
    /// owner is the party.
    pub unreadable: Vec<String>,
    /// Omissions and cuts with their reasons, for the log. Never contains file contents.
    pub notes: Vec<String>,
}

impl TurnFiles {
    /// Returns what the files say about the person and the day, each in one line. A fact stands
    /// there with its key in bold, which is taken off.
    pub fn lines(&self) -> Vec<String> {
        let files = [&self.user, &self.memory, &self.rules, &self.today, &self.agent, &self.experience];
        files.iter().map(|file| one_line(&file.open().0.replace("**", ""))).collect()
    }
}
