//! What the pages show, to whom, and how hostile texts stand there.

use reqwest::StatusCode;

use crate::support::browser::{Browser, SERVED};
use crate::support::story::{ADA, BEN, StoryOver, canary};
use crate::support::telegram::FakeTelegram;

type Story = StoryOver<FakeTelegram>;

/// Promise (page/hostile): A text stands on the page as text, whoever wrote it: no markup, script
/// or lying link of it takes effect.
#[tokio::test]
async fn hostile_texts_stand_as_text() {
    let story = Story::with(SERVED).await;
    let hostile = "<script>alert(1)</script> <img src=x onerror=alert(1)> [click](javascript:alert(1)) ![p](https://evil.example/p)";
    story.model.says(hostile);
    story.say(ADA, hostile).await;
    story.say(ADA, &format!("/remember {hostile}")).await;
    story.answered().await;
    let ada = Browser::of(story.app(), "Ada").await;
    for path in [
        "/",
        "/conversations",
        "/conversations/1",
        "/memory",
        "/memory/MEMORY",
        "/memory/%3Cscript%3Ealert(1)%3C%2Fscript%3E",
        "/search?q=script",
        "/search?q=%3Cscript%3Ealert(1)%3C%2Fscript%3E",
        "/people",
        "/status",
    ] {
        let text = ada.get(path).await.text;
        assert!(!text.contains("<script>") && !text.contains("<img"), "{path}: {text}");
        assert!(!text.contains("href=\"javascript:") && !text.contains("src=\"https"), "{path}: {text}");
    }
    let shown = ada.get("/conversations/1").await.text;
    assert!(shown.contains("&lt;script&gt;alert(1)"), "{shown}");
    story.end().await;
}

/// Promise (page/away): A link leads to a page that shows its whole address first, and only to web
/// and mail addresses.
#[tokio::test]
async fn a_link_is_shown_before_it_is_followed() {
    let story = Story::with(SERVED).await;
    story.model.says("See [the forecast](https://weather.example/graz?q=1).");
    story.say(ADA, "weather?").await;
    story.answered().await;
    let ada = Browser::of(story.app(), "Ada").await;
    let shown = ada.get("/conversations/1").await.text;
    assert!(!shown.contains("href=\"https://"), "{shown}");
    let link = shown.split("href=\"").find(|part| part.starts_with("/away?to=")).expect("a link").split('"').next();
    let page = ada.get(link.unwrap()).await;
    assert!(page.text.contains("<code>https://weather.example/graz?q=1</code>"), "{}", page.text);
    for to in ["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "", "nonsense"] {
        assert_eq!(ada.get(&format!("/away?to={to}")).await.status, StatusCode::NOT_FOUND, "{to}");
    }
    story.end().await;
}

/// Promise (page/opening): Opening a page changes nothing, whatever its address says.
#[tokio::test]
async fn an_address_runs_no_command() {
    let story = Story::with(SERVED).await;
    story.say(ADA, "/remember The first").await;
    story.say(ADA, "/remember The second").await;
    story.settle().await;
    let mut ada = Browser::of(story.app(), "Ada").await;
    let before = (story.count("SELECT count(*) FROM files"), ada.get("/memory").await.text);
    let version = story.count("SELECT min(id) FROM files WHERE path LIKE '%MEMORY.md'");
    let page = ada.get(&format!("/memory/restore%20MEMORY%20{version}")).await;
    assert_eq!((story.count("SELECT count(*) FROM files"), ada.get("/memory").await.text), before, "{}", page.text);
    // The same line changes something when it is sent as a form.
    let command = format!("/memory restore MEMORY {version}");
    let page = ada.post("/act", &[("command", &command)]).await;
    assert_ne!(story.count("SELECT count(*) FROM files"), before.0, "{}", page.text);
    story.end().await;
}

/// Promise (page/own): Each person sees their own conversations and use on the page, an owner too;
/// only use and cost are an owner's to see as a whole.
#[tokio::test]
async fn each_sees_their_own() {
    let story = Story::with(SERVED).await;
    story.say(ADA, &format!("mine {}", canary(ADA))).await;
    story.say(BEN, &format!("his {}", canary(BEN))).await;
    story.answered().await;
    let (ada, ben) = (Browser::of(story.app(), "Ada").await, Browser::of(story.app(), "Ben").await);
    for (browser, other) in [(&ada, BEN), (&ben, ADA)] {
        for path in ["/", "/conversations", "/conversations/1", "/conversations/2", "/search?q=canary", "/memory"] {
            assert!(!browser.get(path).await.text.contains(&canary(other)), "{path}");
        }
    }
    assert!(ada.get("/conversations/1").await.text.contains(&canary(ADA)));
    assert_eq!(ada.get("/conversations/2").await.status, StatusCode::NOT_FOUND);
    let (all, own) = (ada.get("/usage").await.text, ben.get("/usage").await.text);
    assert!(all.contains("Ada") && all.contains("Ben") && all.contains("<svg"), "{all}");
    assert!(!own.contains("Ada") && own.contains("<svg"), "{own}");
    story.end().await;
}

/// Promise (page/refusals): An incomplete form, one that is too long and a wrong address get a
/// sentence, and change nothing.
#[tokio::test]
async fn bad_input_gets_a_sentence() {
    let story = Story::with(SERVED).await;
    let mut ada = Browser::of(story.app(), "Ada").await;
    let long = "x".repeat(2 << 20);
    for (path, form, sentence) in [
        ("/me/display", vec![("shortcuts", "on")], "This form is not complete."),
        ("/me/browsers/end", vec![("id", "one")], "This form is not complete."),
        ("/act", vec![("command", long.as_str())], "This is longer than the page takes"),
    ] {
        let page = ada.post(path, &form).await;
        assert!(page.status.is_client_error() && page.text.contains(sentence), "{path}: {} {}", page.status, page.text);
    }
    for path in ["/conversations/abc", "/proposals/-1", "/nowhere"] {
        let page = ada.get(path).await;
        assert!(page.status == StatusCode::NOT_FOUND && page.text.contains("There is no such page."), "{path}");
    }
    story.end().await;
}
