//! Replies to chat commands: short lines that fit on a phone, no tables.

use std::time::Duration;

use super::language::{Language, Sentence, say};
use super::review::Surface;
use super::{ProgramText, money, span};
use crate::id::{AddressId, ConversationId, MessageId, StrangerId};
use crate::message::FileKind;
use crate::people::Address;

/// Reply to a command that only owners may use.
pub const OWNER_ONLY: Sentence = Sentence("command-owner-only");
/// Reply to a command that failed with an internal error.
pub const FAILED: Sentence = Sentence("command-failed");
/// Reply when the disk is full or the journal at its limit.
pub const NO_ROOM: Sentence = Sentence("command-no-room");
/// Reply to `/new`.
pub const NEW: Sentence = Sentence("new-conversation");
/// Reply to `/stop`.
pub const STOPPED: Sentence = Sentence("stopped");
/// Reply to `/stop` when nothing is running.
pub const NOTHING_RUNS: Sentence = Sentence("nothing-runs");
/// Reply to `/yes`.
pub const GOES_ON: Sentence = Sentence("goes-on");
/// Reply to `/no`.
pub const LEFT_ALONE: Sentence = Sentence("left-alone");
/// Reply to `/yes` or `/no` for a question that is closed.
pub const QUESTION_OVER: Sentence = Sentence("question-over");
/// Reply to a repeated `/yes`, or a `/no` after it.
pub const YES_ALREADY: Sentence = Sentence("yes-already");
/// Reply to `/yes` or `/no` with a number that the person was not asked about.
pub const NO_SUCH_QUESTION: Sentence = Sentence("no-such-question");
/// Reply to `/yes` or `/no` from another chat.
pub const ANSWER_WHERE_ASKED: &str = "Answer a question in the chat where it was asked, with its button or number.";
/// A search without results.
pub const NOTHING_FOUND: &str = "Nothing was found.";
/// An empty list of conversations.
pub const NO_CONVERSATIONS: &str = "There are no conversations of that kind yet.";
/// An empty usage report.
pub const NO_USAGE: &str = "No model has been used yet.";

/// Reply to a command that is quarantined after three failures.
pub const QUARANTINED: Sentence = Sentence("command-quarantined");

/// Note that no claim code is needed because an owner is reachable.
pub const CLAIMED: &str = "The owner already has access; `compline people pair NAME` gives others access.";

/// Note that the code makes its sender the first owner.
pub const CLAIM: &str = "Whoever sends this code first becomes the owner.";

/// Reply to `/resend` when no delivery is set aside.
pub const NOTHING_SET_ASIDE: &str = "Nothing is set aside.";
/// Reply to `/resend` with an unknown delivery number.
pub const NOT_SET_ASIDE: &str = "No delivery of that number is set aside.";

/// Number of deliveries that are queued again.
pub fn resent(count: usize) -> String {
    match count {
        1 => "Trying it again now.".to_owned(),
        count => format!("Trying {count} deliveries again now."),
    }
}

/// Deliveries that are set aside, in `/status`.
pub fn status_set_aside(numbers: &[String], surface: Surface) -> String {
    let resend = surface.command("resend", "resend");
    format!("- set aside, because they could not be delivered: {} ({resend} tries again)", numbers.join(", "))
}

/// Reply to an unknown command.
pub fn unknown(language: Language, name: &str, near: Option<&str>) -> String {
    match near {
        Some(near) => say!(language, "command-unknown-near", name = name, near = near),
        None => say!(language, "command-unknown", name = name),
    }
}

/// Reply to a command with wrong arguments. Hints are English.
pub fn usage(language: Language, form: &str, hint: Option<&str>) -> String {
    let usage = say!(language, "command-usage", form = form);
    let hint = hint.filter(|_| language == Language::ENGLISH).map(|hint| format!("; {hint}"));
    format!("{usage}{}", hint.unwrap_or_default())
}

