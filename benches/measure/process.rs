//! The real binary, measured from outside.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use crate::support::telegram::FakeTelegram;
use crate::{Scale, figure, line};

const ADA: i64 = 1001;

pub fn measure(scale: Scale) {
    let binary = env!("CARGO_BIN_EXE_compline");
    figure("binary", mib(std::fs::metadata(binary).unwrap().len()));
    let home = tempfile::tempdir().unwrap();
    let fake = FakeTelegram::start_sync();
    fake.person(ADA, "Ada", None);
    let model = FakeModel::start();
    let config = |page: &str| config(&fake, &model, page);
    write_config(home.path(), &config("enabled = false"));
    let rest = scale.of(Duration::from_secs(3), Duration::ZERO);
    let without = at_rest(&fake, home.path(), rest);
    let with_page = config("listen = \"127.0.0.1:0\"");
    write_config(home.path(), &with_page);
    let with = at_rest(&fake, home.path(), rest);
    figure("resident memory at rest, polling", mib(with));
    figure("  of which the page", format!("{:.1} MiB", (with as f64 - without as f64) / 1024.0 / 1024.0));

    let mut starts = Vec::new();
    for _ in 0..scale.of(10, 1) {
        let began = Instant::now();
        let mut running = first_poll(&fake, || start(binary, home.path()));
        starts.push(began.elapsed());
        stop(&mut running);
    }
    line("start to first poll (existing home)", starts, None);

    let mut running = first_poll(&fake, || start(binary, home.path()));
    answers(&fake, "update to first sent byte of the answer, as shipped", scale.of(20, 1));
    stop(&mut running);

    write_config(home.path(), &(with_page + AT_ONCE));
    let asked = model.sizes.lock().unwrap().len();
    let mut running = first_poll(&fake, || start(binary, home.path()));
    let rounds = scale.of(60, 2);
    answers(&fake, "update to first sent byte of the answer (join_within = 0)", rounds);
    let sizes = model.sizes.lock().unwrap().clone();
    figure("first request for the word ping", format!("{} bytes", sizes.first().copied().unwrap_or_default()));
    figure("model calls per message", format!("{:.2}", (sizes.len() - asked) as f64 / f64::from(rounds)));
    figure(&format!("resident memory after {rounds} turns"), mib(resident(&running)));
    stop(&mut running);
}

/// Setting by which messages are answered at once.
const AT_ONCE: &str = "[conversation]\njoin_within = \"0ms\"\n";

fn config(fake: &FakeTelegram, model: &FakeModel, page: &str) -> String {
    format!(
        "timezone = \"UTC\"\n[model]\nprovider = \"openai\"\nname = \"fake\"\nbase_url = \"{}\"\n\
         [web]\n{page}\n\
         [telegram]\ntoken = \"{}\"\napi_url = \"{}\"\n[[people]]\nname = \"Ada\"\nrole = \"owner\"\ntelegram = {ADA}\n",
        model.url,
        fake.token(),
        fake.url()
    )
}

fn write_config(home: &std::path::Path, text: &str) {
    let file = home.join("compline.toml");
    std::fs::write(&file, text).unwrap();
    std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
}

/// Returns the resident bytes of a gateway without a request for a while.
fn at_rest(fake: &FakeTelegram, home: &std::path::Path, rest: Duration) -> u64 {
    let mut running = first_poll(fake, || start(env!("CARGO_BIN_EXE_compline"), home));
    std::thread::sleep(rest);
    let resident = resident(&running);
    stop(&mut running);
    resident
}

