//! Non-interference: live and automatically loaded content is independent of text from outside.
//!
//! A random history of turns, tools, summaries, recalls and proposals runs twice, with two
//! different texts of the same length from outside. The model amplifies every difference: it
//! answers with a digest of its whole prompt. A single letter from outside in a trusted prompt, an
//! automatically loaded file, a title, a summary or a skill therefore makes the two runs differ.
//!
//! A yes makes exactly the text that was shown a person's own, independent of its origin. The text
//! kept by a yes, and the file that a person vouches for, are therefore the same in both runs,
//! between different texts: anything else that came with them would differ. So are notes and skills
//! changed by hand, and updates of the program. A yes until `/new` lets the model use a tool of
//! another program, with what it has read from outside.
//!
//! All kinds of events are dealt among four successive histories, each of which begins with another
//! kind of text. `COMPLINE_SEEDS=40..80` runs other histories.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use compline::model::{Purpose, Request, RequestPart, Role};
use compline::skill::builtin::Builtin;
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::skill_gate::shown_hash;
use crate::support::mcp::{FakeServer, accept};
use crate::support::model::{Say, words};
use crate::support::pdf::pdf;
use crate::support::seeds;
use crate::support::story::{ADA, BEN, EVE, Story, UNTRUSTED, skill};
use crate::support::web::Web;

/// Text from outside, each in one of four successive histories, among which all events are dealt.
const FIRST: [Event; 4] = [Event::Forward, Event::Document, Event::Pdf, Event::Page];
/// Number of events between the first and the last ones of a history.
const EVENTS: usize = 14;
/// A file by Ada that is never loaded automatically.
const PLAN: &str = "plans/garden.md";
/// Order for the model after it has read the file to edit.
const EDIT_WHAT_WAS_READ: &str = "edit what was read";
const ADD_TO_WHAT_WAS_READ: &str = "add to what was read";
/// Text that the model wants to keep, subject to approval after untrusted text was read.
const TEA: &str = "Warm the pot first.";
/// File that Ada vouches for.
const RECIPE: &str = "Two spoons for each cup.";
/// Versions of a built-in skill that Ada changes by hand.
const SHIPPED: [&[Builtin]; 2] = [
    &[Builtin { name: "brew", files: &[("SKILL.md", "---\nname: brew\ndescription: One.\n---\n\nFirst.\n\nEnd.\n")] }],
    &[Builtin {
        name: "brew",
        files: &[("SKILL.md", "---\nname: brew\ndescription: One.\n---\n\nFirst.\n\nA new end.\n")],
    }],
];

/// One step of a history.
#[derive(Debug, Clone, Copy)]
enum Event {
    Talk,
    Forward,
    Document,
    Pdf,
    Page,
    Recall,
    Search,
    SearchWhatIsTrusted,
    ReadInbox,
    Remember,
    Save,
    Section,
    Write,
    Overwrite,
    Delete,
    PutBack,
    Oddly,
    Edit,
    AddLine,
    MoveByHand,
    ReadPart,
    ListFiles,
    Keep,
    Yes,
    Fill,
    Export,
    Paste,
    Propose,
    ProposeAsBen,
    LoadSkill,
    Approve,
    EditByHand,
    Vouch,
    UseTool,
    NoteByHand,
    ValueByHand,
    Update,
    Silence,
    New,
    Restart,
}

const ALL: [Event; 40] = [
    Event::Talk,
    Event::Forward,
    Event::Document,
    Event::Pdf,
    Event::Page,
    Event::Recall,
    Event::Search,
    Event::SearchWhatIsTrusted,
    Event::ReadInbox,
    Event::Remember,
    Event::Save,
    Event::Section,
    Event::Write,
    Event::Overwrite,
    Event::Delete,
    Event::PutBack,
    Event::Oddly,
    Event::Edit,
    Event::AddLine,
    Event::MoveByHand,
    Event::ReadPart,
    Event::ListFiles,
    Event::Keep,
    Event::Yes,
    Event::Fill,
    Event::Export,
    Event::Paste,
    Event::Propose,
    Event::ProposeAsBen,
    Event::LoadSkill,
    Event::Approve,
    Event::EditByHand,
    Event::Vouch,
    Event::UseTool,
    Event::NoteByHand,
    Event::ValueByHand,
    Event::Update,
    Event::Silence,
    Event::New,
    Event::Restart,
];