/// Reply to a private command in a group.
pub const DIRECT_ONLY: Sentence = Sentence("command-direct-only");
/// Reply to the removal of the last owner.
pub const LAST_OWNER: &str = "That is the only owner; there has to be one. Add another owner first.";
/// Reply to an unknown person number.
pub const NOBODY_THERE: &str = "Nobody here has that number. The list of people shows the numbers.";
/// An empty list of people.
pub const NOBODY: &str = "Nobody has access yet.";
/// Scope of the memory, in `/whoami`.
pub const MEMORY_SCOPE: &str = "- memory: your own notes and conversations, and nobody else's";
/// Placeholder for the name of a removed person.
pub const REMOVED_PERSON: &str = "(removed)";

/// Reply to Telegram's Start button.
pub fn greeting(language: Language, name: &str, agent: &str) -> String {
    say!(language, "greeting", name = name, agent = agent)
}

/// List of all commands.
pub fn help(language: Language, lines: &str) -> String {
    format!("{}\n\n{lines}", say!(language, "help"))
}

/// A command as it is typed, and its description.
pub fn help_line(form: &str, description: &str) -> String {
    format!("- {form}: {description}")
}

/// First line of `/status`.
pub fn status_head(agent: &str, version: &str, zone: &str) -> String {
    format!("**{agent}** {version}, {zone}")
}

/// State of an adapter. `heard` is the time since its last event.
pub fn adapter(
    name: &str,
    trouble: Option<&str>,
    heard: Option<Duration>,
    message: Option<Duration>,
    remark: Option<&str>,
) -> String {
    let state = trouble.unwrap_or("working");
    let message = message.map(|ago| format!(", last message {} ago", span(ago))).unwrap_or_default();
    let heard = heard.map(|ago| format!(" (last heard {} ago{message})", span(ago))).unwrap_or_default();
    let remark = remark.map(|remark| format!(". {remark}")).unwrap_or_default();
    format!("- {name}: {state}{heard}{remark}")
}

/// Lengths of the inbox and the outbox.
pub fn status_queues(inbox: i64, outbox: Option<i64>) -> String {
    let outbox = outbox.map(|count| format!(", to be delivered: {count}")).unwrap_or_default();
    format!("- to be answered: {inbox}{outbox}")
}

/// State of a stream.
pub fn stream(person: &str, conversation: Option<ConversationId>, last: &str) -> String {
    let current = conversation.map_or_else(|| "no open conversation".to_owned(), |id| format!("conversation {id}"));
    format!("- {person}: {current}, last message {last}")
}

/// A stream without messages.
pub fn stream_silent(person: &str) -> String {
    format!("- {person}: nothing said yet")
}

/// Model in use.
pub fn status_model(name: &str, outage: Option<(String, ProgramText)>) -> String {
    match outage {
        None => format!("- model: {name}"),
        Some((since, why)) => format!("- model: {name}, no answer since {since}: {}", &*why),
    }
}

/// A budget that leaves no room for an answer.
pub fn used_up(which: &str) -> String {
    format!("- {which} is used up; I answer again after midnight, or once an owner raises it in the configuration")
}

/// Remaining budget of the day.
pub fn left(micros: u64, tokens: u64) -> String {
    format!("- left today: {}, and {tokens} tokens where no price is known", money(micros))
}

/// Name and role of the person.
pub fn whoami(name: &str, role: &str) -> String {
    format!("You are **{name}**, {role}.")
}

/// Addresses of the person.
pub fn reached(addresses: &[String]) -> String {
    if addresses.is_empty() {
        return "- reached: nowhere".to_owned();
    }
    format!("- reached: {}", addresses.join(", "))
}

/// An address.
pub fn address(adapter: &str, peer: &str) -> String {
    format!("{adapter} {peer}")
}

/// An address with the number that unlinks it.
pub fn numbered(address: &str, id: AddressId) -> String {
    format!("{address} (address {id})")
}

/// Start of the current conversation.
pub fn since(since: Option<&str>) -> String {
    let since =
        since.map_or_else(|| "none now; your next message begins one".to_owned(), |since| format!("since {since}"));
    format!("- conversation: {since}")
}

