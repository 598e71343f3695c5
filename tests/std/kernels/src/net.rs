//! Sockets.

use crate::threads::{join, spawn};
use crate::{c, checked, say, with_more};
use alloc::format;
use alloc::vec;
use core::mem::size_of;
use core::ptr::{null, null_mut};
use core::sync::atomic::{AtomicU32, Ordering::SeqCst};
use hostcall_std::abi::{self, AF_INET, SO_RCVTIMEO, SOCK_DGRAM, SOCK_STREAM, SOL_SOCKET, in_addr, sockaddr_in, socklen_t, timeval};
use hostcall_std::net::{names, options, socket as s};
use hostcall_std::{error, fd, io, poll, time};

fn at(port: u16) -> sockaddr_in {
    let sin_addr = in_addr { s_addr: u32::from_ne_bytes([127, 0, 0, 1]) };
    sockaddr_in { sin_family: AF_INET as u16, sin_port: port.to_be(), sin_addr, sin_zero: [0; 8] }
}

const LEN: socklen_t = size_of::<sockaddr_in>() as socklen_t;

fn bind(fd: i32, port: u16) -> i64 {
    let address = at(port);
    // SAFETY: an address of this length.
    unsafe { checked(s::libc_bind(fd, (&raw const address).cast(), LEN) as i64) }
}

fn connect_to(fd: i32, port: u16) -> i64 {
    let address = at(port);
    // SAFETY: as above.
    unsafe { checked(s::libc_connect(fd, (&raw const address).cast(), LEN) as i64) }
}

fn own_port(fd: i32) -> u16 {
    let mut address = at(0);
    let mut len = LEN;
    // SAFETY: a place for an address of this length.
    assert_eq!(unsafe { checked(s::libc_getsockname(fd, (&raw mut address).cast(), &mut len) as i64) }, 0);
    assert_eq!(len, LEN);
    u16::from_be(address.sin_port)
}

fn send(fd: i32, bytes: &[u8]) -> i64 {
    // SAFETY: a slice.
    unsafe { checked(s::libc_send(fd, bytes.as_ptr().cast(), bytes.len(), 0) as i64) }
}

fn receive(fd: i32, into: &mut [u8]) -> i64 {
    // SAFETY: a slice.
    unsafe { checked(s::libc_recv(fd, into.as_mut_ptr(), into.len(), 0) as i64) }
}

static PORT: AtomicU32 = AtomicU32::new(0);

/// A server and several clients, all threads of the program.
pub(crate) fn echo() -> i32 {
    let listener = s::libc_socket(AF_INET, SOCK_STREAM, 0);
    assert!(listener >= 3, "{listener}");
    assert_eq!(bind(listener, 0), 0);
    assert_eq!(checked(s::libc_listen(listener, 16) as i64), 0);
    PORT.store(own_port(listener).into(), SeqCst);
    fn client(n: usize) {
        let socket = s::libc_socket(AF_INET, SOCK_STREAM, 0);
        assert_eq!(connect_to(socket, PORT.load(SeqCst) as u16), 0);
        // More than any buffer on the way, so that both sides have to wait.
        let text = vec![n as u8; 300_000];
        let (mut sent, mut got) = (0, 0);
        let mut buffer = vec![0u8; 20_000];
        while got < text.len() {
            if sent < text.len() {
                let part = &text[sent..text.len().min(sent + 50_000)];
                sent += send(socket, part) as usize;
                if sent == text.len() {
                    assert_eq!(checked(s::libc_shutdown(socket, abi::SHUT_WR) as i64), 0);
                }
            }
            let read = receive(socket, &mut buffer);
            assert!(read > 0, "{read}");
            assert!(buffer[..read as usize].iter().all(|byte| *byte == n as u8));
            got += read as usize;
        }
        assert_eq!(receive(socket, &mut buffer), 0);
        assert_eq!(checked(fd::libc_close(socket) as i64), 0);
    }
    fn serve(socket: usize) {
        let socket = socket as i32;
        let mut buffer = vec![0u8; 10_000];
        loop {
            let read = receive(socket, &mut buffer);
            if read == 0 {
                break;
            }
            assert!(read > 0, "{read}");
            let mut at = 0;
            while at < read as usize {
                at += send(socket, &buffer[at..read as usize]) as usize;
            }
        }
        assert_eq!(checked(fd::libc_close(socket) as i64), 0);
    }
    let clients: vec::Vec<_> = (1..=3).map(|n| spawn(client, n)).collect();
    let mut servers = vec::Vec::new();
    for _ in 0..3 {
        let mut from = at(0);
        let mut len = LEN;
        // SAFETY: a place for an address.
        let socket = unsafe { s::libc_accept(listener, (&raw mut from).cast(), &mut len) };
        assert!(socket >= 3 && len == LEN && i32::from(from.sin_family) == AF_INET, "{socket}");
        servers.push(spawn(serve, socket as usize));
    }
    assert!(clients.iter().chain(&servers).all(|id| !id.is_null()));
    clients.iter().chain(&servers).for_each(|id| assert_ne!(join(*id), usize::MAX));
    0
}

