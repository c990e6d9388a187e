//! The agents and profiles whose memory a person switched on or off.

use std::collections::BTreeMap;

use crate::store::handles::{Settings, SettingsMut};
use crate::trust::Scope;

/// Beginning of the key among the settings.
const KEY: &str = "memory_switches";

/// True for on, false for off, by the name of the agent or profile as
/// [`agent_of`](super::agent_of) gives it.
pub type MemorySwitches = BTreeMap<String, bool>;

fn key(scope: Scope) -> String {
    format!("{KEY}:{}", scope.encode())
}

impl Settings<'_> {
    /// Returns the switches of a person or group.
    pub fn memory_switches(&self, scope: Scope) -> anyhow::Result<MemorySwitches> {
        let stored = self.fact(&key(scope))?;
        Ok(stored.and_then(|stored| serde_json::from_str(&stored).ok()).unwrap_or_default())
    }
}

impl SettingsMut<'_> {
    /// Switches the memory of an agent or profile on or off.
    pub fn set_memory_switch(&self, scope: Scope, name: &str, is_on: bool) -> anyhow::Result<()> {
        let mut switches = self.memory_switches(scope)?;
        switches.insert(name.to_owned(), is_on);
        self.set_fact(&key(scope), &serde_json::to_string(&switches)?)
    }

    /// Adds the switches of a scope to those of another, whose own count, and deletes the former.
    pub fn move_memory_switches(&self, from: Scope, to: Scope) -> anyhow::Result<()> {
        let mut switches = self.memory_switches(from)?;
        if switches.is_empty() {
            return Ok(());
        }
        switches.extend(self.memory_switches(to)?);
        self.set_fact(&key(to), &serde_json::to_string(&switches)?)?;
        self.drop_memory_switches(from)
    }

    /// Deletes the switches of a scope.
    pub fn drop_memory_switches(&self, scope: Scope) -> anyhow::Result<()> {
        self.drop_fact(&key(scope))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::PersonId;
    use crate::store::Journal;

    #[tokio::test]
    async fn switches_follow_a_person_who_becomes_another() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::open_or_copy(&folder.path().join("j.db"), None).unwrap();
        let [from, to] = [1, 2].map(|id| Scope::Person(PersonId(id)));
        let story = journal.write("a story", move |tx| {
            let settings = tx.settings();
            settings.set_memory_switch(from, "nurse", true)?;
            settings.set_memory_switch(from, "cook", false)?;
            settings.set_memory_switch(to, "nurse", false)?;
            settings.move_memory_switches(from, to)?;
            let moved = MemorySwitches::from([("cook".to_owned(), false), ("nurse".to_owned(), false)]);
            assert_eq!(
                (settings.memory_switches(from)?, settings.memory_switches(to)?),
                (MemorySwitches::new(), moved)
            );
            settings.drop_memory_switches(to)?;
            assert_eq!(settings.memory_switches(to)?, MemorySwitches::new());
            Ok(())
        });
        story.await.unwrap();
    }
}
