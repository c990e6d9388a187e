//! No cycles among the files of `src/`, so that they can be read in order of their dependencies.
//!
//! A file depends on another if its production code names an item that the other defines. Names are
//! resolved through imports and re-exports to the file with the definition: a parent that only
//! declares its children and re-exports their items depends on none of them, and a caller that
//! takes an item of a child through the parent does not depend on the parent. A parent does not
//! depend on its own children either: they are its parts and may use its definitions. Methods of a
//! type in another file and names made by a macro are not visible to this check.

use std::collections::{BTreeMap, BTreeSet};

use super::lexer::{Token, attribute_end, flatten, lex, without_tests};
use super::nothing_found;
use super::tree::{File, Source, sources};

/// Keywords before the name of an item.
const ITEMS: &[&str] = &["fn", "struct", "enum", "union", "trait", "type", "const", "static", "mod"];

/// Limit of re-exports and imports followed for one name.
const LONGEST_TRAIL: usize = 16;

type Path = Vec<String>;

/// Definitions and references of a module.
#[derive(Default)]
struct Module {
    file: usize,
    items: BTreeSet<String>,
    /// Names of imports and re-exports, with their paths.
    imports: BTreeMap<String, Path>,
    /// Paths of glob imports.
    globs: Vec<Path>,
    /// Paths in the code and in imports that are no re-exports, each with its first line.
    named: BTreeMap<Path, usize>,
}

/// The modules of the crate by path.
struct Tree(BTreeMap<Path, Module>);

/// Name and line of the reference behind a dependency.
type Reason = (String, usize);

impl Tree {
    fn of(files: &[&Source]) -> Self {
        let mut tree = Self(BTreeMap::new());
        for (file, source) in files.iter().enumerate() {
            tree.read(file, source);
        }
        tree
    }

    fn read(&mut self, file: usize, source: &Source) {
        let code = without_tests(&lex(&source.text));
        let mut here = source.module.clone();
        // Brace depths of the inline modules.
        let mut inline: Vec<usize> = Vec::new();
        let mut depth = 0_usize;
        let mut at = 0;
        self.0.entry(here.clone()).or_default().file = file;
        while let Some(token) = code.get(at) {
            let module = self.0.entry(here.clone()).or_default();
            module.file = file;
            let next = code.get(at + 1).map_or("", |token| token.text.as_str());
            match token.text.as_str() {
                "#" if next == "[" || next == "!" => {
                    let end = attribute_end(&code, at);
                    for (path, line) in paths(&flatten(&code[at..end])).filter(|(path, _)| path.len() > 1) {
                        module.named.entry(absolute(&here, path)).or_insert(line);
                    }
                    at = end;
                    continue;
                }
                "use" if next != "<" => {
                    let end = at + code[at..].iter().take_while(|token| token.text != ";").count() + 1;
                    module.import(&here, &code[at..end.min(code.len())], is_public(&code, at));
                    at = end;
                    continue;
                }
                "{" => depth += 1,
                "}" => {
                    if inline.last() == Some(&depth) {
                        inline.pop();
                        here.pop();
                    }
                    depth = depth.saturating_sub(1);
                }
                "macro_rules" => drop(module.items.insert(code[(at + 2).min(code.len() - 1)].text.clone())),
                word if ITEMS.contains(&word) && depth == inline.len() && is_word(next) => {
                    module.items.insert(next.to_owned());
                    if word == "mod" && code.get(at + 2).is_some_and(|token| token.text == "{") {
                        here.push(next.to_owned());
                        inline.push(depth + 1);
                    }
                }
                _ => {
                    if let Some(path) = path_at(&code, at) {
                        let line = token.line;
                        at += path.len() * 2 - 1;
                        module.named.entry(absolute(&here, path)).or_insert(line);
                        continue;
                    }
                }
            }
            at += 1;
        }
    }

    /// The file that defines the target of a path; `None` if it is not in this crate.
    fn definition(&self, from: &Path, path: &Path, trail: usize) -> Option<usize> {
        if trail == LONGEST_TRAIL {
            return None;
        }
        match path.first().map(String::as_str)? {
            "crate" => self.below(&Vec::new(), &path[1..], trail),
            _ => self.below_own(from, path, trail),
        }
    }

    /// Resolves a path that begins with a name of its own module.
    fn below_own(&self, from: &Path, path: &[String], trail: usize) -> Option<usize> {
        let module = self.0.get(from)?;
        if let Some(import) = module.imports.get(&path[0]) {
            if import.first().is_none_or(|first| *first != "crate") && import[0] == path[0] {
                return None;
            }
            let whole: Path = import.iter().chain(&path[1..]).cloned().collect();
            return self.definition(from, &whole, trail + 1);
        }
        if module.items.contains(&path[0]) {
            return self.below(from, path, trail);
        }
        module.globs.iter().find_map(|glob| {
            let whole: Path = glob.iter().chain(path).cloned().collect();
            self.exactly(from, &whole, trail + 1)
        })
    }

