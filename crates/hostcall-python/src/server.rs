//! The server, for `hostcall.Server`.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use hostcall::{KernelReport, Local, ServiceHandle, WaitError};
use offload::overdue;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::attach::Attachment;
use crate::batch::Batch;
use crate::console::Console;
use crate::define::Defined;
use crate::device::Opened;
use crate::error::{failed, invalid, of_device, of_server, of_wait, stopped, system};
use crate::module::SimModule;
use crate::options::Options;
use crate::queue::{Dispatch, Next, Queue, lock};
use crate::report;
use crate::watch::Watch;

/// How long a wait goes without asking whether somebody pressed Ctrl-C.
const SLICE: Duration = Duration::from_millis(50);

/// What a server and all that was made from it share.
pub(crate) struct Shared {
    pub(crate) opened: Opened,
    running: Local<Mutex<Option<Arc<hostcall::Server>>>>,
}

impl Shared {
    /// Does something with the server. No lock is held meanwhile: `body` may wait for Python.
    pub(crate) fn with<T>(&self, body: impl FnOnce(&hostcall::Server) -> PyResult<T>) -> PyResult<T> {
        self.check()?;
        let running = lock(&self.running).clone().ok_or_else(|| stopped("the server has stopped"))?;
        body(&running)
    }

    /// Stops the server, when nobody uses it any more.
    fn stop(&self) -> Option<KernelReport> {
        let running = lock(&self.running).take()?;
        // Somebody waits, for a slice of time at most, or attaches. Nobody else comes: it is not there to be found.
        overdue::wait(
            || "a server that stops waits for another thread of Python's that uses it".to_owned(),
            || Arc::strong_count(&running) == 1,
        );
        Some(Arc::into_inner(running)?.stop())
    }

    fn check(&self) -> PyResult<()> {
        self.running.origin().check("server").map_err(stopped)
    }
}

/// A server, as `hostcall.Server` uses it.
#[pyclass(frozen, module = "hostcall._hostcall")]
pub(crate) struct Server {
    shared: Arc<Shared>,
    dispatch: Arc<Dispatch>,
    console: Arc<Console>,
    watch: Local<Mutex<Option<Watch>>>,
    services: Mutex<Vec<(usize, ServiceHandle)>>,
}

impl Server {
    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }
}

#[pymethods]
impl Server {
    #[new]
    #[pyo3(signature = (device, options))]
    fn new(py: Python<'_>, device: Option<String>, options: Options) -> PyResult<Self> {
        let opened = py.detach(|| Opened::open(device.as_deref())).map_err(of_device)?;
        let spin = Duration::try_from_secs_f64(options.spin).map_err(|error| invalid(format!("spin: {error}")))?;
        let dispatch = Dispatch::new(spin);
        let console = Console::new(dispatch.clone());
        let builder = options.apply(hostcall::Server::builder(&opened.device), &console)?;
        let server = py.detach(|| builder.start()).map_err(of_server)?;
        let shared = Arc::new(Shared { opened, running: Local::new(Mutex::new(Some(Arc::new(server)))) });
        let watch = Watch::start(dispatch.clone()).map_err(system)?;
        Ok(Self { shared, dispatch, console, watch: Local::new(Mutex::new(Some(watch))), services: Mutex::default() })
    }

