//! `compline tools` and the page of tools: MCP tools, and the owner's acceptance of each.
//!
//! A tool to be accepted is shown in full, with hidden characters made visible, above the digest
//! that accepts exactly that. Not in a chat: there is no button for it, and no model may be
//! involved.

use crate::admin::ReportsAdmin;
use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::answer::{Answer, Render, RenderContext, ShownLabel, plain};
use crate::review::diff::fenced;
use crate::review::effects::Effects;
use crate::review::reveal::reveal;
use crate::review::show;
use crate::store::{Journal, NewOutbox, OutsideToolRow, Tx, Urgency};
use crate::time::{Timestamp, Zone};
use crate::tool::marks::{ArgumentKind, ArgumentMarks, MarkError, WantedMarks};
use crate::tool::mcp::{Condition, offered_name};
use crate::trust::Scope;
use crate::wording::{Language, tool as says};

/// Number of digest digits shown, and the minimum number to be repeated.
const DIGITS: (usize, usize) = (16, 8);

/// The state of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum ToolState {
    /// Never accepted so far.
    New,
    /// Different from the accepted version.
    Changed,
    /// Accepted, and listed unchanged by its server.
    Accepted,
    /// Accepted, but its server is not connected.
    Unavailable,
    /// No longer listed by its server, or its server is no longer configured.
    Gone,
}

impl ToolState {
    fn of(row: &OutsideToolRow, condition: Option<&Condition>) -> Self {
        let Some(condition) = condition else { return Self::Gone };
        let is_connected = condition.since.is_some();
        match (is_connected, row.is_accepted()) {
            (true, _) if !condition.listed.contains_key(&row.seen.name) => Self::Gone,
            (_, false) if row.accepted_digest.is_empty() => Self::New,
            (_, false) => Self::Changed,
            (true, true) => Self::Accepted,
            (false, true) => Self::Unavailable,
        }
    }

    /// Returns its name.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Returns true if it waits for an owner.
    pub fn waits(self) -> bool {
        matches!(self, Self::New | Self::Changed)
    }
}

/// Outcome of an acceptance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolAcceptance {
    /// The tool is offered from the next conversation on.
    Accepted,
    /// No server has such a tool.
    Unknown,
    /// The word that names its gravest act is missing.
    WordMissing(&'static str),
    /// An argument cannot be marked so.
    BadMark(MarkError),
    /// The digest is not that of the tool as it is now.
    OtherDigest,
}

/// A tool of a server.
pub struct ToolEntry {
    /// Present state.
    pub state: ToolState,
    /// As it was last seen.
    pub row: OutsideToolRow,
}

impl ToolEntry {
    /// Returns the name under which it is offered.
    pub fn name(&self) -> String {
        offered_name(&self.row.server, &self.row.seen.name)
    }

    /// Returns the effects that it declares, all of them new to the assistant.
    pub fn effects(&self) -> Effects {
        effects(&self.row)
    }

    /// Returns all that a model would read of it.
    pub fn words(&self) -> String {
        says::described(&self.row.seen.description, &readable(&self.row.seen.schema))
    }

    /// Returns what its arguments are: as accepted, or as proposed.
    pub fn marks(&self) -> ArgumentMarks {
        marks(&self.row)
    }

    /// Returns what an argument may be marked as.
    pub fn kinds_of(&self, place: &str) -> Vec<ArgumentKind> {
        let can_be = |kind: &ArgumentKind| {
            let wanted = WantedMarks { arguments: vec![(place.to_owned(), *kind)], search: false };
            ArgumentMarks::with(&schema(&self.row), &wanted).is_ok()
        };
        ArgumentKind::ALL.into_iter().filter(can_be).collect()
    }

    /// Returns its arguments with what they are, in words.
    pub fn marks_in_words(&self) -> String {
        marks_in_words(&self.row)
    }

    fn hash(&self) -> &str {
        hash(&self.row)
    }
}

