//! `[telegram]`, `[signal]` and `[groups]`: the channels.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::str::FromStr;

use url::Url;

use super::error::ValueError;
use super::reader::ConfigReader;
use super::units::{self, quoted, wrong};
use super::{Groups, Home, Signal, SignalEndpoint, Telegram, TelegramDelivery, Webhook, models, reader};
use crate::message::ChannelKind;

/// Telegram allows at most 256 characters; the minimum is that of a good password.
const SECRET_LENGTH: std::ops::RangeInclusive<usize> = 16..=256;

/// Interprets `[telegram]`.
pub fn telegram(reader: &mut ConfigReader<'_>) -> Option<Telegram> {
    let at = "telegram";
    if !reader.has(at) {
        return None;
    }
    let fix = "copy the whole token from @BotFather: digits, a colon, and letters";
    let problem = ValueError::new("This is no token of a Telegram bot", fix);
    let token = reader.need_secret(at, "token", is_bot_token, problem);
    let api_url = reader.get(at, "api_url", models::address);
    let files_dir = reader.is_written(at, "files_dir").then(|| reader.folder(at, "files_dir"));
    let delivery = telegram_delivery(reader, at);
    Some(Telegram { token: token?, api_url: api_url?, files_dir, delivery: delivery? })
}

fn telegram_delivery(reader: &mut ConfigReader<'_>, at: &str) -> Option<TelegramDelivery> {
    let mode = |text: &str| units::one_of(text, &[("polling", false), ("webhook", true)]);
    let is_called = reader.get(at, "mode", mode)?;
    let listen = reader.get(at, "webhook_listen", socket);
    if !is_called {
        return Some(TelegramDelivery::Polling);
    }
    let url = reader.need(at, "webhook_url", public);
    let fix = "write 16 to 256 letters, digits, _ and -; `openssl rand -hex 24` makes one";
    let problem = ValueError::new("Telegram does not take this as a secret", fix);
    let secret = reader.need_secret(at, "webhook_secret", is_secret, problem);
    Some(TelegramDelivery::Webhook(Webhook { url: url?, listen: listen?, secret: secret? }))
}

/// Interprets `[signal]`.
pub fn signal(reader: &mut ConfigReader<'_>) -> Option<Signal> {
    let at = "signal";
    if !reader.has(at) {
        return None;
    }
    let home = reader.home.clone();
    let endpoint = reader.get(at, "endpoint", |text| endpoint(text, &home));
    let account = reader.get(at, "account", account);
    let is_given = reader.is_written(at, "attachments_dir");
    let attachments_dir = is_given.then(|| reader.folder(at, "attachments_dir"));
    let command = reader.get(at, "command", |text| command(text, &home)).unwrap_or_default();
    Some(Signal { endpoint: endpoint?, account, attachments_dir, command })
}

/// Interprets `[groups]`.
pub fn groups(reader: &mut ConfigReader<'_>) -> Groups {
    let _ = reader.get("groups", "answer", |text| units::one_of(text, &[("mention", ())]));
    let allowed = reader.get("groups", "allowed", |text| {
        let groups = units::list(text)?;
        groups.iter().try_for_each(|group| check_group(group)).map(|()| groups)
    });
    let guests = reader.get("groups", "guests", units::flag).unwrap_or(true);
    Groups { allowed: allowed.unwrap_or_default().into_iter().collect(), guests }
}

/// Parses a unique Signal account: a number, or an account identifier.
pub fn unique_account(text: &str, taken: &mut BTreeSet<String>) -> Result<String, ValueError> {
    let account = account(text)?;
    if !taken.insert(account.clone()) {
        let fix = "give each person their own number";
        return Err(ValueError::new(format!("Another person has {} already", quoted(text)), fix));
    }
    Ok(account)
}

/// Parses the name of an adapter.
pub fn adapter(text: &str) -> Result<String, ValueError> {
    if ChannelKind::from_str(text).is_ok() {
        return Ok(text.to_owned());
    }
    let fix = "write \"telegram\", \"signal\" or \"terminal\"";
    Err(wrong(text, "is no way to reach anybody", fix))
}