/// Usage totals: cost, tokens and calls.
pub fn spent(micros: u64, tokens: u64, calls: u64) -> String {
    let calls = if calls == 1 { "1 call".to_owned() } else { format!("{calls} calls") };
    match (micros, tokens) {
        (micros, 0) => format!("{} ({calls})", money(micros)),
        (0, tokens) => format!("{tokens} tokens ({calls})"),
        (micros, tokens) => format!("{} and {tokens} tokens ({calls})", money(micros)),
    }
}

/// Purpose and model of a call.
pub fn purpose_and_model(purpose: &str, model: &str) -> String {
    format!("{purpose}, {model}")
}

/// Person that a call was made for.
pub fn spender(person: &str) -> String {
    if person.is_empty() { "no person".to_owned() } else { person.to_owned() }
}

/// A row of the usage report.
pub fn usage_row(what: &str, spent: &str) -> String {
    format!("- {what}: {spent}")
}

/// Total of the usage report.
pub fn usage_total(spent: &str) -> String {
    format!("- total: {spent}")
}

/// Usage of today.
pub fn usage_today(rows: &str) -> String {
    let rows = if rows.is_empty() { "- nothing yet" } else { rows };
    format!("**Today**\n{rows}")
}

/// Usage of the last days.
pub fn usage_days(days: u32, rows: &str) -> String {
    format!("**Last {days} days**\n{rows}")
}

/// Usage by day.
pub fn usage_by_day(rows: &str) -> String {
    format!("**By day**\n{rows}")
}

/// Usage by person.
pub fn usage_people(rows: &str) -> String {
    format!("**By person**\n{rows}")
}

/// Author of a message that nobody asked for, with its cause.
pub fn by_itself(from: &str, cause: &str) -> String {
    format!("{from}, by itself ({cause})")
}

/// Heading of a search result: time, author, and the sources of untrusted text.
pub fn hit(at: &str, who: &str, sources: &str) -> String {
    if sources.is_empty() { format!("**{who}** {at}") } else { format!("**{who}** {at}, untrusted: {sources}") }
}

/// Heading of a conversation in a list.
pub fn conversation_head(id: i64, title: &str, opened: &str) -> String {
    let title = if title.is_empty() { "without a title" } else { title };
    format!("**{id}** {title} ({opened})")
}

/// Title of a reflection's conversation.
pub fn reflection_on(period: &str) -> String {
    format!("Reflection on {period}")
}

/// Title of the conversation of a heartbeat check.
pub fn heartbeat_at(at: &str) -> String {
    format!("Heartbeat, {at}")
}

/// Title of the conversation of a task.
pub fn run_of_task(number: &str, words: &str) -> String {
    if words.is_empty() { format!("Task {number}") } else { format!("Task {number}: {words}") }
}

/// Details of a conversation.
pub fn conversation_facts(person: &str, messages: i64, ended: Option<&str>, sources: &str) -> String {
    let messages = if messages == 1 { "1 message".to_owned() } else { format!("{messages} messages") };
    let ended = ended.map_or_else(|| "still open".to_owned(), |at| format!("ended {at}"));
    let sources = if sources.is_empty() { String::new() } else { format!(", untrusted: {sources}") };
    format!("{person}, {messages}, {ended}{sources}")
}

/// Last line of a list that goes on.
pub fn more(command: &str) -> String {
    format!("More: {command}")
}

/// Command or flag that shows the messages of a conversation around one of them.
pub fn rest_of_transcript(id: ConversationId, message: MessageId, in_chat: bool) -> String {
    if in_chat { format!("/conversations {id} {message}") } else { format!("--at {message}") }
}

/// Line before a part of a transcript.
pub fn earlier(command: &str) -> String {
    format!("Earlier: {command}")
}

/// Line after a part of a transcript.
pub fn later(command: &str) -> String {
    format!("Later: {command}")
}

/// Reply to an unknown conversation number.
pub fn no_such_conversation(id: ConversationId) -> String {
    format!("There is no conversation {id}.")
}

