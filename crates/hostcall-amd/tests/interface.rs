//! What the functions of the interface do and refuse, and what a handler may do, from a Rust program.

mod common;

use std::ffi::{CStr, c_int, c_void};
use std::ptr::null_mut;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use amd_hostcall::Error::*;
use amd_hostcall::api::*;
use amd_hostcall::stacks::{self, Held};
use amd_hostcall::{Error, layout};
use common::{ADD_ONE, Buffer, Consumer, add_one, echo_words, service, submit, until, with_add_one};

#[test]
fn every_error_has_amd_s_name_and_other_numbers_are_unknown() {
    let name = |code: c_int| {
        // SAFETY: the library's own text.
        unsafe { CStr::from_ptr(amd_hostcall_error_string(code)) }.to_str().unwrap().to_owned()
    };
    let names: Vec<_> = (-1..10).map(name).collect();
    let expected = [
        "AMD_HOSTCALL_ERROR_UNKNOWN",
        "AMD_HOSTCALL_SUCCESS",
        "AMD_HOSTCALL_ERROR_CONSUMER_ACTIVE",
        "AMD_HOSTCALL_ERROR_CONSUMER_INACTIVE",
        "AMD_HOSTCALL_ERROR_CONSUMER_LAUNCH_FAILED",
        "AMD_HOSTCALL_ERROR_INVALID_REQUEST",
        "AMD_HOSTCALL_ERROR_SERVICE_UNKNOWN",
        "AMD_HOSTCALL_ERROR_INCORRECT_ALIGNMENT",
        "AMD_HOSTCALL_ERROR_NULLPTR",
        "AMD_HOSTCALL_INTERNAL_ERROR",
        "AMD_HOSTCALL_ERROR_UNKNOWN",
    ];
    assert_eq!(names, expected);
    assert_eq!(name(c_int::MIN), expected[0]);
}

#[test]
fn every_pointer_is_checked() {
    with_add_one();
    let odd = 12345 as *mut c_void;
    let buffer = Buffer::new(2);
    let consumer = Consumer::idle();
    let stranger = 0x7777_7770 as *mut ConsumerHandle;
    let null = null_mut();
    // SAFETY: null, misaligned and unknown pointers are what these functions check; the others are valid.
    let results = unsafe {
        [
            (amd_hostcall_create_consumer(null_mut()), Nullptr),
            (amd_hostcall_create_consumer(odd.cast()), IncorrectAlignment),
            (amd_hostcall_initialize_buffer(null, 3), Nullptr),
            (amd_hostcall_initialize_buffer(odd, u32::MAX), IncorrectAlignment),
            (amd_hostcall_initialize_buffer(buffer.pointer(), 0), InvalidRequest),
            (hostcall_amd_initialize_buffer(null, 10000, 2), Nullptr),
            (hostcall_amd_initialize_buffer(odd, 10000, 2), IncorrectAlignment),
            (hostcall_amd_initialize_buffer(buffer.pointer(), layout::buffer_size(2) - 1, 2), InvalidRequest),
            (hostcall_amd_initialize_buffer(buffer.pointer(), 0, 0), InvalidRequest),
            (hostcall_amd_initialize_buffer(buffer.pointer(), layout::buffer_size(2), 2), Success),
            (amd_hostcall_register_buffer(null_mut(), buffer.pointer()), Nullptr),
            (amd_hostcall_register_buffer(stranger, buffer.pointer()), InvalidRequest),
            (amd_hostcall_register_buffer(consumer.0, null), Nullptr),
            (amd_hostcall_register_buffer(consumer.0, odd), IncorrectAlignment),
            (amd_hostcall_deregister_buffer(null_mut(), buffer.pointer()), Nullptr),
            (amd_hostcall_deregister_buffer(stranger, buffer.pointer()), InvalidRequest),
            (amd_hostcall_deregister_buffer(consumer.0, null), Nullptr),
            (amd_hostcall_deregister_buffer(consumer.0, buffer.pointer()), InvalidRequest),
            (amd_hostcall_launch_consumer(null_mut()), Nullptr),
            (amd_hostcall_launch_consumer(stranger), InvalidRequest),
            (amd_hostcall_destroy_consumer(null_mut()), Nullptr),
            (amd_hostcall_destroy_consumer(stranger), InvalidRequest),
            (amd_hostcall_register_service(900, None, null), Nullptr),
            (amd_hostcall_register_service(1, Some(add_one), null), InvalidRequest),
            (amd_hostcall_on_error(None, null), Nullptr),
            (hostcall_amd_allow_call(None), Nullptr),
            (hostcall_amd_forbid_call(None), Nullptr),
            (hostcall_amd_call(null, ADD_ONE, 1, [[0; 8]].as_mut_ptr()), Nullptr),
            (hostcall_amd_call(buffer.pointer(), ADD_ONE, 1, null_mut()), Nullptr),
            (hostcall_amd_call(buffer.pointer(), ADD_ONE, 1, odd.cast()), IncorrectAlignment),
            (hostcall_amd_call(buffer.pointer(), ADD_ONE, 1, [[0; 8]].as_mut_ptr()), InvalidRequest),
            (hostcall_amd_ring(0), Nullptr),
            (hostcall_amd_ring(0xdead_beef), InvalidRequest),
        ]
    };
    for (at, (found, expected)) in results.into_iter().enumerate() {
        assert_eq!(found, expected as c_int, "check {at}");
    }
    assert_eq!(amd_hostcall_destroy_consumer(consumer.0), 0);
    assert_eq!(amd_hostcall_destroy_consumer(consumer.0), InvalidRequest as c_int, "it is gone");
    assert_eq!(amd_hostcall_launch_consumer(consumer.0), InvalidRequest as c_int);
}

