//! The files that a turn begins with: created with their initial contents, and loaded.
//!
//! Only trusted text is loaded automatically. Text that is unreadable, unfit for a prompt or too
//! long is left out or cut, and [`TurnFiles::notes`] says so: a broken file never stops the
//! assistant from answering.

use std::fs;
use std::io::ErrorKind;
use std::sync::Arc;

use anyhow::Context;

use super::agent::AgentLayout;
use super::page::{CachedPage, DefaultFile, FileVersion, PageKey};
use super::workspace::{Closed, Workspace};
use super::{TurnFiles, disk, label, layout, memory_md, note};
use crate::people::Party;
use crate::store::{Db, MemorySwitches, agent_of};
use crate::time::Timestamp;
use crate::time::task::lock;
use crate::trust::{Label, Labelled, Scope, Text};
use crate::wording::agent_memory as says;

/// Size limit in bytes. A larger file is not read: no person keeps such a text by hand.
const MAX_FILE: u64 = 4 * 1024 * 1024;
/// Maximum number of other profiles that are loaded.
const MOST_PROFILES: usize = 20;
/// Maximum number of rules that are loaded, and of bytes that they take together.
const MOST_RULES: usize = 40;
const RULES_MOST: usize = 2048;

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
        if let Some(folder) = folder.as_ref().filter(|_| self.1.memory.enabled)
            && let Err(error) = self.list_new_notes(who, folder, now).await
        {
            notes.push(format!("Notes that were added by hand are not in the index: {error:#}"));
        }
        let switches = Arc::new(self.0.journal.read(move |db| db.settings().memory_switches(scope)).await?);
        let mut found = self.look_up_files(folder.as_deref(), day, &switches).await?;
        if let Some(folder) = &folder {
            let date = self.0.zone.show_day(now);
            let missing = found.iter().filter(|file| matches!(file.page, Ok(None)));
            let missing: Vec<DefaultFile> = missing
                .filter_map(|file| if let LoadPurpose::File(kind) = file.purpose { Some(kind) } else { None })
                .filter(|kind| !kind.is_shared())
                .collect();
            let mut is_any_created = false;
            for kind in missing {
                match self.versions().create(folder, &kind.name(day), kind.first_contents(&date), scope, now).await {
                    Ok(()) => is_any_created = true,
                    Err(error) => notes.push(format!("{error:#}")),
                }
            }
            if is_any_created {
                found = self.look_up_files(Some(folder), day, &switches).await?;
            }
        }
        let load = move |db: Db<'_>| LoadedPages::of(db, found, scope, notes);
        let loaded = self.0.journal.read(load).await?;
        let agent = &self.1;
        Ok(TurnFiles {
            agents: loaded.file(DefaultFile::Agents),
            soul: loaded.file(DefaultFile::Soul),
            user: loaded.file(DefaultFile::User),
            memory: loaded.memory(),
            rules: loaded.rules(),
            memory_percent: loaded.percent(DefaultFile::Memory),
            today: loaded.file(DefaultFile::Today),
            agent: loaded.agent(agent),
            experience: loaded.experience(agent),
            nodes: loaded.nodes,
            unreadable: loaded.unreadable,
            notes: loaded.notes,
        })
    }

    /// Like [`Self::look_up_all`], without blocking.
    async fn look_up_files(
        &self,
        folder: Option<&str>,
        day: &str,
        switches: &Arc<MemorySwitches>,
    ) -> anyhow::Result<Vec<FileLookup>> {
        let (folder, day, switches) = (folder.map(str::to_owned), day.to_owned(), Arc::clone(switches));
        self.on_disk(move |workspace| Ok(workspace.look_up_all(folder.as_deref(), &day, &switches))).await
    }

    /// Looks up the files of a turn; without a folder only the shared ones. Blocks.
    fn look_up_all(&self, folder: Option<&str>, day: &str, switches: &MemorySwitches) -> Vec<FileLookup> {
        let (agent, owner_folder) = (&self.1, folder.unwrap_or_default());
        let file = |kind: DefaultFile| {
            let (name, requested_path) = (kind.name(day), kind.path(owner_folder, day));
            self.look_up(LoadPurpose::File(kind), PageKey::Own(owner_folder.to_owned(), kind), name, requested_path)
        };
        let own_files: &[DefaultFile] = match folder {
            None => &[],
            Some(_) if !agent.memory.enabled => &[DefaultFile::User],
            Some(_) => &DefaultFile::OWN,
        };
        let mut found: Vec<FileLookup> = DefaultFile::SHARED.iter().chain(own_files).copied().map(file).collect();
        if folder.is_none() || !agent.memory.enabled {
            return found;
        }
        let memory = found.iter().find(|file| file.purpose == LoadPurpose::File(DefaultFile::Memory));
        let memory = memory.and_then(|file| file.page.as_ref().ok()?.clone());
        let mut add = |purpose: LoadPurpose, name: String| {
            let requested_path = layout::locate(owner_folder, &name).unwrap_or_default();
            found.push(self.look_up(purpose, PageKey::At(requested_path.clone()), name, requested_path));
        };
        for file in memory.iter().flat_map(|memory| memory_md::rules(&memory.text)).take(MOST_RULES) {
            if let Some(path) = layout::normal(&format!("memory/{file}")) {
                add(LoadPurpose::Rule, path);
            }
        }
        add(LoadPurpose::Workspace, agent.workspace_file());
        let profile = agent.profile_file();
        if let Some(profile) = profile.clone() {
            add(LoadPurpose::Profile, profile);
        }
        let is_usual = agent.memory.experience_for_all;
        let others = self.profiles(owner_folder).into_iter().map(|file| format!("{}{file}", layout::EXPERIENCE));
        let is_on = |path: &String| {
            profile.as_ref() != Some(path)
                && agent_of(path).is_some_and(|name| *switches.get(&name).unwrap_or(&is_usual))
        };
        for path in others.filter(is_on).take(MOST_PROFILES) {
            let name = path.trim_start_matches(layout::EXPERIENCE).trim_end_matches(".md").to_owned();
            add(LoadPurpose::OtherProfile(name), path);
        }
        found
    }

    /// Returns the profile files with experience about the person of that folder, sorted. Blocks.
    pub(super) fn profiles(&self, folder: &str) -> Vec<String> {
        let found = fs::read_dir(self.0.experience.unchecked(folder)).into_iter().flatten();
        let names = found.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let mut profiles: Vec<String> =
            names.filter(|file| file.ends_with(".md") && !layout::is_hidden(file)).collect();
        profiles.sort();
        profiles
    }

    /// Returns the prompt text of a file, from the cache if the file is unchanged. Blocks.
    fn look_up(&self, purpose: LoadPurpose, key: PageKey, name: String, requested_path: String) -> FileLookup {
        let (disk, disk_path) = self.disk_of(&requested_path);
        let read = || {
            let found = disk.find(disk_path)?;
            let file = disk::open(&found)?;
            let stamp = disk::stamp(&file.metadata()?);
            let bytes = disk::read_up_to(file, MAX_FILE)?;
            let real_path = layout::with_base_of(&requested_path, &found.real_path());
            let page = FileVersion::of(real_path, &name, bytes).context("it is no text")?;
            let page = Arc::new(page);
            let cached = CachedPage { requested_path: requested_path.clone(), stamp, page: Arc::clone(&page) };
            lock(&self.0.pages).insert(key.clone(), cached);
            anyhow::Ok(page)
        };
        let page = match fs::metadata(disk.unchecked(disk_path)).map(|metadata| disk::stamp(&metadata)) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(format!("{name} cannot be read: {error}")),
            Ok(stamp) => {
                let is_current =
                    |cached: &&CachedPage| cached.requested_path == requested_path && cached.stamp == stamp;
                let cached = lock(&self.0.pages).get(&key).filter(is_current).map(|cached| Arc::clone(&cached.page));
                cached.map_or_else(|| read().map_err(|error| format!("{name} is left out: {error:#}")), Ok).map(Some)
            }
        };
        FileLookup { purpose, name, requested_path, page }
    }
}

