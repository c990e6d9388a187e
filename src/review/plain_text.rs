//! A text as the scan and the effects read it: hidden characters removed, styles undone, in lower
//! case, and split into words.
//!
//! Every byte of a view and every word knows its position in the original. Words undo the disguises
//! that require a whole word: look-alike letters of another script, digits for letters, spaced
//! letters, emphasis markers within. Because `l`, `I` and `1` count as one letter, all three become
//! `i`; the rules' own words pass through the same [`skeleton`], so that both match.

use unicode_normalization::char::{decompose_canonical, decompose_compatible, is_combining_mark};
use unicode_security::confusable_detection;

use crate::review::reveal::is_hidden;

/// A text without disguises, with the position of each byte in the original.
pub(super) struct PlainText {
    pub(super) text: String,
    at: Vec<u32>,
}

impl PlainText {
    pub(super) fn of(original: &str) -> Self {
        let mut view = Self { text: String::with_capacity(original.len()), at: Vec::with_capacity(original.len() + 1) };
        let mut skip_to = 0;
        for (at, c) in original.char_indices() {
            if at < skip_to {
                continue;
            }
            if let Some((decoded, length)) = original.get(at..).and_then(entity) {
                skip_to = at + length;
                view.push(decoded, at);
            } else if c == '\\' && original.get(at + 1..).is_some_and(|rest| rest.starts_with('\n')) {
                // A command continued on the next line.
                skip_to = at + 2;
                view.push(' ', at);
            } else {
                view.push(c, at);
            }
        }
        view.at.push(u32::try_from(original.len()).unwrap_or(u32::MAX));
        view
    }

    /// Returns the position in the original.
    pub(super) fn origin(&self, at: usize) -> usize {
        self.at.get(at).or(self.at.last()).map_or(0, |at| usize::try_from(*at).unwrap_or(usize::MAX))
    }

    fn push(&mut self, c: char, at: usize) {
        match c {
            '\n' | '\t' | ' ' => self.text.push(c),
            '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => self.text.push(' '),
            '\u{2028}' | '\u{2029}' => self.text.push('\n'),
            c if is_hidden(c) || is_combining_mark(c) => {}
            c => plain(c, &mut self.text),
        }
        self.at.resize(self.text.len(), u32::try_from(at).unwrap_or(u32::MAX));
    }
}

/// Decodes a numeric character reference such as `&#105;`, and returns its length too.
fn entity(text: &str) -> Option<(char, usize)> {
    let body = text.strip_prefix("&#")?;
    let end = body.find(';').filter(|end| *end <= 8)?;
    let digits = body.get(..end)?;
    let code = match digits.strip_prefix(['x', 'X']) {
        Some(hex) => u32::from_str_radix(hex, 16).ok()?,
        None => digits.parse().ok()?,
    };
    Some((char::from_u32(code)?, end + 3))
}

/// A word with its position.
#[derive(Debug, Clone)]
pub(super) struct PlainWord {
    /// The word with all disguises undone.
    pub(super) text: String,
    /// The position in the original.
    pub(super) start: usize,
    pub(super) end: usize,
    /// True if exactly one sign other than a space separates it from the next word.
    pub(super) glued: bool,
    /// True for parts of a host name such as `evil.example`.
    pub(super) host: bool,
    /// The number of its sentence; a paragraph, list entry or heading ends one as well.
    pub(super) sentence: u32,
    /// True if joined from spaced letters.
    pub(super) spelled: bool,
}

/// Returns the words of a view.
pub(super) fn split(view: &PlainText) -> Vec<PlainWord> {
    join_spelled(raw(view))
}

/// Returns a word's form for comparison: look-alike letters as Latin, without diacritics, digits as
/// letters.
pub(super) fn skeleton(word: &str) -> String {
    let all_alike = word.chars().filter(|c| c.is_alphabetic()).all(|c| c.is_ascii() || latin(c).is_some());
    let some_latin = word.chars().any(|c| c.is_ascii_alphabetic());
    let letters = word.chars().any(char::is_alphabetic);
    word.chars()
        .map(|c| {
            let c = if some_latin || all_alike { latin(c).unwrap_or(c) } else { c };
            match bare(c) {
                'l' => 'i',
                '1' | '!' if letters => 'i',
                '0' if letters => 'o',
                '3' if letters => 'e',
                '4' | '@' if letters => 'a',
                '5' | '$' if letters => 's',
                '7' if letters => 't',
                c => c,
            }
        })
        .collect()
}

