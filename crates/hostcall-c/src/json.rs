//! Texts for programs.

use hostcall::{KernelReport, Stats};
use offload::DeviceInfo;
use serde_json::{Value, json};

/// `hc_device_describe`.
pub(crate) fn device(info: &DeviceInfo) -> Value {
    json!({
        "kind": info.kind.to_string(),
        "ordinal": info.ordinal,
        "name": info.name,
        "driver": info.driver,
        "arch": info.arch,
        "wave_size": info.wave_size,
        "compute_units": info.sms,
        "resident_waves": info.resident_waves,
        "memory_bytes": info.memory_bytes,
        "max_group_size": info.max_group_size,
    })
}

/// `hc_report_json`.
pub(crate) fn report(report: &KernelReport) -> Value {
    let panics = report.panics.iter().map(|panic| {
        json!({
            "program": panic.program, "message": panic.message, "file": panic.file, "line": panic.line,
            "block": panic.block, "thread": panic.thread, "lanes": panic.lanes,
        })
    });
    let failures = report.handler_failures.iter();
    let failures = failures.map(|it| json!({"service": it.service, "code": it.code, "message": it.message, "lanes": it.lanes}));
    let handler_panics = report.handler_panics.iter();
    let handler_panics = handler_panics.map(|it| json!({"service": it.service, "message": it.message, "lanes": it.lanes}));
    let unknown = report.unknown_services.iter().map(|it| json!({"service": it.service, "calls": it.calls, "posts": it.posts}));
    json!({
        "success": report.is_success(),
        "panics": panics.collect::<Vec<_>>(),
        "exits": report.exits,
        "handler_failures": failures.collect::<Vec<_>>(),
        "handler_panics": handler_panics.collect::<Vec<_>>(),
        "unknown_services": unknown.collect::<Vec<_>>(),
        "malformed": report.malformed,
        "omitted": report.omitted,
    })
}

/// `hc_stats`.
pub(crate) fn stats(stats: &Stats) -> Value {
    let nanoseconds = |time: std::time::Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    let services = stats.services.iter().map(|it| {
        let mut row = json!({
            "name": it.name, "number": it.number, "messages": it.messages, "calls": it.calls, "failed": it.failed,
            "bytes_in": it.bytes_in, "bytes_out": it.bytes_out,
        });
        if let Some(latency) = it.latency {
            let [p50, p99, p999, max] = [latency.p50, latency.p99, latency.p999, latency.max].map(nanoseconds);
            row["latency_ns"] = json!({"p50": p50, "p99": p99, "p999": p999, "max": max});
        }
        row
    });
    json!({"services": services.collect::<Vec<_>>()})
}
