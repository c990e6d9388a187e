//! Signal on the command line: steps of the doctor, accounts of a daemon, linking, and the owner's
//! code.

use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use super::program::{Ended, Home, PLAIN};
use crate::support::signal::{FakeSignal, Transport};

/// A home with these lines in `[signal]`, before its first start.
fn home(signal: &str) -> Home {
    Home::new().with("compline.toml", format!("{PLAIN}[signal]\n{signal}\n"))
}

/// A home connected to a daemon.
fn beside(fake: &FakeSignal, transport: Transport) -> Home {
    home(&format!("endpoint = \"{}\"", fake.endpoint(transport)))
}

/// Findings of a check by the doctor: state and text, line by line.
fn findings(ended: &Ended, check: &str) -> Vec<(String, String)> {
    let found: serde_json::Value = serde_json::from_str(&ended.out).unwrap_or_else(|_| panic!("{ended:?}"));
    let all = found["findings"].as_array().unwrap().clone();
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    let ours = all.iter().filter(|finding| finding["check"] == check);
    ours.map(|finding| (text(&finding["state"]), format!("{} / {}", text(&finding["what"]), text(&finding["fix"]))))
        .collect()
}

#[track_caller]
fn finds(home: &Home, state: &str, words: &[&str]) {
    let ended = home.run("doctor --json");
    let found = findings(&ended, "signal");
    let is_meant = |(is, what): &(String, String)| is == state && words.iter().all(|word| what.contains(word));
    assert!(found.iter().any(is_meant), "no {state} with {words:?} in {found:#?}");
    assert_eq!(ended.code, i32::from(found.iter().any(|(state, _)| state == "wrong")), "{found:#?}");
}

#[test]
fn a_daemon_with_one_account_is_well_on_every_way() {
    let fake = FakeSignal::start_sync();
    fake.version("0.14.6");
    for transport in Transport::ALL {
        let home = beside(&fake, transport);
        finds(&home, "ok", &["signal-cli 0.14.6 answers"]);
        assert!(!home.run("doctor").out.contains(fake.account()), "a report may be pasted anywhere");
    }
}

/// Proves: channels/signal-setup
#[test]
fn doctor_names_a_fix_for_each_signal_problem() {
    let fake = FakeSignal::start_sync();
    let home_of = || beside(&fake, Transport::Unix);
    finds(&home_of(), "note", &["old 0.13", "install the newest"]);
    fake.version("0.12.8");
    finds(&home_of(), "wrong", &["0.12.8 is older", "install the newest"]);
    fake.version("0.14.6");
    let other = home(&format!("endpoint = \"{}\"\naccount = \"+49123456789\"", fake.endpoint(Transport::Unix)));
    finds(&other, "wrong", &["does not have the account"]);

    let folder = fake.socket().parent().unwrap().to_owned();
    let mode = |path: &std::path::Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    mode(&folder, 0o755);
    mode(&fake.socket(), 0o777);
    finds(&home_of(), "wrong", &["everybody on this computer can open", "chmod 700"]);
    mode(&fake.socket(), 0o755);
    finds(&home_of(), "note", &["only its own mode", "chmod 700"]);
    mode(&folder, 0o700);

    fake.stop();
    finds(&home_of(), "wrong", &["left it behind", "rm '", "signal-cli daemon --socket"]);
    fake.stop_cleanly();
    finds(&home_of(), "wrong", &["no daemon runs", "--receive-mode=manual --no-receive-stdout"]);
    finds(&home("endpoint = \"tcp:127.0.0.1:9\""), "wrong", &["cannot be reached", "--tcp 127.0.0.1:9"]);
    finds(&home("endpoint = \"http://127.0.0.1:9\""), "wrong", &["cannot be reached", "--http 127.0.0.1:9"]);
}

#[test]
fn a_daemon_that_compline_starts_is_looked_at_before_it_runs() {
    let manual = "command = [\"cat\", \"daemon\", \"--receive-mode=manual\", \"--no-receive-stdout\"]";
    let path = "/usr/bin:/bin";
    let doctor =
        |home: &Home| findings(&Ended::of(home.command("doctor --json").env("PATH", path).output().unwrap()), "signal");
    assert_eq!(
        doctor(&home(manual)),
        [("note".to_owned(), "the daemon is not running; `compline run` starts it / ".to_owned())]
    );
    let found =
        doctor(&home("command = [\"signal-cli-that-is-not-there\", \"daemon\"]\nattachments_dir = \"/nowhere\""));
    for (state, words) in [
        ("wrong", "signal-cli-that-is-not-there, does not exist"),
        ("wrong", "/nowhere cannot be read"),
        ("wrong", "mode \"on-start\""),
        ("note", "--no-receive-stdout"),
    ] {
        assert!(found.iter().any(|(is, what)| is == state && what.contains(words)), "{words} is missing in {found:#?}");
    }
}

