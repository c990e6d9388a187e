//! Summaries without a language model: sentences of people with their dates, chosen by simple cues
//! and by word frequency.
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
use crate::wording::offline::SIGNATURE;

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
    /// Telling statements.
    pub topics: Vec<String>,
    /// Decisions.
    pub decisions: Vec<String>,
    /// People's statements about themselves and their likes.
    pub preferences: Vec<String>,
    /// Open tasks and questions.
    pub pending: Vec<String>,
}

/// A line of a conversation.
#[derive(Debug, Clone, Copy)]
pub struct SpokenLine<'a> {
    /// Speaker.
    pub speaker: LineSpeaker,
    /// Local day; blank if it is unknown.
    pub day: &'a str,
    /// Words.
    pub words: &'a str,
}

/// A person's sentence with its day.
#[derive(Clone, Copy)]
struct DatedSentence<'a> {
    day: &'a str,
    words: &'a str,
}

impl DatedSentence<'_> {
    fn entry(self) -> String {
        let words = cut(&text::one_line(self.words));
        if self.day.is_empty() { words } else { format!("{}: {words}", self.day) }
    }
}

/// Summarises a conversation, given line by line from first to last.
pub fn summarise(lines: &[SpokenLine<'_>]) -> Extract {
    // The offline model's signature under each answer is not part of the conversation.
    let own_words: Vec<String> = lines.iter().map(|line| line.words.replace(SIGNATURE, "")).collect();
    let lines: Vec<SpokenLine<'_>> =
        lines.iter().zip(&own_words).map(|(line, words)| SpokenLine { words, ..*line }).collect();
    let by_persons = lines.iter().filter(|line| line.speaker == LineSpeaker::Person);
    let sentences: Vec<DatedSentence<'_>> = by_persons
        .flat_map(|line| words::sentences(line.words).map(|words| DatedSentence { day: line.day, words }))
        .collect();
    let (mut extract, mut others) = (Extract::default(), Vec::new());
    for sentence in &sentences {
        let spaced = words::spaced(sentence.words);
        let has = |cues: &str| words::has_cue(&spaced, cues);
        let asks = sentence.words.ends_with('?');
        if has(DECISIONS) && !asks {
            add(&mut extract.decisions, sentence.entry());
        } else if has(PREFERENCES) && !asks {
            add(&mut extract.preferences, sentence.entry());
        } else if has(PENDING) && !asks {
            add(&mut extract.pending, sentence.entry());
        } else {
            others.push(*sentence);
        }
    }
    if let Some(question) = left_unanswered(&lines) {
        add(&mut extract.pending, question.entry());
    }
    let keywords = keywords(&lines);
    extract.topics = telling(&others, &keywords);
    extract.title = title(&sentences, &keywords);
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
                more.into_iter().for_each(|entry| add(list, entry));
            }
        }
        whole
    }
}

/// Adds an entry, or moves a known one to the end; if there are too many the oldest is dropped,
/// because later statements take precedence.
fn add(list: &mut Vec<String>, entry: String) {
    list.retain(|other| *other != entry);
    list.push(entry);
    if list.len() > MOST {
        list.remove(0);
    }
}

/// Cuts a sentence that is too long, between two words and if possible behind a comma.
fn cut(sentence: &str) -> String {
    if sentence.chars().count() <= MAX_ENTRY {
        return sentence.to_owned();
    }
    let kept = text::shorten(sentence, MAX_ENTRY);
    let kept = kept.trim_end_matches('…');
    let at_comma = kept.rfind([',', ';', ':']).filter(|at| *at > kept.len() / 2);
    let end = at_comma.or_else(|| kept.rfind(' ').filter(|at| *at > kept.len() / 2));
    format!("{}…", end.and_then(|end| kept.get(..end)).unwrap_or(kept))
}

