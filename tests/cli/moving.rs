//! Keys and tokens: in a backup, on a new computer, and replaced by a command.

use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::program::{Ended, Home, PLAIN};
use super::wizard::{self, KEY};
use crate::support::telegram::FakeTelegram;

const TOKEN: &str = "123456:AAHsecret_secret_secret_secret_secret";
const NOWHERE: &str = "api_url = \"http://127.0.0.1:9\"\n";
const MODEL: &str = "[model]\nprovider = \"openai\"\nname = \"small\"\n";

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// A home with a model's key and a bot's token in files of the home.
fn with_secrets() -> Home {
    let config = format!(
        "{PLAIN}{MODEL}api_key_file = \"HOME/keys/model.key\"\n[telegram]\ntoken_file = \"HOME/telegram.token\"\n{NOWHERE}"
    );
    let home = Home::configured(config).with("telegram.token", format!("{TOKEN}\n"));
    std::fs::create_dir(home.file("keys")).unwrap();
    let home = home.with("keys/model.key", KEY);
    home.run("people list").done();
    home
}

/// Paths in an archive, and all of its bytes as text.
fn contents(archive: &Path) -> (Vec<String>, String) {
    let (mut paths, mut text) = (Vec::new(), String::new());
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(std::fs::File::open(archive).unwrap()));
    for entry in archive.entries().unwrap() {
        let mut entry = entry.unwrap();
        paths.push(entry.path().unwrap().to_string_lossy().into_owned());
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        text.push_str(&String::from_utf8_lossy(&bytes));
    }
    (paths, text)
}

fn restored(from: &Home, to: &Home, file: &Path, more: &str) -> Ended {
    let code = from.run("backup --recovery-code").done();
    to.pipe(&format!("restore --yes --recovery-code-file - {more} {}", file.display()), code.as_bytes())
}

/// Promise (operation/new-computer): One backup and one restore move the assistant to another
/// computer or user: the keys and tokens that lie in the home are in the backup, the key of the
/// backups is not, and what lies elsewhere is listed with the setting that names it.
#[test]
fn keys_and_tokens_in_the_home_move_with_it() {
    let (home, shelf) = (with_secrets(), tempfile::tempdir().unwrap());
    let file = shelf.path().join("all.tar.gz");
    let made = home.run(&format!("backup {}", file.display()));
    assert!(made.err.contains("It contains compline.toml, keys/model.key, telegram.token: every key"), "{made:?}");
    let (paths, text) = contents(&file);
    assert!(text.contains(TOKEN) && text.contains(KEY) && !paths.iter().any(|path| path.contains("backup.key")));
    let new = Home::new();
    let moved = restored(&home, &new, &file, "");
    assert!(moved.out.contains("is as it was at") && !moved.out.contains("_file"), "{moved:?}");
    moved.done();
    new.run("config check").done();
    for secret in ["telegram.token", "keys/model.key"] {
        let read = |home: &Home| std::fs::read_to_string(home.file(secret)).unwrap();
        assert_eq!((read(&new), mode(&new.file(secret))), (read(&home), 0o600));
    }
    // Without the configuration, the archive holds none of them.
    let bare = shelf.path().join("bare.tar.gz");
    home.run(&format!("backup --without-config {}", bare.display())).done();
    let (paths, text) = contents(&bare);
    assert!(!text.contains(TOKEN) && !text.contains(KEY) && !paths.iter().any(|path| path.starts_with("secrets")));
}

