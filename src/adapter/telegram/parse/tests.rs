//! Tests of every kind of update, well-formed and hostile.

use super::*;
use crate::message::{Attached, AttachedTextKind, ChatKind, FileKind, Quote};
use proptest::prelude::*;
use serde_json::json;

/// A message of Ada's in her direct chat, with additional fields.
fn from_ada(fields: Value) -> Value {
    let mut message = json!({
        "message_id": 12, "date": 1_795_000_000,
        "from": {"id": 7, "is_bot": false, "first_name": "Ada"},
        "chat": {"id": 7, "type": "private", "first_name": "Ada"},
    });
    merge(&mut message, fields);
    message
}

fn merge(message: &mut Value, fields: Value) {
    let Value::Object(fields) = fields else { unreachable!() };
    message.as_object_mut().unwrap().extend(fields);
}

fn us() -> BotIdentity {
    BotIdentity { id: 42, username: "our_bot".to_owned() }
}

fn parsed(kind: &str, body: Value) -> Inbound {
    parse(&json!({"update_id": 99, kind: body}).to_string(), &us()).unwrap()
}

fn group(chat: &str, addressed: bool) -> ChatKind {
    ChatKind::Group { chat: chat.to_owned(), addressed }
}

fn event(fields: Value) -> Event {
    parsed("message", from_ada(fields)).event
}

fn said_with(fields: Value) -> MessageContent {
    match event(fields) {
        Event::Message(said) => said,
        other => unreachable!("{other:?}"),
    }
}

fn file_of(fields: Value) -> RemoteFile {
    let [file] = said_with(fields).files.try_into().unwrap();
    file
}

fn remote_file(kind: FileKind, reference: &str, mime: &str, name: &str, size: Option<u64>) -> RemoteFile {
    RemoteFile { kind, reference: reference.to_owned(), mime: mime.to_owned(), name: name.to_owned(), size }
}

#[test]
fn a_text_with_all_that_belongs_to_it() {
    let expected = Inbound {
        external_id: "m7:12".to_owned(),
        peer: "7".to_owned(),
        sender: "7".to_owned(),
        alias: None,
        language: String::new(),
        chat_kind: ChatKind::Direct,
        server_at: Some(Timestamp(1_795_000_000_000)),
        event: Event::Message(MessageContent { text: "Hello".to_owned(), ..MessageContent::default() }),
    };
    assert_eq!(parsed("message", from_ada(json!({"text": "Hello"}))), expected);
}

#[test]
fn an_edit_names_what_it_changes() {
    let inbound = parsed("edited_message", from_ada(json!({"text": "Hullo", "edit_date": 1_795_000_060})));
    assert_eq!(inbound.external_id, "e7:12:1795000060");
    assert_eq!(inbound.server_at, Some(Timestamp(1_795_000_060_000)));
    let said = MessageContent { text: "Hullo".to_owned(), ..MessageContent::default() };
    assert_eq!(inbound.event, Event::Edited { message: "m7:12".to_owned(), content: said, new_id: None });
    let moving = parsed("edited_message", from_ada(json!({"location": {}, "edit_date": 1_795_000_061})));
    assert_eq!(moving.event, Event::Irrelevant);
}

#[test]
fn files_of_every_kind() {
    let table = [
        (json!({"voice": {"file_id": "V", "duration": 3}}), remote_file(FileKind::Voice, "V", "audio/ogg", "", None)),
        (
            json!({"document": {"file_id": "D", "file_name": "../a.pdf", "mime_type": "application/pdf", "file_size": 9}}),
            remote_file(FileKind::Document, "D", "application/pdf", "../a.pdf", Some(9)),
        ),
        (json!({"audio": {"file_id": "A"}}), remote_file(FileKind::Audio, "A", "audio/mpeg", "", None)),
        (json!({"video": {"file_id": "F"}}), remote_file(FileKind::Document, "F", "video/mp4", "", None)),
        (json!({"video_note": {"file_id": "N"}}), remote_file(FileKind::Audio, "N", "video/mp4", "", None)),
        (
            json!({"document": {"file_id": "M", "file_name": "talk.m4a", "mime_type": "audio/x-m4a"}}),
            remote_file(FileKind::Audio, "M", "audio/x-m4a", "talk.m4a", None),
        ),
        (
            json!({"document": {"file_id": "G"}, "animation": {"file_id": "G"}}),
            remote_file(FileKind::Document, "G", "video/mp4", "", None),
        ),
    ];
    for (fields, expected) in table {
        assert_eq!(file_of(fields), expected);
    }
}

