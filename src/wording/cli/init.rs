//! What `compline init` asks and says.

use std::path::Path;

/// At the beginning.
pub const WELCOME: &str = "A few questions; enter takes what stands in brackets. Nothing is written before the end.\n";
/// The owner's name.
pub const ASK_NAME: &str = "Your name, as the assistant is to call you";
/// If there is no better one.
pub const USUAL_NAME: &str = "owner";
/// The zone.
pub const ASK_ZONE: &str = "Your time zone";
/// The providers, in the order of their numbers.
pub const PROVIDERS: &str = "\nWhich language model?\n  1 offline    built in, needs nothing, thinks up nothing: it quotes what you told it\n  2 openai     OpenAI, or any server that speaks its protocol\n  3 anthropic  Anthropic\n  4 gemini     Google Gemini\n  5 ollama     Ollama on this computer or another";
/// One of them.
pub const ASK_PROVIDER: &str = "Number or word";
/// The model's name.
pub const ASK_MODEL: &str = "The model's name, exactly as the provider spells it";
/// Before the key is asked for.
pub const ABOUT_KEY: &str = "Paste the key (it is not shown), or type $NAME of an environment variable or the path of a file; enter if none is needed.";
/// The key.
pub const ASK_KEY: &str = "The key";
/// Before the token is asked for.
pub const ABOUT_TELEGRAM: &str = "\nFor a Telegram bot, write /newbot to @BotFather in Telegram; it gives you a token. Paste it (it is not shown),\n\
    or type $NAME of an environment variable or the path of a file; enter for no bot: then you talk in the terminal.";
/// The token.
pub const ASK_TOKEN: &str = "The bot's token";
/// A test failed.
pub const WRITE_ANYWAY: &str = "Write the configuration all the same? Otherwise the questions begin again";
/// Before a test.
pub const TESTING_MODEL: &str = "\nAsking the model for one word …";
/// After it.
pub const MODEL_ANSWERS: &str = "The model answers.";
/// Before a test.
pub const TESTING_TELEGRAM: &str = "Asking Telegram for the bot …";
/// The configuration stays.
pub const NOTHING_CHANGED: &str = "Nothing was changed.";
/// Ctrl-c or ctrl-d.
pub const BROKEN_OFF: &str = "Broken off; nothing was written.";
/// Nobody sits at the terminal.
pub const NO_DIALOGUE: &str = "There is nobody to ask: this is no terminal.\nfix: run it in a terminal, or with --non-interactive and flags (compline init --help)";

/// No zone.
pub fn no_zone(typed: &str) -> String {
    format!(
        "\"{}\" is no IANA time zone; they look like Europe/Vienna or America/New_York.",
        crate::text::shorten(typed, 40)
    )
}

/// No provider.
pub fn no_provider(typed: &str) -> String {
    format!(
        "\"{}\" is no provider.\nfix: name one of offline, openai, anthropic, gemini, ollama",
        crate::text::shorten(typed, 40)
    )
}

/// Where the server is.
pub fn ask_base_url(provider: &str) -> String {
    match provider {
        "ollama" => "Ollama's address; enter for this computer".to_owned(),
        _ => "The server's address up to and with /v1; enter for OpenAI itself".to_owned(),
    }
}

/// Something does not hold together.
pub fn again(faults: &str) -> String {
    format!("\nThat does not hold together:\n{faults}\n\nOnce more:\n")
}

/// Others can look into the home.
pub fn open_home(home: &Path, mode: u32, doctor: &str) -> String {
    let shown = home.display();
    format!(
        "\nOthers on this computer can look into {shown} (mode {mode:04o}), where all that you say will lie.\n\
         fix: chmod 700 '{shown}', or `{doctor}`"
    )
}

/// A failed test can be passed over.
pub fn or_untested(fix: &str) -> String {
    format!("{fix}; or write the configuration untested with --untested")
}

/// There is a configuration.
pub fn replace(path: &Path) -> String {
    format!("{} is there already. Replace it? It is kept as .bak", path.display())
}

/// There is a configuration, and nobody to ask.
pub fn would_replace(path: &Path) -> String {
    format!(
        "{} is there already.\nfix: add --replace (the old one is kept as .bak), or name another file with --config",
        path.display()
    )
}

/// The bot.
pub fn bot(username: &str, has_webhook: bool) -> String {
    let webhook = if has_webhook { " It has a webhook, which `run` takes off, because it polls." } else { "" };
    format!("It is @{username}.{webhook}")
}

/// Done.
pub fn written(path: &Path, kept: Option<&Path>) -> String {
    let kept = kept.map(|kept| format!(" The old one is {}.", kept.display())).unwrap_or_default();
    format!("\nWrote {}, readable by you alone.{kept}", path.display())
}

/// What to do next.
pub fn next(run: &str, chat: &str, doctor: &str, claims: bool) -> String {
    let claim = if claims { "; it prints a code that makes you the owner once you have sent it" } else { "" };
    format!(
        "\nNext:\n  {run}\n      starts the gateway{claim}\n  {chat}\n      talks in this terminal\n  {doctor}\n      checks everything"
    )
}
