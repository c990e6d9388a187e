//! Reads documents in a separate process: this program, started once more for each document, with
//! nothing but its bytes.
//!
//! The sender of a document controls every byte of it, and a parser may panic on some of them,
//! overflow the stack, or loop forever. In a separate process that costs only the document. The
//! child gets an empty environment and limits that it sets itself before it reads (`compline
//! read-document`); the parent enforces a time limit, and takes no more text than a file may hold.
//! The child writes page by page, so the text read before a kill is kept.
//!
//! The output is untrusted, and the caller must label it so.

use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use strum::{EnumString, IntoStaticStr};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};
use tokio::sync::Semaphore;

use crate::time::Clock;

/// Subcommand of the child on its command line.
pub const COMMAND: &str = "read-document";
/// Exit code of the child for a locked document.
pub const LOCKED: u8 = 3;
/// Maximum number of bytes kept of a document's text: somewhat less than a text file of the
/// workspace may hold.
pub const MAX_WORDS: usize = 1_000_000;

/// Time limit for one document.
const TIME: Duration = Duration::from_secs(60);
/// Maximum number of documents read at once, across all senders.
const AT_ONCE: usize = 2;

/// Kind of document that is read in a separate process, by its name on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Document {
    /// PDF.
    Pdf,
    /// Web page.
    Html,
    /// Office document: docx, xlsx, odt, ods.
    Office,
}

impl Document {
    /// Name of the kind on the command line.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Parses the name of a kind.
    pub fn parse(word: &str) -> Option<Self> {
        word.parse().ok()
    }
}

/// Content of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DocumentContent {
    /// Text, never blank.
    Words {
        /// The text.
        text: String,
        /// True if the text is complete.
        whole: bool,
    },
    /// Locked with a password.
    Locked,
    /// Fully read and without text: perhaps scanned pages.
    Nothing,
    /// Unreadable document.
    Broken,
}

/// Reads documents. Clones share the same limit on concurrent processes.
#[derive(Debug, Clone)]
pub struct DocumentReader {
    program: PathBuf,
    turns: Arc<Semaphore>,
}

impl DocumentReader {
    /// Creates a reader that starts that program, which must support [`COMMAND`].
    pub fn new(program: &Path) -> Self {
        Self { program: program.to_owned(), turns: Arc::new(Semaphore::new(AT_ONCE)) }
    }

    /// Extracts the text of a document.
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
                // A child that exits before it has read all input reports the reason by its exit
                // status.
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
        Ok(content_of(&words, end))
    }

    fn start(&self, kind: Document) -> anyhow::Result<Child> {
        Command::new(&self.program)
            .args([COMMAND, kind.as_str()])
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // Error output of a parser may quote the document.
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .context("It cannot be started")
    }
}

/// Derives the content from the output and the exit status; `None` if the child was killed.
fn content_of(words: &[u8], end: Option<ExitStatus>) -> DocumentContent {
    let code = end.and_then(|end| end.code());
    if code == Some(i32::from(LOCKED)) {
        return DocumentContent::Locked;
    }
    let words = words.get(..MAX_WORDS).unwrap_or(words);
    // The cut may have split a character.
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

    /// Creates a reader whose program is that script.
    fn reader(script: &str) -> (DocumentReader, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("program");
        // Written by another process: a file that this process has open for writing is also open in
        // a child that another test starts just then, and cannot be executed.
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
            // Lets the output written before arrive.
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
