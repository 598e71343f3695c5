//! The forms in which ROCm's own device libraries fill packets: masked stacks, and mailboxes.

mod common;

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use amd_hostcall::Error::*;
use amd_hostcall::api::*;
use amd_hostcall::layout::{Form, size_in};
use amd_hostcall::memory::Map;
use amd_hostcall::stacks::{self, Held, Packets};
use common::formed::{Formed, call, ring};
use common::{ADD_ONE, Consumer, service, until, with_add_one};

#[test]
fn a_form_that_does_not_exist_or_a_buffer_too_small_for_it_is_an_error() {
    let buffer = Formed::new(4, Form::Mailboxes);
    let consumer = Consumer::idle();
    assert_eq!(hostcall_amd_form_size(4, 3), 0);
    assert_eq!(hostcall_amd_form_size(4, 1), amd_hostcall_get_buffer_size(4));
    // SAFETY: refused, or the buffer's own size.
    unsafe {
        assert_eq!(hostcall_amd_initialize_form(buffer.pointer(), 1 << 20, 4, 3), InvalidRequest as c_int);
        assert_eq!(hostcall_amd_initialize_form(buffer.pointer(), size_in(Form::Mailboxes, 4) - 1, 4, 2), InvalidRequest as c_int);
        assert_eq!(hostcall_amd_initialize_form(buffer.pointer(), size_in(Form::Mailboxes, 4), 0, 2), InvalidRequest as c_int);
        assert_eq!(hostcall_amd_initialize_form(std::ptr::null_mut(), 1 << 20, 4, 2), Nullptr as c_int);
        assert_eq!(hostcall_amd_register_form(consumer.0, buffer.pointer(), 3), InvalidRequest as c_int);
        for form in [0, 1, 2] {
            let odd = buffer.pointer().wrapping_byte_add(4);
            assert_eq!(hostcall_amd_register_form(std::ptr::null_mut(), buffer.pointer(), form), Nullptr as c_int);
            assert_eq!(hostcall_amd_register_form(consumer.0, std::ptr::null_mut(), form), Nullptr as c_int);
            assert_eq!(hostcall_amd_register_form(consumer.0, odd, form), IncorrectAlignment as c_int);
            assert_eq!(hostcall_amd_initialize_form(odd, 1 << 20, 4, form), IncorrectAlignment as c_int);
        }
    }
    for (word, value) in [(0, 0), (1, 3), (3, 0), (4, 4), (6, 0), (6, u64::MAX)] {
        let buffer = Formed::new(4, Form::Mailboxes);
        buffer.words[word].store(value, Ordering::SeqCst);
        assert_eq!(buffer.register(&consumer), InvalidRequest as c_int, "{value} in word {word}");
    }
    for (word, value) in [(5, 0), (5, 5), (5, 1), (5, 1 << 40 | 3), (0, 0), (1, 3)] {
        let buffer = Formed::new(4, Form::MaskedStacks);
        buffer.words[word].store(value, Ordering::SeqCst);
        assert_eq!(buffer.register(&consumer), InvalidRequest as c_int, "{value:#x} in word {word}");
    }
}

#[test]
fn packets_on_masked_stacks_are_served_and_tags_lie_above_the_mask() {
    with_add_one();
    for packets in [1, 2, 3, 4, 64, 65] {
        let buffer = Formed::new(packets, Form::MaskedStacks);
        let consumer = Consumer::new(&[]);
        assert_eq!(buffer.register(&consumer), 0);
        let map = buffer.stacks();
        let mask = buffer.words[5].load(Ordering::SeqCst);
        assert_eq!(mask, u64::from(packets.max(2).next_power_of_two()) - 1, "as the device libraries of ROCm have it");
        // A wave by the mask alone, more often than there are packets.
        for n in 0..u64::from(3 * packets) {
            let Held(pointer) = stacks::pop_free(&map, || {}).unwrap();
            let index = (pointer & mask) as u32;
            let (header, payload) = (map.header(index).unwrap(), map.payload(index).unwrap());
            payload.lanes[5][0].store(n, Ordering::Relaxed);
            header.service.store(ADD_ONE, Ordering::Relaxed);
            header.active_mask.store(1 << 5, Ordering::Relaxed);
            header.control.store(1, Ordering::Relaxed);
            stacks::push_ready(&map, Held(pointer), || {});
            ring(&map.words().doorbell);
            while header.control.load(Ordering::Acquire) & 1 != 0 {
                thread::yield_now();
            }
            assert_eq!(payload.lanes[5][0].load(Ordering::Relaxed), n + 1);
            assert_eq!(map.index_size(), mask.count_ones());
            stacks::give_back(&map, Held(pointer), || {});
        }
        assert_eq!(consumer.destroy(), 0);
    }
}

