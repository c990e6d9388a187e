//! Manifests as people write them, valid ones, and unusual ones.

use super::*;
use proptest::prelude::*;

fn manifest(text: &str) -> Manifest {
    read(text, "here").unwrap().0
}

/// Returns name and description of a file in the folder `here`.
fn said(text: &str) -> (String, String) {
    let manifest = manifest(text);
    (manifest.name, manifest.description)
}

fn refused(text: &str) -> (usize, ManifestProblem) {
    let problem = read(text, "here").unwrap_err();
    (problem.line, problem.what)
}

fn faults(text: &str) -> Vec<(usize, ManifestProblem)> {
    strict(text, "here").into_iter().map(|problem| (problem.line, problem.what)).collect()
}

/// Proves: skills/open-format
#[test]
fn a_skill_is_read_in_every_accepted_format() {
    for (text, name, description) in [
        ("---\nname: a\ndescription: Does b\n---\n# T\nText\n", "a", "Does b"),
        ("---\r\nname: a\r\ndescription: Does b\r\n---\r\nText\r\n", "a", "Does b"),
        ("\u{feff}---\nname: a\ndescription: Does b\n---\n", "a", "Does b"),
        ("\n\n---\nname: a\ndescription: Does b\n---", "a", "Does b"),
        ("---   \nname: 'a'\ndescription: \"Use: when b\"\n--- \n", "a", "Use: when b"),
        ("---\nname: a\ndescription: >\n  Does\n  b\n---\n", "a", "Does b"),
        ("---\nname: a\ndescription: |\n  Does\n  b\n---\n", "a", "Does\nb"),
        ("---\nname: 7\ndescription: 1.10\n---\n", "7", "1.10"),
        // Broken YAML, read line by line.
        ("---\nname: a\ndescription: Use when: b or c: d\n---\n", "a", "Use when: b or c: d"),
        ("---\nname: \"a\"\ndescription: Use when: b\n  or c\n---\n", "a", "Use when: b or c"),
        ("---\nname: a\nx: y: z\ndescription: >-\n  Does: b\n  c\n---\n", "a", "Does: b c"),
        ("---\nname: a\ndescription: *b\n---\n", "a", "*b"),
        ("---\nname: a\nx: &b c\ndescription: *b\n---\n", "a", "*b"),
        // The description is in the text.
        ("---\nname: a\n---\n# T\n\nFirst\nparagraph.\n\nSecond.\n", "a", "First paragraph."),
        ("---\nname: a\ndescription:\n---\nFirst.\n", "a", "First."),
        ("# Title\n\nFirst paragraph.\n# Next\n", "here", "First paragraph."),
        ("Title\n=====\n\nFirst.\n", "here", "First."),
        ("Just this", "here", "Just this"),
        ("#hashtag first\n", "here", "#hashtag first"),
        ("---\nname: \"a\\u202eb\"\ndescription: c\n---\n", "here", "c"),
        ("---\nname:\ndescription: c\n---\n", "here", "c"),
    ] {
        assert_eq!(said(text), (name.to_owned(), description.to_owned()), "{text:?}");
    }
}

#[test]
fn the_form_says_where_the_description_stood() {
    assert_eq!(manifest("---\ndescription: b\n---\n").form, ManifestFormat::FrontMatter);
    assert_eq!(manifest("---\nname: a\n---\nb\n").form, ManifestFormat::Legacy);
}

#[test]
fn the_body_is_what_comes_after_the_front_matter() {
    assert_eq!(read("---\nname: a\ndescription: b\n---\n\n# T\n---\nx", "a").unwrap().1, "\n# T\n---\nx");
    assert_eq!(read("# T\nx", "a").unwrap().1, "# T\nx");
}

#[test]
fn the_other_fields() {
    let read = manifest(
        "---\nname: a\ndescription: b\nlicense: MIT\ncompatibility: Needs c\nallowed-tools: Bash(git add:*) Read, Write\nunknown: 1\n\
         metadata:\n  version: 1.10\n  yes: no\n  requires_tools: web_fetch memory_search\n  platforms: [linux, macos]\n  deep:\n    - x\n    - y: z\n---\n",
    );
    assert_eq!((read.license.as_deref(), read.compatibility.as_deref()), (Some("MIT"), Some("Needs c")));
    assert_eq!(read.allowed_tools, ["Bash(git add:*)", "Read", "Write"]);
    assert_eq!(read.requires_tools, ["web_fetch", "memory_search"]);
    assert_eq!(read.platforms, ["linux", "macos"]);
    assert_eq!(read.metadata["version"], "1.10");
    assert_eq!(read.metadata["yes"], "no");
    assert_eq!(read.metadata["deep"], "x, y: z");
    for list in
        ["requires-tools: [a, b]", "requires_tools:\n  - a\n  - b", "requires-tools: a b", "requires_tools: 'a, b'"]
    {
        assert_eq!(manifest(&format!("---\ndescription: b\n{list}\n---\n")).requires_tools, ["a", "b"], "{list}");
    }
}