pub(crate) fn datagrams() -> i32 {
    let a = s::libc_socket(AF_INET, SOCK_DGRAM, 0);
    let b = s::libc_socket(AF_INET, SOCK_DGRAM, 0);
    assert_eq!((bind(a, 0), bind(b, 0)), (0, 0));
    let to = at(own_port(b));
    // SAFETY: a slice and an address.
    assert_eq!(unsafe { checked(s::libc_sendto(a, b"one".as_ptr().cast(), 3, 0, (&raw const to).cast(), LEN) as i64) }, 3);
    // SAFETY: as above.
    assert_eq!(unsafe { checked(s::libc_sendto(a, b"twotwo".as_ptr().cast(), 6, 0, (&raw const to).cast(), LEN) as i64) }, 6);
    let mut buffer = [0u8; 4];
    // SAFETY: a slice.
    assert_eq!(unsafe { checked(s::libc_recv(b, buffer.as_mut_ptr(), 4, abi::MSG_PEEK) as i64) }, 3);
    let mut from = at(0);
    let mut len = LEN;
    // SAFETY: a slice and a place for an address.
    assert_eq!(unsafe { checked(s::libc_recvfrom(b, buffer.as_mut_ptr(), 4, 0, (&raw mut from).cast(), &mut len) as i64) }, 3);
    assert_eq!((&buffer[..3], u16::from_be(from.sin_port)), (&b"one"[..], own_port(a)));
    // What does not fit is lost.
    assert_eq!(receive(b, &mut buffer), 4);
    assert_eq!(&buffer, b"twot");
    let mut fds = [abi::pollfd { fd: b, events: abi::POLLIN, revents: 0 }];
    // SAFETY: one entry.
    assert_eq!(unsafe { checked(poll::libc_poll(fds.as_mut_ptr(), 1, 10) as i64) }, 0);
    assert_eq!(connect_to(b, own_port(a)), 0);
    assert_eq!(connect_to(a, own_port(b)), 0);
    assert_eq!(send(a, b"x"), 1);
    // SAFETY: one entry.
    assert_eq!(unsafe { checked(poll::libc_poll(fds.as_mut_ptr(), 1, -1) as i64) }, 1);
    assert_eq!(fds[0].revents, abi::POLLIN);
    assert_eq!(receive(b, &mut buffer), 1);
    0
}

