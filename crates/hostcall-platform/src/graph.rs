//! Work that is recorded once and launched many times.

use std::fmt;
use std::sync::Arc;

use crate::backend::BackendGraph;
use crate::device::Device;
use crate::error::Error;
use crate::queue::Queue;

/// Launches, copies and fills recorded from a queue, to be launched as one. Keeps their kernels and the memory they
/// copy alive; the memory that kernels were given addresses of is the launching caller's duty. Clones are the same
/// graph.
#[derive(Clone)]
pub struct Graph {
    device: Device,
    backend: Arc<dyn BackendGraph>,
}

impl Graph {
    /// Where it runs.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The plugin's object.
    pub fn backend(&self) -> &Arc<dyn BackendGraph> {
        &self.backend
    }
}

impl fmt::Debug for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Graph").field("device", &self.device.info().name).finish()
    }
}

impl Queue {
    /// From here to [`Queue::end_capture`], launches, copies on the device, fills and events are recorded instead of
    /// run; what cannot be recorded (waiting, copies of borrowed memory, completions) is refused with
    /// [`Error::Capture`].
    ///
    /// # Errors
    /// [`Error::Capture`] if a capture is under way, [`Error::Unsupported`], [`Error::DeviceLost`].
    pub fn begin_capture(&self) -> Result<(), Error> {
        self.device().check_origin()?;
        self.backend().begin_capture()
    }

    /// Ends the recording, and makes it ready for launch.
    ///
    /// # Errors
    /// [`Error::Capture`] if no capture is under way, [`Error::DeviceLost`].
    pub fn end_capture(&self) -> Result<Graph, Error> {
        Ok(Graph { device: self.device().clone(), backend: self.backend().end_capture()? })
    }

    /// Launches a graph, in this queue's order, as one launch of [`Device::in_flight`].
    ///
    /// # Safety
    /// For every kernel in the graph, what [`Queue::launch`] demands, now.
    ///
    /// # Errors
    /// [`Error::WrongDevice`], [`Error::Capture`] while this queue records, [`Error::DeviceLost`].
    pub unsafe fn launch_graph(&self, graph: &Graph) -> Result<(), Error> {
        if !self.device().is_same(&graph.device) {
            return Err(Error::WrongDevice { what: "the graph" });
        }
        // SAFETY: the caller's.
        self.device().activity().launch(None, self.number(), |ticket| unsafe { self.backend().launch_graph(&graph.backend, ticket) })
    }
}
