//! Stacks of the threads that call what users have written, and who is told when one of them is used up.
//!
//! AMD's library runs handlers on threads of the C library's usual size, which is the main thread's. So do these
//! threads, and what the program's thread-local variables take of it comes on top: the C library puts them on the
//! stack.
//!
//! A handler that uses all of it runs into a page that nobody may touch. A signal handler then says whose handler it
//! was, and leaves the rest to whoever had the signal before.

use std::mem::MaybeUninit;
use std::ptr::{null, null_mut};
use std::sync::Once;
use std::sync::atomic::{AtomicI32, AtomicPtr, AtomicU64, AtomicUsize, Ordering};

use libc::{c_int, c_void};

#[expect(unreachable_pub, reason = "they are public where this file is at home")]
#[path = "../../hostcall-platform/src/host/stack.rs"]
mod bytes;

use bytes::{LEAST, MOST, StackSize, stack_bytes};

/// The stack of a thread that runs nothing of the user's.
const OWN: usize = 256 << 10;

/// What is asked for in KiB, and never less than usual; or as much as the main thread has.
fn asked(kib: Option<&str>) -> StackSize {
    let kib = kib.and_then(|text| text.trim().parse::<usize>().ok());
    kib.map_or_else(StackSize::default, |kib| StackSize::bytes(kib.saturating_mul(1024).clamp(LEAST, MOST)))
}

/// Bytes of the stack of a thread that runs handlers.
pub(crate) fn size() -> usize {
    stack_bytes(asked(std::env::var("HOSTCALL_AMD_STACK_KB").ok().as_deref()))
}

/// Bytes of the stack of a thread that runs nothing of the user's.
pub(crate) fn own() -> usize {
    stack_bytes(StackSize::bytes(OWN))
}

/// What a signal handler must know of a thread that runs handlers. Never freed: it may look at any time.
#[derive(Debug)]
#[repr(align(128))]
struct Record {
    /// The system's number of the thread; 0 if it has ended, and another may have the record.
    thread: AtomicI32,
    /// Where the stack ends, how large it is, and how large the page is that nobody may touch.
    low: AtomicUsize,
    size: AtomicUsize,
    guard: AtomicUsize,
    /// One more than the service whose handler runs; 0 before the first.
    service: AtomicU64,
    next: AtomicPtr<Record>,
}

/// All records. A list that only grows, so that it can be followed at any time.
static RECORDS: AtomicPtr<Record> = AtomicPtr::new(null_mut());

fn records() -> impl Iterator<Item = &'static Record> {
    // Acquire, both: pair with the exchange in `Record::take`, which publishes the record.
    let mut at = RECORDS.load(Ordering::Acquire);
    std::iter::from_fn(move || {
        // SAFETY: null, or a record, which is never freed.
        let record = unsafe { at.as_ref() }?;
        at = record.next.load(Ordering::Acquire);
        Some(record)
    })
}

impl Record {
    /// A record for a thread of this number.
    fn take(thread: i32) -> &'static Record {
        // Acquire: pairs with the release of who has given it back.
        let free = |record: &&Record| record.thread.compare_exchange(0, thread, Ordering::Acquire, Ordering::Relaxed).is_ok();
        if let Some(record) = records().find(free) {
            return record;
        }
        let record: &'static Record = Box::leak(Box::new(Record {
            thread: AtomicI32::new(thread),
            low: AtomicUsize::new(0),
            size: AtomicUsize::new(0),
            guard: AtomicUsize::new(0),
            service: AtomicU64::new(0),
            next: AtomicPtr::new(null_mut()),
        }));
        let mut first = RECORDS.load(Ordering::Relaxed);
        loop {
            record.next.store(first, Ordering::Relaxed);
            // Release: pairs with the acquires in `records`.
            match RECORDS.compare_exchange_weak(first, std::ptr::from_ref(record).cast_mut(), Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return record,
                Err(now) => first = now,
            }
        }
    }

    /// Whether a thread that touched this address, with its stack at `top`, has used up its stack. A function with
    /// large variables may have gone past the guard.
    fn is_used_up(&self, address: usize, top: Option<usize>) -> bool {
        let (low, size, guard) = (self.low.load(Ordering::Relaxed), self.size.load(Ordering::Relaxed), self.guard.load(Ordering::Relaxed));
        let touched = (low.saturating_sub(guard)..low + guard).contains(&address);
        let below = top.is_some_and(|top| (low.saturating_sub(size)..low + guard).contains(&top));
        low != 0 && (touched || below)
    }
}

/// A thread that runs handlers, while it does.
#[derive(Debug)]
pub(crate) struct Place {
    record: &'static Record,
    /// The stack on which it handles signals, if it has none of its own: where, and its size.
    signals: Option<(*mut c_void, usize)>,
}

