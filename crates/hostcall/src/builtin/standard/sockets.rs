//! Sockets: those of the system, none of which ever blocks.

use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use hostcall_abi::services::errno;
use rustix::io::{Errno, ioctl_fionbio, retry_on_intr};
use rustix::net::{self, AddressFamily, RecvFlags, SendFlags, Shutdown, SocketAddrAny, SocketType};

use super::super::files::answer;
use super::super::table::{FileTable, Open};
use super::super::{Context, define, owner_of};
use super::address::{NONE, Wire, from_wire, to_wire};
use crate::policy::{Net, Policy};
use crate::service::Service;

/// A socket. Its descriptor never blocks: whether the program's calls wait is the program's affair, which is kept here.
#[derive(Debug)]
pub(in super::super) struct Socket {
    descriptor: OwnedFd,
    /// Whether calls that would wait fail instead.
    pub(super) nonblocking: AtomicBool,
    /// Nanoseconds that receiving and sending wait; 0 for as long as it takes.
    pub(super) timeouts: [AtomicU64; 2],
    /// A socket for datagrams at no particular address: it hears only those whom it may speak to.
    filtered: AtomicBool,
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

/// The number of an error of the system.
pub(super) fn number(error: Errno) -> u32 {
    super::super::errno::of(&error.into())
}

impl Socket {
    fn new(descriptor: OwnedFd) -> Result<Self, u32> {
        ioctl_fionbio(&descriptor, true).map_err(number)?;
        Ok(Self { descriptor, nonblocking: AtomicBool::new(false), timeouts: Default::default(), filtered: AtomicBool::new(false) })
    }
}

fn open(net: &Net, family: u32, kind: u32) -> Result<Socket, u32> {
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
    let socket = Socket::new(opened.map_err(number)?)?;
    // Until it is bound somewhere.
    socket.filtered.store(kind == SocketType::DGRAM, Ordering::Relaxed);
    Ok(socket)
}

fn bind(net: &Net, socket: &Socket, address: SocketAddr) -> Result<(), u32> {
    // To speak to anybody at all, a socket for datagrams is bound to any address and port: that is no service that others find.
    let anonymous = address.ip().is_unspecified() && address.port() == 0 && socket.filtered.load(Ordering::Relaxed);
    if !anonymous {
        net.check("to bind to", address)?;
    }
    net::bind(socket, &address).map_err(number)?;
    socket.filtered.store(anonymous, Ordering::Relaxed);
    Ok(())
}

/// The wire form of what the system says.
fn named(address: Option<SocketAddrAny>) -> Wire {
    address.and_then(|address| SocketAddr::try_from(address).ok()).map_or(NONE, to_wire)
}

fn accept(socket: &Socket) -> Result<(Socket, Wire), u32> {
    #[cfg(target_os = "linux")]
    let accepted = retry_on_intr(|| net::acceptfrom_with(socket, net::SocketFlags::CLOEXEC));
    #[cfg(not(target_os = "linux"))]
    let accepted = retry_on_intr(|| net::acceptfrom(socket));
    let (descriptor, from) = accepted.map_err(number)?;
    Ok((Socket::new(descriptor)?, named(from)))
}

fn receive(net: &Net, socket: &Socket, peek: bool, into: &mut [u8]) -> Result<(usize, Wire), u32> {
    let flags = if peek { RecvFlags::PEEK } else { RecvFlags::empty() };
    loop {
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
}

fn send(net: &Net, socket: &Socket, to: Wire, from: &[u8]) -> Result<u32, u32> {
    #[cfg(target_os = "linux")]
    let flags = SendFlags::NOSIGNAL;
    #[cfg(not(target_os = "linux"))]
    let flags = SendFlags::empty();
    let sent = if to == NONE {
        retry_on_intr(|| net::send(socket, from, flags))
    } else {
        let to = from_wire(to)?;
        net.check("to send to", to)?;
        retry_on_intr(|| net::sendto(socket, from, flags, &to))
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
    all.push(context.inline(&define::std_net::socket(|_, _| Err(0)), move |call| {
        let (family, kind) = (call.fixed()?, call.fixed()?);
        let owner = owner_of(call.report());
        let result = open(&p.net, family, kind).and_then(|socket| f.insert(owner, Open::Socket(Arc::new(socket))));
        answer(call, result)
    }));
    let (p, f) = with();
    all.push(context.inline(&define::std_net::bind(|_, _| Err(0)), move |call| {
        let (handle, address) = (call.fixed()?, call.fixed()?);
        let socket = f.socket(owner_of(call.report()), handle);
        let result = socket.and_then(|socket| bind(&p.net, &socket, from_wire(address)?));
        answer(call, result)
    }));
    let f = files.clone();
    all.push(context.inline(&define::std_net::listen(|_, _| Err(0)), move |call| {
        let (handle, backlog) = (call.fixed()?, call.fixed::<u32>()?);
        let socket = f.socket(owner_of(call.report()), handle);
        let result = socket.and_then(|socket| net::listen(&*socket, backlog.min(4096).cast_signed()).map_err(number));
        answer(call, result)
    }));
    let (p, f) = with();
    all.push(context.inline(&define::std_net::connect(|_, _| Err(0)), move |call| {
        let (handle, address) = (call.fixed()?, call.fixed()?);
        let result = f.socket(owner_of(call.report()), handle).and_then(|socket| connect(&p.net, &socket, address));
        answer(call, result)
    }));
    let f = files.clone();
    all.push(context.inline(&define::std_net::accept(|_| Err(0)), move |call| {
        let handle = call.fixed()?;
        let owner = owner_of(call.report());
        let result = f.socket(owner, handle).and_then(|socket| {
            if !f.has_room() {
                return Err(errno::EMFILE);
            }
            let (connection, from) = accept(&socket)?;
            Ok((f.insert(owner, Open::Socket(Arc::new(connection)))?, from))
        });
        answer(call, result)
    }));
    let (p, f) = with();
    all.push(context.inline(&define::std_net::receive(|_, _, _| Err(0)), move |call| {
        let (handle, peek) = (call.fixed()?, call.fixed()?);
        let into = call.out::<u8>()?;
        let result = f.socket(owner_of(call.report()), handle).and_then(|socket| receive(&p.net, &socket, peek, into));
        let read = result.map_or(0, |(read, _)| read);
        call.reply(&result.map(|(read, from)| (read as u32, from)), &[&into[..read]]);
        Ok(())
    }));
    let (p, f) = with();
    all.push(context.inline(&define::std_net::send(|_, _, _| Err(0)), move |call| {
        let (handle, to) = (call.fixed()?, call.fixed()?);
        let from = call.slice::<u8>()?;
        let result = f.socket(owner_of(call.report()), handle).and_then(|socket| send(&p.net, &socket, to, from));
        answer(call, result)
    }));
    let f = files.clone();
    all.push(context.inline(&define::std_net::name(|_, _| Err(0)), move |call| {
        let (handle, peer) = (call.fixed()?, call.fixed()?);
        let result = f.socket(owner_of(call.report()), handle).and_then(|socket| name(&socket, peer));
        answer(call, result)
    }));
    let f = files.clone();
    all.push(context.inline(&define::std_net::shutdown(|_, _| Err(0)), move |call| {
        let (handle, how) = (call.fixed()?, call.fixed()?);
        let result = f.socket(owner_of(call.report()), handle).and_then(|socket| shutdown(&socket, how));
        answer(call, result)
    }));
    all
}
