//! While kernels run.

use std::ffi::{c_char, c_void};
use std::time::Duration;

use hostcall::WaitError;

use super::Server;
use crate::boundary::{handle, tell};
use crate::json;
use crate::status::{Error, enter};

/// Announces a launch by other means.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hc_launch_begin(server: *mut Server) -> i32 {
    // SAFETY: the caller's.
    enter(|| unsafe { handle(server, "server") }?.0.begin_launch())
}

/// Such a launch has ended.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hc_launch_end(server: *mut Server) -> i32 {
    // SAFETY: the caller's.
    enter(|| unsafe { handle(server, "server") }?.0.end_launch())
}

/// Waits.
///
/// # Safety
/// As the header says.
unsafe fn wait(server: *mut Server, cu_stream: *mut c_void, limit: Option<Duration>) -> Result<(), Error> {
    // SAFETY: the caller's.
    let server = unsafe { handle(server, "server") }?;
    // SAFETY: the caller's: the stream lives.
    let queue = unsafe { server.0.opened.queue(cu_stream) }?;
    server.0.with(|running| {
        // What is in the stream may have been launched by other means.
        let _awake = running.keep_awake();
        let waited = match limit {
            None => running.wait(&queue),
            Some(limit) => running.wait_timeout(&queue, limit),
        };
        server.0.report(waited.as_ref().err().map(WaitError::report).cloned().unwrap_or_default());
        Ok(waited?)
    })
}

/// Waits for a stream and for all calls.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hc_wait(server: *mut Server, cu_stream: *mut c_void) -> i32 {
    // SAFETY: the caller's.
    enter(|| unsafe { wait(server, cu_stream, None) })
}

/// The same, for so long.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hc_wait_timeout(server: *mut Server, cu_stream: *mut c_void, nanoseconds: u64) -> i32 {
    // SAFETY: the caller's.
    enter(|| unsafe { wait(server, cu_stream, Some(Duration::from_nanos(nanoseconds))) })
}

/// What the last wait reported.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hc_report(server: *mut Server, text: *mut c_char, bytes: *mut usize) -> i32 {
    enter(|| {
        // SAFETY: the caller's.
        let report = unsafe { handle(server, "server") }?.0.last();
        let said = if report.is_success() { String::new() } else { report.to_string() };
        // SAFETY: the caller's.
        unsafe { tell(&said, text, bytes) }
    })
}

/// The same as JSON.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hc_report_json(server: *mut Server, json: *mut c_char, bytes: *mut usize) -> i32 {
    enter(|| {
        // SAFETY: the caller's.
        let report = unsafe { handle(server, "server") }?.0.last();
        // SAFETY: the caller's.
        unsafe { tell(&json::report(&report).to_string(), json, bytes) }
    })
}

/// Counts by service.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hc_stats(server: *mut Server, json: *mut c_char, bytes: *mut usize) -> i32 {
    enter(|| {
        // SAFETY: the caller's.
        let stats = unsafe { handle(server, "server") }?.0.with(|server| Ok(server.stats()))?;
        // SAFETY: the caller's.
        unsafe { tell(&json::stats(&stats).to_string(), json, bytes) }
    })
}
