//! Files in the chat of the page: those that a person sends with a message, and those that they
//! get.

use std::io::Write;
use std::net::TcpStream;
use std::time::Duration;

use reqwest::StatusCode;
use serde_json::json;

use crate::support::browser::{Browser, Page, SERVED, form_with_files};
use crate::support::channel::Channel;
use crate::support::pdf::pdf;
use crate::support::story::{ADA, StoryOver, canary, every_untrusted_part_is_labelled};
use crate::support::telegram::FakeTelegram;

type Story = StoryOver<FakeTelegram>;

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";

/// Names in Ada's inbox, hidden ones too.
fn inbox(story: &Story) -> Vec<String> {
    let entries = std::fs::read_dir(story.path_of("inbox")).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.map(|entry| entry.file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Waits until the inbox is empty, or until it is not.
async fn inbox_becomes(story: &Story, is_empty: bool) {
    let looking = async {
        while inbox(story).is_empty() != is_empty {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), looking).await.expect("the inbox never changed");
}

/// The link of a page that leads to a file which was sent.
fn link_in(page: &Page) -> String {
    let link = page.text.split("href=\"").find(|part| part.starts_with("/chat/files/"));
    link.unwrap_or_else(|| panic!("{}", page.text)).split('"').next().unwrap().to_owned()
}

/// Promise (page/chat-files): Files that you send with a message on the page reach the assistant as
/// those that you send on a messenger: from outside, with their text, in your inbox, and once.
#[tokio::test]
async fn files_come_with_the_message() {
    let mut story = Story::with(SERVED).await;
    let ada = Browser::of(story.app(), "Ada").await;
    story.model.says("It is ten euros.");
    let files: [(&str, &[u8]); 3] =
        [("bill.txt", b"Ten euros"), ("plan.pdf", &pdf(&["The plan of the house"])), ("garden.png", PNG)];
    let form = [("id", "one"), ("text", "How much is it?")];
    for _ in 0..2 {
        assert_eq!(ada.send("/chat", &form, &files).await.leads_to(), "/chat");
    }
    story.answered().await;
    let prompt = story.model.last_prompt();
    assert!(prompt.contains("How much is it?") && prompt.contains("Ten euros"), "{prompt}");
    assert!(prompt.contains("The plan of the house") && prompt.contains("a photo"), "{prompt}");
    every_untrusted_part_is_labelled(&story);
    story.restart().await;
    let ada = ada.at(story.app());
    assert_eq!(ada.send("/chat", &form, &files).await.leads_to(), "/chat");
    story.answered().await;
    assert_eq!(story.count("SELECT count(*) FROM messages WHERE external_id LIKE '%:one'"), 1);
    assert_eq!(story.count("SELECT count(*) FROM attachments WHERE state = 'here'"), 3);
    // The text of a document stands next to it.
    let names = inbox(&story);
    assert_eq!(names.len(), 4, "{names:?}");
    let page = ada.get("/chat").await.text;
    let link = page.split("href=\"").find(|part| part.starts_with("/files/inbox/")).unwrap();
    assert!(ada.get(link.split('"').next().unwrap()).await.text.contains("Ten euros"), "{page}");
    assert_eq!(page.matches("href=\"/files/inbox/").count(), 3, "{page}");
    // A text file of somebody who waits for no answer is a message too, and no command.
    story.model.says("Thank you.");
    assert_eq!(ada.send("/chat", &[("id", "two"), ("text", "/stop")], &files[..1]).await.leads_to(), "/chat");
    story.answered().await;
    assert_eq!(story.count("SELECT count(*) FROM inbox WHERE external_id LIKE '%:two' AND fate = 'admitted'"), 1);
    story.end().await;
}

/// Proves: page/chat-files
#[tokio::test]
async fn a_form_that_is_refused_or_breaks_off_leaves_nothing() {
    let story = Story::with(SERVED).await;
    let ada = Browser::of(story.app(), "Ada").await;
    let large = vec![b'x'; (20 << 20) + 1];
    let many: Vec<(String, &[u8])> = (0..9).map(|at| (format!("{at}.txt"), &b"x"[..])).collect();
    let many: Vec<(&str, &[u8])> = many.iter().map(|(name, bytes)| (name.as_str(), *bytes)).collect();
    let long = "x".repeat((1 << 20) + 1);
    for (form, files, status, sentence) in [
        (&[("id", "a"), ("text", "hello")][..], &[("large.bin", &large[..])][..], 413, "may be up to 20 MB"),
        (&[("id", "b"), ("text", "hello")], &many, 413, "takes up to 8 files"),
        (&[("id", "c"), ("text", &long)], &[("a.txt", b"x")], 413, "longer than the page takes"),
        (&[("text", "hello")], &[("a.txt", b"x")], 400, "not complete"),
        (&[("id", "d"), ("text", "hello")], &[("empty.txt", b"")], 400, "A file did not arrive whole"),
        (&[("id", "e"), ("text", "hello"), ("lost", "1")], &[], 409, "Choose them again"),
    ] {
        let page = ada.send("/chat", form, files).await;
        assert_eq!(page.status.as_u16(), status, "{}", page.text);
        assert!(page.text.contains(sentence), "{sentence}: {}", page.text);
        assert_eq!(inbox(&story), [""; 0]);
    }
    // The connection ends within the file.
    let body = form_with_files(&[("id", "f"), ("text", "hello")], &[("a.txt", &large[..1000])]);
    let address = ada.base.strip_prefix("http://").unwrap();
    let cookie = ada.cookie.clone().unwrap();
    let head = format!(
        "POST /chat HTTP/1.1\r\nHost: {address}\r\nCookie: {cookie}\r\nSec-Fetch-Site: same-origin\r\n\
         Content-Type: multipart/form-data; boundary=b\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    let mut connection = TcpStream::connect(address).unwrap();
    connection.write_all(head.as_bytes()).unwrap();
    connection.write_all(&body[..body.len() - 200]).unwrap();
    inbox_becomes(&story, false).await;
    drop(connection);
    inbox_becomes(&story, true).await;
    assert_eq!(story.count("SELECT count(*) FROM messages") + story.count("SELECT count(*) FROM attachments"), 0);
    // A field without a choice is no file.
    story.model.says("Hello.");
    assert_eq!(ada.send("/chat", &[("id", "g"), ("text", "hello")], &[("", b"")]).await.leads_to(), "/chat");
    // A message that is stored already needs its files no more.
    let again = ada.send("/chat", &[("id", "g"), ("text", "hello"), ("lost", "1")], &[]).await;
    assert_eq!(again.leads_to(), "/chat", "{}", again.text);
    story.answered().await;
    assert_eq!(story.count("SELECT count(*) FROM messages WHERE kind = 'said'"), 1);
    story.end().await;
}

/// Promise (page/sent-files): A file that the assistant or a command sends you stands in the chat
/// of the page as it was sent, for you alone; one that changed since is not passed off as it.
#[tokio::test]
async fn files_that_one_gets_stand_in_the_chat() {
    let story = Story::with(SERVED).await;
    story.writes("notes/plan.md", &format!("The plan {}", canary(ADA)));
    std::fs::write(story.path_of("notes/house.png"), PNG).unwrap();
    std::fs::write(story.path_of("notes/sign.svg"), "<svg/>").unwrap();
    let mut ada = Browser::of(story.app(), "Ada").await;
    story.model.calls("send_file", json!({ "path": "notes/plan.md" })).says("Here it is.");
    ada.post("/chat", &[("id", "one"), ("text", "Send me the plan")]).await;
    story.answered().await;
    let page = ada.get("/chat").await;
    let link = link_in(&page);
    assert!(page.text.contains("Here it is.") && page.text.contains("plan.md"), "{}", page.text);
    let file = ada.get(&link).await;
    assert_eq!(file.text, format!("The plan {}", canary(ADA)));
    assert_eq!(file.headers["content-security-policy"], "default-src 'none'; sandbox");
    assert!(file.headers["content-disposition"].to_str().unwrap().starts_with("attachment"));
    assert_eq!(story.fake.files(ADA), [] as [Vec<u8>; 0], "It goes where it was asked for");
    let ben = Browser::of(story.app(), "Ben").await;
    assert_eq!(ben.get(&link).await.status, StatusCode::NOT_FOUND);
    assert_eq!(Browser::new(story.app()).get(&link).await.leads_to(), "/login");
    assert_eq!(ada.get("/chat/files/999").await.status, StatusCode::NOT_FOUND);
    // Commands of the page are answered on the page.
    for (id, command) in [("two", "/file notes/house.png"), ("three", "/file notes/sign.svg"), ("four", "/export")] {
        ada.post("/chat", &[("id", id), ("text", command)]).await;
        story.settle().await;
    }
    let page = ada.get("/chat").await.text;
    assert!(page.contains("alt=\"house.png\"") && page.contains(".zip"), "{page}");
    assert_eq!(page.matches(" src=\"/chat/files/").count(), 1, "{page}");
    assert!(page.contains("Download <bdi>sign.svg"), "Such a picture is only downloaded: {page}");
    let archive = page.rsplit("href=\"").find(|part| part.starts_with("/chat/files/")).unwrap();
    let archive = ada.request(reqwest::Method::GET, archive.split('"').next().unwrap()).send().await.unwrap();
    assert!(archive.bytes().await.unwrap().starts_with(b"PK"), "an archive");
    assert_eq!(story.fake.files(ADA), [] as [Vec<u8>; 0], "Nothing went to the messenger");
    story.writes("notes/plan.md", "Another plan");
    let changed = ada.get(&link).await;
    assert_eq!(changed.status, StatusCode::NOT_FOUND);
    assert!(changed.text.contains("changed or deleted since it was sent"), "{}", changed.text);
    story.end().await;
}
