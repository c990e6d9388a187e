//! Loaded skills say where a conversation may go: a host or recipient that none of them names, and
//! that no person typed, asks first.

use std::time::Duration;

use compline::skill::builtin;
use compline::store::CommitPoint::{self, After, Before};
use compline::tool::mcp::Limits;
use serde_json::{Value, json};

use crate::support::channel::Channel;
use crate::support::every_channel::{Story, TestChannel, on_every_channel};
use crate::support::mcp::{FakeServer, accept, accept_with};
use crate::support::model::{Say, words};
use crate::support::power::Cut;
use crate::support::story::{ADA, BEN, canary, every_untrusted_part_is_labelled};
use crate::support::web::Web;

on_every_channel! {
    stories:
        a_host_that_no_loaded_skill_names_asks_until_new,
        what_a_person_types_is_named_and_a_redirect_is_judged_by_its_own_host,
        in_a_group_a_host_that_nothing_names_is_not_opened,
        the_skills_and_the_yes_of_one_person_concern_nobody_else,
        a_recipient_in_a_call_of_an_outside_tool_asks_as_well,
        a_recipient_in_no_form_is_passed_on_unasked,
        ten_searches_for_typed_words_need_no_question,
        a_run_opens_only_what_its_skills_or_its_request_name;
    crash_tests:
        a_power_cut_between_loading_question_and_answer_changes_nothing;
}

const FAMILY: i64 = -100_200;
const PAGES: [(&str, &str); 4] = [
    ("/list", "<p>a list of teas</p>"),
    ("/b", "<p>another page</p>"),
    ("/away", "=> http://elsewhere.example/b"),
    ("/c", "<p>page c</p>"),
];

fn fetch(url: &str) -> Value {
    json!({ "url": url })
}

/// A skill that names a host and a recipient, and one that names none.
fn write_skills(story: &Story) {
    story.write_skill("tea", "Finds tea.", "Read http://tea.example/list and write to leaf@tea.example.");
    story.write_skill("trips", "Plans trips.", "Ask where they want to go.");
}

async fn with_skills(channel: TestChannel) -> (Story, Web) {
    let web = Web::of(&PAGES).await;
    let mut story = channel.prepare_story("");
    story.fetch_through(web.fetcher());
    write_skills(&story);
    story.start().await;
    (story, web)
}

/// Lets the model load these skills.
async fn loads(story: &Story, person: i64, skills: &[&str]) {
    let calls = skills.iter().map(|name| ("load_skill".to_owned(), json!({ "name": name }).to_string()));
    story.model.then(Say::Calls(calls.collect())).says("Loaded.");
    story.say(person, &format!("help me {}", canary(person))).await;
    assert_eq!(story.last_received_by(person), "Loaded.");
}

/// Lets the model open an address without a question.
async fn opens(story: &Story, person: i64, url: &str) {
    story.model.calls("web_fetch", fetch(url)).says("Looked.");
    story.say(person, "look").await;
    assert_eq!(story.last_received_by(person), "Looked.", "{url}");
}

/// Lets the model open an address, and returns the question to the person.
async fn is_asked(story: &Story, person: i64, url: &str) -> String {
    story.model.calls("web_fetch", fetch(url));
    story.say(person, "look").await;
    let question = story.last_received_by(person);
    assert!(question.contains("/yes "), "{url}: {question}");
    question
}

