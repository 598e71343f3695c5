//! Kernels in C++ that do what the benchmark's own do: the client in C++ against the client in Rust.
//!
//! Both are measured in turns, on the same servers, so that what a machine does at other times and in other places
//! concerns both.

use std::path::Path;

use offload::{Image, ImageKind, ProgramBundle};

use super::bulk::{self, Way};
use super::error::Error;
use super::latency::{self, Shape};
use super::report::{Against, Figure, Row};
use super::rig::{Rig, Session, middle};
use super::throughput::{self, Load};

/// What a row compares.
#[derive(Clone, Copy, Debug)]
pub(super) enum What {
    /// Calls of one wave, by this kernel.
    Latency(&'static str, Shape),
    /// Calls or posts of all waves.
    Rate(Load),
    /// What a post costs the wave that makes it.
    Issue,
    /// Large slices.
    Bulk(Way),
}

/// The rows.
pub(super) const ROWS: [(&str, What); 9] = [
    ("cpp.call.scalar.held", What::Latency("call_held", Shape::Scalar)),
    ("cpp.call.scalar", What::Latency("call", Shape::Scalar)),
    ("cpp.call.wide64", What::Latency("call", Shape::Wide)),
    ("cpp.throughput.scalar", What::Rate(Load::Scalar)),
    ("cpp.throughput.wide64", What::Rate(Load::Wide)),
    ("cpp.post.rate", What::Rate(Load::Post)),
    ("cpp.post.issue", What::Issue),
    ("cpp.bulk.to_host", What::Bulk(Way::ToHost)),
    ("cpp.bulk.to_kernel", What::Bulk(Way::ToKernel)),
];

/// Why there are none unless they are asked for.
pub(super) const NO_IMAGE: Error = Error::NotHere("`--cpp FILE` names an image of `bench/kernels/bench.cu`");

/// Turns of a rate.
const TURNS: usize = 3;

/// The image at `path` as a bundle for the device that `rig` is on.
pub(super) fn images(rig: &Rig, path: &Path) -> Result<ProgramBundle, Error> {
    let bytes = std::fs::read(path).map_err(|source| Error::File { doing: "cannot read", path: path.into(), source })?;
    let kind = if rig.is_sim() { ImageKind::Sim } else { ImageKind::Cubin };
    Ok(ProgramBundle::new("bench.cu", vec![Image::new(kind, rig.device.info().arch.clone(), bytes)]))
}

/// Measures one row on both rigs: in each turn on one server and over one port buffer, because where a server's threads
/// and its buffer happen to be makes more of a difference than the kernels do. The ratio is the middle one of the
/// turns'.
pub(super) fn row(rust: &Rig, cpp: &Rig, name: &'static str, what: What, image: &str) -> Result<Row, Error> {
    let threads = rust.threads(if matches!(what, What::Latency(..) | What::Issue) { if rust.is_sim() { 1 } else { 4 } } else { 8 })?;
    let turns = if matches!(what, What::Latency(..)) { rust.scale.hosts } else { TURNS };
    let (mut figures, mut ratios) = ([Vec::new(), Vec::new()], Vec::new());
    for turn in 0..turns {
        let sessions = rust.beside(cpp, threads)?;
        let mut turns = [0.0; 2];
        // Each is the first one in every other turn.
        for which in if turn % 2 == 0 { [0, 1] } else { [1, 0] } {
            turns[which] = middle(sample(&sessions[which], what)?);
            figures[which].push(turns[which]);
        }
        ratios.push(turns[1] / turns[0]);
    }
    let [rust_figure, cpp_figure] = figures.map(middle);
    let of = |choose: fn(f64, f64) -> f64| ratios.iter().copied().reduce(choose).unwrap_or_default();
    let range = format!("{:.3} to {:.3}", of(f64::min), of(f64::max));
    let ratio = middle(ratios);
    let shown = match what {
        What::Latency(..) | What::Issue => Figure::Us,
        What::Rate(_) => Figure::PerS,
        What::Bulk(_) => Figure::GbS,
    };
    let registers = match what {
        What::Latency(kernel, _) => cpp.registers(kernel)?,
        What::Rate(load) => cpp.registers(load.kernel())?,
        What::Issue | What::Bulk(_) => String::new(),
    };
    let note = format!("{image}; in Rust {}; {turns} turns ({range}), {threads} server thread(s){registers}", shown(rust_figure).shown());
    Ok(Row { name, figure: shown(cpp_figure), ratio, against: Against::Rust, note })
}

/// Figures of one session.
fn sample(session: &Session<'_>, what: What) -> Result<Vec<f64>, Error> {
    let rig = session.rig;
    Ok(match what {
        What::Latency(kernel, shape) => latency::means(session, kernel, shape)?,
        What::Rate(load) => vec![throughput::rate(session, load, rig.all_waves(), rig.scale.samples)?],
        What::Issue => throughput::issue(session)?.into_iter().map(|[held, _]| held).collect(),
        What::Bulk(way) => vec![bulk::rate(session, way)?.0],
    })
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::process::Command;

    use super::super::rig::tests::small;
    use super::*;

    #[test]
    fn kernels_in_cpp_do_what_those_in_rust_do() {
        let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
        let dir = tempfile::tempdir().expect("a directory");
        let image = dir.path().join("bench.so");
        let mut compile = Command::new("g++");
        compile.args(["-std=c++17", "-x", "c++", "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-nostdlib", "-DHOSTCALL_SIM"]);
        compile.args(["-fno-exceptions", "-fno-rtti"]);
        compile.arg("-I").arg(root.join("include")).arg(root.join("bench/kernels/bench.cu")).arg("-o").arg(&image);
        let output = match compile.output() {
            Ok(output) => output,
            Err(error) => return println!("skipped: g++: {error}"),
        };
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let rust = small();
        let cpp = rust.with(&images(&rust, &image).expect("the image")).expect("the kernels are loaded");
        for (name, what) in ROWS {
            // Every answer is checked, or there is no row.
            let row = row(&rust, &cpp, name, what, "bench.so").unwrap_or_else(|error| panic!("{name}: {error}"));
            assert!(row.ratio > 0.0, "{row:?}");
        }
    }
}
