//! Power cuts at the commits of forms.

use std::time::Duration;

use compline::admin::health::HealthRecorder;
use compline::store::CommitPoint::{After, Before};
use reqwest::StatusCode;

use crate::skill_gate::submit;
use crate::support::browser::{Browser, Page, SERVED, sign_in_code};
use crate::support::power::{CrashTest, Cut};
use crate::support::story::{ADA, EVE, skill};

/// A program whose page is served, and whose own work of the start is done.
fn begin() -> CrashTest {
    let mut crash = CrashTest::prepared(SERVED);
    assert!(!crash.start(None));
    lit(&crash, crash.story.until(async || crash.jobs_so_far().contains_key("the index is whole")));
    crash
}

/// Sends a form and cuts the power at that commit.
fn cut_at(crash: &mut CrashTest, browser: &Browser, cut: Cut, path: &str, form: &[(&str, &str)]) {
    crash.cut_next(cut);
    let mut browser = browser.clone();
    let is_dark = crash.during(async {
        browser.post(path, form).await;
    });
    assert!(is_dark, "{cut:?} was not met");
    crash.revive();
}

/// Waits for an answer while there is power.
fn lit<T>(crash: &CrashTest, work: impl Future<Output = T>) -> T {
    let mut result = None;
    assert!(!crash.during(async { result = Some(work.await) }));
    result.unwrap()
}

/// Both sides of each commit that some work makes.
fn cuts_in(crash: &CrashTest, work: impl Future<Output = ()>) -> Vec<Cut> {
    let before = crash.jobs_so_far();
    assert!(!crash.during(work));
    let mut cuts = Vec::new();
    for (job, times) in crash.jobs_so_far() {
        for nth in 1..=times - before.get(job).copied().unwrap_or_default() {
            cuts.extend([Before, After].map(|side| Cut { side, job: Some(job), nth }));
        }
    }
    cuts
}

fn posted(crash: &CrashTest, browser: Browser, path: &str, form: &[(&str, &str)]) -> Page {
    let mut browser = browser.at(crash.story.app());
    lit(crash, browser.post(path, form))
}

/// Promise (page/power): A power cut while a form of the page is sent leaves it done or not done,
/// never half or twice, and a sign-in link stays good for one browser.
#[test]
fn a_link_signs_in_once_across_power_cuts() {
    for side in [Before, After] {
        let mut crash = begin();
        let code = lit(&crash, sign_in_code(crash.story.app(), "Ada"));
        let browser = Browser::new(crash.story.app());
        cut_at(&mut crash, &browser, Cut::at(side, "begin a web session"), "/login", &[("code", &code)]);
        let again = posted(&crash, browser, "/login", &[("code", &code)]).status;
        assert_eq!(again, if side == Before { StatusCode::SEE_OTHER } else { StatusCode::FORBIDDEN });
        assert_eq!(crash.story.count("SELECT count(*) FROM web_sessions"), 1);
        crash.end();
    }
}

/// Proves: page/power
#[test]
fn a_browser_is_signed_out_or_not_across_power_cuts() {
    for side in [Before, After] {
        let mut crash = begin();
        let browser = lit(&crash, Browser::of(crash.story.app(), "Ada"));
        cut_at(&mut crash, &browser, Cut::at(side, "end a web session"), "/sign-out", &[]);
        let expected = i64::from(side == Before);
        assert_eq!(crash.story.count("SELECT count(*) FROM web_sessions"), expected);
        let browser = browser.at(crash.story.app());
        assert_eq!(lit(&crash, browser.get("/")).status.is_success(), side == Before);
        crash.end();
    }
}

