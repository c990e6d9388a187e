//! People on the page: codes for pairing, strangers, removal and hand-over, each as its command
//! does it and not twice.

use std::collections::BTreeSet;

use reqwest::StatusCode;

use crate::support::browser::{Browser, Page, SERVED};
use crate::support::channel::{Channel, Start};
use crate::support::signal::FakeSignal;
use crate::support::story::{ADA, BEN, EVE, StoryOver};
use crate::support::telegram::FakeTelegram;

type Story = StoryOver<FakeTelegram>;

const CARL: i64 = 1003;
const FAMILY: i64 = -100_200;

/// The pairing code that a page shows.
fn code_in(page: &Page) -> String {
    let is_code = |word: &&str| word.len() == 9 && word.as_bytes()[4] == b'-' && word.to_uppercase() == **word;
    let mut words = page.text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
    words.find(is_code).unwrap_or_else(|| panic!("no code in {}", page.text)).to_owned()
}

async fn pair(browser: &mut Browser, name: &str, role: &str) -> Page {
    browser.post("/people", &[("act", "pair"), ("name", name), ("role", role)]).await
}

fn number_of<C: Channel>(story: &StoryOver<C>, name: &str) -> i64 {
    story.count(&format!("SELECT max(id) FROM people WHERE name = '{name}'"))
}

/// Lets someone in with a code of the page.
async fn lets_in(story: &Story, ada: &mut Browser, person: i64, name: &str, role: &str) -> i64 {
    story.fake.meet(person, name);
    let code = code_in(&pair(ada, name, role).await);
    story.say(person, &code).await;
    number_of(story, name)
}

async fn pairing_lets_someone_in<C: Start>() {
    let story = StoryOver::<C>::with(SERVED).await;
    story.say(ADA, "Hello").await;
    let mut ada = Browser::of(story.app(), "Ada").await;
    let page = pair(&mut ada, "Zoe", "member").await;
    assert!(page.text.contains("A code for Zoe") && page.text.contains("10 minutes"), "{}", page.text);
    // A code is drawn where a link opens the chat.
    assert_eq!(page.text.contains("<svg class=\"qr\""), story.fake.name() == "telegram", "{}", page.text);
    assert!(page.text.contains("/start "), "{}", page.text);
    let first = code_in(&page);
    // The form once more: one code counts.
    let second = code_in(&pair(&mut ada, "Zoe", "member").await);
    story.say(EVE, &first).await;
    assert!(story.last_received_by(EVE).starts_with("That code is not valid."), "{}", story.last_received_by(EVE));
    story.say(EVE, &second).await;
    let zoe = number_of(&story, "Zoe");
    assert_eq!(story.count(&format!("SELECT count(*) FROM addresses WHERE person_id = {zoe}")), 1);
    assert_eq!(story.count("SELECT count(*) FROM people WHERE name = 'Zoe'"), 1);
    let list = ada.get("/people").await.text;
    let row = list.split_once(&format!("href=\"/people/{zoe}\"")).expect(&list).1.split("</li>").next().unwrap();
    assert!(row.contains("member, by pairing") && row.contains("last wrote"), "{row}");
    assert!(row.to_lowercase().contains(story.fake.name()), "with the address: {row}");
    story.end().await;
}

/// Promise (page/pairing): On the page owners make a code that lets a person in from any channel,
/// shown once, as text and as a QR code; a form that is sent twice leaves one code that counts.
#[tokio::test]
async fn a_code_of_the_page_lets_someone_in_on_telegram() {
    pairing_lets_someone_in::<FakeTelegram>().await;
}

/// Proves: page/pairing
#[tokio::test]
async fn a_code_of_the_page_lets_someone_in_on_signal() {
    pairing_lets_someone_in::<FakeSignal>().await;
}