/// Parses a number with its plus sign, or an account identifier in its canonical form.
fn account(text: &str) -> Result<String, ValueError> {
    let is_number = text.strip_prefix('+').is_some_and(|rest| {
        (7..=15).contains(&rest.len()) && rest.chars().all(|c| c.is_ascii_digit()) && !rest.starts_with('0')
    });
    let is_identifier = text.len() == 36
        && text
            .char_indices()
            .all(|(at, c)| if [8, 13, 18, 23].contains(&at) { c == '-' } else { c.is_ascii_hexdigit() });
    if is_number || is_identifier {
        return Ok(text.to_ascii_lowercase());
    }
    let fix = "write the number with its country code, as \"+431234567890\", or the account identifier";
    Err(wrong(text, "is no Signal account", fix))
}

fn endpoint(text: &str, home: &Home) -> Result<SignalEndpoint, ValueError> {
    let fix = "write \"unix:PATH\", \"tcp:HOST:PORT\" or \"http://HOST:PORT\"";
    let invalid = || wrong(text, "is no place where a daemon listens", fix);
    if let Some(path) = text.strip_prefix("unix:") {
        let fix = "write an absolute path, or HOME/ and a name";
        let relative = || wrong(path, "depends on where Compline is started", fix);
        return reader::absolute(path, home).map(SignalEndpoint::Unix).ok_or_else(relative);
    }
    if let Some(address) = text.strip_prefix("tcp:") {
        let (host, port) = address.rsplit_once(':').ok_or_else(invalid)?;
        let is_sound = !host.is_empty() && port.parse::<u16>().is_ok_and(|port| port > 0);
        return if is_sound { Ok(SignalEndpoint::Tcp(address.to_owned())) } else { Err(invalid()) };
    }
    // The `http:` prefix of the endpoint notation is optional.
    let url = text.strip_prefix("http:").filter(|rest| rest.starts_with("http")).unwrap_or(text);
    if !url.starts_with("http://") && !url.starts_with("https://") {
        return Err(invalid());
    }
    models::address(url).map(SignalEndpoint::Http)
}

fn command(text: &str, home: &Home) -> Result<Vec<String>, ValueError> {
    let words = units::list(text)?;
    if words.iter().any(|word| word.contains('\0')) || words.first().is_some_and(String::is_empty) {
        return Err(ValueError::new("This starts no program", "write the program and its arguments, as a list"));
    }
    let in_home = |word: String| match word.strip_prefix("HOME/") {
        Some(rest) => home.path().join(rest).to_string_lossy().into_owned(),
        None => word,
    };
    Ok(words.into_iter().map(in_home).collect())
}

fn check_group(text: &str) -> Result<(), ValueError> {
    let is_sound = text
        .split_once(':')
        .is_some_and(|(channel, id)| ChannelKind::from_str(channel).is_ok_and(|channel| channel.is_group_id(id)));
    let fix = "write \"telegram:\" and the group's negative id, or \"signal:\" and its group id";
    if is_sound { Ok(()) } else { Err(wrong(text, "is no group", fix)) }
}

pub fn socket(text: &str) -> Result<SocketAddr, ValueError> {
    let fix = "write an address and a port, as \"127.0.0.1:8443\"";
    text.parse().map_err(|_| wrong(text, "is no address to listen at", fix))
}

/// Parses a public address. Telegram only calls `https`.
fn public(text: &str) -> Result<Url, ValueError> {
    let url = Url::parse(text).ok().filter(|url| url.scheme() == "https" && url.host_str().is_some());
    let fix = "write the public address that Telegram can call, as \"https://bot.example.org/telegram\"";
    url.ok_or_else(|| wrong(text, "is no https address", fix))
}

