//! The agent's own memory: its files, and how much of it fits into a prompt.
//!
//! There are two layers. Layer A, facts about the person, lies next to the workspace under the name
//! of the agent's profile and travels with the profile. Layer B, facts about this workspace, lies
//! in `agents/<name>/memory.md`. An agent without a profile keeps both layers there, and nothing
//! travels. In a prompt each layer has its own share of the token limit, so neither crowds out the
//! other; experience of other profiles, where enabled, has a separate limit of the same size. Text
//! beyond a limit is cut between entries, the newest stay, and a remark says what is missing.

use super::memory_md::{self, INSIGHTS, RECENT};
use super::{layout, section};
use crate::config::{self, Placement};
use crate::text::estimate_tokens;
use crate::wording::agent_memory as says;

/// Heading of layer A in the file of an agent without a profile.
const EXPERIENCE: &str = "Experience";

/// Agent identity and memory settings.
#[derive(Debug, Clone)]
pub(super) struct AgentLayout {
    pub(super) agent: config::Agent,
    pub(super) memory: config::Memory,
}

/// A list of facts: a section of a file, with the path as the file's owner sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FactList {
    pub(super) path: String,
    pub(super) section: &'static str,
}

/// Text of the two layers.
#[derive(Debug, Clone, Default)]
pub(super) struct LayerTexts {
    pub(super) person: String,
    pub(super) workspace: String,
}

impl AgentLayout {
    /// Returns the layout of an unconfigured program.
    pub(super) fn unconfigured() -> Self {
        let agent = config::Agent { name: "compline".to_owned(), profile: "default".to_owned() };
        let memory = config::Memory {
            enabled: true,
            placement: Placement::Tail,
            extract_every: 10,
            max_tokens: 2000,
            split: 60,
            experience_for_all: false,
        };
        Self { agent, memory }
    }

    /// Returns the path of the agent's memory of this workspace, as its owner sees it.
    pub(super) fn workspace_file(&self) -> String {
        format!("agents/{}/memory.md", file_name(&self.agent.name))
    }

    /// Returns the path of the profile's experience; `None` without a profile.
    pub(super) fn profile_file(&self) -> Option<String> {
        let profile = Some(self.agent.profile.as_str()).filter(|name| !name.is_empty())?;
        Some(format!("{}{}.md", layout::EXPERIENCE, file_name(profile)))
    }

    /// Returns the lists of facts: remembered on request, layer A, layer B.
    pub(super) fn fact_lists(&self) -> [FactList; 3] {
        let (recent, workspace) = ("memory/MEMORY.md".to_owned(), self.workspace_file());
        let person = match self.profile_file() {
            Some(path) => FactList { path, section: INSIGHTS },
            None => FactList { path: workspace.clone(), section: EXPERIENCE },
        };
        [FactList { path: recent, section: RECENT }, person, FactList { path: workspace, section: INSIGHTS }]
    }

    /// Separates the two layers in the files of the agent and its profile.
    pub(super) fn layers(&self, of_agent: &str, of_profile: &str) -> LayerTexts {
        if self.profile_file().is_some() {
            return LayerTexts { person: of_profile.to_owned(), workspace: of_agent.to_owned() };
        }
        let person = section::read(of_agent, EXPERIENCE).unwrap_or_default();
        LayerTexts {
            person: format!("## {INSIGHTS}\n\n{person}"),
            workspace: section::replace(of_agent, EXPERIENCE, ""),
        }
    }

    /// Returns the prompt text of both layers, each within its share.
    pub(super) fn shown(&self, layers: &LayerTexts) -> String {
        let (person, workspace) = shares(self.memory.max_tokens, self.memory.split);
        let at = self.profile_file().unwrap_or_else(|| self.workspace_file());
        let shown = fit(says::OF_PERSON, &entries(&layers.person), person, at.trim_start_matches('/'));
        let title = below(&shown, says::OF_WORKSPACE);
        let workspace = fit(&title, &entries(&layers.workspace), workspace, &self.workspace_file());
        shown + &workspace
    }

    /// Returns the prompt text of other profiles' experience, each under its name, within a common
    /// limit.
    pub(super) fn shown_of_others(&self, others: &[(String, String)]) -> String {
        let (mut shown, mut rest) = (String::new(), self.memory.max_tokens);
        for (name, text) in others {
            let title = below(&shown, &says::of_profile(name));
            let part = fit(&title, &entries(text), rest, &format!("experience/{name}.md"));
            rest = rest.saturating_sub(estimate_tokens(&part));
            shown.push_str(&part);
        }
        shown
    }
}

