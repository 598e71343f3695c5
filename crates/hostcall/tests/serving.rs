//! What a kernel sees of a server, on a mock device.

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use common::serve;
use hostcall::test_utils::fixed_service;
use hostcall::{CallError, Server};

#[test]
fn a_scalar_call_is_answered() {
    let s = serve(Server::without_device().service(fixed_service("add42", |x: f32| x + 42.0)));
    let wave = s.device.wave(5);
    for i in 0..1000 {
        assert_eq!(wave.call_fixed::<f32, f32>(1, &(i as f32)), Ok(i as f32 + 42.0));
    }
    assert_eq!(s.server.stats().service("add42").unwrap().calls, 1000);
}

#[test]
fn every_lane_of_any_mask_gets_its_own_result() {
    let s = serve(Server::without_device().service(fixed_service("square", |x: u64| x * x)));
    for mask in [1u64, 0xffff_ffff, 0x8000_0001, 0x00f0_1234] {
        let results = s.device.run_wave(mask, |wave| (wave.lane(), wave.call_fixed::<u64, u64>(1, &u64::from(wave.lane() + 7))));
        assert_eq!(results.len() as u32, mask.count_ones());
        for (lane, result) in results {
            assert_eq!(result, Ok(u64::from(lane + 7).pow(2)));
        }
    }
}

#[test]
fn an_unknown_service_is_a_status_not_a_hang() {
    let s = serve(Server::without_device());
    for number in [0, 777, u16::MAX] {
        assert_eq!(s.device.wave(0).call(number, &[1, 2, 3]), Err(CallError::UnknownService));
    }
}

#[test]
fn many_waves_at_once_share_ports_and_lose_nothing() {
    let count = Arc::new(AtomicU32::new(0));
    let counted = count.clone();
    let s = serve(Server::without_device().threads(2).service(fixed_service("count", move |x: u32| {
        counted.fetch_add(1, Ordering::Relaxed);
        !x
    })));
    std::thread::scope(|scope| {
        for w in 0..40u32 {
            let wave = s.device.wave(w % 32);
            scope.spawn(move || {
                for i in 0..200 {
                    assert_eq!(wave.call_fixed::<u32, u32>(1, &(w << 16 | i)), Ok(!(w << 16 | i)));
                }
            });
        }
    });
    assert_eq!(count.load(Ordering::Relaxed), 40 * 200);
}
