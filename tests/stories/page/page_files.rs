//! A person's files on the page: lists, previews, versions, uploads.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::io::Write;
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::body::{Body, Bytes};
use axum::http::Request;
use futures::StreamExt;
use reqwest::{Method, StatusCode};
use tower::ServiceExt;

use crate::support::browser::{Browser, Page, SERVED, answer};
use crate::support::channel::Channel;
use crate::support::pdf::pdf;
use crate::support::story::{ADA, BEN, StoryOver, canary};
use crate::support::telegram::FakeTelegram;

type Story = StoryOver<FakeTelegram>;

/// The smallest start of a PNG.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";

fn writes(story: &Story, path: &str, bytes: &[u8]) {
    let path = story.path_of(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, bytes).unwrap();
}

/// The form of an upload.
fn form(name: &str, bytes: &[u8]) -> Vec<u8> {
    let head = format!("--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\r\n");
    [head.as_bytes(), bytes, b"\r\n--b--\r\n"].concat()
}

async fn uploads(browser: &Browser, name: &str, bytes: &[u8]) -> Page {
    let request = browser
        .request(Method::POST, "/files")
        .header("sec-fetch-site", "same-origin")
        .header("content-type", "multipart/form-data; boundary=b")
        .body(form(name, bytes));
    answer(request).await
}

