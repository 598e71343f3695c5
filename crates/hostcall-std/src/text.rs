//! C's functions of bytes and texts that `compiler_builtins` does not have.

use core::ffi::{c_char, c_void};
use core::ptr::null_mut;

/// The first of `len` bytes that is `byte`; null if none is.
///
/// # Safety
/// `from` is valid for reads of `len` bytes, or as far as the first that is `byte`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_memchr(from: *const c_void, byte: i32, len: usize) -> *mut c_void {
    let from = from.cast::<u8>();
    // SAFETY: the caller's: nothing behind the first is read.
    let at = (0..len).find(|at| unsafe { *from.add(*at) } == byte as u8);
    at.map_or(null_mut(), |at| from.wrapping_add(at).cast_mut().cast())
}

/// The last of `len` bytes that is `byte`; null if none is.
///
/// # Safety
/// `from` is valid for reads of `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_memrchr(from: *const c_void, byte: i32, len: usize) -> *mut c_void {
    let from = from.cast::<u8>();
    // SAFETY: the caller's.
    let at = (0..len).rev().find(|at| unsafe { *from.add(*at) } == byte as u8);
    at.map_or(null_mut(), |at| from.wrapping_add(at).cast_mut().cast())
}

/// The length of a text, of which no more than `most` bytes are looked at.
///
/// # Safety
/// `text` is a C string, or valid for reads of `most` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_strnlen(text: *const c_char, most: usize) -> usize {
    // SAFETY: the caller's: nothing behind its end is read.
    (0..most).find(|at| unsafe { *text.add(*at) } == 0).unwrap_or(most)
}

/// The first byte of a text that is `byte`, its end included; null if none is.
///
/// # Safety
/// `text` is a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_strchr(text: *const c_char, byte: i32) -> *mut c_char {
    // SAFETY: the caller's: the end is the last that is read.
    let at = (0..).find(|at| [byte as c_char, 0].contains(unsafe { &*text.add(*at) })).unwrap_or(0);
    // SAFETY: as above.
    if unsafe { *text.add(at) } == byte as c_char { text.wrapping_add(at).cast_mut() } else { null_mut() }
}

/// The last byte of a text that is `byte`, its end included; null if none is.
///
/// # Safety
/// `text` is a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_strrchr(text: *const c_char, byte: i32) -> *mut c_char {
    // SAFETY: the caller's: the end is the last that is read.
    unsafe { libc_memrchr(text.cast(), byte, libc_strnlen(text, usize::MAX) + 1).cast() }
}

/// How two texts compare, of which no more than `most` bytes are looked at: below, at or above 0.
///
/// # Safety
/// Both are C strings, or valid for reads of `most` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_strncmp(one: *const c_char, other: *const c_char, most: usize) -> i32 {
    for at in 0..most {
        // SAFETY: the caller's: neither has ended before.
        let (a, b) = unsafe { (*one.add(at) as u8, *other.add(at) as u8) };
        if a != b || a == 0 {
            return i32::from(a) - i32::from(b);
        }
    }
    0
}

/// How two texts compare: below, at or above 0.
///
/// # Safety
/// Both are C strings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_strcmp(one: *const c_char, other: *const c_char) -> i32 {
    // SAFETY: the caller's.
    unsafe { libc_strncmp(one, other, usize::MAX) }
}

/// The small letter of an ASCII letter.
#[unsafe(no_mangle)]
pub extern "C" fn libc_tolower(letter: i32) -> i32 {
    u8::try_from(letter).map_or(letter, |letter| letter.to_ascii_lowercase().into())
}

/// The capital letter of an ASCII letter.
#[unsafe(no_mangle)]
pub extern "C" fn libc_toupper(letter: i32) -> i32 {
    u8::try_from(letter).map_or(letter, |letter| letter.to_ascii_uppercase().into())
}

/// The locale: C's, whatever is asked for.
#[unsafe(no_mangle)]
pub extern "C" fn libc_setlocale(_category: i32, _name: *const c_char) -> *const c_char {
    c"C".as_ptr()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_found_from_both_ends() {
        let text = c"abcabc";
        let offset = |found: *mut c_char| (!found.is_null()).then(|| found.addr() - text.as_ptr().addr());
        let whole = text.as_ptr().cast();
        // SAFETY: a C string of six bytes.
        unsafe {
            assert_eq!(offset(libc_memchr(whole, b'b'.into(), 6).cast()), Some(1));
            assert_eq!(offset(libc_memrchr(whole, b'b'.into(), 6).cast()), Some(4));
            assert_eq!(offset(libc_memchr(whole, b'c'.into(), 2).cast()), None);
            assert_eq!(offset(libc_strchr(text.as_ptr(), b'c'.into())), Some(2));
            assert_eq!(offset(libc_strrchr(text.as_ptr(), b'c'.into())), Some(5));
            assert_eq!([offset(libc_strchr(text.as_ptr(), 0)), offset(libc_strrchr(text.as_ptr(), 0))], [Some(6); 2]);
            assert_eq!(offset(libc_strchr(text.as_ptr(), b'x'.into())), None);
            assert_eq!([libc_strnlen(text.as_ptr(), 3), libc_strnlen(text.as_ptr(), 9)], [3, 6]);
        }
    }

    #[test]
    fn texts_compare_as_bytes_without_a_sign() {
        // SAFETY: C strings, all of them.
        unsafe {
            assert_eq!(libc_strcmp(c"a".as_ptr(), c"a".as_ptr()), 0);
            assert!(libc_strcmp(c"a".as_ptr(), c"ab".as_ptr()) < 0);
            assert!(libc_strcmp(c"\xff".as_ptr(), c"a".as_ptr()) > 0);
            assert_eq!(libc_strncmp(c"abc".as_ptr(), c"abd".as_ptr(), 2), 0);
        }
    }
}
