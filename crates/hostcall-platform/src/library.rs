//! Functions of libraries that are opened while the program runs.

use std::ffi::{CStr, c_void};
use std::ptr::NonNull;

use libloading::Library;

/// The address of what the library has by this name. The one who gives it a type has to know it, and that the library
/// stays open.
///
/// One function for all types: `Library::get` is compiled once for each, and a driver has more than a hundred.
pub(crate) fn function(library: &Library, name: &CStr) -> Option<NonNull<c_void>> {
    // SAFETY: an address is copied, and not used.
    let symbol = unsafe { library.get::<*mut c_void>(name) };
    symbol.ok().and_then(|address| NonNull::new(*address))
}
