//! New notes, one section of a note, and what other agents and profiles have learned.

use compline::store::CommitPoint::{After, Before};
use reqwest::StatusCode;
use serde_json::json;

use crate::support::browser::{Browser, Page, SERVED};
use crate::support::power::{CrashTest, Cut};
use crate::support::story::{ADA, StoryOver};
use crate::support::telegram::FakeTelegram;

type Story = StoryOver<FakeTelegram>;

const PETS: &str = "memory/pets.md";

/// The value of a hidden field of a page.
fn hidden(page: &Page, name: &str) -> String {
    let field = page.text.split(&format!("name=\"{name}\" value=\"")).nth(1).unwrap_or_else(|| panic!("{}", page.text));
    field.split('"').next().unwrap().to_owned()
}

/// The text in the field of a page, as a browser reads it.
fn field_in(page: &Page) -> String {
    let field = page.text.split("<textarea").nth(1).and_then(|part| part.split_once('>')).unwrap().1;
    let text = field.split("</textarea>").next().unwrap();
    text.strip_prefix('\n').unwrap_or(text).replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

async fn save(browser: &mut Browser, form: &Page, text: &str) -> Page {
    let (section, digest) = (hidden(form, "section"), hidden(form, "digest"));
    let sent = text.replace('\n', "\r\n");
    let fields = [("act", "save"), ("section", &*section), ("digest", &*digest), ("text", &*sent)];
    browser.post("/memory/pets", &fields).await
}

/// Promise (page/memory-section): One section of a note is edited on the page without touching any
/// other byte of it, also while others change it; if that section was changed meanwhile, nothing is
/// overwritten, and both texts are shown.
#[tokio::test]
async fn one_section_is_edited_and_the_rest_stays() {
    let story = Story::with(SERVED).await;
    let note = "---\nname: Pets\n---\n\n<!-- # no heading -->\nAll of them.\n\n# Cats\r\n\r\nTom & <b>Co</b>\r\n\n# Dogs\n\nRex.\n";
    story.writes(PETS, note);
    story.say(ADA, "Hello").await;
    let mut ada = Browser::of(story.app(), "Ada").await;
    let page = ada.get("/memory/pets").await.text;
    assert!(page.contains("aria-label=\"Edit the section Cats\"") && page.contains("?edit=1&amp;section=1"), "{page}");
    let form = ada.get("/memory/pets?edit=1&section=1").await;
    assert_eq!(field_in(&form), "# Cats\n\nTom & <b>Co</b>\n\n");
    // Another part changes meanwhile, and the section moves.
    let grown = note.replace("All of them.", "# Birds\n\nKiki.").replace("Rex.", "Rex, Bo.");
    story.writes(PETS, &grown);
    let saved = save(&mut ada, &form, "# Cats\n\nBruno").await;
    assert_eq!(saved.leads_to(), "/memory/pets", "{}", saved.text);
    let wanted = grown.replace("# Cats\r\n\r\nTom & <b>Co</b>\r\n\n", "# Cats\r\n\r\nBruno\r\n");
    assert_eq!(story.reads(PETS), wanted);
    // The same section changes meanwhile.
    let form = ada.get("/memory/pets?edit=1&section=3").await;
    assert_eq!(field_in(&form), "# Dogs\n\nRex, Bo.\n");
    let other = wanted.replace("Rex, Bo.", "Rex, Bo, Lu.");
    story.writes(PETS, &other);
    let mine = "# Dogs\n\nRex <i>alone</i>.\n";
    let refused = save(&mut ada, &form, mine).await;
    assert_eq!((refused.status, story.reads(PETS)), (StatusCode::CONFLICT, other.clone()));
    assert!(refused.text.contains("Nothing was saved: the section was changed"), "{}", refused.text);
    assert!(refused.text.contains("-Rex, Bo, Lu.") && refused.text.contains("+Rex &lt;i&gt;alone"), "{}", refused.text);
    assert!(!refused.text.contains("Bruno") && field_in(&refused).replace("\r\n", "\n") == mine, "{}", refused.text);
    assert_eq!(save(&mut ada, &refused, mine).await.leads_to(), "/memory/pets");
    let kept = other.replace("Rex, Bo, Lu.", "Rex <i>alone</i>.");
    assert_eq!(story.reads(PETS), kept);
    // The form once more, after it was saved, and as one that fell apart into two sections.
    assert_eq!(save(&mut ada, &refused, mine).await.leads_to(), "/memory/pets");
    assert_eq!(story.reads(PETS), kept);
    let form = ada.get("/memory/pets?edit=1&section=0").await;
    for _ in 0..2 {
        assert_eq!(save(&mut ada, &form, "# Birds\n\nKiki.\n\n# Fish\n\nNemo.\n\n").await.leads_to(), "/memory/pets");
        assert_eq!(story.reads(PETS).matches("Nemo").count(), 1);
    }
    assert_eq!(save(&mut ada, &form, "# Birds\n\nNone.\n").await.status, StatusCode::CONFLICT);
    // It is gone.
    let form = ada.get("/memory/pets?edit=1&section=3").await;
    story.writes(PETS, "# Cats\n\nBruno\n");
    let refused = save(&mut ada, &form, mine).await;
    assert_eq!((refused.status, story.reads(PETS).as_str()), (StatusCode::CONFLICT, "# Cats\n\nBruno\n"));
    assert!(refused.text.contains("no single section begins as yours"), "{}", refused.text);
    assert_eq!(field_in(&refused).replace("\r\n", "\n"), mine);
    story.end().await;
}

/// Promise (page/new-note): A note is written on the page under a new name, also if it is sent
/// twice; a name that is taken overwrites nothing, and whatever fails, the text stays in the form.
#[tokio::test]
async fn a_new_note_overwrites_nothing() {
    let story = Story::with(SERVED).await;
    story.writes(PETS, "Cat: Tom\n");
    story.say(ADA, "Hello").await;
    let mut ada = Browser::of(story.app(), "Ada").await;
    assert!(ada.get("/memory").await.text.contains("href=\"/new-note\""));
    let add = async |ada: &mut Browser, name: &str, text: &str| {
        ada.post("/new-note", &[("name", name), ("text", text)]).await
    };
    let saved = add(&mut ada, "garden", "Roses\r\nand thyme\r\n").await;
    assert_eq!((saved.leads_to(), story.reads("memory/garden.md").as_str()), ("/memory/garden", "Roses\nand thyme\n"));
    let row = "SELECT author || ' ' || cause FROM files WHERE path LIKE '%memory/garden.md'";
    assert_eq!(story.text(row), "hand page");
    // Sent twice, it is saved once.
    let again = add(&mut ada, "garden", "Roses\r\nand thyme\r\n").await;
    assert_eq!(
        (again.leads_to(), story.count(&row.replace("author || ' ' || cause", "count(*)"))),
        ("/memory/garden", 1)
    );
    // Under a name that is taken.
    for (name, text) in
        [("garden", "Roses\n"), ("pets", "Dog: <i>Rex</i>"), ("Pets.md", "Dog: <i>Rex</i>"), ("memory", "x")]
    {
        let refused = add(&mut ada, name, text).await;
        assert_eq!(refused.status, StatusCode::CONFLICT, "{name}: {}", refused.text);
        assert!(refused.text.contains("there is a note of that name already"), "{name}: {}", refused.text);
        assert_eq!(field_in(&refused), text);
    }
    for (name, text, why) in
        [("", "x", "role=\"alert\""), ("a", " \n", "a note needs some text"), (".", "x", "role=\"alert\"")]
    {
        let refused = add(&mut ada, name, text).await;
        assert!(refused.status == StatusCode::CONFLICT && refused.text.contains(why), "{name:?}: {}", refused.text);
    }
    assert_eq!((story.reads(PETS).as_str(), story.file("memory/a.md")), ("Cat: Tom\n", None));
    // The journal fails: the text stays in the form all the same.
    let db = rusqlite::Connection::open(story.home.join("compline.db")).unwrap();
    db.execute_batch("CREATE TRIGGER broken BEFORE INSERT ON files BEGIN SELECT RAISE(ABORT, 'broken'); END").unwrap();
    let digest = hidden(&ada.get("/memory/pets?edit=1").await, "digest");
    let form = [("act", "save"), ("digest", digest.as_str()), ("text", "Dog: <i>Rex</i>")];
    for failed in [add(&mut ada, "b", "Dog: <i>Rex</i>").await, ada.post("/memory/pets", &form).await] {
        assert_eq!(failed.status, StatusCode::INTERNAL_SERVER_ERROR, "{}", failed.text);
        assert!(failed.text.contains("This did not work") && field_in(&failed) == "Dog: <i>Rex</i>", "{}", failed.text);
    }
    db.execute_batch("DROP TRIGGER broken").unwrap();
    assert_eq!(ada.post("/memory/pets", &form).await.leads_to(), "/memory/pets");
    story.end().await;
}

fn learned(story: &Story) {
    story.writes("agents/compline/memory.md", "## Insights\n\n- **tea**: green\n");
    story.writes("agents/reviewer/memory.md", "## Insights\n\n- **zucchini**: canary-of-reviewer\n");
    let path = story.home.join("experience/nurse.md");
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, "## Insights\n\n- **zucchini seed**: canary-of-nurse\n").unwrap();
}