#[test]
fn a_place_is_text_that_nobody_typed() {
    let place = json!({"latitude": 59.9139, "longitude": -10.752245, "horizontal_accuracy": 12.4});
    let venue = json!({"location": {"latitude": 1, "longitude": 2}, "title": "Café", "address": "1 Nave"});
    for (fields, words) in [
        (json!({"location": place}), "59.913900, -10.752245 (within 12 m)"),
        (json!({"location": {"latitude": 1, "longitude": 2}, "venue": venue}), "Café\n1 Nave\n1.000000, 2.000000"),
        (json!({"venue": {"location": {"latitude": 1, "longitude": 2}, "title": 7}}), "1.000000, 2.000000"),
    ] {
        let place = Attached { kind: AttachedTextKind::Location, text: words.to_owned() };
        assert_eq!(said_with(fields), MessageContent { carried: vec![place], ..MessageContent::default() });
    }
}

#[test]
fn the_largest_photo_that_can_be_fetched() {
    let size =
        |id: &str, side: u32, bytes: u64| json!({"file_id": id, "width": side, "height": side, "file_size": bytes});
    let sizes =
        json!([size("s", 90, 1_000), size("l", 1280, 90_000), size("m", 320, 9_000), size("xl", 9000, 30 << 20)]);
    assert_eq!(file_of(json!({"photo": sizes})), remote_file(FileKind::Photo, "l", "image/jpeg", "", Some(90_000)));
    let caption = said_with(json!({"photo": [size("l", 1, 1)], "caption": "My cat", "media_group_id": "55"}));
    assert_eq!((caption.text.as_str(), caption.album.as_deref()), ("My cat", Some("55")));
    for nothing in [json!([]), json!({}), json!([size("xl", 1, 30 << 20)]), json!([{"width": 4}])] {
        assert_eq!(event(json!({"photo": nothing})), Event::Unsupported("a photo".to_owned()));
    }
}

#[test]
fn marks_of_origin_fail_closed() {
    let user = json!({"id": 8, "is_bot": false, "first_name": "Eve"});
    let forwarded = [
        json!({"forward_origin": {"type": "user", "sender_user": user, "date": 1}}),
        json!({"forward_origin": {"type": "hidden_user", "sender_user_name": "Eve", "date": 1}}),
        json!({"forward_origin": {"type": "chat", "sender_chat": {"id": -1, "type": "group"}, "date": 1}}),
        json!({"forward_origin": {"type": "channel", "chat": {"id": -1, "type": "channel"}, "message_id": 3, "date": 1}}),
        json!({"forward_origin": {"type": "of the future"}}),
        json!({"forward_origin": 5}),
        json!({"forward_date": 5}),
        json!({"forward_sender_name": ""}),
        json!({"is_automatic_forward": true}),
        json!({"forward_origin": {}, "via_bot": user}),
    ];
    for mut fields in forwarded {
        merge(&mut fields, json!({"text": "x"}));
        assert_eq!(said_with(fields.clone()).origin, TextOrigin::Forwarded, "{fields}");
    }
    for via in [json!({"via_bot": user}), json!({"via_bot": 1}), json!({"sender_business_bot": user})] {
        let mut fields = via;
        merge(&mut fields, json!({"text": "x"}));
        assert_eq!(said_with(fields).origin, TextOrigin::ViaBot);
    }
    let plain =
        json!({"text": "x", "forward_origin": null, "is_automatic_forward": false, "has_protected_content": true});
    assert_eq!(said_with(plain).origin, TextOrigin::Typed);
}

#[test]
fn a_forward_names_its_author() {
    let user = json!({"id": 8, "first_name": "Eve", "last_name": "Evans", "username": "eve"});
    for (mut fields, name) in [
        (json!({"forward_origin": {"type": "user", "sender_user": user}}), "Eve Evans"),
        (json!({"forward_origin": {"type": "hidden_user", "sender_user_name": "Tomas"}}), "Tomas"),
        (json!({"forward_origin": {"type": "chat", "sender_chat": {"id": -1, "title": "Movers"}}}), "Movers"),
        (json!({"forward_origin": {"type": "channel", "chat": {"id": -1, "title": "News"}}}), "News"),
        (json!({"forward_from": user, "forward_date": 1}), "Eve Evans"),
        (json!({"forward_sender_name": "Tomas", "forward_date": 1}), "Tomas"),
        (json!({"forward_from_chat": {"id": -1, "title": "News"}, "forward_date": 1}), "News"),
        (json!({"forward_origin": {"type": "of the future"}}), ""),
        (json!({"forward_origin": {"type": "user", "sender_user": {"first_name": 5}}}), ""),
        (json!({"forward_origin": 5}), ""),
        (json!({}), ""),
    ] {
        merge(&mut fields, json!({"text": "x"}));
        assert_eq!(said_with(fields.clone()).forwarded_from, name, "{fields}");
    }
}

