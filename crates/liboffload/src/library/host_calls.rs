//! Calls that kernels make to the host.

use super::error::fail;
use super::session::Platform;
use crate::runtime::Error;
use crate::sys::{ol_errc_t, ol_platform_rpc_cb_t};

/// Has a function answer the calls of a platform's kernels before the library does.
pub(super) fn register(platform: &Platform, _callback: ol_platform_rpc_cb_t) -> Result<(), Error> {
    let text = format!("kernels of {} cannot call the host through this library yet", platform.driver.name());
    fail(ol_errc_t::OL_ERRC_UNSUPPORTED, text)
}
