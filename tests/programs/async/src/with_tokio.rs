//! `tokio`, on several threads: tasks, channels, timers, files and sockets.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UdpSocket};
use tokio::sync::{Barrier, Mutex, broadcast, mpsc, oneshot};
use tokio::time::{Instant, interval, sleep, timeout};

const CLIENTS: u64 = 8;

async fn echo(mut stream: TcpStream) -> io::Result<u64> {
    let (mut from, mut to) = stream.split();
    let copied = tokio::io::copy(&mut from, &mut to).await?;
    to.shutdown().await?;
    Ok(copied)
}

async fn client(address: std::net::SocketAddr, number: u64) -> io::Result<u64> {
    let mut stream = TcpStream::connect(address).await?;
    let sent: Vec<u8> = (0..100_000u64).map(|i| (i * number) as u8).collect();
    let (mut from, mut to) = stream.split();
    let writing = async {
        to.write_all(&sent).await?;
        to.shutdown().await
    };
    let mut back = Vec::new();
    let (wrote, read) = tokio::join!(writing, from.read_to_end(&mut back));
    wrote?;
    read?;
    assert!(back == sent);
    Ok(back.iter().map(|byte| u64::from(*byte)).sum())
}

async fn sockets() -> io::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let server = tokio::spawn(async move {
        let mut tasks = Vec::new();
        for _ in 0..CLIENTS {
            let (stream, _) = listener.accept().await?;
            tasks.push(tokio::spawn(echo(stream)));
        }
        let mut sum = 0;
        for task in tasks {
            sum += task.await.expect("no panic")?;
        }
        io::Result::Ok(sum)
    });
    let clients: Vec<_> = (1..=CLIENTS).map(|number| tokio::spawn(client(address, number))).collect();
    let mut sums = Vec::new();
    for client in clients {
        sums.push(client.await.expect("no panic")?);
    }
    println!("tcp: {sums:?} {}", server.await.expect("no panic")?);

    let (one, two) = (UdpSocket::bind("127.0.0.1:0").await?, UdpSocket::bind("127.0.0.1:0").await?);
    let to = two.local_addr()?;
    let asking = tokio::spawn(async move {
        let mut into = [0; 16];
        for i in 0..20u8 {
            one.send_to(&[i], to).await?;
            let (read, _) = one.recv_from(&mut into).await?;
            assert_eq!(&into[..read], [i, i]);
        }
        io::Result::Ok(())
    });
    let mut into = [0; 16];
    for _ in 0..20 {
        let (_, from) = two.recv_from(&mut into).await?;
        two.send_to(&[into[0], into[0]], from).await?;
    }
    asking.await.expect("no panic")?;
    println!("udp: done");
    Ok(())
}

async fn tasks() {
    let (to, mut from) = mpsc::channel(4);
    for i in 0..10u32 {
        let to = to.clone();
        tokio::spawn(async move {
            sleep(Duration::from_millis(u64::from(i))).await;
            to.send(i * i).await.expect("somebody listens");
        });
    }
    drop(to);
    let mut squares = Vec::new();
    while let Some(square) = from.recv().await {
        squares.push(square);
    }
    squares.sort_unstable();
    println!("channel: {squares:?}");

    let sum = Arc::new(Mutex::new(0u64));
    let barrier = Arc::new(Barrier::new(6));
    let adding: Vec<_> = (0..5u64)
        .map(|i| {
            let (sum, barrier) = (sum.clone(), barrier.clone());
            tokio::spawn(async move {
                barrier.wait().await;
                for _ in 0..100 {
                    *sum.lock().await += i;
                    tokio::task::yield_now().await;
                }
            })
        })
        .collect();
    barrier.wait().await;
    for task in adding {
        task.await.expect("no panic");
    }
    println!("mutex: {}", sum.lock().await);

    let (to, from) = oneshot::channel();
    let (all, mut one) = broadcast::channel(4);
    let blocking = tokio::task::spawn_blocking(move || to.send((1..=20u64).product::<u64>()));
    println!("oneshot: {}", from.await.expect("it was sent"));
    blocking.await.expect("no panic").expect("it was received");
    all.send("to all").expect("somebody listens");
    println!("broadcast: {}", one.recv().await.expect("it was sent"));
}

async fn timers() {
    let start = Instant::now();
    println!("timeout: {}", timeout(Duration::from_millis(20), std::future::pending::<()>()).await.is_err());
    let mut ticks = interval(Duration::from_millis(5));
    for _ in 0..4 {
        ticks.tick().await;
    }
    tokio::select! {
        () = sleep(Duration::from_secs(600)) => println!("select: late"),
        () = sleep(Duration::from_millis(1)) => println!("select: soon"),
    }
    println!("timers: {}", start.elapsed() >= Duration::from_millis(35));
}

async fn files(directory: &str) -> io::Result<()> {
    let path = format!("{directory}/tokio.txt");
    tokio::fs::write(&path, "written\n").await?;
    let mut file = tokio::fs::OpenOptions::new().append(true).open(&path).await?;
    file.write_all(b"appended\n").await?;
    file.flush().await?;
    drop(file);
    print!("file: {}", tokio::fs::read_to_string(&path).await?);
    println!("file: {}", tokio::fs::metadata(&path).await?.len());
    tokio::fs::remove_file(&path).await?;
    println!("file: {:?}", tokio::fs::read(&path).await.expect_err("it is gone").kind());
    Ok(())
}

pub fn run(directory: &str) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(3).max_blocking_threads(2).enable_all().build()?;
    runtime.block_on(async {
        tasks().await;
        timers().await;
        sockets().await?;
        files(directory).await
    })
}