/// Purpose of a loaded file.
#[derive(Debug, Clone, PartialEq, Eq)]
enum LoadPurpose {
    /// Shown as it is.
    File(DefaultFile),
    /// A rule of the person.
    Rule,
    /// The agent's memory of the workspace.
    Workspace,
    /// Experience of the agent's profile.
    Profile,
    /// Experience of another profile.
    OtherProfile(String),
}

/// Lookup of a file.
struct FileLookup {
    purpose: LoadPurpose,
    /// Name as the file's owner knows it.
    name: String,
    /// Requested path.
    requested_path: String,
    /// Prompt text, `None` if there is no such file, or the reason why it cannot be loaded.
    page: Result<Option<Arc<FileVersion>>, String>,
}

/// The rules of a person that there is room for, and the number of the others.
struct Rules<'a> {
    fitting: Vec<LoadedRule<'a>>,
    left_out: usize,
}

/// A rule, with the words that are shown.
struct LoadedRule<'a> {
    page: &'a FileVersion,
    label: &'a Label,
    words: String,
}

/// Trusted files of a turn, and notes about the others.
struct LoadedPages {
    own: Scope,
    pages: Vec<(LoadPurpose, Arc<FileVersion>, Label)>,
    nodes: Vec<i64>,
    unreadable: Vec<String>,
    notes: Vec<String>,
}

