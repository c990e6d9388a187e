//! User stories over the whole program: a fake server stands in for Telegram or Signal, a scripted
//! model answers, and one simulated clock drives both.

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

#[path = "stories/access/access.rs"]
mod access;
#[path = "stories/access/admission.rs"]
mod admission;
#[path = "stories/access/group_memory.rs"]
mod group_memory;
#[path = "stories/access/groups.rs"]
mod groups;
#[path = "stories/access/isolation.rs"]
mod isolation;
#[path = "stories/access/languages.rs"]
mod languages;
#[path = "stories/access/linked_accounts.rs"]
mod linked_accounts;
#[path = "stories/access/people_matrix.rs"]
mod people_matrix;
#[path = "stories/access/scope.rs"]
mod scope;
#[path = "stories/access/strangers.rs"]
mod strangers;
#[path = "stories/access/workspace_owner.rs"]
mod workspace_owner;

#[path = "stories/channels/buttons.rs"]
mod buttons;
#[path = "stories/channels/delivery.rs"]
mod delivery;
#[path = "stories/channels/file_list.rs"]
mod file_list;
#[path = "stories/channels/outgoing_files.rs"]
mod outgoing_files;
#[path = "stories/channels/quiet_hours.rs"]
mod quiet_hours;
#[path = "stories/channels/set_aside.rs"]
mod set_aside;
#[path = "stories/channels/signal.rs"]
mod signal;
#[path = "stories/channels/telegram.rs"]
mod telegram;
#[path = "stories/channels/terminal_answers.rs"]
mod terminal_answers;
#[path = "stories/channels/unasked.rs"]
mod unasked;
#[path = "stories/channels/undelivered.rs"]
mod undelivered;

#[path = "stories/conversation/boundary.rs"]
mod boundary;
#[path = "stories/conversation/carried_summary.rs"]
mod carried_summary;
#[path = "stories/conversation/compaction.rs"]
mod compaction;
#[path = "stories/conversation/compaction_summary.rs"]
mod compaction_summary;
#[path = "stories/conversation/conversation_list.rs"]
mod conversation_list;
#[path = "stories/conversation/edits.rs"]
mod edits;
#[path = "stories/conversation/compaction_windows.rs"]
mod compaction_windows;
#[path = "stories/conversation/golden.rs"]
mod golden;
#[path = "stories/conversation/diary.rs"]
mod diary;
#[path = "stories/conversation/long_conversation.rs"]
mod long_conversation;
#[path = "stories/conversation/main_path.rs"]
mod main_path;
#[path = "stories/conversation/next_request.rs"]
mod next_request;
#[path = "stories/conversation/order.rs"]
mod order;
#[path = "stories/conversation/outage.rs"]
mod outage;
#[path = "stories/conversation/outside_week.rs"]
mod outside_week;
#[path = "stories/conversation/power_cut.rs"]
mod power_cut;
#[path = "stories/conversation/prompt_prefix.rs"]
mod prompt_prefix;
#[path = "stories/conversation/reactions.rs"]
mod reactions;
#[path = "stories/conversation/refusals.rs"]
mod refusals;
#[path = "stories/conversation/restart.rs"]
mod restart;
#[path = "stories/conversation/sent.rs"]
mod sent;
#[path = "stories/conversation/stop_command.rs"]
mod stop_command;
#[path = "stories/conversation/tool_calls.rs"]
mod tool_calls;

#[path = "stories/documents/corpus.rs"]
mod corpus;
#[path = "stories/documents/documents.rs"]
mod documents;
#[path = "stories/documents/pictures.rs"]
mod pictures;
#[path = "stories/documents/retention.rs"]
mod retention;

#[path = "stories/erasure/copies.rs"]
mod copies;
#[path = "stories/erasure/deleted_messages.rs"]
mod deleted_messages;
#[path = "stories/erasure/deleted_on_signal.rs"]
mod deleted_on_signal;
#[path = "stories/erasure/deleted_power.rs"]
mod deleted_power;
#[path = "stories/erasure/export.rs"]
mod export;
#[path = "stories/erasure/forget.rs"]
mod forget;
#[path = "stories/erasure/forget_lines.rs"]
mod forget_lines;
#[path = "stories/erasure/forget_plan.rs"]
mod forget_plan;
#[path = "stories/erasure/forget_reports.rs"]
mod forget_reports;
#[path = "stories/erasure/person.rs"]
mod person;

