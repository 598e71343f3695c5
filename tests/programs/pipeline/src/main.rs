//! Numbers through a chain of threads, each of which passes on what it does not keep, and the other ways in which
//! threads meet.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Barrier, Condvar, Mutex, Once, RwLock};
use std::thread;
use std::time::Duration;

/// The sieve of Eratosthenes: a thread per prime.
fn sieve(threads: usize) -> Vec<u32> {
    let (first, mut numbers) = mpsc::sync_channel(8);
    thread::spawn(move || (2..).take_while(|n| first.send(*n).is_ok()).for_each(drop));
    let mut primes = Vec::new();
    for _ in 0..threads {
        let prime: u32 = numbers.recv().expect("numbers never end");
        primes.push(prime);
        let (next, rest) = mpsc::sync_channel(8);
        let source: Receiver<u32> = std::mem::replace(&mut numbers, rest);
        thread::spawn(move || source.iter().filter(|n| n % prime != 0).take_while(|n| next.send(*n).is_ok()).for_each(drop));
    }
    primes
}

fn meetings(threads: usize) {
    let barrier = Barrier::new(threads);
    let (sum, leaders) = (Mutex::new(0usize), AtomicUsize::new(0));
    let table = RwLock::new(vec![0; threads]);
    static ONCE: Once = Once::new();
    static CALLED: AtomicUsize = AtomicUsize::new(0);
    thread::scope(|scope| {
        for i in 0..threads {
            let (barrier, sum, leaders, table) = (&barrier, &sum, &leaders, &table);
            scope.spawn(move || {
                ONCE.call_once(|| {
                    CALLED.fetch_add(1, Ordering::Relaxed);
                });
                for _ in 0..50 {
                    *sum.lock().expect("nobody panics") += i;
                }
                table.write().expect("nobody panics")[i] = i;
                leaders.fetch_add(barrier.wait().is_leader().into(), Ordering::Relaxed);
                assert_eq!(*table.read().expect("nobody panics"), (0..threads).collect::<Vec<_>>());
            });
        }
    });
    assert_eq!(sum.into_inner().expect("nobody panics"), 50 * threads * (threads - 1) / 2);
    assert_eq!((leaders.into_inner(), CALLED.load(Ordering::Relaxed)), (1, 1));
}

fn waiting() {
    let pair = Arc::new((Mutex::new(false), Condvar::new()));
    let other = pair.clone();
    let sleeper = thread::spawn(move || {
        let (ready, changed) = &*other;
        let ready = changed.wait_while(ready.lock().expect("nobody panics"), |ready| !*ready).expect("nobody panics");
        assert!(*ready);
        let (ready, timeout) = changed.wait_timeout(ready, Duration::from_millis(5)).expect("nobody panics");
        assert!(*ready && timeout.timed_out());
        thread::park();
        7
    });
    thread::sleep(Duration::from_millis(3));
    *pair.0.lock().expect("nobody panics") = true;
    pair.1.notify_all();
    sleeper.thread().unpark();
    assert_eq!(sleeper.join().expect("nobody panics"), 7);
    let named =
        thread::Builder::new().name("its name".into()).spawn(|| thread::current().name().map(str::to_owned)).expect("there is a wave");
    assert_eq!(named.join().expect("nobody panics").as_deref(), Some("its name"));
}

fn main() {
    let threads = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(64);
    waiting();
    meetings(threads);
    println!("{:?}", sieve(threads - 1));
    // The threads of the sieve may still run: they end with the program.
}