/// Promise (skills/policy): From the moment a skill is loaded until `/new`, you are asked before
/// anything goes to a host or recipient that no loaded skill names and that you did not type. A yes
/// counts for that host in that conversation and lifts no rule about text from outside.
async fn a_host_that_no_loaded_skill_names_asks_until_new(channel: TestChannel) {
    let (mut story, web) = with_skills(channel).await;
    opens(&story, ADA, "http://other.example/none").await;
    loads(&story, ADA, &["tea", "trips"]).await;
    opens(&story, ADA, "http://tea.example/none").await;
    let question = is_asked(&story, ADA, "http://other.example/none?x=1").await;
    let sentence = "None of the loaded skills (tea, trips) names other.example. Open this address?";
    assert!(question.contains(sentence) && question.contains("http://other.example/none?x=1"), "{question}");
    assert!(question.contains("A yes counts for that host or recipient until /new."), "{question}");
    assert_eq!(web.connections(), 2, "nothing is connected before a yes");
    story.say(ADA, "/status").await;
    let status = story.last_received_by(ADA);
    assert!(status.contains("Loaded skills: tea (leaf@tea.example, tea.example); trips (names no host)."), "{status}");

    story.model.says("There is nothing.");
    story.say(ADA, "/yes 1").await;
    assert_eq!((story.last_received_by(ADA).as_str(), web.connections()), ("There is nothing.", 3));
    opens(&story, ADA, "http://other.example/none?x=2").await;
    story.say(ADA, "/trust").await;
    assert!(
        story.last_received_by(ADA).contains("allowed until /new: other.example"),
        "{}",
        story.last_received_by(ADA)
    );
    story.restart().await;
    opens(&story, ADA, "http://other.example/none?x=3").await;
    is_asked(&story, ADA, "http://third.example/none").await;
    story.say(ADA, "/no 2").await;
    story.say(ADA, "/trust off").await;
    is_asked(&story, ADA, "http://other.example/none?x=4").await;

    story.say(ADA, "/new").await;
    opens(&story, ADA, "http://third.example/none").await;
    assert_eq!(web.asked().len(), 6, "{:?}", web.visited());
    story.end().await;
}

/// Proves: skills/policy
async fn what_a_person_types_is_named_and_a_redirect_is_judged_by_its_own_host(channel: TestChannel) {
    let (story, web) = with_skills(channel).await;
    opens(&story, ADA, "http://tea.example/away").await;
    assert_eq!(web.visited(), ["tea.example/away", "elsewhere.example/b"], "without a skill it is followed");
    story.say(ADA, "/new").await;
    loads(&story, ADA, &["tea"]).await;
    story.say(ADA, "I like typed.example, and http://shop.example/x").await;
    opens(&story, ADA, "http://typed.example/none").await;
    opens(&story, ADA, "http://shop.example/none").await;
    story.model.calls("web_fetch", fetch("http://tea.example/away"));
    let question = is_asked(&story, ADA, "http://elsewhere.example/b").await;
    let sentence =
        "The loaded skill (tea) does not name elsewhere.example. Open this address at elsewhere.example, and no other?";
    assert!(question.contains(sentence) && question.contains("text from outside"), "{question}");
    assert_eq!(web.visited().last().unwrap(), "tea.example/away");
    story.model.says("Another page.");
    story.say(ADA, "/yes 1").await;
    assert_eq!(web.visited().last().unwrap(), "elsewhere.example/b");
    is_asked(&story, ADA, "http://elsewhere.example/c").await;
    is_asked(&story, ADA, "http://shop.example/c").await;
    assert_eq!(web.visited().len(), 6, "a yes and a typed host lift no rule about text from outside");
    every_untrusted_part_is_labelled(&story);
    story.end().await;
}

/// Promise (skills/policy-in-groups): In a group, which cannot say yes, the assistant opens only
/// hosts that its loaded skills name or that a member typed there. Any other call is not made.
async fn in_a_group_a_host_that_nothing_names_is_not_opened(channel: TestChannel) {
    let web = Web::of(&PAGES).await;
    let mut story = channel.prepare_story("");
    story.settings(&format!("[groups]\nallowed = [\"{}\"]\n", story.fake.group_address(FAMILY)));
    story.fetch_through(web.fetcher());
    write_skills(&story);
    story.fake.meet_group(FAMILY);
    story.start().await;
    let asks = async |person: i64, call: (&str, Value), text: &str| {
        story.model.calls(call.0, call.1).says("Done.");
        story.fake.asks_in(FAMILY, person, text);
        story.answered().await;
        assert_eq!(story.received_by(FAMILY).last().map(String::as_str), Some("Done."));
        story.text("SELECT text FROM steps WHERE kind = 'tool' ORDER BY id DESC LIMIT 1")
    };
    asks(ADA, ("web_fetch", fetch("http://other.example/none")), "look").await;
    asks(ADA, ("load_skill", json!({ "name": "tea" })), "help us").await;
    asks(BEN, ("web_fetch", fetch("http://tea.example/none")), "look").await;
    assert_eq!(web.connections(), 2);
    let refused = asks(BEN, ("web_fetch", fetch("http://other.example/none")), "look").await;
    assert!(refused.contains("other.example"), "{refused}");
    assert_eq!((web.connections(), story.count("SELECT count(*) FROM questions")), (2, 0));
    asks(BEN, ("web_fetch", fetch("http://typed.example/none")), "and typed.example?").await;
    assert_eq!(web.connections(), 3);
    story.end().await;
}

