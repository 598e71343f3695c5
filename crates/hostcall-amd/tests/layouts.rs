//! Buffers that others laid out, and how many packets a buffer has.

mod common;

use std::ffi::c_void;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use amd_hostcall::Error::*;
use amd_hostcall::api::*;
use amd_hostcall::layout::{self, Form, control};
use amd_hostcall::stacks;
use common::{ADD_ONE, Buffer, Consumer, echo_words, submit, until, with_add_one};

/// Bits of an index in the buffers of other runtimes here.
const BITS: u64 = 5;

/// A buffer as another runtime has laid it out: where its words and headers lie, in words from the beginning of the
/// memory.
struct Foreign {
    memory: Box<[AtomicU64]>,
    words: usize,
    headers: usize,
}

impl Foreign {
    /// All packets are free; the memory has as many words of zeros.
    fn new(packets: usize, size: usize, words: usize, headers: usize, payloads: usize) -> Foreign {
        let memory: Box<[AtomicU64]> = (0..size).map(|_| AtomicU64::new(0)).collect();
        memory.as_ptr().expose_provenance();
        let foreign = Foreign { memory, words, headers };
        let address = |word: usize| foreign.memory.as_ptr().addr() as u64 + 8 * word as u64;
        let mut free = 0;
        for index in 0..packets {
            foreign.header(index)[0].store(free, Ordering::SeqCst);
            free = if index == 0 { 1 << BITS } else { index as u64 };
        }
        let own = [address(headers), address(payloads), 0, free, 0, BITS];
        own.into_iter().zip(&foreign.memory[words..]).for_each(|(value, word)| word.store(value, Ordering::SeqCst));
        foreign
    }

    fn pointer(&self) -> *mut c_void {
        self.memory[self.words..].as_ptr().cast_mut().cast()
    }

    fn register(&self, consumer: &Consumer) -> i32 {
        // SAFETY: laid out above; the tests destroy consumers before the memory is freed.
        unsafe { amd_hostcall_register_buffer(consumer.0, self.pointer()) }
    }

    fn header(&self, index: usize) -> &[AtomicU64] {
        &self.memory[self.headers + 3 * index..][..3]
    }

    /// Takes the top of the free stack.
    fn pop(&self) -> usize {
        let free = &self.memory[self.words + 3];
        let index = (free.load(Ordering::SeqCst) & ((1 << BITS) - 1)) as usize;
        free.store(self.header(index)[0].load(Ordering::SeqCst), Ordering::SeqCst);
        index
    }

    /// Makes a packet of one lane ready, on a stack of its own.
    fn push_alone(&self, index: usize) {
        let header = self.header(index);
        header[0].store(0, Ordering::SeqCst);
        header[1].store(1, Ordering::SeqCst);
        header[2].store(u64::from(ADD_ONE) | u64::from(control::READY) << 32, Ordering::SeqCst);
        self.memory[self.words + 4].store(index as u64 | 2 << BITS, Ordering::SeqCst);
    }

    fn is_ready(&self, index: usize) -> bool {
        self.header(index)[2].load(Ordering::SeqCst) >> 32 & u64::from(control::READY) != 0
    }

    fn call(&self, words: [u64; 8]) -> Result<u64, i32> {
        let mut payload = [words];
        // SAFETY: one lane, and the buffer lives.
        match unsafe { hostcall_amd_call(self.pointer(), ADD_ONE, 1, payload.as_mut_ptr()) } {
            0 => Ok(payload[0][0]),
            code => Err(code),
        }
    }
}

#[test]
fn a_buffer_whose_parts_lie_elsewhere_is_served() {
    with_add_one();
    // Headers and payloads before the buffer's words, as another runtime may have them.
    let packets = 5;
    let foreign = Foreign::new(packets, packets * 515 + 6, packets * 515, packets * 512, 0);
    let consumer = Consumer::new(&[]);
    assert_eq!(foreign.register(&consumer), 0);
    thread::scope(|scope| {
        for n in 0..8u64 {
            let foreign = &foreign;
            scope.spawn(move || (0..50).for_each(|i| assert_eq!(foreign.call(echo_words(n * 100 + i)), Ok(n * 100 + i + 1))));
        }
    });
    assert_eq!(amd_hostcall_deregister_buffer(consumer.0, foreign.pointer()), 0);
}

