//! Access over time: codes name their issuer, identity follows the address and never the name, and
//! owners are notified of each newcomer and can undo it.

use std::time::Duration;

use compline::time::Clock;
use serde_json::json;

use crate::support::channel::Channel;
use crate::support::every_channel::{Story, TestChannel, on_every_channel};
use crate::support::story::{ADA, BEN, EVE};
use crate::support::web::Web;

on_every_channel! {
    stories:
        codes_of_a_removed_person_admit_no_one,
        a_code_made_before_the_configuration_demotes_makes_no_owner,
        codes_of_a_forgotten_owner_create_no_nameless_owner,
        every_owner_is_notified_of_a_newcomer_and_can_undo_it,
        every_owner_is_notified_of_a_new_address_and_can_undo_it,
        an_owners_new_address_is_announced_at_their_old_one,
        pairing_the_name_of_a_removed_person_asks_same_or_new,
        a_new_person_with_an_old_name_sees_none_of_the_old_messages,
        the_same_person_gets_their_words_back,
        a_person_renamed_in_the_configuration_keeps_their_identity,
        a_new_address_in_the_configuration_is_a_new_person_until_joined,
        an_owner_who_is_locked_out_gets_back_in_on_the_computer,
        an_open_question_of_a_removed_person_cannot_be_answered;
}

const CARL: i64 = 1003;
const MALLORY: i64 = 1007;
/// Ada's new address after a change.
const ELSEWHERE: i64 = 1009;
const NINE_MINUTES: Duration = Duration::from_secs(9 * 60);
/// Secret from an earlier conversation, visible only to its sender.
const OAK: &str = "the treasure lies under the oak";

/// Number of codes that are still usable.
fn open_codes(story: &Story) -> i64 {
    let now = story.clock.now().0;
    story.count(&format!("SELECT count(*) FROM pairing_codes WHERE used_at IS NULL AND expires_at > {now}"))
}

fn code_in(words: &str) -> Option<String> {
    let is_code = |word: &&str| word.len() == 9 && word.as_bytes()[4] == b'-' && word.to_uppercase() == **word;
    words.split(|c: char| !c.is_ascii_alphanumeric() && c != '-').find(is_code).map(str::to_owned)
}

/// Pairing code in the answer to `line`.
async fn code(story: &Story, person: i64, line: &str) -> String {
    story.say(person, line).await;
    let heard = story.last_received_by(person);
    code_in(&heard).unwrap_or_else(|| panic!("no code in {heard:?}"))
}

/// Number directly after `before`.
fn number_after(words: &str, before: &str) -> i64 {
    let rest = words.split_once(before).unwrap_or_else(|| panic!("no {before:?} in {words:?}")).1;
    rest.chars().take_while(char::is_ascii_digit).collect::<String>().parse().unwrap()
}

async fn prepared(channel: TestChannel) -> Story {
    let story = channel.prepare_story("");
    for (person, name) in [(CARL, "Carl"), (MALLORY, "Mallory"), (ELSEWHERE, "Ada")] {
        story.fake.meet(person, name);
    }
    story
}

/// Starts with two owners who have both written: Ada by configuration, Carl by a code.
async fn with_carl(channel: TestChannel) -> Story {
    let mut story = prepared(channel).await;
    story.start().await;
    story.say(ADA, "hello").await;
    let code = code(&story, ADA, "/pair Carl owner").await;
    story.say(CARL, &code).await;
    story.say(CARL, "hello").await;
    story
}

async fn is_refused(story: &Story, person: i64, code: &str) {
    let before = story.count("SELECT count(*) FROM people WHERE removed_at IS NULL");
    story.say(person, code).await;
    assert_eq!(story.count("SELECT count(*) FROM people WHERE removed_at IS NULL"), before, "{code} let somebody in");
    assert!(
        story.last_received_by(person).starts_with("That code is not valid."),
        "{}",
        story.last_received_by(person)
    );
}

/// Promise (people/void-code): A pairing code is void once its maker has been removed, demoted or
/// forgotten, and a newer code voids the older one.
async fn codes_of_a_removed_person_admit_no_one(channel: TestChannel) {
    let story = with_carl(channel).await;
    let mut codes = Vec::new();
    for _ in 0..3 {
        codes.push(code(&story, CARL, "/link").await);
        story.pass(NINE_MINUTES).await;
    }
    assert_eq!(open_codes(&story), 1, "a newer one voids the older");
    codes.push(code(&story, CARL, "/link").await);
    codes.push(code(&story, CARL, "/pair Mallory owner").await);
    story.say(ADA, "/remove Carl").await;
    assert_eq!(open_codes(&story), 0);
    for code in codes.iter().rev().take(4) {
        is_refused(&story, EVE, code).await;
    }
    is_refused(&story, CARL, codes.last().unwrap()).await;
    story.end().await;
}

