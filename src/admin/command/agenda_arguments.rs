//! Parses the arguments of `/reminders`, `/open` and `/heartbeat`: what waits in a person's life.

use super::arguments::{first_word, named};
use super::{Action, Command, HeartbeatChange, OpenItemChange, Query};
use crate::admin::paging::RemindersPart;
use crate::id::{OpenItemId, ReminderId};

/// Parses an empty argument, `after` and a place in the list, or a verb and a number.
pub(super) fn reminders(rest: &str) -> Option<Command> {
    let (verb, number) = first_word(rest);
    let act = |make: fn(ReminderId) -> Action| Some(Command::Act(make(ReminderId(number.parse().ok()?))));
    match verb.to_lowercase().as_str() {
        "" => Some(Command::Read(Query::Reminders(RemindersPart::page(None)))),
        "after" => Some(Command::Read(Query::Reminders(RemindersPart::page(Some(number.parse().ok()?))))),
        "cancel" => act(Action::CancelReminder),
        "done" => act(Action::FinishReminder),
        "later" => act(Action::SnoozeReminder),
        _ => None,
    }
}

/// Parses an empty argument, or a verb with the number of an open item; `add` takes the words of another.
pub(super) fn open_items(rest: &str) -> Option<Command> {
    let (verb, more) = first_word(rest);
    let (number, when) = first_word(more);
    let id = || Some(OpenItemId(number.parse().ok()?));
    let only = || id().filter(|_| when.is_empty());
    let change = match verb.to_lowercase().as_str() {
        "" => return Some(Command::Read(Query::OpenItems)),
        "done" => OpenItemChange::Done(only()?),
        "drop" => OpenItemChange::Drop(only()?),
        "undo" => OpenItemChange::Reopen(only()?),
        "later" => OpenItemChange::Later(id()?, when.to_owned()),
        "add" => OpenItemChange::Add(named(more)?),
        _ => return None,
    };
    Some(Command::Act(Action::ChangeOpenItems(change)))
}

/// Parses an empty argument, or a verb with an item; `tidy` takes effect with `yes`.
pub(super) fn heartbeat(rest: &str) -> Option<Command> {
    let (verb, more) = first_word(rest);
    let act = |make: fn(String) -> HeartbeatChange| {
        named(more).map(|words| Command::Act(Action::ChangeHeartbeat(make(words))))
    };
    match (verb.to_lowercase().as_str(), more.to_lowercase().as_str()) {
        ("", _) => Some(Command::Read(Query::Heartbeat)),
        ("add", _) => act(HeartbeatChange::AddOnce),
        ("always", _) => act(HeartbeatChange::AddStanding),
        ("done", _) => act(HeartbeatChange::Tick),
        ("open", _) => act(HeartbeatChange::Untick),
        ("tidy", "") => Some(Command::Read(Query::TickedItems)),
        ("tidy", "yes") => Some(Command::Act(Action::ChangeHeartbeat(HeartbeatChange::Tidy))),
        _ => None,
    }
}
