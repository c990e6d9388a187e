//! Initial files, and the files that a turn begins with.
//!
//! Only trusted text is loaded automatically. Text that is unreadable, unfit for a prompt or too
//! long is left out or cut, and [`TurnFiles::notes`] says so: a broken file never stops the
//! assistant from answering.

use std::sync::Arc;

use anyhow::Context;

use super::agent::AgentLayout;
use super::default_files::DefaultFile;
use super::label::{self, Foreign};
use super::page::FileVersion;
use super::page_cache::{PageCache, PageLookup};
use super::workspace::{Closed, Workspace, blocking};
use super::{TurnFiles, layout};
use crate::people::Party;
use crate::store::Db;
use crate::time::Timestamp;
use crate::trust::{Label, Labelled, Scope, Text};

impl Workspace {
    /// Creates the folders and missing initial files, and keeps existing ones. The owner's own
    /// files are created once there is an owner.
    ///
    /// # Errors
    /// If the workspace cannot be written.
    pub async fn seed(&self, now: Timestamp) -> anyhow::Result<()> {
        self.folders().settle_folders().await?;
        self.versions().finish().await?;
        for kind in DefaultFile::SHARED {
            self.versions().create("", &kind.name(""), kind.first_contents(""), Scope::Shared, now).await?;
        }
        let inner = Arc::clone(&self.0);
        blocking(move || inner.disk.folder("inbox").map(drop)).await.with_context(|| self.cannot_write("inbox"))?;
        let Some(owner) = self.0.journal.read(|db| db.folders().present_workspace_owner()).await? else {
            return Ok(());
        };
        let scope = Scope::Person(owner.id);
        for kind in [DefaultFile::User, DefaultFile::Memory] {
            self.versions().create("", &kind.name(""), kind.first_contents(""), scope, now).await?;
        }
        Ok(())
    }

    /// Loads the files for a turn of that person or group on that local day. Creates missing files
    /// of the party with their initial contents. If memory is disabled, existing memory is not
    /// shown either.
    ///
    /// # Errors
    /// If the journal cannot be read. Problems with files are reported as notes instead.
    pub async fn load(&self, who: &Party, now: Timestamp, day: &str) -> anyhow::Result<TurnFiles> {
        let scope = who.scope();
        let mut notes = Vec::new();
        let folder = match self.folder_of(who).await {
            Err(error) if error.is::<Closed>() => {
                notes.push(format!("{error:#}"));
                None
            }
            folder => Some(folder?),
        };
        let mut seen = self.look_up_files(folder.as_deref(), day).await?;
        if let Some(folder) = &folder
            && self.create_missing(&seen, folder, day, scope, now, &mut notes).await
        {
            seen = self.look_up_files(Some(folder), day).await?;
        }
        let judge = move |db: Db<'_>| seen.into_iter().map(|seen| judge(db, scope, seen)).collect();
        let judged = self.0.journal.read(judge).await?;
        Ok(LoadedPages::of(judged, scope, notes).loaded(&self.1))
    }

    /// Looks up the files of a turn; without a folder only the shared ones.
    async fn look_up_files(&self, folder: Option<&str>, day: &str) -> anyhow::Result<Vec<FileLookup>> {
        let (inner, habits) = (Arc::clone(&self.0), Arc::clone(&self.1));
        let (folder, day) = (folder.map(str::to_owned), day.to_owned());
        blocking(move || Ok(look_up_all(&inner.shelf, &habits, folder.as_deref(), &day))).await
    }

    /// Creates missing files. Returns true if any was created.
    async fn create_missing(
        &self,
        seen: &[FileLookup],
        folder: &str,
        day: &str,
        scope: Scope,
        now: Timestamp,
        notes: &mut Vec<String>,
    ) -> bool {
        let mut made = false;
        let date = self.0.zone.show_day(now);
        let missing = seen.iter().filter(|seen| matches!(seen.look, PageLookup::Missing));
        for kind in missing.filter_map(|seen| seen.what.default_file()) {
            match self.versions().create(folder, &kind.name(day), kind.first_contents(&date), scope, now).await {
                Ok(()) => made = true,
                Err(error) => notes.push(format!("{error:#}")),
            }
        }
        made
    }
}

/// Purpose of a loaded file.
#[derive(Debug, Clone, PartialEq, Eq)]
enum LoadPurpose {
    /// Shown as it is.
    File(DefaultFile),
    /// The agent's memory of the workspace.
    Workspace,
    /// Experience of the agent's profile.
    Profile,
    /// Experience of another profile.
    OtherProfile(String),
}

impl LoadPurpose {
    /// Returns the file's kind if it is created when missing.
    fn default_file(&self) -> Option<DefaultFile> {
        match self {
            Self::File(kind) if !kind.is_shared() => Some(*kind),
            _ => None,
        }
    }
}

/// Lookup of a file.
struct FileLookup {
    what: LoadPurpose,
    /// Name as the file's owner knows it.
    name: String,
    /// Requested path.
    asked: String,
    look: PageLookup,
}

/// Lookup of a file, with its row and label if it may be read.
struct LabelledLookup {
    seen: FileLookup,
    found: Result<(Option<i64>, Label), Foreign>,
}

