//! Sockets: those of the system, none of which ever blocks.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use hostcall_abi::services::errno;
use rustix::io::retry_on_intr;
use rustix::net::{self, AddressFamily, RecvFlags, SendFlags, Shutdown, SocketAddrAny, SocketType};

use super::super::context::{Context, answer};
use super::super::counted::Room;
use super::super::define;
use super::super::socket::{Socket, number};
use super::super::table::{FileTable, Open};
use super::address::{NONE, Wire, from_wire, to_wire};
use crate::policy::{Net, Policy};
use crate::service::Service;

/// Datagrams from others than granted places that one call throws away. A flood of them must not hold the serving
/// thread: the call then says `EINTR`, and comes again at once. (It must not say that there is nothing: who waits for
/// an edge would wait for one that has been.)
const UNHEARD: usize = 16;

pub(super) fn open(net: &Net, room: Room, family: u32, kind: u32) -> Result<Socket, u32> {
    net.check_any()?;
    let family = match family {
        4 => AddressFamily::INET,
        6 => AddressFamily::INET6,
        _ => return Err(errno::EAFNOSUPPORT),
    };
    let kind = match kind {
        1 => SocketType::STREAM,
        2 => SocketType::DGRAM,
        _ => return Err(errno::EINVAL),
    };
    #[cfg(target_os = "linux")]
    let opened = net::socket_with(family, kind, net::SocketFlags::CLOEXEC, None);
    #[cfg(not(target_os = "linux"))]
    let opened = net::socket(family, kind, None);
    let socket = Socket::new(room.take(opened.map_err(number)?)?)?;
    // Until it is bound somewhere.
    socket.filtered.store(kind == SocketType::DGRAM, Ordering::Relaxed);
    Ok(socket)
}

fn bind(net: &Net, socket: &Socket, address: SocketAddr) -> Result<(), u32> {
    // To speak to anybody at all, a socket for datagrams is bound to any address and port: that is no service that
    // others find.
    let anonymous = address.ip().to_canonical().is_unspecified() && address.port() == 0 && socket.filtered.load(Ordering::Relaxed);
    if !anonymous {
        net.check("to bind to", address)?;
    }
    net::bind(socket, &address).map_err(number)?;
    // Relaxed: the program's own calls order what it does, and a system's socket is bound once.
    socket.filtered.store(anonymous, Ordering::Relaxed);
    socket.bound.store(!anonymous, Ordering::Relaxed);
    Ok(())
}

/// Lets others connect, to the granted place that the socket was bound to. The system would bind one that is not to a
/// port of every network.
fn listen(net: &Net, socket: &Socket, backlog: u32) -> Result<(), u32> {
    // Relaxed, as in `bind`.
    if !socket.bound.load(Ordering::Relaxed) {
        let own = net::getsockname(socket).ok().and_then(|own| SocketAddr::try_from(own).ok());
        let every = if own.is_some_and(|own| own.is_ipv6()) { IpAddr::from(Ipv6Addr::UNSPECIFIED) } else { Ipv4Addr::UNSPECIFIED.into() };
        net.check("to listen at", SocketAddr::new(every, 0))?;
    }
    net::listen(socket, backlog.min(4096).cast_signed()).map_err(number)
}

/// The wire form of what the system says.
fn named(address: Option<SocketAddrAny>) -> Wire {
    address.and_then(|address| SocketAddr::try_from(address).ok()).map_or(NONE, to_wire)
}

fn accept(socket: &Socket, room: Room) -> Result<(Socket, Wire), u32> {
    #[cfg(target_os = "linux")]
    let accepted = retry_on_intr(|| net::acceptfrom_with(socket, net::SocketFlags::CLOEXEC));
    #[cfg(not(target_os = "linux"))]
    let accepted = retry_on_intr(|| net::acceptfrom(socket));
    let (descriptor, from) = accepted.map_err(number)?;
    Ok((Socket::new(room.take(descriptor)?)?, named(from)))
}

fn receive(net: &Net, socket: &Socket, peek: bool, into: &mut [u8]) -> Result<(usize, Wire), u32> {
    let flags = if peek { RecvFlags::PEEK } else { RecvFlags::empty() };
    for _ in 0..UNHEARD {
        let (read, _, from) = retry_on_intr(|| net::recvfrom(socket, &mut *into, flags)).map_err(number)?;
        let from = from.and_then(|from| SocketAddr::try_from(from).ok());
        // Relaxed: the program's own calls order what it sets.
        if socket.filtered.load(Ordering::Relaxed) && from.is_some_and(|from| !net.allows(from)) {
            if peek {
                // It would be the next one again.
                let _ = retry_on_intr(|| net::recv(socket, &mut [0u8; 1][..], RecvFlags::empty()));
            }
            continue;
        }
        return Ok((read.min(into.len()), from.map_or(NONE, to_wire)));
    }
    Err(errno::EINTR)
}