/// The same history for the same seed. Begins with untrusted text and a request to keep something,
/// which is granted later, and ends in a separate conversation. In one of four, a note is kept
/// before a fact of the same name is known.
fn history(seed: u64) -> Vec<Event> {
    let (deal, place) = (seed / FIRST.len() as u64, usize::try_from(seed).unwrap() % FIRST.len());
    let mut events = vec![FIRST[place], Event::Keep, Event::UseTool, Event::UseTool];
    events.splice(0..0, (place == 0).then_some(Event::Remember));
    let dealt = shuffled(deal).into_iter().skip(place).step_by(FIRST.len());
    events.extend(dealt.chain(shuffled(!seed)).take(EVENTS));
    events.extend([
        Event::Yes,
        Event::New,
        Event::Vouch,
        Event::Remember,
        Event::Silence,
        Event::Talk,
        Event::Fill,
        Event::SearchWhatIsTrusted,
        Event::Remember,
        Event::Propose,
        Event::Approve,
    ]);
    events
}

/// All events, in the same order for the same seed.
fn shuffled(seed: u64) -> Vec<Event> {
    let mut state = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    let mut left = ALL.to_vec();
    let draw = |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        left.swap_remove(usize::try_from(state >> 33).unwrap() % left.len())
    };
    (0..ALL.len()).map(draw).collect()
}

/// Obeys the person's order, and otherwise answers with a digest of the whole request. It has only
/// letters: digits count as more tokens, and what differs may differ in its text, not in its
/// length.
fn echo(request: &Request) -> Say {
    let digest: String =
        Sha256::digest(words(request)).iter().take(16).map(|byte| char::from(b'a' + byte % 16)).collect();
    let newest = request.messages().last().unwrap();
    let said = words(request);
    let order = said.lines().rev().find_map(|line| line.strip_prefix("please ")).unwrap_or_default();
    let has_read = newest
        .parts()
        .iter()
        .any(|part| matches!(part.open().0, RequestPart::Result { name, .. } if &**name == "read_file"));
    let order = match newest.role() {
        Role::User => order,
        Role::Tool if order == "edit" && has_read => EDIT_WHAT_WAS_READ,
        Role::Tool if order == "add a line" && has_read => ADD_TO_WHAT_WAS_READ,
        _ => "",
    };
    let call = |tool: &str, arguments: serde_json::Value| Say::Calls(vec![(tool.to_owned(), arguments.to_string())]);
    match (request.purpose(), order) {
        (Purpose::Chat, "fetch") => call("web_fetch", json!({ "url": "http://outside.example/page" })),
        (Purpose::Chat, "recall") => call("memory_search", json!({ "in": "conversations", "query": "letter", "include_untrusted": true })),
        (Purpose::Chat, "search") => call("memory_search", json!({ "query": "letter number", "include_untrusted": true })),
        (Purpose::Chat, "search trusted") => call("memory_search", json!({ "query": "letter number lazy dog weight" })),
        (Purpose::Chat, "read") => call("read_file", json!({ "path": "inbox/1-letter.txt" })),
        (Purpose::Chat, "remember") => call("remember", json!({ "title": "Number", "content": digest, "kind": "user" })),
        (Purpose::Chat, "save") => call("memory_save", json!({ "content": format!("Number: {digest}") })),
        (Purpose::Chat, "section") => {
            call("memory_section", json!({ "path": "memory/MEMORY.md", "section": "Recent facts", "action": "append", "content": format!("- **n**: {digest}") }))
        }
        (Purpose::Chat, "write") => call("write_file", json!({ "path": "notes/number.md", "content": digest })),
        (Purpose::Chat, "overwrite") => call("write_file", json!({ "path": PLAN, "content": digest })),
        (Purpose::Chat, "delete") => call("write_file", json!({ "path": PLAN, "content": "" })),
        (Purpose::Chat, "edit" | "add a line") => call("read_file", json!({ "path": PLAN })),
        (Purpose::Chat, EDIT_WHAT_WAS_READ) => call("edit_file", json!({ "path": PLAN, "old": "the wall.", "new": format!("the wall. ({digest})") })),
        (Purpose::Chat, ADD_TO_WHAT_WAS_READ) => call("edit_file", json!({ "path": PLAN, "old": "Peas", "new": format!("{digest}\nPeas") })),
        (Purpose::Chat, "read a part") => call("memory_section", json!({ "path": PLAN, "section": "Later", "action": "read" })),
        (Purpose::Chat, "list") => call("list_files", json!({ "path": "plans" })),
        (Purpose::Chat, "keep") => call("remember", json!({ "title": "Tea", "content": TEA, "kind": "user" })),
        (Purpose::Chat, "oddly") => call("write_file", json!({ "path": "memory\u{200b}/Number.md", "content": digest })),
        (Purpose::Chat, "use the tool") => call("fake__echo", json!({ "to": "ben@example.org", "words": digest })),
        (Purpose::Chat, "load") => call("load_skill", json!({ "name": "by-hand" })),
        (Purpose::Chat, order) if order.starts_with("propose") => {
            let name = format!("s-{digest}");
            let content = skill(&name, "A skill.", &format!("Do {digest}."));
            call(
                "submit_skill",
                json!({ "name": name, "change": "create", "rationale": digest,
                "files": [{ "path": "SKILL.md", "content": content }] }),
            )
        }
        (Purpose::Extraction, _) => Say::Text(json!({ "facts": [{ "key": "number", "value": digest, "sources": [1] }, { "key": digest, "value": "x", "layer": "A", "sources": [1] }], "corrections": [{ "was": "wrong", "now": digest, "sources": [1] }] }).to_string()),
        (Purpose::Summary, _) => Say::Text(json!({ "title": digest, "topics": [digest] }).to_string()),
        (_, _) => Say::Text(format!("heard {digest}")),
    }
}

