//! `net echo ADDRESS`: a server that echoes one connection; `net client ADDRESS`; `net get HOST:PORT PATH`: HTTP by
//! hand; `net udp ADDRESS`: asks a server of datagrams; `net self`: all of it within the program.

use std::error::Error;
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::thread;
use std::time::{Duration, Instant};

fn echo(listener: &TcpListener) -> io::Result<()> {
    let (mut stream, from) = listener.accept()?;
    assert_eq!(stream.peer_addr()?, from);
    let mut copy = stream.try_clone()?;
    io::copy(&mut stream, &mut copy)?;
    copy.shutdown(Shutdown::Write)
}

fn client(address: &str) -> io::Result<()> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    assert!(stream.nodelay()?);
    let text: String = (0..2000).map(|i| format!("line {i}\n")).collect();
    let mut writer = stream.try_clone()?;
    let sent = text.clone();
    let sender = thread::spawn(move || writer.write_all(sent.as_bytes()).and_then(|()| writer.shutdown(Shutdown::Write)));
    let mut back = String::new();
    stream.read_to_string(&mut back)?;
    sender.join().expect("no panic comes out of a thread")?;
    assert_eq!(back, text);
    println!("{} bytes came back", back.len());
    Ok(())
}

fn get(address: &str, path: &str) -> io::Result<()> {
    let mut stream = TcpStream::connect(address)?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")?;
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    print!("{line}");
    while line != "\r\n" {
        line.clear();
        reader.read_line(&mut line)?;
    }
    io::copy(&mut reader, &mut io::stdout())?;
    Ok(())
}

fn udp(address: &str) -> io::Result<()> {
    let socket = UdpSocket::bind("0.0.0.0:0")?;
    socket.send_to(b"ping", address)?;
    let mut buffer = [0; 100];
    let (n, from) = socket.recv_from(&mut buffer)?;
    println!("{} from {from}", String::from_utf8_lossy(&buffer[..n]));
    Ok(())
}

fn itself() -> io::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    let server = thread::spawn(move || echo(&listener));
    client(&address.to_string())?;
    server.join().expect("no panic comes out of a thread")?;

    let [a, b] = [UdpSocket::bind("127.0.0.1:0")?, UdpSocket::bind("127.0.0.1:0")?];
    a.connect(b.local_addr()?)?;
    a.send(b"one")?;
    let mut buffer = [0; 16];
    assert_eq!(b.peek_from(&mut buffer)?, (3, a.local_addr()?));
    assert_eq!(b.recv_from(&mut buffer)?, (3, a.local_addr()?));
    b.set_read_timeout(Some(Duration::from_millis(30)))?;
    assert_eq!(b.read_timeout()?, Some(Duration::from_millis(30)));
    let start = Instant::now();
    assert_eq!(b.recv(&mut buffer).unwrap_err().kind(), ErrorKind::WouldBlock);
    assert!(start.elapsed() >= Duration::from_millis(25));
    b.set_nonblocking(true)?;
    assert_eq!(b.recv(&mut buffer).unwrap_err().kind(), ErrorKind::WouldBlock);

    let gone: SocketAddr = address;
    assert_eq!(TcpStream::connect(gone).unwrap_err().kind(), ErrorKind::ConnectionRefused);
    assert_eq!(TcpStream::connect_timeout(&gone, Duration::from_secs(5)).unwrap_err().kind(), ErrorKind::ConnectionRefused);
    println!("all as it should be");
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["echo", address] => {
            let listener = TcpListener::bind(address)?;
            println!("listening on {}", listener.local_addr()?);
            echo(&listener)?;
        }
        ["client", address] => client(address)?,
        ["get", address, path] => get(address, path)?,
        ["udp", address] => udp(address)?,
        ["self"] => itself()?,
        _ => return Err("usage: net echo ADDRESS | client ADDRESS | get HOST:PORT PATH | udp ADDRESS | self".into()),
    }
    Ok(())
}
