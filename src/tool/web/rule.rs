//! The network addresses that may be connected to.
//!
//! Public addresses are permitted, everything else is refused: private, shared, loopback,
//! link-local, multicast, documentation, benchmarking and reserved ranges, any of which could be
//! the router, the cloud's metadata service or our own admin page. An IPv4 address inside an IPv6
//! one (mapped, compatible, NAT64, 6to4, Teredo, ISATAP) is judged as the address it stands for,
//! since the packets end there. Public addresses of this machine and of its networks are refused as
//! well: a service that listens there may trust nearby hosts.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use nix::ifaddrs::{InterfaceAddress, getifaddrs};
use nix::sys::socket::SockaddrStorage;

/// Decides about each address that a fetch would connect to.
#[derive(Clone, Default)]
pub struct Rule {
    exactly: Vec<SocketAddr>,
    near: Option<Arc<dyn Interfaces>>,
}

impl Rule {
    /// Permits public addresses on the ports of web servers.
    pub fn public_only() -> Self {
        Self::default()
    }

    /// Additionally permits exactly these addresses, such as one server at home.
    pub fn and_exactly(mut self, addresses: Vec<SocketAddr>) -> Self {
        self.exactly.extend(addresses);
        self
    }

    /// Excludes this machine and all hosts on its networks, according to its interfaces at the
    /// time.
    pub fn and_not_near(mut self, interfaces: Arc<dyn Interfaces>) -> Self {
        self.near = Some(interfaces);
        self
    }

    /// Returns whether a connection to `ip` at `port` is permitted.
    pub fn permits(&self, ip: IpAddr, port: u16) -> bool {
        self.exactly.contains(&SocketAddr::new(ip, port)) || (is_web_port(port) && is_public(ip) && !self.is_near(ip))
    }

    /// If the interfaces cannot be read, every address counts as near.
    fn is_near(&self, ip: IpAddr) -> bool {
        let Some(interfaces) = &self.near else { return false };
        let networks = match interfaces.networks() {
            Ok(networks) => networks,
            Err(error) => {
                tracing::warn!("The network interfaces cannot be read, so no web page is fetched: {error}");
                return true;
            }
        };
        let inner = match ip {
            IpAddr::V4(_) => Vec::new(),
            IpAddr::V6(v6) => embedded(v6),
        };
        let all = || std::iter::once(ip).chain(inner.iter().copied().map(IpAddr::V4));
        networks.iter().any(|network| all().any(|ip| network.holds(ip)))
    }

    /// Returns whether any host could be permitted at `port`, so that a fetch can refuse before the
    /// DNS lookup.
    pub fn permits_port(&self, port: u16) -> bool {
        is_web_port(port) || self.exactly.iter().any(|exact| exact.port() == port)
    }
}

/// Well-known ports below 1024 belong to mail, shells and databases, except two.
fn is_web_port(port: u16) -> bool {
    matches!(port, 80 | 443 | 1024..)
}

fn is_public(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(v4) => is_public_v4(v4),
        IpAddr::V6(v6) => is_public_v6(v6),
    }
}

fn is_public_v4(ip: Ipv4Addr) -> bool {
    let [a, b, c, _] = ip.octets();
    !matches!(
        (a, b, c),
        (0 | 10 | 127, _, _) // this network, private, loopback
            | (100, 64..=127, _) // shared by carriers
            | (169, 254, _) // link-local
            | (172, 16..=31, _) // private
            | (192, 0, 0 | 2) // protocol assignments, documentation
            | (192, 88, 99) // 6to4 relays
            | (192, 168, _) // private
            | (198, 18 | 19, _) // benchmarking
            | (198, 51, 100) // documentation
            | (203, 0, 113) // documentation
            | (224.., _, _) // multicast, reserved, broadcast
    )
}

fn is_public_v6(ip: Ipv6Addr) -> bool {
    let inner = embedded(ip);
    if !inner.iter().all(|v4| is_public_v4(*v4)) {
        return false;
    }
    match ip.segments() {
        [0, 0, 0, 0, 0, 0 | 0xffff, _, _] | [0x64, 0xff9b, 0, 0, 0, 0, _, _] => true, // judged by its IPv4 part
        [0x2001, 0, ..] | [0x2002, ..] => true,                                       // Teredo, 6to4: likewise
        [0x2001, 0x1..=0x1ff, ..] => false, // protocol assignments, benchmarking, identifiers
        [0x2001, 0xdb8, ..] => false,       // documentation
        [0x3fff, 0..=0xfff, ..] => false,   // documentation
        [first, ..] => matches!(first, 0x2000..=0x3fff), // global unicast; all else is local or reserved
    }
}