/// Proves: page/pairing
#[tokio::test]
async fn a_name_that_was_used_before_is_asked_about() {
    let story = Story::with(SERVED).await;
    story.say(ADA, "Hello").await;
    let mut ada = Browser::of(story.app(), "Ada").await;
    let carl = lets_in(&story, &mut ada, CARL, "Carl", "member").await;
    let page = format!("/people/{carl}");
    assert_eq!(ada.post(&page, &[("act", "remove")]).await.status, StatusCode::OK);
    let codes = || story.count("SELECT count(*) FROM pairing_codes");
    let before = codes();
    let asked = pair(&mut ada, "carl", "member").await;
    assert!(asked.text.contains("Is this the same person, or someone else?") && codes() == before, "{}", asked.text);
    assert!(asked.text.contains(&format!("name=\"means\" value=\"{carl}\"")), "{}", asked.text);
    let form = [("act", "pair"), ("name", "carl"), ("role", "member")];
    let same = ada.post("/people", &[&form[..], &[("means", &*carl.to_string())]].concat()).await;
    story.say(EVE, &code_in(&same)).await;
    assert_eq!(story.count(&format!("SELECT removed_at IS NULL FROM people WHERE id = {carl}")), 1);
    // The question was answered already: nobody is let in twice.
    let late = ada.post("/people", &[&form[..], &[("means", "new")]].concat()).await;
    assert!(late.text.contains("already has access"), "{}", late.text);
    for (name, means) in [("guest", ""), ("<b>", ""), ("Zoe", "99"), ("Zoe", "x")] {
        let refused =
            ada.post("/people", &[("act", "pair"), ("name", name), ("role", "owner"), ("means", means)]).await;
        assert!(refused.status.is_client_error() && !refused.text.contains("<b>"), "{name}: {}", refused.text);
    }
    story.end().await;
}

/// Promise (page/removal): Before an owner revokes access on the page, it says what that does; the
/// person is signed out at once, and a form that is sent twice or late changes nothing.
#[tokio::test]
async fn a_removal_says_what_it_does_and_signs_out() {
    let story = Story::with(SERVED).await;
    story.say(ADA, "Hello").await;
    let mut ada = Browser::of(story.app(), "Ada").await;
    let carl = lets_in(&story, &mut ada, CARL, "Carl", "member").await;
    let theirs = Browser::of(story.app(), "Carl").await;
    assert!(theirs.get("/").await.status.is_success());
    let path = format!("/people/{carl}");
    let page = ada.get(&path).await.text;
    assert!(page.contains("Carl can no longer write to the assistant or sign in"), "{page}");
    assert!(page.contains("Their browser is signed out.") && page.contains("Revoke the access of Carl"), "{page}");
    let done = ada.post(&path, &[("act", "remove")]).await;
    assert!(done.status == StatusCode::OK && done.text.contains("no longer has access"), "{}", done.text);
    assert_eq!(theirs.get("/").await.leads_to(), "/login");
    story.say(CARL, "hello?").await;
    assert_eq!(story.count(&format!("SELECT count(*) FROM addresses WHERE person_id = {carl}")), 0);
    for act in [("act", "remove"), ("act", "handover"), ("act", "unlink")] {
        let late = ada.post(&path, &[act]).await;
        assert_eq!(late.status, StatusCode::CONFLICT, "{}", late.text);
        assert!(late.text.contains("Nothing was changed: this person has no access any more."), "{}", late.text);
    }
    assert_eq!(ada.get(&path).await.status, StatusCode::NOT_FOUND);
    // Who stands in the configuration is removed there.
    let ben = ada.get("/people/2").await.text;
    assert!(ben.contains("configuration") && !ben.contains("value=\"remove\""), "{ben}");
    let refused = ada.post("/people/2", &[("act", "remove")]).await;
    assert_eq!(refused.status, StatusCode::CONFLICT, "{}", refused.text);
    assert_eq!(story.count("SELECT removed_at IS NULL FROM people WHERE id = 2"), 1);
    story.end().await;
}

