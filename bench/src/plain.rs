//! The plain loop over this wire: words and doorbells as the server has them, and no server.
//!
//! What `bench/kernels/src/plain.rs` asks is answered here by the shortest loop that can do it: it sweeps sixteen
//! doorbells at once, fetches the two lines of each request that rang, checks the tags, works out the answer and stores
//! it as whole lines. Nothing is registered, taken, counted or validated. So its figures are what a call over this wire
//! can cost on the machine, measured in the same run as our own.
//!
//! Both sides are bounded: a wave gives up when its reply stays away, and the threads end with the kernel.

mod answer;

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use hostcall_abi::{Geometry, Tag, Word};
use offload::{Args, HostMemory, Launch, Line, LineStore, Window};

use self::answer::{LANES, LOT, View, scalar, serve, store, wide};
use super::error::Error;
use super::report::{Against, Figure, Row};
use super::rig::{Rig, Scale, median, middle};
use super::watchdog::Watchdog;

/// What the waves do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// One lane of each wave calls, the others help.
    Scalar,
    /// All lanes of each wave call.
    Wide,
}

/// Which part of the calls is measured, and of how many waves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// All of a call.
    Whole,
    /// All of a call for which a word of the device's memory is taken and given back, as ports are.
    Taken,
    /// The device's own part.
    Device,
    /// Calls of as many waves as can be resident.
    AllWaves,
}

impl Form {
    fn kernel(self, part: Part) -> &'static str {
        match (self, part) {
            (Self::Scalar, Part::Whole) => "plain_scalar",
            (Self::Scalar, Part::Taken) => "plain_scalar_taken",
            (Self::Scalar, Part::Device) => "plain_scalar_device",
            (Self::Scalar, Part::AllWaves) => "plain_scalar_all",
            (Self::Wide, Part::Whole) => "plain_wide",
            (Self::Wide, Part::Taken) => "plain_wide_taken",
            (Self::Wide, Part::Device) => "plain_wide_device",
            (Self::Wide, Part::AllWaves) => "plain_wide_all",
        }
    }
}

/// Doorbells, requests and replies of some waves.
struct Area<'a> {
    rig: &'a Rig,
    form: Form,
    part: Part,
    waves: u32,
    /// Waves, rounded up to whole lots.
    ports: usize,
    geometry: Geometry,
    host: HostMemory<u128>,
    window: Option<Window>,
    /// Calls that each wave has made: the tag of its last one.
    made: u32,
}

impl<'a> Area<'a> {
    fn new(rig: &'a Rig, form: Form, waves: u32, window: bool) -> Result<Self, Error> {
        if rig.device.info().wave_size as usize != LANES {
            return Err(Error::NotHere("the plain loop is one of waves of 32 lanes"));
        }
        let ports = (waves as usize).next_multiple_of(LOT);
        let geometry = Geometry { slots: 0, window, ..Geometry::new(ports as u32, LANES as u32) };
        let host: HostMemory<u128> = rig.device.alloc_host(geometry.host_layout().bytes / size_of::<u128>())?;
        if !host.as_ptr().addr().is_multiple_of(Line::BYTES) {
            return Err(Error::NotHere("host memory does not begin at a line"));
        }
        let window = if window { Some(rig.device.window(geometry.window_layout().bytes)?) } else { None };
        Ok(Self { rig, form, part: Part::Whole, waves, ports, geometry, host, window, made: 0 })
    }

    /// The words as the host sees them.
    fn view(&self) -> View {
        let (host, layout) = (self.host.as_ptr().cast::<u8>(), self.geometry.host_layout());
        let (replies, store) = match &self.window {
            Some(window) => (window.as_ptr().as_ptr().wrapping_add(self.geometry.window_layout().replies), window.line_store()),
            // Into cached memory the form matters little, and this one is inlined.
            None => {
                let inlined = LineStore::available().into_iter().find(|store| *store == LineStore::Sse2);
                (host.wrapping_add(layout.replies), inlined.unwrap_or(LineStore::Plain))
            }
        };
        View {
            bells: host.wrapping_add(layout.doorbells).cast(),
            requests: host.wrapping_add(layout.requests),
            request_bytes: self.geometry.request_bytes(),
            replies,
            reply_bytes: self.geometry.reply_bytes(),
            store,
        }
    }