/// Live and automatically loaded content at the end of a run, by name.
type Stays = BTreeMap<String, String>;

async fn live(events: &[Event], letter: &str) -> Stays {
    let page = format!("<title>{letter}</title><p>{letter}</p>");
    let web = Web::of(&[("/page", page.as_str())]).await;
    let server = FakeServer::new("mail");
    let mut story: Story = server.prepared("[skills]\nreview = \"human\"\n[memory]\nextract_every = 2\n").await;
    story.fetch_through(web.fetcher());
    story.ship(SHIPPED[0]);
    story.model.otherwise(echo);
    story.background.otherwise(echo);
    story.start().await;
    story.settle().await;
    accept(&story, "fake__echo").await;
    story.say(ADA, "hello").await;
    story.write_skill("brew", "One.", "My first.\n\nEnd.");
    let plan = story.home.join("workspace").join(PLAN);
    std::fs::create_dir_all(plan.parent().unwrap()).unwrap();
    std::fs::write(plan, "Beans by the wall.\nPeas by the gate.\n\n## Later\n\nLeeks.\n").unwrap();
    for (number, event) in events.iter().enumerate() {
        happens(&mut story, *event, number, letter).await;
    }
    let stays = what_stays(&story);
    story.end().await;
    stays
}

async fn happens(story: &mut Story, event: Event, number: usize, letter: &str) {
    match event {
        Event::Talk => story.say(ADA, &format!("my number is {number}")).await,
        Event::Forward => {
            story.fake.forwards(ADA, EVE, letter);
            story.answered().await;
        }
        Event::Document => {
            story.fake.sends_document(ADA, "letter.txt", "text/plain", letter.as_bytes());
            story.answered().await;
        }
        Event::Pdf => {
            story.fake.sends_document(ADA, "letter.pdf", "application/pdf", &pdf(&[letter, letter]));
            story.answered().await;
        }
        Event::Search => story.say(ADA, "please search").await,
        Event::SearchWhatIsTrusted => story.say(ADA, "please search trusted").await,
        Event::ReadInbox => story.say(ADA, "please read").await,
        Event::Remember => story.say(ADA, "please remember").await,
        Event::Save => story.say(ADA, "please save").await,
        Event::Section => story.say(ADA, "please section").await,
        Event::Write => story.say(ADA, "please write").await,
        Event::Overwrite => story.say(ADA, "please overwrite").await,
        Event::Delete => story.say(ADA, "please delete").await,
        Event::Edit => story.say(ADA, "please edit").await,
        Event::AddLine => story.say(ADA, "please add a line").await,
        Event::MoveByHand => move_by_hand(story, number).await,
        Event::ReadPart => story.say(ADA, "please read a part").await,
        Event::ListFiles => story.say(ADA, "please list").await,
        Event::Keep => story.say(ADA, "please keep").await,
        Event::Yes => yes_to_the_tea(story).await,
        Event::Fill => fill(story).await,
        Event::PutBack => put_back(story).await,
        Event::Oddly => story.say(ADA, "please oddly").await,
        Event::Export => story.say(ADA, "/export").await,
        Event::Page => story.say(ADA, "http://outside.example/page\nplease fetch").await,
        Event::Recall => story.say(ADA, "please recall").await,
        Event::Paste => story.say(ADA, letter).await,
        Event::Propose => story.say(ADA, "please propose").await,
        Event::ProposeAsBen => story.say(BEN, "please propose").await,
        Event::LoadSkill => story.say(ADA, "please load").await,
        Event::Approve => approve_what_is_clean(story).await,
        Event::EditByHand => {
            story.write_skill("by-hand", "Written by hand.", &format!("Version {number}."));
            story.say(ADA, "look").await;
        }
        Event::Vouch => vouch_for_the_recipe(story).await,
        Event::UseTool => use_the_tool(story).await,
        Event::NoteByHand => {
            let head = if number.is_multiple_of(2) { "---\nname: Kettle\ntype: fact\n---\n\n" } else { "" };
            story.writes("memory/kettle.md", &format!("{head}The kettle holds {number} litres.\n"));
            story.say(ADA, "look").await;
        }
        Event::ValueByHand => {
            story.writes("USER.md", &format!("- Cat: Tom {number}\n"));
            story.say(ADA, "look").await;
        }
        Event::Update => {
            story.ship(SHIPPED[1]);
            story.restart().await;
        }
        Event::Silence => story.pass(Duration::from_secs(7 * 3600)).await,
        Event::New => story.say(ADA, "/new").await,
        Event::Restart => story.restart().await,
    }
}

