//! Servers.

use std::sync::Arc;

use super::Device;
use crate::boundary::{give, handle, null, place_for, take};
use crate::server::{self, CGrant, COptions, Shared};
use crate::status::enter;

/// `hc_server`.
#[derive(Debug)]
pub struct Server(pub(super) Arc<Shared>);

/// Starts a server.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hc_server_start(
    device: *mut Device,
    options: *const COptions,
    grants: *const CGrant,
    grant_count: usize,
    out: *mut *mut Server,
) -> i32 {
    enter(|| {
        // SAFETY: the caller's. Whatever else is null, what the grants own is dropped.
        let out = unsafe { place_for(out) };
        // SAFETY: the caller's.
        let opened = unsafe { handle(device, "device") }.map(|device| device.0.clone());
        // Nor is a server started that nobody could stop.
        let opened = if out.is_ok() { opened } else { Err(null("out")) };
        // SAFETY: the caller's.
        let started = unsafe { server::start(opened, options, grants, grant_count) };
        *out? = give(Server(started?));
        Ok(())
    })
}

/// Stops a server.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hc_server_stop(server: *mut *mut Server) -> i32 {
    enter(|| {
        // SAFETY: the caller's.
        unsafe { take(server, "server") }?.map_or(Ok(()), |server| server.0.stop())
    })
}
