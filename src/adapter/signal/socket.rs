//! Lines over a socket, bounded and strict, and the time limits for them.
//!
//! A line that is too long or not UTF-8 breaks the connection, because what follows cannot be
//! trusted to start a line. Reading may be cancelled at any point without loss; writing may not, so
//! the caller owns the [`LineWriter`] and drops it after an interrupted write.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use futures::StreamExt;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpStream, UnixStream};
use tokio_util::codec::{FramedRead, LinesCodec, LinesCodecError};

use crate::time::Clock;

/// Maximum length of a line. The longest one contains a file in Base64.
pub(super) const LONGEST: usize = 32 << 20;

/// Socket address of the daemon.
#[derive(Debug, Clone)]
pub(super) enum DaemonAddress {
    /// A Unix socket.
    Unix(PathBuf),
    /// A host and a port.
    Tcp(String),
}

/// Reasons why a connection is unusable.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum ConnectionError {
    /// Closed by the other side, or failed.
    #[error("{0}")]
    Ended(String),
    /// A line longer than [`LONGEST`].
    #[error("a line is too long")]
    TooLong,
    /// Not UTF-8.
    #[error("what came is no text")]
    Garbled,
}

/// Reading half of a connection.
pub(super) struct LineReader(FramedRead<Box<dyn AsyncRead + Send + Sync + Unpin>, LinesCodec>);

/// Writing half of a connection.
pub(super) struct LineWriter(Box<dyn AsyncWrite + Send + Sync + Unpin>);

impl DaemonAddress {
    /// Opens a connection within a time limit.
    ///
    /// # Errors
    /// Reason why not.
    pub(super) async fn connect(&self, clock: &dyn Clock) -> Result<(LineReader, LineWriter), String> {
        let opened = with_timeout(clock, CONNECT_TIMEOUT, self.open_socket()).await;
        let opened = opened.ok_or_else(|| "the daemon does not answer".to_owned())?;
        opened.map_err(|error| error.kind().to_string())
    }

    async fn open_socket(&self) -> io::Result<(LineReader, LineWriter)> {
        match self {
            Self::Unix(path) => {
                let (read, write) = UnixStream::connect(path).await?.into_split();
                Ok(halves(read, write))
            }
            Self::Tcp(address) => {
                let stream = TcpStream::connect(address).await?;
                stream.set_nodelay(true)?;
                let (read, write) = stream.into_split();
                Ok(halves(read, write))
            }
        }
    }
}

/// Makes a connection of any two byte streams.
pub(super) fn halves(
    read: impl AsyncRead + Send + Sync + Unpin + 'static,
    write: impl AsyncWrite + Send + Sync + Unpin + 'static,
) -> (LineReader, LineWriter) {
    let lines = FramedRead::new(Box::new(read) as Box<_>, LinesCodec::new_with_max_length(LONGEST));
    (LineReader(lines), LineWriter(Box::new(write)))
}

impl LineReader {
    /// Reads the next line. May be cancelled at any point.
    pub(super) async fn next(&mut self) -> Result<String, ConnectionError> {
        match self.0.next().await {
            Some(Ok(line)) => Ok(line),
            Some(Err(LinesCodecError::MaxLineLengthExceeded)) => Err(ConnectionError::TooLong),
            Some(Err(LinesCodecError::Io(error))) if error.kind() == io::ErrorKind::InvalidData => {
                Err(ConnectionError::Garbled)
            }
            Some(Err(LinesCodecError::Io(error))) => Err(ConnectionError::Ended(error.kind().to_string())),
            None => Err(ConnectionError::Ended("it was closed by the daemon".to_owned())),
        }
    }
}

impl LineWriter {
    /// Writes and flushes one line. An interrupted write breaks the connection.
    pub(super) async fn write(&mut self, line: &str) -> io::Result<()> {
        self.0.write_all(line.as_bytes()).await?;
        self.0.write_all(b"\n").await?;
        self.0.flush().await
    }
}

/// Time allowed for opening a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Returns the result of `work`, or `None` if it takes longer than `limit` of the clock's time.
pub(super) async fn with_timeout<T>(clock: &dyn Clock, limit: Duration, work: impl Future<Output = T>) -> Option<T> {
    let late = clock.time_out_at(clock.now().plus(limit));
    tokio::select! {
        biased;
        done = work => Some(done),
        _busy = late => None,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::time::clock::real_sleep;
    use crate::time::{SimulatedClock, Timestamp};

    async fn lines_of(bytes: Vec<u8>) -> Vec<Result<String, ConnectionError>> {
        let (mut reader, _) = halves(io::Cursor::new(bytes), tokio::io::sink());
        let mut lines = Vec::new();
        loop {
            let line = reader.next().await;
            let over = line.is_err();
            lines.push(line);
            if over {
                return lines;
            }
        }
    }

    #[tokio::test]
    async fn lines_end_with_or_without_a_carriage_return() {
        let lines = lines_of(b"a\r\n\nb\nlast".to_vec()).await;
        let ended = Err(ConnectionError::Ended("it was closed by the daemon".to_owned()));
        assert_eq!(lines, [Ok("a".to_owned()), Ok(String::new()), Ok("b".to_owned()), Ok("last".to_owned()), ended]);
    }

    #[tokio::test]
    async fn bytes_that_are_no_text_break_the_connection() {
        assert_eq!(lines_of(b"a\n\xff\xfe\nb\n".to_vec()).await, [Ok("a".to_owned()), Err(ConnectionError::Garbled)]);
    }

    #[tokio::test]
    async fn a_line_may_be_as_long_as_a_file_and_no_longer() {
        let mut bytes = vec![b'x'; LONGEST];
        bytes.push(b'\n');
        assert_eq!(lines_of(bytes.clone()).await.first().map(|line| line.as_ref().map(String::len)), Some(Ok(LONGEST)));
        bytes.insert(0, b'x');
        assert_eq!(lines_of(bytes).await, [Err(ConnectionError::TooLong)]);
    }

    #[tokio::test]
    async fn an_operation_that_never_ends_times_out_by_the_clock() {
        let clock = Arc::new(SimulatedClock::new(Timestamp(0)));
        let waiting = with_timeout(&*clock, CONNECT_TIMEOUT, std::future::pending::<()>());
        let (given_up, ()) = tokio::join!(waiting, clock.advance(CONNECT_TIMEOUT));
        assert_eq!((given_up, clock.now()), (None, Timestamp(10_000)));
    }

    #[tokio::test]
    async fn no_simulated_time_passes_before_an_answer_that_is_on_its_way() {
        let clock = Arc::new(SimulatedClock::new(Timestamp(0)));
        let answer = async {
            real_sleep(Duration::from_millis(20)).await;
            clock.now()
        };
        let (at, ()) = tokio::join!(with_timeout(&*clock, CONNECT_TIMEOUT, answer), clock.advance(CONNECT_TIMEOUT));
        assert_eq!(at, Some(Timestamp(0)));
    }
}
