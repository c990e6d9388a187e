//! LaTeX between `\(` and `\)` or `\[` and `\]`, displayed as typed: its backslashes are no escapes,
//! its stars and underscores no emphasis. Brackets without a partner in the same paragraph are
//! ordinary escaped brackets, and so are those of an escaped link.

use std::ops::Range;

use pulldown_cmark::{Event, TagEnd};

use crate::markdown::is_blank;

type Events<'e> = [(Event<'e>, Range<usize>)];

/// Restores the backslashes of formulas. Returns the positions of the formulas in order.
pub(super) fn restore_backslashes(source: &str, events: &mut Events<'_>) -> Vec<Range<usize>> {
    let escaped = escaped_texts(source, events);
    let formulas = find(source, events, &escaped);
    if formulas.is_empty() {
        return formulas;
    }
    for ((event, range), is_escaped) in events.iter_mut().zip(escaped) {
        if let Event::Text(text) = event
            && is_escaped
            && contains(&formulas, range.start)
        {
            *text = format!("\\{text}").into();
        }
    }
    formulas
}

/// Returns true if the position is in a formula.
pub(super) fn contains(formulas: &[Range<usize>], position: usize) -> bool {
    let next = formulas.partition_point(|formula| formula.end <= position);
    formulas.get(next).is_some_and(|formula| formula.contains(&position))
}

/// Tells for each event whether it is a text that the parser took a backslash from.
fn escaped_texts(source: &str, events: &Events<'_>) -> Vec<bool> {
    let mut shown_to = 0;
    let is_escaped = |(event, range): &(Event<'_>, Range<usize>)| {
        if matches!(event, Event::Start(_) | Event::End(_)) {
            return false;
        }
        let after_backslash = source.get(..range.start).is_some_and(|before| before.ends_with('\\'));
        // A backslash that is displayed is escaped itself.
        let is_escaped = after_backslash && shown_to < range.start && matches!(event, Event::Text(_));
        shown_to = range.end;
        is_escaped
    };
    events.iter().map(is_escaped).collect()
}

fn find(source: &str, events: &Events<'_>, escaped: &[bool]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut open: Option<(char, usize)> = None;
    for ((event, range), is_escaped) in events.iter().zip(escaped) {
        if ends_paragraph(event) {
            open = None;
        }
        let rest = source.get(range.start..).filter(|_| *is_escaped).unwrap_or_default();
        let opening = match rest.chars().next() {
            Some(bracket @ ('(' | '[')) => {
                open = Some((bracket, range.start));
                continue;
            }
            Some(')') => '(',
            Some(']') if !rest.starts_with("](") && !rest.starts_with("][") => '[',
            _ => continue,
        };
        if let Some((_, start)) = open.take_if(|(bracket, _)| *bracket == opening) {
            // Up to the backslash.
            let content = source.get(start + 1..range.start - 1).unwrap_or_default();
            found.extend(Some(start..range.start + 1).filter(|_| !is_blank(content)));
        }
    }
    found
}

fn ends_paragraph(event: &Event<'_>) -> bool {
    let tag = match event {
        Event::Start(tag) => tag.to_end(),
        Event::End(tag) => *tag,
        _ => return false,
    };
    !matches!(tag, TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough | TagEnd::Link | TagEnd::Image)
}
