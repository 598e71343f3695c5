//! Variables: C's `environ`, and what reads and changes it.
//!
//! As in C, one who changes variables sees to it that nobody else uses them meanwhile. `std` has a lock for it.

use crate::abi::errno::{EINVAL, ENOMEM};
use crate::entry;
use crate::error::{Errno, returned};
use crate::memory;
use core::ffi::{CStr, c_char};
use core::ptr::{null, null_mut};
use core::sync::atomic::{AtomicPtr, Ordering};

/// C's `environ`: an array of C strings `NAME=VALUE` that ends with a null. Null before anybody has asked for it.
#[unsafe(no_mangle)]
pub static libc_environ: AtomicPtr<*const c_char> = AtomicPtr::new(null_mut());

/// Asks the host for the variables, if nobody has.
pub(crate) fn prepare() {
    // Acquire pairs with the release below: the array is there.
    if libc_environ.load(Ordering::Acquire).is_null() {
        let variables = entry::variables().cast_mut();
        // The first one's stays: another has changed it, perhaps.
        let _ = libc_environ.compare_exchange(null_mut(), variables, Ordering::AcqRel, Ordering::Acquire);
    }
}

/// Where `environ` is, for those who may be the first to ask: kernels have no entry that did.
#[unsafe(no_mangle)]
pub extern "C" fn sys_environ() -> *mut *const *const c_char {
    prepare();
    libc_environ.as_ptr().cast()
}

/// The variables as they are.
fn all() -> &'static [*const c_char] {
    prepare();
    // Acquire pairs with the release of whoever stored it.
    let first = libc_environ.load(Ordering::Acquire);
    // SAFETY: the array ends with a null, and is never freed.
    let count = (0..).take_while(|i| !unsafe { *first.add(*i) }.is_null()).count();
    // SAFETY: so many are there.
    unsafe { core::slice::from_raw_parts(first, count) }
}

/// # Safety
/// `name` is a C string.
unsafe fn position(name: &[u8]) -> Option<usize> {
    all().iter().position(|variable| {
        // SAFETY: all of them are C strings.
        let text = unsafe { CStr::from_ptr(*variable) }.to_bytes();
        text.strip_prefix(name).is_some_and(|rest| rest.first() == Some(&b'='))
    })
}

/// A variable's value; null if there is none.
///
/// # Safety
/// `name` is a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_getenv(name: *const c_char) -> *const c_char {
    // SAFETY: the caller's.
    let name = unsafe { CStr::from_ptr(name) }.to_bytes();
    // SAFETY: as above.
    match unsafe { position(name) } {
        // SAFETY: the value begins behind the name and `=`.
        Some(at) => unsafe { all()[at].add(name.len() + 1) },
        None => null(),
    }
}

/// Makes an array of variables that lives as long as the program `environ`.
fn replace(variables: impl ExactSizeIterator<Item = *const c_char>) -> Result<(), Errno> {
    let block = memory::sys_malloc((variables.len() + 1) * size_of::<*const c_char>(), align_of::<*const c_char>());
    let array = block.cast::<*const c_char>();
    if array.is_null() {
        return Err(Errno(ENOMEM));
    }
    let count = variables.len();
    for (i, variable) in variables.take(count).enumerate() {
        // SAFETY: there is room for so many.
        unsafe { array.add(i).write(variable) };
    }
    // SAFETY: and for one more.
    unsafe { array.add(count).write(null()) };
    // Release pairs with the acquire in `all`. The former array stays: somebody may have its address.
    libc_environ.store(array, Ordering::Release);
    Ok(())
}

/// # Safety
/// `name` is null or a C string.
unsafe fn name<'a>(name: *const c_char) -> Result<&'a [u8], Errno> {
    if name.is_null() {
        return Err(Errno(EINVAL));
    }
    // SAFETY: the caller's.
    let name = unsafe { CStr::from_ptr(name) }.to_bytes();
    if name.is_empty() || name.contains(&b'=') { Err(Errno(EINVAL)) } else { Ok(name) }
}

/// Sets a variable, if it has no value yet or `overwrite` is not 0.
///
/// # Safety
/// `variable` and `value` are null or C strings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_setenv(variable: *const c_char, value: *const c_char, overwrite: i32) -> i32 {
    returned((|| {
        // SAFETY: the caller's.
        let name = unsafe { name(variable) }?;
        if value.is_null() {
            return Err(Errno(EINVAL));
        }
        // SAFETY: the caller's.
        let value = unsafe { CStr::from_ptr(value) }.to_bytes();
        // SAFETY: as above.
        let at = unsafe { position(name) };
        if at.is_some() && overwrite == 0 {
            return Ok(0);
        }
        let text = memory::sys_malloc(name.len() + value.len() + 2, 1);
        if text.is_null() {
            return Err(Errno(ENOMEM));
        }
        // SAFETY: the name, `=`, the value and the end fit.
        unsafe {
            text.copy_from_nonoverlapping(name.as_ptr(), name.len());
            text.add(name.len()).write(b'=');
            text.add(name.len() + 1).copy_from_nonoverlapping(value.as_ptr(), value.len());
            text.add(name.len() + 1 + value.len()).write(0);
        }
        put(text.cast_const().cast(), at).map(|()| 0)
    })())
}

/// Puts a variable in the place of another, or behind all.
fn put(text: *const c_char, at: Option<usize>) -> Result<(), Errno> {
    let old = all();
    let count = old.len() + usize::from(at.is_none());
    replace((0..count).map(|i| if Some(i) == at || i == old.len() { text } else { old[i] }))
}

/// Makes a text `NAME=VALUE` a variable: the text itself, as long as the program lives. A text without `=` removes the
/// variable of that name.
///
/// # Safety
/// `text` is a C string, and stays one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_putenv(text: *mut c_char) -> i32 {
    // SAFETY: the caller's.
    let bytes = unsafe { CStr::from_ptr(text) }.to_bytes();
    let Some(end) = bytes.iter().position(|byte| *byte == b'=') else {
        // SAFETY: the caller's.
        return unsafe { libc_unsetenv(text) };
    };
    // SAFETY: all variables are C strings.
    returned(put(text, unsafe { position(&bytes[..end]) }).map(|()| 0))
}

/// Removes a variable.
///
/// # Safety
/// `variable` is null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_unsetenv(variable: *const c_char) -> i32 {
    returned((|| {
        // SAFETY: the caller's.
        let name = unsafe { name(variable) }?;
        // SAFETY: as above.
        let Some(at) = (unsafe { position(name) }) else { return Ok(0) };
        let old = all();
        replace((0..old.len() - 1).map(|i| old[if i < at { i } else { i + 1 }])).map(|()| 0)
    })())
}