impl Place {
    /// The calling thread.
    pub(crate) fn of_this_thread() -> Place {
        static ONCE: Once = Once::new();
        ONCE.call_once(listen);
        let record = Record::take(rustix::thread::gettid().as_raw_nonzero().get());
        let [low, size, guard] = bounds().unwrap_or_default();
        // Relaxed, all: the signal handler that reads them runs on this thread.
        record.low.store(low, Ordering::Relaxed);
        record.size.store(size, Ordering::Relaxed);
        record.guard.store(guard, Ordering::Relaxed);
        record.service.store(0, Ordering::Relaxed);
        Place { record, signals: signal_stack() }
    }

    /// The thread runs the handler of a service from now on.
    pub(crate) fn runs(&self, service: u32) {
        self.record.service.store(u64::from(service) + 1, Ordering::Relaxed);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some((at, size)) = self.signals {
            let none = libc::stack_t { ss_sp: null_mut(), ss_flags: libc::SS_DISABLE, ss_size: 0 };
            // SAFETY: the thread handles signals on its own stack from now on, and this memory is that of
            // `signal_stack`.
            unsafe {
                libc::sigaltstack(&none, null_mut());
                libc::munmap(at, size);
            }
        }
        self.record.low.store(0, Ordering::Relaxed);
        // Release: pairs with the acquire in `take`.
        self.record.thread.store(0, Ordering::Release);
    }
}

/// Where the calling thread's stack ends, its size, and its guard's.
fn bounds() -> Option<[usize; 3]> {
    let mut attributes = MaybeUninit::uninit();
    let (mut low, mut size, mut guard) = (null_mut(), 0, 0);
    // SAFETY: places for what is asked for; the attributes are used if they were initialised, and destroyed.
    unsafe {
        if libc::pthread_getattr_np(libc::pthread_self(), attributes.as_mut_ptr()) != 0 {
            return None;
        }
        let known = libc::pthread_attr_getstack(attributes.as_ptr(), &mut low, &mut size) == 0
            && libc::pthread_attr_getguardsize(attributes.as_ptr(), &mut guard) == 0;
        libc::pthread_attr_destroy(attributes.as_mut_ptr());
        known.then_some([low.addr(), size, guard.max(4096)])
    }
}

/// Gives the calling thread a stack for signals, unless it has one.
fn signal_stack() -> Option<(*mut c_void, usize)> {
    let mut now = libc::stack_t { ss_sp: null_mut(), ss_flags: 0, ss_size: 0 };
    // SAFETY: asks for what there is; the auxiliary vector is the system's.
    let (has, least) = unsafe { (libc::sigaltstack(null(), &mut now), libc::getauxval(libc::AT_MINSIGSTKSZ) as usize) };
    if has != 0 || now.ss_flags & libc::SS_DISABLE == 0 {
        return None;
    }
    let size = (least.max(libc::SIGSTKSZ) + (16 << 10)).next_multiple_of(4096);
    // SAFETY: new memory, which `Place` frees when the thread does not use it any more.
    unsafe {
        let how = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        let at = libc::mmap(null_mut(), size, how.0, how.1, -1, 0);
        let stack = libc::stack_t { ss_sp: at, ss_flags: 0, ss_size: size };
        if at == libc::MAP_FAILED {
            return None;
        }
        if libc::sigaltstack(&stack, null_mut()) != 0 {
            libc::munmap(at, size);
            return None;
        }
        Some((at, size))
    }
}

const SIGNALS: [c_int; 2] = [libc::SIGSEGV, libc::SIGBUS];

/// What each signal did before; null for one that is not listened to.
static BEFORE: [AtomicPtr<libc::sigaction>; 2] = [const { AtomicPtr::new(null_mut()) }; 2];

/// Listens to the signals of a stack that is used up.
fn listen() {
    for (signal, place) in SIGNALS.into_iter().zip(&BEFORE) {
        // SAFETY: places for what there is and for what is to be; what was there before is kept, and never freed,
        // before it can be needed.
        unsafe {
            let before = Box::leak(Box::new(std::mem::zeroed::<libc::sigaction>()));
            if libc::sigaction(signal, null(), before) != 0 {
                continue;
            }
            let mut ours = *before;
            ours.sa_sigaction = on_fault as *const () as usize;
            ours.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            // Release: pairs with the acquire in `pass_on`.
            place.store(before, Ordering::Release);
            libc::sigaction(signal, &ours, null_mut());
        }
    }
}

/// Where the stack of a thread was when a signal came.
fn top_of(context: *mut c_void) -> Option<usize> {
    // SAFETY: what a signal handler gets as its third argument.
    let machine = unsafe { &context.cast::<libc::ucontext_t>().as_ref()?.uc_mcontext };
    #[cfg(target_arch = "x86_64")]
    return Some(machine.gregs[libc::REG_RSP as usize] as usize);
    #[cfg(target_arch = "aarch64")]
    return Some(machine.sp as usize);
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        let _ = machine;
        None
    }
}

/// Runs on a thread that is at its end: it calls nothing that takes a lock or memory.
unsafe extern "C" fn on_fault(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let thread = rustix::thread::gettid().as_raw_nonzero().get();
    // SAFETY: a signal of a fault has an address.
    let address = unsafe { (*info).si_addr() }.addr();
    let mine = records().find(|record| record.thread.load(Ordering::Relaxed) == thread);
    if let Some(record) = mine.filter(|record| record.is_used_up(address, top_of(context))) {
        tell(record);
    }
    // SAFETY: what this handler was given.
    unsafe { pass_on(signal, info, context) };
}

