//! A proposal as displayed to its owner before a decision: what it newly does and does not touch,
//! where it comes from, the whole diff, the advice of the reviewer, and the digest at the end.
//!
//! All text that is not the program's appears in a preformatted block in which nothing is hidden
//! and nothing is markup. The digest is displayed only after the whole diff, and the buttons below
//! it: a person who has not received all of it cannot approve. In a chat the buttons carry the
//! commands; a channel without buttons prints them.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::diff::{diff, fenced, fenced_diff, summary};
use super::effects::{EffectKind, Effects, hosts_in, is_script};
use super::proposal::Proposal;
use super::reveal::reveal;
use crate::id::ProposalId;
use crate::skill::SkillFolder;
use crate::store::{OriginKind, ProposalRow, ProposalState, ReviewStage, StageOutcome, VerdictRow};
use crate::text::{escape_markdown, one_line};
use crate::trust::Label;
use crate::wording::Language;
use crate::wording::reflection::show_proposal;
use crate::wording::review::{self as of_review, Surface};
use crate::wording::skill as says;
use crate::wording::why::all_in_words;

/// The maximum length in characters of a proposal that is pushed; longer ones are displayed on
/// request.
const PUSHED: usize = 12_000;
/// The maximum length in characters displayed in chat; longer ones are displayed by the command
/// line only.
const IN_CHAT: usize = 60_000;

/// The maximum number of buttons below a list of proposals; the others get theirs when these are
/// decided.
const MOST_BUTTONS: usize = 40;

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
    let show = (says::SHOW.to_owned(), format!("/show {}", proposal.row.id));
    whole_up_to(PUSHED, proposal, says::TOO_LONG_TO_PUSH, vec![show])
}

/// Returns the answer to `/show` in chat.
pub fn in_chat(proposal: &Proposal) -> DisplayedText {
    whole_up_to(IN_CHAT, proposal, &says::too_long_for_chat(proposal.row.id), Vec::new())
}

/// Returns the complete proposal if it is not longer than that many characters, otherwise only its
/// head with that remark, those buttons and the one that traces it, of which none approves.
fn whole_up_to(max: usize, proposal: &Proposal, remark: &str, mut buttons: Vec<(String, String)>) -> DisplayedText {
    let whole = whole(proposal, Surface::Chat(Language::ENGLISH));
    if whole.markdown.chars().count() <= max {
        return whole;
    }
    let markdown = format!("{}\n\n{remark}", head(proposal, Surface::Chat(Language::ENGLISH)));
    buttons.push(where_from_button(proposal));
    DisplayedText { markdown, buttons, label: whole.label }
}

/// Returns the complete proposal, for a decision on this surface.
pub fn whole(proposal: &Proposal, surface: Surface) -> DisplayedText {
    let row = &proposal.row;
    let mut parts = vec![head(proposal, surface), fenced_diff(&changes(proposal))];
    parts.extend(advice(proposal));
    let digest = proposal.digest();
    let mut buttons = Vec::new();
    parts.push(if row.state != ProposalState::Pending {
        says::state(row.state.as_str(), &reveal(&row.reason))
    } else if digest.as_str() == row.digest {
        let (id, short) = (row.id, digest.short());
        buttons = vec![
            (says::APPROVE.to_owned(), format!("/approve {id} {short}")),
            (says::REJECT.to_owned(), format!("/reject {id}")),
            where_from_button(proposal),
        ];
        says::how_to_decide(id, short, proposal.effects.word(), surface)
    } else {
        says::TAMPERED.to_owned()
    });
    DisplayedText { markdown: parts.join("\n\n"), label: label(proposal), buttons }
}

/// Returns a button for each of these proposals that shows it; none of them approves.
pub fn show_buttons(ids: impl Iterator<Item = ProposalId>, language: Language) -> Vec<(String, String)> {
    ids.take(MOST_BUTTONS).map(|id| (show_proposal(language, id), format!("/show {id}"))).collect()
}

