//! The tree: first contents, loading for a turn, and the one writer.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use tokio::sync::Mutex;

use super::disk::{self, Disk, Existing, Found};
use super::first::Kept;
use super::page;
use super::shelf::{Look, Shelf};
use super::{Loaded, label, place};
use crate::id::{AttachmentId, PersonId};
use crate::people::{Party, Role};
use crate::store::{Db, Journal};
use crate::time::{Moment, Zone};
use crate::trust::{Label, Labelled, Scope, Text};

/// The most of one received file that is read back: somewhat more than is ever received.
const MAX_RECEIVED: u64 = 64 * 1024 * 1024;

/// The most of one note that is read: more than any skill may have.
const MAX_NOTE: u64 = 64 * 1024;

/// What the owner wants seen to now and then.
const HEARTBEAT: &str = "HEARTBEAT.md";

/// The knowledge tree. Cloning gives another handle on the same one.
#[derive(Debug, Clone)]
pub struct Tree(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    disk: Disk,
    shelf: Shelf,
    journal: Journal,
    zone: Zone,
    /// Held while a file is written: between its row and its renaming nobody else writes.
    writing: Arc<Mutex<()>>,
}

/// What became of a received file that was to be deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Received {
    /// It is gone now, or was before.
    Gone,
    /// Somebody put something else there, which stays.
    Changed,
}

/// A file about to be written.
struct Draft {
    folder: String,
    name: String,
    bytes: Vec<u8>,
    label: Label,
    scope: Scope,
    existing: Existing,
}

impl Tree {
    /// The tree in that folder, which need not exist yet.
    pub fn new(root: PathBuf, journal: Journal, zone: Zone) -> Self {
        let disk = Disk::new(root);
        Self(Arc::new(Inner { shelf: Shelf::new(disk.clone()), disk, journal, zone, writing: Arc::default() }))
    }

    /// Makes the folders and gives every file that is missing its first contents. What exists is left as it is. The owner's own
    /// files wait until there is an owner.
    ///
    /// # Errors
    /// If the workspace cannot be written.
    pub async fn seed(&self, now: Moment) -> anyhow::Result<()> {
        for kind in Kept::SHARED {
            self.create("", &kind.name(""), kind.first_contents(""), Scope::Shared, now).await?;
        }
        let inner = Arc::clone(&self.0);
        blocking(move || inner.disk.folder("inbox").map(drop)).await.with_context(|| self.cannot_write("inbox"))?;
        let Some(owner) = self.0.journal.read(first_owner).await? else {
            return Ok(());
        };
        let scope = Scope::Person(owner);
        for kind in [Kept::User, Kept::Memory] {
            self.create("", &kind.name(""), kind.first_contents(""), scope, now).await?;
        }
        Ok(())
    }

    /// What a turn for that person or group on that local day begins with. What is missing of its own gets its first contents.
    ///
    /// # Errors
    /// If the journal cannot be read. Trouble with a file is no error but a note.
    pub async fn load(&self, who: &Party, now: Moment, day: &str) -> anyhow::Result<Loaded> {
        let owner = self.0.journal.read(first_owner).await?;
        let folder = place::folder_of(who, owner);
        let scope = who.scope();
        let mut notes = Vec::new();
        let mut looks = self.look(&folder, day).await?;
        if self.create_missing(&looks, &folder, day, scope, now, &mut notes).await {
            looks = self.look(&folder, day).await?;
        }
        let labelled = self.with_labels(looks, folder, day.to_owned()).await?;
        Ok(loaded(labelled, scope, day, notes))
    }

    /// Keeps a file that came with a message, under the `inbox/` of the person's or group's folder. Gives its path relative to the workspace,
    /// and its SHA-256. The same file of the same message replaces itself.
    ///
    /// # Errors
    /// If the workspace or the journal cannot be written.
    #[allow(clippy::too_many_arguments, reason = "each is one fact about the file, and none has a default")]
    pub async fn save_inbox(
        &self,
        scope: Scope,
        who: &Party,
        id: AttachmentId,
        name_hint: &str,
        bytes: &[u8],
        label: &Label,
        now: Moment,
    ) -> anyhow::Result<(String, String)> {
        let owner = self.0.journal.read(first_owner).await?;
        let folder = place::within(&place::folder_of(who, owner), "inbox");
        let name = place::file_name(id, name_hint);
        let (path, digest) = (place::within(&folder, &name), page::digest(bytes));
        let draft =
            Draft { folder, name, bytes: bytes.to_vec(), label: label.clone(), scope, existing: Existing::Replace };
        self.write(draft, now).await?;
        Ok((path, digest))
    }

