//! Checks that a change has a permitted shape, before its text is read.
//!
//! Everything is decided from values alone: the name, the change, the two contents. Each fault is
//! one sentence for the proposer; no sentence means that the shape is valid. A link to nothing or
//! out of the folder is a fault just like a missing `SKILL.md`. A rename is not an edit: it may
//! change the name in the front matter and no other byte.

use std::borrow::Cow;
use std::collections::BTreeMap;

use percent_encoding::percent_decode_str;
use pulldown_cmark::{Event, Options, Parser, Tag};

use super::ProposalChange;
use super::diff;
use super::reveal::reveal;
use crate::skill::folder::MAIN;
use crate::skill::{SkillFolder, manifest, name};

/// The maximum number of sentences of one check.
const MOST_SENTENCES: usize = 20;

/// Names that commands and prompts use for other purposes.
const RESERVED: &str = "
    all any approve assistant builtin compline default diff help import list new none off on owner proposal
    proposals reject review reviewer rollback skill skills system user
";

/// Limits on the size and content of a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// The maximum number of files.
    pub files: usize,
    /// The maximum size of a file in bytes.
    pub file_bytes: u64,
    /// The maximum size of all files in bytes.
    pub all_bytes: u64,
    /// The maximum size of `SKILL.md` in bytes.
    pub main_bytes: u64,
    /// Permits binary files.
    pub binaries: bool,
}

impl Bounds {
    /// Returns the limits for a model's proposal.
    pub fn proposal() -> Self {
        Self { files: 40, file_bytes: 64 * 1024, all_bytes: 256 * 1024, main_bytes: 32 * 1024, binaries: false }
    }

    /// Returns the limits for a person's import.
    pub fn import() -> Self {
        let all = 8 * 1024 * 1024;
        Self { files: 400, file_bytes: all, all_bytes: all, main_bytes: 32 * 1024, binaries: true }
    }
}

/// Returns the faults in the shape of a change; empty if it is valid.
pub fn check(
    change: &ProposalChange,
    name: &str,
    base: Option<&SkillFolder>,
    result: Option<&SkillFolder>,
    bounds: Bounds,
) -> Vec<String> {
    let mut wrong = Vec::new();
    check_names(change, name, &mut wrong);
    check_presence(change, base, result, &mut wrong);
    if let Some(result) = result {
        let own = if let ProposalChange::Rename { to } = change { to } else { name };
        check_content(result, own, bounds, &mut wrong);
    }
    if let (ProposalChange::Rename { .. }, Some(base), Some(result)) = (change, base, result)
        && !differs_in_name_only(base, result)
    {
        wrong.push("A rename may change the name in the front matter of SKILL.md and nothing else.".to_owned());
    }
    if wrong.len() > MOST_SENTENCES {
        let more = wrong.len() - MOST_SENTENCES;
        wrong.truncate(MOST_SENTENCES);
        wrong.push(format!("{more} more things are wrong with it."));
    }
    wrong
}

fn check_names(change: &ProposalChange, name: &str, wrong: &mut Vec<String>) {
    let to = if let ProposalChange::Rename { to } = change { Some(to.as_str()) } else { None };
    for given in [Some(name), to].into_iter().flatten() {
        if !name::is_valid(given) {
            wrong.push(format!("\"{}\" is not a valid name for a skill.", shown(given)));
        } else if RESERVED.split_ascii_whitespace().any(|reserved| reserved == given)
            && (to == Some(given) || *change == ProposalChange::Create)
        {
            wrong.push(format!("The name {given} is reserved."));
        }
    }
    if to == Some(name) {
        wrong.push("The new name is the old one.".to_owned());
    }
}

fn check_presence(
    change: &ProposalChange,
    base: Option<&SkillFolder>,
    result: Option<&SkillFolder>,
    wrong: &mut Vec<String>,
) {
    match (change, base) {
        (ProposalChange::Create, Some(_)) => wrong.push("There is a skill of that name already.".to_owned()),
        (ProposalChange::Edit | ProposalChange::Delete | ProposalChange::Rename { .. }, None) => {
            wrong.push("There is no skill of that name.".to_owned());
        }
        _ => {}
    }
    match (change, result) {
        (ProposalChange::Delete, Some(_)) => wrong.push("A deleted skill has no content.".to_owned()),
        (ProposalChange::Create | ProposalChange::Edit | ProposalChange::Rename { .. }, None) => {
            wrong.push("It has no content.".to_owned())
        }
        _ => {}
    }
}

fn check_content(folder: &SkillFolder, name: &str, bounds: Bounds, wrong: &mut Vec<String>) {
    match folder.text(MAIN) {
        Some(text) => wrong.extend(manifest::strict(text, name).iter().map(|problem| format!("SKILL.md: {problem}"))),
        None if folder.get(MAIN).is_some() => wrong.push("SKILL.md is not UTF-8 text.".to_owned()),
        None => wrong.push("There is no SKILL.md in it.".to_owned()),
    }
    check_sizes(folder, bounds, wrong);
    check_paths(folder, wrong);
    for (path, bytes) in folder.files() {
        match diff::text(bytes) {
            None if !bounds.binaries => wrong.push(format!("{} is not text.", shown(path))),
            Some(text) if is_markdown(path) => check_links(folder, path, text, wrong),
            _ => {}
        }
    }
}