/// Returns the button that traces a proposal back to its origin.
fn where_from_button(proposal: &Proposal) -> (String, String) {
    (says::WHY.to_owned(), format!("/why {}", proposal.row.id))
}

/// Returns the join of the labels of everything that a proposal displays.
pub fn label(proposal: &Proposal) -> Label {
    proposal.verdicts.iter().fold(proposal.row.label.clone(), |label, verdict| label.join_with(&verdict.label))
}

/// Returns the whole diff of a proposal, with hidden characters revealed.
pub fn changes(proposal: &Proposal) -> String {
    diff(proposal.base.as_ref(), proposal.result.as_ref())
}

/// Returns a name that cannot end its code span. A folder name chosen by a person may contain any
/// visible character.
fn in_a_span(name: &str) -> String {
    reveal(name).replace('`', "'")
}

/// Returns everything before the diff: the title, the change in short, where it comes from (on the
/// command line with the command that tells more), and the reasons.
fn head(proposal: &Proposal, surface: Surface) -> String {
    let row = &proposal.row;
    let (skill, new_name) = (in_a_span(&row.skill), in_a_span(&row.new_name));
    let mut parts = vec![says::title(row.id, row.origin.as_str(), &row.change, &skill, &new_name)];
    parts.extend(in_short(proposal));
    let more = if surface.is_chat() { String::new() } else { says::tells_more(row.id) };
    parts.push(says::where_from(&origin(proposal), why_it_waits(proposal), &more));
    parts.extend(reasons(proposal));
    parts.join("\n\n")
}

/// Returns the change in short, as Markdown: what it newly does, what it does not touch, and what
/// was found.
pub fn in_short(proposal: &Proposal) -> Vec<String> {
    let mut parts = vec![summary(proposal.base.as_ref(), proposal.result.as_ref())];
    if proposal.result.is_some() {
        parts.push(effects(&proposal.effects));
    }
    for finding in proposal.findings() {
        let place = says::place(&finding.path, finding.line, finding.column);
        parts.push(format!(
            "{}\n{}",
            says::finding(&finding.says),
            fenced(&reveal(&format!("{place}: {}", finding.excerpt)))
        ));
    }
    parts
}

/// Returns the reason that was given, and what a third party's skill holds, as Markdown.
pub fn reasons(proposal: &Proposal) -> Vec<String> {
    let (row, mut parts) = (&proposal.row, Vec::new());
    if !row.rationale.trim().is_empty() && row.rationale != says::origin(row.origin.as_str()) {
        parts.push(format!("{}\n{}", says::RATIONALE, fenced(&reveal(&row.rationale))));
    }
    if let Some(folder) = proposal.result.as_ref().filter(|_| proposal.third_party) {
        parts.extend(holds(folder));
    }
    parts
}

/// Returns the list of effects, a line for each kind, and the kinds that are not among them.
pub fn effects(effects: &Effects) -> String {
    let untouched = says::untouched(effects.untouched().map(EffectKind::as_str));
    if effects.is_empty() {
        return untouched;
    }
    format!("{}\n{}\n\n{untouched}", says::EFFECTS, fenced(&reveal(&effect_lines(effects))))
}

