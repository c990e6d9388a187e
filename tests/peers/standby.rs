//! The first machine is killed under load while Litestream streams its journal, and the second one
//! takes over from what had arrived.
//!
//! What both journals and the chat say in the end is compared: nothing older than the lag of the
//! replica is lost, nothing is answered twice unmarked, and the first machine does not serve again.
//! `COMPLINE_STANDBY_ROUNDS` sets the number of rounds, whose figures are printed.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::Value;

use super::installed;
use crate::support::telegram::FakeTelegram;

const ADA: i64 = 1001;
/// Longer than anything here takes.
const LIMIT: Duration = Duration::from_secs(120);
/// Longer than the replica may be behind, on a computer that does much else.
const MAX_LAG: i64 = 30_000;
const MARK: &str = "(possibly repeated)";

/// Proves: operation/standby
#[test]
fn the_second_machine_goes_on_from_the_replica() {
    let rounds = std::env::var("COMPLINE_STANDBY_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(2);
    let mut figures: Vec<Figures> = (0..rounds).map(round).collect();
    figures.sort_by_key(|figures| figures.lag);
    let all = |of: fn(&Figures) -> u64| figures.iter().map(of).sum::<u64>();
    let messages = all(|round| round.messages).max(1);
    println!(
        "{rounds} rounds, {messages} messages: lag {} ms median, {} ms at most; {} messages not in the replica, {} of \
         them lost; {} answers marked; Litestream: {} ms CPU and {} KiB a message; takeover {} ms on average",
        figures[figures.len() / 2].lag,
        figures[figures.len() - 1].lag,
        all(|round| round.missing),
        all(|round| round.lost),
        all(|round| round.marked),
        all(|round| round.cpu) / messages,
        all(|round| round.bytes) / 1024 / messages,
        all(|round| round.takeover) / rounds.max(1),
    );
}

struct Figures {
    /// Age of the oldest message that the replica did not have, in milliseconds.
    lag: i64,
    messages: u64,
    missing: u64,
    lost: u64,
    marked: u64,
    /// CPU time of Litestream, in milliseconds.
    cpu: u64,
    bytes: u64,
    takeover: u64,
}

fn round(number: u64) -> Figures {
    let fake = FakeTelegram::start_sync();
    fake.person(ADA, "Ada", None);
    let machines = Machines::new(&fake);
    let mut gateway = machines.start(&machines.first);
    let mut stream = machines.stream();
    let copier = Copier::start(&machines.first, &machines.folder);
    let begun = Instant::now();
    while !machines.folder.join("journal/ltx/9").is_dir() {
        assert!(begun.elapsed() < LIMIT, "Litestream has not begun");
        fake.wait_for(Duration::from_millis(20), |_| false);
    }
    let written = write(&fake, number);
    gateway.kill().unwrap();
    stream.kill().unwrap();
    let cpu = cpu_of(stream.id());
    gateway.wait().unwrap();
    stream.wait().unwrap();
    let killed_at = now();
    copier.stop();
    let (first, bytes) = (Journal::of(&machines.first), size(&machines.folder.join("journal")));

    let begun = Instant::now();
    let checked = machines.run(&machines.second, &["standby", "check", "--json"]);
    let checked: Value = serde_json::from_str(&checked).unwrap();
    let taken = machines.run(&machines.second, &["standby", "activate", "--yes"]);
    let takeover = u64::try_from(begun.elapsed().as_millis()).unwrap();
    assert!(taken.contains("has taken over"), "{taken}");
    let held = Journal::of(&machines.second);
    let missing = missing(&first, &held, killed_at);
    let up_to = checked["up_to"].as_str().unwrap();
    assert!(missing.values().all(|lag| *lag < MAX_LAG), "round {number}, up to {up_to}: {missing:?}");

    let mut gateway = machines.start(&machines.second);
    fake.says(ADA, "the last word");
    let settled = fake.wait_for(LIMIT, |_| Journal::of(&machines.second).is_settled());
    gateway.kill().unwrap();
    gateway.wait().unwrap();
    assert!(settled, "round {number}: not everything was answered and sent");
    let second = Journal::of(&machines.second);
    let lost = missing.keys().filter(|word| !second.said.contains_key(*word)).count();
    second.says_each_once(written);
    let marked = nothing_is_answered_twice(&first, &held, &second, &fake);
    machines.does_not_start(&machines.first);
    Figures {
        lag: missing.values().copied().max().unwrap_or(0),
        messages: first.said.len().try_into().unwrap(),
        missing: missing.len().try_into().unwrap(),
        lost: lost.try_into().unwrap(),
        marked,
        cpu,
        bytes,
        takeover,
    }
}

/// Writes words for some seconds, a little longer in each round, so that the kill comes anywhere.
fn write(fake: &FakeTelegram, number: u64) -> u32 {
    let (begun, span) = (Instant::now(), Duration::from_millis(2000 + number * 137 % 3000));
    let mut written = 0;
    while begun.elapsed() < span {
        fake.says(ADA, &word(written));
        written += 1;
        fake.wait_for(Duration::from_millis(20 + u64::from(written) * 31 % 150), |_| false);
    }
    written
}

fn word(n: u32) -> String {
    format!("word{n}z")
}

/// Words of the first machine that the replica does not have, with their age when it was killed.
fn missing(first: &Journal, held: &Journal, killed_at: i64) -> BTreeMap<String, i64> {
    let lacks = first.said.iter().filter(|(word, _)| !held.said.contains_key(*word));
    lacks.map(|(word, received)| (word.clone(), killed_at - received)).collect()
}

/// Compares what both machines sent. Returns the number of marked messages.
fn nothing_is_answered_twice(first: &Journal, held: &Journal, second: &Journal, fake: &FakeTelegram) -> u64 {
    let by_second = second.sent.iter().filter(|(id, _)| !held.sent.contains_key(*id));
    for (id, answer) in by_second {
        let twice: Vec<&String> = answer.words.intersection(&first.maybe_answered).collect();
        assert!(
            twice.is_empty() || answer.is_marked,
            "delivery {id} repeats the answer to {twice:?} and does not say so"
        );
    }
    let marked = fake.texts(ADA).iter().filter(|text| text.contains(MARK)).count();
    let expected = second.sent.iter().filter(|(id, answer)| answer.is_marked && !held.sent.contains_key(*id)).count();
    assert!(marked >= expected, "{marked} marked messages arrived of {expected}");
    marked.try_into().unwrap()
}

/// Two homes and the folder of the replica between them.
struct Machines {
    _root: tempfile::TempDir,
    first: PathBuf,
    second: PathBuf,
    folder: PathBuf,
}

impl Machines {
    fn new(fake: &FakeTelegram) -> Self {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| {
            let path = root.path().join(name);
            std::fs::create_dir(&path).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).unwrap();
            path
        };
        let (first, second, folder) = (at("first"), at("second"), at("replica"));
        let settings = format!(
            "timezone = \"UTC\"\n[model]\nprovider = \"offline\"\n[telegram]\ntoken = \"{}\"\napi_url = \"{}\"\n\
             [standby]\nfolder = \"{}\"\n[[people]]\nname = \"Ada\"\nrole = \"owner\"\ntelegram = {ADA}\n",
            fake.token(),
            fake.url(),
            folder.display()
        );
        for home in [&first, &second] {
            let config = home.join("compline.toml");
            std::fs::write(&config, &settings).unwrap();
            std::fs::set_permissions(&config, std::fs::Permissions::from_mode(0o600)).unwrap();
        }
        // As in docs/second-machine.md.
        let stream = format!(
            "snapshot:\n  interval: 24h\n  retention: 24h\ndbs:\n  - path: {}\n    replica:\n      path: {}\n      \
             sync-interval: 1s\n",
            first.join("compline.db").display(),
            folder.join("journal").display()
        );
        std::fs::write(root.path().join("litestream.yml"), stream).unwrap();
        Self { _root: root, first, second, folder }
    }

    fn command(&self, home: &Path, line: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_compline"));
        let path = installed("venv/bin/litestream");
        command.arg("--home").arg(home).args(line).env("PATH", path.parent().unwrap()).stdin(Stdio::null());
        command
    }

    fn start(&self, home: &Path) -> Child {
        let mut command = self.command(home, &["run"]);
        let gateway = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let begun = Instant::now();
        while !home.join("compline.sock").exists() {
            assert!(begun.elapsed() < LIMIT, "the gateway does not start");
            std::thread::yield_now();
        }
        gateway
    }

    fn run(&self, home: &Path, line: &[&str]) -> String {
        let ended = self.command(home, line).output().unwrap();
        assert!(ended.status.success(), "{line:?}: {ended:?}");
        String::from_utf8(ended.stdout).unwrap()
    }

    fn does_not_start(&self, home: &Path) {
        let ended = self.command(home, &["run"]).output().unwrap();
        let said = String::from_utf8(ended.stderr).unwrap();
        assert!(ended.status.code() == Some(2) && said.contains("took over on"), "{said}");
    }

    fn stream(&self) -> Child {
        let begun = Instant::now();
        while !self.first.join("compline.db").exists() {
            assert!(begun.elapsed() < LIMIT);
            std::thread::yield_now();
        }
        let program = installed("venv/bin/litestream");
        let config = self.first.parent().unwrap().join("litestream.yml");
        let mut command = Command::new(program);
        command.arg("replicate").arg("-config").arg(config);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }
}

