//! Replies to chat commands: short lines that fit on a phone, no tables.

use std::time::Duration;

use super::ProgramText;
use super::language::{Language, Sentence, say};
use super::review::Surface;
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
pub const ANSWER_WHERE_ASKED: Sentence = Sentence("answer-where-asked");
/// A search without results.
pub const NOTHING_FOUND: Sentence = Sentence("nothing-found");
/// An empty list of conversations.
pub const NO_CONVERSATIONS: Sentence = Sentence("conversations-none");
/// An empty usage report.
pub const NO_USAGE: Sentence = Sentence("usage-none");

/// Reply to a command that is quarantined after three failures.
pub const QUARANTINED: Sentence = Sentence("command-quarantined");

/// Note that no claim code is needed because an owner is reachable.
pub const CLAIMED: &str = "The owner already has access; `compline people pair NAME` gives others access.";

/// Note that the code makes its sender the first owner.
pub const CLAIM: &str = "Whoever sends this code first becomes the owner.";

/// Reply to `/resend` when no delivery is set aside.
pub const NOTHING_SET_ASIDE: Sentence = Sentence("resend-nothing");
/// Reply to `/resend` with an unknown delivery number.
pub const NOT_SET_ASIDE: Sentence = Sentence("resend-unknown");

/// Number of deliveries that are queued again.
pub fn resent(language: Language, count: usize) -> String {
    say!(language, "resent", count = count)
}

/// Deliveries that are set aside, in `/status`.
pub fn status_set_aside(numbers: &[String], surface: Surface) -> String {
    let resend = surface.command("resend", "resend");
    say!(surface.language(), "status-set-aside", numbers = numbers.join(", "), resend = resend)
}

/// Reply to a command of more characters than one may have.
pub fn too_long(language: Language, most: usize) -> String {
    say!(language, "command-too-long", most = most)
}

/// Reply to a command that only reads and took longer than that.
pub fn too_slow(language: Language, limit: Duration) -> String {
    say!(language, "command-too-slow", limit = language.span(limit))
}

/// Reply to an unknown command.
pub fn unknown(language: Language, name: &str, near: Option<&str>) -> String {
    match near {
        Some(near) => say!(language, "command-unknown-near", name = name, near = near),
        None => say!(language, "command-unknown", name = name),
    }
}

