//! Whether words of 16 bytes cross between a device and the host in one piece: all that the wire is made of depends on
//! it. To be run first on a machine that nobody has tried: where this fails, nothing else can work.
#![allow(missing_docs, reason = "a test")]

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use hostcall::Server;
use hostcall_cpp_tests::{bundle, device_spec, whole_images};
use offload::{Args, Device, Launch};

/// A word, as both sides store and load it.
type Word = [u32; 4];

#[cfg(target_arch = "x86_64")]
fn store(at: *mut Word, word: Word) {
    // SAFETY: 16 bytes that are aligned and stay, stored by one instruction.
    unsafe {
        let value = std::mem::transmute::<Word, std::arch::x86_64::__m128i>(word);
        std::arch::asm!("movdqa [{}], {}", in(reg) at, in(xmm_reg) value, options(nostack, preserves_flags));
    }
}

#[cfg(target_arch = "x86_64")]
fn load(at: *const Word) -> Word {
    // SAFETY: as above, loaded by one instruction.
    unsafe {
        let value: std::arch::x86_64::__m128i;
        std::arch::asm!("movdqa {}, [{}]", out(xmm_reg) value, in(reg) at, options(nostack, preserves_flags));
        std::mem::transmute::<std::arch::x86_64::__m128i, Word>(value)
    }
}

#[test]
#[cfg_attr(not(target_arch = "x86_64"), ignore = "the probe's own accesses are written for x86-64")]
fn words_of_sixteen_bytes_cross_in_one_piece_in_both_directions() {
    #[cfg(target_arch = "x86_64")]
    for (compiler, image) in whole_images() {
        let device = Device::open(&device_spec()).unwrap_or_else(|error| panic!("{}: {error}", device_spec()));
        let queue = device.queue().expect("a queue");
        let program = device.load(&bundle(&device, &image)).expect("the kernel loads");
        let server = Server::builder(&device).start().expect("the server starts");
        server.attach(&program).expect("the kernel is attached");
        // An emulator is slow: `HOSTCALL_PROBE_ROUNDS` makes it shorter, or on a GPU longer.
        let rounds: u32 = std::env::var("HOSTCALL_PROBE_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(20_000);
        let lanes = 64u32;
        let words = || device.alloc_host::<u32>(4 * lanes as usize).expect("memory of the host");
        let (to_host, from_host) = (words(), words());
        let at = |memory: &offload::HostMemory<u32>, lane: u32| memory.as_ptr().cast::<Word>().wrapping_add(lane as usize);
        for lane in 0..lanes {
            store(at(&to_host, lane), [0; 4]);
            store(at(&from_host, lane), [0; 4]);
        }
        let torn = device.alloc::<u32>(lanes as usize).expect("memory for the results");
        let args = Args::new().address(to_host.address()).address(from_host.address()).address(torn.address()).value(rounds);
        // SAFETY: the kernel writes a word for each lane where its arguments say.
        unsafe {
            let kernel = program.kernel("whole_words").expect("the kernel is there");
            queue.launch(&kernel, Launch::threads(lanes, 64), args.value(u64::from(lanes))).expect("the launch");
        }
        let ended = AtomicBool::new(false);
        let (looks, seen, differ) = thread::scope(|scope| {
            scope.spawn(|| {
                queue.synchronize().expect("the kernel ends");
                ended.store(true, Ordering::SeqCst);
            });
            let (mut looks, mut seen, mut differ, mut round) = (0u64, 0u64, 0u64, 0u32);
            while !ended.load(Ordering::SeqCst) {
                round = round.wrapping_add(1);
                for lane in 0..lanes {
                    store(at(&from_host, lane), [round; 4]);
                    let word = load(at(&to_host, lane));
                    looks += 1;
                    seen += u64::from(word[0] != 0);
                    differ += u64::from(word != [word[0]; 4]);
                }
            }
            (looks, seen, differ)
        });
        let torn: u32 = queue.read(&torn).expect("results are read").iter().sum();
        println!("{compiler}: of {looks} looks of the host ({seen} at words of the kernel) {differ} found a torn word");
        println!("{compiler}: of {} looks of the kernel {torn} found a torn word", u64::from(lanes) * u64::from(rounds));
        assert_eq!((differ, torn), (0, 0), "words of 16 bytes are torn on this device: nothing else can work here");
        assert!((0..lanes).all(|lane| load(at(&to_host, lane)) == [rounds; 4]), "the last words arrived");
    }
}