/// Names in a folder of the workspace, hidden ones too.
fn names_in(story: &Story, folder: &str) -> Vec<String> {
    let entries = std::fs::read_dir(story.path_of(folder)).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.map(|entry| entry.file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Promise (page/files): The page lists each person's own files with totals, sizes, times, whose
/// hand they are and what came from outside; hostile names are text, and no path or link leads
/// elsewhere.
#[tokio::test]
async fn each_sees_their_own_files() {
    let story = Story::with(SERVED).await;
    writes(&story, "plans/garden.md", canary(ADA).as_bytes());
    writes(&story, "people/2-ben/tea.md", b"Ben's tea");
    let hostile = "<script>alert(1)<:script> \u{202e}\"'&?#%2e%2e\nx.md";
    writes(&story, &format!("plans/{hostile}"), b"harmless");
    writes(&story, &format!("plans/{}", "n".repeat(250)), b"");
    std::os::unix::fs::symlink("../people/2-ben", story.path_of("plans/ben")).unwrap();
    std::os::unix::fs::symlink("/etc", story.path_of("plans/etc")).unwrap();
    story.fake.sends_file(ADA, "bill.txt", "Ten euros");
    story.answered().await;
    let (ada, ben) = (Browser::of(story.app(), "Ada").await, Browser::of(story.app(), "Ben").await);
    let root = ada.get("/files").await.text;
    assert!(root.contains("href=\"/files/plans\"") && root.contains("3 files, "), "{root}");
    assert!(!root.contains("/files/people"), "{root}");
    let plans = ada.get("/files/plans").await.text;
    assert!(plans.contains("garden.md") && plans.contains("you, by hand"), "{plans}");
    let set = std::fs::File::options().write(true).open(story.path_of("plans/garden.md")).unwrap();
    set.set_len(2_048).unwrap();
    set.set_modified(std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_790_000_000)).unwrap();
    let plans = ada.get("/files/plans").await.text;
    let row = plans.split("<tr>").find(|row| row.contains("garden.md")).unwrap();
    let file = ada.get("/files/plans/garden.md").await.text;
    for page in [row, &file] {
        assert!(page.contains("2.0 KB") && page.contains("<time datetime=\"2026-09-21"), "{page}");
    }
    writes(&story, "many/60.md", b"");
    (0..60).for_each(|number| writes(&story, &format!("many/{number:02}.md"), b""));
    let many = ada.get("/files/many").await.text;
    assert!(many.contains(">49.md<") && !many.contains(">50.md<") && many.contains("?after=49%2Emd"), "{many}");
    let rest = ada.get("/files/many?after=49%2Emd").await.text;
    assert!(!rest.contains(">49.md<") && rest.contains(">60.md<") && !rest.contains("?after="), "{rest}");
    assert!(!plans.contains("<script>alert") && !plans.contains('\u{202e}') && plans.contains("U+202E"), "{plans}");
    assert!(!plans.contains(">ben<") && !plans.contains(">etc<"), "{plans}");
    let inbox = ada.get("/files/inbox").await.text;
    assert!(inbox.contains("bill.txt") && inbox.contains("From outside: "), "{inbox}");
    // The link of a hostile name leads to its file.
    let link = plans.split("href=\"").find(|part| part.starts_with("/files/plans/%3Cscript")).unwrap();
    let page = ada.get(link.split('"').next().unwrap()).await;
    assert!(page.text.contains("harmless") && !page.text.contains("<script>alert"), "{}", page.text);
    for path in [
        "people/2-ben/tea.md",
        "people",
        "plans/ben",
        "plans/ben/tea.md",
        "plans/etc/hostname",
        "..%2Fcompline.db",
        "%2e%2e/compline.db",
        "plans%2F..%2F..%2Fcompline.db",
        "%2Fetc%2Fhostname",
        ".git",
        "nothing",
        "a%00b",
    ] {
        for route in ["files", "raw"] {
            let page = ada.get(&format!("/{route}/{path}")).await;
            assert_eq!(page.status, StatusCode::NOT_FOUND, "{route} {path}: {}", page.text);
        }
    }
    assert!(ben.get("/files").await.text.contains("tea.md"));
    assert!(ben.get("/raw/tea.md").await.text.contains("Ben's tea"));
    for path in ["plans/garden.md", "..%2F..%2Fplans%2Fgarden.md", "people/2-ben/tea.md"] {
        for route in ["files", "raw"] {
            assert_eq!(ben.get(&format!("/{route}/{path}")).await.status, StatusCode::NOT_FOUND, "{route} {path}");
        }
    }
    story.end().await;
}

/// Promise (page/preview): Text, Markdown, JSON and tables are shown, and pictures by their bytes;
/// everything else is downloaded, and nothing in a file runs.
#[tokio::test]
async fn a_file_is_shown_or_downloaded() {
    let story = Story::with(SERVED).await;
    writes(&story, "a/note.md", b"# Head\n\n**bold** <img src=x onerror=alert(1)>\n");
    writes(&story, "a/data.json", b"{\"a\":[1,\"<script>\"]}");
    writes(&story, "a/table.csv", b"name;price\n\"a; <b>\";2\n");
    writes(&story, "a/plain.txt", b"<script>alert(1)</script>");
    writes(&story, "a/long.txt", &vec![b'x'; 100_001]);
    writes(&story, "a/huge.txt", &vec![b'x'; (1 << 20) + 1]);
    writes(&story, "a/picture.bin", PNG);
    writes(&story, "a/page.html", b"<script>alert(1)</script>");
    writes(&story, "a/lie.png", b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>");
    writes(&story, "a/odd.bin", &[0xff, 0xfe, 0x00]);
    let ada = Browser::of(story.app(), "Ada").await;
    let shown = async |path: &str| ada.get(&format!("/files/a/{path}")).await.text;
    let note = shown("note.md").await;
    assert!(note.contains("<strong>bold</strong>") && !note.contains("<img"), "{note}");
    assert!(shown("note.md?view=source").await.contains("**bold** &lt;img"), "as it is");
    assert!(shown("data.json").await.contains("{\n  &quot;a&quot;: [\n    1,"), "{}", shown("data.json").await);
    let table = shown("table.csv").await;
    assert!(table.contains("<th scope=\"col\">price</th>") && table.contains("<td>a; &lt;b&gt;</td>"), "{table}");
    assert!(!shown("plain.txt").await.contains("<script>alert"));
    assert!(shown("long.txt").await.contains("A line that ends in \u{2026} is cut here"));
    assert!(shown("huge.txt").await.contains("more than 1 MB are not shown here"));
    assert!(shown("picture.bin").await.contains("<img class=\"picture\" src=\"/raw/a/picture%2Ebin\""));
    assert!(shown("odd.bin").await.contains("neither a text nor a picture"));
    assert!(!shown("lie.png").await.contains("<img"));
    for (path, kind, form) in [
        ("picture.bin", "image/png", "inline"),
        ("page.html", "application/octet-stream", "attachment"),
        ("lie.png", "application/octet-stream", "attachment"),
        ("long.txt", "application/octet-stream", "attachment"),
    ] {
        let raw = ada.get(&format!("/raw/a/{path}")).await;
        let header = |name: &str| raw.headers[name].to_str().unwrap().to_owned();
        assert_eq!(header("content-type"), kind, "{path}");
        assert!(header("content-disposition").starts_with(form), "{path}");
        assert_eq!(header("content-security-policy"), "default-src 'none'; sandbox");
        assert_eq!(header("x-content-type-options"), "nosniff");
        let size = std::fs::metadata(story.path_of(&format!("a/{path}"))).unwrap().len();
        assert_eq!(header("content-length"), size.to_string());
    }
    assert_eq!(ada.get("/raw/a/long.txt").await.text.len(), 100_001);
    story.end().await;
}

/// Proves: page/preview
#[tokio::test]
async fn a_long_text_is_shown_part_by_part() {
    let story = Story::with(SERVED).await;
    let mut lines: Vec<String> = (1..=3_000).map(|number| format!("<{number}> {}", "word ".repeat(10))).collect();
    lines[1_499] = format!("{}the end", "\u{e9}".repeat(1_500));
    writes(&story, "a/long.md", lines.join("\n").as_bytes());
    writes(&story, "a/wide.txt", vec!["x".repeat(3_000); 200].join("\n").as_bytes());
    let ada = Browser::of(story.app(), "Ada").await;
    let numbers = |page: &str| -> Vec<usize> {
        let items = page.split("<li id=\"line-").skip(1);
        items.map(|item| item.split('"').next().unwrap().parse().unwrap()).collect()
    };
    let mut seen = std::collections::BTreeSet::new();
    for Page { text: page, .. } in ada.each_page("/files/a/long.md").await {
        assert!(page.len() < 60_000, "{} bytes", page.len());
        seen.extend(numbers(&page));
    }
    assert!(seen.into_iter().eq(1..=3_000), "every line is on a page");
    let there = ada.get("/files/a/long.md?line=1500").await.text;
    assert_eq!((numbers(&there)[0], numbers(&there).len()), (1_490, 200));
    assert!(
        there.contains("<bdi>&lt;1499&gt; word") && there.contains("href=\"/files/a/long%2Emd?line=1300\""),
        "{there}"
    );
    assert!(!there.contains("the end") && there.contains("A line that ends in \u{2026} is cut here"), "{there}");
    assert_eq!(numbers(&ada.get("/files/a/long.md?line=9999").await.text).last(), Some(&3_000));
    assert_eq!(numbers(&ada.get("/files/a/wide.txt").await.text).len(), 20);
    writes(&story, "a/short.md", b"# Head\n\nBody\n");
    let short = ada.get("/files/a/short.md?line=3").await.text;
    assert!(short.contains("<li id=\"line-3\" value=\"3\"><bdi>Body</bdi></li>"), "{short}");
    assert!(short.contains("<a href=\"/files/a/short%2Emd\">The whole text</a>"), "{short}");
    story.end().await;
}

/// Promise (page/file-versions): The page shows a file's earlier versions and what restoring one
/// changes, before it is restored.
#[tokio::test]
async fn a_version_is_compared_and_restored() {
    let story = Story::with(SERVED).await;
    story.say(ADA, "/remember The first").await;
    story.say(ADA, "/remember The second").await;
    let mut ada = Browser::of(story.app(), "Ada").await;
    let page = ada.get("/files/memory/MEMORY.md").await.text;
    assert!(page.contains("The second") && page.contains("you, with a command"), "{page}");
    let first = story.count("SELECT max(id) - 1 FROM files WHERE path = 'memory/MEMORY.md'");
    assert!(page.contains(&format!("?version={first}\"")), "{page}");
    let version = ada.get(&format!("/files/memory/MEMORY.md?version={first}")).await.text;
    let removed =
        format!("-{}", story.reads("memory/MEMORY.md").lines().find(|line| line.contains("The second")).unwrap());
    assert!(version.contains("Restore this version") && version.contains(&removed), "{version}");
    assert!(story.reads("memory/MEMORY.md").contains("The second"), "nothing was restored by looking");
    let done = ada.post("/files/memory/MEMORY.md", &[("version", &first.to_string())]).await;
    assert_eq!(done.leads_to(), "/files/memory/MEMORY%2Emd", "{}", done.text);
    assert!(!story.reads("memory/MEMORY.md").contains("The second"));
    let refused = ada.post("/files/memory/MEMORY.md", &[("version", "999")]).await;
    assert!(refused.status == StatusCode::CONFLICT && refused.text.contains("Not done"), "{}", refused.text);
    // Blanks in a name, on the page and in the chat.
    let garden = "plans/my old garden.md";
    for text in ["Roses\n", "Roses and thyme\n", "Nettles\n"] {
        story.writes(garden, text);
        story.say(ADA, "/memory history plans/my old garden").await;
    }
    let versions = |nth: i64| story.count(&format!("SELECT min(id) + {nth} FROM files WHERE path = '{garden}'"));
    let page = ada.get(&format!("/files/plans/my%20old%20garden.md?version={}", versions(1))).await.text;
    assert!(page.contains("-Nettles") && page.contains("+Roses and thyme"), "{page}");
    let action = page.split("method=\"post\" action=\"").nth(1).unwrap().split('"').next().unwrap();
    assert_eq!(ada.post(action, &[("version", &versions(1).to_string())]).await.leads_to(), action);
    assert_eq!(story.reads(garden), "Roses and thyme\n");
    story.say(ADA, &format!("/memory restore plans/my old garden {}", versions(0))).await;
    assert_eq!(story.reads(garden), "Roses\n");
    let ben = Browser::of(story.app(), "Ben").await;
    let other = ben.get(&format!("/files/memory/MEMORY.md?version={first}")).await;
    assert!(!other.text.contains("The first"), "{}", other.text);
    story.end().await;
}

/// Promise (page/deleted-files): Your deleted files that can be restored are listed, and each shows
/// its versions and restores one; what was forgotten does not come back.
#[tokio::test]
async fn a_deleted_file_is_listed_and_restored() {
    let story = Story::with(SERVED).await;
    for (path, text) in [
        ("memory/pets.md", "Cat: Tom\n"),
        ("memory/secret.md", "The key is under the mat.\n"),
        ("plans/old/<b>garden.md", "Roses\n"),
    ] {
        writes(&story, path, text.as_bytes());
        story.say(ADA, &format!("/memory history {path}")).await;
    }
    writes(&story, "people/2-ben/memory/tea.md", b"Green\n");
    story.say(BEN, "/memory history tea").await;
    let (mut ada, ben) = (Browser::of(story.app(), "Ada").await, Browser::of(story.app(), "Ben").await);
    for page in ["/files", "/memory"] {
        assert!(ada.get(page).await.text.contains("href=\"/deleted-files\""), "{page}");
    }
    assert!(ada.get("/deleted-files").await.text.contains("No deleted file can be restored"));
    let page = ada.get("/memory/secret").await.text;
    let command = page.split("name=\"command\" value=\"").nth(1).unwrap().split('"').next().unwrap();
    let plan = ada.post("/act", &[("command", command)]).await.text;
    let command = plan.split("name=\"command\" value=\"").nth(1).unwrap().split('"').next().unwrap();
    ada.post("/act", &[("command", command)]).await;
    assert_eq!(story.file("memory/secret.md"), None);
    std::fs::remove_file(story.path_of("memory/pets.md")).unwrap();
    std::fs::remove_dir_all(story.path_of("plans")).unwrap();
    std::fs::remove_file(story.path_of("people/2-ben/memory/tea.md")).unwrap();
    let list = ada.get("/deleted-files").await.text;
    let links: Vec<&str> = list.split("<a class=\"title\" href=\"").skip(1).collect();
    let links: Vec<&str> = links.iter().map(|link| link.split('"').next().unwrap()).collect();
    assert_eq!(links, ["/files/memory/pets%2Emd", "/files/plans/old/%3Cb%3Egarden%2Emd"], "{list}");
    assert!(!list.contains("<b>garden") && ben.get("/deleted-files").await.text.contains("tea%2Emd"), "{list}");
    for path in [links[0], "/files/memory/secret.md"] {
        assert_eq!(ben.get(path).await.status, StatusCode::NOT_FOUND, "{path}");
    }
    assert_eq!(ada.get("/files/memory/secret.md").await.status, StatusCode::NOT_FOUND);
    for (link, path, text) in
        [(links[0], "memory/pets.md", "Cat: Tom\n"), (links[1], "plans/old/<b>garden.md", "Roses\n")]
    {
        let page = ada.get(link).await;
        assert!(page.status == StatusCode::OK && page.text.contains("This file was deleted."), "{}", page.text);
        let version = page.text.split("?version=").nth(1).unwrap().split('"').next().unwrap();
        let shown = ada.get(&format!("{link}?version={version}")).await.text;
        assert!(shown.contains(text.trim()) && shown.contains("Restore this version"), "{shown}");
        assert_eq!(ada.post(link, &[("version", version)]).await.leads_to(), link);
        assert_eq!(story.reads(path), text);
    }
    assert!(ada.get("/deleted-files").await.text.contains("No deleted file can be restored"));
    story.end().await;
}

/// Proves: page/deleted-files
#[tokio::test]
async fn many_deleted_files_follow_page_by_page() {
    let story = Story::with(SERVED).await;
    let db = rusqlite::Connection::open(story.home.join("compline.db")).unwrap();
    for (folder, scope, count) in [("a", "person:77", 600), ("b", "person:1", 120)] {
        let insert = format!(
            "WITH RECURSIVE n(at) AS (SELECT 1 UNION ALL SELECT at + 1 FROM n WHERE at < {count})
             INSERT INTO files (path, digest, label, scope, written_at)
             SELECT printf('plans/{folder}%03d.md', at), 'd', 'trusted', '{scope}', 7 FROM n;
             INSERT INTO file_contents (file_id, content) SELECT id, x'78' FROM files WHERE path LIKE 'plans/{folder}%'"
        );
        db.execute_batch(&insert).unwrap();
    }
    let ada = Browser::of(story.app(), "Ada").await;
    let (mut seen, mut sizes) = (Vec::new(), Vec::new());
    for Page { text: page, .. } in ada.each_page("/deleted-files").await {
        let found: Vec<String> =
            page.split("href=\"/files/plans/").skip(1).map(|link| link.split('"').next().unwrap().to_owned()).collect();
        sizes.push(found.len());
        seen.extend(found);
    }
    assert_eq!(sizes, [50, 50, 20]);
    assert!(seen.into_iter().eq((1..=120).map(|at| format!("b{at:03}%2Emd"))), "each once, in order");
    story.end().await;
}

/// Promise (page/upload): A file that you upload goes into your own inbox as coming from outside,
/// and replaces nothing that you edited there; one that is too large, or that breaks off, leaves
/// nothing.
#[tokio::test]
async fn an_upload_is_stored_whole_or_not_at_all() {
    let story = Story::with(SERVED).await;
    let (ada, ben) = (Browser::of(story.app(), "Ada").await, Browser::of(story.app(), "Ben").await);
    let stored = uploads(&ben, "../../<b>tax</b> 2026.txt", b"Ten euros").await;
    assert_eq!((stored.status, stored.leads_to()), (StatusCode::SEE_OTHER, "/files/inbox"), "{}", stored.text);
    let names = names_in(&story, "people/2-ben/inbox");
    assert!(names.len() == 1 && names[0].ends_with("-b-tax-b-2026.txt"), "{names:?}");
    let row = "SELECT author || ' ' || cause || ' ' || scope FROM files WHERE path LIKE 'people/2-ben/inbox/%'";
    assert_eq!(story.text(row), "program received person:2");
    assert!(story.text("SELECT label FROM files WHERE path LIKE 'people/2-ben/inbox/%'").starts_with("file:up"));
    assert!(ben.get("/files/inbox").await.text.contains("From outside: <bdi>the content of a file</bdi>"));
    assert!(!ada.get("/files/inbox").await.text.contains("tax"));
    // The text of a document stands next to it.
    uploads(&ada, "bill.pdf", &pdf(&["Marzipan: 12 euros"])).await;
    let bill = names_in(&story, "inbox").into_iter().find(|name| name.ends_with("-bill.pdf.txt")).unwrap();
    assert!(story.reads(&format!("inbox/{bill}")).contains("Marzipan"));
    let label = |path: &str| story.text(&format!("SELECT label FROM files WHERE path = 'inbox/{path}'"));
    assert_eq!(label(&bill), label(bill.trim_end_matches(".txt")));
    // A file whose text cannot be stored is stored all the same.
    std::fs::remove_file(story.path_of(&format!("inbox/{bill}"))).unwrap();
    std::fs::create_dir(story.path_of(&format!("inbox/{bill}"))).unwrap();
    let again = uploads(&ada, "bill.pdf", &pdf(&["Marzipan: 12 euros"])).await;
    assert_eq!((again.status, again.leads_to()), (StatusCode::SEE_OTHER, "/files/inbox"), "{}", again.text);
    // The same file again is the same file.
    uploads(&ben, "../../<b>tax</b> 2026.txt", b"Ten euros").await;
    assert_eq!(names_in(&story, "people/2-ben/inbox"), names);
    // Unless it was edited: then both are kept.
    uploads(&ada, "list.txt", b"Leeks").await;
    let lists = || names_in(&story, "inbox").into_iter().filter(|name| name.ends_with("-list.txt")).collect::<Vec<_>>();
    let edited = format!("inbox/{}", lists()[0]);
    writes(&story, &edited, b"Leeks, and salt");
    for _ in 0..2 {
        uploads(&ada, "list.txt", b"Leeks").await;
        let kept: BTreeSet<String> = lists().iter().map(|name| story.reads(&format!("inbox/{name}"))).collect();
        assert!(kept.into_iter().eq(["Leeks", "Leeks, and salt"]), "{:?}", lists());
    }
    assert_eq!((lists().len(), story.reads(&edited).as_str()), (2, "Leeks, and salt"));
    let large = uploads(&ben, "large.bin", &vec![b'x'; (20 << 20) + 1]).await;
    assert_eq!(large.status, StatusCode::PAYLOAD_TOO_LARGE);
    assert!(large.text.contains("A file may be up to 20 MB, and this one is larger"), "{}", large.text);
    for (name, bytes) in [("empty.txt", b"".as_slice()), ("", b"")] {
        let refused = uploads(&ben, name, bytes).await;
        assert!(refused.text.contains("A file did not arrive whole"), "{}", refused.text);
    }
    assert_eq!(names_in(&story, "people/2-ben/inbox"), names);
    story.end().await;
}

/// Proves: page/upload
#[tokio::test]
async fn an_upload_that_breaks_off_leaves_nothing() {
    let story = Story::with(SERVED).await;
    let ada = Browser::of(story.app(), "Ada").await;
    // A form that breaks off after a whole file is no success.
    let request = ada
        .request(Method::POST, "/files")
        .header("sec-fetch-site", "same-origin")
        .header("content-type", "multipart/form-data; boundary=b")
        .body([&form("first.txt", b"first")[..form("first.txt", b"first").len() - 4], b"\r\nbroken"].concat());
    let broken = answer(request).await;
    assert_eq!(broken.status, StatusCode::BAD_REQUEST, "{}", broken.text);
    for name in names_in(&story, "inbox") {
        std::fs::remove_file(story.path_of(&format!("inbox/{name}"))).unwrap();
    }
    let address = ada.base.strip_prefix("http://").unwrap();
    let cut = form("half.txt", &vec![b'x'; 300_000]);
    let head = format!(
        "POST /files HTTP/1.1\r\nHost: {address}\r\nOrigin: {}\r\nCookie: {}\r\n\
         Content-Type: multipart/form-data; boundary=b\r\nContent-Length: {}\r\n\r\n",
        ada.base,
        ada.cookie.as_deref().unwrap(),
        cut.len()
    );
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(&cut[..200_000]).unwrap();
    story.until(async || names_in(&story, "inbox") == [".upload-1.part"]).await;
    drop(stream);
    story.until(async || names_in(&story, "inbox").is_empty()).await;
    assert_eq!(story.count("SELECT count(*) FROM files WHERE path LIKE 'inbox/%half%'"), 0);
    // What a crash left is overwritten.
    writes(&story, "inbox/.upload-1.part", b"an earlier and much longer beginning");
    uploads(&ada, "whole.txt", b"whole").await;
    let names = names_in(&story, "inbox");
    assert!(names.len() == 1 && story.reads(&format!("inbox/{}", names[0])) == "whole", "{names:?}");
    story.end().await;
}

/// Resident memory of this process, in bytes.
#[cfg(target_os = "linux")]
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let kib = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    kib.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10
}

/// Proves: page/upload
#[cfg(target_os = "linux")]
#[tokio::test]
async fn an_upload_of_two_gigabytes_is_read_to_its_end_and_never_held() {
    let story = Story::with(SERVED).await;
    let ada = Browser::of(story.app(), "Ada").await;
    let routes = ada.routes(story.app(), story.config()).await;
    let (parts, before) = (2 << 10, resident());
    let (read, most) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let (counted, highest) = (Arc::clone(&read), Arc::clone(&most));
    let whole = form("film.mkv", b"");
    let (head, end) = whole.split_at(whole.len() - b"\r\n--b--\r\n".len());
    let (head, end, part) =
        (Bytes::copy_from_slice(head), Bytes::copy_from_slice(end), Bytes::from(vec![b'x'; 1 << 20]));
    let film = (0..parts).map(move |_| {
        if counted.fetch_add(1, Ordering::Relaxed) % 16 == 0 {
            highest.fetch_max(resident(), Ordering::Relaxed);
        }
        part.clone()
    });
    // As from a connection, nothing comes before what came is read.
    let body = futures::stream::iter([head].into_iter().chain(film).chain([end])).then(async |part| {
        tokio::task::yield_now().await;
        Ok::<_, Infallible>(part)
    });
    let request = Request::post("/files")
        .header("host", ada.base.trim_start_matches("http://"))
        .header("cookie", ada.cookie.as_deref().unwrap())
        .header("accept", "text/html")
        .header("sec-fetch-site", "same-origin")
        .header("content-type", "multipart/form-data; boundary=b")
        .body(Body::from_stream(body));
    let refused = routes.oneshot(request.unwrap()).await.unwrap();
    assert_eq!(refused.status(), StatusCode::PAYLOAD_TOO_LARGE);
    let page = axum::body::to_bytes(refused.into_body(), 1 << 20).await.unwrap();
    let page = String::from_utf8(page.to_vec()).unwrap();
    assert!(page.contains("A file may be up to 20 MB, and this one is larger"), "{page}");
    assert_eq!(read.load(Ordering::Relaxed), parts);
    // Other stories of this process grow meanwhile.
    let growth = most.load(Ordering::Relaxed).saturating_sub(before);
    assert!(growth < 256 << 20, "{growth} bytes");
    assert_eq!(names_in(&story, "inbox"), [] as [&str; 0]);
    story.end().await;
}

/// Promise (page/file-health): The page names the files of yours that are not read as they should
/// be, and says what to do; a line that a note lacks is added with a button.
#[tokio::test]
async fn files_that_need_a_look_are_named() {
    let story = Story::with(SERVED).await;
    let (mut ada, mut ben) = (Browser::of(story.app(), "Ada").await, Browser::of(story.app(), "Ben").await);
    assert!(ada.post("/file-health", &[]).await.text.contains("All files that are read automatically are readable"));
    assert!(ada.post("/file-health", &[]).await.text.contains("The folders of your memory and your inbox are there"));
    std::fs::remove_dir(story.path_of("inbox")).unwrap();
    assert!(ada.post("/file-health", &[]).await.text.contains("made when something comes: inbox."));
    writes(&story, "USER.md", &[0xff, 0xfe]);
    writes(&story, "memory/MEMORY.md", &vec![b'x'; 70_000]);
    writes(&story, "memory/tea.md", b"---\nname: Tea\n---\n\nGreen.\n");
    let health = ada.post("/file-health", &[]).await.text;
    for part in ["USER.md", "cannot be read as text", "MEMORY.md", "over its size limit", "tea.md", "has no line in"] {
        assert!(health.contains(part), "{part} is missing in {health}");
    }
    assert!(!ben.post("/file-health", &[]).await.text.contains("tea.md"));
    // The line is added for its owner alone, and as often as it is missing.
    writes(&story, "memory/MEMORY.md", b"# Mine\n");
    writes(&story, "memory/coffee.md", b"---\nname: Coffee\n---\n\nBlack.\n");
    let form = [("note", "memory/tea.md")];
    assert_eq!(ben.post("/file-health", &form).await.status, StatusCode::CONFLICT);
    assert!(!story.reads("memory/MEMORY.md").contains("tea.md"));
    let button = "name=\"note\" value=\"memory/tea.md\"";
    assert!(ada.post("/file-health", &[]).await.text.contains(button));
    let health = ada.post("/file-health", &form).await.text;
    assert!(!health.contains(button) && health.contains("value=\"memory/coffee.md\""), "{health}");
    let memory = story.reads("memory/MEMORY.md");
    assert!(memory.contains("[Tea](tea.md)") && memory.contains("# Mine") && !memory.contains("coffee"), "{memory}");
    assert_eq!(ada.post("/file-health", &form).await.status, StatusCode::CONFLICT);
    assert_eq!(story.reads("memory/MEMORY.md"), memory);
    story.end().await;
}

/// The names of the files that a page lists, in order.
fn listed(page: &str) -> Vec<&str> {
    let rows = page.split("<th class=\"name\" scope=\"row\">").skip(1);
    rows.map(|row| row.split("<bdi>").nth(1).unwrap().split("</bdi>").next().unwrap()).collect()
}

/// Promise (page/file-order): A folder is sorted by name, size or time of change, also over several
/// pages, and the folders stand above it as a tree with counts, unfolded down to the one that is
/// open.
#[tokio::test]
async fn a_folder_is_sorted_and_the_tree_unfolds() {
    let story = Story::with(SERVED).await;
    for (number, (name, size)) in [("b.md", 3), ("a.md", 1), ("d.md", 2), ("c.md", 2)].into_iter().enumerate() {
        let path = format!("plans/{name}");
        writes(&story, &path, &vec![b'x'; size]);
        let at = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000 + number as u64);
        std::fs::File::options().write(true).open(story.path_of(&path)).unwrap().set_modified(at).unwrap();
    }
    writes(&story, "plans/deep/er/e.md", b"0123456789");
    writes(&story, "other/f.md", b"");
    let ada = Browser::of(story.app(), "Ada").await;
    for (sort, names, heading) in [
        (
            "",
            ["a.md", "b.md", "c.md", "d.md", "deep/"],
            "aria-sort=\"ascending\"><a href=\"/files/plans?sort=name\">Name",
        ),
        (
            "?sort=size",
            ["deep/", "b.md", "c.md", "d.md", "a.md"],
            "aria-sort=\"descending\"><a href=\"/files/plans?sort=size\">Size",
        ),
        (
            "?sort=time",
            ["deep/", "c.md", "d.md", "a.md", "b.md"],
            "aria-sort=\"descending\"><a href=\"/files/plans?sort=time\">Changed",
        ),
    ] {
        let page = ada.get(&format!("/files/plans{sort}")).await.text;
        assert_eq!(listed(&page), names, "{sort}");
        assert!(page.contains(heading), "{page}");
    }
    let sizes = story.command_line(&["files", "--sort", "size", "--limit", "2", "--", "plans"]).await;
    assert!(sizes.markdown.contains("--after 3/b.md"), "{}", sizes.markdown);
    // Over several pages each is shown once.
    (0..120).for_each(|number| writes(&story, &format!("many/{number:03}.md"), &vec![b'x'; number % 7]));
    let mut seen = Vec::new();
    for Page { text: page, .. } in ada.each_page("/files/many?sort=size").await {
        assert!(page.len() < 50_000, "{} bytes", page.len());
        seen.extend(listed(&page).iter().map(|name| (*name).to_owned()));
    }
    let mut all: Vec<String> = (0..120).map(|number| format!("{number:03}.md")).collect();
    all.sort_by_key(|name| (std::cmp::Reverse(name[..3].parse::<usize>().unwrap() % 7), name.clone()));
    assert_eq!(seen, all);
    let tree = ada.get("/files/plans/deep/er").await.text;
    let tree = tree.split("aria-label=\"All folders\"").nth(1).unwrap().split("</nav>").next().unwrap();
    assert_eq!(tree.matches("<details open>").count(), 3, "the tree, plans, deep: {tree}");
    assert!(tree.contains("href=\"/files/plans/deep/er\" aria-current=\"page\""), "{tree}");
    assert!(tree.contains("href=\"/files/other\"") && tree.contains("5 files, "), "{tree}");
    let root = ada.get("/files").await.text;
    assert!(root.contains("aria-label=\"All folders\"><details><summary>Folders"), "{root}");
    story.end().await;
}