/// Heading of a full transcript.
pub fn transcript_head(id: ConversationId, title: &str, opened: &str, facts: &str) -> String {
    let title = if title.is_empty() { format!("Conversation {id}") } else { title.to_owned() };
    format!("# {title}\n\nConversation {id}, {opened}, {facts}")
}

/// New text of a message that was edited after its answer.
pub fn edited(words: &str) -> String {
    format!("(changed later to) {words}")
}

/// File attached to a message.
pub fn attached(kind: FileKind, name: &str) -> String {
    let what = match kind {
        FileKind::Photo => "photo",
        FileKind::Voice | FileKind::Audio => "voice note",
        FileKind::Document => "file",
    };
    if name.is_empty() { format!("({what})") } else { format!("({what}: {name})") }
}

/// A person with access.
pub fn person(name: &str, role: &str, came_in: &str, addresses: &[String]) -> String {
    let how = if came_in == "config" { "from the configuration" } else { "by pairing" };
    let addresses = if addresses.is_empty() { "no address yet".to_owned() } else { addresses.join(", ") };
    format!("- **{name}**, {role}, {how}: {addresses}")
}

/// List of unknown senders.
pub fn strangers(lines: &str) -> String {
    format!("Without access:\n{lines}")
}

/// An unknown sender.
pub fn stranger(id: StrangerId, who: &str, last: &str, count: i64, surface: Surface) -> String {
    let times = if count == 1 { "once".to_owned() } else { format!("{count} times") };
    let command = |line: &str| surface.command(line, line);
    let (admit, ignore) = (command(&format!("people admit {id} NAME")), command(&format!("people ignore {id}")));
    format!("- {who}, {times}, last {last}: {admit}, or {ignore}")
}

/// Reply to an unknown name.
pub fn no_such_person(name: &str) -> String {
    format!("Nobody here is named {name}. The list of people shows the names.")
}

/// Reply to the removal of a person whom the configuration names.
pub fn stands_in_configuration(name: &str) -> String {
    format!(
        "{name} is set in the configuration, which takes precedence: delete the entry under [[people]] there and restart."
    )
}

/// Reply to the removal of a person.
pub fn removed(name: &str) -> String {
    format!("{name} no longer has access. Past messages are kept.")
}

/// Reply to an invalid name.
pub fn not_a_name(name: &str) -> String {
    format!("{name} cannot be a name here: 1 to 40 letters, digits, spaces, - and _, and no role.")
}

/// Note on the effect of a pairing code.
pub fn pairing(name: &str, role: &str, known: bool) -> String {
    if known {
        format!("{name} already has access, as {role}; this code adds an address.")
    } else {
        format!("This code gives {name} access, as {role}.")
    }
}

/// Models in the order of their use.
pub fn models(lines: &str) -> String {
    format!("Asked in this order:\n{lines}\n\n/model NAME puts one first.")
}

/// A model in the list.
pub fn model(name: &str, first: bool) -> String {
    if first { format!("- **{name}**, asked first") } else { format!("- {name}") }
}

/// Reply to an unknown model name.
pub fn no_such_model(name: &str, listed: &str) -> String {
    format!("There is no model {name} here.\n\n{listed}")
}

/// Reply to a change of the preferred model.
pub fn preferred(name: &str) -> String {
    format!("From now on {name} is asked first.")
}

/// Notice: the preferred model is no longer configured.
pub fn preferred_is_gone(preferred: &str, first: &str) -> ProgramText {
    ProgramText::message(format!(
        "The model {preferred}, which was chosen with /model, is not configured any more. From now on {first} is asked first."
    ))
}

/// Reply to an operator command of another program version.
pub fn line_not_understood(line: &str) -> String {
    format!("The gateway does not know the command \"{line}\"; are both of the same version?")
}

/// Name of a group: channel and group id.
pub fn group(address: &Address) -> String {
    let peer = address.peer.strip_prefix("group:").unwrap_or(&address.peer);
    format!("{}:{peer}", address.adapter)
}
