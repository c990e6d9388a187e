//! Answers of the offline model.
//!
//! The order matters: tool results are shown first, because they were requested; then come
//! unambiguous requests; then known facts; then a search in earlier conversations; everything else
//! is acknowledged as something to remember.

use serde_json::json;

use super::prompt_view::PromptView;
use super::{arithmetic, words};
use crate::model::ToolCall;
use crate::text;
use crate::wording::offline as phrases;

/// Maximum number of characters in a quote.
const MAX_QUOTE: usize = 300;

/// Maximum number of quotes in an answer.
const MAX_QUOTES: usize = 5;

const GREETINGS: &[&str] = &[
    " hello ",
    " hi ",
    " hey ",
    " good morning ",
    " good evening ",
    " good afternoon ",
    " hallo ",
    " servus ",
    " moin ",
    " guten tag ",
    " guten morgen ",
    " guten abend ",
    " gruss gott ",
];
const THANKS: &[&str] = &[" thanks ", " thank you ", " thx ", " danke ", " dankeschon ", " cheers "];
const GOODBYES: &[&str] =
    &[" bye ", " goodbye ", " good night ", " see you ", " gute nacht ", " tschuss ", " bis bald "];
const HOW: &[&str] = &[" how are you ", " how's it going ", " wie geht's ", " wie geht es dir "];
const WHO: &[&str] = &[
    " who are you ",
    " what are you ",
    " your name ",
    " are you a bot ",
    " are you human ",
    " wer bist du ",
    " wie heisst du ",
    " bist du ein ",
];
const ABILITIES: &[&str] =
    &[" what can you do ", " what do you do ", " can you help ", " help ", " help me ", " was kannst du ", " hilfe "];
const CLOCK: &[&str] = &[
    " what time ",
    " what's the time ",
    " what is the time ",
    " what day ",
    " which day ",
    " what date ",
    " the date ",
    " what year ",
    " today's date ",
    " wie spat ",
    " wieviel uhr ",
    " wie viel uhr ",
    " welcher tag ",
    " welches datum ",
    " welchen tag ",
    " uhrzeit ",
];
const PAST: &[&str] = &[
    " did we talk ",
    " did we discuss ",
    " we talked ",
    " we discussed ",
    " do you remember ",
    " last time ",
    " earlier conversation ",
    " earlier conversations ",
    " previous conversation ",
    " previous conversations ",
    " our conversations ",
    " my conversations ",
    " past conversations ",
    " haben wir gesprochen ",
    " haben wir geredet ",
    " erinnerst du dich ",
    " letztes mal ",
    " weisst du noch ",
];
const ASKING: &[&str] = &[
    " what ",
    " what's ",
    " who ",
    " who's ",
    " whom ",
    " whose ",
    " where ",
    " when ",
    " why ",
    " which ",
    " how ",
    " is ",
    " are ",
    " do ",
    " does ",
    " did ",
    " can ",
    " could ",
    " tell me ",
    " wer ",
    " wo ",
    " wann ",
    " warum ",
    " wie ",
    " welche ",
    " welcher ",
    " welches ",
    " sag mir ",
];
/// Words of a question about the past that are useless as search terms.
const ABOUT_TALK: &[&str] =
    &["talk", "discuss", "conversation", "search", "last", "time", "week", "yesterday", "gesprochen"];

/// An answer: text, or tool calls.
#[derive(Debug)]
pub(super) struct OfflineAnswer {
    pub(super) text: String,
    pub(super) calls: Vec<ToolCall>,
}

impl OfflineAnswer {
    /// Creates an answer of text alone, unsigned.
    pub(super) fn text(text: String) -> Self {
        Self { text, calls: Vec::new() }
    }

    fn signed(words: &str) -> Self {
        Self::text(format!("{words}\n\n{}", phrases::SIGNATURE))
    }

    fn calling(view: &PromptView<'_>, name: &str, arguments: &serde_json::Value) -> Self {
        let call = ToolCall {
            id: format!("offline_{}", view.round),
            name: name.to_owned(),
            arguments: arguments.to_string(),
            extra: String::new(),
        };
        Self { text: String::new(), calls: vec![call] }
    }
}

