//! A home in a temporary folder, and the program run on it: `Home::configured("…").run("status")`.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use crate::support::template_journal;

/// A configuration without channels or providers.
pub const PLAIN: &str = "timezone = \"Europe/Vienna\"\n[[people]]\nname = \"Ada\"\nrole = \"owner\"\n";

/// A home that is deleted at the end.
pub struct Home {
    _folder: tempfile::TempDir,
    path: PathBuf,
}

impl Home {
    /// An empty home.
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("home");
        std::fs::create_dir(&path).unwrap();
        private(&path, 0o700);
        Self { _folder: folder, path }
    }

    /// A home with the plain configuration and a new journal.
    pub fn plain() -> Self {
        Self::configured(PLAIN)
    }

    /// A home with the plain configuration before its first start, without a journal.
    pub fn not_started() -> Self {
        Self::new().with("compline.toml", PLAIN)
    }

    /// A home with this configuration and a new journal.
    pub fn configured(config: impl AsRef<[u8]>) -> Self {
        let home = Self::new().with("compline.toml", config);
        template_journal::place_in(&home.path);
        home
    }

    /// Adds a file, readable by its owner alone.
    pub fn with(self, name: &str, contents: impl AsRef<[u8]>) -> Self {
        std::fs::write(self.file(name), contents).unwrap();
        private(&self.file(name), 0o600);
        self
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// A command on this home, not started yet, without this computer's environment.
    pub fn command(&self, line: &str) -> Command {
        let mut command = program();
        command.arg("--home").arg(&self.path).args(line.split_whitespace());
        if line.starts_with("run") {
            // Several gateways run at once.
            command.env("COMPLINE__WEB__LISTEN", "127.0.0.1:0");
        }
        command
    }

    /// Runs a command with empty standard input.
    pub fn run(&self, line: &str) -> Ended {
        Ended::of(self.command(line).output().unwrap())
    }

    /// Runs a command with piped input.
    pub fn pipe(&self, line: &str, text: &[u8]) -> Ended {
        let mut command = self.command(line);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // A program that refuses may end before it has read anything.
        if let Err(error) = child.stdin.take().unwrap().write_all(text) {
            assert_eq!(error.kind(), std::io::ErrorKind::BrokenPipe);
        }
        Ended::of(child.wait_with_output().unwrap())
    }

    /// Runs a command at a terminal with typed input; its output there is its standard error.
    pub fn typed(&self, line: &str, text: &str) -> Ended {
        let (mut terminal, child) = self.at_terminal(line, Some(Stdio::piped()), &[]);
        terminal.write_all(text.as_bytes()).unwrap();
        let mut session = Session::new(terminal, child);
        let mut ended = Ended::of(session.child.take().unwrap().wait_with_output().unwrap());
        ended.err = session.rest();
        ended
    }

    /// Starts a command at a terminal, to be answered question by question.
    pub fn session(&self, line: &str) -> Session {
        self.session_with(line, &[])
    }

    /// The same, with environment variables.
    pub fn session_with(&self, line: &str, variables: &[(&str, &str)]) -> Session {
        let (terminal, child) = self.at_terminal(line, None, variables);
        Session::new(terminal, child)
    }

    /// Starts a command at a terminal, with its standard output elsewhere if it is given.
    fn at_terminal(&self, line: &str, stdout: Option<Stdio>, variables: &[(&str, &str)]) -> (std::fs::File, Child) {
        use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
        let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&terminal).unwrap();
        unlockpt(&terminal).unwrap();
        let name = ptsname(&terminal, Vec::new()).unwrap().into_string().unwrap();
        let side = || std::fs::File::options().read(true).write(true).open(&name).unwrap();
        let mut command = self.command(line);
        command.envs(variables.iter().copied());
        command.stdin(side()).stderr(side()).stdout(stdout.unwrap_or_else(|| side().into()));
        // The command closes its own ends of the terminal when it is dropped here, so that the
        // terminal closes with the program.
        let child = command.spawn().unwrap();
        (std::fs::File::from(terminal), child)
    }

    /// Starts the gateway and waits until it reports that it is ready.
    pub fn gateway(&self) -> Gateway {
        Gateway::start(self.command("run"))
    }
}

/// The program without a home.
pub fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_compline"));
    command.env_clear().env("TZ", "UTC").stdin(Stdio::null());
    command
}

/// Result of a command.
#[derive(Debug)]
pub struct Ended {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Ended {
    pub fn of(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Self {
            code: output.status.code().expect("ended by a signal"),
            out: text(output.stdout),
            err: text(output.stderr),
        }
    }

    /// Expects this exit code and all these words on standard error.
    #[track_caller]
    pub fn refused(&self, code: i32, words: &[&str]) {
        assert_eq!(self.code, code, "{self:?}");
        for word in words {
            assert!(self.err.contains(word), "{word:?} is missing in: {}", self.err);
        }
    }

