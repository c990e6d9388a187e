//! `compline skills check`: all problems of skills with their locations, before a skill is used.
//!
//! There are three kinds of findings: a folder that does not load at all, a violation of the format
//! (other programs may refuse it, and so does `import`), and findings of the scan, for which the
//! review holds a skill back. In the configured folder, a finding that the owner has accepted is
//! reported but not an error. Only the journal knows the accepted findings; it is opened read-only.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;

use crate::cli::Exit;
use crate::cli::config::CliPaths;
use crate::cli::print::CliError;
use crate::cli::print::Printer;
use crate::review::reveal::reveal;
use crate::review::structure::{self, Bounds};
use crate::review::{Finding, ProposalChange, scan};
use crate::skill::manifest::{self, Manifest, ManifestFormat, ManifestProblem};
use crate::skill::{MAIN, SkillCache, SkillFolder};
use crate::store::{self, SkillRow, SkillState};
use crate::text::one_line;
use crate::wording::cli::skills as says;

/// Findings in one folder.
#[derive(Debug, Default, Serialize)]
struct Checked {
    name: String,
    ok: bool,
    /// Waits for the owner.
    held: bool,
    /// Reason why the folder does not load; blank if it does.
    broken: String,
    /// Violations of the format.
    form: Vec<String>,
    /// Remarks on a working skill of the older form, without front matter.
    remarks: Vec<String>,
    /// Findings of the scan.
    findings: Vec<Finding>,
    /// The owner has accepted these findings.
    accepted: bool,
    /// Active with this content, according to the journal.
    used: bool,
}

/// Checks the skills and prints the findings.
pub(super) fn run(dir: Option<&Path>, paths: &CliPaths, printer: Printer) -> Result<Exit, CliError> {
    let checked = match dir {
        Some(dir) => named(dir)?,
        None => configured(paths)?,
    };
    if printer.json {
        printer.json(&checked)?;
    } else {
        printer.fact(&report(&checked))?;
    }
    Ok(if checked.iter().all(|one| one.ok) { Exit::Done } else { Exit::Failed })
}

/// Checks a named folder: one skill, or a folder of skills. A folder without any is an error.
fn named(dir: &Path) -> Result<Vec<Checked>, CliError> {
    let folder = super::skill_folder(dir)?;
    let checked = if folder.join(MAIN).exists() {
        let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        vec![match SkillFolder::read(&folder) {
            Ok(content) => check_folder(&name, &content, None),
            Err(error) => broken(&name, &error.to_string()),
        }]
    } else {
        all(&folder, &BTreeMap::new())
    };
    if checked.is_empty() {
        return Err(CliError::Failed(says::no_skill_in(dir)));
    }
    Ok(checked)
}

fn configured(paths: &CliPaths) -> Result<Vec<Checked>, CliError> {
    let config = paths.load()?.config;
    // Without a readable journal nothing counts as accepted.
    let known = store::examine(&config.home.journal(), |db| db.skills().skills()).unwrap_or_default();
    let known = known.into_iter().map(|row| (row.name.clone(), row)).collect();
    Ok(all(&config.skills.dir, &known))
}

/// Checks every folder in `dir`, by name.
fn all(dir: &Path, known: &BTreeMap<String, SkillRow>) -> Vec<Checked> {
    let catalogue = SkillCache::new(dir.to_owned()).look();
    let mut checked: Vec<Checked> =
        catalogue.skills.iter().map(|(name, skill)| check_folder(name, &skill.content, known.get(name))).collect();
    checked.extend(catalogue.broken.iter().map(|one| broken(&one.folder, &one.why)));
    checked.sort_by(|one, other| one.name.cmp(&other.name));
    checked
}

fn check_folder(name: &str, content: &SkillFolder, known: Option<&SkillRow>) -> Checked {
    // The journal's state applies only to the content that it recorded.
    let known = known.filter(|row| row.digest == content.digest().as_str()).map(|row| row.state);
    let mut form = structure::check(&ProposalChange::Create, name, None, Some(content), Bounds::import());
    let remarks = remarks(name, content);
    form.retain(|fault| !remarks.contains(fault));
    let findings = scan::scan_skill(name, content);
    let (held, used) = (known == Some(SkillState::Held), known == Some(SkillState::Live));
    let accepted = used && !findings.is_empty();
    let ok = form.is_empty() && !held && (findings.is_empty() || accepted);
    Checked { name: name.to_owned(), ok, held, broken: String::new(), form, remarks, findings, accepted, used }
}

