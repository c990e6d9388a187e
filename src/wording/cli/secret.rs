//! Text of `compline config set-secret`.

use std::path::Path;

use super::with_fix;

/// Question for the new secret.
pub fn ask(key: &str) -> String {
    format!("New {key} (hidden; Enter: cancel)")
}
/// Error: nothing on standard input.
pub const NO_INPUT: &str =
    "Standard input is empty\nfix: run this in a terminal, or pipe the key or token into it; nothing was changed";
/// Reply to an empty line.
pub const NOTHING_CHANGED: &str = "Nothing was changed.";
/// Result of the test: the model answers.
pub const MODEL_ANSWERS: &str = "The model answers.";
/// Result of the test: the bot answers.
pub fn bot(username: &str) -> String {
    format!("It is @{username}.")
}
/// Note that no request can test it.
pub const NO_TEST: &str = "It was not tested: no request can do that from here.";
/// Result: a running gateway uses it.
pub fn changed_now(key: &str) -> String {
    format!("{key} is changed, and the running gateway uses it.")
}
/// Result: no gateway runs.
pub fn changed(key: &str) -> String {
    format!("{key} is changed. No gateway is running with this home; the next start uses it.")
}

/// Error: the secret did not pass its test.
pub fn refused(what: &str, fix: &str) -> String {
    with_fix(what, &format!("{fix}; or store it untested with --untested. Nothing was changed"))
}
/// Error: no secret has this key.
pub fn no_secret(key: &str, all: &[String]) -> String {
    with_fix(
        &format!("No secret is called {}", crate::text::shorten(key, 40)),
        &format!("name one of {}", all.join(", ")),
    )
}
/// Error: the secret comes from the environment.
pub fn in_variable(key: &str, variable: &str) -> String {
    let fix = "change it where Compline is started, and restart the gateway; a reload does not see it";
    with_fix(&format!("{key} comes from the environment variable {variable}"), fix)
}
/// Error: the configuration does not mention the secret.
pub fn unset(key: &str, config: &Path) -> String {
    let (at, name) = key.rsplit_once('.').unwrap_or(("", key));
    let file = if name == "api_key" { format!("{at}.key") } else { key.to_owned() };
    let fix = format!("add {name}_file = \"HOME/{file}\" to its section [{at}], and run this again");
    with_fix(&format!("{key} is not set in {}", config.display()), &fix)
}
