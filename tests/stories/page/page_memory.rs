//! Memory on the page: what is kept, an edit that overwrites nothing, versions, and what came from
//! outside.

use reqwest::StatusCode;

use crate::support::browser::{Browser, Page, SERVED};
use crate::support::story::{ADA, BEN, StoryOver, canary};
use crate::support::telegram::FakeTelegram;

type Story = StoryOver<FakeTelegram>;

const PETS: &str = "memory/pets.md";

async fn with_note(text: &str) -> (Story, Browser) {
    let story = Story::with(SERVED).await;
    story.writes(PETS, text);
    story.say(ADA, "Hello").await;
    let ada = Browser::of(story.app(), "Ada").await;
    (story, ada)
}

/// The digest that the form of a page carries.
fn digest_in(page: &Page) -> String {
    let form = page.text.split("name=\"digest\" value=\"").nth(1).unwrap_or_else(|| panic!("{}", page.text));
    form.split('"').next().unwrap().to_owned()
}

/// The text in the field of a page, as a browser reads it.
fn field_in(page: &Page) -> String {
    let field = page.text.split("<textarea").nth(1).and_then(|part| part.split_once('>')).unwrap().1;
    let text = field.split("</textarea>").next().unwrap();
    let text = text.strip_prefix('\n').unwrap_or(text);
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
}

/// Saves a note as a browser does, which sends CR LF.
async fn save(browser: &mut Browser, note: &str, digest: &str, text: &str) -> Page {
    let sent = text.replace('\n', "\r\n");
    browser.post(&format!("/memory/{note}"), &[("act", "save"), ("digest", digest), ("text", &sent)]).await
}

/// Promise (page/memory-edit): What you write into a note on the page counts as written by your own
/// hand, and changes nothing else: lines that you did not touch stay as they are, and the version
/// before can be restored.
#[tokio::test]
async fn an_edit_on_the_page_is_ones_own_hand() {
    let before = "\n# Pets\r\n\nCat: Tom & <b>Co</b>\n</textarea><script>alert(1)</script>\n";
    let (story, mut ada) = with_note(before).await;
    story.writes("agents/compline/memory.md", "## Insights\n\n- **Cat**: Tom & <b>Co</b> (2026-11-01)\n");
    story.say(ADA, "Hello again").await;
    let form = ada.get("/memory/pets?edit=1").await;
    assert!(!form.text.contains("<script>alert"), "{}", form.text);
    assert_eq!(field_in(&form), before.replace("\r\n", "\n"));
    let untouched = save(&mut ada, "pets", &digest_in(&form), &before.replace("\r\n", "\n")).await;
    assert_eq!((untouched.leads_to(), story.reads(PETS).as_str()), ("/memory/pets", before));
    let versions = "SELECT count(*) FROM files WHERE path LIKE '%memory/pets.md'";
    assert_eq!(story.count(versions), 1, "nothing changed");
    let new = before.replace("Tom & <b>Co</b>", "Bruno");
    let saved = save(&mut ada, "pets", &digest_in(&form), &new.replace("\r\n", "\n")).await;
    assert_eq!((saved.leads_to(), story.reads(PETS)), ("/memory/pets", new));
    let row = "SELECT author || ' ' || cause || ' ' || label FROM files WHERE path LIKE '%memory/pets.md' ORDER BY id DESC LIMIT 1";
    assert_eq!(story.text(row), "hand page trusted");
    let page = ada.get("/memory/pets").await.text;
    assert!(page.contains("you, by hand, on the page"), "{page}");
    // Other places of the value follow, as after an edit with an editor.
    story.say(ADA, "How are you?").await;
    assert!(story.reads("agents/compline/memory.md").contains("**Cat**: Bruno"), "{:?}", story.received_by(ADA));
    // Back to the first version.
    let first = story.count("SELECT min(id) FROM files WHERE path LIKE '%memory/pets.md'").to_string();
    let shown = ada.get(&format!("/memory/pets?version={first}")).await.text;
    assert!(shown.contains("+Cat: Tom &amp; &lt;b&gt;Co") && shown.contains("-Cat: Bruno"), "{shown}");
    let restored = ada.post("/memory/pets", &[("act", "restore"), ("version", &first)]).await;
    assert_eq!((restored.leads_to(), story.reads(PETS).as_str()), ("/memory/pets", before));
    let last = story.count("SELECT max(id) FROM files WHERE path LIKE '%memory/pets.md'");
    let compared = ada.get(&format!("/memory/pets?from={first}&to={last}")).await.text;
    assert!(compared.contains("They are the same"), "{compared}");
    story.end().await;
}