pub(crate) fn timeouts() -> i32 {
    let a = s::libc_socket(AF_INET, SOCK_DGRAM, 0);
    assert_eq!(bind(a, 0), 0);
    let time = timeval { tv_sec: 0, tv_usec: 20_000 };
    let size = size_of::<timeval>() as socklen_t;
    // SAFETY: a value of this size.
    assert_eq!(unsafe { checked(options::libc_setsockopt(a, SOL_SOCKET, SO_RCVTIMEO, (&raw const time).cast(), size) as i64) }, 0);
    let mut read = timeval { tv_sec: 9, tv_usec: 9 };
    let mut len = size;
    // SAFETY: a place of this size.
    assert_eq!(unsafe { checked(options::libc_getsockopt(a, SOL_SOCKET, SO_RCVTIMEO, (&raw mut read).cast(), &mut len) as i64) }, 0);
    assert_eq!((read.tv_sec, read.tv_usec), (0, 20_000));
    assert_eq!(receive(a, &mut [0; 4]), -11);
    let mut on = 1i32;
    // SAFETY: an `i32`.
    let done = with_more((&raw mut on).expose_provenance(), |more| unsafe { checked(io::libc_ioctl(a, abi::FIONBIO, more) as i64) });
    assert_eq!(done, 0);
    assert_eq!(receive(a, &mut [0; 4]), -11);
    // SAFETY: nothing follows this command.
    let flags = unsafe { io::libc_fcntl(a, abi::F_GETFL, core::mem::zeroed()) };
    assert_eq!(i64::from(flags) & i64::from(abi::O_NONBLOCK), i64::from(abi::O_NONBLOCK));
    // SAFETY: as above; an option that there is not.
    assert_eq!(unsafe { checked(options::libc_setsockopt(a, 77, 1, (&raw const time).cast(), size) as i64) }, -92);
    assert_eq!(checked(fd::libc_close(a) as i64), 0);
    assert_eq!(receive(a, &mut [0; 4]), -9);
    // No sockets.
    assert_eq!((receive(1, &mut [0; 4]), checked(s::libc_listen(0, 1) as i64)), (-88, -88));
    0
}

/// Tells what connecting comes to.
pub(crate) fn connect(port: u16) -> i32 {
    let socket = s::libc_socket(AF_INET, SOCK_STREAM, 0);
    if socket < 0 {
        say(&format!("socket {}\n", checked(socket.into())));
        return 0;
    }
    say(&format!("connect {}\n", connect_to(socket, port)));
    let mut buffer = [0u8; 64];
    let read = receive(socket, &mut buffer);
    if read > 0 {
        say(core::str::from_utf8(&buffer[..read as usize]).unwrap_or("?"));
    }
    0
}

pub(crate) fn resolve(name: &str) -> i32 {
    let mut list = null_mut();
    // SAFETY: a C string and a place for the list.
    let outcome = unsafe { names::libc_getaddrinfo(c(name).as_ptr(), null(), null(), &mut list) };
    if outcome != 0 {
        say(&format!("failed {outcome} {}\n", unsafe { *error::libc___errno_location() }));
        return 0;
    }
    let mut at = list;
    while !at.is_null() {
        // SAFETY: entries of the list, whose addresses are as long as they say.
        let (info, v4) = unsafe { (*at, *(*at).ai_addr.cast::<sockaddr_in>()) };
        say(&format!("{} {:?}\n", info.ai_family, v4.sin_addr.s_addr.to_ne_bytes()));
        at = info.ai_next;
    }
    // SAFETY: the list.
    unsafe { names::libc_freeaddrinfo(list) };
    0
}

/// `main` ends while a thread waits for a connection that nobody makes.
pub(crate) fn blocked_at_exit() -> i32 {
    fn wait(_: usize) {
        let listener = s::libc_socket(AF_INET, SOCK_STREAM, 0);
        assert_eq!((bind(listener, 0), checked(s::libc_listen(listener, 1) as i64)), (0, 0));
        PORT.store(1, SeqCst);
        // SAFETY: nulls are allowed.
        unsafe { checked(s::libc_accept(listener, null_mut(), null_mut()) as i64) };
    }
    spawn(wait, 0);
    while PORT.load(SeqCst) == 0 {
        time::sys_sleep(1_000_000);
    }
    time::sys_sleep(20_000_000);
    0
}