/// Proves: people/void-code
async fn a_code_made_before_the_configuration_demotes_makes_no_owner(channel: TestChannel) {
    for role in ["owner", "member"] {
        let mut story = prepared(channel).await;
        story.name(&[("Ada", "owner", ADA), ("Carl", "owner", CARL)]);
        story.start().await;
        let made = code(&story, CARL, "/pair Mallory owner").await;
        story.stop().await;
        story.name(&[("Ada", "owner", ADA), ("Carl", role, CARL)]);
        story.start().await;
        story.say(EVE, &made).await;
        let owners = story.count("SELECT count(*) FROM people WHERE name = 'Mallory' AND role = 'owner'");
        assert_eq!(owners, i64::from(role == "owner"), "made by Carl, who is {role} now");
        story.end().await;
    }
}

/// Proves: people/void-code
async fn codes_of_a_forgotten_owner_create_no_nameless_owner(channel: TestChannel) {
    let story = with_carl(channel).await;
    let codes = [code(&story, CARL, "/link").await, code(&story, CARL, "/pair Zoe owner").await];
    let answer = story.command_line(&["forget", "Carl", "--yes"]).await;
    assert!(!answer.failed, "{}", answer.markdown);
    for code in &codes {
        is_refused(&story, EVE, code).await;
    }
    assert_eq!(story.text("SELECT group_concat(name) FROM people WHERE removed_at IS NULL"), "Ada,Ben");
    story.end().await;
}

/// Promise (people/newcomers): Every owner is told of each newcomer and each new address, and can
/// undo either with one command.
async fn every_owner_is_notified_of_a_newcomer_and_can_undo_it(channel: TestChannel) {
    let story = with_carl(channel).await;
    let made = code(&story, ADA, "/pair Zoe").await;
    story.say(EVE, &made).await;
    for owner in [ADA, CARL] {
        let told = story.last_received_by(owner);
        assert!(told.contains("Zoe") && told.contains("Ada made") && told.contains("/remove Zoe"), "{owner}: {told}");
    }
    assert!(!story.received_by(BEN).join("\n").contains("Zoe"), "a member is not told");
    story.say(CARL, "/remove Zoe").await;
    let answered = story.model.chats().len();
    story.say(EVE, "hello?").await;
    assert_eq!(story.model.chats().len(), answered, "she is a stranger again");
    story.end().await;
}

/// Proves: people/newcomers
async fn every_owner_is_notified_of_a_new_address_and_can_undo_it(channel: TestChannel) {
    let story = with_carl(channel).await;
    let made = code(&story, BEN, "/link").await;
    story.say(EVE, &made).await;
    for owner in [ADA, CARL] {
        let told = story.last_received_by(owner);
        assert!(told.contains("Ben") && told.contains("/people unlink"), "{owner}: {told}");
    }
    let number = number_after(&story.last_received_by(ADA), "/people unlink ");
    let open = code(&story, EVE, "/link").await;
    story.say(ADA, &format!("/people unlink {number}")).await;
    assert!(story.last_received_by(ADA).contains("no longer linked to Ben"), "{}", story.last_received_by(ADA));
    let answered = story.model.chats().len();
    story.say(EVE, "hello?").await;
    assert_eq!(story.model.chats().len(), answered, "she is a stranger again");
    is_refused(&story, EVE, &open).await;
    story.say(BEN, "hello").await;
    assert_eq!(story.last_received_by(BEN), "ok", "he is still in");
    story.say(ADA, &format!("/people unlink {number}")).await;
    assert!(story.last_received_by(ADA).starts_with("No address"), "{}", story.last_received_by(ADA));
    story.end().await;
}

/// Proves: people/newcomers
async fn an_owners_new_address_is_announced_at_their_old_one(channel: TestChannel) {
    let story = with_carl(channel).await;
    let made = code(&story, CARL, "/link").await;
    story.say(EVE, &made).await;
    let told = story.last_received_by(CARL);
    assert!(told.contains("/people unlink"), "{told}");
    story.end().await;
}

/// Admits Mallory by a code, lets her write one message and removes her.
async fn mallory_was_here(channel: TestChannel) -> Story {
    let story = with_carl(channel).await;
    let made = code(&story, ADA, "/pair Mallory").await;
    story.say(MALLORY, &made).await;
    story.say(MALLORY, OAK).await;
    story.say(ADA, "/remove Mallory").await;
    story
}

/// Exported archive of Mallory's data.
async fn exported(story: &Story) -> Vec<u8> {
    let file = story.home.join("mallory.zip");
    let answer = story.command_line(&["export", "Mallory", file.to_str().unwrap()]).await;
    assert!(!answer.failed, "{}", answer.markdown);
    std::fs::read(file).unwrap()
}

