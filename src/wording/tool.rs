//! Text about tools: descriptions and results for the model, the questions that people are asked
//! before a tool sends data out, and MCP tools.

use std::collections::BTreeSet;

use super::language::{Language, Sentence, say};
use super::why::all_in_words;
use crate::id::{ProposalId, QuestionId};
use crate::text::shorten;
use crate::trust::{Label, Source};

/// Maximum number of characters of the sources named in a question.
const MAX_SOURCES: usize = 200;
/// Maximum number of characters of a button beside another one.
const MAX_BUTTON: usize = 20;
/// Maximum number of characters of a value in a sentence.
pub(super) const MAX_NAME: usize = 80;

/// Description of `read_reflection`.
pub const READ_REFLECTION: &str = "Read a reflection: 2026-11-20, 2026-W47 or 2026-11.";
/// Error of `read_reflection`.
pub const REFLECTIONS_UNREADABLE: &str = "Reflections cannot be read just now.";
/// Description of `web_fetch`.
pub const WEB_FETCH: &str = "Read a web page.";
/// Error: the arguments are no JSON object.
pub const BAD_ARGUMENTS: &str =
    "The arguments are not a JSON object. Call the tool again with the arguments that its schema names.";
/// Result of a call that a restart interrupted.
pub const OUTCOME_UNKNOWN: &str =
    "This call was cut off by a restart. Whether it took effect is unknown; check before you repeat it.";

/// Description of `load_skill`.
pub const LOAD_SKILL: &str = "Read a skill.";
/// Description of `load_skill_resource`.
pub const LOAD_SKILL_RESOURCE: &str = "Read another file of a skill.";
/// Error: the skills cannot be read.
pub const SKILLS_UNREADABLE: &str = "The skills cannot be read just now.";
/// Description of `submit_skill`.
pub const SUBMIT_SKILL: &str = "Propose a skill change. Load skill-authoring first.";
/// Description of the argument `files`.
pub const SUBMIT_FILES: &str = "content null deletes";
/// Error of `submit_skill`.
pub const SUBMIT_FAILED: &str = "The proposal could not be stored just now. Nothing was changed.";
/// Error: invalid `change`.
pub const SUBMIT_WHICH_CHANGE: &str = "`change` is one of create, edit, delete and rename.";
/// Error: invalid `files`.
pub const SUBMIT_BAD_FILES: &str =
    "`files` is a list of {\"path\": …, \"content\": …}; content is the whole file as text, or null to take it out.";

/// Error: a redirect leads to a host that is not public.
pub const LEADS_TO_NO_PUBLIC_HOST: &str = "That address redirects to what is not a public host";

/// Prefix of the address of a page.
pub const PAGE_ADDRESS: &str = "Address: ";

/// Result for a redirect to another address in a conversation that has read untrusted text.
pub fn leads_to(asked: &str, to: &str) -> String {
    format!(
        "There is no page at {asked}. It leads to the following address, which was not opened; opening it is another call.\n<page>\n{to}\n</page>"
    )
}

/// Error: the address was typed with `https`.
pub const TYPED_WITH_HTTPS: &str = "Refused: the person typed this address with https. Open it with https.";

/// Error: unknown tool. `near` are known names like it.
pub fn unknown(name: &str, near: &[&str]) -> String {
    let hint = match near {
        [] => String::new(),
        near => format!(" Did you mean {}?", near.join(" or ")),
    };
    format!("There is no tool named {:?}.{hint}", shorten(name, 60))
}

/// Error: arguments that are unknown, each with the one that was probably meant, or missing.
pub fn wrong_arguments(
    tool: &str,
    unknown: &[(&str, Option<&str>)],
    missing: &[&str],
    known: &[&str],
    required: &[&str],
) -> String {
    let unknown = unknown.iter().take(4).map(|(name, meant)| {
        let meant = meant.map(|meant| format!(" (did you mean `{meant}`?)")).unwrap_or_default();
        format!("`{}` is unknown{meant}", shorten(name, 40))
    });
    let wrong: Vec<String> = unknown.chain(missing.iter().map(|name| format!("`{name}` is missing"))).collect();
    let known = known
        .iter()
        .map(|name| if required.contains(name) { format!("{name} (required)") } else { (*name).to_owned() });
    let known: Vec<String> = known.collect();
    let takes = if known.is_empty() { "no arguments".to_owned() } else { known.join(", ") };
    format!("{tool} was not called: {}; it takes {takes}.", wrong.join(" and "))
}

