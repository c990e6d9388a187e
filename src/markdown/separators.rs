//! Invisible separators, inserted before parsing where CommonMark reads Markdown otherwise than
//! models mean it. The source has no invisible characters, because it has been cleaned, and every
//! text from the parser is cleaned again. So a separator changes what is parsed, and is never
//! displayed, not even in code or an address.
//!
//! CommonMark tells from the neighbours of a run of `*` or `~` whether it opens or closes emphasis,
//! and expects a space beside punctuation: in `**注意：**必ず` the second run cannot close, and in
//! `中文**（加粗）**` the first cannot open. In scripts without spaces both are made possible; in others
//! only closing, for `**Note:**this`. The run gets a letter as its neighbour, and the punctuation
//! keeps punctuation beside it.
//!
//! A run is made to close only where emphasis of its kind is open, and to open only where none is,
//! so that stray marks change little. Pairs are still made by the parser. A `_` inside a word is
//! never emphasis.
//!
//! A `<br>` at the start of a line would turn the following lines into HTML. Punctuation in front of
//! it makes it part of a paragraph.

use icu_properties::CodePointMapData;
use icu_properties::props::{GeneralCategory, GeneralCategoryGroup};

use super::break_tag;

/// A letter for the parser.
const LETTER: char = '\u{200b}';
/// Punctuation for the parser.
const PUNCTUATION: char = '\u{fffc}';

/// Punctuation that ends a phrase in any script.
const ENDS_PHRASE: &[char] =
    &['.', ',', ':', ';', '!', '?', ')', ']', '"', '\'', '`', '%', '…', '“', '”', '‘', '’', '»', '›'];
/// Punctuation that never begins a phrase, besides closing brackets.
const NEVER_FIRST: &[char] = &['、', '。', '，', '．', '：', '；', '！', '？', '｡', '､'];
/// Punctuation that begins a phrase only before a letter, as in `.env`.
const RARELY_FIRST: &[char] = &['.', ',', ':', ';', '!', '?'];

/// Returns the Markdown with separators.
pub(super) fn insert(source: &str) -> String {
    let mut out = String::with_capacity(source.len());
    let mut open = OpenEmphasis::default();
    let mut before = ['\n', '\n'];
    let mut rest = source;
    while let Some((text, special)) = rest.find(['*', '~', '\\', '<']).and_then(|at| rest.split_at_checked(at)) {
        out.push_str(text);
        before = last_two(before, text);
        if text.contains("\n\n") {
            open = OpenEmphasis::default();
        }
        let (token, after) = special.split_at_checked(token_len(special)).unwrap_or((special, ""));
        rest = after;
        let is_break = break_tag::strip_prefix(token).is_some();
        let side = open.separated_side(token, before, after);
        out.extend(Some(PUNCTUATION).filter(|_| is_break || side == Some(Side::Before)));
        out.extend(Some(LETTER).filter(|_| side == Some(Side::Before)));
        out.push_str(token);
        if side == Some(Side::After) {
            out.extend([LETTER, PUNCTUATION]);
        }
        before = last_two(before, if is_break { "\n" } else { token });
    }
    out.push_str(rest);
    out
}

/// Length of the run of marks, escaped character, `<br>` or single character that the text begins
/// with.
fn token_len(text: &str) -> usize {
    let mut chars = text.chars();
    let first = chars.next();
    let second = chars.as_str();
    let rest = match first {
        Some(mark @ ('*' | '~')) => second.trim_start_matches(mark),
        Some('\\') => second.strip_prefix(|c: char| c.is_ascii_punctuation()).unwrap_or(second),
        _ => break_tag::strip_prefix(text).unwrap_or(second),
    };
    text.len() - rest.len()
}

fn last_two(before: [char; 2], text: &str) -> [char; 2] {
    let mut last = text.chars().rev();
    match (last.next(), last.next()) {
        (Some(second), Some(first)) => [first, second],
        (Some(second), None) => [before[1], second],
        _ => before,
    }
}

/// Returns true if the words between two marks begin and end in a script without spaces.
pub(super) fn encloses_cjk(marked: &str) -> bool {
    let words = marked.trim_matches(['*', '~', LETTER, PUNCTUATION]);
    words.starts_with(is_cjk) && words.ends_with(is_cjk)
}

/// Side of a run that gets separators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Before,
    After,
}

/// Kinds of emphasis that are open in the current paragraph, as far as can be told without parsing.
#[derive(Debug, Default)]
struct OpenEmphasis {
    strong: bool,
    italic: bool,
    strike: bool,
}