/// Stems of the most frequent words; people's words count double.
fn keywords(lines: &[SpokenLine<'_>]) -> Vec<String> {
    let mut counted: HashMap<String, (usize, usize)> = HashMap::new();
    for line in lines {
        for word in words::significant_words(line.words) {
            if word.surface.chars().count() < 3 || word.surface.chars().all(|c| c.is_ascii_digit()) {
                continue;
            }
            let order = counted.len();
            let (count, _) = counted.entry(word.stem).or_insert((0, order));
            *count += if line.speaker == LineSpeaker::Person { 2 } else { 1 };
        }
    }
    let mut counted: Vec<(usize, usize, String)> =
        counted.into_iter().map(|(stem, (count, order))| (count, order, stem)).collect();
    counted.sort_unstable_by_key(|(count, order, _)| (std::cmp::Reverse(*count), *order));
    counted.into_iter().take(MOST).map(|(_, _, stem)| stem).collect()
}

/// The sentences that say most of the keywords, in order; of two alike the later one.
fn telling(sentences: &[DatedSentence<'_>], keywords: &[String]) -> Vec<String> {
    let mut scored: Vec<(usize, usize)> = Vec::new();
    for (at, sentence) in sentences.iter().enumerate() {
        let stems = words::stems(sentence.words);
        if stems.len() >= 2 {
            scored.push((keywords.iter().filter(|keyword| stems.contains(keyword)).count(), at));
        }
    }
    scored.sort_unstable_by_key(|scored| std::cmp::Reverse(*scored));
    scored.truncate(MOST);
    scored.sort_unstable_by_key(|(_, at)| *at);
    let mut entries = Vec::new();
    for sentence in scored.iter().filter_map(|(_, at)| sentences.get(*at)) {
        add(&mut entries, sentence.entry());
    }
    entries
}

/// The first sentence about one of the keywords; otherwise the first sentence.
fn title(sentences: &[DatedSentence<'_>], keywords: &[String]) -> String {
    let telling = sentences.iter().find(|sentence| {
        let stems = words::stems(sentence.words);
        stems.len() >= 2 && stems.iter().any(|stem| keywords.iter().take(3).any(|keyword| keyword == stem))
    });
    let title = telling.or_else(|| sentences.first()).map(|sentence| sentence.words).unwrap_or_default();
    text::shorten(text::one_line(title).trim_end_matches(['.', '!', '?']), MAX_TITLE)
}

/// The last sentence, if it is a person's question.
fn left_unanswered<'a>(lines: &[SpokenLine<'a>]) -> Option<DatedSentence<'a>> {
    let line = lines.last()?;
    let words = words::sentences(line.words).last()?;
    let asks = line.speaker == LineSpeaker::Person && words.ends_with('?');
    asks.then_some(DatedSentence { day: line.day, words })
}

/// Words that say that something is over.
const SETTLED: &str = "\
    done|finished|settled|no longer|not needed|forget about|forget it|called off|cancelled|canceled|is over|erledigt|fertig|\
    nicht mehr|hat sich|abgesagt|vergiss";

/// Returns the open items that no sentence settles: one that says so and names half of an item's
/// words.
fn still_open(open: Vec<String>, lines: &[SpokenLine<'_>]) -> Vec<String> {
    let by_persons = lines.iter().filter(|line| line.speaker == LineSpeaker::Person);
    let sentences = by_persons.flat_map(|line| words::sentences(line.words));
    let settling = sentences.filter(|words| !words.ends_with('?') && words::has_cue(&words::spaced(words), SETTLED));
    let settling: Vec<Vec<String>> = settling.map(words::stems).collect();
    let is_settled = |item: &String| {
        let stems = words::stems(item.split_once(": ").map_or(item.as_str(), |(_, words)| words));
        let named = |said: &Vec<String>| stems.iter().filter(|stem| said.contains(stem)).count();
        settling.iter().any(|said| named(said) >= 2 && named(said) * 2 >= stems.len())
    };
    open.into_iter().filter(|item| !is_settled(item)).collect()
}

/// Names of the assistant in a transcript.
const ASSISTANT: &[&str] = &["assistant", "the assistant", "compline", "bot", "model", "you"];

/// Builds the summary that the request asks for.
pub(super) fn summary(request: &Request) -> String {
    let (mut lines, mut parts, mut open) = (Vec::new(), Vec::new(), Vec::new());
    for message in request.messages() {
        let speaker = match message.role() {
            Role::User => LineSpeaker::Person,
            Role::Assistant => LineSpeaker::Assistant,
            Role::System | Role::Tool => continue,
        };
        for part in message.parts() {
            let RequestPart::Text(text) = part.open().0 else { continue };
            let items = between(text, "open").unwrap_or_default().lines().filter_map(|line| line.strip_prefix("- "));
            open.extend(items.map(str::to_owned));
            read(speaker, text, &mut lines, &mut parts);
        }
    }
    let mut pending = still_open(open, &lines);
    if !lines.is_empty() {
        parts.push(summarise(&lines));
    }
    let mut whole = Extract::merged(parts);
    pending.append(&mut whole.pending);
    whole.pending = pending;
    serde_json::to_string(&whole).unwrap_or_default()
}

/// Text between the marks of that name.
fn between<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let (_, inner) = text.split_once(&format!("<{name}>\n"))?;
    Some(inner.rsplit_once(&format!("\n</{name}>")).map_or(inner, |(inner, _)| inner))
}