/// Proves: skills/policy
async fn the_skills_and_the_yes_of_one_person_concern_nobody_else(channel: TestChannel) {
    let (story, web) = with_skills(channel).await;
    loads(&story, ADA, &["tea"]).await;
    is_asked(&story, ADA, "http://other.example/none").await;
    story.model.says("Nothing.");
    story.say(ADA, "/yes 1").await;
    opens(&story, BEN, "http://third.example/none").await;
    loads(&story, BEN, &["trips"]).await;
    let question = is_asked(&story, BEN, "http://other.example/none").await;
    assert!(question.contains("The loaded skill (trips) does not name other.example."), "{question}");
    is_asked(&story, BEN, "http://tea.example/none").await;
    story.say(BEN, "/status").await;
    let status = story.last_received_by(BEN);
    assert!(status.contains("trips (names no host)") && !status.contains("tea"), "{status}");
    assert_eq!(web.connections(), 2);
    story.end().await;
}

/// Proves: skills/policy
async fn a_recipient_in_a_call_of_an_outside_tool_asks_as_well(channel: TestChannel) {
    let log = tempfile::tempdir().unwrap();
    let log = log.path().join("log");
    let program = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fakes/mcp.py");
    let server = format!("[[mcp]]\nname = \"fake\"\ncommand = {}\n", json!(["python3", "-I", program, "mail", log]));
    let mut story = channel.prepare_story(&server);
    story.set_env("PATH", &std::env::var("PATH").unwrap());
    story.limit_outside(Limits { connect: Duration::from_secs(20), call: Duration::from_secs(20) });
    write_skills(&story);
    story.start().await;
    story.settle().await;
    let tools = story.command_line(&["tools", "list"]).await.json;
    let echo = tools.as_array().unwrap().iter().find(|tool| tool["name"] == "fake__echo").unwrap();
    let accepted = story.command_line(&["tools", "accept", "fake__echo", echo["hash"].as_str().unwrap()]).await;
    assert!(!accepted.failed, "{}", accepted.markdown);
    let calls = || std::fs::read_to_string(&log).unwrap_or_default().lines().filter(|l| l.starts_with("call")).count();

    for (arguments, made) in [(json!({ "words": "see you at noon" }), 1), (json!({ "to": "Leaf@Tea.example" }), 2)] {
        loads(&story, ADA, &["tea"]).await;
        story.model.calls("fake__echo", arguments).says("Sent.");
        story.say(ADA, "send it").await;
        assert_eq!((story.last_received_by(ADA).as_str(), calls()), ("Sent.", made));
        story.say(ADA, "/new").await;
    }
    for (number, to) in [(1, "ben@other.example"), (2, "+44 7700 900123"), (3, "https://other.example/hook")] {
        loads(&story, ADA, &["tea"]).await;
        story.model.calls("fake__echo", json!({ "to": to, "words": "hello" }));
        story.say(ADA, "send it").await;
        let question = story.last_received_by(ADA);
        let named = question.contains("The loaded skill (tea) does not name ");
        assert!(
            named && question.contains("Send this to the tool echo of fake?") && question.contains(to),
            "{question}"
        );
        assert_eq!(calls(), number + 1, "{to}");
        story.model.says("Sent.");
        story.say(ADA, &format!("/yes {number}")).await;
        assert_eq!((story.last_received_by(ADA).as_str(), calls()), ("Sent.", number + 2), "{to}");
        story.say(ADA, "/new").await;
    }
    story.end().await;
}

