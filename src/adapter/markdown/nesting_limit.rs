//! Protects the Markdown parser from hostile nesting, because its work per blank line grows with
//! the number of open containers. The start of each line may open only so many quotes and lists and
//! be indented only so far; both limits are far beyond ordinary text.
//!
//! An excess marker is disarmed by an invisible character in front of it, which is removed again
//! after parsing; so code that begins with forty `>` is still displayed exactly.

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
