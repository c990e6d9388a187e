//! A proposal as displayed to its owner before a decision: its effect, rationale and origin, the
//! verdict of each stage, the whole diff, and the digest at the end.
//!
//! All text that is not the program's appears in a preformatted block in which nothing is hidden
//! and nothing is markup. The digest is displayed only after the whole diff, and the buttons below
//! it: a person who has not received all of it cannot approve.

use std::collections::BTreeSet;
use std::sync::Arc;

use url::Url;

use super::diff::{diff, fenced, summary};
use super::proposal::Proposal;
use super::reveal::reveal;
use crate::id::ProposalId;
use crate::skill::SkillFolder;
use crate::store::{OriginKind, ProposalState, ReviewStage, StageOutcome, VerdictRow};
use crate::text::one_line;
use crate::trust::Label;
use crate::wording::review::Surface;
use crate::wording::skill as says;

/// The maximum length in characters of a proposal that is pushed; longer ones are displayed on
/// request.
const PUSHED: usize = 12_000;
/// The maximum length in characters displayed in chat; longer ones are displayed by the command
/// line only.
const IN_CHAT: usize = 60_000;

/// A text for display.
#[derive(Debug, Clone, PartialEq)]
pub struct DisplayedText {
    /// The text, as Markdown.
    pub markdown: String,
    /// The join of the labels of everything displayed.
    pub label: Label,
    /// Each title with its command.
    pub buttons: Vec<(String, String)>,
}

/// Returns the notice to the owner that a proposal waits.
pub fn announcement(proposal: &Proposal) -> DisplayedText {
    whole_up_to(PUSHED, proposal, says::too_long_to_push)
}

/// Returns the answer to `/show` in chat.
pub fn in_chat(proposal: &Proposal) -> DisplayedText {
    whole_up_to(IN_CHAT, proposal, says::too_long_for_chat)
}

/// Returns the complete proposal if it is not longer than that many characters, otherwise only its
/// head with that remark, and no buttons.
fn whole_up_to(max: usize, proposal: &Proposal, remark: fn(ProposalId) -> String) -> DisplayedText {
    let whole = whole(proposal, Surface::Chat);
    if whole.markdown.chars().count() <= max {
        return whole;
    }
    let markdown = format!("{}\n\n{}", head(proposal), remark(proposal.row.id));
    DisplayedText { markdown, buttons: Vec::new(), label: whole.label }
}

/// Returns the complete proposal, for a decision on this surface.
pub fn whole(proposal: &Proposal, surface: Surface) -> DisplayedText {
    let row = &proposal.row;
    let mut markdown = head(proposal);
    markdown.push_str(&format!("\n\n{}", summary(proposal.base.as_ref(), proposal.result.as_ref())));
    markdown.push_str(&format!("\n\n{}", fenced(&diff(proposal.base.as_ref(), proposal.result.as_ref()))));
    let digest = proposal.digest();
    let mut buttons = Vec::new();
    let ending = if row.state != ProposalState::Pending {
        says::state(row.state.as_str(), &reveal(&row.reason))
    } else if digest.as_str() == row.digest {
        let (id, short) = (row.id, digest.short());
        buttons = vec![
            (says::APPROVE.to_owned(), format!("/approve {id} {short}")),
            (says::REJECT.to_owned(), format!("/reject {id}")),
            (says::WHY.to_owned(), format!("/why {id}")),
        ];
        says::how_to_decide(id, short, surface)
    } else {
        says::TAMPERED.to_owned()
    };
    markdown.push_str(&format!("\n\n{ending}"));
    let label = proposal.verdicts.iter().fold(row.label.clone(), |label, verdict| label.join_with(&verdict.label));
    DisplayedText { markdown, label, buttons }
}

/// Returns a name that cannot end its code span. A folder name chosen by a person may contain any
/// visible character.
fn in_a_span(name: &str) -> String {
    reveal(name).replace('`', "'")
}

/// Returns everything before the diff.
fn head(proposal: &Proposal) -> String {
    let row = &proposal.row;
    let (skill, new_name) = (in_a_span(&row.skill), in_a_span(&row.new_name));
    let title = says::title(row.id, row.origin.as_str(), &row.change, &skill, &new_name);
    let mut lines = vec![title, says::origin(row.origin.as_str())];
    if row.origin == OriginKind::Folder && row.state == ProposalState::Pending && proposal.base.is_some() {
        lines.push(says::LAST_ACCEPTED_STAYS.to_owned());
    }
    if !row.rationale.trim().is_empty() && row.rationale != says::origin(row.origin.as_str()) {
        lines.push(format!("{}\n{}", says::RATIONALE, fenced(&reveal(&row.rationale))));
    }
    lines.push(stages(proposal));
    if let Some(folder) = proposal.result.as_ref().filter(|_| proposal.third_party) {
        lines.extend(holds(folder));
    }
    let spoken = proposal.verdicts.iter().filter(|verdict| is_spoken(verdict) && !verdict.note.is_empty());
    lines.extend(spoken.map(|verdict| format!("{}\n{}", says::REVIEWER, fenced(&reveal(&verdict.note)))));
    for finding in proposal.findings() {
        let place = says::place(&finding.path, finding.line, finding.column);
        lines.push(format!(
            "{}\n{}",
            says::finding(&finding.says),
            fenced(&reveal(&format!("{place}: {}", finding.excerpt)))
        ));
    }
    lines.join("\n\n")
}

