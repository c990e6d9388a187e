//! `compline people pair` at a terminal: for the name of a removed person it asks before it creates
//! a code.

use super::program::{Ended, Home, PLAIN};

const ASKED: &str = "The number of the person, or new:";

/// A home in which Ben was a member and is removed.
fn without_ben() -> Home {
    let home = Home::configured(format!("{PLAIN}[[people]]\nname = \"Ben\"\nrole = \"member\"\n"));
    home.run("status").done();
    let home = home.with("compline.toml", PLAIN);
    home.run("status").done();
    home
}

/// Recipient of each unused code: a person by number, or 0 for a new person.
fn codes(home: &Home) -> Vec<i64> {
    let journal = rusqlite::Connection::open(home.file("compline.db")).unwrap();
    let mut query = journal
        .prepare("SELECT coalesce(person_id, 0) FROM pairing_codes WHERE used_at IS NULL AND expires_at > created_at ORDER BY id")
        .unwrap();
    let codes = query.query_map([], |row| row.get(0)).unwrap();
    codes.collect::<Result<_, _>>().unwrap()
}

fn holds_a_code(ended: &Ended) -> bool {
    let is_code = |word: &str| word.len() == 9 && word.as_bytes()[4] == b'-' && word.to_uppercase() == word;
    ended.out.split(|c: char| !c.is_ascii_alphanumeric() && c != '-').any(is_code)
}

/// Proves: people/same-name
#[test]
fn a_removed_name_is_asked_about_and_anything_but_an_answer_makes_no_code() {
    let home = without_ben();
    // Ada is person 1 and configured; the list has Ben alone.
    for typed in ["\n", "same\n", "1\n", "2 new\n", "\u{4}"] {
        let ended = home.typed("people pair Ben", typed);
        ended.refused(1, &["person 2: Ben, member", ASKED, "No code was made"]);
        assert!(!holds_a_code(&ended), "{typed:?}: {ended:?}");
    }
    assert_eq!(codes(&home), [0; 0]);
    // The flag answers the question in advance.
    let told = home.typed("people pair Ben --new", "");
    assert!(told.code == 0 && holds_a_code(&told) && !told.err.contains(ASKED), "{told:?}");
}

/// Proves: people/same-name
#[test]
fn a_number_selects_the_removed_person_and_new_a_different_one() {
    for (typed, whom, words) in
        [("2\n", 2, "access again, as member"), ("new\n", 0, "access, as member"), (" NEW \n", 0, "access, as member")]
    {
        let home = without_ben();
        let told = home.typed("people pair ben", typed);
        assert!(told.code == 0 && told.err.contains(ASKED) && holds_a_code(&told), "{typed:?}: {told:?}");
        assert!(told.out.contains(words), "{typed:?}: {told:?}");
        assert_eq!(codes(&home), [whom], "{typed:?}");
    }
}

/// Proves: people/same-name
#[test]
fn pairing_an_unused_name_asks_no_question() {
    let home = without_ben();
    let told = home.typed("people pair Zoe --role owner", "");
    assert!(told.code == 0 && holds_a_code(&told) && !told.err.contains(ASKED), "{told:?}");
    assert_eq!(codes(&home), [0]);
}
