//! Answers of the offline model.
//!
//! The order matters: tool results are shown first, because they were requested; then come
//! unambiguous requests; then known facts; then a search in earlier conversations; everything else
//! is quoted back. What no tool did is never claimed.

use serde_json::json;

use super::prompt_view::PromptView;
use super::requests::{PlainRequest, plain_request};
use super::words::{self, has_cue};
use crate::model::ToolCall;
use crate::text;
use crate::wording::offline as phrases;
use crate::wording::search::NOTHING_SAID;

/// Maximum number of characters in a quote.
const MAX_QUOTE: usize = 300;

/// Maximum number of quotes in an answer.
const MAX_QUOTES: usize = 5;

const GREETINGS: &str = "\
    hello|hi|hey|good morning|good evening|good afternoon|hallo|servus|moin|guten tag|guten morgen|guten abend|\
    gruss gott";
const THANKS: &str = "thanks|thank you|thx|danke|dankeschon|cheers";
const GOODBYES: &str = "bye|goodbye|good night|see you|gute nacht|tschuss|bis bald";
const HOW: &str = "how are you|how's it going|wie geht's|wie geht es dir";
const WHO: &str =
    "who are you|what are you|your name|are you a bot|are you human|wer bist du|wie heisst du|bist du ein";
const ABILITIES: &str = "what can you do|what do you do|can you help|help|help me|was kannst du|hilfe";
const CLOCK: &str = "\
    what time|what's the time|what is the time|what day|which day|what date|the date|what year|today's date|\
    wie spat|wieviel uhr|wie viel uhr|welcher tag|welches datum|welchen tag|uhrzeit";
const PAST: &str = "\
    did we talk|did we discuss|we talked|we discussed|do you remember|last time|earlier conversation|\
    earlier conversations|previous conversation|previous conversations|our conversations|my conversations|\
    past conversations|haben wir gesprochen|haben wir geredet|erinnerst du dich|letztes mal|weisst du noch";
const ASKING: &str = "\
    what|what's|who|who's|whom|whose|where|when|why|which|how|is|are|do|does|did|can|could|tell me|wer|wo|wann|\
    warum|wie|welche|welcher|welches|sag mir";
/// Words of a question about the past that are useless as search terms.
const ABOUT_TALK: &str = "talk discuss conversation search last time week yesterday gesprochen";

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
    if view.question.is_empty() && view.is_decision {
        return OfflineAnswer::signed(phrases::ALL_RIGHT);
    }
    if view.question.is_empty() {
        let piped = view.piped.filter(|piped| is_question(piped, &words::spaced(piped)));
        // Text from outside may be looked up, and asks for nothing else.
        return piped.map_or_else(|| OfflineAnswer::signed(&without_words(view)), |piped| inquiry(view, piped));
    }
    if let Some(address) = address(&view.question) {
        return match offers(view, "web_fetch") {
            true => OfflineAnswer::calling(view, "web_fetch", &json!({ "url": address })),
            false => OfflineAnswer::signed(phrases::NO_WEB),
        };
    }
    if let Some(answer) = plain_request(&view.question, view.time).and_then(|request| carry_out(view, request)) {
        return answer;
    }
    let spaced = words::spaced(&view.question);
    let wants_to_know = has_cue(&spaced, PAST) || is_question(&view.question, &spaced);
    if wants_to_know || small_talk(&view.question, view).is_some() || sum(&view.question).is_some() {
        return inquiry(view, &view.question);
    }
    OfflineAnswer::signed(&with_picture(view, format!("{}\n{}", phrases::HEARD, quote(&view.question))))
}

/// Answers a question: small talk, a sum, what is known, or a search.
fn inquiry(view: &PromptView<'_>, question: &str) -> OfflineAnswer {
    if let Some(words) = small_talk(question, view).or_else(|| sum(question)) {
        return OfflineAnswer::signed(&words);
    }
    if let Some(known) = known(view, question) {
        return OfflineAnswer::signed(&with_picture(view, known));
    }
    if offers(view, "memory_search") {
        let arguments = json!({ "in": "conversations", "query": query(question), "limit": MAX_QUOTES });
        return OfflineAnswer::calling(view, "memory_search", &arguments);
    }
    OfflineAnswer::signed(&with_picture(view, phrases::UNKNOWN.to_owned()))
}