/// Sends, with flags that keep a socket whose other end is gone from raising SIGPIPE.
#[cfg(target_os = "linux")]
fn without_signal<T>(send: impl FnOnce(SendFlags) -> T) -> T {
    send(SendFlags::NOSIGNAL)
}

/// Sends, where there is no such flag.
#[cfg(not(target_os = "linux"))]
fn without_signal<T>(send: impl FnOnce(SendFlags) -> T) -> T {
    offload::host::without_sigpipe(|| send(SendFlags::empty()))
}

fn send(net: &Net, socket: &Socket, to: Wire, from: &[u8]) -> Result<u32, u32> {
    let sent = if to == NONE {
        without_signal(|flags| retry_on_intr(|| net::send(socket, from, flags)))
    } else {
        let to = from_wire(to)?;
        net.check("to send to", to)?;
        without_signal(|flags| retry_on_intr(|| net::sendto(socket, from, flags, &to)))
    };
    sent.map(|sent| sent as u32).map_err(number)
}

fn connect(net: &Net, socket: &Socket, address: Wire) -> Result<(), u32> {
    let address = from_wire(address)?;
    net.check("to connect to", address)?;
    net::connect(socket, &address).map_err(number)
}

fn name(socket: &Socket, peer: bool) -> Result<Wire, u32> {
    if peer {
        net::getpeername(socket).map(named).map_err(number)
    } else {
        net::getsockname(socket).map(|own| named(Some(own))).map_err(number)
    }
}

fn shutdown(socket: &Socket, how: u32) -> Result<(), u32> {
    let how = match how {
        0 => Shutdown::Read,
        1 => Shutdown::Write,
        2 => Shutdown::Both,
        _ => return Err(errno::EINVAL),
    };
    net::shutdown(socket, how).map_err(number)
}

