//! Calls that a wave makes together: how many messages there are, whose arguments count, and who gets what.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use behaviours_services::together;
use hostcall::{HandlerError, ServerBuilder, Status};
use hostcall_tests::{Bench, Counter, status, with_ports};
use offload::{Args, Launch};

/// What was posted, and the number of calls so far.
#[derive(Clone, Debug, Default)]
struct Host {
    calls: Counter,
    notes: Arc<Mutex<Vec<u64>>>,
    texts: Arc<Mutex<BTreeMap<String, u32>>>,
}

/// `block[0] >> 8`, if the rest is what belongs to it.
fn owner(block: &[u32]) -> u64 {
    let first = block[0] >> 8;
    if block.iter().enumerate().all(|(k, unit)| *unit == first << 8 | k as u32) { u64::from(first) } else { u64::MAX }
}

impl Host {
    fn services(&self, builder: ServerBuilder) -> ServerBuilder {
        let number = |host: &Self| {
            let calls = host.calls.clone();
            let last = Arc::new(Mutex::new(()));
            move || {
                // Handlers run on several threads; each call must get a number of its own.
                let _guard = last.lock().unwrap();
                calls.add(1);
                calls.get()
            }
        };
        // One lock for all services.
        let next = Arc::new(number(self));
        let (one, two, sixteen, thirty, turn) = (next.clone(), next.clone(), next.clone(), next.clone(), next.clone());
        let (notes, texts) = (self.notes.clone(), self.texts.clone());
        builder
            .service(together::none(move || next()))
            .service(together::one(move |a| (one(), u64::from(a))))
            .service(together::two(move |a| (two(), if a as u32 == 7 { a >> 32 } else { u64::MAX })))
            .service(together::sixteen(move |block: [u32; 16]| (sixteen(), owner(&block))))
            .service(together::thirty(move |block: [u32; 30]| (thirty(), owner(&block))))
            .service(together::note(move |value| notes.lock().unwrap().push(value)))
            .service(together::say(move |text: &str| *texts.lock().unwrap().entry(text.to_owned()).or_default() += 1))
            .service(together::turn(move |data: &[u8], back: &mut [u8]| {
                for (to, from) in back.iter_mut().rev().zip(data) {
                    *to = *from;
                }
                turn()
            }))
            .service(together::take(|data: &[u8]| data.len() as u64))
            .service(together::picky(|value| if value % 2 == 0 { Ok(u64::from(value)) } else { Err(HandlerError::new(value, "odd")) }))
    }

    fn bench(&self) -> Bench {
        Bench::new(|builder| self.services(builder))
    }
}

/// Masks of lanes: all, one, three, some.
const MASKS: [u64; 7] = [u64::MAX, 1, 1 << 31, 0b111, 0x8000_0001, 0xf0f0_a5a5, 0x0000_ff00];
/// Lanes of the launches, and of their workgroups: part of a wave, whole waves, and both.
const SHAPES: [(u32, u32); 4] = [(1, 1), (32, 32), (80, 80), (256, 64)];

/// The lanes of each wave that take part.
fn groups(bench: &Bench, (lanes, group): (u32, u32), mask: u64) -> Vec<Vec<usize>> {
    let wave_size = bench.device.info().wave_size;
    let waves = (0..lanes).collect::<Vec<_>>();
    let waves = waves.chunks(group as usize).flat_map(|group| group.chunks(wave_size as usize).map(<[u32]>::to_vec).collect::<Vec<_>>());
    let part = |wave: Vec<u32>| -> Vec<usize> {
        wave.iter().enumerate().filter(|(lane, _)| mask >> lane & 1 == 1).map(|(_, i)| *i as usize).collect()
    };
    waves.map(part).filter(|part| !part.is_empty()).collect()
}

#[test]
fn a_call_of_any_size_is_one_message_with_the_first_lanes_arguments() {
    let host = Host::default();
    let bench = host.bench();
    for shape in SHAPES {
        for mask in MASKS {
            let before = host.calls.get();
            let results: Vec<[u64; 10]> = bench.results("together_sizes", shape.0, shape.1, Args::new().value(mask));
            let groups = groups(&bench, shape, mask);
            assert_eq!(host.calls.get() - before, 5 * groups.len() as u64, "{shape:?}, {mask:#x}");
            let mut numbers = Vec::new();
            for group in &groups {
                let first = results[group[0]];
                let seen = [first[1], first[3], first[5], first[7], first[9]];
                let owner = group[0] as u64;
                assert_eq!(seen, [0, owner, owner, owner, owner], "{shape:?}, {mask:#x}");
                for i in group {
                    assert_eq!(results[*i], first, "{shape:?}, {mask:#x}: every lane gets the result");
                }
                numbers.extend([first[0], first[2], first[4], first[6], first[8]]);
            }
            numbers.sort_unstable();
            assert!(numbers.iter().copied().eq(before + 1..=host.calls.get()), "{shape:?}, {mask:#x}: each call has one group");
        }
    }
}

