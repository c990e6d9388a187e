//! Hostile texts in every field that a page shows. Each page is parsed as a browser parses it, and
//! may hold only the elements and attributes that are listed here.

use std::collections::BTreeSet;

use compline::store::SeenTool;
use compline::time::Clock;
use compline::trust::{Label, Source};
use compline::web::Who;
use dom_query::{Document, NodeRef};
use reqwest::header::{HeaderValue, USER_AGENT};
use reqwest::{Method, StatusCode};

use crate::support::browser::{Browser, answer, sign_in_code};
use crate::support::channel::Channel;
use crate::support::lived_in::{self, Story};
use crate::support::page_list::pages;
use crate::support::story::{ADA as ROBIN, BEN as ADA, EVE};

const CORPUS: &str = include_str!("../../corpus/web/hostile.json");

/// Elements of the pages.
const ELEMENTS: &str = "a article aside bdi body br button caption circle code dd defs del desc details div dl dt em \
    fieldset figcaption figure footer form g h1 h2 h3 head header hr html img input ins kbd \
    label legend li line link main mark meta meter nav ol optgroup option output p path pattern \
    polygon polyline pre progress rect s script section select small span strong summary svg \
    table tbody td text textarea tfoot th thead time title tr ul var";

/// Attributes of any of them, besides those that begin with `aria-` or `data-`.
const ATTRIBUTES: &str = "accept action alt autocapitalize autocomplete autofocus charset checked class cols colspan \
    content cx cy d datetime decoding defer dir disabled download enctype fill for height hidden \
    href id inputmode lang list loading max maxlength method min minlength multiple name open \
    pattern patternUnits placeholder points preserveAspectRatio r readonly rel required reversed \
    role rows rowspan rx ry scope selected spellcheck src start step stroke tabindex title \
    transform type value viewBox width x x1 x2 y y1 y2";

/// Fields of the journal that take any text, and those that hold a list of texts as JSON.
const FIELDS: &[(&str, &str)] = &[
    ("texts", "text"),
    ("attachments", "name"),
    ("attachments", "mime"),
    ("attachments", "trouble"),
    ("summaries", "title"),
    ("reflections", "title"),
    ("actions", "title"),
    ("actions", "reason"),
    ("reminders", "text"),
    ("proposals", "rationale"),
    ("proposals", "reason"),
    ("verdicts", "note"),
    ("strangers", "name"),
    ("skills", "title"),
    ("skills", "description"),
    ("skill_files", "bytes"),
    ("entries", "name"),
    ("entries", "text"),
    ("entries", "category"),
    ("file_contents", "content"),
    ("steps", "tool"),
    ("steps", "text"),
    ("steps", "model"),
    ("spending", "model"),
    ("reactions", "emoji"),
    ("conversations", "opening"),
    ("outside_tools", "description"),
    ("imports", "name"),
    ("web_sessions", "browser"),
];
const LISTS: &[(&str, &str)] =
    &[("summaries", "topics"), ("summaries", "decisions"), ("summaries", "preferences"), ("summaries", "pending")];

/// Number of rounds in which each field gets other texts.
const ROUNDS: usize = 12;

fn corpus() -> Vec<String> {
    let texts: Vec<String> = serde_json::from_str(CORPUS).unwrap();
    assert!(texts.len() > 300);
    texts
}

/// Puts other texts into every field of the journal.
fn fill(story: &Story, texts: &[String], round: usize) {
    let journal = rusqlite::Connection::open(story.home.join("compline.db")).unwrap();
    let mut next = round * 29;
    for (fields, is_list) in [(FIELDS, false), (LISTS, true)] {
        for (table, column) in fields {
            let mut query = journal
                .prepare(&format!("SELECT rowid FROM {table}"))
                .unwrap_or_else(|_| journal.prepare(&format!("SELECT NULL FROM {table}")).unwrap());
            let rows: Vec<Option<i64>> = query.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
            for row in rows {
                let text = &texts[next % texts.len()];
                next += 1;
                let value = if is_list { serde_json::json!([text]).to_string() } else { text.clone() };
                let set = format!("UPDATE {table} SET {column} = ?1 WHERE ?2 IS NULL OR rowid = ?2");
                let set = if row.is_none() { set.replace(" OR rowid = ?2", "") } else { set };
                let stored = if *column == "bytes" || *column == "content" {
                    journal.execute(&set, rusqlite::params![value.as_bytes(), row])
                } else {
                    journal.execute(&set, rusqlite::params![value, row])
                };
                stored.unwrap_or_else(|error| panic!("{table}.{column}: {error}"));
            }
        }
    }
}

