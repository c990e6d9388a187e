//! Reflection slots: each period once, in order, regardless of clock changes, restarts and new
//! settings.

use std::time::Duration;

use compline::model::{Purpose, Request};
use compline::time::{Clock, Timestamp};

use crate::support::model::words;
use crate::support::story::{ADA, BEN, NOON, Story, canary};

const HOUR: Duration = Duration::from_secs(3600);
const SETTINGS: &str = "[reflection]\nmin_messages = 1\ntell_owner = false\n";

/// Claimed slots in order: job, period and state.
fn slots(story: &Story) -> Vec<String> {
    let all = story.text(
        "SELECT coalesce(group_concat(line, ', '), '') FROM
           (SELECT job || ' ' || period || ' ' || state AS line FROM slots WHERE job IN ('daily', 'weekly', 'monthly', 'today') ORDER BY id)",
    );
    all.split(", ").filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

fn looked_back(story: &Story) -> Vec<Request> {
    let all = story.background.requests();
    all.into_iter().filter(|request| request.purpose() == Purpose::Reflection).collect()
}

async fn asked(story: &Story, words: &[&str]) -> compline::admin::Answer {
    let words = [&["reflect"], words].concat();
    story.command_line(&words).await
}

/// Proves: reflection/once
#[tokio::test]
async fn a_day_is_looked_back_on_at_the_time_that_the_configuration_names() {
    let story = Story::with(SETTINGS).await;
    story.say(ADA, &format!("a fine day, {}", canary(ADA))).await;
    story.pass(HOUR * 15).await; // 03:00
    assert_eq!(slots(&story), [""; 0]);
    story.pass(HOUR).await;
    assert_eq!(slots(&story), ["daily 2026-11-20 done"]);
    assert_eq!(looked_back(&story).len(), 1);
    story.end().await;
}

/// Proves: reflection/once
#[tokio::test]
async fn days_weeks_and_months_that_are_due_together_run_in_order() {
    let mut story = Story::prepared(SETTINGS).await;
    // The last Sunday of May is the last day of its month.
    story.clock.set(Timestamp(1_780_221_600_000)); // 2026-05-31T10:00:00Z
    story.start().await;
    story.say(ADA, "a fine day").await;
    story.stop().await;
    story.clock.set(story.clock.now().plus(HOUR * 30));
    story.start().await;
    story.settle().await;
    assert_eq!(slots(&story), ["daily 2026-05-31 done", "weekly 2026-W22 done", "monthly 2026-05 done"]);
    story.end().await;
}

/// Proves: reflection/once
#[tokio::test]
async fn an_absence_is_made_up_for_and_what_is_too_long_ago_is_named() {
    let mut story = Story::with(SETTINGS).await;
    story.say(ADA, "a fine day").await;
    story.stop().await;
    story.clock.set(NOON.plus(HOUR * 24 * 12));
    story.start().await;
    story.settle().await;
    let all = slots(&story);
    let days: Vec<_> = all.iter().filter(|slot| slot.starts_with("daily")).collect();
    assert_eq!(days.first().unwrap().as_str(), "daily 2026-11-24 missed");
    assert_eq!(days[1..].len(), 7, "{days:?}");
    assert!(days[1..].iter().all(|slot| slot.ends_with("quiet")));
    assert_eq!(
        story.text("SELECT reason FROM slots WHERE state = 'missed' AND job = 'daily'"),
        "5 of them were due too long ago to be made up for."
    );
    assert!(
        all.contains(&"weekly 2026-W47 missed".to_owned()) && all.contains(&"monthly 2026-11 done".to_owned()),
        "{all:?}"
    );
    assert_eq!(looked_back(&story).len(), 1, "the latest of each job is always made up for, and sees what was missed");
    story.end().await;
}

/// Proves: reflection/once
#[tokio::test]
async fn another_schedule_in_the_configuration_takes_effect_and_doubles_nothing() {
    let mut story = Story::with(SETTINGS).await;
    story.say(ADA, "a fine day").await;
    story.pass(HOUR * 16).await;
    assert_eq!(slots(&story), ["daily 2026-11-20 done"]);
    story.settings(&format!("{SETTINGS}daily = \"0 12 * * *\"\n"));
    story.restart().await;
    story.say(ADA, "another one").await;
    story.pass(HOUR * 9).await; // 13:00 on the 21st: the day is not over
    assert_eq!(slots(&story).len(), 1);
    story.pass(HOUR * 22).await; // 11:00 on the 22nd
    assert_eq!(slots(&story).len(), 1);
    story.pass(HOUR * 2).await;
    assert_eq!(slots(&story), ["daily 2026-11-20 done", "daily 2026-11-21 done"]);
    story.end().await;
}

/// Proves: reflection/once
#[tokio::test]
async fn while_the_clock_is_behind_nothing_is_claimed() {
    let story = Story::with(SETTINGS).await;
    story.say(ADA, "a fine day").await;
    story.clock.set(NOON.minus(HOUR * 24 * 40));
    story.pass(HOUR * 24 * 3).await;
    assert_eq!(slots(&story), [""; 0]);
    story.clock.set(NOON.plus(HOUR * 16));
    story.pass(HOUR).await;
    assert_eq!(slots(&story), ["daily 2026-11-20 done"]);
    story.end().await;
}

/// Proves: reflection/once
#[tokio::test]
async fn slots_marked_by_a_fast_clock_are_discarded_once_it_is_corrected() {
    let story = Story::with(SETTINGS).await;
    story.pass(HOUR).await;
    let there = story.clock.now();
    story.clock.set(there.plus(HOUR * 24 * 5));
    story.pass(HOUR).await;
    assert!(!slots(&story).is_empty(), "days that have not come are marked as quiet");
    story.clock.set(there);
    story.say(ADA, "a fine day").await;
    story.pass(HOUR * 16).await;
    assert_eq!(slots(&story), ["daily 2026-11-20 done"]);
    story.end().await;
}

/// Proves: reflection/on-request
#[tokio::test]
async fn each_missed_day_can_be_asked_for_alone() {
    let mut story = Story::with(SETTINGS).await;
    story.say(ADA, "we planted a cherry").await;
    story.pass(HOUR * 13).await; // 01:00
    story.say(ADA, "and then a pear").await;
    story.stop().await;
    story.clock.set(NOON.plus(HOUR * 24 * 12));
    story.start().await;
    story.settle().await;
    let missed = "daily 2026-11-24 missed".to_owned();
    assert!(slots(&story).contains(&missed), "five days, two of them with words: {:?}", slots(&story));
    let before = looked_back(&story).len();
    for (day, state) in [("2026-11-20", "done"), ("2026-11-21", "done"), ("2026-11-24", "quiet")] {
        let answer = asked(&story, &["daily", day]).await;
        assert_eq!(
            (&answer.json["period"], &answer.json["state"]),
            (&day.into(), &state.into()),
            "{}",
            answer.markdown
        );
    }
    let asked_about: Vec<String> = looked_back(&story).iter().skip(before).map(words).collect();
    let said = |text: &String| (text.contains("a cherry"), text.contains("a pear"));
    assert_eq!(asked_about.iter().map(said).collect::<Vec<_>>(), [(true, false), (false, true)]);
    story.end().await;
}

/// Promise (reflection/on-request): You can run a reflection at any time, a finished one is not
/// repeated unless you ask for it, and you can read the results.
#[tokio::test]
async fn an_owner_may_ask_for_it_and_what_is_done_is_not_done_again_unless_asked_for() {
    let story = Story::with(SETTINGS).await;
    story.say(ADA, "a fine day").await;
    let early = asked(&story, &["daily", "2026-11-20"]).await;
    assert!(early.failed && early.markdown.contains("2026-11-20 is not over yet"), "{}", early.markdown);
    let before = asked(&story, &["daily", "2026-11-19"]).await;
    assert!(before.failed && before.markdown.contains("before you had access"), "{}", before.markdown);
    let odd = asked(&story, &["weekly", "2026-11-19"]).await;
    assert!(odd.failed && odd.markdown.contains("2026-W47"), "{}", odd.markdown);
    story.pass(HOUR * 13).await; // 01:00, before its time
    let done = asked(&story, &["daily"]).await;
    assert!(!done.failed && done.json["state"] == "done", "{}", done.markdown);
    story.pass(HOUR * 4).await;
    assert_eq!(slots(&story), ["daily 2026-11-20 done"], "its own time finds it done");
    let again = asked(&story, &["daily", "2026-11-20"]).await;
    assert!(again.failed && again.markdown.contains("again"), "{}", again.markdown);
    let again = asked(&story, &["daily", "2026-11-20", "again"]).await;
    assert!(!again.failed, "{}", again.markdown);
    assert_eq!((slots(&story).len(), looked_back(&story).len()), (2, 2));
    story.end().await;
}

/// Promise (reflection/so-far): On the first day, or once yesterday is done, `compline reflect
/// daily` looks back on today so far and says so; the day still gets its own reflection.
#[tokio::test]
async fn today_can_be_looked_at_so_far_and_still_gets_its_own_slot() {
    let story = Story::with(SETTINGS).await;
    story.say(ADA, "a fine day").await;
    let today = asked(&story, &["daily"]).await;
    assert!(!today.failed && today.markdown.contains("2026-11-20 so far"), "{}", today.markdown);
    story.say(ADA, "a fine evening").await;
    story.say(ADA, "/reflect daily today").await;
    assert!(story.received_by(ADA).iter().any(|text| text.contains("looking back on 2026-11-20 so far")));
    assert_eq!(slots(&story), ["today 2026-11-20 done", "today 2026-11-20 done"]);
    story.pass(HOUR * 16).await;
    assert_eq!(slots(&story)[2..], ["daily 2026-11-20 done"]);
    let seen: Vec<String> = looked_back(&story).iter().map(words).collect();
    assert!(seen[0].contains("a fine day") && !seen[0].contains("a fine evening"));
    assert!(seen[2].contains("a fine day") && seen[2].contains("a fine evening"));
    let window = "SELECT to_at - from_at FROM slots WHERE job = 'daily'";
    assert_eq!(story.count(window), 24 * 3_600_000, "the whole day");
    story.pass(HOUR).await;
    let tomorrow = asked(&story, &["daily"]).await;
    assert!(tomorrow.markdown.contains("2026-11-21 so far"), "{}", tomorrow.markdown);
    story.end().await;
}

/// Proves: reflection/on-request
#[tokio::test]
async fn the_chat_answers_at_once_and_a_member_may_not_ask() {
    let story = Story::with(SETTINGS).await;
    story.say(ADA, "a fine day").await;
    story.pass(HOUR * 13).await;
    story.say(ADA, "/reflect daily").await;
    assert!(story.received_by(ADA).iter().any(|text| text.contains("I am looking back on 2026-11-20")));
    story.say(BEN, "/reflect daily").await;
    assert!(story.last_received_by(BEN).contains("Only an owner"));
    assert_eq!(slots(&story), ["daily 2026-11-20 done"]);
    story.end().await;
}

/// Promise (reflection/wish): A reflection that you ask for happens however little was said, and you are
/// told how it ended, also if there was nothing to look back on or it did not work.
#[tokio::test]
async fn who_asks_for_a_reflection_is_told_how_it_ended() {
    let settings = "[reflection]\ntell_owner = false\n";
    for (said, failures, ends) in [
        (true, 0, "Looking back on Fri 20 Nov: "),
        (false, 0, "Nothing was said in 2026-11-20"),
        (true, 3, "for Ada failed"),
    ] {
        let story = Story::with(settings).await;
        if said {
            story.say(ADA, "a fine day").await;
        }
        for _ in 0..failures {
            story.background.says("no reflection at all");
        }
        story.say(ADA, "/reflect daily today").await;
        story.pass(HOUR * 5).await;
        let told = story.received_by(ADA);
        assert!(told.iter().any(|text| text.contains("It takes a moment")), "{told:?}");
        let last = story.last_received_by(ADA);
        assert!(last.contains(ends), "{said}, {failures}: {told:?}");
        story.end().await;
    }
}

#[tokio::test]
async fn status_names_the_next_three_with_the_zone() {
    let story = Story::with(&format!("timezone = \"Asia/Kathmandu\"\n{SETTINGS}")).await;
    let status = story.command_line(&["status"]).await;
    assert!(
        status.markdown.contains("- next reflections: daily tomorrow 03:30 · weekly Monday 03:45 · "),
        "{}",
        status.markdown
    );
    assert_eq!(status.json["slots"][0]["due_at"], "2026-11-20T21:45:00.000Z");
    assert_eq!(status.json["slots"].as_array().unwrap().len(), 3);
    story.end().await;
}

/// Proves: reflection/quiet-day
#[tokio::test]
async fn an_idle_month_asks_no_model_and_leaves_its_marks() {
    let story = Story::with("[reflection]\n[heartbeat]\n").await;
    for _ in 0..31 {
        story.pass(HOUR * 24).await;
    }
    assert_eq!((story.model.requests().len(), story.background.requests().len()), (0, 0));
    let quiet = |job: &str| story.count(&format!("SELECT count(*) FROM slots WHERE job = '{job}' AND state = 'quiet'"));
    assert_eq!((quiet("daily"), quiet("weekly"), quiet("monthly")), (31, 5, 1));
    assert_eq!(story.count("SELECT count(*) FROM outbox"), 0);
    story.end().await;
}

/// Proves: reflection/on-request
#[tokio::test]
async fn reflections_are_listed_and_shown_by_number_and_period() {
    let story = Story::with(SETTINGS).await;
    story.say(ADA, "a fine day").await;
    let none = story.command_line(&["reflections", "list"]).await;
    assert!(!none.failed && none.json == serde_json::json!([]), "{}", none.markdown);
    story.pass(HOUR * 16).await;
    let list = story.command_line(&["reflections", "list"]).await;
    let first = &list.json[0];
    assert_eq!((&first["id"], &first["kind"], &first["period"]), (&1.into(), &"daily".into(), &"2026-11-20".into()));
    assert_eq!((&first["person"], &first["title"], &first["tainted"]), (&"Ada".into(), &"A day".into(), &false.into()));
    for wanted in ["1", "2026-11-20"] {
        let shown = story.command_line(&["reflections", "show", wanted]).await;
        assert!(!shown.failed && shown.markdown.contains("It was a day."), "{wanted}: {}", shown.markdown);
    }
    let unknown = story.command_line(&["reflections", "show", "2026-11-19"]).await;
    assert!(unknown.failed && unknown.markdown.contains("compline reflections list"), "{}", unknown.markdown);
    let listed = async |kind: &str| story.command_line(&["conversations", "list", "--kind", kind]).await.json;
    let conversations = listed("all").await;
    let kinds: Vec<&str> = conversations.as_array().unwrap().iter().map(|one| one["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["reflection", "chat"], "newest first");
    assert!(conversations[0]["ended_at"].is_string() && conversations[0]["person"] == "Ada");
    assert_eq!(conversations[0]["title"], "Reflection on 20 November 2026");
    assert_eq!(listed("reflection").await, serde_json::json!([conversations[0]]));
    let chats = story.command_line(&["conversations", "list"]).await.json;
    assert_eq!(chats, serde_json::json!([conversations[1]]), "without a kind, chats alone");
    story.end().await;
}

/// Proves: reflection/once
#[tokio::test]
async fn work_that_began_under_a_clock_that_was_ahead_holds_nothing_up() {
    let mut story = Story::with(&format!("{SETTINGS}[heartbeat]\n")).await;
    story.say(ADA, "a fine day").await;
    std::fs::write(story.home.join("workspace/HEARTBEAT.md"), "- [ ] Look at the door\n").unwrap();
    story.stop().await;
    story.clock.set(NOON.plus(HOUR * 24 * 3_650));
    story.start().await;
    story.pass(HOUR).await;
    assert!(story.count("SELECT count(*) FROM conversations WHERE kind = 'heartbeat'") > 0);
    story.stop().await;
    story.clock.set(NOON.plus(HOUR));
    story.start().await;
    story.pass(HOUR * 16).await;
    assert_eq!(slots(&story), ["daily 2026-11-20 done"]);
    story.end().await;
}
