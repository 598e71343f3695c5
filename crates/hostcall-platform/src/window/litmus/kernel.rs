//! The reading side on a GPU: a kernel of four lanes for each line, on all SMs.

use std::thread;
use std::time::Instant;

use offload_image::{Image, ImageKind, ProgramBundle};

use super::{Counts, END, Effort, Window};
use crate::args::Args;
use crate::error::Error;
use crate::queue::{Launch, Queue};

const PTX: &str = include_str!("kernel.ptx");
const GROUP_SIZE: u32 = 256;

/// Runs the kernel, and gives what it saw; `None` if it does not end.
pub(super) fn read(window: &Window, lines: usize, effort: Effort) -> Result<Option<Counts>, Error> {
    let device = &window.device;
    let bundle = ProgramBundle::new("window_litmus", vec![Image::new(ImageKind::Ptx, "sm_70", PTX.as_bytes())]);
    let kernel = device.load(&bundle)?.kernel("window_litmus")?;
    let counts = device.alloc::<u64>(4)?;
    let running = Running(Some(device.queue()?));
    let Some(queue) = running.0.as_ref() else { return Ok(None) };
    queue.fill(&counts, 0)?;
    // At least two groups of lanes for each line, and work for every SM.
    let groups = device.info().sms.max((lines as u32).div_ceil(GROUP_SIZE / 8));
    let time = effort.duration().as_nanos() as u64;
    let args = Args::new().address(window.address).value(lines as u32).value(time).address(counts.address());
    let start = Instant::now();
    // SAFETY: the kernel's four parameters. It reads the window's first lines and writes the counts; both are kept
    // until it has ended, by being freed only then if they are dropped before. Host and lanes meet in lines only, by
    // relaxed accesses.
    unsafe { queue.launch(&kernel, Launch::linear(groups, GROUP_SIZE), args) }?;
    while !queue.is_idle()? {
        if start.elapsed() > effort.duration() + END {
            return Ok(None);
        }
        thread::yield_now();
    }
    let mut seen = [0; 4];
    queue.copy_from(&mut seen, &counts, 0)?;
    drop(running.ended());
    let [words_read, torn_words, torn_lines, words_back] = seen;
    Ok(Some(Counts { words_read, torn_words, torn_lines, words_back }))
}

/// The queue in which the kernel is.
struct Running(Option<Queue>);

impl Running {
    /// Nothing is left to wait for.
    fn ended(mut self) -> Option<Queue> {
        self.0.take()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It has not begun, or takes its time. Dropping a queue waits for what is in it, which may be as long as other
        // kernels run.
        let Some(queue) = self.0.take() else { return };
        // If there is no thread, the closure is dropped here, and waits.
        let waiting = thread::Builder::new().name("window-litmus".into()).spawn(move || drop(queue));
        drop(waiting);
    }
}
