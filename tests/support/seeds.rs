//! Seeds that the environment asks for.

use std::ops::Range;

/// The seeds in `COMPLINE_SEEDS`, such as `40..80`, or `2000` for all below it.
pub fn asked_for(default: Range<u64>) -> Range<u64> {
    std::env::var("COMPLINE_SEEDS")
        .map_or(default, |text| parsed(&text).unwrap_or_else(|| panic!("COMPLINE_SEEDS={text}")))
}

fn parsed(text: &str) -> Option<Range<u64>> {
    let (from, to) = text.split_once("..").unwrap_or(("0", text));
    Some(from.parse().ok()?..to.parse().ok()?).filter(|seeds| !seeds.is_empty())
}

#[test]
fn seeds_are_a_range_or_all_below_a_number() {
    assert_eq!(["40..80", "3", "3..3", "a..4", ""].map(parsed), [Some(40..80), Some(0..3), None, None, None]);
}
