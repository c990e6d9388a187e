//! Hostile texts in every field that a page shows. Each page is parsed as a browser parses it, and
//! may hold only the elements and attributes that are listed here. In requests, each text stands in
//! a quarter of the fields by default, and in all of them with `COMPLINE_PAIRS=all`.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use compline::web::Access;
use dom_query::{Document, NodeRef};
use reqwest::header::{HeaderValue, USER_AGENT};
use reqwest::{Method, StatusCode};
use rusqlite::types::Value;

use crate::support::browser::{Browser, answer, sign_in_code};
use crate::support::lived_in::{self, Story};
use crate::support::page_list::pages;
use crate::support::story::ADA as ROBIN;

const CORPUS: &str = include_str!("../../corpus/web/hostile.json");

/// Elements of the pages.
static ELEMENTS: LazyLock<BTreeSet<&str>> = LazyLock::new(|| {
    "a article aside bdi body br button caption circle code dd defs del desc details div dl dt em \
    fieldset figcaption figure footer form g h1 h2 h3 head header hr html img input ins kbd \
    label legend li line link main mark meta meter nav ol optgroup option output p path pattern \
    polygon polyline pre progress rect s script section select small span strong summary svg \
    table tbody td text textarea tfoot th thead time title tr ul var"
        .split(' ')
        .collect()
});

/// Attributes of any of them, besides those that begin with `aria-` or `data-`.
static ATTRIBUTES: LazyLock<BTreeSet<&str>> = LazyLock::new(|| {
    "accept action alt autocapitalize autocomplete autofocus charset checked class cols colspan \
    content cx cy d datetime decoding defer dir disabled download enctype fill for height hidden \
    href id inputmode lang list loading max maxlength method min minlength multiple name open \
    pattern patternUnits placeholder points preserveAspectRatio r readonly rel required reversed \
    role rows rowspan rx ry scope selected spellcheck src start step stroke tabindex title \
    transform type value viewBox width x x1 x2 y y1 y2"
        .split(' ')
        .collect()
});