/// Returns the files of a third party's skill, and the hosts that an approval covers.
fn holds(folder: &SkillFolder) -> [String; 2] {
    let file =
        |(path, bytes): (&str, &Arc<[u8]>)| says::file(&one_line(&reveal(path)), bytes.len(), is_script(path, bytes));
    let files: Vec<String> = folder.files().map(file).collect();
    let (hosts, more) = hosts(folder);
    let scripts = folder.files().filter(|(path, bytes)| is_script(path, bytes)).count();
    let hosts = match hosts.is_empty() {
        true => says::NO_HOSTS.to_owned(),
        false => format!("{}\n{}", says::hosts(more), fenced(&hosts.into_iter().collect::<Vec<_>>().join("\n"))),
    };
    [format!("{}\n{}", says::files(files.len(), scripts), fenced(&files.join("\n"))), hosts]
}

/// Returns the verdicts of the stages, one line each.
fn stages(proposal: &Proposal) -> String {
    let line = |verdict: &VerdictRow| {
        let note = if is_spoken(verdict) { "" } else { &verdict.note };
        says::stage(verdict.stage.as_str(), verdict.outcome.as_str(), note)
    };
    // A draft that fails these two is never stored.
    let told = |verdict: &&VerdictRow| !matches!(verdict.stage, ReviewStage::Hash | ReviewStage::Structure);
    let mut lines: Vec<String> = proposal.verdicts.iter().filter(told).map(line).collect();
    if !proposal.row.reviewed && proposal.row.state == ProposalState::Pending {
        lines.push(says::stage("reviewer", "later", ""));
    }
    lines.join("\n")
}

/// Returns whether the note is a model's rather than the program's.
fn is_spoken(verdict: &VerdictRow) -> bool {
    verdict.stage == ReviewStage::Reviewer && verdict.outcome != StageOutcome::None
}

/// The maximum number of hosts displayed, and therefore covered by an approval.
const MOST_HOSTS: usize = 40;

/// Extensions of files that a system or an interpreter runs.
const SCRIPTS: &str = "
    sh bash zsh fish py pyw js mjs cjs ts rb pl php lua ps1 psm1 bat cmd vbs applescript command exe dll so
    dylib jar awk
";

/// Returns the hosts to display, in alphabetical order, and the number of hosts left out.
pub(super) fn hosts(folder: &SkillFolder) -> (BTreeSet<String>, usize) {
    let texts = folder.files().map(|(_, bytes)| String::from_utf8_lossy(bytes));
    let all: BTreeSet<String> = texts.flat_map(|text| hosts_in(&text)).collect();
    let more = all.len().saturating_sub(MOST_HOSTS);
    (all.into_iter().take(MOST_HOSTS).collect(), more)
}

/// Returns whether a file is executable, judging by its extension or its first line.
pub(super) fn is_script(path: &str, bytes: &[u8]) -> bool {
    let ending = path.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    bytes.starts_with(b"#!")
        || ending.is_some_and(|ending| SCRIPTS.split_ascii_whitespace().any(|script| script == ending))
}

/// Returns the hosts of all addresses with a scheme, spelled as a fetch would spell them.
fn hosts_in(text: &str) -> BTreeSet<String> {
    text.match_indices("://").filter_map(|(at, mark)| host_of(text.get(at + mark.len()..)?)).collect()
}

/// Returns the host of an address, given the text after its scheme.
fn host_of(rest: &str) -> Option<String> {
    let ends = |c: char| c.is_whitespace() || c.is_control() || "/?#\\\"'`<>()[]{}|,;^*".contains(c);
    let authority = rest.split(ends).next()?;
    let url = Url::parse(&format!("https://{authority}/")).ok()?;
    let host = url.host_str()?.trim_end_matches('.');
    host.contains('.').then(|| host.to_owned())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;

    /// Proves: skills/new-folder
    #[test]
    fn hosts_are_found_in_every_form_of_address() {
        for (text, host) in [
            ("see https://Example.ORG/a?b=c.", "example.org"),
            ("curl 'http://user:pw@evil.example:8080/x'", "evil.example"),
            ("[a](https://a.example)", "a.example"),
            ("URL=\"wss://b.example./\"", "b.example"),
            ("git+ssh://c.example", "c.example"),
            ("https://xn--bcher-kva.example and more", "xn--bcher-kva.example"),
            ("https://bücher.example/", "xn--bcher-kva.example"),
            ("https://good.example\\@evil.example/", "good.example"),
        ] {
            assert_eq!(hosts_in(text).into_iter().collect::<Vec<_>>(), [host], "{text}");
        }
        for text in ["", "://", "https://", "https:// a.example", "a.example/b", "file:///etc", "https://$HOST/x"] {
            assert_eq!(hosts_in(text).len(), 0, "{text}");
        }
    }

    #[test]
    fn hosts_beyond_the_display_limit_are_not_covered() {
        let text: String = (0..50).map(|n| format!("https://h{n:02}.example/ ")).collect();
        let (shown, more) = hosts(&SkillFolder::new([("a".to_owned(), Arc::from(text.as_bytes()))]));
        assert_eq!((shown.len(), more), (MOST_HOSTS, 10));
    }

    #[test]
    fn scripts_are_recognised_by_extension_or_first_line() {
        for (path, bytes, script) in [
            ("scripts/run.SH", "echo", true),
            ("scripts/run", "#!/bin/sh\n", true),
            ("run.py", "", true),
            ("SKILL.md", "# Title", false),
            ("sh", "", false),
        ] {
            assert_eq!(is_script(path, bytes.as_bytes()), script, "{path}");
        }
    }

    proptest! {
        #[test]
        fn any_text_can_be_read(text in ".*") {
            hosts_in(&text);
        }
    }
}
