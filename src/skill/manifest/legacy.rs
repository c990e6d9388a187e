//! Skills without a description in the front matter: an optional heading, and a first paragraph
//! that states the purpose.

use super::LONGEST_DESCRIPTION;

/// Returns the first paragraph on one line, if there is one.
pub(super) fn description(body: &str) -> Option<String> {
    let lines: Vec<&str> = body.lines().map(str::trim).collect();
    let is_text = |index: usize, line: &str| {
        let underlined = lines.get(index + 1).is_some_and(|next| is_underline(next));
        !line.is_empty() && !is_heading(line) && !is_rule(line) && !underlined
    };
    let mut text = lines.iter().enumerate().filter(|(index, line)| is_text(*index, line)).map(|(index, _)| index);
    let first = text.next()?;
    let paragraph: Vec<&str> =
        lines.iter().skip(first).copied().take_while(|line| !line.is_empty() && !is_heading(line)).collect();
    let line = crate::text::one_line(&paragraph.join(" "));
    Some(crate::text::shorten(&line, LONGEST_DESCRIPTION))
}

fn is_heading(line: &str) -> bool {
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    (1..=6).contains(&level) && line.chars().nth(level).is_none_or(char::is_whitespace)
}

/// Returns whether the line makes the previous one a heading.
fn is_underline(line: &str) -> bool {
    line.len() >= 3 && (line.bytes().all(|byte| byte == b'=') || line.bytes().all(|byte| byte == b'-'))
}

/// Returns whether the line is only a separator.
fn is_rule(line: &str) -> bool {
    line.chars().all(|c| matches!(c, '-' | '=' | '*' | '_' | '`' | '~' | ' '))
}