    /// What it runs on.
    fn device<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.shared.opened.describe(py)
    }

    /// Registers a service. Its messages come out of `next`, with `id`.
    fn register(&self, py: Python<'_>, defined: &Defined, id: usize, max_lanes: usize) -> PyResult<()> {
        let service = Queue::new(defined.clone(), id, max_lanes, self.dispatch.clone()).service();
        let handle = self.shared.with(|server| py.detach(|| server.register(service)).map_err(of_server))?;
        lock(&self.services).push((id, handle));
        Ok(())
    }

    /// Takes a service off.
    fn unregister(&self, py: Python<'_>, id: usize) -> PyResult<()> {
        let handle = {
            let mut services = lock(&self.services);
            let at = services.iter().position(|(there, _)| *there == id);
            services.swap_remove(at.ok_or_else(|| invalid("it is not registered"))?).1
        };
        py.detach(|| handle.unregister());
        Ok(())
    }

    /// Attaches what CUDA has loaded: a `module`, a `library`, or the module of a `function`.
    fn attach_cuda(&self, py: Python<'_>, kind: &str, pointer: u64, name: &str) -> PyResult<Attachment> {
        Attachment::of_cuda(py, &self.shared, kind, pointer, name)
    }

    /// Loads a program for the simulator, and attaches it.
    fn attach_sim(&self, py: Python<'_>, name: &str, library: Vec<u8>) -> PyResult<(SimModule, Attachment)> {
        self.shared.check()?;
        let module = SimModule::load(&self.shared, name, library)?;
        let attachment = Attachment::new(py, &self.shared, &module.program)?;
        Ok((module, attachment))
    }

    /// Loads a program with Rust's `std`, and starts it.
    fn start_program(&self, py: Python<'_>, program: Vec<u8>, threads: u32, stack: usize) -> PyResult<()> {
        self.shared.check()?;
        crate::program::start(py, &self.shared, &program, threads, stack)
    }

    /// Waits for the stream and for all calls. `timeout` is in seconds.
    #[pyo3(signature = (timeout=None, stream=None))]
    fn wait(&self, py: Python<'_>, timeout: Option<f64>, stream: Option<u64>) -> PyResult<()> {
        let limit =
            timeout.map(|seconds| Duration::try_from_secs_f64(seconds.max(0.0)).map_err(|error| invalid(format!("timeout: {error}"))));
        let limit = limit.transpose()?;
        self.shared.check()?;
        let queue = self.shared.opened.queue(py, stream)?;
        let began = Instant::now();
        loop {
            let left = limit.map_or(SLICE, |limit| limit.saturating_sub(began.elapsed()).min(SLICE));
            let mut waited = self.shared.with(|server| Ok(py.detach(|| server.wait_timeout(&queue, left))))?;
            if let Err(WaitError::Timeout { waited, .. }) = &mut waited {
                *waited = began.elapsed();
                if limit.is_none_or(|limit| began.elapsed() < limit) {
                    py.check_signals()?;
                    continue;
                }
            }
            return waited.map_err(|error| of_wait(py, error));
        }
    }

    /// For the dispatcher: the next messages; `True` if kernels have printed; `None` at the end.
    fn next(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        match py.detach(|| self.dispatch.next()) {
            Next::Chunk(queue, chunk) => Ok(Some(Py::new(py, Batch::new(queue, chunk))?.into_any())),
            Next::Printed => Ok(Some(true.into_pyobject(py)?.to_owned().unbind().into_any())),
            Next::Closed => Ok(None),
        }
    }

    /// What kernels have printed since this was last asked, by stream.
    fn printed<'py>(&self, py: Python<'py>) -> Vec<(usize, Bound<'py, PyBytes>)> {
        self.console.take().into_iter().map(|(stream, text)| (stream, PyBytes::new(py, &text))).collect()
    }

    /// Counts by service.
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        report::stats(py, &self.shared.with(|server| Ok(server.stats()))?)
    }

    /// What kernels asked for and were not granted, since this was last asked.
    fn denials(&self) -> PyResult<Vec<String>> {
        self.shared.with(|server| Ok(server.denials().iter().map(ToString::to_string).collect()))
    }

    /// Whether this process was forked from the one in which it was made.
    #[getter]
    fn forked(&self) -> bool {
        self.shared.check().is_err()
    }

    #[getter]
    fn running(&self) -> bool {
        self.shared.check().is_ok() && lock(&self.shared.running).is_some()
    }

    /// Stops the server: what has come is answered. Then `next` ends. What nobody has waited for is raised.
    fn stop(&self, py: Python<'_>) -> PyResult<()> {
        self.shared.check()?;
        let report = py.detach(|| {
            let report = self.shared.stop();
            drop(lock(&self.watch).take());
            report
        });
        lock(&self.services).clear();
        self.dispatch.close();
        match report {
            Some(report) if !report.is_success() => Err(failed(py, &report)),
            _ => Ok(()),
        }
    }

    /// After the dispatcher has ended: nothing is taken any more.
    fn close(&self) {
        self.console.close();
    }
}