pub(super) fn services(context: &Context, policy: &Arc<Policy>, files: &Arc<FileTable>) -> Vec<Service> {
    let with = || (policy.clone(), files.clone());
    let mut all = Vec::new();
    let (p, f) = with();
    all.push(context.inline(define::std_net::definition::socket(), move |call| {
        let (family, kind) = (call.fixed()?, call.fixed()?);
        let tenant = call.tenant();
        let result = f
            .room(tenant)
            .and_then(|room| open(&p.net, room, family, kind))
            .and_then(|socket| f.insert(tenant, Open::Socket(Arc::new(socket))));
        answer(call, result)
    }));
    let (p, f) = with();
    all.push(context.inline(define::std_net::definition::bind(), move |call| {
        let (handle, address) = (call.fixed()?, call.fixed()?);
        let socket = f.socket(call.tenant(), handle);
        let result = socket.and_then(|socket| bind(&p.net, &socket, from_wire(address)?));
        answer(call, result)
    }));
    let (p, f) = with();
    all.push(context.inline(define::std_net::definition::listen(), move |call| {
        let (handle, backlog) = (call.fixed()?, call.fixed::<u32>()?);
        let socket = f.socket(call.tenant(), handle);
        let result = socket.and_then(|socket| listen(&p.net, &socket, backlog));
        answer(call, result)
    }));
    let (p, f) = with();
    all.push(context.inline(define::std_net::definition::connect(), move |call| {
        let (handle, address) = (call.fixed()?, call.fixed()?);
        let result = f.socket(call.tenant(), handle).and_then(|socket| connect(&p.net, &socket, address));
        answer(call, result)
    }));
    let f = files.clone();
    all.push(context.inline(define::std_net::definition::accept(), move |call| {
        let handle = call.fixed()?;
        let tenant = call.tenant();
        let result = f.socket(tenant, handle).and_then(|socket| {
            let (connection, from) = accept(&socket, f.room(tenant)?)?;
            Ok((f.insert(tenant, Open::Socket(Arc::new(connection)))?, from))
        });
        answer(call, result)
    }));
    let (p, f) = with();
    all.push(context.inline(define::std_net::definition::receive(), move |call| {
        let (handle, peek) = (call.fixed()?, call.fixed()?);
        let into = call.out::<u8>()?;
        let result = f.socket(call.tenant(), handle).and_then(|socket| receive(&p.net, &socket, peek, into));
        let read = result.map_or(0, |(read, _)| read);
        call.reply(&result.map(|(read, from)| (read as u32, from)), &[&into[..read]]);
        Ok(())
    }));
    let (p, f) = with();
    all.push(context.inline(define::std_net::definition::send(), move |call| {
        let (handle, to) = (call.fixed()?, call.fixed()?);
        let from = call.slice::<u8>()?;
        let result = f.socket(call.tenant(), handle).and_then(|socket| send(&p.net, &socket, to, from));
        answer(call, result)
    }));
    let f = files.clone();
    all.push(context.inline(define::std_net::definition::name(), move |call| {
        let (handle, peer) = (call.fixed()?, call.fixed()?);
        let result = f.socket(call.tenant(), handle).and_then(|socket| name(&socket, peer));
        answer(call, result)
    }));
    let f = files.clone();
    all.push(context.inline(define::std_net::definition::shutdown(), move |call| {
        let (handle, how) = (call.fixed()?, call.fixed()?);
        let result = f.socket(call.tenant(), handle).and_then(|socket| shutdown(&socket, how));
        answer(call, result)
    }));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tenant::Tenant;
    use std::net::UdpSocket;

    fn net(grants: &[&str]) -> Net {
        let mut net = Net::default();
        grants.iter().for_each(|grant| net.allow(grant.parse().unwrap()));
        net
    }

    fn room() -> Room {
        Room::of(&Tenant::new(), 1).unwrap()
    }

    fn at(text: &str) -> SocketAddr {
        text.parse().unwrap()
    }

    fn own(socket: &Socket) -> SocketAddr {
        from_wire(name(socket, false).unwrap()).unwrap()
    }

    #[test]
    fn listening_without_a_granted_bind_is_refused_and_opens_no_port() {
        let net = net(&["127.0.0.1:80"]);
        for family in [4, 6] {
            let Ok(socket) = open(&net, room(), family, 1) else {
                println!("skipped: this machine has no sockets of version {family}");
                continue;
            };
            assert_eq!(listen(&net, &socket, 8), Err(errno::EACCES));
            assert_eq!(own(&socket).port(), 0, "the system gave it no port");
        }
        let denials = net.denials.take();
        assert!(denials.iter().any(|denial| denial.flag == "--net-allow 0.0.0.0:0"), "{denials:?}");
    }

    #[test]
    fn listening_after_a_refused_bind_is_refused_too() {
        let net = net(&["127.0.0.1:80"]);
        let socket = open(&net, room(), 4, 1).unwrap();
        assert_eq!(bind(&net, &socket, at("127.0.0.1:0")), Err(errno::EACCES));
        assert_eq!(listen(&net, &socket, 8), Err(errno::EACCES));
    }

    #[test]
    fn listening_is_granted_with_the_place_that_was_bound_or_with_every_place() {
        let bound = net(&["127.0.0.1:*"]);
        let socket = open(&bound, room(), 4, 1).unwrap();
        bind(&bound, &socket, at("127.0.0.1:0")).unwrap();
        assert_eq!(listen(&bound, &socket, 8), Ok(()));
        assert!(own(&socket).ip().is_loopback());
        let every = net(&["0.0.0.0:*"]);
        assert_eq!(listen(&every, &open(&every, room(), 4, 1).unwrap(), 8), Ok(()));
    }

    #[test]
    fn a_flood_of_datagrams_from_strangers_does_not_hold_a_call_and_hides_no_friend() {
        let stranger = UdpSocket::bind("127.0.0.1:0").unwrap();
        let friend = UdpSocket::bind("127.0.0.1:0").unwrap();
        let granted = friend.local_addr().unwrap();
        let net = net(&[&granted.to_string()]);
        let socket = open(&net, room(), 4, 2).unwrap();
        bind(&net, &socket, at("0.0.0.0:0")).unwrap();
        let to = SocketAddr::new(Ipv4Addr::LOCALHOST.into(), own(&socket).port());
        for _ in 0..3 * UNHEARD {
            stranger.send_to(b"noise", to).unwrap();
        }
        friend.send_to(b"hello", to).unwrap();
        let mut into = [0; 16];
        // Each call looks at so many and no more, whether it peeks or not.
        for peek in [true, false, true] {
            assert_eq!(receive(&net, &socket, peek, &mut into), Err(errno::EINTR));
        }
        assert_eq!(receive(&net, &socket, true, &mut into), Ok((5, to_wire(granted))));
        assert_eq!(receive(&net, &socket, false, &mut into), Ok((5, to_wire(granted))));
        assert_eq!(&into[..5], b"hello");
        assert_eq!(receive(&net, &socket, false, &mut into), Err(errno::EAGAIN));
    }
}