/// How a field holds its text.
#[derive(Clone, Copy)]
enum Form {
    /// As it is.
    Text,
    /// As each text within JSON.
    Leaves,
    /// As JSON of its own, with `@` for the text.
    Json(&'static str),
}

use Form::{Json, Leaves, Text};

/// Fields of the journal that pages show.
const SHOWN: &[(&str, &str, Form)] = &[
    ("texts", "text", Text),
    ("attachments", "name", Text),
    ("summaries", "title", Text),
    ("summaries", "topics", Json("[@]")),
    ("summaries", "decisions", Json("[@]")),
    ("summaries", "preferences", Json("[@]")),
    ("summaries", "pending", Json("[@]")),
    ("reflections", "title", Text),
    ("actions", "title", Text),
    ("actions", "reason", Text),
    ("reminders", "text", Text),
    ("open_items", "text", Text),
    ("slots", "period", Text),
    ("slots", "reason", Text),
    ("proposals", "rationale", Text),
    ("proposals", "reason", Text),
    ("verdicts", "note", Text),
    ("verdicts", "findings", Json(FINDING)),
    ("strangers", "name", Text),
    ("strangers", "sender", Text),
    ("strangers", "adapter", Text),
    ("addresses", "peer", Text),
    ("skill_files", "bytes", Text),
    ("files", "cause", Text),
    ("file_contents", "content", Text),
    ("keeps", "path", Text),
    ("keeps", "shown", Text),
    ("turns", "recalled", Json("- @")),
    ("steps", "tool", Text),
    ("steps", "call", Leaves),
    ("steps", "text", Text),
    ("spending", "model", Text),
    ("spending", "purpose", Text),
    ("outbox", "text", Text),
    ("outbox", "buttons", Leaves),
    ("outbox", "decision", Text),
    ("outside_tools", "server", Text),
    ("outside_tools", "name", Text),
    ("outside_tools", "description", Text),
    ("outside_tools", "schema", Leaves),
    ("outside_tools", "marks", Json("{\"arguments\":{@:\"content\"}}")),
    ("web_sessions", "browser", Text),
    ("health_changes", "part", Text),
];
/// A finding of the scan, and in the row of the effects an effect.
const FINDING: &str =
    r#"[{"rule": @, "path": @, "line": 1, "column": 1, "excerpt": @, "says": @, "kind": "tools", "object": @}]"#;

/// Fields that pages show, which are read from the folder again at a start.
const READ_AGAIN: &[(&str, &str, Form)] =
    &[("skills", "title", Text), ("skills", "description", Text), ("entries", "name", Text), ("entries", "text", Text)];

/// Fields that no page shows.
const UNSEEN: &[(&str, &str)] = &[
    ("actions", "day"),
    ("actions", "payload"),
    ("addresses", "account"),
    ("addresses", "alias"),
    ("attachments", "mime"),
    ("attachments", "reference"),
    ("attachments", "text_path"),
    ("attachments", "trouble"),
    ("compactions", "model"),
    ("compactions", "summary"),
    ("conversations", "opening"),
    ("conversations", "opening_label"),
    ("deleted_ahead", "external_id"),
    ("deleted_ahead", "sender"),
    ("enclosures", "what"),
    ("entries", "category"),
    ("entries", "section"),
    ("extractions", "corrections"),
    ("extractions", "facts"),
    ("extractions", "model"),
    ("files", "author"),
    ("forgettings", "target"),
    ("grants", "covers"),
    ("grants", "subject"),
    ("groups", "account"),
    ("groups", "adapter"),
    ("groups", "allowed_as"),
    ("groups", "chat"),
    ("guests", "sender"),
    ("imports", "name"),
    ("inbox", "raw"),
    ("keeps", "instead_of"),
    ("keeps", "replaces"),
    ("messages", "album"),
    ("messages", "also"),
    ("messages", "reason"),
    ("outbox", "quotes"),
    ("outbox", "trouble"),
    ("pairing_codes", "name"),
    ("parts", "buttons"),
    ("parts", "form"),
    ("parts", "plain"),
    ("parts", "rich"),
    ("proposals", "new_name"),
    ("questions", "call"),
    ("questions", "covers"),
    ("reactions", "emoji"),
    ("reactions", "told"),
    ("skill_changes", "base"),
    ("skill_changes", "skill"),
    ("skill_versions", "hosts"),
    ("steps", "model"),
    ("strangers", "account"),
    ("summaries", "model"),
    ("turns", "context"),
    ("turns", "context_label"),
    ("turns", "reacted"),
    ("turns", "reason"),
];

/// Fields that are not filled here, and why; `*` stands for every table or column.
const LEFT: &[(&str, &str)] = &[
    ("stand on the disk too, as names of files, skills and people, and are filled there", NAMES),
    ("hold words and numbers of the program, and no other is read", OWN),
    ("hold digests and vectors, or rows that are deleted once their work is done; no page reads them", EMPTY),
];
const NAMES: &str = "attachments.path entries.path files.path files.replaces indexed.path people.folder people.name \
    proposals.skill skill_files.path skills.name skill_versions.skill unindexed.path";
const OWN: &str = "addresses.adapter *.state *.kind *.label *.scope *.digest *.role *.origin *.key *.zone *.quiet_hours \
    conversations.began_because conversations.opening_state cursors.* decisions.* declared_addresses.* \
    derived_from.* extractions.cause files.passages fingerprints.node inbox.* indexed.stamp indexed.trouble meta.value \
    messages.cause messages.external_id outbox.urgency parts.external_id parts.file people.* proposals.base \
    forgettings.choice forgettings.counts forgettings.needles grants.sources \
    proposals.change proposals.content proposals.nonce proposals.standing reflections.report reminders.cron skills.installed skills.shipped slots.job slots.wish \
    spending.day strangers.guess_day strangers.told_day summaries.view outside_tools.accepted_digest \
    verdicts.outcome verdicts.stage web_codes.began_by web_sessions.began_by web_sessions.theme";
const EMPTY: &str = "embeddings.* folder_moves.* heartbeats.* previews.*";

/// Rows of tables that are empty in most homes.
const ROWS: &str = "
    INSERT INTO open_items (text, label, scope, opened_at, state)
        SELECT 'x', 'trusted', 'person:' || id, 1, 'open' FROM people;
    INSERT INTO compactions (conversation_id, upto_turn, upto_message, state, retry_at, label, scope, wanted_at)
        VALUES (1, 1, 1, 'void', 1, 'trusted', 'person:1', 1);
    INSERT INTO deleted_ahead (address_id, sender, external_id, at) VALUES (1, '', '', 1);
    INSERT INTO enclosures (turn_id, kind, what) VALUES (1, 'file', '');
    INSERT INTO forgettings (person_id, kind, target, needles, state, label, scope, wanted_at)
        VALUES (1, 'note', '', '[]', 'done', 'trusted', 'person:1', 1);
    INSERT INTO grants (conversation_id, person_id, kind, subject, sources, given_at, ended_at, scope)
        VALUES (1, 1, 'source', '', 'trusted', 1, 1, 'person:1');
    INSERT INTO groups (adapter, account, chat, allowed_as, first_at) VALUES ('', '', '', '', 1);
    INSERT INTO guests (stream_id, sender, number) VALUES (1, '', 1);
    INSERT INTO imports (stream_id, kind, name, scope, state, may_embed, began_at, ended_at)
        VALUES (1, 'chatgpt', '', 'person:1', 'done', 0, 1, 1);
    INSERT INTO pairing_codes (digest, name, role, created_at, expires_at, used_at) VALUES ('', '', 'member', 1, 1, 1);
    INSERT INTO reactions (message_id, person_id, emoji, at) VALUES (1, 1, '', 1);
    INSERT INTO skill_changes (skill, base, state, begun_at, ended_at) VALUES ('', '', 'done', 1, 1);
";

/// Number of rounds in which each field gets other texts.
const ROUNDS: usize = 12;

fn corpus() -> Vec<String> {
    let texts: Vec<String> = serde_json::from_str(CORPUS).unwrap();
    assert!(texts.len() > 300);
    texts
}

fn journal(story: &Story) -> rusqlite::Connection {
    rusqlite::Connection::open(story.home.join("compline.db")).unwrap()
}

/// Puts a text into every row of these fields: the one for the number of the field.
fn fill(story: &Story, fields: &[(&str, &str, Form)], mut text: impl FnMut(usize) -> String) {
    let journal = journal(story);
    for (at, (table, column, form)) in fields.iter().enumerate() {
        let mut query = ["rowid", "NULL"]
            .iter()
            .find_map(|row| journal.prepare(&format!("SELECT {row}, CAST({column} AS TEXT) FROM {table}")).ok())
            .unwrap();
        let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        let rows: Vec<(Option<i64>, String)> = rows.map(Result::unwrap).collect();
        for (row, before) in rows {
            let value = form.of(&text(at), &before);
            let is_blob = *column == "bytes" || *column == "content";
            let value = if is_blob { Value::Blob(value.into_bytes()) } else { Value::Text(value) };
            let done = match row {
                Some(row) => {
                    let set = format!("UPDATE {table} SET {column} = ?1 WHERE rowid = ?2");
                    journal.execute(&set, rusqlite::params![value, row])
                }
                None => journal.execute(&format!("UPDATE {table} SET {column} = ?1"), [value]),
            };
            done.unwrap_or_else(|error| panic!("{table}.{column}: {error}"));
        }
    }
}

impl Form {
    /// Returns the value of a field with a text.
    fn of(self, text: &str, before: &str) -> String {
        match self {
            Text => text.to_owned(),
            Json(form) => form.replace('@', &serde_json::json!(text).to_string()),
            Leaves => {
                let mut value = serde_json::from_str(before).unwrap_or_default();
                put(&mut value, text);
                value.to_string()
            }
        }
    }
}

/// Puts a text in place of each text within JSON.
fn put(value: &mut serde_json::Value, text: &str) {
    match value {
        serde_json::Value::String(old) => text.clone_into(old),
        serde_json::Value::Array(list) => list.iter_mut().for_each(|one| put(one, text)),
        serde_json::Value::Object(map) => map.values_mut().for_each(|one| put(one, text)),
        _ => {}
    }
}

/// The fields of the journal that can hold text.
fn fields_of_the_journal(story: &Story) -> Vec<(String, String)> {
    let journal = journal(story);
    let mut query = journal
        .prepare(
            "SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table'
             AND c.type IN ('TEXT', 'BLOB') AND m.name NOT LIKE '%\\_fts%' ESCAPE '\\'",
        )
        .unwrap();
    query.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().map(Result::unwrap).collect()
}

/// Returns what a page holds that it may not.
fn intruders(path: &str, markup: &str) -> Vec<String> {
    let mut found: Vec<String> = markup
        .chars()
        .filter(|char| char.is_control() && !matches!(char, '\n' | '\t'))
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

fn of_element(path: &str, node: &NodeRef<'_>) -> Vec<String> {
    let name = node.node_name().unwrap().to_string();
    let mut found = Vec::new();
    if !ELEMENTS.contains(&*name) {
        found.push(format!("<{name}>"));
    }
    for attribute in node.attrs() {
        let (key, value) = (attribute.name.local.to_string(), attribute.value.to_string());
        let is_listed = ATTRIBUTES.contains(&*key) || key.starts_with("aria-") || key.starts_with("data-");
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
    let mut story = lived_in::everything().await;
    story.writes("agents/<img src=x onerror=alert(1)>/memory.md", "- **<b>**: <script>\n");
    let (mut robin, ada) = (Browser::of(story.app(), "Robin").await, Browser::of(story.app(), "Ada").await);
    assert_eq!(robin.post("/chat", &[("id", "told"), ("text", "/whoami")]).await.leads_to(), "/chat");
    story.settle().await;
    let readers =
        [(robin.clone(), pages(&robin, Access::Owner).await), (ada.clone(), pages(&ada, Access::Member).await)];
    let unseen: Vec<(&str, &str, Form)> = UNSEEN.iter().map(|(table, column)| (*table, *column, Text)).collect();
    story.stop().await;
    journal(&story).execute_batch(ROWS).unwrap();
    fill(&story, &unseen, |at| format!("hidden{at}x"));
    story.start().await;
    let seen = all_pages(&story, &readers).await.concat();
    for (at, (table, column)) in UNSEEN.iter().enumerate() {
        assert!(!seen.contains(&format!("hidden{at}x")), "{table}.{column} is shown");
    }
    let texts = corpus();
    let mut found = Vec::new();
    for round in 0..ROUNDS {
        let mut next = round * 29;
        story.stop().await;
        let mut hostile = |_| {
            next += 1;
            texts[next % texts.len()].clone()
        };
        // What was decided stands in place of the buttons.
        let is_wanted = |(_, column, _): &&(_, &str, _)| *column != "decision" || round % 2 == 1;
        fill(&story, &SHOWN.iter().filter(is_wanted).copied().collect::<Vec<_>>(), &mut hostile);
        story.start().await;
        fill(&story, READ_AGAIN, &mut hostile);
        for (page, path) in all_pages(&story, &readers).await.iter().zip(readers.iter().flat_map(|(_, paths)| paths)) {
            found.extend(intruders(path, page).into_iter().map(|intruder| format!("{path}: {intruder}")));
        }
    }
    found.sort();
    found.dedup();
    assert!(found.is_empty(), "{} intruders:\n{}", found.len(), found.join("\n"));
    story.stop_here().await;
}

/// Opens each page of each reader.
async fn all_pages(story: &Story, readers: &[(Browser, Vec<String>)]) -> Vec<String> {
    let mut all = Vec::new();
    for (browser, paths) in readers {
        let browser = browser.clone().at(story.app());
        for path in paths {
            let page = browser.get(path).await;
            assert!(page.status.is_success(), "{path}: {} {}", page.status, page.text);
            all.push(page.text);
        }
    }
    all
}

/// Each field of the journal that can hold text is filled, or has a reason why it is not.
#[tokio::test]
async fn each_field_that_can_hold_text_is_thought_of() {
    let story = lived_in::new().await;
    let fields = fields_of_the_journal(&story);
    let filled =
        SHOWN.iter().chain(READ_AGAIN).map(|(table, column, _)| (*table, *column)).chain(UNSEEN.iter().copied());
    let filled: BTreeSet<(&str, &str)> = filled.collect();
    let left: Vec<(&str, &str)> =
        LEFT.iter().flat_map(|(_, names)| names.split_whitespace().map(|name| name.split_once('.').unwrap())).collect();
    let fits = |(table, column): &(&str, &str), field: &(String, String)| {
        (*table == "*" || *table == field.0) && (*column == "*" || *column == field.1)
    };
    let is_known = |field: &(String, String)| {
        filled.contains(&(field.0.as_str(), field.1.as_str())) || left.iter().any(|name| fits(name, field))
    };
    let unknown: Vec<_> = fields.iter().filter(|field| !is_known(field)).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
    let gone: Vec<_> =
        filled.iter().chain(&left).filter(|name| !fields.iter().any(|field| fits(name, field))).collect();
    assert!(gone.is_empty(), "These are listed and do not exist: {gone:?}");
    story.end().await;
}

/// Proves: page/hostile
#[tokio::test]
async fn hostile_texts_in_a_request_stand_as_text() {
    let story = lived_in::new().await;
    let mut robin = Browser::of(story.app(), "Robin").await;
    let all = std::env::var("COMPLINE_PAIRS").is_ok_and(|pairs| pairs == "all");
    let mut found = Vec::new();
    for (number, text) in corpus().into_iter().enumerate() {
        let escaped = percent_encoding::utf8_percent_encode(&text, percent_encoding::NON_ALPHANUMERIC).to_string();
        let gets = [
            format!("/search?q={escaped}"),
            format!("/away?to={escaped}"),
            format!("/status/log?words={escaped}&level={escaped}&before={escaped}"),
            format!("/memory/{escaped}"),
            format!("/{escaped}"),
        ];
        let (show, pair) = (format!("/show {text}"), format!("/pair {text}"));
        let posts: [(&str, &[(&str, &str)]); 6] = [
            ("/act", &[("command", &show)]),
            ("/act", &[("command", &pair)]),
            ("/people", &[("act", "pair"), ("name", &text), ("role", "owner")]),
            ("/new-note", &[("name", &text), ("text", "")]),
            ("/memory", &[("name", &text), ("state", "on")]),
            ("/login", &[("code", &text)]),
        ];
        let is_tried = |at: usize| all || (number + at).is_multiple_of(4);
        for (_, path) in (0..).zip(&gets).filter(|(at, _)| is_tried(*at)) {
            examine(&robin, path, &mut found).await;
        }
        for (_, (path, fields)) in (gets.len()..).zip(posts).filter(|(at, _)| is_tried(*at)) {
            let page = robin.post(path, fields).await;
            found.extend(intruders(path, &page.text));
        }
        if !is_tried(gets.len() + posts.len()) {
            continue;
        }
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
    let journal = journal(&story);
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
    for path in pages(&robin, Access::Owner).await {
        examine(&robin, &path, &mut found).await;
    }
    // A note whose name holds hidden characters is listed, and cannot be opened.
    for name in &names {
        story.writes(&format!("memory/{name}.md"), &format!("# {name}\n"));
    }
    story.say(ROBIN, "hello again").await;
    let logged: String =
        names.iter().map(|name| format!("2026-11-20T12:00:00Z  WARN {}\n", name.replace('\n', "|"))).collect();
    std::fs::create_dir_all(story.home.join("logs")).unwrap();
    std::fs::write(story.home.join("logs/compline-2026-11-20.log"), logged).unwrap();
    let log = robin.each_page("/status/log").await;
    assert!(log.len() > 2 && log[0].text.contains("&lt;"), "{}", log.len());
    found.extend(log.iter().flat_map(|page| intruders("/status/log", &page.text)));
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
