//! Tests of the fake with the library of the product: the fake parses its encoding, and the library
//! parses every update.

use serde_json::json;
use teloxide_core::Bot;
use teloxide_core::payloads::{EditMessageTextSetters, GetUpdatesSetters, SendMessageSetters, SetMyCommandsSetters};
use teloxide_core::requests::Requester;
use teloxide_core::types::{
    BotCommand, BotCommandScope, ChatAction, ChatId, InlineKeyboardButton, InlineKeyboardMarkup, LinkPreviewOptions,
    MessageId, ParseMode, ReplyParameters, Update, UpdateKind,
};

use super::{ADA, BotClient, why};

const CLUB: i64 = -100_200;

#[tokio::test]
async fn every_kind_of_update_is_one_that_the_library_can_read() {
    let desk = BotClient::open().await;
    let fake = &desk.fake;
    fake.person(8, "Bea", None);
    fake.forum(CLUB, "Club");
    let hello = fake.says(ADA, "/start@compline_test_bot now");
    let answer = desk.send("ours").await["result"]["message_id"].as_i64().unwrap();
    fake.replies(ADA, hello, "to myself");
    fake.replies(ADA, answer, "to the bot");
    fake.sends_photo(ADA, "look", b"jpeg");
    fake.sends_document(ADA, "../a.pdf", "application/pdf", b"%PDF");
    fake.sends_voice(ADA, 3, b"ogg");
    fake.sends_sticker(ADA, "🙂");
    fake.album(ADA, "three", &[b"1", b"2", b"3"]);
    fake.edits(ADA, hello, "/stop");
    fake.forwards(ADA, 8, "from Bea");
    fake.forwards_hidden(ADA, "Nobody", "from nobody");
    fake.from(ADA).forwarded_from_channel(-100_300, "News").text("news").send();
    fake.from(ADA).via_bot("gif").text("via").send();
    fake.from(ADA).reply_to(answer).quote("our").text("quoting").send();
    fake.from(ADA).external_quote("Cy", "elsewhere").text("and this?").send();
    fake.from(ADA).link_preview("https://e.org").text("https://e.org").send();
    fake.from(ADA).contact("Cy", "+49").send();
    fake.from(ADA).location(52.5, 13.4).send();
    fake.from(ADA).poll("Tea?", &["yes", "no"]).send();
    fake.says_in(CLUB, ADA, "@compline_test_bot hi");
    fake.from(ADA).in_chat(CLUB).in_topic(4).text("in a topic").send();
    let callback = fake.presses(ADA, answer, "yes:1");
    fake.blocks(ADA);
    fake.unblocks(ADA);
    fake.adds_bot(CLUB, ADA);
    fake.removes_bot(CLUB, ADA);
    fake.channel_post(-100_300, "News", "posted");
    fake.upgrades(fake.group(-5, "Small"), -100_500, ADA);
    let raw = desk.call("getUpdates", json!({})).await["result"].clone();
    for update in raw.as_array().unwrap() {
        let parsed: Update = serde_json::from_str(&update.to_string()).unwrap();
        assert!(!matches!(parsed.kind, UpdateKind::Error(_)), "{update}");
        if let UpdateKind::Message(message) = &parsed.kind {
            assert!(message.chat.id.0 != 0 && message.date.timestamp() > 0);
        }
    }
    assert_eq!(raw.as_array().unwrap().len(), fake.unacked());
    let file = raw[4]["message"]["document"]["file_id"].clone();
    let path = desk.call("getFile", json!({ "file_id": file })).await["result"]["file_path"].clone();
    let path = path.as_str().unwrap().replace('/', "%2F");
    let url = format!("{}/file/bot{}/{path}", fake.url(), fake.token());
    assert_eq!(desk.client.get(url).send().await.unwrap().text().await.unwrap(), "%PDF");
    let done = json!({ "callback_query_id": callback, "text": "done" });
    assert_eq!(desk.call("answerCallbackQuery", done.clone()).await["ok"], true);
    assert!(why(&desk.call("answerCallbackQuery", done).await).contains("query is too old"));
    assert_eq!(fake.callback_answers()[0].text, "done");
}

#[tokio::test]
async fn the_library_is_understood() {
    let desk = BotClient::open().await;
    let bot = Bot::new(desk.fake.token()).set_api_url(desk.fake.url().parse().unwrap());
    let hello = desk.fake.says(ADA, "hello");
    assert_eq!(bot.get_me().await.unwrap().username(), desk.fake.bot_username());
    let updates = bot.get_updates().offset(0).timeout(0).await.unwrap();
    assert!(matches!(&updates[0].kind, UpdateKind::Message(message) if message.text() == Some("hello")));
    let preview = LinkPreviewOptions {
        is_disabled: true,
        url: None,
        prefer_small_media: false,
        prefer_large_media: false,
        show_above_text: false,
    };
    let keyboard = InlineKeyboardMarkup::new([[InlineKeyboardButton::callback("Yes", "yes:1")]]);
    let request = bot.send_message(ChatId(ADA), "<b>hi</b> &amp; bye").parse_mode(ParseMode::Html);
    let request = request.reply_parameters(ReplyParameters::new(MessageId(i32::try_from(hello).unwrap())));
    let message = request.link_preview_options(preview).reply_markup(keyboard).await.unwrap();
    assert_eq!(message.text(), Some("hi & bye"));
    bot.edit_message_text(ChatId(ADA), message.id, "<i>later</i>").parse_mode(ParseMode::Html).await.unwrap();
    bot.send_chat_action(ChatId(ADA), ChatAction::Typing).await.unwrap();
    let scope = BotCommandScope::Chat { chat_id: ChatId(ADA).into() };
    bot.set_my_commands([BotCommand::new("help", "What I can do")]).scope(scope).await.unwrap();
    bot.delete_webhook().await.unwrap();
    let sent = &desk.fake.sent(ADA)[0];
    assert_eq!((sent.first_text.as_str(), sent.text.as_str(), sent.reply_to), ("hi & bye", "later", Some(hello)));
    assert!(!sent.link_preview_disabled, "an edit without options brings previews back");
    assert_eq!(desk.fake.typing(ADA), 1);
    assert_eq!(desk.fake.commands()["chat:7"], [("help".to_owned(), "What I can do".to_owned())]);
    desk.fake.flood(ADA, 7);
    let refused = bot.send_message(ChatId(ADA), "again").await.unwrap_err();
    assert!(matches!(refused, teloxide_core::RequestError::RetryAfter(after) if after.seconds() == 7));
    desk.fake.block(ADA);
    let blocked = bot.send_message(ChatId(ADA), "x").await.unwrap_err();
    assert!(matches!(blocked, teloxide_core::RequestError::Api(teloxide_core::ApiError::BotBlocked)));
}
