//! Search on the page.

use std::collections::BTreeSet;

use dom_query::Document;
use reqwest::StatusCode;

use crate::support::browser::{Browser, SERVED};
use crate::support::channel::Channel;
use crate::support::lived_in::lived_in;
use crate::support::story::{ADA, BEN, StoryOver};
use crate::support::telegram::FakeTelegram;

type Story = StoryOver<FakeTelegram>;

/// Addresses to which the hits of a page lead.
fn places(page: &str) -> Vec<String> {
    let document = Document::from(page);
    document.select("ol.rows a.title").iter().map(|link| link.attr_or("href", "").to_string()).collect()
}

/// Promise (page/search): The page searches all that is yours, and nothing of others: it counts the
/// hits of each kind, marks the words, shows the lines around, and each hit leads to its very
/// place.
#[tokio::test]
async fn hits_are_marked_and_lead_to_their_place() {
    let mut story = Story::prepared(SERVED).await;
    story.write_skill("sailing", "How to sail", "Hoist the spinnaker slowly.");
    story.start().await;
    story.say(ADA, "The spinnaker is <b>torn</b>.").await;
    story.say(BEN, "My spinnaker is green.").await;
    story.fake.passes_on(ADA, BEN, "A spinnaker from elsewhere.");
    story.answered().await;
    story.writes("memory/boat.md", "one\ntwo\nthe Spinnaker is blue\nfour\nfive\n");
    story.writes("plans/refit.txt", "new spinnaker\n");
    let log =
        format!("{}the spinnaker again\n{}", "calm sea and a light wind\n".repeat(4_000), "rain\n".repeat(20_000));
    story.writes("plans/log.txt", &log);
    let (ada, ben) = (Browser::of(story.app(), "Ada").await, Browser::of(story.app(), "Ben").await);
    let page = ada.get("/search?q=spinnaker").await.text;
    for part in [
        "The <mark>spinnaker</mark> is &lt;b&gt;torn&lt;/b&gt;.",
        "<li value=\"2\"><bdi>two</bdi></li>",
        "the <mark>Spinnaker</mark> is blue",
        "From outside: ",
        "Messages 2",
        "Conversations 1",
        "Memory 1",
        "Files 2",
        "Skills 1",
    ] {
        assert!(page.contains(part), "{part} is missing in {page}");
    }
    assert!(!page.contains("green"), "{page}");
    let found = places(&page);
    for start in [
        "/conversations/1?at=",
        "/memory/boat#:~:text=Spinnaker",
        "/files/plans/refit%2Etxt?line=1#line-1",
        "/files/plans/log%2Etxt?line=4001#line-4001",
        "/skills/sailing#:~:text=spinnaker",
    ] {
        assert!(found.iter().any(|place| place.starts_with(start)), "{start} is missing in {found:?}");
    }
    for place in &found {
        let there = ada.get(place.split('#').next().unwrap()).await;
        assert!(there.status.is_success() && there.text.contains("pinnaker"), "{place}: {}", there.text);
    }
    for place in found.iter().filter(|place| place.contains("#m") || place.starts_with("/files/")) {
        let (page, anchor) = place.split_once('#').unwrap();
        assert!(ada.get(page).await.text.contains(&format!("id=\"{anchor}\"")), "{place}");
    }
    // A member finds their own words, and no skills.
    let page = ben.get("/search?q=spinnaker").await.text;
    assert!(page.contains("green") && !page.contains("torn") && !page.contains("/skills/"), "{page}");
    assert!(places(&page).iter().all(|place| place.starts_with("/conversations/2?")), "{page}");
    story.end().await;
}

