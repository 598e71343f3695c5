//! Pipes, counters and epolls, as C has them.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, PipeWriter, Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::{UnixDatagram, UnixStream};
use std::thread;
use std::time::{Duration, Instant};

fn check(result: i32) -> io::Result<i32> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

fn owned(fd: i32) -> io::Result<File> {
    // SAFETY: just opened, if it is one.
    check(fd).map(|fd| unsafe { OwnedFd::from_raw_fd(fd) }.into())
}

fn eventfd(value: u32, flags: i32) -> io::Result<File> {
    // SAFETY: no memory is involved.
    owned(unsafe { libc::eventfd(value, flags) })
}

fn number(file: &mut File) -> io::Result<u64> {
    let mut bytes = [0; 8];
    file.read_exact(&mut bytes)?;
    Ok(u64::from_ne_bytes(bytes))
}

fn add(mut file: &File, value: u64) -> io::Result<()> {
    file.write_all(&value.to_ne_bytes())
}

fn kind<T: std::fmt::Debug>(result: io::Result<T>) -> String {
    match result {
        Ok(value) => format!("{value:?}"),
        Err(error) => format!("{:?}", error.kind()),
    }
}

struct Epoll(File);

impl Epoll {
    fn new() -> io::Result<Self> {
        // SAFETY: no memory is involved.
        owned(unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) }).map(Self)
    }

    fn control(&self, operation: i32, fd: RawFd, events: i32, data: u64) -> io::Result<()> {
        let mut event = libc::epoll_event { events: events as u32, u64: data };
        // SAFETY: `event` lives as long as the call.
        check(unsafe { libc::epoll_ctl(self.0.as_raw_fd(), operation, fd, &mut event) }).map(drop)
    }

    fn add(&self, fd: &impl AsRawFd, events: i32, data: u64) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_ADD, fd.as_raw_fd(), events, data)
    }

    /// Data and events of what happened, by data.
    fn wait(&self, millis: i32) -> io::Result<Vec<(u64, u32)>> {
        let mut events = [libc::epoll_event { events: 0, u64: 0 }; 8];
        // SAFETY: there is room for eight.
        let count = check(unsafe { libc::epoll_wait(self.0.as_raw_fd(), events.as_mut_ptr(), 8, millis) })?;
        let mut found: Vec<_> = events[..count as usize].iter().map(|event| (event.u64, event.events)).collect();
        found.sort_unstable();
        Ok(found)
    }
}

fn pipes() -> io::Result<()> {
    let (mut from, mut to) = io::pipe()?;
    let writer = thread::spawn(move || -> io::Result<PipeWriter> {
        for part in 0..200u32 {
            to.write_all(&vec![part as u8; 5000])?;
        }
        Ok(to)
    });
    let mut sum = 0u64;
    let mut bytes = vec![0; 1_000_000];
    from.read_exact(&mut bytes)?;
    bytes.iter().for_each(|byte| sum += u64::from(*byte));
    let to = writer.join().expect("no panic")?;
    println!("pipe: {sum}");
    let mut other = to.try_clone()?;
    drop(to);
    other.write_all(b"the end")?;
    drop(other);
    let mut text = String::new();
    from.read_to_string(&mut text)?;
    println!("pipe: {text:?}");
    let (from, mut to) = io::pipe()?;
    drop(from);
    println!("pipe: {}", kind(to.write(b"x")));
    let (from, to) = io::pipe()?;
    // SAFETY: descriptors that are open.
    check(unsafe { libc::fcntl(from.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK) })?;
    println!("pipe: {}", kind((&from).read(&mut [0; 4])));
    // SAFETY: as above.
    let flags = unsafe { libc::fcntl(from.as_raw_fd(), libc::F_GETFL) & !libc::O_ACCMODE };
    // SAFETY: as above.
    let own = unsafe { libc::fcntl(to.as_raw_fd(), libc::F_GETFD) };
    println!("pipe: {} {own}", flags == libc::O_NONBLOCK);
    Ok(())
}

fn counters() -> io::Result<()> {
    let mut counter = eventfd(3, libc::EFD_NONBLOCK)?;
    add(&counter, 4)?;
    println!("counter: {} {}", number(&mut counter)?, kind(number(&mut counter)));
    let mut semaphore = eventfd(2, libc::EFD_NONBLOCK | libc::EFD_SEMAPHORE)?;
    println!("semaphore: {} {} {}", number(&mut semaphore)?, number(&mut semaphore)?, kind(number(&mut semaphore)));
    let mut waited = eventfd(0, 0)?;
    let other = waited.try_clone()?;
    let adding = thread::spawn(move || {
        thread::sleep(Duration::from_millis(5));
        add(&other, 9)
    });
    println!("counter: {}", number(&mut waited)?);
    adding.join().expect("no panic")
}

