//! What a message of somebody else makes a worker allocate, in a process that counts.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, mpsc};

use hostcall::Status;
use hostcall::detached::{Message, Runner};
use hostcall_remote::wire::asked;

#[hostcall::service]
pub(crate) trait Host {
    fn fill(x: u32, out: &mut [u8]) -> u32;
}

/// The system's memory, counted. Relaxed everywhere: the numbers are looked at when the threads that change them have
/// been waited for.
struct Counting;

static LIVE: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

#[global_allocator]
static COUNTING: Counting = Counting;

fn more(bytes: usize) {
    let live = LIVE.fetch_add(bytes, Ordering::Relaxed) + bytes;
    MOST.fetch_max(live, Ordering::Relaxed);
}

// SAFETY: all do what `System` does, and count.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        more(layout.size());
        // SAFETY: the caller's promise is `System`'s.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: as above; `ptr` came from `System`.
        unsafe { System.dealloc(ptr, layout) }
    }
}

#[test]
fn a_small_message_takes_no_more_memory_than_its_calls_ask_for() {
    let definition = host::definition::fill();
    let runner = Runner::new();
    // All lanes of a wave are in their handlers at once.
    let all = Arc::new(Barrier::new(64));
    let service = host::fill(move |x, out: &mut [u8]| {
        all.wait();
        out.fill(x as u8);
        x
    });
    let fill = runner.add(service.blocking()).unwrap();
    let units = (0..64).flat_map(|lane| [0, 0, lane, 4]).collect();
    let message = Message { mask: u64::MAX, units, ends: vec![0; 64], room: u16::MAX, ..Message::default() };
    let asked = asked(&definition, &message) as usize;
    let (give, replies) = mpsc::channel();
    let before = LIVE.load(Ordering::Relaxed);
    MOST.store(before, Ordering::Relaxed);
    fill.run(message, move |replies| _ = give.send(replies)).unwrap();
    let replies = replies.recv().unwrap();
    let taken = MOST.load(Ordering::Relaxed) - before;
    assert!(replies.heads.iter().all(|head| (head.status, head.dwords) == (Status::OK, 3)));
    assert!(taken <= 2 * asked, "{taken} bytes for calls that asked for {asked}");
}
