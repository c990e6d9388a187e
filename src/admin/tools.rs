//! `compline tools`: MCP tools, and the owner's acceptance of each.
//!
//! A tool to be accepted is shown in full, in a fence and with hidden characters made visible,
//! above the digest that accepts exactly that. On the command line only: there is no button for it,
//! and no model may be involved.

use crate::admin::ReportsAdmin;
use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::answer::{Answer, Render, RenderContext, ShownLabel, plain};
use crate::review::diff::fenced;
use crate::review::effects::Effects;
use crate::review::reveal::reveal;
use crate::review::show;
use crate::store::OutsideToolRow;
use crate::time::{Timestamp, Zone};
use crate::tool::mcp::{Condition, offered_name};
use crate::wording::tool as says;

/// Number of digest digits shown, and the minimum number to be repeated.
const DIGITS: (usize, usize) = (16, 8);

/// The state of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
enum ToolState {
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

    fn as_str(self) -> &'static str {
        self.into()
    }

    fn waits(self) -> bool {
        matches!(self, Self::New | Self::Changed)
    }
}

impl ReportsAdmin<'_> {
    /// Every tool of every server.
    pub(super) async fn tools(&self) -> anyhow::Result<ToolsReport> {
        let rows = self.mcp.seen().await?;
        let servers: BTreeMap<String, Condition> = self.mcp.conditions().into_iter().collect();
        let state = |row: &OutsideToolRow| ToolState::of(row, servers.get(&row.server));
        let tools = rows.into_iter().map(|row| (state(&row), row)).collect();
        Ok(ToolsReport { tools, servers })
    }

    /// Accepts a tool in the version whose digest begins with these digits, if `word` names its
    /// gravest act.
    pub async fn accept_tool(&self, name: &str, digits: &str, word: &str) -> anyhow::Result<Answer> {
        let rows = self.mcp.seen().await?;
        let Some(row) = rows.iter().find(|row| offered_name(&row.server, &row.seen.name) == name) else {
            return Ok(Answer::refusal(says::no_such_tool(&plain(&crate::text::shorten(name, 80)))));
        };
        if digits.len() < DIGITS.1 {
            return Ok(Answer::refusal(says::too_few_digits(DIGITS.1)));
        }
        let is_meant = row.seen.digest.starts_with(&digits.to_ascii_lowercase());
        if let Some(wanted) = effects(row).word().filter(|wanted| is_meant && !word.eq_ignore_ascii_case(wanted)) {
            return Ok(Answer::refusal(says::tool_word_missing(name, hash(row), wanted)));
        }
        if !is_meant || !self.mcp.accept(row, None).await? {
            return Ok(Answer::refusal(says::other_digest(name)));
        }
        Ok(Answer::ours(says::tool_accepted(name), json!({ "accepted": name, "hash": hash(row) })))
    }
}

/// The tools of MCP servers. Those to be accepted are rendered in full.
pub(super) struct ToolsReport {
    servers: BTreeMap<String, Condition>,
    tools: Vec<(ToolState, OutsideToolRow)>,
}

impl Render for ToolsReport {
    fn markdown(&self, context: &RenderContext<'_>, shown: &mut ShownLabel) -> String {
        if self.servers.is_empty() && self.tools.is_empty() {
            return says::NO_SERVERS.to_owned();
        }
        let mut parts = vec![server_lines(&self.servers, context.zone)];
        for (state, row) in &self.tools {
            shown.also(&row.seen.label);
            parts.push(page(row, *state));
        }
        parts.join("\n\n")
    }

    fn json(&self, _: &RenderContext<'_>, _: &mut ShownLabel) -> Value {
        self.tools.iter().map(|(state, row)| row_json(row, *state)).collect()
    }
}

/// One line per server.
pub(super) fn server_lines(conditions: &BTreeMap<String, Condition>, zone: Zone) -> String {
    let line = |(name, condition): (&String, &Condition)| {
        let Condition { since, trouble, restarts, refused, .. } = condition;
        let since = since.map(|since| zone.show_short(since));
        says::mcp_server(name, since.as_deref(), trouble.as_deref(), *restarts, *refused)
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

fn page(row: &OutsideToolRow, state: ToolState) -> String {
    let name = offered_name(&row.server, &row.seen.name);
    let line = says::mcp_tool(&name, state.as_str(), hash(row));
    if !state.waits() {
        return line;
    }
    let (description, schema) = (&row.seen.description, readable(&row.seen.schema));
    let effects = effects(row);
    let words = says::described(&reveal(description), &reveal(&schema));
    let how = says::how_to_accept(&name, hash(row), effects.word());
    format!("{line}\n\n{}\n\n{}\n\n{how}", show::effects(&effects), fenced(&words))
}

/// Returns the effects that a tool declares, all of them new to the assistant.
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

fn row_json(row: &OutsideToolRow, state: ToolState) -> Value {
    json!({
        "name": offered_name(&row.server, &row.seen.name),
        "server": row.server,
        "state": state.as_str(),
        "hash": hash(row),
        "word": effects(row).word(),
        "accepted": row.is_accepted(),
        "description": row.seen.description,
        "schema": serde_json::from_str::<Value>(&row.seen.schema).unwrap_or_default(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::fixture::{Fixture, START};
    use super::*;
    use crate::store::SeenTool;
    use crate::trust::{Label, Scope, Source};

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
        OutsideToolRow { server: "s".to_owned(), seen, seen_at: START, accepted_digest, scope: Scope::Shared }
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
        let page = page(&row("0123456789abcdef0123", ""), ToolState::New);
        assert!(page.contains("````\nLooks.⟨U+202E"), "{page}");
        assert!(
            page.contains("\"type\": \"object\"") && page.contains("tools accept s__t 0123456789abcdef`"),
            "{page}"
        );
        assert_eq!(super::page(&row("0123456789abcdef0123", "x"), ToolState::Accepted).lines().count(), 1);
    }

    #[tokio::test]
    async fn without_servers_there_is_nothing_to_accept() {
        let fixture = Fixture::new().await;
        let answer = fixture.rendering(&fixture.admin.reports().tools().await.unwrap());
        assert_eq!((answer.markdown.as_str(), answer.json), (says::NO_SERVERS, json!([])));
        assert!(fixture.admin.reports().accept_tool("s__t", "0123456789abcdef", "").await.unwrap().failed);
    }
}
