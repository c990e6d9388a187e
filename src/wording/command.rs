//! What people read in answer to commands: short lines that fit a phone, no tables.

use std::time::Duration;

use super::{money, span};
use crate::id::{AddressId, ConversationId};
use crate::message::FileKind;
use crate::people::Address;

/// Nobody may use that.
pub const OWNER_ONLY: &str = "Only an owner may do that.";
/// Something went wrong inside.
pub const FAILED: &str = "That did not work, and I do not know why. The log says more; nothing was changed.";
/// Nothing more can be written.
pub const NO_ROOM: &str = "That could not be done: nothing more can be written, because the disk is full or a limit is reached. Make room \
    (`df -h` says how much there is) and do it again.";
/// /new
pub const NEW: &str =
    "Done. Your next message begins a new conversation; what mattered in this one is being written down.";
/// /stop
pub const STOPPED: &str = "Stopped.";
/// /stop
pub const NOTHING_RUNS: &str = "Nothing is running.";
/// /yes
pub const GOES_ON: &str = "Yes, this once. I go on.";
/// /no
pub const LEFT_ALONE: &str = "Then I leave it.";
/// /yes or /no, too late, or after a no.
pub const QUESTION_OVER: &str = "That question is over, so nothing was done. Ask me again if it still matters.";
/// /yes or /no once more.
pub const YES_ALREADY: &str = "You said yes to that already. That counted, and this changed nothing.";
/// /yes or /no to a question of nobody, or of somebody else.
pub const NO_SUCH_QUESTION: &str = "You were not asked a question with that number.";
/// /yes or /no on another way.
pub const ANSWER_WHERE_ASKED: &str = "A question is answered in the chat where it was put, with its button or number.";
/// Nothing was found.
pub const NOTHING_FOUND: &str = "Nothing was found.";
/// No conversations yet.
pub const NO_CONVERSATIONS: &str = "There are no conversations yet.";
/// No usage yet.
pub const NO_USAGE: &str = "No model has been used yet.";

/// A command that broke down each time.
pub const QUARANTINED: &str = "That command broke down three times, so I do not try it again; the log says more.";

/// What /help does.
pub const DOES_HELP: &str = "list the commands";
/// What /new does.
pub const DOES_NEW: &str = "begin a new conversation";
/// What /stop does.
pub const DOES_STOP: &str = "stop the answer that is being written";
/// What /yes does.
pub const DOES_YES: &str = "say yes to a question: /yes NUMBER";
/// What /no does.
pub const DOES_NO: &str = "say no to a question: /no NUMBER";
/// What /status does.
pub const DOES_STATUS: &str = "show how everything is";
/// What /resend does.
pub const DOES_RESEND: &str = "send again what was set aside: /resend [NUMBER]";
/// What /usage does.
pub const DOES_USAGE: &str = "show what the models took";
/// What /whoami does.
pub const DOES_WHOAMI: &str = "show who you are to me";
/// In the menu.
pub const DOES_LINK: &str = "reach me from one more place";
/// What /search does.
pub const DOES_SEARCH: &str = "search what was said and is kept: /search WORDS";
/// What /model does.
pub const DOES_MODEL: &str = "show or choose the model: /model NAME";
/// What /people does.
pub const DOES_PEOPLE: &str = "show who is allowed in";
/// What /pair does.
pub const DOES_PAIR: &str = "make a pairing code: /pair NAME";
/// What /remove does.
pub const DOES_REMOVE: &str = "let somebody in no longer: /remove NAME";

/// How /new is written.
pub const HOW_NEW: &str = "/new, alone, and then your message";
/// No claim code is needed.
pub const CLAIMED: &str = "An owner can be reached already; `compline people pair NAME` lets more people in.";

/// How the first owner makes themselves known.
pub fn claim(code: &str) -> String {
    format!(
        "To be the owner, write this to the assistant as your first message:\n\n`/start {code}`\n\nThe code works once, for a day."
    )
}

/// How /resend is written.
pub const HOW_RESEND: &str = "/resend, or /resend NUMBER for one delivery";
/// Nothing was set aside.
pub const NOTHING_SET_ASIDE: &str = "Nothing is set aside.";
/// No delivery of that number was set aside.
pub const NOT_SET_ASIDE: &str = "No delivery of that number is set aside.";

/// So many deliveries wait again.
pub fn resent(count: usize) -> String {
    match count {
        1 => "I try it again now.".to_owned(),
        count => format!("I try {count} deliveries again now."),
    }
}

/// Deliveries that were set aside, in /status.
pub fn status_set_aside(numbers: &[String]) -> String {
    format!("- set aside, because they could not be delivered: {} (/resend tries again)", numbers.join(", "))
}

/// How /yes is written.
pub const HOW_YES: &str = "/yes NUMBER, with the number of the question";
/// How /no is written.
pub const HOW_NO: &str = "/no NUMBER, with the number of the question";
/// How /search is written.
pub const HOW_SEARCH: &str =
    "/search [--in messages|conversations|reflections|notes|files|skills] [--case] [--context LINES] WORDS";