/// Error: an unknown value of an argument with known ones.
pub fn unknown_value(name: &str, value: &str, known: &[&str]) -> String {
    format!("`{name}` cannot be {value}; it is one of: {}.", known.join(", "))
}

/// Error: a value of another type.
pub fn wrong_type(name: &str, value: &str, expected: &str) -> String {
    format!("`{name}` cannot be {value}; it is {expected}.")
}

/// Error: an MCP tool that an unattended run may not use.
pub fn not_named(name: &str) -> String {
    format!(
        "Refused: nobody reads along here, and the person did not name {:?} in their own words. Say in your answer what you would have done.",
        shorten(name, 60)
    )
}

/// Speaker and sources of an untrusted text.
pub fn from_outside(who: &str, sources: &str) -> String {
    format!("{who}, from outside ({sources})")
}

/// Error: no reflection for this period. `newest` are the periods of the latest ones.
pub fn no_reflection(period: &str, newest: &[String]) -> String {
    let newest = match newest {
        [] => "There are none yet.".to_owned(),
        newest => format!("The newest are on {}.", newest.join(", ")),
    };
    format!(
        "There is no reflection on {:?}. A period is written 2026-11-20, 2026-W47 or 2026-11. {newest}",
        shorten(period, 40)
    )
}

/// Refusal of an egress that needs consent, where no person can be asked.
pub fn way_out_refused(label: &Label, to: &str) -> String {
    format!(
        "Refused: this conversation {}, nobody said yes to {}, and nobody can be asked now.",
        has_read(label),
        shorten(to, 200)
    )
}

/// Refusal of an egress that is too long to be shown whole.
pub fn too_long_to_ask(label: &Label, limit: usize) -> String {
    format!(
        "Refused: this conversation {}, so a person would have to agree, and what would be sent is too long to be \
         shown to them ({limit} characters at most). Tell them; they can type the address themselves.",
        has_read(label)
    )
}

/// Error: a change of a file is too long to be shown for approval.
pub fn too_long_a_change(label: &Label, limit: usize) -> String {
    format!(
        "Refused: this conversation {}, so the person would have to agree before lines of theirs go, and the change is too \
         long to be shown to them ({limit} characters at most). Change less at once, or only add lines.",
        has_read(label)
    )
}

/// What nobody agreed to: a change that takes lines of a person away.
pub fn change_that_takes(path: &str) -> String {
    format!("taking lines away from {}; only add lines", shorten(path, 120))
}

/// Question for consent to a change of a file that takes lines of its person away.
pub fn may_i_take_away(language: Language, path: &str) -> String {
    say!(language, "may-i-take-away", path = path)
}

/// Result of a call that waits for consent.
pub fn asked_first(question: QuestionId) -> String {
    format!("Not made: the person was asked (question {question}), and has not agreed.")
}

/// Result of a call after the person said yes.
pub const SAID_YES: &str = "They said yes: the call is repeated below and made there.";
/// Result of a call after the person said no.
pub const SAID_NO: &str = "They said no, so this was not made. What they asked still waits for your answer.";
/// Result of a call that waited with a question about another one.
pub const WAITED: &str = "This waited with a question about another call, which got no yes, so it was not made. It needs none: make \
    it now if they still want it.";
/// Result of a call that the person has not answered yet.
pub fn still_open(question: QuestionId) -> String {
    format!(
        "They were asked and have not answered yet, so this was not made. Say in one line what was not done, and that \
         `/yes {question}` or its button still does it within a day; what else they asked still waits for your answer."
    )
}

/// Result of a call that a turn wanted a question for, after one that was not answered.
pub const NOT_ASKED_AGAIN: &str = "Not made: they have not answered the last question, and are not asked again before \
    they write. Say what was not done.";