    /// Expects success; returns the output.
    #[track_caller]
    pub fn done(self) -> String {
        assert_eq!(self.code, 0, "{self:?}");
        self.out
    }

    /// Expects success and JSON output.
    #[track_caller]
    pub fn json(self) -> serde_json::Value {
        serde_json::from_str(&self.done()).unwrap()
    }
}

/// A program at a terminal.
pub struct Session {
    terminal: std::fs::File,
    child: Option<Child>,
    said: std::sync::mpsc::Receiver<String>,
    /// What was shown and not yet waited for.
    unread: String,
}

/// How long a test waits for what a terminal is to show.
const PATIENCE: Duration = Duration::from_secs(30);

impl Session {
    fn new(terminal: std::fs::File, child: Child) -> Self {
        let (sender, said) = std::sync::mpsc::channel();
        let mut reader = terminal.try_clone().unwrap();
        std::thread::spawn(move || {
            let mut piece = [0; 4096];
            // Closing the other end is reported as an error here.
            while let Ok(count @ 1..) = reader.read(&mut piece) {
                let _ = sender.send(String::from_utf8_lossy(&piece[..count]).into_owned());
            }
        });
        Self { terminal, child: Some(child), said, unread: String::new() }
    }

    /// Waits until this is shown; returns all that was shown until then.
    #[track_caller]
    pub fn shows(&mut self, words: &str) -> String {
        let begun = Instant::now();
        loop {
            if let Some((before, after)) = self.unread.split_once(words) {
                let before = before.to_owned();
                self.unread = after.to_owned();
                return before;
            }
            let left = PATIENCE.saturating_sub(begun.elapsed());
            match self.said.recv_timeout(left) {
                Ok(more) => self.unread.push_str(&more),
                Err(_) => panic!("{words:?} was not shown: {}", self.unread),
            }
        }
    }

    /// Presses these keys.
    pub fn types(&mut self, keys: &str) {
        self.terminal.write_all(keys.as_bytes()).unwrap();
    }

    /// Waits for a question and answers it; returns all that was shown before it.
    #[track_caller]
    pub fn answers(&mut self, question: &str, answer: &str) -> String {
        let before = self.shows(question);
        self.terminal.write_all(format!("{answer}\r").as_bytes()).unwrap();
        // Typing may show the question again, on the same line.
        self.shows("\n");
        before
    }

    /// Waits for the end; returns the exit code and all that was not waited for.
    pub fn ends(mut self) -> (Option<i32>, String) {
        let code = self.child.take().unwrap().wait().unwrap().code();
        (code, self.rest())
    }

    /// Presses ctrl-d until the program ends: between two prompts, where the terminal is not raw,
    /// the key is lost.
    #[track_caller]
    pub fn leaves(mut self) -> (Option<i32>, String) {
        let begun = Instant::now();
        loop {
            // The terminal may be closed already.
            let _ = self.terminal.write_all(b"\x04");
            match self.said.recv_timeout(Duration::from_secs(1)) {
                Ok(more) => self.unread.push_str(&more),
                Err(RecvTimeoutError::Disconnected) => return self.ends(),
                Err(RecvTimeoutError::Timeout) => {}
            }
            assert!(begun.elapsed() < PATIENCE, "it does not end: {}", self.unread);
        }
    }

    fn rest(&mut self) -> String {
        while let Ok(more) = self.said.recv() {
            self.unread.push_str(&more);
        }
        std::mem::take(&mut self.unread)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// A running gateway, killed on drop.
pub struct Gateway {
    child: Child,
    stderr: BufReader<std::process::ChildStderr>,
    /// Standard error until it was ready.
    pub said: String,
}

impl Gateway {
    /// Starts it and waits until it reports that it is ready.
    pub fn start(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut said = String::new();
        while !said.contains("Ready") {
            assert!(stderr.read_line(&mut said).unwrap() > 0, "the gateway ended: {said}");
        }
        Self { child, stderr, said }
    }

    /// Sends a signal by name, such as `STOP`.
    pub fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([&format!("-{name}"), &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }

    /// Waits until standard error has said this since the last look; returns all of it until then.
    #[track_caller]
    pub fn wait_for(&mut self, words: &str) -> String {
        let mut said = String::new();
        while !said.contains(words) {
            assert!(self.stderr.read_line(&mut said).unwrap() > 0, "{words:?} was not said: {said}");
        }
        said
    }

    /// Process id.
    pub fn process(&self) -> u32 {
        self.child.id()
    }

    /// Stops it as a service manager would; returns its exit code and last output.
    pub fn stop(mut self) -> (Option<i32>, String) {
        let stopped = Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status().unwrap();
        assert!(stopped.success());
        let mut rest = String::new();
        self.stderr.read_to_string(&mut rest).unwrap();
        (self.child.wait().unwrap().code(), rest)
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn private(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}
