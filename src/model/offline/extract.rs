//! Summaries without a language model: sentences chosen by simple cues, topics by word frequency.
//!
//! The heuristics are language-neutral where possible (frequency, punctuation, order) and otherwise
//! use cues of English and German. Nothing is rephrased, so nothing can be invented. Only people's
//! statements become decisions, preferences or pending items, never the assistant's.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::prompt_view::after_time;
use super::words;
use crate::model::request::{Request, RequestPart, Role};
use crate::text;

/// Maximum number of entries in each list.
const MOST: usize = 6;

/// Maximum number of characters in an entry, and in the title.
const MAX_ENTRY: usize = 200;
const MAX_TITLE: usize = 60;

const DECISIONS: &str = "\
    let's|let us|decided|we will|we'll|i'll take|agreed|it's a deal|go with|settled|we are going to|entschieden|\
    beschlossen|wir machen|wir nehmen|ich nehme|einverstanden|abgemacht|machen wir";
const PREFERENCES: &str = "\
    i like|i love|i prefer|i'd rather|i hate|i dislike|i don't like|i can't stand|favourite|favorite|call me|\
    my name is|i am allergic|i'm allergic|vegetarian|vegan|i always|i never|please always|please never|\
    remember that|is called|birthday|ich mag|ich liebe|ich bevorzuge|ich hasse|lieber|lieblings*|ich heisse|\
    nenn mich|allergisch|vegetarisch|vegetarierin|vegetarier|bitte immer|bitte nie|merk dir|geburtstag|heisst";
const PENDING: &str = "\
    todo|to do|remind me|need to|needs to|have to|has to|must|should|don't forget|tomorrow|next week|next month|\
    still open|not yet|deadline|due|muss|mussen|sollte|erinnere mich|vergiss nicht|morgen|nachste woche|\
    nachsten monat|noch offen|noch nicht|bis montag|frist";

/// Speaker of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineSpeaker {
    /// A person.
    Person,
    /// The assistant.
    Assistant,
}

/// Extractive summary of a conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extract {
    /// Subject in one line; empty if nothing was said.
    pub title: String,
    /// Most frequent words.
    pub topics: Vec<String>,
    /// Decisions.
    pub decisions: Vec<String>,
    /// People's statements about themselves and their likes.
    pub preferences: Vec<String>,
    /// Open tasks and questions.
    pub pending: Vec<String>,
}

/// Summarises a conversation, given line by line from first to last.
pub fn summarise(lines: &[(LineSpeaker, &str)]) -> Extract {
    // The offline model's signature under each answer is not part of the conversation.
    let own_words: Vec<(LineSpeaker, String)> =
        lines.iter().map(|(speaker, text)| (*speaker, text.replace(crate::wording::offline::SIGNATURE, ""))).collect();
    let lines: Vec<(LineSpeaker, &str)> = own_words.iter().map(|(speaker, text)| (*speaker, text.as_str())).collect();
    let lines = lines.as_slice();
    let by_persons = lines.iter().filter(|(speaker, _)| *speaker == LineSpeaker::Person);
    let sentences: Vec<&str> = by_persons.flat_map(|(_, text)| words::sentences(text)).collect();
    let mut extract = Extract { topics: topics(lines), ..Extract::default() };
    for sentence in &sentences {
        let spaced = words::spaced(sentence);
        let has = |cues: &str| words::has_cue(&spaced, cues);
        let asks = sentence.ends_with('?');
        if has(DECISIONS) && !asks {
            add(&mut extract.decisions, sentence);
        } else if has(PREFERENCES) && !asks {
            add(&mut extract.preferences, sentence);
        } else if has(PENDING) && !asks {
            add(&mut extract.pending, sentence);
        }
    }
    if let Some(question) = left_unanswered(lines) {
        add(&mut extract.pending, question);
    }
    extract.title = title(&sentences, &extract.topics);
    extract
}