/// Result of a call after the person gave no answer.
pub const SAID_NOTHING: &str = "They were asked and did not answer in time, so this was not made. Say in one line what was \
    not done and that it can be asked for again; what else they asked still waits for your answer.";

/// How a person agrees to this number of calls.
pub fn agree(language: Language, question: QuestionId, calls: usize, minutes: u64) -> String {
    let id = question.to_string();
    match calls {
        1 => say!(language, "may-i-agree", question = id, minutes = minutes),
        _ => say!(language, "may-i-agree-to-all", question = id, minutes = minutes),
    }
}

/// The same, of calls that touch only that person.
pub fn agree_own(language: Language, question: QuestionId, calls: usize) -> String {
    let id = question.to_string();
    match calls {
        1 => say!(language, "may-i-agree-own", question = id),
        _ => say!(language, "may-i-agree-to-all-own", question = id),
    }
}

/// Question for consent to one call or several, each in its own words; `agree` says how.
pub fn may_i(language: Language, calls: &[String], label: &Label, agree: &str) -> String {
    let (why, way_out) = (reason(language, label), way_out(language, label));
    match calls {
        [call] => format!("{call}\n\n{why} {agree}{way_out}"),
        calls => {
            let list: Vec<String> =
                calls.iter().zip(1..).map(|(call, number): (_, usize)| format!("**{number}.** {call}")).collect();
            let (head, list) = (say!(language, "may-i", count = calls.len()), list.join("\n\n"));
            format!("{head}\n\n{list}\n\n{why} {agree}{way_out}")
        }
    }
}

/// Ways to answer a question about one call of an outside tool for further calls too, in which
/// these arguments may differ if the person wants it.
pub fn may_last(language: Language, question: QuestionId, varying: &[String]) -> String {
    let same = say!(language, "may-last", question = question.to_string());
    if varying.is_empty() {
        return same;
    }
    let names = may_differ(language, varying);
    format!("{same}\n\n{}", say!(language, "may-last-varying", question = question.to_string(), differ = names))
}

/// Title of the button that covers ten calls in which these arguments may differ; `None` if nothing
/// may, or if it cannot name them all.
pub fn varying_button(language: Language, varying: &[String]) -> Option<String> {
    let title = || say!(language, "button-yes-ten-varying", names = varying.join(", "));
    (!varying.is_empty()).then(title).filter(|title| title.chars().count() <= MAX_BUTTON)
}

/// The arguments that may differ in further calls.
pub(super) fn may_differ(language: Language, varying: &[String]) -> String {
    let names: Vec<String> = varying.iter().map(|place| in_code(place)).collect();
    say!(language, "may-differ", names = names.join(", "))
}

/// Notice of calls under an earlier yes.
pub fn used_under_yes(language: Language, tool: &str, calls: u32, left: Option<u32>) -> String {
    let left = match left {
        None => say!(language, "used-until-new"),
        Some(0) => say!(language, "used-asks-again"),
        Some(left) => say!(language, "used-left", left = left),
    };
    say!(language, "used-under-yes", tool = in_code(tool), calls = calls, left = left)
}

/// Reason for the question, about the conversation.
fn has_read(label: &Label) -> &'static str {
    if !label.asks_before_leaving() {
        return "uses skills that do not name where this goes";
    }
    match (label.is_trusted_here(), label.is_of_third_party()) {
        (false, _) => "has read text from outside",
        (true, true) => "uses a third-party skill",
        (true, false) => "has read what the person sent",
    }
}

/// Reason for a question, in the first person; if only the loaded skills ask, what a yes covers.
fn reason(language: Language, label: &Label) -> String {
    if !label.asks_before_leaving() {
        return say!(language, "reason-destination");
    }
    match (label.is_trusted_here(), label.is_of_third_party()) {
        (false, _) => {
            let sources = shorten(&all_in_words(language, label), MAX_SOURCES);
            say!(language, "reason-outside", sources = sources)
        }
        (true, true) => say!(language, "reason-skill"),
        (true, false) => say!(language, "reason-sent"),
    }
}