/// Proves: page/power
#[test]
fn a_command_of_the_page_is_done_once_across_power_cuts() {
    for side in [Before, After] {
        let mut crash = begin();
        let browser = lit(&crash, Browser::of(crash.story.app(), "Ada"));
        let form = [("command", "/remember The key is with Nora")];
        cut_at(&mut crash, &browser, Cut::at(side, "announce a change of a file"), "/act", &form);
        let written = || {
            let memory =
                std::fs::read_to_string(crash.story.home.join("workspace/memory/MEMORY.md")).unwrap_or_default();
            memory.matches("The key is with Nora").count()
        };
        assert_eq!(written(), usize::from(side == After));
        crash.end();
    }
}

/// A program in which a proposal waits, and the form that approves it.
fn proposed() -> (CrashTest, Browser, String) {
    let crash = begin();
    crash.story.model.calls("submit_skill", submit("tea", "create", "Warm the pot first.")).says("I have proposed it.");
    crash.story.fake.says(ADA, "please remember how I like my tea");
    assert!(!crash.pass(Duration::from_secs(5)));
    let browser = lit(&crash, Browser::of(crash.story.app(), "Ada"));
    let page = lit(&crash, browser.get("/proposals/1")).text;
    let hash = page.split("name=\"hash\" value=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    (crash, browser, hash)
}

/// Proves: page/power
#[test]
fn a_proposal_is_approved_once_across_power_cuts() {
    let path = "/proposals/1/approve";
    let approve = async |crash: &CrashTest, browser: &Browser, hash: &str| {
        browser.clone().post(path, &[("hash", hash)]).await;
        crash.story.settle().await;
    };
    let (crash, browser, hash) = proposed();
    let cuts = cuts_in(&crash, approve(&crash, &browser, &hash));
    crash.end();
    assert!(cuts.len() >= 6, "{cuts:?}");
    for cut in cuts {
        let (mut crash, browser, hash) = proposed();
        crash.cut_next(cut);
        assert!(crash.during(approve(&crash, &browser, &hash)), "{cut:?} was not met");
        crash.revive();
        lit(&crash, crash.story.settle());
        let wanted = skill("tea", "Use when tea is to be made.", "Warm the pot first.");
        let decided = crash.story.count("SELECT count(*) FROM decisions WHERE outcome = 'done'");
        assert_eq!(crash.story.skill("tea"), (decided == 1).then(|| wanted.clone()), "{cut:?}");
        let again = posted(&crash, browser, path, &[("hash", &hash)]).status;
        let expected = if decided == 1 { StatusCode::CONFLICT } else { StatusCode::SEE_OTHER };
        assert_eq!(again, expected, "{cut:?}");
        assert_eq!(crash.story.skill("tea"), Some(wanted), "{cut:?}");
        for table in ["decisions WHERE outcome = 'done'", "skill_versions WHERE skill = 'tea'"] {
            assert_eq!(crash.story.count(&format!("SELECT count(*) FROM {table}")), 1, "{cut:?} {table}");
        }
        crash.end();
    }
}

/// Visible files of Ada's inbox with what they hold, and whether there is an unfinished one.
fn inbox(crash: &CrashTest) -> (Vec<Vec<u8>>, bool) {
    let entries = std::fs::read_dir(crash.story.path_of("inbox")).into_iter().flatten().flatten();
    let (hidden, visible): (Vec<_>, Vec<_>) = entries
        .map(|entry| entry.path())
        .partition(|path| path.file_name().unwrap().to_str().unwrap().starts_with('.'));
    (visible.iter().map(|path| std::fs::read(path).unwrap()).collect(), !hidden.is_empty())
}

/// Promise (page/file-power): A file, alone or with a message, is there whole or not at all after a
/// power cut, and a form that is sent again stores both once.
#[test]
fn a_message_with_a_file_is_there_once_across_power_cuts() {
    let (form, files): (_, [(&str, &[u8]); 1]) = ([("id", "one"), ("text", "How much?")], [("bill.txt", b"Ten euros")]);
    let send = async |crash: &CrashTest, browser: &Browser| {
        browser.send("/chat", &form, &files).await;
        crash.story.answered().await;
    };
    let crash = begin();
    let browser = lit(&crash, Browser::of(crash.story.app(), "Ada"));
    let cuts = cuts_in(&crash, send(&crash, &browser));
    crash.end();
    assert!(cuts.len() >= 16, "{cuts:?}");
    for cut in cuts {
        let mut crash = begin();
        let browser = lit(&crash, Browser::of(crash.story.app(), "Ada"));
        crash.cut_next(cut);
        assert!(crash.during(send(&crash, &browser)), "{cut:?} was not met");
        crash.revive();
        let (found, _) = inbox(&crash);
        assert!(found.iter().all(|bytes| bytes == b"Ten euros"), "{cut:?}: {found:?}");
        let is_stored = crash.story.count("SELECT count(*) FROM messages WHERE external_id LIKE '%:one'") == 1;
        assert!(!is_stored || found.len() == 1, "{cut:?}: a message without its file");
        let browser = browser.at(crash.story.app());
        let again = lit(&crash, browser.send("/chat", &form, &files));
        assert_eq!(again.leads_to(), "/chat", "{cut:?}: {}", again.text);
        lit(&crash, crash.story.answered());
        assert_eq!(inbox(&crash), (vec![b"Ten euros".to_vec()], false), "{cut:?}");
        for table in [
            "messages WHERE external_id LIKE '%:one' AND state = 'answered'",
            "attachments WHERE state = 'here'",
            "messages WHERE kind = 'reply'",
            "outbox WHERE state = 'sent'",
            "outbox",
        ] {
            assert_eq!(crash.story.count(&format!("SELECT count(*) FROM {table}")), 1, "{cut:?}: {table}");
        }
        assert!(crash.story.model.last_prompt().contains("Ten euros"), "{cut:?}");
        let page = lit(&crash, browser.get("/chat/messages")).text;
        assert_eq!((page.matches("How much?").count(), page.matches(">ok").count()), (1, 1), "{cut:?}: {page}");
        crash.end();
    }
}

/// Proves: page/file-power
#[test]
fn an_upload_is_there_whole_or_not_at_all_across_power_cuts() {
    let files: [(&str, &[u8]); 1] = [("bill.txt", b"Ten euros")];
    for side in [Before, After] {
        let mut crash = begin();
        let browser = lit(&crash, Browser::of(crash.story.app(), "Ada"));
        crash.cut_next(Cut::at(side, "announce a file"));
        assert!(crash.during(async { drop(browser.send("/files", &[], &files).await) }));
        crash.revive();
        assert_eq!(inbox(&crash).0, [] as [Vec<u8>; 0], "It has no name yet");
        let browser = browser.at(crash.story.app());
        for _ in 0..2 {
            assert_eq!(lit(&crash, browser.send("/files", &[], &files)).leads_to(), "/files/inbox");
        }
        assert_eq!(inbox(&crash), (vec![b"Ten euros".to_vec()], false), "{side:?}");
        crash.end();
    }
}

/// Proves: page/health-over-time
#[test]
fn a_change_of_health_is_recorded_once_across_power_cuts() {
    for (side, job) in [Before, After].into_iter().flat_map(|side| [(side, "record a start"), (side, "record health")])
    {
        let mut crash = begin();
        let look = async |crash: &CrashTest| {
            let admin = &crash.story.app().admin;
            let mut recorder = HealthRecorder::begin(admin).await.unwrap();
            recorder.look(admin).await.unwrap();
        };
        crash.cut_next(Cut::at(side, job));
        assert!(crash.during(look(&crash)), "{side:?} {job}");
        crash.revive();
        lit(&crash, look(&crash));
        for part in ["model", "telegram"] {
            let changes = crash.story.count(&format!("SELECT count(*) FROM health_changes WHERE part = '{part}'"));
            assert_eq!(changes, 1, "{side:?} {job} {part}");
        }
        let starts = crash.story.count("SELECT count(*) FROM health_changes WHERE part = 'program' AND state = 'well'");
        let has_begun = side == After || job == "record health";
        assert_eq!(starts, 1 + i64::from(has_begun), "{side:?} {job}");
        assert_eq!(crash.story.count("SELECT count(*) FROM health_changes WHERE state = 'off'"), i64::from(has_begun));
        crash.end();
    }
}

/// Proves: page/power
#[test]
fn a_removal_is_done_or_not_across_power_cuts() {
    for side in [Before, After] {
        let mut crash = begin();
        let mut browser = lit(&crash, Browser::of(crash.story.app(), "Ada"));
        let page = lit(&crash, browser.post("/people", &[("act", "pair"), ("name", "Carl"), ("role", "member")]));
        let code = page.text.split("/start ").nth(1).unwrap().get(..9).unwrap().to_owned();
        crash.story.fake.says(EVE, &code);
        assert!(!crash.pass(Duration::from_secs(5)));
        let carl = crash.story.count("SELECT id FROM people WHERE name = 'Carl'");
        let theirs = lit(&crash, Browser::of(crash.story.app(), "Carl"));
        let path = format!("/people/{carl}");
        cut_at(&mut crash, &browser, Cut::at(side, "remove a person"), &path, &[("act", "remove")]);
        let theirs = theirs.at(crash.story.app());
        assert_eq!(lit(&crash, theirs.get("/")).status.is_success(), side == Before);
        let again = posted(&crash, browser, &path, &[("act", "remove")]).status;
        assert_eq!(again, if side == Before { StatusCode::OK } else { StatusCode::CONFLICT });
        assert_eq!(crash.story.count(&format!("SELECT removed_at IS NULL FROM people WHERE id = {carl}")), 0);
        crash.end();
    }
}

/// Proves: page/memory-conflict
#[test]
fn an_edit_is_saved_once_across_power_cuts() {
    let path = "/memory/pets";
    let edited = || {
        let crash = begin();
        crash.story.writes("memory/pets.md", "Cat: Tom\n");
        crash.story.fake.says(ADA, "Hello");
        assert!(!crash.pass(Duration::from_secs(5)));
        let browser = lit(&crash, Browser::of(crash.story.app(), "Ada"));
        let page = lit(&crash, browser.get("/memory/pets?edit=1")).text;
        let digest = page.split("name=\"digest\" value=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
        (crash, browser, digest)
    };
    let save = async |crash: &CrashTest, browser: &Browser, digest: &str| {
        let form = [("act", "save"), ("digest", digest), ("text", "Cat: Bruno\r\n")];
        browser.clone().post(path, &form).await;
        crash.story.settle().await;
    };
    let (crash, browser, digest) = edited();
    let cuts = cuts_in(&crash, save(&crash, &browser, &digest));
    crash.end();
    assert!(cuts.len() >= 4, "{cuts:?}");
    for cut in cuts {
        let (mut crash, browser, digest) = edited();
        crash.cut_next(cut);
        assert!(crash.during(save(&crash, &browser, &digest)), "{cut:?} was not met");
        crash.revive();
        let versions = "SELECT count(*) FROM files WHERE path LIKE '%memory/pets.md' AND cause = 'page'";
        let is_saved = crash.story.count(versions) == 1;
        assert!(is_saved == (cut.side == After) || cut.job != Some("announce a change of a file"), "{cut:?}");
        let wanted = if is_saved { "Cat: Bruno\n" } else { "Cat: Tom\n" };
        assert_eq!(crash.story.reads("memory/pets.md"), wanted, "{cut:?}: neither text is lost");
        assert_eq!(crash.story.count("SELECT count(*) FROM files WHERE replaces IS NOT NULL"), 0, "{cut:?}");
        let browser = browser.at(crash.story.app());
        lit(&crash, save(&crash, &browser, &digest));
        assert_eq!(crash.story.reads("memory/pets.md"), "Cat: Bruno\n", "{cut:?}");
        assert_eq!(crash.story.count(versions), 1, "{cut:?}: once");
        crash.end();
    }
}
