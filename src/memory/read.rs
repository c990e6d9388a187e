//! Single files word for word, for those parts of the program that look at one.

use std::sync::Arc;

use anyhow::Context;

use super::tree::{Tree, blocking, first_owner};
use super::{disk, label, page, place};
use crate::id::PersonId;
use crate::trust::{Labelled, Scope, Text};

/// The most of one note that is read: more than any skill may have.
const MAX_NOTE: u64 = 64 * 1024;

/// What the owner wants seen to now and then.
const HEARTBEAT: &str = "HEARTBEAT.md";

impl Tree {
    /// One of the first owner's notes word for word, and its row if we wrote just that. Only plain Markdown files in their `memory/` are notes.
    ///
    /// # Errors
    /// If it is no note, is not there, is too long or no text, or nobody is owner.
    pub async fn read_note(&self, path: &str) -> anyhow::Result<(Text, Option<i64>)> {
        anyhow::ensure!(place::is_note(path), "it is not a Markdown file in memory/");
        let owner = self.0.journal.read(first_owner).await?.context("there is no owner yet")?;
        let (inner, asked) = (Arc::clone(&self.0), path.to_owned());
        let (inside, bytes) = blocking(move || {
            let found = inner.disk.find(&asked)?;
            let bytes = disk::read_up_to(disk::open(&found)?, MAX_NOTE)?;
            Ok((found.inside(), bytes))
        })
        .await?;
        let (asked, digest) = (path.to_owned(), page::digest(&bytes));
        let (row, label) = self.0.journal.read(move |db| label::of_file(db, &asked, &inside, &digest)).await?;
        let words = String::from_utf8(bytes).ok().context("it is not UTF-8")?;
        Ok((Labelled::new(Arc::from(words), label, Scope::Person(owner)), row))
    }

    /// `HEARTBEAT.md` word for word, with its owner, and its row if we wrote just that. `None` if there is no such file, or nobody is owner.
    ///
    /// # Errors
    /// If it cannot be read, is too long or no text.
    pub async fn read_heartbeat(&self) -> anyhow::Result<Option<(PersonId, Text, Option<i64>)>> {
        let Some(owner) = self.0.journal.read(first_owner).await? else { return Ok(None) };
        let inner = Arc::clone(&self.0);
        let read = blocking(move || {
            let (inside, bytes) = inner.disk.standing(HEARTBEAT, MAX_NOTE)?;
            Ok(bytes.map(|bytes| (inside, bytes)))
        });
        let Some((inside, bytes)) = read.await? else { return Ok(None) };
        let digest = page::digest(&bytes);
        let (row, label) = self.0.journal.read(move |db| label::of_file(db, HEARTBEAT, &inside, &digest)).await?;
        let words = String::from_utf8(bytes).ok().context("It is not UTF-8")?;
        Ok(Some((owner, Labelled::new(Arc::from(words), label, Scope::Person(owner)), row)))
    }
}