/// Instruction for ending the questions about text from outside.
fn way_out(language: Language, label: &Label) -> String {
    let can_be_vouched_for = label.sources().any(Source::can_be_vouched_for);
    match (label.is_trusted_here(), can_be_vouched_for) {
        (true, _) => String::new(),
        (false, false) => format!(" {}", say!(language, "way-out-new")),
        (false, true) => format!(" {}", say!(language, "way-out-trust")),
    }
}

/// Question for consent to open an address, which stands below.
pub fn may_i_open(language: Language, host: &str) -> String {
    say!(language, "may-i-open", host = host)
}

/// Question for consent to open an address, which stands below, after the reason for it.
pub const OPEN_IT: Sentence = Sentence("may-i-open-it");

/// Reason for a question: where the call goes is named by no loaded skill.
pub fn unnamed_by_skills<'a>(
    language: Language,
    skills: impl Iterator<Item = &'a str>,
    names: &BTreeSet<String>,
) -> String {
    let skills: Vec<&str> = skills.collect();
    let names: Vec<String> = names.iter().map(|name| in_code(&shorten(name, MAX_NAME))).collect();
    let names = names.join(&format!(" {} ", say!(language, "question-or")));
    say!(language, "question-unnamed", skills = skills.len(), loaded = skills.join(", "), names = names)
}

/// Question for consent to call an MCP tool with the arguments below.
pub fn may_i_send(language: Language, server: &str, tool: &str) -> String {
    say!(language, "may-i-send", tool = in_code(tool), server = in_code(server))
}

/// Question for consent to call any other tool with the arguments below.
pub fn may_i_use(language: Language, tool: &str) -> String {
    say!(language, "may-i-use", tool = in_code(tool))
}

/// Question for consent to call a tool without arguments.
pub const WITHOUT_ARGUMENTS: &str = "(nothing)";

/// A name as inline code.
pub(super) fn in_code(name: &str) -> String {
    format!("`{}`", crate::text::one_line(name).replace('`', "'"))
}

/// Title of the button that consents.
pub const YES_BUTTON: Sentence = Sentence("button-yes");
/// Button.
pub const YES_TEN_BUTTON: Sentence = Sentence("button-yes-ten");
/// Button.
pub const YES_UNTIL_NEW_BUTTON: Sentence = Sentence("button-yes-until-new");
/// Title of the button that refuses.
pub const NO_BUTTON: Sentence = Sentence("button-no");

/// A web page. Its text contains no mark that could close the frame.
pub fn page(address: &str, title: Option<&str>, text: &str, cut: bool) -> String {
    let title = title.map(|title| format!("Title: {title}\n")).unwrap_or_default();
    let end = if cut { "\n(the page is longer; the rest was left out)" } else { "" };
    format!("{PAGE_ADDRESS}{address}\n{title}<page>\n{text}\n</page>{end}")
}

/// A loaded skill with a list of its other files.
pub fn skill(folder: &str, text: &str, others: &[&str]) -> String {
    if others.is_empty() {
        return text.to_owned();
    }
    let list: Vec<String> = others.iter().take(100).map(|path| format!("- {path}")).collect();
    format!("{text}\n\nFiles of skills/{folder}, for load_skill_resource:\n{}", list.join("\n"))
}

/// Error: unknown skill.
pub fn no_such_skill(name: &str) -> String {
    format!("There is no skill named {:?} that could be used. The list of skills has their names.", shorten(name, 80))
}

/// Error: unknown file of a skill.
pub fn no_such_resource(path: &str) -> String {
    format!("The skill has no file {:?}. load_skill names the files that it has.", shorten(path, 200))
}

/// Error: invalid path inside a skill.
pub fn bad_path(path: &str, problem: &str) -> String {
    format!("{:?} is no path inside a skill: {problem}.", shorten(path, 200))
}

/// Error: not a text file.
pub fn not_text(path: &str, bytes: usize) -> String {
    format!("{:?} is no text ({bytes} bytes), and cannot be read here.", shorten(path, 200))
}

/// Result: the proposal is staged.
pub fn submitted(id: ProposalId) -> String {
    format!(
        "Staged as proposal {id}. It is being checked; the owner is told of it and decides. The skill is unchanged until then. Say so, and do not ask again."
    )
}

