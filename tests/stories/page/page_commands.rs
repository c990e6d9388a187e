//! Each command of the chat has its place on the page, or a reason why it has none.

use compline::admin::command::COMMANDS;
use compline::web::Web;

use Place::{At, None};

/// Place of a command.
#[derive(Debug)]
enum Place {
    /// Route of the page that shows its answer or has its button.
    At(&'static str),
    /// Reason why it is not on the page.
    None(&'static str),
}

const PLACES: &[(&str, Place)] = &[
    ("start", None("a greeting, for those who have just come into a chat")),
    ("help", None("the navigation is the list of what can be done")),
    ("new", None("ends a conversation of the chat in which it is typed")),
    ("stop", None("stops the answer that grows in the chat in which it is typed")),
    ("yes", At("/act")),
    ("no", At("/act")),
    ("status", At("/status")),
    ("usage", At("/usage")),
    ("resend", At("/act")),
    ("memory", At("/memory")),
    ("remember", At("/memory")),
    ("promote", At("/memory/{*note}")),
    ("trust", None("concerns the messages that were just sent to a chat")),
    ("reminders", At("/schedule")),
    ("forget", At("/memory/{*note}")),
    ("why", At("/conversations/{id}")),
    ("conversations", At("/conversations")),
    ("export", At("/me/export")),
    ("whoami", At("/me")),
    ("settings", At("/me/settings")),
    ("web", At("/login")),
    ("link", At("/me/link")),
    ("files", At("/files")),
    ("file", At("/raw/{*path}")),
    ("heartbeat", None("is a file of the workspace, edited in words")),
    ("pending", At("/")),
    ("show", At("/proposals/{id}")),
    ("approve", At("/proposals/{id}/approve")),
    ("reject", At("/proposals/{id}/refuse")),
    ("skills", At("/skills")),
    ("history", At("/skills/{name}")),
    ("rollback", At("/skills/{name}/restore")),
    ("reflect", At("/reflections")),
    ("reflections", At("/reflections")),
    ("search", At("/search")),
    ("model", At("/models")),
    ("people", At("/people")),
    ("pair", At("/people")),
    ("remove", At("/people/{id}")),
];

#[test]
fn every_command_has_its_place_or_a_reason() {
    let table = Web::table();
    for row in COMMANDS {
        let (_, place) = PLACES
            .iter()
            .find(|(name, _)| *name == row.name)
            .unwrap_or_else(|| panic!("/{} has no place on the page and no reason: give it one here", row.name));
        match place {
            At(path) => assert!(table.iter().any(|route| route.path == *path), "/{}: there is no {path}", row.name),
            None(reason) => assert!(reason.split(' ').count() > 4, "/{}: {reason}", row.name),
        }
    }
    for (name, _) in PLACES {
        assert!(COMMANDS.iter().any(|row| row.name == *name), "there is no command /{name}");
    }
}
