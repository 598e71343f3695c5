//! Where in the caller's source a call is made, if the caller says so.

use std::cell::Cell;
use std::ffi::{CStr, c_char};
use std::fmt;
use std::ptr;
use std::sync::OnceLock;

use crate::sys::ol_code_location_t;

/// A copy of what the caller said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Location {
    function: Option<String>,
    file: Option<String>,
    line: u32,
    column: u32,
}

impl Location {
    /// Copies what `location` points to, if it is not null.
    ///
    /// # Safety
    ///
    /// `location` is null or points to a location whose texts are null or end in a zero.
    pub(super) unsafe fn read(location: *const ol_code_location_t) -> Option<Location> {
        if location.is_null() {
            return None;
        }
        // SAFETY: the caller says so.
        let location = unsafe { location.read_unaligned() };
        Some(Location {
            // SAFETY: the caller says so.
            function: unsafe { text(location.FunctionName) },
            // SAFETY: the caller says so.
            file: unsafe { text(location.SourceFile) },
            line: location.LineNumber,
            column: location.ColumnNumber,
        })
    }
}

/// # Safety
///
/// `text` is null or ends in a zero.
unsafe fn text(text: *const c_char) -> Option<String> {
    // SAFETY: the caller says so.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
}

/// As compilers write places: `file:line:column (function)`. What is not known is left out.
impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.file.as_deref().unwrap_or("unknown file"))?;
        if self.line != 0 {
            write!(f, ":{}", self.line)?;
            if self.column != 0 {
                write!(f, ":{}", self.column)?;
            }
        }
        self.function.as_ref().map_or(Ok(()), |function| write!(f, " ({function})"))
    }
}

thread_local! {
    /// The innermost call of this thread: its function, and where the caller says that it is.
    static CURRENT: Cell<(&'static str, *const ol_code_location_t)> = const { Cell::new(("", ptr::null())) };
}

/// Whether it is remembered where calls are made: `OFFLOAD_CHECK` is read when the first call is made.
#[inline]
pub(crate) fn remembers_places() -> bool {
    static REMEMBERS: OnceLock<bool> = OnceLock::new();
    *REMEMBERS.get_or_init(|| std::env::var("OFFLOAD_CHECK").is_ok_and(|value| value.split(',').any(|word| word.trim() == "leaks")))
}

/// Keeps where a call is made, for as long as the call lasts, if that is remembered. It holds what was there before.
pub(super) struct CallPlace(Option<(&'static str, *const ol_code_location_t)>);

impl CallPlace {
    #[inline]
    pub(super) fn new(name: &'static str, location: *const ol_code_location_t) -> CallPlace {
        CallPlace(remembers_places().then(|| CURRENT.replace((name, location))))
    }
}

impl Drop for CallPlace {
    #[inline]
    fn drop(&mut self) {
        if let Some(before) = self.0 {
            CURRENT.set(before);
        }
    }
}

/// Which function this thread is in, and where it was called: `olMemAlloc at main.c:12:3 (main)`. Empty unless places
/// are [remembered](remembers_places).
pub(crate) fn current_place() -> String {
    let (name, location) = CURRENT.get();
    // SAFETY: the pointer is that of the call that this thread is in, which lasts.
    match unsafe { Location::read(location) } {
        Some(location) => format!("{name} at {location}"),
        None => name.to_owned(),
    }
}
