//! Questions and output of `compline init`.

use std::path::Path;

/// Introduction.
pub const WELCOME: &str = "A few questions. Press Enter for the value in [brackets]. Nothing is saved until the end.\n";
/// Question: the owner's name.
pub const ASK_OWNER_NAME: &str = "What the assistant should call you";
/// Default name of the owner.
pub const USUAL_NAME: &str = "owner";
/// Question: the time zone.
pub const ASK_ZONE: &str = "Your time zone";
/// Heading of the list of presets.
pub const WHICH_MODEL: &str = "\nWhich language model?";
/// The offline model.
pub const ABOUT_OFFLINE: &str = "built-in demo, no AI: only repeats what you told it";
/// Question: the preset.
pub const ASK_PROVIDER: &str = "Number";
/// Question: the server's address.
pub const ASK_ADDRESS: &str = "Server address";
/// Question: the model's name.
pub const ASK_MODEL: &str = "Model name, as the provider spells it";
/// Question: the model's name or its number in the list.
pub const ASK_MODEL_OR_NUMBER: &str = "Number or name";
/// Instructions above the question for the API key.
pub const ABOUT_KEY: &str = "Paste the API key, or type $NAME for an environment variable, or the path of a file.";
/// Question: the API key.
pub const ASK_KEY: &str = "API key (Enter: none)";
/// Note that an answer that failed its test may stay.
pub const ENTER_KEEPS: &str = "Try another one, or press Enter to keep it as it is.";
/// Question: the context window.
pub const ASK_WINDOW: &str = "Context window in tokens (Enter: 32768)";
/// Error: not a number.
pub const NO_NUMBER: &str = "Please type a number, such as 32768.";
/// Question: pictures.
pub const ASK_IMAGES: &str = "Can it see pictures?";
/// Question: the price.
pub const ASK_PRICE: &str = "Price per million tokens, input and output, such as 3.00 15.00 (Enter: unknown)";
/// Error: not a price.
pub const NO_PRICE: &str = "Please type two amounts, such as 3.00 15.00.";
/// Instructions above the question for the bot token.
pub const ABOUT_TELEGRAM: &str = "\nFor a Telegram bot, send /newbot to @BotFather. Paste the token that it gives you, or type\n\
    $NAME for an environment variable, or the path of a file.";
/// Question: the bot token.
pub const ASK_TOKEN: &str = "Bot token (Enter: no bot)";
/// Question: start the gateway?
pub const START_NOW: &str = "\nStart it now?";

/// Error: not a number of the list.
pub fn no_such_number(most: usize) -> String {
    format!("Please type a number from 1 to {most}.")
}

/// Models of the server.
pub fn models(lines: &str, more: usize) -> String {
    let more = if more == 0 { String::new() } else { format!("\n      and {more} more: type the name of one") };
    format!("\nThe server offers:\n{lines}{more}")
}

/// Error: not a name for a person.
pub fn not_a_name(typed: &str) -> String {
    let typed = crate::text::shorten(typed, 40);
    format!("\"{typed}\" cannot be a name here: 1 to 40 letters, digits, spaces, - and _, and not a role.")
}

/// Error: an answer is not valid.
pub fn not_right(faults: &str) -> String {
    format!("This setting is not right:\n{faults}\nTry again.")
}

/// Progress: the model is tested.
pub const TESTING_MODEL: &str = "\nAsking the model for one word …";
/// Result: the model answers.
pub const MODEL_ANSWERS: &str = "The model answers.";
/// Progress: the bot is tested.
pub const TESTING_TELEGRAM: &str = "Asking Telegram for the bot …";
/// Result: the configuration stays as it was.
pub const NOTHING_CHANGED: &str = "Nothing was changed.";
/// Reply to ctrl-c or ctrl-d.
pub const BROKEN_OFF: &str = "Cancelled. Nothing was saved.";
/// Error: no terminal.
pub const NO_DIALOGUE: &str = "Questions cannot be asked: this is not a terminal.\nfix: run it in a terminal, or with --non-interactive and flags (compline init --help)";

/// Question: begin with the offline model?
pub const BEGIN_OFFLINE: &str = "Begin with the offline model now?";

/// Nothing is set up yet.
pub fn offer_offline(init: &str) -> String {
    format!(
        "Nothing is set up yet. You can begin at once with the built-in offline model: it needs no key and no network, and quotes what you told it.\n\
         `{init}` sets up a real model and your channels, now or later; what you say until then stays."
    )
}

/// Error: nothing is set up.
pub fn not_set_up(config: &Path, init: &str) -> String {
    format!(
        "{}: there is no configuration\nfix: run `{init}`, or `{init} --non-interactive` to begin with the offline model",
        config.display()
    )
}

/// Error: unknown time zone.
pub fn no_zone(typed: &str, similar: Option<&str>) -> String {
    let typed = crate::text::shorten(typed, 40);
    match similar {
        None => format!("Unknown time zone \"{typed}\". They look like Europe/Vienna or America/New_York."),
        Some(similar) => format!("Unknown time zone \"{typed}\". Did you mean {similar}?"),
    }
}

/// Error: unknown provider.
pub fn no_provider(typed: &str) -> String {
    format!(
        "\"{}\" is not a provider.\nfix: name one of offline, openai, anthropic, gemini, ollama",
        crate::text::shorten(typed, 40)
    )
}

/// Error: other users can open the home.
pub fn open_home(home: &Path, mode: u32, doctor: &str) -> String {
    let shown = home.display();
    format!(
        "\nOthers on this computer can look into {shown} (mode {mode:04o}), where all that you say will be stored.\n\
         fix: chmod 700 '{shown}', or `{doctor}`"
    )
}

/// Extends a fix by the option to skip the test.
pub fn or_untested(fix: &str) -> String {
    format!("{fix}; or write the configuration untested with --untested")
}

/// Question: replace the existing configuration?
pub fn replace(path: &Path) -> String {
    format!("{} already exists. Replace it? It is kept as .bak", path.display())
}

/// Error: the configuration exists, and there is no terminal.
pub fn would_replace(path: &Path) -> String {
    format!(
        "{} already exists.\nfix: add --replace (the old one is kept as .bak), or name another file with --config",
        path.display()
    )
}

/// Result: the bot answers.
pub fn bot(username: &str, has_webhook: bool) -> String {
    let webhook = if has_webhook { " It has a webhook, which `run` removes, because it polls." } else { "" };
    format!("It is @{username}.{webhook}")
}

/// Result: the configuration is written.
pub fn written(path: &Path, kept: Option<&Path>) -> String {
    let kept = kept.map(|kept| format!(" The old one is {}.", kept.display())).unwrap_or_default();
    format!("\nWrote {}, readable by you alone.{kept}", path.display())
}

/// Command that starts the computer's service.
pub const START_SERVICE: &str = "sudo systemctl enable --now compline";

/// Next steps.
pub fn next(run: &str, chat: &str, doctor: &str, claims: bool) -> String {
    let claim = if claims { "; it prints a code that makes you the owner once you have sent it" } else { "" };
    format!(
        "\nNext:\n  {run}\n      starts the gateway{claim}\n  {chat}\n      talks in this terminal\n  {doctor}\n      checks everything"
    )
}
