//! The doctor on webhooks: the address, the calls, and our listener.

use std::net::{Ipv4Addr, TcpListener};

use super::program::{Home, PLAIN};
use crate::support::free_address::free_address;
use crate::support::telegram::FakeTelegram;

const URL: &str = "https://bot.example.org/telegram";

/// A home whose bot listens for webhook calls at that port.
fn home(fake: &FakeTelegram, port: u16) -> Home {
    let (token, api) = (fake.token(), fake.url());
    Home::configured(format!(
        "{PLAIN}telegram = 7\n[telegram]\ntoken = \"{token}\"\napi_url = \"{api}\"\nmode = \"webhook\"\nwebhook_url = \
         \"{URL}\"\nwebhook_listen = \"127.0.0.1:{port}\"\nwebhook_secret = \"a-secret-of-24-letters_x\"\n"
    ))
}

#[track_caller]
fn finds(home: &Home, code: i32, line: &str) {
    let report = home.run("doctor");
    assert!(report.code == code && report.out.contains(line), "{line:?} is missing in {}", report.out);
}

#[test]
fn the_webhook_address_is_compared_with_the_configuration() {
    let fake = FakeTelegram::start_sync();
    let home = home(&fake, free_address().port());
    finds(&home, 0, "`compline run` tells Telegram where to call");
    fake.set_webhook(URL);
    finds(&home, 0, "its messages come to telegram.webhook_url");
    // While the gateway runs, a foreign address was set by another program.
    let gateway = home.gateway();
    let begun = std::time::Instant::now();
    while !home.run("doctor").out.contains("receives on all its channels") {
        assert!(begun.elapsed().as_secs() < 30, "it never connected: {}", home.run("doctor").out);
    }
    finds(&home, 0, "its messages come to telegram.webhook_url");
    fake.set_webhook("https://elsewhere.example.org/bot");
    finds(&home, 1, "its messages do not go to telegram.webhook_url");
    gateway.stop();
}

#[test]
fn failed_webhook_calls_are_reported_with_telegrams_error() {
    let fake = FakeTelegram::start_sync();
    let ada = fake.person(7, "Ada", None);
    let home = home(&fake, free_address().port());
    fake.set_webhook(URL);
    fake.leads_nowhere();
    fake.says(ada, "Good evening");
    let begun = std::time::Instant::now();
    while fake.called().is_empty() {
        assert!(begun.elapsed().as_secs() < 30, "nobody called");
        std::thread::yield_now();
    }
    finds(&home, 1, "Telegram's last call failed at");
    finds(&home, 1, "503 Service Unavailable");
}

#[test]
fn a_listen_address_in_use_by_another_program_is_reported() {
    let fake = FakeTelegram::start_sync();
    let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = taken.local_addr().unwrap().port();
    finds(&home(&fake, port), 1, &format!("cannot be received at 127.0.0.1:{port}: address in use"));
}
