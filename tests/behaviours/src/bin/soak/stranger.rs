//! A second program on the soak's server, which calls as no program should: see the kernel `stranger`. Nothing that it
//! does, and not its removal, may cost the soak a call.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use anyhow::{Result, ensure};
use behaviours_services::{stress, typed};
use hostcall::{BufferHandle, Server, Service};
use hostcall_tests::bundle;
use offload::{Args, Device, HostMemory, Kernel, Launch, Memory, Program, Queue};

/// Lanes of the stranger: few, so that the soak's waves have room beside them.
const LANES: u32 = 64;
/// Rounds after which a lane ends by itself, should nobody stop it.
const MOST: u64 = 1 << 20;

/// What the stranger calls.
pub(super) fn services() -> Vec<Service> {
    vec![
        typed::nap(|millis| {
            std::thread::sleep(Duration::from_millis(u64::from(millis).min(10)));
            millis
        })
        .blocking(),
        typed::note(|_| std::thread::sleep(Duration::from_micros(50))).blocking(),
        typed::echo(|data: &[u8], back: &mut [u8]| {
            back.copy_from_slice(data);
            data.len() as u32
        }),
        stress::post_sum(|_, _, _: &[u8]| std::thread::sleep(Duration::from_micros(50))).blocking(),
    ]
}

/// The second program.
pub(super) struct Stranger {
    program: Program,
    kernel: Kernel,
    queue: Queue,
    stop: HostMemory<u32>,
    made: Memory<u64>,
    buffer: Option<BufferHandle>,
}

impl Stranger {
    pub(super) fn new(device: &Device) -> Result<Self> {
        let program = device.load(&bundle())?;
        let kernel = program.kernel("stranger")?;
        let (queue, stop, made) = (device.queue()?, device.alloc_host(1)?, device.alloc(LANES as usize)?);
        Ok(Self { program, kernel, queue, stop, made, buffer: None })
    }

    fn stop_word(&self) -> &AtomicU32 {
        // SAFETY: the memory holds one word, lives as long as `self`, and is accessed atomically only.
        unsafe { AtomicU32::from_ptr(self.stop.as_ptr()) }
    }

    /// Launches it, attached to a server. It runs until [`end`](Self::end).
    pub(super) fn begin(&mut self, server: &Server, seed: u64) -> Result<()> {
        if self.buffer.is_none() {
            self.buffer = Some(server.attach(&self.program)?);
        }
        self.queue.fill(&self.made, 0)?;
        // Pairs with the kernel's load.
        self.stop_word().store(0, Ordering::Relaxed);
        let args = Args::new().value(seed).value(MOST).address(self.stop.address()).slice(&self.made);
        // SAFETY: a number, a number, a word of host memory and an element for each lane, all of which outlive the
        // kernel: `end` waits for it.
        unsafe { self.queue.launch(&self.kernel, Launch::threads(LANES, 32), args) }?;
        Ok(())
    }

    /// Takes its buffer from the server, while its kernel runs.
    pub(super) fn remove(&mut self, server: &Server) {
        if let Some(buffer) = self.buffer.take() {
            server.remove_buffer(&buffer).expect("this is no handler");
        }
    }

    /// The server is gone, and so is the buffer.
    pub(super) fn forget(&mut self) {
        self.buffer = None;
    }

    /// Ends it, and returns the rounds that it has made.
    pub(super) fn end(&mut self) -> Result<u64> {
        // Pairs with the kernel's load.
        self.stop_word().store(1, Ordering::Relaxed);
        self.queue.synchronize()?;
        let made: u64 = self.queue.read(&self.made)?.into_iter().sum();
        ensure!(made > 0, "the stranger made no call");
        Ok(made)
    }
}