impl Extract {
    /// Joins the summaries of consecutive parts of one conversation.
    pub fn merged(parts: impl IntoIterator<Item = Self>) -> Self {
        let mut whole = Self::default();
        for part in parts {
            if whole.title.is_empty() {
                whole.title = part.title;
            }
            for (list, more) in [
                (&mut whole.topics, part.topics),
                (&mut whole.decisions, part.decisions),
                (&mut whole.preferences, part.preferences),
                (&mut whole.pending, part.pending),
            ] {
                more.iter().for_each(|entry| add(list, entry));
            }
        }
        whole
    }
}

/// Adds an entry, or moves a known one to the end; if there are too many the oldest is dropped,
/// because later statements take precedence.
fn add(list: &mut Vec<String>, entry: &str) {
    let entry = text::shorten(&text::one_line(entry), MAX_ENTRY);
    list.retain(|other| *other != entry);
    list.push(entry);
    if list.len() > MOST {
        list.remove(0);
    }
}

/// The most frequent words, in the spelling of their first occurrence; people's words count double.
fn topics(lines: &[(LineSpeaker, &str)]) -> Vec<String> {
    let mut counted: HashMap<String, (usize, usize, &str)> = HashMap::new();
    for (speaker, text) in lines {
        for word in words::significant_words(text) {
            if word.surface.chars().count() < 3 || word.surface.chars().all(|c| c.is_ascii_digit()) {
                continue;
            }
            let order = counted.len();
            let (count, ..) = counted.entry(word.stem).or_insert((0, order, word.surface));
            *count += if *speaker == LineSpeaker::Person { 2 } else { 1 };
        }
    }
    let mut counted: Vec<(usize, usize, &str)> = counted.into_values().collect();
    counted.sort_unstable_by_key(|(count, order, _)| (std::cmp::Reverse(*count), *order));
    counted.into_iter().take(MOST).map(|(_, _, word)| word.to_owned()).collect()
}

/// The first sentence about one of the topics; otherwise the first sentence.
fn title(sentences: &[&str], topics: &[String]) -> String {
    let topics: Vec<String> = topics.iter().flat_map(|topic| words::stems(topic)).take(3).collect();
    let telling = sentences.iter().find(|sentence| {
        let stems = words::stems(sentence);
        stems.len() >= 2 && stems.iter().any(|stem| topics.contains(stem))
    });
    let title = telling.or_else(|| sentences.first()).copied().unwrap_or_default();
    text::shorten(text::one_line(title).trim_end_matches(['.', '!', '?']), MAX_TITLE)
}

/// The last sentence, if it is a person's question.
fn left_unanswered<'a>(lines: &[(LineSpeaker, &'a str)]) -> Option<&'a str> {
    let (speaker, text) = lines.last()?;
    let last = words::sentences(text).last()?;
    (*speaker == LineSpeaker::Person && last.ends_with('?')).then_some(last)
}

/// Names of the assistant in a transcript.
const ASSISTANT: &[&str] = &["assistant", "the assistant", "compline", "bot", "model", "you"];

/// Builds the summary that the request asks for.
pub(super) fn summary(request: &Request) -> String {
    let mut lines: Vec<(LineSpeaker, &str)> = Vec::new();
    let mut parts: Vec<Extract> = Vec::new();
    for message in request.messages() {
        let speaker = match message.role() {
            Role::User => LineSpeaker::Person,
            Role::Assistant => LineSpeaker::Assistant,
            Role::System | Role::Tool => continue,
        };
        for part in message.parts() {
            let RequestPart::Text(text) = part.open().0 else { continue };
            read(speaker, text, &mut lines, &mut parts);
        }
    }
    if !lines.is_empty() {
        parts.push(summarise(&lines));
    }
    serde_json::to_string(&Extract::merged(parts)).unwrap_or_default()
}

fn read<'a>(speaker: LineSpeaker, text: &'a str, lines: &mut Vec<(LineSpeaker, &'a str)>, parts: &mut Vec<Extract>) {
    let summaries: Vec<Extract> = text.lines().filter_map(|line| serde_json::from_str(line.trim()).ok()).collect();
    if !summaries.is_empty() {
        parts.extend(summaries);
        return;
    }
    let written: Vec<&str> = text.lines().map(|line| after_time(line).1).filter(|line| !line.is_empty()).collect();
    let named = written.iter().filter(|line| named(line).is_some()).count();
    if written.len() < 2 || named * 2 < written.len() {
        lines.push((speaker, after_time(text).1));
        return;
    }
    // A line without a name continues the previous one.
    let mut last = speaker;
    for line in written {
        let (who, words) = named_or(line, last);
        last = who;
        lines.push((who, words));
    }
}

