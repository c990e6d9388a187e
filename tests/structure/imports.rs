//! Allowed imports: the table of `docs/architecture.md`, enforced on every path of every file in
//! `src/`.
//!
//! A path counts everywhere: in a `use` tree, an expression, a macro, an attribute, a test. `super`
//! and `self` are followed through inline modules, and the root as a whole (`use crate as c`,
//! `crate::*`) may not be imported at all, since that would hide the edge. `#[path]`, `include!`
//! and `extern crate` are refused for the same reason.

use std::collections::BTreeSet;

use super::lexer::{Token, find, flatten, lex};
use super::nothing_found;
use super::tree::{Source, sources};

/// Imports among the modules of one row.
#[derive(Clone, Copy, PartialEq)]
enum Among {
    /// Each may import those named before it.
    InTurn,
    /// Never each other.
    Apart,
}

/// One row: its modules may import the rows above, except `except`.
struct Row {
    modules: &'static [&'static str],
    among: Among,
    except: &'static [&'static str],
}

/// The table, in reading order from the ground up.
const TABLE: &[Row] = &[
    Row {
        modules: &[
            "fuzz", "id", "trust", "time", "people", "message", "text", "wish", "markdown", "tls", "http", "wording",
        ],
        among: Among::InTurn,
        except: &[],
    },
    Row { modules: &["config"], among: Among::Apart, except: &[] },
    Row { modules: &["store", "model", "skill", "adapter"], among: Among::Apart, except: &[] },
    Row { modules: &["import"], among: Among::Apart, except: &["adapter"] },
    Row { modules: &["spend"], among: Among::Apart, except: &["adapter"] },
    Row { modules: &["search"], among: Among::Apart, except: &["adapter"] },
    Row { modules: &["memory", "review"], among: Among::InTurn, except: &["adapter"] },
    Row { modules: &["erasure"], among: Among::Apart, except: &["adapter", "review"] },
    Row { modules: &["tool"], among: Among::Apart, except: &["adapter"] },
    Row { modules: &["engine"], among: Among::Apart, except: &["adapter"] },
    Row { modules: &["reflection"], among: Among::Apart, except: &["adapter"] },
    Row { modules: &["schedule"], among: Among::Apart, except: &["adapter"] },
    Row { modules: &["admin"], among: Among::Apart, except: &["adapter"] },
    Row { modules: &["gateway"], among: Among::Apart, except: &[] },
    Row { modules: &["web"], among: Among::Apart, except: &["adapter", "gateway"] },
    Row { modules: &["app", "cli", "main"], among: Among::InTurn, except: &[] },
];

/// Modules that a module may import; `None` for one that is not in the table.
fn allowed(from: &str) -> Option<BTreeSet<&'static str>> {
    let row = TABLE.iter().position(|row| row.modules.contains(&from))?;
    let above = TABLE[..row].iter().flat_map(|row| row.modules);
    let before = TABLE[row].modules.iter().take_while(|module| **module != from);
    let before = before.filter(|_| TABLE[row].among == Among::InTurn);
    Some(above.chain(before).copied().filter(|module| !TABLE[row].except.contains(module)).collect())
}

/// A path from one file to a module of the crate; the empty name stands for the root as a whole.
#[derive(Debug, PartialEq)]
struct Edge {
    to: String,
    line: usize,
}

fn edges(module: &[String], code: &[Token]) -> Vec<Edge> {
    let mut here = module.to_vec();
    let mut inline: Vec<usize> = Vec::new();
    let mut depth = 0_usize;
    let mut found = Vec::new();
    for (at, token) in code.iter().enumerate() {
        match token.text.as_str() {
            "{" => {
                depth += 1;
                if at >= 2 && code[at - 2].text == "mod" {
                    here.push(code[at - 1].text.clone());
                    inline.push(depth);
                }
            }
            "}" => {
                if inline.last() == Some(&depth) {
                    inline.pop();
                    here.pop();
                }
                depth = depth.saturating_sub(1);
            }
            "crate" | "super" | "self" | "compline" if begins_path(code, at) => {
                let to = resolve(&here, &segments(&code[at..])).unwrap_or_default();
                found.push(Edge { to, line: token.line });
            }
            _ => {}
        }
    }
    found
}

fn begins_path(code: &[Token], at: usize) -> bool {
    let is = |index: Option<usize>, text: &str| index.and_then(|i| code.get(i)).is_some_and(|token| token.text == text);
    let goes_on = is(Some(at + 1), "::") || is(Some(at + 1), "as");
    let inside = is(at.checked_sub(1), "::");
    let visibility = is(at.checked_sub(1), "in") && is(at.checked_sub(2), "(") && is(at.checked_sub(3), "pub");
    goes_on && !inside && !visibility
}

fn segments(code: &[Token]) -> Vec<&str> {
    let mut path = vec![code[0].text.as_str()];
    for pair in code[1..].chunks(2) {
        match pair {
            [colons, name] if colons.text == "::" && is_word(&name.text) => path.push(&name.text),
            _ => break,
        }
    }
    path
}

fn is_word(text: &str) -> bool {
    text.starts_with(|c: char| c == '_' || c.is_alphabetic())
}

/// Top-level module of a path written in the module `here`; `None` for the root itself.
fn resolve(here: &[String], path: &[&str]) -> Option<String> {
    let mut at: Vec<String> = here.to_vec();
    for segment in path {
        match *segment {
            "crate" | "compline" if at.len() == here.len() => at.clear(),
            "self" => {}
            "super" => drop(at.pop()),
            name => {
                at.push(name.to_owned());
                break;
            }
        }
    }
    at.into_iter().next()
}