/// Promise (page/count-age): Totals of files that were counted a moment ago say when.
#[tokio::test]
async fn totals_say_when_they_were_counted() {
    let story = Story::with(SERVED).await;
    writes(&story, "plans/a.md", b"a");
    let ada = Browser::of(story.app(), "Ada").await;
    let fresh = ada.get("/files/plans").await.text;
    assert!(!fresh.contains(" · counted "), "{fresh}");
    writes(&story, "plans/b.md", b"b");
    story.pass(std::time::Duration::from_secs(3)).await;
    let held = ada.get("/files/plans").await.text;
    assert!(held.contains("1 file, ") && held.contains(" · counted <time"), "{held}");
    story.pass(std::time::Duration::from_secs(10)).await;
    let fresh = ada.get("/files/plans").await.text;
    assert!(fresh.contains("2 files, ") && !fresh.contains(" · counted "), "{fresh}");
    story.end().await;
}

/// Promise (operation/file-room): Nobody's files fill the disk: each person and group may take a
/// share of it, is told in time, and a file without space is refused with a sentence.
#[tokio::test]
async fn everyone_has_a_share_of_the_disk_and_is_told_before_it_is_full() {
    let mut story = Story::prepared(SERVED).await;
    // Of that, 200 MiB are the journal's, and a quarter of the rest is a person's.
    // How often it is asked until others have filled it.
    let left = Arc::new(AtomicU64::new(u64::MAX));
    let asked = Arc::clone(&left);
    let free = move |left: u64| if left > 0 { 220 << 20 } else { 0 };
    story.disk_reports(move || {
        let left = asked.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        Some(free(left.unwrap_or(0)))
    });
    story.start().await;
    story.say(BEN, "Hello").await;
    let ben = Browser::of(story.app(), "Ben").await;
    let megabyte = vec![b'x'; 1 << 20];
    for n in 0..4 {
        let stored = uploads(&ben, &format!("{n}.txt"), &[&megabyte[..], &[n]].concat()).await;
        assert_eq!(stored.status, StatusCode::SEE_OTHER, "{n}: {}", stored.text);
    }
    story.answered().await;
    let told: Vec<_> = story.received_by(BEN).into_iter().filter(|text| text.contains("may take up")).collect();
    assert_eq!(told.len(), 0, "{told:?}");
    uploads(&ben, "4.txt", &megabyte).await;
    story.fake.until(|_| story.received_by(BEN).iter().any(|text| text.contains("may take up"))).await;
    let refused = uploads(&ben, "6.txt", &[&megabyte[..], &megabyte[..]].concat()).await;
    assert_eq!(refused.status, StatusCode::INSUFFICIENT_STORAGE, "{}", refused.text);
    assert!(refused.text.contains("There is no space for this file"), "{}", refused.text);
    assert_eq!(names_in(&story, "people/2-ben/inbox").len(), 5);

    // What arrives side by side fills it no further.
    let ada = Browser::of(story.app(), "Ada").await;
    left.store(1, Ordering::Relaxed);
    assert_eq!(uploads(&ada, "1.txt", b"A few words.").await.status, StatusCode::INSUFFICIENT_STORAGE);
    assert_eq!(names_in(&story, "inbox"), [""; 0]);
    left.store(u64::MAX, Ordering::Relaxed);

    // Whatever way it comes, and for nobody else.
    story.fake.sends_file(BEN, "more.txt", &"y".repeat(2 << 20));
    story.answered().await;
    let prompt = story.model.last_prompt();
    assert!(prompt.contains("the space for received files is full"), "{prompt}");
    story.fake.sends_file(ADA, "more.txt", &"y".repeat(2 << 20));
    story.answered().await;
    assert_eq!(names_in(&story, "inbox").len(), 1);
    let told: Vec<_> = story.received_by(BEN).into_iter().filter(|text| text.contains("may take up")).collect();
    assert_eq!(told.len(), 1, "{told:?}");
    story.end().await;
}