impl OpenEmphasis {
    /// Registers a token and returns the side on which it needs separators, if it is a run of marks.
    fn separated_side(&mut self, token: &str, before: [char; 2], after: &str) -> Option<Side> {
        let is_open = match token {
            "*" => &mut self.italic,
            "~~" => &mut self.strike,
            _ if token.starts_with('*') => &mut self.strong,
            _ => return None,
        };
        let mut following = after.chars();
        let next = following.next().filter(|_| break_tag::strip_prefix(after).is_none()).unwrap_or('\n');
        let after = [next, following.next().unwrap_or('\n')];
        let run = Run { before, after, is_single: token == "*" };
        let (side, is_open_after) = match (run.can_open(), run.can_close(), *is_open) {
            (true, false, true) if run.follows_phrase() => (Some(Side::Before), false),
            (false, true, false) if run.precedes_phrase() => (Some(Side::After), true),
            (true, _, false) => (None, !run.is_operator()),
            (_, true, _) => (None, false),
            (_, false, unchanged) => (None, unchanged),
        };
        *is_open = is_open_after;
        side
    }
}

/// A run of marks between two characters on each side.
struct Run {
    before: [char; 2],
    after: [char; 2],
    /// A single star, which may be a multiplication or a footnote as well.
    is_single: bool,
}

impl Run {
    /// Returns true if CommonMark lets the run open emphasis.
    fn can_open(&self) -> bool {
        let ([_, last], [next, _]) = (self.before, self.after);
        !is_space(next) && (!is_punctuation(next) || is_space(last) || is_punctuation(last))
    }

    /// Returns true if CommonMark lets the run close emphasis.
    fn can_close(&self) -> bool {
        let ([_, last], [next, _]) = (self.before, self.after);
        !is_space(last) && (!is_punctuation(last) || is_space(next) || is_punctuation(next))
    }

    /// Returns true between the punctuation that ends a phrase and a letter.
    fn follows_phrase(&self) -> bool {
        let ([last_but_one, last], [next, _]) = (self.before, self.after);
        let is_cjk_pair = (is_cjk(last) || is_cjk(next)) && !is_opening(last);
        let is_factor = self.is_single && matches!(last, ')' | '）') && !is_cjk(next);
        let ends_phrase = !self.is_single && ENDS_PHRASE.contains(&last);
        let opens_quote = matches!(last, '"' | '\'' | '`') && (is_space(last_but_one) || is_opening(last_but_one));
        let can_end = (is_cjk_pair && !is_factor) || ends_phrase;
        is_punctuation(last) && next.is_alphanumeric() && can_end && !opens_quote
    }

    /// Returns true between a letter and the punctuation that begins a phrase.
    fn precedes_phrase(&self) -> bool {
        let ([_, last], [next, second]) = (self.before, self.after);
        let never_first = is_closing(next)
            || NEVER_FIRST.contains(&next)
            || (RARELY_FIRST.contains(&next) && !second.is_ascii_alphanumeric());
        let is_factor = self.is_single && matches!(next, '(' | '（');
        let has_cjk = is_cjk(last) || is_cjk(next) || is_cjk(second);
        is_punctuation(next) && has_cjk && !never_first && !is_factor
    }

    /// Returns true if the run may be an operator, as in `x**2`.
    fn is_operator(&self) -> bool {
        let ([_, last], [next, _]) = (self.before, self.after);
        let is_operand = |c: char| c.is_alphanumeric() && !is_cjk(c);
        (is_operand(last) || matches!(last, ')' | ']')) && (is_operand(next) || next == '(')
    }
}

/// A bar separates like a space, because it ends a table cell.
fn is_space(c: char) -> bool {
    c.is_whitespace() || c == '|'
}

fn category(c: char) -> GeneralCategory {
    CodePointMapData::<GeneralCategory>::new().get(c)
}

fn is_punctuation(c: char) -> bool {
    let category = category(c);
    GeneralCategoryGroup::Punctuation.contains(category) || GeneralCategoryGroup::Symbol.contains(category)
}

fn is_opening(c: char) -> bool {
    matches!(category(c), GeneralCategory::OpenPunctuation | GeneralCategory::InitialPunctuation)
}

fn is_closing(c: char) -> bool {
    matches!(category(c), GeneralCategory::ClosePunctuation | GeneralCategory::FinalPunctuation)
}

/// Letters and punctuation of Chinese, Japanese, Korean and Yi.
fn is_cjk(c: char) -> bool {
    matches!(c,
        '\u{1100}'..='\u{11ff}' | '\u{2e80}'..='\u{a4cf}' | '\u{a960}'..='\u{a97f}' | '\u{ac00}'..='\u{d7ff}'
        | '\u{f900}'..='\u{faff}' | '\u{fe10}'..='\u{fe1f}' | '\u{fe30}'..='\u{fe6f}' | '\u{ff00}'..='\u{ffef}'
        | '\u{1aff0}'..='\u{1b16f}' | '\u{20000}'..='\u{3ffff}')
}
