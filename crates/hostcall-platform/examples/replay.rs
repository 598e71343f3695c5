//! What a tool puts back that runs a kernel several times, and how long that takes: a kernel counts its runs in memory
//! of each kind, while a thread of the host counts in pinned memory and looks whether it goes back. Docs:
//! docs/reference/protocol.md. `ncu --set full target/release/examples/replay`

use std::error::Error;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use offload::{Args, Device, HostMemory, Image, ImageKind, Launch, ProgramBundle};

/// Adds 1 to a word each of device memory, a window, host memory and a global, and ends 3 ms later.
const PTX: &str = "
.version 7.0
.target sm_70
.address_size 64
.visible .global .align 4 .u32 own = 0;
.visible .entry count(.param .u64 memory, .param .u64 window, .param .u64 host)
{
    .reg .pred %before;
    .reg .b32 %r<5>;
    .reg .b64 %memory, %window, %host, %own, %now, %end;
    ld.param.u64 %memory, [memory];
    ld.param.u64 %window, [window];
    ld.param.u64 %host, [host];
    mov.u64 %own, own;
    atom.global.add.u32 %r1, [%memory], 1;
    atom.global.add.u32 %r2, [%window], 1;
    atom.global.add.u32 %r3, [%own], 1;
    ld.volatile.global.u32 %r4, [%host];
    add.u32 %r4, %r4, 1;
    st.volatile.global.u32 [%host], %r4;
    mov.u64 %now, %globaltimer;
    add.u64 %end, %now, 3000000;
WAIT:
    mov.u64 %now, %globaltimer;
    setp.lt.u64 %before, %now, %end;
    @%before bra WAIT;
    ret;
}
";

/// A word of memory that the host shares with the device.
fn word(memory: &HostMemory<u32>, at: usize) -> &AtomicU32 {
    assert!(at < memory.len());
    // SAFETY: a word of the memory, which both sides access as an atomic or by one load and one store.
    unsafe { AtomicU32::from_ptr(memory.as_ptr().add(at)) }
}

/// Counts in all of these words until it is to stop: how often they went back, and the longest time from the first word
/// that did to the last.
fn watch(words: &[&AtomicU32], stop: &AtomicBool) -> (u32, Duration) {
    let (mut counted, mut times, mut longest) = (0, 0, Duration::ZERO);
    let mut back: Option<Instant> = None;
    // Relaxed, all of them: numbers that order nothing.
    while !stop.load(Ordering::Relaxed) {
        let gone = words.iter().filter(|word| word.load(Ordering::Relaxed) != counted).count();
        match back {
            None if gone == 0 => {
                counted += 1;
                words.iter().for_each(|word| word.store(counted, Ordering::Relaxed));
            }
            None => back = Some(Instant::now()),
            Some(since) if gone == words.len() => {
                (times, longest, back) = (times + 1, longest.max(since.elapsed()), None);
                words.iter().for_each(|word| word.store(counted, Ordering::Relaxed));
            }
            Some(_) => {}
        }
    }
    (times, longest)
}

fn main() -> Result<(), Box<dyn Error>> {
    let device = Device::cuda(0)?;
    let image = Image::new(ImageKind::Ptx, "sm_70", PTX.as_bytes());
    let program = device.load(&ProgramBundle::new("replay", vec![image]))?;
    let (queue, kernel) = (device.queue()?, program.kernel("count")?);
    let (window, memory) = (device.window(4096)?, device.alloc::<u32>(1024)?);
    // As large as a server's, as rings, and small: the kernel touches the last one only.
    let (large, huge, host) =
        (device.alloc_host::<u32>(32 << 20)?, device.alloc_host_huge::<u32>(16 << 20)?, device.alloc_host::<u32>(1024)?);
    queue.fill(&memory, 0)?;
    queue.synchronize()?;
    let words = [word(&large, 0), word(&large, large.len() - 1), word(&huge, 0), word(&huge, huge.len() - 1), word(&host, 512)];
    let stop = AtomicBool::new(false);
    let (times, longest) = thread::scope(|scope| {
        let watching = scope.spawn(|| watch(&words, &stop));
        let launched = (0..2).try_for_each(|_| -> Result<(), Box<dyn Error>> {
            let args = Args::new().address(memory.address()).address(window.address()).address(host.address());
            // SAFETY: the kernel's three parameters, all of which are kept until it has ended.
            unsafe { queue.launch(&kernel, Launch::linear(1, 1), args) }?;
            queue.synchronize()?;
            let (mut own, mut seen) = ([0; 4], [0; 4]);
            program.global("own")?.read(&mut own)?;
            // SAFETY: the window's first word, which nobody writes at present.
            unsafe { device.backend().read(window.address(), &mut seen) }?;
            let [own, seen] = [own, seen].map(u32::from_ne_bytes);
            let (device, host) = (queue.read(&memory)?[0], word(&host, 0).load(Ordering::Relaxed));
            println!("runs counted: device memory {device}, global {own}, window {seen}, host memory {host}");
            Ok(())
        });
        stop.store(true, Ordering::Relaxed);
        launched.map(|()| watching.join().unwrap_or_default())
    })?;
    println!("host memory of 200 MiB went back {times} times, within {longest:?} each");
    Ok(())
}
