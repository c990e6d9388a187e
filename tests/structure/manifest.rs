//! `Cargo.toml` and `Cargo.lock`: every dependency from the registry, no refused crate, the lints
//! in place.

use super::lexer::find;
use super::nothing_found;
use super::tree::{File, Source, read, sources};

/// Forbidden crates, each with its reason.
const REFUSED: &[(&str, &str)] = &[
    ("presage", "AGPL, as the Signal library below it"),
    ("libsignal-protocol", "AGPL"),
    ("openssl-sys", "TLS is rustls; nothing of the system is linked"),
];

/// Sections with their required lines.
const LINTS: &[(&str, &[&str])] = &[
    ("[lints.rust]", &["unsafe_code = \"forbid\"", "missing_docs = \"warn\""]),
    (
        "[lints.clippy]",
        &[
            "unwrap_used = \"deny\"",
            "expect_used = \"deny\"",
            "indexing_slicing = \"deny\"",
            "string_slice = \"deny\"",
            "panic = \"deny\"",
            "todo = \"deny\"",
            "dbg_macro = \"deny\"",
        ],
    ),
    ("[lints.rustdoc]", &["broken_intra_doc_links = \"deny\""]),
];

fn foreign(manifest: &str, lock: &str) -> Vec<String> {
    let git = manifest.lines().filter(|line| {
        let line = line.split('#').next().unwrap_or("").replace(' ', "");
        line.contains("git=") || line.contains("path=\"..")
    });
    let locked = lock.lines().filter(|line| line.starts_with("source = ") && !line.contains("registry+"));
    git.chain(locked).map(|line| format!("not from the registry: {line}")).collect()
}

fn refused(lock: &str) -> Vec<String> {
    let named = |name: &str| lock.lines().any(|line| line == format!("name = \"{name}\""));
    let found = REFUSED.iter().filter(|(name, _)| named(name));
    found.map(|(name, why)| format!("{name} must not come in: {why}")).collect()
}

/// Settings that would enable the switch of mutation testing in a build other than that of the
/// tests.
fn switched(manifest: &str, sources: &[Source]) -> Vec<String> {
    const GATE: &str = "feature = \"mutation\" , debug_assertions";
    let section = |name: &str| -> Vec<&str> {
        let lines = manifest.lines().skip_while(|line| line.trim() != name).skip(1);
        lines.take_while(|line| !line.starts_with('[')).filter(|line| !line.starts_with('#')).collect()
    };
    let mut findings = Vec::new();
    if section("[features]").iter().any(|line| !line.is_empty() && *line != "mutation = []") {
        findings.push("a feature other than `mutation` may turn it on; `default` certainly does".to_owned());
    }
    let turned_on = |lines: &[&str]| lines.iter().filter(|line| line.contains("\"mutation\"")).count();
    if turned_on(&section("[dev-dependencies]")) != turned_on(&manifest.lines().collect::<Vec<_>>()) {
        findings.push("only the dev-dependency may turn `mutation` on".to_owned());
    }
    if section("[profile.release]").iter().any(|line| line.contains("debug-assertions")) {
        findings.push("a release build has no debug assertions".to_owned());
    }
    for source in sources {
        let (named, gated) = (find(&source.code, "\"mutation\"").len(), find(&source.code, GATE).len());
        if named != gated || (named > 0 && source.path != "src/trust/mutation.rs") {
            findings.push(format!("{} names the feature `mutation` without its gate", source.path));
        }
    }
    findings
}

