//! How often, and why, the lead changes hands. Counts: how long a change takes is the machine's.

use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicU32};

use super::*;
use crate::api::*;
use crate::layout::{self, control};
use crate::memory::Map;
use crate::stacks;

const ADD_ONE: u32 = 9_000;
/// The first of services whose handlers block.
const BLOCKS: u32 = 9_100;

unsafe extern "C-unwind" fn add_one(_: *mut c_void, _: u32, payload: *mut u64) -> c_int {
    // SAFETY: eight words.
    unsafe { *payload += 1 };
    0
}

/// What a handler that blocks waits for, and who is there.
#[derive(Debug, Default)]
struct Blocked {
    inside: AtomicU32,
    over: AtomicBool,
}

unsafe extern "C-unwind" fn blocks(state: *mut c_void, _: u32, _: *mut u64) -> c_int {
    // SAFETY: the state is one of those below, which stay.
    let state = unsafe { &*state.cast::<Blocked>() };
    state.inside.fetch_add(1, Ordering::SeqCst);
    until(|| state.over.load(Ordering::SeqCst));
    0
}

/// Waits until something holds. The limit only ends a test that would hang.
fn until(mut holds: impl FnMut() -> bool) {
    for _ in 0..60_000 {
        if holds() {
            return;
        }
        thread::sleep(Duration::from_millis(1));
    }
    panic!("it did not come about");
}

fn register(service: u32, handler: crate::ServiceHandler, state: *mut c_void) {
    // SAFETY: fit for any thread, with a state that stays.
    assert_eq!(unsafe { amd_hostcall_register_service(service, Some(handler), state) }, 0);
}

fn with_add_one() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| register(ADD_ONE, add_one, null_mut()));
}

/// A consumer that serves a buffer.
struct Served {
    words: Box<[AtomicU64]>,
    handle: *mut ConsumerHandle,
    consumer: Arc<Consumer>,
}

impl Served {
    fn new(packets: u32) -> Served {
        let words: Box<[AtomicU64]> = (0..layout::buffer_size(packets) / 8).map(|_| AtomicU64::new(0)).collect();
        let at: *mut c_void = words.as_ptr().cast_mut().cast();
        let mut handle = null_mut();
        // SAFETY: a place for a handle, and as many bytes as the layout says, which stay until the consumer is
        // destroyed.
        unsafe {
            assert_eq!(amd_hostcall_create_consumer(&mut handle), 0);
            assert_eq!(amd_hostcall_initialize_buffer(at, packets), 0);
            assert_eq!(amd_hostcall_register_buffer(handle, at), 0);
        }
        assert_eq!(amd_hostcall_launch_consumer(handle), 0);
        Served { words, handle, consumer: super::super::find(handle.addr()).unwrap() }
    }

    fn at(&self) -> *mut c_void {
        self.words.as_ptr().cast_mut().cast()
    }

    /// Hands a packet over, and does not wait for it.
    fn submit(&self, service: u32) {
        // SAFETY: laid out, and it stays.
        let map = unsafe { Map::find(self.at().cast(), layout::Form::Stacks, None) }.unwrap();
        let held = stacks::pop_free(&map, || {}).unwrap();
        let header = map.header(held.index(&map) as u32).unwrap();
        header.service.store(service, Ordering::Relaxed);
        header.active_mask.store(1, Ordering::Relaxed);
        header.control.store(control::READY, Ordering::Relaxed);
        stacks::push_ready(&map, held, || {});
        assert_eq!(hostcall_amd_ring(map.words().doorbell.load(Ordering::Relaxed)), 0);
    }

    fn call(&self, service: u32, first: u64) -> u64 {
        let mut payload = [[first; 8]];
        // SAFETY: one lane, and the buffer lives.
        assert_eq!(unsafe { hostcall_amd_call(self.at(), service, 1, payload.as_mut_ptr()) }, 0);
        payload[0][0]
    }