#[test]
fn a_buffer_that_holds_what_neither_an_initialised_one_nor_a_blank_one_does_is_not_registered() {
    let consumer = Consumer::idle();
    let fresh = |change: &dyn Fn(&[AtomicU64])| {
        let buffer = Buffer::new(3);
        change(buffer.words());
        consumer.register(&buffer)
    };
    assert_eq!(fresh(&|words| words[1..].iter().for_each(|word| word.store(0, Ordering::SeqCst))), InvalidRequest as c_int, "one word");
    assert_eq!(fresh(&|words| words.iter().for_each(|word| word.store(u64::MAX, Ordering::SeqCst))), InvalidRequest as c_int);
    assert_eq!(fresh(&|words| words[0].store(0, Ordering::SeqCst)), InvalidRequest as c_int, "no headers");
    assert_eq!(fresh(&|words| words[1].store(3, Ordering::SeqCst)), InvalidRequest as c_int, "misaligned payloads");
    assert_eq!(fresh(&|words| words[5].store(1, Ordering::SeqCst)), InvalidRequest as c_int, "an index too small for the packets");
    assert_eq!(fresh(&|words| words[5].store(33, Ordering::SeqCst)), InvalidRequest as c_int, "an index of more than 32 bits");
    assert_eq!(fresh(&|words| words[1].store(words[0].load(Ordering::SeqCst), Ordering::SeqCst)), InvalidRequest as c_int, "no packets");
}

