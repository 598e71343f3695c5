//! The crate `polling`, whose events are told once, with several threads that wait.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use polling::{Event, Events, Poller};

const PATIENCE: Option<Duration> = Some(Duration::from_secs(30));

fn keys(poller: &Poller, timeout: Option<Duration>) -> io::Result<Vec<usize>> {
    let mut events = Events::new();
    poller.wait(&mut events, timeout)?;
    let mut keys: Vec<usize> = events.iter().map(|event| event.key).collect();
    keys.sort_unstable();
    Ok(keys)
}

pub fn run() -> io::Result<()> {
    let poller = Arc::new(Poller::new()?);
    println!("polling: {:?}", keys(&poller, Some(Duration::from_millis(2)))?);
    poller.notify()?;
    println!("polling: {:?}", keys(&poller, PATIENCE)?);

    let listener = TcpListener::bind("127.0.0.1:0")?;
    listener.set_nonblocking(true)?;
    // SAFETY: it is deleted below, before it is closed.
    unsafe { poller.add(&listener, Event::readable(7))? };
    let mut client = TcpStream::connect(listener.local_addr()?)?;
    println!("polling: {:?}", keys(&poller, PATIENCE)?);
    let (mut server, _) = listener.accept()?;
    poller.delete(&listener)?;

    server.set_nonblocking(true)?;
    // SAFETY: as above.
    unsafe { poller.add(&server, Event::readable(8))? };
    for round in 0..50u8 {
        let waiting = {
            let poller = poller.clone();
            thread::spawn(move || keys(&poller, PATIENCE))
        };
        client.write_all(&[round])?;
        assert_eq!(waiting.join().expect("no panic")?, [8]);
        let mut byte = [0];
        server.read_exact(&mut byte)?;
        assert_eq!(byte, [round]);
        // While nobody asks again, nothing is told; and a notification ends a wait that another thread is in.
        poller.modify(&server, Event::readable(8))?;
    }
    let waiting = {
        let poller = poller.clone();
        thread::spawn(move || keys(&poller, PATIENCE))
    };
    thread::sleep(Duration::from_millis(5));
    poller.notify()?;
    println!("polling: {:?}", waiting.join().expect("no panic")?);
    poller.delete(&server)?;

    let (one, two) = (UdpSocket::bind("127.0.0.1:0")?, UdpSocket::bind("127.0.0.1:0")?);
    // SAFETY: as above.
    unsafe {
        poller.add(&one, Event::readable(1))?;
        poller.add(&two, Event::all(2))?;
    }
    println!("polling: {:?}", keys(&poller, PATIENCE)?);
    two.send_to(b"x", one.local_addr()?)?;
    println!("polling: {:?}", keys(&poller, PATIENCE)?);
    poller.delete(&one)?;
    poller.delete(&two)
}
