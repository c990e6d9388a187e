//! A running gateway, other processes next to it, and the demonstration.

use super::program::{Gateway, Home, PLAIN, program};
use crate::support::telegram::{FakeTelegram, Fault};

/// Promise (operation/clean-stop): The gateway stops cleanly when asked to.
#[test]
fn a_gateway_starts_answers_and_stops_cleanly() {
    let home = Home::plain();
    let gateway = home.gateway();
    assert!(gateway.said.contains("Europe/Vienna") && gateway.said.contains("terminal"), "{}", gateway.said);
    let answer = home.run("chat What is 12*7?").done();
    assert!(answer.contains("84"), "{answer}");
    assert!(!home.run("status").err.contains("not running"));
    let process = gateway.process();
    home.run("run")
        .refused(1, &[&format!("Another Compline (process {process}) is running"), &format!("`kill {process}`")]);
    let (code, last) = gateway.stop();
    assert_eq!(code, Some(0), "{last}");
    assert!(!home.file("compline.sock").exists());
    // The answers are available without the gateway too.
    assert!(home.run("search 84").done().contains("84"));
    let log = std::fs::read_dir(home.file("logs")).unwrap().next().unwrap().unwrap();
    let log = std::fs::read_to_string(log.path()).unwrap();
    assert!(log.contains("has started") && !log.contains("12*7"), "{log}");
}

/// A configuration with Telegram at the fake server.
fn with_telegram(fake: &FakeTelegram, token: &str, people: &str) -> String {
    let api = fake.url();
    format!("{PLAIN}{people}[telegram]\ntoken = \"{token}\"\napi_url = \"{api}\"\n")
}

/// Promise (operation/channel-changes): `compline run` says in a sentence when a channel connects,
/// fails or works again, and who gained access. "Ready" comes only after the first contact and
/// names the channels that do not work.
#[test]
fn each_change_of_a_channel_is_printed() {
    let fake = FakeTelegram::start_sync();
    fake.fault("getMe", Fault::ServerError, 1);
    let home = Home::configured(with_telegram(&fake, fake.token(), ""));
    let mut gateway = home.gateway();
    let (failed, ready) = gateway.said.split_once("Ready").unwrap();
    assert!(
        failed.contains("Telegram cannot be reached") && ready.starts_with(", but not on Telegram."),
        "{}",
        gateway.said
    );
    let claimed = home.run("people claim").done();
    gateway.wait_for(&format!("Telegram: connected as @{}.", fake.bot_username()));
    // Once the bot is known, the code is a link.
    assert!(!claimed.contains("https://t.me/"), "{claimed}");
    let claimed = home.run("people claim").done();
    let link = format!("https://t.me/{}?start=", fake.bot_username());
    let code = claimed.split_once(&link).expect("no link").1.split_whitespace().next().unwrap();
    fake.says(fake.person(41, "Robin", None), &format!("/start {code}"));
    gateway.wait_for("An address on Telegram now has access as owner.");
    gateway.stop();
}

/// Proves: operation/channel-changes
#[test]
fn a_refused_token_is_printed_before_ready() {
    let fake = FakeTelegram::start_sync();
    let token = "123456:AAHsecret_secret_secret_secret_secret";
    let home = Home::configured(with_telegram(&fake, token, "telegram = 7\n"));
    let gateway = home.gateway();
    let (before, after) = gateway.said.split_once("Ready").unwrap();
    assert!(before.contains("Telegram refuses the bot's token."), "{before}");
    assert!(after.starts_with(", but not on Telegram."), "{after}");
}

/// Promise (operation/health-check): `compline status --check` succeeds only while the gateway runs
/// and receives on every channel, so that other programs can watch it.
#[test]
fn a_check_fails_without_a_gateway_or_a_channel() {
    let fake = FakeTelegram::start_sync();
    let home = Home::configured(with_telegram(&fake, fake.token(), "telegram = 7\n"));
    let check = || home.run("status --check");
    check().refused(1, &["No gateway is running", "compline run"]);
    let mut gateway = home.gateway();
    assert_eq!(check().done(), "");
    fake.stop();
    gateway.wait_for("Telegram cannot be reached");
    check().refused(1, &["Telegram cannot be reached"]);
    fake.restart();
    gateway.wait_for("Telegram: connected");
    assert_eq!(check().done(), "");
    gateway.signal("STOP");
    check().refused(1, &["does not answer"]);
}

