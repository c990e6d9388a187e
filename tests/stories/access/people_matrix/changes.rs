//! Changes to people, one test for each.

use super::*;

/// Configuration entry by name.
fn entry<'a>(people: &'a mut [Entry], name: &str) -> &'a mut Entry {
    people.iter_mut().find(|entry| entry.name == name).unwrap()
}

/// Pairs a newcomer under a name in use before; the owner says which person is meant.
async fn pairs_again(home: &mut HomeOver<impl Start>, whose: &'static str, name: &str, means: &str, newcomer: i64) {
    home.story.say(ADA, &format!("/pair {name}")).await;
    let mut told = home.story.last_received_by(ADA);
    if code_in(&told).is_none() {
        home.story.say(ADA, &format!("/pair #{} member {means}", home.ids[whose])).await;
        told = home.story.last_received_by(ADA);
    }
    let code = code_in(&told).unwrap_or_else(|| panic!("no code in {told:?}"));
    home.story.say(newcomer, &format!("/start {code}")).await;
    assert!(home.story.last_received_by(newcomer).starts_with("Welcome"), "{}", home.story.last_received_by(newcomer));
}

/// Proves: privacy/people-change
#[tokio::test]
async fn before_anything_changes_nothing_crosses() {
    let mut home = Home::lived_in().await;
    home.everybody_looks().await;
    home.everybody_has_their_own().await;
    home.the_command_line_is_that_of("ada").await;
    home.end().await;
}

pub(super) async fn is_renamed<C: Start>(name: &str, new: &'static str) {
    let mut home = HomeOver::<C>::lived_in().await;
    home.configure(|people| entry(people, name).name = new).await;
    home.everybody_looks().await;
    home.everybody_has_their_own().await;
    home.the_command_line_is_that_of("ada").await;
    home.end().await;
}

/// Proves: privacy/people-change
#[tokio::test]
async fn the_first_owner_is_renamed() {
    is_renamed::<FakeTelegram>("Ada", "Adah").await;
}

/// Proves: privacy/people-change
#[tokio::test]
async fn another_owner_is_renamed() {
    is_renamed::<FakeTelegram>("Carl", "Karl").await;
}

/// Proves: privacy/people-change
#[tokio::test]
async fn a_member_is_renamed() {
    is_renamed::<FakeTelegram>("Ben", "Benno").await;
}

/// Proves: privacy/people-change
#[tokio::test]
async fn two_owners_swap_names() {
    let mut home = Home::lived_in().await;
    home.configure(|people| {
        entry(people, "Ada").name = "Somebody";
        entry(people, "Carl").name = "Ada";
        entry(people, "Somebody").name = "Carl";
    })
    .await;
    home.everybody_looks().await;
    home.everybody_has_their_own().await;
    home.the_command_line_is_that_of("ada").await;
    home.end().await;
}

/// Proves: privacy/people-change
#[tokio::test]
async fn the_first_owner_is_demoted() {
    let mut home = Home::lived_in().await;
    home.configure(|people| entry(people, "Ada").role = "member").await;
    home.is_void("ada", "pair").await;
    home.is_void("ada", "link").await;
    home.everybody_looks().await;
    home.everybody_has_their_own().await;
    home.end().await;
}

pub(super) async fn is_removed<C: Start>(name: &str, who: &'static str, address: i64) {
    let mut home = HomeOver::<C>::lived_in().await;
    home.configure(|people| people.retain(|entry| entry.name != name)).await;
    home.is_gone(who);
    home.is_void(who, "link").await;
    if who != "ben" {
        home.is_void(who, "pair").await;
    }
    home.is_a_stranger(address).await;
    home.everybody_looks().await;
    home.everybody_has_their_own().await;
    if who == "ada" {
        home.the_command_line_is_that_of("carl").await;
    }
    home.is_a_stranger(address).await;
    home.end().await;
}

/// Proves: privacy/people-change
#[tokio::test]
async fn the_first_owner_is_removed() {
    is_removed::<FakeTelegram>("Ada", "ada", ADA).await;
}

/// Proves: privacy/people-change
#[tokio::test]
async fn another_owner_is_removed() {
    is_removed::<FakeTelegram>("Carl", "carl", CARL).await;
}

/// Proves: privacy/people-change
#[tokio::test]
async fn a_member_is_removed() {
    is_removed::<FakeTelegram>("Ben", "ben", BEN).await;
}

/// Proves: privacy/people-change
#[tokio::test]
async fn the_first_owner_is_removed_and_comes_back() {
    let mut home = Home::lived_in().await;
    home.configure(|people| people.retain(|entry| entry.name != "Ada")).await;
    home.is_gone("ada");
    home.everybody_looks().await;
    home.configure(|people| people.push(Entry { name: "Ada", role: "owner", address: ADA })).await;
    home.present.insert(ADA, "ada");
    home.everybody_looks().await;
    home.everybody_has_their_own().await;
    home.end().await;
}

