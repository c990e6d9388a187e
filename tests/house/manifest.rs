//! `Cargo.toml` and `Cargo.lock`: every dependency from the registry, none that cannot be lived with, the lints in place.

use super::nothing_found;
use super::tree::read;

/// Crates that must not come in, each with its reason.
const REFUSED: &[(&str, &str)] = &[
    ("presage", "AGPL, as the Signal library below it"),
    ("libsignal-protocol", "AGPL"),
    ("openssl-sys", "TLS is rustls; nothing of the system is linked"),
];

/// Sections and the lines that must stand in them.
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