#[test]
fn quotes_of_this_chat_and_from_elsewhere() {
    let quote = |fields: Value| {
        let mut all = json!({"text": "why?"});
        merge(&mut all, fields);
        said_with(all).quote
    };
    let here = |text: &str| Some(Quote::Message { external_id: "m7:10".to_owned(), text: text.to_owned() });
    let elsewhere = |text: &str| Some(Quote::Elsewhere { text: text.to_owned() });
    let replied = json!({"message_id": 10, "date": 1, "chat": {"id": 7, "type": "private"}, "text": "All of it."});
    let foreign = json!({"message_id": 10, "chat": {"id": 8, "type": "private"}, "text": "Theirs."});
    let piece = json!({"text": "of it", "position": 4});
    let table = [
        (json!({}), None),
        (json!({"reply_to_message": replied}), here("All of it.")),
        (json!({"reply_to_message": replied, "quote": piece}), here("of it")),
        (json!({"reply_to_message": {"message_id": 10, "caption": "Below."}}), here("Below.")),
        (json!({"reply_to_message": {"message_id": 10, "photo": []}}), here("")),
        (json!({"reply_to_message": foreign}), elsewhere("Theirs.")),
        (json!({"reply_to_message": {"text": "no id"}}), elsewhere("no id")),
        (json!({"reply_to_message": 4}), elsewhere("")),
        (json!({"external_reply": {"origin": {"type": "hidden_user"}}, "quote": piece}), elsewhere("of it")),
        (json!({"external_reply": {}}), elsewhere("")),
        (json!({"reply_to_story": {}}), elsewhere("")),
        (json!({"quote": piece}), elsewhere("of it")),
    ];
    for (fields, expected) in table {
        assert_eq!(quote(fields.clone()), expected, "{fields}");
    }
}

#[test]
fn unsupported_and_irrelevant_telegram_content_is_recognised() {
    let unsupported = |word: &str| Event::Unsupported(word.to_owned());
    let table = [
        (json!({"contact": {}}), unsupported("a contact")),
        (json!({"location": {}, "venue": {}}), unsupported("a place")),
        (json!({"location": {}}), unsupported("a location")),
        (json!({"location": {"latitude": "x", "longitude": 1}}), unsupported("a location")),
        (json!({"poll": {"question": 4}}), unsupported("a poll")),
        (json!({"dice": {}}), unsupported("a dice")),
        (json!({"game": {}}), unsupported("a game")),
        (json!({"invoice": {}}), unsupported("an invoice")),
        (json!({"story": {}}), unsupported("a story")),
        (json!({"paid_media": {}}), unsupported("paid media")),
        (json!({"sticker": {"file_id": "S"}}), unsupported("a sticker")),
        (
            json!({"sticker": {"file_id": "S", "emoji": "👍"}}),
            Event::Message(MessageContent { text: "👍".to_owned(), ..MessageContent::default() }),
        ),
        (json!({}), unsupported("something of a kind that bots cannot see")),
        (json!({"forward_origin": {}}), unsupported("something of a kind that bots cannot see")),
        (json!({"new_chat_members": []}), Event::Irrelevant),
        (json!({"pinned_message": {}}), Event::Irrelevant),
        (json!({"migrate_to_chat_id": -1001}), Event::Migrated { to: "-1001".to_owned() }),
        (json!({"migrate_from_chat_id": -5}), Event::Irrelevant),
        (json!({"text": ""}), Event::Irrelevant),
        (json!({"of_the_future": {}}), Event::Irrelevant),
    ];
    for (fields, expected) in table {
        assert_eq!(event(fields.clone()), expected, "{fields}");
    }
}