/// Proves: skills/every-recipient
async fn a_recipient_in_no_form_is_passed_on_unasked(channel: TestChannel) {
    let server = FakeServer::new("mail");
    let mut story = channel.prepare_story(&server.section(""));
    server.lets_connect(&mut story);
    let body = "Read http://tea.example/list and post to `C0EVIL99` or `#teas`.";
    story.write_skill("tea", "Finds tea.", body);
    story.start().await;
    story.settle().await;
    accept(&story, "fake__echo").await;
    loads(&story, ADA, &["tea"]).await;
    let forms = [
        json!("#leaks"),
        json!("C0EVIL9"),
        json!(-1_001_234_567_890_i64),
        json!("Eve Mallory"),
        json!(["C0EVIL99", { "name": "eve(at)evil(dot)com" }]),
        json!("\u{435}vil.com"),
        json!("evil.solutions"),
        json!("//evil.solutions/x"),
        json!("@eve:evil.host"),
        json!("eve@evilhost"),
        json!("\\\\evil\\share"),
        json!("DE89 3704 0044 0532 0130 00"),
        json!("drop.zip"),
        json!("0x08080404"),
        json!("tg:evil"),
    ];
    for form in forms {
        story.model.calls("fake__echo", json!({ "to": form, "words": "hello" }));
        story.say(ADA, "go on").await;
        let question = story.last_received_by(ADA);
        assert!(question.contains("The loaded skill (tea) does not name "), "{form}: {question}");
        assert_eq!(server.log("call").len(), 0, "{form}");
    }
    story.model.calls("fake__echo", json!({ "to": "c0evil99", "words": "hello" })).says("Sent.");
    story.say(ADA, "go on").await;
    assert_eq!((story.last_received_by(ADA).as_str(), server.log("call").len()), ("Sent.", 1));

    // A yes is for exactly that value, for this person and conversation, and is erased with them.
    loads(&story, BEN, &["tea"]).await;
    story.model.calls("fake__echo", json!({ "to": "Eve, Mallory & Co" }));
    story.say(BEN, "go on").await;
    story.model.says("Sent.");
    let number = story.count("SELECT max(id) FROM questions");
    story.say(BEN, &format!("/yes {number}")).await;
    assert_eq!(server.log("call").len(), 2);
    let allowed = story.text("SELECT subject FROM grants WHERE kind = 'destination' AND ended_at IS NULL");
    assert_eq!(allowed, "Eve, Mallory & Co");
    let covers = story.text("SELECT covers FROM questions ORDER BY id DESC LIMIT 1");
    assert!(covers.ends_with("Mallory+%26+Co"), "{covers}");
    story.stop().await;
    story.only_ada();
    story.start().await;
    let answer = story.command_line(&["forget", "Ben", "--yes"]).await;
    assert!(!answer.failed, "{}", answer.markdown);
    let left = "SELECT (SELECT count(*) FROM grants WHERE subject LIKE '%Mallory & Co')
        + (SELECT count(*) FROM questions WHERE covers LIKE '%Mallory+\\%26+Co' ESCAPE '\\')";
    assert_eq!(story.count(left), 0);
    story.end().await;
}

/// Promise (tools/search): With a tool that an owner accepted as a search, the assistant looks up
/// what you typed without a question, also after it has read results. Any word that you did not
/// type there is asked about once it has.
async fn ten_searches_for_typed_words_need_no_question(channel: TestChannel) {
    let server = FakeServer::new("desk");
    let mut story = channel.prepare_story(&server.section(""));
    server.lets_connect(&mut story);
    story.ship(builtin::all());
    story.start().await;
    story.settle().await;
    accept_with(&story, "fake__search", &["--search"]).await;
    loads(&story, ADA, &["web-research"]).await;
    let questions = || story.count("SELECT count(*) FROM questions");
    for number in 1..=10 {
        let query = format!("weather Graz day {number}");
        story.model.calls("fake__search", json!({ "query": query, "region": "at" })).says("Found.");
        story.say(ADA, &format!("What is the weather in Graz on day {number}?")).await;
        assert_eq!((server.log("call").len(), questions()), (number, 0), "{}", story.last_received_by(ADA));
    }
    every_untrusted_part_is_labelled(&story);
    for (arguments, asked) in
        [(json!({ "query": "weather Graz salary" }), 1), (json!({ "query": "weather", "max_results": 4711 }), 2)]
    {
        story.model.calls("fake__search", arguments.clone());
        story.say(ADA, "go on").await;
        assert_eq!((server.log("call").len(), questions()), (10, asked), "{arguments}");
    }

    // Accepted without that, each search after the first asks.
    accept(&story, "fake__search").await;
    story.say(ADA, "/new").await;
    let before = questions();
    for asked in [0, 1] {
        story.model.calls("fake__search", json!({ "query": "weather" })).says("Found.");
        story.say(ADA, "and the weather?").await;
        assert_eq!(questions() - before, asked);
    }
    story.end().await;
}