    /// Each wave makes `warm + calls` calls, answered by `threads` threads. How long the kernel took, and nanoseconds
    /// of the first wave's `calls`.
    fn run(&mut self, threads: usize, warm: u32, calls: u32) -> Result<(Duration, u64), Error> {
        let (rig, kernel, each) = (self.rig, self.form.kernel(self.part), warm + calls);
        let out = rig.zeroed::<[u64; 2]>(self.waves as usize)?;
        let layout = self.geometry.host_layout();
        let replies = match &self.window {
            Some(window) => window.address() + self.geometry.window_layout().replies as u64,
            None => self.host.address() + layout.replies as u64,
        };
        let args = Args::new()
            .address(self.host.address() + layout.doorbells as u64)
            .address(self.host.address() + layout.requests as u64)
            .value(self.geometry.request_words)
            .address(replies)
            .value(self.geometry.reply_words)
            .value(self.made)
            .value(warm)
            .value(calls)
            .slice(&out);
        let (view, ended, last) = (self.view(), &AtomicBool::new(false), Tag::new(self.made as u16));
        let shares: Vec<Range<usize>> =
            (0..threads).map(|t| self.ports / LOT * t / threads * LOT..self.ports / LOT * (t + 1) / threads * LOT).collect();
        let polite = rig.is_sim();
        let took = rig.watchdog.during(&format!("kernel `{kernel}`"), Watchdog::LAUNCH, || {
            std::thread::scope(|scope| {
                // Also when something fails: the scope waits for the threads.
                let _ends = Ends(ended);
                for share in shares {
                    let waves = self.waves as usize;
                    let mine = u64::from(each) * share.clone().filter(|port| *port < waves).count() as u64;
                    let shadow: Vec<u32> = share.clone().map(|port| if port < waves { last.seq().into() } else { 0 }).collect();
                    let form = self.form;
                    let serve = move || match form {
                        // SAFETY: the areas are those of `view`, which `self` keeps until the scope ends; of each port
                        // only one thread has the share.
                        Form::Scalar => unsafe {
                            serve(&view, share.start, shadow, mine, polite, ended, |v, port, tag| scalar(v, port, tag))
                        },
                        // SAFETY: as above.
                        Form::Wide => unsafe { serve(&view, share.start, shadow, mine, polite, ended, |v, port, tag| wide(v, port, tag)) },
                    };
                    std::thread::Builder::new().name("plain".into()).spawn_scoped(scope, serve).map_err(Error::Thread)?;
                }
                let (start, end) = (rig.device.event()?, rig.device.event()?);
                let loaded = rig.program.kernel(kernel)?;
                rig.queue.record(&start)?;
                // SAFETY: as `bench/kernels` says: areas for as many waves as are launched, and an element of `out` for
                // each; `self` and this function keep them until the queue is synchronised.
                unsafe { rig.queue.launch(&loaded, rig.waves(self.waves), args) }?;
                rig.queue.record(&end)?;
                rig.queue.synchronize()?;
                end.since(&start)?.ok_or_else(|| Error::NoTime { kernel: kernel.to_owned() })
            })
        })?;
        self.made += each;
        let out = rig.queue.read(&out)?;
        let gave_up = out.iter().filter(|wave| wave[0] == u64::MAX).count() as u64;
        Error::unless_all(format!("waves of `{kernel}` that did not give up"), u64::from(self.waves) - gave_up, self.waves.into())?;
        let right = out.iter().map(|wave| wave[1]).sum();
        Error::unless_all(format!("answers to `{kernel}`"), right, u64::from(self.waves) * u64::from(calls))?;
        Ok((took, out[0][0]))
    }
}