fn pairs() -> io::Result<()> {
    let (mut one, mut two) = UnixStream::pair()?;
    one.write_all(b"to two")?;
    let mut text = [0; 6];
    two.read_exact(&mut text)?;
    two.set_nonblocking(true)?;
    let over = kind(two.read(&mut text));
    println!("pair: {:?} {over}", String::from_utf8_lossy(&text));
    two.write_all(b"to one")?;
    two.shutdown(std::net::Shutdown::Write)?;
    let mut all = String::new();
    one.read_to_string(&mut all)?;
    println!("pair: {all:?} {}", kind(two.write(b"x")));
    drop(one);
    println!("pair: {}", kind(two.read(&mut text)));
    let (one, two) = UnixDatagram::pair()?;
    for text in [&b"first"[..], b"", b"third"] {
        one.send(text)?;
    }
    let mut into = [0; 4];
    println!("datagrams: {} {} {}", two.recv(&mut into)?, two.recv(&mut into)?, two.recv(&mut into)?);
    two.set_read_timeout(Some(Duration::from_millis(10)))?;
    println!("datagrams: {}", kind(two.recv(&mut into)));
    Ok(())
}

fn names() -> io::Result<()> {
    let mut null = OpenOptions::new().read(true).write(true).open("/dev/null")?;
    null.write_all(b"gone")?;
    let mut text = String::new();
    null.read_to_string(&mut text)?;
    let mut zeros = [1; 10];
    File::open("/dev/zero")?.read_exact(&mut zeros)?;
    let mut random = [0; 32];
    File::open("/dev/urandom")?.read_exact(&mut random)?;
    println!("names: {text:?} {zeros:?} {}", random != [0; 32]);
    println!("names: {}", kind(OpenOptions::new().write(true).open("/dev/full")?.write(b"x")));
    let (mut from, to) = io::pipe()?;
    OpenOptions::new().write(true).open(format!("/dev/fd/{}", to.as_raw_fd()))?.write_all(b"by number")?;
    let mut text = [0; 9];
    from.read_exact(&mut text)?;
    println!("names: {}", String::from_utf8_lossy(&text));
    println!("names: {}", null.metadata()?.file_type().is_file());
    // Standard error, to a pipe and back.
    // SAFETY: descriptors that are open.
    let saved = owned(unsafe { libc::fcntl(2, libc::F_DUPFD_CLOEXEC, 50) })?;
    // SAFETY: as above.
    check(unsafe { libc::dup2(to.as_raw_fd(), 2) })?;
    eprint!("not seen");
    // SAFETY: as above.
    check(unsafe { libc::dup2(saved.as_raw_fd(), 2) })?;
    let mut text = [0; 8];
    from.read_exact(&mut text)?;
    println!("names: {} {}", String::from_utf8_lossy(&text), saved.as_raw_fd() >= 50);
    Ok(())
}

fn lowest() -> io::Result<()> {
    let null = || File::open("/dev/null");
    let (one, two, three) = (null()?, null()?, null()?);
    let freed = one.as_raw_fd();
    drop(one);
    let again = null()?;
    println!("lowest: {} {}", again.as_raw_fd() == freed, three.as_raw_fd() == two.as_raw_fd() + 1);
    Ok(())
}

fn levels_and_edges() -> io::Result<()> {
    let epoll = Epoll::new()?;
    let (level, edge, once) = (eventfd(0, 0)?, eventfd(0, 0)?, eventfd(0, 0)?);
    epoll.add(&level, libc::EPOLLIN, 1)?;
    epoll.add(&edge, libc::EPOLLIN | libc::EPOLLET, 2)?;
    epoll.add(&once, libc::EPOLLIN | libc::EPOLLONESHOT, 3)?;
    println!("epoll: {:?}", epoll.wait(0)?);
    for file in [&level, &edge, &once] {
        add(file, 1)?;
    }
    println!("epoll: {:?}", epoll.wait(-1)?);
    println!("epoll: {:?}", epoll.wait(-1)?);
    for file in [&edge, &once] {
        add(file, 1)?;
    }
    println!("epoll: {:?}", epoll.wait(-1)?);
    epoll.control(libc::EPOLL_CTL_MOD, once.as_raw_fd(), libc::EPOLLIN | libc::EPOLLONESHOT, 4)?;
    println!("epoll: {:?}", epoll.wait(-1)?);
    println!("epoll: {}", kind(epoll.add(&level, libc::EPOLLIN, 1)));
    println!("epoll: {}", kind(epoll.control(libc::EPOLL_CTL_DEL, 999, 0, 0)));
    epoll.control(libc::EPOLL_CTL_DEL, level.as_raw_fd(), 0, 0)?;
    drop((edge, once));
    println!("epoll: {:?}", epoll.wait(1)?);
    Ok(())
}

