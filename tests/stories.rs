//! The promises as stories: the whole house, from a fake Telegram server to a scripted model, on one simulated clock.

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

#[path = "stories/boundary.rs"]
mod boundary;
#[path = "stories/budget.rs"]
mod budget;
#[path = "stories/context.rs"]
mod context;
#[path = "stories/delivery.rs"]
mod delivery;
#[path = "stories/derived.rs"]
mod derived;
#[path = "stories/door.rs"]
mod door;
#[path = "stories/egress.rs"]
mod egress;
#[path = "stories/first.rs"]
mod first;
#[path = "stories/frames.rs"]
mod frames;
#[path = "stories/gate_cases.rs"]
mod gate_cases;
#[path = "stories/gate_holes.rs"]
mod gate_holes;
#[path = "stories/handover.rs"]
mod handover;
#[path = "stories/hostile.rs"]
mod hostile;
#[path = "stories/idle.rs"]
mod idle;
#[path = "stories/lasting.rs"]
mod lasting;
#[path = "stories/non_interference.rs"]
mod non_interference;
#[path = "stories/offline.rs"]
mod offline;
#[path = "stories/order.rs"]
mod order;
#[path = "stories/outage.rs"]
mod outage;
#[path = "stories/paste.rs"]
mod paste;
#[path = "stories/question.rs"]
mod question;
#[path = "stories/reflection.rs"]
mod reflection;
#[path = "stories/recall.rs"]
mod recall;
#[path = "stories/scope.rs"]
mod scope;
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
#[path = "stories/trust.rs"]
mod trust;
#[path = "stories/power_cut.rs"]
mod power_cut;
#[path = "stories/restart.rs"]
mod restart;
#[path = "stories/mcp.rs"]
mod mcp;
#[path = "stories/log.rs"]
mod log;
#[path = "stories/bad_input.rs"]
mod bad_input;
#[path = "stories/upkeep.rs"]
mod upkeep;
#[path = "stories/backup.rs"]
mod backup;
#[path = "stories/heartbeat.rs"]
mod heartbeat;
#[path = "stories/reminders.rs"]
mod reminders;
#[path = "stories/slots.rs"]
mod slots;
#[path = "stories/year.rs"]
mod year;
#[path = "stories/reminders_power.rs"]
mod reminders_power;
#[path = "stories/tasks.rs"]
mod tasks;