#[test]
fn a_handler_is_called_for_each_active_lane_with_its_words_and_for_no_other() {
    static SEEN: Mutex<Vec<(u32, u64)>> = Mutex::new(Vec::new());
    unsafe extern "C-unwind" fn note(state: *mut c_void, service: u32, payload: *mut u64) -> c_int {
        assert_eq!(state.addr(), 0x55);
        // SAFETY: eight words.
        let words = unsafe { std::slice::from_raw_parts_mut(payload, 8) };
        SEEN.lock().unwrap().push((service, words[0]));
        words.iter_mut().for_each(|word| *word += 1000);
        0
    }
    // SAFETY: fit for any thread.
    assert_eq!(unsafe { amd_hostcall_register_service(101, Some(note), 0x55 as *mut c_void) }, 0);
    let buffer = Buffer::new(1);
    let consumer = Consumer::new(&[&buffer]);
    for mask in [1u64, 0x8421, u64::MAX, 1 << 63, 0] {
        let mut payload: [[u64; 8]; 64] = std::array::from_fn(|lane| [lane as u64; 8]);
        // SAFETY: 64 lanes.
        assert_eq!(unsafe { hostcall_amd_call(buffer.pointer(), 101, mask, payload.as_mut_ptr()) }, 0);
        let active: Vec<u64> = (0..64).filter(|lane| mask >> lane & 1 == 1).collect();
        let seen = std::mem::take(&mut *SEEN.lock().unwrap());
        assert_eq!(seen, active.iter().map(|lane| (101, *lane)).collect::<Vec<_>>(), "{mask:#x}");
        for (lane, words) in (0u64..).zip(&payload) {
            let added = if active.contains(&lane) { 1000 } else { 0 };
            assert_eq!(*words, [lane + added; 8]);
        }
    }
    drop(consumer);
    assert_eq!(buffer.free(), 1);
}

#[test]
fn a_service_is_registered_once_and_a_buffer_with_one_consumer() {
    with_add_one();
    // SAFETY: fit for any thread.
    assert_eq!(unsafe { amd_hostcall_register_service(ADD_ONE, Some(add_one), null_mut()) }, InvalidRequest as c_int);
    let buffer = Buffer::new(2);
    let (one, other) = (Consumer::new(&[]), Consumer::new(&[]));
    assert_eq!(one.register(&buffer), 0);
    assert_eq!(one.register(&buffer), 0, "again with the same consumer");
    assert_eq!(other.register(&buffer), InvalidRequest as c_int);
    assert_eq!(other.deregister(&buffer), InvalidRequest as c_int);
    // SAFETY: refused, because it is in use.
    assert_eq!(unsafe { amd_hostcall_initialize_buffer(buffer.pointer(), 2) }, InvalidRequest as c_int);
    assert_eq!(one.deregister(&buffer), 0);
    assert_eq!(one.deregister(&buffer), InvalidRequest as c_int);
    assert_eq!(other.register(&buffer), 0);
    assert_eq!(buffer.call(ADD_ONE, echo_words(6)), Ok([7, 12]));
    assert_eq!(amd_hostcall_launch_consumer(one.0), ConsumerActive as c_int);
}

#[test]
fn a_function_is_called_only_if_it_was_allowed() {
    unsafe extern "C-unwind" fn add_pairs(output: *mut u64, input: *const u64) {
        // SAFETY: two words out, seven in.
        unsafe {
            output.write(*input + *input.add(1));
            output.add(1).write(*input.add(2) + *input.add(6));
        }
    }
    let address = add_pairs as *const () as u64;
    let buffer = Buffer::new(1);
    let _consumer = Consumer::new(&[&buffer]);
    let words = [address, 91, 5, 23, 0, 0, 0, 17];
    assert_eq!(buffer.call(1, words), Err(InvalidRequest as c_int));
    // SAFETY: such a function.
    assert_eq!(unsafe { hostcall_amd_allow_call(Some(add_pairs)) }, 0);
    assert_eq!(buffer.call(1, words), Ok([96, 40]));
    assert_eq!(buffer.call(1, [address + 1, 0, 0, 0, 0, 0, 0, 0]), Err(InvalidRequest as c_int));
    assert_eq!(buffer.call(1, [0; 8]), Err(InvalidRequest as c_int));
    assert_eq!(hostcall_amd_forbid_call(Some(add_pairs)), 0);
    assert_eq!(hostcall_amd_forbid_call(Some(add_pairs)), InvalidRequest as c_int);
    assert_eq!(buffer.call(1, words), Err(InvalidRequest as c_int));
}

