//! Changes of a section leave everything else untouched.

use proptest::prelude::*;

use super::*;

const MEMORY: &str = "<!--\n# no heading\n-->\nLikes tea.\n\n## Recent facts\n\n## Index\n";

fn names(text: &str) -> Vec<&str> {
    sections(text).iter().filter(|part| part.level > 0).map(|part| part.name).collect()
}

#[test]
fn headings_are_lines_of_hashes_and_nothing_that_looks_alike() {
    for (text, found) in [
        ("# a\n## b ##\n### c#\n", vec!["a", "b", "c#"]),
        ("   # a\n    # code\n", vec!["a"]),
        ("```\n# x\n```\n# y\n", vec!["y"]),
        ("~~~ sh\n# x\n```\n# x\n~~~\n# y", vec!["y"]),
        ("````\n```\n# x\n````\n# y", vec!["y"]),
        ("- ```\n  # x\n  ```\n# y", vec!["y"]),
        ("> # x\n# y", vec!["y"]),
        ("<!--\n# x\n-->\n# y", vec!["y"]),
        ("---\nname: a\n# x\n---\n# y", vec!["y"]),
        ("#x\n####### x\n\\# x\n# y\r\n", vec!["y"]),
        ("x\n===\n# y", vec!["y"]),
        ("#\n# y", vec!["", "y"]),
    ] {
        assert_eq!(names(text), found, "{text}");
    }
}

#[test]
fn parts_say_where_they_stand() {
    let text = "top\n# a\n\none\n## b\ntwo";
    let parts: Vec<_> =
        sections(text).into_iter().map(|part| (part.name, part.level, part.line, part.first, part.own)).collect();
    assert_eq!(parts, [("", 0, 1, 1, "top\n"), ("a", 1, 2, 3, "\none\n"), ("b", 2, 5, 6, "two")]);
}

#[test]
fn a_section_has_its_subsections_in_it() {
    let text = "# a\none\n## b\ntwo\n# c\nthree";
    assert_eq!(read(text, "A"), Some("one\n## b\ntwo\n"));
    assert_eq!((read(text, "## b"), read(text, "d")), (Some("two\n"), None));
}

#[test]
fn adding_goes_after_the_last_words() {
    for (text, name, add, after) in [
        (MEMORY, "Recent facts", "- a", "<!--\n# no heading\n-->\nLikes tea.\n\n## Recent facts\n\n- a\n\n## Index\n"),
        ("## a\n\n- x\n\n\n## b\n", "a", "- y", "## a\n\n- x\n- y\n\n\n## b\n"),
        ("## a\nwords\n## b", "a", "more\n", "## a\nwords\n\nmore\n\n## b"),
        ("## a\n\n\n## b\n", "a", "- y", "## a\n\n- y\n\n## b\n"),
        ("## a\nwords\n\n\n## b\n", "a", "- y", "## a\nwords\n\n- y\n\n## b\n"),
        ("## a\r\n\r\n", "a", "- y", "## a\r\n\r\n- y\r\n"),
        ("## a\n- x", "a", "- y", "## a\n- x\n- y"),
        ("## a", "a", "- y", "## a\n\n- y\n"),
        ("## a\r\n- x\r\n", "a", "- y\n- z", "## a\r\n- x\r\n- y\r\n- z\r\n"),
        ("## a\nx\n", "a", " \n", "## a\nx\n"),
        ("## a\n", "New one", "x", "## a\n\n## New one\n\nx\n"),
        ("", "a", "x", "## a\n\nx\n"),
        ("top", "a", "x", "top\n\n## a\n\nx\n"),
        ("top\n\n## Index\n\n- i\n", "a", "x", "top\n\n## a\n\nx\n\n## Index\n\n- i\n"),
        ("## Insights\n", "a", "x", "## a\n\nx\n\n## Insights\n"),
    ] {
        assert_eq!(append(text, name, add), after, "{text}");
    }
}

/// Proves: files/section
#[test]
fn replacing_leaves_odd_spacing_code_and_the_missing_last_line_end_alone() {
    let odd =
        "#  Odd  \n\n\n  text\t\n```\n# x\n```\n##   b\n\n\nold\nolder\n\n\n\n### c ###\n   ~~~\n## y\n   ~~~\nlast";
    let after = replace(odd, "c", "new\nlines");
    assert_eq!(after, odd.replace("   ~~~\n## y\n   ~~~\nlast", "new\nlines"));
    assert_eq!(replace("# a\n\nold\n\n# b\n", "a", "new"), "# a\n\nnew\n\n# b\n");
    assert_eq!(replace("# a\n\nold\n\n# b\n", "a", ""), "# a\n\n\n# b\n");
    assert_eq!(replace("# a\n# b\n", "a", "new"), "# a\n\nnew\n\n# b\n");
}

