//! Addresses for servers that a test starts later, or again.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::atomic::{AtomicU32, Ordering};

/// Ports that no system gives to outgoing connections: one of those would take the port while nothing
/// listens there.
const PORTS: u32 = 10_000;
const FIRST: u32 = 20_000;

/// Returns an address of this computer that is free now, and another one each time.
pub fn free_address() -> SocketAddr {
    static TAKEN: AtomicU32 = AtomicU32::new(0);
    (0..PORTS)
        .find_map(|_| {
            let next = std::process::id().wrapping_mul(97).wrapping_add(TAKEN.fetch_add(1, Ordering::Relaxed));
            let port = u16::try_from(FIRST + next % PORTS).unwrap();
            TcpListener::bind((Ipv4Addr::LOCALHOST, port)).ok()
        })
        .expect("a port is free")
        .local_addr()
        .unwrap()
}
