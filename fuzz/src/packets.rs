//! A device that fills packets of AMD's forms as the input says, and writes anywhere in its buffer and in the page of
//! its doorbell, beside clients that behave.
//!
//! Whatever the device did, the client of another buffer is answered, both buffers can be given up, and nobody who
//! waits for the device's own buffer waits any longer then. Of mailboxes, a packet whose words the device leaves alone
//! is answered.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Once};
use std::thread;
use std::time::Duration;

use amd_hostcall::api::*;
use amd_hostcall::layout::{self, Form, control};
use amd_hostcall::mailboxes::Mailboxes;
use amd_hostcall::memory::Map;
use amd_hostcall::stacks;

use crate::Input;

/// Packets of each buffer.
const PACKETS: u32 = 5;
const DOUBLE: u32 = 9;
/// The packet of mailboxes that the device spares.
const SPARED: u32 = 0;

unsafe extern "C-unwind" fn double(_: *mut c_void, _: u32, payload: *mut u64) -> c_int {
    // SAFETY: eight words.
    unsafe { *payload = (*payload).wrapping_mul(2) };
    0
}

unsafe extern "C-unwind" fn any(_: *mut c_void, _: u32, _: *mut u64) -> c_int {
    0
}

/// Registers the services, once for the process. The default handler answers all others: without one a packet may end
/// the process.
fn with_services() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: fit for any thread.
        let registered = unsafe {
            [
                amd_hostcall_register_service(0, Some(any), std::ptr::null_mut()),
                amd_hostcall_register_service(DOUBLE, Some(double), std::ptr::null_mut()),
            ]
        };
        assert_eq!(registered, [0, 0]);
    });
}

/// Where the parts of a buffer lie.
enum Parts {
    Stacks(Map),
    Mailboxes(Mailboxes),
}

struct Buffer {
    words: Box<[AtomicU64]>,
    form: Form,
}

impl Buffer {
    fn new(form: Form) -> Buffer {
        let words: Box<[AtomicU64]> = (0..layout::size_in(form, PACKETS) / 8).map(|_| AtomicU64::new(0)).collect();
        let buffer = Buffer { words, form };
        // SAFETY: as many bytes as the form says.
        assert_eq!(unsafe { hostcall_amd_initialize_form(buffer.pointer(), 8 * buffer.words.len(), PACKETS, form as u32) }, 0);
        buffer
    }

    fn pointer(&self) -> *mut c_void {
        self.words.as_ptr().cast_mut().cast()
    }

    fn parts(&self) -> Parts {
        // SAFETY: initialised, and it lives as long as the parts are used.
        unsafe {
            match self.form {
                Form::Mailboxes => Parts::Mailboxes(Mailboxes::find(self.pointer().cast()).expect("initialised")),
                _ => Parts::Stacks(Map::find(self.pointer().cast(), self.form, Some(PACKETS)).expect("initialised")),
            }
        }
    }

    /// A call of a thread of the host: its code, and the first word that came back.
    fn call(&self, word: u64) -> (c_int, u64) {
        let mut payload = [[word; 8]];
        // SAFETY: one lane; the buffer lives.
        let code = unsafe { hostcall_amd_call(self.pointer(), DOUBLE, 1, payload.as_mut_ptr()) };
        (code, payload[0][0])
    }

    /// Words before the payloads.
    fn head(&self) -> usize {
        match self.form {
            Form::Mailboxes => layout::mailboxes_at(PACKETS)[4] / 8,
            _ => layout::payloads_at(PACKETS) / 8,
        }
    }

    /// A word that the device may write.
    fn word(&self, at: usize) -> Option<&AtomicU64> {
        if self.form == Form::Mailboxes {
            let [device, host, _, headers, payloads, _] = layout::mailboxes_at(PACKETS);
            let spared = [(device, 8), (host, 8), (headers, 16), (payloads, 4096)];
            if spared.iter().any(|(from, bytes)| (*from..from + bytes).contains(&(8 * at))) {
                return None;
            }
        }
        self.words.get(at)
    }
}

