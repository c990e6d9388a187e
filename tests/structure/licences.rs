//! Licences of the dependencies: every package of the locked tree, for every platform and for the
//! tests, states an allowed licence. Needs no foreign tool, and no network beyond that of a build.

use std::process::Command;

use serde_json::Value;

use super::nothing_found;
use super::tree::root;

/// Licences that allow use and distribution with ours.
const ALLOWED: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MIT-0",
    "MPL-2.0",
    "Unicode-3.0",
    "Unlicense",
    "WTFPL",
    "Zlib",
];

/// Returns whether an SPDX expression can be met with allowed licences only.
fn allowed(expression: &str) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut parser = Expression { words: &words };
    parser.any() && parser.words.is_empty()
}

/// The unread rest of an expression; `OR` binds loosest, then `AND`, then `WITH`.
struct Expression<'a> {
    words: &'a [&'a str],
}

impl Expression<'_> {
    fn any(&mut self) -> bool {
        let mut met = self.all();
        while self.take("OR") {
            met |= self.all();
        }
        met
    }

    fn all(&mut self) -> bool {
        let mut met = self.one();
        while self.take("AND") {
            met &= self.one();
        }
        met
    }

    fn one(&mut self) -> bool {
        if self.take("(") {
            let met = self.any();
            return self.take(")") && met;
        }
        let Some((licence, rest)) = self.words.split_first() else {
            return false;
        };
        self.words = rest;
        match (self.take("WITH"), self.words.split_first()) {
            (false, _) => ALLOWED.contains(licence),
            (true, None) => false,
            (true, Some((exception, rest))) => {
                self.words = rest;
                ALLOWED.contains(&format!("{licence} WITH {exception}").as_str())
            }
        }
    }

    fn take(&mut self, word: &str) -> bool {
        let found = self.words.first() == Some(&word);
        if found {
            self.words = &self.words[1..];
        }
        found
    }
}

fn findings(metadata: &Value) -> Vec<String> {
    metadata["packages"].as_array().into_iter().flatten().filter_map(finding).collect()
}

fn finding(package: &Value) -> Option<String> {
    let (name, version) = (&package["name"], &package["version"]);
    match package["license"].as_str() {
        Some(licence) if allowed(licence) => None,
        Some(licence) => Some(format!("{name} {version}: {licence} is not allowed")),
        None => Some(format!("{name} {version}: states no licence")),
    }
}

#[test]
fn every_licence_is_allowed() {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--locked", "--format-version", "1"])
        .current_dir(root())
        .output()
        .expect("cargo metadata");
    assert!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert!(metadata["packages"].as_array().is_some_and(|packages| packages.len() > 100), "the tree is not seen");
    nothing_found(&findings(&metadata));
}

#[test]
fn expressions_are_read_as_spdx_means_them() {
    for fine in [
        "MIT",
        "MIT/Apache-2.0",
        "MIT OR GPL-3.0-only",
        "(MIT OR Apache-2.0) AND Unicode-3.0",
        "Apache-2.0 WITH LLVM-exception OR AGPL-3.0-only",
        "GPL-2.0-only AND MIT OR ISC",
    ] {
        assert!(allowed(fine), "{fine}");
    }
    for refused in [
        "",
        "AGPL-3.0-only",
        "MIT AND GPL-3.0-only",
        "MIT AND (GPL-2.0-only OR LGPL-2.1-only)",
        "MIT WITH Classpath-exception-2.0",
        "(MIT",
        "MIT Apache-2.0",
        "OR MIT",
    ] {
        assert!(!allowed(refused), "{refused}");
    }
}

#[test]
fn a_package_without_a_good_licence_is_seen() {
    let metadata = serde_json::json!({"packages": [
        {"name": "a", "version": "1", "license": "MIT"},
        {"name": "b", "version": "1", "license": "AGPL-3.0-or-later"},
        {"name": "c", "version": "1", "license": null},
    ]});
    assert_eq!(findings(&metadata).len(), 2);
}
