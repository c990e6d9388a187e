//! What an installed program brings along: the service, the manual, completions and the changelog.

use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::program::{Ended, Gateway, Home, program};

/// A folder with a `systemctl` and a `loginctl` that write down how they were called.
fn service_manager(folder: &Path) {
    for name in ["systemctl", "loginctl"] {
        let path = folder.join(name);
        std::fs::write(&path, format!("#!/bin/sh\necho {name} \"$@\" >> '{}'\n", folder.join("calls").display()))
            .unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
}

fn service(home: &Home, folder: &Path, command: &str) -> Ended {
    let mut command = home.command(&format!("service {command} --user"));
    Ended::of(command.env("PATH", folder).env("XDG_CONFIG_HOME", folder).output().unwrap())
}

fn calls(folder: &Path) -> Vec<String> {
    let calls = std::fs::read_to_string(folder.join("calls")).unwrap_or_default();
    let _ = std::fs::remove_file(folder.join("calls"));
    calls.lines().map(str::to_owned).collect()
}

/// Promise (operation/service): One command makes the gateway a service of yours that starts with
/// the computer, another removes it; your data stays.
#[test]
fn a_service_of_a_user_is_installed_shown_and_removed() {
    let (home, folder) = (Home::plain(), tempfile::tempdir().unwrap());
    let folder = folder.path();
    service(&home, folder, "status").refused(1, &["No service is installed", "compline service install"]);
    service(&home, folder, "install").refused(1, &["There is no systemctl on this computer"]);
    service_manager(folder);
    let installed = service(&home, folder, "install");
    assert!(installed.code == 0 && installed.err.contains("runs as a service now"), "{installed:?}");
    let unit = folder.join("systemd/user/compline.service");
    let text = std::fs::read_to_string(&unit).unwrap();
    assert!(text.contains(&format!("--home \"{}\" run\n", home.path().display())) && !text.contains('@'), "{text}");
    assert!(text.contains("\nType=notify\n") && text.contains("\nWatchdogSec="), "{text}");
    let begun = ["daemon-reload", "enable compline", "restart compline"].map(|call| format!("systemctl --user {call}"));
    assert_eq!(calls(folder), [&begun[..], &["loginctl enable-linger".to_owned()]].concat());
    assert_eq!(service(&home, folder, "status").code, 0);
    assert_eq!(calls(folder), ["systemctl --user status --no-pager compline"]);
    assert_eq!(service(&home, folder, "uninstall").code, 0);
    assert_eq!(calls(folder), ["systemctl --user disable --now compline", "systemctl --user daemon-reload"]);
    assert!(!unit.exists() && home.file("compline.toml").exists());
}

/// Proves: operation/service
#[test]
fn a_service_needs_a_valid_configuration() {
    let (home, folder) = (Home::new(), tempfile::tempdir().unwrap());
    service_manager(folder.path());
    service(&home, folder.path(), "install").refused(2, &["compline init"]);
    assert!(calls(folder.path()).is_empty() && !folder.path().join("systemd").exists());
}

/// Proves: operation/service
#[test]
fn without_a_users_directory_a_service_says_what_to_do() {
    let run = |line: &str| Ended::of(program().args(line.split(' ')).output().unwrap());
    run("service status --system").refused(1, &["No service is installed", "compline service install"]);
    run("service status --user").refused(2, &["HOME is not set", "fix: set HOME"]);
}

/// Promise (operation/watchdog): systemd counts the gateway as started once it works, shows the
/// state of its channels, and restarts it if one hangs: its watchdog is fed only while none does.
#[test]
fn systemd_is_told_that_it_is_ready_and_receives() {
    let home = Home::plain();
    let address = home.file("notify");
    let socket = UnixDatagram::bind(&address).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let next = || {
        let mut bytes = [0; 512];
        let length = socket.recv(&mut bytes).expect("systemd was told nothing");
        String::from_utf8(bytes[..length].to_vec()).unwrap()
    };
    let mut command = home.command("run");
    command.env("NOTIFY_SOCKET", address).env("WATCHDOG_USEC", "4000000");
    let gateway = Gateway::start(command);
    assert_eq!(next().trim(), "READY=1");
    assert_eq!([next(), next()].map(|told| told.trim().to_owned()), ["WATCHDOG=1", "WATCHDOG=1"]);
    gateway.stop();
    while next().trim() != "STOPPING=1" {}
}

/// Promise (operation/packages): Removing or purging the Debian package never deletes your data.
#[test]
fn purging_the_package_leaves_the_home() {
    let root = tempfile::tempdir().unwrap();
    let home = root.path().join("var/lib/compline");
    std::fs::create_dir_all(&home).unwrap();
    std::fs::write(home.join("compline.db"), "journal").unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("config/debian/postrm");
    let run = |action: &str| {
        Ended::of(Command::new("sh").arg(&script).arg(action).env("DPKG_ROOT", root.path()).output().unwrap())
    };
    for action in ["upgrade", "remove"] {
        assert_eq!(run(action).done(), "");
    }
    assert!(run("purge").done().contains("Your data stays in /var/lib/compline"));
    assert_eq!(std::fs::read_to_string(home.join("compline.db")).unwrap(), "journal");
    std::fs::remove_file(home.join("compline.db")).unwrap();
    assert_eq!(run("remove").done(), "");
    assert!(home.exists());
    assert_eq!(run("purge").done(), "");
    assert!(!home.exists(), "an empty home is no data");
}

/// Promise (command-line/manual): The program brings its manual, its changelog, and completions for
/// your shell.
#[test]
fn the_manual_the_completions_and_the_changelog_are_in_the_program() {
    let home = Home::new();
    for shell in ["bash", "zsh", "fish"] {
        assert!(home.run(&format!("completions {shell}")).done().contains("reflections"), "{shell}");
    }
    home.run("completions ksh").refused(2, &["bash", "fish", "zsh"]);
    assert!(home.run("manual").done().contains(".TH compline 1"));
    let pages = home.file("pages");
    home.run(&format!("manual --dir {}", pages.display())).done();
    for page in ["compline.1", "compline-run.1", "compline-people-pair.1"] {
        assert!(pages.join(page).exists(), "{page}");
    }
    let newest = home.run("changelog").done();
    assert!(newest.contains("## 0.1.0") && !newest.contains("The format follows"), "{newest}");
    assert!(home.run("changelog --all").done().contains("The format follows"));
}

/// Proves: command-line/manual
#[test]
fn a_folder_that_cannot_be_written_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let ended = Ended::of(program().args(["manual", "--dir"]).arg(file.join("below")).output().unwrap());
    ended.refused(1, &["Cannot write the manual to"]);
}
