//! The one writer in a house whose power goes between any two steps: a note and its line are both there, or neither, and no file is ever half.

use compline::store::CommitPoint::{After, Before};
use serde_json::{Value, json};

use crate::support::power::{Cut, House};
use crate::support::story::{ADA, canary};

const MINUTE: std::time::Duration = std::time::Duration::from_secs(60);

/// Ada has something kept; the power goes at the first such commit, and comes back.
fn cut(tool: &str, arguments: Value, cut: Cut) -> House {
    let mut house = House::prepared("");
    house.story.model.calls(tool, arguments).says("Noted.");
    // Said again by the life that finds the reply unstored.
    house.story.model.says("Noted.");
    assert!(!house.start(Some(cut)));
    house.story.fake.says(ADA, &format!("please {}", canary(ADA)));
    assert!(house.pass(5 * MINUTE), "{cut:?} never came");
    house.revive();
    assert!(!house.pass(5 * MINUTE));
    house
}

fn read(house: &House, inside: &str) -> String {
    std::fs::read_to_string(house.story.home.join("workspace").join(inside)).unwrap_or_default()
}

/// Nothing is open, and nothing lies around.
fn is_settled(house: &House) -> bool {
    let memory = std::fs::read_dir(house.story.home.join("workspace/memory")).unwrap();
    let tidy = memory.filter_map(Result::ok).all(|file| !file.file_name().to_string_lossy().starts_with('.'));
    tidy && house.story.count("SELECT count(*) FROM files WHERE replaces IS NOT NULL") == 0
}

const JOBS: [&str; 5] = [
    "begin a tool step",
    "announce a change of a file",
    "a changed file stands in its place",
    "store a tool step",
    "store a reply",
];

#[test]
fn a_note_is_there_with_exactly_one_line_whenever_the_power_goes() {
    for (side, job) in JOBS.into_iter().flat_map(|job| [(Before, job), (After, job)]) {
        let note = json!({ "title": "Tea", "content": "Green.", "kind": "preference" });
        let house = cut("remember", note, Cut::at(side, job));
        let lines = read(&house, "memory/MEMORY.md").matches("](tea.md)").count();
        assert_eq!((lines, read(&house, "memory/tea.md").matches("Green.").count()), (1, 2), "{side:?} {job}");
        assert!(is_settled(&house), "{side:?} {job}");
        house.end();
    }
}

#[test]
fn a_line_of_the_day_is_there_once_whenever_the_power_goes() {
    for (side, job) in JOBS.into_iter().flat_map(|job| [(Before, job), (After, job)]) {
        let house = cut("memory_save", json!({ "content": "Tea at five" }), Cut::at(side, job));
        let memory = std::fs::read_dir(house.story.home.join("workspace/memory")).unwrap();
        let texts = memory.filter_map(|file| std::fs::read_to_string(file.unwrap().path()).ok());
        assert_eq!(texts.map(|text| text.matches("] Tea at five").count()).sum::<usize>(), 1, "{side:?} {job}");
        assert!(is_settled(&house), "{side:?} {job}");
        house.end();
    }
}