/// Promise (operation/no-authorities): Compline works where the computer has no certificates of
/// authorities: there the list that came with it counts.
#[test]
fn a_computer_without_certificates_is_enough() {
    let fake = FakeTelegram::start_sync();
    let home = Home::configured(with_telegram(&fake, fake.token(), "telegram = 7\n"));
    let mut command = home.command("run");
    command.env("SSL_CERT_FILE", home.file("none"));
    let gateway = Gateway::start(command);
    assert!(gateway.said.contains("Telegram: connected"), "{}", gateway.said);
}

/// Promise (operation/reload): `compline reload` and SIGHUP make the running gateway read its
/// configuration again. One that is not valid changes nothing, and closing the terminal in which
/// the gateway was started does not end it.
#[test]
fn a_reload_takes_the_new_configuration_or_keeps_the_old() {
    let home = Home::plain();
    home.run("reload").refused(1, &["No gateway is running", "compline run"]);
    let mut gateway = home.gateway();
    std::fs::write(home.file("compline.toml"), PLAIN.replace("Europe/Vienna", "Asia/Tokyo")).unwrap();
    gateway.signal("HUP");
    assert!(gateway.wait_for("Ready").contains("Asia/Tokyo"));
    std::fs::write(home.file("compline.toml"), "timezone = 7\n").unwrap();
    home.run("reload").refused(2, &["timezone"]);
    gateway.signal("HUP");
    gateway.wait_for("goes on with the configuration it has");
    std::fs::write(home.file("compline.toml"), PLAIN).unwrap();
    assert!(home.run("reload").err.contains("read again"));
    assert!(gateway.wait_for("Ready").contains("Europe/Vienna"));
    assert!(home.run("chat What is 12*7?").done().contains("84"));
    let (code, last) = gateway.stop();
    assert_eq!(code, Some(0), "{last}");
}

/// Promise (people/first-owner): The first owner claims the bot with a code that is printed only on
/// a terminal, never in a log.
#[test]
fn the_claim_code_of_an_unclaimed_bot_is_shown_only_on_a_terminal() {
    let telegram =
        "[telegram]\ntoken = \"123456:AAHsecret_secret_secret_secret_secret\"\napi_url = \"http://127.0.0.1:9\"\n";
    let plain = super::program::PLAIN;
    let unclaimed = Home::configured(format!("{plain}{telegram}"));
    let gateway = unclaimed.gateway();
    let shown = unclaimed.run("people claim").done();
    assert!(shown.contains("/start "), "{shown}");
    let (_, said) = gateway.stop();
    // Standard error is a pipe, as for a service: its reader may store the output.
    assert!(said.contains("compline people claim") && !said.contains("/start "), "{said}");
    let declared = Home::configured(format!("{plain}telegram = 7\n{telegram}"));
    let (_, said) = declared.gateway().stop();
    assert!(!said.contains("/start "), "{said}");
}

/// Promise (command-line/demonstration): The demonstration runs anywhere, without a key or a
/// network.
#[test]
fn the_demonstration_runs_to_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let ended = program().env("TMPDIR", folder.path()).args(["demo", "--fast"]).output().unwrap();
    let shown = String::from_utf8(ended.stdout).unwrap();
    assert_eq!(ended.status.code(), Some(0), "{}", String::from_utf8_lossy(&ended.stderr));
    let (before, summary) = shown.split_once("Written down for the next conversation").expect("no boundary");
    for part in [
        "Topics",
        "Decisions    2026-11-02: We decided to cook lentil soup.",
        "Preferences  2026-11-02: She never eats nuts",
        "Pending      2026-11-02: I must buy",
    ] {
        assert!(summary.contains(part), "{part:?} is missing in {summary}");
    }
    assert!(before.contains("untrusted  you"), "{before}");
    assert!(summary.contains("compline init"), "{summary}");
    assert!(!summary.contains("soaking") && !summary.contains("set up a real one"), "{summary}");
    for part in [
        "*compline  Reminder: buy lentils",
        "then everything for Friday's soup is there",
        "Keep this?",
        "twelve minutes",
        "Forgotten: 1 note",
        "I know nothing about that",
        "Looking back on the week from Mon 2 Nov: ",
        "1 add the skill packing: does nothing by itself",
        "Done: the skill packing is live from the next message on.",
        "Inhaler. Clothes for two days",
        "outside had a part in it: text that was piped in",
        "Refused: proposal 2 is void",
        "3 change the skill packing: does nothing by itself",
        "Inhaler. It rains there",
        "quiet days had no reflection",
    ] {
        assert!(summary.contains(part), "{part:?} is missing in {summary}");
    }
    assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
    assert!(!shown.contains('\u{1b}'));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "its home is left behind");
}