impl ReportsAdmin<'_> {
    /// Every tool of every server.
    pub async fn tools(&self) -> anyhow::Result<ToolsReport> {
        let rows = self.mcp.seen().await?;
        let servers: BTreeMap<String, Condition> = self.mcp.conditions().into_iter().collect();
        let entry = |row: OutsideToolRow| ToolEntry { state: ToolState::of(&row, servers.get(&row.server)), row };
        let tools = rows.into_iter().map(entry).collect();
        Ok(ToolsReport { tools, servers })
    }

    /// Accepts a tool in the version whose digest begins with these digits, if `word` names its
    /// gravest act. Its arguments are what was proposed, but for the wanted marks.
    pub async fn accept_tool(
        &self,
        name: &str,
        digits: &str,
        word: &str,
        wanted: &WantedMarks,
    ) -> anyhow::Result<Answer> {
        let too_few = digits.len() < DIGITS.1;
        let is_meant = |digest: &str| !too_few && digest.starts_with(&digits.to_ascii_lowercase());
        let (outcome, row) = self.decide_on_tool(name, word, wanted, is_meant).await?;
        let hash = row.as_ref().map_or("", hash);
        Ok(match outcome {
            ToolAcceptance::Unknown => Answer::refusal(says::no_such_tool(&plain(&crate::text::shorten(name, 80)))),
            _ if too_few => Answer::refusal(says::too_few_digits(DIGITS.1)),
            ToolAcceptance::WordMissing(wanted) => Answer::refusal(says::tool_word_missing(name, hash, wanted)),
            ToolAcceptance::OtherDigest => Answer::refusal(says::other_digest(name)),
            ToolAcceptance::BadMark(error) => Answer::refusal(bad_mark(&error)),
            ToolAcceptance::Accepted => {
                let marks = row.as_ref().map(marks_in_words).unwrap_or_default();
                Answer::ours(says::tool_accepted(name, &marks), json!({ "accepted": name, "hash": hash }))
            }
        })
    }

    /// Accepts a tool in the version with exactly this digest, if `word` names its gravest act, with
    /// these marks.
    pub async fn accept_shown_tool(
        &self,
        name: &str,
        digest: &str,
        word: &str,
        wanted: &WantedMarks,
    ) -> anyhow::Result<ToolAcceptance> {
        Ok(self.decide_on_tool(name, word, wanted, |seen| seen == digest).await?.0)
    }

    async fn decide_on_tool(
        &self,
        name: &str,
        word: &str,
        wanted: &WantedMarks,
        is_meant: impl Fn(&str) -> bool,
    ) -> anyhow::Result<(ToolAcceptance, Option<OutsideToolRow>)> {
        let rows = self.mcp.seen().await?;
        let Some(mut row) = rows.into_iter().find(|row| offered_name(&row.server, &row.seen.name) == name) else {
            return Ok((ToolAcceptance::Unknown, None));
        };
        let is_meant = is_meant(&row.seen.digest);
        let missing = effects(&row).word().filter(|wanted| is_meant && !word.eq_ignore_ascii_case(wanted));
        let outcome = match missing {
            Some(missing) => ToolAcceptance::WordMissing(missing),
            None if !is_meant => ToolAcceptance::OtherDigest,
            None => match ArgumentMarks::with(&schema(&row), wanted) {
                Err(error) => ToolAcceptance::BadMark(error),
                Ok(marks) => {
                    row.marks = marks.encode();
                    row.accepted_digest = row.seen.digest.clone();
                    if self.mcp.accept(&row, None).await? {
                        ToolAcceptance::Accepted
                    } else {
                        ToolAcceptance::OtherDigest
                    }
                }
            },
        };
        Ok((outcome, Some(row)))
    }
}

/// The tools of MCP servers. Those to be accepted are rendered in full.
pub struct ToolsReport {
    /// State of each server.
    pub servers: BTreeMap<String, Condition>,
    /// The tools, by server and name.
    pub tools: Vec<ToolEntry>,
}

impl Render for ToolsReport {
    fn markdown(&self, context: &RenderContext<'_>, shown: &mut ShownLabel) -> String {
        if self.servers.is_empty() && self.tools.is_empty() {
            return says::NO_SERVERS.to_owned();
        }
        let mut parts = vec![server_lines(&self.servers, context.language(), context.zone)];
        for tool in &self.tools {
            shown.also(&tool.row.seen.label);
            parts.push(page(tool));
        }
        parts.join("\n\n")
    }

