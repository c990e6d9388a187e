//! Output of the daemon: messages to all subscribers, reordered answers, keep-alives.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::state::{ConnectionId, OWN_NUMBER, Queued, State, Subscription};

impl State {
    /// Subscriptions that can receive now, with their connections.
    fn hearing(&self) -> Vec<(u64, ConnectionId)> {
        let hears = |subscription: &Subscription| {
            let connection = self.connections.get(&subscription.connection);
            let is_ours = subscription.account.as_deref().is_none_or(|account| account == OWN_NUMBER);
            let is_due = subscription.is_answered || self.is_eager;
            is_ours && is_due && !self.is_deaf && connection.is_some_and(|connection| !connection.is_deaf)
        };
        let all = self.subscriptions.iter().filter(|(_, subscription)| hears(subscription));
        all.map(|(id, subscription)| (*id, subscription.connection)).collect()
    }

    /// Writes all queued messages to all subscribers and removes them from the queue.
    pub(super) fn hand_over(&mut self) {
        let hearing = self.hearing();
        if self.is_holding || hearing.is_empty() || self.queue.is_empty() {
            return;
        }
        for Queued { id, body } in std::mem::take(&mut self.queue) {
            let mut ways = BTreeSet::new();
            for (subscription, connection) in &hearing {
                let Some(to) = self.connections.get(connection) else { continue };
                let bytes = match to.is_stream {
                    true => event(&body),
                    false => line(&notification(*subscription, &body)),
                };
                if to.writer.send(bytes).is_ok() {
                    ways.insert(*connection);
                }
            }
            match (matters(&body), ways.is_empty()) {
                (false, _) => {}
                (true, true) => self.lost.push(id),
                (true, false) => self.on_wire.push((id, ways)),
            }
        }
    }

    /// Sends an answer to its connection, after the answers that it waits for.
    pub(super) fn answer(&mut self, connection: ConnectionId, bytes: Vec<u8>) {
        let due = match &mut self.shuffle {
            None => vec![(connection, bytes)],
            Some(shuffle) => {
                shuffle.kept.push((connection, bytes));
                if shuffle.kept.len() < shuffle.size {
                    return;
                }
                let mut kept = std::mem::take(&mut shuffle.kept);
                self.shuffle = None;
                kept.reverse();
                kept
            }
        };
        for (connection, bytes) in due {
            self.write(connection, bytes);
        }
    }

    /// Marks the subscriptions of a connection as answered: messages may come.
    pub(super) fn answered(&mut self, connection: ConnectionId) {
        let theirs = self.subscriptions.values_mut().filter(|subscription| subscription.connection == connection);
        theirs.for_each(|subscription| subscription.is_answered = true);
    }

    /// Writes a comment into every event stream.
    pub(super) fn keep_alive(&mut self) {
        let streams = self.connections.iter().filter(|(_, connection)| connection.is_stream);
        let streams: Vec<ConnectionId> = streams.map(|(id, _)| *id).collect();
        streams.into_iter().for_each(|id| self.write(id, b":\n\n".to_vec()));
    }

    /// Writes bytes, unless output to the connection is withheld.
    pub(super) fn write(&mut self, connection: ConnectionId, bytes: Vec<u8>) {
        let is_deaf = self.is_deaf && self.is_subscriber(connection);
        let Some(to) = self.connections.get(&connection) else { return };
        if is_deaf || to.is_deaf {
            return;
        }
        if let Some(before) = self.before_answer.pop_front() {
            let _ = to.writer.send(before);
        }
        let _ = to.writer.send(bytes);
    }
}

/// Returns whether a client must store it: all other envelopes may get lost.
fn matters(body: &Value) -> bool {
    let envelope = &body["envelope"];
    !envelope["dataMessage"].is_null() || !envelope["editMessage"].is_null()
}

fn notification(subscription: u64, body: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "method": "receive", "params": { "subscription": subscription, "result": body } })
}

/// One line of JSON.
pub(super) fn line(value: &Value) -> Vec<u8> {
    format!("{value}\n").into_bytes()
}

fn event(body: &Value) -> Vec<u8> {
    format!("event:receive\ndata:{body}\n\n").into_bytes()
}
