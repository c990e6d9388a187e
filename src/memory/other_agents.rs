//! Memories of agents and profiles about a person, and whether those of others come to mind.
//!
//! The configuration says what is usual; a person's own switches take precedence for them. What is
//! off stays on the disk, and a search that names the agent finds it.

use std::fs;

use super::layout;
use super::workspace::{Workspace, WorkspaceFiles};
use crate::people::Party;
use crate::store::{Db, Tx, agent_of};
use crate::trust::Label;

/// Memory of an agent or profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentMemory {
    /// Name, as [`agent_of`] gives it.
    pub name: String,
    /// Path as its owner sees it.
    pub path: String,
    /// Size in bytes.
    pub size: u64,
    /// True for the agent in use and its profile, which cannot be switched off.
    pub is_own: bool,
    /// True if it comes to mind by itself.
    pub is_on: bool,
    /// Label of the name.
    pub label: Label,
}

impl WorkspaceFiles<'_> {
    /// Returns the memories of agents and profiles in that party's folder, by name.
    pub async fn agent_memories(&self, who: &Party) -> anyhow::Result<Vec<AgentMemory>> {
        let (folder, scope) = (self.folder_of(who).await?, who.scope());
        let (own, is_usual) = (self.own_memories(), self.1.memory.experience_for_all);
        let within = folder.clone();
        let found = self.on_disk(move |workspace| Ok(workspace.memories_in(&within))).await?;
        let read = move |db: Db<'_>| {
            let switches = db.settings().memory_switches(scope)?;
            let memory = |(path, size): (String, u64)| {
                let Some(name) = agent_of(&path) else { return Ok(None) };
                let location = layout::locate(&folder, &path).unwrap_or_default();
                let is_own = own.contains(&name);
                let is_on = is_own || *switches.get(&name).unwrap_or(&is_usual);
                Ok(Some(AgentMemory { is_own, is_on, label: super::label::of_name(db, &location)?, name, path, size }))
            };
            found.into_iter().filter_map(|file| memory(file).transpose()).collect()
        };
        self.0.journal.read(read).await
    }

    /// Switches the memory of another agent or profile on or off for a party. Returns false if
    /// there is none of that name.
    pub async fn switch_memory(&self, who: &Party, name: &str, is_on: bool) -> anyhow::Result<bool> {
        let memories = self.agent_memories(who).await?;
        if !memories.iter().any(|memory| memory.name == name && !memory.is_own) {
            return Ok(false);
        }
        let (scope, name) = (who.scope(), name.to_owned());
        let switch = move |tx: Tx<'_>| tx.settings().set_memory_switch(scope, &name, is_on);
        self.0.journal.write("switch the memory of an agent", switch).await?;
        Ok(true)
    }
}

impl Workspace {
    /// Paths and sizes of the memories in a folder. Blocks.
    fn memories_in(&self, folder: &str) -> Vec<(String, u64)> {
        let profiles = self.profiles(folder).into_iter().map(|file| format!("{}{file}", layout::EXPERIENCE));
        let agents = fs::read_dir(self.0.disk.unchecked(&layout::within(folder, "agents"))).into_iter().flatten();
        let names = agents.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let mut agents: Vec<String> = names.map(|name| format!("agents/{name}/memory.md")).collect();
        agents.sort();
        let file = |path: String| {
            let location = layout::locate(folder, &path)?;
            let (disk, inside) = self.disk_of(&location);
            let metadata = fs::symlink_metadata(disk.unchecked(inside)).ok().filter(fs::Metadata::is_file)?;
            Some((path, metadata.len()))
        };
        profiles.chain(agents).filter_map(file).collect()
    }
}