/// Result: the proposal is staged and depends on untrusted text.
pub fn submit_tainted(id: ProposalId) -> String {
    format!(
        "Staged as proposal {id}. Because this conversation has read text from outside, it waits for the owner in any case, who is told where it came \
         from. The skill is unchanged until then. Say so, and do not ask again."
    )
}

/// Result: an identical proposal is pending.
pub fn submit_known(id: ProposalId) -> String {
    format!("Exactly this waits already as proposal {id}.")
}

/// Result: the draft is rejected.
pub fn submit_refused(why: &[String]) -> String {
    format!("Not staged, and nothing was changed:\n- {}", why.join("\n- "))
}

/// Tag around the output of a tool.
pub const FRAME: &str = "tool_output";
/// Heading of the output.
pub const OUTPUT_OF: &str = "Output of";
/// Heading of the error message of a failed call.
pub const CALL_FAILED: &str = "The call failed. Said by";
/// Placeholder for an empty output.
pub const NO_OUTPUT: &str = "(nothing)";

/// Placeholder for content of a kind that this version does not know.
pub const UNKNOWN_KIND: &str = "[something of an unknown kind, which is not shown]";

/// Error: the server cannot be started.
pub const CANNOT_START: &str = "it cannot be started; check its command or address";
/// Error: the connection failed.
pub const CONNECTION_BROKEN: &str =
    "the connection broke or was never made, or its messages make no sense; check that it runs";
/// Error: the server refuses to list its tools.
pub const OBJECTS: &str = "it refuses to list its tools";

/// Frames the output of a tool. The text contains no mark that could close the frame.
pub fn framed(what: &str, tool: &str, words: &str) -> String {
    format!("{what} {tool}:\n<{FRAME}>\n{words}\n</{FRAME}>")
}

/// Placeholder for content that is no text.
pub fn content_left_out(what: &str, kind: &str, bytes: usize) -> String {
    let kind = if kind.is_empty() { String::new() } else { format!(" ({kind})") };
    format!("[a {what}{kind} of {bytes} bytes, which is not shown]")
}

/// Line in place of a file that a tool of another program gave.
pub fn content_kept(what: &str, kind: &str, path: &str, is_shown: bool) -> String {
    let kind = if kind.is_empty() { String::new() } else { format!(" ({kind})") };
    let shown = if is_shown { ", and stands below" } else { "" };
    format!("[a {what}{kind}, which is kept as {path}{shown}]")
}

/// Line in place of a file for which there is no space.
pub fn content_without_room(what: &str, kind: &str) -> String {
    let kind = if kind.is_empty() { String::new() } else { format!(" ({kind})") };
    format!("[a {what}{kind}, which is not kept: {}]", super::attachments::NO_ROOM)
}

/// Placeholder for linked content.
pub fn link(address: &str) -> String {
    format!("[a link to {address}]")
}

/// Error: the server did not answer in time.
pub fn server_silent(seconds: u64) -> String {
    format!("it did not answer within {seconds} seconds")
}

/// Error: a call did not return in time.
pub fn no_answer(tool: &str, seconds: u64) -> String {
    format!("{tool} did not answer within {seconds} seconds. Whether it took effect is unknown; tell the person.")
}

/// Error: the connection broke during a call.
pub fn broke_off(tool: &str) -> String {
    format!("The connection to {tool} broke. Whether the call took effect is unknown; tell the person.")
}

/// Error: the server is unavailable.
pub fn tool_unavailable(tool: &str) -> String {
    format!("{tool} is unavailable just now. Nothing was done; go on without it.")
}

/// Error: the description of the tool differs from the accepted one.
pub fn tool_changed(tool: &str) -> String {
    format!(
        "{tool} has changed since the owner accepted it, and cannot be used until they accept it again. Nothing was done."
    )
}

/// An empty list of servers.
pub const NO_SERVERS: &str = "No server of outside tools is configured; `[[mcp]]` in the configuration adds one.";