    /// Like [`Self::definition`], but only if the last module of the path has the item.
    fn exactly(&self, from: &Path, path: &Path, trail: usize) -> Option<usize> {
        let (name, parent) = path.split_last()?;
        let parent: Path = match parent.first()?.as_str() {
            "crate" => parent[1..].to_vec(),
            _ => from.iter().chain(parent).cloned().collect(),
        };
        let module = self.0.get(&parent)?;
        let known = module.items.contains(name) || module.imports.contains_key(name);
        if known { self.below(&parent, std::slice::from_ref(name), trail) } else { None }
    }

    /// Resolves a path downwards from a module.
    fn below(&self, start: &Path, path: &[String], trail: usize) -> Option<usize> {
        let mut here = start.clone();
        for (at, name) in path.iter().enumerate() {
            here.push(name.clone());
            if self.0.contains_key(&here) {
                continue;
            }
            here.pop();
            let module = self.0.get(&here)?;
            if module.items.contains(name) {
                return Some(module.file);
            }
            if module.imports.contains_key(name) || !module.globs.is_empty() {
                return self.below_own(&here, &path[at..], trail + 1).or(Some(module.file));
            }
            // The name comes from a macro or a derive.
            return Some(module.file);
        }
        None
    }

    /// Dependencies of each file, each with its first reason.
    fn edges(&self, files: usize) -> Vec<BTreeMap<usize, Reason>> {
        let mut edges = vec![BTreeMap::new(); files];
        for (from, module) in &self.0 {
            for (path, line) in &module.named {
                let to = self.definition(from, path, 0).filter(|to| *to != module.file);
                if let Some(to) = to {
                    edges[module.file].entry(to).or_insert_with(|| (path.join("::"), *line));
                }
            }
        }
        edges
    }
}

impl Module {
    fn import(&mut self, here: &Path, code: &[Token], public: bool) {
        for leaf in flatten(code).split(|token| token.text == ";").filter(|leaf| leaf.len() > 1) {
            let words: Vec<&str> = leaf[1..].iter().map(|token| token.text.as_str()).collect();
            let path = words.iter().filter(|word| is_word(word)).take_while(|word| **word != "as");
            let mut path = absolute(here, path.map(|word| (*word).to_owned()).collect());
            let renamed = words.iter().position(|word| *word == "as").map(|at| words[at + 1]);
            if path.last().is_some_and(|last| last == "self") {
                path.pop();
            }
            let Some(last) = path.last().cloned() else { continue };
            if !public {
                self.named.entry(path.clone()).or_insert(leaf[0].line);
            }
            if words.last() == Some(&"*") {
                self.globs.push(path);
            } else {
                self.imports.insert(renamed.map_or(last, str::to_owned), path);
            }
        }
    }
}

/// Rewrites a path with `self` or `super` as `crate::…`; others stay as they are.
fn absolute(here: &[String], path: Path) -> Path {
    let mut at = here.to_vec();
    let begins = path.first().map_or("", String::as_str);
    let rest: Path = match begins {
        "compline" => path[1..].to_vec(),
        "self" | "super" => {
            let ups = path.iter().take_while(|word| *word == "self" || *word == "super").collect::<Vec<_>>();
            at.truncate(at.len().saturating_sub(ups.iter().filter(|word| **word == "super").count()));
            at.into_iter().chain(path[ups.len()..].iter().cloned()).collect()
        }
        _ => return path,
    };
    std::iter::once("crate".to_owned()).chain(rest).collect()
}

fn is_public(code: &[Token], at: usize) -> bool {
    let before = |back: usize| at.checked_sub(back).map_or("", |index| code[index].text.as_str());
    before(1) == "pub" || (before(1) == ")" && (2..6).any(|back| before(back) == "pub"))
}

fn paths(code: &[Token]) -> impl Iterator<Item = (Path, usize)> {
    (0..code.len()).filter_map(|at| Some((path_at(code, at)?, code[at].line)))
}

/// The path that begins at a token, if it can name an item and is no field, method or variable.
fn path_at(code: &[Token], at: usize) -> Option<Path> {
    let first = &code[at].text;
    let before = at.checked_sub(1).map_or("", |index| code[index].text.as_str());
    if !is_word(first) || matches!(before, "::" | "." | "fn" | "let" | "'") {
        return None;
    }
    let mut path = vec![first.clone()];
    for pair in code[at + 1..].chunks(2) {
        match pair {
            [colons, name] if colons.text == "::" && is_word(&name.text) => path.push(name.text.clone()),
            _ => break,
        }
    }
    Some(path)
}

fn is_word(text: &str) -> bool {
    text.starts_with(|c: char| c == '_' || c.is_alphabetic())
}

/// Returns whether one file is a part of another: a descendant.
fn is_part(part: &[String], of: &[String]) -> bool {
    part.len() > of.len() && part.starts_with(of)
}

