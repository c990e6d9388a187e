//! Managed regions hold each fact once, drop nothing, and leave everything else untouched.

use proptest::prelude::*;

use super::*;

const SEED: &str = include_str!("../../../config/prompts/workspace-MEMORY.md");

fn fact(key: &str, value: &str) -> Fact {
    Fact { key: key.to_owned(), value: value.to_owned(), day: String::new() }
}

fn added(text: &str, key: &str, value: &str) -> String {
    add_fact(text, RECENT, &fact(key, value), usize::MAX).text
}

fn recent_facts(text: &str) -> Vec<Fact> {
    facts_in(text, RECENT)
}

fn said(text: &str) -> Vec<String> {
    recent_facts(text).iter().map(|fact| format!("{}={}", fact.key, fact.value)).collect()
}

#[test]
fn a_rule_is_listed_apart_and_once() {
    let rules = put_index_line(SEED, RULES, "Name", "name.md", "Call them Robin.");
    assert!(rules.contains("## How they want things\n\n- [Name](name.md): Call them Robin.\n\n## Index"), "{rules}");
    assert_eq!(self::rules(&rules).collect::<Vec<_>>(), ["name.md"]);
    assert_eq!(put_index_line(&rules, RULES, "Name", "name.md", "Call them Robin."), rules);
    let moved = put_index_line(&rules, INDEX, "Name", "Name.md", "Robin");
    assert_eq!((self::rules(&moved).count(), index_lines(&moved).count()), (0, 1), "{moved}");
    assert!(has_index_line(&rules, "name.md") && index_lines(&remove_index_line(&rules, "NAME.md")).count() == 0);
}

#[test]
fn facts_are_lines_of_their_section() {
    let text = "- **a**: no\n## Recent facts\n- **Cat**: Tom\n* **Tea:** green (2026-11-21)\n- no fact\n  - **b**: no\n```\n- **c**: in code\n```\n";
    let facts = recent_facts(text);
    assert_eq!(facts[0], fact("Cat", "Tom"));
    assert_eq!(facts[1], Fact { day: "2026-11-21".to_owned(), ..fact("Tea", "green") });
    assert_eq!(format_fact(&facts[1]), "- **Tea**: green (2026-11-21)");
    assert_eq!(format_fact(&fact("a **b**\nc:", "x\ny")), "- **a b c**: x y");
    let long = fact(&"k ".repeat(90), &"v".repeat(4_000));
    assert_eq!(
        parse_fact(&format_fact(&long)).map(|read| read.value.len()),
        Some(4_000),
        "A line that moves stays whole"
    );
}

#[test]
fn another_value_of_a_key_takes_the_place_of_the_old_one() {
    let text = added(&added(SEED, "Cat", "Tom"), "Tea", "green");
    assert_eq!(said(&added(&text, " cat ", "Jerry")), ["Tea=green", "cat=Jerry"]);
    assert_eq!(added(&text, "CAT", "tom"), text, "The same fact is not added twice");
    let twice = text.replace("- **Cat**: Tom\n", "- **Cat**: Tom\n- **cat**: Tim\n");
    assert_eq!(said(&added(&twice, "Cat", "Tom")), ["Tea=green", "Cat=Tom"]);
    let meetings = added(&added(SEED, "Meeting at 10:30", "with Ben"), "Meeting at 10:45", "with Eve");
    assert_eq!(said(&meetings).len(), 2);
    assert_eq!(added(SEED, "  ", "x"), SEED);
}

#[test]
fn a_key_is_what_comes_before_a_colon_or_a_dash_and_never_a_time_or_an_address() {
    assert_eq!(split_key("Cat: Tom"), Some(("Cat", "Tom")));
    assert_eq!(split_key("Wifi - password: on the router"), Some(("Wifi", "password: on the router")));
    for none in ["Meeting at 10:30", "see http://a.example/b", "Likes tea", ": x", "x: ", "One. Two: three", ""] {
        assert_eq!(split_key(none), None, "{none}");
    }
    assert_eq!(split_key(&format!("{}: x", "k".repeat(81))), None);
}