#[test]
fn a_held_port_makes_calls_and_posts_of_a_wave() {
    let host = Host::default();
    // Each of eight waves keeps a port, and the last is never kept.
    let bench = Bench::new(|builder| with_ports(host.services(builder), 9));
    for shape in SHAPES {
        let rounds = 50u32;
        let right: Vec<u32> = bench.results("together_held", shape.0, shape.1, Args::new().value(rounds));
        assert_eq!(right, vec![rounds; shape.0 as usize], "{shape:?}");
        let mut notes = std::mem::take(&mut *host.notes.lock().unwrap());
        notes.sort_unstable();
        let firsts = groups(&bench, shape, u64::MAX).into_iter().map(|group| group[0] as u64);
        let expected: Vec<u64> = firsts.flat_map(|first| (0..u64::from(rounds)).map(move |n| first << 32 | n)).collect();
        assert_eq!(notes, expected, "{shape:?}");
    }
}

#[test]
fn posts_of_a_wave_are_one_each() {
    let host = Host::default();
    let bench = host.bench();
    for shape in SHAPES {
        for mask in MASKS {
            bench.run("together_posts", Launch::threads(shape.0, shape.1), Args::new().value(mask)).unwrap();
            let firsts: Vec<u64> = groups(&bench, shape, mask).into_iter().map(|group| group[0] as u64).collect();
            let mut notes = std::mem::take(&mut *host.notes.lock().unwrap());
            notes.sort_unstable();
            assert_eq!(notes, firsts, "{shape:?}, {mask:#x}");
            let mut texts = BTreeMap::new();
            for first in firsts {
                *texts.entry(["zero", "one", "two", "three"][first as usize % 4].to_owned()).or_default() += 1;
            }
            assert_eq!(std::mem::take(&mut *host.texts.lock().unwrap()), texts, "{shape:?}, {mask:#x}");
        }
    }
}

#[test]
fn slices_of_a_wave_are_one_message_and_come_back_to_all_lanes() {
    let host = Host::default();
    let bench = host.bench();
    for shape in SHAPES {
        // Inside the message, at its edge, through staging, at odd lengths, and as long as a slot.
        for len in [0u32, 1, 16, 60, 90, 200, 4099, 65_536] {
            for mask in [u64::MAX, 0b111, 0x8000_0000] {
                let groups = groups(&bench, shape, mask);
                let waves = (shape.0 / shape.1 * shape.1.div_ceil(bench.device.info().wave_size)) as usize;
                let data: Vec<u8> = (0..len as usize + waves).map(|i| (i * 7 + i / 251) as u8).collect();
                let from = bench.device.alloc::<u8>(data.len()).unwrap();
                bench.queue.copy_to(&from, 0, &data).unwrap();
                let back = bench.device.alloc::<u8>((len as usize * waves).max(1)).unwrap();
                bench.queue.fill(&back, 0).unwrap();
                let before = host.calls.get();
                let args = Args::new().value(mask).value(len).slice(&from).address(back.address());
                let results: Vec<[u64; 2]> = bench.results("together_slices", shape.0, shape.1, args);
                assert_eq!(host.calls.get() - before, groups.len() as u64, "{shape:?}, {len}, {mask:#x}");
                for group in groups {
                    for i in &group {
                        let [call, right] = results[*i];
                        assert_eq!((call, right), (results[group[0]][0], u64::from(len)), "lane {i}: {shape:?}, {len}, {mask:#x}");
                        assert!(call > before && call <= host.calls.get());
                    }
                }
            }
        }
    }
}

#[test]
fn slices_on_the_first_lanes_stack_are_passed_together_too() {
    let bench = Host::default().bench();
    for len in [1u32, 40, 300] {
        let results: Vec<u64> = bench.results("together_own_stack", 64, 32, Args::new().value(len));
        assert_eq!(results, vec![1; 64], "{len}");
    }
}

#[test]
fn an_error_reaches_every_lane_of_the_group_that_called() {
    let bench = Host::default().bench();
    let wave = bench.device.info().wave_size;
    let memory = bench.device.alloc::<u64>(2 * wave as usize).unwrap();
    let error = bench.run("together_errors", Launch::threads(2 * wave, wave), Args::new().slice(&memory)).unwrap_err();
    assert_eq!(error.report().handler_failures.iter().map(|failure| failure.lanes).sum::<u64>(), 2, "{error}");
    for (i, result) in bench.queue.read(&memory).unwrap().into_iter().enumerate() {
        let half = wave / 2;
        if (i as u32) % wave < half {
            assert_eq!(result, 0, "lane {i}");
        } else {
            assert_eq!((status(result), result as u32), (Status::HANDLER_FAILED, half + 1), "lane {i}");
        }
    }
}

#[test]
fn a_slice_that_fits_nowhere_is_too_large_for_every_lane_and_the_next_call_succeeds() {
    let bench = Host::default().bench();
    let data = bench.device.alloc::<u8>(65_537).unwrap();
    let results: Vec<[u64; 2]> = bench.results("together_too_large", 40, 40, Args::new().slice(&data));
    for (i, [large, small]) in results.into_iter().enumerate() {
        assert_eq!((status(large), small), (Status::TOO_LARGE, 100), "lane {i}");
    }
}