#[test]
fn only_a_plainly_private_chat_is_direct() {
    for (kind, place) in [
        (json!("private"), ChatKind::Direct),
        (json!("group"), group("-5", false)),
        (json!("supergroup"), group("-5", false)),
        (json!("channel"), group("-5", false)),
        (json!("of the future"), group("-5", false)),
        (json!(null), group("-5", false)),
        (json!(true), group("-5", false)),
    ] {
        let message = from_ada(json!({"text": "x", "chat": {"id": -5, "type": kind}}));
        let inbound = parsed("message", message);
        assert_eq!((inbound.chat_kind, inbound.peer.as_str(), inbound.sender.as_str()), (place, "-5", "7"));
    }
    let anonymous = from_ada(json!({"text": "x", "chat": {"id": -5, "type": "group"}, "sender_chat": {"id": -5}}));
    assert_eq!(parsed("message", anonymous).sender, "-5");
    let post = json!({"message_id": 1, "date": 1, "chat": {"id": -6, "type": "channel"}, "text": "x"});
    assert_eq!(parsed("channel_post", post).sender, "-6");
}

#[test]
fn a_topic_of_a_direct_chat_is_part_of_the_address() {
    let inbound = parsed("message", from_ada(json!({"text": "x", "message_thread_id": 77, "is_topic_message": true})));
    assert_eq!((inbound.chat_kind, inbound.peer.as_str(), inbound.sender.as_str()), (ChatKind::Direct, "7/77", "7"));
    assert_eq!(
        parsed("message", from_ada(json!({"text": "x", "message_thread_id": 77}))).peer,
        "7",
        "a thread of replies"
    );
}

#[test]
fn the_address_behind_a_word_comes_with_the_message() {
    let link = |offset: u64, length: u64, url: &str| json!({"type": "text_link", "offset": offset, "length": length, "url": url});
    let carried = |text: &str, link: Value| said_with(json!({"text": text, "entities": [link]})).carried;
    let expected = |text: &str| vec![Attached { kind: AttachedTextKind::Link, text: text.to_owned() }];
    let url = "https://example.org/a?b=c";
    assert_eq!(carried("Read this article?", link(10, 7, url)), expected("article: https://example.org/a?b=c"));
    assert_eq!(carried("👨‍👩‍👧 here", link(9, 4, url)), expected("here: https://example.org/a?b=c"), "in UTF-16 units");
    assert_eq!(carried("example.org/", link(0, 12, "example.org")), [], "the words say it");
    assert_eq!(carried("short", link(3, 900, url)), [], "out of the text");
    let photo = json!({"caption": "see", "photo": [], "caption_entities": [link(0, 3, url)], "text": null});
    assert_eq!(said_with(photo).carried, expected("see: https://example.org/a?b=c"));
}

/// A message of Ada's in a forum, with additional fields.
fn in_forum(fields: Value) -> Value {
    let mut message = from_ada(json!({"chat": {"id": -1005, "type": "supergroup", "is_forum": true}}));
    merge(&mut message, fields);
    message
}

#[test]
fn a_topic_is_part_of_the_address_and_not_of_the_group() {
    let peer = |fields| {
        let inbound = parsed("message", in_forum(fields));
        assert_eq!(inbound.chat_kind, group("-1005", false));
        inbound.peer
    };
    assert_eq!(peer(json!({"text": "x", "message_thread_id": 3, "is_topic_message": true})), "-1005/3");
    assert_eq!(peer(json!({"text": "x"})), "-1005", "the general topic");
    assert_eq!(peer(json!({"text": "x", "message_thread_id": 3})), "-1005", "a thread of replies");
    let root = json!({"message_id": 3, "from": {"id": 42}, "forum_topic_created": {"name": "Garden"}});
    let said = json!({"text": "x", "message_thread_id": 3, "is_topic_message": true, "reply_to_message": root});
    let inbound = parsed("message", in_forum(said));
    assert_eq!(inbound.chat_kind, group("-1005", false), "everything there names the beginning of the topic");
    let Event::Message(said) = inbound.event else { unreachable!() };
    assert_eq!(said.quote, None);
}