pub(super) async fn is_paired_for_somebody_new<C: Start>() {
    let mut home = HomeOver::<C>::lived_in().await;
    home.configure(|people| people.retain(|entry| entry.name != "Ben")).await;
    home.is_gone("ben");
    pairs_again(&mut home, "ben", "Ben", "new", DORA).await;
    home.looks(DORA).await;
    home.everybody_looks().await;
    home.looks(DORA).await;
    home.end().await;
}

/// Promise (privacy/people-change): No private data reaches another person when people are renamed,
/// demoted, removed, readmitted, linked, joined, separated or forgotten, when the workspace changes
/// hands, or after restoring even an old backup. Open requests of people who are gone are void.
#[tokio::test]
async fn the_name_of_a_removed_person_can_be_paired_for_a_new_one() {
    is_paired_for_somebody_new::<FakeTelegram>().await;
}

/// Proves: privacy/people-change
#[tokio::test]
async fn a_removed_name_is_paired_for_the_same_person() {
    let mut home = Home::lived_in().await;
    home.configure(|people| people.retain(|entry| entry.name != "Ben")).await;
    home.is_gone("ben");
    pairs_again(&mut home, "ben", "Ben", "same", BEN_AT_WORK).await;
    home.is_at("ben", BEN_AT_WORK);
    home.everybody_looks().await;
    home.everybody_has_their_own().await;
    home.end().await;
}

/// Renames a person, then gives the new name another address with data of its own. Returns the home
/// and the command that owners are offered to join the two.
async fn comes_from_elsewhere(name: &str, new: &'static str, who: &'static str, asked: i64) -> (Home, String) {
    let mut home = Home::lived_in().await;
    home.configure(|people| entry(people, name).name = new).await;
    home.configure(|people| entry(people, new).address = DORA).await;
    home.story.answered().await;
    let told = home.story.received_by(asked).join("\n");
    home.is_gone(who);
    home.is_at("dora", DORA);
    home.plant("dora", DORA).await;
    let join = format!("/people join {}", home.ids["dora"]);
    assert!(told.contains(&join), "{told}");
    home.looks(DORA).await;
    home.note_what_crossed();
    (home, join)
}

async fn is_joined(name: &str, new: &'static str, (who, address): (&'static str, i64), asked: i64) {
    let (mut home, join) = comes_from_elsewhere(name, new, who, asked).await;
    home.story.say(asked, &join).await;
    assert!(
        home.story.last_received_by(asked).contains("the same person as before"),
        "{}",
        home.story.last_received_by(asked)
    );
    home.is_at(who, DORA);
    home.is_a_stranger(address).await;
    home.everybody_looks().await;
    home.everybody_has_their_own().await;
    home.the_command_line_is_that_of("ada").await;
    home.end().await;
}

/// Proves: privacy/people-change
#[tokio::test]
async fn the_first_owner_is_joined_with_who_they_were() {
    is_joined("Ada", "Adah", ("ada", ADA), CARL).await;
}

/// Proves: privacy/people-change
#[tokio::test]
async fn a_member_is_joined_with_who_they_were() {
    is_joined("Ben", "Benno", ("ben", BEN), ADA).await;
}

/// Proves: privacy/people-change
#[tokio::test]
async fn a_member_is_kept_apart_from_who_bore_the_name() {
    let (mut home, join) = comes_from_elsewhere("Ben", "Benno", "ben", ADA).await;
    home.story.say(ADA, &join.replace("join", "apart")).await;
    assert!(home.story.last_received_by(ADA).contains("a new person"), "{}", home.story.last_received_by(ADA));
    home.story.restart().await;
    home.story.say(ADA, &join).await;
    assert!(
        home.story.last_received_by(ADA).starts_with("There is no earlier"),
        "{}",
        home.story.last_received_by(ADA)
    );
    home.is_a_stranger(BEN).await;
    home.everybody_looks().await;
    home.everybody_has_their_own().await;
    home.end().await;
}

async fn has_another_address(name: &str) {
    let mut home = Home::lived_in().await;
    home.configure(|people| entry(people, name).address = DORA).await;
    home.is_gone(if name == "Ada" { "ada" } else { "ben" });
    home.looks(DORA).await;
    home.everybody_looks().await;
    home.looks(DORA).await;
    home.end().await;
}

/// Proves: privacy/people-change
#[tokio::test]
async fn the_first_owners_name_has_another_address() {
    has_another_address("Ada").await;
}

/// Proves: privacy/people-change
#[tokio::test]
async fn a_members_name_has_another_address() {
    has_another_address("Ben").await;
}

pub(super) async fn is_linked<C: Start>() {
    let mut home = HomeOver::<C>::lived_in().await;
    home.story.say(BEN, "/link").await;
    let code = code_in(&home.story.last_received_by(BEN)).unwrap();
    home.story.say(BEN_AT_WORK, &format!("/start {code}")).await;
    home.is_at("ben", BEN_AT_WORK);
    home.everybody_looks().await;
    home.everybody_has_their_own().await;
    home.end().await;
}

