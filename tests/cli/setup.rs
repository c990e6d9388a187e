//! `init` without questions, and `doctor`.

use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use super::model::{Model, Say};
use super::program::{Ended, Home};

/// Number of changed files that are read before a search is answered.
const AT_ONCE: usize = 512;

/// Promise (operation/init): `init` tests what you enter, writes a configuration that works and
/// never overwrites one. It leaves a home open to other accounts only if files were already there,
/// and says so.
#[test]
fn init_writes_what_run_can_read_and_never_overwrites() {
    let home = Home::new();
    let told = home.run("init --non-interactive --owner Ada --timezone Asia/Kathmandu");
    assert!(told.err.contains("Wrote") && told.err.contains(" run\n"), "{}", told.err);
    told.done();
    let file = home.file("compline.toml");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    home.run("config check").done();
    assert_eq!(home.run("status --json").json()["zone"], "Asia/Kathmandu");

    let first = std::fs::read_to_string(&file).unwrap();
    home.run("init --non-interactive --owner Ben").refused(2, &["already exists", "--replace"]);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), first);
    home.run("init --non-interactive --owner Ben --replace").done();
    assert_eq!(std::fs::read_to_string(home.file("compline.toml.bak")).unwrap(), first);
    assert!(std::fs::read_to_string(&file).unwrap().contains("\"Ben\""));
}