#[test]
fn the_oldest_facts_are_handed_back_when_there_is_no_room() {
    let mut text = SEED.replace("## Recent facts\n", "## Recent facts\n\nWhat I wrote myself.\n");
    let mut overflow = Vec::new();
    for number in 0..50 {
        let added = add_fact(&text, RECENT, &fact(&format!("key {number}"), "some value"), 300);
        text = added.text;
        overflow.extend(added.overflow);
    }
    let kept = recent_facts(&text);
    assert_eq!(overflow.len() + kept.len(), 50);
    assert_eq!((overflow[0].key.as_str(), kept.last().unwrap().key.as_str()), ("key 0", "key 49"));
    assert!(
        text.contains("What I wrote myself.")
            && kept.iter().map(|fact| format_fact(fact).len() + 1).sum::<usize>() <= 300
    );
    let huge = add_fact(SEED, RECENT, &fact("a", &"x".repeat(500)), 100);
    assert_eq!((recent_facts(&huge.text).len(), huge.overflow.len()), (1, 0), "The newest stays in any case");
}

#[test]
fn a_note_has_exactly_one_line() {
    let text = put_index_line(SEED, INDEX, "Deploy key", "deploy-key.md", "lies in the safe");
    assert!(text.ends_with("## Index\n\n- [Deploy key](deploy-key.md): lies in the safe\n"), "{text}");
    assert_eq!(put_index_line(&text, INDEX, "Deploy key", "deploy-key.md", "lies in the safe"), text);
    let text = put_index_line(
        &put_index_line(&text, INDEX, "Tea [green]", "tea.md", ""),
        INDEX,
        "Deploy key",
        "Deploy-Key.md",
        "moved",
    );
    assert!(text.ends_with("## Index\n\n- [Tea (green)](tea.md)\n- [Deploy key](Deploy-Key.md): moved\n"), "{text}");
    let text = remove_index_line(&remove_index_line(&text, "tea.md"), "deploy-key.md");
    assert_eq!(index_lines(&text).count(), 0);
    assert_eq!(parse_index_line("- [a](b.md): c: d"), Some(("a", "b.md", "c: d")));
}

#[test]
fn an_index_that_is_too_long_says_less_and_then_folds_by_kind() {
    let mut text = SEED.to_owned();
    for number in 0..40 {
        text = put_index_line(
            &text,
            INDEX,
            &format!("Note {number}"),
            &format!("note-{number}.md"),
            &"many words ".repeat(8),
        );
    }
    let kind = |file: &str| Some(if file.len().is_multiple_of(2) { "user" } else { "project" }.to_owned());
    let whole = fit_index(&text, usize::MAX, kind);
    assert_eq!((whole.text.as_str(), whole.moved.len()), (text.as_str(), 0));
    let shorter = fit_index(&text, 3_500, kind);
    assert!(shorter.moved.is_empty() && index_lines(&shorter.text).count() == 40);
    assert!(shorter.text.contains("- [Note 0](note-0.md): many words many words many word…\n"), "{}", shorter.text);
    assert!(
        shorter.text.contains(&format!("- [Note 39](note-39.md): {}\n", "many words ".repeat(8).trim())),
        "The newest say all"
    );
    let folded = fit_index(&text, 900, kind);
    let moved: Vec<&String> = folded.moved.values().flatten().collect();
    assert_eq!(moved.len() + index_lines(&folded.text).count(), 40);
    assert_eq!(folded.moved.keys().collect::<Vec<_>>(), ["user"], "The most of one kind");
}