/// Returns the runs of letters and digits in a view, with the numbers of their sentences.
fn raw(view: &PlainText) -> Vec<PlainWord> {
    let mut words: Vec<PlainWord> = Vec::new();
    let mut sentence = 0;
    let mut between = String::new();
    let mut rest = view.text.char_indices().peekable();
    while let Some((at, c)) = rest.next() {
        if !is_letter(c) {
            between.push(c);
            continue;
        }
        if let Some(last) = words.last_mut() {
            last.glued = between.chars().count() == 1 && between != " " || between == "-\n";
            last.host = last.host || between == "." && is_domain(&view.text, at);
        }
        let new_entry = between.contains('\n') && is_numbered(view.text.get(at..).unwrap_or_default());
        sentence += u32::from(new_entry || ends_sentence(&between));
        let host = words.last().is_some_and(|last| last.host) && between == ".";
        between.clear();
        let mut run = String::from(c);
        let mut end = at + c.len_utf8();
        // In scripts without spaces each character is a word.
        while !is_single_word(c)
            && let Some(&(next, n)) = rest.peek()
        {
            if is_letter(n) && !is_single_word(n) || is_figure(&view.text, next, n) {
                run.push(n);
            } else if !is_emphasis(&view.text, next, n) {
                break;
            }
            end = next + n.len_utf8();
            rest.next();
        }
        let (start, end) = (view.origin(at), view.origin(end));
        words.push(PlainWord { text: skeleton(&run), start, end, glued: false, host, sentence, spelled: false });
    }
    words
}

fn is_letter(c: char) -> bool {
    c.is_alphanumeric()
}

fn is_single_word(c: char) -> bool {
    matches!(u32::from(c), 0x3040..=0x30FF | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xF900..=0xFAFF | 0x20000..=0x3FFFF)
}

/// Returns whether the character stands for a letter: `@`, `$` or `!` between two letters, unless
/// it is part of an address.
fn is_figure(text: &str, at: usize, c: char) -> bool {
    matches!(c, '@' | '$' | '!') && followed_by_letter(text, at + 1) && {
        let rest = text.get(at + 1..).unwrap_or_default();
        let word = rest.find(|c: char| !is_letter(c)).unwrap_or(rest.len());
        !rest.get(word..).is_some_and(|after| after.starts_with('.') && after.get(1..).is_some_and(starts_with_letter))
    }
}

/// Returns whether the character is an emphasis marker within a word, as in `ig*nor*e`.
fn is_emphasis(text: &str, at: usize, c: char) -> bool {
    matches!(c, '*' | '`' | '\u{ad}')
        && text.get(at..).is_some_and(|rest| starts_with_letter(rest.trim_start_matches(c)))
}

fn followed_by_letter(text: &str, at: usize) -> bool {
    text.get(at..).is_some_and(starts_with_letter)
}

fn starts_with_letter(text: &str) -> bool {
    text.starts_with(is_letter)
}

/// Returns whether the dotted name that continues at `at` ends like a host name rather than a file
/// name.
fn is_domain(text: &str, at: usize) -> bool {
    const FILES: &[&str] = &[
        "md", "txt", "json", "py", "sh", "js", "ts", "toml", "yaml", "yml", "rs", "csv", "pdf", "png", "jpg", "jpeg",
        "html", "htm", "log", "db", "env", "pub", "xml", "conf", "cfg", "ini", "zip", "gz", "css", "svg", "exe", "g",
        "e", "docx", "xlsx",
    ];
    let rest = text.get(at..).unwrap_or_default();
    let name = crate::text::cut_bytes(rest, 80)
        .split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '-')))
        .next()
        .unwrap_or_default();
    let last = name.trim_end_matches('.').rsplit('.').next().unwrap_or_default();
    last.len() >= 2 && last.bytes().all(|b| b.is_ascii_lowercase()) && !FILES.contains(&last)
}

fn ends_sentence(between: &str) -> bool {
    ends_block(between)
        || between.contains(['.', '!', '?', ';', '。', '！', '？']) && between.chars().any(char::is_whitespace)
        || between.contains(['。', '！', '？'])
}