/// Looks up all files that a turn begins with. Blocks.
fn look_up_all(shelf: &PageCache, habits: &AgentLayout, folder: Option<&str>, day: &str) -> Vec<FileLookup> {
    let is_closed = folder.is_none();
    let folder = folder.unwrap_or_default();
    let file = |kind: DefaultFile| FileLookup {
        what: LoadPurpose::File(kind),
        name: kind.name(day),
        asked: kind.path(folder, day),
        look: shelf.get(folder, kind, day),
    };
    if is_closed {
        return DefaultFile::SHARED.into_iter().map(file).collect();
    }
    if !habits.memory.enabled {
        return DefaultFile::SHARED.into_iter().chain([DefaultFile::User]).map(file).collect();
    }
    let mut seen: Vec<FileLookup> = DefaultFile::SHARED.into_iter().chain(DefaultFile::OWN).map(file).collect();
    let mut there = |what: LoadPurpose, name: String| {
        let asked = layout::spot(folder, &name).unwrap_or_default();
        let look = shelf.get_path(&asked, &name);
        seen.push(FileLookup { what, name, asked, look });
    };
    there(LoadPurpose::Workspace, habits.workspace_file());
    let own = habits.profile_file();
    if let Some(own) = own.clone() {
        there(LoadPurpose::Profile, own);
    }
    if habits.memory.experience_for_all {
        for file in shelf.profiles(folder) {
            let name = format!("{}{file}", layout::EXPERIENCE);
            if own.as_ref() != Some(&name) {
                there(LoadPurpose::OtherProfile(file.trim_end_matches(".md").to_owned()), name);
            }
        }
    }
    seen
}

fn judge(db: Db<'_>, whose: Scope, seen: FileLookup) -> anyhow::Result<LabelledLookup> {
    let found = match &seen.look {
        PageLookup::Page(page) => label::of_file(db, whose, &seen.asked, &page.inside, &page.digest)?,
        PageLookup::Missing | PageLookup::Unreadable(_) => Ok((None, Label::neutral())),
    };
    Ok(LabelledLookup { seen, found })
}

/// Trusted files of a turn, and notes about the others.
struct LoadedPages {
    own: Scope,
    pages: Vec<(LoadPurpose, Arc<FileVersion>, Label)>,
    nodes: Vec<i64>,
    notes: Vec<String>,
}

impl LoadedPages {
    fn of(judged: Vec<LabelledLookup>, own: Scope, notes: Vec<String>) -> Self {
        let mut gathered = Self { own, pages: Vec::new(), nodes: Vec::new(), notes };
        for LabelledLookup { seen, found } in judged {
            let (row, label) = match found {
                Ok(found) => found,
                Err(foreign) => {
                    gathered.notes.push(format!("{} is left out: {foreign}", seen.name));
                    continue;
                }
            };
            match seen.look {
                PageLookup::Missing => {}
                PageLookup::Unreadable(note) => gathered.notes.push(note),
                PageLookup::Page(_) if !label.is_trusted() => {
                    gathered.notes.push(format!("{} is left out: untrusted text had a part in it", seen.name));
                }
                PageLookup::Page(page) => {
                    gathered.nodes.extend(row);
                    gathered.notes.extend(page.notes.iter().cloned());
                    gathered.pages.push((seen.what, page, label));
                }
            }
        }
        gathered
    }

    /// Returns the file loaded for that purpose.
    fn page(&self, what: &LoadPurpose) -> Option<&(LoadPurpose, Arc<FileVersion>, Label)> {
        self.pages.iter().find(|(of, ..)| of == what)
    }

    fn file(&self, kind: DefaultFile) -> Text {
        let scope = if kind.is_shared() { Scope::Shared } else { self.own };
        match self.page(&LoadPurpose::File(kind)) {
            Some((_, page, label)) => Labelled::new(Arc::clone(&page.text), label.clone(), scope),
            None => Labelled::new(Arc::from(""), Label::neutral(), scope),
        }
    }

    /// Returns the share of its size limit that a file uses, in per cent.
    fn percent(&self, kind: DefaultFile) -> usize {
        self.page(&LoadPurpose::File(kind))
            .map_or(0, |(_, page, _)| page.size * 100 / layout::most_bytes(&page.inside).max(1))
    }

    fn agent(&self, habits: &AgentLayout) -> Text {
        let (workspace, profile) = (self.page(&LoadPurpose::Workspace), self.page(&LoadPurpose::Profile));
        let words = |page: Option<&(LoadPurpose, Arc<FileVersion>, Label)>| {
            page.map_or("", |(_, page, _)| &*page.text).to_owned()
        };
        let shown = habits.shown(&habits.layers(&words(workspace), &words(profile)));
        let label = Label::join_of(workspace.into_iter().chain(profile).map(|(.., label)| label));
        Labelled::new(Arc::from(shown), label, self.own)
    }

    fn experience(&self, habits: &AgentLayout) -> Text {
        let others = self.pages.iter().filter_map(|(what, page, label)| match what {
            LoadPurpose::OtherProfile(profile) => Some(((profile.clone(), page.text.to_string()), label)),
            _ => None,
        });
        let (others, labels): (Vec<_>, Vec<_>) = others.unzip();
        Labelled::new(Arc::from(habits.shown_of_others(&others)), Label::join_of(labels), self.own)
    }

    fn loaded(self, habits: &AgentLayout) -> TurnFiles {
        TurnFiles {
            agents: self.file(DefaultFile::Agents),
            soul: self.file(DefaultFile::Soul),
            user: self.file(DefaultFile::User),
            memory: self.file(DefaultFile::Memory),
            memory_percent: self.percent(DefaultFile::Memory),
            today: self.file(DefaultFile::Today),
            agent: self.agent(habits),
            experience: self.experience(habits),
            nodes: self.nodes,
            notes: self.notes,
        }
    }
}
