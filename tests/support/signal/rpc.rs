//! JSON-RPC as the daemon implements it: answers, refusals and their ids, ignored input.

use serde_json::{Map, Value, json};

use super::faults::Fault;
use super::methods;
use super::state::{ChatId, ConnectionId, Shared, State};

/// Limit of strings in its JSON reader, in characters.
const LONGEST_STRING: usize = 20_000_000;

/// Transport of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Via {
    Line(ConnectionId),
    Http,
}

/// Reaction to a request.
pub(super) enum Reply {
    Answer(Value),
    /// A truncated answer.
    Torn(Value),
    Silence,
    /// The connection closes.
    Cut,
}

/// One parsed request.
pub(super) struct Call {
    pub(super) method: String,
    pub(super) params: Map<String, Value>,
    pub(super) via: Via,
}

/// An answer with `error`.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) code: i64,
    pub(super) message: String,
    pub(super) data: Option<Value>,
}

impl Refusal {
    pub(super) fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// An error of the user.
    pub(super) fn user(message: impl Into<String>) -> Self {
        Self::new(-1, message)
    }
}

/// Serves one line or one body.
pub(super) async fn serve(shared: &Shared, via: Via, text: &str) -> Reply {
    let Ok(request) = serde_json::from_str::<Value>(text) else {
        return Reply::Answer(error(Value::Null, &Refusal::new(-32700, "Parse error")));
    };
    if has_too_long_a_text(&request) {
        return Reply::Cut;
    }
    let Value::Array(batch) = request else { return one(shared, via, request).await };
    if batch.is_empty() {
        return Reply::Answer(error(Value::Null, &Refusal::new(-32600, "Batch is empty")));
    }
    let mut answers = Vec::new();
    for request in batch {
        match one(shared, via, request).await {
            Reply::Answer(answer) => answers.push(answer),
            Reply::Silence => {}
            ending => return ending,
        }
    }
    if answers.is_empty() { Reply::Silence } else { Reply::Answer(Value::Array(answers)) }
}

async fn one(shared: &Shared, via: Via, request: Value) -> Reply {
    let (id, call) = match read(request, via) {
        Ok(read) => read,
        Err(wrong) => return Reply::Answer(error(wrong.0, &wrong.1)),
    };
    shared.change(|state| state.calls.push(call.method.clone()));
    let answered = |outcome: Result<Value, Refusal>| match (&id, outcome) {
        (None, _) => Reply::Silence,
        (Some(id), Ok(result)) => Reply::Answer(json!({ "jsonrpc": "2.0", "result": result, "id": id })),
        (Some(id), Err(refusal)) => Reply::Answer(error(id.clone(), &refusal)),
    };
    let _flight = Flight::begin(shared, &call);
    if call.method == "send" {
        hold(shared, |state| state.holds_sends).await;
    }
    let fault = shared.change(|state| state.take_fault(&call.method, call.text("message").unwrap_or_default()));
    match fault {
        Some(Fault::CloseBefore) => return Reply::Cut,
        Some(Fault::Offline) => return answered(Err(Refusal::new(-3, "Failed to send: no network"))),
        Some(Fault::Internal) => return answered(Err(Refusal::new(-32603, "Internal error"))),
        _ => {}
    }
    let outcome = match call.method.as_str() {
        "finishLink" => methods::finish_link(shared, &call).await,
        _ => shared.change(|state| methods::run(state, &call)),
    };
    if call.method == "send" {
        hold(shared, |state| state.holds_answers).await;
    }
    match fault {
        Some(Fault::CloseAfter) => Reply::Cut,
        Some(Fault::NoAnswer) if via == Via::Http => std::future::pending().await,
        Some(Fault::NoAnswer) => Reply::Silence,
        Some(Fault::Torn) => match answered(outcome) {
            Reply::Answer(answer) => Reply::Torn(answer),
            other => other,
        },
        _ => answered(outcome),
    }
}

/// A refusal with its id.
type Wrong = Box<(Value, Refusal)>;

/// Parses id and call.
fn read(request: Value, via: Via) -> Result<(Option<Value>, Call), Wrong> {
    let invalid = |why: &str| Refusal::new(-32600, why);
    let Value::Object(mut request) = request else {
        return Err(Box::new((Value::Null, invalid("The request is no object"))));
    };
    let id = request.remove("id");
    if id.as_ref().is_some_and(|id| id.is_object() || id.is_array() || id.is_boolean()) {
        return Err(Box::new((Value::Null, invalid("The id must be a string, a number or null"))));
    }
    let told = id.clone().unwrap_or_default();
    if request.get("jsonrpc") != Some(&json!("2.0")) {
        return Err(Box::new((told, invalid("The version must be 2.0"))));
    }
    let Some(Value::String(method)) = request.remove("method") else {
        return Err(Box::new((told, invalid("There is no method"))));
    };
    let params = match request.remove("params") {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(params)) => params,
        Some(_) => return Err(Box::new((told, invalid("The parameters must be an object")))),
    };
    Ok((id, Call { method, params, via }))
}

fn error(id: Value, refusal: &Refusal) -> Value {
    let error = json!({ "code": refusal.code, "message": refusal.message, "data": refusal.data });
    json!({ "jsonrpc": "2.0", "error": error, "id": id })
}

fn has_too_long_a_text(value: &Value) -> bool {
    match value {
        Value::String(text) => text.len() > LONGEST_STRING && text.chars().count() > LONGEST_STRING,
        Value::Array(items) => items.iter().any(has_too_long_a_text),
        Value::Object(fields) => fields.values().any(has_too_long_a_text),
        _ => false,
    }
}

/// A `send` in progress. A second one for the same chat meanwhile is a violation: their order would
/// be undefined.
struct Flight<'a> {
    shared: &'a Shared,
    chat: Option<ChatId>,
}

impl<'a> Flight<'a> {
    fn begin(shared: &'a Shared, call: &Call) -> Self {
        let chat = shared.change(|state| {
            let chat = if call.method == "send" { super::sending::chat_of(state, call) } else { None }?;
            let flights = state.flights.entry(chat).or_default();
            *flights += 1;
            if *flights > 1 {
                state.violate(Some(chat), "two sends at once");
            }
            Some(chat)
        });
        Self { shared, chat }
    }
}

impl Drop for Flight<'_> {
    fn drop(&mut self) {
        let Some(chat) = self.chat else { return };
        self.shared.change(|state| {
            state.flights.entry(chat).and_modify(|flights| *flights -= 1);
        });
    }
}

/// Holds a request as long as the test asks for it. A client that hangs up meanwhile drops it.
async fn hold(shared: &Shared, holding: fn(&State) -> bool) {
    struct Held<'a>(&'a Shared);
    impl Drop for Held<'_> {
        fn drop(&mut self) {
            self.0.change(|state| state.held -= 1);
        }
    }
    if !holding(&shared.lock()) {
        return;
    }
    shared.change(|state| state.held += 1);
    let _held = Held(shared);
    shared.until(|| !holding(&shared.lock())).await;
}