/// How /pair is written.
pub const HOW_PAIR: &str = "/pair NAME, or /pair NAME owner";
/// How /remove is written.
pub const HOW_REMOVE: &str = "/remove NAME";

/// An unknown command.
pub fn unknown(name: &str, near: Option<&str>) -> String {
    let hint = near.map(|near| format!(" Did you mean /{near}?")).unwrap_or_default();
    format!("I do not know the command /{name}.{hint} /help lists them all.")
}

/// A command that lacks something.
pub fn usage(how: &str) -> String {
    format!("Please write it as: {how}")
}

/// The answer would be read by others.
pub const DIRECT_ONLY: &str = "I answer that only in our direct chat.";
/// The one who is left.
pub const LAST_OWNER: &str = "That is the only owner; there has to be one. Let another owner in first.";
/// There is no such person.
pub const NOBODY_THERE: &str = "There is nobody of that number here. /people shows who there is.";
/// Nobody is allowed in.
pub const NOBODY: &str = "Nobody is allowed in yet.";
/// What is remembered for somebody.
pub const MEMORY_SCOPE: &str = "- memory: your own notes and conversations, and nobody else's";
/// Somebody whose name is not kept.
pub const REMOVED_PERSON: &str = "(removed)";

/// The Start button.
pub fn greeting(name: &str, agent: &str) -> String {
    format!("You are in, {name}. I am {agent}: just write to me. /help shows what else there is.")
}

/// All commands, one a line.
pub fn help(lines: &str) -> String {
    format!("Just write to me. Besides there is:\n\n{lines}")
}

/// A command and what it does.
pub fn help_line(name: &str, does: &str) -> String {
    format!("- /{name}: {does}")
}

/// The first line of /status.
pub fn status_head(agent: &str, version: &str, zone: &str) -> String {
    format!("**{agent}** {version}, {zone}")
}

/// An adapter; `heard` is how long ago something came.
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

/// What waits.
pub fn status_queues(inbox: i64, outbox: Option<i64>) -> String {
    let outbox = outbox.map(|count| format!(", to be delivered: {count}")).unwrap_or_default();
    format!("- to be answered: {inbox}{outbox}")
}

/// A stream.
pub fn stream(person: &str, conversation: Option<ConversationId>, last: &str) -> String {
    let current = conversation.map_or_else(|| "no conversation now".to_owned(), |id| format!("conversation {id}"));
    format!("- {person}: {current}, last message {last}")
}

/// A stream in which nothing was said yet.
pub fn stream_silent(person: &str) -> String {
    format!("- {person}: nothing said yet")
}

/// The model in use.
pub fn status_model(name: &str) -> String {
    format!("- model: {name}")
}

/// What is left of today's budget.
pub fn left(micros: u64, tokens: u64) -> String {
    format!("- left today: {}, and {tokens} tokens where no price is known", money(micros))
}

/// Who somebody is.
pub fn whoami(name: &str, role: &str) -> String {
    format!("You are **{name}**, {role}.")
}

/// Where somebody is reached.
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

/// An address with the number by which it is unlinked.
pub fn numbered(address: &str, id: AddressId) -> String {
    format!("{address} (address {id})")
}

/// Since when the conversation goes on.
pub fn since(since: Option<&str>) -> String {
    let since =
        since.map_or_else(|| "none now; your next message begins one".to_owned(), |since| format!("since {since}"));
    format!("- conversation: {since}")
}

/// What was spent.
pub fn spent(micros: u64, tokens: u64, calls: u64) -> String {
    let calls = if calls == 1 { "1 call".to_owned() } else { format!("{calls} calls") };
    match (micros, tokens) {
        (micros, 0) => format!("{} ({calls})", money(micros)),
        (0, tokens) => format!("{tokens} tokens ({calls})"),
        (micros, tokens) => format!("{} and {tokens} tokens ({calls})", money(micros)),
    }
}

/// What a call was for, and who answered.
pub fn purpose_and_model(purpose: &str, model: &str) -> String {
    format!("{purpose}, {model}")
}

/// For whom a call was made.
pub fn spender(person: &str) -> String {
    if person.is_empty() { "nobody in particular".to_owned() } else { person.to_owned() }
}

/// One sum.
pub fn usage_row(what: &str, spent: &str) -> String {
    format!("- {what}: {spent}")
}

/// The sum of all.
pub fn usage_total(spent: &str) -> String {
    format!("- together: {spent}")
}

/// Today's sums.
pub fn usage_today(rows: &str) -> String {
    let rows = if rows.is_empty() { "- nothing yet" } else { rows };
    format!("**Today**\n{rows}")
}

/// The sums of some days.
pub fn usage_days(days: u32, rows: &str) -> String {
    format!("**Last {days} days**\n{rows}")
}

/// The sums by day.
pub fn usage_by_day(rows: &str) -> String {
    format!("**By day**\n{rows}")
}

/// The sums by person.
pub fn usage_people(rows: &str) -> String {
    format!("**By person**\n{rows}")
}