/// Files that each file reaches; itself only through others.
fn reached(edges: &[BTreeMap<usize, Reason>]) -> Vec<BTreeSet<usize>> {
    let from = |start: usize| {
        let mut seen = BTreeSet::new();
        let mut open: Vec<usize> = edges[start].keys().copied().collect();
        while let Some(file) = open.pop() {
            if seen.insert(file) {
                open.extend(edges[file].keys());
            }
        }
        seen
    };
    (0..edges.len()).map(from).collect()
}

/// One finding per cycle: its files, and the names that close it.
fn circles(files: &[&Source]) -> Vec<String> {
    let edges = Tree::of(files).edges(files.len());
    let edges = edges.into_iter().enumerate().map(|(from, mut to)| {
        to.retain(|to, _| !is_part(&files[*to].module, &files[from].module));
        to
    });
    let edges: Vec<_> = edges.collect();
    let reached = reached(&edges);
    let members = |file: usize| -> Vec<usize> {
        (0..files.len()).filter(|other| reached[file].contains(other) && reached[*other].contains(&file)).collect()
    };
    (0..files.len())
        .map(|file| (file, members(file)))
        .filter(|(file, members)| members.first() == Some(file))
        .map(|(_, members)| {
            let inside =
                members.iter().flat_map(|from| edges[*from].iter().map(move |(to, reason)| (from, to, reason)));
            let lines = inside.filter(|(_, to, _)| members.contains(to)).map(|(from, to, (name, line))| {
                format!("{}:{line} names {name} of {}", files[*from].path, files[*to].path)
            });
            format!("a circle of {} files:\n    {}", members.len(), lines.collect::<Vec<_>>().join("\n    "))
        })
        .collect()
}

#[test]
fn no_circle_among_files() {
    let files: Vec<&Source> = sources().iter().filter(|source| !source.product.is_empty()).collect();
    nothing_found(&circles(&files));
}

/// Number of cycles in a seeded tree.
fn seeded(files: &[(&str, &str)]) -> usize {
    let sources: Vec<Source> = files
        .iter()
        .map(|(path, text)| Source::from(File { path: (*path).to_owned(), text: (*text).to_owned() }))
        .collect();
    circles(&sources.iter().collect::<Vec<_>>()).len()
}

#[test]
fn a_circle_is_seen_in_every_form() {
    let lib = ("src/lib.rs", "pub mod a; pub mod b;");
    let b = ("src/b.rs", "pub struct Y; pub fn y(x: &crate::a::X) {}");
    for a in [
        "use crate::b::Y; pub struct X(Y);",
        "use super::b::{self, Y as Z}; pub struct X(Z);",
        "pub struct X(crate::b::Y);",
        "use crate::b; pub struct X(b::Y);",
        "use crate::b::*; pub struct X(Y);",
        "pub struct X; mod inner { fn f() { super::super::b::y() } }",
        "#[serde(with = \"crate::b::y\")] pub struct X;",
        "pub struct X; macro_rules! m { () => { $crate::b::y() } }",
    ] {
        assert_eq!(seeded(&[lib, ("src/a.rs", a), b]), 1, "{a}");
    }
}

#[test]
fn a_name_is_followed_to_its_file() {
    let lib = ("src/lib.rs", "pub mod a;");
    let x = ("src/a/x.rs", "pub struct X(super::y::Y);");
    let y = ("src/a/y.rs", "pub struct Y; use super::X; impl Y { fn f(x: X) {} }");
    assert_eq!(seeded(&[lib, ("src/a.rs", "mod x; mod y; pub use x::X; pub use y::Y;"), x, y]), 1);
    // The re-export leads to a third file without dependencies.
    let y = ("src/a/y.rs", "pub struct Y; use super::X; impl Y { fn f(x: X) {} }");
    let x = ("src/a/x.rs", "mod z; pub use z::X; use super::Y; fn f(y: Y) {}");
    assert_eq!(
        seeded(&[
            lib,
            ("src/a.rs", "mod x; mod y; pub use x::X; pub use y::Y;"),
            x,
            ("src/a/x/z.rs", "pub struct X;"),
            y
        ]),
        0
    );
}

#[test]
fn harmless_references_are_not_reported_as_cycles() {
    let lib = ("src/lib.rs", "pub mod a; pub mod b;");
    let b = ("src/b.rs", "use crate::a::X; pub struct Y(X);");
    for a in [
        "pub struct X; #[cfg(test)] mod tests { use crate::b::Y; }",
        "pub struct X; // crate::b::Y",
        "pub struct X; fn f(b: u8) { let y = \"crate::b::Y\"; b.y(); }",
        "pub use crate::b::Y; pub struct X;",
    ] {
        assert_eq!(seeded(&[lib, ("src/a.rs", a), b]), 0, "{a}");
    }
    // A parent uses its parts, which use its types.
    let parent = ("src/a.rs", "mod part; pub struct X; fn f() { part::g(&X) }");
    assert_eq!(seeded(&[("src/lib.rs", "pub mod a;"), parent, ("src/a/part.rs", "pub fn g(x: &super::X) {}")]), 0);
}
