//! Threads, futexes and thread-local values.

use crate::{checked, say};
use alloc::boxed::Box;
use alloc::format;
use alloc::vec::Vec;
use core::cell::UnsafeCell;
use core::ffi::c_void;
use core::mem::MaybeUninit;
use core::ptr::{null, null_mut, without_provenance_mut};
use core::sync::atomic::{AtomicU32, AtomicUsize, Ordering::SeqCst};
use hostcall_std::abi::timespec;
use hostcall_std::{futex, process, thread, time, tls};

static COUNT: AtomicUsize = AtomicUsize::new(0);

/// A thread, as C's functions know it.
type Thread = *mut c_void;

/// Starts a thread: null if there is no wave for it.
pub(crate) fn spawn(start: fn(usize), argument: usize) -> Thread {
    extern "C" fn run(task: *mut c_void) -> *mut c_void {
        // SAFETY: made below, and handed to this thread alone.
        let (start, argument) = *unsafe { Box::from_raw(task.cast::<(fn(usize), usize)>()) };
        start(argument);
        without_provenance_mut(argument)
    }
    let task = Box::into_raw(Box::new((start, argument)));
    let mut id = null_mut();
    // SAFETY: a place for the thread, and a task that it frees.
    match unsafe { thread::libc_pthread_create(&mut id, null(), run, task.cast()) } {
        0 => id,
        error => {
            assert_eq!(error, 11);
            // SAFETY: no thread has it.
            drop(unsafe { Box::from_raw(task) });
            null_mut()
        }
    }
}

/// Waits for a thread; its result.
pub(crate) fn join(id: Thread) -> usize {
    let mut result = null_mut();
    // SAFETY: each is joined once, and none is detached.
    assert_eq!(unsafe { thread::libc_pthread_join(id, &mut result) }, 0);
    result as usize
}

fn wait(word: &AtomicU32, value: u32, timeout: Option<timespec>) -> i32 {
    let now = {
        let mut now = timespec::default();
        // SAFETY: a place for it.
        unsafe { time::libc_clock_gettime(1, &mut now) };
        now
    };
    let until = timeout.map(|time| timespec { tv_sec: now.tv_sec + time.tv_sec, tv_nsec: now.tv_nsec + time.tv_nsec });
    let until = until.as_ref().map_or(null(), core::ptr::from_ref);
    // SAFETY: an atomic word, and null or a time.
    checked(unsafe { futex::sys_futex_wait(word.as_ptr(), value, until) }.into()) as i32
}

/// Many more threads than waves, as many at a time as there are.
pub(crate) fn many() -> i32 {
    fn add(n: usize) {
        COUNT.fetch_add(n, SeqCst);
        if n % 3 == 0 {
            thread::libc_sched_yield();
        }
    }
    let at_a_time = thread::limit();
    for round in 0..20 {
        let threads: Vec<Thread> = (0..at_a_time).map(|i| spawn(add, round * at_a_time + i)).collect();
        assert!(threads.iter().all(|id| !id.is_null()));
        for (i, id) in threads.into_iter().enumerate() {
            assert_eq!(join(id), round * at_a_time + i);
        }
    }
    let n = 20 * at_a_time;
    assert_eq!(COUNT.load(SeqCst), n * (n - 1) / 2);
    // SAFETY: null is no thread.
    assert_eq!(unsafe { thread::libc_pthread_join(null_mut(), null_mut()) }, 3);
    say(&format!("{at_a_time} at a time\n"));
    0
}

/// One thread too many is refused; when one has ended there is room again.
pub(crate) fn exhaust() -> i32 {
    static GO: AtomicU32 = AtomicU32::new(0);
    fn stay(_: usize) {
        while GO.load(SeqCst) == 0 {
            wait(&GO, 0, None);
        }
    }
    let threads: Vec<Thread> = (0..thread::limit()).map(|_| spawn(stay, 0)).collect();
    assert!(threads.iter().all(|id| !id.is_null()));
    assert!(spawn(stay, 0).is_null());
    GO.store(1, SeqCst);
    assert!(futex::sys_futex_wake(GO.as_ptr(), i32::MAX) <= threads.len() as i32);
    threads.iter().for_each(|id| assert_ne!(join(*id), usize::MAX));
    assert_eq!(join(spawn(stay, 5)), 5);
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
    fn work(rounds: usize) {
        for _ in 0..rounds {
            lock();
            // SAFETY: under the lock.
            unsafe { COUNTER += 1 };
            unlock();
        }
    }
    let threads: Vec<Thread> = (0..thread::limit()).map(|_| spawn(work, 300)).collect();
    work(300);
    threads.iter().for_each(|id| assert_ne!(join(*id), usize::MAX));
    // SAFETY: the others have ended.
    assert_eq!(unsafe { COUNTER }, 300 * (threads.len() + 1));
    of_c();
    0
}