/// Returns what a page holds that it may not.
fn intruders(path: &str, markup: &str) -> Vec<String> {
    let mut found: Vec<String> = markup
        .chars()
        .filter(|char| char.is_control() && !"\n\t".contains(*char))
        .map(|char| format!("the character {char:?}"))
        .collect();
    let document = Document::from(markup);
    for node in document.root().descendants_it() {
        if node.is_comment() {
            found.push(format!("a comment: {}", node.html()));
        }
        if node.is_element() {
            found.extend(of_element(path, &node));
        }
    }
    found
}

fn holds(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|listed| listed == word)
}

fn of_element(path: &str, node: &NodeRef<'_>) -> Vec<String> {
    let name = node.node_name().unwrap().to_string();
    let mut found = Vec::new();
    if !holds(ELEMENTS, &name) {
        found.push(format!("<{name}>"));
    }
    for attribute in node.attrs() {
        let (key, value) = (attribute.name.local.to_string(), attribute.value.to_string());
        let is_listed = holds(ATTRIBUTES, &key) || key.starts_with("aria-") || key.starts_with("data-");
        let is_own =
            (value.starts_with('/') && !value.starts_with("//") && !value.contains('\\')) || value.starts_with('#');
        let is_shown = path.starts_with("/away") && node.has_class("button") && !value.starts_with("javascript:");
        let is_fine = match key.as_str() {
            "href" => is_own || is_shown,
            "src" => is_own && (name != "script" || value.starts_with("/assets/")),
            "action" => is_own,
            _ => is_listed,
        };
        if !is_fine {
            found.push(format!("<{name} {key}={value:?}>"));
        }
    }
    if name == "script" && !node.text().is_empty() {
        found.push("an inline script".to_owned());
    }
    found
}

async fn examine(browser: &Browser, path: &str, found: &mut Vec<String>) -> StatusCode {
    let page = browser.get(path).await;
    assert!(!page.status.is_server_error(), "{path}: {}", page.text);
    found.extend(intruders(path, &page.text).into_iter().map(|intruder| format!("{path}: {intruder}")));
    page.status
}

/// Proves: page/hostile
#[tokio::test]
async fn hostile_texts_in_every_field_stand_as_text() {
    let mut story = lived_in::lived_in().await;
    story.fake.sends_file(ROBIN, "list.txt", "milk");
    story.fake.passes_on(ROBIN, ADA, "look at this");
    story.say(EVE, "May I come in?").await;
    story.writes("agents/<img src=x onerror=alert(1)>/memory.md", "- **<b>**: <script>\n");
    story.answered().await;
    let tool = SeenTool {
        name: "look".to_owned(),
        description: String::new(),
        schema: "{}".to_owned(),
        digest: "1".to_owned(),
        label: Label::untrusted(Source::new("tool", "fake/look")),
    };
    let now = story.clock.now();
    let seen = story.app().journal.write("plant", move |tx| tx.mcp_tools().saw_tools("fake", &[tool], now));
    seen.await.unwrap();
    let (robin, ada) = (Browser::of(story.app(), "Robin").await, Browser::of(story.app(), "Ada").await);
    let addresses = [(robin.clone(), pages(&robin, Who::Owner).await), (ada.clone(), pages(&ada, Who::Member).await)];
    let texts = corpus();
    let mut found = Vec::new();
    for round in 0..ROUNDS {
        story.stop().await;
        fill(&story, &texts, round);
        story.start().await;
        for (browser, paths) in &addresses {
            let browser = browser.clone().at(story.app());
            for path in paths {
                let status = examine(&browser, path, &mut found).await;
                assert!(status.is_success(), "{path}: {status}");
            }
        }
    }
    found.sort();
    found.dedup();
    assert!(found.is_empty(), "{} intruders:\n{}", found.len(), found.join("\n"));
    story.stop_here().await;
}

/// Proves: page/hostile
#[tokio::test]
async fn hostile_texts_in_a_request_stand_as_text() {
    let story = lived_in::new().await;
    let mut robin = Browser::of(story.app(), "Robin").await;
    let mut found = Vec::new();
    for text in corpus() {
        let escaped = percent_encoding::utf8_percent_encode(&text, percent_encoding::NON_ALPHANUMERIC).to_string();
        for path in [
            format!("/search?q={escaped}"),
            format!("/away?to={escaped}"),
            format!("/status/log?words={escaped}&level={escaped}&before={escaped}"),
            format!("/memory/{escaped}"),
            format!("/{escaped}"),
        ] {
            examine(&robin, &path, &mut found).await;
        }
        let page = robin.post("/act", &[("command", &format!("/show {text}"))]).await;
        found.extend(intruders("/act", &page.text));
        let page = robin.post("/act", &[("command", &format!("/pair {text}"))]).await;
        found.extend(intruders("/act", &page.text));
        let page = robin.post("/people", &[("act", "pair"), ("name", &text), ("role", "owner")]).await;
        found.extend(intruders("/people", &page.text));
        let page = robin.post("/new-note", &[("name", &text), ("text", "")]).await;
        found.extend(intruders("/new-note", &page.text));
        let page = robin.post("/memory", &[("name", &text), ("state", "on")]).await;
        found.extend(intruders("/memory", &page.text));
        let page = robin.post("/login", &[("code", &text)]).await;
        found.extend(intruders("/login", &page.text));
        // The browser's own words for itself stand in the list of browsers.
        let Ok(agent) = HeaderValue::from_bytes(text.as_bytes()) else { continue };
        let code = sign_in_code(story.app(), "Robin").await;
        let request =
            robin.request(Method::POST, "/login").header("sec-fetch-site", "same-origin").header(USER_AGENT, agent);
        let form = request.header("content-type", "application/x-www-form-urlencoded").body(format!("code={code}"));
        assert!(answer(form).await.status.is_redirection());
    }
    for path in ["/me", "/people"] {
        assert!(examine(&robin, path, &mut found).await.is_success());
    }
    assert!(found.is_empty(), "{} intruders:\n{}", found.len(), found.join("\n"));
    story.stop_here().await;
}

