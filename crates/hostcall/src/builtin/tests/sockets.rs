//! Sockets, names of the network, and what may be bound.

use std::io::{Read as _, Write as _};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::time::{Duration, Instant};

use super::*;
use crate::builtin::standard::address::{NONE, Wire, to_wire};

const STREAM: u32 = 1;
const DATAGRAMS: u32 = 2;
/// Linux's number.
const EINPROGRESS: u32 = 115;

fn world(grants: &[&str]) -> World {
    let mut policy = Policy::new();
    grants.iter().for_each(|grant| _ = policy.net_allow(grant.parse().unwrap()));
    World::of_policy(tempfile::tempdir().unwrap(), policy)
}

impl World {
    fn socket(&self, version: u32, kind: u32) -> Result<u64, u32> {
        self.call("StdNet__socket", &args().with(version).with(kind))
    }

    fn bound(&self, kind: u32, address: &str) -> Result<(), u32> {
        let address: SocketAddr = address.parse().unwrap();
        let socket = self.socket(if address.is_ipv4() { 4 } else { 6 }, kind)?;
        self.call("StdNet__bind", &args().with(socket).with(to_wire(address)))
    }

    fn connected(&self, socket: u64, to: SocketAddr) -> Result<(), u32> {
        self.call("StdNet__connect", &args().with(socket).with(to_wire(to)))
    }

    /// A socket with a connection, and its other end.
    fn connection(&self) -> (u64, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let socket = self.socket(4, STREAM).unwrap();
        let begun = self.connected(socket, listener.local_addr().unwrap());
        assert!(matches!(begun, Ok(()) | Err(EINPROGRESS)), "{begun:?}");
        let (peer, _) = listener.accept().unwrap();
        peer.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        (socket, peer)
    }

    fn sent(&self, socket: u64, to: Wire, text: &[u8]) -> Result<u32, u32> {
        self.call("StdNet__send", &args().with(socket).with(to).text(text))
    }

    fn shut(&self, socket: u64, how: u32) -> Result<(), u32> {
        self.call("StdNet__shutdown", &args().with(socket).with(how))
    }

    /// What comes within a while.
    fn received(&self, socket: u64) -> Result<Vec<u8>, u32> {
        let began = Instant::now();
        loop {
            let receive = args().with(socket).with(false).room(64);
            let (result, bytes) = self.call_out::<Result<(u32, Wire), u32>>("StdNet__receive", &receive, false).unwrap();
            match result {
                Err(errno::EAGAIN | errno::EINTR) if began.elapsed() < Duration::from_secs(60) => {
                    std::thread::sleep(Duration::from_millis(1));
                }
                other => return other.map(|_| bytes),
            }
        }
    }
}

#[test]
fn a_connection_carries_bytes_both_ways_until_either_way_is_shut() {
    let world = world(&["127.0.0.1:*"]);
    let (socket, mut peer) = world.connection();
    peer.write_all(b"there").unwrap();
    assert_eq!(world.received(socket), Ok(b"there".to_vec()));
    assert_eq!(world.sent(socket, NONE, b"back again"), Ok(10));
    assert_eq!(world.shut(socket, 3), Err(errno::EINVAL));
    assert_eq!(world.shut(socket, 1), Ok(()));
    let mut text = String::new();
    // To its end, which only this shutdown makes.
    peer.read_to_string(&mut text).unwrap();
    assert_eq!(text, "back again");
    assert_eq!(world.sent(socket, NONE, b"no more"), Err(errno::EPIPE));
    peer.write_all(b"still heard").unwrap();
    assert_eq!(world.received(socket), Ok(b"still heard".to_vec()));
    assert_eq!(world.shut(socket, 0), Ok(()));
    assert_eq!(world.received(socket), Ok(Vec::new()));
    let refused = world.connected(world.socket(4, STREAM).unwrap(), "192.0.2.1:9".parse().unwrap());
    assert_eq!(refused, Err(errno::EACCES));
}

#[test]
fn both_ways_of_a_connection_can_be_shut_at_once() {
    let world = world(&["127.0.0.1:*"]);
    let (socket, mut peer) = world.connection();
    assert_eq!(world.shut(socket, 2), Ok(()));
    assert_eq!(world.received(socket), Ok(Vec::new()));
    assert_eq!(world.sent(socket, NONE, b"no more"), Err(errno::EPIPE));
    peer.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    assert_eq!(peer.read(&mut [0]).unwrap(), 0);
}

