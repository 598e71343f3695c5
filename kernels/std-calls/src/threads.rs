//! Threads, futexes and thread-local values.

use crate::say;
use alloc::format;
use alloc::vec::Vec;
use core::ptr::{null, null_mut, without_provenance_mut};
use core::sync::atomic::{AtomicU32, AtomicUsize, Ordering::SeqCst};
use hermit_abi::timespec;
use hostcall_std::{futex, lane, process, thread, time, tls};

static COUNT: AtomicUsize = AtomicUsize::new(0);

fn spawn(start: extern "C" fn(usize), argument: usize) -> u32 {
    thread::sys_spawn2(start, argument, 2, 0, -1)
}

fn wait(word: &AtomicU32, value: u32, timeout: Option<timespec>) -> i32 {
    let timeout = timeout.as_ref().map_or(null(), core::ptr::from_ref);
    // SAFETY: an atomic word, and null or a time.
    unsafe { futex::sys_futex_wait(word.as_ptr(), value, timeout, 1) }
}

/// Many more threads than waves, as many at a time as there are.
pub(crate) fn many() -> i32 {
    extern "C" fn add(n: usize) {
        COUNT.fetch_add(n, SeqCst);
        if n % 3 == 0 {
            thread::sys_yield();
        }
    }
    let at_a_time = thread::sys_thread_limit();
    for round in 0..20 {
        let threads: Vec<u32> = (0..at_a_time).map(|i| spawn(add, round * at_a_time + i)).collect();
        assert!(threads.iter().all(|id| *id != 0));
        for id in &threads {
            assert_eq!(thread::sys_join(*id), 0);
            // Once more is no harm.
            assert_eq!(thread::sys_join(*id), 0);
        }
    }
    let n = 20 * at_a_time;
    assert_eq!(COUNT.load(SeqCst), n * (n - 1) / 2);
    assert_eq!((thread::sys_join(0), thread::sys_join(60_000)), (-3, -3));
    say(&format!("{at_a_time} at a time\n"));
    0
}

/// One thread too many is refused; when one has ended there is room again.
pub(crate) fn exhaust() -> i32 {
    static GO: AtomicU32 = AtomicU32::new(0);
    extern "C" fn stay(_: usize) {
        while GO.load(SeqCst) == 0 {
            wait(&GO, 0, None);
        }
    }
    let threads: Vec<u32> = (0..thread::sys_thread_limit()).map(|_| spawn(stay, 0)).collect();
    assert!(threads.iter().all(|id| *id != 0));
    assert_eq!(spawn(stay, 0), 0);
    assert_eq!(lane::sys_get_errno(), 11);
    GO.store(1, SeqCst);
    assert!(futex::sys_futex_wake(GO.as_ptr(), i32::MAX) <= threads.len() as i32);
    threads.iter().for_each(|id| assert_eq!(thread::sys_join(*id), 0));
    let id = spawn(stay, 0);
    assert_ne!(id, 0);
    assert_eq!(thread::sys_join(id), 0);
    0
}

/// A mutex as `std` makes one of a futex, and a counter that only it protects.
pub(crate) fn mutex() -> i32 {
    static LOCK: AtomicU32 = AtomicU32::new(0);
    static mut COUNTER: usize = 0;
    fn lock() {
        if LOCK.compare_exchange(0, 1, SeqCst, SeqCst).is_err() {
            while LOCK.swap(2, SeqCst) != 0 {
                wait(&LOCK, 2, None);
            }
        }
    }
    fn unlock() {
        if LOCK.swap(0, SeqCst) == 2 {
            futex::sys_futex_wake(LOCK.as_ptr(), 1);
        }
    }
    extern "C" fn work(rounds: usize) {
        for _ in 0..rounds {
            lock();
            // SAFETY: under the lock.
            unsafe { COUNTER += 1 };
            unlock();
        }
    }
    let threads: Vec<u32> = (0..thread::sys_thread_limit()).map(|_| spawn(work, 300)).collect();
    work(300);
    threads.iter().for_each(|id| assert_eq!(thread::sys_join(*id), 0));
    // SAFETY: the others have ended.
    assert_eq!(unsafe { COUNTER }, 300 * (threads.len() + 1));
    0
}