/// Calls the tool for a request, or says what the request lacks. `None` if the tool is not offered.
fn carry_out(view: &PromptView<'_>, request: PlainRequest) -> Option<OfflineAnswer> {
    let (tool, arguments) = match request {
        PlainRequest::Remind { when, .. } if when.is_empty() => {
            return Some(OfflineAnswer::signed(phrases::REMIND_WHEN));
        }
        PlainRequest::Remind { text, .. } if text.is_empty() => {
            return Some(OfflineAnswer::signed(phrases::REMIND_OF_WHAT));
        }
        PlainRequest::Remind { when, text } => ("remind", json!({ "when": when, "text": text })),
        PlainRequest::Remember { title, content } => {
            ("remember", json!({ "title": title, "content": content, "kind": "reference" }))
        }
        PlainRequest::Search(query) => ("memory_search", json!({ "query": query, "limit": MAX_QUOTES })),
        PlainRequest::ListReminders => ("list_scheduled", json!({})),
    };
    offers(view, tool).then(|| OfflineAnswer::calling(view, tool, &arguments))
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

fn small_talk(question: &str, view: &PromptView<'_>) -> Option<String> {
    let spaced = &words::spaced(question);
    if has_cue(spaced, CLOCK) && !has_cue(spaced, PAST) {
        return Some(phrases::now(view.day, view.time));
    }
    let is_short = spaced.split_whitespace().count() <= 5;
    let is_greeting = is_short && !question.contains('?');
    let answers = [
        (true, WHO, phrases::WHO),
        (true, HOW, phrases::WELL),
        (is_short, ABILITIES, phrases::ABILITIES),
        (is_short, THANKS, phrases::THANKS),
        (is_short, GOODBYES, phrases::GOODBYE),
        (is_greeting, GREETINGS, phrases::GREETING),
    ];
    let answer = answers.into_iter().find(|(may_answer, cues, _)| *may_answer && has_cue(spaced, cues));
    answer.map(|(_, _, words)| words.to_owned())
}

fn sum(question: &str) -> Option<String> {
    let (sum, result) = evaluate(question)?;
    Some(result.map_or_else(|| phrases::NO_SUM.to_owned(), |result| phrases::sum(&sum, &show_number(result))))
}

/// Finds the statements of the person or the notes that answer the question, best first and newer
/// before older.
fn known(view: &PromptView<'_>, question: &str) -> Option<String> {
    let mut question_stems = words::stems(question);
    question_stems.sort_unstable();
    question_stems.dedup();
    let candidates = candidates(view);
    let stems: Vec<Vec<String>> = candidates.iter().map(|sentence| words::stems(sentence.words)).collect();
    let scores = words::score(&question_stems, &stems);
    let covers = |stems: &[String]| {
        question_stems.iter().filter(|word| stems.contains(word)).count() * 2 >= question_stems.len()
    };
    let scored = scores.into_iter().zip(stems.iter().zip(&candidates));
    let fitting = scored.filter(|(score, (stems, _))| *score > 0.0 && covers(stems));
    let mut hits: Vec<(f64, &QuotedSentence<'_>)> = fitting.map(|(score, (_, sentence))| (score, sentence)).collect();
    // The sort is stable, so among equals the newer stays first.
    hits.reverse();
    hits.sort_by(|a, b| b.0.total_cmp(&a.0));
    let best = hits.first()?.0;
    let good = hits.iter().take_while(|(score, _)| *score >= best * 0.75);
    let mut lines: Vec<String> =
        good.map(|(_, sentence)| format!("{}\n{}", sentence.origin, quote(sentence.words))).collect();
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
        (phrases::YOU_TOLD, &view.typed),
        (phrases::PASSED_ON, &view.forwarded),
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
    let question_stems = words::stems(&view.question);
    let shown = view.results.iter().map(|(tool, text)| {
        if text.trim().is_empty() {
            return phrases::found_nothing(tool);
        }
        if text.trim() == NOTHING_SAID {
            return phrases::UNKNOWN.to_owned();
        }
        // Search hits come in order of relevance; of a page only some sentences are relevant.
        let shown = match *tool {
            "web_fetch" => extract(text, &question_stems),
            "memory_search" => quotes(text.replace(phrases::SIGNATURE, "").lines().map(without_address)),
            _ => quotes(text.lines()),
        };
        format!("{}\n{shown}", phrases::found(tool))
    });
    shown.collect::<Vec<_>>().join("\n\n")
}

/// A hit without the address at its end, which only a tool can read.
fn without_address(hit: &str) -> &str {
    hit.rsplit_once(" (conversations/").filter(|(_, rest)| rest.ends_with(')')).map_or(hit, |(words, _)| words)
}

/// The sentences of a text that best match the words, or its first ones, in their original order.
fn extract(text: &str, question_stems: &[String]) -> String {
    let sentences: Vec<&str> = words::sentences(text).collect();
    let stems: Vec<Vec<String>> = sentences.iter().map(|sentence| words::stems(sentence)).collect();
    let scores = words::score(question_stems, &stems);
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
    let about_talk = words::stems(ABOUT_TALK);
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
    question.trim_end().ends_with('?') || words::starts_with_cue(spaced, ASKING)
}

fn offers(view: &PromptView<'_>, tool: &str) -> bool {
    view.tools.contains(&tool)
}

/// Finds the expression in a question and its result: `what is 12*7?` gives `12*7` and 84. The
/// inner `None` is an expression without a result, such as a division by zero; the outer one means
/// no expression.
fn evaluate(question: &str) -> Option<(String, Option<f64>)> {
    let sum = longest_run(question)?;
    let operators = sum.chars().filter(|c| "+-*/".contains(*c)).count();
    let digits = sum.chars().filter(char::is_ascii_digit).count();
    if operators == 0 || digits < 2 || sum.len() > 100 {
        return None;
    }
    let mut parser = ExpressionParser { rest: sum.chars().filter(|c| *c != ' ').collect::<Vec<_>>(), at: 0, depth: 0 };
    let result = parser.sum();
    // A date or a range of numbers looks like the beginning of an expression; only text that parses
    // to its end counts.
    if parser.at < parser.rest.len() {
        return None;
    }
    Some((sum, Some(result?).filter(|result| result.is_finite())))
}

/// Formats a number as a person writes it.
fn show_number(number: f64) -> String {
    let text = format!("{number:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The question's one run of digits, operators and brackets; `None` if there are several, or if the
/// run is a date.
fn longest_run(question: &str) -> Option<String> {
    let question = question.replace(['×', '·'], "*").replace('÷', "/").replace('−', "-");
    let is_part = |c: char| c.is_ascii_digit() || "+-*/(). ".contains(c);
    let with_digits = |run: &&str| run.chars().any(|c| c.is_ascii_digit());
    let mut runs =
        question.split(|c| !is_part(c)).map(|run| run.trim().trim_end_matches('.').trim()).filter(with_digits);
    let run = runs.next()?.to_owned();
    let is_date = run.split('-').count() == 3 && run.chars().all(|c| c.is_ascii_digit() || c == '-');
    if runs.next().is_some() || is_date { None } else { Some(run) }
}

struct ExpressionParser {
    rest: Vec<char>,
    at: usize,
    depth: usize,
}

impl ExpressionParser {
    /// Parses a sum. `None` is a syntax error, NaN an undefined number.
    fn sum(&mut self) -> Option<f64> {
        let mut value = self.product()?;
        while let Some(operator) = self.take("+-") {
            let next = self.product()?;
            value = if operator == '+' { value + next } else { value - next };
        }
        Some(value)
    }

    fn product(&mut self) -> Option<f64> {
        let mut value = self.factor()?;
        while let Some(operator) = self.take("*/") {
            let next = self.factor()?;
            value = match operator {
                '*' => value * next,
                _ if next == 0.0 => f64::NAN,
                _ => value / next,
            };
        }
        Some(value)
    }

    fn factor(&mut self) -> Option<f64> {
        const DEEPEST: usize = 20;
        if self.take("-").is_some() {
            self.depth += 1;
            return if self.depth > DEEPEST { None } else { Some(-self.factor()?) };
        }
        if self.take("(").is_some() {
            self.depth += 1;
            let inner = if self.depth > DEEPEST { None } else { self.sum() };
            self.take(")")?;
            return inner;
        }
        let mut number = String::new();
        while let Some(c) = self.take("0123456789.") {
            number.push(c);
        }
        number.parse().ok()
    }

    fn take(&mut self, any: &str) -> Option<char> {
        let c = self.rest.get(self.at).copied().filter(|c| any.contains(*c))?;
        self.at += 1;
        Some(c)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_table_of_sums() {
        let result = |question: &str| evaluate(question).map(|(_, result)| result.map(show_number).unwrap_or_default());
        for (question, expected) in [
            ("what is 12*7?", Some("84")),
            ("2 + 3 * 4", Some("14")),
            ("(2+3)*4 =", Some("20")),
            ("was ist 7 ÷ 2", Some("3.5")),
            ("1/3", Some("0.333333")),
            ("-3 - -4", Some("1")),
            ("1/0", Some("")),
            ("I am 12", None),
            ("on 2026-11-20", None),
            ("call 555-1234 or 555-9876", None),
            ("2 +", None),
            ("((((", None),
            ("", None),
        ] {
            assert_eq!(result(question).as_deref(), expected, "{question}");
        }
    }

    proptest! {
        #[test]
        fn any_question_is_survived(question in "[-0-9+*/(). a]{0,120}") {
            let _ = evaluate(&question);
        }
    }
}