/// Proves: skills/policy
async fn a_run_opens_only_what_its_skills_or_its_request_name(channel: TestChannel) {
    let (story, web) = with_skills(channel).await;
    let task = "Plan a trip from http://named.example/none";
    story.model.calls("schedule", json!({ "cron": "0 13 * * *", "task": task })).says("Noted.");
    story.say(ADA, &format!("please {}", canary(ADA))).await;
    let call = |tool: &str, arguments: Value| (tool.to_owned(), arguments.to_string());
    let calls = [
        call("load_skill", json!({ "name": "trips" })),
        call("web_fetch", fetch("http://other.example/none")),
        call("web_fetch", fetch("http://named.example/none")),
    ];
    story.background.then(Say::Calls(calls.to_vec())).says("Done.");
    story.pass(Duration::from_secs(61 * 60)).await;
    assert_eq!(story.last_received_by(ADA), "Done.");
    assert_eq!(web.visited(), ["named.example/none"]);
    let run = story.background.requests().iter().map(words).find(|words| words.contains("Refused")).unwrap();
    assert!(run.contains("uses skills that do not name where this goes, nobody said yes to other.example"), "{run}");
    story.end().await;
}

/// A program whose power is cut at the nth such commit, and which then continues. Ada agrees.
fn through_the_dark(channel: TestChannel, side: CommitPoint, job: &'static str, nth: u32) {
    let beside = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let web = beside.block_on(Web::of(&PAGES));
    let mut crash_test = channel.crash_test("");
    crash_test.story.fetch_through(web.fetcher());
    write_skills(&crash_test.story);
    crash_test.story.model.otherwise(|request| match words(request) {
        words if words.contains("page c") => Say::Text("It says: page c.".to_owned()),
        words if words.contains("leaf@tea.example") => {
            Say::Calls(vec![("web_fetch".to_owned(), fetch("http://other.example/c").to_string())])
        }
        _ => Say::Calls(vec![("load_skill".to_owned(), json!({ "name": "tea" }).to_string())]),
    });
    let mut dark = crash_test.start(Some(Cut { side, job: Some(job), nth }));
    let mut cuts = 0;
    for words in [format!("find tea {}", canary(ADA)), "/yes 1".to_owned()] {
        crash_test.story.fake.person_says(ADA, &words);
        dark |= crash_test.pass(Duration::from_secs(5));
        if dark {
            cuts += 1;
            crash_test.revive();
            dark = crash_test.pass(Duration::from_secs(5));
        }
    }
    let story = &crash_test.story;
    assert_eq!(cuts, 1, "the power goes once: {side:?} {job}");
    let heard = story.received_by(ADA);
    for sentence in ["does not name other.example", "It says: page c."] {
        assert!(heard.iter().any(|heard| heard.contains(sentence)), "{side:?} {job}: {sentence} {heard:?}");
    }
    assert_eq!(story.count("SELECT count(*) FROM questions"), 1, "{side:?} {job}");
    assert_eq!(story.count("SELECT count(*) FROM grants WHERE kind = 'destination'"), 1, "{side:?} {job}");
    crash_test.end();
}

/// Proves: skills/policy
fn a_power_cut_between_loading_question_and_answer_changes_nothing(channel: TestChannel) {
    let cuts = [
        (Before, "store a tool step", 1),
        (After, "store a tool step", 1),
        (Before, "ask the person", 1),
        (After, "ask the person", 1),
        (Before, "accept messages", 2),
        (After, "accept messages", 2),
        (Before, "begin a tool step", 2),
        (After, "begin a tool step", 2),
    ];
    // A message that was not stored comes again, or is lost without other effects.
    let is_fair = |(side, job, _): &(CommitPoint, &str, u32)| {
        channel.gives_again() || (*side, *job) != (Before, "accept messages")
    };
    for (side, job, nth) in cuts.into_iter().filter(is_fair) {
        through_the_dark(channel, side, job, nth);
    }
}
