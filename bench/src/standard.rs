//! What std costs on the device: an ordinary program, `tests/programs/costs`, measures itself there, and its figures
//! are set beside those of bare calls and of the host. The lines that all lanes of a kernel write,
//! `tests/programs/lines`, are counted here.
//!
//! The programs are started as `cargo hostcall run` starts them, in a process of their own; what one core of the host
//! needs for the same work is the same source compiled for it.

use std::collections::HashMap;
use std::io::{LineWriter, Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use offload::{Args, DeviceKind, Launch, ProgramBundle};

use super::error::Error;
use super::files::{self, Fixture};
use super::report::{Against, Figure, Row};
use super::rig::{Rig, Session, median};
use super::{Sheet, standard_work as work};

/// The rows of the program that measures itself.
const OF_COSTS: [&str; 9] =
    ["std.write", "std.file_read", "std.mutex", "std.vec_push", "std.alloc", "std.hashmap", "std.line", "std.create", "std.entry"];
/// Bytes of a write, as in the program.
const BLOCK: usize = 4 << 10;
/// Seconds after which the program is ended.
const LIMIT: &str = "60";

/// Lanes that write lines, and lines of each; fewer lanes on the simulator.
const LANES: (u32, u32) = (100_000, 1_000);
const LINES: u32 = 10;

/// Programs by their names.
pub(super) type Programs = HashMap<String, PathBuf>;

/// The programs of these images; an error if one is none, or if nothing is there to execute them: before anything is
/// measured.
pub(super) fn programs(images: &[PathBuf]) -> Result<Programs, Error> {
    if !images.is_empty() {
        command_line()?;
    }
    let named = |path: &PathBuf| {
        let bytes = std::fs::read(path).map_err(|source| Error::File { doing: "cannot read", path: path.clone(), source })?;
        let bundle = ProgramBundle::from_bytes(&bytes).map_err(|source| Error::Image { path: path.clone(), source: Box::new(source) })?;
        Ok((bundle.name.into_owned(), path.clone()))
    };
    images.iter().map(named).collect()
}

/// Measures all rows, as far as their programs are there, beside the host and the core.
pub(super) fn rows(rig: &Rig, sheet: &mut Sheet, programs: &Programs) {
    if let Some(image) = programs.get("costs").filter(|_| sheet.wants_any(&OF_COSTS))
        && let Err(error) = costs(rig, sheet, image)
    {
        let said = error.to_string();
        OF_COSTS.into_iter().for_each(|name| sheet.row(name, |_| Err(Error::Also(said.clone()))));
    }
    if let Some(image) = programs.get("lines") {
        sheet.row("std.println", |_| println(rig, image));
    }
}

/// The rows of the program that measures itself.
fn costs(rig: &Rig, sheet: &mut Sheet, image: &Path) -> Result<(), Error> {
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
    let write_us = median(rig.scale.samples, || fixture.write(BLOCK))?;
    eprintln!("std: {} …", image.display());
    let figures = figures(rig, image, &fixture)?;
    let figure = |name: &str| figures.get(name).copied().ok_or(Error::NotHere("the program does not measure it"));
    let core = |ns: f64| format!("; one core of the host {ns:.1} ns");

    sheet.row("std.write", |_| {
        let us = figure("write_ns")? / 1e3;
        let note = format!(
            "4 KiB to a file by one thread; a bare call with 4 KiB by one lane {call_us:.3} us, the host's own write {write_us:.3} us, \
             {threads} server thread(s)"
        );
        Ok(Row { name: "std.write", figure: Figure::Us(us), ratio: us / call_us, against: Against::Call, note })
    });
    sheet.row("std.file_read", |_| {
        let gb_s = figure("read_gb_s")?;
        let note = format!("{} MiB by 64 threads of one lane; pread and copy {pread_gb_s:.2} GB/s", fixture.bytes() >> 20);
        Ok(Row { name: "std.file_read", figure: Figure::GbS(gb_s), ratio: gb_s / pread_gb_s, against: Against::Pread, note })
    });
    sheet.row("std.mutex", |_| {
        let (ns, atomic) = (figure("mutex_ns")?, figure("atomic_ns")?);
        let by_hand = figure("accesses_ns")?;
        let note = format!(
            "lock and unlock, nobody else wants it; one atomic addition {atomic:.1} ns; the lock's four accesses to memory by hand \
             {by_hand:.1} ns"
        );
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
    let failed = |source| Error::File { doing: "cannot make files in", path: fixture.dir().into(), source };
    let made = |count, which: usize| work::files(fixture.dir(), count).map(|both| both[which]).map_err(failed);
    let here: [(_, _, _, &dyn Fn() -> Result<f64, Error>); 3] = [
        ("std.line", "line_ns", "`println!` of a line into a pipe, by one thread", &|| lines_here(2_000).map_err(failed)),
        ("std.create", "create_ns", "a file created, written and closed, by one thread", &|| made(500, 0)),
        ("std.entry", "entry_ns", "an entry of a directory of 2000, listed by one thread", &|| made(2_000, 1)),
    ];
    for (name, key, what, here) in here {
        sheet.row(name, |_| {
            let (ns, host) = (figure(key)?, median(rig.scale.samples, here)?);
            let note = format!("{what}: {ns:.0} ns each{}", core(host));
            Ok(Row { name, figure: Figure::PerS(1e9 / ns), ratio: host / ns, against: Against::OneCore, note })
        });
    }
    Ok(())
}

/// What a line takes that is written into a pipe here.
fn lines_here(count: u32) -> std::io::Result<f64> {
    let (mut reader, writer) = std::io::pipe()?;
    std::thread::scope(|scope| {
        let drained = scope.spawn(move || std::io::copy(&mut reader, &mut std::io::sink()));
        let mut out = LineWriter::new(writer);
        let mut written = Ok(());
        let each = work::lines(count, |i| {
            if written.is_ok() {
                written = writeln!(out, "line{i:06}");
            }
        });
        drop(out);
        // It panics nowhere.
        let _ = drained.join();
        written.map(|()| each)
    })
}

/// Lines a second that arrive here, from the first byte to the last, from a kernel each of whose lanes formats and
/// writes some.
fn println(rig: &Rig, image: &Path) -> Result<Row, Error> {
    let lanes = if rig.is_sim() { LANES.1 } else { LANES.0 };
    let failed = |source| Error::File { doing: "cannot run", path: image.into(), source };
    let rate = median(rig.scale.samples, || {
        let mut command = exec(rig)?;
        command.args(["--kernel", "lines", "--lanes", &lanes.to_string()]).arg(image).arg(LINES.to_string());
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn().map_err(failed)?;
        let mut text = Vec::new();
        let mut took = None;
        if let Some(mut stdout) = child.stdout.take() {
            let mut piece = vec![0; 1 << 16];
            let mut first = None;
            while let n @ 1.. = stdout.read(&mut piece).map_err(failed)? {
                took = Some(first.get_or_insert_with(Instant::now).elapsed());
                text.extend_from_slice(&piece[..n]);
            }
        }
        let status = child.wait().map_err(failed)?;
        let took = took.filter(|_| status.success()).ok_or_else(|| Error::Program { path: image.into(), status, said: String::new() })?;
        Error::unless_all("lines", different(&text, lanes), u64::from(lanes) * u64::from(LINES))?;
        Ok(f64::from(lanes) * f64::from(LINES) / took.as_secs_f64())
    })?;
    let note = format!("{LINES} lines of each of {lanes} lanes, through a pipe to another process, each line there once");
    Ok(Row { name: "std.println", figure: Figure::PerS(rate), ratio: 1.0, against: Against::Itself, note })
}

/// How many of the lines that there must be there are, each counted once; none if there is any other.
fn different(text: &[u8], lanes: u32) -> u64 {
    let mut seen = vec![false; lanes as usize * LINES as usize];
    for line in text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let mut words = line.split(|byte| *byte == b' ');
        let mut number = |name: &[u8]| (words.next()? == name).then(|| str::from_utf8(words.next()?).ok()?.parse::<u32>().ok())?;
        let (Some(lane), Some(i)) = (number(b"lane"), number(b"line")) else { return 0 };
        let Some(seen) = seen.get_mut(lane as usize * LINES as usize + i as usize).filter(|_| i < LINES) else { return 0 };
        *seen = true;
    }
    seen.iter().filter(|seen| **seen).count() as u64
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
    let mut command = exec(rig)?;
    command.arg("--dir").arg(format!("{}::{}", fixture.dir().display(), files::GUEST)).arg(image).arg(files::GUEST);
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

/// What executes programs: the command line.
const COMMAND: &str = if cfg!(windows) { "cargo-hostcall.exe" } else { "cargo-hostcall" };

/// The command line beside the program `own`, else in one of the directories of `path`.
fn find(own: Option<&Path>, path: Option<&std::ffi::OsStr>) -> Option<PathBuf> {
    let beside = own.and_then(Path::parent).map(Path::to_path_buf);
    let listed = path.into_iter().flat_map(std::env::split_paths);
    beside.into_iter().chain(listed).map(|dir| dir.join(COMMAND)).find(|file| file.is_file())
}

/// The command line, which executes programs.
fn command_line() -> Result<PathBuf, Error> {
    let own = std::env::current_exe().ok();
    find(own.as_deref(), std::env::var_os("PATH").as_deref()).ok_or_else(|| {
        let source = std::io::Error::other("it is neither beside this program nor in PATH: `cargo build --release -p cargo-hostcall`");
        Error::File { doing: "cannot find", path: COMMAND.into(), source }
    })
}

/// What starts a program on this device, but for the program.
fn exec(rig: &Rig) -> Result<Command, Error> {
    let info = rig.device.info();
    let device = if info.kind == DeviceKind::Sim { "sim".to_owned() } else { format!("cuda:{}", info.ordinal) };
    let mut command = Command::new(command_line()?);
    command.args(["exec", "--quiet", "--timeout", LIMIT, "--device", &device]);
    Ok(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_executed_by_the_command_line_beside_this_program_or_another_one() {
        let [beside, listed] = [(); 2].map(|()| tempfile::tempdir().expect("a directory"));
        let (own, path) = (beside.path().join("hostcall-bench"), std::env::join_paths([listed.path()]).expect("a list"));
        std::fs::write(&own, "").expect("written");
        let found = || find(Some(&own), Some(&path));
        assert_eq!(found(), None, "this program executes none");
        std::fs::write(listed.path().join(COMMAND), "").expect("written");
        assert_eq!(found(), Some(listed.path().join(COMMAND)));
        std::fs::write(beside.path().join(COMMAND), "").expect("written");
        assert_eq!(found(), Some(beside.path().join(COMMAND)));
    }

    #[test]
    fn lines_are_counted_once_and_others_spoil_the_count() {
        let all = |lanes: u32| (0..lanes).flat_map(|lane| (0..LINES).map(move |i| format!("lane {lane} line {i} {:08x}\n", lane ^ i)));
        let text: String = all(3).collect();
        assert_eq!(different(text.as_bytes(), 3), 30);
        assert_eq!(different((text.clone() + "lane 2 line 9 00000000\n").as_bytes(), 3), 30);
        assert_eq!(different(all(3).skip(1).collect::<String>().as_bytes(), 3), 29);
        for other in ["lane 3 line 0 0\n", "lane 0 line 10 0\n", "lane 0 l", "lane x line 0 0\n"] {
            assert_eq!(different((text.clone() + other).as_bytes(), 3), 0, "{other}");
        }
    }
}
