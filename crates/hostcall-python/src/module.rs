//! Programs for the simulator, loaded here.

use std::sync::Arc;

use offload::{Args, DeviceKind, Image, ImageKind, Launch, Program, ProgramBundle};
use pyo3::prelude::*;

use crate::error::{invalid, of_device};
use crate::server::Shared;

/// A program that is loaded on a server's simulator.
#[pyclass(frozen, module = "hostcall._hostcall")]
pub(crate) struct SimModule {
    shared: Arc<Shared>,
    pub(crate) program: Program,
}

impl SimModule {
    /// Loads a shared library that was compiled for the simulator.
    pub(crate) fn load(shared: &Arc<Shared>, name: &str, library: Vec<u8>) -> PyResult<Self> {
        let device = &shared.opened.device;
        if device.info().kind != DeviceKind::Sim {
            return Err(invalid(format!(
                "a program for the simulator cannot run on {}: use `hostcall.Server(\"sim\")`",
                device.info().name
            )));
        }
        let bundle = ProgramBundle::new(name.to_owned(), vec![Image::new(ImageKind::Sim, device.info().arch.clone(), library)]);
        Ok(Self { shared: shared.clone(), program: device.load(&bundle).map_err(of_device)? })
    }
}

/// Of a parameter: its bytes; the kind of number that it is or points at, and the bytes of that (0 where it is not
/// said); whether it is that number, not its address.
type Parameter = (u32, u16, u16, bool);

#[pymethods]
impl SimModule {
    /// Of each parameter of a kernel, if the program says it.
    fn parameters(&self, kernel: &str) -> PyResult<Option<Vec<Parameter>>> {
        let kernel = self.program.kernel(kernel).map_err(of_device)?;
        let (Some(sizes), Some(types)) = (kernel.params(), kernel.types()) else { return Ok(None) };
        Ok(Some(sizes.iter().zip(types).map(|(&size, of)| (size, of.kind(), of.size(), of.is_value())).collect()))
    }

    /// Whether nothing that was launched is left to end.
    fn idle(&self, py: Python<'_>) -> PyResult<bool> {
        let queue = self.shared.opened.queue(py, None)?;
        py.detach(|| queue.is_idle()).map_err(of_device)
    }

    /// Starts a kernel. Its arguments are their bytes.
    fn launch(&self, py: Python<'_>, kernel: &str, grid: [u32; 3], block: [u32; 3], arguments: Vec<Vec<u8>>) -> PyResult<()> {
        let kernel = self.program.kernel(kernel).map_err(of_device)?;
        let args = arguments.iter().fold(Args::new(), |args, bytes| args.bytes(bytes));
        let launch = Launch { groups: grid, group_size: block, dynamic_shared: 0 };
        let queue = self.shared.opened.queue(py, None)?;
        // A launch may wait for the simulator, and the simulator for Python. SAFETY: number and sizes of the arguments
        // are checked against the kernel's own table; what the addresses among them point at is what
        // `hostcall.sim.Module.launch` says its caller answers for.
        py.detach(|| unsafe { queue.launch(&kernel, launch, args) }).map_err(of_device)
    }

    fn __repr__(&self) -> String {
        format!("<{:?} on {}>", self.program.name(), self.shared.opened.device.info().name)
    }
}
