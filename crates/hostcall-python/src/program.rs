//! Programs with Rust's `std`, started as `cargo hostcall exec` starts them.

use hostcall::std_programs::{program_launch, reserve_stacks};
use offload::{Args, Device, DeviceKind, ProgramBundle};
use pyo3::prelude::*;

use crate::error::{invalid, of_attach, of_device};
use crate::server::Shared;

/// The kernel that is every program's entry.
const ENTRY: &str = "hostcall_std";

fn bundle_of(bytes: &[u8]) -> PyResult<ProgramBundle> {
    ProgramBundle::from_bytes(bytes).map_err(|error| invalid(format!("{error}; give what `cargo hostcall build` wrote")))
}

/// The device on which a program runs if nothing is said, as `Server` takes it, and why it is this one.
#[pyfunction]
pub(crate) fn default_device(py: Python<'_>, program: Vec<u8>) -> PyResult<(String, String)> {
    let bundle = bundle_of(&program)?;
    let (device, why) = py.detach(|| Device::default_for(&bundle));
    let info = device.info();
    let name = if info.kind == DeviceKind::Sim { "sim".to_owned() } else { format!("{}:{}", info.kind, info.ordinal) };
    Ok((name, why))
}

/// Loads a program and starts it, with room for so many threads of so much stack each. What it needs lives until the
/// server stops.
pub(crate) fn start(py: Python<'_>, shared: &Shared, program: &[u8], threads: u32, stack: usize) -> PyResult<()> {
    let bundle = bundle_of(program)?;
    let device = &shared.opened.device;
    let most = device.info().resident_waves;
    if threads == 0 || threads > most {
        return Err(invalid(format!("threads={threads}: {} runs 1 to {most} waves at once, and a thread is a wave", device.info().name)));
    }
    let program = py.detach(|| device.load(&bundle)).map_err(of_device)?;
    let entry = program.kernel(ENTRY).map_err(of_device)?;
    shared.with(|server| {
        py.detach(|| {
            let buffer = server.allocate(device).map_err(of_attach)?;
            server.attach_to(&program, &buffer).map_err(of_attach)
        })
    })?;
    py.detach(|| reserve_stacks(&program, threads, stack)).map_err(of_device)?;
    let queue = shared.opened.queue(py, None)?;
    let launch = program_launch(&entry, threads);
    // SAFETY: the entry has no parameters, and all that it touches is its own program's: the image was linked by our
    // linker around it.
    py.detach(|| unsafe { queue.launch(&entry, launch, Args::new()) }).map_err(of_device)
}
