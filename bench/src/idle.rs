//! What a server takes while nobody calls, and how fast it is back.

use std::time::{Duration, Instant};

use offload::{Args, Launch};
use rustix::time::{ClockId, clock_gettime};

use super::error::Error;
use super::report::{Against, Figure, Row};
use super::rig::{Rig, Session, median};
use super::watchdog::Watchdog;

/// Processor time of this process, all threads.
fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.max(0).cast_unsigned(), time.tv_nsec.max(0) as u32)
}

/// Cores that this process kept busy while the calling thread slept for `time`.
fn cores_during(time: Duration) -> f64 {
    let (start, before) = (Instant::now(), processor_time());
    std::thread::sleep(time);
    (processor_time() - before).as_secs_f64() / start.elapsed().as_secs_f64()
}

fn row(name: &'static str, cores: f64, note: String) -> Row {
    Row { name, figure: Figure::Us(cores * 1e6), ratio: cores, against: Against::Core, note }
}

/// The row `idle.none`: no kernel runs.
pub(super) fn none(session: &Session<'_>) -> Result<Row, Error> {
    silent("idle.none", session.rig, format!("processor time of the process in 1 s, {} server thread(s)", session.threads))
}

/// The row `idle.no_server`: the same where there is no server either. It is what the driver's own threads take.
pub(super) fn no_server(rig: &Rig) -> Result<Row, Error> {
    silent("idle.no_server", rig, "processor time of the process in 1 s, without a server".into())
}

fn silent(name: &'static str, rig: &Rig, note: String) -> Result<Row, Error> {
    // Whatever the last kernel woke has a moment to lie down.
    std::thread::sleep(Duration::from_millis(20));
    let cores = median(rig.scale.samples, || Ok(cores_during(rig.scale.silence)))?;
    Ok(row(name, cores, note))
}

/// The rows `idle.quiet` and `wake`: a kernel runs without a call, then makes one.
pub(super) fn quiet(session: &Session<'_>, floor_us: f64) -> Result<[Row; 2], Error> {
    let rig = session.rig;
    let mut wakes = Vec::new();
    let cores = median(rig.scale.samples, || {
        rig.watchdog.during("kernel `quiet`", Watchdog::LAUNCH, || {
            let out = rig.zeroed::<u64>(2)?;
            let kernel = rig.program.kernel("quiet")?;
            let args = Args::new().value(rig.scale.silence.as_nanos() as u64).slice(&out);
            // SAFETY: as `bench/kernels` says: a count and a slice, which lives until the server has waited for the
            // kernel below.
            unsafe { rig.queue.launch(&kernel, Launch::linear(1, 1), args) }?;
            // Nine tenths in the middle of the silence: launching is not part of it, nor is the call.
            std::thread::sleep(rig.scale.silence / 20);
            let cores = cores_during(rig.scale.silence * 9 / 10);
            session.server.wait(&rig.queue)?;
            let out = rig.queue.read(&out)?;
            Error::unless_all("answers to `quiet`", out[1], 1)?;
            wakes.push(out[0] as f64 / 1e3);
            Ok(cores)
        })
    })?;
    wakes.sort_by(f64::total_cmp);
    let (wake, worst) = (wakes[wakes.len() / 2], wakes[wakes.len() - 1]);
    let silence = rig.scale.silence.as_millis();
    let quiet = row(
        "idle.quiet",
        cores,
        format!("processor time of the process in 1 s while a kernel is silent, {} server thread(s)", session.threads),
    );
    let note = format!("first call after {silence} ms of silence; slowest of {}: {worst:.1} us", wakes.len());
    Ok([quiet, Row { name: "wake", figure: Figure::Us(wake), ratio: wake / floor_us, against: Against::Floor, note }])
}
