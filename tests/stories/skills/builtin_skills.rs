//! The built-in skills, each followed through with the real tools.

use std::collections::BTreeSet;
use std::time::Duration;

use compline::model::{Purpose, Request};
use compline::skill::builtin::{self, Builtin};
use serde_json::{Value, json};

use crate::support::model::{Say, usual, words};
use crate::support::story::{ADA, Story};
use crate::support::web::Web;

const DAY: Duration = Duration::from_secs(24 * 3600);

async fn story() -> Story {
    let mut story = Story::prepared("").await;
    story.ship(builtin::all());
    story.start().await;
    story
}

/// A model that loads a skill, then makes these calls one after the other, then answers.
async fn follows(story: &Story, asked: &str, skill: &str, calls: &[(&str, Value)], answer: &str) -> String {
    story.model.calls("load_skill", json!({ "name": skill }));
    for (tool, arguments) in calls {
        story.model.calls(tool, arguments.clone());
    }
    story.model.says(answer);
    story.say(ADA, asked).await;
    let prompt = story.model.last_prompt();
    assert!(prompt.contains("(load_skill gave) ---\nname:"), "{skill}: {prompt}");
    assert!(!prompt.contains("There is no tool"), "{skill}: {prompt}");
    assert!(story.received_by(ADA).iter().any(|told| told == answer), "{skill}: {:?}", story.received_by(ADA));
    assert_eq!(
        story.count("SELECT count(*) FROM steps WHERE kind = 'tool' AND (failed = 1 OR made = 0)"),
        0,
        "{skill}"
    );
    prompt
}

/// Words in backticks of a skill's files.
fn spans(builtin: &Builtin) -> BTreeSet<&'static str> {
    let lines = builtin.files.iter().flat_map(|(_, text)| text.lines());
    lines.flat_map(|line| line.split('`').skip(1).step_by(2)).collect()
}

/// Promise (skills/true): What a built-in skill tells the assistant to do works with its tools,
/// and what it says is not possible is not.
#[tokio::test]
async fn each_tool_named_is_in_the_toolbox_and_each_limit_holds() {
    let story = story().await;
    story.say(ADA, "hello").await;
    let request = story.model.chats().pop().unwrap();
    let tools: BTreeSet<&str> = request.tools().iter().map(|tool| tool.name.as_str()).collect();
    // Keys of front matter and arguments.
    let others = ["requires_tools", "new_name", "create_skill", "change_skill"];
    for builtin in builtin::all() {
        for span in spans(builtin) {
            let is_name = span.contains('_') && span.chars().all(|c| c.is_ascii_lowercase() || c == '_');
            assert!(!is_name || tools.contains(span) || others.contains(&span), "{} names {span}", builtin.name);
        }
    }
    // "You see no calendar, no mail and no weather", "It is no search engine", "nothing of yours
    // leaves this chat", "You cannot write the folder".
    for word in ["calendar", "mail", "weather", "search_web", "web_search", "pay", "call_", "write_skill"] {
        assert!(tools.iter().all(|tool| !tool.contains(word)), "a skill denies {word}: {tools:?}");
    }
    story.end().await;
}

/// Proves: skills/true
#[tokio::test]
async fn memory_and_decisions_and_lessons_are_kept_and_found() {
    let story = story().await;
    let note = json!({ "title": "Mother's birthday", "content": "4 May; she likes tulips" });
    follows(
        &story,
        "remember my mother's birthday: 4 May, tulips",
        "memory-keeping",
        &[("memory_search", json!({ "query": "mother birthday" })), ("remember", note)],
        "Kept in your notes.",
    )
    .await;
    let found = follows(
        &story,
        "should I take the small flat?",
        "decision-helper",
        &[
            ("load_skill_resource", json!({ "name": "decision-helper", "path": "resources/table.md" })),
            ("memory_search", json!({ "in": "conversations", "query": "flat" })),
            ("memory_save", json!({ "content": "Decided: the smaller flat, because of the quiet." })),
            ("remind", json!({ "when": "in 30 days", "text": "Look back on the flat" })),
        ],
        "I would take the smaller one.",
    )
    .await;
    assert!(found.contains("It hangs on:") && found.contains("(remind gave)"), "{found}");
    follows(
        &story,
        "quiz me on fractions",
        "learning-tutor",
        &[
            ("memory_search", json!({ "in": "conversations", "query": "fractions" })),
            ("remind", json!({ "when": "tomorrow 18:00", "text": "Fractions: mixed numbers" })),
        ],
        "Practised on 20 November: adding fractions. Again: mixed numbers.",
    )
    .await;
    story.pass(DAY + Duration::from_secs(7 * 3600)).await;
    assert!(story.last_received_by(ADA).contains("Fractions: mixed numbers"), "{}", story.last_received_by(ADA));
    let again = follows(
        &story,
        "what did I practise last time?",
        "learning-tutor",
        &[("memory_search", json!({ "in": "conversations", "query": "practised fractions" }))],
        "Adding fractions.",
    )
    .await;
    assert!(again.contains("Practised on 20 November: adding fractions"), "{again}");
    story.end().await;
}