impl LoadedPages {
    fn of(db: Db<'_>, found: Vec<FileLookup>, own: Scope, notes: Vec<String>) -> anyhow::Result<Self> {
        let is_owner = if let Scope::Person(id) = own { db.people().is_owner(id)? } else { false };
        let mut loaded = Self { own, pages: Vec::new(), nodes: Vec::new(), unreadable: Vec::new(), notes };
        for FileLookup { purpose, name, requested_path, page } in found {
            let page = match page {
                Ok(Some(page)) => page,
                Ok(None) => continue,
                Err(note) => {
                    loaded.notes.push(note);
                    let is_shared = matches!(purpose, LoadPurpose::File(kind) if kind.is_shared());
                    // The name of another profile's file may say anything.
                    let is_other = matches!(purpose, LoadPurpose::OtherProfile(_));
                    if !is_other && (is_owner || !is_shared) {
                        loaded.unreadable.push(name.trim_start_matches('/').to_owned());
                    }
                    continue;
                }
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

    /// Returns `MEMORY.md` without the lines of the rules that are shown whole.
    fn memory(&self) -> Text {
        let rules = self.rules_that_fit();
        let page = self.page(&LoadPurpose::File(DefaultFile::Memory)).filter(|_| !rules.fitting.is_empty());
        let Some((_, page, label)) = page else { return self.file(DefaultFile::Memory) };
        let files = rules.fitting.iter().filter_map(|rule| rule.page.real_path.rsplit('/').next());
        let text = files.fold(page.text.to_string(), |text, file| memory_md::remove_index_line(&text, file));
        Labelled::new(Arc::from(memory_md::without_empty_rules(&text)), label.clone(), self.own)
    }

    /// Returns the rules that fit, one a line.
    fn rules(&self) -> Text {
        let Rules { fitting, left_out } = self.rules_that_fit();
        let remark = (left_out > 0).then(|| says::rules_left_out(left_out));
        let lines: Vec<&str> = fitting.iter().map(|rule| rule.words.as_str()).chain(remark.as_deref()).collect();
        Labelled::new(Arc::from(lines.join("\n")), Label::join_of(fitting.iter().map(|rule| rule.label)), self.own)
    }

    fn rules_that_fit(&self) -> Rules<'_> {
        let (mut rules, mut room) = (Rules { fitting: Vec::new(), left_out: 0 }, RULES_MOST);
        for (_, page, label) in self.pages.iter().filter(|(purpose, ..)| *purpose == LoadPurpose::Rule) {
            let words = note::rule(&page.text);
            match room.checked_sub(words.len() + 1) {
                _ if words.is_empty() => {}
                Some(rest) => {
                    room = rest;
                    rules.fitting.push(LoadedRule { page, label, words });
                }
                None => rules.left_out += 1,
            }
        }
        rules
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
}
