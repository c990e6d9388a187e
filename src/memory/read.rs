//! Verbatim reads of single files, for other parts of the program.

use crate::memory::workspace::WorkspaceFiles;
use std::sync::Arc;

use anyhow::Context;

use super::workspace::blocking;
use super::{disk, label, layout, page};
use crate::id::PersonId;
use crate::people::{Party, Person, Role};
use crate::trust::{Labelled, Scope, Text};

/// Maximum size of a note that is read, in bytes: more than any skill may have.
const MAX_NOTE: u64 = 64 * 1024;

/// Checklist for the heartbeat, written by the owner.
const HEARTBEAT: &str = "HEARTBEAT.md";

impl WorkspaceFiles<'_> {
    /// Reads one of a person's notes verbatim, with its row if the program wrote this version. Only
    /// plain Markdown files in the person's `memory/` are notes.
    ///
    /// # Errors
    /// If the file is not a note, is missing, too long or not UTF-8, or was written for another
    /// party.
    pub async fn read_note(&self, whose: &Person, path: &str) -> anyhow::Result<(Text, Option<i64>)> {
        anyhow::ensure!(layout::is_note(path), "it is not a Markdown file in memory/");
        let who = Party::One(whose.clone());
        let (scope, asked) = (who.scope(), layout::within(&self.folder_of(&who).await?, path));
        let (inner, spot) = (Arc::clone(&self.0), asked.clone());
        let (inside, bytes) = blocking(move || {
            let found = inner.disk.find(&spot)?;
            let bytes = disk::read_up_to(disk::open(&found)?, MAX_NOTE)?;
            Ok((found.inside(), bytes))
        })
        .await?;
        let digest = page::digest(&bytes);
        let look = self.0.journal.read(move |db| label::of_file(db, scope, &asked, &inside, &digest));
        let (row, label) = look.await??;
        let words = String::from_utf8(bytes).ok().context("it is not UTF-8")?;
        Ok((Labelled::new(Arc::from(words), label, scope), row))
    }

    /// Reads `HEARTBEAT.md` verbatim, with its owner and its row if the program wrote this version.
    /// `None` if there is no such file, or if the root belongs to no owner with access.
    ///
    /// # Errors
    /// If the file is unreadable, too long or not UTF-8, or was written for another party.
    pub async fn read_heartbeat(&self) -> anyhow::Result<Option<(PersonId, Text, Option<i64>)>> {
        let owner = self.0.journal.read(|db| db.folders().present_workspace_owner()).await?;
        let Some(owner) = owner.filter(|owner| owner.role == Role::Owner).map(|owner| owner.id) else {
            return Ok(None);
        };
        let scope = Scope::Person(owner);
        let inner = Arc::clone(&self.0);
        let read = blocking(move || {
            let (inside, bytes) = inner.disk.standing(HEARTBEAT, MAX_NOTE)?;
            Ok(bytes.map(|bytes| (inside, bytes)))
        });
        let Some((inside, bytes)) = read.await? else { return Ok(None) };
        let digest = page::digest(&bytes);
        let look = self.0.journal.read(move |db| label::of_file(db, scope, HEARTBEAT, &inside, &digest));
        let (row, label) = look.await??;
        let words = String::from_utf8(bytes).ok().context("It is not UTF-8")?;
        Ok(Some((owner, Labelled::new(Arc::from(words), label, scope), row)))
    }
}