/// Promise (page/strangers): Who wrote without access stands on the page with their address and the
/// name that the channel tells, marked as coming from outside, until an owner lets them in or
/// ignores them, once.
#[tokio::test]
async fn a_stranger_is_let_in_or_ignored_on_the_page() {
    let story = Story::with(SERVED).await;
    story.say(ADA, "Hello").await;
    story.fake.meet(CARL, "<b>Carl</b>");
    story.say(EVE, "May I come in?").await;
    story.say(CARL, "And I?").await;
    let mut ada = Browser::of(story.app(), "Ada").await;
    let page = ada.get("/people").await.text;
    assert!(page.contains("From outside: ") && page.contains("6666") && page.contains("Eve"), "{page}");
    assert!(!page.contains("<b>Carl") && page.contains("&lt;b&gt;Carl"), "{page}");
    let number = |peer: i64| story.count(&format!("SELECT id FROM strangers WHERE sender = '{peer}'")).to_string();
    let (eve, carl) = (number(EVE), number(CARL));
    let admit = [("act", "admit"), ("id", eve.as_str()), ("name", "Eve"), ("role", "member")];
    assert!(ada.post("/people", &admit).await.text.contains("now has access as member"));
    let again = ada.post("/people", &admit).await;
    assert!(
        again.status == StatusCode::CONFLICT && again.text.contains("No stranger has the number"),
        "{}",
        again.text
    );
    assert_eq!(story.count("SELECT count(*) FROM people WHERE name = 'Eve'"), 1);
    assert_eq!(ada.post("/people", &[("act", "ignore"), ("id", &carl)]).await.status, StatusCode::OK);
    assert_eq!(ada.post("/people", &[("act", "ignore"), ("id", &carl)]).await.status, StatusCode::CONFLICT);
    let page = ada.get("/people").await.text;
    assert!(page.contains("Nobody without access has written.") && !page.contains("&lt;b&gt;Carl"), "{page}");
    assert_eq!(story.count(&format!("SELECT name = '' FROM strangers WHERE id = {carl}")), 1);
    story.end().await;
}

/// Proves: page/removal
#[tokio::test]
async fn an_address_is_unlinked_and_the_workspace_handed_over() {
    let story = Story::with(SERVED).await;
    story.say(ADA, "Hello").await;
    let mut ada = Browser::of(story.app(), "Ada").await;
    let carl = lets_in(&story, &mut ada, CARL, "Carl", "owner").await;
    let path = format!("/people/{carl}");
    let page = ada.get(&path).await.text;
    assert!(page.contains("The root of the workspace belongs to Ada.") && !page.contains("/people handover"), "{page}");
    story.say(CARL, "Hello").await;
    let done = ada.post(&path, &[("act", "handover")]).await;
    assert!(done.text.contains("belongs to Carl from now on"), "{}", done.text);
    let again = ada.post(&path, &[("act", "handover")]).await;
    assert!(again.status == StatusCode::CONFLICT && again.text.contains("belongs to Carl already"), "{}", again.text);
    let address = story.count(&format!("SELECT id FROM addresses WHERE person_id = {carl}")).to_string();
    let other = story.count("SELECT id FROM addresses WHERE person_id = 2").to_string();
    let form = |id: &str| [("act".to_owned(), "unlink".to_owned()), ("id".to_owned(), id.to_owned())];
    for (id, status) in [(&other, StatusCode::CONFLICT), (&address, StatusCode::OK), (&address, StatusCode::CONFLICT)] {
        let form = form(id);
        let form: Vec<(&str, &str)> = form.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let page = ada.post(&path, &form).await;
        assert_eq!(page.status, status, "{}", page.text);
    }
    assert_eq!(story.count("SELECT count(*) FROM addresses WHERE person_id = 2"), 1);
    story.stop_here().await;
}

