//! Each command of the chat has its place on the page, or a reason why it has none.

use compline::admin::command::COMMANDS;

use crate::support::browser::Browser;
use crate::support::lived_in;

use Place::{At, None};

/// Place of a command.
#[derive(Debug)]
enum Place {
    /// A page that shows its answer or has its button, and what stands there.
    At(&'static str, &'static str),
    /// Reason why it is not on the page.
    None(&'static str),
}

const PLACES: &[(&str, Place)] = &[
    ("start", None("a greeting, for those who have just come into a chat")),
    ("help", At("/help", "/remember")),
    ("new", At("/chat", "value=\"/new\"")),
    ("stop", At("/chat", "value=\"/stop\"")),
    ("yes", At("/", "value=\"/yes ")),
    ("no", At("/", "value=\"/no ")),
    ("status", At("/status", "Left today")),
    ("usage", At("/usage", "<svg")),
    ("resend", None("is typed in a chat, also in that of the page, which names what was set aside")),
    ("memory", At("/memory", "href=\"/memory/pets\"")),
    ("remember", At("/memory/MEMORY", "?edit=1")),
    ("promote", At("/memory/untrusted/recipe", "value=\"promote\"")),
    ("trust", None("concerns what was just sent to a chat, and is typed there, also on the page")),
    ("reminders", At("/schedule", "value=\"/reminders cancel ")),
    ("forget", At("/memory/pets", "value=\"/forget ")),
    ("why", At("/memory/pets", "Where it comes from")),
    ("conversations", At("/conversations", "href=\"/conversations/1")),
    ("export", At("/me", "action=\"/me/export\"")),
    ("whoami", At("/me", "You are <strong>Robin")),
    ("settings", At("/me", "action=\"/me/settings\"")),
    ("web", None("makes a link that signs a browser in, and this one is signed in")),
    ("link", At("/me", "action=\"/me/link\"")),
    ("files", At("/files", "href=\"/files/plans\"")),
    ("file", At("/files/plans/prices%2Ecsv", "href=\"/raw/plans/prices%2Ecsv")),
    ("heartbeat", None("is a file of the workspace, edited in words")),
    ("pending", At("/", "href=\"/proposals/1\"")),
    ("show", At("/proposals/1", "<h2>The change")),
    ("approve", At("/proposals/1", "action=\"/proposals/1/approve\"")),
    ("reject", At("/proposals/1", "action=\"/proposals/1/refuse\"")),
    ("skills", At("/skills", "href=\"/skills/market-list\"")),
    ("history", At("/skills/market-list", "<h2>Versions")),
    ("rollback", At("/skills/market-list?version=1", "action=\"/skills/market-list/restore\"")),
    ("reflect", None("asks a model at once, so it is typed in a chat, also in that of the page")),
    ("reflections", At("/reflections", "href=\"/reflections/1\"")),
    ("search", At("/search", "name=\"q\"")),
    ("model", At("/models", "asked first")),
    ("people", At("/people", "value=\"admit\"")),
    ("pair", At("/people", "value=\"pair\"")),
    ("remove", At("/people/3", "value=\"remove\"")),
];

#[tokio::test]
async fn every_command_has_its_place_or_a_reason() {
    let story = lived_in::everything().await;
    let robin = Browser::of(story.app(), "Robin").await;
    let mut missing = Vec::new();
    for row in COMMANDS {
        let (_, place) = PLACES
            .iter()
            .find(|(name, _)| *name == row.name)
            .unwrap_or_else(|| panic!("/{} has no place on the page and no reason: give it one here", row.name));
        match place {
            At(path, part) => {
                let page = robin.get(path).await.text;
                let main = page.split_once("<main").unwrap_or_else(|| panic!("{path}: {page}")).1;
                if !main.contains(part) {
                    missing.push(format!("/{}: {path} lacks {part}: {main}", row.name));
                }
            }
            None(reason) => assert!(reason.split(' ').count() > 4, "/{}: {reason}", row.name),
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
    for (name, _) in PLACES {
        assert!(COMMANDS.iter().any(|row| row.name == *name), "there is no command /{name}");
    }
    story.stop_here().await;
}