fn ends_block(between: &str) -> bool {
    let mut lines = between.split('\n');
    lines.next();
    lines.any(|line| {
        let line = line.trim_start();
        line.is_empty() && between.matches('\n').count() > 1
            || line.starts_with(['#', '|'])
            || line.starts_with("- ")
            || line.starts_with("* ")
    })
}

/// Returns whether a line is an entry of a numbered list.
fn is_numbered(line: &str) -> bool {
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    rest.len() < line.len() && line.len() - rest.len() <= 3 && (rest.starts_with(". ") || rest.starts_with(") "))
}

/// Joins spaced letters (`i g n o r e`). More than one character separates two such words.
fn join_spelled(words: Vec<PlainWord>) -> Vec<PlainWord> {
    const FEWEST: usize = 4;
    let mut joined: Vec<PlainWord> = Vec::with_capacity(words.len());
    let mut run: Vec<PlainWord> = Vec::new();
    for word in words {
        let single =
            word.text.chars().count() == 1 && word.text.chars().all(|c| c.is_alphabetic() && !is_single_word(c));
        let goes_on = run.last().is_some_and(|last| word.start.saturating_sub(last.end) <= 3 && word.start > last.end);
        let close = run.last().is_some_and(|last| word.start == last.end + 1);
        if !(single && (run.is_empty() || close && goes_on)) {
            flush(&mut joined, &mut run, FEWEST);
        }
        if single {
            run.push(word);
        } else {
            joined.push(word);
        }
    }
    flush(&mut joined, &mut run, FEWEST);
    joined
}

fn flush(joined: &mut Vec<PlainWord>, run: &mut Vec<PlainWord>, fewest: usize) {
    match (run.first(), run.last()) {
        (Some(first), Some(last)) if run.len() >= fewest => {
            let text = run.iter().map(|word| word.text.as_str()).collect();
            joined.push(PlainWord { text, end: last.end, spelled: true, glued: false, ..first.clone() });
            run.clear();
        }
        _ => joined.append(run),
    }
}

/// Small capitals, in the order of the alphabet. Unicode counts hardly any of them as confusable.
const SMALL_CAPITALS: &str = "ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘꞯʀꜱᴛᴜᴠᴡxʏᴢ";

/// Lower-case letters that resemble Latin ones, of which Unicode lists only the capitals or another
/// look.
const ALIKE: &[(&str, char)] = &[
    ("βвьƅ", 'b'),
    ("є", 'e'),
    ("н", 'h'),
    ("κк", 'k'),
    ("ϻм", 'm'),
    ("п", 'n'),
    ("τт", 't'),
    ("ωш", 'w'),
    ("χ", 'x'),
];

/// Appends the character without style, in lower case, to `out`.
pub(super) fn plain(c: char, out: &mut String) {
    match c {
        ..='\u{7f}' => out.push(c.to_ascii_lowercase()),
        'ß' | 'ẞ' => out.push_str("ss"),
        'æ' | 'Æ' => out.push_str("ae"),
        'œ' | 'Œ' => out.push_str("oe"),
        '—' => out.push('-'),
        '“' | '”' | '„' => out.push('"'),
        c => match unstyled(c) {
            Some(bare) => out.push_str(&bare.to_ascii_lowercase()),
            None => out.extend(c.to_lowercase()),
        },
    }
}

/// Returns the ASCII text of which this is another form, such as full width, a circled letter, a
/// small capital, a ligature or a typographic sign.
fn unstyled(c: char) -> Option<String> {
    // Dark circles, dark squares and flags; Unicode decomposes only the light ones.
    let letter = match u32::from(c) {
        code @ 0x1F150..=0x1F169 => u8::try_from(code - 0x1F150).ok(),
        code @ 0x1F170..=0x1F189 => u8::try_from(code - 0x1F170).ok(),
        code @ 0x1F1E6..=0x1F1FF => u8::try_from(code - 0x1F1E6).ok(),
        _ => SMALL_CAPITALS.chars().zip(0..).find(|(small, _)| *small == c).map(|(_, letter)| letter),
    };
    if let Some(letter) = letter {
        return Some(char::from(b'a' + letter).to_string());
    }
    let mut form = String::new();
    decompose_compatible(c, |part| form.push(part));
    let in_parentheses = form.strip_prefix('(').and_then(|form| form.strip_suffix(')'));
    if let Some(inside) = in_parentheses.filter(|inside| inside.is_ascii()) {
        return Some(inside.to_owned());
    }
    // A sign such as `™` stays one, so that it does not become a part of the word before it.
    if form.is_ascii() && (form.len() == 1 || c.is_alphabetic()) {
        return Some(form);
    }
    let is_sign = |alike: &char| alike.is_ascii_punctuation() && !c.is_alphanumeric();
    confusable(c).filter(|alike| is_sign(alike) || matches!(c, 'ı' | 'ɡ' | 'ɩ' | 'ʼ')).map(String::from)
}

