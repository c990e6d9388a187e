//! `compline web`, and a page whose address is taken.

use std::net::TcpListener;

use super::program::Home;

/// Promise (page/link): `compline web` prints a link while the gateway runs, and says what to do
/// while it does not; `--end-all` signs everyone out.
#[test]
fn a_link_is_made_while_the_page_is_served() {
    let home = Home::plain();
    home.run("web").refused(1, &["served while `compline run` runs"]);
    let gateway = home.gateway();
    let printed = home.run("web");
    assert_eq!(printed.code, 0, "{}", printed.err);
    assert!(printed.out.starts_with("http://127.0.0.1:") && printed.out.contains("/login#"), "{}", printed.out);
    assert!(printed.out.contains("as Ada"), "{}", printed.out);
    home.run("web --as Nobody").refused(1, &["Nobody"]);
    home.run("web --qr").refused(2, &["public_url"]);
    let ended = home.run("web --end-all");
    assert_eq!((ended.code, &*ended.out), (0, "No browser was signed in. Open links are void.\n"), "{}", ended.err);
    gateway.stop();
}

/// Promise (page/port): If the page's address is taken, the gateway runs on and says so.
#[test]
fn a_taken_address_does_not_stop_the_gateway() {
    let home = Home::plain();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut command = home.command("run");
    let address = taken.local_addr().unwrap().to_string();
    command.env("COMPLINE__WEB__LISTEN", &address);
    let gateway = super::program::Gateway::start(command);
    home.run("web").refused(1, &["The page is not served", &address, "[web] listen"]);
    assert_eq!(home.run("status").code, 0);
    gateway.stop();
}