#[test]
fn words_that_would_reach_out_of_their_section_are_seen() {
    let text = "## a\nx\n\n## b\ny\n";
    for add in ["```\nnever closed", "## c\nx", "# c", "<!-- never closed"] {
        assert!(!changes_only(text, &append(text, "a", add), "a"), "{add}");
        assert!(!changes_only(text, &replace(text, "a", add), "a"), "{add}");
    }
    for add in ["### below\nx", "- x", "```\n# x\n```"] {
        assert!(changes_only(text, &append(text, "a", add), "a"), "{add}");
        assert!(changes_only(text, &append(text, "new", add), "new"), "{add}");
    }
    let open = "```\nnever closed\n";
    assert!(!changes_only(open, &append(open, "a", "x"), "a"));
}

fn files() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        Just("# one".to_owned()),
        Just("## two ##".to_owned()),
        Just("  ## two".to_owned()),
        Just("### three".to_owned()),
        Just("## Index".to_owned()),
        Just("```".to_owned()),
        Just("~~~ sh".to_owned()),
        Just("<!-- # c".to_owned()),
        Just("-->".to_owned()),
        Just("- **k**: v".to_owned()),
        Just("---".to_owned()),
        Just(String::new()),
        "[ \t]{0,5}",
        "[a-z# `~>-]{0,12}",
    ];
    let end = prop_oneof![3 => Just("\n"), 1 => Just("\r\n")];
    (prop::collection::vec((line, end), 0..14), any::<bool>()).prop_map(|(lines, whole)| {
        let text: String = lines.iter().map(|(line, end)| format!("{line}{end}")).collect();
        if whole { text } else { text.trim_end_matches(['\n', '\r']).to_owned() }
    })
}

proptest! {
    /// Proves: files/section
    #[test]
    fn text_outside_the_edited_section_stays_byte_for_byte(
        text in files(), name in "(one|two|three|Index|new)", add in "[a-z][a-z ]{0,9}(\n[a-z]{1,5})?", whole in any::<bool>(),
    ) {
        let after = if whole { replace(&text, &name, &add) } else { append(&text, &name, &add) };
        match span(&text, &name) {
            Some((from, to)) => {
                prop_assert!(after.starts_with(text.get(..from).unwrap()), "{:?} became {:?}", text, after);
                prop_assert!(after.ends_with(text.get(to..).unwrap()), "{:?} became {:?}", text, after);
                if !whole {
                    let kept = text.get(from..to).unwrap().trim_end();
                    prop_assert!(after.get(from..).unwrap().starts_with(kept));
                }
            }
            None => {
                let is_between = |at: usize| after.starts_with(text.get(..at).unwrap()) && after.ends_with(text.get(at..).unwrap());
                prop_assert!((0..=text.len()).any(is_between), "{:?} became {:?}", text, after);
            }
        }
        prop_assert!(after.replace("\r\n", "\n").contains(&add));
    }

    #[test]
    fn a_section_reads_back_as_written_and_keeps_both_additions(text in files(), one in "[a-z]{1,9}", other in "[a-z]{1,9}") {
        let first = append(&text, "two", &one);
        prop_assume!(changes_only(&text, &first, "two"));
        let second = append(&first, "two", &other);
        prop_assume!(changes_only(&first, &second, "two"));
        let section = read(&second, "two").unwrap();
        prop_assert!(section.contains(&one) && section.contains(&other), "{:?}", second);
        prop_assert!(changes_only(&text, &second, "two"));
        let replaced = replace(&second, "two", &one);
        prop_assert_eq!(read(&replaced, "two").unwrap().trim(), one.as_str());
    }

    #[test]
    fn parts_are_the_whole_text_but_for_its_headings(text in files()) {
        let own: usize = sections(&text).iter().map(|part| part.own.len()).sum();
        let heads: usize = headings(&text).iter().map(|heading| heading.to - heading.from).sum();
        prop_assert_eq!(own + heads, text.len());
    }

    #[test]
    fn any_text_has_sections(text in "(?s).{0,200}", name in ".{0,20}", add in "(?s).{0,60}") {
        let _ = (sections(&text), append(&text, &name, &add), replace(&text, &name, &add));
    }
}