/// Returns a line for each kind of effect, with objects and places.
pub(super) fn effect_lines(effects: &Effects) -> String {
    let line = |(kind, objects): (EffectKind, String)| format!("{}: {objects}", says::effect(kind.as_str()));
    effects.lines().into_iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Returns what a proposal would change, in a few words, as Markdown.
pub fn change(row: &ProposalRow, language: Language) -> String {
    let name = |name: &str| escape_markdown(&reveal(name));
    of_review::change(language, row.origin.as_str(), &row.change, &name(&row.skill), &name(&row.new_name))
}

/// Returns what an owner decides about in a proposal, on one line of Markdown: the sources from
/// outside, what it newly does, the gravest first, and the reviewer's verdict.
pub fn standing(proposal: &Proposal, language: Language) -> String {
    let advice = proposal.verdicts.iter().rev().find(|verdict| verdict.stage == ReviewStage::Reviewer);
    let advice = advice.map_or("later", |verdict| verdict.outcome.as_str());
    let sources = escape_markdown(&all_in_words(language, &proposal.row.label));
    of_review::standing(language, &sources, &proposal.effects.in_short(), advice)
}

/// Returns where the proposal comes from, in one line.
pub fn origin(proposal: &Proposal) -> String {
    let row = &proposal.row;
    let is_edit = row.origin == OriginKind::Folder && row.state == ProposalState::Pending && proposal.base.is_some();
    if is_edit { says::EDIT_IS_HELD.to_owned() } else { says::origin(row.origin.as_str()) }
}

/// Returns the reason why its origin makes it wait; blank if it does not.
fn why_it_waits(proposal: &Proposal) -> &str {
    let taint = proposal.verdicts.iter().find(|verdict| verdict.stage == ReviewStage::Taint);
    taint.map_or("", |verdict| &verdict.note)
}

/// Returns the advice of the reviewer as Markdown, without a word that no model can vouch for.
pub fn advice(proposal: &Proposal) -> Vec<String> {
    let mut parts = Vec::new();
    for verdict in proposal.verdicts.iter().filter(|verdict| verdict.stage == ReviewStage::Reviewer) {
        let is_given = is_spoken(verdict) && !verdict.note.is_empty();
        let note = if is_spoken(verdict) { "" } else { &verdict.note };
        parts.push(says::advice(verdict.outcome.as_str(), note));
        parts.extend(is_given.then(|| format!("{}\n{}", says::REVIEWER, fenced(&reveal(&unvouched(&verdict.note))))));
    }
    if !proposal.row.reviewed && proposal.row.state == ProposalState::Pending {
        parts.push(says::advice("later", ""));
    }
    parts
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

/// Returns a note with the word "safe" left out.
fn unvouched(note: &str) -> String {
    let is_end = |c: char| !c.is_alphanumeric();
    let part = |part: &str| match part.trim_end_matches(is_end) {
        word if word.eq_ignore_ascii_case("safe") => part.replacen(word, "…", 1),
        _ => part.to_owned(),
    };
    note.split_inclusive(is_end).map(part).collect()
}

/// Returns whether the note is a model's rather than the program's.
fn is_spoken(verdict: &VerdictRow) -> bool {
    verdict.stage == ReviewStage::Reviewer && verdict.outcome != StageOutcome::None
}

/// The maximum number of hosts displayed, and therefore covered by an approval.
const MOST_HOSTS: usize = 40;

/// Returns the hosts to display, in alphabetical order, and the number of hosts left out.
pub(super) fn hosts(folder: &SkillFolder) -> (BTreeSet<String>, usize) {
    let texts = folder.files().map(|(_, bytes)| String::from_utf8_lossy(bytes));
    let all: BTreeSet<String> = texts.flat_map(|text| hosts_in(&text)).collect();
    let more = all.len().saturating_sub(MOST_HOSTS);
    (all.into_iter().take(MOST_HOSTS).collect(), more)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_never_says_safe() {
        for (note, shown) in [
            ("It is safe.", "It is …."),
            ("SAFE: it's-safe, safe/harmless; _safe_ (safe)", "…: it's-…, …/harmless; _…_ (…)"),
            ("It is unsafe, and a safety risk.", "It is unsafe, and a safety risk."),
        ] {
            assert_eq!(unvouched(note), shown);
        }
    }

    #[test]
    fn hosts_beyond_the_display_limit_are_not_covered() {
        let text: String = (0..50).map(|n| format!("https://h{n:02}.example/ ")).collect();
        let (shown, more) = hosts(&SkillFolder::new([("a".to_owned(), Arc::from(text.as_bytes()))]));
        assert_eq!((shown.len(), more), (MOST_HOSTS, 10));
    }
}
