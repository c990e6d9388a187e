//! Rules for every file of the repository: a readable size and a header for each source, a module
//! line for each source, nothing unfinished, no paths of the author's machine, and a README that
//! begins with installing.

use super::lexer::{find, lex};
use super::nothing_found;
use super::tree::{File, Source, files, read, sources};

/// Maximum number of lines of a source.
const LONGEST: usize = 600;

/// Marks of unfinished work. Split, so that this file is not found itself.
const UNFINISHED: &[&str] = &[concat!("FIX", "ME"), concat!("XX", "X")];

/// Prefixes of paths that exist on one machine only.
const MACHINE_PATHS: &[&str] =
    &[concat!("/wo", "rk/"), concat!("/ro", "ot/"), concat!("/Us", "ers/"), concat!("/ho", "me/")];

/// Home folders allowed as examples in documents.
const EXAMPLE_HOMES: &[&str] = &["you", "ada", "compline"];

fn unreadable(source: &Source) -> Vec<String> {
    let lines = source.text.lines().count();
    let mut findings = Vec::new();
    if lines > LONGEST {
        findings.push(format!("{}: {lines} lines", source.path));
    }
    if !source.text.starts_with("//! ") {
        findings.push(format!("{}: has no header", source.path));
    }
    findings
}

fn unfinished(file: &File) -> Vec<String> {
    let tokens = lex(&file.text);
    let looks = ["todo !", "unimplemented !", "# [ ignore"];
    let code = looks.iter().flat_map(|look| find(&tokens, look)).map(|line| (line, "is unfinished or switched off"));
    let marks = file
        .text
        .lines()
        .zip(1..)
        .filter(|(line, _)| line.split(|c: char| !c.is_alphanumeric()).any(|word| UNFINISHED.contains(&word)));
    code.chain(marks.map(|(_, number)| (number, "is marked as unfinished")))
        .map(|(line, what)| format!("{}:{line}: {what}", file.path))
        .collect()
}

fn machine_paths(file: &File) -> Vec<String> {
    file.text
        .lines()
        .zip(1..)
        .filter(|(line, _)| MACHINE_PATHS.iter().any(|path| names_machine_path(line, path)))
        .map(|(_, number)| format!("{}:{number}: a path of one machine", file.path))
        .collect()
}

fn names_machine_path(line: &str, path: &str) -> bool {
    line.match_indices(path).any(|(at, _)| {
        let within = line[..at].ends_with(|c: char| c.is_alphanumeric() || ".~_-/}>".contains(c));
        let rest = &line[at + path.len()..];
        let home = rest.split(|c: char| !c.is_alphanumeric()).next().unwrap_or("");
        !within && !EXAMPLE_HOMES.contains(&home)
    })
}

/// Sources without a module line: they look like code and never compile.
fn orphans(sources: &[Source], tests: &[File]) -> Vec<String> {
    let declares = |text: &str, name: &str| !find(&lex(text), &format!("mod {name}")).is_empty();
    let of_src = sources.iter().filter(|source| match source.module.split_last() {
        None => false,
        Some((name, _)) if name == "main" => false,
        Some((name, parent)) => !sources.iter().any(|other| other.module == parent && declares(&other.text, name)),
    });
    let of_tests = tests.iter().filter(|file| {
        let inner = file.path.trim_end_matches(".rs").trim_end_matches("/mod");
        let (folder, name) = inner.rsplit_once('/').unwrap_or_default();
        let near = |other: &&File| {
            other.path.starts_with(&format!("{folder}/"))
                || other.path == format!("{folder}.rs")
                || is_crate(&other.path)
        };
        !is_crate(&file.path) && !tests.iter().filter(near).any(|other| declares(&other.text, name))
    });
    let paths = of_src.map(|source| &source.path).chain(of_tests.map(|file| &file.path));
    paths.map(|path| format!("{path}: no module line leads to it")).collect()
}

/// Returns whether cargo builds a file of `tests/` as its own crate: one of the package, or that of
/// a member under the name of its folder.
fn is_crate(path: &str) -> bool {
    match path.split('/').collect::<Vec<_>>()[..] {
        [_, _] => true,
        [_, folder, file] => file == "main.rs" || file.strip_suffix(".rs") == Some(folder),
        _ => false,
    }
}

fn rust_tests() -> Vec<File> {
    files("tests").into_iter().filter(|file| file.path.ends_with(".rs")).collect()
}

