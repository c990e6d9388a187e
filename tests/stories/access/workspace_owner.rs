//! Owner of the workspace root: a stored fact that only a hand-over changes.

use std::time::Duration;

use compline::id::PersonId;
use compline::model::Request;
use compline::store::CommitPoint::{After, Before};
use compline::trust::Scope;
use serde_json::json;

use crate::support::every_channel::{Story, TestChannel, on_every_channel};
use crate::support::model::words;
use crate::support::power::Cut;
use crate::support::story::{ADA, BEN as CARL, canary};

on_every_channel! {
    stories:
        a_second_owner_gets_nothing_of_the_first_after_any_role_change,
        a_demoted_owner_keeps_the_root_and_a_removed_one_closes_it,
        a_hand_over_swaps_places_and_nothing_else,
        the_workspace_root_of_a_removed_owner_can_be_transferred,
        a_file_written_for_another_person_is_not_loaded_and_is_reported,
        a_new_name_keeps_the_folder_and_an_old_name_gets_a_new_one;
    crash_tests:
        the_power_may_go_at_every_commit_of_a_hand_over;
}

const HALF_AN_HOUR: Duration = Duration::from_secs(30 * 60 + 2);
const NEXT_CONVERSATION: Duration = Duration::from_secs(7 * 3600);
const HEARTBEAT: &str = "[heartbeat]\ninterval = \"30m\"\nquiet_hours = \"\"\n";
const BOTH: [(&str, &str, i64); 2] = [("Ada", "owner", ADA), ("Carl", "owner", CARL)];
const HERS: [&str; 4] = ["USER.md", "memory/MEMORY.md", "memory/plan.md", "HEARTBEAT.md"];

/// Two owners with files of their own; Ada is the first.
async fn two_owners(channel: TestChannel, settings: &str) -> Story {
    let mut story = channel.prepare_story(settings);
    story.people_are(&BOTH);
    story.start().await;
    for person in [ADA, CARL] {
        let note = json!({ "title": "Plan", "content": format!("The plan is {}", canary(person)), "kind": "project" });
        story.model.calls("remember", note).says("Noted.");
        story.say(person, &format!("remember the plan {}", canary(person))).await;
    }
    fill(&story);
    story
}

fn fill(story: &Story) {
    for (folder, person) in [("", ADA), ("people/2-carl/", CARL)] {
        story.writes(&format!("{folder}USER.md"), &format!("My name is {}.\n", canary(person)));
        let memory = story.reads(&format!("{folder}memory/MEMORY.md"));
        story.writes(&format!("{folder}memory/MEMORY.md"), &format!("Known: {}\n\n{memory}", canary(person)));
    }
    story.writes("HEARTBEAT.md", &format!("- [ ] look at the post of {}\n", canary(ADA)));
}

fn requests(story: &Story) -> Vec<Request> {
    story.model.requests().into_iter().chain(story.background.requests()).collect()
}

/// Checks that only Ada's own requests hold her data, and only Carl's own requests his.
fn nothing_crossed(story: &Story) {
    for request in requests(story) {
        for (id, person) in [(1, ADA), (2, CARL)] {
            let own = request.scope() == Scope::Person(PersonId(id));
            assert!(own || !words(&request).contains(&canary(person)), "{} in {}", canary(person), words(&request));
        }
    }
    assert!(!story.received_by(CARL).join("\n").contains(&canary(ADA)), "Carl was sent words of Ada's");
    assert!(!story.received_by(ADA).join("\n").contains(&canary(CARL)), "Ada was sent words of Carl's");
}

async fn asks(story: &Story, person: i64, line: &str) -> String {
    story.say(person, line).await;
    story.last_received_by(person)
}

async fn last_prompt_of(story: &Story, person: i64) -> String {
    story.pass(NEXT_CONVERSATION).await;
    story.model.says("Well.");
    story.say(person, "what do you know of me?").await;
    story.model.last_prompt()
}