/// State of a server.
pub fn mcp_server(
    language: Language,
    name: &str,
    since: Option<&str>,
    trouble: Option<&str>,
    (restarts, refused): (u32, usize),
) -> String {
    let mut state = match (since, trouble) {
        (Some(since), _) => say!(language, "status-tools-connected", since = since),
        (None, Some(trouble)) => say!(language, "status-trouble", why = trouble),
        (None, None) => say!(language, "status-tools-absent"),
    };
    if restarts > 0 {
        state = format!("{state}, {}", say!(language, "status-tools-begun-again", count = restarts));
    }
    if refused > 0 {
        state = format!("{state}, {}", say!(language, "status-tools-refused", count = refused));
    }
    say!(language, "status-tools", server = name, state = state)
}

/// State of a tool and the digest of its description.
pub fn mcp_tool(name: &str, state: &str, hash: &str) -> String {
    format!("`{name}`: {state}, {hash}")
}

/// Description and schema of a tool.
pub fn described(description: &str, schema: &str) -> String {
    format!("{description}\n\narguments: {schema}")
}

/// Command that accepts the tool.
pub fn how_to_accept(name: &str, hash: &str, word: Option<&str>) -> String {
    let word = word.map(|word| format!(" {word}")).unwrap_or_default();
    let why = if word.is_empty() { "" } else { " (the last word names what it does)" };
    format!(
        "Its server wrote this, and a model would read it. To accept it{why}: `compline tools accept {name} {hash}{word}`\n\n{HOW_TO_MARK}"
    )
}

/// Error: the word that names what the tool does is missing.
pub fn tool_word_missing(name: &str, hash: &str, word: &str) -> String {
    format!("Nothing was accepted yet. To accept what {name} does too: `compline tools accept {name} {hash} {word}`")
}

/// Result: the tool is accepted, with its arguments in words.
pub fn tool_accepted(name: &str, marks: &str) -> String {
    let marks = if marks.is_empty() { String::new() } else { format!(" Its arguments: {marks}.") };
    format!("Accepted. {name} is offered from the next conversation on, until its server changes a word of it.{marks}")
}

/// Each argument of a tool with what it is.
pub fn argument_marks(arguments: &[(String, &str)], search: bool) -> String {
    let arguments = arguments.iter().map(|(place, kind)| format!("{} {kind}", in_code(place)));
    arguments.chain(search.then(|| "accepted as a search".to_owned())).collect::<Vec<_>>().join(", ")
}

/// Ways to say something else of the arguments of a tool.
const HOW_TO_MARK: &str = "A destination is asked about where no loaded skill names it; content may differ under a longer yes \
     if you want it; a choice is one of the values that the schema lists. `--destination ARGUMENT`, `--content ARGUMENT` and \
     `--choice ARGUMENT` at the end of that command say something else, and `--search` lets the tool look up what you typed \
     without a question.";

/// Notice to an owner: what the arguments of tools are that they accepted before.
pub fn tools_are_marked(lines: &[String]) -> String {
    format!(
        "What each argument of an outside tool is decides from now on when I ask. For the tools that you accepted before, \
         this holds:\n\n{}\n\n{HOW_TO_MARK} `compline tools list` shows the hash for `compline tools accept NAME HASH`.",
        lines.join("\n")
    )
}

/// Error: the tool has no such argument.
pub fn no_such_argument(place: &str) -> String {
    format!("Nothing was accepted: the schema of the tool has no argument {place}; `compline tools list` shows all.")
}

/// Error: the schema lists no values of the argument.
pub fn no_choice(place: &str) -> String {
    format!("Nothing was accepted: {place} cannot be a choice, because the schema does not list its values.")
}

/// Error: unknown tool.
pub fn no_such_tool(name: &str) -> String {
    format!("No server has a tool named {name}; `compline tools list` shows all.")
}

/// Error: the hash is too short.
pub fn too_few_digits(least: usize) -> String {
    format!("Give at least {least} digits of the hash; `compline tools list` shows it.")
}

/// Error: the hash is not the current one.
pub fn other_digest(name: &str) -> String {
    format!(
        "That is not the hash of {name} as it is now, so nothing was accepted. Read it again with `compline tools list`."
    )
}
