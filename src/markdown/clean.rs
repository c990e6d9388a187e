//! Cleans Markdown before it is parsed: characters that a display obeys instead of showing, and
//! hostile nesting.
//!
//! Removed are control characters, terminal escape sequences, direction overrides, and invisible
//! characters that could carry or split hidden words. Joiners and variation selectors stay where
//! they shape what is displayed: inside emoji, and (joiners) between letters of scripts that need
//! them. One pass; cleaning is idempotent.
//!
//! The start of each line may open only so many quotes and lists and be indented only so far,
//! because the parser's work per blank line grows with the number of open containers; both limits
//! are far beyond ordinary text. An excess marker is disarmed by an invisible character in front of
//! it, which is removed again after parsing; so code that begins with forty `>` is still displayed
//! exactly.

const ESCAPE: char = '\u{1b}';
const JOINER: char = '\u{200d}';
const NON_JOINER: char = '\u{200c}';
/// Flags that Unicode spells with invisible tag letters. Other tags could smuggle any text.
const TAG_FLAGS: [&str; 3] = [
    "\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
    "\u{1f3f4}\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}",
    "\u{1f3f4}\u{e0067}\u{e0062}\u{e0077}\u{e006c}\u{e0073}\u{e007f}",
];

/// Returns the text without control and invisible characters. Newlines and tabs stay; a carriage
/// return becomes a newline.
pub fn strip_control(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut last = '\0';
    while let Some(c) = rest.chars().next() {
        if let Some((flag, after)) = tag_flag(rest) {
            out.push_str(flag);
            (rest, last) = (after, '\u{1f3f4}');
            continue;
        }
        rest = rest.get(c.len_utf8()..).unwrap_or_default();
        let shown = match c {
            ESCAPE | '\u{80}'..='\u{9f}' => {
                rest = after_sequence(c, rest);
                None
            }
            '\r' => Some('\n').filter(|_| !rest.starts_with('\n')),
            '\u{2028}' | '\u{2029}' => Some('\n'),
            _ => Some(c).filter(|c| is_shown(*c, last, rest.chars().next())),
        };
        if let Some(shown) = shown {
            out.push(shown);
            last = shown;
        }
    }
    out
}

fn tag_flag(rest: &str) -> Option<(&'static str, &str)> {
    if !rest.starts_with('\u{1f3f4}') {
        return None;
    }
    TAG_FLAGS.iter().find_map(|flag| Some((*flag, rest.strip_prefix(flag)?)))
}

/// Returns the text after an escape sequence whose introducer has been read. An incomplete sequence
/// loses only its introducer, so that it cannot swallow text.
fn after_sequence(introducer: char, rest: &str) -> &str {
    match (introducer, rest.chars().next()) {
        (ESCAPE, Some('[')) => {
            let body = rest.get(1..).unwrap_or_default();
            after_control_sequence(body).unwrap_or(body)
        }
        (ESCAPE, Some(']' | 'P' | 'X' | '^' | '_')) => {
            let body = rest.get(1..).unwrap_or_default();
            after_string(body).unwrap_or(body)
        }
        (ESCAPE, _) => after_short_sequence(rest).unwrap_or(rest),
        ('\u{9b}', _) => after_control_sequence(rest).unwrap_or(rest),
        ('\u{90}' | '\u{98}' | '\u{9d}'..='\u{9f}', _) => after_string(rest).unwrap_or(rest),
        _ => rest,
    }
}

fn after_control_sequence(body: &str) -> Option<&str> {
    let body = body.trim_start_matches(|c| matches!(c, '0'..='?')).trim_start_matches(|c| matches!(c, ' '..='/'));
    body.strip_prefix(|c| matches!(c, '@'..='~'))
}

fn after_short_sequence(body: &str) -> Option<&str> {
    let body = body.trim_start_matches(|c| matches!(c, ' '..='/'));
    body.strip_prefix(|c| matches!(c, '0'..='~'))
}

/// Strings end with BEL or ST on the same line; searching no further than the next control
/// character keeps this linear.
fn after_string(body: &str) -> Option<&str> {
    let end = body.find(char::is_control)?;
    let tail = body.get(end..)?;
    ["\u{7}", "\u{1b}\\", "\u{9c}"].iter().find_map(|terminator| tail.strip_prefix(terminator))
}

fn is_shown(c: char, last: char, next: Option<char>) -> bool {
    match c {
        '\n' | '\t' => true,
        JOINER => joins_emoji(last, next) || joins_letters(last, next),
        NON_JOINER => joins_letters(last, next),
        '\u{fe0e}' | '\u{fe0f}' => is_emoji(last) || matches!(last, '0'..='9' | '#' | '*'),
        _ => !c.is_control() && !is_invisible(c),
    }
}

fn joins_emoji(last: char, next: Option<char>) -> bool {
    (is_emoji(last) || last == '\u{fe0f}') && next.is_some_and(is_emoji)
}

fn joins_letters(last: char, next: Option<char>) -> bool {
    is_joining_script(last) && next.is_some_and(is_joining_script)
}

fn is_joining_script(c: char) -> bool {
    matches!(c, '\u{620}'..='\u{6ff}' | '\u{700}'..='\u{dff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17b3}' | '\u{17b6}'..='\u{17ff}')
        && c != '\u{6dd}'
}

/// Blocks that contain every emoji base. Wider than the exact property, which only admits harmless
/// selectors.
fn is_emoji(c: char) -> bool {
    matches!(c,
        '\u{a9}' | '\u{ae}' | '\u{203c}' | '\u{2049}' | '\u{2122}' | '\u{2139}' | '\u{2190}'..='\u{21ff}'
        | '\u{2300}'..='\u{23ff}' | '\u{24c2}' | '\u{25a0}'..='\u{27bf}' | '\u{2934}' | '\u{2935}'
        | '\u{2b00}'..='\u{2bff}' | '\u{3030}' | '\u{303d}' | '\u{3297}' | '\u{3299}'
        | '\u{1f000}'..='\u{1faff}')
}

fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffc}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

const MAX_MARKERS: usize = 32;
const MAX_INDENT: usize = 160;
const DISARM: char = '\u{200b}';

/// Returns the Markdown with the nesting of each line bounded.
pub(super) fn limit_nesting(source: &str) -> String {
    let mut out = String::with_capacity(source.len());
    for line in source.split_inclusive('\n') {
        tame_line(line, &mut out);
    }
    out
}

fn tame_line(line: &str, out: &mut String) {
    let (mut markers, mut indent, mut last) = (0, 0, '\0');
    let mut chars = line.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let before_space = chars.peek().is_none_or(|(_, next)| next.is_whitespace());
        match c {
            ' ' => indent += 1,
            '\t' => indent += 4,
            '>' => markers += 1,
            '-' | '*' | '+' if before_space => markers += 1,
            '.' | ')' if before_space && last.is_ascii_digit() => markers += 1,
            '-' | '*' | '+' | '0'..='9' => {}
            _ => return out.push_str(line.get(at..).unwrap_or_default()),
        }
        last = c;
        if markers > MAX_MARKERS {
            out.extend(Some(DISARM).filter(|_| !is_rule(line)));
            return out.push_str(line.get(at..).unwrap_or_default());
        }
        if indent <= MAX_INDENT || !matches!(c, ' ' | '\t') {
            out.push(c);
        }
    }
}

fn is_rule(line: &str) -> bool {
    let mut marks = line.chars().filter(|c| !c.is_whitespace());
    marks.next().is_some_and(|first| matches!(first, '-' | '*') && marks.all(|c| c == first))
}