#[test]
fn a_handler_that_panics_refuses_its_call_and_the_consumer_goes_on() {
    unsafe extern "C-unwind" fn panics(_: *mut c_void, _: u32, payload: *mut u64) -> c_int {
        // SAFETY: eight words.
        assert_ne!(unsafe { *payload }, 13, "a handler's bad day");
        0
    }
    service(102, panics);
    let buffer = Buffer::new(2);
    let _consumer = Consumer::new(&[&buffer]);
    for n in 0..40u64 {
        let expected = if n % 20 == 13 { Err(InvalidRequest as c_int) } else { Ok([n % 20, 7]) };
        assert_eq!(buffer.call(102, [n % 20, 7, 0, 0, 0, 0, 0, 0]), expected);
    }
}

#[test]
fn messages_of_random_sizes_come_back_as_they_were_sent() {
    // The message is in memory that both sides see; a packet carries its address and length, and gets a checksum and
    // another address.
    unsafe extern "C-unwind" fn echo(_: *mut c_void, _: u32, payload: *mut u64) -> c_int {
        // SAFETY: eight words, of which the sender says where its bytes are and where they go.
        unsafe {
            let words = std::slice::from_raw_parts_mut(payload, 8);
            let (from, to) = (words[0] as usize, words[1] as usize);
            let from = std::slice::from_raw_parts(std::ptr::with_exposed_provenance::<u8>(from), words[2] as usize);
            std::ptr::copy_nonoverlapping(from.as_ptr(), std::ptr::with_exposed_provenance_mut(to), from.len());
            words[0] = from.iter().fold(7, |sum: u64, byte| sum.wrapping_mul(31).wrapping_add(u64::from(*byte)));
        }
        0
    }
    service(103, echo);
    let buffer = Buffer::new(8);
    let _consumer = Consumer::new(&[&buffer]);
    thread::scope(|scope| {
        for id in 1..9u64 {
            let buffer = &buffer;
            scope.spawn(move || {
                let mut random = id.wrapping_mul(0x9e37_79b9_7f4a_7c15);
                for _ in 0..200 {
                    random ^= random << 13;
                    random ^= random >> 7;
                    random ^= random << 17;
                    let message: Vec<u8> = (0..random % 5000).map(|i| (random >> (i % 56)) as u8).collect();
                    let mut back = vec![0u8; message.len()];
                    let from = message.as_ptr().expose_provenance() as u64;
                    let to = back.as_mut_ptr().expose_provenance() as u64;
                    let sum = buffer.call(103, [from, to, message.len() as u64, 0, 0, 0, 0, 0]).unwrap()[0];
                    assert_eq!(back, message);
                    assert_eq!(sum, message.iter().fold(7, |sum: u64, byte| sum.wrapping_mul(31).wrapping_add(u64::from(*byte))));
                }
            });
        }
    });
}

#[test]
fn an_empty_free_stack_gives_no_packet_and_stays_whole() {
    let buffer = Buffer::new(3);
    let map = buffer.map();
    let held: Vec<Held> = std::iter::from_fn(|| stacks::pop_free(&map, || {})).collect();
    assert_eq!(held.len(), 3);
    assert_eq!(stacks::pop_free(&map, || {}), None);
    held.into_iter().for_each(|held| stacks::give_back(&map, held, || {}));
    assert_eq!(buffer.free(), 3);
}

#[test]
fn packets_that_were_ready_before_the_consumer_began_or_that_rang_no_bell_are_answered() {
    with_add_one();
    let buffer = Buffer::new(4);
    let (map, first) = submit(&buffer, ADD_ONE);
    let consumer = Consumer::new(&[&buffer]);
    let ready = |index| map.header(index).unwrap().control.load(Ordering::Acquire) & layout::control::READY != 0;
    until("the answer to the packet that was early", || !ready(first));
    let (_, second) = submit(&buffer, ADD_ONE);
    until("the answer to the silent packet", || !ready(second));
    drop(consumer);
}

