//! The promises as stories: the whole house, from a fake server in the place of Telegram or Signal
//! to a scripted model, on one simulated clock.

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

#[path = "stories/gate_labels.rs"]
mod gate_labels;
#[path = "stories/origin.rs"]
mod origin;
#[path = "stories/always_known.rs"]
mod always_known;
#[path = "stories/next_conversation.rs"]
mod next_conversation;
#[path = "stories/thrown_away.rs"]
mod thrown_away;
#[path = "stories/skill_forms.rs"]
mod skill_forms;
#[path = "stories/older_part.rs"]
mod older_part;
#[path = "stories/notes.rs"]
mod notes;
#[path = "stories/undelivered.rs"]
mod undelivered;
#[path = "stories/over.rs"]
mod over;
#[path = "stories/own_answer.rs"]
mod own_answer;
#[path = "stories/compaction.rs"]
mod compaction;
#[path = "stories/long_talk.rs"]
mod long_talk;
#[path = "stories/agent_memory.rs"]
mod agent_memory;
#[path = "stories/extraction.rs"]
mod extraction;
#[path = "stories/extraction_power.rs"]
mod extraction_power;
#[path = "stories/knowledge_search.rs"]
mod knowledge_search;
#[path = "stories/memory_search.rs"]
mod memory_search;
#[path = "stories/learnings.rs"]
mod learnings;
#[path = "stories/layers.rs"]
mod layers;
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
#[path = "stories/overgrown.rs"]
mod overgrown;
#[path = "stories/gate_cases.rs"]
mod gate_cases;
#[path = "stories/gate_holes.rs"]
mod gate_holes;
#[path = "stories/group_memory.rs"]
mod group_memory;
#[path = "stories/groups.rs"]
mod groups;
#[path = "stories/handover.rs"]
mod handover;
#[path = "stories/hostile.rs"]
mod hostile;
#[path = "stories/idle.rs"]
mod idle;
#[path = "stories/people_matrix.rs"]
mod people_matrix;
#[path = "stories/meaning.rs"]
mod meaning;
#[path = "stories/non_interference.rs"]
mod non_interference;
#[path = "stories/offline.rs"]
mod offline;
#[path = "stories/one_stream.rs"]
mod one_stream;
#[path = "stories/one_value.rs"]
mod one_value;
#[path = "stories/received.rs"]
mod received;
#[path = "stories/reflection.rs"]
mod reflection;
#[path = "stories/signal.rs"]
mod signal;
#[path = "stories/skill_by_hand.rs"]
mod skill_by_hand;
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
#[path = "stories/memory_cases.rs"]
mod memory_cases;
#[path = "stories/memory_commands.rs"]
mod memory_commands;
#[path = "stories/memory_files.rs"]
mod memory_files;
#[path = "stories/reach.rs"]
mod reach;
#[path = "stories/memory_power.rs"]
mod memory_power;
#[path = "stories/mcp.rs"]
mod mcp;
#[path = "stories/log.rs"]
mod log;
#[path = "stories/at_size.rs"]
mod at_size;
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
#[path = "stories/broken_memory.rs"]
mod broken_memory;
#[path = "stories/forget_lines.rs"]
mod forget_lines;
#[path = "stories/forget_whole.rs"]
mod forget_whole;
#[path = "stories/taken_down.rs"]
mod taken_down;
#[path = "stories/of_use.rs"]
mod of_use;
#[path = "stories/told_from.rs"]
mod told_from;
#[path = "stories/stop_reading.rs"]
mod stop_reading;
#[path = "stories/isolation.rs"]
mod isolation;
#[path = "stories/labels.rs"]
mod labels;
#[path = "stories/mutation.rs"]
mod mutation;
