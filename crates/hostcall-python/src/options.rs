//! How a server is set up, from Python's keyword arguments.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use hostcall::{DirGrant, Input, Limits, NetGrant, ServerBuilder, Sink};
use offload::host::{StackSize, stack_bytes};
use pyo3::prelude::*;

use crate::console::Console;
use crate::error::{invalid, of_grant};

/// The keyword arguments of `hostcall.Server`, all of them there.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Options {
    pub(crate) threads: Option<usize>,
    pub(crate) handler_stack: Option<usize>,
    pub(crate) ports: Option<u32>,
    pub(crate) staging: Option<(u32, u32)>,
    pub(crate) heap: usize,
    pub(crate) trace: Option<PathBuf>,
    pub(crate) latencies: bool,
    pub(crate) window: bool,
    pub(crate) builtins: bool,
    pub(crate) dirs: Vec<OsString>,
    pub(crate) env: HashMap<OsString, OsString>,
    pub(crate) args: Vec<OsString>,
    pub(crate) net: Option<Vec<String>>,
    pub(crate) stdin: Option<Vec<u8>>,
    pub(crate) stdout: Goes,
    pub(crate) stderr: Goes,
    pub(crate) open_files: Option<usize>,
    pub(crate) spin: f64,
}

/// Bytes to make a thread with whose handlers have `handler_stack` bytes of stack, or as many as the main thread.
#[pyfunction]
#[pyo3(signature = (handler_stack))]
pub(crate) fn stack_of_handlers(handler_stack: Option<usize>) -> usize {
    const PAGE: usize = 4096;
    let size = handler_stack.map_or_else(StackSize::default, StackSize::bytes);
    // Python wants whole pages.
    stack_bytes(size).checked_next_multiple_of(PAGE).unwrap_or(usize::MAX)
}

/// Where what kernels print goes.
pub(crate) enum Goes {
    Python,
    Process,
    Nowhere,
}

impl<'py> FromPyObject<'_, 'py> for Goes {
    type Error = PyErr;

    fn extract(from: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        match from.extract::<&str>()? {
            "python" => Ok(Self::Python),
            "process" => Ok(Self::Process),
            "nowhere" => Ok(Self::Nowhere),
            other => Err(invalid(format!("`{other}` is no place to print to: python, process and nowhere are"))),
        }
    }
}

impl Options {
    pub(crate) fn apply(self, mut builder: ServerBuilder, console: &Arc<Console>) -> PyResult<ServerBuilder> {
        if let Some(threads) = self.threads {
            builder = builder.threads(threads);
        }
        if let Some(bytes) = self.handler_stack {
            builder = builder.handler_stack(bytes);
        }
        if let Some(ports) = self.ports {
            builder = builder.ports(ports);
        }
        if let Some((slots, bytes)) = self.staging {
            builder = builder.staging(slots, bytes);
        }
        if let Some(trace) = self.trace {
            builder = builder.trace(trace);
        }
        if !self.builtins {
            builder = builder.without_built_in();
        }
        for dir in &self.dirs {
            builder = builder.grant(&DirGrant::parse(dir).map_err(of_grant)?).map_err(of_grant)?;
        }
        for (name, value) in self.env {
            builder = builder.env(name, value);
        }
        for argument in self.args {
            builder = builder.arg(argument);
        }
        match self.net {
            None => {}
            Some(places) if places.is_empty() => builder = builder.net(),
            Some(places) => {
                for place in places {
                    builder = builder.net_allow(place.parse::<NetGrant>().map_err(invalid)?);
                }
            }
        }
        if let Some(bytes) = self.stdin {
            builder = builder.stdin(Input::Bytes(bytes));
        }
        if let Some(files) = self.open_files {
            builder = builder.limits(Limits::default().open_files(files));
        }
        let sink = |goes: &Goes, stream: usize| match (goes, stream) {
            (Goes::Python, _) => Sink::Writer(Box::new(console.writer(stream))),
            (Goes::Process, 0) => Sink::Stdout,
            (Goes::Process, _) => Sink::Stderr,
            (Goes::Nowhere, _) => Sink::Null,
        };
        let (stdout, stderr) = (sink(&self.stdout, 0), sink(&self.stderr, 1));
        Ok(builder.heap(self.heap).stats(self.latencies).window(self.window).stdout(stdout).stderr(stderr))
    }
}