/// Returns the IPv4 addresses that an IPv6 address stands for; Teredo has two, its server and its
/// client.
fn embedded(ip: Ipv6Addr) -> Vec<Ipv4Addr> {
    match ip.segments() {
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => vec![v4(high, low)],
        [0x2002, high, low, ..] => vec![v4(high, low)],
        [0x2001, 0, high, low, _, _, client_high, client_low] => {
            vec![v4(high, low), v4(!client_high, !client_low)]
        }
        [_, _, _, _, 0 | 0x200, 0x5efe, high, low] => vec![v4(high, low)],
        _ => Vec::new(),
    }
}

fn v4(high: u16, low: u16) -> Ipv4Addr {
    Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low))
}

/// An address of this machine with its network prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network {
    /// Machine's own address.
    pub address: IpAddr,
    /// Prefix length of the network that is reachable without a router. 0 means that only the
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

/// Interfaces of the operating system.
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
    use std::io;

    use proptest::prelude::*;

    use super::*;
    use crate::tool::web::Network;

    struct Script(io::Result<Vec<Network>>);

    impl Interfaces for Script {
        fn networks(&self) -> io::Result<Vec<Network>> {
            self.0.as_ref().map(Clone::clone).map_err(|error| error.kind().into())
        }
    }

    /// Proves: trust/own-network
    #[test]
    fn this_machine_and_its_networks_are_refused_though_they_are_public() {
        let network = |address: &str, prefix| Network { address: address.parse().unwrap(), prefix };
        let networks = vec![network("198.41.0.77", 24), network("2a01:4f8:1:2::5", 64), network("193.0.14.129", 0)];
        let rule = Rule::public_only().and_not_near(Arc::new(Script(Ok(networks))));
        let permits = |ip: &str| rule.permits(ip.parse().unwrap(), 443);
        for near in [
            "198.41.0.77",
            "198.41.0.1",
            "2a01:4f8:1:2::5",
            "2a01:4f8:1:2:ffff::1",
            "193.0.14.129",
            "::ffff:198.41.0.77",
            "64:ff9b::198.41.0.1",
            "2002:c629:1::1",
        ] {
            assert!(!permits(near), "{near}");
        }
        for far in ["198.41.1.77", "2a01:4f8:1:3::5", "193.0.14.130", "::ffff:198.41.1.77", "64:ff9b::193.0.14.1"] {
            assert!(permits(far), "{far}");
        }
        let home: SocketAddr = "198.41.0.77:8080".parse().unwrap();
        assert!(rule.clone().and_exactly(vec![home]).permits(home.ip(), 8080), "what is named exactly is permitted");
        let blind = Rule::public_only().and_not_near(Arc::new(Script(Err(io::ErrorKind::PermissionDenied.into()))));
        assert!(!blind.permits("8.8.8.8".parse().unwrap(), 443));
    }

    fn permits(ip: &str) -> bool {
        Rule::public_only().permits(ip.parse().unwrap(), 443)
    }

    /// The first and last address of each forbidden range, and the neighbours outside it.
    #[test]
    fn forbidden_v4_ranges_end_where_they_should() {
        let ranges = [
            ("", "0.0.0.0", "0.255.255.255", "1.0.0.0"),
            ("9.255.255.255", "10.0.0.0", "10.255.255.255", "11.0.0.0"),
            ("100.63.255.255", "100.64.0.0", "100.127.255.255", "100.128.0.0"),
            ("126.255.255.255", "127.0.0.0", "127.255.255.255", "128.0.0.0"),
            ("169.253.255.255", "169.254.0.0", "169.254.255.255", "169.255.0.0"),
            ("172.15.255.255", "172.16.0.0", "172.31.255.255", "172.32.0.0"),
            ("191.255.255.255", "192.0.0.0", "192.0.0.255", "192.0.1.0"),
            ("192.0.1.255", "192.0.2.0", "192.0.2.255", "192.0.3.0"),
            ("192.88.98.255", "192.88.99.0", "192.88.99.255", "192.88.100.0"),
            ("192.167.255.255", "192.168.0.0", "192.168.255.255", "192.169.0.0"),
            ("198.17.255.255", "198.18.0.0", "198.19.255.255", "198.20.0.0"),
            ("198.51.99.255", "198.51.100.0", "198.51.100.255", "198.51.101.0"),
            ("203.0.112.255", "203.0.113.0", "203.0.113.255", "203.0.114.0"),
            ("223.255.255.255", "224.0.0.0", "255.255.255.255", ""),
        ];
        for (before, first, last, after) in ranges {
            for outside in [before, after].into_iter().filter(|ip| !ip.is_empty()) {
                assert!(permits(outside), "{outside}");
            }
            for inside in [first, last] {
                assert!(!permits(inside), "{inside}");
            }
        }
    }

    #[test]
    fn v6_is_public_only_inside_global_unicast() {
        let public = [
            "2000::",
            "2001:200::1",
            "2001:db7:ffff::1",
            "2001:db9::",
            "2606:4700:4700::1111",
            "2a00:1450::1",
            "3ffe:ffff::1",
            "3fff:1000::",
            "::ffff:8.8.8.8",
            "64:ff9b::8.8.8.8",
            "2002:808:808::1",
            "2001:0:808:808::f7f7:f7f7",
        ];
        let forbidden = [
            "::",
            "::1",
            "::127.0.0.1",
            "::ffff:10.0.0.1",
            "::ffff:0:8.8.8.8",
            "64:ff9b::127.0.0.1",
            "64:ff9b:1::8.8.8.8",
            "64:ff9b:0:1::8.8.8.8",
            "100::1",
            "1fff:ffff::1",
            "2001:1ff:ffff::1",
            "2001:2::1",
            "2001:10::1",
            "2001:20::1",
            "2001:db8::",
            "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff",
            "2001:0:808:808::80ff:fffe",
            "2001:0:a00:1::f7f7:f7f7",
            "2002:7f00:1::",
            "2002:c0a8:101::1",
            "3fff::",
            "3fff:fff:ffff::1",
            "4000::",
            "5f00::1",
            "fc00::",
            "fc00::1",
            "fdff:ffff::1",
            "fe80::1",
            "febf::1",
            "fec0::1",
            "feff::1",
            "ff00::",
            "ff02::1",
            "2606:4700::5efe:10.0.0.1",
        ];
        for ip in public {
            assert!(permits(ip), "{ip}");
        }
        for ip in forbidden {
            assert!(!permits(ip), "{ip}");
        }
    }

    #[test]
    fn only_web_ports_and_exact_exceptions() {
        let public: IpAddr = "8.8.8.8".parse().unwrap();
        let ports = [(22, false), (25, false), (80, true), (443, true), (1023, false), (1024, true), (0, false)];
        for (port, expected) in ports {
            assert_eq!(Rule::public_only().permits(public, port), expected, "{port}");
            assert_eq!(Rule::public_only().permits_port(port), expected, "{port}");
        }
        let home: SocketAddr = "192.168.1.5:81".parse().unwrap();
        let rule = Rule::public_only().and_exactly(vec![home]);
        assert!(rule.permits(home.ip(), 81) && rule.permits_port(81));
        assert!(!rule.permits(home.ip(), 80));
        assert!(!rule.permits("192.168.1.6".parse().unwrap(), 81));
        assert!(!rule.permits(public, 81));
    }

    proptest! {
        #[test]
        fn an_embedded_v4_is_judged_as_itself(bits: u32, form in 0_usize..5) {
            let inner = Ipv4Addr::from_bits(bits);
            let [high, low] = [(bits >> 16) as u16, bits as u16];
            let outer = [
                Ipv6Addr::new(0, 0, 0, 0, 0, 0xffff, high, low),
                Ipv6Addr::new(0, 0, 0, 0, 0, 0, high, low),
                Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, high, low),
                Ipv6Addr::new(0x2002, high, low, 0, 0, 0, 0, 1),
                Ipv6Addr::new(0x2001, 0, 0x808, 0x808, 0, 0, !high, !low),
            ][form];
            let rule = Rule::public_only();
            prop_assert_eq!(rule.permits(outer.into(), 443), rule.permits(inner.into(), 443));
        }
    }

    #[test]
    fn the_system_knows_its_own_loopback() {
        let networks = SystemInterfaces.networks().unwrap();
        assert!(networks.iter().any(|network| network.holds("127.0.0.1".parse().unwrap())), "{networks:?}");
    }
}