/// Waits that end by themselves, by a wake, or at once.
pub(crate) fn timed() -> i32 {
    static WORD: AtomicU32 = AtomicU32::new(5);
    let short = timespec { tv_sec: 0, tv_nsec: 3_000_000 };
    assert_eq!(wait(&WORD, 4, None), -11);
    assert_eq!(wait(&WORD, 5, Some(short)), -110);
    assert_eq!(futex::sys_futex_wake(WORD.as_ptr(), 1), 0);
    extern "C" fn sleeper(_: usize) {
        assert_eq!(wait(&WORD, 5, Some(timespec { tv_sec: 600, tv_nsec: 0 })), 0);
        COUNT.fetch_add(1, SeqCst);
    }
    let threads: Vec<u32> = (0..3).map(|_| spawn(sleeper, 0)).collect();
    let mut woken = 0;
    while woken < 3 {
        let now = futex::sys_futex_wake(WORD.as_ptr(), 1);
        assert!((0..=1).contains(&now));
        woken += now;
        time::sys_usleep(100);
    }
    threads.iter().for_each(|id| assert_eq!(thread::sys_join(*id), 0));
    assert_eq!(COUNT.load(SeqCst), 3);
    // SAFETY: what is no word is refused.
    assert_eq!(unsafe { futex::sys_futex_wait(null_mut(), 0, null(), 1) }, -22);
    0
}

/// Each thread has its own values, and their destructors run when it ends.
pub(crate) fn values() -> i32 {
    static DROPPED: AtomicUsize = AtomicUsize::new(0);
    static KEYS: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];
    unsafe extern "C" fn drop_one(value: *mut u8) {
        DROPPED.fetch_add(value as usize, SeqCst);
        // A destructor may set values again, which are dropped in the next round.
        if value as usize == 1000 {
            tls::sys_tls_set(KEYS[1].load(SeqCst), without_provenance_mut(7));
        }
    }
    extern "C" fn own(n: usize) {
        let [a, b] = [0, 1].map(|i| KEYS[i].load(SeqCst));
        assert!(tls::sys_tls_get(a).is_null() && tls::sys_tls_get(b).is_null());
        tls::sys_tls_set(a, without_provenance_mut(n));
        thread::sys_yield();
        assert_eq!(tls::sys_tls_get(a) as usize, n);
    }
    for key in &KEYS {
        key.store(tls::sys_tls_create(Some(drop_one)), SeqCst);
    }
    let far = (0..200).map(|_| tls::sys_tls_create(None)).last().unwrap_or(0);
    tls::sys_tls_set(far, without_provenance_mut(9));
    assert_eq!(tls::sys_tls_get(far) as usize, 9);
    let unused = tls::sys_tls_create(Some(drop_one));
    tls::sys_tls_destroy(unused);
    assert!(tls::sys_tls_get(usize::MAX).is_null());
    tls::sys_tls_set(usize::MAX, without_provenance_mut(9));
    for n in [1, 2, 3, 1000] {
        assert_eq!(thread::sys_join(spawn(own, n)), 0);
    }
    assert_eq!(DROPPED.load(SeqCst), 1 + 2 + 3 + 1000 + 7);
    0
}

/// The process ends although `main` sleeps.
pub(crate) fn exit_elsewhere() -> i32 {
    extern "C" fn end(_: usize) {
        process::sys_exit(3);
    }
    extern "C" fn forever(_: usize) {
        time::sys_usleep(u64::MAX);
    }
    spawn(forever, 0);
    spawn(end, 0);
    static NEVER: AtomicU32 = AtomicU32::new(0);
    wait(&NEVER, 0, None)
}