/// Approves the oldest proposal with a trusted label, as the owner.
async fn approve_what_is_clean(story: &Story) {
    let id = story.count("SELECT coalesce(min(id), 0) FROM proposals WHERE state = 'pending' AND label = 'trusted'");
    if id > 0 {
        story.say(ADA, &format!("/show {id}")).await;
        story.say(ADA, &format!("/approve {id} {}", shown_hash(story))).await;
    }
}

/// Ada moves the first line of her plan to its end, and adds one.
async fn move_by_hand(story: &Story, number: usize) {
    let plan = std::fs::read_to_string(story.home.join("workspace").join(PLAN)).unwrap_or_default();
    let (first, rest) = plan.split_once('\n').unwrap_or_default();
    story.writes(PLAN, &format!("{rest}{first}\nLine {number}.\n"));
    story.say(ADA, "look").await;
}

/// Restores Ada's plan to its last trusted version.
async fn put_back(story: &Story) {
    let hers =
        format!("SELECT coalesce(max(id), 0) FROM files WHERE path = '{PLAN}' AND label = 'trusted' AND digest <> ''");
    story.say(ADA, &format!("/memory restore {PLAN} {}", story.count(&hers))).await;
}

/// Approves the oldest request to keep the text that is the same in both runs.
async fn yes_to_the_tea(story: &Story) {
    let asked = "SELECT coalesce(min(number), 0) FROM keeps WHERE state = 'open' AND path = 'memory/untrusted/tea.md'";
    story.say(ADA, &format!("/yes {}", story.count(asked))).await;
}

