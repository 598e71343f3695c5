//! What every measurement needs: the device with the kernels loaded, a server, and the time a launch takes.

use std::sync::Arc;
use std::time::Duration;

use bench_services::{answer, bench, digest, filling};
use hostcall::__private::FirstPoll;
use hostcall::{BufferHandle, Placement, Plain, Server, ServerBuilder};
use offload::{Args, Device, DeviceKind, Launch, Line, Memory, Program, ProgramBundle, Queue, WindowProvider};

use super::error::Error;
use super::watchdog::Watchdog;

/// How much of everything.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    /// Samples of which the median is taken.
    pub(super) samples: usize,
    /// The same for what one wave does.
    pub(super) latency_samples: usize,
    /// Threads for the floor, and servers for the calls of one wave, that each give so many samples.
    pub(super) hosts: usize,
    /// Calls of one wave in a sample.
    pub(super) calls: u32,
    /// About how long a sample of the whole device takes.
    pub(super) sample: Duration,
    /// Bytes that large slices move in a sample.
    pub(super) bulk_bytes: usize,
    /// Bytes of the file.
    pub(super) file_bytes: usize,
    /// How long a silent kernel is silent.
    pub(super) silence: Duration,
    /// Bytes of the device's heap.
    pub(super) heap_bytes: usize,
}

impl Scale {
    pub(super) fn new(kind: DeviceKind, quick: bool) -> Self {
        let (big, ms) = (kind != DeviceKind::Sim, Duration::from_millis);
        Self {
            samples: 5,
            // The simulator's waves may lose their processor to others: many short samples, most of which they keep it
            // in.
            latency_samples: if big { 3 } else { 51 },
            hosts: if big { 7 } else { 1 },
            calls: if big { 20_000 } else { 1_000 } / if quick { 4 } else { 1 },
            sample: ms(if quick { 50 } else { 250 }),
            bulk_bytes: if big { 512 << 20 } else { 16 << 20 } >> if quick { 2 } else { 0 },
            file_bytes: if big { 512 << 20 } else { 16 << 20 } >> if quick { 2 } else { 0 },
            silence: ms(if quick { 200 } else { 1000 }),
            heap_bytes: if big { 1 << 30 } else { 64 << 20 },
        }
    }
}

/// The device with the kernels loaded.
pub(super) struct Rig {
    pub(super) device: Device,
    pub(super) queue: Queue,
    pub(super) program: Program,
    pub(super) scale: Scale,
    pub(super) first_poll: FirstPoll,
    pub(super) placement: Placement,
    pub(super) watchdog: Watchdog,
    /// Who gives windows here, or why nobody does.
    pub(super) window: Result<WindowProvider, String>,
}

/// Bytes of a staging slot: what one call of a large slice moves.
pub(super) const CHUNK: u32 = 64 << 10;

impl Rig {
    pub(super) fn new(device: Device, scale: Scale, first_poll: FirstPoll, placement: Placement) -> Result<Self, Error> {
        Self::of(device, scale, first_poll, placement, &images())
    }

    /// The same with other kernels of the same names.
    pub(super) fn with(&self, images: &ProgramBundle) -> Result<Self, Error> {
        Self::of(self.device.clone(), self.scale, self.first_poll, self.placement.clone(), images)
    }

    fn of(device: Device, scale: Scale, first_poll: FirstPoll, placement: Placement, images: &ProgramBundle) -> Result<Self, Error> {
        let watchdog = Watchdog::start().map_err(Error::Thread)?;
        let program = watchdog.during("loading the kernels", Watchdog::LOAD, || device.load(images))?;
        // Some rows measure kernels that call nobody.
        program.without_server();
        let queue = device.queue()?;
        let window = device.window(Line::BYTES).map(|window| window.provider()).map_err(|why| why.to_string());
        Ok(Self { device, queue, program, scale, first_poll, placement, watchdog, window })
    }

    pub(super) fn is_sim(&self) -> bool {
        self.device.info().kind == DeviceKind::Sim
    }

    /// Numbers of server threads that are tried.
    pub(super) fn thread_counts(&self) -> Vec<usize> {
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
        [1, 2, 4, 8].into_iter().filter(|&threads| threads == 1 || threads <= cores).collect()
    }

    /// So many threads if the machine has as many processors. Of eight, as many as it has; more are asked for on
    /// purpose.
    pub(super) fn threads(&self, wanted: usize) -> Result<usize, Error> {
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
        if wanted > 8 && wanted > cores {
            return Err(Error::NotHere("this machine has fewer processors than the row has threads"));
        }
        Ok(wanted.min(cores))
    }

    /// Runs `sample` with growing counts until one takes long enough to be measured; that count.
    pub(super) fn calibrate(&self, mut sample: impl FnMut(u32) -> Result<Duration, Error>) -> Result<u32, Error> {
        let target = self.scale.sample;
        let mut count = 4u32;
        loop {
            let took = sample(count)?;
            if took * 2 > target || count >= 1 << 22 {
                return Ok(count);
            }
            let factor = target.as_secs_f64() / took.as_secs_f64().max(1e-9);
            // At most ten times as many at once: the first launch is slower than what follows, or faster.
            count = (f64::from(count) * factor.clamp(1.5, 10.0)).ceil() as u32;
        }
    }

