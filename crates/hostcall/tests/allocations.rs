//! What is allocated for a message: nothing for one that is answered at once, and nothing that stays for one that is
//! kept.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::{Arc, Mutex};

use hostcall::__private::{Geometry, PortBuffer};
use hostcall::test_utils::{RpcClient, RpcShape, Sweeper, fixed_service};
use hostcall::{Batch, DeferredBatch, Definition, Device, Failure, Server, Service};
use hostcall_abi::llvm_rpc::{Layout as ClientLayout, opcode};
use hostcall_abi::{Flags, Tag};

thread_local! {
    /// Allocations of this thread, and bytes that it has allocated and not freed.
    static COUNTS: Cell<(u64, i64)> = const { Cell::new((0, 0)) };
}

struct Counting;

impl Counting {
    fn note(allocations: u64, bytes: i64) {
        // A thread that is ending has no counts any more; no test looks at them.
        let _ = COUNTS.try_with(|counts| {
            let (before, live) = counts.get();
            counts.set((before + allocations, live + bytes));
        });
    }
}

// SAFETY: the system's allocator, with counts beside it that allocate nothing: a `Cell` that is initialised when the
// thread begins.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        Self::note(1, layout.size() as i64);
        // SAFETY: the caller's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        Self::note(0, -(layout.size() as i64));
        // SAFETY: the caller's.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        Self::note(1, size as i64 - layout.size() as i64);
        // SAFETY: the caller's.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

const PORTS: u32 = 64;
/// Sweeps of all ports: together a million messages.
const SWEEPS: u16 = (1_000_000 / PORTS + 1) as u16;

/// Doubles. Every fourth message fails a lane, and every other one is answered lane by lane.
fn answer(batch: &mut Batch<'_>) {
    let x = batch.rows().column::<u32>(0).unwrap();
    if batch.port().is_multiple_of(2) {
        x.iter().enumerate().for_each(|(i, x)| batch.reply(i, &(2 * x)));
    } else {
        batch.reply_all(|mut rows| {
            let mut y = rows.column(0).unwrap();
            x.iter().enumerate().for_each(|(i, x)| y.set(i, 2 * x));
        });
    }
    if batch.port().is_multiple_of(4) {
        batch.fail(0, Failure::Refused { code: 1 });
    }
}

/// Allocations during a million messages to a service, and how many bytes more there are behind them. Messages that are
/// kept are answered after each sweep.
fn million(service: Service, kept: &Mutex<Vec<DeferredBatch>>) -> (u64, i64) {
    let geometry = Geometry { slots: 1, slot_bytes: 4096, ..Geometry::new(PORTS, 32) };
    let mut server = Sweeper::new(PortBuffer::in_process(geometry).unwrap(), [service]).unwrap();
    let mut begun = (0, 0);
    for round in 1..=SWEEPS + 100 {
        if round == 100 {
            // What grows with the first messages has grown.
            begun = COUNTS.get();
        }
        let device = server.device();
        let (raw, tag) = (device.raw(), Tag::new(round));
        for port in 0..PORTS {
            let mask = if port % 3 == 0 { 0x8421 } else { 0xf };
            raw.send(port, 0, tag, 1, Flags::REPLY, mask, &[port]);
            raw.ring(port, tag.payload().into());
        }
        let served = server.sweep();
        for mut message in kept.lock().unwrap().drain(..) {
            answer(&mut message.batch());
        }
        assert!(served == PORTS && (0..PORTS).all(|port| raw.answered(port, tag)), "{served} of {PORTS} are served");
    }
    let ended = COUNTS.get();
    (ended.0 - begun.0, ended.1 - begun.1)
}

fn twice() -> Definition {
    Definition::builder("twice").argument("u32").result("u32").build().unwrap()
}

#[test]
fn a_message_that_is_answered_at_once_allocates_no_more_than_calls_of_a_typed_handler() {
    let kept = Mutex::default();
    let typed = million(fixed_service("twice", |x: u32| 2 * x), &kept);
    assert_eq!(million(Service::batch(twice(), answer), &kept), typed);
}

#[test]
fn a_million_messages_that_were_kept_leave_nothing_behind() {
    let kept = Arc::new(Mutex::new(Vec::new()));
    let queue = kept.clone();
    let (allocations, left) = million(Service::batch_deferred(twice(), move |message| queue.lock().unwrap().push(message)), &kept);
    let messages = u64::from(SWEEPS) * u64::from(PORTS);
    assert!(allocations <= 8 * messages, "{allocations} allocations for {messages} messages");
    // A list or a table may have grown.
    assert!(left.abs() < 1 << 16, "{left} bytes more after {messages} messages");
}

#[test]
fn a_session_of_llvm_s_wire_that_one_packet_answers_allocates_nothing() {
    const COUNT: u32 = 0x7800_0001;
    let device = Device::open("sim").unwrap();
    // What the only serving thread has allocated.
    let count = |mut session: hostcall::RpcSession| async move {
        session.recv().await;
        session.send(|_| [COUNTS.get().0, 0, 0, 0, 0, 0, 0, 0]).await;
    };
    let server = Server::builder(&device).threads(1).rpc(COUNT, count).start().unwrap();
    let buffer = server.add_buffer(PortBuffer::in_process(Geometry { slots: 0, slot_bytes: 0, ..Geometry::new(1, 32) }).unwrap());
    let shape = RpcShape { layout: ClientLayout::KNOWN[0], ports: 4, lanes: 32, window: true };
    let client = RpcClient::served(&server, &buffer, shape, 1 << 20);
    let _awake = server.keep_awake();
    let asked = |opcode, word| {
        let mut port = client.open(opcode, 1);
        port.send_words(|_| [word]);
        port.recv_word()[0]
    };
    let allocations_of = |times: u64| {
        let before = asked(COUNT, 0);
        for i in 0..times {
            client.open(opcode::LIBC_NOOP, 1).send_words(|_| [i]);
            assert_eq!(asked(opcode::LIBC_TEST_INCREMENT, i), i + 1);
            let memory = asked(opcode::LIBC_MALLOC, 1000);
            assert_ne!(memory, 0);
            client.open(opcode::LIBC_FREE, 1).send_words(|_| [memory]);
        }
        asked(COUNT, 0) - before
    };
    // What grows with the first calls has grown.
    allocations_of(100);
    let of_counting = allocations_of(0);
    assert!(of_counting > 0, "a handler's session is allocated");
    assert_eq!(allocations_of(1000), of_counting);
}