/// Promise (privacy/former-owner): If the first owner is renamed, demoted or removed, no one else
/// is shown anything of theirs; while they have no access, their files are loaded for no one.
async fn a_second_owner_gets_nothing_of_the_first_after_any_role_change(channel: TestChannel) {
    for people in [
        vec![("Adda", "owner", ADA), ("Carl", "owner", CARL)],
        vec![("Ada", "member", ADA), ("Carl", "owner", CARL)],
        vec![("Carl", "owner", CARL)],
    ] {
        let mut story = two_owners(channel, HEARTBEAT).await;
        let before: Vec<_> = HERS.map(|file| story.reads(file)).into();
        story.stop().await;
        story.people_are(&people);
        story.start().await;
        let prompt = last_prompt_of(&story, CARL).await;
        assert!(prompt.contains(&canary(CARL)) && !prompt.contains(&canary(ADA)), "{people:?}: {prompt}");
        for line in ["/memory", "/memory plan", "/memory MEMORY", "/memory history plan", "/memory search plan"] {
            let told = asks(&story, CARL, line).await;
            assert!(!told.contains(&canary(ADA)), "{people:?} {line}: {told}");
        }
        for call in [json!({ "path": "memory/plan.md" }), json!({ "path": "USER.md" })] {
            story.model.calls("read_file", call).says("Read.");
            story.say(CARL, "read it").await;
        }
        story.pass(HALF_AN_HOUR * 3).await;
        nothing_crossed(&story);
        assert_eq!(before, HERS.map(|file| story.reads(file)), "{people:?}: her files stay where they are");
        story.end().await;
    }
}

/// Proves: privacy/former-owner
async fn a_demoted_owner_keeps_the_root_and_a_removed_one_closes_it(channel: TestChannel) {
    let mut story = two_owners(channel, HEARTBEAT).await;
    story.stop().await;
    story.people_are(&[("Ada", "member", ADA), ("Carl", "owner", CARL)]);
    story.start().await;
    assert!(last_prompt_of(&story, ADA).await.contains(&canary(ADA)));
    assert_eq!(story.command_line(&["knowledge"]).await.json["files"]["root_is_closed"], false);
    story.stop().await;
    story.people_are(&[("Carl", "owner", CARL)]);
    let asked = story.background.asked();
    story.start().await;
    story.pass(HALF_AN_HOUR * 3).await;
    assert_eq!(story.background.asked(), asked, "no heartbeat follows her file");
    assert_eq!(story.command_line(&["knowledge"]).await.json["files"]["root_is_closed"], true);
    assert!(story.command_line(&["memory"]).await.markdown.contains("MEMORY.md"), "the command line speaks for Carl");
    story.stop().await;
    story.people_are(&BOTH);
    story.start().await;
    assert!(last_prompt_of(&story, ADA).await.contains(&canary(ADA)), "she is back, and so are her files");
    nothing_crossed(&story);
    story.end().await;
}