/// Proves: privacy/people-change
#[tokio::test]
async fn another_address_is_linked() {
    is_linked::<FakeTelegram>().await;
}

pub(super) async fn is_forgotten<C: Start>(name: &'static str, who: &'static str, address: i64) {
    let mut home = HomeOver::<C>::lived_in().await;
    home.configure(|people| people.retain(|entry| entry.name != name)).await;
    let answer = home.story.command_line(&["forget", name, "--yes"]).await;
    home.is_gone(who);
    home.is_void(who, "link").await;
    home.is_a_stranger(address).await;
    let asked = home.story.model.asked();
    let role = if who == "ben" { "member" } else { "owner" };
    home.configure(|people| people.push(Entry { name, role, address })).await;
    home.looks(address).await;
    home.everybody_looks().await;
    let since: String = home.story.model.requests_since(asked).iter().map(words).collect();
    let left: Vec<String> = canaries(&since).into_iter().filter(|token| is_of(token, who)).collect();
    assert!(left.is_empty(), "{left:?} came back after {}", answer.markdown);
    home.end().await;
}

/// Proves: privacy/people-change
#[tokio::test]
async fn a_member_is_forgotten_and_comes_back() {
    is_forgotten::<FakeTelegram>("Ben", "ben", BEN).await;
}

/// Proves: privacy/people-change
#[tokio::test]
async fn an_owner_is_forgotten_and_comes_back() {
    is_forgotten::<FakeTelegram>("Carl", "carl", CARL).await;
}

/// Proves: privacy/people-change
#[tokio::test]
async fn a_backup_is_restored() {
    let mut home = Home::lived_in().await;
    let (_shelf, file) = shelf();
    back_up(&home.story.home, &file, &home.story).unwrap();
    begins_anew(&mut home.story, &file).await;
    home.everybody_looks().await;
    home.everybody_has_their_own().await;
    home.end().await;
}

/// Makes a backup after a code has readmitted a person, removes the person and restores the backup.
async fn is_removed_after_the_backup(name: &str, role: &str, (who, address): (&'static str, i64), owner: i64) -> Home {
    let mut home = Home::lived_in().await;
    home.configure(|people| people.retain(|entry| entry.name != name)).await;
    let id = home.ids[who].to_string();
    let made = home.story.command_line(&["people", "pair", name, role, "--same-as", &id]).await;
    home.story.say(address, &format!("/start {}", code_in(&made.markdown).unwrap())).await;
    home.open(who, address).await;
    home.everybody_has_their_own().await;
    let (_shelf, file) = shelf();
    back_up(&home.story.home, &file, &home.story).unwrap();
    home.story.say(owner, &format!("/remove {name}")).await;
    home.is_gone(who);
    if who == "ben" {
        pairs_again(&mut home, "ben", "Ben", "new", DORA).await;
    }
    goes_back(&mut home.story, &file).await;
    home.is_void(who, "link").await;
    if role == "owner" {
        home.is_void(who, "pair").await;
    }
    home.is_a_stranger(address).await;
    home.everybody_looks().await;
    home.everybody_has_their_own().await;
    home
}

/// Proves: privacy/people-change
#[tokio::test]
async fn an_old_backup_is_restored_after_the_first_owner_was_removed() {
    let mut home = is_removed_after_the_backup("Ada", "owner", ("ada", ADA), CARL).await;
    home.the_command_line_is_that_of("carl").await;
    home.end().await;
}

/// Proves: privacy/people-change
#[tokio::test]
async fn restoring_an_old_backup_leaks_nothing_after_a_removed_name_is_reused() {
    let mut home = is_removed_after_the_backup("Ben", "member", ("ben", BEN), ADA).await;
    // The backup predates the new bearer of the name.
    home.is_a_stranger(DORA).await;
    pairs_again(&mut home, "ben", "Ben", "new", DORA).await;
    home.looks(DORA).await;
    home.everybody_looks().await;
    home.looks(DORA).await;
    home.end().await;
}

/// Proves: privacy/people-change
#[tokio::test]
async fn the_workspace_is_handed_over() {
    let mut home = Home::lived_in().await;
    home.the_command_line_is_that_of("ada").await;
    let answer = home.story.command_line(&["people", "hand-over", "Carl", "--yes"]).await;
    home.everybody_looks().await;
    home.everybody_has_their_own().await;
    home.the_command_line_is_that_of("carl").await;
    assert_eq!(home.folder_with(&token("carl", "memory")), home.story.home.join("workspace"), "{}", answer.markdown);
    // The former owner of the root is removed as well.
    home.configure(|people| people.retain(|entry| entry.name != "Ada")).await;
    home.is_gone("ada");
    home.everybody_looks().await;
    home.everybody_has_their_own().await;
    home.end().await;
}
