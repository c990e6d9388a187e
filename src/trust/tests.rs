//! Tests of labels, their stored form, and scopes.

use super::*;
use proptest::prelude::*;

fn label() -> impl Strategy<Value = Label> {
    let sources = prop::collection::btree_set("[a-z]{1,6}(:[a-z0-9.]{1,8})?", 0..4);
    let origins = prop::collection::btree_set(1_i64.., 0..3);
    let vouched = prop::collection::btree_set("(file|stdin):in[0-9]{1,3}", 0..3);
    let source = |s: String| Source::new(&s, "");
    (sources, origins, vouched).prop_map(move |(sources, origins, vouched)| Label {
        sources: sources.into_iter().map(source).collect(),
        origins: origins.into_iter().map(VersionId).collect(),
        vouched: vouched.into_iter().map(source).collect(),
    })
}

/// Evaluates the SQL condition on a stored label.
fn is_trusted_in_sql(stored: &str) -> bool {
    let journal = rusqlite::Connection::open_in_memory().unwrap();
    let query = format!("SELECT {} FROM (SELECT ?1 AS label)", Label::is_trusted_sql("label"));
    journal.query_row(&query, [stored], |row| row.get(0)).unwrap()
}

proptest! {
    /// Proves: trust/model-output
    #[test]
    fn join_is_a_semilattice(a in label(), b in label(), c in label()) {
        prop_assert_eq!(a.join_with(&b), b.join_with(&a));
        prop_assert_eq!(a.join_with(&b).join_with(&c), a.join_with(&b.join_with(&c)));
        prop_assert_eq!(a.join_with(&a), a.clone());
        prop_assert_eq!(a.join_with(&b).is_trusted(), a.is_trusted() && b.is_trusted());
        let asks = a.asks_before_leaving() || b.asks_before_leaving();
        prop_assert_eq!(a.join_with(&b).asks_before_leaving(), asks);
    }

    #[test]
    fn labels_survive_storing(a in label()) {
        prop_assert_eq!(Label::decode(&a.encode()), a);
    }

    /// Proves: skills/third-party
    #[test]
    fn sql_and_the_type_agree_on_what_is_trusted(a in label(), kind in ".{0,40}", detail in ".{0,40}") {
        prop_assert_eq!(is_trusted_in_sql(&a.encode()), a.is_trusted());
        let made = Label::untrusted(Source::new(&kind, &detail)).join_with(&a);
        prop_assert!(!is_trusted_in_sql(&made.encode()));
    }

    #[test]
    fn only_the_exact_word_is_trusted(stored in ".*") {
        let is_ours = ["trusted approved:", "trusted vouched:"].iter().any(|begin| stored.starts_with(begin));
        let is_ours = is_ours || stored == "trusted";
        prop_assert!(is_ours || !Label::decode(&stored).is_trusted());
    }

    #[test]
    fn a_source_never_reads_back_as_trusted(kind in ".{0,200}", detail in ".{0,200}") {
        let label = Label::untrusted(Source::new(&kind, &detail));
        prop_assert!(!Label::decode(&label.encode()).is_trusted());
    }
}

#[test]
fn a_stored_label_that_is_not_exactly_ours_is_untrusted() {
    for stored in [
        "approved:3",
        "trusted approved:",
        "trusted approved:03",
        "trusted approved:+3",
        "trusted approved:x",
        "trusted  approved:3",
        "trusted approved:3 web:example.org",
        "approved:3 trusted",
        "trusted trusted",
        "trusted3",
        "Trusted approved:3",
        "trusted vouched:",
        "trusted vouched:file:in1 web:example.org",
        "vouched:file:in1",
        "trusted file:in1",
        "",
    ] {
        assert!(!Label::decode(stored).is_trusted(), "{stored:?}");
    }
    let label = Label::decode("trusted approved:3 approved:12");
    assert!(label.is_trusted() && label.asks_before_leaving());
    assert_eq!(label.origins().collect::<Vec<_>>(), [VersionId(3), VersionId(12)]);
    assert!(!label.without_origins().asks_before_leaving());
}

/// Proves: skills/third-party
#[test]
fn no_source_from_outside_reads_as_an_origin() {
    for (kind, detail) in [
        ("approved", "3"),
        ("approved:3", ""),
        ("vouched", "file:in1"),
        ("vouched:x", ""),
        ("trusted", ""),
        ("trusted approved:3", ""),
    ] {
        let label = Label::untrusted(Source::new(kind, detail));
        assert!(!label.is_trusted() && label.origins().next().is_none(), "{kind} {detail}");
        let read = Label::decode(&label.encode());
        assert!(!read.is_trusted() && read.origins().next().is_none(), "{kind} {detail}");
    }
}

#[test]
fn a_source_that_is_vouched_for_is_trusted_in_its_conversation_and_still_asks() {
    let (sent, page) = (Source::file("in1"), Source::web("example.org"));
    let vouched = BTreeSet::from([sent.clone(), Source::file("in2")]);
    let both = Label::untrusted(sent.clone()).join_with(&Label::untrusted(page.clone()));
    let left = both.vouched_for(&vouched);
    assert_eq!(left.vouched.iter().collect::<Vec<_>>(), [&sent]);
    assert_eq!(left.sources().collect::<Vec<_>>(), [&sent, &page]);
    let own = Label::untrusted(sent.clone()).vouched_for(&vouched);
    assert!(own.is_trusted_here() && !own.is_trusted() && own.asks_before_leaving() && !own.is_of_third_party());
    assert_eq!(own.encode(), "trusted vouched:file:in1");
    assert!(!own.join_with(&Label::untrusted(sent)).is_trusted_here(), "elsewhere it is what it was");
    assert!(
        Source::file(3).can_be_vouched_for() && Source::stdin("in3").can_be_vouched_for() && !page.can_be_vouched_for()
    );
}

proptest! {
    /// Promise (trust/vouch-ends): What you vouch for counts as yours in that conversation only:
    /// whatever outlives it, a summary, a title, a fact, a note, a reflection, treats it as text
    /// from outside.
    #[test]
    fn a_vouch_holds_in_its_conversation_alone(a in label()) {
        let sources: Vec<Source> = a.sources().cloned().collect();
        let elsewhere = a.vouched_for(&BTreeSet::new());
        prop_assert_eq!(elsewhere.sources().cloned().collect::<Vec<_>>(), sources.clone());
        prop_assert!(elsewhere.vouched.is_empty());
        prop_assert_eq!(elsewhere.is_trusted_here(), sources.is_empty());
        let here = a.vouched_for(&sources.into_iter().collect());
        prop_assert!(here.is_trusted_here());
        prop_assert_eq!(here.is_trusted(), a.is_trusted());
        prop_assert_eq!(here.vouched_for(&BTreeSet::new()), elsewhere);
    }

    #[test]
    fn a_request_bears_what_it_names_and_nobody_vouched_for(a in label(), b in label()) {
        prop_assert_eq!(a.bears(&b), a.join_with(&b.vouched_for(&BTreeSet::new())) == a);
    }
}

#[test]
fn scopes_keep_people_apart() {
    let (ada, ben) = (Scope::Person(PersonId(1)), Scope::Person(PersonId(2)));
    assert!(ada.fits(ada) && Scope::Shared.fits(ada));
    assert!(!ben.fits(ada) && !ada.fits(Scope::Shared));
    for scope in [ada, Scope::Group(StreamId(4)), Scope::Shared] {
        assert_eq!(Scope::decode(&scope.encode()), Some(scope));
    }
    assert_eq!(Scope::decode("person:x"), None);
}
