//! Pictures of earlier turns: kept under a name with an extension, shown again when the assistant
//! reads them, to their own party alone.

use compline::model::{ModelInfo, Request, RequestPart};
use compline::trust::Scope;
use serde_json::json;

use crate::support::every_channel::{Story, TestChannel, on_every_channel};
use crate::support::model::{Say, Scripted, words};
use crate::support::story::{ADA, BEN, canary};

on_every_channel! {
    stories:
        an_earlier_picture_is_shown_again_by_its_path,
        nobody_elses_picture_is_shown_and_none_that_is_gone,
        a_picture_put_into_the_folder_by_hand_is_from_outside,
        at_most_five_pictures_are_shown_in_a_turn_and_no_huge_one,
        a_picture_is_kept_for_a_model_that_can_see_it;
}

const PICTURE: &[u8] = b"\x89PNG\r\n\x1a\n a garden";

/// Labels and bytes of the pictures in a request.
fn pictures(request: &Request) -> Vec<(String, Vec<u8>)> {
    let parts = request.messages().iter().flat_map(|message| message.parts());
    let pictures = parts.filter_map(|part| match part.open().0 {
        RequestPart::Image { bytes, .. } => Some((part.label().encode(), bytes.to_vec())),
        _ => None,
    });
    pictures.collect()
}

/// The path under which the newest received file is kept, as its owner sees it.
fn kept_as(story: &Story) -> String {
    let path = story.text("SELECT path FROM attachments ORDER BY id DESC LIMIT 1");
    path[path.find("inbox/").unwrap()..].to_owned()
}

/// Lets the assistant read a path; returns its requests and the result of the call.
async fn reads(story: &Story, person: i64, path: &str) -> (Vec<Request>, String) {
    let before = story.model.asked();
    story.model.calls("read_file", json!({ "path": path })).says("I looked.");
    story.say(person, "look at it again").await;
    let requests = story.model.requests_since(before);
    let prompt = words(requests.last().unwrap());
    (requests, prompt.rsplit("tool: ").next().unwrap_or_default().to_owned())
}

/// Promise (files/pictures): A picture that you sent earlier can be shown to the assistant again,
/// by the name under which it is kept; it is shown to no one else's assistant.
async fn an_earlier_picture_is_shown_again_by_its_path(channel: TestChannel) {
    let mut story = channel.begin_story().await;
    story.fake.sends_photo(ADA, &format!("our garden {}", canary(ADA)), PICTURE);
    story.answered().await;
    let path = kept_as(&story);
    assert_eq!(path, "inbox/1-photo.png");
    assert!(story.model.last_prompt().contains("It is kept as inbox/1-photo.png.)"), "{}", story.model.last_prompt());
    story.say(ADA, "/new").await;
    story.restart().await;
    let (requests, given) = reads(&story, ADA, &path).await;
    assert!(pictures(&requests[0]).is_empty() && requests[0].label().is_trusted());
    assert_eq!(pictures(&requests[1]), [("file:in1".to_owned(), PICTURE.to_vec())]);
    assert!(given.contains("inbox/1-photo.png is a picture (image/png). It stands below."), "{given}");
    assert_eq!(requests[1].label().encode(), "file:in1");
    assert!(requests[1].estimate_tokens() > requests[0].estimate_tokens() + 1_500, "it counts as any picture");
    story.say(ADA, "thank you").await;
    let later = story.model.chats().pop().unwrap();
    assert!(pictures(&later).is_empty() && !later.label().is_trusted(), "its mention stays, and its mark");
    story.end().await;
}

/// Proves: files/pictures
async fn nobody_elses_picture_is_shown_and_none_that_is_gone(channel: TestChannel) {
    let story = channel.begin_story().await;
    story.fake.sends_photo(ADA, &canary(ADA), PICTURE);
    story.answered().await;
    story.fake.sends_photo(BEN, &canary(BEN), PICTURE);
    story.answered().await;
    for (person, path) in [
        (BEN, "inbox/1-photo.png"),
        (BEN, "../../inbox/1-photo.png"),
        (ADA, "people/2-ben/inbox/2-photo.png"),
        (ADA, "inbox/7-photo.png"),
    ] {
        let (requests, given) = reads(&story, person, path).await;
        assert!(pictures(requests.last().unwrap()).is_empty() && !given.contains("stands below"), "{path}: {given}");
    }
    let (requests, _) = reads(&story, BEN, "inbox/2-photo.png").await;
    assert_eq!(pictures(requests.last().unwrap()).len(), 1);
    // Changed while a request showed it.
    let file = story.path_of("inbox/1-photo.png");
    let before = story.model.asked();
    let again = json!({ "path": "inbox/1-photo.png" }).to_string();
    let both = [("read_file".to_owned(), again.clone()), ("read_file".to_owned(), again)];
    story.model.then(Say::Calls(both.to_vec()));
    story.model.otherwise(move |request| match pictures(request).len() {
        0 => Say::Text("Gone.".to_owned()),
        _ => {
            std::fs::write(&file, b"\x89PNG another").unwrap();
            Say::Calls(vec![("list_files".to_owned(), "{}".to_owned())])
        }
    });
    story.say(ADA, "once more").await;
    let shown: Vec<usize> = story.model.requests_since(before).iter().map(|request| pictures(request).len()).collect();
    assert_eq!(shown, [0, 1, 0], "the same picture stands there once, and as it was chosen or not at all");
    story.end().await;
}