/// Proves: operation/init
#[test]
fn init_closes_an_empty_home_and_tells_of_one_in_which_something_lay() {
    let mode = |home: &Home| std::fs::metadata(home.path()).unwrap().permissions().mode() & 0o777;
    let open = |home: &Home| std::fs::set_permissions(home.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let empty = Home::new();
    open(&empty);
    let told = empty.run("init --non-interactive --owner Ada");
    assert!(told.code == 0 && !told.err.contains("chmod"), "{told:?}");
    assert_eq!(mode(&empty), 0o700);
    assert!(empty.run("doctor --offline").out.contains("ok      home"));

    let used = Home::new().with("photo.jpg", "a photo");
    open(&used);
    let told = used.run("init --non-interactive --owner Ada");
    assert!(told.code == 0 && told.err.contains("chmod 700") && told.err.contains("doctor --fix`"), "{told:?}");
    assert_eq!(mode(&used), 0o755, "who is to see what lay there is not ours to decide");
    assert!(used.run("doctor --offline --fix").out.contains("fixed   home"));
    assert_eq!(mode(&used), 0o700);
}

/// Proves: operation/init
#[test]
fn init_writes_nothing_that_is_wrong() {
    let home = Home::new();
    home.run("init --non-interactive --timezone Europe/Vienn").refused(2, &["Europe/Vienn", "fix:"]);
    home.run("init --non-interactive --provider gpt").refused(2, &["not a provider", "fix:"]);
    home.run("init --non-interactive --telegram-token-env NOT_SET").refused(2, &["NOT_SET", "fix:"]);
    let refused = "init --non-interactive --provider openai --model m --base-url http://127.0.0.1:9/v1";
    home.run(refused).refused(1, &["fix:", "--untested"]);
    assert!(!home.file("compline.toml").exists());
    home.run(&format!("{refused} --untested")).done();
}

/// Proves: operation/init
#[test]
fn init_asks_nothing_through_a_pipe() {
    Home::new().pipe("init", b"Ada\n").refused(2, &["this is not a terminal", "--non-interactive"]);
}

/// Promise (operation/begin-offline): `chat` where nothing is set up offers to begin at once with
/// the built-in offline model.
#[test]
fn a_chat_without_a_configuration_offers_to_begin_offline() {
    let refused = Home::new();
    let told = refused.typed("chat hello", "n\n");
    assert!(told.code == 2 && told.err.contains("Nothing is set up yet") && told.err.contains("fix:"), "{told:?}");
    assert!(!refused.file("compline.toml").exists());

    let begun = Home::new();
    let told = begun.typed("chat hello", "y\n");
    assert!(told.code == 0 && !told.out.trim().is_empty(), "{told:?}");
    begun.run("config check").done();

    Home::new().pipe("chat hello", b"y\n").refused(2, &["fix:", "init"]);
}

/// Promise (operation/doctor): `doctor` finds problems and says how to fix them. If the gateway
/// hangs, `doctor` and any command waiting for it say so.
#[test]
fn doctor_finds_and_fixes_problems_and_reports_both() {
    let home = Home::plain();
    home.run("status").done();
    let sound = home.run("doctor --json").json();
    assert_eq!(sound["ok"], true, "{sound}");

    std::fs::set_permissions(home.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::remove_file(home.file("workspace/SOUL.md")).unwrap();
    let found = home.run("doctor");
    assert_eq!(found.code, 1, "{found:?}");
    assert!(found.out.contains("WRONG   home") && found.out.contains("chmod 700"), "{}", found.out);
    assert!(found.out.contains("missing: SOUL.md"), "{}", found.out);

    let fixed = home.run("doctor --fix").done();
    assert!(fixed.contains("fixed   home"), "{fixed}");
    assert!(home.file("workspace/SOUL.md").exists());
    assert_eq!(std::fs::metadata(home.path()).unwrap().permissions().mode() & 0o777, 0o700);
    home.run("doctor").done();
}

/// Proves: operation/doctor
#[test]
fn doctor_tells_a_dead_model_and_a_dead_telegram() {
    let dead = "[model]\nprovider = \"openai\"\nname = \"m\"\nbase_url = \"http://127.0.0.1:9/v1\"\n\
        [telegram]\ntoken = \"123456:AAHsecret_secret_secret_secret_secret\"\napi_url = \"http://127.0.0.1:9\"\n";
    let home = Home::new().with("compline.toml", format!("{}{dead}", super::program::PLAIN));
    let found = home.run("doctor");
    assert_eq!(found.code, 1, "{found:?}");
    for line in ["WRONG   model", "WRONG   telegram", "fix: look at the network"] {
        assert!(found.out.contains(line), "{line:?} is missing in {}", found.out);
    }
    assert!(home.run("doctor --offline").out.contains("was not checked"));
}

/// Proves: search/embedding-failure
#[test]
fn doctor_tells_how_searching_by_meaning_is() {
    let home = Home::plain();
    home.run("chat Hello").done();
    assert!(home.run("doctor --offline").out.contains("searches match words only"));
    let dead = "[embedding]\nprovider = \"ollama\"\nname = \"small\"\nbase_url = \"http://127.0.0.1:9\"\n";
    let home = home.with("compline.toml", format!("{}{dead}", super::program::PLAIN));
    let found = home.run("doctor");
    for words in
        ["WRONG   meaning", "ollama/small, not asked yet; 0 texts have one", "are missing", "embedding.base_url"]
    {
        assert!(found.out.contains(words), "{words:?} is missing in {}", found.out);
    }
    assert!(home.run("doctor --offline").out.contains("was not checked"));
}

/// Promise (operation/memory-health): `doctor` reports how many memory files there are, how full
/// they are, and how many are missing, damaged, unlisted, unsearchable or not yet read, without
/// showing names or contents, even while the gateway runs. A file that can no longer be read is
/// reported as a problem to fix.
#[test]
fn doctor_reports_on_memory_files_and_fixes_only_harmless_problems() {
    let home = Home::plain();
    home.run("chat Hello").done();
    let sound = home.run("doctor --offline").out;
    assert!(sound.contains("% full") && sound.contains("entries") && !sound.contains("without a line"), "{sound}");
    std::fs::write(
        home.file("workspace/memory/quince.md"),
        "---\nname: Quince jam\n---\n\nIt needs a pound of sugar.\n",
    )
    .unwrap();
    std::fs::write(home.file("workspace/memory/broken.md"), [0xff, 0xfe, 0xff]).unwrap();
    std::fs::create_dir_all(home.file("workspace/people/zoe/memory")).unwrap();
    std::fs::remove_dir_all(home.file("workspace/inbox")).ok();
    let found = home.run("doctor --offline").out;
    for words in ["notes without a line", "not text", "belong to nobody", "missing: inbox"] {
        assert!(found.contains(words), "{words:?} is missing in {found}");
    }
    assert!(!found.contains("quince") && !found.contains("zoe"), "a report may be pasted anywhere: {found}");
    let fixed = home.run("doctor --offline --fix").out;
    assert!(fixed.contains("lines that lead to notes") && !fixed.contains("missing: inbox"), "{fixed}");
    let memory = std::fs::read_to_string(home.file("workspace/memory/MEMORY.md")).unwrap();
    assert!(memory.contains("[Quince jam](quince.md)"), "{memory}");
    assert!(home.file("workspace/inbox").is_dir());
    let again = home.run("doctor --offline").out;
    assert!(again.contains("belong to nobody") && !again.contains("Quince"), "{again}");
}

/// Proves: operation/memory-health
#[test]
fn doctor_counts_what_cannot_be_searched_and_what_is_not_read_yet() {
    let home = Home::plain();
    home.run("chat Hello").done();
    let index = |mark: &str, counts: &str| {
        let found = home.run("doctor --offline").out;
        let line = found.lines().find(|line| line.contains(" index ")).unwrap_or_default();
        assert!(line.starts_with(mark) && line.contains(counts), "{counts:?} is not what stands in {line:?}");
    };
    index("ok ", "0 files cannot be searched properly, 0 are not read yet");
    std::fs::write(home.file("workspace/broken.md"), [b'a', 0, 0xfe]).unwrap();
    std::fs::write(home.file("workspace/huge.txt"), "x".repeat(1_100_000)).unwrap();
    index("note ", "2 files cannot be searched properly, 0 are not read yet");
    std::fs::create_dir(home.file("workspace/many")).unwrap();
    for number in 0..AT_ONCE + 7 {
        std::fs::write(home.file(&format!("workspace/many/{number}.md")), "Quince jam.\n").unwrap();
    }
    index("note ", "2 files cannot be searched properly, 7 are not read yet");
    std::fs::remove_file(home.file("workspace/broken.md")).unwrap();
    index("note ", "1 files cannot be searched properly, 0 are not read yet");
}

/// Proves: operation/memory-health
#[test]
fn doctor_checks_memory_files_while_the_gateway_runs() {
    let home = Home::plain();
    home.run("chat Hello").done();
    let gateway = home.gateway();
    let sound = home.run("doctor --offline").done();
    assert!(sound.contains("% full") && sound.contains("0 files cannot be searched"), "{sound}");
    std::fs::write(home.file("workspace/memory/MEMORY.md"), [b'a', 0, 0xfe]).unwrap();
    std::fs::remove_file(home.file("workspace/SOUL.md")).unwrap();
    let found = home.run("doctor --offline --fix");
    assert_eq!(found.code, 1, "{found:?}");
    for words in ["WRONG   knowledge", "cannot be read as text", "1 files cannot be searched", "fixed   workspace"] {
        assert!(found.out.contains(words), "{words:?} is missing in {}", found.out);
    }
    assert!(home.file("workspace/SOUL.md").exists());
    assert_eq!(std::fs::read(home.file("workspace/memory/MEMORY.md")).unwrap(), [b'a', 0, 0xfe]);
    gateway.stop();
    home.run("doctor --offline").refused(1, &[]);
}

/// Proves: operation/doctor
#[test]
fn a_hung_gateway_is_reported_by_doctor_and_by_waiting_commands() {
    let home = Home::plain();
    home.run("chat Hello").done();
    let gateway = home.gateway();
    gateway.signal("STOP");
    let mut list = home.command("memory").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let found = home.run("doctor --offline");
    assert_eq!(found.code, 1, "{found:?}");
    assert!(found.out.contains("running, but it does not answer") && found.out.contains("not checked"), "{found:?}");
    let mut told = String::new();
    BufReader::new(list.stderr.take().unwrap()).read_line(&mut told).unwrap();
    assert!(told.contains("No answer yet") && told.contains("compline doctor"), "{told}");
    gateway.signal("CONT");
    assert!(Ended::of(list.wait_with_output().unwrap()).done().contains("MEMORY.md"));
    gateway.stop();
}

/// Proves: models/learned
#[test]
fn doctor_tries_a_model_with_tools_and_in_json() {
    let model = Model::start(|_| Say::Text("ready"));
    finds(&Home::configured(&model.config), "also with tools, JSON");
}

fn finds(home: &Home, line: &str) {
    let report = home.run("doctor").out;
    assert!(report.contains(line), "{report}");
}
