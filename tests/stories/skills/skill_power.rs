//! Power cuts while a skill is changed: between any two steps on the disk, and on both sides of
//! every commit.
//!
//! The home is copied at each of these moments, and the program is started on every copy.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use compline::review::DiskFailpoint;
use compline::store::{CommitPoint, Failpoint};
use serde_json::json;

use crate::skill_gate::{shown_hash, submit};
use crate::support::story::{ADA, Story, copy_home, skill};

/// Copies of the home, each with the name of its moment.
type Homes = Arc<Mutex<Vec<(String, tempfile::TempDir)>>>;

/// `SKILL.md` of the two folders in these stories.
type Lying = (Option<String>, Option<String>);

fn lying(home: &std::path::Path) -> Lying {
    let read = |name: &str| std::fs::read_to_string(home.join("skills").join(name).join("SKILL.md")).ok();
    (read("tea"), read("chai"))
}

/// A story whose home is copied at every moment while `armed` is set.
async fn watched(armed: &Arc<AtomicBool>, homes: &Homes) -> Story {
    let mut story = Story::prepared("").await;
    story.write_skill("tea", "Use when tea is to be made.", "Old way.");
    let home = story.home.clone();
    let (when, kept) = (Arc::clone(armed), Arc::clone(homes));
    let copy = Arc::new(move |moment: String| {
        if when.load(Ordering::SeqCst) {
            let copy = copy_home(&home);
            kept.lock().unwrap().push((moment, copy));
        }
    });
    let on_disk = Arc::clone(&copy);
    story.fail_on_disk(Some(DiskFailpoint(Arc::new(move |step| {
        on_disk(format!("before {step}"));
        Ok(())
    }))));
    story.fail_at(Some(Failpoint(Arc::new(move |side, job| {
        let side = if side == CommitPoint::Before { "before" } else { "after" };
        copy(format!("{side} the commit of {job:?}"));
    }))));
    story.start().await;
    story
}

/// Checks that every copy is the old version or the new one, and that after a start on it the
/// decision is either carried out or was never made.
async fn each_is_whole(homes: &Homes, before: &Lying, after: &Lying, decided: &str) {
    let homes = std::mem::take(&mut *homes.lock().unwrap());
    assert!(homes.len() > 10, "only {} moments", homes.len());
    let mut seen = [0, 0];
    for (moment, copy) in homes {
        let was = lying(copy.path());
        let between = (was.0 == before.0 || was.0 == after.0) && (was.1 == before.1 || was.1 == after.1);
        assert!(between, "{moment}: {was:?}");
        let mut story = Story::prepared("").await;
        story.move_to(copy);
        story.start().await;
        story.settle().await;
        let is_decided = story.count(decided) > 0;
        let expected = if is_decided { after } else { before };
        assert_eq!(lying(&story.home), *expected, "{moment}, decided: {is_decided}");
        assert_eq!(story.count("SELECT count(*) FROM skill_changes WHERE state = 'intended'"), 0, "{moment}");
        let left = std::fs::read_dir(story.home.join("skills/.staging")).map_or(0, Iterator::count);
        assert_eq!(left, 0, "{moment}: something is left in the staging area");
        seen[usize::from(is_decided)] += 1;
        story.stop().await;
    }
    assert!(seen[0] > 0 && seen[1] > 0, "{seen:?}");
}

/// Approves a change of the skill for tea, with copies at every moment.
async fn approved(change: serde_json::Value) -> (Homes, Lying, Lying) {
    let (armed, homes) = (Arc::new(AtomicBool::new(false)), Homes::default());
    let mut story = watched(&armed, &homes).await;
    story.model.calls("submit_skill", change).says("proposed");
    story.say(ADA, "please").await;
    let (hash, before) = (shown_hash(&story), lying(&story.home));
    armed.store(true, Ordering::SeqCst);
    story.say(ADA, &format!("/approve 1 {hash}")).await;
    armed.store(false, Ordering::SeqCst);
    let after = lying(&story.home);
    assert_ne!(before, after);
    story.stop().await;
    (homes, before, after)
}

const APPROVED: &str = "SELECT count(*) FROM proposals WHERE state = 'approved'";

/// Promise (skills/power-cut): If a power cut or a full disk interrupts a skill change, you have
/// the old version or the new one, never a mixture, and your decision is carried out afterwards.
#[tokio::test]
async fn a_change_is_made_wholly_or_not_at_all() {
    let (homes, before, after) = approved(submit("tea", "edit", "New way.")).await;
    each_is_whole(&homes, &before, &after, APPROVED).await;
}

/// Proves: skills/power-cut
#[tokio::test]
async fn a_new_skill_comes_wholly_or_not_at_all() {
    let (homes, before, after) = approved(submit("chai", "create", "Spices.")).await;
    each_is_whole(&homes, &before, &after, APPROVED).await;
}

/// Proves: skills/power-cut
#[tokio::test]
async fn a_deletion_is_made_wholly_or_not_at_all() {
    let change = json!({ "name": "tea", "change": "delete", "rationale": "No more." });
    let (homes, before, after) = approved(change).await;
    each_is_whole(&homes, &before, &after, APPROVED).await;
}

/// Proves: skills/power-cut
#[tokio::test]
async fn a_renaming_ends_with_one_of_the_two_names() {
    let change = json!({ "name": "tea", "change": "rename", "new_name": "chai", "rationale": "It is chai." });
    let (homes, before, after) = approved(change).await;
    each_is_whole(&homes, &before, &after, APPROVED).await;
}

/// Proves: skills/power-cut
#[tokio::test]
async fn a_roll_back_is_made_wholly_or_not_at_all() {
    let (armed, homes) = (Arc::new(AtomicBool::new(false)), Homes::default());
    let mut story = watched(&armed, &homes).await;
    story.say(ADA, "hello").await;
    story.write_skill("tea", "Use when tea is to be made.", "Another way.");
    story.say(ADA, "hello again").await;
    let before = lying(&story.home);
    armed.store(true, Ordering::SeqCst);
    story.say(ADA, "/rollback tea 1").await;
    armed.store(false, Ordering::SeqCst);
    let after = lying(&story.home);
    assert_eq!(after.0, Some(skill("tea", "Use when tea is to be made.", "Old way.")));
    story.stop().await;
    each_is_whole(&homes, &before, &after, "SELECT count(*) FROM decisions WHERE act = 'rollback'").await;
}

/// Proves: skills/power-cut
#[tokio::test]
async fn a_full_disk_loses_nothing_and_the_change_is_made_when_there_is_room() {
    let full = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&full);
    let mut story = Story::prepared("").await;
    story.write_skill("tea", "Use when tea is to be made.", "Old way.");
    story.fail_on_disk(Some(DiskFailpoint(Arc::new(move |_| match seen.load(Ordering::SeqCst) {
        true => Err(std::io::ErrorKind::StorageFull.into()),
        false => Ok(()),
    }))));
    story.start().await;
    story.model.calls("submit_skill", submit("tea", "edit", "New way.")).says("proposed");
    story.say(ADA, "please").await;
    let hash = shown_hash(&story);
    full.store(true, Ordering::SeqCst);
    story.say(ADA, &format!("/approve 1 {hash}")).await;
    assert!(story.skill("tea").unwrap().contains("Old way."), "{}", story.last_received_by(ADA));
    full.store(false, Ordering::SeqCst);
    story.say(ADA, "hello").await;
    assert!(story.skill("tea").unwrap().contains("New way."), "made at the next look");
    story.end().await;
}
