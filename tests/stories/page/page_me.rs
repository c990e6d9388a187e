//! One's own account on the page: everything that is kept as one file, settings, other addresses.

use std::io::{Cursor, Read};

use reqwest::{Method, StatusCode};

use crate::support::browser::{Browser, SERVED};
use crate::support::channel::{Channel, Start};
use crate::support::signal::FakeSignal;
use crate::support::story::{ADA, BEN, EVE, StoryOver, canary};
use crate::support::telegram::FakeTelegram;

type Story = StoryOver<FakeTelegram>;

/// Sends a form and returns the name of the file that comes back, and its bytes.
async fn downloads(browser: &Browser, path: &str, form: &str) -> (String, Vec<u8>) {
    let request = browser
        .request(Method::POST, path)
        .header("sec-fetch-site", "same-origin")
        .header("content-type", "application/x-www-form-urlencoded")
        .body(form.to_owned());
    let response = request.send().await.unwrap();
    assert_eq!(response.status(), StatusCode::OK, "{path} {form}");
    let header = |name: &str| response.headers()[name].to_str().unwrap().to_owned();
    assert_eq!(
        (header("x-content-type-options").as_str(), header("content-type").as_str()),
        ("nosniff", "application/octet-stream")
    );
    let disposition = header("content-disposition");
    let name = disposition.strip_prefix("attachment; filename*=UTF-8''").unwrap_or_else(|| panic!("{disposition}"));
    (name.to_owned(), response.bytes().await.unwrap().to_vec())
}

/// Everything in an archive, as text.
fn words_in(bytes: Vec<u8>) -> String {
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).unwrap();
    let mut words = String::new();
    for number in 0..archive.len() {
        let mut bytes = Vec::new();
        archive.by_index(number).unwrap().read_to_end(&mut bytes).unwrap();
        words.push_str(&String::from_utf8_lossy(&bytes));
    }
    words
}

/// Promise (page/export): Everyone downloads everything that is kept about them from the page, and
/// nothing of others.
#[tokio::test]
async fn an_export_holds_ones_own_and_nothing_else() {
    let story = Story::with(SERVED).await;
    story.say(ADA, &format!("mine {}", canary(ADA))).await;
    story.say(BEN, &format!("his {}", canary(BEN))).await;
    story.say(BEN, &format!("/remember Tea: {}", canary(BEN))).await;
    story.answered().await;
    story.writes("secret.md", &canary(ADA));
    story.writes("people/2-ben/tea.md", "green");
    let mut ben = Browser::of(story.app(), "Ben").await;
    for (path, form) in [("/me/export", ""), ("/act", "command=%2Fexport")] {
        let (name, bytes) = downloads(&ben, path, form).await;
        assert!(name.starts_with("compline-2026"), "{name}");
        let words = words_in(bytes);
        assert!(words.contains(&canary(BEN)) && words.contains("green") && !words.contains(&canary(ADA)), "{words}");
    }
    let (name, bytes) = downloads(&ben, "/act", "command=%2Ffile+tea.md").await;
    assert_eq!((name.as_str(), bytes.as_slice()), ("tea%2Emd", b"green".as_slice()));
    for path in ["secret.md", "../../secret.md", "people/2-ben/tea.md", "nothing"] {
        let refused = ben.post("/act", &[("command", &format!("/file {path}"))]).await;
        assert_eq!(refused.status, StatusCode::NOT_FOUND, "{path}: {}", refused.text);
    }
    assert!(story.fake.files(BEN).is_empty() && story.file("people/2-ben/exports").is_none());
    let left = std::fs::read_dir(story.path_of("")).unwrap().flatten();
    assert!(!left.map(|entry| entry.file_name()).any(|name| name.to_str().unwrap().starts_with(".unnamed")));
    story.end().await;
}

async fn a_code_links_another_address<C: Start>() {
    let story = StoryOver::<C>::with(SERVED).await;
    story.say(BEN, "Hello").await;
    let mut ben = Browser::of(story.app(), "Ben").await;
    let page = ben.post("/me/link", &[]).await;
    assert!(page.text.contains("A code for Ben"), "{}", page.text);
    assert_eq!(page.text.contains("<svg class=\"qr\""), story.fake.name() == "telegram", "{}", page.text);
    let code = page.text.split("/start ").nth(1).unwrap().get(..9).unwrap().to_owned();
    story.say(EVE, &code).await;
    assert_eq!(story.count("SELECT count(*) FROM addresses WHERE person_id = 2 AND adapter <> 'web'"), 2);
    story.end().await;
}

/// Promise (page/account): On the page everyone sees their role and addresses, links another
/// address with a code, and sets the language and time zone in which they are addressed.
#[tokio::test]
async fn a_second_address_is_linked_on_telegram() {
    a_code_links_another_address::<FakeTelegram>().await;
}

/// Proves: page/account
#[tokio::test]
async fn a_second_address_is_linked_on_signal() {
    a_code_links_another_address::<FakeSignal>().await;
}

/// Proves: page/account
#[tokio::test]
async fn language_and_time_zone_are_set_on_the_page() {
    let story = Story::with(SERVED).await;
    story.say(BEN, "Hello").await;
    let mut ben = Browser::of(story.app(), "Ben").await;
    let page = ben.get("/me").await.text;
    assert!(page.contains("member") && page.contains("Telegram") && page.contains("ask an owner"), "{page}");
    let unknown = [("command", "/reminders cancel 9")];
    let (help, refused) = (ben.get("/help").await.text, ben.post("/act", &unknown).await.text);
    assert!(help.contains("Show your role and addresses") && refused.contains("role=\"alert\""), "{help}{refused}");
    let german = [("setting", "language"), ("value", "de")];
    assert_eq!(ben.post("/me/settings", &german).await.leads_to(), "/me");
    assert_eq!(ben.get("/help").await.text, help, "the page stays English");
    assert_eq!(ben.post("/act", &unknown).await.text, refused);
    let tokyo = [("setting", "zone"), ("value", "Asia/Tokyo")];
    assert_eq!(ben.post("/me/settings", &tokyo).await.leads_to(), "/me");
    story.say(BEN, "/settings").await;
    let told = story.last_received_by(BEN);
    assert!(told.contains("Deutsch") && told.contains("Asia/Tokyo"), "{told}");
    for (setting, value) in [("zone", "Asia/Tokio"), ("zone", "<b>"), ("language", "xx")] {
        let refused = ben.post("/me/settings", &[("setting", setting), ("value", value)]).await;
        assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY, "{value}");
        assert!(refused.text.contains("role=\"alert\"") && refused.text.contains("Asia/Tokyo"), "{}", refused.text);
    }
    assert_eq!(ben.post("/me/settings", &[("setting", "zone"), ("value", "auto")]).await.leads_to(), "/me");
    assert!(!ben.get("/me").await.text.contains("Asia/Tokyo"));
    story.end().await;
}
