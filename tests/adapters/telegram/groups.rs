//! Groups and topics, emoji, and outgoing files.

use compline::message::{ChatKind, FileKind, OutgoingFile};

use super::*;

/// A group with topics in which Ada speaks.
const CLUB: i64 = -100_200;

fn group(addressed: bool) -> ChatKind {
    ChatKind::Group { chat: CLUB.to_string(), addressed }
}

#[tokio::test]
async fn in_a_group_it_is_heard_who_is_meant() {
    let scene = Scene::new().await;
    scene.fake.forum(CLUB, "Club");
    scene.bot.connect().await.unwrap();
    let ours = scene.bot.send(&CLUB.to_string(), &piece("Good evening"), PartFormat::Rich).await.unwrap();
    let number = scene.fake.sent(CLUB)[0].message_id;
    scene.fake.says_in(CLUB, ADA, "only talk");
    scene.fake.says_in(CLUB, ADA, "@Compline_test_bot hello");
    scene.fake.says_in(CLUB, ADA, "/help@compline_test_bot");
    scene.fake.says_in(CLUB, ADA, "/help@another_bot");
    scene.fake.from(ADA).in_chat(CLUB).reply_to(number).text("thanks").send();
    scene.fake.from(ADA).in_chat(CLUB).in_topic(4).text("in a topic").send();
    let heard = scene.hears(None).await;
    let words = |inbound: &Inbound| match &inbound.event {
        Event::Message(said) => said.text.clone(),
        other => format!("{other:?}"),
    };
    let table: Vec<(String, ChatKind)> =
        heard.iter().map(|inbound| (words(inbound), inbound.chat_kind.clone())).collect();
    let expected = [
        ("only talk", false),
        ("hello", true),
        ("/help", true),
        ("Irrelevant", false),
        ("thanks", true),
        ("in a topic", false),
    ];
    assert_eq!(table, expected.map(|(words, addressed)| (words.to_owned(), group(addressed))));
    assert_eq!((heard[0].peer.as_str(), heard[5].peer.as_str()), ("-100200", "-100200/4"));
    let Event::Message(said) = &heard[4].event else { unreachable!() };
    assert!(matches!(&said.quote, Some(Quote::Message { external_id, .. }) if *external_id == ours));
}

#[tokio::test]
async fn before_telegram_was_asked_only_answers_and_links_to_us_are_known() {
    let scene = Scene::new().await;
    scene.fake.group(CLUB, "Club");
    scene.fake.says_in(CLUB, ADA, "@compline_test_bot hello");
    assert_eq!(scene.hears(None).await[0].chat_kind, group(false));
    scene.bot.connect().await.unwrap();
    assert_eq!(scene.hears(None).await[0].chat_kind, group(true));
}

#[tokio::test]
async fn an_answer_goes_into_the_topic_and_names_its_question() {
    let scene = Scene::new().await;
    scene.fake.forum(CLUB, "Club");
    let asked = scene.fake.from(ADA).in_chat(CLUB).in_topic(4).text("when?").send();
    let heard = scene.hears(None).await.remove(0);
    let answer = OutgoingPart { reply_to: Some(heard.external_id), ..piece("now") };
    let name = scene.bot.send(&heard.peer, &answer, PartFormat::Rich).await.unwrap();
    scene.bot.typing(&heard.peer, Typing::Started).await;
    scene.bot.edit(&heard.peer, &name, &piece("now!"), PartFormat::Rich).await.unwrap();
    let sent = scene.fake.sent(CLUB).remove(0);
    assert_eq!((sent.reply_to, sent.thread_id, sent.text.as_str()), (Some(asked), Some(4), "now!"));
    // The quoted message may be gone, or be in another chat.
    for quotes in [format!("m{CLUB}:9999"), "m7:1".to_owned()] {
        let stray = OutgoingPart { reply_to: Some(quotes), ..piece("well") };
        scene.bot.send(&heard.peer, &stray, PartFormat::Rich).await.unwrap();
        assert_eq!(scene.fake.sent(CLUB).last().unwrap().reply_to, None);
    }
}

#[tokio::test]
async fn a_pause_is_kept_by_the_whole_chat() {
    let scene = Scene::new().await;
    scene.fake.forum(CLUB, "Club");
    scene.fake.flood(CLUB, 7);
    let send = async |peer: &str| scene.bot.send(peer, &piece("x"), PartFormat::Rich).await;
    assert_eq!(send("-100200/4").await, Err(SendError::Wait(Duration::from_secs(7))));
    let calls = scene.fake.calls().len();
    assert_eq!(send("-100200").await, Err(SendError::Wait(Duration::from_secs(7))));
    assert_eq!(scene.fake.calls().len(), calls);
}

