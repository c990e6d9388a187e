//! Short lists: each rule names an act reserved to some places, and lists them, each with its
//! reason.
//!
//! A place is a whole module by its name, a permanent right by design; a file is an exception, and
//! fails again once the file no longer needs it. Code compiled for tests only is exempt.

use super::lexer::find;
use super::nothing_found;
use super::tree::{File, Source, sources};

/// An act reserved to listed places.
struct Rule {
    /// Completes "… may not".
    act: &'static str,
    /// Form of the act, as Rust tokens.
    looks: &'static [&'static str],
    /// Whole modules that may do it.
    places: &'static [(&'static str, Why)],
    /// Single files that may do it.
    files: &'static [(&'static str, Why)],
}

/// A reason, in a few words.
type Why = &'static str;

const RULES: &[Rule] = &[
    Rule {
        act: "mint trust",
        looks: &[":: trusted", "Label :: approved", "Label :: decode", ". without_origins ("],
        places: &[("trust", "it owns the label and keeps the lattice")],
        files: &[
            ("src/gateway/admission.rs", "what a known person typed or spoke themselves"),
            ("src/memory/label.rs", "first contents, and what a person wrote by hand"),
            ("src/memory/passages.rs", "reads the stored labels of the lines of a file"),
            ("src/store/reminders.rs", "what a person saw whole and agreed to"),
            ("src/admin/memory/promote.rs", "what a person makes theirs with a command"),
            ("src/review/label.rs", "what ships, what a person wrote by hand, and what was approved"),
        ],
    },
    Rule {
        act: "take a source for a person's own",
        looks: &[". vouched_for ("],
        places: &[("trust", "it owns the label")],
        files: &[
            ("src/admin/trust.rs", "shows what of a conversation is left untrusted"),
            ("src/engine/turn/joining.rs", "a turn holds what its person vouched for in that conversation"),
            ("src/engine/turn.rs", "the label of a call, by the stored grants of its conversation"),
            ("src/model/request.rs", "the label of a reply, by the grants of the turn that asks"),
        ],
    },
    Rule {
        act: "answer a command on a thread that serves everybody",
        looks: &["admin . chat (", ". chat_query (", ". command_line ("],
        places: &[
            ("admin", "it answers them, on the threads of `AnswerThreads`"),
            ("cli", "a process of its own, which serves nobody else"),
        ],
        files: &[
            ("src/gateway/commands.rs", "hands the work to `AnswerThreads`"),
            ("src/gateway/socket.rs", "hands the work to `AnswerThreads`"),
            ("src/web/pages/report.rs", "a page is rendered on a thread of its own"),
        ],
    },
    Rule {
        act: "add a route that may be rendered on a thread that serves everybody",
        looks: &[". route ("],
        places: &[],
        files: &[
            ("src/web/routes.rs", "what is rendered for a visitor gets a thread of its own"),
            ("src/adapter/telegram/webhook/route.rs", "stores what Telegram sends, and renders nothing"),
        ],
    },
    Rule {
        act: "begin a label from nothing",
        looks: &["Label :: join_of", "Label :: neutral"],
        places: &[("trust", "it owns the label")],
        files: &[
            ("src/model/request.rs", "a message takes on the labels of its parts"),
            ("src/tool.rs", "an error of a tool is our own words about arguments whose label is joined"),
            ("src/tool/memory_search.rs", "an answer takes the join of its hits"),
            ("src/tool/conversation.rs", "a page of a conversation takes the join of its messages"),
            ("src/engine/context.rs", "a block takes on the labels of the files or summaries in it"),
            ("src/engine/history.rs", "the join over the messages of a history"),
            ("src/engine/summary.rs", "the join over the lines of a conversation"),
            ("src/gateway/admission/messages.rs", "a quote takes the join of the texts that it quotes"),
            ("src/memory/load.rs", "a file that is missing says nothing"),
            ("src/memory/passages.rs", "the label of some lines of a file is their join"),
            ("src/review/active_skills.rs", "the list of skills takes the join of their labels"),
            ("src/store/conversations.rs", "a conversation begins before anything is said in it"),
            ("src/store/derivations.rs", "a message takes the join of its texts and files"),
            ("src/reflection/transcript.rs", "a page takes on the labels of what stands on it"),
            ("src/admin/answer.rs", "an answer takes on the labels of what it shows"),
            ("src/admin/trust.rs", "the join over what a conversation has read"),
            ("src/admin/search/sources.rs", "a question is asked and shown to no model"),
            ("src/engine/extractor.rs", "which messages are to be looked at has no words"),
            ("src/memory/facts.rs", "what is known takes on the labels of its lists"),
            ("src/erasure.rs", "a deletion writes no words"),
            (
                "src/erasure/plan.rs",
                "what is to be erased takes on the labels of where it stands; a person or messages have no words",
            ),
            ("src/memory/known.rs", "what is known takes on the labels of its files"),
            ("src/memory/learn.rs", "what was learned takes on the labels of its files"),
            ("src/memory/listing.rs", "lines of the index take on the labels of their notes"),
            ("src/wording.rs", "nothing but the program has a part in its own words"),
        ],
    },
    Rule {
        act: "compare scopes past `Scope::equals`, where mutation testing cannot see it",
        looks: &[
            "scope = =",
            "scope ! =",
            "scope ( ) = =",
            "scope ( ) ! =",
            "= = scope",
            "! = scope",
            "= = Scope ::",
            "! = Scope ::",
        ],
        places: &[("trust", "it owns the type")],
        files: &[
            ("src/memory/index.rs", "leaves out the streams that are no groups"),
            ("src/schedule/heartbeat.rs", "one run of a person at a time"),
            ("src/schedule/reminders.rs", "one run of a task at a time"),
            ("src/store/erasure/person.rs", "gathers by scope what is being forgotten"),
        ],
    },
    Rule {
        act: "open a labelled value",
        looks: &[". open ( )", "Labelled :: open", "Text :: open"],
        places: &[("trust", "it owns the type")],
        files: &[
            ("src/model/request.rs", "wraps a text as a part with the same label and scope"),
            ("src/model/turns.rs", "the wires write the parts as their provider wants them"),
            ("src/model/embed.rs", "the wires write the texts as their server wants them"),
            ("src/model/error.rs", "looks for the conversation in a provider's error, to keep it out of the log"),
            ("src/engine/made_calls.rs", "the person's own words of a reminder, in a line of the program"),
            ("src/store/grants.rs", "looks whether an answer tells of the use of a tool"),
            (
                "src/review/why.rs",
                "names the author of a forwarded message, in lines with the label of what they explain",
            ),
            ("src/gateway/admission/messages.rs", "looks whether a quote that is only claimed stands in what was said"),
            ("src/tool/memory_search.rs", "quotes hits in one text that carries the join of their labels"),
            (
                "src/tool/conversation.rs",
                "quotes messages in one text that carries the join of their labels, and gives a reflection with its label",
            ),
            ("src/search/entries.rs", "compares words with the question; what is found keeps its label"),
            ("src/memory/index/journal_entries.rs", "makes entries of what was written down, each with its label"),
            ("src/store/entries/found.rs", "compares the heading of an entry with the one that is asked for"),
            ("src/tool/skill_policy.rs", "looks for the hosts and recipients that a person typed"),
            ("src/web/texts.rs", "shows a text from outside in a box that names its sources"),
            ("src/tool/heartbeat.rs", "looks for the item that a trusted file has"),
            ("src/tool/schedule.rs", "lists words in one text that carries the join of their labels"),
            (
                "src/tool/open_items.rs",
                "names the person's own item, whose words are trusted, in the question and the result",
            ),
            ("src/schedule.rs", "sends part of an answer under its label"),
            (
                "src/schedule/heartbeat.rs",
                "ticks what is done in the words of a file, under its label, and compares an answer with earlier ones",
            ),
            ("src/schedule/reminders.rs", "frames words as a notice with the same label"),
            ("src/store/messages.rs", "stores words, label and scope side by side"),
            ("src/store/outbox.rs", "stores words, label and scope side by side"),
            ("src/store/conversations.rs", "stores words, label and scope side by side"),
            ("src/store/questions.rs", "stores words, label and scope side by side"),
            ("src/store/extractions.rs", "stores words, label and scope side by side"),
            ("src/store/keep_requests.rs", "stores words, label and scope side by side"),
            ("src/store/reminders.rs", "stores words, label and scope side by side"),
            ("src/store/open_items.rs", "stores words, label and scope side by side, and compares words"),
            ("src/store/sent.rs", "stores words, label and scope side by side"),
            ("src/store/summaries.rs", "stores words, label and scope side by side"),
            ("src/store/turns.rs", "stores words, label and scope side by side"),
            ("src/store/erasure/matches.rs", "looks whether words are to be forgotten, and shows them to nobody"),
            ("src/store/erasure/knowledge.rs", "looks whether words are to be forgotten, and shows them to nobody"),
            ("src/adapter.rs", "renders messages for channels without buttons"),
            ("src/cli/demo/demo_phone.rs", "rendering for the demonstration"),
            ("src/admin/answer.rs", "shows words in an answer that takes on their label"),
            ("src/tool/knowledge.rs", "shows a person what would become theirs, under the same label"),
            ("src/engine/compact.rs", "writes a summary down, and cuts what tools gave, under the same label"),
            (
                "src/engine/context.rs",
                "frames words as parts with the same label, and puts trusted summaries and memories in blocks under the join of theirs",
            ),
            ("src/memory.rs", "what a prompt contains is compared with hits of the same person, and goes nowhere"),
            ("src/engine/auto_recall.rs", "puts trusted memories in a block under the join of their labels"),
            ("src/engine/addresses.rs", "compares addresses, and breaks strange ones up under the same label"),
            ("src/engine/wishes.rs", "finds typed wishes, which keep the label of their message, and compares words"),
            ("src/engine/turn/checked_answer.rs", "adds our own lines to an answer under the join of the labels"),
            ("src/wish.rs", "compares the words of a typed wish"),
            ("src/engine/system_run.rs", "looks whether a person named a tool"),
            ("src/engine/history.rs", "turns stored steps into parts with the same label"),
            (
                "src/engine/record.rs",
                "repeats the beginning of a trusted message in a line of our own, and takes the calls out of a question, whose label stays with the step",
            ),
            ("src/gateway/delivery/attachments.rs", "hands an emoji to the adapter"),
            ("src/engine/summary.rs", "makes summaries of pieces that carry the join of their labels"),
            ("src/engine/summarizer.rs", "looks whether a summary changed what is open"),
            ("src/engine/transcript.rs", "cuts a transcript in pieces that carry the join of its labels"),
            (
                "src/engine/extractor.rs",
                "puts what is known before a transcript, and hands an answer on with its label",
            ),
            ("src/engine/turn.rs", "takes the tool calls out of a reply, whose label stays with the step"),
            ("src/engine/turn/reply.rs", "shows a person the words that they are asked about, under their label"),
            ("src/gateway/commands.rs", "hands a typed command to admin"),
            ("src/memory/stored_files.rs", "writes the words of a received file with their label beside them"),
            ("src/memory/passages.rs", "compares a line with what a person typed"),
            ("src/memory/approved_text.rs", "reads a note that waited, to file it once its person said yes"),
            ("src/tool/files.rs", "gives the words of a file with its label, and looks whether the turn was shown it"),
            ("src/tool/knowledge.rs", "gives the words of a section with the label of its file"),
            ("src/model/offline/extract.rs", "the offline model reads what it is asked"),
            ("src/model/offline/prompt_view.rs", "the offline model reads what it is asked"),
            ("src/model/offline/fact_rules.rs", "the offline model reads what it is asked"),
            ("src/cli/demo/demo_model.rs", "the demonstration's model reads what it is asked"),
            ("src/reflection/actions.rs", "makes a draft of a note, whose label goes to the gate with it"),
            ("src/reflection/input.rs", "puts reflections on a page that takes their labels on"),
            ("src/reflection/commit.rs", "reads an answer, whose label is kept with all that comes of it"),
            ("src/reflection/transcript.rs", "puts what was said on a page that takes its labels on"),
            ("src/reflection/open_items.rs", "puts open items on a page that takes their labels on"),
            ("src/reflection/tool_calls.rs", "shortens results of tools under the label of their turn"),
            ("src/reflection/render.rs", "shows a reflection under the join of its labels"),
            ("src/review/reviewer.rs", "puts a proposal between boundaries, and reads the verdict"),
            ("src/spend/budget.rs", "measures a reply that the provider did not count"),
            ("src/spend/ledger.rs", "measures texts before their vectors are computed"),
            ("src/search/messages.rs", "cuts names out of a question that keeps its label"),
            ("src/search/vectors.rs", "looks whether the same question was asked before"),
            ("src/search/vectors/backfill.rs", "computes the digest under which a vector is kept"),
        ],
    },
    Rule {
        act: "make an approval",
        looks: &["Approval :: new", "Approval {", "Approval as"],
        places: &[],
        files: &[
            ("src/review/approval_proof.rs", "the type itself"),
            ("src/review/owner_decision.rs", "the owner said yes to what was shown"),
            ("src/review/worker.rs", "policy leaves it to the reviewer, and the reviewer approved"),
        ],
    },
    Rule {
        act: "ask the time or wait by itself; the clock is a parameter",
        looks: &[
            "SystemTime :: now",
            "Instant :: now",
            "Utc :: now",
            "Local :: now",
            "tokio :: time",
            "time :: sleep",
            "thread :: sleep",
        ],
        places: &[("time", "the clock itself")],
        files: &[("src/tool/web/fetch.rs", "gives up on a real connection, which no simulated clock can hold")],
    },
    Rule {
        act: "wait by the real time, which no test of an idle gateway counts",
        looks: &["real_sleep"],
        places: &[("time", "the clock itself")],
        files: &[
            ("src/adapter/signal/daemon.rs", "kills a daemon that does not end when it is told to"),
            ("src/app.rs", "gives up what does not stop in time"),
            ("src/cli/client.rs", "a command gives up a gateway that does not answer"),
            ("src/cli/demo.rs", "shows the demonstration at the pace of a reader"),
            ("src/cli/probe.rs", "a command gives up a server that does not answer"),
            ("src/cli/run.rs", "a command looks whether the gateway is back after a reload"),
            ("src/cli/signal.rs", "a command waits for a daemon that it has started"),
            ("src/gateway/delivery.rs", "a request in progress gets a moment when the program stops"),
            ("src/http.rs", "open connections get a moment when the program stops"),
            ("src/model/wire.rs", "gives up a server that says nothing"),
            ("src/schedule/slots.rs", "a command waits for the slot that it asked for"),
            ("src/tool/mcp/connection.rs", "gives up a server that does not answer, and kills one that does not end"),
        ],
    },
    Rule {
        act: "start a task that nobody supervises",
        looks: &["tokio :: spawn", "task :: spawn", "thread :: spawn", "Builder :: new ( ) . spawn"],
        places: &[],
        files: &[],
    },
    Rule {
        act: "read the environment",
        looks: &["env :: var", "env :: vars", "env :: var_os", "env :: vars_os"],
        places: &[
            ("cli", "flags have variables beside them"),
            ("main", "it hands the environment to the library"),
            ("config", "secrets may be named by variable"),
            ("app", "it builds everything from the outside world"),
        ],
        files: &[
            ("src/time/zone.rs", "TZ names the zone of this computer"),
            ("src/trust/mutation.rs", "the switch of mutation testing, which no release build has"),
        ],
    },
    Rule {
        act: "print; what a person reads goes through an adapter or the command line",
        looks: &["println !", "print !", "eprintln !", "eprint !", "dbg !"],
        places: &[("cli", "the command line"), ("main", "its exit")],
        files: &[],
    },
];