/// A socket and a counter in one epoll: each wakes whoever waits.
fn both_sides() -> io::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let mut client = TcpStream::connect(listener.local_addr()?)?;
    let (mut server, _) = listener.accept()?;
    server.set_nonblocking(true)?;
    let epoll = Epoll::new()?;
    let counter = eventfd(0, libc::EFD_NONBLOCK)?;
    epoll.add(&server, libc::EPOLLIN | libc::EPOLLRDHUP | libc::EPOLLET, 1)?;
    epoll.add(&counter, libc::EPOLLIN, 2)?;
    println!("both: {:?}", epoll.wait(0)?);
    let other = counter.try_clone()?;
    let waking = thread::spawn(move || -> io::Result<TcpStream> {
        for _ in 0..20 {
            thread::sleep(Duration::from_millis(1));
            add(&other, 1)?;
            thread::sleep(Duration::from_millis(1));
            client.write_all(b"ping")?;
        }
        Ok(client)
    });
    let (mut sum, mut bytes) = (0, 0);
    let mut counter = counter;
    while sum < 20 || bytes < 80 {
        for (data, events) in epoll.wait(-1)? {
            assert!(events & libc::EPOLLIN as u32 != 0, "{events:#x}");
            if data == 2 {
                sum += number(&mut counter)?;
                continue;
            }
            let mut into = [0; 64];
            // Until it says that there is no more, as edges want it.
            loop {
                match server.read(&mut into) {
                    Ok(0) => break,
                    Ok(read) => bytes += read,
                    Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                    Err(error) => return Err(error),
                }
            }
        }
    }
    println!("both: {sum} {bytes}");
    drop(waking.join().expect("no panic")?);
    // The client is gone now.
    while !epoll.wait(-1)?.iter().any(|(_, events)| events & libc::EPOLLRDHUP as u32 != 0) {}
    println!("both: over");
    Ok(())
}

fn poll_of_many() -> io::Result<()> {
    let counters: Vec<File> = (0..30).map(|_| eventfd(0, 0)).collect::<io::Result<_>>()?;
    let sockets: Vec<UdpSocket> = (0..30).map(|_| UdpSocket::bind("127.0.0.1:0")).collect::<io::Result<_>>()?;
    let fds = counters.iter().map(AsRawFd::as_raw_fd).chain(sockets.iter().map(AsRawFd::as_raw_fd)).chain([-1, 9999]);
    let mut fds: Vec<_> = fds.map(|fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 }).collect();
    let mut poll = |millis: i32| -> io::Result<Vec<usize>> {
        // SAFETY: there are so many.
        let count = check(unsafe { libc::poll(fds.as_mut_ptr(), fds.len() as _, millis) })?;
        let found: Vec<usize> = (0..fds.len()).filter(|i| fds[*i].revents != 0).collect();
        assert_eq!(count as usize, found.len());
        Ok(found)
    };
    println!("poll: {:?}", poll(-1)?);
    let address = sockets[29].local_addr()?;
    sockets[0].send_to(b"x", address)?;
    let start = Instant::now();
    while poll(0)?.len() < 2 && start.elapsed() < Duration::from_secs(10) {}
    add(&counters[7], 1)?;
    println!("poll: {:?}", poll(-1)?);
    Ok(())
}

fn select() -> io::Result<()> {
    let (from, mut to) = io::pipe()?;
    let nfds = from.as_raw_fd().max(to.as_raw_fd()) + 1;
    for round in 0..2 {
        // SAFETY: all zero is an empty set; the sets live as long as the calls.
        unsafe {
            let (mut reads, mut writes): (libc::fd_set, libc::fd_set) = (std::mem::zeroed(), std::mem::zeroed());
            libc::FD_SET(from.as_raw_fd(), &mut reads);
            libc::FD_SET(to.as_raw_fd(), &mut writes);
            let mut time = libc::timeval { tv_sec: 5, tv_usec: 0 };
            let count = check(libc::select(nfds, &mut reads, &mut writes, std::ptr::null_mut(), &mut time))?;
            println!("select: {count} {} {}", libc::FD_ISSET(from.as_raw_fd(), &reads), libc::FD_ISSET(to.as_raw_fd(), &writes));
        }
        if round == 0 {
            to.write_all(b"x")?;
        }
    }
    Ok(())
}

pub fn run() -> io::Result<()> {
    pipes()?;
    counters()?;
    pairs()?;
    names()?;
    lowest()?;
    levels_and_edges()?;
    both_sides()?;
    poll_of_many()?;
    select()
}