proptest! {
    #[test]
    fn no_fact_is_dropped_and_none_stands_twice(
        facts in prop::collection::vec(("[a-d]{1,2}", "[a-z:*() ]{0,12}[a-z]"), 0..30), most in 20_usize..400,
    ) {
        let mut text = SEED.to_owned();
        let mut last = std::collections::BTreeMap::new();
        let mut overflow = std::collections::BTreeMap::new();
        for (key, value) in &facts {
            let added = add_fact(&text, RECENT, &fact(key, value), most);
            text = added.text;
            overflow.remove(key);
            overflow.extend(added.overflow.into_iter().map(|fact| (fact.key, fact.value)));
            last.insert(key.clone(), one_line(value));
        }
        let kept = recent_facts(&text);
        let stand: std::collections::BTreeMap<_, _> = kept.iter().map(|fact| (fact.key.clone(), fact.value.clone())).collect();
        prop_assert_eq!(stand.len(), kept.len());
        for (key, value) in last {
            prop_assert_eq!(stand.get(&key).or_else(|| overflow.get(&key)), Some(&value));
        }
        prop_assert!(text.ends_with("## Index\n") && text.starts_with("<!--"));
    }

    /// Proves: files/section
    #[test]
    fn many_new_values_leave_as_many_empty_lines_as_one(
        above in "(Mine\\.\n){0,1}\n{0,2}", blank in "\n{0,3}", words in "(My own words\\.\n){0,1}\n{0,2}", others in "(- \\*\\*b\\*\\*: 1\n){0,2}\n{0,2}",
        stands in any::<bool>(), after in "\n{0,3}", below in "(## Index\n|### Work\n\nwords\n|## Mine\n)?", crlf in any::<bool>(),
    ) {
        let old = if stands { "- **a**: old\n" } else { "" };
        let text = format!("{above}## Recent facts\n{blank}{words}{others}{old}{after}{below}");
        let text = if crlf { text.replace('\n', "\r\n") } else { text };
        let once = added(&text, "a", "v1");
        let mut many = once.clone();
        for number in 2..6 {
            many = added(&many, "a", &format!("v{number}"));
            prop_assert_eq!(many.replace(&format!("v{number}"), "v1"), once.clone(), "{:?}", text);
        }
        prop_assert!(!crlf || !once.replace("\r\n", "").contains('\n'), "{:?}", once);
        let indexed = |text: &str, says: &str| put_index_line(text, INDEX, "A", "a.md", says);
        let twice = indexed(&indexed(&once, "x"), "y");
        prop_assert_eq!(indexed(&twice, "z").replace(": z", ": y"), twice);
    }

    #[test]
    fn an_index_keeps_every_note(count in 0_usize..40, most in 0_usize..4_000, words in "[a-z ]{0,90}") {
        let mut text = SEED.to_owned();
        for number in 0..count {
            text = put_index_line(&text, INDEX, &format!("N {number}"), &format!("n-{number}.md"), &words);
        }
        let folded = fit_index(&text, most, |_| Some("user".to_owned()));
        let moved = folded.moved.values().flatten().filter_map(|line| parse_index_line(line)).map(|(_, file, _)| file);
        let stand = index_lines(&folded.text).filter_map(parse_index_line).map(|(_, file, _)| file);
        let all: std::collections::BTreeSet<&str> = moved.chain(stand).collect();
        prop_assert_eq!(all.len(), count);
        let size: usize = index_lines(&folded.text).map(|line| line.len() + 1).sum();
        prop_assert!(size <= most);
    }

    /// Proves: memory/notes
    #[test]
    fn no_line_is_lost_that_has_nowhere_to_go(
        hooks in prop::collection::vec("[a-z ():]{0,60}", 0..40), most in 0_usize..3_000, foldable in "[a-e]{0,4}",
    ) {
        let kind = |file: &str| file.get(..1).filter(|kind| foldable.contains(*kind)).map(str::to_owned);
        let files: Vec<String> = ('a'..='g').cycle().zip(0..).zip(&hooks).map(|((kind, n), _)| format!("{kind}-({n}).md")).collect();
        let mut text = SEED.replace("## Index\n", "## Index\n\nMy own words.\n- no link\n");
        for (file, hook) in files.iter().zip(&hooks) {
            text = put_index_line(&text, INDEX, "A title", file, hook);
        }
        let folded = fit_index(&text, most, kind);
        for file in &files {
            let moved = folded.moved.values().flatten().filter(|line| links_to(line, file)).count();
            let stays = index_lines(&folded.text).filter(|line| links_to(line, file)).count();
            prop_assert_eq!((moved + stays, moved > 0 && kind(file).is_none()), (1, false), "{}", file);
        }
        prop_assert!(folded.text.contains("My own words.\n- no link\n"));
    }

    #[test]
    fn any_text_may_stand_in_the_file(text in "(?s).{0,200}", key in ".{0,20}", value in "(?s).{0,40}") {
        let added = add_fact(&text, RECENT, &fact(&key, &value), 100);
        let _ = (put_index_line(&added.text, INDEX, &key, "a.md", &value), remove_fact(&text, INDEX, &key));
    }
}