    fn json(&self, _: &RenderContext<'_>, _: &mut ShownLabel) -> Value {
        self.tools.iter().map(tool_json).collect()
    }
}

/// One line per server.
pub(super) fn server_lines(conditions: &BTreeMap<String, Condition>, language: Language, zone: Zone) -> String {
    let line = |(name, condition): (&String, &Condition)| {
        let Condition { since, trouble, restarts, refused, .. } = condition;
        let since = since.map(|since| zone.show_short(since));
        says::mcp_server(language, name, since.as_deref(), trouble.as_deref(), (*restarts, *refused))
    };
    conditions.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// The state of each server, for a program.
pub(super) fn servers_json(conditions: &BTreeMap<String, Condition>) -> Value {
    let server = |(name, condition): (&String, &Condition)| {
        json!({
            "name": name,
            "state": if condition.since.is_some() { "ok" } else { "trouble" },
            "since": condition.since.map(Timestamp::rfc3339),
            "restarts": condition.restarts,
            "trouble": condition.trouble,
        })
    };
    conditions.iter().map(server).collect()
}

fn page(tool: &ToolEntry) -> String {
    let name = tool.name();
    let line = says::mcp_tool(&name, tool.state.as_str(), tool.hash());
    let line =
        [line, marks_in_words(&tool.row)].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(": ");
    if !tool.state.waits() {
        return line;
    }
    let effects = tool.effects();
    let how = says::how_to_accept(&name, tool.hash(), effects.word());
    format!("{line}\n\n{}\n\n{}\n\n{how}", show::effects(&effects), fenced(&reveal(&tool.words())))
}

/// Shows the owners once what the arguments of tools are that were accepted before they had marks.
/// From then on these count as stored.
pub async fn show_marks(journal: &Journal, now: Timestamp) -> anyhow::Result<()> {
    let unmarked = |rows: Vec<OutsideToolRow>| -> Vec<OutsideToolRow> {
        rows.into_iter().filter(|row| row.is_accepted() && row.marks.is_empty()).collect()
    };
    if unmarked(journal.read(|db| db.mcp_tools().outside_tools()).await?).is_empty() {
        return Ok(());
    }
    let show = move |tx: Tx<'_>| {
        let unmarked = unmarked(tx.mcp_tools().outside_tools()?);
        let owners = tx.people().reachable_owners()?;
        if unmarked.is_empty() || owners.is_empty() {
            return Ok(());
        }
        for row in &unmarked {
            tx.mcp_tools().set_marks(row, &marks(row).encode())?;
        }
        let with_arguments = unmarked.iter().filter(|row| !marks(row).arguments.is_empty());
        let lines: Vec<String> = with_arguments
            .map(|row| format!("- `{}`: {}", offered_name(&row.server, &row.seen.name), marks_in_words(row)))
            .collect();
        for (owner, address) in owners.into_iter().filter(|_| !lines.is_empty()) {
            let mut shown = ShownLabel::nothing();
            unmarked.iter().for_each(|row| shown.also(&row.seen.label));
            let text = shown.text(says::tools_are_marked(&lines), Scope::Person(owner));
            tx.outbox().post(&NewOutbox { urgency: Urgency::Silent, ..NewOutbox::notice(address, &text, now) })?;
        }
        Ok(())
    };
    journal.write("show what the arguments of tools are", show).await
}

/// Marks of a tool: as accepted, or as proposed.
fn marks(row: &OutsideToolRow) -> ArgumentMarks {
    if row.is_accepted() {
        ArgumentMarks::read(&row.marks, &schema(row))
    } else {
        ArgumentMarks::proposed(&schema(row))
    }
}

fn schema(row: &OutsideToolRow) -> Value {
    serde_json::from_str(&row.seen.schema).unwrap_or_default()
}

/// Each argument with what it is; blank if there are none.
fn marks_in_words(row: &OutsideToolRow) -> String {
    let marks = marks(row);
    let arguments: Vec<(String, &str)> =
        marks.arguments.iter().map(|(place, kind)| (reveal(place), kind.as_str())).collect();
    says::argument_marks(&arguments, marks.search)
}