/// Answers the request in the view.
pub(super) fn to(view: &PromptView<'_>) -> OfflineAnswer {
    if !view.results.is_empty() {
        return OfflineAnswer::signed(&results(view));
    }
    if view.question.is_empty() {
        return OfflineAnswer::signed(&without_words(view));
    }
    if let Some(address) = address(&view.question) {
        return match offers(view, "web_fetch") {
            true => OfflineAnswer::calling(view, "web_fetch", &json!({ "url": address })),
            false => OfflineAnswer::signed(phrases::NO_WEB),
        };
    }
    let spaced = words::spaced(&view.question);
    let said = small_talk(&spaced, view).or_else(|| sum(&view.question));
    if let Some(said) = said {
        return OfflineAnswer::signed(&said);
    }
    let wants_to_know = has(&spaced, PAST) || is_question(&view.question, &spaced);
    if !wants_to_know {
        return OfflineAnswer::signed(&with_picture(view, format!("{}\n{}", phrases::NOTED, quote(&view.question))));
    }
    if let Some(known) = known(view) {
        return OfflineAnswer::signed(&with_picture(view, known));
    }
    if offers(view, "memory_search") {
        let arguments = json!({ "in": "conversations", "query": query(&view.question), "limit": MAX_QUOTES });
        return OfflineAnswer::calling(view, "memory_search", &arguments);
    }
    OfflineAnswer::signed(&with_picture(view, phrases::UNKNOWN.to_owned()))
}

fn without_words(view: &PromptView<'_>) -> String {
    match view.material.first() {
        Some(material) => with_picture(view, extract(material, &[])),
        None if view.picture => phrases::NO_EYES.to_owned(),
        None => phrases::EMPTY.to_owned(),
    }
}

fn with_picture(view: &PromptView<'_>, words: String) -> String {
    if view.picture { format!("{} {words}", phrases::NO_EYES) } else { words }
}

fn small_talk(spaced: &str, view: &PromptView<'_>) -> Option<String> {
    let short = spaced.split_whitespace().count() <= 5;
    let said = if has(spaced, CLOCK) && !has(spaced, PAST) {
        return Some(phrases::now(view.day, view.time));
    } else if has(spaced, WHO) {
        phrases::WHO
    } else if has(spaced, HOW) {
        phrases::WELL
    } else if short && has(spaced, ABILITIES) {
        phrases::ABILITIES
    } else if short && has(spaced, THANKS) {
        phrases::THANKS
    } else if short && has(spaced, GOODBYES) {
        phrases::GOODBYE
    } else if short && has(spaced, GREETINGS) && !view.question.contains('?') {
        phrases::GREETING
    } else {
        return None;
    };
    Some(said.to_owned())
}

fn sum(question: &str) -> Option<String> {
    let (sum, result) = arithmetic::find(question)?;
    Some(result.map_or_else(|| phrases::NO_SUM.to_owned(), |result| phrases::sum(&sum, &arithmetic::show(result))))
}

/// Finds the statements of the person or the notes that answer the question, best first and newer
/// before older.
fn known(view: &PromptView<'_>) -> Option<String> {
    let mut asked = words::stems(&view.question);
    asked.sort_unstable();
    asked.dedup();
    let candidates = candidates(view);
    let stems: Vec<Vec<String>> = candidates.iter().map(|told| words::stems(told.words)).collect();
    let scores = words::score(&asked, &stems);
    let covers = |stems: &[String]| asked.iter().filter(|word| stems.contains(word)).count() * 2 >= asked.len();
    let scored = scores.into_iter().zip(stems.iter().zip(&candidates));
    let fitting = scored.filter(|(score, (stems, _))| *score > 0.0 && covers(stems));
    let mut hits: Vec<(f64, &QuotedSentence<'_>)> = fitting.map(|(score, (_, told))| (score, told)).collect();
    // The sort is stable, so among equals the newer stays first.
    hits.reverse();
    hits.sort_by(|a, b| b.0.total_cmp(&a.0));
    let best = hits.first()?.0;
    let good = hits.iter().take_while(|(score, _)| *score >= best * 0.75);
    let mut lines: Vec<String> = good.map(|(_, told)| format!("{}\n{}", told.origin, quote(told.words))).collect();
    lines.dedup();
    lines.truncate(3);
    Some(lines.join("\n\n"))
}

/// A sentence, and the introduction of its quote.
struct QuotedSentence<'a> {
    origin: &'static str,
    words: &'a str,
}