/// Tells the threads that the kernel has ended.
struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        // Relaxed: it is all there is to say. Pairs with the load in `serve`.
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Microseconds of a call of one wave on an otherwise idle device, or of the device's own part of it.
fn latency(rig: &Rig, form: Form, part: Part, window: bool) -> Result<f64, Error> {
    let (warm, calls) = (rig.scale.calls / 10, rig.scale.calls);
    let mut all = Vec::new();
    // As the floor and the calls are measured: on several threads, with memory of their own.
    for _ in 0..rig.scale.hosts {
        let mut area = Area { part, ..Area::new(rig, form, 1, window)? };
        for _ in 0..rig.scale.latency_samples {
            all.push(area.run(1, warm, calls)?.1 as f64 / 1e3 / f64::from(calls));
        }
    }
    Ok(middle(all))
}

/// Calls (of a wave, whatever its lanes) a second, of all waves.
pub(super) fn rate(rig: &Rig, form: Form, threads: usize, window: bool) -> Result<f64, Error> {
    let waves = rig.all_waves();
    let mut area = Area { part: Part::AllWaves, ..Area::new(rig, form, waves, window)? };
    let each = rig.calibrate(|each| Ok(area.run(threads, 0, each)?.0))?;
    median(rig.scale.samples, || Ok(f64::from(waves) * f64::from(each) / area.run(threads, 0, each)?.0.as_secs_f64()))
}

/// Microseconds of one word there and one back, the one back in a line of its own.
pub(super) fn pingpong(rig: &Rig, window: bool) -> Result<f64, Error> {
    let (warm, trips) = (rig.scale.calls / 10, rig.scale.calls);
    let mut all = Vec::new();
    for _ in 0..rig.scale.hosts {
        // What goes there is the first doorbell, what comes back the first reply.
        let area = Area::new(rig, Form::Scalar, 1, window)?;
        for _ in 0..rig.scale.latency_samples {
            all.push(area.bounce(warm, trips)?);
        }
    }
    Ok(middle(all))
}

impl Area<'_> {
    fn bounce(&self, warm: u32, trips: u32) -> Result<f64, Error> {
        let (rig, view) = (self.rig, self.view());
        let layout = self.geometry.host_layout();
        let replies = match &self.window {
            Some(window) => window.address() + self.geometry.window_layout().replies as u64,
            None => self.host.address() + layout.replies as u64,
        };
        // SAFETY: the first doorbell, which both sides access atomically.
        let ping = unsafe { AtomicU32::from_ptr(view.bells.cast_mut()) };
        // Relaxed: the launch orders it.
        ping.store(0, Ordering::Relaxed);
        // SAFETY: the first line of the replies; no kernel reads it now.
        unsafe { store(&view, view.replies, &[]) };
        view.store.order();
        let out = rig.zeroed::<[u64; 2]>(1)?;
        rig.watchdog.during("the plain ping-pong", Watchdog::LAUNCH, || {
            let kernel = rig.program.kernel("plain_pingpong")?;
            let args =
                Args::new().address(self.host.address() + layout.doorbells as u64).address(replies).value(warm).value(trips).slice(&out);
            // SAFETY: as `bench/kernels` says: a word for each direction, and an element; all are kept until the queue
            // is synchronised.
            unsafe { rig.queue.launch(&kernel, Launch::linear(1, 1), args) }?;
            let mut looks = 0u32;
            'trips: for i in 1..=warm + trips {
                // Relaxed: the word is all there is to say. Pairs with the kernel's store.
                while ping.load(Ordering::Relaxed) != i {
                    looks += 1;
                    if looks.is_multiple_of(if rig.is_sim() { 1 << 8 } else { 1 << 20 }) {
                        // A kernel that gave up has no more to say; what it said in `out` is looked at below.
                        if rig.queue.is_idle()? && ping.load(Ordering::Relaxed) != i {
                            break 'trips;
                        }
                        std::thread::yield_now();
                    }
                }
                // SAFETY: the first line of the replies, which nobody else writes.
                unsafe { store(&view, view.replies, &[Word([i, 0, 0, 0])]) };
                view.store.fence();
            }
            rig.queue.synchronize()?;
            let [ns, right] = rig.queue.read(&out)?[0];
            Error::unless_all("trips of `plain_pingpong`", if ns == u64::MAX { 0 } else { right }, trips.into())?;
            Ok(ns as f64 / 1e3 / f64::from(trips))
        })
    }
}