fn named_or(line: &str, last: LineSpeaker) -> (LineSpeaker, &str) {
    let Some((name, words)) = named(line) else {
        return (last, line);
    };
    let is_assistant = ASSISTANT.contains(&name.to_lowercase().as_str());
    (if is_assistant { LineSpeaker::Assistant } else { LineSpeaker::Person }, words)
}

fn named(line: &str) -> Option<(&str, &str)> {
    let (name, words) = line.split_once(':')?;
    let fits = !name.is_empty() && name.chars().count() <= 30 && name.split_whitespace().count() <= 3;
    (fits && words.starts_with(' ')).then(|| (name.trim(), words.trim()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::LineSpeaker::{Assistant, Person};
    use super::*;

    #[test]
    fn a_conversation_is_sorted() {
        let extract = summarise(&[
            (Person, "Hi!"),
            (Person, "My cat is called Whiskerino. I prefer tea over coffee."),
            (Assistant, "We will remember. You should rest, let's go."),
            (Person, "Let's book the vet for the cat. I need to call the vet tomorrow!"),
            (Person, "Which vet is open on Sunday?"),
        ]);
        assert_eq!(extract.title, "My cat is called Whiskerino");
        assert_eq!(extract.topics.iter().take(2).collect::<Vec<_>>(), ["vet", "cat"]);
        assert_eq!(extract.decisions, ["Let's book the vet for the cat."]);
        assert_eq!(extract.preferences, ["My cat is called Whiskerino.", "I prefer tea over coffee."]);
        assert_eq!(extract.pending, ["I need to call the vet tomorrow!", "Which vet is open on Sunday?"]);
    }

    #[test]
    fn german_cues_are_known() {
        let extract =
            summarise(&[(Person, "Ich mag Käse. Wir nehmen den Zug. Ich muss die Karten kaufen. Müssen wir?")]);
        assert_eq!(extract.preferences, ["Ich mag Käse."]);
        assert_eq!(extract.decisions, ["Wir nehmen den Zug."]);
        assert_eq!(extract.pending, ["Ich muss die Karten kaufen.", "Müssen wir?"]);
    }

    #[test]
    fn nothing_said_is_nothing_summarised() {
        assert_eq!(summarise(&[]), Extract::default());
    }

    #[test]
    fn stretches_are_joined() {
        let part = |title: &str, pending: &str| Extract {
            title: title.to_owned(),
            pending: vec![pending.to_owned()],
            ..Extract::default()
        };
        let whole = Extract::merged([part("", "a"), part("Tea", "b"), part("Milk", "a")]);
        assert_eq!((whole.title.as_str(), whole.pending), ("Tea", vec!["b".to_owned(), "a".to_owned()]));
    }

    proptest! {
        #[test]
        fn every_entry_stands_in_the_conversation_and_the_lists_are_bounded(
            lines in prop::collection::vec((any::<bool>(), "[a-zA-Z' .?!\n]{0,60}( i must | i like | let's )?[a-z.]{0,9}"), 0..12)
        ) {
            let lines: Vec<(LineSpeaker, &str)> =
                lines.iter().map(|(person, text)| (if *person { Person } else { Assistant }, text.as_str())).collect();
            let extract = summarise(&lines);
            let said: String = lines.iter().map(|(_, text)| text::one_line(text) + "\n").collect();
            for list in [&extract.topics, &extract.decisions, &extract.preferences, &extract.pending] {
                prop_assert!(list.len() <= MOST);
                for entry in list {
                    prop_assert!(said.contains(entry.trim_end_matches('…')), "{entry:?} in {said:?}");
                }
            }
            prop_assert!(extract.title.chars().count() <= MAX_TITLE);
            prop_assert_eq!(summarise(&lines), extract);
        }
    }
}