#[test]
fn padding_before_the_payloads_is_no_packet_and_nothing_behind_the_last_payload_is_touched() {
    with_add_one();
    let packets = 5;
    for padding in [0, 2, 3, 8, 60] {
        let payloads = 6 + 3 * packets + padding;
        let end = payloads + 512 * packets;
        // Behind the payloads is room for those of packets that do not exist.
        let foreign = Foreign::new(packets, end + 512 * 32, 0, 6, payloads);
        let consumer = Consumer::new(&[]);
        assert_eq!(foreign.register(&consumer), 0, "{padding}");
        for index in packets..(packets + padding / 3).min(1 << BITS) {
            foreign.push_alone(index);
            assert_eq!(hostcall_amd_ring(foreign.memory[2].load(Ordering::SeqCst)), 0);
            until("a look at the stack", || foreign.memory[4].load(Ordering::SeqCst) == 0);
        }
        assert_eq!(foreign.call(echo_words(3)), Ok(4), "the packets that there are work");
        assert_eq!(consumer.destroy(), 0);
        assert!(foreign.memory[end..].iter().all(|word| word.load(Ordering::SeqCst) == 0), "padding of {padding} words");
    }
}

#[test]
fn a_packet_of_another_runtime_s_buffer_that_is_ready_at_registration_counts() {
    with_add_one();
    let packets = 5;
    let foreign = Foreign::new(packets, 6 + 515 * packets, 0, 6, 6 + 3 * packets);
    let highest = foreign.pop();
    assert_eq!(highest, packets - 1);
    foreign.push_alone(highest);
    let consumer = Consumer::new(&[]);
    assert_eq!(foreign.register(&consumer), 0);
    until("the answer to the packet that was early", || !foreign.is_ready(highest));
    assert_eq!(consumer.destroy(), 0);
    // One that its wave still fills is not known: such a buffer is to be registered before kernels use it.
    let foreign = Foreign::new(packets, 6 + 515 * packets, 0, 6, 6 + 3 * packets);
    let held = foreign.pop();
    let consumer = Consumer::new(&[]);
    assert_eq!(foreign.register(&consumer), 0);
    foreign.push_alone(held);
    assert_eq!(foreign.call(echo_words(3)), Ok(4), "the others work");
    assert!(foreign.is_ready(held));
    assert_eq!(consumer.destroy(), 0);
}

#[test]
fn packets_of_a_buffer_of_this_library_s_count_wherever_they_are_at_registration() {
    with_add_one();
    let buffer = Buffer::new(5);
    let map = buffer.map();
    let held = stacks::pop_free(&map, || {}).unwrap();
    assert_eq!(held.index(&map), 4, "the highest");
    let consumer = Consumer::new(&[&buffer]);
    let header = map.header(4).unwrap();
    header.service.store(ADD_ONE, Ordering::Relaxed);
    header.active_mask.store(1, Ordering::Relaxed);
    header.control.store(control::READY, Ordering::Relaxed);
    stacks::push_ready(&map, held, || {});
    until("the answer", || header.control.load(Ordering::Acquire) & control::READY == 0);
    assert_eq!(consumer.destroy(), 0);
    // All at once.
    let packets: Vec<_> = (0..4).map(|_| submit(&buffer, ADD_ONE)).collect();
    let consumer = Consumer::new(&[&buffer]);
    for (map, index) in packets {
        until("an answer", || map.header(index).unwrap().control.load(Ordering::Acquire) & control::READY == 0);
    }
    assert_eq!(consumer.destroy(), 0);
}

#[test]
fn an_index_behind_the_headers_is_refused_at_registration() {
    let consumer = Consumer::idle();
    for word in [3, 4] {
        let foreign = Foreign::new(5, 6 + 515 * 5, 0, 6, 6 + 3 * 5);
        foreign.memory[word].store(5 | 1 << BITS, Ordering::SeqCst);
        assert_eq!(foreign.register(&consumer), InvalidRequest as i32, "word {word}");
    }
}

/// Memory of a buffer of so many packets that nobody has laid out, full of one value.
fn not_laid_out(packets: u32, value: u64) -> Box<[AtomicU64]> {
    let memory: Box<[AtomicU64]> = (0..layout::buffer_size(packets) / 8).map(|_| AtomicU64::new(value)).collect();
    memory.as_ptr().expose_provenance();
    memory
}

fn call(at: *mut c_void, n: u64) -> Result<u64, i32> {
    let mut payload = [[n; 8]];
    // SAFETY: one lane; the caller's buffer lives.
    match unsafe { hostcall_amd_call(at, ADD_ONE, 1, payload.as_mut_ptr()) } {
        0 => Ok(payload[0][0]),
        code => Err(code),
    }
}

