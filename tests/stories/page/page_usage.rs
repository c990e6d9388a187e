//! Use and cost on the page.

use std::time::Duration;

use chrono::NaiveDate;
use compline::wording::money;

use crate::support::browser::Browser;
use crate::support::lived_in;
use crate::support::story::BEN as ADA;

const DAY: Duration = Duration::from_secs(24 * 3600);

/// Promise (page/usage): The page shows use and cost by day, purpose and model, and the
/// conversations that cost most: members their own, owners all people's, but of other people's
/// conversations only the person and the sum.
#[tokio::test]
async fn each_sees_what_was_used() {
    let story = lived_in::lived_in().await;
    story.say(ADA, "/new").await;
    story.model.says("The one at the church.");
    story.say(ADA, "Which concert then?").await;
    let (robin, ada) = (Browser::of(story.app(), "Robin").await, Browser::of(story.app(), "Ada").await);
    let owner = robin.get("/usage").await.text;
    for part in ["By purpose", "By model", "By person", "Most expensive conversations", "The budget of a day is", "Ada"]
    {
        assert!(owner.contains(part), "{part} is missing in {owner}");
    }
    assert!(owner.contains("href=\"/conversations/1\""), "{owner}");
    assert!(!owner.contains("Which concert") && owner.contains("<bdi>Ada</bdi>"), "{owner}");
    let member = ada.get("/usage").await.text;
    let own = story.count("SELECT max(id) FROM conversations WHERE scope = 'person:2'");
    let link = format!("href=\"/conversations/{own}\"");
    assert!(member.contains(&link) && member.contains("Which concert") && !owner.contains(&link), "{member}");
    for part in ["By person", "Robin", "href=\"/conversations/1\"", "The budget of a day"] {
        assert!(!member.contains(part), "{part} is in {member}");
    }
    // Another person may get the name of a removed one.
    let journal = rusqlite::Connection::open(story.home.join("compline.db")).unwrap();
    journal.execute("UPDATE people SET removed_at = 1 WHERE id = 2", []).unwrap();
    drop(journal);
    assert!(robin.get("/usage").await.text.contains("Ada #2"));
    story.stop_here().await;
}

/// Proves: page/usage
#[tokio::test]
async fn the_cost_of_each_day_is_a_picture_and_a_table() {
    let story = lived_in::lived_in().await;
    let picture = Browser::of(story.app(), "Robin").await.get("/usage").await.picture("Cost per day");
    assert_eq!((picture.caption.as_str(), picture.rows.len()), ("Cost per day", 30));
    let purposes = "SELECT group_concat(purpose) FROM (SELECT DISTINCT purpose FROM spending ORDER BY purpose)";
    let purposes = story.text(purposes);
    let mut bars = 0;
    for row in &picture.rows {
        let day = NaiveDate::parse_from_str(&row[0], "%d %B %Y").unwrap();
        let spent = purposes.split(',').map(|purpose| {
            let of_day = format!("FROM spending WHERE day = '{day}' AND purpose = '{purpose}'");
            u64::try_from(story.count(&format!("SELECT coalesce(sum(micros), 0) {of_day}"))).unwrap()
        });
        let spent: Vec<u64> = spent.collect();
        bars += spent.iter().filter(|spent| **spent > 0).count();
        assert_eq!(row[1..], spent.into_iter().map(money).collect::<Vec<_>>(), "{day}");
    }
    assert!(bars > 2 && picture.marks == bars, "{bars} in {picture:?}");
    story.stop_here().await;
}

/// Promise (page/usage-period): Use and cost can be looked at thirty days at a time, as far back as
/// there is any.
#[tokio::test]
async fn earlier_days_can_be_looked_at() {
    let story = lived_in::new().await;
    story.model.says("Leeks.");
    story.say(ADA, "What is in season?").await;
    let first = Browser::of(story.app(), "Ada").await.get("/usage").await.text;
    assert!(!first.contains(">Earlier<") && !first.contains(">Later<"), "{first}");
    story.pass(40 * DAY).await;
    let ada = Browser::of(story.app(), "Ada").await;
    let now = ada.get("/usage").await.text;
    assert!(now.contains("No model was used in these days.") && now.contains("/usage?before=2026-12-01"), "{now}");
    let earlier = ada.get("/usage?before=2026-12-01").await.text;
    assert!(earlier.contains("1 November 2026 to 30 November 2026"), "{earlier}");
    assert!(earlier.contains("href=\"/conversations/1\"") && earlier.contains("href=\"/usage\""), "{earlier}");
    story.stop_here().await;
}