/// A measurement of the plain loop.
#[derive(Clone, Copy, Debug)]
pub(super) enum What {
    Pingpong,
    /// One wave.
    Held(Form),
    /// One wave that takes a word for each call.
    Taken(Form),
    /// The device's own part of one wave's calls.
    Device(Form),
    /// All waves, and how many threads answer them.
    Rate(Form, usize),
}

/// The rows, without and with a window.
pub(super) const ROWS: [(&str, &str, What); 11] = [
    ("plain.pingpong", "plain.pingpong.no_window", What::Pingpong),
    ("plain.scalar", "plain.scalar.no_window", What::Held(Form::Scalar)),
    ("plain.scalar.taken", "plain.scalar.taken.no_window", What::Taken(Form::Scalar)),
    ("plain.wide64", "plain.wide64.no_window", What::Held(Form::Wide)),
    ("plain.wide64.taken", "plain.wide64.taken.no_window", What::Taken(Form::Wide)),
    ("plain.scalar.device", "plain.scalar.device.no_window", What::Device(Form::Scalar)),
    ("plain.wide64.device", "plain.wide64.device.no_window", What::Device(Form::Wide)),
    ("plain.throughput.scalar.1", "plain.throughput.scalar.1.no_window", What::Rate(Form::Scalar, 1)),
    ("plain.throughput.scalar", "plain.throughput.scalar.no_window", What::Rate(Form::Scalar, 8)),
    ("plain.throughput.wide64", "plain.throughput.wide64.no_window", What::Rate(Form::Wide, 8)),
    ("plain.throughput.wide64.12", "plain.throughput.wide64.12.no_window", What::Rate(Form::Wide, 12)),
];

/// Measures one row.
pub(super) fn row(rig: &Rig, name: &'static str, what: What, window: bool, floor_us: f64) -> Result<Row, Error> {
    if window {
        rig.window.as_ref().map_err(|why| Error::NoWindow(why.clone()))?;
    }
    let Scale { latency_samples, hosts, calls, .. } = rig.scale;
    let us = |us: f64, of: &str| Row {
        name,
        figure: Figure::Us(us),
        ratio: us / floor_us,
        against: Against::Floor,
        note: format!("median of {hosts} x {latency_samples} x {calls} {of}, 1 thread"),
    };
    Ok(match what {
        What::Pingpong => us(pingpong(rig, window)?, "words there and back, the one back in a line"),
        What::Held(form) => us(latency(rig, form, Part::Whole, window)?, "calls of one wave"),
        What::Taken(form) => us(latency(rig, form, Part::Taken, window)?, "calls of one wave, which takes a word for each"),
        What::Device(form) => us(latency(rig, form, Part::Device, window)?, "requests sent and replies taken that were there"),
        What::Rate(form, threads) => {
            let threads = rig.threads(threads)?;
            let rate = rate(rig, form, threads, window)?;
            let note = format!("{} waves, {threads} thread(s)", rig.all_waves());
            Row { name, figure: Figure::PerS(rate), ratio: rate * floor_us / 1e6, against: Against::PerFloor, note }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plain_loop_answers_calls_of_one_lane_and_of_all_with_and_without_a_window() {
        let rig = super::super::rig::tests::small();
        for window in [false, true] {
            assert!(pingpong(&rig, window).unwrap() > 0.0);
            for (form, part) in [Form::Scalar, Form::Wide].into_iter().flat_map(|form| [(form, Part::AllWaves), (form, Part::Taken)]) {
                let mut area = Area { part, ..Area::new(&rig, form, rig.all_waves(), window).unwrap() };
                for threads in [1, 2, 3] {
                    // More than once around the doorbells, and on from where the last launch ended.
                    area.run(threads, 3, 40).unwrap();
                }
                assert_eq!(area.made, 3 * 43);
            }
        }
    }
}
