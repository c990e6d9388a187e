//! The scan and the effects over stored texts: what every rule change must keep finding, and
//! harmless texts that it must pass.

use std::path::Path;

use compline::review::effects::Effects;
use compline::review::scan::scan_text;

use crate::support::saved_texts::{Saved, saved};

fn texts(folder: &str) -> Vec<Saved> {
    saved(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/skills").join(folder))
}

/// Proves: gate/effects
#[test]
fn known_attacks_are_found() {
    let texts = texts("attacks");
    assert!(texts.len() >= 60, "only {} attacks are saved", texts.len());
    let mut missed = Vec::new();
    for text in texts {
        assert!(!text.must.is_empty(), "{} does not say what must be found", text.name);
        let mut found: Vec<String> =
            scan_text("SKILL.md", &text.text).into_iter().map(|finding| finding.rule).collect();
        let effects = Effects::of_text("SKILL.md", &text.text);
        found.extend(effects.iter().map(|effect| effect.kind.as_str().to_owned()));
        let rules = text.must.iter().filter(|rule| !found.contains(rule));
        missed.extend(rules.map(|rule| format!("{}: {rule}, but {found:?}", text.name)));
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

/// Proves: gate/odd-characters
#[test]
fn harmless_skills_are_clean() {
    let texts = texts("harmless");
    assert!(texts.len() >= 40, "only {} harmless skills are saved", texts.len());
    let mut alarms = Vec::new();
    for text in texts {
        assert_eq!(text.must, ["clean"], "{}", text.name);
        let found = scan_text("SKILL.md", &text.text);
        alarms.extend(found.iter().map(|finding| format!("{}: {} {}", text.name, finding.rule, finding.excerpt)));
    }
    assert!(alarms.is_empty(), "{}", alarms.join("\n"));
}

#[test]
fn held_out_attacks_are_measured_and_tune_nothing() {
    let texts = texts("attacks/held-out");
    assert!(texts.len() >= 30 && texts.iter().all(|text| text.must.is_empty()));
}