#[test]
fn a_group_message_shows_if_the_bot_is_addressed() {
    let named = json!([{"type": "mention", "offset": 0, "length": 8}]);
    let inbound = parsed("message", in_forum(json!({"text": "@our_bot hi", "entities": named})));
    assert_eq!(inbound.chat_kind, group("-1005", true));
    assert_eq!(inbound.event, Event::Message(MessageContent { text: "hi".to_owned(), ..MessageContent::default() }));
    let edit = in_forum(json!({"text": "@our_bot ho", "entities": named, "edit_date": 5}));
    let said = MessageContent { text: "ho".to_owned(), ..MessageContent::default() };
    assert_eq!(
        parsed("edited_message", edit).event,
        Event::Edited { message: "m-1005:12".to_owned(), content: said, new_id: None }
    );
    let theirs = json!({
        "text": "/stop@their_bot", "entities": [{"type": "bot_command", "offset": 0, "length": 15}],
        "reply_to_message": {"message_id": 5, "from": {"id": 42}},
    });
    assert_eq!(parsed("message", in_forum(theirs.clone())).event, Event::Irrelevant);
    assert!(matches!(event(theirs), Event::Message(_)), "nobody else is there");
}

#[test]
fn a_reaction_names_its_message_and_the_newest_emoji() {
    let emoji = |name: &str| json!({"type": "emoji", "emoji": name});
    let custom = json!({"type": "custom_emoji", "custom_emoji_id": "5"});
    let reaction = |old: Value, new: Value| {
        json!({
            "chat": {"id": -5, "type": "group"}, "message_id": 12, "user": {"id": 7}, "date": 1_795_000_000,
            "old_reaction": old, "new_reaction": new,
        })
    };
    let table = [
        (json!([]), json!([emoji("a")]), "a"),
        (json!([emoji("a")]), json!([emoji("b"), emoji("a")]), "b"),
        (json!([emoji("a"), emoji("b")]), json!([emoji("a")]), "a"),
        (json!([emoji("a")]), json!([]), ""),
        (json!([]), json!([custom]), ""),
        (json!(null), json!(5), ""),
    ];
    for (old, new, newest) in table {
        let inbound = parsed("message_reaction", reaction(old, new));
        assert_eq!(inbound.event, Event::Reacted { message: "m-5:12".to_owned(), emoji: newest.to_owned() });
        let names = (inbound.external_id.as_str(), inbound.peer.as_str(), inbound.sender.as_str());
        assert_eq!((names, inbound.chat_kind), (("u99", "-5", "7"), group("-5", false)));
    }
    let mut anonymous = reaction(json!([]), json!([emoji("a")]));
    anonymous.as_object_mut().unwrap().remove("user");
    merge(&mut anonymous, json!({"actor_chat": {"id": -5}}));
    assert_eq!(parsed("message_reaction", anonymous).event, Event::Irrelevant);
}

#[test]
fn a_contact_and_a_poll_are_carried_and_not_typed() {
    let carried = |fields| {
        let said = said_with(fields);
        assert_eq!(said.text, "");
        said.carried
    };
    let one = |what, text: &str| vec![Attached { kind: what, text: text.to_owned() }];
    let ben = json!({"first_name": "Ben", "last_name": "Ott", "phone_number": "+43 1", "vcard": "BEGIN"});
    assert_eq!(carried(json!({"contact": ben})), one(AttachedTextKind::Contact, "Ben Ott, +43 1"));
    assert_eq!(carried(json!({"contact": {"phone_number": "1"}})), one(AttachedTextKind::Contact, "1"));
    let poll = json!({"question": "When?", "options": [{"text": "Now"}, {"text": "Later"}, {}]});
    assert_eq!(carried(json!({"poll": poll})), one(AttachedTextKind::Poll, "When?\n- Now\n- Later"));
    let closed = parsed("edited_message", from_ada(json!({"poll": poll, "edit_date": 5})));
    assert_eq!(closed.event, Event::Irrelevant);
}

#[test]
fn a_button_press_is_attributed_to_its_sender() {
    let ours =
        json!({"message_id": 3, "date": 5, "from": {"id": 42, "is_bot": true}, "chat": {"id": 7, "type": "private"}});
    let press = json!({"id": "CB", "from": {"id": 7}, "message": ours, "data": "yes 4", "chat_instance": "1"});
    let expected = Inbound {
        external_id: "cCB".to_owned(),
        peer: "7".to_owned(),
        sender: "7".to_owned(),
        alias: None,
        language: String::new(),
        chat_kind: ChatKind::Direct,
        server_at: None,
        event: Event::Button { data: "yes 4".to_owned(), callback: "CB".to_owned() },
    };
    assert_eq!(parsed("callback_query", press), expected);
    // Without a message the chat is unknown, without data there is nothing to do.
    let unknown_chat = parsed("callback_query", json!({"id": "CB", "from": {"id": 7}, "data": "x"}));
    assert_eq!((unknown_chat.event, unknown_chat.peer.as_str()), (Event::Irrelevant, "7"));
    let game = json!({"id": "CB", "from": {"id": 7}, "message": ours, "game_short_name": "g"});
    assert_eq!(parsed("callback_query", game).event, Event::Irrelevant);
}

