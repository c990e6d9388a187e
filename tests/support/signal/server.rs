//! The daemon's thread: a runtime of its own and three doors.

use std::sync::Arc;
use std::thread::JoinHandle;

use tokio::net::{TcpListener, UnixListener};
use tokio::sync::oneshot;

use super::state::Shared;
use super::{http, lines};

/// What it listens on.
pub(super) struct Doors {
    pub(super) unix: std::os::unix::net::UnixListener,
    pub(super) tcp: std::net::TcpListener,
    pub(super) http: std::net::TcpListener,
}

/// The serving thread. Dropping it closes the doors and all connections before it returns; the file of the socket stays.
pub(super) struct Running {
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    pub(super) fn serve(doors: Doors, shared: Arc<Shared>) -> Self {
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::spawn(move || serve(doors, shared, stopped));
        Self { stop: Some(stop), thread: Some(thread) }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.take();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn serve(doors: Doors, shared: Arc<Shared>, stopped: oneshot::Receiver<()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let Doors { unix, tcp, http } = doors;
        unix.set_nonblocking(true).expect("a listener without blocking");
        tcp.set_nonblocking(true).expect("a listener without blocking");
        http.set_nonblocking(true).expect("a listener without blocking");
        let unix = UnixListener::from_std(unix).expect("a listener");
        let tcp = TcpListener::from_std(tcp).expect("a listener");
        let http = TcpListener::from_std(http).expect("a listener");
        let on_unix = async {
            loop {
                if let Ok((stream, _)) = unix.accept().await {
                    tokio::spawn(lines::serve(stream, shared.clone()));
                }
            }
        };
        let on_tcp = async {
            loop {
                if let Ok((stream, _)) = tcp.accept().await {
                    let _ = stream.set_nodelay(true);
                    tokio::spawn(lines::serve(stream, shared.clone()));
                }
            }
        };
        tokio::select! {
            () = on_unix => {}
            () = on_tcp => {}
            () = http::serve(http, shared.clone()) => {}
            _ = stopped => {}
        }
    });
}