/// Returns the number of file operations in the workspace during two turns with that many notes,
/// as strace sees them: every system call that names a file or a folder there, or reads the names in
/// one, whoever makes it. Operations on files that are open already are not among them.
pub fn file_operations(notes: usize) -> usize {
    let (home, fake, model) = (tempfile::tempdir().unwrap(), FakeTelegram::start_sync(), FakeModel::start());
    fake.person(ADA, "Ada", None);
    let memory = home.path().join("workspace/memory");
    std::fs::create_dir_all(&memory).unwrap();
    for note in 0..notes {
        std::fs::write(memory.join(format!("note-{note}.md")), format!("Thing {note}: lies in drawer {note}\n"))
            .unwrap();
    }
    write_config(home.path(), &(config(&fake, &model, "enabled = false") + AT_ONCE));
    let binary = env!("CARGO_BIN_EXE_compline");
    let mut running = first_poll(&fake, || start(binary, home.path()));
    until_indexed(home.path(), notes);
    stop(&mut running);
    let log = home.path().join("strace");
    let mut command = Command::new("strace");
    command.args(["-f", "-y", "-qq", "-ttt", "-e", "trace=%file,getdents64", "-e", "signal=none", "-o"]);
    command.arg(&log).arg(binary);
    let mut tracing = first_poll(&fake, || start_by(command, home.path()));
    // The first turn begins a conversation and the note of the day, whose folder the second looks
    // at. The facts job runs after the fifth.
    (0..2).for_each(|_| answer(&fake));
    let from = SystemTime::now();
    (0..2).for_each(|_| answer(&fake));
    let until = SystemTime::now();
    let children = format!("/proc/{0}/task/{0}/children", tracing.id());
    let traced = std::fs::read_to_string(children).unwrap();
    let _ = Command::new("kill").arg(traced.trim()).status();
    tracing.wait().unwrap();
    let seconds = |time: SystemTime| time.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs_f64();
    let workspace = home.path().join("workspace").to_str().unwrap().to_owned();
    let is_within = |line: &&str| {
        let at = line.split_whitespace().nth(1).and_then(|at| at.parse::<f64>().ok()).unwrap_or_default();
        (seconds(from)..seconds(until)).contains(&at) && line.contains(&workspace) && !line.contains(" resumed>")
    };
    let calls = std::fs::read_to_string(&log).unwrap();
    calls.lines().filter(is_within).count()
}

/// Waits until the index knows all notes.
fn until_indexed(home: &std::path::Path, notes: usize) {
    let journal = rusqlite::Connection::open(home.join("compline.db")).unwrap();
    let began = Instant::now();
    let indexed = || {
        let count = "SELECT count(*) FROM indexed WHERE path LIKE 'memory/note-%'";
        journal.query_row(count, [], |row| row.get::<_, i64>(0)).unwrap()
    };
    while indexed() < notes as i64 {
        assert!(began.elapsed() < Duration::from_secs(120), "the index never knew all notes");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Starts a gateway and waits for its first poll.
fn first_poll(fake: &FakeTelegram, start: impl FnOnce() -> Child) -> Child {
    let polls = fake.polls();
    let running = start();
    assert!(fake.wait_for(Duration::from_secs(60), |fake| fake.polls() > polls), "no poll");
    running
}

/// Sends a message and waits for its answer.
fn answer(fake: &FakeTelegram) {
    let before = fake.sent(ADA).len();
    fake.says(ADA, "ping");
    assert!(fake.wait_for(Duration::from_secs(60), |fake| fake.sent(ADA).len() > before), "no answer");
}

/// Prints the times from a message to the first sent byte of its answer.
fn answers(fake: &FakeTelegram, name: &str, rounds: u32) {
    let mut answers = Vec::new();
    for _ in 0..rounds {
        let began = Instant::now();
        answer(fake);
        answers.push(began.elapsed());
    }
    line(name, answers, None);
}

fn start(binary: &str, home: &std::path::Path) -> Child {
    start_by(Command::new(binary), home)
}

fn start_by(mut command: Command, home: &std::path::Path) -> Child {
    command
        .args(["--home", home.to_str().unwrap(), "--quiet", "run"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap()
}

fn stop(running: &mut Child) {
    let _ = Command::new("kill").arg(running.id().to_string()).status();
    running.wait().unwrap();
}

fn resident(running: &Child) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", running.id())).unwrap();
    let kib: u64 = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .and_then(|rest| rest.split_whitespace().next())
        .and_then(|kib| kib.parse().ok())
        .unwrap();
    kib * 1024
}

fn mib(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / 1024.0 / 1024.0)
}

/// An OpenAI-compatible model that answers at once and records the size of every request.
struct FakeModel {
    url: String,
    sizes: Arc<Mutex<Vec<usize>>>,
}

impl FakeModel {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let sizes = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&sizes);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let seen = Arc::clone(&seen);
                std::thread::spawn(move || serve(stream, &seen));
            }
        });
        Self { url, sizes }
    }
}

fn serve(stream: std::net::TcpStream, seen: &Mutex<Vec<usize>>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut writer = stream;
    loop {
        let (mut length, mut text) = (0, String::new());
        loop {
            text.clear();
            if reader.read_line(&mut text).unwrap_or(0) == 0 {
                return;
            }
            if let Some(value) = text.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            if text == "\r\n" {
                break;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        seen.lock().unwrap().push(length);
        let events = "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"pong\"},\"finish_reason\":null}]}\n\n\
             data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":1,\"total_tokens\":11}}\n\n\
             data: [DONE]\n\n";
        let answer = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {}\r\n\r\n{events}",
            events.len()
        );
        if writer.write_all(answer.as_bytes()).is_err() {
            return;
        }
    }
}