/// Promise (people/same-name): If a new person has the name of a removed one, Compline asks which
/// it is before it issues a code: the same person gets their old messages back, a different one
/// gets none.
async fn pairing_the_name_of_a_removed_person_asks_same_or_new(channel: TestChannel) {
    let story = mallory_was_here(channel).await;
    story.say(ADA, "/pair mallory").await;
    let asked = story.last_received_by(ADA);
    assert!(asked.contains("same person") && asked.contains("/pair #4 member same"), "{asked}");
    assert_eq!((code_in(&asked), open_codes(&story)), (None, 0), "until it is answered there is no code");
    let line = ["people", "pair", "Mallory", "member"];
    let asked = story.command_line(&line).await;
    assert!(asked.failed && asked.markdown.contains("--same-as 4"), "{}", asked.markdown);
    assert_eq!(asked.json["same_or_new"][0]["id"], json!(4));
    assert!(!story.command_line(&[&line[..], &["--new"]].concat()).await.failed);
    assert!(story.command_line(&[&line[..], &["--same-as", "3"]].concat()).await.failed, "that is Carl");
    assert!(!story.command_line(&[&line[..], &["--same-as", "4"]].concat()).await.failed);
    story.end().await;
}

/// Proves: people/same-name
async fn a_new_person_with_an_old_name_sees_none_of_the_old_messages(channel: TestChannel) {
    let story = mallory_was_here(channel).await;
    let made = code(&story, ADA, "/pair #4 member new").await;
    story.say(EVE, &made).await;
    story.say(EVE, "what did I say?").await;
    assert!(!story.model.last_prompt().contains(OAK), "{}", story.model.last_prompt());
    assert!(!exported(&story).await.windows(OAK.len()).any(|words| words == OAK.as_bytes()));
    story.say(EVE, "/memory search treasure").await;
    assert!(!story.last_received_by(EVE).contains("oak"), "{}", story.last_received_by(EVE));
    assert_eq!(story.count("SELECT count(*) FROM texts WHERE scope = 'person:5' AND text LIKE '%oak%'"), 0);
    story.end().await;
}

/// Proves: people/same-name
async fn the_same_person_gets_their_words_back(channel: TestChannel) {
    let story = mallory_was_here(channel).await;
    let made = code(&story, ADA, "/pair #4 member same").await;
    story.say(EVE, &made).await;
    story.say(EVE, "what did I say?").await;
    assert!(story.model.last_prompt().contains(OAK), "{}", story.model.last_prompt());
    assert!(exported(&story).await.windows(OAK.len()).any(|words| words == OAK.as_bytes()));
    assert_eq!(story.count("SELECT count(*) FROM people WHERE name = 'Mallory'"), 1);
    story.end().await;
}

/// Promise (people/configured-address): In the configuration the address identifies the person:
/// renaming changes nothing, and a known name with a new address counts as a new person until an
/// owner joins the two.
async fn a_person_renamed_in_the_configuration_keeps_their_identity(channel: TestChannel) {
    let mut story = prepared(channel).await;
    story.name(&[("Ada", "owner", ADA), ("Carl", "owner", CARL)]);
    story.start().await;
    story.say(ADA, OAK).await;
    story.say(CARL, "hello").await;
    story.stop().await;
    story.name(&[("Ada L", "owner", ADA), ("Carl", "owner", CARL)]);
    story.start().await;
    story.say(ADA, "what did I say?").await;
    assert!(story.model.last_prompt().contains(OAK));
    let people = "SELECT group_concat(id || name) FROM (SELECT * FROM people WHERE removed_at IS NULL ORDER BY id)";
    assert_eq!(story.text(people), "1Ada L,2Carl");
    story.stop().await;
    // Swapped names: each name follows its address.
    story.name(&[("Carl", "owner", ADA), ("Ada L", "owner", CARL)]);
    story.start().await;
    assert_eq!(story.text(people), "1Carl,2Ada L");
    story.say(CARL, "what did I say?").await;
    assert!(!story.model.last_prompt().contains(OAK));
    story.end().await;
}

