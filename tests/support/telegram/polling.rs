//! `getUpdates` with the rules of the real one: an offset drops all lower ids for good, unconfirmed
//! updates come again, a call waits for an update or its time-out, and a second call cancels the
//! first.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{Instant, timeout_at};

use super::methods::{Call, Refusal};
use super::state::{Queued, Shared, State};

/// Kinds of updates that need an explicit request.
const OPT_IN: [&str; 3] = ["chat_member", "message_reaction", "message_reaction_count"];

pub(super) async fn get_updates(shared: &Shared, call: &Call) -> Result<Value, Refusal> {
    let mut changes = shared.changes();
    let limit = usize::try_from(call.int("limit").unwrap_or(100).clamp(1, 100)).unwrap_or(100);
    let timeout = u64::try_from(call.int("timeout").unwrap_or(0).clamp(0, 50)).unwrap_or(0);
    let generation = shared.change(|state| begin_poll(state, call))?;
    let _parked = Parked(shared);
    let deadline = Instant::now() + Duration::from_secs(timeout);
    loop {
        {
            let mut state = shared.lock();
            if state.poll_generation != generation {
                return Err(Refusal::conflict());
            }
            if !state.queue.is_empty() {
                return Ok(batch(&mut state, limit));
            }
        }
        if timeout_at(deadline, changes.changed()).await.is_err() {
            return Ok(json!([]));
        }
    }
}

/// Counts a poll as open until it is answered or its client hangs up.
struct Parked<'a>(&'a Shared);

impl Drop for Parked<'_> {
    fn drop(&mut self) {
        self.0.change(|state| state.parked -= 1);
    }
}

/// Registers the call, ends an older one and drops the updates confirmed by the offset.
fn begin_poll(state: &mut State, call: &Call) -> Result<u64, Refusal> {
    state.polls += 1;
    if !state.webhook.is_empty() {
        let why = "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first";
        return Err(Refusal::new(409, why));
    }
    if state.strict && state.parked > 0 {
        state.violate(None, "two polls at once");
    }
    if let Some(Value::Array(kinds)) = call.json("allowed_updates") {
        state.allowed = kinds.iter().filter_map(Value::as_str).map(str::to_owned).collect();
    }
    state.last_offset = call.int("offset");
    confirm(state, call.int("offset").unwrap_or(0));
    state.parked += 1;
    state.poll_generation += 1;
    Ok(state.poll_generation)
}

fn confirm(state: &mut State, offset: i64) {
    let before = state.queue.len();
    if offset < 0 {
        let keep = usize::try_from(offset.unsigned_abs()).unwrap_or(usize::MAX);
        state.queue.drain(..before.saturating_sub(keep));
    } else {
        state.queue.retain(|queued| queued.id >= offset || (queued.forced && !queued.delivered));
    }
    state.acked += before - state.queue.len();
}

fn batch(state: &mut State, limit: usize) -> Value {
    let batch = state.queue.iter_mut().take(limit).map(|queued| {
        queued.delivered = true;
        queued.update.clone()
    });
    batch.collect()
}

impl State {
    /// Queues an update under the next id, unless the bot does not want its kind.
    pub(super) fn enqueue(&mut self, kind: &str, body: Value) -> i64 {
        let id = self.next_update;
        self.next_update += 1;
        let update = json!({ "update_id": id, kind: body });
        self.history.push((id, update.clone()));
        let wanted = match self.allowed.as_slice() {
            [] => !OPT_IN.contains(&kind),
            allowed => allowed.iter().any(|name| name == kind),
        };
        if wanted {
            self.queue.push(Queued { id, update, forced: false, delivered: false });
        }
        id
    }

    /// Queues a raw update, wanted or not; assigns an id if it has none.
    pub(super) fn enqueue_raw(&mut self, mut update: Value) -> i64 {
        let id = update.get("update_id").and_then(Value::as_i64).unwrap_or(self.next_update);
        update["update_id"] = json!(id);
        self.next_update = self.next_update.max(id + 1);
        self.history.push((id, update.clone()));
        self.queue.push(Queued { id, update, forced: false, delivered: false });
        id
    }
}
