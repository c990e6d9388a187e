//! Documents are read by a program of their own: this one, started once more for each document,
//! with nothing but its bytes.
//!
//! Whoever sends a document chooses every byte of it, and a parser may panic on some of them,
//! recurse until its stack is gone, or go on for ever. In a process of its own that costs the
//! document. The child is given an empty environment and limits that it sets itself before it reads
//! (`compline read-document`); here it is given time, and no more of its words are taken than a
//! file may hold. It writes page by page, so what it had read when it was ended is kept.
//!
//! What it gives is untrusted, which the caller must say.

use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};
use tokio::sync::Semaphore;

use crate::time::Clock;

/// How the child is asked, on its command line.
pub const COMMAND: &str = "read-document";
/// With what the child ends when the document is locked.
pub const LOCKED: u8 = 3;
/// The most that is kept of a document's words, in bytes: somewhat less than a text file of the
/// workspace may hold.
pub const MAX_WORDS: usize = 1_000_000;

/// How long one document may take.
const TIME: Duration = Duration::from_secs(60);
/// How many are read at once, whoever sent them.
const AT_ONCE: usize = 2;

/// A kind of document that is read in a process of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Document {
    /// A PDF.
    Pdf,
    /// A web page.
    Html,
}

impl Document {
    /// The word for it on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pdf => "pdf",
            Self::Html => "html",
        }
    }

    /// The kind of that word.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Pdf, Self::Html].into_iter().find(|kind| kind.as_str() == word)
    }
}

/// What a document holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DocumentContent {
    /// Words, never blank.
    Words {
        /// The words.
        text: String,
        /// Whether these are all.
        whole: bool,
    },
    /// It is locked with a password.
    Locked,
    /// It was read to its end and holds no words: pictures of pages, perhaps.
    Nothing,
    /// It could not be read.
    Broken,
}

/// Reads documents. Cloning gives another handle on the same one.
#[derive(Debug, Clone)]
pub struct DocumentReader {
    program: PathBuf,
    turns: Arc<Semaphore>,
}

impl DocumentReader {
    /// A reader that starts that program, which must know [`COMMAND`].
    pub fn new(program: &Path) -> Self {
        Self { program: program.to_owned(), turns: Arc::new(Semaphore::new(AT_ONCE)) }
    }

    /// The words of a document.
    pub async fn read(&self, clock: &dyn Clock, kind: Document, bytes: &[u8]) -> DocumentContent {
        let Ok(_turn) = self.turns.acquire().await else { return DocumentContent::Broken };
        self.ask(clock, kind, bytes).await.unwrap_or_else(|error| {
            tracing::warn!("No process to read a document in: {error:#}");
            DocumentContent::Broken
        })
    }

    async fn ask(&self, clock: &dyn Clock, kind: Document, bytes: &[u8]) -> anyhow::Result<DocumentContent> {
        let mut child = self.start(kind)?;
        let mut input = child.stdin.take().context("It has no input")?;
        let mut output = child.stdout.take().context("It has no output")?.take(u64::try_from(MAX_WORDS)? + 1);
        let mut words = Vec::new();
        let late = clock.wake_at(clock.now().plus(TIME));
        let talk = async {
            let give = async {
                // A child that ends before it has heard all says why with its end.
                let _ = input.write_all(bytes).await;
                drop(input);
            };
            let (_, taken) = tokio::join!(give, output.read_to_end(&mut words));
            taken.map(drop)
        };
        let in_time = tokio::select! {
            taken = talk => taken.is_ok(),
            _late = late => false,
        };
        let is_all = words.len() <= MAX_WORDS;
        let end = if in_time && is_all { Some(child.wait().await?) } else { child.kill().await.map(|()| None)? };
        Ok(told(&words, end))
    }

    fn start(&self, kind: Document) -> anyhow::Result<Child> {
        Command::new(&self.program)
            .args([COMMAND, kind.as_str()])
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // What a parser says of a document may quote it.
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .context("It cannot be started")
    }
}

