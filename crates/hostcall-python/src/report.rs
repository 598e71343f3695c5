//! Reports and statistics, as dictionaries.

use hostcall::{KernelReport, Stats};
use pyo3::prelude::*;
use pyo3::types::PyDict;

fn dict<'py>(py: Python<'py>, fill: impl FnOnce(&Bound<'py, PyDict>) -> PyResult<()>) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    fill(&dict)?;
    Ok(dict)
}

/// What `hostcall.Report` is made from.
pub(crate) fn to_python<'py>(py: Python<'py>, report: &KernelReport) -> PyResult<Bound<'py, PyDict>> {
    let panics = report.panics.iter().map(|it| {
        dict(py, |d| {
            d.set_item("program", &it.program)?;
            d.set_item("message", &it.message)?;
            d.set_item("file", &it.file)?;
            d.set_item("line", it.line)?;
            d.set_item("block", it.block)?;
            d.set_item("thread", it.thread)?;
            d.set_item("lanes", it.lanes)
        })
    });
    let failures = report.handler_failures.iter().map(|it| {
        dict(py, |d| {
            d.set_item("service", &it.service)?;
            d.set_item("code", it.code)?;
            d.set_item("message", &it.message)?;
            d.set_item("lanes", it.lanes)
        })
    });
    let handler_panics = report.handler_panics.iter().map(|it| {
        dict(py, |d| {
            d.set_item("service", &it.service)?;
            d.set_item("message", &it.message)?;
            d.set_item("lanes", it.lanes)
        })
    });
    let unknown = report.unknown_services.iter().map(|it| {
        dict(py, |d| {
            d.set_item("service", it.service.to_string())?;
            d.set_item("calls", it.calls)?;
            d.set_item("posts", it.posts)
        })
    });
    dict(py, |d| {
        d.set_item("text", report.to_string())?;
        d.set_item("success", report.is_success())?;
        d.set_item("exit_code", report.exit_code())?;
        d.set_item("panics", panics.collect::<PyResult<Vec<_>>>()?)?;
        d.set_item("exits", &report.exits)?;
        d.set_item("handler_failures", failures.collect::<PyResult<Vec<_>>>()?)?;
        d.set_item("handler_panics", handler_panics.collect::<PyResult<Vec<_>>>()?)?;
        d.set_item("unknown_services", unknown.collect::<PyResult<Vec<_>>>()?)?;
        d.set_item("malformed", report.malformed)?;
        d.set_item("omitted", report.omitted)
    })
}

/// What `hostcall.ServiceStats` are made from.
pub(crate) fn stats<'py>(py: Python<'py>, stats: &Stats) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let row = |it: &hostcall::ServiceStats| {
        dict(py, |d| {
            d.set_item("name", it.name.to_string())?;
            d.set_item("number", it.number)?;
            d.set_item("messages", it.messages)?;
            d.set_item("calls", it.calls)?;
            d.set_item("failed", it.failed)?;
            d.set_item("bytes_in", it.bytes_in)?;
            d.set_item("bytes_out", it.bytes_out)?;
            let latency = it.latency.map(|latency| [latency.p50, latency.p99, latency.p999, latency.max].map(|time| time.as_secs_f64()));
            d.set_item("latency", latency)
        })
    };
    stats.services.iter().map(row).collect()
}