/// Reply to a command with wrong arguments.
pub fn usage(language: Language, form: &str, hint: Option<&str>) -> String {
    let usage = say!(language, "command-usage", form = form);
    format!("{usage}{}", hint.map(|hint| format!("; {hint}")).unwrap_or_default())
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
pub const MEMORY_SCOPE: Sentence = Sentence("whoami-memory");
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

/// State of an adapter. `heard` is the time since its last event. Problems of channels are English
/// sentences, which an answer in another language does not hold.
pub fn adapter(
    language: Language,
    name: &str,
    trouble: Option<&str>,
    heard: Option<Duration>,
    message: Option<Duration>,
    remark: Option<&str>,
) -> String {
    let state =
        trouble.map_or_else(|| say!(language, "status-works"), |why| say!(language, "status-trouble", why = why));
    let heard = heard.map(|ago| (language.span(ago), message.map(|ago| language.span(ago))));
    let heard = heard.map(|(heard, message)| match message {
        Some(message) => say!(language, "status-heard-message", heard = heard, message = message),
        None => say!(language, "status-heard", heard = heard),
    });
    let heard = heard.map(|heard| format!(" ({heard})")).unwrap_or_default();
    let remark =
        remark.map(|why| format!(". {}", say!(language, "status-chat-trouble", why = why))).unwrap_or_default();
    format!("- {name}: {state}{heard}{remark}")
}

/// Number of messages that wait for an answer, and for delivery.
pub fn status_queues(language: Language, inbox: i64, outbox: Option<i64>) -> String {
    let inbox = say!(language, "status-unanswered", count = inbox);
    let outbox = outbox.map(|count| format!("\n{}", say!(language, "status-undelivered", count = count)));
    format!("{inbox}{}", outbox.unwrap_or_default())
}

/// Number of pending proposals.
pub fn status_proposals(language: Language, pending: usize) -> String {
    say!(language, "status-proposals", count = pending)
}

/// State of a stream.
pub fn stream(language: Language, person: &str, conversation: Option<ConversationId>, last: &str) -> String {
    match conversation {
        Some(id) => say!(language, "status-talk", person = person, conversation = id.to_string(), last = last),
        None => say!(language, "status-no-talk", person = person, last = last),
    }
}

/// A stream without messages.
pub fn stream_silent(language: Language, person: &str) -> String {
    say!(language, "status-silent", person = person)
}

/// Model in use.
pub fn status_model(language: Language, name: &str, outage: Option<(String, ProgramText)>) -> String {
    match outage {
        None => say!(language, "status-model", model = name),
        Some((since, why)) => say!(language, "status-model-away", model = name, since = since, why = why.to_string()),
    }
}

/// The newest request that the model's server refused.
pub fn status_refusal(language: Language, at: &str, why: &str) -> String {
    say!(language, "status-refusal", at = at, why = why)
}

/// A budget that leaves no room for an answer.
pub fn used_up(language: Language, which: &str) -> String {
    say!(language, "status-used-up", budget = super::turn::budget(language, which))
}

/// Remaining budget of the day.
pub fn left(language: Language, micros: u64, tokens: u64) -> String {
    say!(language, "status-left", money = language.money(micros), tokens = language.number(tokens))
}

/// Name and role of the person.
pub fn whoami(language: Language, name: &str, role: &'static str) -> String {
    say!(language, "whoami", name = name, role = role)
}

/// Addresses of the person.
pub fn reached(language: Language, addresses: &[String]) -> String {
    match addresses {
        [] => say!(language, "whoami-unreached"),
        addresses => say!(language, "whoami-reached", addresses = addresses.join(", ")),
    }
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
pub fn since(language: Language, since: Option<&str>) -> String {
    match since {
        None => say!(language, "whoami-no-conversation"),
        Some(since) => say!(language, "whoami-conversation", since = since),
    }
}

/// Usage totals: cost, tokens and calls.
pub fn spent(language: Language, micros: u64, tokens: u64, calls: u64) -> String {
    let (money, number) = (language.money(micros), language.number(tokens));
    let amount = match (micros, tokens) {
        (_, 0) => money,
        (0, _) => say!(language, "usage-tokens", tokens = number),
        _ => say!(language, "usage-money-and-tokens", money = money, tokens = number),
    };
    say!(language, "usage-spent", amount = amount, calls = calls)
}

/// Purpose of a call.
pub fn purpose(language: Language, purpose: &str) -> String {
    say!(language, "usage-purpose", purpose = purpose)
}

/// Purpose and model of a call.
pub fn purpose_and_model(language: Language, purpose: &str, model: &str) -> String {
    format!("{}, {model}", self::purpose(language, purpose))
}

/// Share of the input that came from caches.
pub fn usage_cached(language: Language, percent: u64) -> String {
    say!(language, "usage-cached", percent = percent)
}

/// A conversation in the usage report.
pub fn usage_conversation(language: Language, id: ConversationId, person: &str) -> String {
    format!("{}, {person}", say!(language, "conversation", id = id.to_string()))
}

/// Conversations that cost most.
pub fn usage_by_conversation(language: Language, rows: &str) -> String {
    format!("**{}**\n{rows}", say!(language, "usage-by-conversation"))
}

/// Person that a call was made for.
pub fn spender(language: Language, person: &str) -> String {
    if person.is_empty() { say!(language, "usage-nobody") } else { person.to_owned() }
}

/// A row of the usage report.
pub fn usage_row(what: &str, spent: &str) -> String {
    format!("- {what}: {spent}")
}

/// Total of the usage report.
pub fn usage_total(language: Language, spent: &str) -> String {
    usage_row(&say!(language, "usage-total"), spent)
}

/// Usage of today.
pub fn usage_today(language: Language, rows: &str) -> String {
    let nothing = format!("- {}", say!(language, "usage-nothing"));
    let rows = if rows.is_empty() { &nothing } else { rows };
    format!("**{}**\n{rows}", say!(language, "usage-today"))
}

/// Usage of the last days.
pub fn usage_days(language: Language, days: u32, rows: &str) -> String {
    format!("**{}**\n{rows}", say!(language, "usage-days", days = days))
}

/// Usage by day.
pub fn usage_by_day(language: Language, rows: &str) -> String {
    format!("**{}**\n{rows}", say!(language, "usage-by-day"))
}

/// Usage by person.
pub fn usage_people(language: Language, rows: &str) -> String {
    format!("**{}**\n{rows}", say!(language, "usage-by-person"))
}

/// Author of an unrequested message, with its cause.
pub fn by_itself(language: Language, from: &str, kind: &'static str, number: Option<i64>) -> String {
    let cause = say!(language, "cause", kind = kind);
    let cause = number.map_or_else(|| cause.clone(), |number| format!("{cause} {number}"));
    say!(language, "by-itself", from = from, cause = cause)
}

/// Sources of untrusted text, after what they belong to; blank without any.
pub fn untrusted(language: Language, sources: &str) -> String {
    match sources {
        "" => String::new(),
        sources => format!(", {}", say!(language, "from-outside", sources = sources)),
    }
}

/// Heading of a search result: time, author, and the sources of untrusted text.
pub fn hit(language: Language, at: &str, who: &str, sources: &str) -> String {
    format!("**{who}** {at}{}", untrusted(language, sources))
}

/// Heading of a conversation in a list.
pub fn conversation_head(language: Language, id: i64, title: &str, opened: &str) -> String {
    let untitled = say!(language, "conversation-untitled");
    let title = if title.is_empty() { &untitled } else { title };
    format!("**{id}** {title} ({opened})")
}

/// Title of a reflection's conversation.
pub fn reflection_on(language: Language, job: &str, period: &str) -> String {
    // Other languages have no words for a period, but its name.
    let in_words = (language == Language::ENGLISH).then(|| super::reflection::period_in_words(job, period));
    say!(language, "conversation-reflection", period = in_words.unwrap_or_else(|| period.to_owned()))
}

/// Title of the conversation of a heartbeat check.
pub fn heartbeat_at(language: Language, at: &str) -> String {
    say!(language, "conversation-heartbeat", at = at)
}

/// Title of the conversation of a task.
pub fn run_of_task(language: Language, number: &str, words: &str) -> String {
    let task = say!(language, "conversation-task", number = number);
    if words.is_empty() { task } else { format!("{task}: {words}") }
}

/// Details of a conversation. In a chat only the messages of its person count.
pub fn conversation_facts(
    language: Language,
    person: &str,
    (messages, is_chat): (i64, bool),
    ended: Option<&str>,
    sources: &str,
) -> String {
    let ended = match ended {
        None => say!(language, "conversation-open"),
        Some(at) => say!(language, "conversation-ended", at = at),
    };
    let facts = match is_chat {
        true => say!(language, "conversation-facts-own", person = person, messages = messages, ended = ended),
        false => say!(language, "conversation-facts", person = person, messages = messages, ended = ended),
    };
    format!("{facts}{}", untrusted(language, sources))
}

/// Last line of a list that goes on.
pub fn more(language: Language, command: &str) -> String {
    say!(language, "list-more", command = command)
}

/// Last line of a search that found more than can be looked at.
pub fn search_ends(language: Language, depth: usize) -> String {
    say!(language, "search-ends", depth = depth)
}

/// Command or flag that shows the messages of a conversation around one of them.
pub fn rest_of_transcript(id: ConversationId, message: MessageId, in_chat: bool) -> String {
    if in_chat { format!("/conversations {id} {message}") } else { format!("--at {message}") }
}

/// Line before a part of a transcript.
pub fn earlier(language: Language, command: &str) -> String {
    say!(language, "list-earlier", command = command)
}

/// Line after a part of a transcript.
pub fn later(language: Language, command: &str) -> String {
    say!(language, "list-later", command = command)
}

/// Reply to an unknown conversation number.
pub fn no_such_conversation(language: Language, id: ConversationId) -> String {
    say!(language, "conversation-unknown", id = id.to_string())
}

/// Heading of a full transcript.
pub fn transcript_head(language: Language, id: ConversationId, title: &str, opened: &str, facts: &str) -> String {
    let conversation = say!(language, "conversation", id = id.to_string());
    let title = if title.is_empty() { &conversation } else { title };
    format!("# {title}\n\n{conversation}, {opened}, {facts}")
}

/// Heading of a list of a summary.
pub fn summary_list(language: Language, list: &'static str) -> String {
    say!(language, "summary-list", list = list)
}

/// New text of a message that was edited after its answer.
pub fn edited(language: Language, words: &str) -> String {
    say!(language, "message-edited", words = words)
}

/// File attached to a message.
pub fn attached(language: Language, kind: FileKind, name: &str) -> String {
    let kind = match kind {
        FileKind::Photo => "photo",
        FileKind::Voice | FileKind::Audio => "voice",
        FileKind::Document => "file",
    };
    let what = say!(language, "attached", kind = kind);
    if name.is_empty() { format!("({what})") } else { format!("({what}: {name})") }
}

/// A person with access.
pub fn person(name: &str, role: &str, came_in: &str, addresses: &[String]) -> String {
    let how = if came_in == "config" { "from the configuration" } else { "by pairing" };
    let addresses = if addresses.is_empty() { "no address yet".to_owned() } else { addresses.join(", ") };
    format!("- **{name}**, {role}, {how}: {addresses}")
}

/// Reply to an empty list of strangers.
pub const NO_STRANGERS: &str = "There is nobody without access.";

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
        "{name} is set in the configuration, which takes precedence: delete the entry under [[people]] there and run `compline reload`."
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
pub fn model(name: &str, first: bool, learned: &[String]) -> String {
    let line = if first { format!("- **{name}**, asked first") } else { format!("- {name}") };
    if learned.is_empty() {
        return line;
    }
    format!("{line} (learned of its server: {}; `/model forget-learned` forgets that)", learned.join("; "))
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
