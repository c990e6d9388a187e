//! What was learned of the models' servers: kept in the journal, and told to the owners once.

use super::model_pool::ModelPool;
use crate::id::AddressId;
use crate::model::{Field, Learned, Model};
use crate::store::{NewOutbox, Tx, Urgency};
use crate::time::Timestamp;
use crate::time::task::lock;
use crate::trust::Scope;
use crate::wording::{self, learned as says};

/// Name of the setting that holds what was learned of a model.
fn key(name: &str) -> String {
    format!("learned {name}")
}

impl ModelPool {
    /// Returns what was learned of the model at that index, as sentences.
    pub fn learned(&self, index: usize) -> Vec<String> {
        let Some(model) = self.model(index) else { return Vec::new() };
        let learned = model.server().map(|server| server.learned()).unwrap_or_default();
        let info = model.info();
        let mut lines = limits(&learned, info.context_window, info.max_output);
        let silent = learned.without.iter().filter(|field| !is_noticed(**field));
        lines.extend(silent.map(|field| without(*field).to_owned()));
        lines
    }

    /// Loads what was learned before the program started.
    pub(super) async fn recall_learned(&self, model: &dyn Model) -> anyhow::Result<()> {
        let Some(server) = model.server() else { return Ok(()) };
        let key = key(&model.info().full_name());
        if let Some(stored) = self.journal().read(move |db| db.settings().fact(&key)).await? {
            server.learn(serde_json::from_str(&stored).unwrap_or_default());
        }
        Ok(())
    }

    /// Keeps what the last call taught, and tells the owners what is less than was configured.
    pub(super) async fn keep_learned(&self, model: &dyn Model) {
        let Some(server) = model.server() else { return };
        let learned = server.learned();
        let name = model.info().full_name();
        if lock(&self.kept).get(&name).map_or(learned == Learned::default(), |kept| *kept == learned) {
            return;
        }
        let info = model.info();
        let lines = limits(&learned, info.context_window, info.max_output);
        let (of, now, stored) = (name.clone(), self.clock().now(), learned.clone());
        let keep = move |tx: Tx<'_>| {
            let before = tx.settings().fact(&key(&of))?.and_then(|stored| serde_json::from_str(&stored).ok());
            let before: Learned = before.unwrap_or_default();
            tx.settings().set_fact(&key(&of), &serde_json::to_string(&stored)?)?;
            let known = limits(&before, u64::MAX, u64::MAX);
            let new: Vec<String> = lines.into_iter().filter(|line| !known.contains(line)).collect();
            tell(tx, &of, &new, now)
        };
        match self.journal().write("keep what was learned of a model", keep).await {
            Ok(told) => {
                lock(&self.kept).insert(name, learned);
                lock(&self.told).extend(told);
            }
            Err(error) => tracing::warn!("What was learned of the model {name} is not kept: {error:#}"),
        }
    }

    /// Forgets what was learned of all models, which are asked in full again.
    pub async fn forget_learned(&self) -> anyhow::Result<()> {
        let models: Vec<_> = (0..self.len()).filter_map(|index| self.model(index)).collect();
        let names: Vec<String> = models.iter().map(|model| model.info().full_name()).collect();
        let forget = move |tx: Tx<'_>| names.iter().try_for_each(|name| tx.settings().drop_fact(&key(name)));
        self.journal().write("forget what was learned of models", forget).await?;
        models.iter().filter_map(|model| model.server()).for_each(|server| server.learn(Learned::default()));
        lock(&self.kept).clear();
        Ok(())
    }

    /// Returns the addresses to which a notice was posted since the last call.
    pub fn take_told(&self) -> Vec<AddressId> {
        std::mem::take(&mut *lock(&self.told))
    }
}

fn without(field: Field) -> &'static str {
    match field {
        Field::StreamOptions => says::NO_STREAM_OPTIONS,
        Field::Temperature => says::NO_TEMPERATURE,
        Field::OutputLimit => says::OTHER_LIMIT,
        Field::JsonMode => says::NO_JSON_MODE,
        Field::SystemRole => says::NO_SYSTEM_ROLE,
        Field::Reasoning => says::NO_REASONING,
        Field::Pictures => says::NO_PICTURES,
        Field::Tools => says::NO_TOOLS,
    }
}

/// Returns whether people notice that a field is not sent.
fn is_noticed(field: Field) -> bool {
    matches!(field, Field::Pictures | Field::Tools)
}

/// What people notice of what was learned.
fn limits(learned: &Learned, window: u64, output: u64) -> Vec<String> {
    let tools = learned.without_tools.iter().map(|tool| says::without_tool(tool));
    let fields = learned.without.iter().filter(|field| is_noticed(**field)).map(|field| without(*field).to_owned());
    let smaller = |learned: Option<u64>, than: u64| learned.filter(|learned| *learned < than);
    let lines = fields.chain(tools).chain(smaller(learned.context_window, window).map(says::window));
    let lines = lines.chain(smaller(learned.max_output, output).map(says::output));
    lines.chain(learned.patience.map(says::patience)).collect()
}

fn tell(tx: Tx<'_>, model: &str, news: &[String], now: Timestamp) -> anyhow::Result<Vec<AddressId>> {
    if news.is_empty() {
        return Ok(Vec::new());
    }
    let mut told = Vec::new();
    for (owner, address) in tx.people().reachable_owners()? {
        let text = wording::own(says::notice(model, news), Scope::Person(owner));
        tx.outbox().post(&NewOutbox { urgency: Urgency::Silent, ..NewOutbox::notice(address, &text, now) })?;
        told.push(address);
    }
    Ok(told)
}