/// Copies the folders again and again, as rsync does in `docs/second-machine.md`.
struct Copier {
    stop: Arc<AtomicBool>,
    thread: std::thread::JoinHandle<()>,
}

impl Copier {
    fn start(home: &Path, to: &Path) -> Self {
        let (stop, home, to) = (Arc::new(AtomicBool::new(false)), home.to_owned(), to.to_owned());
        let stopped = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                for name in ["workspace", "skills", "experience"] {
                    copy(&home.join(name), &to.join(name));
                }
                std::thread::park_timeout(Duration::from_millis(200));
            }
        });
        Self { stop, thread }
    }

    fn stop(self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.thread().unpark();
        self.thread.join().unwrap();
    }
}

/// Copies a folder; what vanishes meanwhile is left out.
fn copy(from: &Path, to: &Path) {
    let Ok(entries) = std::fs::read_dir(from) else { return };
    std::fs::create_dir_all(to).unwrap();
    for entry in entries.flatten() {
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if from.is_dir() {
            copy(&from, &to);
        } else if let Ok(bytes) = std::fs::read(&from) {
            let part = to.with_extension("part");
            std::fs::write(&part, bytes).and_then(|()| std::fs::rename(&part, &to)).unwrap();
        }
    }
}

/// What a journal says.
struct Journal {
    /// Each word with the time at which it was stored.
    said: BTreeMap<String, i64>,
    /// Number of texts of each word.
    copies: BTreeMap<String, i64>,
    /// Answers that were sent.
    sent: BTreeMap<i64, SentAnswer>,
    /// Words whose answer may have been sent.
    maybe_answered: BTreeSet<String>,
    open: i64,
}