/// Converts a configured name to a file name: case and spaces versus dashes make no difference.
fn file_name(name: &str) -> String {
    name.to_lowercase().replace(' ', "-")
}

/// Splits the token limit between layers A and B. Layer B gets some whenever there is enough to
/// share.
fn shares(total: u64, percent: u32) -> (u64, u64) {
    let least = u64::from(total >= 2);
    let person = (total.saturating_mul(u64::from(percent)) / 100).min(total.saturating_sub(least));
    (person, total - person)
}

/// Separates a title from the text above it.
fn below(above: &str, title: &str) -> String {
    if above.is_empty() { title.to_owned() } else { format!("\n\n{title}") }
}

/// Returns the first entries that fit under their title, with a remark about the rest.
fn fit(title: &str, entries: &[String], max_tokens: u64, rest_in: &str) -> String {
    if entries.is_empty() {
        return String::new();
    }
    let remark =
        |left_out: usize| if left_out == 0 { String::new() } else { format!("\n{}", says::cut(left_out, rest_in)) };
    let (mut shown, mut used) = (title.to_owned(), estimate_tokens(title));
    let mut count = 0;
    for entry in entries {
        let line = format!("\n{entry}");
        // The sum of the estimates is never below the estimate of the whole.
        let (more, rest) = (estimate_tokens(&line), estimate_tokens(&remark(entries.len() - count - 1)));
        if used + more + rest > max_tokens {
            break;
        }
        shown.push_str(&line);
        used += more;
        count += 1;
    }
    let remark = remark(entries.len() - count);
    if used + estimate_tokens(&remark) > max_tokens {
        return String::new();
    }
    shown + &remark
}

/// Returns the entries of a memory in display order: sections that a person added, verbatim; then
/// the insights, newest first.
fn entries(text: &str) -> Vec<String> {
    let mut entries = Vec::new();
    for part in section::sections(text).iter().filter(|part| part.name != INSIGHTS) {
        let mut blocks = blocks(part.own);
        if let Some(first) = blocks.first_mut().filter(|_| part.level > 1) {
            *first = format!("{} {}\n{first}", "#".repeat(part.level.max(3)), part.name);
        }
        entries.extend(blocks);
    }
    let mut insights = blocks(section::read(text, INSIGHTS).unwrap_or_default());
    insights.reverse();
    insights.sort_by(|one, other| memory_md::split_day(other).1.cmp(memory_md::split_day(one).1));
    entries.extend(insights);
    entries
}