/// All candidate sentences, oldest first. Questions are not candidates.
fn candidates<'a>(view: &PromptView<'a>) -> Vec<QuotedSentence<'a>> {
    let mut candidates = Vec::new();
    for (origin, texts) in [
        (phrases::NOTES_SAY, &view.notes),
        (phrases::YOU_TOLD, &view.said),
        (phrases::PASSED_ON, &view.passed_on),
        (phrases::PASSED_ON, &view.material),
    ] {
        let sentences = texts.iter().flat_map(|text| words::sentences(text));
        let telling = sentences.filter(|sentence| !sentence.ends_with('?'));
        candidates.extend(telling.map(|words| QuotedSentence { origin, words }));
    }
    candidates
}

/// Renders the tool results as quotes under the tool's name.
fn results(view: &PromptView<'_>) -> String {
    let asked = words::stems(&view.question);
    let shown = view.results.iter().map(|(tool, text)| {
        if text.trim().is_empty() {
            return phrases::found_nothing(tool);
        }
        // Search hits come in order of relevance; of a page only some sentences are relevant.
        let shown = if *tool == "memory_search" { quotes(text.lines()) } else { extract(text, &asked) };
        format!("{}\n{shown}", phrases::found(tool))
    });
    shown.collect::<Vec<_>>().join("\n\n")
}

/// The sentences of a text that best match the words, or its first ones, in their original order.
fn extract(text: &str, asked: &[String]) -> String {
    let sentences: Vec<&str> = words::sentences(text).collect();
    let stems: Vec<Vec<String>> = sentences.iter().map(|sentence| words::stems(sentence)).collect();
    let scores = words::score(asked, &stems);
    let mut order: Vec<usize> = (0..sentences.len()).collect();
    order.sort_by(|a, b| scores.get(*b).unwrap_or(&0.0).total_cmp(scores.get(*a).unwrap_or(&0.0)));
    order.truncate(MAX_QUOTES);
    order.sort_unstable();
    let shown = quotes(order.iter().filter_map(|at| sentences.get(*at).copied()));
    if sentences.len() > MAX_QUOTES { format!("{shown}\n\n{}", phrases::TRUNCATED) } else { shown }
}

fn quotes<'a>(lines: impl Iterator<Item = &'a str>) -> String {
    let lines = lines.filter(|line| !line.trim().is_empty());
    lines.take(MAX_QUOTES).map(quote).collect::<Vec<_>>().join("\n")
}

fn quote(words: &str) -> String {
    let visible: String = words.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    format!("> {}", text::shorten(&text::one_line(&visible), MAX_QUOTE))
}

/// Builds the search query for earlier conversations.
fn query(question: &str) -> String {
    let telling = words::significant_words(question);
    let about_talk: Vec<String> = ABOUT_TALK.iter().flat_map(|word| words::stems(word)).collect();
    let mut kept: Vec<&str> =
        telling.iter().filter(|word| !about_talk.contains(&word.stem)).map(|word| word.surface).collect();
    if kept.is_empty() {
        kept = telling.iter().map(|word| word.surface).collect();
    }
    if kept.is_empty() { text::shorten(question, 200) } else { text::shorten(&kept.join(" "), 200) }
}

/// Finds the first web address in a text.
fn address(text: &str) -> Option<String> {
    let word = text.split_whitespace().map(|word| word.trim_start_matches(['<', '(', '"', '\'', '[']));
    let word = word.into_iter().find(|word| word.starts_with("http://") || word.starts_with("https://"))?;
    let word = word.trim_end_matches(['>', ')', '"', '\'', ']', '.', ',', ';', ':', '!', '?']);
    url::Url::parse(word).is_ok_and(|url| url.has_host()).then(|| word.to_owned())
}

fn is_question(question: &str, spaced: &str) -> bool {
    question.trim_end().ends_with('?') || ASKING.iter().any(|word| spaced.starts_with(word))
}

fn has(spaced: &str, cues: &[&str]) -> bool {
    cues.iter().any(|cue| spaced.contains(cue))
}

fn offers(view: &PromptView<'_>, tool: &str) -> bool {
    view.tools.contains(&tool)
}