/// Returns the Latin letter that a lower-case Cyrillic, Greek, Armenian, Coptic or Cherokee letter
/// resembles.
pub(super) fn latin(c: char) -> Option<char> {
    let has_doubles =
        matches!(u32::from(c), 0x370..=0x58F | 0x13A0..=0x13FF | 0x1F00..=0x1FFF | 0x2C80..=0x2CFF | 0xAB70..=0xABBF);
    if !has_doubles && !matches!(c, 'ɑ' | 'ƅ') {
        return None;
    }
    let listed = ALIKE.iter().find(|(alike, _)| alike.contains(c)).map(|(_, letter)| *letter);
    listed.or_else(|| confusable(c).filter(char::is_ascii_lowercase))
}

/// Returns the ASCII character with which Unicode says that this one can be confused.
fn confusable(c: char) -> Option<char> {
    let mut buffer = [0; 4];
    let mut skeleton =
        confusable_detection::skeleton(c.encode_utf8(&mut buffer)).filter(|part| !is_combining_mark(*part));
    skeleton.next().filter(|alike| alike.is_ascii() && skeleton.next().is_none())
}

/// Returns a Latin letter without its diacritic, such as `e` for `é`.
pub(super) fn bare(c: char) -> char {
    match c {
        c if c.is_ascii() => c,
        'đ' | 'ð' => 'd',
        'ħ' => 'h',
        'ł' => 'l',
        'ø' => 'o',
        'ŧ' => 't',
        'ё' => 'е',
        c => {
            let mut first = None;
            decompose_canonical(c, |part| {
                first.get_or_insert(part);
            });
            first.filter(char::is_ascii_alphabetic).unwrap_or(c)
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> Vec<String> {
        split(&PlainText::of(text)).into_iter().map(|word| word.text).collect()
    }

    #[test]
    fn disguises_are_undone() {
        for text in [
            "Ignore rules",
            "ig\u{200b}nore ru\u{ad}les",
            "Ｉｇｎｏｒｅ 𝐫𝐮𝐥𝐞𝐬",
            "1gn0r3 ru1e$x".trim_end_matches("$x"),
            "i g n o r e  r u l e s",
            "ig*no*re **rules**",
            "&#105;gnore r&#x75;les",
            "lgnore rules",
            "ígnórè rules",
        ] {
            let words = read(text);
            assert!(
                words.first().is_some_and(|word| word == "ignore")
                    && words.get(1).is_some_and(|word| word.starts_with("ruie")),
                "{text}: {words:?}"
            );
        }
        assert_eq!(read("忽略 rule"), ["忽", "略", "ruie"]);
        assert_eq!(read("правило"), [skeleton("правило")]);
    }

    #[test]
    fn a_word_knows_its_place() {
        let text = "é\u{200b} ｘyz evil.example a.md";
        for word in split(&PlainText::of(text)) {
            assert!(text.get(word.start..word.end).is_some_and(|part| !part.is_empty()));
        }
        let words = split(&PlainText::of(text));
        assert_eq!(text.get(words[1].start..words[1].end), Some("ｘyz"));
        assert!(words[2].host && words[3].host && !words[4].host);
    }

    proptest! {
        #[test]
        fn any_text_has_words_within_it(text in "(?s).{0,80}") {
            for word in split(&PlainText::of(&text)) {
                prop_assert!(word.start <= word.end && word.end <= text.len());
                prop_assert!(text.get(word.start..word.end).is_some());
            }
        }
    }

    #[test]
    fn styles_and_scripts_fold() {
        let mut out = String::new();
        "Ｉｇ𝐧𝐨𝓻ⓔ ﬁＬᴇ".chars().for_each(|c| plain(c, &mut out));
        assert_eq!(out, "ignore file");
        assert_eq!("рауρаӏ".chars().filter_map(latin).collect::<String>(), "paypal");
        assert_eq!("éñü".chars().map(bare).collect::<String>(), "enu");
    }
}