fn forbidden(source: &Source) -> Vec<String> {
    let Some(from) = source.module.first() else {
        return Vec::new();
    };
    let Some(may) = allowed(from) else {
        return vec![format!("{}: the table knows no module {from}", source.path)];
    };
    edges(&source.module, &source.code)
        .into_iter()
        .filter(|edge| edge.to != *from && !may.contains(edge.to.as_str()))
        .map(|edge| match edge.to.as_str() {
            "" => format!("{}:{}: the whole crate is imported; name the module", source.path, edge.line),
            to => format!("{}:{}: {from} may not import {to}", source.path, edge.line),
        })
        .collect()
}

fn hidden(source: &Source) -> Vec<String> {
    ["#[path", "include!", "extern crate"]
        .iter()
        .flat_map(|way| find(&source.code, way).into_iter().map(move |line| (way, line)))
        .map(|(way, line)| format!("{}:{line}: {way} hides where code comes from", source.path))
        .collect()
}

#[test]
fn imports_point_down() {
    let sources = sources();
    assert!(sources.len() > 20, "the scan found only {} files", sources.len());
    nothing_found(&sources.iter().flat_map(|source| [forbidden(source), hidden(source)].concat()).collect::<Vec<_>>());
}

#[test]
fn lib_lists_the_modules_in_reading_order() {
    let sources = sources();
    let lib = sources.iter().find(|source| source.module.is_empty()).expect("src/lib.rs");
    let words: Vec<&str> = lib.code.iter().map(|token| token.text.as_str()).collect();
    let listed: Vec<&str> = words
        .chunks(4)
        .map(|line| match line {
            ["pub", "mod", name, ";"] => *name,
            other => panic!("src/lib.rs holds module lines only, not {other:?}"),
        })
        .collect();
    let table: Vec<&str> = TABLE.iter().flat_map(|row| row.modules).copied().collect();
    let in_order: Vec<&str> = table.into_iter().filter(|module| listed.contains(module)).collect();
    assert_eq!(listed, in_order, "src/lib.rs does not follow the table");
    let top: BTreeSet<&str> = sources.iter().filter_map(|source| source.module.first()).map(String::as_str).collect();
    assert_eq!(top.iter().filter(|name| **name != "main" && !listed.contains(name)).count(), 0, "{top:?}");
}

/// Findings in a file of the model, which may not import the store.
fn in_model(path: &str, text: &str) -> Vec<String> {
    let file = super::tree::File { path: path.to_owned(), text: text.to_owned() };
    forbidden(&Source::from(file))
}

#[test]
fn a_forbidden_edge_is_seen_in_every_form() {
    for text in [
        "use crate::journal::Journal;",
        "use crate::store;",
        "use crate::{id, store::{self, Journal}};",
        "use {crate::id, crate::store};",
        "pub use crate::store as s;",
        "fn f() { let j = crate::journal::open(); }",
        "fn f(j: &crate::journal::Journal<'_>) {}",
        "impl From<crate::journal::Fault> for X {}",
        "macro_rules! m { () => { $crate::journal::open() } }",
        "m!(crate::journal::open());",
        "#[serde(with = \"crate::journal::text\")] struct A;",
        "use super::super::store;",
        "use super::{super::store::Journal, id};",
        "use self::super::super::store;",
        "mod inner { use super::super::super::store; }",
        "mod inner {} use super::super::store;",
        "fn f() { super::super::store::open() }",
        "#[cfg(test)] mod tests { use crate::journal::Journal; }",
        "use compline::store;",
        "use crate as c;",
        "use crate::{self as c};",
        "use crate::*;",
        "use super::super as c;",
        "use super::super::*;",
        "use crate::unheard_of::X;",
    ] {
        assert!(!in_model("src/model/wire.rs", text).is_empty(), "{text}");
    }
    assert_eq!(in_model("src/model.rs", "use super::store;").len(), 1);
    assert_eq!(in_model("src/unheard_of.rs", "").len(), 1);
}

#[test]
fn allowed_imports_are_not_reported() {
    for text in [
        "use crate::{id::TurnId, trust::{Label, Text}};",
        "pub(crate) fn f() {}",
        "pub(in crate::model) fn f() {}",
        "use super::request::Request;",
        "mod tests { use super::super::reply; use super::*; }",
        "//! crate::store\n/// [`crate::store`]\nfn f() { \"crate::store\" }",
        "use tokio::store; fn f() { self.store(); Self::store() }",
    ] {
        assert_eq!(in_model("src/model/wire.rs", text), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn the_table_says_what_the_design_says() {
    let may = |from: &str, to: &str| allowed(from).unwrap().contains(to);
    assert!(may("trust", "id") && !may("id", "trust"));
    assert!(may("store", "config") && !may("store", "model") && !may("adapter", "store"));
    assert!(may("review", "memory") && !may("memory", "review"));
    assert!(may("erasure", "memory") && !may("memory", "erasure") && !may("erasure", "engine"));
    assert!(may("memory", "search") && !may("search", "memory") && !may("store", "search"));
    assert!(may("gateway", "adapter") && !may("engine", "adapter") && !may("web", "adapter"));
    assert!(may("cli", "app") && !may("app", "cli") && may("main", "cli"));
    assert!(!may("web", "gateway") && !may("gateway", "web"));
}

#[test]
fn hidden_ways_in_are_seen() {
    let code = "#[path = \"../store.rs\"] mod s; include!(\"x\"); extern crate self as c;";
    assert_eq!(["#[path", "include!", "extern crate"].map(|way| find(&flatten(&lex(code)), way).len()), [1, 1, 1]);
}
