//! The known outside tools: the rows of the journal, and those of them that may be offered now.
//!
//! The offer is computed when a row changes, and shared until the next change.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;

use super::describe::{Listing, offered_name};
use crate::id::PersonId;
use crate::model::ToolSpec;
use crate::store::{Journal, OutsideToolRow};
use crate::time::Clock;

/// A tool that may be offered, as accepted.
#[derive(Debug, Clone)]
pub struct Accepted {
    /// The configured name of its server.
    pub server: String,
    /// The name on that server.
    pub name: String,
    /// The accepted digest.
    pub digest: String,
    /// The description for the model.
    pub spec: ToolSpec,
}

/// All tools that may be offered, and the list of their descriptions.
#[derive(Debug, Default)]
pub struct Offer {
    tools: BTreeMap<String, Accepted>,
    specs: Arc<[ToolSpec]>,
}

impl Offer {
    fn of(rows: Vec<OutsideToolRow>, servers: &BTreeSet<String>) -> Self {
        let mut tools = BTreeMap::new();
        for row in rows.into_iter().filter(|row| row.is_accepted() && servers.contains(&row.server)) {
            let Ok(schema) = serde_json::from_str(&row.seen.schema) else { continue };
            let name = offered_name(&row.server, &row.seen.name);
            let spec = ToolSpec { name: name.clone(), description: row.seen.description, schema };
            // If two tools have the same name, the first keeps it: the choice must not depend on a
            // server.
            tools.entry(name).or_insert(Accepted {
                server: row.server,
                name: row.seen.name,
                digest: row.seen.digest,
                spec,
            });
        }
        let specs = tools.values().map(|tool| tool.spec.clone()).collect();
        Self { tools, specs }
    }

    /// Returns the descriptions for the model, by name.
    pub fn specs(&self) -> Arc<[ToolSpec]> {
        Arc::clone(&self.specs)
    }

    /// Returns the tool offered under this name.
    pub fn find(&self, name: &str) -> Option<&Accepted> {
        self.tools.get(name)
    }
}

/// The rows, and the offer derived from them.
pub struct Register {
    servers: BTreeSet<String>,
    journal: Journal,
    clock: Arc<dyn Clock>,
    offer: Mutex<Arc<Offer>>,
    renewal: tokio::sync::Mutex<()>,
    changes: watch::Sender<u64>,
}

impl Register {
    /// Loads the journal's knowledge of these servers' tools.
    pub async fn open(servers: BTreeSet<String>, journal: Journal, clock: Arc<dyn Clock>) -> anyhow::Result<Self> {
        let changes = watch::Sender::new(0);
        let register =
            Self { servers, journal, clock, offer: Mutex::default(), renewal: tokio::sync::Mutex::default(), changes };
        register.renew().await?;
        Ok(register)
    }

    /// Returns the clock shared by all servers.
    pub fn clock(&self) -> &dyn Clock {
        &*self.clock
    }

    /// Returns the present offer.
    pub fn offer(&self) -> Arc<Offer> {
        Arc::clone(&self.offer.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns all rows.
    pub async fn seen(&self) -> anyhow::Result<Vec<OutsideToolRow>> {
        self.journal.read(|db| db.mcp_tools().outside_tools()).await
    }

    /// Records a server's listing.
    pub async fn saw(&self, server: &str, listing: &Listing) -> anyhow::Result<()> {
        let (server, tools, now) = (server.to_owned(), listing.tools.clone(), self.clock.now());
        self.journal.write("note outside tools", move |tx| tx.mcp_tools().saw_tools(&server, &tools, now)).await?;
        self.renew().await
    }

    /// Records that the owner accepts a tool as stored in this row. Returns false if it has changed
    /// since.
    pub async fn accept(&self, row: &OutsideToolRow, by: Option<PersonId>) -> anyhow::Result<bool> {
        let (server, seen, now) = (row.server.clone(), row.seen.clone(), self.clock.now());
        let accept =
            move |tx: crate::store::Tx<'_>| tx.mcp_tools().accept_tool(&server, &seen.name, &seen.digest, by, now);
        let accepted = self.journal.write("accept an outside tool", accept).await?;
        self.renew().await?;
        Ok(accepted)
    }

    /// Notifies waiting tasks of a change.
    pub fn changed(&self) {
        self.changes.send_modify(|count| *count += 1);
    }

    /// Returns a receiver of the change counter.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    async fn renew(&self) -> anyhow::Result<()> {
        // One at a time, so that older data never replaces newer data.
        let _turn = self.renewal.lock().await;
        let offer = Arc::new(Offer::of(self.seen().await?, &self.servers));
        *self.offer.lock().unwrap_or_else(PoisonError::into_inner) = offer;
        self.changed();
        Ok(())
    }
}
