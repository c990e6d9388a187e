//! MCP tools as last seen, and the owner's acceptance of each.
//!
//! A tool is accepted if the accepted digest equals the digest last seen; nothing else makes it
//! available. A tool that was never accepted and is no longer listed is deleted, so that a server
//! that invents names cannot fill the journal.

use crate::store::handles::{McpTools, McpToolsMut};
use crate::store::rows::from_row;
use rusqlite::params;

use crate::id::PersonId;
use crate::time::Timestamp;
use crate::trust::{Label, Scope};

/// A tool as its server describes it now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenTool {
    /// Name on the server.
    pub name: String,
    /// Description by the server.
    pub description: String,
    /// JSON schema of the arguments.
    pub schema: String,
    /// Digest over name, description and schema.
    pub digest: String,
    /// Trust label.
    pub label: Label,
}

/// A stored tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutsideToolRow {
    /// Configured name of the server.
    pub server: String,
    /// Last description seen.
    pub seen: SeenTool,
    /// Time of that.
    pub seen_at: Timestamp,
    /// Accepted digest; blank if none.
    pub accepted_digest: String,
    /// Owning scope.
    pub scope: Scope,
}

from_row! {
    OutsideToolRow from "outside_tools", "name, description, schema, digest, label" {
        server, scope, seen_at, accepted_digest,
    }
    with |row| {
        seen: SeenTool {
            name: row.get("name")?,
            description: row.get("description")?,
            schema: row.get("schema")?,
            digest: row.get("digest")?,
            label: row.get("label")?,
        },
    }
}

impl OutsideToolRow {
    /// Returns true if the last description seen is accepted.
    pub fn is_accepted(&self) -> bool {
        !self.accepted_digest.is_empty() && self.accepted_digest == self.seen.digest
    }
}

impl McpTools<'_> {
    /// Returns all tools, by server and name.
    pub fn outside_tools(&self) -> anyhow::Result<Vec<OutsideToolRow>> {
        self.db.rows("ORDER BY server, name", [])
    }
}

impl McpToolsMut<'_> {
    /// Replaces the tools of a server by this list.
    pub fn saw_tools(&self, server: &str, tools: &[SeenTool], now: Timestamp) -> anyhow::Result<()> {
        for tool in tools {
            self.db.run(
                "INSERT INTO outside_tools (server, name, description, schema, digest, label, scope, seen_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
                 ON CONFLICT (server, name) DO UPDATE
                 SET description = ?3, schema = ?4, digest = ?5, label = ?6, scope = ?7, seen_at = ?8",
                params![server, tool.name, tool.description, tool.schema, tool.digest, tool.label, Scope::Shared, now],
            )?;
        }
        let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
        self.db.run(
            "DELETE FROM outside_tools WHERE server = ?1 AND accepted_digest = ''
             AND name NOT IN (SELECT value FROM json_each(?2))",
            params![server, serde_json::Value::from(names).to_string()],
        )
    }

    /// Accepts a tool with that digest. Returns false if that is not the digest last seen.
    pub fn accept_tool(
        &self,
        server: &str,
        name: &str,
        digest: &str,
        by: Option<PersonId>,
        now: Timestamp,
    ) -> anyhow::Result<bool> {
        self.db.changed(
            "UPDATE outside_tools SET accepted_digest = digest, accepted_at = ?4, accepted_by = ?5
             WHERE server = ?1 AND name = ?2 AND digest = ?3",
            params![server, name, digest, now, by],
        )
    }
}