/// Above a message: when, who, and where it came from if not from there alone.
pub fn hit(at: &str, who: &str, sources: &str) -> String {
    if sources.is_empty() { format!("**{who}** {at}") } else { format!("**{who}** {at}, untrusted: {sources}") }
}

/// Above what is shown of a conversation.
pub fn conversation_head(id: i64, title: &str, opened: &str) -> String {
    let title = if title.is_empty() { "without a title" } else { title };
    format!("**{id}** {title} ({opened})")
}

/// What else there is to say about a conversation.
pub fn conversation_facts(person: &str, messages: i64, ended: Option<&str>, sources: &str) -> String {
    let messages = if messages == 1 { "1 message".to_owned() } else { format!("{messages} messages") };
    let ended = ended.map_or_else(|| "goes on".to_owned(), |at| format!("ended {at}"));
    let sources = if sources.is_empty() { String::new() } else { format!(", untrusted: {sources}") };
    format!("{person}, {messages}, {ended}{sources}")
}

/// There is no such conversation.
pub fn no_such_conversation(id: ConversationId) -> String {
    format!("There is no conversation {id}.")
}

/// The head of a whole conversation.
pub fn transcript_head(id: ConversationId, title: &str, opened: &str, facts: &str) -> String {
    let title = if title.is_empty() { format!("Conversation {id}") } else { title.to_owned() };
    format!("# {title}\n\nConversation {id}, {opened}, {facts}")
}

/// What a message was changed to after it had been answered.
pub fn edited(words: &str) -> String {
    format!("(changed later to) {words}")
}

/// A file that came with a message.
pub fn attached(kind: FileKind, name: &str) -> String {
    let what = match kind {
        FileKind::Photo => "photo",
        FileKind::Voice | FileKind::Audio => "voice note",
        FileKind::Document => "file",
    };
    if name.is_empty() { format!("({what})") } else { format!("({what}: {name})") }
}

/// Somebody who is allowed in.
pub fn person(name: &str, role: &str, came_in: &str, addresses: &[String]) -> String {
    let how = if came_in == "config" { "from the configuration" } else { "by pairing" };
    let addresses = if addresses.is_empty() { "no address yet".to_owned() } else { addresses.join(", ") };
    format!("- **{name}**, {role}, {how}: {addresses}")
}

/// Those who knocked.
pub fn strangers(lines: &str) -> String {
    format!("Not let in:\n{lines}")
}

/// One who knocked.
pub fn stranger(address: &str, last: &str, count: i64) -> String {
    let times = if count == 1 { "once".to_owned() } else { format!("{count} times") };
    format!("- {address}, {times}, last {last}")
}

/// How to let one in.
pub fn let_in(adapter: &str, id: &str) -> String {
    let id = if id.bytes().all(|byte| byte.is_ascii_digit()) { id.to_owned() } else { format!("{id:?}") };
    format!(
        "To let one in, send /pair NAME here and give them the code. Or write into the configuration and restart:\n\n\
         ```\n[[people]]\nname = \"NAME\"\nrole = \"member\"\n{adapter} = {id}\n```"
    )
}

/// Nobody has that name.
pub fn no_such_person(name: &str) -> String {
    format!("There is nobody named {name}. /people shows who there is.")
}

/// The configuration wins.
pub fn stands_in_configuration(name: &str) -> String {
    format!("{name} stands in the configuration, which wins: delete the entry under [[people]] there and restart.")
}

/// Somebody is let in no longer.
pub fn removed(name: &str) -> String {
    format!("{name} is let in no longer. What was said is kept.")
}

/// That cannot be a name.
pub fn not_a_name(name: &str) -> String {
    format!("{name} cannot be a name here: 1 to 40 letters, digits, spaces, - and _, and no role.")
}

/// A new code.
pub fn pairing(name: &str, role: &str, known: bool, code: &str, valid: Duration) -> String {
    let what = if known {
        format!("{name} is in already, as {role}; this code adds one more address.")
    } else {
        format!("This code lets {name} in, as {role}.")
    };
    format!("{what} It is good once, for {}. From the new address, send me:\n\n```\n/start {code}\n```", span(valid))
}

/// The models.
pub fn models(lines: &str) -> String {
    format!("Asked in this order:\n{lines}\n\n/model NAME puts one first.")
}

/// One model.
pub fn model(name: &str, first: bool) -> String {
    if first { format!("- **{name}**, asked first") } else { format!("- {name}") }
}

/// There is no such model.
pub fn no_such_model(name: &str, listed: &str) -> String {
    format!("There is no model {name} here.\n\n{listed}")
}

/// Another model comes first now.
pub fn preferred(name: &str) -> String {
    format!("From now on {name} is asked first.")
}

/// The command line said something that only another version could mean.
pub fn line_not_understood(line: &str) -> String {
    format!("The gateway does not know the command \"{line}\"; are both of the same version?")
}

/// What a group is called: where it is, and its id there.
pub fn group(address: &Address) -> String {
    let peer = address.peer.strip_prefix("group:").unwrap_or(&address.peer);
    format!("{}:{peer}", address.adapter)
}
