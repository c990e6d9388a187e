//! Reports of the state and the account.

use super::super::Caller;
use super::super::tests::fixture::{Fixture, START, keys};
use super::*;
use crate::schedule::Job;
use crate::search::VectorOutage;
use crate::store::ClosedWork;
use crate::time::Zone;
use crate::wording::review::Surface;
use std::collections::BTreeSet;
use std::time::Duration;

#[tokio::test]
async fn status_has_the_promised_shape() {
    let fixture = Fixture::new().await;
    let said = fixture.says("Ada", "good morning").await;
    let json = fixture.admin.chat(&fixture.ada(), "/status").await.json;
    assert_eq!(
        keys(&json),
        [
            "version",
            "zone",
            "started_at",
            "adapters",
            "servers",
            "queues",
            "streams",
            "slots",
            "heartbeats",
            "proposals",
            "upkeep",
            "embeddings",
            "budget",
            "model",
            "outage",
            "used_up"
        ],
    );
    assert_eq!(json["proposals"], json!({ "pending": 0 }));
    assert_eq!(json["zone"], "Europe/Vienna");
    assert_eq!(json["queues"], json!({ "inbox": 1, "outbox": 0, "set_aside": 0 }));
    assert_eq!(
        json["slots"][0],
        json!({ "job": "daily", "period": "2026-11-21", "due_at": "2026-11-22T02:30:00.000Z" })
    );
    assert_eq!(json["slots"].as_array().unwrap().len(), 3);
    assert_eq!(
        json["adapters"],
        json!([
            { "name": "telegram", "state": "ok", "last_event_at": START.rfc3339(), "last_message_at": null,
              "trouble": null, "remark": null },
            { "name": "terminal", "state": "trouble", "last_event_at": null, "last_message_at": null,
              "trouble": "The socket is gone.", "remark": null },
        ])
    );
    let stream = json!({ "person": "Ada", "conversation": said.conversation, "last_message_at": START.rfc3339() });
    assert_eq!(json["streams"], json!([stream]));
    assert_eq!(json["budget"]["left"], json!(5.0));
    assert_eq!(json["budget"]["left_tokens"], json!(2_000_000));
}

#[tokio::test]
async fn a_conversation_is_current_until_the_gap_has_passed() {
    let fixture = Fixture::new().await;
    fixture.says("Ada", "good morning").await;
    fixture.clock.set(START.plus(Duration::from_secs(6 * 3600)));
    assert!(fixture.admin.chat(&fixture.ada(), "/status").await.json["streams"][0]["conversation"].is_number());
    fixture.clock.set(START.plus(Duration::from_millis(6 * 3_600_000 + 1)));
    let json = fixture.admin.chat(&fixture.ada(), "/status").await.json;
    assert!(json["streams"][0]["conversation"].is_null() && json["streams"][0]["last_message_at"].is_string());
}

#[tokio::test]
async fn a_member_sees_their_own_stream_and_nothing_else() {
    let fixture = Fixture::new().await;
    fixture.says("Ada", "good morning").await;
    fixture.says("Ben", "hello").await;
    let answer = fixture.admin.chat(&fixture.ben(), "/status").await;
    assert!(!answer.markdown.contains("Ada") && !answer.markdown.contains("telegram"), "{}", answer.markdown);
    assert_eq!(answer.json["streams"].as_array().unwrap().len(), 1);
    assert_eq!((&answer.json["queues"]["inbox"], &answer.json["budget"]), (&json!(1), &json!({})));
    let owner = fixture.admin.chat(&fixture.ada(), "/status").await;
    assert!(["Ada", "Ben", "telegram", "The socket is gone."].iter().all(|part| owner.markdown.contains(part)));
}

#[tokio::test]
async fn whoami_tells_role_addresses_and_conversation() {
    let fixture = Fixture::new().await;
    assert!(fixture.admin.chat(&fixture.ben(), "/whoami").await.json["conversation"].is_null());
    fixture.says("Ben", "hello").await;
    let answer = fixture.admin.chat(&fixture.ben(), "/whoami").await;
    let json = answer.json;
    assert_eq!(
        (&json["name"], &json["role"], &json["since"]),
        (&json!("Ben"), &json!("member"), &json!(START.rfc3339()))
    );
    assert_eq!(json["addresses"], json!([{ "adapter": "telegram", "account": "bot", "peer": "102" }]));
    assert!(
        answer.markdown.contains("telegram 102") && answer.markdown.contains("nobody else's"),
        "{}",
        answer.markdown
    );
}

fn health() -> VectorHealth {
    VectorHealth {
        source: "ollama".to_owned(),
        model: "small".to_owned(),
        dimensions: Some(8),
        kept: 120,
        lacking: 3,
        ..VectorHealth::default()
    }
}

#[test]
fn it_says_how_much_is_there_why_it_is_away_and_when_it_is_asked_again() {
    let at = |minutes: i64| Timestamp(1_795_251_600_000 + minutes * 60_000);
    let surface = Surface::CommandLine;
    let context = RenderContext { agent: "", zone: Zone::UTC, now: at(0), surface };
    let well = embedding_line(&health(), &context);
    assert_eq!(well, "- search by meaning: ollama/small, 8 numbers per vector; 120 texts have one, 3 are missing");
    let away = VectorOutage { why: "The key is refused".to_owned(), since: at(0), next: at(10) };
    let failed = Some((away.why.clone(), at(5)));
    let ill = VectorHealth { away: Some(away), failed, ..health() };
    let told = embedding_line(&ill, &context);
    assert!(told.contains("The key is refused") && told.contains("09:00") && told.contains("09:10"), "{told}");
    let json = embedding_json(Some(&ill));
    assert_eq!((&json["with_vector"], &json["without_vector"]), (&json!(120), &json!(3)));
    assert_eq!((&json["trouble"], &json["next_at"]), (&json!("The key is refused"), &json!(at(10).rfc3339())));
    assert_eq!(json["last_failure_at"], json!(at(5).rfc3339()));
    assert_eq!(embedding_json(None), Value::Null);
}

