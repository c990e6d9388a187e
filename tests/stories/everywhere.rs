//! The stories that hold on every channel. Each is told once per channel: this file stands in a
//! module for each, and a story takes `Story` and `CrashTest` from the module that it stands in.

#![allow(clippy::duplicate_mod, reason = "the same story, told over another channel")]

use super::{Fake, House, POWER_CUTS, Story};

#[path = "access.rs"]
mod access;
#[path = "bad_input.rs"]
mod bad_input;
#[path = "boundary.rs"]
mod boundary;
#[path = "budget.rs"]
mod budget;
#[path = "delivery.rs"]
mod delivery;
#[path = "documents.rs"]
mod documents;
#[path = "door.rs"]
mod door;
#[path = "first.rs"]
mod first;
#[path = "frames.rs"]
mod frames;
#[path = "lasting.rs"]
mod lasting;
#[path = "limits.rs"]
mod limits;
#[path = "one_address.rs"]
mod one_address;
#[path = "order.rs"]
mod order;
#[path = "outage.rs"]
mod outage;
#[path = "paste.rs"]
mod paste;
#[path = "power_cut.rs"]
mod power_cut;
#[path = "question.rs"]
mod question;
#[path = "recall.rs"]
mod recall;
#[path = "reminders.rs"]
mod reminders;
#[path = "restart.rs"]
mod restart;
#[path = "scope.rs"]
mod scope;
#[path = "set_aside.rs"]
mod set_aside;
#[path = "trust.rs"]
mod trust;
#[path = "workspace_owner.rs"]
mod workspace_owner;