/// A wave's call by hand, as one whose device library knows the form alone.
fn wave(map: &Map, n: u64) -> u64 {
    let held = stacks::pop_free(map, || {}).expect("a packet is free");
    let index = held.index(map) as u32;
    let (header, payload) = (map.header(index).unwrap(), map.payload(index).unwrap());
    payload.lanes[5][0].store(n, Ordering::Relaxed);
    header.service.store(ADD_ONE, Ordering::Relaxed);
    header.active_mask.store(1 << 5, Ordering::Relaxed);
    header.control.store(1, Ordering::Relaxed);
    stacks::push_ready(map, held, || {});
    ring(&map.words().doorbell);
    until("the answer", || header.control.load(Ordering::Acquire) == 0);
    let answer = payload.lanes[5][0].load(Ordering::Relaxed);
    stacks::give_back(map, held, || {});
    answer
}

#[test]
fn a_buffer_that_is_registered_without_a_form_is_served_in_that_in_which_it_was_laid_out() {
    with_add_one();
    for form in [Form::Stacks, Form::MaskedStacks] {
        // Of 4 to 32 packets the mask is a number of bits, too.
        for packets in [1, 2, 4, 7, 8, 16, 31, 32, 33] {
            let buffer = Formed::new(packets, form);
            let consumer = Consumer::new(&[]);
            // SAFETY: initialised, and it lives longer than the consumer.
            assert_eq!(unsafe { amd_hostcall_register_buffer(consumer.0, buffer.pointer()) }, 0);
            let map = buffer.stacks();
            (0..u64::from(3 * packets)).for_each(|n| assert_eq!(wave(&map, n), n + 1, "{packets} packets, {form:?}"));
            assert_eq!(consumer.destroy(), 0);
        }
    }
    let buffer = Formed::new(4, Form::Mailboxes);
    let consumer = Consumer::new(&[]);
    // SAFETY: as above.
    assert_eq!(unsafe { amd_hostcall_register_buffer(consumer.0, buffer.pointer()) }, 0);
    assert_eq!(call(&buffer.mailboxes(), ADD_ONE, 1, true, |_| 5), [6]);
    assert_eq!(consumer.destroy(), 0);
}

#[test]
fn a_buffer_is_not_served_in_another_form_than_that_in_which_it_was_laid_out() {
    let consumer = Consumer::idle();
    for form in [Form::Stacks, Form::MaskedStacks, Form::Mailboxes] {
        for packets in [1, 2, 3, 4, 8, 32, 40] {
            let buffer = Formed::new(packets, form);
            for other in [Form::Stacks, Form::MaskedStacks, Form::Mailboxes].into_iter().filter(|other| *other != form) {
                // SAFETY: refused.
                let code = unsafe { hostcall_amd_register_form(consumer.0, buffer.pointer(), other as u32) };
                assert_eq!(code, InvalidRequest as c_int, "{packets} packets, {form:?} as {other:?}");
            }
        }
    }
}

#[test]
fn a_buffer_that_another_has_laid_out_where_one_of_ours_was_has_its_own_form() {
    with_add_one();
    let buffer = Formed::new(16, Form::Stacks);
    // As ROCm's runtime lays masked stacks out, at the same place and with as many packets.
    // SAFETY: as many bytes as before.
    unsafe { Map::initialize(buffer.pointer().cast(), 16, Form::MaskedStacks) }.unwrap();
    let consumer = Consumer::new(&[]);
    // SAFETY: laid out, and it lives longer than the consumer.
    assert_eq!(unsafe { hostcall_amd_register_form(consumer.0, buffer.pointer(), Form::MaskedStacks as u32) }, 0);
    // SAFETY: as above.
    let map = unsafe { Map::find(buffer.pointer().cast(), Form::MaskedStacks, None) }.unwrap();
    (0..40).for_each(|n| assert_eq!(wave(&map, n), n + 1));
    assert_eq!(consumer.destroy(), 0);
}

#[test]
fn a_wave_whose_ring_was_left_out_for_one_of_another_queue_is_answered() {
    with_add_one();
    let [rung, silent] = [(); 2].map(|()| Formed::new(2, Form::Mailboxes));
    let consumers = [(); 2].map(|()| Consumer::new(&[]));
    assert_eq!([rung.register(&consumers[0]), silent.register(&consumers[1])], [0, 0]);
    let (rung, silent) = (rung.mailboxes(), silent.mailboxes());
    for n in 0..50 {
        assert_eq!(call(&rung, ADD_ONE, 1, true, |_| n), [n + 1]);
        assert_eq!(call(&silent, ADD_ONE, 1, false, |_| n), [n + 1]);
    }
    consumers.into_iter().for_each(|consumer| assert_eq!(consumer.destroy(), 0));
}