/// Profiles whose program would keep its symbol table. Cargo forgets `strip` of a profile that has an
/// override for the package itself.
fn unstripped(manifest: &str) -> Vec<String> {
    let sections = manifest.lines().map(str::trim).filter(|line| line.starts_with("[profile."));
    let overrides = sections.clone().filter(|line| line.contains(".package.compline]"));
    let mut findings: Vec<String> = overrides.map(|line| format!("{line} makes cargo forget `strip`")).collect();
    let release = manifest.lines().skip_while(|line| line.trim() != "[profile.release]").skip(1);
    if !release.take_while(|line| !line.starts_with('[')).any(|line| line.trim() == "strip = true") {
        findings.push("[profile.release] does not strip the program".to_owned());
    }
    for profile in sections.filter(|line| !line.contains(".package.") && !line.starts_with("[profile.dev")) {
        let body = manifest.lines().skip_while(|line| line.trim() != profile).skip(1);
        let mut body = body.take_while(|line| !line.starts_with('['));
        if profile != "[profile.release]" && !body.any(|line| line.trim() == "inherits = \"release\"") {
            findings.push(format!("{profile} does not inherit `strip`"));
        }
    }
    findings
}

fn missing_lints(manifest: &str) -> Vec<String> {
    LINTS
        .iter()
        .flat_map(|(section, wanted)| {
            let body: Vec<&str> = manifest
                .lines()
                .skip_while(|line| line.trim() != *section)
                .skip(1)
                .take_while(|line| !line.starts_with('['))
                .map(str::trim)
                .collect();
            let missing = wanted.iter().filter(|line| !body.contains(line)).copied().collect::<Vec<_>>();
            missing.into_iter().map(move |line| format!("Cargo.toml lacks {line} in {section}"))
        })
        .collect()
}

#[test]
fn every_dependency_comes_from_the_registry() {
    nothing_found(&foreign(&read("Cargo.toml"), &read("Cargo.lock")));
}

#[test]
fn no_refused_crate_comes_in() {
    nothing_found(&refused(&read("Cargo.lock")));
}

#[test]
fn the_lints_are_in_place() {
    nothing_found(&missing_lints(&read("Cargo.toml")));
}

/// Proves: trust/every-check
#[test]
fn no_build_but_that_of_the_tests_can_be_made_permissive() {
    nothing_found(&switched(&read("Cargo.toml"), sources()));
    nothing_found(&switched(&read("tests/browser/Cargo.toml"), &[]));
    assert!(
        sources().iter().any(|source| !find(&source.code, "\"mutation\"").is_empty()),
        "the gate is somewhere else"
    );
}

#[test]
fn every_profile_that_ships_is_stripped() {
    nothing_found(&unstripped(&read("Cargo.toml")));
}

#[test]
fn each_fault_of_a_profile_is_seen() {
    let manifest = "[profile.release]\nopt-level = 1\n[profile.release.package.compline]\nopt-level = 0\n\
        [profile.dist]\nstrip = true\n[profile.dev]\n[profile.quick]\ninherits = \"release\"\n";
    assert_eq!(unstripped(manifest).len(), 3, "{:?}", unstripped(manifest));
}

#[test]
fn each_fault_of_a_switch_is_seen() {
    let manifest = "[features]\ndefault = [\"mutation\"]\nmutation = []\n[profile.release]\ndebug-assertions = true\n";
    let source = |path: &str, gate: &str| {
        Source::from(File { path: path.to_owned(), text: format!("#[cfg({gate})] fn a() {{}}") })
    };
    let gate = "all(feature = \"mutation\", debug_assertions)";
    let bare = source("src/a.rs", "feature = \"mutation\"");
    let (elsewhere, gated) = (source("src/a.rs", gate), source("src/trust/mutation.rs", gate));
    assert_eq!(switched(manifest, &[bare, elsewhere, gated]).len(), 5);
}

#[test]
fn each_fault_of_a_manifest_is_seen() {
    let manifest =
        "[dependencies]\na = { git = \"https://x.example/a\" }\nb = { path = \"../b\" }\nc = \"1\" # git = no\n";
    let lock =
        "name = \"presage\"\nsource = \"git+https://x.example/presage\"\nsource = \"registry+https://x.example\"\n";
    assert_eq!((foreign(manifest, lock).len(), refused(lock).len()), (3, 1));
    let lints: usize = LINTS.iter().map(|(_, lines)| lines.len()).sum();
    assert_eq!(missing_lints(manifest).len(), lints);
}