#[path = "stories/memory/agent_layers.rs"]
mod agent_layers;
#[path = "stories/memory/agent_memory.rs"]
mod agent_memory;
#[path = "stories/memory/broken_files.rs"]
mod broken_files;
#[path = "stories/memory/editors.rs"]
mod editors;
#[path = "stories/memory/unseen.rs"]
mod unseen;
#[path = "stories/memory/extraction.rs"]
mod extraction;
#[path = "stories/memory/extraction_failures.rs"]
mod extraction_failures;
#[path = "stories/memory/extraction_power.rs"]
mod extraction_power;
#[path = "stories/memory/hand_values.rs"]
mod hand_values;
#[path = "stories/memory/keep_confirmation.rs"]
mod keep_confirmation;
#[path = "stories/memory/learnings.rs"]
mod learnings;
#[path = "stories/memory/loaded_files.rs"]
mod loaded_files;
#[path = "stories/memory/memory_cases.rs"]
mod memory_cases;
#[path = "stories/memory/memory_commands.rs"]
mod memory_commands;
#[path = "stories/memory/memory_files.rs"]
mod memory_files;
#[path = "stories/memory/memory_power.rs"]
mod memory_power;
#[path = "stories/memory/notes.rs"]
mod notes;
#[path = "stories/memory/one_value.rs"]
mod one_value;
#[path = "stories/memory/open_list.rs"]
mod open_list;
#[path = "stories/memory/oversized.rs"]
mod oversized;
#[path = "stories/memory/rules.rs"]
mod rules;
#[path = "stories/memory/salience.rs"]
mod salience;
#[path = "stories/memory/side_files.rs"]
mod side_files;
#[path = "stories/memory/version_pages.rs"]
mod version_pages;

#[path = "stories/operations/backup.rs"]
mod backup;
#[path = "stories/operations/bad_input.rs"]
mod bad_input;
#[path = "stories/operations/budget.rs"]
mod budget;
#[path = "stories/operations/import.rs"]
mod import;
#[path = "stories/operations/import_folder.rs"]
mod import_folder;
#[path = "stories/operations/journal.rs"]
mod journal;
#[path = "stories/operations/availability.rs"]
mod availability;
#[path = "stories/operations/limits.rs"]
mod limits;
#[path = "stories/operations/log.rs"]
mod log;
#[path = "stories/operations/offline.rs"]
mod offline;
#[path = "stories/operations/standby.rs"]
mod standby;

#[path = "stories/page/page_files.rs"]
mod page_files;
#[path = "stories/page/page_chat.rs"]
mod page_chat;
#[path = "stories/page/page_chat_files.rs"]
mod page_chat_files;
#[path = "stories/page/page_once.rs"]
mod page_once;
#[path = "stories/page/page_size.rs"]
mod page_size;
#[path = "stories/page/page_me.rs"]
mod page_me;
#[path = "stories/page/page_memory.rs"]
mod page_memory;
#[path = "stories/page/page_notes.rs"]
mod page_notes;
#[path = "stories/page/page_people.rs"]
mod page_people;
#[path = "stories/page/page_proposals.rs"]
mod page_proposals;
#[path = "stories/page/page_questions.rs"]
mod page_questions;
#[path = "stories/page/page_reflections.rs"]
mod page_reflections;
#[path = "stories/page/page_status.rs"]
mod page_status;
#[path = "stories/page/page_tools.rs"]
mod page_tools;
#[path = "stories/page/hostile_texts.rs"]
mod hostile_texts;
#[path = "stories/page/page_commands.rs"]
mod page_commands;
#[path = "stories/page/page_conversations.rs"]
mod page_conversations;
#[path = "stories/page/page_power.rs"]
mod page_power;
#[path = "stories/page/page_routes.rs"]
mod page_routes;
#[path = "stories/page/page_search.rs"]
mod page_search;
#[path = "stories/page/page_schedule.rs"]
mod page_schedule;
#[path = "stories/page/page_texts.rs"]
mod page_texts;
#[path = "stories/page/page_usage.rs"]
mod page_usage;
#[path = "stories/page/page_zones.rs"]
mod page_zones;
#[path = "stories/page/sign_in.rs"]
mod sign_in;

