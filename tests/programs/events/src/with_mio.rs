//! An echo server and its clients in one event loop of `mio`, and threads that wake it.

use std::collections::HashMap;
use std::io::{self, ErrorKind, Read, Write};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use mio::net::{TcpListener, TcpStream};
use mio::{Events, Interest, Poll, Token, Waker};

const LISTENER: Token = Token(0);
const WAKER: Token = Token(1);
const CLIENTS: usize = 4;
const BYTES: usize = 300_000;

struct Connection {
    stream: TcpStream,
    /// What was read and not yet sent back.
    pending: Vec<u8>,
    ended: bool,
}

impl Connection {
    /// Reads and writes as far as it goes: whether it is done.
    fn go_on(&mut self) -> io::Result<bool> {
        loop {
            let mut moved = false;
            if !self.ended && self.pending.len() < 100_000 {
                let mut into = [0; 8192];
                match self.stream.read(&mut into) {
                    Ok(0) => self.ended = true,
                    Ok(read) => {
                        self.pending.extend_from_slice(&into[..read]);
                        moved = true;
                    }
                    Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                    Err(error) => return Err(error),
                }
            }
            if !self.pending.is_empty() {
                match self.stream.write(&self.pending) {
                    Ok(written) => {
                        self.pending.drain(..written);
                        moved = true;
                    }
                    Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                    Err(error) => return Err(error),
                }
            }
            if !moved {
                return Ok(self.ended && self.pending.is_empty());
            }
        }
    }
}

fn client(address: std::net::SocketAddr, seed: u8) -> io::Result<u64> {
    let mut stream = std::net::TcpStream::connect(address)?;
    let sent: Vec<u8> = (0..BYTES).map(|i| (i as u8).wrapping_mul(seed)).collect();
    let mut writer = stream.try_clone()?;
    let copy = sent.clone();
    let writing = thread::spawn(move || writer.write_all(&copy).and_then(|()| writer.shutdown(std::net::Shutdown::Write)));
    let mut back = Vec::new();
    stream.read_to_end(&mut back)?;
    writing.join().expect("no panic")?;
    assert!(back == sent, "{} of {} bytes", back.len(), sent.len());
    Ok(back.iter().map(|byte| u64::from(*byte)).sum())
}

pub fn run() -> io::Result<()> {
    let mut poll = Poll::new()?;
    let mut events = Events::with_capacity(64);
    let mut listener = TcpListener::bind("127.0.0.1:0".parse().expect("an address"))?;
    let address = listener.local_addr()?;
    poll.registry().register(&mut listener, LISTENER, Interest::READABLE)?;
    let waker = Arc::new(Waker::new(poll.registry(), WAKER)?);
    // The loop keeps it, too: one that is closed wakes nobody.
    let loops = waker.clone();
    let clients = thread::spawn(move || {
        let running: Vec<_> = (1..=CLIENTS as u8).map(|seed| thread::spawn(move || client(address, seed))).collect();
        let sums: io::Result<Vec<u64>> = running.into_iter().map(|client| client.join().expect("no panic")).collect();
        // Then it is over; from a thread that is none of the loop's.
        waker.wake().and(sums)
    });
    let mut connections = HashMap::new();
    let mut next = 2;
    let mut woken = false;
    let mut served = 0;
    while !woken || served < CLIENTS {
        poll.poll(&mut events, Some(Duration::from_secs(30)))?;
        assert!(!events.is_empty(), "nothing happened for half a minute: {served} served");
        for event in &events {
            match event.token() {
                WAKER => woken = true,
                LISTENER => loop {
                    match listener.accept() {
                        Ok((mut stream, _)) => {
                            poll.registry().register(&mut stream, Token(next), Interest::READABLE | Interest::WRITABLE)?;
                            connections.insert(Token(next), Connection { stream, pending: Vec::new(), ended: false });
                            next += 1;
                        }
                        Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                        Err(error) => return Err(error),
                    }
                },
                token => {
                    if let Some(connection) = connections.get_mut(&token)
                        && connection.go_on()?
                    {
                        poll.registry().deregister(&mut connection.stream)?;
                        connections.remove(&token);
                        served += 1;
                    }
                }
            }
        }
    }
    println!("mio: {served} served, {:?}", clients.join().expect("no panic")?);
    drop(loops);
    let (mut to, mut from) = mio::unix::pipe::new()?;
    poll.registry().register(&mut from, Token(next), Interest::READABLE)?;
    to.write_all(b"through a pipe")?;
    let mut text = [0; 64];
    let read = loop {
        poll.poll(&mut events, Some(Duration::from_secs(30)))?;
        if events.iter().any(|event| event.token() == Token(next) && event.is_readable()) {
            break from.read(&mut text)?;
        }
    };
    println!("mio: {}", String::from_utf8_lossy(&text[..read]));
    Ok(())
}