/// Returns the fault that a skill without front matter has, if it works as it is: other programs
/// may refuse it.
fn remarks(name: &str, content: &SkillFolder) -> Vec<String> {
    let is_older = Manifest::of(name, content).is_ok_and(|manifest| manifest.form == ManifestFormat::Legacy);
    let problems = manifest::strict(content.text(MAIN).unwrap_or_default(), name);
    let is_form = |problem: &&manifest::Problem| problem.what == ManifestProblem::NoFront;
    problems.iter().filter(is_form).filter(|_| is_older).map(|problem| format!("{MAIN}: {problem}")).collect()
}

fn broken(name: &str, why: &str) -> Checked {
    Checked { name: name.to_owned(), broken: why.to_owned(), ..Checked::default() }
}

fn report(checked: &[Checked]) -> String {
    let mut lines: Vec<String> = checked.iter().flat_map(lines_of).collect();
    let wrong = checked.iter().filter(|one| !one.ok).count();
    lines.push(says::verdict(checked.len(), wrong));
    lines.join("\n")
}

fn lines_of(one: &Checked) -> Vec<String> {
    let mut lines = vec![says::head(&plain(&one.name), one.ok)];
    if !one.broken.is_empty() {
        lines.push(says::line(&plain(&one.broken)));
    }
    lines.extend(one.form.iter().chain(&one.remarks).map(|fault| says::line(&plain(fault))));
    for finding in &one.findings {
        let place = crate::wording::skill::place(&plain(&finding.path), finding.line, finding.column);
        lines.push(says::finding(&place, &finding.says, &plain(&finding.excerpt)));
    }
    if one.held {
        lines.push(says::line(says::HELD));
    } else if one.accepted {
        lines.push(says::line(says::ACCEPTED));
    } else if one.used && !one.form.is_empty() {
        lines.push(says::line(says::USED));
    }
    lines
}

/// Formats text from a file as one terminal line without hidden characters.
pub(super) fn plain(words: &str) -> String {
    one_line(&reveal(words))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Timestamp;

    fn known(content: &SkillFolder, state: SkillState) -> SkillRow {
        SkillRow {
            name: "tea".to_owned(),
            state,
            digest: content.digest().as_str().to_owned(),
            description: String::new(),
            origin: "person".to_owned(),
            shipped: String::new(),
            installed: String::new(),
            changed_at: Timestamp(0),
            version: None,
            known: None,
            told_at: None,
        }
    }

    #[test]
    fn content_held_by_the_journal_fails_the_check_while_it_exists() {
        let text = "---\nname: tea\ndescription: How to make tea.\n---\n\nBoil water.\n";
        let content = SkillFolder::new([(MAIN.to_owned(), text.as_bytes().into())]);
        let other = SkillFolder::new([(MAIN.to_owned(), b"x".as_slice().into())]);
        for (row, ok) in [
            (None, true),
            (Some(known(&content, SkillState::Live)), true),
            (Some(known(&content, SkillState::Held)), false),
        ] {
            assert_eq!(check_folder("tea", &content, row.as_ref()).ok, ok, "{row:?}");
        }
        assert!(check_folder("tea", &content, Some(&known(&other, SkillState::Held))).ok, "another content was held");
        let held = report(&[check_folder("tea", &content, Some(&known(&content, SkillState::Held)))]);
        assert!(held.contains("WRONG   tea") && held.contains("compline review list"), "{held}");
    }

    #[test]
    fn a_working_skill_of_the_older_form_passes_with_a_remark() {
        let older = |text: &str| SkillFolder::new([(MAIN.to_owned(), text.as_bytes().into())]);
        let checked = check_folder("tea", &older("# Tea\n\nUse when tea is to be made.\n\nWarm the pot."), None);
        assert!(checked.ok && checked.remarks.len() == 1, "{checked:?}");
        assert!(report(&[checked]).contains("ok      tea"));
        assert!(!check_folder("tea", &older("# Tea\n\nUse it. See [more](more.md)."), None).ok);
    }

    #[test]
    fn nothing_hidden_reaches_the_terminal() {
        let content = SkillFolder::new([(MAIN.to_owned(), "---\nname: \u{1b}[2J\n---\n".as_bytes().into())]);
        let report = report(&[check_folder("tea", &content, None), broken("a\u{202e}b", "\u{1b}[31m")]);
        assert!(!report.contains(['\u{1b}', '\u{202e}']), "{report:?}");
    }
}