#[path = "stories/schedule/heartbeat.rs"]
mod heartbeat;
#[path = "stories/schedule/heartbeat_items.rs"]
mod heartbeat_items;
#[path = "stories/schedule/idle.rs"]
mod idle;
#[path = "stories/schedule/person_zone.rs"]
mod person_zone;
#[path = "stories/schedule/reflection.rs"]
mod reflection;
#[path = "stories/schedule/reminders.rs"]
mod reminders;
#[path = "stories/schedule/reminders_power.rs"]
mod reminders_power;
#[path = "stories/schedule/slots.rs"]
mod slots;
#[path = "stories/schedule/tasks.rs"]
mod tasks;
#[path = "stories/schedule/upkeep.rs"]
mod upkeep;
#[path = "stories/schedule/year.rs"]
mod year;

#[path = "stories/search/at_size.rs"]
mod at_size;
#[path = "stories/search/hybrid_search.rs"]
mod hybrid_search;
#[path = "stories/search/index_rebuild.rs"]
mod index_rebuild;
#[path = "stories/search/knowledge_search.rs"]
mod knowledge_search;
#[path = "stories/search/memory_search.rs"]
mod memory_search;
#[path = "stories/search/messages.rs"]
mod messages;
#[path = "stories/search/past_conversations.rs"]
mod past_conversations;
#[path = "stories/search/read_conversation.rs"]
mod read_conversation;
#[path = "stories/search/readable_files.rs"]
mod readable_files;
#[path = "stories/search/related_messages.rs"]
mod related_messages;
#[path = "stories/search/semantic_search.rs"]
mod semantic_search;

#[path = "stories/skills/gate_bypasses.rs"]
mod gate_bypasses;
#[path = "stories/skills/gate_cases.rs"]
mod gate_cases;
#[path = "stories/skills/gate_labels.rs"]
mod gate_labels;
#[path = "stories/skills/skill_by_hand.rs"]
mod skill_by_hand;
#[path = "stories/skills/skill_commands.rs"]
mod skill_commands;
#[path = "stories/skills/builtin_skills.rs"]
mod builtin_skills;
#[path = "stories/skills/plan.rs"]
mod plan;
#[path = "stories/skills/skill_effects.rs"]
mod skill_effects;
#[path = "stories/skills/skill_folder.rs"]
mod skill_folder;
#[path = "stories/skills/skill_forms.rs"]
mod skill_forms;
#[path = "stories/skills/skill_gate.rs"]
mod skill_gate;
#[path = "stories/skills/skill_owners.rs"]
mod skill_owners;
#[path = "stories/skills/skill_power.rs"]
mod skill_power;
#[path = "stories/skills/skill_scan.rs"]
mod skill_scan;

#[path = "stories/trust/agreed.rs"]
mod agreed;
#[path = "stories/trust/approval.rs"]
mod approval;
#[path = "stories/trust/approval_scope.rs"]
mod approval_scope;
#[path = "stories/trust/automatic_sources.rs"]
mod automatic_sources;
#[path = "stories/trust/derivations.rs"]
mod derivations;
#[path = "stories/trust/durable_text.rs"]
mod durable_text;
#[path = "stories/trust/egress.rs"]
mod egress;
#[path = "stories/trust/hostile_model.rs"]
mod hostile_model;
#[path = "stories/trust/labels.rs"]
mod labels;
#[path = "stories/trust/lasting_yes.rs"]
mod lasting_yes;
#[path = "stories/trust/lasting_yes_power.rs"]
mod lasting_yes_power;
#[path = "stories/trust/mcp.rs"]
mod mcp;
#[path = "stories/trust/mutation.rs"]
mod mutation;
#[path = "stories/trust/non_interference.rs"]
mod non_interference;
#[path = "stories/trust/own_photos.rs"]
mod own_photos;
#[path = "stories/trust/passages.rs"]
mod passages;
#[path = "stories/trust/paste.rs"]
mod paste;
#[path = "stories/trust/pending.rs"]
mod pending;
#[path = "stories/trust/piped.rs"]
mod piped;
#[path = "stories/trust/quoting.rs"]
mod quoting;
#[path = "stories/trust/skill_origin.rs"]
mod skill_origin;
#[path = "stories/trust/skill_policy.rs"]
mod skill_policy;
#[path = "stories/trust/trust.rs"]
mod trust;
#[path = "stories/trust/vouching.rs"]
mod vouching;
#[path = "stories/trust/wishes.rs"]
mod wishes;
#[path = "stories/trust/why.rs"]
mod why;