/// Plays one input. Its first byte says which form is attacked.
///
/// # Panics
/// When a client is not answered, or a buffer cannot be given up.
pub fn run(data: &[u8]) {
    with_services();
    let mut input = Input::new(data);
    let form = Form::from_number(u32::from(input.byte()) % 3).expect("three forms");
    let (victim, other) = (Arc::new(Buffer::new(form)), Buffer::new(Form::Stacks));
    let mut consumer = std::ptr::null_mut();
    // SAFETY: a place for a handle; the buffers outlive the consumer.
    unsafe {
        assert_eq!(amd_hostcall_create_consumer(&mut consumer), 0);
        assert_eq!(hostcall_amd_register_form(consumer, victim.pointer(), form as u32), 0);
        assert_eq!(amd_hostcall_register_buffer(consumer, other.pointer()), 0);
    }
    assert_eq!(amd_hostcall_launch_consumer(consumer), 0);
    let parts = victim.parts();
    let doorbell = victim.words[if form == Form::Mailboxes { 5 } else { 2 }].load(Ordering::SeqCst);
    let waits = matches!(parts, Parts::Stacks(_)).then(|| {
        let victim = victim.clone();
        // Until the buffer is gone. What is answered may be anything: the words are the device's.
        thread::spawn(move || (0..3).for_each(|n| _ = victim.call(n)))
    });
    while !input.is_empty() {
        act(&mut input, &victim, &parts, doorbell);
    }
    assert_eq!(other.call(21), (0, 42));
    if let Parts::Mailboxes(boxes) = &parts {
        ask_spared(boxes, doorbell);
    }
    assert_eq!(amd_hostcall_deregister_buffer(consumer, victim.pointer()), 0);
    if let Some(waits) = waits {
        wait_for("the end of every call", || waits.is_finished());
        waits.join().expect("it asserts nothing");
    }
    assert_eq!(amd_hostcall_destroy_consumer(consumer), 0);
}

/// Waits until something holds, or fails after a time that only a hang takes.
fn wait_for(what: &str, mut holds: impl FnMut() -> bool) {
    for turn in 0..60_000 {
        if holds() {
            return;
        }
        if turn < 1000 { thread::yield_now() } else { thread::sleep(Duration::from_millis(1)) }
    }
    panic!("{what} did not come about");
}

/// A wave's call through the mailbox that the device has spared.
fn ask_spared(boxes: &Mailboxes, doorbell: u64) {
    let (header, payload) = (boxes.header(SPARED).expect("a packet"), boxes.payload(SPARED).expect("a packet"));
    let (device, host) = (boxes.device_phase(SPARED).expect("a packet"), boxes.host_phase(SPARED).expect("a packet"));
    payload.lanes[3][0].store(21, Ordering::Relaxed);
    header.service.store(DOUBLE, Ordering::Relaxed);
    header.active_mask.store(1 << 3, Ordering::Relaxed);
    device.store(1, Ordering::Release);
    assert_eq!(hostcall_amd_ring(doorbell), 0);
    wait_for("the answer", || host.load(Ordering::Acquire) == 1);
    assert_eq!(payload.lanes[3][0].load(Ordering::Relaxed), 42);
}

/// One act of the device.
fn act(input: &mut Input<'_>, victim: &Buffer, parts: &Parts, doorbell: u64) {
    let long = |input: &mut Input<'_>| u64::from(input.word()) << 32 | u64::from(input.word());
    let store = |at: usize, value| _ = victim.word(at).map(|word| word.store(value, Ordering::SeqCst));
    match input.byte() % 8 {
        0 => {
            let at = input.word() as usize % victim.words.len();
            store(at, long(input));
        }
        1 => {
            let bit = input.byte() % 64;
            let at = input.word() as usize % victim.words.len();
            let _ = victim.word(at).map(|word| word.fetch_xor(1 << bit, Ordering::SeqCst));
        }
        // Header words, and the buffer's own.
        2 => {
            let at = usize::from(input.byte()) % victim.head();
            store(at, long(input));
        }
        3 => store(4, u64::from(input.word() & 0xfff)),
        4 | 5 => match parts {
            Parts::Stacks(map) => {
                let Some(held) = stacks::pop_free(map, || {}) else { return };
                let Some(header) = map.header(held.index(map) as u32) else { return };
                header.service.store(u32::from(input.byte()), Ordering::SeqCst);
                header.active_mask.store(long(input), Ordering::SeqCst);
                header.control.store(u32::from(input.byte()) | control::READY, Ordering::SeqCst);
                stacks::push_ready(map, held, || {});
            }
            Parts::Mailboxes(boxes) => {
                let index = SPARED + 1 + u32::from(input.byte()) % (PACKETS - 1);
                let (Some(header), Some(device)) = (boxes.header(index), boxes.device_phase(index)) else { return };
                header.service.store(u32::from(input.byte()), Ordering::SeqCst);
                header.active_mask.store(long(input), Ordering::SeqCst);
                device.fetch_xor(1, Ordering::SeqCst);
            }
        },
        6 => {
            let at = usize::from(input.byte()) % 12;
            let word = std::ptr::with_exposed_provenance::<AtomicU64>(doorbell as usize + 8 * at);
            let value = long(input);
            if amd_hostcall::is_own_doorbell(doorbell) {
                // SAFETY: the handle is the address of a page of the library's own, which is never freed, and which
                // consists of atomics.
                unsafe { &*word }.store(value, Ordering::SeqCst);
            }
        }
        _ => assert_eq!(hostcall_amd_ring(doorbell), 0, "a doorbell that was given out is one"),
    }
}
