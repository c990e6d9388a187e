//! Saved texts for the scan of skills; `tests/corpus/skills/README.md` describes their format.

use std::path::Path;

/// A saved text.
pub struct Saved {
    pub name: String,
    /// Rules that must match; `clean` alone if none may.
    pub must: Vec<String>,
    pub text: String,
}

/// All texts of a folder, by name. A file without a header is all text.
pub fn saved(folder: &Path) -> Vec<Saved> {
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|kind| kind == "md") && !path.ends_with("README.md"));
    paths.sort();
    paths.iter().map(|path| parse(&path.display().to_string(), &std::fs::read_to_string(path).unwrap())).collect()
}

fn parse(name: &str, file: &str) -> Saved {
    let (head, body) = file.split_once("\n=====\n").unwrap_or(("", file));
    let must = head.lines().find_map(|line| line.strip_prefix("must:")).unwrap_or_default();
    let must = must.split_whitespace().map(str::to_owned).collect();
    Saved { name: name.to_owned(), must, text: written_out(body) }
}

/// Expands characters written as `{{U+200B}}`, or `{{U+0020*80}}` for eighty of them.
fn written_out(body: &str) -> String {
    let mut pieces = body.split("{{U+");
    let mut text = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (code, rest) = piece.split_once("}}").unwrap();
        let (code, times) = code.split_once('*').unwrap_or((code, "1"));
        let c = char::from_u32(u32::from_str_radix(code, 16).unwrap()).unwrap();
        text.push_str(&c.to_string().repeat(times.parse().unwrap()));
        text.push_str(rest);
    }
    text
}