/// What of the others comes to mind in a new conversation.
async fn comes_to_mind(story: &Story) -> [bool; 2] {
    story.say(ADA, "/new").await;
    story.say(ADA, "How is the zucchini?").await;
    let prompt = story.model.last_prompt();
    ["canary-of-nurse", "canary-of-reviewer"].map(|canary| prompt.contains(canary))
}

/// Promise (memory/switches): What another agent or profile has learned about you comes to mind or
/// not as you switch it, on the page, in chat or on the command line, whatever is usual; what is
/// off stays stored, and your search finds it.
#[tokio::test]
async fn what_is_switched_off_does_not_come_to_mind() {
    for (settings, usual) in [("", false), ("[memory]\nexperience_for_all = true\n", true)] {
        let story = Story::with(&format!("{SERVED}{settings}")).await;
        learned(&story);
        assert_eq!(comes_to_mind(&story).await, [usual, usual]);
        let mut ada = Browser::of(story.app(), "Ada").await;
        let page = ada.get("/memory").await.text;
        let (state, change) = if usual { ("on", "off") } else { ("off", "on") };
        assert!(page.contains(&format!("aria-label=\"Switch {change} experience/nurse\"")), "{page}");
        assert!(page.contains("in use") && page.contains(&format!("<td>{state}</td>")), "{page}");
        let form = [("name", "experience/nurse"), ("state", change)];
        for _ in 0..2 {
            assert_eq!(ada.post("/memory", &form).await.leads_to(), "/memory#profiles");
        }
        assert_eq!(comes_to_mind(&story).await, [!usual, usual]);
        story.say(ADA, &format!("/memory profile reviewer {change}")).await;
        assert!(story.last_received_by(ADA).contains("reviewer"), "{}", story.last_received_by(ADA));
        assert_eq!(comes_to_mind(&story).await, [!usual, !usual]);
        story.say(ADA, "/memory search zucchini").await;
        let found = story.last_received_by(ADA);
        assert!(found.contains("canary-of-nurse") && found.contains("canary-of-reviewer"), "{found}");
        // On the command line, and back.
        let told = story.command_line(&["memory", "profiles"]).await;
        let states: Vec<(&str, bool)> = told
            .json
            .as_array()
            .unwrap()
            .iter()
            .map(|one| (one["name"].as_str().unwrap(), one["on"].as_bool().unwrap()))
            .collect();
        assert!(states.contains(&("experience/nurse", !usual)) && states.contains(&("reviewer", !usual)), "{states:?}");
        let back = if usual { "on" } else { "off" };
        for name in ["nurse", "reviewer"] {
            let answer = story.command_line(&["memory", "profile", name, back]).await;
            assert_eq!((answer.failed, &answer.json["on"]), (false, &json!(usual)), "{}", answer.markdown);
        }
        assert_eq!(comes_to_mind(&story).await, [usual, usual]);
        for (name, why) in
            [("cook", "No other agent or profile is named"), ("compline", "is in use"), ("experience/default", "")]
        {
            let refused = ada.post("/memory", &[("name", name), ("state", "off")]).await;
            assert!(refused.status == StatusCode::CONFLICT && refused.text.contains(why), "{name}: {}", refused.text);
        }
        assert!(story.file("agents/reviewer/memory.md").is_some());
        story.end().await;
    }
}

/// Proves: memory/switches
#[test]
fn a_power_cut_leaves_a_switch_on_or_off() {
    for side in [Before, After] {
        let mut crash_test = CrashTest::prepared(SERVED);
        assert!(!crash_test.start(None));
        learned(&crash_test.story);
        crash_test.story.fake.says(ADA, "Hello");
        assert!(!crash_test.pass(std::time::Duration::from_secs(5)));
        crash_test.cut_next(Cut::at(side, "switch the memory of an agent"));
        let story = &crash_test.story;
        let switching = async {
            let mut ada = Browser::of(story.app(), "Ada").await;
            ada.post("/memory", &[("name", "reviewer"), ("state", "on")]).await;
        };
        assert!(crash_test.during(switching), "{side:?}");
        crash_test.revive();
        let story = &crash_test.story;
        let stored = story.count("SELECT count(*) FROM meta WHERE key LIKE 'memory_switches:%'");
        assert_eq!(stored, i64::from(side == After), "{side:?}");
        crash_test.end();
    }
}