/// Reason why an argument cannot be marked so.
pub fn bad_mark(error: &MarkError) -> String {
    let shown = |place: &str| plain(&reveal(&crate::text::shorten(place, 80)));
    match error {
        MarkError::Undeclared(place) => says::no_such_argument(&shown(place)),
        MarkError::NoChoice(place) => says::no_choice(&shown(place)),
    }
}

fn effects(row: &OutsideToolRow) -> Effects {
    Effects::of_text("", &format!("{}\n\n{}", row.seen.description, readable(&row.seen.schema)))
}

/// The schema, pretty-printed.
fn readable(schema: &str) -> String {
    let value: Option<Value> = serde_json::from_str(schema).ok();
    value.and_then(|value| serde_json::to_string_pretty(&value).ok()).unwrap_or_else(|| schema.to_owned())
}

fn hash(row: &OutsideToolRow) -> &str {
    crate::text::cut_bytes(&row.seen.digest, DIGITS.0)
}

fn tool_json(tool: &ToolEntry) -> Value {
    let row = &tool.row;
    json!({
        "name": tool.name(),
        "server": row.server,
        "state": tool.state.as_str(),
        "hash": tool.hash(),
        "word": tool.effects().word(),
        "accepted": row.is_accepted(),
        "description": row.seen.description,
        "schema": schema(row),
        "arguments": tool.marks().arguments,
        "search": tool.marks().search,
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::fixture::{Fixture, START};
    use super::*;
    use crate::store::SeenTool;
    use crate::trust::{Label, Source};

    fn row(digest: &str, accepted: &str) -> OutsideToolRow {
        let label = Label::untrusted(Source::new("tool", "s/t"));
        let seen = SeenTool {
            name: "t".to_owned(),
            description: "Looks.\u{202e}```\n# free".to_owned(),
            schema: "{\"type\":\"object\"}".to_owned(),
            digest: digest.to_owned(),
            label,
        };
        let accepted_digest = accepted.to_owned();
        let (server, marks) = ("s".to_owned(), String::new());
        OutsideToolRow { server, seen, seen_at: START, accepted_digest, marks, scope: Scope::Shared }
    }

    #[test]
    fn the_state_of_a_tool_follows_from_acceptance_and_connection() {
        let condition = |connected: bool, lists: bool| Condition {
            listed: lists.then(|| ("t".to_owned(), "d1".to_owned())).into_iter().collect(),
            since: connected.then_some(START),
            restarts: 0,
            trouble: None,
            refused: 0,
        };
        let (here, away, without) = (condition(true, true), condition(false, false), condition(true, false));
        for (accepted, condition, state) in [
            ("", Some(&here), ToolState::New),
            ("", Some(&away), ToolState::New),
            ("d0", Some(&here), ToolState::Changed),
            ("d0", Some(&away), ToolState::Changed),
            ("d1", Some(&here), ToolState::Accepted),
            ("d1", Some(&away), ToolState::Unavailable),
            ("d1", Some(&without), ToolState::Gone),
            ("", Some(&without), ToolState::Gone),
            ("d1", None, ToolState::Gone),
        ] {
            assert_eq!(ToolState::of(&row("d1", accepted), condition), state, "{accepted} {condition:?}");
        }
    }

    #[test]
    fn a_tool_to_be_accepted_is_shown_in_full_and_harmlessly() {
        let tool = |accepted, state| ToolEntry { state, row: row("0123456789abcdef0123", accepted) };
        let page = page(&tool("", ToolState::New));
        assert!(page.contains("````\nLooks.⟨U+202E"), "{page}");
        assert!(
            page.contains("\"type\": \"object\"") && page.contains("tools accept s__t 0123456789abcdef`"),
            "{page}"
        );
        assert_eq!(super::page(&tool("x", ToolState::Accepted)).lines().count(), 1);
    }

    #[tokio::test]
    async fn without_servers_there_is_nothing_to_accept() {
        let fixture = Fixture::new().await;
        let answer = fixture.rendering(&fixture.admin.reports().tools().await.unwrap());
        assert_eq!((answer.markdown.as_str(), answer.json), (says::NO_SERVERS, json!([])));
        assert!(
            fixture
                .admin
                .reports()
                .accept_tool("s__t", "0123456789abcdef", "", &WantedMarks::default())
                .await
                .unwrap()
                .failed
        );
    }
}