fn is_secret(text: &str) -> bool {
    SECRET_LENGTH.contains(&text.len()) && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

fn is_bot_token(token: &str) -> bool {
    token.split_once(':').is_some_and(|(id, rest)| id.parse::<u64>().is_ok() && !rest.is_empty() && !rest.contains('/'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, parse};
    use std::collections::BTreeMap;

    fn read(text: &str) -> Result<Config, String> {
        let text = format!("timezone = \"UTC\"\n{text}");
        let read = parse(&text, "c.toml", &BTreeMap::new(), Home::at("/h"));
        read.map(|loaded| loaded.config).map_err(|error| error.to_string())
    }

    #[test]
    fn places_where_a_daemon_may_listen() {
        let address = |text: &str| {
            read(&format!("[signal]\nendpoint = \"{text}\"")).map(|config| config.signal.unwrap().endpoint)
        };
        assert_eq!(address("unix:HOME/s.sock"), Ok(SignalEndpoint::Unix("/h/s.sock".into())));
        assert_eq!(address("tcp:localhost:7583"), Ok(SignalEndpoint::Tcp("localhost:7583".to_owned())));
        assert_eq!(address("tcp:[::1]:7583"), Ok(SignalEndpoint::Tcp("[::1]:7583".to_owned())));
        for url in ["http://127.0.0.1:8080", "http:http://127.0.0.1:8080", "http://127.0.0.1:8080/"] {
            assert_eq!(address(url), Ok(SignalEndpoint::Http("http://127.0.0.1:8080".to_owned())), "{url}");
        }
        for odd in
            ["", "unix:", "unix:s.sock", "tcp:7583", "tcp::1", "tcp:h:0", "tcp:h:99999", "ws://h", "http:", "h:1"]
        {
            assert!(address(odd).is_err(), "{odd}");
        }
    }

    #[test]
    fn signal_accounts_have_one_spelling_and_one_owner() {
        let people = |accounts: &[&str]| {
            let each = accounts.iter().enumerate();
            let text: String =
                each.map(|(n, account)| format!("[[people]]\nname = \"P{n}\"\nsignal = \"{account}\"\n")).collect();
            read(&text).map(|config| config.people.into_iter().filter_map(|person| person.signal).collect::<Vec<_>>())
        };
        let identifier = "0123ABCD-4567-89ab-cdef-0123456789ab";
        assert_eq!(people(&["+431234567", identifier]), Ok(vec!["+431234567".to_owned(), identifier.to_lowercase()]));
        assert!(people(&["+431234567", "+431234567"]).unwrap_err().contains("Another person"));
        for odd in ["431234567", "+0431234567", "+43 123", "+43", "ada", "0123ABCD-4567-89ab-cdef-0123456789a", ""] {
            assert!(people(&[odd]).is_err(), "{odd}");
        }
    }

    #[test]
    fn groups_are_named_with_their_channel() {
        let allowed = |text: &str| {
            read(&format!("[groups]\nallowed = {text}"))
                .map(|config| config.groups.allowed.into_iter().collect::<Vec<_>>())
        };
        let both = ["signal:q/w+e==", "telegram:-100123"];
        assert_eq!(allowed("[\"telegram:-100123\", \"signal:q/w+e==\"]"), Ok(both.map(str::to_owned).to_vec()));
        for odd in [
            "[\"-100123\"]",
            "[\"telegram:123\"]",
            "[\"telegram:x\"]",
            "[\"signal:\"]",
            "[\"signal:a b\"]",
            "[\"irc:x\"]",
        ] {
            assert!(allowed(odd).is_err(), "{odd}");
        }
        assert!(read("[groups]\nanswer = \"everything\"").unwrap_err().contains("mention"));
    }

    #[test]
    fn a_webhook_needs_a_public_address_and_a_secret() {
        let telegram = |more: &str| {
            read(&format!("[telegram]\ntoken = \"1:x\"\n{more}")).map(|config| config.telegram.unwrap().delivery)
        };
        assert!(matches!(telegram(""), Ok(TelegramDelivery::Polling)));
        let whole =
            "mode = \"webhook\"\nwebhook_url = \"https://b.example/t\"\nwebhook_secret = \"a-long-random-word\"";
        let Ok(TelegramDelivery::Webhook(webhook)) = telegram(whole) else { panic!("it is whole") };
        assert_eq!(
            (webhook.url.as_str(), webhook.listen.to_string().as_str()),
            ("https://b.example/t", "127.0.0.1:8443")
        );
        for (whole, broken) in [
            ("https://b.example/t", "http://b.example/t"),
            ("a-long-random-word", "short"),
            ("a-long-random-word", "a long random word with spaces"),
            ("webhook_secret", "# webhook_secret"),
            ("webhook_url", "# webhook_url"),
            ("\"webhook\"", "\"push\""),
        ] {
            let text =
                "mode = \"webhook\"\nwebhook_url = \"https://b.example/t\"\nwebhook_secret = \"a-long-random-word\"";
            assert!(telegram(&text.replacen(whole, broken, 1)).is_err(), "{broken}");
        }
    }

    #[test]
    fn people_prefer_what_there_is() {
        assert_eq!(adapter("signal"), Ok("signal".to_owned()));
        assert!(adapter("email").is_err());
    }

    #[test]
    fn the_home_stands_in_a_command() {
        let config = read("[signal]\ncommand = [\"signal-cli\", \"--socket\", \"HOME/s.sock\"]").unwrap();
        assert_eq!(config.signal.unwrap().command, ["signal-cli", "--socket", "/h/s.sock"]);
        assert!(read("[signal]\ncommand = [\"\"]").is_err());
    }
}