/// Splits a section into bullets and paragraphs, each with its continuation lines. Code stays in
/// one piece.
fn blocks(text: &str) -> Vec<String> {
    let (mut blocks, mut open, mut in_code) = (Vec::<String>::new(), false, false);
    for line in text.lines() {
        let is_fence = line.trim_start().starts_with("```");
        let begins = !in_code && ["- ", "* ", "+ "].iter().any(|mark| line.starts_with(mark));
        if line.trim().is_empty() && !in_code {
            open = false;
            continue;
        }
        match blocks.last_mut().filter(|_| open && !begins) {
            Some(block) => {
                block.push('\n');
                block.push_str(line.trim_end());
            }
            None => blocks.push(line.trim_end().to_owned()),
        }
        open = true;
        in_code ^= is_fence;
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn layout_of(max_tokens: u64, profile: &str) -> AgentLayout {
        let unconfigured = AgentLayout::unconfigured();
        let agent = config::Agent { profile: profile.to_owned(), ..unconfigured.agent };
        AgentLayout { agent, memory: config::Memory { max_tokens, ..unconfigured.memory } }
    }

    fn long(what: &str) -> String {
        let facts =
            (1..=400).map(|n| format!("- **{what} {n}**: is number {n} of its kind (2026-11-{:02})\n", n % 28 + 1));
        format!("## Insights\n\n{}", facts.collect::<String>())
    }

    /// Proves: memory/visibility
    #[test]
    fn the_room_is_shared_and_the_workspace_always_has_some() {
        for (total, person, workspace) in [(0, 0, 0), (1, 0, 1), (2, 1, 1), (3, 1, 2), (10, 6, 4), (2000, 1200, 800)] {
            assert_eq!(shares(total, 60), (person, workspace), "{total}");
        }
        assert_eq!((shares(2, 95), shares(100, 95), shares(100, 5)), ((1, 1), (95, 5), (5, 95)));
    }

    /// Proves: memory/visibility
    #[test]
    fn each_layer_keeps_to_its_part_and_says_what_is_missing() {
        let layers = LayerTexts { person: long("Habit"), workspace: long("Server") };
        for total in [0, 1, 2, 3, 2000] {
            let shown = layout_of(total, "default").shown(&layers);
            assert!(estimate_tokens(&shown) <= total, "{total}: {shown}");
            let (person, workspace) = shown.split_once("\n\n").unwrap_or((shown.as_str(), ""));
            let (most_person, most_workspace) = shares(total, 60);
            assert!(estimate_tokens(person) <= most_person && estimate_tokens(workspace) <= most_workspace, "{total}");
        }
        let shown = layout_of(2000, "default").shown(&layers);
        let (person, workspace) = shown.split_once("\n\n").unwrap();
        assert!(
            person.contains("- **Habit 391**") && workspace.contains("- **Server 391**"),
            "the newest day\n{shown}"
        );
        assert!(person.ends_with("older entries are in experience/default.md)"), "{person}");
        assert!(workspace.ends_with("older entries are in agents/compline/memory.md)"), "{workspace}");
        let lines = person.lines().filter(|line| line.starts_with("- "));
        assert!(lines.clone().count() > 20 && lines.clone().all(|line| line.ends_with(')')), "whole entries only");
    }

    #[test]
    fn sections_come_as_they_stand_before_the_newest_insights() {
        let text = "# Compline\n\n## Plans\n\nMove the server.\nSoon.\n\n- Order disks\n  (two)\n\n## Insights\n\n- **a**: 1 (2026-01-01)\n\
            - **b**: 2\n- **c**: 3 (2026-01-02)\n";
        let shown = entries(text);
        assert_eq!(
            shown,
            [
                "### Plans\nMove the server.\nSoon.",
                "- Order disks\n  (two)",
                "- **c**: 3 (2026-01-02)",
                "- **a**: 1 (2026-01-01)",
                "- **b**: 2"
            ]
        );
        assert_eq!(entries(""), Vec::<String>::new());
        assert_eq!(layout_of(2000, "default").shown(&LayerTexts::default()), "");
    }

    #[test]
    fn without_a_profile_nothing_travels() {
        let (with, without) = (layout_of(2000, "P"), layout_of(2000, ""));
        assert_eq!(with.fact_lists()[1].path, "//experience/p.md");
        assert_eq!((without.profile_file(), without.fact_lists()[1].section), (None, "Experience"));
        assert_eq!(without.fact_lists()[1].path, without.fact_lists()[2].path);
        let layers = without.layers("## Experience\n\n- **Tea**: green\n\n## Insights\n\n- **Disk**: full\n", "");
        assert!(layers.person.contains("green") && !layers.person.contains("full"));
        assert!(layers.workspace.contains("full") && !layers.workspace.contains("green"));
    }

    #[test]
    fn knowledge_of_other_profiles_has_its_own_budget() {
        let others = [("chef".to_owned(), long("Dish")), ("nurse".to_owned(), long("Pill"))];
        for total in [0, 1, 2, 3, 2000, 20_000] {
            assert!(estimate_tokens(&layout_of(total, "default").shown_of_others(&others)) <= total, "{total}");
        }
        assert!(layout_of(2000, "default").shown_of_others(&others).contains("Dish 391"));
    }

    proptest! {
        #[test]
        fn no_text_and_no_room_break_the_layers(person in "(?s).{0,300}", workspace in "(- [a-z]{0,9}\n|## [A-Z]\n|\n|```\n){0,30}", total in 0_u64..200, split in 5_u32..=95) {
            let mut layout = layout_of(total, "default");
            layout.memory.split = split;
            let (a, b) = shares(total, split);
            prop_assert!(a + b == total && (total < 2 || b >= 1));
            let shown = layout.shown(&LayerTexts { person, workspace });
            prop_assert!(estimate_tokens(&shown) <= total);
        }

        #[test]
        fn only_whole_entries_are_shown(count in 0_usize..40, room in 0_u64..300) {
            let entries: Vec<String> = (0..count).map(|n| format!("- entry {n} {}", "x".repeat(n))).collect();
            let shown = fit("Title", &entries, room, "file");
            prop_assert!(estimate_tokens(&shown) <= room);
            for line in shown.lines().filter(|line| line.starts_with("- ")) {
                prop_assert!(entries.iter().any(|entry| entry == line));
            }
            let missing = entries.len() - shown.lines().filter(|line| line.starts_with("- ")).count();
            let says = says::cut(missing, "file");
            prop_assert!(shown.is_empty() || missing == 0 || shown.ends_with(&says));
        }
    }
}
