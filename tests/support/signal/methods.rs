//! All methods except `send`: their account, parameters and results.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::rpc::{Call, Refusal, Via};
use super::sending;
use super::state::{ChatId, MessageId, OWN_NUMBER, STICKER_PACK, Shared, State, Subscription, group_id, number, uuid};

pub(super) type Outcome = Result<Value, Refusal>;

/// Methods of one account, with the parameters of each.
const OF_AN_ACCOUNT: [(&str, &[&str]); 13] = [
    (
        "send",
        &[
            "recipient",
            "groupId",
            "username",
            "noteToSelf",
            "message",
            "attachment",
            "textStyle",
            "mention",
            "quoteTimestamp",
            "quoteAuthor",
            "quoteMessage",
            "quoteMention",
            "quoteTextStyle",
            "quoteAttachment",
            "editTimestamp",
            "viewOnce",
            "sticker",
            "previewUrl",
            "previewTitle",
            "previewDescription",
            "previewImage",
            "notifySelf",
            "noUrgent",
            "voiceNote",
            "endSession",
        ],
    ),
    ("sendTyping", &["recipient", "groupId", "stop"]),
    (
        "sendReaction",
        &["recipient", "groupId", "username", "emoji", "targetAuthor", "targetTimestamp", "remove", "noteToSelf"],
    ),
    ("sendReceipt", &["recipient", "targetTimestamp", "type"]),
    ("remoteDelete", &["recipient", "groupId", "username", "noteToSelf", "targetTimestamp"]),
    ("updateProfile", &["givenName", "familyName", "about", "aboutEmoji", "avatar", "removeAvatar"]),
    ("listGroups", &["groupId", "detailed"]),
    ("getAttachment", &["id", "recipient", "groupId"]),
    ("listStickerPacks", &[]),
    ("listIdentities", &["number"]),
    ("trust", &["recipient", "trustAllKnownKeys", "verifiedSafetyNumber"]),
    ("submitRateLimitChallenge", &["challenge", "captcha"]),
    ("receive", &["timeout", "maxMessages"]),
];

impl Call {
    /// Returns a parameter by its name or its plural with `s`.
    pub(super) fn param(&self, name: &str) -> Option<&Value> {
        let many = format!("{name}s");
        self.params.get(name).or_else(|| self.params.get(&many)).filter(|value| !value.is_null())
    }

    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.param(name).and_then(Value::as_str)
    }

    pub(super) fn int(&self, name: &str) -> Option<i64> {
        self.param(name).and_then(Value::as_i64)
    }

    pub(super) fn flag(&self, name: &str) -> bool {
        self.param(name).and_then(Value::as_bool).unwrap_or_default()
    }

    /// Returns one text or several.
    pub(super) fn list(&self, name: &str) -> Vec<String> {
        match self.param(name) {
            Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            Some(Value::String(text)) => vec![text.clone()],
            _ => Vec::new(),
        }
    }
}

/// Runs one request.
pub(super) fn run(state: &mut State, call: &Call) -> Outcome {
    if let Some((_, known)) = OF_AN_ACCOUNT.iter().find(|(name, _)| *name == call.method) {
        check_account(state, call)?;
        note_ignored(state, call, known);
        return of_an_account(state, call);
    }
    match call.method.as_str() {
        "version" => Ok(json!({ "version": state.version })),
        "listAccounts" if !state.is_single => {
            Ok(state.accounts.iter().map(|number| json!({ "number": number })).collect())
        }
        "startLink" => Ok(start_link(state)),
        "subscribeReceive" => subscribe(state, call),
        "unsubscribeReceive" => unsubscribe(state, call),
        _ => Err(Refusal::new(-32601, "Method not implemented")),
    }
}

fn of_an_account(state: &mut State, call: &Call) -> Outcome {
    match call.method.as_str() {
        "send" => sending::send(state, call),
        "sendTyping" => send_typing(state, call),
        "sendReaction" => send_reaction(state, call),
        "sendReceipt" => send_receipt(state, call),
        "remoteDelete" => remote_delete(state, call),
        "updateProfile" => {
            let fields = call.params.iter().filter(|(name, _)| *name != "account");
            state.profile.extend(fields.map(|(name, value)| (name.clone(), value.clone())));
            Ok(json!({}))
        }
        "listGroups" => Ok(list_groups(state, call)),
        "getAttachment" => get_attachment(state, call),
        "listStickerPacks" => Ok(list_sticker_packs(state)),
        "listIdentities" => Ok(json!([])),
        "trust" => {
            let person = call.text("recipient").and_then(|who| state.who(who));
            let person = person.ok_or_else(|| Refusal::user("Unknown recipient"))?;
            state.refusals.remove(&person);
            Ok(json!({}))
        }
        "submitRateLimitChallenge" => {
            state.refusals.clear();
            Ok(json!({}))
        }
        _ => receive(state),
    }
}

