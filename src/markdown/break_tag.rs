//! The HTML tag `<br>`, the only one that is obeyed instead of displayed: models write it where
//! Markdown has no line break, above all in tables.

/// Returns the text after the tag that it begins with.
pub(super) fn strip_prefix(text: &str) -> Option<&str> {
    let inner = text.strip_prefix('<')?;
    let (name, rest) = inner.strip_prefix('/').unwrap_or(inner).split_at_checked(2)?;
    let rest = rest.trim_start();
    name.eq_ignore_ascii_case("br").then(|| rest.strip_prefix('/').unwrap_or(rest).strip_prefix('>')).flatten()
}

/// Splits a text around its first tag.
pub(super) fn split(text: &str) -> Option<(&str, &str)> {
    text.match_indices('<').find_map(|(at, _)| {
        let (before, tag) = text.split_at_checked(at)?;
        Some((before, strip_prefix(tag)?))
    })
}

/// Returns the text with a newline in place of every tag.
pub(super) fn replace(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = split(rest) {
        out.push_str(before);
        out.push('\n');
        rest = after;
    }
    out.push_str(rest);
    out
}