/// Promise (page/search-limits): The page's search takes each limit of the command, and says which
/// it cannot read.
#[tokio::test]
async fn a_search_has_limits() {
    let story = Story::with(SERVED).await;
    story.say(ADA, "A word about Leeks.").await;
    story.writes("memory/leeks.md", "Leeks wilt in summer\n");
    story.writes("agents/compline/memory.md", "## Insights\n\nLeeks keep\n");
    story.writes("plans/soup.txt", "leeks\n");
    story.writes(
        "memory/facts-2026-01.md",
        "## Recent facts\n\n- **soup**: Leeks first (preference)\n- **shop**: Leeks at the corner (context)\n",
    );
    story.writes("memory/rows.md", "nought\none\ntwo\nthree Leeks\nfour\nfive\nsix\n");
    story.writes("agents/else/memory.md", "## Insights\n\nElsewhere.\n");
    let ada = Browser::of(story.app(), "Ada").await;
    let found = async |limits: &str| places(&ada.get(&format!("/search?q=Leeks{limits}")).await.text);
    let kinds = |places: &[String]| -> BTreeSet<String> {
        places.iter().map(|place| place.split('/').nth(1).unwrap().to_owned()).collect()
    };
    let all = found("").await;
    assert_eq!(kinds(&all), ["conversations", "files", "memory"].map(str::to_owned).into(), "{all:?}");
    for (limits, wanted) in [
        ("&in=files", "files"),
        ("&in=notes", "memory"),
        ("&section=Insights", "memory"),
        ("&agent=compline", "memory"),
        ("&in=messages&since=2026-11-20&until=2026-11-20", "conversations"),
    ] {
        let found = found(limits).await;
        assert_eq!(kinds(&found), [wanted.to_owned()].into(), "{limits}: {found:?}");
    }
    assert_eq!(found("&in=messages&until=2026-11-19").await, Vec::<String>::new());
    assert!(!kinds(&found("&case=on").await).contains("files"));
    let page = ada.get("/search?q=Leeks&category=Preference&context=0").await.text;
    assert!(page.contains("</mark> first") && !page.contains("at the corner"), "{page}");
    // Lines above and below a hit.
    for (context, shown, hidden) in
        [("", Some("two"), "one"), ("&context=2", Some("one"), "nought"), ("&context=0", None, "two")]
    {
        let page = Document::from(ada.get(&format!("/search?q=Leeks&in=notes{context}")).await.text);
        let lines: Vec<String> = page.select("ol.lines li").iter().map(|line| line.text().to_string()).collect();
        let has = |line: &str| lines.iter().any(|shown| shown == line);
        assert!(shown.is_none_or(has) && !has(hidden) && lines.is_empty() == shown.is_none(), "{context}: {lines:?}");
    }
    let page = ada.get("/search?q=Leeks&in=notes&context=2&agent=compline").await.text;
    assert!(
        page.contains("<details open>") && page.contains("name=\"context\" min=\"0\" max=\"20\" value=\"2\""),
        "{page}"
    );
    let options = Document::from(page.as_str());
    let options = options.select("select[name=agent] option");
    let options: Vec<String> = options.iter().map(|option| option.html().to_string()).collect();
    assert_eq!(options[0], "<option value=\"\">All</option>");
    for option in ["<option value=\"compline\" selected=\"\">compline</option>", "<option value=\"else\">else</option>"]
    {
        assert!(options.iter().any(|listed| listed == option), "{option} is missing in {options:?}");
    }
    for (limits, name) in [("&since=soon", "since"), ("&in=dreams", "in"), ("&context=x", "context")] {
        let page = ada.get(&format!("/search?q=Leeks{limits}")).await;
        assert_eq!(page.status, StatusCode::BAD_REQUEST);
        assert!(page.text.contains(&format!("The limit “{name}” cannot be read")), "{}", page.text);
    }
    assert!(ada.get("/search?q=nowhere").await.text.contains("Nothing was found."));
    story.end().await;
}

/// Proves: search/exact-pages
#[tokio::test]
async fn more_hits_follow_on_the_next_page() {
    let story = Story::with(SERVED).await;
    (0..45).for_each(|number| story.writes(&format!("memory/note-{number}.md"), "An anchor.\n"));
    let ada = Browser::of(story.app(), "Ada").await;
    let (mut found, mut sizes, mut address) = (BTreeSet::new(), Vec::new(), "/search?q=anchor&in=notes".to_owned());
    loop {
        let page = ada.get(&address).await.text;
        let here = places(&page);
        sizes.push(here.len());
        found.extend(here);
        match Document::from(page).select("a[rel=next]").attr("href") {
            Some(next) => address = next.to_string(),
            None => break,
        }
    }
    assert_eq!((sizes, found.len()), (vec![20, 20, 5], 45));
    story.end().await;
}

/// What a reflection wrote is found under its name, not under the words of its prompt.
#[tokio::test]
async fn a_reflection_is_found_under_its_name() {
    let story = lived_in().await;
    let robin = Browser::of(story.app(), "Robin").await;
    let page = robin.get("/search?q=planned+by+guests&kind=conversation").await.text;
    assert!(page.contains("<bdi>Reflection on 20 November 2026</bdi></a>"), "{page}");
    assert!(!page.contains("Look back on the day"), "{page}");
    story.stop_here().await;
}