/// What was found, by the words that came and by how the child ended; `None` if it was ended.
fn told(words: &[u8], end: Option<ExitStatus>) -> DocumentContent {
    let code = end.and_then(|end| end.code());
    if code == Some(i32::from(LOCKED)) {
        return DocumentContent::Locked;
    }
    let words = words.get(..MAX_WORDS).unwrap_or(words);
    // The end may have fallen into the middle of a character.
    let text = String::from_utf8_lossy(words);
    let text = text.trim_end_matches(char::REPLACEMENT_CHARACTER).trim();
    match (text.is_empty(), code == Some(0)) {
        (false, whole) => DocumentContent::Words { text: text.to_owned(), whole },
        (true, true) => DocumentContent::Nothing,
        (true, false) => DocumentContent::Broken,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::{SimulatedClock, Timestamp};

    /// A reader whose program does that.
    fn reader(script: &str) -> (DocumentReader, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("program");
        // Written by somebody else: what this process has open for writing, a child that another
        // test starts just then has too, and it cannot be started.
        let write = "printf '#!/bin/sh\\n%s\\n' \"$1\" > \"$0\" && chmod 700 \"$0\"";
        let written = std::process::Command::new("/bin/sh").args(["-c", write]).arg(&program).arg(script).status();
        assert!(written.unwrap().success());
        (DocumentReader::new(&program), folder)
    }

    async fn read(script: &str, bytes: &[u8]) -> DocumentContent {
        let (reader, _folder) = reader(script);
        let clock = SimulatedClock::new(Timestamp(0));
        reader.read(&clock, Document::Pdf, bytes).await
    }

    fn words(text: &str, whole: bool) -> DocumentContent {
        DocumentContent::Words { text: text.to_owned(), whole }
    }

    #[tokio::test]
    async fn the_program_is_asked_for_the_kind_and_given_the_bytes_and_nothing_else() {
        let found = read("echo \"$1 $2 $#\"; /bin/cat; /usr/bin/env | /bin/grep -c HOME", b"hello\n").await;
        assert_eq!(found, words("read-document pdf 2\nhello\n0", false), "grep finds nothing and says so with its end");
    }

    #[tokio::test]
    async fn the_end_of_the_program_says_how_it_went() {
        for (script, found) in [
            ("echo hello", words("hello", true)),
            ("echo hello; exit 1", words("hello", false)),
            ("echo hello; kill -SEGV $$", words("hello", false)),
            ("exit 0", DocumentContent::Nothing),
            ("echo '  '", DocumentContent::Nothing),
            ("exit 1", DocumentContent::Broken),
            ("kill -KILL $$", DocumentContent::Broken),
            ("exit 3", DocumentContent::Locked),
            ("printf 'a\\303'; exit 1", words("a", false)),
        ] {
            assert_eq!(read(script, &[b'x'; 300_000]).await, found, "{script}");
        }
    }

    #[tokio::test]
    async fn a_program_that_is_not_there_reads_nothing() {
        let reader = DocumentReader::new(Path::new("/nowhere/at/all"));
        assert_eq!(
            reader.read(&SimulatedClock::new(Timestamp(0)), Document::Html, b"x").await,
            DocumentContent::Broken
        );
    }

    #[tokio::test]
    async fn more_words_than_are_kept_are_cut_and_the_program_is_ended() {
        let DocumentContent::Words { text, whole } =
            read("while true; do echo 'ä and on and on it goes'; done", b"").await
        else {
            panic!("no words")
        };
        assert!(!whole && text.len() <= MAX_WORDS && text.len() > MAX_WORDS - 100 && text.starts_with("ä and on"));
    }

    #[tokio::test]
    async fn a_program_that_never_ends_is_ended_and_what_it_said_is_kept() {
        let (reader, folder) = reader("echo \"page one\"; echo $$ > \"$(dirname $0)/pid\"; exec /bin/sleep 1000");
        let clock = Arc::new(SimulatedClock::new(Timestamp(0)));
        let reading = reader.read(&*clock, Document::Pdf, b"x");
        let waiting = async {
            while !folder.path().join("pid").exists() {
                tokio::task::yield_now().await;
            }
            // What it wrote before is on its way.
            for _ in 0..1_000 {
                tokio::task::yield_now().await;
            }
            clock.advance(TIME).await;
        };
        let (found, ()) = tokio::join!(reading, waiting);
        assert_eq!(found, words("page one", false));
        let pid = std::fs::read_to_string(folder.path().join("pid")).unwrap();
        assert!(!Path::new("/proc").join(pid.trim()).join("exe").exists(), "it goes on");
    }
}