impl Rule {
    fn findings(&self, sources: &[Source]) -> Vec<String> {
        let mut findings = Vec::new();
        for source in sources {
            let lines: Vec<usize> = self.looks.iter().flat_map(|look| find(&source.product, look)).collect();
            let listed = self.files.iter().any(|(path, _)| *path == source.path);
            let place = source.module.first().map_or("", String::as_str);
            let may = listed || self.places.iter().any(|(name, _)| *name == place);
            if listed && lines.is_empty() {
                findings.push(format!("{} is listed and does not need it: to {}", source.path, self.act));
            } else if !may {
                findings.extend(lines.iter().map(|line| format!("{}:{line} may not {}", source.path, self.act)));
            }
        }
        let gone = self.files.iter().filter(|(path, _)| sources.iter().all(|source| source.path != *path));
        findings.extend(gone.map(|(path, _)| format!("{path} is listed and does not exist: to {}", self.act)));
        findings
    }
}

/// Allowed lints without a reason.
fn silent_exceptions(source: &Source) -> Vec<String> {
    ["# [ allow (", "# ! [ allow (", "# [ expect (", "# ! [ expect ("]
        .iter()
        .flat_map(|look| find(&source.product, look))
        .filter(|line| {
            let from = source.product.iter().position(|token| token.line == *line).unwrap_or(0);
            let end = super::lexer::attribute_end(&source.product, from);
            find(&source.product[from..end], "reason =").is_empty()
        })
        .map(|line| format!("{}:{line}: an allowed lint has no reason", source.path))
        .collect()
}

