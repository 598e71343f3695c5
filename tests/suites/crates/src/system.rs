//! Threads, executors, files, network, randomness.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use crate::{Outcome, Use};

pub const USES: &[Use] = &[
    ("crossbeam", crossbeam),
    ("dashmap", dashmap),
    ("futures", futures),
    ("getrandom", getrandom),
    ("log", log),
    ("once_cell", once_cell),
    ("parking_lot", parking_lot),
    ("rand", rand),
    ("rayon", rayon),
    ("tempfile", tempfile),
    ("tokio", tokio),
    ("tracing", tracing),
    ("ureq", ureq),
    ("uuid", uuid),
    ("walkdir", walkdir),
];

/// Runs `f` in four threads, with their numbers.
fn four(f: impl Fn(u32) + Send + Sync + 'static) {
    let f = Arc::new(f);
    let threads: Vec<_> = (0..4)
        .map(|i| {
            let f = f.clone();
            thread::spawn(move || f(i))
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().expect("no thread panics"));
}

fn directory() -> Result<String, &'static str> {
    std::env::args().nth(1).ok_or("no directory is given")
}

fn crossbeam() -> Outcome {
    let (send, receive) = crossbeam::channel::bounded(2);
    let sender = thread::spawn(move || (0..20).for_each(|i| send.send(i).expect("somebody receives")));
    let sum: i32 = receive.iter().sum();
    sender.join().map_err(|_| "the sender panicked")?;
    let queue = crossbeam::queue::SegQueue::new();
    (0..100).for_each(|i| queue.push(i));
    Ok(format!("{sum} {} {:?}", queue.len(), queue.pop()))
}

fn dashmap() -> Outcome {
    let map = Arc::new(dashmap::DashMap::new());
    let shared = map.clone();
    four(move |thread| (0..50).for_each(|i| *shared.entry(i).or_insert(0) += thread));
    Ok(format!("{} {}", map.len(), map.iter().map(|entry| *entry.value()).sum::<u32>()))
}

fn futures() -> Outcome {
    use futures::StreamExt;
    let doubled = futures::stream::iter(1..=5).then(|n| async move { n * 2 }).collect::<Vec<_>>();
    let (send, receive) = futures::channel::oneshot::channel();
    thread::spawn(move || send.send(7));
    let (all, one) = futures::executor::block_on(async { futures::join!(doubled, receive) });
    Ok(format!("{all:?} {}", one?))
}

fn getrandom() -> Outcome {
    let mut bytes = [0; 64];
    getrandom::fill(&mut bytes).map_err(|error| error.to_string())?;
    Ok((bytes != [0; 64]).to_string())
}

fn log() -> Outcome {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    struct Counter;
    impl log::Log for Counter {
        fn enabled(&self, metadata: &log::Metadata<'_>) -> bool {
            metadata.level() <= log::Level::Info
        }
        fn log(&self, record: &log::Record<'_>) {
            // Relaxed: one thread logs, and counts.
            COUNT.fetch_add(u32::from(record.args().to_string() == "n 1"), Ordering::Relaxed);
        }
        fn flush(&self) {}
    }
    log::set_logger(&Counter).map_err(|error| error.to_string())?;
    log::set_max_level(log::LevelFilter::Info);
    log::info!("n {}", 1);
    log::debug!("n {}", 1);
    Ok(COUNT.load(Ordering::Relaxed).to_string())
}

fn once_cell() -> Outcome {
    static MADE: AtomicU32 = AtomicU32::new(0);
    static VALUE: once_cell::sync::Lazy<String> = once_cell::sync::Lazy::new(|| {
        // Relaxed: the cell orders it.
        MADE.fetch_add(1, Ordering::Relaxed);
        "made".repeat(2)
    });
    four(|_| assert_eq!(VALUE.len(), 8));
    Ok(format!("{} {}", *VALUE, MADE.load(Ordering::Relaxed)))
}

fn parking_lot() -> Outcome {
    let shared = Arc::new((parking_lot::Mutex::new(0), parking_lot::Condvar::new(), parking_lot::RwLock::new(5)));
    let others = shared.clone();
    let waiter = shared.clone();
    let waiting = thread::spawn(move || {
        let mut count = waiter.0.lock();
        while *count < 400 {
            waiter.1.wait(&mut count);
        }
        *count
    });
    four(move |_| {
        for _ in 0..100 {
            *others.0.lock() += *others.2.read() - 4;
            others.1.notify_all();
        }
    });
    Ok(format!("{}", waiting.join().map_err(|_| "the waiter panicked")?))
}