/// The same with C's mutex, which a waiter may also only try.
fn of_c() {
    use hostcall_std::mutex::*;
    struct Shared(UnsafeCell<(MaybeUninit<Mutex>, usize)>);
    // SAFETY: the number is used under the mutex.
    unsafe impl Sync for Shared {}
    // As musl's initialiser: zeros.
    static SHARED: Shared = Shared(UnsafeCell::new((MaybeUninit::zeroed(), 0)));
    // SAFETY: a static's places.
    let (lock, counter) = unsafe { ((*SHARED.0.get()).0.as_ptr(), &raw mut (*SHARED.0.get()).1) };
    fn work(rounds: usize) {
        // SAFETY: as above; the number is this thread's while it holds the mutex.
        unsafe {
            let (lock, counter) = ((*SHARED.0.get()).0.as_ptr(), &raw mut (*SHARED.0.get()).1);
            for round in 0..rounds {
                if round % 2 == 0 || libc_pthread_mutex_trylock(lock) != 0 {
                    assert_eq!(libc_pthread_mutex_lock(lock), 0);
                }
                *counter += 1;
                assert_eq!(libc_pthread_mutex_unlock(lock), 0);
            }
        }
    }
    let threads: Vec<Thread> = (0..thread::limit()).map(|_| spawn(work, 300)).collect();
    work(300);
    threads.iter().for_each(|id| assert_ne!(join(*id), usize::MAX));
    // SAFETY: the others have ended.
    unsafe {
        assert_eq!(*counter, 300 * (threads.len() + 1));
        assert_eq!(libc_pthread_mutex_lock(lock), 0);
        assert_eq!(libc_pthread_mutex_trylock(lock), 16);
        assert_eq!((libc_pthread_mutex_unlock(lock), libc_pthread_mutex_unlock(lock)), (0, 1));
    }
}

/// Waits that end by themselves, by a wake, or at once.
pub(crate) fn timed() -> i32 {
    static WORD: AtomicU32 = AtomicU32::new(5);
    let short = timespec { tv_sec: 0, tv_nsec: 3_000_000 };
    assert_eq!(wait(&WORD, 4, None), -11);
    assert_eq!(wait(&WORD, 5, Some(short)), -110);
    assert_eq!(futex::sys_futex_wake(WORD.as_ptr(), 1), 0);
    fn sleeper(_: usize) {
        assert_eq!(wait(&WORD, 5, Some(timespec { tv_sec: 600, tv_nsec: 0 })), 0);
        COUNT.fetch_add(1, SeqCst);
    }
    let threads: Vec<Thread> = (0..3).map(|_| spawn(sleeper, 0)).collect();
    let mut woken = 0;
    while woken < 3 {
        let now = futex::sys_futex_wake(WORD.as_ptr(), 1);
        assert!((0..=1).contains(&now));
        woken += now;
        time::sys_sleep(100_000);
    }
    threads.iter().for_each(|id| assert_ne!(join(*id), usize::MAX));
    assert_eq!(COUNT.load(SeqCst), 3);
    // SAFETY: what is no word is refused.
    assert_eq!(unsafe { checked(futex::sys_futex_wait(null_mut(), 0, null()) as i64) }, -22);
    0
}

fn key(destructor: Option<tls::Destructor>) -> usize {
    let mut key = 0;
    // SAFETY: a place for it.
    assert_eq!(unsafe { tls::libc_pthread_key_create(&mut key, destructor) }, 0);
    key as usize
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
    fn own(n: usize) {
        let [a, b] = [0, 1].map(|i| KEYS[i].load(SeqCst));
        assert!(tls::sys_tls_get(a).is_null() && tls::sys_tls_get(b).is_null());
        tls::sys_tls_set(a, without_provenance_mut(n));
        thread::libc_sched_yield();
        assert_eq!(tls::sys_tls_get(a) as usize, n);
    }
    for word in &KEYS {
        word.store(key(Some(drop_one)), SeqCst);
    }
    let far = (0..200).map(|_| key(None)).last().unwrap_or(0);
    tls::sys_tls_set(far, without_provenance_mut(9));
    assert_eq!(tls::sys_tls_get(far) as usize, 9);
    let unused = key(Some(drop_one));
    assert_eq!(tls::libc_pthread_key_delete(unused as u32), 0);
    assert!(tls::sys_tls_get(usize::MAX).is_null());
    tls::sys_tls_set(usize::MAX, without_provenance_mut(9));
    for n in [1, 2, 3, 1000] {
        assert_eq!(join(spawn(own, n)), n);
    }
    assert_eq!(DROPPED.load(SeqCst), 1 + 2 + 3 + 1000 + 7);
    0
}

/// The process ends although `main` sleeps.
pub(crate) fn exit_elsewhere() -> i32 {
    fn end(_: usize) {
        process::libc_exit(3);
    }
    fn forever(_: usize) {
        time::sys_sleep(u64::MAX);
    }
    spawn(forever, 0);
    spawn(end, 0);
    static NEVER: AtomicU32 = AtomicU32::new(0);
    wait(&NEVER, 0, None)
}