fn list_sticker_packs(state: &State) -> Value {
    let known = state.stickers.iter().enumerate().filter(|(_, emoji)| !emoji.is_empty());
    let stickers: Vec<Value> =
        known.map(|(id, emoji)| json!({ "id": id, "emoji": emoji, "contentType": "image/webp" })).collect();
    json!([{
        "packId": STICKER_PACK, "url": "https://signal.art/addstickers/", "installed": false, "title": "Beasts",
        "author": "Ada", "cover": stickers.first(), "stickers": stickers,
    }])
}

/// Requires an account if there are several; with one account, counts its absence as a violation,
/// because there may be two tomorrow.
fn check_account(state: &mut State, call: &Call) -> Result<(), Refusal> {
    if state.is_single {
        return Ok(());
    }
    match call.text("account") {
        Some(account) if state.has_account(account) => Ok(()),
        Some(_) => Err(Refusal::new(-32602, "Specified account does not exist")),
        None => {
            state.violate(None, format!("{} without an account", call.method));
            let is_clear = state.accounts.len() == 1;
            if is_clear { Ok(()) } else { Err(Refusal::new(-32602, "Method requires valid account parameter")) }
        }
    }
}

fn note_ignored(state: &mut State, call: &Call, known: &[&str]) {
    let is_known = |name: &str| {
        let one = name.strip_suffix('s').unwrap_or(name);
        name == "account" || known.contains(&name) || known.contains(&one)
    };
    for name in call.params.keys().filter(|name| !is_known(name)) {
        state.ignored.push((call.method.clone(), name.clone()));
        if state.is_strict {
            state.violate(None, format!("{} knows no {name}", call.method));
        }
    }
}

fn start_link(state: &mut State) -> Value {
    let uri = format!("sgnl://linkdevice?uuid=fake{:04}&pub_key=BXFha2VLZXk%3D", state.serial());
    state.links.insert(uri.clone(), false);
    json!({ "deviceLinkUri": uri })
}

/// Waits until the code is scanned; then the daemon has one more account.
pub(super) async fn finish_link(shared: &Shared, call: &Call) -> Outcome {
    let uri = call.text("deviceLinkUri").unwrap_or_default().to_owned();
    if !shared.lock().links.contains_key(&uri) {
        return Err(Refusal::user("Unknown link uri"));
    }
    shared.until(|| shared.lock().links.get(&uri) == Some(&true)).await;
    shared.change(|state| {
        state.links.remove(&uri);
        if !state.accounts.iter().any(|number| number == OWN_NUMBER) {
            state.accounts.push(OWN_NUMBER.to_owned());
        }
    });
    Ok(json!({ "number": OWN_NUMBER }))
}

fn subscribe(state: &mut State, call: &Call) -> Outcome {
    let Via::Line(connection) = call.via else {
        return Err(Refusal::new(-32601, "Method not implemented"));
    };
    if let Some(account) = call.text("account")
        && !state.has_account(account)
    {
        return Err(Refusal::new(-32602, "Specified account does not exist"));
    }
    let account = call.text("account").map(|_| OWN_NUMBER.to_owned());
    Ok(json!(state.subscribe(Subscription { connection, account, is_answered: false })))
}

fn unsubscribe(state: &mut State, call: &Call) -> Outcome {
    let id = call.int("subscription").and_then(|id| u64::try_from(id).ok());
    match id.and_then(|id| state.subscriptions.remove(&id)) {
        Some(_) => Ok(json!({})),
        None => Err(Refusal::user("Unknown subscription id")),
    }
}

/// Refuses `receive` while a subscription exists.
fn receive(state: &mut State) -> Outcome {
    if !state.subscriptions.is_empty() {
        return Err(Refusal::user("Receive command cannot be used if messages are already being received."));
    }
    Ok(state.queue.drain(..).map(|queued| queued.body).collect())
}