/// Proves: files/pictures
async fn a_picture_put_into_the_folder_by_hand_is_from_outside(channel: TestChannel) {
    let story = channel.begin_story().await;
    story.say(ADA, &format!("hello {}", canary(ADA))).await;
    let folder = story.home.join("workspace/images");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("page.png"), PICTURE).unwrap();
    let (requests, _) = reads(&story, ADA, "images/page.png").await;
    assert_eq!(pictures(requests.last().unwrap()).len(), 1);
    assert!(!requests.last().unwrap().label().is_trusted(), "it may be a picture of a page");
    story.end().await;
}

/// Proves: files/pictures
async fn at_most_five_pictures_are_shown_in_a_turn_and_no_huge_one(channel: TestChannel) {
    let story = channel.begin_story().await;
    let folder = story.home.join("workspace/images");
    std::fs::create_dir_all(&folder).unwrap();
    for number in 0..6 {
        std::fs::write(folder.join(format!("{number}.png")), [PICTURE, &[number]].concat()).unwrap();
    }
    std::fs::write(folder.join("huge.png"), [PICTURE, &vec![0; 5_000_000]].concat()).unwrap();
    std::fs::write(folder.join("data.bin"), b"\xfe\xff\0\0").unwrap();
    let paths = ["0", "1", "2", "3", "4", "5", "huge"].map(|name| json!({ "path": format!("images/{name}.png") }));
    let calls = paths.map(|path| ("read_file".to_owned(), path.to_string()));
    story.model.then(crate::support::model::Say::Calls(calls.to_vec())).says("Many.");
    story.say(ADA, &format!("look at all of them {}", canary(ADA))).await;
    let request = story.model.chats().pop().unwrap();
    let prompt = words(&request);
    assert_eq!(pictures(&request).len(), 5);
    assert!(pictures(&request).iter().all(|(label, _)| label != "trusted"), "they may show anything");
    assert!(prompt.contains("at most 5 pictures") && prompt.contains("too large"), "{prompt}");
    let (_, given) = reads(&story, ADA, "images/data.bin").await;
    assert!(given.contains("no text"), "{given}");
    story.end().await;
}

/// Promise (files/pictures-kept): A picture that the model in use cannot see is kept, you are told
/// so, and a model that can see is shown it later.
async fn a_picture_is_kept_for_a_model_that_can_see_it(channel: TestChannel) {
    let mut story = channel.prepare_story("");
    let seeing = std::sync::Arc::clone(&story.model);
    let info = |images| ModelInfo {
        provider: "scripted".to_owned(),
        name: "scripted".to_owned(),
        context_window: 100_000,
        max_output: 1_000,
        images,
        price: None,
    };
    story.model = Scripted::with_card(story.clock.clone(), info(false));
    story.start().await;
    story.fake.sends_photo(ADA, &format!("our garden {}", canary(ADA)), PICTURE);
    story.answered().await;
    let request = story.model.chats().pop().unwrap();
    let prompt = words(&request);
    assert!(pictures(&request).is_empty());
    let line = "the model in use cannot see pictures. Say so if it matters. It is kept as inbox/1-photo.png.)";
    assert!(prompt.contains(line), "{prompt}");
    assert_eq!(std::fs::read(story.path_of("inbox/1-photo.png")).unwrap(), PICTURE);
    let (requests, given) = reads(&story, ADA, "inbox/1-photo.png").await;
    assert!(pictures(requests.last().unwrap()).is_empty() && given.contains("cannot see pictures"), "{given}");
    story.stop().await;
    story.model = seeing;
    story.start().await;
    let (requests, _) = reads(&story, ADA, "inbox/1-photo.png").await;
    assert_eq!(pictures(requests.last().unwrap()).len(), 1);
    let scope = Scope::Person(compline::id::PersonId(1));
    assert!(requests.iter().all(|request| request.scope() == scope));
    story.end().await;
}