/// Promise (people/workspace-root): The workspace root passes to another owner only after an owner
/// confirms it twice; files change places, never contents, and a power cut leaves nothing half
/// done.
async fn a_hand_over_swaps_places_and_nothing_else(channel: TestChannel) {
    let story = two_owners(channel, HEARTBEAT).await;
    story.writes("people/2-carl/HEARTBEAT.md", &format!("- [ ] feed the cat of {}\n", canary(CARL)));
    story.writes("people/2-carl/letters/1.txt", &canary(CARL));
    let shared = story.reads("AGENTS.md");
    let told = story.command_line(&["people", "hand-over", "carl"]).await;
    for part in ["people/1-ada/", "people/2-carl/", "HEARTBEAT.md", "AGENTS.md"] {
        assert!(told.markdown.contains(part), "{part}: {}", told.markdown);
    }
    assert!(story.reads("USER.md").contains(&canary(ADA)), "nothing is done yet");
    let told = asks(&story, ADA, "/people handover Carl").await;
    assert!(told.contains("/people handover Carl yes"), "{told}");
    let told = asks(&story, ADA, "/people handover Carl yes").await;
    assert!(told.contains("belongs to Carl from now on"), "{told}");
    let is_told =
        |person| story.received_by(person).iter().filter(|text| text.contains("belongs to Carl from now on")).count();
    assert_eq!((is_told(ADA), is_told(CARL)), (1, 1), "the other owner is told, and who did it has the answer");
    for file in ["USER.md", "memory/MEMORY.md", "memory/plan.md", "HEARTBEAT.md"] {
        let (root, hers) = (story.reads(file), story.reads(&format!("people/1-ada/{file}")));
        assert!(root.contains(&canary(CARL)) && !root.contains(&canary(ADA)), "{file}: {root}");
        assert!(hers.contains(&canary(ADA)) && !hers.contains(&canary(CARL)), "{file}: {hers}");
    }
    assert_eq!((story.reads("letters/1.txt"), story.reads("AGENTS.md")), (canary(CARL), shared));
    assert!(!story.path_of("people/2-carl").exists());
    for person in [ADA, CARL] {
        assert!(last_prompt_of(&story, person).await.contains(&canary(person)));
        let found = asks(&story, person, "/memory search plan").await;
        assert!(found.contains(&canary(person)), "{found}");
        let history = asks(&story, person, "/memory history plan").await;
        assert!(history.contains("plan"), "{history}");
    }
    story.pass(HALF_AN_HOUR * 2).await;
    let followed = story.background.requests();
    assert!(followed.iter().any(|request| words(request).contains("feed the cat")), "HEARTBEAT.md is his now");
    let health = story.command_line(&["knowledge"]).await.json["files"].clone();
    assert_eq!((&health["misplaced"], &health["misplaced_rows"]), (&json!([]), &json!([])), "{health}");
    nothing_crossed(&story);
    assert!(story.command_line(&["people", "hand-over", "Carl", "--yes"]).await.failed, "it is his already");
    let back = story.command_line(&["people", "hand-over", "Ada", "--yes"]).await;
    assert!(!back.failed && story.reads("USER.md").contains(&canary(ADA)), "{}", back.markdown);
    assert!(story.reads("people/2-carl/USER.md").contains(&canary(CARL)));
    story.end().await;
}

/// Proves: people/workspace-root
async fn the_workspace_root_of_a_removed_owner_can_be_transferred(channel: TestChannel) {
    let mut story = two_owners(channel, "").await;
    story.stop().await;
    story.people_are(&[("Carl", "owner", CARL)]);
    story.start().await;
    let done = story.command_line(&["people", "hand-over", "Carl", "--yes"]).await;
    assert!(!done.failed, "{}", done.markdown);
    assert!(story.reads("people/1-ada/memory/plan.md").contains(&canary(ADA)));
    assert!(last_prompt_of(&story, CARL).await.contains(&canary(CARL)));
    story.stop().await;
    story.people_are(&BOTH);
    story.start().await;
    assert!(last_prompt_of(&story, ADA).await.contains(&canary(ADA)));
    nothing_crossed(&story);
    story.end().await;
}

/// Proves: people/workspace-root
fn the_power_may_go_at_every_commit_of_a_hand_over(channel: TestChannel) {
    let jobs = ["begin to hand the root over", "the root is cleared", "the root has changed hands"];
    for (side, job) in jobs.into_iter().flat_map(|job| [(Before, job), (After, job)]) {
        let mut crash_test = channel.crash_test("");
        crash_test.story.people_are(&BOTH);
        assert!(!crash_test.start(Some(Cut::at(side, job))));
        for person in [ADA, CARL] {
            crash_test.story.fake.says(person, "hello");
        }
        assert!(!crash_test.pass(Duration::from_secs(60)));
        fill(&crash_test.story);
        crash_test.story.fake.says(ADA, "/people handover Carl yes");
        assert!(crash_test.pass(Duration::from_secs(60)), "{side:?} {job} never came");
        crash_test.revive();
        assert!(!crash_test.pass(Duration::from_secs(60)));
        let story = &crash_test.story;
        assert_eq!(story.count("SELECT count(*) FROM folder_moves"), 0, "{side:?} {job}");
        assert_eq!(story.count("SELECT owner_id FROM workspace"), 2, "{side:?} {job}");
        for (folder, person) in [("people/1-ada/", ADA), ("", CARL)] {
            for file in ["USER.md", "memory/MEMORY.md"] {
                assert!(story.reads(&format!("{folder}{file}")).contains(&canary(person)), "{side:?} {job}: {file}");
            }
        }
        nothing_crossed(story);
        crash_test.end();
    }
}

