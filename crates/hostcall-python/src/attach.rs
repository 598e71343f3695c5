//! Programs that call: attached, their calls are answered.

use std::sync::{Arc, Mutex};

use hostcall::BufferHandle;
use offload::{Device, Program};
use pyo3::prelude::*;

use crate::error::{invalid, of_attach, of_device};
use crate::queue::lock;
use crate::server::Shared;

/// A program that is attached to a server, as `Server.attach` gives it. Dropped, it stays attached: the server keeps
/// it. As a context manager it is detached at the block's end.
#[pyclass(frozen, module = "hostcall._hostcall")]
pub(crate) struct Attachment {
    shared: Arc<Shared>,
    pub(crate) program: Program,
    buffer: Mutex<Option<BufferHandle>>,
}

impl Attachment {
    /// Attaches a program.
    pub(crate) fn new(py: Python<'_>, shared: &Arc<Shared>, program: &Program) -> PyResult<Self> {
        let buffer = shared.with(|server| py.detach(|| server.attach(program)).map_err(of_attach))?;
        Ok(Self { shared: shared.clone(), program: program.clone(), buffer: Mutex::new(Some(buffer)) })
    }

    /// Attaches what CUDA has loaded.
    pub(crate) fn of_cuda(py: Python<'_>, shared: &Arc<Shared>, kind: &str, pointer: u64, name: &str) -> PyResult<Self> {
        if pointer == 0 {
            return Err(invalid(format!("the {kind} is null")));
        }
        if !shared.opened.is_cuda() {
            return Err(invalid(format!("a CUDA {kind} cannot be attached to a server of {}", shared.opened.device.info().name)));
        }
        let device = &shared.opened.device;
        let program = py.detach(|| program_of(device, kind, pointer, name)).map_err(of_device)?;
        let program = program.ok_or_else(|| invalid(format!("`{kind}` is no handle of CUDA's: module, library and function are")))?;
        Self::new(py, shared, &program)
    }
}

/// The program behind a handle of CUDA's.
fn program_of(device: &Device, kind: &str, pointer: u64, name: &str) -> Result<Option<Program>, offload::Error> {
    let pointer = pointer as usize as *mut std::ffi::c_void;
    // SAFETY: `Server.attach_cuda_…` says that the handle is live until it is detached.
    unsafe {
        Ok(Some(match kind {
            "module" => Program::from_raw_module(device, name, pointer.cast())?,
            "library" => Program::from_raw_library(device, name, pointer.cast())?,
            "function" => Program::from_raw_function(device, name, pointer.cast())?,
            _ => return Ok(None),
        }))
    }
}

#[pymethods]
impl Attachment {
    /// The program's name.
    #[getter]
    fn name(&self) -> &str {
        self.program.name()
    }

    /// Whether its calls are answered.
    #[getter]
    fn attached(&self) -> bool {
        lock(&self.buffer).is_some()
    }

    /// Ends it: later calls fail. No kernel of the program may be in flight.
    fn detach(&self, py: Python<'_>) -> PyResult<()> {
        let Some(buffer) = lock(&self.buffer).take() else { return Ok(()) };
        // A server that has stopped has let go of it already.
        let _ = self.shared.with(|server| py.detach(|| server.remove_buffer(&buffer)).map_err(invalid));
        Ok(())
    }

    fn __enter__(this: Py<Self>) -> Py<Self> {
        this
    }

    fn __exit__(&self, py: Python<'_>, _kind: Py<PyAny>, _error: Py<PyAny>, _traceback: Py<PyAny>) -> PyResult<()> {
        self.detach(py)
    }

    fn __repr__(&self) -> String {
        format!("<hostcall.Attachment of {:?}{}>", self.program.name(), if self.attached() { "" } else { ", detached" })
    }
}
