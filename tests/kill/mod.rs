//! The real program, killed again and again while somebody writes to it.
//!
//! Nothing is simulated here but Telegram: the binary runs with its own clock and the offline
//! model, and gets SIGKILL at whatever moment a counter of the server reaches a number. In the end
//! it is left alone, and the journal and the chat must tell the same story.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::support::free_address::free_address;
use crate::support::telegram::FakeTelegram;

const ADA: i64 = 1001;
/// How often the program is killed.
const ROUNDS: u64 = 25;
/// Number of kills until it may finish its work. A turn is given up at its sixth interruption, and a
/// slow machine finishes nothing between two kills.
const KILLS_IN_A_ROW: u64 = 5;
/// Longer than any wait of a healthy program.
const LIMIT: Duration = Duration::from_secs(60);
const MARK: &str = "(possibly repeated)";

/// Proves: delivery/power-cut
#[test]
fn a_killed_program_answers_everything_once() {
    is_killed_again_and_again(&FakeTelegram::start_sync(), "");
}

/// Proves: channels/webhook
#[test]
fn a_killed_program_that_is_called_answers_everything_once() {
    let fake = FakeTelegram::start_sync();
    let listen = free_address();
    fake.leads_to(listen);
    let way = format!(
        "mode = \"webhook\"\nwebhook_url = \"https://bot.example.org/telegram\"\nwebhook_listen = \"{listen}\"\n\
         webhook_secret = \"a-secret-of-24-letters_x\"\n"
    );
    is_killed_again_and_again(&fake, &way);
}

/// Somebody writes, the program is killed, and in the end all is well. `way` says how messages
/// come.
fn is_killed_again_and_again(fake: &FakeTelegram, way: &str) {
    fake.person(ADA, "Ada", None);
    let home = tempfile::tempdir().unwrap();
    let config = home.path().join("kill.toml");
    std::fs::write(&config, settings(fake, way)).unwrap();
    let mut written = 0;
    for round in 0..ROUNDS {
        let mut program = start(home.path(), &config);
        if round % KILLS_IN_A_ROW == KILLS_IN_A_ROW - 1 {
            assert!(fake.wait_for(LIMIT, |_| is_settled(home.path(), written)), "before round {round}");
        }
        fake.says(ADA, &word(written));
        written += 1;
        // Each round dies a few milliseconds later after one more call than the one before,
        // wherever that is.
        let calls = fake.calls().len();
        fake.wait_for(Duration::from_millis(400), |fake| {
            fake.calls().len() > calls + 3 + usize::try_from(round % 9).unwrap()
        });
        fake.says(ADA, &word(written));
        written += 1;
        fake.wait_for(Duration::from_millis((round * 53) % 900), |_| false);
        program.kill().unwrap();
        program.wait().unwrap();
    }
    let mut program = start(home.path(), &config);
    let settled = fake.wait_for(LIMIT, |_| is_settled(home.path(), written));
    program.kill().unwrap();
    program.wait().unwrap();
    assert!(settled, "not everything was answered and sent");
    judge(fake, home.path(), written);
}

fn settings(fake: &FakeTelegram, way: &str) -> String {
    format!(
        "timezone = \"UTC\"\n[model]\nprovider = \"offline\"\n[telegram]\ntoken = \"{}\"\napi_url = \"{}\"\n{way}\
         [[people]]\nname = \"Ada\"\nrole = \"owner\"\ntelegram = {ADA}\n",
        fake.token(),
        fake.url()
    )
}

fn start(home: &Path, config: &Path) -> Child {
    Command::new(env!("CARGO_BIN_EXE_compline"))
        .arg("run")
        .arg("--home")
        .arg(home)
        .arg("--config")
        .arg(config)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn word(n: u32) -> String {
    format!("word{n}z")
}

fn one(home: &Path, sql: &str) -> i64 {
    let db = rusqlite::Connection::open(home.join("compline.db")).unwrap();
    db.query_row(sql, [], |row| row.get(0)).unwrap_or(-1)
}

fn is_settled(home: &Path, written: u32) -> bool {
    one(home, "SELECT count(*) FROM messages WHERE kind = 'said' AND state = 'answered'") == i64::from(written)
        && one(home, "SELECT count(*) FROM outbox WHERE state = 'pending'") == 0
}

fn judge(fake: &FakeTelegram, home: &Path, written: u32) {
    for n in 0..written {
        let stored = format!("SELECT count(*) FROM texts WHERE text = '{}'", word(n));
        assert_eq!(one(home, &stored), 1, "{} is stored once", word(n));
    }
    let odd = "SELECT count(*) FROM turns t WHERE state <> 'done'
        OR (SELECT count(*) FROM messages m WHERE m.turn_id = t.id AND m.kind = 'reply') <> 1";
    assert_eq!(one(home, odd), 0, "each turn is done and has one reply");
    assert_eq!(one(home, "SELECT count(*) FROM outbox WHERE state <> 'sent'"), 0, "everything was sent");
    let parts = usize::try_from(one(home, "SELECT count(*) FROM parts")).unwrap();
    let sent = fake.texts(ADA);
    let marked = sent.iter().filter(|text| text.contains(MARK)).count();
    assert!(sent.len() >= parts, "{parts} parts, {} messages", sent.len());
    assert!(
        sent.len() - marked <= parts,
        "{} messages for {parts} parts, {marked} of them marked as repeated",
        sent.len()
    );
    assert!(marked <= usize::try_from(ROUNDS).unwrap(), "at most one doubtful part for each kill");
}
