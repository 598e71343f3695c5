//! Errors, as the exceptions of `hostcall._errors`.

use std::fmt::Display;

use hostcall::{AttachError, BufferError, GrantError, RegisterError, ServerError, WaitError};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::report;

/// The exception of this name, with these arguments.
fn exception<'py, A>(py: Python<'py>, name: &str, arguments: A) -> PyErr
where
    A: pyo3::call::PyCallArgs<'py>,
{
    let made = py.import("hostcall._errors").and_then(|module| module.getattr(name)).and_then(|class| class.call1(arguments));
    made.map_or_else(|error| error, PyErr::from_value)
}

fn named(name: &str, text: impl Display) -> PyErr {
    Python::attach(|py| exception(py, name, (text.to_string(),)))
}

/// An argument cannot be.
pub(crate) fn invalid(text: impl Display) -> PyErr {
    named("InvalidError", text)
}

/// The server has stopped, or belongs to another process.
pub(crate) fn stopped(text: impl Display) -> PyErr {
    named("StoppedError", text)
}

/// The operating system refused.
pub(crate) fn system(text: impl Display) -> PyErr {
    PyRuntimeError::new_err(text.to_string())
}

/// Of devices.
pub(crate) fn of_device(error: offload::Error) -> PyErr {
    use offload::Error as E;
    let name = match &error {
        E::Unavailable { .. } | E::NoDevice { .. } => "UnavailableError",
        E::OutOfMemory { .. } | E::OutOfHostMemory { .. } => "OutOfMemoryError",
        E::DeviceLost { .. } => "DeviceLost",
        E::Timeout { .. } => "WaitTimeout",
        E::Forked(_) => "StoppedError",
        E::NoServer { program, kernel } => {
            let text = format!(
                "cannot launch `{kernel}`: program `{program}` is attached to no server, so what it calls, prints and panics with would be \
                 lost; call `server.attach(module)` first"
            );
            return invalid(text);
        }
        E::NoKernel { .. } | E::NoGlobal { .. } | E::NoImage { .. } => "NotFoundError",
        _ => "DeviceError",
    };
    named(name, error)
}

/// Of the memory through which a program calls.
pub(crate) fn of_buffer(error: BufferError) -> PyErr {
    match error {
        BufferError::Device(error) => of_device(error),
        error => invalid(error),
    }
}

/// Of attaching.
pub(crate) fn of_attach(error: AttachError) -> PyErr {
    match error {
        AttachError::Device(error) => of_device(error),
        AttachError::Buffer(error) => of_buffer(error),
        AttachError::Attached { program, here } => {
            let whom = if here { "this server" } else { "another server" };
            named("RefusedError", format!("program `{program}` is attached already, to {whom}: `detach` it first, or load it once more"))
        }
        error => named("RefusedError", error),
    }
}

/// Of starting a server and of registering.
pub(crate) fn of_server(error: ServerError) -> PyErr {
    match error {
        ServerError::Register(error) => of_register(error),
        ServerError::Attach(error) => of_attach(error),
        ServerError::Sizes(error) => of_buffer(error),
        error => system(error),
    }
}

/// Of registering.
pub(crate) fn of_register(error: RegisterError) -> PyErr {
    named("RefusedError", error)
}

/// Of grants.
pub(crate) fn of_grant(error: GrantError) -> PyErr {
    invalid(error)
}

/// Of waiting.
pub(crate) fn of_wait(py: Python<'_>, error: WaitError) -> PyErr {
    let text = error.to_string();
    match error {
        WaitError::Timeout { .. } => named("WaitTimeout", text),
        WaitError::Device { source, report } => match of_device(source) {
            lost if report.is_success() => lost,
            lost => {
                let _ = lost.value(py).setattr("report", report::to_python(py, &report).ok());
                let _ = lost.value(py).setattr("args", (text,));
                lost
            }
        },
        WaitError::Kernel(report) => failed(py, &report),
        error => system(error),
    }
}

/// Of starting streams, of attaching to them, of a file that keeps them, and of waiting for them.
pub(crate) fn of_stream(error: impl Display) -> PyErr {
    named("StreamError", error)
}

/// A kernel, or a handler, failed.
pub(crate) fn failed(py: Python<'_>, report: &hostcall::KernelReport) -> PyErr {
    match report::to_python(py, report) {
        Ok(report) => exception(py, "KernelFailed", (report,)),
        Err(error) => error,
    }
}
