//! Tests of the search for erased text.

use super::*;
use proptest::prelude::*;

#[test]
fn a_fact_is_found_however_it_is_written() {
    let query = ErasureQuery::of_fact("wifi password", "Xylophon-Musik 7");
    for text in [
        "- **wifi password**: Xylophon-Musik 7 (2026-11-21)",
        "it is xylophon musik 7.",
        "XYLOPHON — MUSIK, 7!",
        r#"{"calls":[{"arguments":"{\"content\":\"first\\nXylophon-Musik 7\\nlast\"}"}]}"#,
    ] {
        assert!(query.matches(text), "{text}");
    }
    for text in ["", "xylophon", "Xylophon-Musik 70", "The wifi password is gone", r#"{"a": ["Musik 7"]}"#] {
        assert!(!query.matches(text), "{text}");
    }
}

#[test]
fn a_short_value_is_matched_together_with_its_key() {
    let query = ErasureQuery::of_fact("shoe size", "42");
    assert!(query.matches("- **shoe size**: 42") && query.matches("42 is my shoe size"));
    assert!(query.matches(r#"[{"key":"Shoe size","value":"42"}]"#));
    assert!(!query.matches("The answer is 42") && !query.matches("shoe size\n42"));
}

/// Proves: forgetting/forget
#[test]
fn a_line_without_a_key_is_found_by_its_words_and_a_short_one_only_alone() {
    let long = ErasureQuery::of_line("The spare key is under the third pot");
    assert!(long.matches("- The spare key is under the third pot (2026-11-21)"));
    assert!(long.matches("I said: the spare key is under the third pot!") && !long.matches("the third pot"));
    let short = ErasureQuery::of_line("Tea");
    for gone in ["- tea (2026-11-21)", "* TEA", "tea."] {
        assert!(short.matches(gone), "{gone}");
    }
    for kept in ["tea in the morning", "- **drink**: tea", "no tea", "- teapot", "- tea 2026 11", "- tea 3 of 12"] {
        assert!(!short.matches(kept), "{kept}");
    }
    assert!(ErasureQuery::of_line(" ! ").is_empty());
}

#[test]
fn a_note_is_known_by_its_lines() {
    let text = "---\nname: Garden gate\ndescription: how it opens\ntype: reference\n---\n\n# The gate\n- Turn the Quietschrad twice\nyes\n";
    let query = ErasureQuery::of_note("Garden gate", text);
    assert!(query.matches("turn the quietschrad twice") && query.matches("Garden gate? Yes."));
    assert!(!query.matches("yes") && !query.matches("a reference") && !query.matches("turn it twice"));
}

fn without_lines(query: &ErasureQuery, text: &str) -> String {
    text.split_inclusive('\n').filter(|line| !query.is_on_line(line)).collect()
}

#[test]
fn only_the_lines_that_hold_it_are_cut() {
    let query = ErasureQuery::of_fact("pet", "a tortoise called Emil");
    let text = "# Memory\r\n\r\n- **pet**: A tortoise, called EMIL\n- **car**: blue";
    assert_eq!(without_lines(&query, text), "# Memory\r\n\r\n- **car**: blue");
    assert_eq!(without_lines(&query, "- **car**: blue"), "- **car**: blue");
}

/// Proves: forgetting/remains
#[test]
fn a_line_that_tells_more_is_not_taken_away_with_a_fact() {
    for (key, value, said) in [
        ("Wife", "Eva", "- **Wife**: Eva (preference, 2026-11-21)"),
        ("Wife", "Eva", "my wife is called Eva"),
        ("The code of the garden gate", "blue bird", "- **The code of the garden gate**: blue bird"),
        ("The code of the garden gate", "blue bird", "- **The code of the garden gate:** blue bird"),
        ("The code of the garden gate", "blue bird", "- [10:00] The code of the garden gate: blue bird"),
        ("shoe size", "42", "42 is my shoe size"),
        ("safe", "the spare key is under the third pot", "I said on Monday: the spare key is under the third pot!"),
    ] {
        assert!(ErasureQuery::of_fact(key, value).is_stated_in(said), "{said}");
    }
    for (key, value, told) in [
        ("Wife", "Eva", "Sunday we visited my wife's parents; Eva brought the cake recipe of grandmother."),
        ("Junk", "rubbish stuff", "We took the rubbish stuff to the tip and met Karl there, who is moving to Ulm."),
    ] {
        let query = ErasureQuery::of_fact(key, value);
        assert!(query.matches(told) && !query.is_stated_in(told), "{told}");
    }
}

#[test]
fn a_paraphrase_of_a_fact_is_recognised() {
    let query = ErasureQuery::of_fact("safe", "The code of the safe is 4711");
    assert!(query.is_near("They told the code 4711") && !query.is_near("They bought a safe"));
    assert!(!query.matches("They told the code 4711"));
}

#[test]
fn a_fact_of_short_words_matches_only_if_all_of_them_appear() {
    let query = ErasureQuery::of_fact("car", "blue");
    assert!(query.is_near("My car is blue") && !query.is_near("The sky is blue"));
}

#[test]
fn words_are_found_anywhere_in_a_line_and_a_few_letters_are_no_words() {
    let query = ErasureQuery::of_words("Hunter22 ");
    assert!(query.matches("ok: it is HUNTER22!") && !query.matches("hunter2 or hunter222"));
    assert!(ErasureQuery::of_words("tea").is_empty() && !ErasureQuery::of_words("tea 7").is_empty());
}

proptest! {
    #[test]
    fn after_a_cut_nothing_is_found(value in "\\PC{1,40}", text in "(?s).{0,200}") {
        let query = ErasureQuery::of_fact("some key", &value);
        let whole = format!("{text}\n- **some key**: {value}\nend");
        let cut = without_lines(&query, &whole);
        prop_assert!(!cut.lines().any(|line| query.is_on_line(line)));
    }

    #[test]
    fn no_text_is_too_strange(text in "(?s).{0,300}", key in ".{0,20}", value in ".{0,20}") {
        let query = ErasureQuery::of_fact(&key, &value);
        let _ = (query.matches(&text), query.is_near(&text), query.is_stated_in(&text));
    }
}

#[test]
fn a_word_of_everyday_talk_is_no_needle() {
    let query = ErasureQuery::of_note(
        "Tea",
        "---\nname: \"Tea\"\ntype: \"fact\"\n---\n\n# Tea\n\nGreen, with two spoons of honey.\n- Rotterdam\n",
    );
    for kept in ["- **drink**: tea in the morning", "We met in Rotterdam.", "# Tea"] {
        assert!(!query.matches(kept), "{kept}");
    }
    for gone in ["- [Tea](tea.md): Green", "green, with two spoons of honey", "Tea from Rotterdam"] {
        assert!(query.matches(gone), "{gone}");
    }
}

/// Proves: forgetting/remains
#[test]
fn a_search_for_its_words_finds_it_in_other_sentences() {
    let matcher = |key, value| ErasureQuery::of_fact(key, value).paraphrases();
    for (key, value, text, found) in [
        ("cat: name", "Mitzi", "My cat is called Mitzi", true),
        ("cat: name", "Mitzi", "mitzi was at the vet", true),
        ("cat: name", "Mitzi", "My cat sleeps", false),
        ("shoe size", "42", "The answer is 42.", false),
        ("shoe size", "42", "I wear size 42", true),
        ("car", "blue", "My car is blue", true),
        ("car", "blue", "The sky is blue", false),
        ("safe", "the code is 4711", "4711, that was the code", true),
        ("safe", "the code is 4711", "that was the code", false),
    ] {
        assert_eq!(matcher(key, value).matches(text), found, "{key}: {value} in {text}");
    }
    assert!(!matcher("cat: name", "Mitzi").matches_a_line("cats\nand dogs"));
    assert!(!ErasureQuery::default().paraphrases().matches("anything"));
}