/// Proves: operation/new-computer
#[test]
fn keys_and_tokens_outside_the_home_are_listed_and_the_rest_is_restored() {
    let shelf = tempfile::tempdir().unwrap();
    let (file, key) = (shelf.path().join("all.tar.gz"), shelf.path().join("outside.key"));
    std::fs::write(&key, KEY).unwrap();
    let config = format!(
        "{PLAIN}{MODEL}api_key_file = \"{}\"\n[model.fallback]\nprovider = \"openai\"\nname = \"m\"\n\
         api_key_env = \"SPARE_KEY\"\n[telegram]\ntoken_file = \"HOME/telegram.token\"\n{NOWHERE}",
        key.display()
    );
    let home = Home::configured(config).with("telegram.token", TOKEN);
    let with_key = |line: &str| Ended::of(home.command(line).env("SPARE_KEY", "spare").output().unwrap());
    with_key("people list").done();
    let made = with_key(&format!("backup {}", file.display()));
    assert!(made.err.contains(&format!("not in the backup: {} (a key or token outside", key.display())), "{made:?}");
    made.done();
    assert!(!contents(&file).1.contains(KEY));
    std::fs::remove_file(&key).unwrap();
    let new = Home::new();
    let moved = restored(&home, &new, &file, "");
    assert!(moved.out.contains("except as listed below"), "{moved:?}");
    for line in [
        format!("- model.api_key_file: {} is not here", key.display()),
        "config set-secret model.api_key`".to_owned(),
        "- model.fallback.api_key_env: set the variable SPARE_KEY".to_owned(),
    ] {
        assert!(moved.out.contains(&line), "{line:?} is missing in {}", moved.out);
    }
    moved.done();
    // What is listed is all that is missing.
    std::fs::write(&key, KEY).unwrap();
    let check = new.command("config check").env("SPARE_KEY", "spare").output().unwrap();
    assert_eq!(Ended::of(check).code, 0);
}

/// Proves: operation/new-computer
#[test]
fn an_absolute_path_into_the_former_home_is_named_with_its_new_place() {
    let (home, shelf) = (Home::new(), tempfile::tempdir().unwrap());
    let file = shelf.path().join("all.tar.gz");
    let token = home.file("telegram.token");
    let config = format!("{PLAIN}[telegram]\ntoken_file = \"{}\"\n{NOWHERE}", token.display());
    let home = home.with("compline.toml", config).with("telegram.token", TOKEN);
    home.run("people list").done();
    home.run(&format!("backup {}", file.display())).done();
    let new = Home::new();
    let code = home.run("backup --recovery-code").done();
    std::fs::remove_file(&token).unwrap();
    let moved = new.pipe(&format!("restore --yes --recovery-code-file - {}", file.display()), code.as_bytes());
    let line = format!("- telegram.token_file: {} is now HOME/telegram.token; change the setting", token.display());
    assert!(moved.out.contains(&line), "{moved:?}");
    assert_eq!(std::fs::read_to_string(new.file("telegram.token")).unwrap(), TOKEN);
}

/// Proves: operation/new-computer
#[test]
fn a_home_with_a_configuration_keeps_its_own_keys_unless_asked() {
    let (home, shelf) = (with_secrets(), tempfile::tempdir().unwrap());
    let file = shelf.path().join("all.tar.gz");
    home.run(&format!("backup {}", file.display())).done();
    let newer = "654321:AAHsecret_secret_secret_secret_secret";
    std::fs::write(home.file("telegram.token"), newer).unwrap();
    let token = |home: &Home| std::fs::read_to_string(home.file("telegram.token")).unwrap().trim().to_owned();
    home.run(&format!("restore --yes {}", file.display())).done();
    assert_eq!(token(&home), newer);
    let taken = home.run(&format!("restore --yes --with-config {}", file.display())).done();
    assert_eq!(token(&home), TOKEN);
    let aside = taken.split_once("The previous state is in ").unwrap().1.lines().next().unwrap();
    let aside = Path::new(aside.trim_end_matches('.')).join("secrets/telegram.token");
    assert_eq!(std::fs::read_to_string(aside).unwrap(), newer);
}