/// True if the first section is about installing, and a package comes before the sources there.
fn begins_with_installing(page: &str) -> bool {
    let section = page.find("\n## ").and_then(|at| page[at..].strip_prefix("\n## Install\n")).unwrap_or("");
    let [package, source] = ["apt install", "cargo install"].map(|command| section.find(command));
    package.is_some() && source.is_some() && package < source
}

#[test]
fn sources_can_be_read_in_one_sitting() {
    nothing_found(&sources().iter().flat_map(unreadable).collect::<Vec<_>>());
}

#[test]
fn nothing_is_unfinished_or_switched_off() {
    let all = [files("src"), files("benches"), rust_tests()];
    nothing_found(&all.iter().flatten().flat_map(unfinished).collect::<Vec<_>>());
}

#[test]
fn every_source_file_is_part_of_the_module_tree() {
    nothing_found(&orphans(sources(), &rust_tests()));
}

#[test]
fn no_file_knows_the_machine_it_was_written_on() {
    let mut findings: Vec<String> = files("").iter().flat_map(machine_paths).collect();
    for lock in files("tests").iter().filter(|file| file.path.ends_with("package-lock.json")) {
        // A lock file without addresses installs from the registry that the reader uses.
        let resolved = lock.text.lines().filter(|line| line.contains("\"resolved\": \"http")).count();
        findings.extend((resolved > 0).then(|| format!("{}: {resolved} packages name their registry", lock.path)));
    }
    nothing_found(&findings);
}

#[test]
fn the_readme_begins_with_installing() {
    assert!(begins_with_installing(&read("README.md")));
}

#[test]
fn the_licences_are_there() {
    assert!(read("LICENSE-MIT").contains("Permission is hereby granted, free of charge"));
    assert!(read("LICENSE-APACHE").contains("Version 2.0, January 2004"));
}

fn file(path: &str, text: &str) -> File {
    File { path: path.to_owned(), text: text.to_owned() }
}

#[test]
fn unreadable_sources_are_seen() {
    let long = format!("//! Header.\n{}", "\n".repeat(LONGEST));
    let count = |text: &str| unreadable(&Source::from(file("src/a.rs", text))).len();
    assert_eq!((count("//! Header."), count("fn a() {}"), count(&long)), (0, 1, 1));
}

#[test]
fn unfinished_work_is_seen() {
    let mark = UNFINISHED[0];
    for text in
        [&format!("// {mark}: later"), "fn a() { todo!() }", "#[ignore] fn a() {}", "#[ignore = \"slow\"] fn a() {}"]
    {
        assert_eq!(unfinished(&file("src/a.rs", text)).len(), 1, "{text}");
    }
    assert_eq!(unfinished(&file("src/a.rs", "let todo = \"todo!()\"; // ignored, as XXXL")).len(), 0);
}

#[test]
fn machine_paths_are_seen() {
    for path in MACHINE_PATHS {
        assert_eq!(machine_paths(&file("a.md", &format!("see {path}x"))).len(), 1, "{path}");
    }
    let fine = concat!("~/wo", "rk/x people/wo", "rk/x /ho", "me/you/x https://x.example/ro", "ot/a");
    assert_eq!(machine_paths(&file("a.md", fine)).len(), 0);
}

#[test]
fn a_forgotten_file_is_seen() {
    let source = |path: &str, text: &str| Source::from(file(path, text));
    let tree = [
        source("src/lib.rs", "pub mod a;"),
        source("src/a.rs", "mod b;"),
        source("src/a/b.rs", ""),
        source("src/a/c.rs", ""),
    ];
    let tests = [
        file("tests/x.rs", "mod y;"),
        file("tests/x/y.rs", ""),
        file("tests/x/z.rs", ""),
        file("tests/w/main.rs", "#[path = \"../support/mod.rs\"] mod support;"),
        file("tests/support/mod.rs", "mod server;"),
        file("tests/support/server.rs", "mod polling;"),
        file("tests/support/server/polling.rs", ""),
        file("tests/support/server/z.rs", ""),
    ];
    assert_eq!(orphans(&tree, &tests).len(), 3, "src/a/c.rs and both z.rs");
}

#[test]
fn a_readme_that_begins_otherwise_is_seen() {
    let good = "# A\n\n## Install\n`apt install` or `cargo install`\n";
    assert!(begins_with_installing(good));
    assert!(!begins_with_installing(&good.replace("apt install", "dpkg")));
    assert!(!begins_with_installing(&good.replacen("\n\n", "\n\n## B\n", 1)));
    assert!(!begins_with_installing("# A\n\n## Install\n`cargo install` or `apt install`\n"));
}