/// A report with every line that the status has.
async fn report_with_every_line(fixture: &Fixture) -> StatusReport {
    fixture.says("Ada", "good morning").await;
    let mut report = fixture.admin.reports().status(Some(&fixture.ada().person), None).await.unwrap();
    report.model = Some("small".to_owned());
    report.set_aside = vec![OutboxId(3)];
    report.outage = Some((START, crate::wording::turn::UNREACHABLE));
    report.refusal = Some((START, "400".to_owned()));
    report.used_up = Some("daily".to_owned());
    let program = report.program.as_mut().unwrap();
    for (_, health) in &mut program.adapters {
        let message = Some(START).filter(|_| health.problem.is_none());
        *health =
            Health { last_message_at: message, chat_problem: Some("A message was lost.".to_owned()), ..health.clone() };
    }
    let condition = Condition { listed: BTreeMap::new(), since: Some(START), restarts: 2, trouble: None, refused: 1 };
    let absent = Condition { since: None, trouble: Some("It did not answer.".to_owned()), ..condition.clone() };
    let silent = Condition { trouble: None, ..absent.clone() };
    program.servers = [("mail", condition), ("files", absent), ("maps", silent)]
        .map(|(name, condition)| (name.to_owned(), condition))
        .into();
    program.pending = 2;
    program.upkeep.last = Some(START);
    program.upkeep.restored = Some((START, ClosedWork { outbox: 1, messages: 2, ..ClosedWork::default() }));
    program.upkeep.activated_at = Some(START);
    let away = Some(VectorOutage { why: "The key is refused".to_owned(), since: START, next: START });
    program.embedding = Some(VectorHealth { away, ..health() });
    let heartbeat =
        |ran_at, next_at| HeartbeatStatus { person: "Ada".to_owned(), open: 1, checked_at: None, ran_at, next_at };
    program.heartbeats = vec![heartbeat(Some(START), Some(START)), heartbeat(None, None)];
    let person = fixture.ada().person.id;
    program.upcoming = [Job::Daily, Job::Weekly, Job::Monthly]
        .map(|job| UpcomingReflection { person, job, at: START, period: "2026-11-21".to_owned() })
        .into();
    report
}

/// Words that both languages share: names, commands, and the same word in both.
const SHARED: &[&str] = &[
    "budget",
    "compline",
    "doctor",
    "files",
    "heartbeat",
    "journal",
    "mail",
    "maps",
    "ollama",
    "resend",
    "server",
    "small",
    "telegram",
    "terminal",
    "token",
    "tokens",
    "vector",
];

/// Words of a line, but for short ones.
fn long_words(line: &str) -> BTreeSet<String> {
    let line = line.to_lowercase();
    let words = crate::text::words_in(&line).filter(|word| word.len() > 3 && word.chars().all(char::is_alphabetic));
    words.map(str::to_owned).collect()
}

/// Proves: people/no-english
#[tokio::test]
async fn in_a_language_that_its_owner_chose_no_line_of_the_status_is_english() {
    let fixture = Fixture::new().await;
    let report = report_with_every_line(&fixture).await;
    let shown = |language| {
        let context = fixture.admin.render_context(Surface::Chat(language));
        report.markdown(&context, &mut ShownLabel::nothing())
    };
    let english = shown(Language::ENGLISH);
    assert!(english.lines().count() > 20, "{english}");
    for language in Language::all().filter(|language| *language != Language::ENGLISH) {
        let own = shown(language);
        assert_eq!(own.lines().count(), english.lines().count(), "{own}");
        // The first line holds names alone.
        for (own, english) in own.lines().zip(english.lines()).skip(1) {
            let (words, of_english) = (long_words(own), long_words(english));
            let common: Vec<&String> =
                words.intersection(&of_english).filter(|word| !SHARED.contains(&word.as_str())).collect();
            assert!(own != english && common.is_empty(), "{language}: {own:?} has {common:?}");
        }
    }
}

/// Proves: people/no-english
#[tokio::test]
async fn what_only_owners_are_told_is_english_and_then_all_of_it() {
    let fixture = Fixture::new().await;
    for stranger in ["901", "902", "903", "904", "905", "906", "907"] {
        fixture.is_contacted_by("telegram", stranger).await;
    }
    let ada = fixture.ada();
    let german = Caller { language: Language::named("de"), ..fixture.ada() };
    for line in ["/people", "/skills", "/reflections", "/heartbeat", "/model"] {
        let (own, english) = (fixture.admin.chat(&german, line).await, fixture.admin.chat(&ada, line).await);
        assert_eq!(own.markdown, english.markdown, "{line}");
    }
    let people = fixture.admin.chat(&german, "/people").await.markdown;
    assert!(people.contains("More: /people strangers before "), "{people}");
    let status = fixture.admin.chat(&german, "/status").await.markdown;
    assert!(status.contains("Vorschläge, die auf dich warten: 0"), "{status}");
}
