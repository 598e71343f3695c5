//! What the safe wrappers stand on.

use std::ffi::{CStr, c_void};
use std::mem::MaybeUninit;
use std::sync::{Mutex, PoisonError};

use super::Error;
use crate::sys::ol_result_t;

/// A function's result, with a copy of what is known of a failure.
///
/// # Safety
///
/// `result` is what a function of the library returned.
pub unsafe fn result(result: ol_result_t) -> Result<(), Error> {
    // SAFETY: the library returns null or a pointer to a structure that stays.
    let Some(error) = (unsafe { result.as_ref() }) else { return Ok(()) };
    let details = if error.Details.is_null() {
        String::new()
    } else {
        // SAFETY: the library's texts end in a zero.
        unsafe { CStr::from_ptr(error.Details) }.to_string_lossy().into_owned()
    };
    Err(Error::new(error.Code, details))
}

/// How many errors of drops are kept until someone asks.
const MOST_DROP_ERRORS: usize = 64;

static DROP_ERRORS: Mutex<Vec<Error>> = Mutex::new(Vec::new());

/// Keeps the error of a drop, which can return none.
pub fn dropped(result: Result<(), Error>) {
    if let Err(error) = result {
        let mut errors = DROP_ERRORS.lock().unwrap_or_else(PoisonError::into_inner);
        if errors.len() < MOST_DROP_ERRORS {
            errors.push(error);
        }
    }
}

/// The errors of handles that were dropped since this was last called: the first 64 of them.
pub fn take_drop_errors() -> Vec<Error> {
    std::mem::take(&mut *DROP_ERRORS.lock().unwrap_or_else(PoisonError::into_inner))
}

/// A property of a fixed size.
///
/// # Safety
///
/// `get` writes at most as many bytes as it is given room for, and returns what a function of the library returned. Any
/// bytes are a `T`.
pub unsafe fn property<T>(get: impl FnOnce(usize, *mut c_void) -> ol_result_t) -> Result<T, Error> {
    let mut value = MaybeUninit::<T>::zeroed();
    // SAFETY: the caller says so.
    unsafe { result(get(size_of::<T>(), value.as_mut_ptr().cast())) }?;
    // SAFETY: any bytes are a `T`, and all were set to zero before.
    Ok(unsafe { value.assume_init() })
}

/// A property of any size.
///
/// # Safety
///
/// `get` writes at most as many bytes as it is given room for, `size` writes at most one number, and both return what a
/// function of the library returned.
pub unsafe fn bytes(
    size: impl FnOnce(*mut usize) -> ol_result_t,
    get: impl FnOnce(usize, *mut c_void) -> ol_result_t,
) -> Result<Vec<u8>, Error> {
    let mut length = 0;
    // SAFETY: the caller says so.
    unsafe { result(size(&raw mut length)) }?;
    let mut bytes = vec![0u8; length];
    if length > 0 {
        // SAFETY: the caller says so.
        unsafe { result(get(length, bytes.as_mut_ptr().cast())) }?;
    }
    Ok(bytes)
}

/// Bytes up to the first zero as text. What is not UTF-8 becomes replacement characters.
pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes.split(|byte| *byte == 0).next().unwrap_or_default()).into_owned()
}

/// All values that some bytes are.
///
/// # Safety
///
/// Any bytes are a `T`.
pub unsafe fn elements<T>(bytes: &[u8]) -> Vec<T> {
    // SAFETY: each chunk has as many bytes as a `T`, and any bytes are one.
    bytes.chunks_exact(size_of::<T>().max(1)).map(|bytes| unsafe { bytes.as_ptr().cast::<T>().read_unaligned() }).collect()
}
