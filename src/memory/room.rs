//! Space that the files of one person or group may take.
//!
//! A full disk stops everyone, so each gets a share of what is free: whatever one of them sends, and
//! however many they are, the journal can be written.

use super::workspace::WorkspaceFiles;
use crate::people::Party;
use crate::time::Timestamp;

/// Free space, in bytes, that no file takes: it is the journal's.
const RESERVED: u64 = 200 << 20;
/// Part of the rest that one person or group may take: one in so many.
const SHARE: u64 = 4;

/// Space that the files of one person or group take, and may take, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileRoom {
    /// All their files.
    pub used: u64,
    /// Maximum, as the disk is now.
    pub most: u64,
}

impl FileRoom {
    fn of(used: u64, free: Option<u64>) -> Self {
        let free = free.map_or(u64::MAX, |free| free.saturating_sub(RESERVED));
        Self { used, most: used.saturating_add(free) / SHARE }
    }

    /// Returns the space that is left.
    pub fn left(self) -> u64 {
        self.most.saturating_sub(self.used)
    }

    /// Returns whether four fifths are taken.
    pub fn is_nearly_full(self) -> bool {
        self.used >= self.most / 5 * 4
    }
}

impl WorkspaceFiles<'_> {
    /// Returns whether the disk has more free space now than is reserved for the journal. What arrives
    /// side by side was measured against the same space.
    pub fn disk_has_room(&self) -> bool {
        self.free_space().bytes().is_none_or(|free| free > RESERVED)
    }

    /// Returns the space of that person or group.
    pub async fn room_of(&self, who: &Party, now: Timestamp) -> anyhow::Result<FileRoom> {
        let (_, files) = self.count(who, now).await?;
        Ok(FileRoom::of(files.iter().map(|(_, size)| size).sum(), self.free_space().bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everyone_gets_a_share_and_the_journal_keeps_its_own() {
        let mut free: u64 = 100 << 30;
        for _ in 0..1_000 {
            let room = FileRoom::of(0, Some(free));
            assert!(room.left() <= free / 4);
            free -= room.left();
            assert!(free >= RESERVED);
        }
        assert_eq!(FileRoom::of(0, Some(RESERVED)).left(), 0);
        assert_eq!(FileRoom::of(1 << 20, Some(0)).left(), 0);
    }

    #[test]
    fn four_fifths_are_nearly_full() {
        let room = |used| FileRoom { used, most: 100 };
        assert!(!room(79).is_nearly_full() && room(80).is_nearly_full() && room(100).is_nearly_full());
        assert!(FileRoom { used: 0, most: 0 }.is_nearly_full());
        assert!(!FileRoom::of(0, None).is_nearly_full());
    }
}