    /// A server with every service, and the kernels attached to it. There is one at a time: the kernels call the last.
    pub(super) fn session(&self, threads: usize) -> Result<Session<'_>, Error> {
        self.session_with(threads, Ok)
    }

    /// The same with replies in a window, or without one whatever the device has.
    pub(super) fn session_in(&self, threads: usize, window: bool) -> Result<Session<'_>, Error> {
        if window {
            self.window.as_ref().map_err(|why| Error::NoWindow(why.clone()))?;
        }
        self.session_with(threads, |builder| Ok(builder.window(window)))
    }

    /// The same with more.
    pub(super) fn session_with(
        &self,
        threads: usize,
        more: impl FnOnce(ServerBuilder) -> Result<ServerBuilder, Error>,
    ) -> Result<Session<'_>, Error> {
        let builder = Server::builder(&self.device)
            .threads(threads)
            .placement(self.placement.clone())
            .staging(1024, CHUNK)
            .first_poll(self.first_poll)
            .services([
                bench::exchange(|block| answer(&block)),
                bench::note(|block| {
                    std::hint::black_box(block);
                }),
                bench::take(|data: &[u8]| digest(data)),
                bench::give(|chunk, out: &mut [u8]| {
                    out.fill(filling(chunk));
                    out.len() as u64
                }),
            ]);
        let server = more(builder)?.start()?;
        let buffer = server.attach(&self.program)?;
        Ok(Session { rig: self, server: Arc::new(server), buffer, threads })
    }

    /// A server that serves these kernels and `other`'s over one port buffer: whatever differs is the kernels'.
    pub(super) fn beside<'a>(&'a self, other: &'a Rig, threads: usize) -> Result<[Session<'a>; 2], Error> {
        let own = self.session(threads)?;
        own.server.attach_to(&other.program, &own.buffer)?;
        let others = Session { rig: other, server: own.server.clone(), buffer: own.buffer.clone(), threads };
        Ok([own, others])
    }

    /// The shape of a launch of so many waves.
    pub(super) fn waves(&self, waves: u32) -> Launch {
        let per_group = [8, 4, 2, 1].into_iter().find(|n| waves.is_multiple_of(*n)).unwrap_or(1);
        Launch::linear(waves / per_group, per_group * self.device.info().wave_size)
    }

    /// As many waves as can be resident.
    pub(super) fn all_waves(&self) -> u32 {
        self.device.info().resident_waves
    }

    /// Runs a kernel to its end, as `wait` waits for it; how long the kernel took.
    ///
    /// `args` must be right for the kernel: see [`Queue::launch`].
    pub(super) fn run(
        &self,
        kernel: &str,
        launch: Launch,
        args: Args,
        wait: impl FnOnce() -> Result<(), Error>,
    ) -> Result<Duration, Error> {
        self.watchdog.during(&format!("kernel `{kernel}`"), Watchdog::LAUNCH, || {
            let (start, end) = (self.device.event()?, self.device.event()?);
            let loaded = self.program.kernel(kernel)?;
            self.queue.record(&start)?;
            // SAFETY: every caller in this module's siblings passes memory that it keeps until this returns, with the
            // types that the kernel of this name in `bench/kernels` says; number and sizes are checked by the launch.
            unsafe { self.queue.launch(&loaded, launch, args) }?;
            self.queue.record(&end)?;
            wait()?;
            end.since(&start)?.ok_or_else(|| Error::NoTime { kernel: kernel.to_owned() })
        })
    }

    /// Zeroed device memory.
    pub(super) fn zeroed<T: Plain>(&self, len: usize) -> Result<Memory<T>, Error> {
        let memory = self.device.alloc(len)?;
        self.queue.fill(&memory, 0)?;
        Ok(memory)
    }

    /// Registers of a lane of this kernel, for the table; empty where the device has none.
    pub(super) fn registers(&self, kernel: &str) -> Result<String, Error> {
        let registers = self.program.kernel(kernel)?.info().registers;
        Ok(if registers == 0 { String::new() } else { format!(", {registers} registers") })
    }
}

/// A server, to which the kernels are attached.
pub(super) struct Session<'a> {
    pub(super) rig: &'a Rig,
    pub(super) server: Arc<Server>,
    pub(super) buffer: BufferHandle,
    pub(super) threads: usize,
}

impl Session<'_> {
    /// Runs a kernel to its end, and until every post is handled; how long the kernel took.
    ///
    /// `args` must be right for the kernel: see [`Queue::launch`].
    pub(super) fn run(&self, kernel: &str, launch: Launch, args: Args) -> Result<Duration, Error> {
        self.rig.run(kernel, launch, args, || Ok(self.server.wait(&self.rig.queue)?))
    }
}

/// The median of several samples.
pub(super) fn median(samples: usize, mut sample: impl FnMut() -> Result<f64, Error>) -> Result<f64, Error> {
    Ok(middle((0..samples).map(|_| sample()).collect::<Result<_, _>>()?))
}

/// The median.
///
/// # Panics
/// Of nothing.
pub(super) fn middle(mut all: Vec<f64>) -> f64 {
    all.sort_by(f64::total_cmp);
    all[all.len() / 2]
}

/// The kernels, as the build script built them.
pub(super) fn images() -> ProgramBundle {
    offload::include_program!("bench")
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A small simulator and small samples.
    pub(in super::super) fn small() -> Rig {
        let device = Device::sim("sms=1,waves=8".parse().expect("settings")).expect("a simulator");
        let scale =
            Scale { samples: 1, latency_samples: 1, calls: 20, sample: Duration::from_millis(1), ..Scale::new(DeviceKind::Sim, true) };
        Rig::new(device, scale, FirstPoll::DEFAULT, Placement::Anywhere).expect("the kernels are loaded")
    }
}