#[test]
fn datagrams_go_to_granted_places_and_to_no_others() {
    let world = world(&["127.0.0.1:*"]);
    let friend = UdpSocket::bind("127.0.0.1:0").unwrap();
    friend.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let socket = world.socket(4, DATAGRAMS).unwrap();
    assert_eq!(world.sent(socket, to_wire(friend.local_addr().unwrap()), b"a datagram"), Ok(10));
    let mut text = [0; 64];
    assert_eq!(friend.recv(&mut text).unwrap(), 10);
    assert_eq!(&text[..10], b"a datagram");
    let stranger = SocketAddr::new(Ipv4Addr::new(192, 0, 2, 1).into(), 9);
    assert_eq!(world.sent(socket, to_wire(stranger), b"a datagram"), Err(errno::EACCES));
}

/// Without a grant a socket for datagrams is bound to no place that others know, which speaking needs; nothing else is
/// bound without one.
#[test]
fn only_datagrams_are_bound_to_no_place_at_all_without_a_grant() {
    let world = world(&["192.0.2.1:80"]);
    assert_eq!(world.bound(DATAGRAMS, "0.0.0.0:0"), Ok(()));
    for (kind, address) in [
        (STREAM, "0.0.0.0:0"),
        (DATAGRAMS, "127.0.0.1:0"),
        (DATAGRAMS, "0.0.0.0:49153"),
        (STREAM, "127.0.0.1:0"),
        (STREAM, "0.0.0.0:49153"),
    ] {
        assert_eq!(world.bound(kind, address), Err(errno::EACCES), "{kind} {address}");
    }
}

#[test]
fn sockets_are_of_version_4_or_6_for_streams_or_datagrams() {
    let world = world(&["127.0.0.1:*"]);
    assert_eq!([world.socket(5, STREAM), world.socket(0, STREAM)], [Err(errno::EAFNOSUPPORT); 2]);
    assert_eq!([world.socket(4, 0), world.socket(4, 3)], [Err(errno::EINVAL); 2]);
    // What the system itself gives.
    let sixth = rustix::net::socket(rustix::net::AddressFamily::INET6, rustix::net::SocketType::STREAM, None);
    assert_eq!(world.socket(6, STREAM).is_ok(), sixth.is_ok());
}

#[test]
fn a_name_is_looked_up_to_each_of_its_addresses_once() {
    let world = world(&["*:*"]);
    let resolve = |name: &str| {
        let (count, bytes) = world.call_out::<Result<u32, u32>>("StdNet__resolve", &args().text(name).room(4 * 20), false).unwrap();
        count.map(|count| (count, bytes))
    };
    let (count, bytes) = resolve("127.0.0.1").unwrap();
    assert_eq!((count, bytes.len(), &bytes[..8]), (1, 20, &[4, 0, 0, 0, 127, 0, 0, 1][..]));
    // No resolver asks for a name whose label is so long, and what it says of it has no number.
    assert_eq!(resolve(&"x".repeat(400)), Err(errno::ENOENT));
    assert_eq!(resolve("a\0b"), Err(errno::EINVAL));
}

/// A group is joined once, left once, and only then joined again.
#[test]
fn groups_are_joined_and_left() {
    let world = world(&["*:*"]);
    let groups: [(u32, SocketAddr); 2] = [(4, "239.1.2.3:0".parse().unwrap()), (6, "[ff01::1234]:0".parse().unwrap())];
    for (version, group) in groups {
        let Ok(socket) = world.socket(version, DATAGRAMS) else {
            println!("skipped: this machine has no sockets of version {version}");
            continue;
        };
        // The interface of this machine alone: by its address, or as the first one.
        let interface = if version == 4 { u32::from_ne_bytes([127, 0, 0, 1]) } else { 1 };
        let member = |join: bool| {
            world.call::<Result<(), u32>>("StdNet__membership", &args().with(socket).with(join).with(to_wire(group)).with(interface))
        };
        assert!(member(false).is_err(), "version {version}: nobody leaves what was not joined");
        // What the system itself does.
        let own = UdpSocket::bind(if version == 4 { "0.0.0.0:0" } else { "[::]:0" }).unwrap();
        let joined = match group.ip() {
            IpAddr::V4(group) => own.join_multicast_v4(&group, &Ipv4Addr::LOCALHOST),
            IpAddr::V6(group) => own.join_multicast_v6(&group, 1),
        };
        if let Err(error) = joined {
            println!("skipped: this machine joins no group of version {version}: {error}");
            continue;
        }
        assert_eq!(member(true), Ok(()), "version {version}");
        assert!(member(true).is_err(), "version {version}: it is joined");
        assert_eq!(member(false), Ok(()), "version {version}");
        assert!(member(false).is_err(), "version {version}: it has been left");
    }
}
