//! The networks of this machine, according to its interfaces.

use std::io;
use std::net::{IpAddr, SocketAddr};

use nix::ifaddrs::{InterfaceAddress, getifaddrs};
use nix::sys::socket::SockaddrStorage;

/// An address of this machine with its network prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network {
    /// The machine's own address.
    pub address: IpAddr,
    /// The prefix length of the network that is reachable without a router. 0 means that only the
    /// address itself is near.
    pub prefix: u32,
}

impl Network {
    /// Returns whether an address is this machine's or on the same network.
    pub fn holds(&self, ip: IpAddr) -> bool {
        let (own, other, bits) = match (self.address, ip) {
            (IpAddr::V4(own), IpAddr::V4(other)) => (u128::from(own.to_bits()), u128::from(other.to_bits()), 32),
            (IpAddr::V6(own), IpAddr::V6(other)) => (own.to_bits(), other.to_bits(), 128),
            _ => return false,
        };
        let prefix = if self.prefix == 0 { bits } else { self.prefix.min(bits) };
        (own ^ other) >> (bits - prefix) == 0
    }
}

/// A source of networks: the system, or a script in tests.
pub trait Interfaces: Send + Sync {
    /// Returns all addresses of this machine with their networks.
    ///
    /// # Errors
    /// If the system does not provide them.
    fn networks(&self) -> io::Result<Vec<Network>>;
}

/// The interfaces of the operating system.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemInterfaces;

impl Interfaces for SystemInterfaces {
    fn networks(&self) -> io::Result<Vec<Network>> {
        Ok(getifaddrs()?.flat_map(|interface| networks_of(&interface)).collect())
    }
}

/// Returns the network of an interface's address, and the peer's address of a point-to-point link.
fn networks_of(interface: &InterfaceAddress) -> Vec<Network> {
    let prefix = ip_of(interface.netmask).map_or(0, |mask| match mask {
        IpAddr::V4(mask) => mask.to_bits().leading_ones(),
        IpAddr::V6(mask) => mask.to_bits().leading_ones(),
    });
    let own = ip_of(interface.address).map(|address| Network { address, prefix });
    let other = ip_of(interface.destination).map(|address| Network { address, prefix: 0 });
    own.into_iter().chain(other).collect()
}

fn ip_of(address: Option<SockaddrStorage>) -> Option<IpAddr> {
    let address = address?;
    let v4 = address.as_sockaddr_in().map(|v4| SocketAddr::V4((*v4).into()));
    v4.or_else(|| address.as_sockaddr_in6().map(|v6| SocketAddr::V6((*v6).into()))).map(|address| address.ip())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_system_knows_its_own_loopback() {
        let networks = SystemInterfaces.networks().unwrap();
        assert!(networks.iter().any(|network| network.holds("127.0.0.1".parse().unwrap())), "{networks:?}");
    }
}
