//! What crosses the boundary as C's pointers: handles, texts, structures that begin with their size, `user` with
//! `drop`.

use std::ffi::{CStr, c_char, c_void};
use std::mem::MaybeUninit;

use hostcall::Local;

use crate::status::{Error, Status};

/// A handle that is used.
///
/// # Safety
/// `pointer` is null or a live handle of this type, which nobody ends meanwhile.
pub(crate) unsafe fn handle<'a, T: Send + Sync>(pointer: *const T, what: &'static str) -> Result<&'a T, Error> {
    // SAFETY: the caller's: from `give`.
    let local = unsafe { pointer.cast::<Local<T>>().as_ref() }.ok_or_else(|| null(what))?;
    local.origin().check(what)?;
    Ok(local)
}

/// A place for a value, which is set to `empty` first.
///
/// # Safety
/// `out` is null or valid for a write.
pub(crate) unsafe fn place<'a, T>(out: *mut T, empty: T, what: &str) -> Result<&'a mut T, Error> {
    if out.is_null() {
        return Err(null(what));
    }
    // SAFETY: the caller's; it is initialised before there is a reference to it.
    unsafe {
        out.write(empty);
        Ok(&mut *out)
    }
}

/// A place for a new handle, which is null until there is one.
///
/// # Safety
/// As of [`place`].
pub(crate) unsafe fn place_for<'a, T>(out: *mut *mut T) -> Result<&'a mut *mut T, Error> {
    // SAFETY: the caller's.
    unsafe { place(out, std::ptr::null_mut(), "out") }
}

/// A new handle, which is this process's: a forked child can do nothing with it.
pub(crate) fn give<T: Send + Sync>(value: T) -> *mut T {
    Box::into_raw(Box::new(Local::new(value))).cast()
}

/// Takes a handle back from whoever ends it, and nulls it there. In a forked child what it names stays its parent's.
///
/// # Safety
/// `handle` is null or valid for reads and writes; what is there is null or a live handle, which nobody uses any more.
pub(crate) unsafe fn take<T>(handle: *mut *mut T, what: &'static str) -> Result<Option<Box<Local<T>>>, Error> {
    // SAFETY: the caller's.
    let Some(place) = (unsafe { handle.as_mut() }) else { return Ok(None) };
    let pointer = std::mem::replace(place, std::ptr::null_mut()).cast::<Local<T>>();
    if pointer.is_null() {
        return Ok(None);
    }
    // SAFETY: from `give`, and taken this once.
    let taken = unsafe { Box::from_raw(pointer) };
    taken.origin().check(what)?;
    Ok(Some(taken))
}

pub(crate) fn null(what: &str) -> Error {
    Error::invalid(format!("`{what}` is null"))
}

/// A text of the application's; `None` if it is null.
///
/// # Safety
/// `text` is null or a C string, which nobody changes during `'a`.
pub(crate) unsafe fn bytes_of<'a>(text: *const c_char) -> Option<&'a [u8]> {
    // SAFETY: the caller's.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_bytes())
}

/// The same, which must be there and UTF-8.
///
/// # Safety
/// As of [`bytes_of`].
pub(crate) unsafe fn text_of<'a>(text: *const c_char, what: &str) -> Result<&'a str, Error> {
    // SAFETY: the caller's.
    let bytes = unsafe { bytes_of(text) }.ok_or_else(|| null(what))?;
    std::str::from_utf8(bytes).map_err(|_| Error::invalid(format!("`{what}` is not UTF-8")))
}

/// Returns a text by two calls.
///
/// # Safety
/// `bytes` is null or valid for reads and writes; `to` is null or has room for as many bytes as it says.
pub(crate) unsafe fn tell(text: &str, to: *mut c_char, bytes: *mut usize) -> Result<(), Error> {
    // SAFETY: the caller's.
    let bytes = unsafe { bytes.as_mut() }.ok_or_else(|| null("bytes"))?;
    let needed = text.len() + 1;
    let room = std::mem::replace(bytes, needed);
    if to.is_null() {
        return Ok(());
    }
    if room < needed {
        return Err(Error::new(Status::TooSmall, format!("the text has {needed} bytes, and there is room for {room}")));
    }
    // SAFETY: room for `needed` bytes, as was checked; another object than the text.
    unsafe {
        to.copy_from_nonoverlapping(text.as_ptr().cast(), text.len());
        to.add(text.len()).write(0);
    }
    Ok(())
}

