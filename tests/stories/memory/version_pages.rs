//! The versions of a note: page by page, one shown, two compared.

use crate::support::every_channel::{Story, TestChannel, on_every_channel};
use crate::support::story::{ADA, BEN};

on_every_channel! {
    stories:
        versions_are_listed_by_pages_and_compared;
}

async fn answer(story: &Story, person: i64, command: &str) -> String {
    story.say(person, command).await;
    story.last_received_by(person).replace(['\\', '`', '*'], "")
}

/// Numbers of the listed versions.
fn versions(answer: &str) -> Vec<i64> {
    let number = |line: &str| line.split_once("version ")?.1.split_once(',')?.0.parse().ok();
    answer.lines().filter_map(number).collect()
}

/// Promise (memory/compare): You see what changed between any two versions of a note or a skill
/// before you restore one.
async fn versions_are_listed_by_pages_and_compared(channel: TestChannel) {
    let story = channel.begin_story().await;
    let text = |cups: usize| format!("# Tea\n\nGreen, {cups} cups.\n");
    for cups in 1..=23 {
        story.writes("memory/tea.md", &text(cups));
        story.say(ADA, "/memory history tea").await;
    }
    let first = answer(&story, ADA, "/memory history tea").await;
    let newest = versions(&first);
    assert_eq!(newest.len(), 20, "{first}");
    let more = first.lines().find_map(|line| line.strip_prefix("More: ")).unwrap();
    assert_eq!(more, format!("/memory history tea before {}", newest[19]));
    let second = answer(&story, ADA, more).await;
    let oldest = versions(&second);
    assert!(oldest.len() == 3 && !second.contains("More:"), "{second}");
    let (from, to) = (oldest[2], newest[0]);
    let changes = answer(&story, ADA, &format!("/memory diff tea {from} {to}")).await;
    let head = format!("memory/tea.md, from version {from} to version {to}");
    for part in [&*head, "-Green, 1 cups.", "+Green, 23 cups."] {
        assert!(changes.contains(part), "{part:?} in {changes}");
    }
    let same = answer(&story, ADA, &format!("/memory diff tea {from} {from}")).await;
    assert!(same.ends_with("They are the same."), "{same}");
    let shown = answer(&story, ADA, &format!("/memory show tea {from}")).await;
    assert!(shown.contains("Green, 1 cups.") && shown.contains("+Green, 1 cups."), "{shown}");
    assert!(answer(&story, ADA, "/memory show tea").await.contains("Green, 23 cups."));
    let unknown = answer(&story, ADA, &format!("/memory diff tea {from} 9999")).await;
    assert!(unknown.contains("It has no such version."), "{unknown}");
    story.say(BEN, "Hello").await;
    for command in ["show tea", "diff tea"] {
        let versions = if command == "show tea" { from.to_string() } else { format!("{from} {to}") };
        let refused = answer(&story, BEN, &format!("/memory {command} {versions}")).await;
        assert!(!refused.contains("cups"), "{refused}");
    }
    story.end().await;
}