fn check_sizes(folder: &SkillFolder, bounds: Bounds, wrong: &mut Vec<String>) {
    if folder.len() > bounds.files {
        wrong.push(format!("It has {} files; {} are allowed.", folder.len(), bounds.files));
    }
    if folder.size() > bounds.all_bytes {
        wrong.push(format!("It has {} bytes in all; {} are allowed.", folder.size(), bounds.all_bytes));
    }
    for (path, bytes) in folder.files() {
        let most = if path == MAIN { bounds.main_bytes } else { bounds.file_bytes };
        if bytes.len() as u64 > most {
            wrong.push(format!("{} has {} bytes; {most} are allowed.", shown(path), bytes.len()));
        }
    }
}

/// Checks each path, and pairs of paths that some systems treat as the same path or as a file and a
/// folder.
fn check_paths(folder: &SkillFolder, wrong: &mut Vec<String>) {
    let mut seen: BTreeMap<String, &str> = BTreeMap::new();
    for (path, _) in folder.files() {
        if let Some(problem) = name::path_problem(path) {
            wrong.push(format!("The path {} {problem}.", shown(path)));
        }
        if let Some(other) = seen.insert(path.to_lowercase(), path) {
            wrong.push(format!("The paths {} and {} differ only in capitals.", shown(other), shown(path)));
        }
    }
    for path in seen.keys() {
        let mut folders = path.match_indices('/').filter_map(|(at, _)| path.get(..at));
        if let Some(file) = folders.find_map(|folder| seen.get(folder)) {
            wrong.push(format!("{} is a file and a folder.", shown(file)));
        }
    }
}

fn check_links(folder: &SkillFolder, path: &str, text: &str, wrong: &mut Vec<String>) {
    for event in Parser::new_ext(
        text,
        Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS,
    ) {
        let Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) = event else { continue };
        if has_scheme(&dest_url) || dest_url.starts_with("//") {
            continue;
        }
        match target(path, &dest_url) {
            None => wrong.push(format!("{}: the link to {} leads out of the folder.", shown(path), shown(&dest_url))),
            Some(found) if !exists(folder, &found) => {
                wrong.push(format!("{}: the link to {} leads nowhere.", shown(path), shown(&dest_url)));
            }
            Some(_) => {}
        }
    }
}

/// Returns whether an address is absolute, like `https:` or `mailto:`.
fn has_scheme(address: &str) -> bool {
    let is_word = |scheme: &str| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
    };
    address.split_once(':').is_some_and(|(scheme, _)| is_word(scheme))
}

/// Resolves a relative address in the file `from`; blank for the folder itself. `None` if it leads
/// out of the folder.
fn target(from: &str, address: &str) -> Option<String> {
    let address = address.split(['#', '?']).next().unwrap_or_default();
    if address.is_empty() {
        return Some(from.to_owned());
    }
    if address.starts_with('/') || address.contains('\\') {
        return None;
    }
    let mut parts: Vec<String> = from.split('/').map(str::to_owned).collect();
    parts.pop();
    for part in address.split('/') {
        match &*decoded(part)? {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part.to_owned()),
        }
    }
    Some(parts.join("/"))
}

/// Decodes percent-encoding. `None` if the result is not text, or contains a separator.
fn decoded(part: &str) -> Option<Cow<'_, str>> {
    percent_decode_str(part).decode_utf8().ok().filter(|part| !part.contains(['/', '\\', '\0']))
}

fn exists(folder: &SkillFolder, path: &str) -> bool {
    path.is_empty()
        || folder.get(path).is_some()
        || folder.files().any(|(file, _)| file.starts_with(&format!("{path}/")))
}

/// Returns whether all files are the same except for the name line in the front matter of
/// `SKILL.md`.
fn differs_in_name_only(base: &SkillFolder, result: &SkillFolder) -> bool {
    let others = |folder: &SkillFolder| {
        let mut folder = folder.clone();
        folder.remove(MAIN);
        folder
    };
    others(base) == others(result) && base.text(MAIN).map(without_name) == result.text(MAIN).map(without_name)
}

fn without_name(main: &str) -> Vec<&str> {
    let mut fences = 0;
    let mut names = 0;
    let keep = |line: &&str| {
        fences += usize::from(line.trim_end() == "---");
        let is_name = fences == 1 && names == 0 && line.starts_with("name:");
        names += usize::from(is_name);
        !is_name
    };
    main.split_inclusive('\n').filter(keep).collect()
}

fn is_markdown(path: &str) -> bool {
    path.rsplit_once('.')
        .is_some_and(|(_, kind)| kind.eq_ignore_ascii_case("md") || kind.eq_ignore_ascii_case("markdown"))
}

fn shown(text: &str) -> String {
    crate::text::shorten(&crate::text::one_line(&reveal(text)), 100)
}
