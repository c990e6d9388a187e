//! The daemon's thread with its own runtime and three listeners.

use std::sync::Arc;

use tokio::net::{TcpListener, UnixListener};

use super::state::Shared;
use super::{http, lines};
use crate::support::fake::Running;

/// Listeners of the daemon.
pub(super) struct DaemonListeners {
    pub(super) unix: std::os::unix::net::UnixListener,
    pub(super) tcp: std::net::TcpListener,
    pub(super) http: std::net::TcpListener,
}

/// Opens all listeners. Dropping the result closes them and all connections; the socket file stays.
pub(super) fn start(doors: DaemonListeners, shared: Arc<Shared>) -> Running {
    Running::on_a_thread(move || serve(doors, shared))
}

async fn serve(doors: DaemonListeners, shared: Arc<Shared>) {
    let DaemonListeners { unix, tcp, http } = doors;
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
    }
}