/// Promise (page/memory-conflict): Saving a note on the page never overwrites what changed
/// meanwhile, in an editor, in another tab or by the assistant: both texts and their difference are
/// shown, and yours stays in the form.
#[tokio::test]
async fn a_save_overwrites_nothing_that_changed_meanwhile() {
    let (story, mut ada) = with_note("Cat: Tom\n").await;
    let old = digest_in(&ada.get("/memory/pets?edit=1").await);
    story.writes(PETS, "Cat: Tom\nDog: Rex\n");
    let mine = "Cat: <i>Bruno</i>\n";
    for _ in 0..2 {
        let refused = save(&mut ada, "pets", &old, mine).await;
        assert_eq!((refused.status, story.reads(PETS).as_str()), (StatusCode::CONFLICT, "Cat: Tom\nDog: Rex\n"));
        assert!(refused.text.contains("Nothing was saved: the note was changed"), "{}", refused.text);
        assert!(
            refused.text.contains("-Dog: Rex") && refused.text.contains("+Cat: &lt;i&gt;Bruno"),
            "{}",
            refused.text
        );
        assert_eq!(field_in(&refused).replace("\r\n", "\n"), mine, "what was typed is kept");
    }
    // Both tabs save the same version: the first one counts.
    let refused = save(&mut ada, "pets", &old, mine).await;
    let present = digest_in(&refused);
    let (mut one, mut other) = (ada.clone(), ada.clone());
    let answers = tokio::join!(
        save(&mut one, "pets", &present, "Cat: Bruno\nDog: Rex\n"),
        save(&mut other, "pets", &present, "Cat: Mitzi\nDog: Rex\n")
    );
    let mut statuses = [answers.0.status, answers.1.status];
    statuses.sort();
    assert_eq!(statuses, [StatusCode::SEE_OTHER, StatusCode::CONFLICT]);
    let kept = if answers.0.status == StatusCode::SEE_OTHER { "Bruno" } else { "Mitzi" };
    assert_eq!(story.reads(PETS), format!("Cat: {kept}\nDog: Rex\n"));
    // The same form once more, after it was saved: a reload says the same again and loses nothing.
    let again = save(&mut one, "pets", &present, &format!("Cat: {kept}\nDog: Rex\n")).await;
    assert_eq!(story.reads(PETS), format!("Cat: {kept}\nDog: Rex\n"), "{}", again.text);
    // Deleted meanwhile.
    let digest = digest_in(&ada.get("/memory/pets?edit=1").await);
    std::fs::remove_file(story.path_of(PETS)).unwrap();
    let gone = save(&mut ada, "pets", &digest, mine).await;
    assert!(gone.status == StatusCode::CONFLICT && story.file(PETS).is_none(), "{}", gone.text);
    assert!(gone.text.contains("the note was deleted after you opened it"), "{}", gone.text);
    assert_eq!(save(&mut ada, "pets", &digest_in(&gone), mine).await.leads_to(), "/memory/pets");
    assert_eq!(story.reads(PETS), mine);
    // Too long: the text stays in the form.
    let digest = digest_in(&ada.get("/memory/pets?edit=1").await);
    let long = "x".repeat(70_000);
    let refused = save(&mut ada, "pets", &digest, &long).await;
    assert_eq!((refused.status, story.reads(PETS).as_str()), (StatusCode::CONFLICT, mine));
    assert!(refused.text.contains("role=\"alert\"") && field_in(&refused) == long, "{:.2000}", refused.text);
    story.end().await;
}

