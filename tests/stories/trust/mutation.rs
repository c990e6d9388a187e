//! Label mutation: each place that mints *untrusted*, joins labels or checks a scope is made
//! permissive in turn, and a story must fail.
//!
//! [`sites`] finds the places in `src/`: calls of the functions of `src/trust.rs` marked
//! `#[track_caller]`, and comparisons of a column `scope` with a parameter in SQL. `sites.txt`
//! names for each the story that kills its mutant; a place is identified by its file, the enclosing
//! function, the operation and its number there, so lines may move. The mutant is this test binary
//! itself, run as a child with that story alone and the place in its environment
//! (`src/trust/mutation.rs`).
//!
//! After a change of the places, this command updates the table:
//!
//! ```text
//! COMPLINE_MUTATION=find cargo test --test stories mutation::every_mutant_is_killed -- --nocapture
//! ```
//!
//! `COMPLINE_MUTATION=labels::` instead tries the stories whose name contains that, on the places
//! without a killer only.
//!
//! It first tries each place with the story in the table. For the remaining places it runs each
//! story alone to learn which places it touches and how long it takes (cached in
//! `target/…/mutation/` until the binary changes), and then with all of these mutants at once,
//! bisecting on failure. The fastest stories come first, so delete a line to find a faster killer.
//! Killers are written as they are found, so an interrupted run can continue. A mutant without a
//! killer is written as `OPEN`, which fails: write a story, or remove the call. A line `equivalent:
//! REASON` is a mutant that behaves like the original; such lines are written by hand, and there
//! should be few.

#[path = "mutation/child.rs"]
mod child;
#[path = "mutation/find.rs"]
mod find;
#[path = "../../structure/lexer.rs"]
#[allow(dead_code, reason = "tests/structure uses all of it")]
mod lexer;
#[path = "mutation/sites.rs"]
mod sites;
#[path = "mutation/table.rs"]
mod table;
#[path = "../../structure/tree.rs"]
#[allow(dead_code, reason = "tests/structure uses all of it")]
mod tree;

use child::End;
use table::{Entry, Table};

/// Promise (trust/every-check): Every check that labels text from outside, preserves that label or
/// separates people's text is covered by a test that fails without it, and no released build can
/// switch one off.
#[test]
fn every_mutant_is_killed() {
    let sites = sites::all();
    let table = Table::read();
    if let Ok(part) = std::env::var("COMPLINE_MUTATION") {
        find::table(&sites, &table, Some(part.as_str()).filter(|part| *part != "find")).write();
        return;
    }
    let mut findings = table.differences(&sites);
    // A child that is asked for an unknown story runs nothing and succeeds.
    let stories = child::stories();
    let known = |story: &&str| stories.iter().any(|known| known == story);
    findings.extend(table.stories().filter(|story| !known(story)).map(|story| format!("no story {story}")));
    findings.extend(table.open().map(|key| format!("{key} has no story that kills its mutant")));
    // A story that always fails would kill every mutant.
    if let Some(story) = table.stories().next() {
        assert_eq!(
            child::run(story, &[(child::PLACES, "nowhere")], child::LONGEST),
            End::Green,
            "{story} is red without a mutant"
        );
    }
    let mutants: Vec<_> = sites
        .iter()
        .filter_map(|site| match table.get(&site.key)? {
            Entry::Killer(story) => Some((site, story)),
            Entry::Equivalent(_) | Entry::Open => None,
        })
        .collect();
    let ends = child::two_at_a_time(&mutants, |(site, story)| {
        child::run(story, &[(child::PLACES, &site.place)], child::LONGEST)
    });
    for ((site, story), end) in mutants.iter().zip(ends) {
        if end != End::Red {
            findings.push(format!("{} survives {story} ({end:?})", site.key));
        }
    }
    assert!(findings.is_empty(), "{} findings:\n  {}", findings.len(), findings.join("\n  "));
}