#[test]
fn only_the_listed_may() {
    let sources = sources();
    nothing_found(&RULES.iter().flat_map(|rule| rule.findings(sources)).collect::<Vec<_>>());
}

#[test]
fn an_allowed_lint_says_why() {
    nothing_found(&sources().iter().flat_map(silent_exceptions).collect::<Vec<_>>());
}

fn source(path: &str, text: &str) -> Source {
    Source::from(File { path: path.to_owned(), text: text.to_owned() })
}

fn count(path: &str, text: &str) -> usize {
    let bare = |rule: &Rule| Rule { files: &[], ..*rule }.findings(&[source(path, text)]).len();
    RULES.iter().map(bare).sum()
}

#[test]
fn each_forbidden_act_is_seen() {
    for text in [
        "fn f() { Label::trusted() }",
        "fn f() { x.map_or_else(Label::trusted, g) }",
        "fn f() { crate::trust::Label::join_of([]) }",
        "use crate::trust::Label as L; fn f() { L::trusted() }",
        "fn f() { text.open() }",
        "fn f() { text\n    .open()\n    .0 }",
        "fn f() { texts.iter().map(Text::open) }",
        "fn f() { Approval::new(proposal, digest, by) }",
        "fn f() { super::approval_proof::Approval { proposal, digest, by } }",
        "use super::approval_proof::Approval as Yes; fn f() { Yes::new(proposal, digest, by) }",
        "fn f() { let t = std::time::Instant::now(); }",
        "use tokio::{sync::mpsc, time::{sleep, timeout}};",
        "use tokio::time;",
        "use crate::time::clock::real_sleep;",
        "fn f() { crate::time::clock::real_sleep(LOOK).await }",
        "fn f() { tokio::spawn(async {}); }",
        "use tokio::{spawn};",
        "fn f() { std::env::var(\"X\") }",
        "fn f() { println!(\"x\") }",
    ] {
        assert!(count("src/engine/turn.rs", text) > 0, "{text}");
        assert_eq!(count("src/engine/turn.rs", &format!("#[cfg(test)] mod tests {{ {text} }}")), 0, "{text}");
    }
}

