//! The real binary, measured from outside.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::support::telegram::FakeTelegram;
use crate::{figure, line};

const ADA: i64 = 1001;

pub fn measure() {
    let binary = env!("CARGO_BIN_EXE_compline");
    figure("binary", mib(std::fs::metadata(binary).unwrap().len()));
    let home = tempfile::tempdir().unwrap();
    let fake = FakeTelegram::start_sync();
    fake.person(ADA, "Ada", None);
    let model = FakeModel::start();
    let config = |page: &str| {
        format!(
            "timezone = \"UTC\"\n[model]\nprovider = \"openai\"\nname = \"fake\"\nbase_url = \"{}\"\n\
             [web]\n{page}\n\
             [telegram]\ntoken = \"{}\"\napi_url = \"{}\"\n[[people]]\nname = \"Ada\"\nrole = \"owner\"\ntelegram = {ADA}\n",
            model.url,
            fake.token(),
            fake.url()
        )
    };
    let file = home.path().join("compline.toml");
    std::fs::write(&file, config("enabled = false")).unwrap();
    std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let without = at_rest(&fake, home.path());
    std::fs::write(&file, config("listen = \"127.0.0.1:0\"")).unwrap();
    let with = at_rest(&fake, home.path());
    figure("resident memory at rest, polling", mib(with));
    figure("  of which the page", format!("{:.1} MiB", (with as f64 - without as f64) / 1024.0 / 1024.0));

    let mut starts = Vec::new();
    for _ in 0..10 {
        let polls = fake.polls();
        let began = Instant::now();
        let mut running = start(binary, home.path());
        assert!(fake.wait_for(Duration::from_secs(20), |fake| fake.polls() > polls), "no poll");
        starts.push(began.elapsed());
        stop(&mut running);
    }
    line("start to first poll (existing home)", starts, None);

    let polls = fake.polls();
    let mut running = start(binary, home.path());
    assert!(fake.wait_for(Duration::from_secs(20), |fake| fake.polls() > polls), "no poll");
    answers(&fake, "update to first sent byte of the answer, as shipped", 20);
    stop(&mut running);

    let at_once = std::fs::read_to_string(&file).unwrap() + "[conversation]\njoin_within = \"0ms\"\n";
    std::fs::write(&file, at_once).unwrap();
    let (polls, asked) = (fake.polls(), model.sizes.lock().unwrap().len());
    let mut running = start(binary, home.path());
    assert!(fake.wait_for(Duration::from_secs(20), |fake| fake.polls() > polls), "no poll");
    answers(&fake, "update to first sent byte of the answer (join_within = 0)", 60);
    let sizes = model.sizes.lock().unwrap().clone();
    figure("first request for the word ping", format!("{} bytes", sizes.first().copied().unwrap_or_default()));
    figure("model calls per message", format!("{:.2}", (sizes.len() - asked) as f64 / 60.0));
    figure("resident memory after 60 turns", mib(resident(&running)));
    stop(&mut running);
}

/// Returns the resident bytes of a gateway without a request for a while.
fn at_rest(fake: &FakeTelegram, home: &std::path::Path) -> u64 {
    let polls = fake.polls();
    let mut running = start(env!("CARGO_BIN_EXE_compline"), home);
    assert!(fake.wait_for(Duration::from_secs(20), |fake| fake.polls() > polls), "no poll");
    // The only real wait of this program.
    std::thread::sleep(Duration::from_secs(3));
    let resident = resident(&running);
    stop(&mut running);
    resident
}

/// Prints the times from a message to the first sent byte of its answer.
fn answers(fake: &FakeTelegram, name: &str, rounds: u32) {
    let mut answers = Vec::new();
    for round in 0..rounds {
        let before = fake.sent(ADA).len();
        let began = Instant::now();
        fake.says(ADA, "ping");
        assert!(
            fake.wait_for(Duration::from_secs(20), |fake| fake.sent(ADA).len() > before),
            "no answer in round {round}"
        );
        answers.push(began.elapsed());
    }
    line(name, answers, None);
}

fn start(binary: &str, home: &std::path::Path) -> Child {
    Command::new(binary)
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