#[test]
fn a_buffer_of_zeros_is_served_once_it_is_laid_out() {
    with_add_one();
    for form in [None, Some(Form::Stacks), Some(Form::MaskedStacks)] {
        let (memory, other) = (not_laid_out(8, 0), Consumer::idle());
        let at: *mut c_void = memory.as_ptr().cast_mut().cast();
        let consumer = Consumer::new(&[]);
        // SAFETY: it lives longer than the consumers.
        unsafe {
            let register = |consumer: &Consumer| match form {
                None => amd_hostcall_register_buffer(consumer.0, at),
                Some(form) => hostcall_amd_register_form(consumer.0, at, form as u32),
            };
            assert_eq!([register(&consumer), register(&consumer), register(&other)], [0, 0, InvalidRequest as i32]);
            assert_eq!(call(at, 1), Err(InvalidRequest as i32), "nobody serves it yet");
            let laid_out = form.unwrap_or(Form::MaskedStacks);
            if form.is_some() {
                let another = if laid_out == Form::Stacks { Form::MaskedStacks } else { Form::Stacks };
                assert_eq!(hostcall_amd_initialize_form(at, 8 * memory.len(), 8, another as u32), InvalidRequest as i32);
            }
            assert_eq!(hostcall_amd_initialize_form(at, 8 * memory.len(), 8, laid_out as u32), 0);
        }
        (0..50).for_each(|n| assert_eq!(call(at, n), Ok(n + 1)));
        assert_eq!(amd_hostcall_deregister_buffer(consumer.0, at), 0);
        assert_eq!(consumer.destroy(), 0);
    }
}

#[test]
fn a_buffer_of_zeros_is_served_when_another_runtime_has_laid_it_out() {
    with_add_one();
    let memory = not_laid_out(8, 0);
    let at: *mut c_void = memory.as_ptr().cast_mut().cast();
    let consumer = Consumer::new(&[]);
    // SAFETY: it lives longer than the consumer.
    assert_eq!(unsafe { amd_hostcall_register_buffer(consumer.0, at) }, 0);
    let doorbell = memory[2].load(Ordering::SeqCst);
    assert_ne!(doorbell, 0);
    // Word by word, and the doorbell stays what it was.
    for index in 0..8 {
        memory[6 + 3 * index].store(if index == 1 { 1 << 4 } else { (index as u64).saturating_sub(1) }, Ordering::SeqCst);
    }
    let address = |word: usize| memory.as_ptr().addr() as u64 + 8 * word as u64;
    for (word, value) in [(0, address(6)), (1, address(6 + 3 * 8)), (5, 4), (4, 0), (3, 7)] {
        memory[word].store(value, Ordering::SeqCst);
    }
    until("a look at the buffer", || call(at, 1) == Ok(2));
    (0..50).for_each(|n| assert_eq!(call(at, n), Ok(n + 1)));
    assert_eq!(consumer.destroy(), 0);
}

#[test]
fn a_buffer_that_is_deregistered_before_it_is_laid_out_is_nobody_s() {
    with_add_one();
    let memory = not_laid_out(4, 0);
    let at: *mut c_void = memory.as_ptr().cast_mut().cast();
    let (consumer, other) = (Consumer::new(&[]), Consumer::new(&[]));
    // SAFETY: it lives longer than the consumers.
    unsafe {
        assert_eq!(amd_hostcall_register_buffer(consumer.0, at), 0);
        assert_eq!(amd_hostcall_deregister_buffer(other.0, at), InvalidRequest as i32);
        assert_eq!(amd_hostcall_deregister_buffer(consumer.0, at), 0);
        assert_eq!(amd_hostcall_deregister_buffer(consumer.0, at), InvalidRequest as i32);
        assert_eq!(amd_hostcall_initialize_buffer(at, 4), 0);
        assert_eq!(call(at, 1), Err(InvalidRequest as i32));
        assert_eq!(amd_hostcall_register_buffer(other.0, at), 0);
    }
    assert_eq!(call(at, 1), Ok(2));
    // The consumer that awaits one may be destroyed.
    let second = not_laid_out(4, 0);
    let at: *mut c_void = second.as_ptr().cast_mut().cast();
    // SAFETY: as above.
    unsafe {
        assert_eq!(amd_hostcall_register_buffer(consumer.0, at), 0);
        assert_eq!(consumer.destroy(), 0);
        assert_eq!(amd_hostcall_initialize_buffer(at, 4), 0);
        assert_eq!(amd_hostcall_register_buffer(other.0, at), 0);
    }
    assert_eq!(call(at, 1), Ok(2));
    assert_eq!(other.destroy(), 0);
}
