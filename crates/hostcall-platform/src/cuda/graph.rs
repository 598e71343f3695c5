//! Recorded work, launched as one.

use std::any::Any;
use std::sync::Arc;

use super::sys;

use super::context::{Context, Entered};
use super::quiet::MayWait;
use super::release::Resource;
use crate::backend::{BackendGraph, BackendKernel, BackendMemory};
use crate::error::Error;

/// What a graph's nodes use, kept for as long as the graph.
#[derive(Default)]
pub(super) struct Recorded {
    pub(super) memory: Vec<Arc<dyn BackendMemory>>,
    pub(super) kernels: Vec<Arc<dyn BackendKernel>>,
}

/// An executable graph.
pub(super) struct Graph {
    pub(super) context: Arc<Context>,
    pub(super) raw: sys::CUgraphExec,
    #[expect(dead_code, reason = "held for its drop")]
    recorded: Recorded,
}

// SAFETY: a handle, valid on every thread; the driver serialises its use.
unsafe impl Send for Graph {}
// SAFETY: as above.
unsafe impl Sync for Graph {}

impl Graph {
    /// Makes `graph` executable, and frees it.
    ///
    /// # Safety
    /// `graph` is a live graph of the entered context, and nobody else's.
    pub(super) unsafe fn instantiate(entered: &Entered<'_>, may: MayWait, graph: sys::CUgraph) -> Result<sys::CUgraphExec, Error> {
        let mut raw = std::ptr::null_mut();
        // SAFETY: an out parameter; the caller's graph.
        let instantiated = unsafe { entered.driver.graph_instantiate(may, &mut raw, graph, 0) };
        // SAFETY: the caller's graph, which the executable one does not need.
        entered.ignore(unsafe { entered.driver.graph_destroy(may, graph) });
        entered.check(instantiated)?;
        Ok(raw)
    }

    pub(super) fn new(context: &Arc<Context>, raw: sys::CUgraphExec, recorded: Recorded) -> Graph {
        Graph { context: context.clone(), raw, recorded }
    }
}

impl BackendGraph for Graph {
    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        // Made by `instantiate`; the driver lets a running launch of it finish.
        self.context.release(Resource::Graph(self.raw));
    }
}
