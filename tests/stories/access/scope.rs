//! Scopes: a prompt is built for one person and holds only text that this person may see.

use std::sync::Arc;
use std::time::Duration;

use compline::id::PersonId;
use compline::model::{Purpose, Request, Role};
use compline::trust::{Label, Labelled, Scope, WrongScope};

use crate::support::every_channel::{TestChannel, on_every_channel};
use crate::support::story::{ADA, BEN, canary};

on_every_channel! {
    stories:
        private_messages_never_reach_another_person;
}

const NEXT_CONVERSATION: Duration = Duration::from_secs(7 * 3600);

/// Promise (privacy/private-messages): Your private messages never appear in another person's chat
/// or in a prompt for one.
async fn private_messages_never_reach_another_person(channel: TestChannel) {
    let story = channel.begin_story().await;
    story.say(ADA, &format!("the garden gate code is {}", canary(ADA))).await;
    story.say(BEN, &format!("my garden has roses, {}", canary(BEN))).await;
    story.pass(NEXT_CONVERSATION).await;
    for (person, own, other) in [(BEN, "roses", "gate code"), (ADA, "gate code", "roses")] {
        let query = serde_json::json!({ "in": "conversations", "query": "garden", "include_untrusted": true });
        story.model.calls("memory_search", query).says("found");
        story.say(person, "what about it?").await;
        let prompt = story.model.last_prompt();
        assert!(prompt.contains(own) && !prompt.contains(other), "{prompt}");
    }
    story.end().await;
}

/// Proves: privacy/private-messages
#[test]
fn a_prompt_refuses_text_of_another_scope() {
    let (ada, ben) = (Scope::Person(PersonId(1)), Scope::Person(PersonId(2)));
    let text = |scope| Labelled::new(Arc::<str>::from("words"), Label::decode("trusted"), scope);
    let mut request = Request::new(ada, Purpose::Chat);
    assert_eq!(request.text(Role::User, text(ben)), Err(WrongScope { found: ben, prompt: ada }));
    assert!(request.messages().is_empty(), "nothing was added");
    for scope in [ada, Scope::Shared] {
        request.text(Role::User, text(scope)).unwrap();
    }
    let mut shared = Request::new(Scope::Shared, Purpose::Chat);
    assert!(shared.text(Role::User, text(ada)).is_err());
}
