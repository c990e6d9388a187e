//! Files of the repository on the disk, and the Rust sources among them with their module paths.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::lexer::{Token, flatten, lex, test_item_end, without_tests};

/// Generated folders.
const MADE: &[&str] = &[".git", "target", "node_modules", "venv", "proptest-regressions"];

/// A text file of the repository.
pub struct File {
    /// Relative to the root of the repository, with slashes.
    pub path: String,
    /// Content of the file.
    pub text: String,
}

/// A file of `src/`.
pub struct Source {
    /// Relative to the root of the repository.
    pub path: String,
    /// Text as written.
    pub text: String,
    /// Module path: `["adapter", "markdown"]`; empty for `lib.rs`, `["main"]` for the binary.
    pub module: Vec<String>,
    /// All tokens, with flattened `use` trees.
    pub code: Vec<Token>,
    /// Tokens without the code compiled for tests only.
    pub product: Vec<Token>,
}

/// The root of the repository.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().find(|folder| folder.join("Cargo.lock").exists()).unwrap_or(here).to_owned()
}

/// Reads one file by its path in the repository; panics if it is missing.
pub fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path} cannot be read: {error}"))
}

/// Every text file below a folder of the repository (`""` for all of it), sorted by path.
pub fn files(below: &str) -> Vec<File> {
    let mut found = Vec::new();
    walk(&root().join(below), &mut found);
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

/// Every Rust source of the product, read once.
pub fn sources() -> &'static [Source] {
    static SOURCES: OnceLock<Vec<Source>> = OnceLock::new();
    SOURCES.get_or_init(read_sources)
}

fn read_sources() -> Vec<Source> {
    let sources: Vec<Source> =
        files("src").into_iter().filter(|file| file.path.ends_with(".rs")).map(Source::from).collect();
    let for_tests: Vec<Vec<String>> = sources.iter().flat_map(test_modules).collect();
    sources
        .into_iter()
        .map(|mut source| {
            if for_tests.iter().any(|module| source.module.starts_with(module)) {
                source.product.clear();
            }
            source
        })
        .collect()
}

impl From<File> for Source {
    fn from(File { path, text }: File) -> Self {
        let tokens = lex(&text);
        let product = flatten(&without_tests(&tokens));
        Self { module: module(&path), code: flatten(&tokens), product, path, text }
    }
}

fn module(path: &str) -> Vec<String> {
    let inner = path.trim_start_matches("src/").trim_end_matches(".rs");
    if inner == "lib" { Vec::new() } else { inner.split('/').map(str::to_owned).collect() }
}

/// Modules in their own files that are declared under `#[cfg(test)]`.
fn test_modules(source: &Source) -> Vec<Vec<String>> {
    let tokens = lex(&source.text);
    (0..tokens.len())
        .filter_map(|start| test_item_end(&tokens, start))
        .filter_map(|end| match &tokens[end.saturating_sub(3)..end] {
            [keyword, name, stop] if keyword.text == "mod" && stop.text == ";" => {
                Some(source.module.iter().cloned().chain([name.text.clone()]).collect())
            }
            _ => None,
        })
        .collect()
}

fn walk(folder: &Path, found: &mut Vec<File>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.map(Result::unwrap) {
        let (path, kind) = (entry.path(), entry.file_type().unwrap());
        if kind.is_dir() && !MADE.iter().any(|made| entry.file_name() == **made) {
            walk(&path, found);
        } else if kind.is_file()
            && let Ok(text) = fs::read_to_string(&path)
        {
            let path = path.strip_prefix(root()).unwrap().to_str().unwrap().replace('\\', "/");
            found.push(File { path, text });
        }
    }
}

#[test]
fn a_path_tells_its_module() {
    assert_eq!(module("src/adapter/markdown.rs"), ["adapter", "markdown"]);
    assert_eq!(module("src/main.rs"), ["main"]);
    assert!(module("src/lib.rs").is_empty());
}

#[test]
fn a_module_declared_for_tests_is_known() {
    let text = "#[cfg(test)]\nmod cases;\nmod real;".to_owned();
    let source = Source::from(File { path: "src/a/b.rs".to_owned(), text });
    assert_eq!(test_modules(&source), [["a", "b", "cases"]]);
}
