//! What std costs on the device: an ordinary program, `programs/costs`, measures itself there, and its figures are set beside those of bare calls
//! and of the host.
//!
//! The program is started as `cargo hostcall run` starts it, in a process of its own, and prints its figures; what one core of the host needs for the same work
//! is the same source compiled for it.

use std::collections::HashMap;
use std::path::Path;
use std::process::{Command, Stdio};

use offload::{Args, DeviceKind, Launch};

use super::error::Error;
use super::files::{self, Fixture};
use super::report::{Against, Figure, Row};
use super::rig::{Rig, Session, median};
use super::{Sheet, standard_work as work};

/// The rows.
pub(super) const ROWS: [&str; 7] = ["std.write", "std.file_read", "std.mutex", "std.vec_push", "std.alloc", "std.hashmap", "std.println"];
/// Bytes of a write, as in the program.
const BLOCK: usize = 4 << 10;
/// Seconds after which the program is ended.
const LIMIT: &str = "60";

/// Measures all rows: of the program in `image`, beside the host and the core.
pub(super) fn rows(rig: &Rig, sheet: &mut Sheet, image: &Path) -> Result<(), Error> {
    if !sheet.wants_any(&ROWS) {
        return Ok(());
    }
    let fixture = Fixture::sized(if rig.is_sim() { rig.scale.file_bytes } else { 2 * rig.scale.file_bytes })?;
    eprintln!("std: what bare calls and the host need …");
    // As many as serve the latency rows.
    let most = if rig.is_sim() { 1 } else { 4 };
    let threads = rig.thread_counts().into_iter().rfind(|threads| *threads <= most).unwrap_or(1);
    let call_us = call(&rig.session(threads)?)?;
    let pread_gb_s = {
        let into = rig.zeroed(fixture.bytes())?;
        files::pread_and_copy(rig, &fixture.path(), &into)?
    };
    eprintln!("std: {} …", image.display());
    let figures = figures(rig, image, &fixture)?;
    let figure = |name: &str| figures.get(name).copied().ok_or(Error::NotHere("the program does not measure it"));
    let core = |ns: f64| format!("; one core of the host {ns:.1} ns");

    sheet.row("std.write", |_| {
        let us = figure("write_ns")? / 1e3;
        let note = format!("4 KiB to a file by one thread; a bare call with 4 KiB by one lane {call_us:.3} us, {threads} server thread(s)");
        Ok(Row { name: "std.write", figure: Figure::Us(us), ratio: us / call_us, against: Against::Call, note })
    });
    sheet.row("std.file_read", |_| {
        let gb_s = figure("read_gb_s")?;
        let note = format!("{} MiB by 64 threads of one lane; pread and copy {pread_gb_s:.2} GB/s", fixture.bytes() >> 20);
        Ok(Row { name: "std.file_read", figure: Figure::GbS(gb_s), ratio: gb_s / pread_gb_s, against: Against::Pread, note })
    });
    sheet.row("std.mutex", |_| {
        let (ns, atomic) = (figure("mutex_ns")?, figure("atomic_ns")?);
        let note = format!("lock and unlock, nobody else wants it; one atomic addition {atomic:.1} ns");
        Ok(Row { name: "std.mutex", figure: Figure::Us(ns / 1e3), ratio: ns / atomic, against: Against::Atomic, note })
    });
    for (name, key, what, here) in [
        ("std.vec_push", "push_ns", "2^20 numbers appended to a Vec that grows, by one thread", work::push as fn(u32) -> f64),
        ("std.alloc", "alloc_ns", "16-512 B allocated and freed, by one thread", work::alloc),
        ("std.hashmap", "insert_ns", "100000 numbers inserted into a HashMap that grows, by one thread", work::insert),
    ] {
        sheet.row(name, |_| {
            let ns = figure(key)?;
            let count = if key == "push_ns" { 1 << 20 } else { 100_000 };
            let host = median(rig.scale.samples, || Ok(here(count)))?;
            let note = format!("{what}: {ns:.1} ns each{}", core(host));
            Ok(Row { name, figure: Figure::PerS(1e9 / ns), ratio: host / ns, against: Against::OneCore, note })
        });
    }
    sheet.row("std.println", |_| {
        let lines = figure("println_per_s")?;
        Ok(Row {
            name: "std.println",
            figure: Figure::PerS(lines),
            ratio: 1.0,
            against: Against::Itself,
            note: "lines of all lanes".into(),
        })
    });
    Ok(())
}

/// Microseconds of a call that carries as many bytes as a write, by one lane.
fn call(session: &Session<'_>) -> Result<f64, Error> {
    let rig = session.rig;
    let data = rig.zeroed::<u8>(BLOCK)?;
    let calls = rig.scale.calls.min(2_000);
    let right = rig.zeroed::<u64>(1)?;
    median(rig.scale.samples, || {
        let took = session.run("call_bytes", Launch::linear(1, 1), Args::new().value(calls).slice(&data).slice(&right))?;
        Error::unless_all("answers to `call_bytes`", rig.queue.read(&right)?[0], calls.into())?;
        Ok(took.as_secs_f64() * 1e6 / f64::from(calls))
    })
}

/// Runs the program; its figures by name.
fn figures(rig: &Rig, image: &Path, fixture: &Fixture) -> Result<HashMap<String, f64>, Error> {
    let failed = |source| Error::File { doing: "cannot run", path: image.into(), source };
    let info = rig.device.info();
    let device = if info.kind == DeviceKind::Sim { "sim".to_owned() } else { format!("cuda:{}", info.ordinal) };
    let mut command = Command::new(std::env::current_exe().map_err(failed)?);
    command.args(["exec", "--quiet", "--timeout", LIMIT, "--device", &device, "--dir"]);
    command.arg(format!("{}::{}", fixture.dir().display(), files::GUEST)).arg(image).arg(files::GUEST);
    let output = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output().map_err(failed)?;
    let text = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        return Err(Error::Program { path: image.into(), status: output.status, said: text.trim().into() });
    }
    let line = |line: &str| {
        let (name, number) = line.split_once(' ')?;
        Some((name.to_owned(), number.trim().parse().ok()?))
    };
    Ok(text.lines().filter_map(line).collect())
}