/// Chats of a request: people, groups, ourselves. Rejects an unknown address as an error of the
/// sender.
pub(super) fn chats(state: &State, call: &Call) -> Result<Vec<ChatId>, Refusal> {
    let mut chats = Vec::new();
    for group in call.list("groupId") {
        let chat = state.group_named(&group).filter(|chat| state.groups.get(chat).is_some_and(|group| group.has_us));
        chats.push(chat.ok_or_else(|| Refusal::user("User is not in the group"))?);
    }
    for who in call.list("recipient") {
        let is_address = who.starts_with('+') || who.starts_with("PNI:") || who.starts_with("u:") || who.len() == 36;
        if !is_address {
            return Err(Refusal::user("Invalid phone number"));
        }
        // A person without an account gets a reserved chat number, so that the result can report
        // it.
        chats.push(state.who(&who).unwrap_or(i64::MAX));
    }
    if call.flag("noteToSelf") {
        chats.push(0);
    }
    if chats.is_empty() { Err(Refusal::user("No recipients given")) } else { Ok(chats) }
}

fn send_typing(state: &mut State, call: &Call) -> Outcome {
    let now = state.now_ms();
    for chat in chats(state, call)? {
        state.typing.entry(chat).or_default().push((now, !call.flag("stop")));
    }
    Ok(json!({ "timestamp": now, "results": [] }))
}

fn send_reaction(state: &mut State, call: &Call) -> Outcome {
    let target = call.int("targetTimestamp").ok_or_else(|| Refusal::user("No target"))?;
    let emoji = call.text("emoji").ok_or_else(|| Refusal::user("No emoji"))?;
    let author = call.text("targetAuthor").ok_or_else(|| Refusal::user("No target author"))?.to_owned();
    for chat in chats(state, call)? {
        if !state.was_written_by(chat, target, &author) {
            state.violate(Some(chat), "a reaction to what nobody wrote");
        }
        if call.flag("remove") {
            state.reactions.remove(&(chat, target));
        } else {
            state.reactions.insert((chat, target), emoji.to_owned());
        }
    }
    Ok(json!({ "timestamp": state.stamp(0), "results": [] }))
}

fn send_receipt(state: &mut State, call: &Call) -> Outcome {
    let kind = call.text("type").unwrap_or("read").to_owned();
    let targets: Vec<MessageId> = match call.param("targetTimestamp") {
        Some(Value::Array(all)) => all.iter().filter_map(Value::as_i64).collect(),
        one => one.and_then(Value::as_i64).into_iter().collect(),
    };
    if targets.is_empty() || call.list("recipient").len() != 1 {
        return Err(Refusal::user("A receipt has one recipient and at least one target"));
    }
    for person in chats(state, call)? {
        for target in &targets {
            if !state.received.iter().any(|((_, message), (author, _))| message == target && *author == person) {
                state.violate(Some(person), "a receipt for what they did not write");
            }
            state.receipts.entry(person).or_default().push((kind.clone(), *target));
        }
    }
    Ok(json!({ "timestamp": state.now_ms(), "results": [] }))
}

fn remote_delete(state: &mut State, call: &Call) -> Outcome {
    let target = call.int("targetTimestamp").ok_or_else(|| Refusal::user("No target"))?;
    for chat in chats(state, call)? {
        let found = state.sent.iter_mut().find(|sent| sent.chat == chat && sent.is_named(target));
        let Some(sent) = found else {
            state.violate(Some(chat), "deletes what was never sent");
            continue;
        };
        sent.deleted = true;
        let sent = sent.clone();
        state.record(crate::support::fake::AcceptedKind::Delete, &sent);
    }
    Ok(json!({ "timestamp": state.stamp(0), "results": [] }))
}

fn list_groups(state: &State, call: &Call) -> Value {
    let wanted = call.list("groupId");
    let groups = state.groups.iter().filter(|(id, _)| wanted.is_empty() || wanted.contains(&group_id(**id)));
    let member = |person: &i64| json!({ "number": number(*person), "uuid": uuid(*person) });
    let shown = groups.map(|(id, group)| {
        json!({
            "id": group_id(*id), "name": group.title, "description": "", "isMember": group.has_us, "isBlocked": false,
            "messageExpirationTime": 0, "members": group.members.iter().map(member).collect::<Vec<_>>(),
            "pendingMembers": [], "requestingMembers": [], "admins": [], "banned": [], "groupInviteLink": null,
        })
    });
    shown.collect()
}

fn get_attachment(state: &State, call: &Call) -> Outcome {
    if call.list("recipient").is_empty() && call.list("groupId").is_empty() {
        return Err(Refusal::user("Either recipient or groupId must be given"));
    }
    let bytes = state.files.get(call.text("id").unwrap_or_default());
    let bytes = bytes.ok_or_else(|| Refusal::new(-32603, "Could not find attachment"))?;
    Ok(json!({ "data": STANDARD.encode(bytes) }))
}