fn brief(request: &Request) -> Say {
    let said = words(request);
    let call = |tool: &str, arguments: Value| Say::Calls(vec![(tool.to_owned(), arguments.to_string())]);
    if !said.contains("(load_skill gave)") {
        call("load_skill", json!({ "name": "daily-brief" }))
    } else if !said.contains("(list_scheduled gave)") {
        call("list_scheduled", json!({}))
    } else {
        Say::Text(format!("**Today:** dentist {}", if said.contains("dentist") { "at ten" } else { "(unknown)" }))
    }
}

/// Proves: skills/true
#[tokio::test]
async fn the_daily_brief_comes_by_itself_each_morning() {
    let story = story().await;
    story
        .background
        .otherwise(|request| if request.purpose() == Purpose::Task { brief(request) } else { usual(request) });
    let task = "Load the skill daily-brief and send the brief for today.";
    follows(
        &story,
        "send me a brief each morning; and the dentist is on the 21st at ten",
        "daily-brief",
        &[
            ("load_skill_resource", json!({ "name": "daily-brief", "path": "resources/brief.md" })),
            ("list_scheduled", json!({})),
            ("memory_search", json!({ "in": "conversations", "query": "Saturday" })),
            ("remind", json!({ "when": "2026-11-21 09:30", "text": "dentist at ten" })),
            ("schedule", json!({ "cron": "30 7 * * *", "task": task })),
        ],
        "Each morning at half past seven.",
    )
    .await;
    story.pass(Duration::from_secs(20 * 3600)).await;
    assert!(story.last_received_by(ADA).contains("dentist at ten"), "{}", story.last_received_by(ADA));
    story.end().await;
}

/// Proves: skills/true
#[tokio::test]
async fn a_page_a_letter_and_a_proposal_go_as_their_skills_say() {
    let web =
        Web::of(&[("/visit", "<p>Closed on Mondays. See http://museum.example/fees</p>"), ("/fees", "<p>Ten.</p>")])
            .await;
    let mut story = Story::prepared("").await;
    story.ship(builtin::all());
    story.fetch_through(web.fetcher());
    story.start().await;
    follows(
        &story,
        "write to my landlord about the heating",
        "writing-help",
        &[("memory_search", json!({ "in": "conversations", "query": "landlord" }))],
        "Dear Mr Berger, the heating has been off since [date].",
    )
    .await;
    let files = json!([{ "path": "SKILL.md", "content":
        "---\nname: letters\ndescription: Letters to the landlord. Use when one is asked for.\n---\n\nName the date first.\n" }]);
    let proposed = follows(
        &story,
        "make a skill of that",
        "skill-authoring",
        &[
            ("load_skill_resource", json!({ "name": "skill-authoring", "path": "resources/template.md" })),
            (
                "submit_skill",
                json!({ "name": "letters", "change": "create", "files": files, "rationale": "It was asked for twice." }),
            ),
        ],
        "It waits as proposal 1.",
    )
    .await;
    assert!(proposed.contains("Staged as proposal 1"), "{proposed}");
    let looked = follows(
        &story,
        "what did we say of the heating?",
        "failure-patterns",
        &[("memory_search", json!({ "in": "conversations", "query": "heating" }))],
        "That it has been off.",
    )
    .await;
    assert!(looked.contains("Search conversations"), "{looked}");
    story.say(ADA, "/new").await;
    let read = follows(
        &story,
        "when is it open? http://museum.example/visit",
        "web-research",
        &[
            ("web_fetch", json!({ "url": "http://museum.example/visit" })),
            ("web_fetch", json!({ "url": "http://museum.example/fees" })),
        ],
        "Closed on Mondays; ten.",
    )
    .await;
    assert!(read.contains("Closed on Mondays") && read.contains("Ten."), "{read}");
    story.stop_here().await;
}
