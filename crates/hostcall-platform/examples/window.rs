//! What a window into a device's memory promises, checked on a real device: patterns written by lines are read back by
//! the device's own copies and compared, for every way that this processor has to store a line; then the rate. Ends
//! with 1 if something differs. `cargo run --release -p hostcall-platform --example window [DEVICE] [MIB]` (`cuda:0`
//! and 16 unless said)

use std::error::Error;
use std::process::ExitCode;
use std::thread;
use std::time::Instant;

use offload::{Device, Effort, Line, LineStore, Window};

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("FAIL {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let device = Device::open(&arguments.next().unwrap_or_else(|| "cuda:0".into()))?;
    let mib: usize = arguments.next().map_or(Ok(16), |text| text.parse())?;
    println!("device: {}, {}", device.info().name, device.info().driver);
    println!("stores of this processor: {:?}", LineStore::available());
    let start = Instant::now();
    let window = device.window(mib << 20)?;
    println!("{window:?}, made in {:.1} ms", start.elapsed().as_secs_f64() * 1e3);
    println!(
        "provider: {}; host pointer {:p}; device {:#x}; {}",
        window.provider(),
        window.as_ptr(),
        window.address(),
        window.line_store()
    );
    let start = Instant::now();
    let second = device.window(1 << 20)?;
    println!("a second one is made in {:.1} ms: {second:?}", start.elapsed().as_secs_f64() * 1e3);
    drop(second);

    expect(&window, "zeroed", |_| 0)?;
    for (seed, store) in (1u32..).zip(LineStore::available()) {
        write(&window, store, 0, window.len(), seed);
        expect(&window, &format!("written by {store}"), |word| pattern(word, seed))?;
        for threads in [1, 8] {
            rate(&window, store, threads, seed + 100);
            expect(&window, &format!("written by {threads} threads by {store}"), |word| pattern(word, seed + 100))?;
        }
    }
    litmus(&window)?;
    let start = Instant::now();
    drop(window);
    println!("dropped in {:.1} ms", start.elapsed().as_secs_f64() * 1e3);
    println!("all passed");
    Ok(())
}

/// The test for torn words: clean as the window is written, and not so where words are torn on purpose.
fn litmus(window: &Window) -> Result<(), Box<dyn Error>> {
    for effort in [Effort::Brief, Effort::Brief, Effort::Thorough] {
        let start = Instant::now();
        let seen = window.litmus(effort)?;
        println!("PASS litmus, {effort:?} ({:.1} ms): {seen:?}", start.elapsed().as_secs_f64() * 1e3);
    }
    for store in LineStore::available() {
        println!("     litmus of {store}: {:?}", window.litmus_of(Some(store), Effort::Thorough)?);
    }
    let seen = window.litmus_of(None, Effort::Thorough)?;
    if seen.torn_words == 0 {
        return Err(format!("words that were torn on purpose were not found: {seen:?}").into());
    }
    println!("PASS words that were torn on purpose are found: {seen:?}");
    Ok(())
}

/// What word `index` of the window holds.
fn pattern(index: usize, seed: u32) -> u32 {
    (index as u32).wrapping_mul(0x9e37_79b9).wrapping_add(seed.wrapping_mul(0x85eb_ca6b))
}

/// Writes whole lines from byte `from` to byte `to`.
fn write(window: &Window, store: LineStore, from: usize, to: usize, seed: u32) {
    for at in (from..to).step_by(Line::BYTES) {
        let line = Line(std::array::from_fn(|i| pattern(at / 4 + i, seed)));
        // SAFETY: a line of the window, which this thread alone writes; the processor has the instructions.
        unsafe { store.store(window.as_ptr().as_ptr().add(at), &line) };
    }
    store.fence();
}

fn expect(window: &Window, what: &str, word: impl Fn(usize) -> u32) -> Result<(), String> {
    // Lines of `movdir64b` are on their way a microsecond longer than the instruction.
    window.line_store().order();
    let mut bytes = vec![0; window.len()];
    // SAFETY: the window's bytes, which nobody writes at present.
    unsafe { window.device().backend().read(window.address(), &mut bytes) }.map_err(|error| error.to_string())?;
    let (found, _) = bytes.as_chunks::<4>();
    let wrong = found.iter().enumerate().find(|&(at, found)| u32::from_ne_bytes(*found) != word(at));
    match wrong {
        None => {
            println!("PASS {what}");
            Ok(())
        }
        Some((at, found)) => Err(format!("{what}: word {at} is {:#x} and should be {:#x}", u32::from_ne_bytes(*found), word(at))),
    }
}

/// Each thread writes its part of the window over and over, at last with the pattern of `seed`.
fn rate(window: &Window, store: LineStore, threads: usize, seed: u32) {
    const ROUNDS: usize = 16;
    let share = window.len() / Line::BYTES / threads * Line::BYTES;
    let start = Instant::now();
    thread::scope(|scope| {
        for thread in 0..threads {
            scope.spawn(move || {
                let line = Line([thread as u32; 16]);
                for _ in 0..ROUNDS {
                    for at in (thread * share..(thread + 1) * share).step_by(Line::BYTES) {
                        // SAFETY: a line of this thread's part; the processor has the instructions.
                        unsafe { store.store(window.as_ptr().as_ptr().add(at), &line) };
                    }
                    store.fence();
                }
            });
        }
    });
    let seconds = start.elapsed().as_secs_f64();
    let lines = (ROUNDS * threads * share / Line::BYTES) as f64;
    println!("     {store}, {threads} threads: {:.2} GB/s, {:.1} M lines/s", lines * 64e-9 / seconds, lines / seconds / 1e6);
    thread::scope(|scope| {
        for thread in 0..threads {
            let to = if thread + 1 == threads { window.len() } else { (thread + 1) * share };
            scope.spawn(move || write(window, store, thread * share, to, seed));
        }
    });
}