/// Follows the links below these addresses, and examines each page there.
async fn walk(browser: &Browser, from: &[&str], found: &mut Vec<String>) -> usize {
    let mut left: Vec<String> = from.iter().map(|path| (*path).to_owned()).collect();
    let mut seen = BTreeSet::new();
    while let Some(path) = left.pop() {
        if !seen.insert(path.clone()) {
            continue;
        }
        let page = browser.get(&path).await;
        assert!(!page.status.is_server_error(), "{path}: {}", page.text);
        found.extend(intruders(&path, &page.text).into_iter().map(|intruder| format!("{path}: {intruder}")));
        let document = Document::from(page.text.as_str());
        let links =
            document.select("main a[href]:not([download])").iter().map(|link| link.attr_or("href", "").to_string());
        let is_below = |link: &String| {
            from.iter().any(|path| link.starts_with(*path)) && (!link.contains('?') || link.contains("?after="))
        };
        left.extend(links.map(|link| link.split('#').next().unwrap_or_default().to_owned()).filter(is_below));
    }
    seen.len()
}

/// Proves: page/hostile
#[tokio::test]
async fn hostile_names_stand_as_text() {
    let mut story = lived_in::lived_in().await;
    let mut names: Vec<String> = corpus().iter().map(|text| text.replace(['/', '\0'], "|")).collect();
    names.retain(|name| !name.trim_matches('.').is_empty() && name.len() <= 240);
    assert!(names.len() > 250, "{}", names.len());
    for name in &names {
        story.writes(&format!("plans/{name}.txt"), name);
    }
    for name in names.iter().step_by(4) {
        story.write_skill(name, "Use when tea is made.", name);
    }
    // No one can be given such a name; the journal may hold it nevertheless.
    let journal = rusqlite::Connection::open(story.home.join("compline.db")).unwrap();
    for name in names.iter().step_by(8) {
        let sql = "INSERT OR IGNORE INTO people (name, role, declared, created_at) VALUES (?1, 'member', 'pairing', 0)";
        journal.execute(sql, [name]).unwrap();
    }
    drop(journal);
    story.restart().await;
    story.model.says("See [the recipe](https://recipes.example/tart).");
    story.say(ROBIN, "hello").await;
    let robin = Browser::of(story.app(), "Robin").await;
    let mut found = Vec::new();
    for path in pages(&robin, Who::Owner).await {
        examine(&robin, &path, &mut found).await;
    }
    // A note whose name holds hidden characters is listed, and cannot be opened.
    for name in &names {
        story.writes(&format!("memory/{name}.md"), &format!("# {name}\n"));
    }
    story.say(ROBIN, "hello again").await;
    let walked = walk(&robin, &["/files/plans", "/memory", "/skills"], &mut found).await;
    assert!(walked > 400, "{walked}");
    assert!(robin.get("/people").await.text.contains("&lt;"), "the names stand there");
    found.sort();
    found.dedup();
    assert!(found.is_empty(), "{} intruders:\n{}", found.len(), found.join("\n"));
    story.stop_here().await;
}

#[test]
fn each_intruder_is_seen() {
    for (markup, count) in [
        ("<p>a</p>", 0),
        ("<p onclick=x>a</p>", 1),
        ("<p style=x>a</p>", 1),
        ("<iframe></iframe>", 1),
        ("<!-- a -->", 1),
        ("<a href='javascript:x'>a</a>", 1),
        ("<a href='//x'>a</a>", 1),
        ("<a href='/x'>a</a>", 0),
        ("<script>x</script>", 1),
        ("<p>\u{1b}[31m</p>", 1),
        ("<form action='https://x'></form>", 1),
    ] {
        assert_eq!(intruders("/", markup).len(), count, "{markup}: {:?}", intruders("/", markup));
    }
}