/// Proves: memory/notes
#[test]
fn only_lines_of_the_index_are_made_shorter() {
    let line = format_index_line("Tea", "tea.md", &"green and hot, ".repeat(9));
    let text = format!("# Mine\n\n{line}\n\n## Index\n\n{line}\n");
    let folded = fit_index(&text, 60, |_| None);
    assert!(
        folded.text.starts_with(&format!("# Mine\n\n{line}\n\n## Index\n\n- [Tea](tea.md): green")),
        "{}",
        folded.text
    );
    assert_eq!(folded.text.lines().filter(|stands| *stands == line).count(), 1, "{}", folded.text);
}

/// Proves: memory/notes
#[test]
fn a_line_moves_word_for_word() {
    let line = "* [Tea [green]](tea (1).md) \u{2013} how, when";
    assert_eq!(parse_index_line(line).map(|(_, file, _)| file), Some("tea (1).md"));
    let text = append_index_line("## Index\n\n- [Old](tea (1).md): x\n- [B](b.md)\n", line);
    assert_eq!(text, format!("## Index\n\n- [B](b.md)\n{line}\n"));
}

#[test]
fn a_heading_that_a_person_put_into_a_list_keeps_nothing_from_being_found() {
    let text = "## Recent facts\n\n- **cat**: Tom\n\n### Work\n\n- **boss**: Eve\n\n## Index\n\n- [Tea](tea.md): green\n\n### Old\n\nwords\n";
    let fact = Fact { key: "cat".to_owned(), value: "Jerry".to_owned(), day: String::new() };
    let added = add_fact(text, RECENT, &fact, 10_000).text;
    assert!(added.contains("- **cat**: Jerry") && !added.contains("Tom"), "{added}");
    assert!(added.find("Jerry") < added.find("### Work") && added.contains("- **boss**: Eve"), "{added}");
    let indexed = put_index_line(
        &put_index_line(text, INDEX, "Coffee", "coffee.md", "black"),
        INDEX,
        "Coffee",
        "coffee.md",
        "white",
    );
    assert_eq!((indexed.matches("coffee.md").count(), indexed.matches("tea.md").count()), (1, 1), "{indexed}");
    assert!(indexed.find("coffee.md") < indexed.find("### Old"), "{indexed}");
}

#[test]
fn of_two_lines_of_one_key_only_the_oldest_moves() {
    let text = "## Recent facts\n\n- **tea**: green\n- **tea**: black\n- **dog**: Rex\n";
    let added =
        add_fact(text, RECENT, &Fact { key: "cat".to_owned(), value: "Tom".to_owned(), day: String::new() }, 50);
    let moved: Vec<&str> = added.overflow.iter().map(|fact| fact.value.as_str()).collect();
    assert_eq!(moved, ["green", "black"].get(..moved.len()).unwrap(), "{}", added.text);
    assert!(moved.len() == 2 || added.text.contains("black"), "{}", added.text);
}