    fn handed(&self, why: Why) -> u64 {
        self.consumer.crew.handed(why)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        assert_eq!(amd_hostcall_destroy_consumer(self.handle), 0);
    }
}

#[test]
fn many_handlers_of_a_service_that_blocks_wait_for_one_look_of_the_watcher_together() {
    const MANY: u32 = 32;
    static STATE: Blocked = Blocked { inside: AtomicU32::new(0), over: AtomicBool::new(false) };
    with_add_one();
    register(BLOCKS, blocks, (&raw const STATE).cast_mut().cast());
    let served = Served::new(64);
    (0..MANY).for_each(|_| served.submit(BLOCKS));
    assert_eq!(served.call(ADD_ONE, 5), 6, "while all of them block");
    assert_eq!(STATE.inside.load(Ordering::SeqCst), MANY);
    // One was found by the watcher. A busy machine may keep a leader from saying in time that it is about to block, so
    // there may be more.
    let (long, known) = (served.handed(Why::Long), served.handed(Why::Known));
    assert!(known >= u64::from(MANY) * 3 / 4, "{known} at once, {long} found by the watcher");
    STATE.over.store(true, Ordering::SeqCst);
    until(|| served.consumer.crew.behind.load(Ordering::SeqCst) == 0);
    // It does not block any more, and is not expected to after a while.
    (0..200).for_each(|_| _ = served.call(BLOCKS, 1));
    let known = served.handed(Why::Known);
    (0..50).for_each(|_| _ = served.call(BLOCKS, 1));
    assert!(served.handed(Why::Known) - known < 50, "some ran on the thread that leads");
}

#[test]
fn services_of_which_nothing_is_known_are_expected_to_block_while_another_does() {
    const MANY: u32 = 16;
    static STATE: Blocked = Blocked { inside: AtomicU32::new(0), over: AtomicBool::new(false) };
    with_add_one();
    let served = Served::new(64);
    for service in BLOCKS + 1..=BLOCKS + MANY {
        register(service, blocks, (&raw const STATE).cast_mut().cast());
        served.submit(service);
    }
    assert_eq!(served.call(ADD_ONE, 5), 6, "while all of them block");
    let (long, known) = (served.handed(Why::Long), served.handed(Why::Known));
    assert!(known >= u64::from(MANY) * 3 / 4, "{known} at once, {long} found by the watcher");
    STATE.over.store(true, Ordering::SeqCst);
}

/// Calls through the buffer whose address it gets.
unsafe extern "C-unwind" fn calls_back(_: *mut c_void, _: u32, payload: *mut u64) -> c_int {
    let mut inner = [[41; 8]];
    // SAFETY: eight words, and the caller sent its buffer's address; one lane.
    unsafe {
        let buffer = std::ptr::with_exposed_provenance_mut(*payload as usize);
        assert_eq!(hostcall_amd_call(buffer, ADD_ONE, 1, inner.as_mut_ptr()), 0);
        *payload = inner[0][0];
    }
    0
}

#[test]
fn a_handler_that_calls_its_own_consumer_gives_the_lead_away_before_it_waits() {
    const CALLS: u64 = 40;
    with_add_one();
    register(BLOCKS + 50, calls_back, null_mut());
    let served = Served::new(8);
    for _ in 0..CALLS {
        assert_eq!(served.call(BLOCKS + 50, served.at().expose_provenance() as u64), 42);
    }
    let (long, known) = (served.handed(Why::Long), served.handed(Why::Known));
    assert!(known >= CALLS * 3 / 4, "{known} by itself, {long} found by the watcher");
}

#[test]
fn a_service_that_returns_soon_never_changes_the_thread_that_leads() {
    with_add_one();
    let served = Served::new(8);
    (0..1000).for_each(|n| assert_eq!(served.call(ADD_ONE, n), n + 1));
    // On a busy machine a thread may stand still in a handler for so long that the watcher takes it for blocked.
    let (long, known) = (served.handed(Why::Long), served.handed(Why::Known));
    assert!(known == 0 || long > 0, "{known} at once, {long} found by the watcher");
}