/// Ada sends a file that is the same in both runs, and vouches for it.
async fn vouch_for_the_recipe(story: &Story) {
    story.fake.sends_document(ADA, "recipe.txt", "text/plain", RECIPE.as_bytes());
    story.answered().await;
    story.say(ADA, "/trust").await;
    let list = story.last_received_by(ADA);
    let item = list.lines().rev().find(|line| line.contains("recipe.txt")).unwrap_or_else(|| panic!("{list}"));
    let number = item.trim_start().split('.').next().unwrap();
    story.say(ADA, &format!("/trust {number}")).await;
    let shown = story.last_received_by(ADA);
    let (_, code) = shown.split_once(&format!("/trust {number} ")).unwrap_or_else(|| panic!("{shown}"));
    let code: String = code.chars().take_while(char::is_ascii_hexdigit).collect();
    story.say(ADA, &format!("/trust {number} {code}")).await;
}

/// The model uses a tool of another program; if Ada is asked, she says yes until /new.
async fn use_the_tool(story: &Story) {
    story.say(ADA, "please use the tool").await;
    let question = story.last_received_by(ADA);
    if let Some((_, rest)) = question.split_once("Send this to the tool").and_then(|(_, rest)| rest.split_once("/yes "))
    {
        let number = rest.split(' ').next().unwrap();
        story.say(ADA, &format!("/yes {number} new vary")).await;
    }
}

/// Talks until the window is nearly full and the older part is compacted.
async fn fill(story: &Story) {
    for number in 0..4 {
        story.say(ADA, &format!("and thing {number}")).await;
    }
    // Facts are taken down after every second turn. After the turn that follows only the compaction
    // asks for them: of two requests at once, either may come first.
    let extractions = || story.count("SELECT count(*) FROM extractions");
    let before = extractions();
    for _ in 0..2 {
        if extractions() == before {
            story.say(ADA, "and so on").await;
        }
    }
    story.model.counts(75_000);
    story.say(ADA, "now the window is nearly full").await;
    story.model.counts(1_000);
    story.settle().await;
}

fn what_stays(story: &Story) -> Stays {
    let mut stays = Stays::new();
    for (who, requests) in [("chat", story.model.requests()), ("background", story.background.requests())] {
        let mut trusted: Vec<String> =
            requests.iter().filter(|request| request.label().is_trusted()).map(words).collect();
        // The order of summarizer and extractor in the background carries no information.
        if who == "background" {
            trusted.sort();
        }
        stays.extend(trusted.into_iter().enumerate().map(|(number, words)| (format!("{who} {number}"), words)));
    }
    let workspace = story.home.join("workspace");
    for file in ["AGENTS.md", "SOUL.md", "USER.md", "HEARTBEAT.md", "learnings/corrections.md"] {
        stays.insert(file.to_owned(), std::fs::read_to_string(workspace.join(file)).unwrap_or_default());
    }
    for folder in ["workspace/memory", "workspace/agents", "workspace/people", "experience"] {
        files_below(&story.home.join(folder), &mut stays);
    }
    // Text that waits for a yes is not loaded.
    stays.retain(|name, _| !name.contains("untrusted/"));
    files_below(&story.home.join("skills"), &mut stays);
    for (name, sql) in [
        ("openings", "SELECT coalesce(group_concat(opening, char(10)), '') FROM conversations"),
        (
            "entries",
            "SELECT coalesce(group_concat(key || text, char(10)), '') FROM (SELECT * FROM entries WHERE label LIKE 'trusted%' ORDER BY key)",
        ),
        (
            "uses",
            "SELECT coalesce(group_concat(key || uses, char(10)), '') FROM (SELECT * FROM entry_uses ORDER BY key)",
        ),
        (
            "hers",
            "SELECT coalesce(group_concat(path || digest, char(10)), '') FROM (SELECT * FROM files f WHERE label LIKE 'trusted%' AND path <> 'learnings/errors.md' AND path NOT LIKE '%.zip'
             AND id = (SELECT max(id) FROM files n WHERE n.path = f.path) ORDER BY path)",
        ),
        ("facts", "SELECT coalesce(group_concat(facts, char(10)), '') FROM extractions WHERE label LIKE 'trusted%'"),
        ("older parts", "SELECT coalesce(group_concat(summary, char(10)), '') FROM compactions WHERE label LIKE 'trusted%'"),
        ("given way", "SELECT coalesce(group_concat(label LIKE 'trusted%'), '') FROM compactions WHERE state = 'made'"),
        ("granted", "SELECT coalesce(group_concat(path), '') FROM keeps WHERE state = 'kept'"),
        (
            "vouched",
            "SELECT CAST(count(*) AS TEXT) FROM turns WHERE label LIKE 'trusted vouched:%' AND state = 'done'",
        ),
        ("uses under a yes", "SELECT CAST(count(*) AS TEXT) FROM steps WHERE grant_id IS NOT NULL"),
        ("merges", "SELECT CAST(count(*) AS TEXT) FROM proposals WHERE origin = 'shipped'"),
        ("edited", "SELECT CAST(count(*) AS TEXT) FROM files WHERE path = 'plans/garden.md' AND cause = 'edit'"),
        ("titles", "SELECT coalesce(group_concat(title, char(10)), '') FROM summaries WHERE view = 'trusted'"),
        ("skills", "SELECT coalesce(group_concat(name || state || digest, char(10)), '') FROM skills"),
        ("approved", "SELECT coalesce(group_concat(skill, char(10)), '') FROM proposals WHERE state = 'approved'"),
    ] {
        stays.insert(name.to_owned(), without_numbers(&story.text(sql)));
    }
    stays
}