#[test]
fn a_skill_without_a_description_is_refused_with_its_line() {
    let long = format!("---\nname: a\nx: {}\n---\n", "y".repeat(LONGEST_FRONT));
    for (text, problem) in [
        ("", (1, ManifestProblem::Blank)),
        ("  \n\n", (1, ManifestProblem::Blank)),
        ("\u{feff}", (1, ManifestProblem::Blank)),
        ("---\nname: a\ndescription: b\n", (1, ManifestProblem::Unclosed)),
        ("\n---\nname: a\n----\n", (2, ManifestProblem::Unclosed)),
        ("---\nname: a\n---\n\n# Only a heading\n", (1, ManifestProblem::NoDescription)),
        ("# Only a heading\n", (1, ManifestProblem::NoDescription)),
        ("---\n---\n", (1, ManifestProblem::NoDescription)),
        (long.as_str(), (1, ManifestProblem::LongFront)),
    ] {
        assert_eq!(refused(text), problem, "{:?}", crate::text::cut_bytes(text, 60));
    }
}

#[test]
fn bytes_that_are_no_text_are_refused_with_their_line() {
    let folder = |bytes: &[u8]| SkillFolder::new([(MAIN.to_owned(), std::sync::Arc::from(bytes))]);
    assert_eq!(
        Manifest::of("a", &folder(b"---\nname: \xff\n")),
        Err(Problem { line: 2, what: ManifestProblem::NotText })
    );
    assert_eq!(Manifest::of("a", &SkillFolder::default()), Err(Problem { line: 1, what: ManifestProblem::Missing }));
    let problem = Manifest::of("a", &folder(b"---\nname: a")).unwrap_err();
    let says = "line 1: the front matter begins here and does not end; put a line of three dashes after it";
    assert_eq!(problem.to_string(), says);
}

#[test]
fn a_bomb_stays_small() {
    let aliases = format!("---\nname: a\ndescription: b\nx: &x [y, y]\n{}---\n", "z: [*x, *x]\n".repeat(50));
    assert_eq!(said(&aliases), ("a".to_owned(), "b".to_owned()));
    let deep = format!("---\nname: a\ndescription: b\nx: {}\n---\n", "[".repeat(20_000));
    assert_eq!(said(&deep), ("a".to_owned(), "b".to_owned()));
    let steps: String = (0..200).map(|depth| format!("{}x:\n", " ".repeat(depth))).collect();
    assert_eq!(said(&format!("---\nname: a\ndescription: b\n{steps}---\n")), ("a".to_owned(), "b".to_owned()));
}

#[test]
fn a_valid_manifest_has_no_faults() {
    for text in [
        "---\nname: here\ndescription: Does b\n---\n",
        "---\r\nname: here\r\ndescription: \"Use: b\"\r\nlicense: MIT\r\n---\r\nText",
        "---\nname: here\ndescription: >-\n  [b]\n  {c}\ncompatibility: d\nallowed-tools: e f\nmetadata:\n  version: \"1\"\n---\n",
    ] {
        assert_eq!(faults(text), [], "{text}");
    }
}

