//! `/memory profiles` and `/memory profile`: what agents and profiles have learned about a person,
//! and a switch for each but the one in use.

use serde_json::{Value, json};

use crate::admin::MemoryAdmin;
use crate::admin::answer::{Answer, Render, RenderContext, ShownLabel, visible_line};
use crate::memory::AgentMemory;
use crate::people::{Party, Person};
use crate::wording::memory as says;
use crate::wording::review::Surface;

/// Memories of agents and profiles about a person.
#[derive(Debug, Clone)]
pub struct AgentMemories(pub Vec<AgentMemory>);

impl MemoryAdmin<'_> {
    /// Returns what agents and profiles have learned about a person, by name.
    pub async fn agent_memories(&self, person: &Person) -> anyhow::Result<AgentMemories> {
        Ok(AgentMemories(self.workspace.files().agent_memories(&Party::One(person.clone())).await?))
    }

    /// Switches on or off whether what another agent or profile has learned comes to mind. The name
    /// is one of the list; that of a profile may come without its folder.
    pub async fn switch_agent(
        &self,
        person: &Person,
        name: &str,
        is_on: bool,
        surface: Surface,
    ) -> anyhow::Result<Answer> {
        let (language, who) = (surface.language(), Party::One(person.clone()));
        let AgentMemories(memories) = self.agent_memories(person).await?;
        let find = |wanted: &str| memories.iter().find(|memory| memory.name.eq_ignore_ascii_case(wanted));
        let found = find(name).or_else(|| find(&format!("experience/{name}")));
        let shown = visible_line(found.map_or(name, |memory| &memory.name));
        let Some(memory) = found else { return Ok(Answer::refusal(says::no_such_memory(surface, &shown))) };
        if memory.is_own {
            return Ok(Answer::refusal(says::own_memory(language, &shown)));
        }
        if !self.workspace.files().switch_memory(&who, &memory.name, is_on).await? {
            return Ok(Answer::refusal(says::no_such_memory(surface, &shown)));
        }
        let label = ShownLabel::of(&memory.label);
        let json = json!({ "name": memory.name, "on": is_on });
        Ok(Answer::showing(label, says::memory_switched(language, &shown, is_on), json))
    }
}

impl Render for AgentMemories {
    fn markdown(&self, context: &RenderContext<'_>, shown: &mut ShownLabel) -> String {
        let language = context.language();
        let line = |memory: &AgentMemory| {
            shown.also(&memory.label);
            says::agent_memory(language, &visible_line(&memory.name), memory.size, state(memory))
        };
        let lines: Vec<String> = self.0.iter().map(line).collect();
        if self.0.iter().all(|memory| memory.is_own) {
            let none = says::NO_OTHER_MEMORIES.in_language(language).into_string();
            return std::iter::once(none).chain(lines).collect::<Vec<_>>().join("\n");
        }
        let how = says::how_to_switch(context.surface);
        [says::AGENT_MEMORIES.in_language(language).into_string(), lines.join("\n"), how].join("\n\n")
    }

    fn json(&self, _: &RenderContext<'_>, shown: &mut ShownLabel) -> Value {
        let fields = |memory: &AgentMemory| {
            shown.also(&memory.label);
            json!({ "name": memory.name, "path": memory.path, "size": memory.size, "own": memory.is_own, "on": memory.is_on })
        };
        self.0.iter().map(fields).collect()
    }
}

/// State of a memory, as the wording names it.
fn state(memory: &AgentMemory) -> &'static str {
    match (memory.is_own, memory.is_on) {
        (true, _) => "own",
        (false, true) => "on",
        (false, false) => "off",
    }
}