    /// The bytes of a file that [`Tree::save_inbox`] kept.
    ///
    /// # Errors
    /// If it is not there, or the path leads anywhere else than to an inbox.
    pub async fn read_inbox(&self, path: &str) -> anyhow::Result<Vec<u8>> {
        anyhow::ensure!(place::is_inbox(path), "Only received files are read here");
        let (inner, asked) = (Arc::clone(&self.0), path.to_owned());
        blocking(move || inner.disk.read(&asked, MAX_RECEIVED)).await.context("Cannot read a received file")
    }

    /// Deletes a file that [`Tree::save_inbox`] kept, if it is still the one that we wrote. No link is followed.
    ///
    /// # Errors
    /// If the path leads anywhere else than to an inbox, or the file cannot be deleted.
    pub async fn drop_received(&self, path: &str, digest: &str) -> anyhow::Result<Received> {
        anyhow::ensure!(place::is_inbox(path), "Only received files are deleted here");
        let (inner, asked, digest) = (Arc::clone(&self.0), path.to_owned(), digest.to_owned());
        blocking(move || inner.disk.remove(&asked, MAX_RECEIVED, |bytes| page::digest(bytes) == digest))
            .await
            .context("Cannot delete a received file")
    }

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
            Ok((found.inside, bytes))
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
            if !disk::is_taken(&inner.disk.unchecked(HEARTBEAT)) {
                return Ok(None);
            }
            let found = inner.disk.find(HEARTBEAT)?;
            let bytes = disk::read_up_to(disk::open(&found)?, MAX_NOTE)?;
            Ok(Some((found.inside, bytes)))
        });
        let Some((inside, bytes)) = read.await? else { return Ok(None) };
        let digest = page::digest(&bytes);
        let (row, label) = self.0.journal.read(move |db| label::of_file(db, HEARTBEAT, &inside, &digest)).await?;
        let words = String::from_utf8(bytes).ok().context("It is not UTF-8")?;
        Ok(Some((owner, Labelled::new(Arc::from(words), label, Scope::Person(owner)), row)))
    }

    /// The folder of that person or group, relative to the root.
    pub(super) async fn folder_of(&self, who: &Party) -> anyhow::Result<String> {
        let owner = self.0.journal.read(first_owner).await?;
        Ok(place::folder_of(who, owner))
    }

    /// Does something that blocks with the disk.
    pub(super) async fn on_disk<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Disk) -> anyhow::Result<T> + Send + 'static,
    ) -> anyhow::Result<T> {
        let inner = Arc::clone(&self.0);
        blocking(move || job(&inner.disk)).await
    }

    async fn look(&self, folder: &str, day: &str) -> anyhow::Result<Vec<(Kept, Look)>> {
        let (inner, folder, day) = (Arc::clone(&self.0), folder.to_owned(), day.to_owned());
        let look = move |kind| (kind, inner.shelf.look(&folder, kind, &day));
        blocking(move || Ok(Kept::SHARED.into_iter().chain(Kept::OWN).map(look).collect())).await
    }

    /// Whether anything was made.
    async fn create_missing(
        &self,
        looks: &[(Kept, Look)],
        folder: &str,
        day: &str,
        scope: Scope,
        now: Moment,
        notes: &mut Vec<String>,
    ) -> bool {
        let mut made = false;
        let date = self.0.zone.show_day(now);
        let missing = looks.iter().filter(|(kind, look)| matches!(look, Look::Missing) && !kind.is_shared());
        for (kind, _) in missing {
            match self.create(folder, &kind.name(day), kind.first_contents(&date), scope, now).await {
                Ok(()) => made = true,
                Err(error) => notes.push(format!("{error:#}")),
            }
        }
        made
    }

    /// Gives a file its first contents, if there is none.
    async fn create(
        &self,
        folder: &str,
        name: &str,
        contents: String,
        scope: Scope,
        now: Moment,
    ) -> anyhow::Result<()> {
        let inside = place::within(folder, name);
        let (folder, file) = inside.rsplit_once('/').unwrap_or(("", &inside));
        let draft = Draft {
            folder: folder.to_owned(),
            name: file.to_owned(),
            bytes: contents.into_bytes(),
            label: label::of_first_contents(),
            scope,
            existing: Existing::Keep,
        };
        self.write(draft, now).await.with_context(|| self.cannot_write(name))
    }

    /// The one writer: the row is committed before the file is renamed into place.
    async fn write(&self, draft: Draft, now: Moment) -> anyhow::Result<()> {
        let alone = Arc::clone(&self.0.writing).lock_owned().await;
        let inner = Arc::clone(&self.0);
        let (folder, draft, taken) = blocking(move || {
            let folder = inner.disk.folder(&draft.folder)?;
            let taken = disk::is_taken(&folder.path.join(&draft.name));
            Ok((folder, draft, taken))
        })
        .await?;
        if taken && draft.existing == Existing::Keep {
            return Ok(());
        }
        self.announce(&folder, &draft, now).await?;
        blocking(move || {
            // Goes along, because the caller may be cancelled while this thread is still writing.
            let _alone = alone;
            disk::put(&folder, &draft.name, &draft.bytes, draft.existing)
        })
        .await
    }

    async fn announce(&self, folder: &Found, draft: &Draft, now: Moment) -> anyhow::Result<i64> {
        let path = place::within(&folder.inside, &draft.name);
        let (digest, label, scope) = (page::digest(&draft.bytes), draft.label.clone(), draft.scope);
        let job = move |tx: crate::store::Tx<'_>| tx.file_written(&path, &digest, &label, scope, now);
        self.0.journal.write("announce a file", job).await
    }

    async fn with_labels(&self, looks: Vec<(Kept, Look)>, folder: String, day: String) -> anyhow::Result<Vec<Judged>> {
        self.0
            .journal
            .read(move |db| looks.into_iter().map(|(kind, look)| judge(db, kind, look, &folder, &day)).collect())
            .await
    }

    fn cannot_write(&self, name: &str) -> String {
        format!("Cannot write {name} in the workspace {}", self.0.disk.root().display())
    }
}