#[test]
fn kinds_that_do_not_concern_us_keep_their_number() {
    let member = parsed("my_chat_member", json!({"chat": {"id": 7, "type": "private"}, "from": {"id": 7}}));
    assert_eq!((member.external_id.as_str(), member.peer.as_str(), member.chat_kind), ("u99", "7", ChatKind::Direct));
    for (kind, body) in [("poll_answer", json!({})), ("message", json!(null)), ("message", json!({"text": "x"}))] {
        let inbound = parsed(kind, body);
        assert_eq!((inbound.external_id.as_str(), inbound.event), ("u99", Event::Irrelevant));
    }
}

#[test]
fn a_huge_text_is_kept_whole() {
    let text = "\u{1f600}".repeat(1 << 20);
    assert_eq!(said_with(json!({"text": text})).text, text);
}

#[test]
fn the_corpus_is_understood() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/corpus/telegram");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let result = parse(&std::fs::read_to_string(&path).unwrap(), &us());
        assert_eq!(result.is_err(), name.starts_with("unreadable-"), "{name}");
        count += 1;
    }
    assert!(count >= 10, "the corpus is missing");
}

/// Any JSON, with known and unknown field names.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
        Just(json!("private")),
    ];
    let name = prop::sample::select(vec![
        "id",
        "type",
        "text",
        "caption",
        "from",
        "chat",
        "message_id",
        "date",
        "edit_date",
        "sender_chat",
        "photo",
        "file_id",
        "file_size",
        "width",
        "voice",
        "document",
        "sticker",
        "emoji",
        "poll",
        "data",
        "message",
        "reply_to_message",
        "quote",
        "external_reply",
        "forward_origin",
        "via_bot",
        "media_group_id",
        "entities",
        "offset",
        "length",
        "contact",
        "is_topic_message",
        "message_thread_id",
        "new_reaction",
        "user",
        "new",
    ]);
    leaf.prop_recursive(4, 64, 8, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((name.clone(), inner), 0..8)
                .prop_map(|fields| fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()),
        ]
    })
}

fn any_kind() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "message",
        "edited_message",
        "channel_post",
        "callback_query",
        "message_reaction",
        "my_chat_member",
        "new",
    ])
}

proptest! {
    #[test]
    fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = parse(&String::from_utf8_lossy(&bytes), &us());
    }

    #[test]
    fn any_update_with_a_number_is_understood(kind in any_kind(), body in any_json(), id in any::<i64>()) {
        let raw = json!({"update_id": id, kind: body}).to_string();
        let first = parse(&raw, &us());
        prop_assert!(first.is_ok(), "{}", raw);
        prop_assert_eq!(first, parse(&raw, &us()));
    }

    /// With any other fields in a message, its text arrives, and counts as typed only without a
    /// mark.
    #[test]
    fn a_text_survives_any_other_field(body in any_json(), typed in ".{1,40}") {
        let mut fields = match body { Value::Object(fields) => Value::Object(fields), _ => json!({}) };
        merge(&mut fields, json!({
            "message_id": 12, "chat": {"id": 7, "type": "private"}, "from": {"id": 7}, "text": typed,
        }));
        fields.as_object_mut().unwrap().remove("sender_chat");
        let marked = ["forward_origin", "via_bot"].iter().any(|mark| fields.get(mark).is_some_and(is_there));
        let inbound = parsed("message", fields);
        let Event::Message(said) = inbound.event else { unreachable!() };
        prop_assert_eq!(said.text, typed);
        prop_assert_eq!(said.origin == TextOrigin::Typed, !marked);
        // In a chat with topics, the topic is part of the address.
        prop_assert!(inbound.peer == "7" || inbound.peer.starts_with("7/"), "{}", inbound.peer);
        prop_assert_eq!(inbound.sender.as_str(), "7");
    }
}

#[test]
fn fuzzed() {
    let seeds = crate::fuzz::seeds_in("telegram");
    crate::fuzz::target("telegram", &seeds, |bytes| parse(&String::from_utf8_lossy(bytes), &us()).ok());
}