/// Leaves out the numbers of messages: they depend on when a notice is stored between them.
fn without_numbers(words: &str) -> String {
    let mut parts = words.split("message:");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |all, part| all + "message:" + part.trim_start_matches(|c: char| c.is_ascii_digit()))
}

fn files_below(folder: &Path, stays: &mut Stays) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().map(Result::unwrap) {
        if entry.path().is_dir() {
            files_below(&entry.path(), stays);
        } else {
            let name = entry.path().strip_prefix(folder.parent().unwrap()).unwrap().display().to_string();
            stays.insert(name, std::fs::read_to_string(entry.path()).unwrap());
        }
    }
}

/// Promise (trust/loaded-text): Text from outside makes no difference to live skills or to anything
/// loaded automatically.
#[tokio::test]
async fn outside_text_makes_no_difference_to_permanent_state() {
    let filler =
        "the quick brown letter runs over the lazy dog and says nothing of any weight to anybody who may read it";
    let (mut kept, mut facts) = (0, 0);
    let (mut granted, mut given_way, mut edited) = (0, String::new(), 0);
    let (mut vouched, mut used, mut merges) = (0, 0, 0);
    let seeds = seeds::asked_for(0..FIRST.len() as u64);
    for seed in seeds.clone() {
        let events = history(seed);
        let one = live(&events, &format!("{UNTRUSTED}aaaa {filler} one")).await;
        let other = live(&events, &format!("{UNTRUSTED}bbbb {filler} two")).await;
        assert!(one.len() > 10, "{events:?}");
        kept += one.keys().filter(|name| *name == "memory/number.md").count();
        facts += usize::from(!one["facts"].is_empty());
        granted += usize::from(!one["granted"].is_empty());
        given_way += &one["given way"];
        let count = |name: &str| one[name].parse::<usize>().unwrap();
        edited += count("edited");
        vouched += count("vouched");
        used += count("uses under a yes");
        merges += count("merges");
        let names: Vec<_> = one.keys().chain(other.keys()).collect();
        for name in names {
            assert_eq!(one.get(name), other.get(name), "{name} differs after {events:?} (history {seed})");
        }
    }
    assert!(kept > 0 && facts > 0, "something lasts of histories {seeds:?}: {kept} notes, {facts} with facts");
    assert!(granted > 0 && edited > 0, "{granted} yeses count, {edited} edits");
    assert!(vouched > 0 && merges > 0, "{vouched} turns vouched for, {merges} merges");
    assert!(used > 0, "{used} uses of a tool under a yes");
    assert!(
        given_way.contains('0') && given_way.contains('1'),
        "older parts give way, with and without text from outside: {given_way}"
    );
    println!("did: histories {seeds:?}: each was the same with two texts from outside");
}
