//! `smol`: a client and a server, timers, and work on its pool of threads.

use std::time::{Duration, Instant};

use smol::io::{self, AsyncReadExt, AsyncWriteExt};
use smol::net::{TcpListener, TcpStream};
use smol::{Timer, future};

async fn serve(listener: TcpListener, clients: usize) -> io::Result<u64> {
    let mut tasks = Vec::new();
    for _ in 0..clients {
        let (stream, _) = listener.accept().await?;
        tasks.push(smol::spawn(async move {
            let copied = io::copy(stream.clone(), stream.clone()).await?;
            stream.shutdown(std::net::Shutdown::Write)?;
            io::Result::Ok(copied)
        }));
    }
    let mut sum = 0;
    for task in tasks {
        sum += task.await?;
    }
    Ok(sum)
}

async fn client(address: std::net::SocketAddr, number: u8) -> io::Result<usize> {
    let mut stream = TcpStream::connect(address).await?;
    let sent = vec![number; 10_000 * usize::from(number)];
    let mut writer = stream.clone();
    let copy = sent.clone();
    let writing = smol::spawn(async move {
        writer.write_all(&copy).await?;
        writer.shutdown(std::net::Shutdown::Write)
    });
    let mut back = Vec::new();
    stream.read_to_end(&mut back).await?;
    writing.await?;
    assert!(back == sent);
    Ok(back.len())
}

pub fn run() -> std::io::Result<()> {
    smol::block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let server = smol::spawn(serve(listener, 5));
        let clients: Vec<_> = (1..=5u8).map(|number| smol::spawn(client(address, number))).collect();
        let mut lengths = Vec::new();
        for client in clients {
            lengths.push(client.await?);
        }
        println!("smol: {lengths:?} {}", server.await?);
        let start = Instant::now();
        let first = future::or(
            async {
                Timer::after(Duration::from_secs(600)).await;
                "late"
            },
            async {
                Timer::after(Duration::from_millis(10)).await;
                "soon"
            },
        );
        println!("smol: {} {}", first.await, start.elapsed() >= Duration::from_millis(10));
        println!("smol: {}", smol::unblock(|| (1..=10u32).product::<u32>()).await);
        Ok(())
    })
}
