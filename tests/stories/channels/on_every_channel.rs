//! Stories for every channel. Each channel's module includes this file and provides `Story` and
//! `CrashTest`.

#![allow(clippy::duplicate_mod, reason = "the same story, told over another channel")]

use super::{CrashTest, Fake, POWER_CUTS, Story};

#[path = "../access/access.rs"]
mod access;
#[path = "../operations/bad_input.rs"]
mod bad_input;
#[path = "../conversation/boundary.rs"]
mod boundary;
#[path = "../operations/budget.rs"]
mod budget;
#[path = "../channels/delivery.rs"]
mod delivery;
#[path = "../channels/file_list.rs"]
mod file_list;
#[path = "../conversation/conversation_list.rs"]
mod conversation_list;
#[path = "../documents/documents.rs"]
mod documents;
#[path = "../documents/pictures.rs"]
mod pictures;
#[path = "../access/admission.rs"]
mod admission;
#[path = "../access/languages.rs"]
mod languages;
#[path = "../conversation/main_path.rs"]
mod main_path;
#[path = "../trust/quoting.rs"]
mod quoting;
#[path = "../trust/durable_text.rs"]
mod durable_text;
#[path = "../operations/import.rs"]
mod import;
#[path = "../operations/import_folder.rs"]
mod import_folder;
#[path = "../operations/limits.rs"]
mod limits;
#[path = "../trust/approval_scope.rs"]
mod approval_scope;
#[path = "../operations/standby.rs"]
mod standby;
#[path = "../conversation/order.rs"]
mod order;
#[path = "../conversation/outage.rs"]
mod outage;
#[path = "../trust/paste.rs"]
mod paste;
#[path = "../trust/pending.rs"]
mod pending;
#[path = "../trust/piped.rs"]
mod piped;
#[path = "../conversation/power_cut.rs"]
mod power_cut;
#[path = "../trust/skill_policy.rs"]
mod skill_policy;
#[path = "../trust/lasting_yes.rs"]
mod lasting_yes;
#[path = "../trust/lasting_yes_power.rs"]
mod lasting_yes_power;
#[path = "../erasure/copies.rs"]
mod copies;
#[path = "../erasure/export.rs"]
mod export;
#[path = "../erasure/forget_plan.rs"]
mod forget_plan;
#[path = "../memory/hand_values.rs"]
mod hand_values;
#[path = "../memory/learnings.rs"]
mod learnings;
#[path = "../memory/notes.rs"]
mod notes;
#[path = "../memory/one_value.rs"]
mod one_value;
#[path = "../trust/vouching.rs"]
mod vouching;
#[path = "../trust/why.rs"]
mod why;
#[path = "../trust/approval.rs"]
mod approval;
#[path = "../search/memory_search.rs"]
mod memory_search;
#[path = "../search/messages.rs"]
mod messages;
#[path = "../search/related_messages.rs"]
mod related_messages;
#[path = "../conversation/sent.rs"]
mod sent;
#[path = "../schedule/reminders.rs"]
mod reminders;
#[path = "../conversation/restart.rs"]
mod restart;
#[path = "../access/strangers.rs"]
mod strangers;
#[path = "../access/scope.rs"]
mod scope;
#[path = "../skills/skill_effects.rs"]
mod skill_effects;
#[path = "../channels/set_aside.rs"]
mod set_aside;
#[path = "../trust/trust.rs"]
mod trust;
#[path = "../channels/unasked.rs"]
mod unasked;
#[path = "../memory/version_pages.rs"]
mod version_pages;
#[path = "../access/workspace_owner.rs"]
mod workspace_owner;