#[test]
fn a_group_on_an_unconfigured_channel_is_reported() {
    let home = Home::configured(format!("{PLAIN}[groups]\nallowed = [\"signal:abc=\", \"telegram:-1\"]\n"));
    let found = findings(&home.run("doctor --json"), "groups");
    assert!(found.len() == 2 && found.iter().all(|(state, _)| state == "wrong"), "{found:?}");
}

#[test]
fn the_accounts_of_a_daemon_are_listed() {
    let fake = FakeSignal::start_sync();
    let home = beside(&fake, Transport::Unix);
    let told = home.run("signal accounts").done();
    assert!(
        told.contains("signal-cli 0.13.19") && told.contains(&format!("{}  (the assistant's)", fake.account())),
        "{told}"
    );
    let json = home.run("signal accounts --json").json();
    assert_eq!(
        json,
        serde_json::json!({
            "version": "0.13.19", "accounts": [{ "number": fake.account(), "is_ours": true }],
        })
    );
    fake.stop();
    home.run("signal accounts").refused(1, &["cannot be reached", "fix: start it"]);
    Home::plain().run("signal accounts").refused(2, &["Signal is not configured", "fix:"]);
}

/// Promise (channels/signal-setup): `init` and `compline signal link` set up an account by a code
/// that your phone scans, `doctor` explains how to fix each step, and neither reports success while
/// a channel is not receiving.
#[test]
fn a_phone_that_scans_the_link_gives_its_account() {
    let fake = FakeSignal::start_sync();
    let home = beside(&fake, Transport::Unix);
    let mut child = home.command("signal link").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let link = lines.by_ref().map(Result::unwrap).find(|line| line.contains("sgnl://linkdevice?"));
    assert!(link.is_some(), "no link was shown");
    // There is no terminal whose colours could be relied on.
    assert!(!link.unwrap().contains('\u{1b}'));
    fake.scans();
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(0));
    assert!(String::from_utf8(ended.stdout).unwrap().contains("Linked. The daemon has the account +"));
}

/// Proves: channels/signal-setup
#[test]
fn an_unclaimed_bot_can_be_claimed_on_signal() {
    let fake = FakeSignal::start_sync();
    let home = beside(&fake, Transport::Unix);
    let gateway = home.gateway();
    // Signal's links open the chat; the person sends the code.
    let claim = home.run("people claim").done();
    assert!(claim.contains("(https://signal.me/#p/+") && claim.contains("/start "), "{claim}");
    let (_, said) = gateway.stop();
    assert!(said.contains("compline people claim") && !said.contains("/start "), "{said}");
    let endpoint = format!("endpoint = \"{}\"", fake.endpoint(Transport::Unix));
    let declared = Home::configured(format!("{PLAIN}signal = \"+43123456789\"\n[signal]\n{endpoint}\n"));
    let (_, said) = declared.gateway().stop();
    assert!(!said.contains("claim"), "{said}");
}

/// Proves: channels/signal-setup
#[test]
fn init_takes_signal_from_flags_and_tries_it() {
    let fake = FakeSignal::start_sync();
    let endpoint = fake.endpoint(Transport::Unix);
    let home = Home::new();
    let init =
        |more: &str| home.run(&format!("init --non-interactive --owner Ada --signal-endpoint {endpoint} {more}"));
    let told = init("--owner-signal +43123456789");
    assert!(told.err.contains(fake.account()) && told.err.contains("Wrote"), "{}", told.err);
    let told = home.run("config show").done();
    for part in [endpoint.as_str(), "+43123456789"] {
        assert!(told.contains(part), "{part} is missing in {told}");
    }
    init("--replace --signal-account +49111111111")
        .refused(1, &["does not have the account", "signal accounts", "--untested"]);
    init("--replace --owner-signal 0664").refused(2, &["is no Signal account"]);
    init("--replace --signal-account +49111111111 --untested").done();
    fake.stop();
    init("--replace").refused(1, &["cannot be reached", "signal-cli daemon --socket"]);
}

/// Proves: channels/signal-setup
#[test]
fn a_gateway_whose_daemon_is_deaf_is_never_green() {
    let fake = FakeSignal::start_sync();
    fake.version("0.14.6");
    let home = beside(&fake, Transport::Unix);
    let gateway = home.gateway();
    let is_well = |home: &Home| {
        home.run("status --json").json()["adapters"].to_string().contains("\"name\":\"signal\",\"state\":\"ok\"")
    };
    let begun = std::time::Instant::now();
    while !is_well(&home) {
        assert!(begun.elapsed().as_secs() < 30, "it never received");
    }
    assert!(home.run("status").done().contains("signal: working (last heard"));
    fake.stop_cleanly();
    while is_well(&home) {
        assert!(begun.elapsed().as_secs() < 60, "it is green while deaf");
    }
    let report = home.run("doctor");
    assert!(report.code == 1 && report.out.contains("WRONG   gateway         signal:"), "{}", report.out);
    gateway.stop();
}