/// A look at a file with the row and the label of what was seen.
type Judged = (Kept, Look, Option<i64>, Label);

fn judge(db: Db<'_>, kind: Kept, look: Look, folder: &str, day: &str) -> anyhow::Result<Judged> {
    let (row, label) = match &look {
        Look::Page(page) => label::of_file(db, &kind.path(folder, day), &page.inside, &page.digest)?,
        Look::Missing | Look::Unreadable(_) => (None, Label::join_of([])),
    };
    Ok((kind, look, row, label))
}

/// Puts together what is trusted, and notes the rest.
fn loaded(judged: Vec<Judged>, own: Scope, day: &str, notes: Vec<String>) -> Loaded {
    let empty = |scope| -> Text { Labelled::new(Arc::from(""), Label::join_of([]), scope) };
    let mut loaded = Loaded {
        agents: empty(Scope::Shared),
        soul: empty(Scope::Shared),
        user: empty(own),
        memory: empty(own),
        today: empty(own),
        nodes: Vec::new(),
        notes,
    };
    for (kind, look, row, label) in judged {
        match look {
            Look::Missing => {}
            Look::Unreadable(note) => loaded.notes.push(note),
            Look::Page(_) if !label.is_trusted() => {
                loaded.notes.push(format!("{} is left out: untrusted text had a part in it", kind.name(day)));
            }
            Look::Page(page) => {
                loaded.nodes.extend(row);
                loaded.notes.extend(page.notes.iter().cloned());
                let scope = if kind.is_shared() { Scope::Shared } else { own };
                *loaded.slot(kind) = Labelled::new(Arc::clone(&page.text), label, scope);
            }
        }
    }
    loaded
}

impl Loaded {
    fn slot(&mut self, kind: Kept) -> &mut Text {
        match kind {
            Kept::Agents => &mut self.agents,
            Kept::Soul => &mut self.soul,
            Kept::User => &mut self.user,
            Kept::Memory => &mut self.memory,
            Kept::Today => &mut self.today,
        }
    }
}

/// Whose files are the root of the tree.
fn first_owner(db: Db<'_>) -> anyhow::Result<Option<PersonId>> {
    let people = db.people()?;
    Ok(people.into_iter().filter(|person| person.role == Role::Owner).map(|person| person.id).min())
}

async fn blocking<T: Send + 'static>(job: impl FnOnce() -> anyhow::Result<T> + Send + 'static) -> anyhow::Result<T> {
    tokio::task::spawn_blocking(job).await.context("Work with a file was abandoned")?
}