struct SentAnswer {
    words: BTreeSet<String>,
    is_marked: bool,
}

impl Journal {
    fn of(home: &Path) -> Self {
        let db = rusqlite::Connection::open(home.join("compline.db")).unwrap();
        let mut said = BTreeMap::new();
        let mut copies = BTreeMap::new();
        let words = "SELECT t.text, m.received_at FROM texts t JOIN messages m ON m.id = t.message_id
             WHERE m.kind = 'said' AND t.kind = 'said'";
        each(&db, words, |row| {
            let word: String = row.get(0).unwrap();
            *copies.entry(word.clone()).or_insert(0) += 1;
            said.insert(word, row.get(1).unwrap());
        });
        let mut sent: BTreeMap<i64, SentAnswer> = BTreeMap::new();
        let mut maybe_answered = BTreeSet::new();
        // A part that was being sent may have arrived.
        let answers = "SELECT o.id, t.text, max(p.repeated), max(p.state = 'sent'), o.state = 'sent' FROM outbox o
             JOIN parts p ON p.outbox_id = o.id AND p.state IN ('sent', 'sending')
             JOIN messages r ON r.id = o.message_id JOIN messages m ON m.turn_id = r.turn_id AND m.kind = 'said'
             JOIN texts t ON t.message_id = m.id AND t.kind = 'said' WHERE o.kind = 'reply' GROUP BY o.id, t.id";
        each(&db, answers, |row| {
            let word: String = row.get(1).unwrap();
            maybe_answered.insert(word.clone());
            if row.get(4).unwrap() {
                let new = || SentAnswer { words: BTreeSet::new(), is_marked: row.get(2).unwrap() };
                sent.entry(row.get(0).unwrap()).or_insert_with(new).words.insert(word);
            }
        });
        let open = "SELECT (SELECT count(*) FROM messages WHERE kind = 'said' AND state <> 'answered')
             + (SELECT count(*) FROM outbox WHERE state = 'pending')";
        let open = db.query_row(open, [], |row| row.get(0)).unwrap();
        Self { said, copies, sent, maybe_answered, open }
    }

    fn is_settled(&self) -> bool {
        self.open == 0 && self.said.contains_key("the last word")
    }

    fn says_each_once(&self, written: u32) {
        for word in (0..written).map(word) {
            assert!(self.copies.get(&word).is_none_or(|copies| *copies == 1), "{word} is stored twice");
        }
    }
}

fn each(db: &rusqlite::Connection, sql: &str, mut take: impl FnMut(&rusqlite::Row<'_>)) {
    let mut statement = db.prepare(sql).unwrap();
    let mut rows = statement.query([]).unwrap();
    while let Some(row) = rows.next().unwrap() {
        take(row);
    }
}

fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis().try_into().unwrap()
}

/// CPU time of a process, in milliseconds; Linux alone tells it, in hundredths of a second.
fn cpu_of(process: u32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let fields: Vec<i64> = after_name.split(' ').filter_map(|field| field.parse().ok()).collect();
    // The state is no number; user and system time follow ten others.
    let ticks = fields.get(10).zip(fields.get(11)).map_or(0, |(user, system)| user + system);
    u64::try_from(ticks).unwrap_or(0) * 10
}

fn size(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| if entry.path().is_dir() { size(&entry.path()) } else { entry.metadata().unwrap().len() }).sum()
}