fn rand() -> Outcome {
    use rand::seq::SliceRandom;
    use rand::{Rng, SeedableRng};
    let mut seeded = rand::rngs::StdRng::seed_from_u64(1);
    let mut cards: Vec<u32> = (0..10).collect();
    cards.shuffle(&mut seeded);
    Ok(format!("{cards:?} {} {}", seeded.random_range(0..1000), rand::rng().random_range(5..6)))
}

fn rayon() -> Outcome {
    use rayon::prelude::*;
    let sum: u64 = (0..10_000u64).into_par_iter().filter(|n| n % 3 == 0).map(|n| n * n).sum();
    let mut words: Vec<String> = (0..200).map(|i| format!("w{}", i * 7919 % 200)).collect();
    words.par_sort();
    Ok(format!("{sum} {:?}", &words[..3]))
}

fn tempfile() -> Outcome {
    let dir = tempfile::Builder::new().prefix("kept").tempdir_in(directory()?)?;
    std::fs::write(dir.path().join("a"), "b")?;
    let path = dir.path().to_path_buf();
    let there = path.join("a").is_file();
    dir.close()?;
    Ok(format!("{there} {}", path.exists()))
}

fn tokio() -> Outcome {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    runtime.block_on(async {
        let (send, mut receive) = tokio::sync::mpsc::channel(2);
        let task = tokio::spawn(async move {
            for i in 0..5 {
                tokio::time::sleep(Duration::from_millis(1)).await;
                send.send(i).await.expect("somebody receives");
            }
            "sent"
        });
        let mut all = Vec::new();
        while let Some(i) = receive.recv().await {
            all.push(i);
        }
        let late = tokio::time::timeout(Duration::from_millis(2), std::future::pending::<()>()).await.is_err();
        Ok(format!("{all:?} {} {late}", task.await?))
    })
}

fn tracing() -> Outcome {
    struct Counter(Arc<AtomicU32>);
    impl tracing::Subscriber for Counter {
        fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
            *metadata.level() <= tracing::Level::INFO
        }
        fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
            tracing::span::Id::from_u64(1)
        }
        fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}
        fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}
        fn event(&self, event: &tracing::Event<'_>) {
            // Relaxed: one thread traces, and counts.
            self.0.fetch_add(event.fields().count() as u32, Ordering::Relaxed);
        }
        fn enter(&self, _: &tracing::span::Id) {}
        fn exit(&self, _: &tracing::span::Id) {}
    }
    let fields = Arc::new(AtomicU32::new(0));
    tracing::subscriber::with_default(Counter(fields.clone()), || {
        tracing::info_span!("outer").in_scope(|| tracing::info!(a = 1, b = 2, "three"));
        tracing::debug!("none");
    });
    Ok(fields.load(Ordering::Relaxed).to_string())
}

fn ureq() -> Outcome {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    let server = thread::spawn(move || -> std::io::Result<String> {
        let (mut stream, _) = listener.accept()?;
        let mut lines = BufReader::new(stream.try_clone()?).lines().map_while(Result::ok).take_while(|line| !line.is_empty());
        let first = lines.next().unwrap_or_default();
        lines.for_each(drop);
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\nbody")?;
        Ok(first)
    });
    let body = ureq::get(format!("http://{address}/page?x=1")).call()?.body_mut().read_to_string()?;
    Ok(format!("{body} {}", server.join().map_err(|_| "the server panicked")??))
}

fn uuid() -> Outcome {
    let id = uuid::Uuid::new_v4();
    Ok(format!("{} {} {}", id.get_version_num(), id == uuid::Uuid::parse_str(&id.to_string())?, uuid::Uuid::nil()))
}

fn walkdir() -> Outcome {
    let root = directory()?;
    let below = std::path::Path::new(&root).join("walk");
    std::fs::create_dir_all(below.join("b/c"))?;
    std::fs::write(below.join("b/x"), "12345")?;
    let mut found = Vec::new();
    for entry in walkdir::WalkDir::new(&below).sort_by_file_name() {
        let entry = entry?;
        let size = if entry.file_type().is_file() { entry.metadata()?.len() } else { 0 };
        found.push(format!("{}{}:{size}", "-".repeat(entry.depth()), entry.file_name().display()));
    }
    std::fs::remove_dir_all(below)?;
    Ok(found.join(" "))
}
