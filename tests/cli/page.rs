//! `compline web`, and a page whose address is taken.

use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use qrcode::{Color, EcLevel, QrCode};

use super::program::{Home, PLAIN};

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

/// Promise (page/qr): With a public address `compline web --qr` shows the link to it as a QR code.
#[test]
fn a_telephone_is_signed_in_by_a_code() {
    let address = "[web]\npublic_url = \"https://home.example\"\n";
    let home = Home::configured(format!("{PLAIN}{address}"));
    let gateway = home.gateway();
    let shown = home.run("web --qr --as Ada");
    let link = shown.out.split_whitespace().next().unwrap_or_default();
    assert!(shown.code == 0 && link.starts_with("https://home.example/login#"), "{shown:?}");
    assert!(shown.out.contains("as Ada"), "{shown:?}");
    let half = |line: &str, dark: [char; 2]| -> Vec<bool> {
        line.chars().filter(|char| " █▀▄".contains(*char)).map(|char| dark.contains(&char)).collect()
    };
    let rows = shown.err.lines().flat_map(|line| [half(line, ['█', '▀']), half(line, ['█', '▄'])]);
    let code = QrCode::with_error_correction_level(link, EcLevel::L).unwrap();
    let (quiet, width) = (4, code.width());
    let drawn = rows.skip(quiet).take(width).flat_map(|row| row[quiet..quiet + width].to_vec());
    let modules = code.to_colors().into_iter().map(|colour| colour == Color::Dark);
    assert_eq!(drawn.collect::<Vec<_>>(), modules.collect::<Vec<_>>(), "{}", shown.err);
    gateway.stop();
}

/// Promise (page/desktop): On a desktop the link opens by itself, through a page that only its user
/// can read, and no command line holds the code.
#[test]
fn a_desktop_opens_the_link_from_a_private_file() {
    let home = Home::plain();
    let gateway = home.gateway();
    let opener = home.file("xdg-open");
    std::fs::write(&opener, "#!/bin/sh\nprintf %s \"$*\" >\"$0.args\"\n").unwrap();
    std::fs::set_permissions(&opener, std::fs::Permissions::from_mode(0o700)).unwrap();
    let path = home.path().to_str().unwrap().to_owned();
    let mut terminal = home.session_with("web", &[("DISPLAY", ":0"), ("PATH", &path)]);
    let shown = terminal.shows("From another computer");
    let page = home.file("sign-in.html");
    let begun = Instant::now();
    let opened = || std::fs::read_to_string(home.file("xdg-open.args")).unwrap_or_default();
    while opened() != page.to_str().unwrap() {
        assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", opened());
        std::thread::yield_now();
    }
    assert_eq!(std::fs::metadata(&page).unwrap().permissions().mode() & 0o777, 0o600);
    let html = std::fs::read_to_string(&page).unwrap();
    let code = html.split_once('#').unwrap().1.split('"').next().unwrap();
    assert!(shown.replace(['\r', '\n'], "").contains(code), "{shown}");
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
