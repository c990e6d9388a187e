//! The promises as stories: the whole house, from a fake server in the place of Telegram or Signal to a scripted model, on one
//! simulated clock.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::panic,
    missing_docs,
    reason = "a test may stop at the first surprise, and its names say what it shows"
)]

#[allow(dead_code, unused_imports, reason = "not every story needs every person")]
mod support;

#[path = "stories/compaction.rs"]
mod compaction;
#[path = "stories/agent_memory.rs"]
mod agent_memory;
#[path = "stories/extraction.rs"]
mod extraction;
#[path = "stories/extraction_power.rs"]
mod extraction_power;
#[path = "stories/knowledge_search.rs"]
mod knowledge_search;
#[path = "stories/learnings.rs"]
mod learnings;
#[path = "stories/context.rs"]
mod context;
#[path = "stories/corpus.rs"]
mod corpus;
#[path = "stories/derived.rs"]
mod derived;
#[path = "stories/egress.rs"]
mod egress;
#[path = "stories/forget.rs"]
mod forget;
#[path = "stories/parting.rs"]
mod parting;
#[path = "stories/gate_cases.rs"]
mod gate_cases;
#[path = "stories/gate_holes.rs"]
mod gate_holes;
#[path = "stories/groups.rs"]
mod groups;
#[path = "stories/handover.rs"]
mod handover;
#[path = "stories/hostile.rs"]
mod hostile;
#[path = "stories/idle.rs"]
mod idle;
#[path = "stories/meaning.rs"]
mod meaning;
#[path = "stories/non_interference.rs"]
mod non_interference;
#[path = "stories/offline.rs"]
mod offline;
#[path = "stories/one_stream.rs"]
mod one_stream;
#[path = "stories/received.rs"]
mod received;
#[path = "stories/reflection.rs"]
mod reflection;
#[path = "stories/signal.rs"]
mod signal;
#[path = "stories/skill_commands.rs"]
mod skill_commands;
#[path = "stories/skill_gate.rs"]
mod skill_gate;
#[path = "stories/skill_folder.rs"]
mod skill_folder;
#[path = "stories/skill_power.rs"]
mod skill_power;
#[path = "stories/skill_scan.rs"]
mod skill_scan;
#[path = "stories/store.rs"]
mod store;
#[path = "stories/keep.rs"]
mod keep;
#[path = "stories/memory_commands.rs"]
mod memory_commands;
#[path = "stories/memory_files.rs"]
mod memory_files;
#[path = "stories/memory_power.rs"]
mod memory_power;
#[path = "stories/mcp.rs"]
mod mcp;
#[path = "stories/log.rs"]
mod log;
#[path = "stories/upkeep.rs"]
mod upkeep;
#[path = "stories/backup.rs"]
mod backup;
#[path = "stories/heartbeat.rs"]
mod heartbeat;
#[path = "stories/slots.rs"]
mod slots;
#[path = "stories/year.rs"]
mod year;
#[path = "stories/reminders_power.rs"]
mod reminders_power;
#[path = "stories/tasks.rs"]
mod tasks;
#[path = "stories/gone.rs"]
mod gone;
#[path = "stories/reactions.rs"]
mod reactions;
#[path = "stories/files_out.rs"]
mod files_out;
#[path = "stories/gone_signal.rs"]
mod gone_signal;
#[path = "stories/gone_power.rs"]
mod gone_power;
#[path = "stories/on_signal.rs"]
mod on_signal;
#[path = "stories/on_telegram.rs"]
mod on_telegram;
#[path = "stories/telegram.rs"]
mod telegram;