/// Promise (privacy/foreign-file): A file that was written for one person but is in another's
/// folder is shown to no one and left unchanged by Compline, and `doctor` names it.
async fn a_file_written_for_another_person_is_not_loaded_and_is_reported(channel: TestChannel) {
    let mut story = two_owners(channel, "").await;
    story.stop().await;
    let db = rusqlite::Connection::open(story.home.join("compline.db")).unwrap();
    // Traces of another owner's turn, from before the owner of the root was a stored fact.
    for file in ["USER.md", "memory/plan.md"] {
        let sql = "INSERT INTO files (path, digest, label, scope, written_at, author, cause)
            VALUES (?1, 'x', 'trusted', 'person:2', 1, 'program', '')";
        db.execute(sql, [file]).unwrap();
    }
    drop(db);
    story.writes("USER.md", "a marked line of USER.md\n");
    story.start().await;
    let prompt = last_prompt_of(&story, ADA).await;
    assert!(!prompt.contains("a marked line") && prompt.contains("Known: "), "{prompt}");
    let list = asks(&story, ADA, "/memory plan").await;
    assert!(list.contains("no such note"), "{list}");
    story.model.calls("read_file", json!({ "path": "USER.md" })).says("No.");
    story.say(ADA, "read it").await;
    assert!(!story.model.last_prompt().contains("a marked line"));
    let db = rusqlite::Connection::open(story.home.join("compline.db")).unwrap();
    db.execute("UPDATE texts SET scope = 'person:2' WHERE id = (SELECT min(id) FROM texts)", []).unwrap();
    drop(db);
    let files = story.command_line(&["knowledge"]).await.json["files"].clone();
    let named: Vec<_> = files["misplaced"].as_array().unwrap().iter().map(|one| one["path"].clone()).collect();
    assert_eq!(named, ["USER.md", "memory/plan.md"]);
    assert_eq!(
        (&files["misplaced"][0]["written_for"], &files["misplaced"][0]["lies_with"]),
        (&json!("Carl"), &json!("Ada"))
    );
    assert_eq!(files["misplaced_rows"][0][0], "texts", "{files}");
    assert!(story.reads("USER.md").contains("a marked line"), "nothing is deleted");
    story.stop_here().await;
}

/// Promise (people/renamed): If you are renamed, you keep your folder, and reusing an old name gives
/// access to no one's folder.
async fn a_new_name_keeps_the_folder_and_an_old_name_gets_a_new_one(channel: TestChannel) {
    let mut story = two_owners(channel, "").await;
    story.stop().await;
    let db = rusqlite::Connection::open(story.home.join("compline.db")).unwrap();
    // Carl is renamed, and a new person takes his old name.
    db.execute("UPDATE people SET name = 'Charles' WHERE id = 2", []).unwrap();
    drop(db);
    story.people_are(&[
        ("Ada", "owner", ADA),
        ("Charles", "owner", CARL),
        ("Carl", "member", crate::support::story::EVE),
    ]);
    story.start().await;
    assert!(last_prompt_of(&story, CARL).await.contains(&canary(CARL)));
    assert!(!last_prompt_of(&story, crate::support::story::EVE).await.contains(&canary(CARL)));
    assert!(story.path_of("people/3-carl/USER.md").exists() && story.path_of("people/2-carl/USER.md").exists());
    assert!(!story.path_of("people/2-charles").exists());
    nothing_crossed(&story);
    story.end().await;
}
