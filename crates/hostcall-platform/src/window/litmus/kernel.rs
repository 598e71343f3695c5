//! The reading side on a GPU: a kernel of four lanes for each line, on all SMs.

use std::thread;
use std::time::Instant;

use offload_image::{Image, ImageKind, ProgramBundle};

use super::{Counts, END, Effort, Readers, Window, WindowError};
use crate::args::Args;
use crate::error::Error;
use crate::memory::{HostMemory, Memory};
use crate::queue::{Launch, Queue};

const PTX: &str = include_str!("kernel.ptx");
const GROUP_SIZE: u32 = 256;

/// Words of the control memory, each in a cache line of its own: see the kernel.
const STOP: usize = 0;
const BEGUN: usize = 16;
const CONTROL: usize = 32;

/// The kernel, launched.
pub(super) struct Running {
    queue: Option<Queue>,
    control: HostMemory<u32>,
    counts: Memory<u64>,
}

impl Running {
    pub(super) fn start(window: &Window, lines: usize, effort: Effort) -> Result<Running, WindowError> {
        let device = &window.device;
        let bundle = ProgramBundle::new("window_litmus", vec![Image::new(ImageKind::Ptx, "sm_70", PTX.as_bytes())]);
        let kernel = device.load(&bundle)?.kernel("window_litmus")?;
        let queue = device.queue()?;
        let control = device.alloc_host::<u32>(CONTROL)?;
        let counts = device.alloc::<u64>(4)?;
        queue.fill(&counts, 0)?;
        // At least two groups of lanes for each line, and work for every SM.
        let groups = device.info().sms.max((lines as u32).div_ceil(GROUP_SIZE / 8));
        let args = Args::new().address(window.address).value(lines as u32).value(effort.most_rounds());
        let args = args.address(control.address()).address(counts.address());
        // SAFETY: the kernel's five parameters. It reads the window's first lines, the control words and writes the
        // counts; all three are kept until it has ended, by being freed only then if they are dropped before. Host and
        // lanes meet in lines and control words only, by volatile or relaxed accesses.
        unsafe { queue.launch(&kernel, Launch::linear(groups, GROUP_SIZE), args) }?;
        Ok(Running { queue: Some(queue), control, counts })
    }
}

impl Readers for Running {
    fn have_begun(&self) -> Result<bool, Error> {
        let mut begun = [0];
        self.control.read(BEGUN, &mut begun)?;
        Ok(begun[0] != 0)
    }

    fn finish(mut self) -> Result<Option<Counts>, Error> {
        self.control.write(STOP, &[1])?;
        let Some(queue) = self.queue.as_ref() else { return Ok(None) };
        let start = Instant::now();
        while !queue.is_idle()? {
            if start.elapsed() > END {
                return Ok(None);
            }
            thread::yield_now();
        }
        let mut counts = [0; 4];
        queue.copy_from(&mut counts, &self.counts, 0)?;
        // Nothing is left to wait for.
        self.queue = None;
        let [words_read, torn_words, torn_lines, words_back] = counts;
        Ok(Some(Counts { words_read, torn_words, torn_lines, words_back }))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let Some(queue) = self.queue.take() else { return };
        // It ends as soon as it can, or has not begun. Dropping a queue waits for what is in it, which may be as long
        // as other kernels run.
        if self.control.write(STOP, &[1]).is_ok() && queue.is_idle().unwrap_or(true) {
            return;
        }
        // If there is no thread, the closure is dropped here, and waits.
        let waiting = thread::Builder::new().name("window-litmus".into()).spawn(move || drop(queue));
        drop(waiting);
    }
}