/// A structure of C that begins with its size.
///
/// # Safety
/// `repr(C)`, begins with a `usize`, and all zeros are a value.
pub(crate) unsafe trait Versioned: Copy {}

/// Reads a structure that may be shorter than ours, of an older header, or longer; what is missing is zero.
///
/// # Safety
/// `from` is null, or begins with a size and is valid for reads of that many bytes.
pub(crate) unsafe fn read<T: Versioned>(from: *const T, what: &str) -> Result<T, Error> {
    if from.is_null() {
        return Err(null(what));
    }
    // SAFETY: it begins with its size. (What is shorter than that says so in it.)
    let size = unsafe { from.cast::<usize>().read() };
    if size < size_of::<usize>() {
        return Err(Error::invalid(format!("`{what}` says a size of {size}: set it to sizeof of the structure")));
    }
    let mut value = MaybeUninit::<T>::zeroed();
    // SAFETY: as many bytes as both have; zeros are a value, and so is what the application has put there.
    unsafe {
        value.as_mut_ptr().cast::<u8>().copy_from_nonoverlapping(from.cast(), size.min(size_of::<T>()));
        Ok(value.assume_init())
    }
}

/// `hc_drop`.
pub(crate) type DropFn = Option<unsafe extern "C" fn(*mut c_void)>;

/// A pointer of the application's, and the function that is called when nothing uses it any more.
#[derive(Debug)]
pub(crate) struct User {
    pointer: *mut c_void,
    drop: DropFn,
}

// SAFETY: the header says that functions which get it are called on any thread.
unsafe impl Send for User {}
// SAFETY: as above.
unsafe impl Sync for User {}

impl User {
    /// # Safety
    /// `drop` may be called with `pointer`, once, on any thread.
    pub(crate) unsafe fn new(pointer: *mut c_void, drop: DropFn) -> Self {
        Self { pointer, drop }
    }

    pub(crate) fn pointer(&self) -> *mut c_void {
        self.pointer
    }
}

impl Drop for User {
    fn drop(&mut self) {
        if let Some(drop) = self.drop {
            // SAFETY: whoever made it has said so, and it is dropped once.
            unsafe { drop(self.pointer) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy)]
    #[repr(C)]
    struct Two {
        size: usize,
        value: u64,
    }

    // SAFETY: two numbers.
    unsafe impl Versioned for Two {}

    #[test]
    fn structures_of_other_sizes_are_read_as_far_as_they_go() {
        // SAFETY: each says at most its size.
        let value = |size: usize| unsafe { read(&Two { size, value: 7 }, "two").map(|two| two.value) };
        assert_eq!(value(16).unwrap(), 7);
        assert_eq!(value(8).unwrap(), 0);
        assert_eq!(value(12).unwrap(), u64::from_ne_bytes([7, 0, 0, 0, 0, 0, 0, 0]));
        assert!(value(7).is_err() && value(0).is_err());
        let longer = [usize::MAX >> 1, 9];
        // SAFETY: ours is 16 bytes long, which are there, and no more is read.
        assert_eq!(unsafe { read(longer.as_ptr().cast::<Two>(), "two") }.unwrap().value, 9);
    }

    #[test]
    fn texts_take_two_calls() {
        let mut bytes = 0;
        let mut room = [1 as c_char; 4];
        // SAFETY: as much room as is said.
        unsafe {
            assert!(tell("abc", std::ptr::null_mut(), &mut bytes).is_ok());
            assert_eq!(bytes, 4);
            bytes = 3;
            assert_eq!(tell("abc", room.as_mut_ptr(), &mut bytes).unwrap_err().status, Status::TooSmall);
            assert_eq!((bytes, room[0]), (4, 1));
            assert!(tell("abc", room.as_mut_ptr(), &mut bytes).is_ok());
            assert_eq!(CStr::from_ptr(room.as_ptr()), c"abc");
            assert!(tell("abc", room.as_mut_ptr(), std::ptr::null_mut()).is_err());
        }
    }
}
