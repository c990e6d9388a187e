//! The files that a turn begins with: created with their initial contents, and loaded.
//!
//! Only trusted text is loaded automatically. Text that is unreadable, unfit for a prompt or too
//! long is left out or cut, and [`TurnFiles::notes`] says so: a broken file never stops the
//! assistant from answering.

use std::sync::Arc;

use anyhow::Context;

use super::agent::AgentLayout;
use super::page::{DefaultFile, FileVersion};
use super::page_cache::{PageCache, PageLookup};
use super::workspace::{Closed, Workspace};
use super::{TurnFiles, label, layout};
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
        let create = |workspace: &Self| workspace.0.disk.folder("inbox").map(drop);
        self.on_disk(create).await.with_context(|| self.cannot_write("inbox"))?;
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
        let mut found = self.look_up_files(folder.as_deref(), day).await?;
        if let Some(folder) = &folder {
            let date = self.0.zone.show_day(now);
            let missing = found.iter().filter(|file| matches!(file.lookup, PageLookup::Missing));
            let missing: Vec<DefaultFile> = missing.filter_map(|file| file.purpose.default_file()).collect();
            let mut is_any_created = false;
            for kind in missing {
                match self.versions().create(folder, &kind.name(day), kind.first_contents(&date), scope, now).await {
                    Ok(()) => is_any_created = true,
                    Err(error) => notes.push(format!("{error:#}")),
                }
            }
            if is_any_created {
                found = self.look_up_files(Some(folder), day).await?;
            }
        }
        let load = move |db: Db<'_>| LoadedPages::of(db, found, scope, notes);
        Ok(self.0.journal.read(load).await?.into_turn_files(&self.1))
    }

    /// Looks up the files of a turn; without a folder only the shared ones.
    async fn look_up_files(&self, folder: Option<&str>, day: &str) -> anyhow::Result<Vec<FileLookup>> {
        let (folder, day) = (folder.map(str::to_owned), day.to_owned());
        self.on_disk(move |workspace| Ok(look_up_all(&workspace.0.pages, &workspace.1, folder.as_deref(), &day))).await
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
    purpose: LoadPurpose,
    /// Name as the file's owner knows it.
    name: String,
    /// Requested path.
    requested_path: String,
    lookup: PageLookup,
}

/// Looks up all files that a turn begins with. Blocks.
fn look_up_all(pages: &PageCache, agent: &AgentLayout, folder: Option<&str>, day: &str) -> Vec<FileLookup> {
    let is_closed = folder.is_none();
    let folder = folder.unwrap_or_default();
    let file = |kind: DefaultFile| FileLookup {
        purpose: LoadPurpose::File(kind),
        name: kind.name(day),
        requested_path: kind.path(folder, day),
        lookup: pages.get(folder, kind, day),
    };
    if is_closed {
        return DefaultFile::SHARED.into_iter().map(file).collect();
    }
    if !agent.memory.enabled {
        return DefaultFile::SHARED.into_iter().chain([DefaultFile::User]).map(file).collect();
    }
    let mut found: Vec<FileLookup> = DefaultFile::SHARED.into_iter().chain(DefaultFile::OWN).map(file).collect();
    let mut look_up = |purpose: LoadPurpose, name: String| {
        let requested_path = layout::locate(folder, &name).unwrap_or_default();
        let lookup = pages.get_path(&requested_path, &name);
        found.push(FileLookup { purpose, name, requested_path, lookup });
    };
    look_up(LoadPurpose::Workspace, agent.workspace_file());
    let own = agent.profile_file();
    if let Some(own) = own.clone() {
        look_up(LoadPurpose::Profile, own);
    }
    if agent.memory.experience_for_all {
        for file in pages.profiles(folder) {
            let name = format!("{}{file}", layout::EXPERIENCE);
            if own.as_ref() != Some(&name) {
                look_up(LoadPurpose::OtherProfile(file.trim_end_matches(".md").to_owned()), name);
            }
        }
    }
    found
}

/// Trusted files of a turn, and notes about the others.
struct LoadedPages {
    own: Scope,
    pages: Vec<(LoadPurpose, Arc<FileVersion>, Label)>,
    nodes: Vec<i64>,
    notes: Vec<String>,
}

impl LoadedPages {
    fn of(db: Db<'_>, found: Vec<FileLookup>, own: Scope, notes: Vec<String>) -> anyhow::Result<Self> {
        let mut loaded = Self { own, pages: Vec::new(), nodes: Vec::new(), notes };
        for FileLookup { purpose, name, requested_path, lookup } in found {
            let page = match lookup {
                PageLookup::Missing => continue,
                PageLookup::Unreadable(note) => {
                    loaded.notes.push(note);
                    continue;
                }
                PageLookup::Page(page) => page,
            };
            match label::of_file(db, own, &requested_path, &page.real_path, &page.digest)? {
                None => loaded.notes.push(format!("{name} is left out: {}", label::Foreign)),
                Some((_, label)) if !label.is_trusted() => {
                    loaded.notes.push(format!("{name} is left out: untrusted text had a part in it"));
                }
                Some((row, label)) => {
                    loaded.nodes.extend(row);
                    loaded.notes.extend(page.notes.iter().cloned());
                    loaded.pages.push((purpose, page, label));
                }
            }
        }
        Ok(loaded)
    }

    /// Returns the file loaded for that purpose.
    fn page(&self, purpose: &LoadPurpose) -> Option<&(LoadPurpose, Arc<FileVersion>, Label)> {
        self.pages.iter().find(|(of, ..)| of == purpose)
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
            .map_or(0, |(_, page, _)| page.size * 100 / layout::most_bytes(&page.real_path).max(1))
    }

    fn agent(&self, agent: &AgentLayout) -> Text {
        let (workspace, profile) = (self.page(&LoadPurpose::Workspace), self.page(&LoadPurpose::Profile));
        let words = |page: Option<&(LoadPurpose, Arc<FileVersion>, Label)>| {
            page.map_or("", |(_, page, _)| &*page.text).to_owned()
        };
        let shown = agent.shown(&agent.layers(&words(workspace), &words(profile)));
        let label = Label::join_of(workspace.into_iter().chain(profile).map(|(.., label)| label));
        Labelled::new(Arc::from(shown), label, self.own)
    }

    fn experience(&self, agent: &AgentLayout) -> Text {
        let others = self.pages.iter().filter_map(|(purpose, page, label)| match purpose {
            LoadPurpose::OtherProfile(profile) => Some(((profile.clone(), page.text.to_string()), label)),
            _ => None,
        });
        let (others, labels): (Vec<_>, Vec<_>) = others.unzip();
        Labelled::new(Arc::from(agent.shown_of_others(&others)), Label::join_of(labels), self.own)
    }

    fn into_turn_files(self, agent: &AgentLayout) -> TurnFiles {
        TurnFiles {
            agents: self.file(DefaultFile::Agents),
            soul: self.file(DefaultFile::Soul),
            user: self.file(DefaultFile::User),
            memory: self.file(DefaultFile::Memory),
            memory_percent: self.percent(DefaultFile::Memory),
            today: self.file(DefaultFile::Today),
            agent: self.agent(agent),
            experience: self.experience(agent),
            nodes: self.nodes,
            notes: self.notes,
        }
    }
}