fn read<'a>(speaker: LineSpeaker, text: &'a str, lines: &mut Vec<SpokenLine<'a>>, parts: &mut Vec<Extract>) {
    let transcript = between(text, "transcript");
    let text = transcript.unwrap_or(text);
    let summaries: Vec<Extract> = text.lines().filter_map(|line| serde_json::from_str(line.trim()).ok()).collect();
    if !summaries.is_empty() {
        parts.extend(summaries);
        return;
    }
    let written: Vec<(Option<&str>, &str)> =
        text.lines().map(after_time).filter(|(_, line)| !line.is_empty() && *line != SIGNATURE).collect();
    let with_name = written.iter().filter(|(_, line)| named(line).is_some()).count();
    if transcript.is_none() && (written.len() < 2 || with_name * 2 < written.len()) {
        let (time, words) = after_time(text);
        lines.push(SpokenLine { speaker, day: day(time), words });
        return;
    }
    // A line without a name continues the previous one, unless it is the head of a framed text.
    let mut last = (speaker, "");
    let mut is_framed = false;
    for (time, line) in written {
        is_framed = (is_framed || line.starts_with("<untrusted ")) && line != "</untrusted>";
        if is_framed || line == "</untrusted>" {
            continue;
        }
        if time.is_some() && named(line).is_none() {
            last = (LineSpeaker::Assistant, day(time));
            continue;
        }
        let (who, words) = named_or(line, last.0);
        last = (who, if time.is_some() { day(time) } else { last.1 });
        lines.push(SpokenLine { speaker: who, day: last.1, words });
    }
}

/// Date of a time such as `2026-11-20 18:05`; blank if there is none.
fn day(time: Option<&str>) -> &str {
    time.and_then(|time| time.get(..10)).unwrap_or_default()
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

    fn spoken<'a>(lines: &[(LineSpeaker, &'a str)]) -> Vec<SpokenLine<'a>> {
        lines.iter().map(|(speaker, words)| SpokenLine { speaker: *speaker, day: "", words }).collect()
    }

    #[test]
    fn a_conversation_is_sorted() {
        let extract = summarise(&spoken(&[
            (Person, "Hi!"),
            (Person, "My cat is called Whiskerino. I prefer tea over coffee."),
            (Assistant, "We will remember. You should rest, let's go."),
            (Person, "Let's book the vet for the cat. I need to call the vet tomorrow!"),
            (Person, "The vet has seen the cat twice this year."),
            (Person, "Which vet is open on Sunday?"),
        ]));
        assert_eq!(extract.title, "My cat is called Whiskerino");
        assert_eq!(extract.topics, ["The vet has seen the cat twice this year.", "Which vet is open on Sunday?"]);
        assert_eq!(extract.decisions, ["Let's book the vet for the cat."]);
        assert_eq!(extract.preferences, ["My cat is called Whiskerino.", "I prefer tea over coffee."]);
        assert_eq!(extract.pending, ["I need to call the vet tomorrow!", "Which vet is open on Sunday?"]);
    }

    #[test]
    fn german_cues_are_known() {
        let extract = summarise(&spoken(&[(
            Person,
            "Ich mag Käse. Wir nehmen den Zug. Ich muss die Karten kaufen. Müssen wir?",
        )]));
        assert_eq!(extract.preferences, ["Ich mag Käse."]);
        assert_eq!(extract.decisions, ["Wir nehmen den Zug."]);
        assert_eq!(extract.pending, ["Ich muss die Karten kaufen.", "Müssen wir?"]);
    }

    #[test]
    fn nothing_said_is_nothing_summarised() {
        assert_eq!(summarise(&[]), Extract::default());
    }

    #[test]
    fn entries_are_whole_dated_sentences() {
        let words =
            format!("We met. Nora brings her boyfriend Tom on {} the moving day, as she said.", "x ".repeat(90));
        let line = SpokenLine { speaker: Person, day: "2026-11-24", words: &words };
        let extract = summarise(&[line]);
        let [entry] = extract.topics.as_slice() else { panic!("{extract:?}") };
        assert!(entry.starts_with("2026-11-24: Nora brings her boyfriend Tom on x"), "{entry}");
        assert!(entry.ends_with(" x…") || entry.ends_with("day…"), "cut between words: {entry}");
    }

    #[test]
    fn an_open_item_stays_until_somebody_calls_it_settled() {
        let open = || vec!["2026-11-24: I need to order the internet.".to_owned(), "call Ben".to_owned()];
        let after = |words| still_open(open(), &spoken(&[(Person, words), (Assistant, "Done: call Ben.")]));
        assert_eq!(after("The internet is so slow."), open());
        assert_eq!(after("Is it done, did you order the internet?"), open());
        assert_eq!(after("The internet order is done."), ["call Ben"]);
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
            let lines = spoken(&lines);
            let extract = summarise(&lines);
            let said: String = lines.iter().map(|line| text::one_line(line.words) + "\n").collect();
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
