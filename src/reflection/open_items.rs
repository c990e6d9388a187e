//! Open items, with the days on which each was touched.
//!
//! A conversation touched an item if its summary says something about it: half of the item's words,
//! at least two. Of the period's own messages each counts by itself, because the last conversation
//! of a day often has no summary yet.

use std::collections::BTreeSet;
use std::time::Duration;

use super::transcript::{ReflectionText, Window};
use crate::store::{Db, Node, OpenItem, SummaryContent, SummaryInputs};
use crate::text::fold;
use crate::time::Zone;
use crate::trust::Scope;
use crate::wording::reflection as says;

/// Time and maximum number of conversations that are looked back on.
const PAST: Duration = Duration::from_secs(30 * 24 * 3600);
const CHATS: u32 = 100;
/// Maximum number of days that are named of one item.
const DAYS: usize = 10;
/// Minimum length of a word, and number of letters that tell words apart.
const WORD: usize = 4;
const STEM: usize = 6;

/// Summary of a conversation and the day on which that began.
struct SummarizedChat {
    day: String,
    content: SummaryContent,
}

/// Writes the open items. `said` are the texts of the period.
pub fn render(
    db: Db<'_>,
    page: &mut ReflectionText,
    window: Window,
    said: &[String],
    zone: Zone,
) -> anyhow::Result<()> {
    let items = db.open_items().open_items(Scope::Person(window.person))?;
    let items: Vec<OpenItem> = items.into_iter().filter(|item| item.opened_at < window.to).collect();
    if items.is_empty() {
        return Ok(());
    }
    let chats = chats_before(db, window, zone)?;
    page.push(says::OPEN_ITEMS);
    for item in &items {
        let (text, label, _) = item.text.open();
        let words = words_of(text);
        let mut days = touched(&words, &chats);
        days.insert(zone.day(item.opened_at));
        if said.iter().any(|text| is_about(&words, &words_of(text))) {
            days.insert(zone.day(window.from));
        }
        let days: Vec<&str> = days.iter().map(String::as_str).collect();
        let shown = days.get(days.len().saturating_sub(DAYS)..).unwrap_or_default();
        page.push(&says::open_item(item.id.0, text, shown));
        page.add_sources(item.summary.map(Node::Summary).as_slice());
        page.absorb_label(label);
    }
    Ok(())
}

/// Trusted summaries of the chats up to the end of the period, oldest first.
fn chats_before(db: Db<'_>, window: Window, zone: Zone) -> anyhow::Result<Vec<SummarizedChat>> {
    let mut chats = Vec::new();
    for id in db.activity().chats_between(window.person, window.to.minus(PAST), window.to, CHATS)? {
        let Some(conversation) = db.conversations().conversation(id)? else { continue };
        let Some(summary) = db.summaries().summary_of(id, SummaryInputs::Trusted)? else { continue };
        let (content, label, _) = summary.content.open();
        if label.is_trusted() {
            chats.push(SummarizedChat { day: zone.day(conversation.opened_at), content: content.clone() });
        }
    }
    chats.reverse();
    Ok(chats)
}

/// Days on which a conversation was about an item with those words.
fn touched(item: &BTreeSet<String>, chats: &[SummarizedChat]) -> BTreeSet<String> {
    let is_touched = |content: &SummaryContent| {
        let mut about = content.topics.iter().chain(&content.decisions).chain([&content.title]);
        about.any(|text| is_about(item, &words_of(text)))
    };
    chats.iter().filter(|chat| is_touched(&chat.content)).map(|chat| chat.day.clone()).collect()
}

/// Telling words of a text: long enough, no numbers, without endings.
fn words_of(text: &str) -> BTreeSet<String> {
    let folded = fold::fold(text).to_lowercase();
    let words = folded.split(|c: char| !c.is_alphanumeric());
    let words = words.filter(|word| word.chars().any(char::is_alphabetic));
    let is_telling = |word: &&str| word.chars().count() >= WORD || word.chars().any(|c| u32::from(c) >= 0x2E80);
    words.filter(is_telling).map(|word| word.chars().take(STEM).collect()).collect()
}

/// Returns true if the text has at least half of the item's words, and at least two of them.
fn is_about(item: &BTreeSet<String>, text: &BTreeSet<String>) -> bool {
    let shared = item.intersection(text).count();
    shared >= item.len().clamp(1, 2) && shared * 2 >= item.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_is_recognised_by_its_words() {
        let item = words_of("Order the internet connection at the new flat");
        for about in
            ["Asked which internet provider has a connection there, at the flat", "internet connection: ordered"]
        {
            assert!(is_about(&item, &words_of(about)), "{about}");
        }
        for other in ["The flat is bright", "Boxes: 40 of them", "", "2026-11-24"] {
            assert!(!is_about(&item, &words_of(other)), "{other}");
        }
        assert!(is_about(&words_of("東京"), &words_of("東京へ行く")));
        assert!(!is_about(&words_of("!"), &words_of("!")), "no word is no match");
    }

    #[test]
    fn an_item_is_touched_when_it_is_talked_about() {
        let chat = |day: &str, topic: &str| SummarizedChat {
            day: day.to_owned(),
            content: SummaryContent { topics: vec![topic.to_owned()], ..SummaryContent::default() },
        };
        let chats = [chat("1", "weather"), chat("4", "prices of an internet connection")];
        assert_eq!(touched(&words_of("Order the internet connection"), &chats), BTreeSet::from(["4".to_owned()]));
    }
}
