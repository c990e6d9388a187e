//! Arranges a request for the wire formats: instructions first, then alternating sides.
//!
//! Local servers fill a chat template that often supports only one system message, at the very
//! beginning, and requires user and assistant to alternate; the large providers do not mind. So
//! later instructions appear as the program's text on the user's side, and neighbours of one side
//! are joined. Nothing is reordered, so a cached prefix stays the same from call to call.

use super::request::{Message, Request, RequestPart, Role};

/// Maximum number of cache marks that any provider accepts in one request.
const MAX_MARKS: usize = 4;

/// Neighbouring messages of one side.
#[derive(Debug)]
pub(super) struct Turn<'a> {
    pub(super) role: Role,
    pub(super) parts: Vec<MarkedPart<'a>>,
}

/// A part, with a mark if it ends a prefix that a prompt cache may keep.
#[derive(Debug)]
pub(super) struct MarkedPart<'a> {
    pub(super) part: &'a RequestPart,
    pub(super) marked: bool,
}

/// Groups the request into turns.
pub(super) fn of(request: &Request) -> Vec<Turn<'_>> {
    let mut turns: Vec<Turn<'_>> = Vec::new();
    let marks = request.messages().iter().filter(|message| message.ends_cached_stretch()).count();
    let mut surplus = marks.saturating_sub(MAX_MARKS);
    for message in request.messages() {
        let marked = message.ends_cached_stretch() && surplus == 0;
        if message.ends_cached_stretch() {
            surplus = surplus.saturating_sub(1);
        }
        let parts = marked_parts(message, marked);
        if parts.is_empty() {
            continue;
        }
        let beginning = turns.iter().all(|turn| turn.role == Role::System);
        let role = match message.role() {
            Role::System if !beginning => Role::User,
            role => role,
        };
        match turns.last_mut() {
            Some(last) if last.role == role => last.parts.extend(parts),
            _ => turns.push(Turn { role, parts }),
        }
    }
    turns
}

fn marked_parts(message: &Message, marked: bool) -> Vec<MarkedPart<'_>> {
    let mut parts: Vec<MarkedPart<'_>> = message
        .parts()
        .iter()
        .map(|part| part.open().0)
        .filter(|part| !matches!(part, RequestPart::Text(text) if text.trim().is_empty()))
        .map(|part| MarkedPart { part, marked: false })
        .collect();
    if let Some(last) = parts.last_mut() {
        last.marked = marked;
    }
    parts
}

/// Returns arguments as they are sent back: always an object.
///
/// Providers and chat templates parse them, and some fail on anything but an object. So any other
/// value is wrapped as text.
pub(super) fn arguments(written: &str) -> serde_json::Map<String, serde_json::Value> {
    match serde_json::from_str(written) {
        Ok(serde_json::Value::Object(object)) => object,
        _ if written.trim().is_empty() => serde_json::Map::new(),
        _ => serde_json::Map::from_iter([("unreadable".to_owned(), written.into())]),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::model::Purpose;
    use crate::trust::{Label, Labelled, Scope};

    fn request(messages: &[(Role, &str, bool)]) -> Request {
        let mut request = Request::new(Scope::Shared, Purpose::Chat);
        for (role, text, cached) in messages {
            let message = Message::of(*role, Labelled::new(Arc::from(*text), Label::trusted(), Scope::Shared));
            let message = if *cached { message.cached() } else { message };
            request.push(Arc::new(message)).unwrap();
        }
        request
    }

    fn shape(request: &Request) -> String {
        let mut shape = String::new();
        for turn in of(request) {
            shape.push_str(&format!("{:?}:", turn.role).to_lowercase());
            for marked_part in turn.parts {
                let RequestPart::Text(text) = marked_part.part else { panic!() };
                shape.push_str(text);
                if marked_part.marked {
                    shape.push('!');
                }
            }
            shape.push(' ');
        }
        shape.trim_end().to_owned()
    }

    #[test]
    fn neighbours_join_and_late_instructions_are_the_users_side() {
        use Role::{Assistant, System, User};
        let request = request(&[
            (System, "a", false),
            (System, "b", true),
            (User, "c", false),
            (Assistant, "", false),
            (System, "d", false),
            (User, "e", true),
            (Assistant, "f", false),
        ]);
        assert_eq!(shape(&request), "system:ab! user:cde! assistant:f");
    }

    #[test]
    fn only_the_last_four_marks_count() {
        let messages: Vec<_> = ["a", "b", "c", "d", "e", "f"].map(|text| (Role::User, text, true)).into();
        assert_eq!(shape(&request(&messages)), "user:abc!d!e!f!");
    }

    #[test]
    fn arguments_are_always_an_object() {
        let text = |written: &str| serde_json::to_string(&arguments(written)).unwrap();
        assert_eq!(text(r#"{"b":1,"a":2}"#), r#"{"b":1,"a":2}"#);
        assert_eq!(text(" "), "{}");
        assert_eq!(text("{\"a\":"), r#"{"unreadable":"{\"a\":"}"#);
        assert_eq!(text("[1]"), r#"{"unreadable":"[1]"}"#);
    }
}
