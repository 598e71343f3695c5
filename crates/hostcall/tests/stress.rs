//! Many waves, all sizes, faults in between: nothing lost, doubled or changed; and a device that keeps to no rule.

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use common::{geometry, serve_over};
use hostcall::__private::PortBuffer;
use hostcall::test_utils::{Sweeper, definition, fixed_service, posted_service, var_definition, var_units};
use hostcall::{CallError, Server, Service};
use hostcall_abi::codec::VarHead;
use hostcall_abi::word::pack;
use hostcall_abi::{Flags, Tag, Word};
use proptest::prelude::*;

/// A small generator, so that each wave's calls can be repeated.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.next() as u8).collect()
    }
}

fn checksum(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |hash, &byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// `fn echo(bytes: &[u8], out: &mut [u8]) -> u32`, the checksum.
fn echo(name: &'static str) -> Service {
    Service::new(var_definition(name, 2), |call| {
        let bytes = call.slice::<u8>()?;
        let out = call.out::<u8>()?;
        let n = bytes.len().min(out.len());
        out[..n].copy_from_slice(&bytes[..n]);
        call.reply(&checksum(bytes), &[&out[..n]]);
        Ok(())
    })
}

#[test]
fn random_calls_from_many_waves_come_back_whole_and_once() {
    let posted = Arc::new(AtomicU64::new(0));
    let [count, expected] = [posted.clone(), Arc::new(AtomicU64::new(0))];
    let post = posted_service("post", move |x: u64| {
        count.fetch_add(x, Ordering::Relaxed);
    });
    let later = Service::deferred(definition::<u64>("later", Some(2)), |call, done| {
        let x = call.fixed::<u64>();
        std::thread::spawn(move || match x {
            Ok(x) => done.reply(&!x),
            Err(error) => done.fail(error),
        });
    });
    let fault = fixed_service("fault", |x: u32| if x.is_multiple_of(2) { panic!("{x}") } else { x });
    let builder = Server::without_device().threads(3).services([echo("echo"), post, later, echo("slow echo").blocking(), fault]);
    // Fewer ports than waves, and tags that wrap around on the way.
    let s = serve_over(builder, PortBuffer::in_process_from(geometry(24, 32), Tag::new(0x7fff - 500)).unwrap());
    std::thread::scope(|scope| {
        for w in 0..32u32 {
            let (wave, expected) = (s.device.wave(w), expected.clone());
            scope.spawn(move || {
                let mut random = Random(0x9e37_79b9_7f4a_7c15 ^ u64::from(w) << 32 | 1);
                for _ in 0..150 {
                    let x = random.next();
                    match x % 8 {
                        0 => {
                            wave.post(2, Flags::default(), &[x as u32, (x >> 32) as u32]).unwrap();
                            expected.fetch_add(x, Ordering::Relaxed);
                        }
                        1 => assert_eq!(wave.call_fixed::<u64, u64>(3, &x), Ok(!x)),
                        2 => {
                            let odd = x as u32 | 1;
                            assert_eq!(wave.call_fixed::<u32, u32>(5, &odd), Ok(odd));
                            assert_eq!(wave.call_fixed::<u32, u32>(5, &(odd - 1)), Err(CallError::HandlerPanicked));
                        }
                        3 => {
                            // Staged: each wave has a part of the area for itself.
                            let bytes = random.bytes(x as usize / 8 % 2000);
                            let at = w as usize * 2048;
                            wave.stage(at, &bytes);
                            let mut units = var_units(at as u32 / 16, &[bytes.len() as u32; 2], &[]);
                            units[1] = bytes.len() as u32;
                            let reply = wave.call_with(1, Flags::STAGED, &units).unwrap();
                            assert_eq!(reply, [checksum(&bytes), bytes.len() as u32]);
                            assert_eq!(wave.staged(at, bytes.len()), bytes);
                        }
                        kind => {
                            let bytes = random.bytes(x as usize / 8 % 400);
                            let reply = wave.call_var(if kind == 4 { 4 } else { 1 }, &[bytes.len() as u32; 2], &bytes).unwrap();
                            assert_eq!(reply[..2], [checksum(&bytes), bytes.len() as u32]);
                            assert_eq!(var_units(VarHead::INLINE, &[], &bytes)[2..], reply[2..]);
                        }
                    }
                }
            });
        }
    });
    s.server.collect();
    assert_eq!(posted.load(Ordering::Relaxed), expected.load(Ordering::Relaxed));
}

#[test]
fn a_thousand_waves_make_ten_calls_each() {
    let count = Arc::new(AtomicU64::new(0));
    let counted = count.clone();
    let service = fixed_service("count", move |_: u32| {
        counted.fetch_add(1, Ordering::Relaxed);
    });
    let s = serve_over(Server::without_device().threads(2).service(service), PortBuffer::in_process(geometry(64, 32)).unwrap());
    // 50 at a time: a thread each.
    for _ in 0..20 {
        std::thread::scope(|scope| {
            for w in 0..50 {
                let wave = s.device.wave(w % 32);
                scope.spawn(move || (0..10).for_each(|i| assert_eq!(wave.call(1, &[i]), Ok(vec![]))));
            }
        });
    }
    assert_eq!(count.load(Ordering::Relaxed), 10_000);
}

/// What a hostile device does next to a port.
#[derive(Clone, Debug)]
enum Deed {
    /// Writes any word, with a tag around the expected one or any.
    Write { index: u32, data: [u32; 4], tag: u16, near: bool, header: bool },
    /// Writes a whole message with any header and payload, tagged as expected.
    Send { header: [u32; 4], payload: Vec<u32> },
    /// Rings with any value.
    Ring(u32),
}

fn deed() -> impl Strategy<Value = Deed> {
    let small = prop_oneof![0..8u32, any::<u32>()];
    prop_oneof![
        (0..256u32, any::<[u32; 4]>(), any::<u16>(), any::<bool>(), any::<bool>())
            .prop_map(|(index, data, tag, near, header)| Deed::Write { index, data, tag, near, header }),
        (0..5u32, 0..40u32, 0..9u32, any::<u32>(), prop::collection::vec(small, 0..60)).prop_map(
            |(service, words, flags, mask, payload)| {
                Deed::Send { header: [service | words << 16 | flags << 24, mask & mask >> 7, mask << 16 & mask, 0], payload }
            }
        ),
        any::<u32>().prop_map(Deed::Ring),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_hostile_device_can_fail_its_own_calls_and_nothing_else(deeds in prop::collection::vec(deed(), 1..40)) {
        let services = [echo("echo"), fixed_service("add", |x: (u32, u64)| x.1), fixed_service("choose", |x: Option<bool>| x.is_some())];
        let mut server = Sweeper::new(PortBuffer::in_process(geometry(2, 32)).unwrap(), services).unwrap();
        let device = server.device();
        let raw = device.raw();
        // Port 0 is the attacker's; its tag is followed as a client would.
        let mut tag = Tag::new(0);
        for deed in deeds {
            match deed {
                Deed::Write { index, data, tag: any, near, header } => {
                    let tag = if near { Tag::new(tag.seq().wrapping_add(any % 4)) } else { Tag::new(any) };
                    raw.store(0, index, Word::new(data, if header { tag.header() } else { tag.payload() }));
                }
                Deed::Send { header, payload } => {
                    tag = tag.next();
                    for index in 1..256 {
                        let unit = |i: u32| payload.get(i as usize).copied().unwrap_or(7);
                        raw.store(0, index, Word::new(pack(index - 1, unit), tag.payload()));
                    }
                    raw.store(0, 0, Word::new(header, tag.header()));
                    raw.ring(0, tag.payload().into());
                }
                Deed::Ring(value) => raw.ring(0, value),
            }
            server.sweep();
        }
        // Port 1 is an honest wave's.
        raw.send(1, 0, Tag::new(1), 2, Flags::REPLY, 1 << 9, &[1, 42, 43]);
        raw.ring(1, 1);
        server.sweep_all();
        prop_assert!(raw.answered(1, Tag::new(1)));
        prop_assert_eq!(raw.load(1, 0).0[1..3].to_vec(), vec![42, 43]);
    }
}