/// Promise (page/memory): The page shows what is kept about you, and to nobody else: your own
/// words, facts by key, notes with how full they are, days, and apart from them what came from
/// outside, with nothing in it hidden.
#[tokio::test]
async fn each_sees_what_is_kept_about_them() {
    let (story, mut ada) = with_note("# Pets\n\n## Cats\n\nTom.\n\n## Dogs\n\nRex.\n\n## Birds\n\nKiki.\n").await;
    story.say(ADA, &format!("/remember Tea: black {}", canary(ADA))).await;
    story.say(BEN, &format!("/remember Tea: green {}", canary(BEN))).await;
    let own = format!("{}\n## Keys\n\nThe spare one is <b>with Nora</b>.\n", story.reads("memory/MEMORY.md"));
    story.writes("memory/MEMORY.md", &own);
    story.writes(
        "memory/untrusted/<b>recipe.md",
        "Ten eggs.\u{202e} <script>alert(1)</script>\n<!-- hidden order -->\n",
    );
    story.writes("plans/<i>a b.md", "Later.\n");
    story.say(ADA, "Hello").await;
    let page = ada.get("/memory").await.text;
    for part in ["MEMORY.md", "<meter", "Facts", "Tea", "From outside", "href=\"/memory/pets\"", &canary(ADA)] {
        assert!(page.contains(part), "{part:?} is missing in {page}");
    }
    let own = page.split_once("<h2>Your own words</h2>").unwrap_or_else(|| panic!("{page}")).1;
    let own = own.split("</section>").next().unwrap();
    assert!(own.contains("with Nora") && own.contains("Keys") && !own.contains("black"), "{own}");
    assert!(!page.contains("<b>recipe") && !page.contains(&canary(BEN)) && !page.contains("Used most"), "{page}");
    let note = ada.get("/memory/pets").await.text;
    assert!(
        note.contains("href=\"#section-") && note.contains("Kiki.") && note.contains("Where it comes from"),
        "{note}"
    );
    let link =
        page.split("href=\"").find(|part| part.starts_with("/memory/untrusted/")).expect("a link").split('"').next();
    let outside = ada.get(link.unwrap()).await.text;
    for part in ["From outside: ", "\u{27e8}U+202E", "&lt;script&gt;alert", "hidden order", "Read it and make it mine"]
    {
        assert!(outside.contains(part), "{part:?} is missing in {outside}");
    }
    assert!(!outside.contains("<script>alert"), "{outside}");
    // An edit of it does not make it hers; only the text that she was shown does.
    let digest = digest_in(&ada.get(&format!("{}?edit=1", link.unwrap())).await);
    let name = link.unwrap().strip_prefix("/memory/").unwrap();
    assert_eq!(save(&mut ada, name, &digest, "Twelve eggs.\n").await.status, StatusCode::SEE_OTHER);
    let label = "SELECT label FROM files WHERE cause = 'promote' AND path = 'memory/b-recipe.md'";
    assert_ne!(ada.get(link.unwrap()).await.text.find("From outside: "), None);
    let shown = ada.post(link.unwrap(), &[("act", "promote")]).await;
    assert!(shown.text.contains("Twelve eggs.") && shown.text.contains("name=\"code\""), "{}", shown.text);
    let code = shown.text.split("name=\"code\" value=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    let wrong = ada.post(link.unwrap(), &[("act", "promote"), ("code", "0123456789")]).await;
    assert_eq!(wrong.status, StatusCode::CONFLICT, "{}", wrong.text);
    let done = ada.post(link.unwrap(), &[("act", "promote"), ("code", &code)]).await;
    assert!(done.text.contains("is yours now"), "{}", done.text);
    assert_eq!(story.text(label), "trusted");
    let plan = ada.get("/memory/plans/%3Ci%3Ea%20b").await.text;
    assert!(plan.contains("Later.") && !plan.contains("<i>a"), "{plan}");
    // Others have their own, and nothing of hers.
    let mut ben = Browser::of(story.app(), "Ben").await;
    assert!(!ben.get("/memory").await.text.contains("Used most"));
    for (words, uses) in [("black", 2), ("green", 1)] {
        let key = story.text(&format!("SELECT key FROM entries WHERE text LIKE '%{words}%' AND kind = 'fact' LIMIT 1"));
        for _ in 0..uses {
            story.app().index.used(std::slice::from_ref(&key)).await.unwrap();
        }
    }
    let used = ada.get("/memory").await.text;
    let used = used.split("Used most").nth(1).unwrap_or_default();
    assert!(used.contains("black") && used.contains("<td class=\"number\">2</td><td><time datetime="), "{used}");
    let own = ben.get("/memory").await.text;
    assert!(
        own.contains("Used most") && own.contains(&canary(BEN)) && !own.contains(&canary(ADA)) && !own.contains("pets"),
        "{own}"
    );
    for path in [
        "/memory/pets",
        "/memory/pets?edit=1",
        "/memory/..%2F..%2FMEMORY%2Fpets",
        "/memory/people%2F1-ada%2Fmemory%2Fpets",
    ] {
        assert_eq!(ben.get(path).await.status, StatusCode::NOT_FOUND, "{path}");
    }
    let before = story.reads(PETS);
    let theirs = save(&mut ben, "pets", "", "Mine.\n").await;
    assert_eq!((theirs.status, story.reads(PETS)), (StatusCode::SEE_OTHER, before), "a note of his own");
    story.end().await;
}

/// Proves: page/memory
#[tokio::test]
async fn each_part_of_the_memory_is_shown() {
    let (story, ada) = with_note("Cat: Tom\n").await;
    for heading in ["Your own words", "What the assistant took down", "Not read, not searched"] {
        assert!(!ada.get("/memory").await.text.contains(heading), "{heading}");
    }
    story.writes("memory/MEMORY.md", "## About me\n\nI sail on Sundays.\n");
    story.writes("agents/compline/memory.md", "## Insights\n\n- **Boat**: the Albatross (2026-11-01)\n");
    std::fs::write(story.path_of("USER.md"), [0xff, 0xfe]).unwrap();
    let page = ada.get("/memory").await.text;
    let part = |heading: &str| {
        let part = page.split(&format!("<h2>{heading}</h2>")).nth(1).unwrap_or_else(|| panic!("{heading}: {page}"));
        part.split("</section>").next().unwrap().to_owned()
    };
    let own = part("Your own words");
    assert!(own.contains("<h3>About me</h3>") && own.contains("I sail on Sundays."), "{own}");
    let taken = part("What the assistant took down");
    for shown in ["href=\"/memory/agents/compline/memory\"", "<meter", "<bdi>Boat</bdi>", "<bdi>the Albatross</bdi>"] {
        assert!(taken.contains(shown), "{shown} is missing in {taken}");
    }
    assert!(part("Not read, not searched").contains("<bdi>USER.md</bdi>: "), "{page}");
    let limits = "takes notes after every 10 turns and at the end of a conversation. A prompt holds up to 2000 tokens";
    assert!(page.contains(limits), "{page}");
    assert!(!Browser::of(story.app(), "Ben").await.get("/memory").await.text.contains("takes notes after"));
    story.end().await;
}

/// Proves: page/memory-edit
#[tokio::test]
async fn a_note_that_a_field_would_change_has_no_field() {
    let (story, ada) = with_note("Cat:\tTom\r\n").await;
    assert!(ada.get("/memory/pets?edit=1").await.text.contains("<textarea"));
    for text in ["Cat: \u{1b}Tom\n", "Cat: \0Tom\n"] {
        story.writes(PETS, text);
        let page = ada.get("/memory/pets?edit=1").await.text;
        assert!(page.contains("characters that a field of a browser would change"), "{page}");
        assert!(!page.contains("<textarea"), "{page}");
    }
    story.end().await;
}

/// Promise (memory/versions-end): A list of versions says when there are older ones that it does not
/// list.
#[tokio::test]
async fn a_long_history_says_where_it_ends() {
    let (story, ada) = with_note("Cat: Tom\n").await;
    story.say(ADA, "/memory history pets").await;
    let ends = "Only the newest 200 versions are listed";
    let last = async || ada.each_page("/memory/pets").await.pop().unwrap().text;
    assert!(!last().await.contains(ends));
    let insert = "WITH RECURSIVE n(at) AS (SELECT 1 UNION ALL SELECT at + 1 FROM n WHERE at < 250)
         INSERT INTO files (path, digest, label, scope, written_at)
         SELECT 'memory/pets.md', 'd' || at, 'trusted', 'person:1', 7 FROM n";
    rusqlite::Connection::open(story.home.join("compline.db")).unwrap().execute_batch(insert).unwrap();
    let pages = ada.each_page("/memory/pets").await;
    let told: Vec<bool> = pages.iter().map(|page| page.text.contains(ends)).collect();
    assert!(told.len() > 1 && told.iter().rposition(|told| !told) == Some(told.len() - 2), "{told:?}");
    assert!(
        ada.get("/files/memory/pets.md").await.text.contains("There are other versions, whose texts are not kept.")
    );
    story.end().await;
}

/// Proves: page/memory
#[tokio::test]
async fn a_note_is_forgotten_after_it_was_shown_what_goes() {
    let (story, mut ada) = with_note("Cat: Tom\n").await;
    let page = ada.get("/memory/pets").await.text;
    let command = page.split("name=\"command\" value=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    let plan = ada.post("/act", &[("command", &command)]).await.text;
    assert!(story.file(PETS).is_some() && plan.contains("pets"), "{plan}");
    assert!(plan.contains("<h1>Not done yet</h1>"), "{plan}");
    let confirm = plan.split("name=\"command\" value=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    let done = ada.post("/act", &[("command", &confirm)]).await.text;
    assert!(story.file(PETS).is_none() && done.contains("<h1>Done</h1>"), "{done}");
    let refused = ada.post("/act", &[("command", "/reminders cancel 9")]).await;
    assert_eq!(refused.status, StatusCode::CONFLICT, "{}", refused.text);
    assert!(refused.text.contains("<h1>Not done</h1>"), "{}", refused.text);
    story.end().await;
}

#[tokio::test]
async fn every_note_is_listed_once_page_by_page() {
    let story = Story::with(SERVED).await;
    let (notes, days) = (120, 12);
    for n in 0..notes {
        story.writes(&format!("memory/n{n:03}.md"), &format!("# Number {n}\n\nWords.\n"));
    }
    for day in 1..=days {
        story.writes(&format!("memory/2026-10-{day:02}.md"), "Rain.\n");
    }
    story.say(ADA, "Hello").await;
    let ada = Browser::of(story.app(), "Ada").await;
    let (mut next, mut pages) = (Some("/memory".to_owned()), Vec::new());
    while let Some(path) = next {
        let page = ada.get(&path).await.text;
        let link = page.split("href=\"/memory?after=").nth(1).and_then(|rest| rest.split('"').next());
        next = link.map(|after| format!("/memory?after={after}"));
        pages.push(page);
    }
    assert_eq!(pages.len(), 3);
    let times = |path: String| {
        pages.iter().map(|page| page.matches(&format!("href=\"/memory/{path}\"")).count()).sum::<usize>()
    };
    let not_once: Vec<usize> = (0..notes).filter(|n| times(format!("n{n:03}")) != 1).collect();
    assert_eq!(not_once, [0_usize; 0]);
    assert_eq!((1..=days).map(|day| times(format!("2026-10-{day:02}"))).sum::<usize>(), days);
    assert!(pages[0].contains("Number 0") && pages[0].contains("Earlier days") && !pages[1].contains("Rain"));
}