#[test]
fn waves_that_share_mailboxes_get_their_own_answers() {
    with_add_one();
    let buffer = Formed::new(7, Form::Mailboxes);
    let consumer = Consumer::new(&[]);
    assert_eq!(buffer.register(&consumer), 0);
    let boxes = buffer.mailboxes();
    thread::scope(|scope| {
        for id in 0..16u64 {
            let boxes = &boxes;
            scope.spawn(move || {
                for i in 0..200u64 {
                    let mask = id.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(i as u32) | 1 << (i % 64);
                    let answers = call(boxes, ADD_ONE, mask, true, |lane| id << 32 | i << 8 | lane as u64);
                    let lanes = (0..64u64).filter(|lane| mask >> lane & 1 == 1);
                    assert!(answers.into_iter().eq(lanes.map(|lane| (id << 32 | i << 8 | lane) + 1)));
                }
            });
        }
    });
    assert_eq!(consumer.destroy(), 0);
}

#[test]
fn a_wave_whose_ring_was_left_out_is_answered_all_the_same() {
    with_add_one();
    let buffer = Formed::new(2, Form::Mailboxes);
    let consumer = Consumer::new(&[]);
    assert_eq!(buffer.register(&consumer), 0);
    let boxes = buffer.mailboxes();
    // The first after a silence, and those right after another.
    for n in 0..20 {
        assert_eq!(call(&boxes, ADD_ONE, 1, n == 3, |_| n), [n + 1]);
    }
    assert_eq!(consumer.destroy(), 0);
}

#[test]
fn mailboxes_whose_handler_blocks_hold_up_no_other_and_are_answered_once() {
    static BLOCKED: AtomicU64 = AtomicU64::new(0);
    static RUNS: AtomicU64 = AtomicU64::new(0);
    unsafe extern "C-unwind" fn blocks(_: *mut c_void, _: u32, payload: *mut u64) -> c_int {
        RUNS.fetch_add(1, Ordering::SeqCst);
        BLOCKED.store(1, Ordering::SeqCst);
        until("the other wave's answers", || BLOCKED.load(Ordering::SeqCst) == 2);
        // SAFETY: eight words.
        unsafe { *payload = 7 };
        0
    }
    with_add_one();
    service(500, blocks);
    let buffer = Formed::new(4, Form::Mailboxes);
    let consumer = Consumer::new(&[]);
    assert_eq!(buffer.register(&consumer), 0);
    let boxes = buffer.mailboxes();
    thread::scope(|scope| {
        let boxes = &boxes;
        let slow = scope.spawn(move || call(boxes, 500, 1, true, |_| 0));
        until("the handler that blocks", || BLOCKED.load(Ordering::SeqCst) == 1);
        for n in 0..100 {
            assert_eq!(call(boxes, ADD_ONE, 1, true, |_| n), [n + 1]);
        }
        BLOCKED.store(2, Ordering::SeqCst);
        assert_eq!(slow.join().unwrap(), [7]);
    });
    assert_eq!(RUNS.load(Ordering::SeqCst), 1, "the packet waits all that time, and is taken once");
    assert_eq!(consumer.destroy(), 0);
}

#[test]
fn mailboxes_that_are_deregistered_while_waves_wait_let_them_go() {
    let buffer = Formed::new(4, Form::Mailboxes);
    // Nobody serves: the consumer was never launched.
    let consumer = Consumer::idle();
    assert_eq!(buffer.register(&consumer), 0);
    let boxes = buffer.mailboxes();
    thread::scope(|scope| {
        let waves = [0u64, 1, 2].map(|n| {
            let boxes = &boxes;
            scope.spawn(move || call(boxes, ADD_ONE, 1, true, |_| n))
        });
        until("three packets that wait", || (0..4).filter(|i| boxes.device_phase(*i).unwrap().load(Ordering::SeqCst) == 1).count() == 3);
        assert_eq!(amd_hostcall_deregister_buffer(consumer.0, buffer.pointer()), 0);
        for (n, wave) in waves.into_iter().enumerate() {
            assert_eq!(wave.join().unwrap(), [n as u64], "its words are as it sent them");
        }
    });
    // Registered again, it goes on where it was.
    let consumer = Consumer::new(&[]);
    with_add_one();
    assert_eq!(buffer.register(&consumer), 0);
    assert_eq!(call(&boxes, ADD_ONE, 1, true, |_| 5), [6]);
    assert_eq!(consumer.destroy(), 0);
}

#[test]
fn threads_of_the_host_cannot_call_through_mailboxes() {
    let buffer = Formed::new(4, Form::Mailboxes);
    let consumer = Consumer::new(&[]);
    assert_eq!(buffer.register(&consumer), 0);
    let mut payload = [[1; 8]];
    // SAFETY: one lane; the buffer lives.
    assert_eq!(unsafe { hostcall_amd_call(buffer.pointer(), ADD_ONE, 1, payload.as_mut_ptr()) }, InvalidRequest as c_int);
    assert_eq!(consumer.destroy(), 0);
}