/// Proves: people/configured-address
async fn a_new_address_in_the_configuration_is_a_new_person_until_joined(channel: TestChannel) {
    let mut story = prepared(channel).await;
    story.name(&[("Ada", "owner", ADA), ("Carl", "owner", CARL)]);
    story.start().await;
    story.say(ADA, OAK).await;
    story.say(CARL, "hello").await;
    story.stop().await;
    story.name(&[("Ada", "owner", ELSEWHERE), ("Carl", "owner", CARL)]);
    story.start().await;
    story.answered().await;
    let told = story.last_received_by(CARL);
    assert!(told.contains("a new person") && told.contains("/people join 3"), "{told}");
    story.say(ELSEWHERE, "what did I say?").await;
    assert!(!story.model.last_prompt().contains(OAK), "nothing is inherited");
    assert!(
        story.received_by(ELSEWHERE).join("\n").contains("/people join 3"),
        "an owner who comes later is asked too"
    );
    let answered = story.model.chats().len();
    story.say(ADA, "and I?").await;
    assert_eq!(story.model.chats().len(), answered, "the old address is a stranger's");
    story.say(CARL, "/people join 3").await;
    let told = story.last_received_by(CARL);
    assert!(told.contains("same person") && told.contains("people/3-ada/"), "what is read no more is named: {told}");
    let people = "SELECT group_concat(id || name) FROM (SELECT * FROM people WHERE removed_at IS NULL ORDER BY id)";
    assert_eq!(story.text(people), "1Ada,2Carl");
    story.say(ADA, "and now?").await;
    story.restart().await;
    assert_eq!(story.text(people), "1Ada,2Carl", "so it stays");
    assert_eq!(story.count(&format!("SELECT count(*) FROM texts WHERE scope = 'person:1' AND text = '{OAK}'")), 1);
    story.say(ELSEWHERE, "/whoami").await;
    assert!(story.last_received_by(ELSEWHERE).contains("Ada"), "{}", story.last_received_by(ELSEWHERE));
    story.say(CARL, "/people join 3").await;
    assert!(story.last_received_by(CARL).starts_with("There is no earlier person"), "{}", story.last_received_by(CARL));
    story.end().await;
}

/// Promise (people/lockout): If you are locked out, you can restore your owner access from the
/// computer that runs Compline.
async fn an_owner_who_is_locked_out_gets_back_in_on_the_computer(channel: TestChannel) {
    let mut story = prepared(channel).await;
    story.start().await;
    story.say(ADA, OAK).await;
    story.stop().await;
    story.name(&[("Ada", "member", ADA), ("Ben", "member", BEN)]);
    story.start().await;
    let made = story.command_line(&["people", "pair", "Ada", "owner"]).await;
    assert!(!made.failed && made.markdown.contains("wins at the next start"), "{}", made.markdown);
    story.say(ADA, &code_in(&made.markdown).unwrap()).await;
    story.say(ADA, "/people").await;
    assert!(story.last_received_by(ADA).contains("owner"), "{}", story.last_received_by(ADA));
    story.stop().await;
    story.configure_no_people();
    story.start().await;
    assert_eq!(story.count("SELECT count(*) FROM people WHERE removed_at IS NULL"), 0);
    let asked = story.command_line(&["people", "pair", "Ada", "owner"]).await;
    assert!(asked.failed && asked.markdown.contains("--same-as 1"), "{}", asked.markdown);
    let made = story.command_line(&["people", "pair", "Ada", "owner", "--same-as", "1"]).await;
    story.say(ELSEWHERE, &code_in(&made.markdown).unwrap()).await;
    story.say(ELSEWHERE, "what did I say?").await;
    assert!(story.model.last_prompt().contains(OAK));
    let made = story.command_line(&["people", "pair", "Zoe", "owner"]).await;
    story.say(EVE, &code_in(&made.markdown).unwrap()).await;
    assert!(story.last_received_by(EVE).contains("in as owner"), "{}", story.last_received_by(EVE));
    assert!(story.last_received_by(ELSEWHERE).contains("on the computer"), "{}", story.last_received_by(ELSEWHERE));
    story.end().await;
}

/// Promise (people/removed): When a person is removed, their open questions can no longer be
/// answered by anyone.
async fn an_open_question_of_a_removed_person_cannot_be_answered(channel: TestChannel) {
    let web = Web::of(&[("/a", "<p>the page</p>")]).await;
    let mut story = prepared(channel).await;
    story.fetch_through(web.fetcher());
    story.start().await;
    let made = code(&story, ADA, "/pair Carl").await;
    story.say(CARL, &made).await;
    story.model.says("Noted.");
    story.fake.forwards(CARL, EVE, "open http://evil.example/a");
    story.answered().await;
    story.model.calls("web_fetch", json!({ "url": "http://evil.example/a" }));
    story.say(CARL, "what now?").await;
    assert!(story.last_received_by(CARL).contains("/yes 1"), "{}", story.last_received_by(CARL));
    story.say(ADA, "/remove Carl").await;
    assert_eq!(story.text("SELECT state FROM questions WHERE id = 1"), "refused");
    story.say(CARL, "/yes 1").await;
    story.say(ADA, "/yes 1").await;
    let made = code(&story, ADA, "/pair #3 member same").await;
    story.say(CARL, &made).await;
    story.say(CARL, "/yes 1").await;
    assert_eq!(web.connections(), 0);
    story.end().await;
}
