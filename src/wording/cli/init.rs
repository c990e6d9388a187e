//! Questions and output of `compline init`.

use std::path::Path;

/// Introduction.
pub const WELCOME: &str = "A few questions; enter takes the value in brackets. Nothing is written before the end.\n";
/// Question: the owner's name.
pub const ASK_NAME: &str = "What the assistant should call you";
/// Default name of the owner.
pub const USUAL_NAME: &str = "owner";
/// Question: the time zone.
pub const ASK_ZONE: &str = "Your time zone";
/// List of providers with their numbers.
pub const PROVIDERS: &str = "\nWhich language model?\n  1 offline    built in, needs nothing, makes nothing up: it quotes what you told it\n  2 openai     OpenAI, or any server that speaks its protocol\n  3 anthropic  Anthropic\n  4 gemini     Google Gemini\n  5 ollama     Ollama on this computer or another";
/// Question: the provider.
pub const ASK_PROVIDER: &str = "Number or word";
/// Question: the model's name.
pub const ASK_MODEL: &str = "The model's name, exactly as the provider spells it";
/// Instructions above the question for the API key.
pub const ABOUT_KEY: &str = "Paste the key (it is not shown), or type $NAME of an environment variable or the path of a file; enter if none is needed.";
/// Question: the API key.
pub const ASK_KEY: &str = "The key";
/// Instructions above the question for the bot token.
pub const ABOUT_TELEGRAM: &str = "\nFor a Telegram bot, write /newbot to @BotFather in Telegram; it gives you a token. Paste it (it is not shown),\n\
    or type $NAME of an environment variable or the path of a file; enter for no bot: then you talk in the terminal.";
/// Question: the bot token.
pub const ASK_TOKEN: &str = "The bot's token";
/// Question after a failed test.
pub const WRITE_ANYWAY: &str = "Write the configuration anyway? Otherwise the questions start again";
/// Progress: the model is tested.
pub const TESTING_MODEL: &str = "\nAsking the model for one word …";
/// Result: the model answers.
pub const MODEL_ANSWERS: &str = "The model answers.";
/// Progress: the bot is tested.
pub const TESTING_TELEGRAM: &str = "Asking Telegram for the bot …";
/// Result: the configuration stays as it was.
pub const NOTHING_CHANGED: &str = "Nothing was changed.";
/// Reply to ctrl-c or ctrl-d.
pub const BROKEN_OFF: &str = "Cancelled; nothing was written.";
/// Error: no terminal.
pub const NO_DIALOGUE: &str = "Questions cannot be asked: this is not a terminal.\nfix: run it in a terminal, or with --non-interactive and flags (compline init --help)";

/// Question: begin with the offline model?
pub const BEGIN_OFFLINE: &str = "Begin with the offline model now? (y/n)";

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
pub fn no_zone(typed: &str) -> String {
    format!(
        "\"{}\" is not an IANA time zone; they look like Europe/Vienna or America/New_York.",
        crate::text::shorten(typed, 40)
    )
}

/// Error: unknown provider.
pub fn no_provider(typed: &str) -> String {
    format!(
        "\"{}\" is not a provider.\nfix: name one of offline, openai, anthropic, gemini, ollama",
        crate::text::shorten(typed, 40)
    )
}

/// Question: the server's address.
pub fn ask_base_url(provider: &str) -> String {
    match provider {
        "ollama" => "Ollama's address; enter for this computer".to_owned(),
        _ => "The server's address up to and with /v1; enter for OpenAI itself".to_owned(),
    }
}

/// Errors in the answers, before the questions are repeated.
pub fn again(faults: &str) -> String {
    format!("\nThese answers do not fit together:\n{faults}\n\nOnce more:\n")
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

/// Next steps.
pub fn next(run: &str, chat: &str, doctor: &str, claims: bool) -> String {
    let claim = if claims { "; it prints a code that makes you the owner once you have sent it" } else { "" };
    format!(
        "\nNext:\n  {run}\n      starts the gateway{claim}\n  {chat}\n      talks in this terminal\n  {doctor}\n      checks everything"
    )
}