#[test]
fn every_broken_rule_is_named_with_its_line() {
    let longest = "d".repeat(1024);
    assert_eq!(faults(&format!("---\nname: here\ndescription: {longest}\n---\n")), []);
    let too_long = |key, length, most| ManifestProblem::TooLong { key, length, most };
    for (text, expected) in [
        ("# T\n\nText\n", vec![(1, ManifestProblem::NoFront)]),
        ("----\nname: here\n---\n", vec![(1, ManifestProblem::NoFront)]),
        ("\u{feff}---\nname: here\ndescription: b\n---\n", vec![(1, ManifestProblem::NoFront)]),
        ("---\nname: here\n", vec![(1, ManifestProblem::Unclosed)]),
        ("---\nname: here\n---\nText\n", vec![(1, ManifestProblem::NoDescription)]),
        ("---\ndescription: b\n---\n", vec![(1, ManifestProblem::NoName)]),
        ("---\ndescription: b\nname: Here\n---\n", vec![(3, ManifestProblem::BadName("Here".to_owned()))]),
        (
            "---\nname: there\ndescription: b\n---\n",
            vec![(2, ManifestProblem::OtherName { name: "there".to_owned(), folder: "here".to_owned() })],
        ),
        ("---\nname: here\ndescription: '  '\n---\n", vec![(3, ManifestProblem::NoDescription)]),
        ("---\nname: here\ndescription:\n  - b\n---\n", vec![(3, ManifestProblem::NotOneText("description"))]),
        (&format!("---\nname: here\ndescription: {longest}d\n---\n"), vec![(3, too_long("description", 1025, 1024))]),
        (
            &format!("---\nname: here\ndescription: b\ncompatibility: {}\n---\n", "c".repeat(501)),
            vec![(4, too_long("compatibility", 501, 500))],
        ),
        (
            "---\nname: here\ndescription: b\nversion: 1\n---\n",
            vec![(4, ManifestProblem::UnknownKey("version".to_owned()))],
        ),
        (
            "---\nname: here\ndescription: b\nallowed-tools: [c]\n---\n",
            vec![(4, ManifestProblem::Unusual("a value in brackets"))],
        ),
        ("---\nname: here\ndescription: !x b\n---\n", vec![(3, ManifestProblem::Unusual("a tag"))]),
        (
            "---\nname: here\nname: here\ndescription: b\n---\n",
            vec![(3, ManifestProblem::Unusual("a key that stands there twice"))],
        ),
        ("---\nname: here\ndescription: b --- c\n---\n", vec![(3, ManifestProblem::Dashes)]),
    ] {
        assert_eq!(faults(text), expected, "{text}");
    }
    assert!(matches!(faults("---\nname: here\ndescription: b: c\n---\n").as_slice(), [(3, ManifestProblem::Yaml(_))]));
}

proptest! {
    #[test]
    fn no_text_is_too_odd(text in any::<String>(), front in "[-a:\\[\\]{}&*!|>\"'#%@, \n\t\r\u{feff}0]{0,60}") {
        for text in [text, format!("---\n{front}\n---\nb"), format!("---\nname: a\n{front}\ndescription: b\n---\n")] {
            if let Ok((manifest, body)) = read(&text, "here") {
                prop_assert!(!manifest.description.trim().is_empty() && text.ends_with(body));
                prop_assert!(name::is_plain(&manifest.name));
            }
            let _ = strict(&text, "here");
        }
    }

    #[test]
    fn a_quoted_description_reads_back_unchanged(description in "[a-z:#'\"\\[\\]{}&*!|>%@`-]{1,30}") {
        let quoted = description.replace('\'', "''");
        let text = format!("---\nname: here\ndescription: '{quoted}'\n---\nText");
        prop_assert_eq!(manifest(&text).description, description);
    }

    #[test]
    fn a_valid_manifest_loads_as_written(name in "[a-z0-9-]{1,6}", description in "[a-zA-Z .:#-]{1,20}") {
        let text = format!("---\nname: {name}\ndescription: {description}\n---\n");
        if strict(&text, &name).is_empty() {
            let (manifest, _) = read(&text, "other").unwrap();
            prop_assert_eq!(manifest.name, name);
            prop_assert_eq!(manifest.form, ManifestFormat::FrontMatter);
        }
    }
}

#[test]
fn a_note_becomes_a_skill_of_its_own_words() {
    assert_eq!(name_for("memory/Tea & Milk.md"), "tea-milk");
    let made = skill_of("tea", "# Tea\n\nWarm the pot. Then wait.\n").unwrap();
    assert!(made.starts_with("---\nname: tea\ndescription: \"Warm the pot.\"\n---\n\n"), "{made}");
    assert_eq!(skill_of("tea", ""), None);
}

#[test]
fn fuzzed() {
    let seeds: [&[u8]; 4] = [
        b"---\nname: tea\ndescription: How to make tea.\n---\n\nBoil water.\n",
        b"---\nname: tea\ndescription: >\n  a\n  b\nmetadata:\n  x: \"y\"\nallowed-tools: [a, b]\n---\n",
        b"---\nname: &a tea\ndescription: *a\nlicense: |\n  MIT\n...\n",
        b"\xef\xbb\xbf---\r\nname: \"t\\u0065a\"\r\ndescription: 'it''s'\r\n---\r\n",
    ];
    crate::fuzz::target("front-matter", &seeds, |bytes| {
        let text = String::from_utf8_lossy(bytes);
        let read = read(&text, "tea").map(|(manifest, _)| manifest);
        (read, strict(&text, "tea"), plain(&text).0.len().min(3), skill_of("tea", &text).is_some())
    });
}