/// Promise (operation/set-secret): `compline config set-secret` replaces an API key or token where
/// the configuration has it, after a real request with it succeeded, and a running gateway uses it
/// at once. It is typed without echo or piped, never an argument.
#[test]
fn a_token_is_replaced_by_one_command() {
    let fake = FakeTelegram::start_sync();
    let config = format!(
        "{PLAIN}telegram = 7\n[telegram]\ntoken_file = \"HOME/telegram.token\"\napi_url = \"{}\"\n",
        fake.url()
    );
    let home = Home::configured(config).with("telegram.token", TOKEN);
    let mut gateway = home.gateway();
    assert!(gateway.said.contains("Telegram refuses the bot's token."), "{}", gateway.said);
    let set = "config set-secret telegram.token";
    home.pipe(set, b"123456:wrong_wrong_wrong_wrong_wrong_wrong").refused(1, &["refuses", "Nothing was changed"]);
    home.pipe(set, b"not a token").refused(2, &["telegram.token"]);
    home.run(set).refused(2, &["Standard input is empty"]);
    home.run(&format!("{set} {}", fake.token())).refused(2, &["unexpected argument"]);
    assert_eq!(std::fs::read_to_string(home.file("telegram.token")).unwrap(), TOKEN);
    // At a terminal it is asked for again, and not shown.
    let mut session = home.session(set);
    session.answers("New telegram.token", "123456:wrong_wrong_wrong_wrong_wrong_wrong");
    let before = session.shows("refuses");
    session.answers("New telegram.token", fake.token());
    let (code, shown) = session.ends();
    assert!(code == Some(0) && shown.contains("the running gateway uses it"), "{shown}");
    assert!(!shown.contains(fake.token()) && !before.contains("wrong_wrong"), "{shown}");
    gateway.wait_for(&format!("Telegram: connected as @{}.", fake.bot_username()));
    assert_eq!(std::fs::read_to_string(home.file("telegram.token")).unwrap().trim(), fake.token());
    assert_eq!(mode(&home.file("telegram.token")), 0o600);
    gateway.stop();
}

/// Proves: operation/set-secret
#[test]
fn a_key_is_replaced_where_the_configuration_has_it() {
    let server = wizard::model_server();
    let model = format!("{MODEL}base_url = \"http://{server}/v1\"\n");
    let inline = format!("{PLAIN}# The key of \"old\".\n{model}api_key = \"old\" # here\n");
    let home = Home::configured(&inline);
    let set = |home: &Home, more: &str, key: &str| home.pipe(&format!("config set-secret {more}"), key.as_bytes());
    set(&home, "model.api_key", "sk-bad").refused(1, &["--untested", "Nothing was changed"]);
    let changed = set(&home, "model.api_key", KEY);
    assert!(
        changed.err.contains("The model answers.") && changed.err.contains("the next start uses it"),
        "{changed:?}"
    );
    let expected = inline.replace("\"old\" #", &format!("\"{KEY}\" #"));
    assert_eq!(std::fs::read_to_string(home.file("compline.toml")).unwrap(), expected);
    // A file that a restore did not bring is created.
    let home = Home::configured(format!("{PLAIN}{model}api_key_file = \"HOME/model.key\"\n"));
    home.run("status").refused(2, &["model.api_key_file"]);
    set(&home, "model.api_key", KEY).done();
    home.run("config check").done();
    assert_eq!(mode(&home.file("model.key")), 0o600);
    set(&home, "--untested model.api_key", "sk-later").done();
    assert_eq!(std::fs::read_to_string(home.file("model.key")).unwrap(), "sk-later\n");
    // Where it cannot be changed here, the command says where it can.
    home.run("config set-secret model.name").refused(2, &["No secret is called model.name", "telegram.token"]);
    home.run("config set-secret telegram.token").refused(2, &["is not set in", "token_file = \"HOME/telegram.token\""]);
    let home = Home::configured(format!("{PLAIN}{model}api_key_env = \"MY_KEY\"\n"));
    home.run("config set-secret model.api_key").refused(2, &["comes from the environment variable MY_KEY", "restart"]);
}
