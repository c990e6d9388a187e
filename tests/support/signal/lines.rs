//! The two sockets: one JSON object or batch per line, served concurrently, answers in order of
//! completion.

use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc::unbounded_channel;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::rpc::{self, Reply, Via};
use super::state::{ConnectionId, Shared};

/// Limit that protects the memory of the test.
const LONGEST_LINE: usize = 64 << 20;

/// Serves one connection to its end.
pub(super) async fn serve(stream: impl AsyncRead + AsyncWrite, shared: Arc<Shared>) {
    let (reader, mut writer) = tokio::io::split(stream);
    let (sender, mut due) = unbounded_channel::<Vec<u8>>();
    let (id, cut) = shared.change(|state| state.open_connection(sender, false));
    let _closing = Closing { shared: shared.clone(), id };
    let reading = read(reader, shared.clone(), id, cut.clone());
    let writing = async {
        while let Some(bytes) = due.recv().await {
            if writer.write_all(&bytes).await.is_err() || writer.flush().await.is_err() {
                return;
            }
        }
    };
    tokio::select! {
        () = reading => {}
        () = writing => {}
        () = cut.cancelled() => {}
    }
}

/// Marks everything in flight on a connection as lost when it ends.
struct Closing {
    shared: Arc<Shared>,
    id: ConnectionId,
}

impl Drop for Closing {
    fn drop(&mut self) {
        self.shared.change(|state| state.close_connection(self.id));
    }
}

async fn read(mut reader: impl AsyncRead + Unpin, shared: Arc<Shared>, id: ConnectionId, cut: CancellationToken) {
    let mut buffer = Vec::new();
    let mut requests = JoinSet::new();
    loop {
        shared.until(|| !shared.lock().is_stalled).await;
        let mut chunk = vec![0; 64 * 1024];
        let count = reader.read(&mut chunk).await.unwrap_or(0);
        let searched = buffer.len();
        buffer.extend_from_slice(&chunk[..count]);
        let mut from = 0;
        while let Some(at) = buffer[from.max(searched)..].iter().position(|byte| *byte == b'\n') {
            let end = from.max(searched) + at;
            if !begin(&mut requests, &buffer[from..end], &shared, id, &cut) {
                return;
            }
            from = end + 1;
        }
        buffer.drain(..from);
        if buffer.len() > LONGEST_LINE {
            return;
        }
        if count == 0 {
            // An unterminated last line is served too, and all requests are answered.
            if !buffer.is_empty() && !begin(&mut requests, &buffer, &shared, id, &cut) {
                return;
            }
            shared.change(|state| state.end_subscriptions(id));
            tokio::select! {
                () = async { while requests.join_next().await.is_some() {} } => {}
                () = shared.until(|| { let state = shared.lock(); state.holds_sends || state.holds_answers }) => return,
            }
            shared.change(|state| state.close_connection(id));
            return std::future::pending().await;
        }
    }
}

/// Starts to serve a line concurrently. False if it ends the connection.
fn begin(
    requests: &mut JoinSet<()>,
    line: &[u8],
    shared: &Arc<Shared>,
    id: ConnectionId,
    cut: &CancellationToken,
) -> bool {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let Ok(line) = std::str::from_utf8(line) else { return false };
    let (line, shared, cut) = (line.to_owned(), shared.clone(), cut.clone());
    requests.spawn(async move {
        match rpc::serve(&shared, Via::Line(id), &line).await {
            Reply::Answer(answer) => shared.change(|state| state.answer(id, super::outward::line(&answer))),
            Reply::Torn(answer) => {
                let whole = super::outward::line(&answer);
                let mut torn = whole[..whole.len() / 2].to_vec();
                torn.push(b'\n');
                shared.change(|state| state.answer(id, torn));
            }
            Reply::Silence => {}
            Reply::Cut => cut.cancel(),
        }
        shared.change(|state| state.answered(id));
    });
    true
}
