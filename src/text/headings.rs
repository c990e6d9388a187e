//! Headings of a Markdown text that is shown under a heading of ours.

/// Puts a text below a heading: its own first heading of the first level is dropped, because it
/// repeats ours, headings without content are dropped, and the rest is demoted so that none is
/// above `level`. A line of code that looks like a heading is demoted too, so no line of the result
/// can pass for a heading of ours.
pub fn below(text: &str, level: usize) -> String {
    let mut lines: Vec<HeadingLine<'_>> = classify(text);
    if let Some(first) = lines.iter().position(|line| !line.text.trim().is_empty())
        && lines.get(first).is_some_and(|line| line.level == 1 && !line.is_code)
    {
        lines.drain(..=first);
    }
    let kept: Vec<&HeadingLine<'_>> =
        (0..lines.len()).filter(|at| !is_empty_section(&lines, *at)).filter_map(|at| lines.get(at)).collect();
    let highest = kept.iter().filter(|line| line.level > 0 && !line.is_code).map(|line| line.level).min();
    let shift = highest.map_or(0, |highest| level.saturating_sub(highest));
    let mut out: Vec<String> = Vec::new();
    for line in kept {
        let is_blank = line.text.trim().is_empty();
        if is_blank && out.last().is_none_or(|last| last.trim().is_empty()) && !line.is_code {
            continue;
        }
        out.push(if line.level == 0 {
            line.text.to_owned()
        } else {
            let marks = "#".repeat((line.level + shift).max(level).min(level.max(6)));
            format!("{marks}{}", line.text.trim_start_matches('#'))
        });
    }
    out.join("\n").trim().to_owned()
}

/// A line with the level of its heading; zero for another line.
#[derive(Debug, Clone, Copy)]
struct HeadingLine<'t> {
    level: usize,
    is_code: bool,
    text: &'t str,
}

fn classify(text: &str) -> Vec<HeadingLine<'_>> {
    let mut is_code = false;
    text.lines()
        .map(|line| {
            let is_fence = line.trim_start().starts_with("```");
            let marks = line.len() - line.trim_start_matches('#').len();
            let is_followed = line.get(marks..).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
            let is_heading = (1..=6).contains(&marks) && is_followed;
            let classified =
                HeadingLine { level: if is_heading { marks } else { 0 }, is_code: is_code || is_fence, text: line };
            is_code ^= is_fence;
            classified
        })
        .collect()
}

/// Returns true if that line is a heading with nothing below it.
fn is_empty_section(lines: &[HeadingLine<'_>], at: usize) -> bool {
    let Some(heading) = lines.get(at).filter(|line| line.level > 0 && !line.is_code) else { return false };
    for line in lines.iter().skip(at + 1) {
        if line.level > 0 && !line.is_code {
            if line.level <= heading.level {
                return true;
            }
        } else if !line.text.trim().is_empty() {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn one_level_of_headings_under_ours() {
        for (text, shown) in [
            ("# Who you are\n\nCalm.\n", "Calm."),
            ("# How to work\n\n- a\n\n# What is told\n\n- b", "- a\n\n### What is told\n\n- b"),
            ("Prose.\n\n## Recent facts\n\n- **a**: b\n\n## Index\n", "Prose.\n\n### Recent facts\n\n- **a**: b"),
            ("\n\n## Recent facts\n\n## Index\n", ""),
            ("## One\n### Two\nwords\n#### Three\n", "### One\n#### Two\nwords"),
            ("# A\n# B\nwords", "### B\nwords"),
            ("text\n```\n# code\n\n\n## more\n```", "text\n```\n### code\n\n\n### more\n```"),
            ("#hashtag\n#\n", "#hashtag"),
            ("###### deep\nx\n# top\ny", "###### deep\nx\n### top\ny"),
            ("", ""),
        ] {
            assert_eq!(below(text, 3), shown, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn no_line_passes_for_a_heading_of_ours(text in "(#{0,7} ?[a-b]{0,2}\n|```\n|\n){0,20}") {
            let shown = below(&text, 3);
            prop_assert!(shown.lines().all(|line| !line.starts_with("# ") && !line.starts_with("## ")), "{}", shown);
            prop_assert_eq!(text.matches('a').count() >= shown.matches('a').count(), true);
        }
    }
}
