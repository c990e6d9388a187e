//! Rules for the pages that users read: links lead somewhere, settings and commands exist, the
//! sentences in the table of problems are those of the program, and the README leads to each page.

use std::collections::BTreeSet;

use super::nothing_found;
use super::tree::{File, files, read, root};

/// Words after a slash that are no commands of ours: of Telegram, of BotFather, and paths.
const FOREIGN: &[&str] = &["start", "newbot", "token", "v1", "health", "metrics"];

fn pages() -> Vec<File> {
    let mut pages = files("docs");
    pages.retain(|file| file.path.ends_with(".md") && file.path != "docs/promises-proved.md");
    pages.push(File { path: "README.md".to_owned(), text: read("README.md") });
    pages
}

/// Text outside of fenced blocks, and the fenced blocks of one language.
fn parts<'a>(text: &'a str, language: &str) -> (String, Vec<&'a str>) {
    let (mut prose, mut blocks) = (String::new(), Vec::new());
    for (at, part) in text.split("```").enumerate() {
        match part.split_once('\n') {
            Some((head, block)) if at % 2 == 1 => blocks.extend((head == language).then_some(block)),
            _ => prose.push_str(part),
        }
    }
    (prose, blocks)
}

/// The anchor that a heading has on the usual sites.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().to_lowercase().replace(' ', "-");
    kept.chars().filter(|c| c.is_alphanumeric() || "-_".contains(*c)).collect()
}

fn lost_links(page: &File) -> Vec<String> {
    let prose = parts(&page.text, "").0;
    let folder = page.path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let targets = prose.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let lost = targets.filter(|target| !target.contains("://")).filter(|target| {
        let (file, heading) = target.split_once('#').unwrap_or((target, ""));
        // A picture is no text.
        let other =
            std::fs::read(root().join(folder).join(file)).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let Some(text) = (if file.is_empty() { Some(page.text.clone()) } else { other.ok() }) else { return true };
        let leads = |line: &str| line.starts_with('#') && anchor(line.trim_start_matches('#')) == heading;
        !heading.is_empty() && !text.lines().any(leads)
    });
    lost.map(|target| format!("{}: {target} leads nowhere", page.path)).collect()
}

/// Settings that the example configuration does not have in that section.
fn unknown_settings(page: &File, example: &str) -> Vec<String> {
    let bare = example.lines().map(|line| line.strip_prefix("# or ").unwrap_or(line.trim_start_matches('#')));
    let known: BTreeSet<String> = settings(bare).collect();
    let blocks = parts(&page.text, "toml").1;
    let used = blocks.iter().flat_map(|block| settings(block.lines()));
    used.filter(|setting| !known.contains(setting)).map(|setting| format!("{}: {setting}", page.path)).collect()
}

fn settings<'a>(lines: impl Iterator<Item = &'a str>) -> impl Iterator<Item = String> {
    lines
        .scan(String::new(), |section, line| {
            let line = line.trim();
            if let Some(head) = line.strip_prefix('[') {
                *section = head.trim_start_matches('[').split(']').next().unwrap_or("").to_owned();
            }
            let key = line.split_once(" = ").map_or("", |(key, _)| key);
            let is_key = !key.is_empty() && key.chars().all(|c| c.is_ascii_lowercase() || c == '_');
            Some(is_key.then(|| format!("{section}.{key}")))
        })
        .flatten()
}

/// Chat commands in code that the generated list does not have.
fn unknown_commands(page: &File, list: &str) -> Vec<String> {
    let (prose, _) = parts(&page.text, "");
    let code = prose.split('`').skip(1).step_by(2);
    let words = code.filter_map(|code| code.strip_prefix('/')?.split(' ').next());
    let ours = words.filter(|word| word.chars().all(|c| c.is_ascii_alphanumeric()) && !FOREIGN.contains(word));
    let rows: String = list.lines().filter(|line| line.starts_with("| `/")).collect();
    let is_listed = |word: &str| rows.contains(&format!("`/{word}`")) || rows.contains(&format!("`/{word} "));
    ours.filter(|word| !is_listed(word)).map(|word| format!("{}: /{word}", page.path)).collect()
}

/// Sentences in the first column, in italics, of which the sources lack a part.
fn unsaid(page: &str, sources: &str) -> Vec<String> {
    let rows = page.lines().filter_map(|line| line.strip_prefix("| ")?.split(" | ").next());
    let sentences = rows.flat_map(|cell| cell.split('*').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>());
    sentences.filter(|sentence| !sentence.split('…').all(|part| sources.contains(part.trim()))).collect()
}

/// All sources, with string literals of several lines joined.
fn sources() -> String {
    let whole: Vec<String> = files("src").into_iter().map(|file| file.text).collect();
    let mut parts = whole.iter().flat_map(|text| text.split("\\\n"));
    let first = parts.next().unwrap_or("").to_owned();
    parts.fold(first, |joined, part| joined + part.trim_start())
}

/// Promise (operation/documentation): Links in the documentation lead somewhere, and the settings,
/// commands and sentences of the program that it names exist.
#[test]
fn what_the_documentation_names_exists() {
    let (example, list) = (read("config/compline.example.toml"), read("docs/operating.md"));
    let of_page =
        |page: &File| [lost_links(page), unknown_settings(page, &example), unknown_commands(page, &list)].concat();
    let mut findings: Vec<String> = pages().iter().flat_map(of_page).collect();
    findings.extend(unsaid(&read("docs/troubleshooting.md"), &sources()));
    nothing_found(&findings);
}

#[test]
fn the_readme_leads_to_each_page() {
    let readme = read("README.md");
    let missing = files("docs").into_iter().filter(|file| !readme.contains(&format!("({})", file.path)));
    nothing_found(&missing.map(|file| file.path).collect::<Vec<_>>());
}

#[test]
fn what_does_not_exist_is_found() {
    let text = "# A `b`\n[x](no.md) [y](README.md#how-it-works) [z](#a-b) [w](#a-c) `/help` `/fly` `/opt/x`\n\
        ```toml\n[model]\nname = \"x\"\nwings = 2\n[[people]]\nzone = \"\"\n```\n";
    let page = File { path: "x.md".to_owned(), text: text.to_owned() };
    assert_eq!(lost_links(&page), ["x.md: no.md leads nowhere", "x.md: #a-c leads nowhere"]);
    assert_eq!(unknown_settings(&page, &read("config/compline.example.toml")), ["x.md: model.wings"]);
    assert_eq!(unknown_commands(&page, &read("docs/operating.md")), ["x.md: /fly"]);
    assert_eq!(unsaid("| *it is … late* | go |\n| *never said* |", "it is {} very late"), ["never said"]);
}