#[tokio::test]
async fn a_group_that_was_upgraded_is_followed_from_both_sides() {
    let scene = Scene::new().await;
    let (old, new) = (scene.fake.group(-5, "Small"), -100_500);
    scene.fake.upgrades(old, new, ADA);
    let heard = scene.hears(None).await;
    assert_eq!((heard[0].peer.as_str(), &heard[0].event), ("-5", &Event::Migrated { to: "-100500".to_owned() }));
    assert_eq!((heard[1].peer.as_str(), &heard[1].event), ("-100500", &Event::Irrelevant));
    let moved = Err(SendError::Migrated("-100500".to_owned()));
    assert_eq!(scene.bot.send("-5", &piece("x"), PartFormat::Rich).await, moved);
    assert_eq!(scene.bot.send_file("-5", &file(FileKind::Document, b"x")).await, moved);
}

#[tokio::test]
async fn an_emoji_is_heard_and_put_under_a_message() {
    let (scene, cursor) = Scene::acquainted().await;
    let name = scene.send("Good evening").await.unwrap();
    let number = scene.fake.sent(ADA)[0].message_id;
    scene.fake.reacts(ADA, ADA, number, "👍");
    let heard = scene.hears(Some(&cursor)).await.remove(0);
    assert_eq!(heard.event, Event::Reacted { message: name.clone(), emoji: "👍".to_owned() });
    scene.bot.react("7", &name, "🎉").await.unwrap();
    assert_eq!(scene.fake.reactions(ADA, number), ["🎉"]);
    scene.bot.react("7", &name, "").await.unwrap();
    assert!(scene.fake.reactions(ADA, number).is_empty());
    for gone in ["m8:1", "m7:4000", "nonsense"] {
        assert_eq!(scene.bot.react("7", gone, "🎉").await, Err(SendError::NotFound), "{gone}");
    }
}

fn file(kind: FileKind, bytes: &[u8]) -> OutgoingFile {
    OutgoingFile {
        kind, name: "fünf \"Katzen\"\r\n.png".to_owned(), mime: "image/png".to_owned(), bytes: bytes.into()
    }
}

#[tokio::test]
async fn a_file_is_sent_as_what_it_is_or_as_a_document() {
    let (scene, _) = Scene::acquainted().await;
    scene.fake.strict(false);
    let picture = b"\x89PNG\r\n--x\r\n\0\xff".as_slice();
    let large = [picture, &vec![0; 10 << 20]].concat();
    let table = [
        (FileKind::Photo, picture, "photo"),
        (FileKind::Voice, b"OggS".as_slice(), "voice"),
        (FileKind::Document, b"any".as_slice(), "document"),
        (FileKind::Photo, b"no picture".as_slice(), "document"),
        (FileKind::Photo, &large, "document"),
    ];
    for (kind, bytes, sent_as) in table {
        let name = scene.bot.send_file("7", &file(kind, bytes)).await.unwrap();
        let sent = scene.fake.sent(ADA).pop().unwrap();
        assert_eq!(name, format!("m7:{}", sent.message_id));
        let upload = sent.file.unwrap();
        assert_eq!((upload.kind, upload.mime.as_str()), (sent_as, "image/png"));
        assert!(upload.bytes == bytes && upload.name.starts_with("fünf"), "{}", upload.name);
    }
    let untyped = OutgoingFile { mime: "no type".to_owned(), ..file(FileKind::Document, b"any") };
    scene.bot.send_file("7", &untyped).await.unwrap();
    assert_eq!(scene.fake.sent(ADA).pop().unwrap().file.unwrap().mime, "application/octet-stream");
    scene.fake.drop_after_accept_next(1);
    assert!(matches!(scene.bot.send_file("7", &untyped).await, Err(SendError::OutcomeUnknown(_))));
    let calls = scene.fake.calls().len();
    let huge = file(FileKind::Document, &vec![0; (50 << 20) + 1]);
    assert!(matches!(scene.bot.send_file("7", &huge).await, Err(SendError::Refused(_))));
    assert_eq!(scene.fake.calls().len(), calls, "it was not even tried");
}