#[test]
fn harmless_lookalikes_are_not_reported() {
    for text in [
        "fn f() { File::open(path); OpenOptions::new().open(path); Connection::open_in_memory() }",
        "fn f() { label.is_trusted(); let trusted = 1; env!(\"X\"); clock.now(); set.spawn(g()) }",
        "fn f(approval: Approval) -> anyhow::Result<Approval> { approval.digest(); Ok(approval) }",
        "// println!\nfn f() { \"Label::trusted()\" }",
    ] {
        assert_eq!(count("src/engine/turn.rs", text), 0, "{text}");
    }
    assert_eq!(count("src/cli/status.rs", "fn f() { println!(\"x\") }"), 0);
    assert_eq!(count("src/time/clock.rs", "fn f() { tokio::time::sleep(span) }"), 0);
}

#[test]
fn a_listed_file_without_need_is_seen() {
    let rule = Rule { act: "x", looks: &["a ( )"], places: &[], files: &[("src/b.rs", "once"), ("src/c.rs", "gone")] };
    assert_eq!(rule.findings(&[source("src/b.rs", "fn b() {}")]).len(), 2);
    assert_eq!(rule.findings(&[source("src/b.rs", "fn b() { a() }"), source("src/c.rs", "a()")]).len(), 0);
}

#[test]
fn an_exception_without_a_reason_is_seen() {
    let bare = source("src/a.rs", "#[allow(clippy::panic)] fn a() {}");
    let reasoned = source("src/a.rs", "#[allow(clippy::panic, reason = \"proven\")] fn a() {}");
    assert_eq!((silent_exceptions(&bare).len(), silent_exceptions(&reasoned).len()), (1, 0));
}