#[tokio::test]
async fn groups_stand_with_the_people_who_wrote_there() {
    let story = Story::with(&format!("{SERVED}[groups]\nallowed = [\"telegram:{FAMILY}\"]\n")).await;
    story.fake.group(FAMILY, "The family");
    story.fake.says_in(FAMILY, BEN, &format!("@{} how many eggs?", story.fake.bot_username()));
    story.answered().await;
    let ada = Browser::of(story.app(), "Ada").await;
    let groups = async |person: i64| {
        let page = ada.get(&format!("/people/{person}")).await.text;
        page.split("Groups with their latest messages").nth(1).map(|part| part.contains(&FAMILY.to_string()))
    };
    let (theirs, others) = (number_of(&story, "Ben"), number_of(&story, "Ada"));
    assert_eq!((groups(theirs).await, groups(others).await), (Some(true), None));
    story.end().await;
}

/// Proves: operation/next-page
#[tokio::test]
async fn people_and_strangers_are_listed_page_by_page() {
    let story = Story::with(SERVED).await;
    story.say(ADA, "Hello").await;
    let ada = Browser::of(story.app(), "Ada").await;
    {
        let journal = rusqlite::Connection::open(story.home.join("compline.db")).unwrap();
        for number in 0..55 {
            let (role, at) = (if number % 9 == 0 { "owner" } else { "member" }, number / 2);
            let person = "INSERT INTO people (name, role, declared, created_at) VALUES (?1, ?2, 'pairing', 1)";
            journal.execute(person, (format!("Guest {number}"), role)).unwrap();
            let stranger = "INSERT INTO strangers (adapter, account, sender, first_at, last_at) VALUES ('telegram', 'b', ?1, 1, ?2)";
            journal.execute(stranger, (format!("s{number}"), at)).unwrap();
        }
    }
    for (begin, mark, expected) in [("/people", "class=\"title\" href=\"/people/", 57), ("/people", "<bdi>s", 55)] {
        let (mut seen, mut path, mut shown) = (BTreeSet::new(), begin.to_owned(), 0);
        loop {
            let text = ada.get(&path).await.text;
            let found: Vec<String> =
                text.split(mark).skip(1).map(|part| part.split(['"', '<']).next().unwrap().to_owned()).collect();
            let next = if mark.starts_with('<') { "href=\"/people?strangers=" } else { "href=\"/people?before=" };
            shown += found.len();
            seen.extend(found);
            match text.split(next).nth(1) {
                Some(rest) => {
                    let place = rest.split('"').next().unwrap();
                    path = format!("{}{place}", next.trim_start_matches("href=\""));
                    // Meanwhile the last stranger writes again, and the last person becomes an
                    // owner.
                    let number = place.split_once('-').unwrap().1;
                    let journal = rusqlite::Connection::open(story.home.join("compline.db")).unwrap();
                    let change = match mark.starts_with('<') {
                        true => "UPDATE strangers SET last_at = 100 WHERE id = ?1",
                        false => "UPDATE people SET role = 'owner' WHERE id = ?1",
                    };
                    assert_eq!(journal.execute(change, [number]).unwrap(), 1);
                }
                None => break,
            }
        }
        assert_eq!((seen.len(), shown), (expected, expected), "{mark}");
    }
    story.say(ADA, "/people").await;
    let told = story.last_received_by(ADA);
    assert!(!told.contains("Guest 53"), "{told}");
    let more = |told: &str, start: &str| {
        told.lines()
            .find_map(|line| line.strip_prefix("More: ").filter(|next| next.starts_with(start)))
            .map(str::to_owned)
    };
    story.say(ADA, &more(&told, "/people before ").unwrap()).await;
    let rest = story.last_received_by(ADA);
    assert!(rest.contains("Guest 53") && !rest.contains("/people admit"), "{rest}");
    let (mut listed, mut next) = (BTreeSet::new(), more(&told, "/people strangers before "));
    assert_eq!(told.matches("/people admit").count(), 5, "{told}");
    while let Some(command) = next {
        story.say(ADA, &command).await;
        let told = story.last_received_by(ADA);
        listed.extend(told.split("/people admit ").skip(1).map(|part| part.split(' ').next().unwrap().to_owned()));
        next = more(&told, "/people strangers before ");
    }
    assert_eq!(listed.len(), 50);
    story.end().await;
}
