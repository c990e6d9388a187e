//! The state of the program on the page: findings, numbers, health over time, backups, the log.

use std::time::Duration;

use compline::admin::backup::{self, BackupSources};
use compline::admin::health::{HealthRecorder, record_stop};
use compline::model::ModelError;
use compline::time::Clock;
use reqwest::StatusCode;

use crate::support::browser::{Browser, SERVED};
use crate::support::model::{Say, usual};
use crate::support::story::{ADA, StoryOver};
use crate::support::telegram::FakeTelegram;

type Story = StoryOver<FakeTelegram>;

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3600);

/// Returns the recorded changes in order, without those of the channel, whose clock stands still.
fn changes(story: &Story) -> String {
    story.text(
        "SELECT coalesce(group_concat(part || ' ' || state, ', '), '') FROM (SELECT * FROM health_changes WHERE part <> 'telegram' ORDER BY id)",
    )
}

/// Looks at the health after a minute.
async fn look(story: &Story, recorder: &mut HealthRecorder) {
    story.pass(MINUTE).await;
    recorder.look(&story.app().admin).await.unwrap();
}

/// Promise (page/status): Owners see on the page what `compline doctor` says about the running
/// program, each finding with what to do.
#[tokio::test]
async fn an_owner_sees_the_state_and_what_to_do() {
    let unreviewed = "[reflection]\nenabled = false\nreview_mode = \"ai\"\n";
    let story = Story::with(&format!("{SERVED}{unreviewed}")).await;
    story.say(ADA, "hello").await;
    let mut ada = Browser::of(story.app(), "Ada").await;
    let page = ada.get("/status").await.text;
    for part in [
        "Running since",
        "scripted/scripted",
        "Left today",
        "Telegram",
        "No backup was made yet",
        "checks passed",
        "there is no reviewer of its own",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(story.home.join("lock"), std::fs::Permissions::from_mode(0o644)).unwrap();
    story.write_skill("tea", "Use when tea is to be made.", "Boil it.");
    std::fs::write(story.home.join("skills/tea/SKILL.md"), "---\nname: tea\n").unwrap();
    let page = ada.get("/status").await.text;
    assert!(
        page.contains("others on this computer can look into") && page.contains("chmod 600"),
        "with what to do: {page}"
    );
    assert!(page.contains("tea is not used"), "{page}");
    let told = story.app().admin.reports().findings().await.unwrap();
    assert!(told.iter().all(|finding| page.contains(finding.check)), "{told:?}");
    assert_eq!(ada.get("/status/check").await.status, StatusCode::METHOD_NOT_ALLOWED, "no link checks");
    let checked = ada.post("/status/check", &[]).await.text;
    assert!(checked.contains("sound, version") && checked.contains("the fullest MEMORY.md"), "{checked}");
    let ben = Browser::of(story.app(), "Ben").await;
    for path in ["/status", "/status/log"] {
        assert_eq!(ben.get(path).await.status, StatusCode::FORBIDDEN, "{path}");
    }
    story.end().await;
}

/// Promise (page/health-over-time): The page shows for 90 days when each channel and the model
/// worked, had a problem, or were off.
#[tokio::test]
async fn each_change_of_health_is_recorded_once_and_survives_a_restart() {
    let mut story = Story::with(SERVED).await;
    story.say(ADA, "hello").await;
    let mut recorder = HealthRecorder::begin(&story.app().admin).await.unwrap();
    for _ in 0..3 {
        look(&story, &mut recorder).await;
    }
    assert_eq!(changes(&story), "program well, model well");
    assert_eq!(story.text("SELECT group_concat(state) FROM health_changes WHERE part = 'telegram'"), "well");
    story.model.otherwise(|_| Say::Fail(ModelError::BadKey));
    story.say(ADA, "are you there?").await;
    for _ in 0..3 {
        look(&story, &mut recorder).await;
    }
    let before = "program well, model well, model ill";
    assert_eq!(changes(&story), before);
    // Power fails: the last sign of life tells since when.
    story.pass(20 * MINUTE).await;
    recorder.look(&story.app().admin).await.unwrap();
    let seen = story.clock.now();
    story.stop().await;
    story.clock.set(seen.plus(2 * HOUR));
    story.start().await;
    let mut recorder = HealthRecorder::begin(&story.app().admin).await.unwrap();
    look(&story, &mut recorder).await;
    assert_eq!(changes(&story), format!("{before}, program off, program well"), "the outage goes on");
    assert_eq!(story.count("SELECT at FROM health_changes WHERE state = 'off'"), seen.0);
    // A clean stop tells its time itself.
    story.model.otherwise(usual);
    story.pass(HOUR).await;
    record_stop(&story.app().admin).await.unwrap();
    story.restart().await;
    HealthRecorder::begin(&story.app().admin).await.unwrap();
    assert_eq!(story.count("SELECT count(*) FROM health_changes WHERE part = 'program' AND state = 'off'"), 2);
    let report = story.app().admin.reports().health().await.unwrap();
    let model = report.parts.iter().find(|part| part.part == "model").unwrap().sum();
    assert!(model.ill >= 20 * MINUTE && model.off >= 2 * HOUR && model.well >= 2 * MINUTE, "{model:?}");
    let page = Browser::of(story.app(), "Ada").await.get("/status").await.text;
    for part in [
        "Health of 90 days",
        "class=\"ill\"",
        "had a problem",
        "aria-label=\"Telegram: ",
        "% up",
        "<caption>Share of each day in which it worked</caption>",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    story.end().await;
}

/// Changes older than 90 days go, but not the one that tells the state since.
#[tokio::test]
async fn old_changes_of_health_are_deleted_by_the_upkeep() {
    let story = Story::with(SERVED).await;
    story.say(ADA, "hello").await;
    let mut recorder = HealthRecorder::begin(&story.app().admin).await.unwrap();
    look(&story, &mut recorder).await;
    story
        .app()
        .journal
        .write("plant", |tx| {
            for state in ["ill", "well", "ill"] {
                tx.health_changes().record("signal", state.parse()?, compline::time::Timestamp(1))?;
            }
            Ok(())
        })
        .await
        .unwrap();
    story.pass(25 * HOUR).await;
    story.pass(24 * HOUR).await;
    assert_eq!(story.count("SELECT count(*) FROM health_changes WHERE part = 'signal'"), 1);
    assert_eq!(story.text("SELECT state FROM health_changes WHERE part = 'signal'"), "ill");
    assert_eq!(story.count("SELECT count(*) FROM health_changes WHERE part <> 'signal'"), 3);
    story.end().await;
}

/// Promise (page/backups): The page shows when the last backups were made, and that each was read
/// back.
#[tokio::test]
async fn a_backup_is_listed_once_it_is_made() {
    let story = Story::with(SERVED).await;
    story.say(ADA, "hello").await;
    let ada = Browser::of(story.app(), "Ada").await;
    let config = story.config();
    let sources = BackupSources {
        home: config.home.clone(),
        workspace: config.workspace,
        skills: config.skills.dir,
        config: None,
    };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("<b>monday.tgz");
    let now = story.clock.now();
    tokio::task::spawn_blocking(move || backup::make(&sources, &file, now, &mut |_, _| {})).await.unwrap().unwrap();
    let page = ada.get("/status").await.text;
    assert!(page.contains("&lt;b&gt;monday.tgz") && page.contains("read back and compared"), "{page}");
    assert!(page.contains("without it") && !page.contains("No backup was made yet"), "{page}");
    story.end().await;
}

/// Promise (page/log): Owners read the log on the page by level and words, without a secret in it.
#[tokio::test]
async fn the_log_is_read_by_level_and_words_in_pages() {
    let story = Story::with(SERVED).await;
    let ada = Browser::of(story.app(), "Ada").await;
    assert!(ada.get("/status/log").await.text.contains("The log has no such entry."));
    let logs = story.home.join("logs");
    std::fs::create_dir_all(&logs).unwrap();
    let token = story.fake.token();
    let mut text: String = (0..450)
        .map(|number| format!("2026-11-20T08:00:00.000000Z  INFO compline::app: entry {number} here\n"))
        .collect();
    text.push_str(&format!("2026-11-20T09:00:00.000000Z ERROR compline::http: <b>{token}</b> is refused\n"));
    // The entry is cut within the token.
    let long = "y".repeat(475);
    text.push_str(&format!("2026-11-20T09:00:00.000000Z  WARN compline::http: {long}{token} to the last word\n"));
    std::fs::write(logs.join("compline-2026-11-20.log"), text).unwrap();
    let page = ada.get("/status/log").await.text;
    assert!(page.contains("&lt;b&gt;\u{2026}&lt;/b&gt; is refused") && !page.contains(token), "{page}");
    assert!(page.contains("yyy\u{2026}") && !page.contains(&format!("y{}", &token[..2])), "{page}");
    assert!(ada.get("/status/log?words=last+word").await.text.contains("yyy\u{2026}"));
    assert!(page.find("is refused").unwrap() < page.find("entry 449 here").unwrap(), "newest first");
    let errors = ada.get("/status/log?level=ERROR").await.text;
    assert!(errors.contains("is refused") && !errors.contains("entry 449"), "{errors}");
    let found = ada.get("/status/log?words=ENTRY+44").await.text;
    assert_eq!(found.matches(" here</bdi>").count(), 11, "{found}");
    let mut seen = Vec::new();
    for page in ada.each_page("/status/log?words=entry").await {
        let numbers =
            page.text.split("entry ").skip(1).filter_map(|part| part.split(" here").next()?.parse::<u32>().ok());
        seen.extend(numbers);
    }
    assert_eq!(seen, (0..450).rev().collect::<Vec<_>>(), "each once");
    // A word that stands before the two megabytes that are read at once.
    let filler = "2026-11-19T08:00:00.000000Z  INFO compline::app: the same again and again\n".repeat(30_000);
    let early = format!("2026-11-19T07:00:00.000000Z  INFO compline::app: a swallow\n{filler}");
    std::fs::write(logs.join("compline-2026-11-19.log"), early).unwrap();
    let pages = ada.each_page("/status/log?words=swallow").await;
    assert!(pages[0].text.contains("This part of the log has no such entry."), "{}", pages[0].text);
    assert!(pages[pages.len() - 1].text.contains("a swallow</bdi>"), "{}", pages.len());
    story.end().await;
}
