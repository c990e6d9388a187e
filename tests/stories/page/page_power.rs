//! Power cuts at the commits of forms.

use compline::store::CommitPoint::{After, Before};
use reqwest::StatusCode;

use crate::support::browser::{Browser, Page, SERVED, sign_in_code};
use crate::support::power::{CrashTest, Cut};

/// A program whose page is served.
fn begin() -> CrashTest {
    let mut crash = CrashTest::prepared(SERVED);
    assert!(!crash.start(None));
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