#[test]
fn a_client_that_only_adds_to_the_doorbell_s_value_is_served() {
    if std::env::var_os("HOSTCALL_HSA_LIBRARY").is_some() {
        println!("skipped: doorbells are signals of the library in HOSTCALL_HSA_LIBRARY, whose memory is its own");
        return;
    }
    with_add_one();
    let buffer = Buffer::new(4);
    let _consumer = Consumer::new(&[&buffer]);
    for _ in 0..50 {
        let (map, index) = submit(&buffer, ADD_ONE);
        let value = std::ptr::with_exposed_provenance::<AtomicU64>(buffer.map().words().doorbell.load(Ordering::SeqCst) as usize + 8);
        // SAFETY: the handle is that of a doorbell of the library's, which is never freed, and whose second word is its
        // value.
        unsafe { &*value }.fetch_add(1, Ordering::SeqCst);
        let header = map.header(index).unwrap();
        until("the answer", || header.control.load(Ordering::Acquire) & layout::control::READY == 0);
        let bits = layout::index_size(4);
        stacks::give_back(&map, Held(u64::from(index) | 1 << bits), || {});
    }
}

#[test]
fn a_handler_may_call_back_into_the_library() {
    static CONSUMER: AtomicU64 = AtomicU64::new(0);
    static BUFFER: AtomicU64 = AtomicU64::new(0);
    unsafe extern "C-unwind" fn nested(_: *mut c_void, _: u32, payload: *mut u64) -> c_int {
        let consumer = std::ptr::without_provenance_mut::<ConsumerHandle>(CONSUMER.load(Ordering::SeqCst) as usize);
        let buffer = std::ptr::with_exposed_provenance_mut::<c_void>(BUFFER.load(Ordering::SeqCst) as usize);
        let mut inner = [[20u64; 8]];
        // SAFETY: the buffer lives; one lane; eight words.
        unsafe {
            assert_eq!(hostcall_amd_call(buffer, ADD_ONE, 1, inner.as_mut_ptr()), 0);
            *payload = inner[0][0];
            let more = Buffer::new(2);
            assert_eq!(amd_hostcall_register_buffer(consumer, more.pointer()), 0);
            assert_eq!(more.call(ADD_ONE, [1; 8]).unwrap()[0], 2);
            assert_eq!(amd_hostcall_deregister_buffer(consumer, more.pointer()), 0);
            *payload.add(1) = amd_hostcall_destroy_consumer(consumer) as u64;
        }
        0
    }
    service(106, nested);
    with_add_one();
    let buffer = Buffer::new(4);
    let consumer = Consumer::new(&[&buffer]);
    CONSUMER.store(consumer.0.addr() as u64, Ordering::SeqCst);
    BUFFER.store(buffer.pointer().expose_provenance() as u64, Ordering::SeqCst);
    assert_eq!(buffer.call(106, [0; 8]), Ok([21, Error::ConsumerActive as u64]));
}

#[test]
fn a_handler_may_deregister_the_buffer_of_its_own_packet_which_is_then_refused() {
    static CONSUMER: AtomicU64 = AtomicU64::new(0);
    unsafe extern "C-unwind" fn ends(_: *mut c_void, _: u32, payload: *mut u64) -> c_int {
        let consumer = std::ptr::without_provenance_mut::<ConsumerHandle>(CONSUMER.load(Ordering::SeqCst) as usize);
        // SAFETY: eight words; the caller sent its buffer's address.
        let buffer = std::ptr::with_exposed_provenance_mut::<c_void>(unsafe { *payload } as usize);
        assert_eq!(amd_hostcall_deregister_buffer(consumer, buffer), 0);
        0
    }
    service(107, ends);
    let buffer = Buffer::new(4);
    let consumer = Consumer::new(&[&buffer]);
    CONSUMER.store(consumer.0.addr() as u64, Ordering::SeqCst);
    let address = buffer.pointer().expose_provenance() as u64;
    assert_eq!(buffer.call(107, [address; 8]), Err(InvalidRequest as c_int));
}
