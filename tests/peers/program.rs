//! The real program beside a server that somebody else wrote, and what its journal says afterwards.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// Longer than anything here takes.
pub const LIMIT: Duration = Duration::from_secs(120);

/// A server of somebody else's, for as long as this value lives.
pub struct Server {
    pub url: String,
    process: Child,
}

impl Server {
    /// Starts it; it says `ready ADDRESS` on its first line.
    pub fn start(program: impl AsRef<std::ffi::OsStr>, arguments: &[&Path]) -> Self {
        let mut process = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the peers are installed by `bash tests/run.sh peers`");
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let url = line.trim().strip_prefix("ready ").expect("the server says that it is ready").to_owned();
        Self { url, process }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It ends with its input, and cleans up behind itself.
        drop(self.process.stdin.take());
        let _ = self.process.wait();
    }
}

/// The program with a home of its own, killed in the end.
pub struct Program {
    home: TempDir,
    process: Child,
}

impl Program {
    /// Starts it with that configuration, in TOML.
    pub fn start(settings: &str) -> Self {
        let home = tempfile::tempdir().unwrap();
        let config = home.path().join("peers.toml");
        std::fs::write(&config, settings).unwrap();
        let process = Command::new(env!("CARGO_BIN_EXE_compline"))
            .arg("run")
            .arg("--home")
            .arg(home.path())
            .arg("--config")
            .arg(&config)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        Self { home, process }
    }

    /// One number from the journal; -1 as long as there is none.
    pub fn count(&self, sql: &str) -> i64 {
        let Ok(journal) = rusqlite::Connection::open(self.home.path().join("compline.db")) else { return -1 };
        journal.query_row(sql, [], |row| row.get(0)).unwrap_or(-1)
    }

    /// One text from the journal.
    pub fn text(&self, sql: &str) -> String {
        let journal = rusqlite::Connection::open(self.home.path().join("compline.db")).unwrap();
        journal.query_row(sql, [], |row| row.get(0)).unwrap()
    }

    /// Waits until the journal says so.
    pub fn until(&mut self, sql: &str, wanted: i64) {
        let begun = Instant::now();
        while self.count(sql) != wanted {
            assert_eq!(self.process.try_wait().unwrap(), None, "the program has ended");
            assert!(begun.elapsed() < LIMIT, "{sql} is {} and not {wanted}", self.count(sql));
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Whether it still runs.
    pub fn is_alive(&mut self) -> bool {
        self.process.try_wait().unwrap().is_none()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