/// Says whose handler has used up its stack.
fn tell(record: &Record) {
    let (service, size) = (record.service.load(Ordering::Relaxed), record.size.load(Ordering::Relaxed));
    let mut line = Line { text: [0; 256], length: 0 };
    match service {
        0 => line.add(b"hostcall: a thread that serves packets"),
        service => {
            line.add(b"hostcall: the handler of service ");
            line.number(service - 1);
        }
    }
    line.add(b" has used up its stack of ");
    line.number(size as u64 / 1024);
    line.add(b" KiB; `ulimit -s` or HOSTCALL_AMD_STACK_KB=KIB gives it more\n");
    // SAFETY: bytes that were written. Nobody can be told that standard error is closed.
    unsafe { libc::write(2, line.text.as_ptr().cast(), line.length) };
}

/// A line of text, put together without memory.
struct Line {
    text: [u8; 256],
    length: usize,
}

impl Line {
    fn add(&mut self, text: &[u8]) {
        let places = self.text[self.length..].iter_mut().zip(text);
        self.length += places.map(|(place, byte)| *place = *byte).count();
    }

    fn number(&mut self, mut number: u64) {
        let (mut digits, mut at) = ([0; 20], 20);
        loop {
            at -= 1;
            digits[at] = b'0' + (number % 10) as u8;
            number /= 10;
            if number == 0 {
                break self.add(&digits[at..]);
            }
        }
    }
}

/// Does what the signal did before this library listened.
///
/// # Safety
/// The arguments of a signal handler.
unsafe fn pass_on(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let place = if signal == SIGNALS[0] { &BEFORE[0] } else { &BEFORE[1] };
    // SAFETY: null, or what `listen` has kept. Acquire: pairs with its release.
    let before = unsafe { place.load(Ordering::Acquire).as_ref() };
    match before {
        Some(before) if before.sa_sigaction != libc::SIG_DFL && before.sa_sigaction != libc::SIG_IGN => {
            // SAFETY: the function that was there, as its flags say it is called.
            unsafe {
                if before.sa_flags & libc::SA_SIGINFO != 0 {
                    let function: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) = std::mem::transmute(before.sa_sigaction);
                    function(signal, info, context);
                } else {
                    let function: extern "C" fn(c_int) = std::mem::transmute(before.sa_sigaction);
                    function(signal);
                }
            }
        }
        _ => {
            // SAFETY: the default: the same instruction faults again, and ends the process. A signal that somebody has
            // sent is sent again.
            unsafe {
                let mut default = std::mem::zeroed::<libc::sigaction>();
                default.sa_sigaction = libc::SIG_DFL;
                libc::sigaction(signal, &default, null_mut());
                if (*info).si_code <= 0 {
                    libc::raise(signal);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handlers_have_what_is_asked_for_and_never_less_than_usual() {
        for (text, expected) in [
            (None, StackSize::default()),
            (Some("much"), StackSize::default()),
            (Some("65536"), StackSize::bytes(64 << 20)),
            (Some(" 9000 "), StackSize::bytes(9000 << 10)),
            (Some("1"), StackSize::bytes(LEAST)),
            (Some("99999999999"), StackSize::bytes(MOST)),
        ] {
            assert_eq!(asked(text), expected, "{text:?}");
        }
        assert!(size() > LEAST && own() > OWN);
    }

    #[test]
    fn a_record_is_one_thread_s_and_the_next_one_s_when_that_has_ended() {
        let (first, second) = (Record::take(-1), Record::take(-2));
        assert!(!std::ptr::eq(first, second));
        first.thread.store(0, Ordering::SeqCst);
        // Threads of other tests may have taken it meanwhile; whoever has it is alone.
        let third = Record::take(-3);
        assert!(!std::ptr::eq(third, second));
        assert_eq!(records().filter(|record| record.thread.load(Ordering::SeqCst) == -3).count(), 1);
        second.thread.store(0, Ordering::SeqCst);
        third.thread.store(0, Ordering::SeqCst);
    }

    #[test]
    fn a_stack_is_used_up_at_its_guard_and_where_a_large_frame_has_gone_past_it() {
        let record = Record {
            thread: AtomicI32::new(-4),
            low: AtomicUsize::new(1 << 20),
            size: AtomicUsize::new(1 << 19),
            guard: AtomicUsize::new(4096),
            service: AtomicU64::new(0),
            next: AtomicPtr::new(null_mut()),
        };
        let low = 1 << 20;
        assert!(record.is_used_up(low - 1, None) && record.is_used_up(low, None));
        assert!(!record.is_used_up(0, Some(low + (1 << 18))), "a null pointer");
        assert!(record.is_used_up(low - 100_000, Some(low - 100_000)));
        assert!(!record.is_used_up(low - 100_000, None));
    }
}
